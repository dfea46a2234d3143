"""hbmview.check with a page: what the real server then knows of it, while it goes on and afterwards. No jax."""
import contextlib
import http.server
import io
import json
import os
import pathlib
import tempfile
import threading
import time
import unittest
import urllib.request
from unittest import mock

from package import FIXTURES, hbmview

from hbmview._check import compiling, telling
from hbmview._check.compiling import Outcome, Variant, outcome_of
from hbmview._check.page import page_of

LOGDIR = FIXTURES / "logdir"
PLACE = {"session": "v5e_gpt_4layer", "module": "jit_train_step(1)"}
PATIENCE_SECONDS = 60


def checked_with(outcomes, page, **more):
    """hbmview.check, where `outcomes` is asked instead of a compiler."""
    with mock.patch("hbmview._check.outcome_of", outcomes):
        return hbmview.check(LOGDIR, hlo=LOGDIR / "plugins" / "profile" / "v5e_gpt_4layer" / os.listdir(
            LOGDIR / "plugins" / "profile" / "v5e_gpt_4layer")[0], page=page, **{**PLACE, **more})


def compiled(*asked):
    return Outcome("compiled", total=1 << 20, seconds=0.5, versions={"jax": "1.2"})


class Told(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = hbmview.Server(LOGDIR).start()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def state(self):
        with urllib.request.urlopen(self.server.address("api/v1/check", **PLACE)) as answer:
            return json.load(answer)["check"]

    def wait_for(self, is_so):
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            state = self.state()
            if state and is_so(state):
                return state
        raise AssertionError(state)

    def test_each_compile_is_told_while_it_goes_on(self):
        seen = []

        def outcome(source, target, variant, time_limit):
            seen.append(self.wait_for(lambda now: now["compiled"] == len(seen) and now["compiling"]))
            return compiled()

        checked = checked_with(outcome, self.server.url)
        self.assertEqual([one["compiling"] for one in seen][:2], ["as it is", "parameters in bfloat16"])
        self.assertEqual({one["state"] for one in seen}, {"running"})
        self.assertEqual(len({one["total"] for one in seen}), 1)
        self.assertEqual(seen[0]["total"], len(seen))
        self.assertEqual([len([row for row in one["rows"] if row["status"] == "compiled"]) for one in seen],
                         list(range(len(seen))))
        done = self.state()
        self.assertEqual((done["state"], done["compiled"], done["compiling"], done["compiler"]),
                         ("done", len(seen), None, "jax 1.2"))
        wanted = [{key: row[key] for key in done["rows"][0]} for row in checked["check"]]
        self.assertEqual(done["rows"], wanted)

    def test_flags_are_told_too(self):
        less = iter([10, 9, 8] + [10] * 100)
        checked_with(lambda *asked: Outcome("compiled", total=next(less)), self.server.url, flags=True)
        done = self.state()
        self.assertEqual((done["asked"], done["state"], done["rows"][-1]["id"]), ("flags", "done", "together"))
        self.assertEqual(done["total"], len(done["rows"]))
        self.assertEqual(done["compiled"], done["total"])

    def test_no_answer_is_told_with_its_reason(self):
        nothing = Outcome("failed", "pip install 'jax[tpu]' " + "é" * 2000, exit_code=3)
        with self.assertRaises(hbmview.HbmviewError):
            checked_with(lambda *asked: nothing, self.server.url)
        told = self.state()
        self.assertEqual(told["state"], "failed")
        self.assertRegex(told["reason"], "^pip install 'jax.tpu.' é+…$")

    def test_a_file_that_is_not_there_is_told_of_the_program_that_was_named(self):
        with self.assertRaises(hbmview.HbmviewError):
            hbmview.check("/nowhere", **PLACE, page=self.server.url)
        self.assertIn("/nowhere", self.wait_for(lambda now: now["state"] == "failed")["reason"])

    def test_ctrl_c_is_told(self):
        with self.assertRaises(KeyboardInterrupt):
            checked_with(mock.Mock(side_effect=KeyboardInterrupt), self.server.url)
        self.assertEqual(self.state()["state"], "stopped")

    def test_a_name_without_its_number_is_told_by_its_whole_name_only(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            checked_with(compiled, self.server.url, module="jit_train_step")
        self.assertEqual((said.getvalue(), self.state()["state"]), ("", "done"))

    def test_a_program_that_the_server_does_not_have(self):
        problem = page_of(self.server.url).tell("none", "none", {})
        self.assertRegex(problem, "the page answered 404: .*none")


class NotThere(unittest.TestCase):
    def complaints(self, page, **more):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            checked = checked_with(compiled, page, **more)
        self.assertEqual(checked["check"][0]["status"], "compiled")
        return said.getvalue()

    def test_it_is_said_once_and_the_check_goes_on(self):
        said = self.complaints("http://localhost:1/hbmview/?run=a")
        self.assertEqual(said.count("\n"), 1, said)
        self.assertRegex(said, "^hbmview: --page: http://localhost:1/hbmview/ does not answer: .*goes on without it")

    def test_what_is_no_address_is_wrong_usage(self):
        for address in ("localhost:6006", "ftp://here/", "http:///x", "unix:/tmp/socket", "http://[::1"):
            with self.assertRaisesRegex(hbmview.UsageError, "--page wants the address"):
                checked_with(compiled, address)

    def test_a_token_file_that_has_none(self):
        with tempfile.NamedTemporaryFile() as empty:
            for file in (empty.name, "/nowhere"):
                with self.assertRaisesRegex(hbmview.UsageError, "--token_file"):
                    checked_with(compiled, "http://localhost:1/", token_file=file)


class Sent(unittest.TestCase):
    """What comes to a server that is not hbmview's."""

    def setUp(self):
        heard = self.heard = []
        states, again = [], threading.Event()
        self.is_told_again = again

        class Answers(http.server.BaseHTTPRequestHandler):
            status, headers_more = 200, {}

            def do_POST(self):
                state = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if state in states:
                    again.set()
                states.append(state)
                heard.append((self.path, self.headers.get("Authorization")))
                self.send_response(type(self).status)
                for name, value in type(self).headers_more.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words):
                pass

        self.answers = Answers
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def test_below_the_path_of_the_page(self):
        for path, sent in (("", "/"), ("/", "/"), ("/a/b/", "/a/b/"), ("/a/index.html?run=x&tag=y#z", "/a/")):
            self.assertIsNone(page_of(self.url + path).tell("s 1", "f(1)", {}))
            self.assertEqual(self.heard[-1][0], f"{sent}api/v1/check/progress?session=s+1&module=f%281%29")

    def test_the_token_is_in_a_header(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "token")
            file.write_text("of-file\nmore\n")
            with mock.patch.dict(os.environ, HBMVIEW_TOKEN="of-environment"):
                for page, token in ((page_of(self.url + "/?token=of-link", file), "of-link"),
                                    (page_of(self.url, file), "of-file"), (page_of(self.url), "of-environment")):
                    self.assertIsNone(page.tell("s", "m", {}))
                    self.assertEqual(self.heard[-1], ("/api/v1/check/progress?session=s&module=m", f"Bearer {token}"))
            page_of(self.url).tell("s", "m", {})
            self.assertIsNone(self.heard[-1][1])

    def test_the_first_line_of_the_variable_is_the_token(self):
        with mock.patch.dict(os.environ, HBMVIEW_TOKEN=" abc \nmore"):
            self.assertIsNone(page_of(self.url).tell("s", "m", {}))
        self.assertEqual(self.heard[-1][1], "Bearer abc")

    def test_what_is_no_token_is_wrong_usage_and_not_repeated(self):
        for token in ("secret\rX-More: 1", "secret secret", "secrét"):
            with mock.patch.dict(os.environ, HBMVIEW_TOKEN=token):
                with self.assertRaisesRegex(hbmview.UsageError, "^--page: the token has characters") as caught:
                    page_of(self.url)
            self.assertNotIn("secr", str(caught.exception))

    def test_the_same_is_told_again_while_a_compile_lasts(self):
        def outcome(*asked):
            self.assertTrue(self.is_told_again.wait(PATIENCE_SECONDS))
            return compiled()

        with mock.patch.object(telling, "_NEWS_SECONDS", 0.01):
            checked_with(outcome, self.url)

    def test_redirections_are_not_followed(self):
        self.answers.status, self.answers.headers_more = 302, {"Location": self.url + "/elsewhere"}
        self.assertRegex(page_of(self.url + "/?token=secret").tell("s", "m", {}), "the page answered 302")
        self.assertEqual(len(self.heard), 1)


class TimeLimit(unittest.TestCase):
    def test_a_compile_that_takes_longer_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "sleeps")
            program.write_text("#!/bin/sh\nexec sleep 600\n")
            program.chmod(0o700)
            with mock.patch("sys.executable", str(program)), mock.patch.object(compiling, "_LOOK_SECONDS", 0.01):
                outcome = outcome_of("nowhere", None, Variant(), 0.05)
        self.assertEqual((outcome.status, outcome.total), ("failed", None))
        self.assertEqual(outcome.reason, "not compiled within 0.05 s (--time_limit=SECONDS allows more)")


if __name__ == "__main__":
    unittest.main()
