"""nginx before our servers, on a socket file: with Balancer([server, server]) as balancer: balancer.get("/runs")."""
import http.client
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "http"))

from server_fixture import ANSWER_SECONDS, READY_SECONDS, Answer, Server  # noqa: E402

MAIN = """
daemon off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    upstream replicas {{ {upstream} }}
    server {{ listen unix:{folder}/front; include {locations}; }}
}}
"""


class Balancer:
    def __init__(self, servers):
        self.servers = servers

    def __enter__(self):
        self.folder = tempfile.mkdtemp()
        os.chmod(self.folder, 0o755)  # its workers are another user where root starts it
        upstream = " ".join(f"server 127.0.0.1:{server.port};" for server in self.servers)
        config = pathlib.Path(self.folder, "nginx.conf")
        config.write_text(MAIN.format(folder=self.folder, upstream=upstream, locations=HERE / "replicas.conf"))
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
        self.process = subprocess.Popen([nginx, "-p", self.folder, "-c", str(config)], stderr=subprocess.PIPE)
        end = time.monotonic() + READY_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError("nginx does not start: " + self.process.stderr.read().decode())
            time.sleep(0.02)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(READY_SECONDS)
        self.process.stderr.close()
        shutil.rmtree(self.folder)

    def connect(self):
        front = socket.socket(socket.AF_UNIX)
        front.settimeout(ANSWER_SECONDS)
        front.connect(f"{self.folder}/front")
        return front

    def is_ready(self):
        try:
            self.connect().close()
            return True
        except OSError:
            return False

    def request(self, method, target, headers=None, body=None):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = self.connect()
        try:
            connection.request(method, target, body=body, headers={**Replica.HEADERS, **(headers or {})})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    get, overview = Server.get, Server.overview


class Replica(Server):
    """One of several servers that share a token."""
    TOKEN = "0123456789abcdef0123456789abcdef"
    HEADERS = {"Authorization": "Bearer " + TOKEN}

    def request(self, method, target, headers=None, body=None):
        return super().request(method, target, {**self.HEADERS, **(headers or {})}, body)
