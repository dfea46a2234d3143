"""/api/v1/memory_view/overview and the columns as differences: the same facts as the whole view, in few bytes."""
import itertools
import pathlib
import random
import sys
import unittest
from unittest import mock

from log_folders import folder
from server_fixture import ServedCase, Server

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import large_program  # noqa: E402
import xspace_bytes  # noqa: E402

OOM = {"session": "v5e_gpt_12layer_oom", "module": "jit_train_step(1)"}
MOST_BYTES = 100_000
HEAD = ("session", "host", "module", "memory_space", "memory_spaces", "totals", "compiler_report", "xprof", "notes")


def large_session(buffers):
    return xspace_bytes.session("vm", [("jit_large", 1, large_program.hlo_proto(buffers))])


def noise(index, _):
    return random.Random(index).randbytes(1500).hex()


class MemoryOverview(ServedCase):
    def ask(self, path, **query):
        answer = self.server.get(path, query)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def every_space(self):
        for session in self.ask("/api/v1/sessions")["sessions"]:
            for module in self.ask("/api/v1/modules", session=session["name"])["modules"]:
                named = {"session": session["name"], "module": module["name"]}
                for space in self.ask("/api/v1/memory_view", **named)["memory_spaces"]:
                    yield {**named, "memory_space": space["space"]}

    def test_says_what_the_view_says(self):
        seen = 0
        for named in self.every_space():
            view, overview = self.ask("/api/v1/memory_view", **named), self.ask("/api/v1/memory_view/overview", **named)
            for key in HEAD:
                self.assertEqual(overview[key], view[key], (named, key))
            self.assertEqual(overview["rows"], len(view["buffers"]["size_bytes"]))
            self.check_curve(view, overview)
            self.check_rows(view, overview)
            self.check_sums(view, overview)
            seen += 1
        self.assertGreater(seen, 40)

    def check_curve(self, view, overview):
        whole, some = view["program"], overview["program"]
        self.assertEqual(some["steps"], whole["steps"])
        self.assertEqual([whole["heap_bytes"][step] for step in some["step"]], some["heap_bytes"])
        self.assertEqual(sorted(some["step"]), some["step"])
        if whole["heap_bytes"]:
            for key in ("heap_bytes", "unpadded_bytes"):
                self.assertEqual((min(some[key]), max(some[key])), (min(whole[key]), max(whole[key])))

    def check_rows(self, view, overview):
        some, whole = overview["largest_at_peak"], view["buffers"]
        texts = ("instruction", "opcode", "shape", "op_name", "source")
        for key in whole:
            names = (overview["strings"], view["strings"]) if key in texts else (None, None)
            told = [names[0][value] if names[0] else value for value in some[key]]
            meant = [names[1][whole[key][row]] if names[1] else whole[key][row] for row in some["row"]]
            self.assertEqual(told, [text[:200] if names[1] else text for text in meant], key)
        by_size = sorted(view["at_peak"], key=lambda row: (-whole["size_bytes"][row], row))
        self.assertEqual(some["row"], by_size[:len(some["row"])])

    def check_sums(self, view, overview):
        b = view["buffers"]
        padding = [size - unpadded if 0 <= unpadded <= size else 0
                   for size, unpadded in zip(b["size_bytes"], b["unpadded_bytes"])]
        total = {"buffers": len(view["at_peak"]), "size_bytes": sum(b["size_bytes"][row] for row in view["at_peak"]),
                 "padding_bytes": sum(padding[row] for row in view["at_peak"])}
        self.assertEqual(overview["at_peak"], total)
        shown = overview["largest_at_peak"]["row"]
        self.assertEqual(overview["left_out"], {
            "buffers": total["buffers"] - len(shown),
            "size_bytes": total["size_bytes"] - sum(b["size_bytes"][row] for row in shown),
            "padding_bytes": total["padding_bytes"] - sum(padding[row] for row in shown)})
        for number, category in enumerate(overview["categories"]):
            rows = [row for row in view["at_peak"] if b["category"][row] == number]
            self.assertEqual(category["buffers_at_peak"], len(rows))
            self.assertEqual(category["bytes_at_peak"], sum(b["size_bytes"][row] for row in rows))
            self.assertEqual(category["padding_at_peak"], sum(padding[row] for row in rows))
            allocated = [size for size, of in zip(view["allocations"]["size_bytes"], view["allocations"]["category"])
                         if of == number]
            self.assertEqual(category["allocated_bytes"], sum(allocated))

    def test_few_columns_keep_every_peak(self):
        view = self.ask("/api/v1/memory_view", **OOM)
        for columns in (1, 3, 7, 100):
            overview = self.ask("/api/v1/memory_view/overview", columns=columns, **OOM)
            self.assertEqual(len(overview["program"]["step"]), 2 * columns)
            self.check_curve(view, overview)

    def test_columns_that_make_no_sense(self):
        for columns in ("0", "-1", "1025", "many"):
            answer = self.server.get("/api/v1/memory_view/overview", {**OOM, "columns": columns})
            self.assertEqual(answer.status, 400, columns)

    def test_differences_add_up_to_the_columns(self):
        for named in itertools.chain([OOM], itertools.islice(self.every_space(), 5, 20)):
            plain = self.ask("/api/v1/memory_view", **named)
            told = self.ask("/api/v1/memory_view", delta=1, **named)
            for part, keys in told.pop("delta").items():
                for key in keys:
                    told[part][key] = list(itertools.accumulate(told[part][key]))
            self.assertEqual(told, plain)
        self.assertEqual(self.server.get("/api/v1/memory_view", {**OOM, "delta": "2"}).status, 400)


class AnyProgram(unittest.TestCase):
    def gzipped(self, server, path):
        asked = {"session": "large", "module": "jit_large(1)", "delta": 1}
        answer = server.get(path, asked, headers={"Accept-Encoding": "gzip"})
        self.assertEqual(answer.status, 200, answer)
        return answer

    def test_the_overview_is_small_whatever_the_program(self):
        with mock.patch.object(large_program, "op_name", noise):
            content = large_session(3000)
        with folder({"large/vm.xplane.pb": content}) as root, Server(logdir=root) as server:
            answer = self.gzipped(server, "/api/v1/memory_view/overview")
        self.assertLess(len(answer.raw), MOST_BYTES)
        overview = answer.json()
        self.assertGreater(overview["left_out"]["buffers"], 0)
        self.assertGreater(len(overview["largest_at_peak"]["row"]), 50)

    def test_columns_take_at_most_16_bytes_an_event(self):
        buffers = 20000
        with folder({"large/vm.xplane.pb": large_session(buffers)}) as root, Server(logdir=root) as server:
            answer = self.gzipped(server, "/api/v1/memory_view")
        self.assertEqual(answer.json()["program"]["steps"], 2 * buffers)
        self.assertLess(len(answer.raw), 16 * 2 * buffers)


if __name__ == "__main__":
    unittest.main()
