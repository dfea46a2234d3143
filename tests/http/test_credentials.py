"""Credentials of every kind, from servers that give them: they are found, renewed, and told nowhere."""
import base64
import contextlib
import datetime
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

from bucket_server import ACCESS_KEY, REGION, SECRET, TOKEN, BucketServer
from server_fixture import FIXTURES, REPO, Server, program

PROFILE = FIXTURES / "logdir/plugins/profile/v5e_matmul"
SESSION_TOKEN, REFRESH, CLIENT_SECRET, GATE = "FwoG/session+token=", "1//refresh-me", "GOCSPX-hush", "container-gate"


class KeyServer:
    """Answers by method and path, with a text or a status; `asked` are the requests with their headers and bodies."""

    def __init__(self, answers):
        self.answers, self.asked = answers, []

    def __enter__(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def reply(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                owner.asked.append((self.command, self.path, self.headers, body))
                answer = owner.answers.get((self.command, self.path))
                status = answer if isinstance(answer, int) else 200 if answer else 404
                content = (answer() if callable(answer) else answer if status == 200 else "").encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_PUT = do_POST = reply

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def aws_keys(seconds):
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return json.dumps({"AccessKeyId": ACCESS_KEY, "SecretAccessKey": SECRET, "Token": SESSION_TOKEN,
                       "Expiration": until.strftime("%Y-%m-%dT%H:%M:%SZ")})


class Credentials(unittest.TestCase):
    SECRETS = (SECRET, TOKEN, SESSION_TOKEN, REFRESH, CLIENT_SECRET, GATE, "PRIVATE KEY")

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(PROFILE, self.folder / "bucket/run/plugins/profile/s")
        self.bucket = self.enterContext(BucketServer(self.folder / "bucket"))

    def environment(self, **own):
        kept = {key: value for key, value in os.environ.items()
                if not key.startswith(("AWS_", "GOOGLE_", "STORAGE_", "GCE_"))}
        return {**kept, "HOME": str(self.folder), "AWS_ENDPOINT_URL": self.bucket.origin, "AWS_REGION": REGION,
                "STORAGE_EMULATOR_HOST": self.bucket.origin, **own}

    def secretless(self, *texts):
        for secret in self.SECRETS:
            for form in (secret, urllib.parse.quote(secret, safe="")):
                self.assertNotIn(form, "".join(texts))

    def report(self, scheme, environment):
        done = subprocess.run([program(), "report", self.bucket.url(scheme, "run")], env=environment, cwd=REPO,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.secretless(done.stdout, done.stderr)
        return done

    def opens(self, scheme, **own):
        done = self.report(scheme, self.environment(**own))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("jit__lambda(1)", done.stdout)

    @contextlib.contextmanager
    def seen_headers(self):
        """The headers of what the bucket is asked."""
        seen = []
        self.bucket.fault = lambda request: seen.append(request.headers)
        yield seen
        self.bucket.fault = None

    # --- S3 ---

    def test_a_profile_of_the_credentials_file(self):
        (self.folder / ".aws").mkdir()
        (self.folder / ".aws/credentials").write_text(
            f"[default]\naws_access_key_id=X\naws_secret_access_key=Y\n[work]\naws_access_key_id = {ACCESS_KEY}\n"
            f"aws_secret_access_key = {SECRET}\naws_session_token = {SESSION_TOKEN}\n")
        with self.seen_headers() as seen:
            self.opens("s3", AWS_PROFILE="work")
        self.assertTrue(seen)
        for headers in seen:
            self.assertEqual(headers["X-Amz-Security-Token"], SESSION_TOKEN)
            self.assertIn("x-amz-security-token", headers["Authorization"])
        refused = self.report("s3", self.environment(AWS_EC2_METADATA_DISABLED="true"))
        self.assertEqual(refused.returncode, 3)
        self.assertIn("of profile default", refused.stderr)

    def test_a_container(self):
        with KeyServer({("GET", "/keys"): aws_keys(3600)}) as keys:
            self.opens("s3", AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{keys.origin}/keys",
                       AWS_CONTAINER_AUTHORIZATION_TOKEN=GATE)
            [(_, _, headers, _)] = keys.asked
            self.assertEqual(headers["Authorization"], GATE)
            (self.folder / "gate").write_text(GATE + "\n")
            self.opens("s3", AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{keys.origin}/keys",
                       AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=str(self.folder / "gate"))
            self.assertEqual(keys.asked[-1][2]["Authorization"], GATE)

    def instance(self, seconds):
        roles = "/latest/meta-data/iam/security-credentials/"
        return KeyServer({("PUT", "/latest/api/token"): GATE, ("GET", roles): "role",
                          ("GET", roles + "role"): lambda: aws_keys(seconds)})

    def test_an_instance(self):
        with self.instance(3600) as keys:
            self.opens("s3", AWS_EC2_METADATA_SERVICE_ENDPOINT=keys.origin)
            (_, _, first, _), *others = keys.asked
            self.assertEqual(first["X-aws-ec2-metadata-token-ttl-seconds"], "21600")
            self.assertEqual([headers["X-aws-ec2-metadata-token"] for _, _, headers, _ in others], [GATE, GATE])

    def test_keys_are_fetched_once_and_again_before_they_end(self):
        for seconds, is_renewed in ((3600, False), (60, True)):
            with self.instance(seconds) as keys, \
                    Server("--verbose", logdir=self.bucket.url("s3", "run"),
                           environment=self.environment(AWS_EC2_METADATA_SERVICE_ENDPOINT=keys.origin)) as server:
                view = {"session": "s", "module": "jit__lambda(1)"}
                for path, query in (("/api/v1/sessions", {}), ("/api/v1/memory_view", view), ("/", {})):
                    answer = server.get(path, query)
                    self.assertEqual(answer.status, 200)
                    self.secretless(answer.body.decode())
                self.assertEqual([path for _, path, _, _ in keys.asked].count("/latest/api/token") > 1, is_renewed)
                self.secretless(server.errors(), *server.printed)

    # --- GCS ---

    def named(self, content):
        path = self.folder / "credentials.json"
        path.write_text(json.dumps(content))
        return {"GOOGLE_APPLICATION_CREDENTIALS": str(path)}

    def token_server(self):
        return KeyServer({("POST", "/token"): json.dumps({"access_token": TOKEN, "expires_in": 3599})})

    def test_an_authorized_user(self):
        with self.token_server() as keys:
            self.opens("gs", **self.named({"type": "authorized_user", "client_id": "id", "refresh_token": REFRESH,
                                           "client_secret": CLIENT_SECRET, "token_uri": f"{keys.origin}/token"}))
            [(_, _, _, body)] = keys.asked
            self.assertEqual(dict(urllib.parse.parse_qsl(body)),
                             {"grant_type": "refresh_token", "client_id": "id", "client_secret": CLIENT_SECRET,
                              "refresh_token": REFRESH})

    def test_a_service_account(self):
        made = subprocess.run(["openssl", "genrsa", "2048"], text=True, capture_output=True, check=True).stdout
        modulus = subprocess.run(["openssl", "rsa", "-noout", "-modulus"], input=made, text=True, capture_output=True,
                                 check=True).stdout
        with self.token_server() as keys:
            self.opens("gs", **self.named({"type": "service_account", "client_email": "robot@p.iam",
                                           "private_key": made, "token_uri": f"{keys.origin}/token"}))
            [(_, _, _, body)] = keys.asked
            form = dict(urllib.parse.parse_qsl(body))
            self.assertEqual(form["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer")
            header, claims, signature = (base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
                                         for part in form["assertion"].split("."))
            self.assertEqual(json.loads(header), {"alg": "RS256", "typ": "JWT"})
            told = json.loads(claims)
            self.assertEqual((told["iss"], told["aud"], told["exp"] - told["iat"]),
                             ("robot@p.iam", f"{keys.origin}/token", 3600))
            # RSASSA-PKCS1-v1_5 (RFC 8017, 8.2.2): what the signature stands for is the padded hash.
            hashed = hashlib.sha256(form["assertion"].rpartition(".")[0].encode()).digest()
            known = bytes.fromhex("3031300d060960864801650304020105000420") + hashed
            number = pow(int.from_bytes(signature, "big"), 65537, int(modulus.partition("=")[2], 16))
            self.assertEqual(number.to_bytes(256, "big"), b"\0\1" + b"\xff" * (253 - len(known)) + b"\0" + known)

    def test_keys_of_the_machine_come_through_no_proxy(self):
        with self.instance(3600) as keys, KeyServer({}) as proxy:
            self.report("s3", self.environment(AWS_EC2_METADATA_SERVICE_ENDPOINT=keys.origin, http_proxy=proxy.origin,
                                               no_proxy="", NO_PROXY=""))
            self.assertEqual(len(keys.asked), 3)
            self.assertTrue(proxy.asked)  # the bucket is asked through it
            self.assertFalse([path for _, path, _, _ in proxy.asked if "/latest/" in path])

    def test_the_metadata_server(self):
        self.opens("gs", GCE_METADATA_HOST=self.bucket.origin.removeprefix("http://"))

    def test_nobody(self):
        for scheme, command in (("s3", "aws configure"), ("gs", "gcloud auth application-default login")):
            refused = self.report(scheme, self.environment(AWS_EC2_METADATA_DISABLED="true", NO_GCE_CHECK="true"))
            self.assertEqual(refused.returncode, 3)
            for word in ("nobody", command, self.bucket.url(scheme, "run")):
                self.assertIn(word, refused.stderr)

    def login(self, keys):
        return {"type": "authorized_user", "client_id": "id", "refresh_token": REFRESH, "client_secret": CLIENT_SECRET,
                "token_uri": f"{keys.origin}/token"}

    def test_a_login_that_has_ended(self):
        with KeyServer({("POST", "/token"): 400}) as keys:
            named = self.named(self.login(keys))
            refused = self.report("gs", self.environment(**named))
            for word in (*named.values(), "400", "gcloud auth application-default login"):
                self.assertIn(word, refused.stderr)

    def test_a_token_for_ever_is_one(self):
        answer = json.dumps({"access_token": TOKEN, "expires_in": 2**63 - 1})
        with KeyServer({("POST", "/token"): answer}) as keys:
            self.opens("gs", **self.named(self.login(keys)))
            self.assertEqual(len(keys.asked), 1)

    def test_an_emulator_gets_no_login_that_was_not_named_for_it(self):
        with self.token_server() as keys, self.seen_headers() as seen:
            place = self.folder / ".config/gcloud/application_default_credentials.json"
            place.parent.mkdir(parents=True)
            place.write_text(json.dumps(self.login(keys)))
            refused = self.report("gs", self.environment())
            self.assertEqual(refused.returncode, 3)
            self.assertEqual(keys.asked, [])
            self.assertEqual([headers["Authorization"] for headers in seen], [None] * len(seen))
            self.assertTrue(seen)

    def test_a_token_server_that_refuses(self):
        with KeyServer({}) as keys:
            refused = self.report("gs", self.environment(**self.named(
                {"type": "authorized_user", "client_id": "id", "refresh_token": REFRESH, "client_secret": CLIENT_SECRET,
                 "token_uri": f"{keys.origin}/token"})))
            self.assertEqual(refused.returncode, 3)
            self.assertIn("404", refused.stderr)


if __name__ == "__main__":
    unittest.main()
