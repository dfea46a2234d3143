"""/api/v1/memory_view and /api/v1/buffer, on real programs: figures add up, and agree with XProf and the compiler."""
import unittest

from log_folders import folder, xplane
from server_fixture import ServedCase, Server

OOM = {"session": "v5e_gpt_12layer_oom", "module": "jit_train_step(1)"}
PARAMETER, DONATED, OUTPUT, CONSTANT, TEMPORARY = range(5)


class MemoryView(ServedCase):
    def view(self, **query):
        answer = self.server.get("/api/v1/memory_view", query)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def every_view(self):
        for session in self.server.get("/api/v1/sessions").json()["sessions"]:
            for module in self.server.get("/api/v1/modules", {"session": session["name"]}).json()["modules"]:
                first = self.view(session=session["name"], module=module["name"])
                for space in first["memory_spaces"]:
                    yield self.view(session=session["name"], module=module["name"], memory_space=space["space"])

    def test_figures_add_up_everywhere(self):
        seen = 0
        for view in self.every_view():
            totals, buffers = view["totals"], view["buffers"]
            parts = ("parameter", "aliased", "output", "constant")
            indefinite = sum(totals[f"{part}_bytes"] for part in parts)
            self.assertEqual(totals["indefinite_bytes"], indefinite)
            self.assertEqual(totals["total_allocation_bytes"], indefinite + totals["temporary_bytes"])
            self.assertEqual(totals["peak_bytes"], totals["peak_unpadded_bytes"] + totals["padding_bytes"])
            self.assertEqual(totals["peak_bytes"], sum(buffers["size_bytes"][row] for row in view["at_peak"]))
            if view["program"]["heap_bytes"]:
                self.assertEqual(totals["peak_bytes"], max(view["program"]["heap_bytes"]))
                self.assertEqual(len(view["program"]["heap_bytes"]), view["program"]["steps"] + 1)
                self.assertEqual(totals["peak_bytes"], view["program"]["heap_bytes"][totals["peak_position"] + 1])
            seen += 1
        self.assertGreater(seen, 40)

    def test_live_sets_are_the_curve(self):
        """At every step, the rows that are live sum to the curve: the page shows the live set of any step."""
        view = self.view(**OOM)
        b, steps = view["buffers"], view["program"]["steps"]
        change = [0] * (steps + 2)
        indefinite = 0
        for size, start, end, category in zip(b["size_bytes"], b["start_step"], b["end_step"], b["category"]):
            if category != TEMPORARY:
                indefinite += size
                continue
            change[start + 1] += size
            change[end + 1] -= size
        live = 0
        for step, heap in enumerate(view["program"]["heap_bytes"][:-1]):
            live += change[step]
            self.assertEqual(live + indefinite, heap, step)

    def test_blocks_stay_inside_their_allocation_and_apart(self):
        view = self.view(**OOM)
        b = view["buffers"]
        size_of = dict(zip(view["allocations"]["index"], view["allocations"]["size_bytes"]))
        rows = [i for i, category in enumerate(b["category"]) if category == TEMPORARY]
        for i in rows:
            self.assertLessEqual(b["offset"][i] + b["size_bytes"][i], size_of[b["allocation"][i]])
        at_peak = sorted((b["offset"][i], b["size_bytes"][i]) for i in view["at_peak"] if b["category"][i] == TEMPORARY)
        for (offset, size), (following, _) in zip(at_peak, at_peak[1:]):
            self.assertLessEqual(offset + size, following)

    def test_known_program(self):
        view = self.view(**OOM)
        self.assertEqual(view["totals"]["peak_bytes"], 56802019840)
        self.assertEqual(view["totals"]["peak_position"], 347)
        self.assertEqual(view["xprof"]["peak_bytes"], 56802019840)
        self.assertEqual([s["name"] for s in view["memory_spaces"]], ["HBM", "VMEM", "Sflag", "SparseCore"])

    def test_memory_spaces_xprof_cannot_select(self):
        view = self.view(session="v6e_gpt_fsdp", module="jit_train_step(1)", memory_space=8)
        self.assertEqual(view["memory_space_name"], "Memory space 8")
        self.assertGreater(view["totals"]["total_allocation_bytes"], 0)
        self.assertTrue(any("no heap simulation" in note for note in view["notes"]), view["notes"])

    def test_buffer(self):
        answer = self.server.get("/api/v1/buffer", {"session": "v5e_matmul", "module": "jit__lambda(1)",
                                                    "logical_buffer_id": "21"}).json()
        self.assertEqual(answer["instruction"], "tanh_reduce_fusion{1}")
        self.assertEqual((answer["size_bytes"], answer["unpadded_bytes"], answer["padding_bytes"]),
                         (557056, 532480, 24576))
        self.assertEqual([(d["size"], d["padded"], d["tile"]) for d in answer["dimensions"]],
                         [(1024, 1024, 128), (130, 136, 8)])
        self.assertEqual(answer["category"], "output")
        self.assertTrue(answer["stack"][0].startswith(answer["source"]))

    def buffer(self, session, module, instruction):
        where = {"session": session, "module": module}
        view = self.server.get("/api/v1/memory_view", where).json()
        row = [view["strings"][i] for i in view["buffers"]["instruction"]].index(instruction)
        number = view["buffers"]["logical_buffer_id"][row]
        return self.server.get("/api/v1/buffer", {**where, "logical_buffer_id": number}).json()

    def test_a_buffer_without_a_source_of_its_own_has_that_of_who_it_comes_from(self):
        clone = self.buffer("v5e_gpt_12layer_oom", "jit_train_step(1)", "fusion.13.remat_uncompressed")
        self.assertEqual((clone["source"], clone["line"], clone["argument"]),
                         ("/home/u/jax/train.py:70", "train.py:70", None))
        self.assertEqual(clone["source_from"], {"way": "operand", "instruction": "add_any.4", "links": 4})
        self.assertEqual(clone["phase"], {"name": "backward", "rule": "op_name", "evidence": "add_any.4"})
        own = self.buffer("v5e_gpt_12layer_oom", "jit_train_step(1)", "fusion.1473.remat4")
        self.assertEqual((own["source"], own["source_from"], own["reader_frame"]), ("/home/u/jax/train.py:69", None, 0))
        self.assertTrue(own["stack"][own["reader_frame"]].startswith("/home/u/jax/train.py:69:"))
        argument = self.buffer("v5e_gpt_12layer_oom", "jit_train_step(1)", "params__emb__.1")
        self.assertEqual((argument["argument"], argument["phase"]["name"], argument["phase"]["rule"]),
                         ("params['emb']", "inputs", "category"))

    def test_bad_questions(self):
        for query, status, words in (
                ({}, 400, "session"),
                ({"session": "v5e_matmul"}, 400, "module"),
                ({"session": "v5e_matmul", "module": "jit__lambda(1)", "memory_space": "HBM"}, 400, "memory_space"),
                ({"session": "v5e_matmul", "module": "nope"}, 404, "jit__lambda(1)"),
                ({"session": "v5e_matmul", "module": "jit__lambda(1)", "host": "nope"}, 404, "tpu-vm-0")):
            answer = self.server.get("/api/v1/memory_view", query)
            self.assertEqual(answer.status, status, answer)
            self.assertIn(words, answer.json()["error"]["message"])
        missing = self.server.get("/api/v1/buffer", {"session": "v5e_matmul", "module": "jit__lambda(1)",
                                                     "logical_buffer_id": "999"})
        self.assertEqual(missing.status, 404)

    def test_timeline_page(self):
        query = {"run": "v5e_gpt_12layer_oom", "tag": "memory_viewer", "module_name": "jit_train_step(1)",
                 "view_memory_allocation_timeline": "true"}
        answer = self.server.get("/data", query)
        self.assertEqual(answer.headers["Content-Type"].split(";")[0], "text/html")
        page = answer.body.decode()
        self.assertIn("<svg", page)
        self.assertGreater(page.count("<rect"), 100)
        self.assertNotIn("<script", page)
        self.assertNotIn("http://", page.replace("http://www.w3.org/2000/svg", ""))
        empty = self.server.get("/data", {**query, "memory_space": "3"})
        self.assertIn("No memory allocation timeline available", empty.body.decode())

    def test_program_id_as_xprof_takes_it(self):
        query = {"run": "h100_programs", "tag": "memory_viewer", "host": "gpu-vm-0"}
        by_id = self.server.get("/data", {**query, "program_id": "2045"}).json()
        self.assertEqual(by_id, self.server.get("/data", {**query, "module_name": "jit_loop(2045)"}).json())
        exact = self.server.get("/data", {**query, "program_id": "1"}).json()
        self.assertEqual(exact["moduleName"], "jit_matmul")


class Damaged(unittest.TestCase):
    def test_a_cut_file_keeps_its_whole_programs(self):
        whole = xplane("h100_programs")
        with folder({"cut/gpu-vm-0.xplane.pb": whole[:len(whole) // 2]}) as root, Server(logdir=root) as server:
            listed = server.get("/api/v1/modules", {"session": "cut"}).json()
            self.assertEqual(listed["hosts"][0]["error"]["code"], "truncated")
            self.assertGreaterEqual(listed["hosts"][0]["error"]["offset"], 0)
            names = [module["name"] for module in listed["modules"]]
            self.assertIn("jit_loop(2045)", names)
            answer = server.get("/api/v1/memory_view", {"session": "cut", "module": "jit_loop(2045)"})
            self.assertEqual(answer.status, 200)
            lost = server.get("/api/v1/memory_view", {"session": "cut", "module": "jit_attn_grad(1344)"})
            self.assertEqual((lost.status, lost.json()["error"]["code"]), (422, "truncated"))
            self.assertIn("gpu-vm-0.xplane.pb", lost.json()["error"]["file"])

    def test_names_that_are_no_utf8_can_be_asked_for(self):
        program = xplane("v5e_matmul").replace(b"jit__lambda(1)", b"jit_\xfflambda(1)")
        with folder({b"run\xfe/h.xplane.pb": program}) as root, Server(logdir=root) as server:
            session = server.get("/api/v1/sessions").json()["sessions"][0]["name"]
            self.assertEqual(session, "run\N{REPLACEMENT CHARACTER}")
            module = server.get("/api/v1/modules", {"session": session}).json()["modules"][0]["name"]
            self.assertIn("\N{REPLACEMENT CHARACTER}", module)
            self.assertEqual(server.get("/api/v1/memory_view", {"session": session, "module": module}).status, 200)


if __name__ == "__main__":
    unittest.main()
