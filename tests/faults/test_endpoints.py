"""Each endpoint with each of its calls failing once: an error, or what it always says; and the next time all is well.

Before each try the files get a new version (their permissions are set to what they are), so that everything is made
anew; after it the same is asked with nothing failing, and must be answered as ever: nothing of a fault is kept.
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from failing import OF_MEMORY, REPO, Shim

sys.path.insert(0, str(REPO / "tests" / "http"))
from server_fixture import Server  # noqa: E402
from test_save import held  # noqa: E402

FIXTURES = REPO / "tests" / "fixtures"
PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
MESSAGE = (FIXTURES / "oom_messages" / "v5e_readme_oom.txt").read_bytes()
PROGRAM = {"session": "program", "module": "jit_oom(1)"}
MEMORY = {"session": "memory", "host": "vm"}
OF_XPROF = {"run": "program", "tag": "memory_viewer", "module_name": "jit_oom(1)"}
OF_A_FILE = 422  # what could not be read; 500 is for faults of our own
GONE = "closed without an answer"
SAYS_A_FAULT = ('"code":"unreadable"', '"unreadable_files":1', '"left_out":[{"path"', '"unreadable":[{"host"',
                '"unreadable":[{"path"',  # of explain
                '"unlisted":[{"path"', '"error",', '"error"]',  # a point of a trend
                '"subject":"","memory_space":0,"memory_space_name":"HBM","by":"source","complete":false',  # ask again
                '"subject":"","memory_space":null,"memory_space_name":null,"by":null,"complete":false')
NO_SIZE = '"size_bytes":0,"programs"'  # of a session, whose files all hold something
# XProf's lists leave out a session or host that cannot be read just now and have no place to say so: a header does.
# Of memory they must say it like all others, and where nothing is left it is an error.
LEAVES_OUT = ("/runs", "/run_tools", "/hosts", "/module_list")
SAYS_LEFT_OUT = "X-Hbmview-Left-Out"
NOTHING = (b"[]", b"NO_MODULE")
LIVE = ("/api/v1/check", "/api/v1/server", "/metrics")  # other figures each time: the same names are the same answer
CHECK = (b'{"state":"running","asked":"changes","target":null,"compiler":null,"total":3,"compiled":0,"compiling":"a",'
         b'"reason":null,"rows":[]}')

QUESTIONS = [
    ("/api/v1/sessions", {}, None),
    ("/api/v1/session", {"session": "program"}, None),
    ("/api/v1/session", {"session": "arrays"}, None),
    ("/api/v1/modules", {"session": "program"}, None),
    ("/api/v1/memory_view", PROGRAM, None),
    ("/api/v1/memory_view/overview", PROGRAM, None),
    ("/api/v1/memory_view/groups", {**PROGRAM, "by": "source"}, None),
    ("/api/v1/buffers", {**PROGRAM, "limit": 50}, None),
    ("/api/v1/advise", {**PROGRAM, "capacity": "v5e"}, None),
    ("/api/v1/diff", PROGRAM, None),
    ("/api/v1/trend", {"module": "jit_oom(1)"}, None),
    ("/api/v1/memory_profile", MEMORY, None),
    ("/api/v1/memory_profile/ops", MEMORY, None),
    ("/api/v1/memory_profile/steps", MEMORY, None),
    ("/api/v1/memory_profile/findings", MEMORY, None),
    ("/api/v1/memory_profile/events", MEMORY, None),
    ("/api/v1/device_memory", {"session": "arrays"}, None),
    ("/api/v1/device_memory/profile", {"session": "arrays"}, None),
    ("/api/v1/explain", {}, MESSAGE),
    ("/api/v1/check/progress", PROGRAM, CHECK),
    ("/api/v1/save", {"run": "arrays", "tag": "device_memory"}, b"{}"),
    ("/api/v1/save", {"run": "memory", "tag": "memory_profile"}, b"{}"),
    ("/api/v1/save", {"run": "program", "tag": "memory_viewer"}, b"{}"),
    ("/api/v1/memory_view/groups/rows", {**PROGRAM, "by": "source"}, None),
    ("/api/v1/buffer", {**PROGRAM, "logical_buffer_id": 325}, None),
    ("/api/v1/buffer/hlo", {**PROGRAM, "logical_buffer_id": 325}, None),
    ("/api/v1/trend", {"tool": "memory_profile"}, None),
    ("/api/v1/memory_profile/across", {"session": "memory"}, None),
    ("/api/v1/memory_profile/timeline", MEMORY, None),
    ("/api/v1/memory_profile/breakdown", MEMORY, None),
    ("/api/v1/memory_profile/held", MEMORY, None),
    ("/api/v1/memory_profile/pressure", MEMORY, None),
    ("/api/v1/memory_profile/modules", MEMORY, None),
    ("/api/v1/device_memory/across", {"session": "arrays"}, None),
    ("/api/v1/openapi.json", {}, None),
    ("/api/v1/check", PROGRAM, None),
    ("/api/v1/devices", {}, None),
    ("/api/v1/server", {}, None),
    ("/api/v1/work", {}, None),
    ("/data", {**OF_XPROF, "view_memory_allocation_timeline": "true"}, None),
    ("/data", OF_XPROF, None),
    ("/data", {"run": "memory", "tag": "memory_profile", "host": "vm"}, None),
    ("/hosts", {"run": "program", "tag": "memory_viewer"}, None),
    ("/module_list", {"run": "program"}, None),
    ("/runs", {}, None),
    ("/runs", {"run_path": "{root}/plugins/profile"}, None),
    ("/runs", {"session_path": "{root}/plugins/profile/program"}, None),
    ("/hosts", {"run": "program", "run_path": "{root}/plugins/profile"}, None),
    ("/run_tools", {"run": "program"}, None),
    ("/config", {}, None),
    ("/version", {}, None),
    ("/", {}, None),
    ("/healthz", {}, None),
    ("/metrics", {}, None),
]


def text_of(answer):
    """Its JSON; of a page that was saved all that it holds."""
    if b' id="saved"' not in answer.body:
        return answer.body.decode()
    return json.dumps(held(answer.body.decode()), separators=(",", ":"))


def lacks(answer):
    """Whether it is a page that says what it does not hold."""
    return b' id="saved"' in answer.body and held(answer.body.decode())[0]["left_out"] != []


def names_of(answer):
    """What it has figures of."""
    words = r'^\w+(?=[{ ])' if answer.headers["Content-Type"].startswith("text/") else r'"\w+":(?:null)?'
    return sorted(set(re.findall(words, text_of(answer), re.MULTILINE)))


def same(path, answer, whole):
    """Whether it says the same. A file that was made anew has another version; figures of programs come bit by bit."""
    def told(one):
        if path in LIVE:
            return names_of(one)
        text = re.sub(r'"version":"[^"]*"', '', text_of(one))
        return re.sub(r'"complete":.*', '', text) if '"complete":false,"modules":' in text_of(whole) else text
    return (answer.status, told(answer)) == (whole.status, told(whole))


def make_log(root):
    """The program of the fixture's message, one with memory over time, and one of Python's arrays."""
    for name, source in (("program", "v5e_readme_oom"), ("memory", "tf_tiny")):
        shutil.copytree(PROFILES / source, root / "plugins" / "profile" / name)
    (root / "plugins" / "profile" / "arrays").mkdir()
    shutil.copy(FIXTURES / "device_memory" / "two_devices.memory.prof", root / "plugins" / "profile" / "arrays")


class Endpoints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hbmview-faulty-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name, "log")
        make_log(self.root)
        self.files = [path for path in self.root.rglob("*") if path.is_file()]
        self.shim = self.enterContext(Shim())
        self.server = self.enterContext(Server(logdir=self.root, environment=self.shim.environment))

    def make_anew(self):
        for file in self.files:
            os.chmod(file, 0o644)

    def ask(self, path, query, body):
        asked = "&".join(f"{key}={value}".replace("{root}", str(self.root)) for key, value in query.items())
        target = f"{path}?{asked}" if asked else path
        try:
            return self.server.request("POST" if body else "GET", target, body=body)
        except (http.client.HTTPException, OSError):
            return GONE

    def ask_failing(self, number, question):
        self.make_anew()
        self.shim.arm(number)
        try:
            return self.ask(*question)
        finally:
            self.shim.disarm()

    def wrong(self, path, whole, answer):
        """What is wrong with an answer during which a call failed; None: nothing."""
        if self.server.process.poll() is not None:
            return "the server ended"
        if answer == GONE:
            return None if self.shim.failed() in OF_MEMORY else GONE
        if "Content-Security-Policy" not in answer.headers:
            return f"without its guards: {answer}"
        if same(path, answer, whole):
            return None
        if answer.status == 200 and NO_SIZE in text_of(answer):
            return f"a size that nobody knows is told as none: {answer}"
        if answer.status == 200:
            is_short = path in LEAVES_OUT and answer.body not in NOTHING and answer.headers[SAYS_LEFT_OUT] != "0"
            is_said = is_short or any(words in text_of(answer) for words in SAYS_A_FAULT) or lacks(answer)
            return None if is_said and self.shim.failed() not in OF_MEMORY else f"another answer: {answer}"
        if answer.status < 500 and answer.status != OF_A_FILE:
            return f"blames the question: {answer}"
        if answer.headers["Content-Type"] == "application/json":
            code = json.loads(answer.body)["error"]["code"]
            expected = "out_of_memory" if self.shim.failed() in OF_MEMORY else "unreadable"
            return None if code == expected else f"{code}, not {expected}: {answer}"
        return None

    def sweep(self, question):
        whole = self.ask_failing(0, question)
        self.assertEqual(whole.status, 200, whole)
        numbers, found, errors = self.shim.calls_to_try(), [], 0
        for number in numbers:
            answer = self.ask_failing(number, question)
            problem = self.wrong(question[0], whole, answer)
            errors += answer == GONE or answer.status >= OF_A_FILE
            after = self.ask(*question)
            if after == GONE or not same(question[0], after, whole):
                problem = f"{problem or 'good'}; and then, with nothing failing: {after}"
            if problem:
                found.append(f"call {number} ({self.shim.failed()}): {problem}")
        print(f"{len(numbers)} faults, {errors} errors: {question[0]}")
        return found

    def test_each_fault_is_an_error_or_changes_nothing(self):
        for question in QUESTIONS:
            with self.subTest(question=question[0], **question[1]):
                found = self.sweep(question)
                self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_runs_of_programs_are_of_the_host_that_has_them(self):
        session = self.root / "plugins" / "profile" / "pair"
        session.mkdir()
        for host, source in (("a", "tf_tiny"), ("b", "tf_with_tpu_modules")):
            [file] = (PROFILES / source).iterdir()
            self.files.append(session / f"{host}.xplane.pb.gz")
            shutil.copy(file, self.files[-1])
        self.assertEqual(self.sweep(("/api/v1/memory_profile/modules", {"session": "pair"}, None)), [])


if __name__ == "__main__":
    unittest.main()
