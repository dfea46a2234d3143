"""What agents ask, with each call that it takes failing once: an error, in words, or what is always answered.

As in test_endpoints the files get a new version before each try, and after it the same is asked with nothing failing.
"""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from failing import OF_MEMORY, PROGRAM, REPO, Shim

FIXTURES = REPO / "tests" / "fixtures"
PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
MESSAGE = (FIXTURES / "oom_messages" / "v5e_readme_oom.txt").read_text()
NO_MEMORY = -32603  # JSON-RPC's internal error
ENDED = "the session ended"
SAYS_A_FAULT = ('"code":"unreadable"', '"unreadable_files":1', '"unreadable":[{', '"left_out":[{"path"')

QUESTIONS = [
    ("initialize", {"protocolVersion": "2025-06-18"}),
    ("server/discover", {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}),
    ("ping", {"_meta": {"io.modelcontextprotocol/protocolVersion": "1999-01-01"}}),
    ("tools/list", {}),
    ("sessions", {}),
    ("sessions", {"session": "program"}),
    ("report", {"session": "program", "top": 2}),
    ("report", {"tool": "memory_profile", "session": "memory"}),
    ("report", {"tool": "device_memory", "session": "arrays"}),
    ("report", {"tool": "device_memory"}),
    ("who_holds", {}),
    ("who_holds", {"session": "program", "by": "scope", "step": 7}),
    ("explain", {"text": MESSAGE}),
    ("advise", {"session": "program", "capacity": "v5e"}),
    ("diff", {"session": "program", "session_b": "program", "module_b": "jit_oom", "top": 3}),
    ("diff", {"session": "program", "module": "nowhere"}),
]


def line_of(question):
    name, arguments = question
    is_method = "/" in name or name in ("initialize", "ping")
    method, params = (name, arguments) if is_method else ("tools/call", {"name": name, "arguments": arguments})
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n"


class Agent:
    def __init__(self, shim, root):
        self.process = subprocess.Popen([PROGRAM, "mcp", f"--logdir={root}"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=shim.environment, cwd=REPO)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=60)

    def ask(self, question):
        self.process.stdin.write(line_of(question))
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        return json.loads(line) if line else ENDED


class Tools(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="hbmview-faulty-")))
        for name, source in (("program", "v5e_readme_oom"), ("memory", "tf_tiny")):
            shutil.copytree(PROFILES / source, self.root / "plugins" / "profile" / name)
        arrays = self.root / "plugins" / "profile" / "arrays"
        arrays.mkdir()
        shutil.copy(FIXTURES / "device_memory" / "two_devices.memory.prof", arrays)
        self.files = [path for path in self.root.rglob("*") if path.is_file()]
        self.shim, self.tried = self.enterContext(Shim()), set()
        self.said_of_threads = []
        self.agent = self.enterContext(Agent(self.shim, self.root))

    def make_anew(self):
        for file in self.files:
            os.chmod(file, 0o644)

    def ask_failing(self, number, question):
        self.make_anew()
        self.shim.arm(number)
        try:
            return self.agent.ask(question)
        finally:
            self.shim.disarm()

    def wrong(self, whole, answer):
        """What is wrong with an answer during which a call failed; None: nothing."""
        if answer in (ENDED, whole):
            return ENDED if answer == ENDED else None
        expected = "out_of_memory" if self.shim.failed() in OF_MEMORY else "unreadable"
        if "error" in answer:
            is_said = answer["error"]["code"] == NO_MEMORY and expected == "out_of_memory"
            return None if is_said else f"another refusal: {answer}"
        if answer["result"].get("isError"):
            code = answer["result"]["structuredContent"]["error"]["code"]
            return None if code == expected else f"{code}, not {expected}: {answer}"
        text = json.dumps(answer["result"].get("structuredContent"), separators=(",", ":"))
        is_said = any(words in text for words in SAYS_A_FAULT)
        return None if is_said and expected == "unreadable" else f"another answer: {text[:600]}"

    def sweep(self, question):
        whole = self.ask_failing(0, question)
        numbers, found, errors = self.shim.calls_to_try(self.tried), [], 0
        for number in numbers:
            answer = self.ask_failing(number, question)
            errors += answer != whole
            if self.shim.failed() == "a thread":
                self.said_of_threads.append(answer)
            problem = self.wrong(whole, answer)
            if self.shim.failed() not in OF_MEMORY:
                self.make_anew()  # the figures of a program that could not be read are kept for that version
            after = self.agent.ask(question)
            if after != whole:
                problem = f"{problem or 'good'}; and then, with nothing failing: {str(after)[:600]}"
            if problem:
                found.append(f"call {number} ({self.shim.failed()}): {problem}")
        print(f"{len(numbers)} faults, {errors} errors: {question[0]}")
        return found, errors

    def test_each_fault_is_an_error_or_changes_nothing(self):
        reached = 0
        for question in QUESTIONS:
            with self.subTest(question=question[0], **question[1]):
                found, errors = self.sweep(question)
                reached += errors
                self.assertEqual(found, [], "\n" + "\n".join(found))
        self.assertGreater(reached, 500, "the faults reach the answers")
        codes = [answer.get("error", {}).get("code") for answer in self.said_of_threads]
        self.assertIn(NO_MEMORY, codes, "a call whose thread is refused is answered nevertheless")


if __name__ == "__main__":
    unittest.main()
