"""A proxy before an object store that counts what it is asked and lets every request wait.

    with CountingProxy(port, wait_s=0.05) as proxy:
        proxy.port                                   # where to ask instead
        begin = proxy.count(); ...; proxy.since(begin)   # requests, bytes of bodies sent to the client, bytes written

What a client sends and gets is passed on as it is (the Host header too: S3 requests sign it).
"""
import collections
import http.client
import http.server
import threading
import time

Count = collections.namedtuple("Count", "requests body_bytes written_bytes")
CONNECTION_HEADERS = {"connection", "keep-alive", "transfer-encoding"}


class CountingProxy:
    def __init__(self, port, wait_s=0.0):
        self.upstream, self.wait_s = port, wait_s
        self.lock = threading.Lock()
        self.counted = Count(0, 0, 0)

    def __enter__(self):
        handler = type("Handler", (Handler,), {"proxy": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def add(self, body_bytes, written_bytes):
        with self.lock:
            was = self.counted
            self.counted = Count(was.requests + 1, was.body_bytes + body_bytes, was.written_bytes + written_bytes)

    def count(self):
        with self.lock:
            return self.counted

    def since(self, begin):
        return Count(*(now - then for now, then in zip(self.count(), begin)))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        super().setup()
        self.upstream = http.client.HTTPConnection("127.0.0.1", self.proxy.upstream)

    def finish(self):
        self.upstream.close()
        super().finish()

    def log_message(self, *_):
        pass

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(self.proxy.wait_s)
        self.upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in CONNECTION_HEADERS:
                self.upstream.putheader(name, value)
        self.upstream.endheaders(body or None)
        answer = self.upstream.getresponse()
        content = answer.read()
        self.proxy.add(len(content), len(body))
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in CONNECTION_HEADERS | {"content-length"}:
                self.send_header(name, value)
        is_head = self.command == "HEAD"
        self.send_header("Content-Length", answer.getheader("Content-Length", "0") if is_head else str(len(content)))
        self.end_headers()
        try:
            self.wfile.write(content)
        except ConnectionError:
            self.close_connection = True  # who has seen enough hangs up

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = handle_one
