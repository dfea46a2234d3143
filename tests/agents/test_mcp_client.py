"""hbmview mcp through the protocol's own client package, in both current revisions."""
import json
import os
import pathlib
import unittest

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

REPO = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())
LOGDIR = REPO / "tests" / "fixtures" / "logdir"
SERVER = StdioServerParameters(command=PROGRAM, args=["mcp", f"--logdir={LOGDIR}"])
CALLS = (
    ("sessions", {"top": 2}),
    ("report", {"session": "v5e_gpt_12layer_oom", "top": 2}),
    ("report", {"session": "tf_leak", "tool": "memory_profile", "top": 2}),
    ("who_holds", {"session": "v5e_gpt_12layer_oom", "by": "phase", "top": 2}),
    ("explain", {"text": "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 52.93G of 15.75G hbm. "
                         "Exceeded hbm capacity by 37.18G.", "session": "v5e_gpt_12layer_oom",
                 "module": "jit_train_step", "top": 2}),
    ("advise", {"session": "v5e_gpt_12layer_oom", "capacity": "v5e", "top": 2}),
    ("diff", {"session": "v5e_gpt_4layer", "session_b": "v5e_gpt_12layer_oom", "top": 2}),
)


async def answers_of(client):
    """The tools, and what each call answers; the client checks every message against the protocol's schemas."""
    tools = (await client.list_tools()).tools
    results = [await client.call_tool(name, arguments) for name, arguments in CALLS]
    refused = await client.call_tool("report", {"session": "../../../etc/passwd"})
    return tools, results, refused


class Revisions(unittest.TestCase):
    def check(self, answers):
        tools, results, refused = answers
        self.assertEqual({tool.name for tool in tools}, {name for name, _ in CALLS})
        self.assertTrue(all(tool.annotations.read_only_hint for tool in tools))
        for (name, _), result in zip(CALLS, results):
            with self.subTest(tool=name):
                self.assertFalse(result.is_error)
                self.assertEqual(json.loads(result.content[0].text), result.structured_content)
                self.assertLess(len(result.content[0].text), 8000)
        self.assertTrue(refused.is_error)
        self.assertIn("There is no session", refused.content[0].text)

    def test_with_the_handshake(self):
        async def ask():
            async with stdio_client(SERVER) as (reader, writer), ClientSession(reader, writer) as session:
                hello = await session.initialize()
                return hello.protocol_version, await answers_of(session)
        version, answers = anyio.run(ask)
        self.assertEqual(version, "2025-11-25")
        self.check(answers)

    def test_without_it(self):
        async def ask(mode):
            async with Client(SERVER, mode=mode) as client:
                return client.protocol_version, await answers_of(client)
        for mode in ("auto", "2026-07-28"):
            with self.subTest(mode=mode):
                version, answers = anyio.run(ask, mode)
                self.assertEqual(version, "2026-07-28")
                self.check(answers)


if __name__ == "__main__":
    unittest.main()
