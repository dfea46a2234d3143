"""The least that a client of HTTP/1.1 needs, on asyncio, so that hundreds of them run in one process.

    connection = await Connection.open(port, address="127.0.0.7")
    answer = await connection.ask("GET", "/api/v1/sessions", {"Accept-Encoding": "gzip"})
    answer.status, answer.headers["etag"], answer.body          # inflated, as JSON is compared by its bytes

It demands what a browser would: a whole head, a whole body. It follows nothing and repeats nothing.
"""
import asyncio
import collections
import gzip

HEAD_MAX = 1 << 16
ANSWER_SECONDS = 120

Answer = collections.namedtuple("Answer", "status headers body")


class Refused(Exception):
    """The connection was closed before a whole answer came: what a server may do to those who misbehave."""


class Connection:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port, address="127.0.0.1", limit=HEAD_MAX):
        try:
            return cls(*await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0), limit=limit))
        except OSError as error:
            raise Refused(str(error)) from error

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        self.writer.close()
        try:
            await self.writer.wait_closed()
        except OSError:
            pass  # it was reset: closed all the same

    async def send(self, data):
        try:
            self.writer.write(data)
            await self.writer.drain()
        except OSError as error:
            raise Refused(str(error)) from error

    async def ask(self, method, target, headers=None, body=None):
        await self.send(request(method, target, headers, body))
        return await asyncio.wait_for(self.receive(method), ANSWER_SECONDS)

    async def receive(self, method="GET"):
        try:
            head = await self.reader.readuntil(b"\r\n\r\n")
            status, headers = parsed(head)
            empty = method == "HEAD" or status in (204, 304)
            return Answer(status, headers, b"" if empty else inflated(headers, await self.body(headers)))
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError) as error:
            raise Refused(str(error)) from error

    async def body(self, headers):
        if headers.get("transfer-encoding") == "chunked":
            return b"".join([piece async for piece in self.chunks()])
        return await self.reader.readexactly(int(headers["content-length"]))

    async def chunks(self):
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            yield await self.reader.readexactly(size)
            await self.reader.readexactly(2)
        await self.reader.readexactly(2)


def request(method, target, headers=None, body=None):
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", *(f"{k}: {v}" for k, v in (headers or {}).items())]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b"")


def parsed(head):
    first, *lines = head.decode("latin-1").split("\r\n")
    return int(first.split()[1]), {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}


def inflated(headers, body):
    return gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
