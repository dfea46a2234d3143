"""hbmview mcp, line by line: what goes in on stdin and what comes out."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

from hbmview_command import FIXTURES, SECONDS, hbmview, program

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "http"))
from server_fixture import INSTRUMENTED  # noqa: E402
from test_memory_limit import HUGE_EVENTS, LIMIT_MIB, allocations  # noqa: E402

LOGDIR = FIXTURES / "logdir"
SIX = ["sessions", "report", "who_holds", "explain", "advise", "diff"]
VERSION = "io.modelcontextprotocol/protocolVersion"


def lines(*messages, arguments=(f"--logdir={LOGDIR}",)):
    """The answers to messages (objects, or bytes as they are), by id, and how the program ended."""
    texts = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in messages]
    done = subprocess.run([program(), "mcp", *arguments], input=b"\n".join(texts) + b"\n", capture_output=True,
                          timeout=SECONDS, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()], done


class Agent:
    """A client that waits for each answer."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([program(), "mcp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next_id = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(SECONDS)
        self.process.stdout.close()

    def send(self, method, **params):
        self.next_id += 1
        message = {"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.send(method, **params)
        return json.loads(self.process.stdout.readline())

    def call(self, name, **arguments):
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result


class Protocol(unittest.TestCase):
    def test_each_kind_of_line(self):
        answers, done = lines(
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": "two", "method": "ping"},
            b"", b"no JSON", b"[]",
            {"jsonrpc": "2.0", "id": 3, "method": "resources/list"},
            {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "rm"}})
        self.assertEqual(done.returncode, 0)
        self.assertEqual([answer["id"] for answer in answers], [1, "two", None, None, 3, 4])
        self.assertEqual(answers[0]["result"]["protocolVersion"], "2025-06-18")
        self.assertEqual(answers[1]["result"], {})
        self.assertEqual([answer["error"]["code"] for answer in answers[2:]], [-32700, -32600, -32601, -32602])

    def test_an_unknown_revision_is_met_with_ours(self):
        answers, _ = lines({"jsonrpc": "2.0", "id": 1, "method": "initialize",
                            "params": {"protocolVersion": "2031-01-01"}})
        self.assertEqual(answers[0]["result"]["protocolVersion"], "2025-11-25")

    def test_the_newer_revision_needs_no_handshake(self):
        answers, _ = lines(
            {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {VERSION: "2026-07-28"}}},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {"_meta": {VERSION: "2026-07-28"}}},
            {"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {"_meta": {VERSION: "2031-01-01"}}})
        self.assertIn("2026-07-28", answers[0]["result"]["supportedVersions"])
        self.assertEqual(answers[1]["result"]["resultType"], "complete")
        self.assertEqual(answers[2]["error"]["code"], -32022)
        self.assertEqual(answers[2]["error"]["data"]["requested"], "2031-01-01")

    def test_six_tools_that_only_read(self):
        answers, _ = lines({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        tools = answers[0]["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools], SIX)
        for tool in tools:
            self.assertTrue(tool["annotations"]["readOnlyHint"])
            self.assertFalse(tool["inputSchema"]["additionalProperties"])

    def test_a_line_that_is_too_long_does_not_end_the_session(self):
        long_one = b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"x" * (35 << 20) + b'"}'
        answers, done = lines(long_one, {"jsonrpc": "2.0", "id": 2, "method": "ping"})
        self.assertEqual((done.returncode, answers[0]["error"]["code"], answers[1]["id"]), (0, -32600, 2))

    def test_usage(self):
        self.assertEqual(hbmview("mcp", "--help").code, 0)
        self.assertEqual(hbmview("mcp", "/tmp").code, 2)
        self.assertEqual(hbmview("mcp", "--memory_limit=64").code, 2)
        nowhere = hbmview("mcp", "--logdir=/no/such/folder")
        self.assertEqual(nowhere.code, 3)
        self.assertIn("/no/such/folder", nowhere.errors)


@unittest.skipIf(INSTRUMENTED, "a sanitizer takes memory of its own")
class MemoryLimit(unittest.TestCase):
    def test_what_does_not_fit_is_refused_and_the_rest_is_answered(self):
        with tempfile.TemporaryDirectory() as name:
            session = pathlib.Path(name, "plugins", "profile", "huge")
            session.mkdir(parents=True)
            (session / "host.xplane.pb").write_bytes(allocations(HUGE_EVENTS))
            with Agent(f"--logdir={name}", f"--memory_limit={LIMIT_MIB}") as agent:
                refused = agent.call("report", session="huge", tool="memory_profile")
                self.assertIn(f"{LIMIT_MIB} MiB of --memory_limit", json.dumps(refused))
                self.assertIn("huge", json.dumps(agent.call("sessions")))
            with Agent(f"--logdir={name}") as agent:
                whole = agent.call("report", session="huge", tool="memory_profile")
                self.assertNotIn("--memory_limit", json.dumps(whole))


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.agent = Agent(f"--logdir={LOGDIR}")

    @classmethod
    def tearDownClass(cls):
        cls.agent.__exit__()

    def good(self, name, **arguments):
        result = self.agent.call(name, **arguments)
        self.assertFalse(result["isError"], result)
        return result["structuredContent"]

    def refused(self, name, **arguments):
        result = self.agent.call(name, **arguments)
        self.assertTrue(result["isError"], result)
        return result["structuredContent"]["error"]

    def test_sessions(self):
        answer = self.good("sessions", top=2)
        known = [path.name for path in (LOGDIR / "plugins" / "profile").iterdir()]
        self.assertEqual(len(answer["sessions"]), 2)
        self.assertEqual(2 + answer["sessions_left_out"], len(known))

    def test_figures_are_those_of_the_commands(self):
        report = hbmview("report", LOGDIR, "--session=v5e_gpt_12layer_oom", "--by=source", "--memory-space=HBM",
                         "--format=json", "--top=3").json()
        space = report["modules"][0]["memory_spaces"][0]
        answer = self.good("who_holds", session="v5e_gpt_12layer_oom", top=3)
        self.assertEqual([row["key"] for row in answer["rows"]], [row["key"] for row in space["groups"]["rows"]])
        self.assertEqual(answer["left_out_bytes"], space["groups"]["left_out_bytes"])
        self.assertEqual(sum(row["size_bytes"] for row in answer["rows"]) + answer["left_out_bytes"],
                         answer["live_bytes"])
        overview = self.good("report", session="v5e_gpt_12layer_oom", top=3)
        self.assertEqual(overview["totals"]["peak_bytes"], space["peak_bytes"])
        shown = sum(row["size_bytes"] for row in overview["largest_at_peak"])
        self.assertEqual(shown + overview["largest_at_peak_left_out_bytes"], overview["at_peak"]["size_bytes"])
        self.assertTrue(any("not from a run" in caveat for caveat in overview["caveats"]))

    def test_a_session_holds_programs_by_peak(self):
        answer = self.good("sessions", session="tf_with_tpu_modules")
        peaks = [program["memory_spaces"][0]["peak_bytes"] for program in answer["programs"]]
        self.assertEqual(peaks, sorted(peaks, reverse=True))

    def test_memory_over_time(self):
        answer = self.good("report", session="tf_leak", tool="memory_profile", top=1)
        self.assertEqual(answer["findings"][0]["kind"], "leak")
        at_peak = answer["at_peak"]
        self.assertEqual(at_peak["rows"][0]["total_bytes"] + at_peak["left_out_bytes"], at_peak["explained_bytes"])

    def test_from_a_message_to_a_verified_fix(self):
        message = ("RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. "
                   "Used 52.93G of 15.75G hbm. Exceeded hbm capacity by 37.18G.")
        explained = self.good("explain", text=message, session="v5e_gpt_12layer_oom", module="jit_train_step", top=2)
        joined = explained["messages"][0]["joined"]
        self.assertEqual(joined["module"], "jit_train_step(1)")
        advice = self.good("advise", session=joined["session"], module=joined["module"], capacity="v5e", top=3)
        saved = [one["saves_bytes"] for one in advice["interventions"]]
        self.assertEqual(saved, sorted(saved, reverse=True))
        self.assertTrue(advice["plan"]["fits"])
        diff = self.good("diff", session=joined["session"], session_b="v5e_gpt_4layer", module="jit_train_step", top=2)
        groups = diff["groups"]
        self.assertEqual(sum(row["delta_bytes"] for row in groups["rows"]) + groups["left_out_delta_bytes"],
                         diff["peak_delta_bytes"])

    def test_arguments_that_are_off(self):
        self.assertIn("no argument", self.refused("report", sesion="x")["message"])
        self.assertIn("whole number", self.refused("report", top=0)["message"])
        self.assertIn("schema", self.refused("who_holds", by="colour")["message"])
        self.assertIn("needs", self.refused("explain")["message"])
        self.assertIn("no out-of-memory message", self.refused("explain", text="all is well")["message"])
        self.assertIn("jit__lambda", self.refused("report", session="v5e_matmul", module="nope")["message"])

    def test_nothing_outside_the_log_directory(self):
        with tempfile.TemporaryDirectory() as outside:
            stranger = os.path.join(outside, "plugins", "profile", "secret")
            shutil.copytree(LOGDIR / "plugins" / "profile" / "v5e_matmul", stranger)
            relative = os.path.relpath(stranger, LOGDIR / "plugins" / "profile")
            for name in (stranger, relative, "../../../../etc", "gs://bucket/run", "s3://b/r", "file:///etc", "secret",
                         "v5e_matmul/../v5e_matmul", "/etc/passwd"):
                with self.subTest(session=name):
                    for tool in ("report", "who_holds", "advise", "diff", "sessions"):
                        self.assertEqual(self.refused(tool, session=name)["code"], "not_found")
        for argument, value in (("module", "../x"), ("host", "/etc/passwd")):
            self.assertEqual(self.refused("report", session="v5e_matmul", **{argument: value})["code"], "not_found")
        self.assertEqual(self.refused("report", tool="device_memory", session="v5e_matmul", file="/etc/passwd")["code"],
                         "not_found")


class WithoutNames(unittest.TestCase):
    """A log directory of memory over time and Python's arrays: what is meant where no session is named."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        shutil.copytree(LOGDIR / "plugins" / "profile" / "tf_tiny", os.path.join(folder.name, "plugins/profile/run"))
        self.arrays = FIXTURES / "device_memory" / "two_devices.memory.prof"
        shutil.copy(self.arrays, folder.name)
        self.agent = Agent(f"--logdir={folder.name}")
        self.addCleanup(self.agent.__exit__)

    def test_the_newest_session_that_has_something(self):
        answer = self.agent.call("report", tool="memory_profile")["structuredContent"]
        self.assertEqual(answer["session"], "run")
        self.assertTrue(any("this is the newest one, run" in caveat for caveat in answer["caveats"]))

    def test_arrays_by_function(self):
        answer = self.agent.call("report", tool="device_memory", top=2)["structuredContent"]
        self.assertEqual((answer["session"], answer["file"]), (self.arrays.name, self.arrays.name))
        expected = json.loads(self.arrays.with_name("two_devices.expected.json").read_text())
        self.assertEqual(answer["bytes"], sum(expected.values()))
        self.assertEqual(len(answer["functions"]), 2)
        self.assertGreater(answer["functions_left_out"], 0)
        every = self.agent.call("report", tool="device_memory", top=200)["structuredContent"]
        self.assertEqual((every["functions"][:2], every["functions_left_out"]), (answer["functions"], 0))
        self.assertEqual(sum(row["self_bytes"] for row in every["functions"]), answer["bytes"])
        self.assertTrue(all(row["name"] and row["total_bytes"] >= row["self_bytes"] for row in every["functions"]))

    def test_nothing_is_there_for_a_tool(self):
        for tool in ("report", "who_holds"):
            result = self.agent.call(tool)
            self.assertTrue(result["isError"], result)
            error = result["structuredContent"]["error"]
            self.assertIn("None of the newest sessions has something for memory_viewer", error["message"])

    def test_a_memory_that_is_not_there(self):
        for argument in ({"host": "nope"}, {"memory_id": "nope"}):
            result = self.agent.call("report", tool="memory_profile", session="run", **argument)
            self.assertTrue(result["isError"], result)
            self.assertEqual(result["structuredContent"]["error"]["code"], "not_found")


class Cancelling(unittest.TestCase):
    def test_only_the_call_that_was_given_up_is_not_answered(self):
        """A web server that is silent: both calls hang; when it hangs up, the one that is still wanted is answered."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}/vm.xplane.pb"
            with Agent(f"--logdir={address}") as agent:
                for _ in range(2):
                    agent.send("tools/call", name="sessions", arguments={"session": "x"})
                asked, _ = silent.accept()
                agent.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
                                          b'"params":{"requestId":1}}\n')
                self.assertEqual(agent.ask("ping")["id"], 3)
                silent.close()
                asked.close()
                answer = json.loads(agent.process.stdout.readline())
                self.assertEqual((answer["id"], answer["result"]["isError"]), (2, True))
                self.assertEqual(agent.ask("ping")["id"], 4)


if __name__ == "__main__":
    unittest.main()
