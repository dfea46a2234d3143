"""Clients that hold connections and never come to an end: a thousand of one kind against a running server.

    with AwkwardClients(server.port, "dripping_heads", 1000):
        ...                                     # they drip, half a second apart, until the block ends
"""
import resource
import socket
import threading

DRIP_SECONDS = 0.5
HEAD = b"GET /api/v1/server HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /api/v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n"

# What each sends at once, and what it sends again and again.
KINDS = {
    "idle": (b"", b""),
    "keep_alive": (HEAD + b"\r\n", b""),
    "dripping_heads": (HEAD, b"X: y\r\n"),
    "dripping_bodies": (POST, b"y"),
    "slow_readers": (b"GET /app.html HTTP/1.1\r\nHost: localhost\r\n\r\n" + 40 * (HEAD + b"\r\n"), b""),
    "half_closed": (HEAD + b"\r\n", None),
    "dripping_handshakes": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"r"),  # to a server that encrypts
}


class AwkwardClients:
    def __init__(self, port, kind, count):
        self.port, self.count = port, count
        self.first, self.again = KINDS[kind]
        self.held, self.over = [], threading.Event()

    def __enter__(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, self.count + 1000)), hard))
        for _ in range(self.count):
            self.held.append(self._connect())
        self.thread = threading.Thread(target=self._drip)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        for connection in self.held:
            connection.close()

    def _connect(self):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.connect(("127.0.0.1", self.port))
        connection.sendall(self.first)
        if self.again is None:
            connection.shutdown(socket.SHUT_WR)
        connection.setblocking(False)
        return connection

    def _drip(self):
        while self.again and not self.over.wait(DRIP_SECONDS):
            for connection in self.held:
                try:
                    connection.send(self.again)
                except OSError:
                    continue  # full, or dropped: that is what the server is asked to do
