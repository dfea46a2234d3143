"""Profiles in buckets: the same answers as from disk, few requests, and faults that are told."""
import json
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from bucket_server import SECRET, TOKEN, BucketServer
from server_fixture import FIXTURES, Server

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
SCHEMES = ("s3", "gs")
MODULES = {"v5e_matmul": "jit__lambda(1)", "v5e_padded": "jit_f(1)"}


def environment(bucket, scheme):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "GOOGLE_", "STORAGE_"))}
    return {**kept, **bucket.environment(scheme)}


def serve(bucket, scheme, prefix="", *arguments, tls=None):
    return Server(*arguments, logdir=bucket.url(scheme, prefix), environment=environment(bucket, scheme), tls=tls)


def run_folder(folder, name, *sessions):
    """A log directory of some fixtures' sessions."""
    for session in sessions:
        shutil.copytree(PROFILES / session, folder / name / "plugins" / "profile" / session)
    return folder


class SameAnswers(unittest.TestCase):
    """Every recorded question of XProf's, and hbmview's own, from disk and from both kinds of buckets."""

    def questions(self, local):
        index = json.loads((FIXTURES / "xprof_golden" / "index.json").read_text())
        for entry in index:
            yield "/" + entry["path"], entry["query"]
        for session in local.get("/api/v1/sessions").json()["sessions"]:
            for path in ("/api/v1/device_memory", "/api/v1/memory_profile/steps"):
                yield path, {"session": session["name"]}

    def test_every_answer(self):
        with BucketServer(FIXTURES / "logdir", page_size=7) as bucket, Server() as local:
            for scheme in SCHEMES:
                with serve(bucket, scheme) as remote:
                    asked = 0
                    for path, query in self.questions(local):
                        here, there = local.get(path, query), remote.get(path, query)
                        with self.subTest(scheme=scheme, path=path, query=query):
                            self.assertEqual((there.status, there.body), (here.status, here.body))
                        asked += 1
                    self.assertGreater(asked, 50)


class Names(unittest.TestCase):
    def test_odd_names(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a b", "jit_f(1)=+%", "ümläut&<x>", "~-_.!*'"):
                to = pathlib.Path(folder, "run %2F", "plugins", "profile", name)
                to.mkdir(parents=True)
                for file in (PROFILES / "v5e_matmul").iterdir():
                    shutil.copy(file, to / file.name.replace("tpu-vm-0", name))
            with BucketServer(folder, page_size=2) as bucket:
                for scheme in SCHEMES:
                    with serve(bucket, scheme, "run %2F") as remote, Server(logdir=f"{folder}/run %2F") as local:
                        listed = remote.get("/api/v1/sessions").json()["sessions"]
                        self.assertEqual([s["name"] for s in listed],
                                         [s["name"] for s in local.get("/api/v1/sessions").json()["sessions"]])
                        self.assertEqual(len(listed), 4)
                        for session in listed:
                            there = remote.get("/api/v1/memory_view", {"session": session["name"]})
                            here = local.get("/api/v1/memory_view", {"session": session["name"]})
                            self.assertEqual((there.status, there.body), (here.status, here.body))


class Faults(unittest.TestCase):
    SESSION = "v5e_matmul"

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        run_folder(pathlib.Path(self.folder), "run", self.SESSION, "v5e_padded")

    def view(self, server, session=SESSION):
        return server.get("/api/v1/memory_view", {"session": session, "module": MODULES[session]})

    def test_what_passes_is_asked_again(self):
        for status in (429, 500, 503):
            with BucketServer(self.folder) as bucket, serve(bucket, "s3", "run") as server:
                seen = []

                def once_each(request):
                    key = (request.path, request.query, request.headers.get("Range"))
                    if key in seen:
                        return None
                    seen.append(key)
                    return status, {}, b"later"

                bucket.fault = once_each
                self.assertEqual(self.view(server).status, 200)
                self.assertGreater(len(seen), 1)

    def test_a_body_that_is_cut_is_asked_for_again(self):
        with BucketServer(self.folder) as bucket, serve(bucket, "gs", "run") as server:
            cut = []

            def cut_once(request):
                if cut or not request.headers.get("Range"):
                    return None
                cut.append(request)
                return 206, {"Content-Length": "999999", "Connection": "close"}, b"x"

            bucket.fault = cut_once
            answer = self.view(server)
            self.assertEqual(answer.status, 200, answer)
            self.assertTrue(cut)

    def test_a_wrong_range_is_no_answer(self):
        def wrong(request):
            if not request.headers.get("Range"):
                return None
            first, last = map(int, re.findall(r"\d+", request.headers["Range"]))
            return 206, {"Content-Range": f"bytes {first + 1}-{last + 1}/99999999"}, b"x" * (last - first + 1)

        with BucketServer(self.folder) as bucket, serve(bucket, "s3", "run") as server:
            bucket.fault = wrong
            answer = self.view(server)
            self.assertNotEqual(answer.status, 200)
            self.assertIn("the server sent", answer.json()["error"]["message"])

    def test_more_than_was_asked_for(self):
        def flood(request):
            return (206, {}, b"x" * (32 << 20)) if request.headers.get("Range") else None

        with BucketServer(self.folder) as bucket, serve(bucket, "s3", "run") as server:
            bucket.fault = flood
            answer = self.view(server)
            self.assertIn("more than was asked for", answer.json()["error"]["message"])

    def test_a_replaced_object_is_never_a_mixture(self):
        for scheme in SCHEMES:
            with BucketServer(self.folder) as bucket, serve(bucket, scheme, "run") as server:
                self.assertEqual(len(server.get("/api/v1/sessions").json()["sessions"]), 2)
                file = next((pathlib.Path(self.folder) / "run/plugins/profile" / self.SESSION).iterdir())
                before = file.read_bytes()
                file.write_bytes(next((PROFILES / "v5e_gpt_4layer").iterdir()).read_bytes())
                answer = self.view(server)
                file.write_bytes(before)
                self.assertNotEqual(answer.status, 200)
                self.assertIn("replaced", answer.json()["error"]["message"])
                self.assertEqual(self.view(server, "v5e_padded").status, 200)

    def test_a_refusal_says_who_asked_and_no_secret(self):
        for scheme, who in (("s3", "AKIATEST"), ("gs", "service account")):
            with BucketServer(self.folder) as bucket, serve(bucket, scheme, "run") as server:
                bucket.fault = lambda request: (403, {}, b"") if "computeMetadata" not in request.path else None
                answer = server.get("/api/v1/sessions")
                self.assertIn(who, answer.body.decode())
                self.assertIn("403", answer.body.decode())
                for secret in (SECRET, TOKEN, "Authorization"):
                    self.assertNotIn(secret, answer.body.decode() + server.errors())

    def test_what_s3_says_of_a_refusal(self):
        cases = ((400, {}, b"<Error><Code>ExpiredToken</Code></Error>", "(status 400, ExpiredToken) to the access key"),
                 (403, {}, b"<Error><Code>AccessDenied</Code></Error>", "(status 403, AccessDenied) to"),
                 (403, {}, b"<Error><Code>\x1b[31m</Code></Error>", "(status 403) to"),
                 (400, {}, b"<Code>KeyTooLong", "status 400, KeyTooLong"),
                 (400, {"x-amz-bucket-region": "eu-west-1"}, b"<Code>AuthorizationHeaderMalformed</Code>",
                  "AWS_REGION=eu-west-1"),
                 (301, {"x-amz-bucket-region": "eu-west-1"}, b"", "AWS_REGION=eu-west-1"),
                 (301, {"x-amz-bucket-region": "$(x)"}, b"", "elsewhere; credentials"))
        for status, headers, body, words in cases:
            with self.subTest(words), BucketServer(self.folder) as bucket, serve(bucket, "s3", "run") as server:
                bucket.fault = lambda request, answer=(status, headers, body): answer
                self.assertIn(words, server.get("/api/v1/sessions").json()["error"]["message"])

    def test_credentials_go_to_no_other_host(self):
        with BucketServer(self.folder) as elsewhere, BucketServer(self.folder) as bucket, \
                serve(bucket, "s3", "run") as server:
            bucket.fault = lambda request: (307, {"Location": f"{elsewhere.origin}{request.path}"}, b"")
            answer = server.get("/api/v1/sessions")
            self.assertIn("not sent there", answer.body.decode())
            self.assertEqual(elsewhere.requests, [])

    def test_one_bad_session_hides_no_other(self):
        with BucketServer(self.folder) as bucket, serve(bucket, "gs", "run") as server:
            bucket.fault = lambda request: (404, {}, b"") if f"{self.SESSION}%2F" in request.path else None
            self.assertNotEqual(self.view(server).status, 200)
            self.assertEqual(self.view(server, "v5e_padded").status, 200)

    def test_a_server_that_is_gone_is_soon_said_to_be(self):
        for scheme in SCHEMES:
            with BucketServer(self.folder) as bucket, serve(bucket, scheme, "run") as server:
                bucket.stop()
                message = server.get("/api/v1/sessions").json()["error"]["message"]
                self.assertIn("connect to server (try 6)", message)
                self.assertNotIn("permissions", message)

    def test_an_open_bucket(self):
        with BucketServer(self.folder, is_open=True) as bucket:
            for scheme in SCHEMES:
                with serve(bucket, scheme, "run") as server:
                    self.assertEqual(self.view(server).status, 200)

    def test_pages_without_end(self):
        def for_ever(request):
            if "list-type" not in request.query:
                return None
            return 200, {}, b"<ListBucketResult><NextContinuationToken>x</NextContinuationToken></ListBucketResult>"

        with BucketServer(self.folder) as bucket, serve(bucket, "s3", "run") as server:
            bucket.fault = for_ever
            self.assertNotEqual(server.get("/api/v1/sessions").status, 200)
            self.assertLess(len(bucket.requests), 200)


if __name__ == "__main__":
    unittest.main()
