"""Object stores that others wrote, each with one bucket of a folder's files: versitygw (S3), fake-gcs-server (GCS).

    with RealBucket("s3", folder) as bucket:
        bucket.url("run"), bucket.environment()      # what hbmview is given
        bucket.put("run/a b", b"...")                # one more object, or a new version of one

Built by scripts/install-bucket-servers. versitygw refuses a request whose signature is wrong; fake-gcs-server checks no
credentials, but its generations are Google's.
"""
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.parse

REPO = pathlib.Path(__file__).resolve().parents[2]
ACCESS_KEY, SECRET, REGION = "AKIAREAL", "a/secret+of=versitygw", "eu-test-1"
START_SECONDS = 120
TRY_SECONDS = 20
SCHEMES = ("s3", "gs")


def server_program(name):
    found = subprocess.run([REPO / "scripts" / "install-bucket-servers", "--print", name], text=True,
                           stdout=subprocess.PIPE, check=False)
    if found.returncode != 0:
        raise AssertionError(f"{name} is not there, and scripts/install-bucket-servers cannot build it")
    return found.stdout.strip()


def signed(method, path, query, host, body):
    """The headers of an S3 request by AWS's Signature Version 4."""
    now, hashed = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime()), hashlib.sha256(body).hexdigest()
    names, scope = "host;x-amz-content-sha256;x-amz-date", f"{now[:8]}/{REGION}/s3/aws4_request"
    canonical = "\n".join([method, path, query, f"host:{host}", f"x-amz-content-sha256:{hashed}", f"x-amz-date:{now}",
                           "", names, hashed])
    key = ("AWS4" + SECRET).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    text = f"AWS4-HMAC-SHA256\n{now}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    return {"Host": host, "X-Amz-Content-Sha256": hashed, "X-Amz-Date": now,
            "Authorization": f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, SignedHeaders={names}, "
                             f"Signature={signature}"}


class RealBucket:
    def __init__(self, scheme, folder=None):
        self.scheme, self.folder = scheme, folder

    def __enter__(self):
        self.place = tempfile.TemporaryDirectory()
        self.start()
        if self.scheme == "s3":
            self.ask("PUT", "/bucket")
        else:
            self.ask("POST", "/storage/v1/b", "project=p", json.dumps({"name": "bucket"}).encode())
        for path in sorted(pathlib.Path(self.folder).rglob("*")) if self.folder else ():
            if path.is_file():
                self.put(str(path.relative_to(self.folder)), path.read_bytes())
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.place.cleanup()

    def start(self):
        """A port that is free now may be taken a moment later: then it is started again with another one, also where it
        stays and waits."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            last = time.monotonic() + TRY_SECONDS
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self.port = free.getsockname()[1]
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL, env={**os.environ, "ROOT_ACCESS_KEY": ACCESS_KEY,
                                                                            "ROOT_SECRET_KEY": SECRET})
            while self.process.poll() is None and time.monotonic() < last:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                        return
                time.sleep(0.02)
            self.process.kill()
            self.process.wait()
        raise AssertionError(f"{self.command()[0]} does not start")

    def command(self):
        if self.scheme == "s3":
            return [server_program("versitygw"), "--port", f"127.0.0.1:{self.port}", "--region", REGION, "posix",
                    "--sidecar", self.below("meta"), self.below("data")]
        return [server_program("fake-gcs-server"), "-scheme", "http", "-host", "127.0.0.1", "-port", str(self.port),
                "-backend", "memory", "-data", self.below("data")]

    def below(self, name):
        path = pathlib.Path(self.place.name, name)
        path.mkdir(exist_ok=True)
        return str(path)

    def ask(self, method, path, query="", body=b""):
        host = f"127.0.0.1:{self.port}"
        connection = http.client.HTTPConnection(host, timeout=START_SECONDS)
        headers = signed(method, path, query, host, body) if self.scheme == "s3" else {}
        connection.request(method, path + (f"?{query}" if query else ""), body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if not 200 <= answer.status < 300:
            raise AssertionError(f"{method} {path}: {answer.status} {content[:500]}")

    def put(self, name, content):
        if self.scheme == "s3":
            self.ask("PUT", "/bucket/" + urllib.parse.quote(name, safe="/-_.~"), "", content)
        else:
            query = f"uploadType=media&name={urllib.parse.quote(name, safe='')}"
            self.ask("POST", "/upload/storage/v1/b/bucket/o", query, content)

    def url(self, prefix=""):
        return f"{self.scheme}://bucket" + (f"/{prefix}" if prefix else "")

    def environment(self):
        origin = f"http://127.0.0.1:{self.port}"
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "GOOGLE_", "STORAGE_"))}
        if self.scheme == "gs":
            return {**kept, "HOME": "/nonexistent", "STORAGE_EMULATOR_HOST": origin}
        return {**kept, "HOME": "/nonexistent", "AWS_ENDPOINT_URL": origin, "AWS_REGION": REGION,
                "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
