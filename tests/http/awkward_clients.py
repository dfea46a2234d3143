"""Clients that hold connections and never come to an end: a thousand of one kind against a running server.

    with AwkwardClients(server.port, "dripping_heads", 1000) as clients:
        ...                                     # they drip, half a second apart, until the block ends
        clients.answered()                      # how many of those who read have had anything from the server
        clients.told_busy()                     # how many were told to come again, which ends their connection
        clients.turned_away()                   # and how many it has left without that

Some do nothing awkward but ask: each another question, which takes the server a while to work out; or forty large
answers at a time, or pages to save. Some come again and again, each time by a connection of its own.
"""
import collections
import contextlib
import itertools
import resource
import socket
import threading

DRIP_SECONDS = 0.5
HEAD = b"GET /api/v1/server HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n"

NUMBER = b"NUMBER"
QUESTION = (b"GET /api/v1/advise?session=v5e_gpt_4layer&module=jit_train_step(1)&capacity=" + NUMBER +
            b"MiB HTTP/1.1\r\nHost: localhost\r\n\r\n")  # of the fixtures
PROGRAM = b"v5e_gpt_4layer&module=jit_train_step(1) HTTP/1.1\r\nHost: localhost\r\n\r\n"
LOG = b"RESOURCE_EXHAUSTED: Out of memory while trying to allocate " + NUMBER + b"000000 bytes.\n"
EXPLAIN = (b"POST /api/v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" %
           len(LOG.replace(NUMBER, b"1000")) + LOG)
SAVE = (b"POST /api/v1/save?run=v5e_gpt_4layer&tag=memory_viewer&module_name=jit_train_step(1) HTTP/1.1\r\n"
        b"Host: localhost\r\nContent-Length: 0\r\n\r\n")
GARBAGE = b"\x16\x03\x80\xff garbage \x13\xfe\r\n\r\n"

# What each sends at once, and what it sends again and again, with a number of its own each time; whether it reads what
# it is answered; from where they connect, by turns; and whether they connect anew, instead of sending again.
Kind = collections.namedtuple("Kind", "first again reads addresses anew",
                              defaults=(b"", False, ("127.0.0.1",), False))
KINDS = {
    "idle": Kind(b""),
    "keep_alive": Kind(HEAD + b"\r\n"),
    "dripping_heads": Kind(HEAD, b"X: y\r\n"),
    "dripping_bodies": Kind(POST, b"y"),
    "slow_readers": Kind(b"GET /app.html HTTP/1.1\r\nHost: localhost\r\n\r\n" + 40 * (HEAD + b"\r\n")),
    "half_closed": Kind(HEAD + b"\r\n", None),
    "dripping_handshakes": Kind(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"r"),  # to one that encrypts
    "asking": Kind(QUESTION, QUESTION, True),
    "asking_from_another": Kind(QUESTION, QUESTION, True, ("127.0.0.2",)),
    "asking_from_two": Kind(QUESTION, QUESTION, True, ("127.0.0.2", "127.0.0.3")),
    "pipelining": Kind(40 * (b"GET /api/v1/buffers?session=" + PROGRAM), 40 * (HEAD + b"\r\n"), True),
    "listening": Kind(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n", reads=True),
    "explaining": Kind(EXPLAIN, EXPLAIN, True),
    "saving": Kind(SAVE, SAVE, True),
    "garbage": Kind(GARBAGE, anew=True),
    "coming_again": Kind(b"GET /api/v1/buffers?session=" + PROGRAM, anew=True),
}


class AwkwardClients:
    def __init__(self, port, kind, count):
        self.port, self.count = port, count
        self.kind, self.numbers = KINDS[kind], itertools.count(1000)
        self.held, self.over = [], threading.Event()
        self.heard, self.busy, self.left = set(), {}, set()

    def __enter__(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, self.count + 1000)), hard))
        for i in range(self.count):
            self.held.append(self._connect(self.kind.addresses[i % len(self.kind.addresses)]))
        self.thread = threading.Thread(target=self._drip)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        for connection in self.held:
            connection.close()

    def answered(self):
        return len(self.heard)

    def told_busy(self):
        return len(self.busy)

    def refusal(self):
        """What one of those was told."""
        return next(answer for answer in self.busy.copy().values() if answer.startswith(b"HTTP/1.1 503 "))

    def turned_away(self):
        return len(self.left - self.busy.keys())

    def _text(self, text):
        return text.replace(NUMBER, b"%d" % next(self.numbers))

    def _connect(self, address):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.bind((address, 0))
        connection.connect(("127.0.0.1", self.port))
        connection.sendall(self._text(self.kind.first))
        if self.kind.again is None:
            connection.shutdown(socket.SHUT_WR)
        connection.setblocking(False)
        return connection

    def _drip(self):
        while not self.over.wait(DRIP_SECONDS):
            if self.kind.anew:
                self._connect_anew()
                continue
            for connection in self.held:
                if self.kind.again:
                    self._send_again(connection)
                if self.kind.reads:
                    self._read(connection)

    def _connect_anew(self):
        for i, connection in enumerate(self.held):
            connection.close()
            self.held[i] = self._connect(self.kind.addresses[i % len(self.kind.addresses)])

    def _send_again(self, connection):
        with contextlib.suppress(OSError):  # full, or dropped: that is what the server is asked to do
            connection.send(self._text(self.kind.again))

    def _read(self, connection):
        with contextlib.suppress(OSError):
            while data := connection.recv(1 << 16):
                if b"HTTP/1.1 503 " in data:
                    self.busy[connection] = data
                else:
                    self.heard.add(connection)
            self.left.add(connection)
