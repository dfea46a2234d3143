"""Who asks: one coroutine a client, each until the soak ends. All note what they saw in a Tally.

Well-behaved ones (127.0.0.1) check every body against what a fresh server answers. Awkward ones (127.0.0.2 and up) do
what scanners, broken proxies and dying browsers do; of them only the answers that they do get are checked for a
documented status.
"""
import asyncio
import collections
import random

from expected import digest, says_so
from http_client import Connection, Refused, request

# docs/api.md. 500 is for faults of our own: each is kept with its body, and one fails the soak.
DOCUMENTED = {200, 304, 400, 403, 404, 405, 408, 413, 414, 417, 422, 429, 431, 501, 503, 505}
SLOW_READ_SECONDS = 0.2
WELL_BEHAVED = ("steady", "follower")
ARE_ANSWERED = (*WELL_BEHAVED, "pipelined", "half_closed")  # odd, but HTTP


def is_as_xprof(answer, what):
    """XProf says 500 of a file that it cannot read, and so do its endpoints here, with the reason as text."""
    return answer.status == 500 and what.startswith("/data/plugin/profile/") and answer.body


class Tally:
    def __init__(self):
        self.statuses, self.seconds = collections.Counter(), []
        self.refused, self.partial = collections.Counter(), 0
        self.asked, self.busy = 0, 0  # by well-behaved ones; and of these answered 503
        self.wrong = []

    def status(self, kind, answer, what):
        self.statuses[answer.status] += 1
        if kind in WELL_BEHAVED:
            self.asked += 1
            self.busy += answer.status == 503
        if answer.status not in DOCUMENTED and not is_as_xprof(answer, what):
            self.wrong.append(f"{kind}: {answer.status} for {what!r:.200}: {answer.body[:300]!r}")

    def body(self, answer, key, known):
        if answer.status == 200 and says_so(answer.body):
            self.partial += 1
        elif answer.status not in (304, 503) and (answer.status, digest(answer.body)) not in known:
            self.wrong.append(f"another body for {key[0]:.200}: {answer.status} {answer.body[:300]!r}")


class Soak:
    """What every client needs: where to ask, what is known, when to stop."""

    def __init__(self, port, stable, moving, ends, seed):
        self.port, self.ends, self.random = port, ends, random.Random(seed)
        self.stable, self.moving = list(stable.items()), list(moving.items())
        self.tally = Tally()

    def goes_on(self):
        return asyncio.get_running_loop().time() < self.ends


async def steady(soak, address):
    """A browser that stays: one connection, any question, gzip or not, sometimes with the ETag it has."""
    etags = {}
    while soak.goes_on():
        try:
            async with await Connection.open(soak.port, address) as connection:
                while soak.goes_on() and await ask_one(soak, connection, etags):
                    pass
        except Refused:
            soak.tally.refused["steady"] += 1


async def ask_one(soak, connection, etags):
    """Whether the connection stays."""
    key, known = soak.random.choice(soak.stable)
    headers = {"Accept-Encoding": "gzip"} if soak.random.random() < 0.5 else {}
    if key in etags and soak.random.random() < 0.3:
        headers["If-None-Match"] = etags[key]
    clock = asyncio.get_running_loop().time
    begun = clock()
    answer = await connection.ask("GET" if key[1] is None else "POST", key[0], headers, key[1])
    soak.tally.seconds.append(clock() - begun)
    soak.tally.status("steady", answer, key[0])
    soak.tally.body(answer, key, known)
    if answer.status == 200:
        etags[key] = answer.headers.get("etag", "")
    return answer.headers.get("connection", "").lower() != "close"


async def follower(soak, address):
    """Asks for sessions that move: an answer of one of the versions, or an error that says which file."""
    while soak.goes_on():
        try:
            async with await Connection.open(soak.port, address) as connection:
                key, known = soak.random.choice(soak.moving)
                answer = await connection.ask("GET", key[0])
                soak.tally.status("follower", answer, key[0])
                if answer.status == 200 and key[0].startswith("/api/"):
                    soak.tally.body(answer, key, known)
        except Refused:
            soak.tally.refused["follower"] += 1


async def dripping(soak, connection):
    """A head that comes by the byte, and never ends."""
    await connection.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-A: ")
    while soak.goes_on():
        await connection.send(b"a")
        await asyncio.sleep(0.5)


async def silent(soak, connection):
    """Connects, and says nothing until it is dropped."""
    await connection.reader.read(1)


async def pipelined(soak, connection):
    """Several questions at once: answered in their order."""
    keys = [key for key, _ in soak.random.sample(soak.stable, 5) if key[1] is None]
    await connection.send(b"".join(request("GET", key[0]) for key in keys))
    known = dict(soak.stable)
    for key in keys:
        answer = await connection.receive()
        soak.tally.status("pipelined", answer, key[0])
        soak.tally.body(answer, key, known[key])


async def half_closed(soak, connection):
    """Asks, and says that nothing more will come: whoever waits for its answer may take it for gone."""
    key, known = soak.random.choice([one for one in soak.stable if one[0][1] is None])
    await connection.send(request("GET", key[0]))
    connection.writer.write_eof()
    answer = await connection.receive()
    soak.tally.status("half_closed", answer, key[0])
    soak.tally.body(answer, key, known)


async def aborting(soak, connection):
    """Asks, and is gone before the answer."""
    await connection.send(request("GET", soak.random.choice(soak.stable + soak.moving)[0][0]))
    connection.writer.transport.abort()


async def garbage(soak, connection):
    """Bytes that are no request."""
    await connection.send(soak.random.randbytes(soak.random.randrange(1, 4000)) + b"\r\n\r\n")
    soak.tally.status("garbage", await connection.receive(), "random bytes")


async def huge(soak, connection):
    """Names, heads and bodies beyond what anybody needs."""
    await connection.send(soak.random.choice((
        request("GET", "/" + "a" * 60000),
        request("GET", "/", {"X-Long": "a" * 100000}),
        request("GET", "/api/v1/modules?" + "&".join(f"a{n}=1" for n in range(2000))),
        request("POST", "/api/v1/explain", {"Content-Length": str(1 << 33)}),
    )))
    soak.tally.status("huge", await connection.receive(), "something huge")


async def unfinished(soak, connection):
    """A body that stops in the middle."""
    await connection.send(request("POST", "/api/v1/explain", {"Content-Length": str(8 << 20)}) + b"a" * (1 << 20))
    await connection.reader.read(1)


async def slow_reader(soak, connection):
    """Takes a large answer by the kilobyte, and leaves in the middle."""
    await connection.send(request("GET", soak.random.choice(soak.stable)[0][0]))
    for _ in range(20):
        if not await connection.reader.read(1024):
            return
        await asyncio.sleep(SLOW_READ_SECONDS)


AWKWARD = (dripping, silent, pipelined, half_closed, aborting, garbage, huge, unfinished, slow_reader)


async def awkward(soak, address, behave):
    while soak.goes_on():
        try:
            async with await Connection.open(soak.port, address) as connection:
                left = soak.ends - asyncio.get_running_loop().time()
                await asyncio.wait_for(behave(soak, connection), max(left, 0.1))
        except asyncio.TimeoutError:
            soak.tally.refused[behave.__name__] += soak.goes_on()  # else it was interrupted by the end
        except (Refused, OSError):
            soak.tally.refused[behave.__name__] += 1
        await asyncio.sleep(soak.random.random() / 10)
