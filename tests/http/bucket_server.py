"""A folder as a bucket, spoken to as S3 or as Google Cloud Storage, with faults on order.

    with BucketServer(folder) as bucket:
        environment = bucket.environment("s3")           # what hbmview must find: endpoint, keys
        bucket.url("s3", "run")                          # "s3://bucket/run"
        bucket.requests                                  # what was asked: method, path, query, Range, status, bytes

S3 requests must be signed: the signature is worked out here once more, by AWS's rules (Signature Version 4), from what
arrived. GCS requests must bear the token. Ranges must be pinned (If-Match, generation). An object's version is a hash
of its bytes. `bucket.fault = function(request) -> None or (status, headers, body)` answers in the server's place;
`bucket.wait_s` is slept before each answer. `bucket.named_only` are more objects, of which there is but the name.
`tls`: an ssl.SSLContext, for https.
"""
import collections
import contextlib
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import re
import threading
import time
import urllib.parse
from email.utils import formatdate
from xml.sax.saxutils import escape

ACCESS_KEY, SECRET, TOKEN, REGION = "AKIATEST", "a/secret+key=", "ya29.token", "eu-test-1"
VERSIONS = {}  # of files, by name, time and size: a large one is not read for every request
Request = collections.namedtuple("Request", "method path query headers")
Asked = collections.namedtuple("Asked", "path query range status size")


def unquote_query(text):
    return dict(urllib.parse.parse_qsl(text, keep_blank_values=True))


def form_quote(text):
    """As AWS writes names in its lists: a space is a "+"."""
    return urllib.parse.quote_plus(text, safe="/")


class BucketServer:
    def __init__(self, folder, page_size=1000, is_open=False, tls=None):
        self.folder, self.page_size, self.is_open, self.tls = pathlib.Path(folder), page_size, is_open, tls
        self.requests, self.fault, self.wait_s, self.named_only = [], None, 0, []
        self.lock = threading.Lock()

    def __enter__(self):
        handler = type("Handler", (Handler,), {"bucket": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        if self.tls:
            self.server.socket = self.tls.wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def __exit__(self, *_):
        self.stop()

    @property
    def origin(self):
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.server.server_address[1]}"

    def url(self, scheme, prefix=""):
        return f"{scheme}://bucket" + (f"/{prefix}" if prefix else "")

    def environment(self, scheme):
        if scheme == "s3":
            keys = {} if self.is_open else {"AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
            return {"AWS_ENDPOINT_URL": self.origin, "AWS_REGION": REGION, "AWS_EC2_METADATA_DISABLED": "true",
                    "HOME": "/nonexistent", **keys}
        return {"STORAGE_EMULATOR_HOST": self.origin, "HOME": "/nonexistent",
                **({} if self.is_open else {"GCE_METADATA_HOST": self.origin.removeprefix("http://")})}

    def objects(self):
        files = (path for path in self.folder.rglob("*") if path.is_file())
        names = [str(path.relative_to(self.folder)) for path in files]
        return sorted([*names, *self.named_only], key=lambda name: name.encode())

    def size(self, name):
        file = self.folder / name
        return file.stat().st_size if file.exists() else 1

    def version(self, name):
        if not (self.folder / name).exists():
            return "named-only"
        status = (self.folder / name).stat()
        known_by = self.folder, name, status.st_mtime_ns, status.st_size
        if known_by not in VERSIONS:
            VERSIONS[known_by] = hashlib.md5((self.folder / name).read_bytes()).hexdigest()
        return VERSIONS[known_by]

    def bytes_sent(self):
        return sum(asked.size for asked in self.requests)


def signature(request, secret):
    """What Authorization should say of the request, by what it signs."""
    authorization = request.headers.get("Authorization", "")
    found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, "
                         r"SignedHeaders=([^,]+), Signature=([0-9a-f]{64})", authorization)
    if not found:
        return None
    key_id, day, region, names, given = found.groups()
    query = "&".join(sorted(f"{urllib.parse.quote(k, safe='-_.~')}={urllib.parse.quote(v, safe='-_.~')}"
                            for k, v in urllib.parse.parse_qsl(request.query, keep_blank_values=True)))
    path = urllib.parse.quote(urllib.parse.unquote(request.path), safe="/-_.~")
    headers = "".join(f"{name}:{request.headers[name].strip()}\n" for name in names.split(";"))
    canonical = "\n".join([request.method, path, query, headers, names, request.headers["X-Amz-Content-Sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", request.headers["X-Amz-Date"], f"{day}/{region}/s3/aws4_request",
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    is_good = hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), given)
    return key_id if is_good and region == REGION else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def handle(self):
        with contextlib.suppress(ConnectionError):  # an answer that nobody waits for any more
            super().handle()

    def answer(self, status, headers=None, body=b""):
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # who has seen enough hangs up
            self.wfile.write(body)

    def do_GET(self):
        path, _, query = self.path.partition("?")
        request = Request(self.command, path, query, self.headers)
        if self.bucket.wait_s:
            time.sleep(self.bucket.wait_s)
        fault = self.bucket.fault and self.bucket.fault(request)
        # Counted before the last byte is out: whoever has the answer finds it counted.
        status, headers, body = fault or self.made_answer(request)
        with self.bucket.lock:
            self.bucket.requests.append(Asked(path, query, self.headers.get("Range"), status, len(body)))
        self.answer(status, headers, body)

    def made_answer(self, request):
        if request.path.startswith("/computeMetadata/"):
            return 200, {}, json.dumps({"access_token": TOKEN, "expires_in": 3600}).encode()
        if request.path.startswith("/storage/v1/b/bucket/o"):
            return self.gcs(request)
        if request.path == "/bucket" or request.path.startswith("/bucket/"):
            return self.s3(request)
        return 404, {}, b""

    def page(self, query, token_name):
        """Objects, folders (of a level) and what asks for the next page."""
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter")
        names = [name for name in self.bucket.objects() if name.startswith(prefix)]
        if delimiter:
            parts = (name[len(prefix):].partition(delimiter) for name in names)
            names = list(dict.fromkeys(prefix + first + slash for first, slash, _ in parts))
        begin = int(query.get(token_name, "0"))
        end = begin + self.bucket.page_size
        page = names[begin:end]
        objects = [name for name in page if not (delimiter and name.endswith(delimiter))]
        folders = [name for name in page if delimiter and name.endswith(delimiter)]
        return objects, folders, str(end) if end < len(names) else None

    def s3(self, request):
        if not self.bucket.is_open and signature(request, SECRET) != ACCESS_KEY:
            return 403, {}, b"<Error><Code>SignatureDoesNotMatch</Code></Error>"
        if request.path == "/bucket":
            query = unquote_query(request.query)
            names, folders, after = self.page(query, "continuation-token")
            encode = form_quote if query.get("encoding-type") == "url" else escape
            entries = "".join(f"<Contents><Key>{encode(name)}</Key><Size>{self.bucket.size(name)}</Size>"
                              f"<ETag>&quot;{self.bucket.version(name)}&quot;</ETag>"
                              f"<LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>" for name in names)
            entries += "".join(f"<CommonPrefixes><Prefix>{encode(name)}</Prefix></CommonPrefixes>" for name in folders)
            more = f"<NextContinuationToken>{after}</NextContinuationToken>" if after else ""
            kind = "<EncodingType>url</EncodingType>" if encode is form_quote else ""
            text = f'<?xml version="1.0"?><ListBucketResult xmlns="x">{kind}{entries}{more}</ListBucketResult>'
            return 200, {}, text.encode()
        name = urllib.parse.unquote(request.path.removeprefix("/bucket/"))
        pin = request.headers.get("If-Match", "").strip('"')
        return self.object(name, pin, 412)

    def gcs(self, request):
        if not self.bucket.is_open and request.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {}, b"{}"
        query = unquote_query(request.query)
        if request.path == "/storage/v1/b/bucket/o":
            names, folders, after = self.page(query, "pageToken")
            items = [{"name": name, "size": str(self.bucket.size(name)),
                      "generation": self.bucket.version(name), "updated": "2026-01-02T03:04:05Z"} for name in names]
            answer = {"items": items, **({"prefixes": folders} if folders else {}),
                      **({"nextPageToken": after} if after else {})}
            return 200, {}, json.dumps(answer).encode()
        name = urllib.parse.unquote(request.path.removeprefix("/storage/v1/b/bucket/o/"))
        return self.object(name, query.get("generation"), 404)

    def object(self, name, pin, status_of_another_version):
        try:
            if pin != self.bucket.version(name):
                return status_of_another_version, {}, b""
            first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
            with (self.bucket.folder / name).open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(first)
                part = file.read(last - first + 1)
        except OSError:
            return 404, {}, b""
        if not part:
            return 416, {}, b""
        return 206, {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{size}",
                     "Last-Modified": formatdate(usegmt=True)}, part
