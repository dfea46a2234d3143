"""`hbmview report` on what --xla_dump_to leaves: the compiler's own totals to the byte, text as good as proto, and
clear words for what is damaged. The judge is the compiler: its memory-usage report, and its proto of the program that
a text is of."""
import gzip
import pathlib
import shutil
import tempfile
import unittest

from hbmview_command import CORPUS, FIXTURES, hbmview

DUMPS = FIXTURES / "xla_dump"
GOOD, UNREADABLE = 0, 3
ASSIGNMENT = "module_0000.jit__lambda.cl_987654321.after_optimizations-buffer-assignment.txt"


def varints(message):
    """The fields of a protobuf message: (number, value or bytes)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, message[at:at + size]
            at += size
        else:
            at += {1: 8, 5: 4}[key & 7]


def compiler_totals(path):
    """{memory space: bytes} of a memory-usage report in proto; it may name empty spaces too."""
    data = path.read_bytes()
    spaces = [dict((n, v) for n, v in varints(entry) if n in (1, 2))
              for number, entry in varints(gzip.decompress(data) if path.suffix == ".gz" else data) if number == 1]
    return {space.get(2, 0): space[1] for space in spaces if space.get(1)}


class DumpTest(unittest.TestCase):
    def folder(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return pathlib.Path(made.name)

    def report(self, *arguments, code=GOOD):
        done = hbmview("report", *arguments, "--format=json")
        self.assertEqual(done.code, code, done)
        return done.json()

    def only_module(self, path, code=GOOD):
        modules = self.report(path, code=code)["modules"]
        self.assertEqual(len(modules), 1, modules)
        return modules[0]

    def inflated(self, case, keep=lambda name: True):
        """A folder with the case's files as XLA wrote them."""
        root = self.folder() / case
        root.mkdir()
        for path in (DUMPS / case).glob("*.gz"):
            if keep(path.name):
                root.joinpath(path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        return root


class Totals(DumpTest):
    def check_totals(self, module, expected):
        found = {space["space"]: space["total_allocation_bytes"] + space["thread_local_bytes"]
                 for space in module["memory_spaces"]}
        self.assertEqual(found, expected)
        for space in module["memory_spaces"]:
            self.assertEqual(space["compiler_report"],
                             {"total_bytes": expected[space["space"]], "agrees": True, "difference_bytes": 0})

    def check_dumps(self, root):
        seen = 0
        for path in sorted(root.glob("*/*after_optimizations-memory-usage-report.pb*")):
            if "_both" in path.parent.name:
                continue
            with self.subTest(case=path.parent.name):
                self.check_totals(self.only_module(path.parent), compiler_totals(path))
            seen += 1
        return seen

    def test_protos_agree_with_the_compiler_to_the_byte(self):
        self.assertEqual(self.check_dumps(DUMPS), 3)

    @unittest.skipUnless((CORPUS / "xla_dump").is_dir(), "the wide corpus is not here")
    def test_the_wide_corpus_agrees(self):
        self.assertGreaterEqual(self.check_dumps(CORPUS / "xla_dump"), 7)

    def test_the_text_dump_agrees_with_its_report(self):
        module = self.only_module(DUMPS / "v5e_text_dump")
        self.check_totals(module, {0: 4799488, 1: 3551232, 2: 8, 6: 10240})

    def test_both_forms_of_one_compile_say_the_same(self):
        """Everything but the heap simulation, which the compiler writes into protos only."""
        for case, steps in (("v5e_both", False), ("cpu_both", True)):
            proto = self.inflated(case, lambda name: name.endswith(".pb.gz"))
            text = self.inflated(case, lambda name: name.endswith(".txt.gz"))
            judge = {module["module"]: module for module in self.report(proto)["modules"]}
            read = {module["module"]: module for module in self.report(text)["modules"]}
            self.assertEqual(judge.keys(), read.keys())
            for name, module in judge.items():
                with self.subTest(case=case, module=name):
                    self.check_same(module, read[name], steps)

    def check_same(self, proto, text, same_peak):
        self.assertEqual(proto["program_id"], text["program_id"])
        same = ["space", "total_allocation_bytes", "indefinite_bytes", "parameter_bytes", "output_bytes",
                "aliased_bytes", "constant_bytes", "thread_local_bytes", "temporary_bytes", "compiler_report"]
        words = ["name", "opcode", "size_bytes", "unpadded_bytes", "shape", "category", "op_name", "source"]
        for left, right in zip(proto["memory_spaces"], text["memory_spaces"], strict=True):
            self.assertEqual([left[key] for key in same], [right[key] for key in same])
            buffers = {buffer["logical_buffer_id"]: buffer for buffer in right["buffers_at_peak"]}
            for buffer in left["buffers_at_peak"]:
                mine = buffers[buffer["logical_buffer_id"]]
                self.assertEqual([buffer[key] for key in words], [mine[key] for key in words])
            if same_peak:
                self.assertEqual(left["peak_bytes"], right["peak_bytes"])


class Paths(DumpTest):
    def test_every_folder_is_a_session(self):
        found = {(module["session"], module["module"]) for module in self.report(DUMPS)["modules"]}
        self.assertEqual(found, {
            ("v5e_padded", "jit_f(5)"), ("v5e_matmul", "jit__lambda(2)"), ("v5e_replicated_oom", "jit_f(37)"),
            ("v5e_text_dump", "jit__lambda(0)"), ("v5e_both", "jit__lambda(0)"), ("v5e_both", "jit_f(3)"),
            ("cpu_both", "jit_f(6)")})

    def test_a_flat_dump_and_one_beside_profiles(self):
        root = self.inflated("v5e_matmul")
        self.assertEqual(self.only_module(root)["session"], "v5e_matmul")
        shutil.copytree(FIXTURES / "logdir/plugins/profile/v5e_padded", root / "plugins/profile/run")
        sessions = [module["session"] for module in self.report(root)["modules"]]
        self.assertEqual(sorted(sessions), ["run", "v5e_matmul"])

    def test_single_files_plain_and_gz(self):
        root = self.inflated("v5e_text_dump")
        for path in (root / ASSIGNMENT, DUMPS / "v5e_text_dump" / f"{ASSIGNMENT}.gz"):
            module = self.only_module(path)
            self.assertEqual(module["module"], "jit__lambda")
            self.assertTrue(module["memory_spaces"][0]["compiler_report"]["agrees"])
        proto = next((DUMPS / "v5e_padded").glob("*.after_optimizations.hlo.pb.gz"))
        module = self.only_module(proto)
        self.assertEqual(module["module"], "jit_f")
        self.assertTrue(module["memory_spaces"][0]["compiler_report"]["agrees"])

    def test_a_proto_goes_before_the_text_of_the_same_module(self):
        both = self.report(DUMPS / "cpu_both")["modules"][0]["memory_spaces"][0]
        self.assertFalse(any("text dump" in note for note in both["notes"]))

    def test_a_profile_has_no_report(self):
        modules = self.report(FIXTURES / "logdir/plugins/profile/v5e_matmul")["modules"]
        self.assertFalse(any("compiler_report" in space for space in modules[0]["memory_spaces"]))


class Words(DumpTest):
    def text_of(self, *arguments):
        done = hbmview("report", *arguments)
        self.assertEqual(done.code, GOOD, done)
        return " ".join(done.out.split())

    def test_the_compilers_count_stands_beside_ours(self):
        self.assertIn("Compiler's own count: 4.58 MiB (agrees).", self.text_of(DUMPS / "v5e_text_dump"))
        self.assertNotIn("own count", self.text_of(FIXTURES / "logdir/plugins/profile/v5e_matmul"))

    def test_a_disagreement_is_said(self):
        root = self.inflated("v5e_text_dump")
        path = root / ASSIGNMENT
        path.write_text(path.read_text().replace("allocation 7: size 12288", "allocation 7: size 12289"))
        self.assertIn("Compiler's own count: 4.58 MiB (differs: 1 B more here).", self.text_of(root))
        space = self.only_module(root)["memory_spaces"][0]
        self.assertEqual(space["compiler_report"], {"total_bytes": 4799488, "agrees": False, "difference_bytes": 1})
        self.assertTrue(any("counts 4799488 bytes" in note and "1 B more" in note for note in space["notes"]))

    def test_a_compile_that_ran_out_of_memory_says_so(self):
        notes = self.only_module(DUMPS / "v5e_replicated_oom")["memory_spaces"][0]["notes"]
        self.assertTrue(any("ran out of memory" in note and "oom_intermediate_module.hlo.pb" in note for note in notes))
        notes = self.only_module(DUMPS / "v5e_padded")["memory_spaces"][0]["notes"]
        self.assertFalse(any("ran out of memory" in note for note in notes))

    def test_what_a_text_lacks_is_said(self):
        space = self.only_module(DUMPS / "v5e_text_dump")["memory_spaces"][0]
        self.assertTrue(any("live ranges" in note and "shardings are not known" in note for note in space["notes"]))
        bare = self.inflated("v5e_text_dump", lambda name: name.endswith("buffer-assignment.txt.gz"))
        space = self.only_module(bare)["memory_spaces"][0]
        self.assertTrue(any("without live ranges" in note for note in space["notes"]))
        self.assertTrue(any("after_optimizations.txt" in note for note in space["notes"]))
        self.assertEqual(space["total_allocation_bytes"] + space["thread_local_bytes"], 4799488)
        self.assertEqual(space["peak_bytes"], space["indefinite_bytes"])
        shapes = {buffer["name"]: buffer["shape"] for buffer in space["buffers_at_peak"]}
        self.assertEqual(shapes["sort.6{0}"], "f32[2050,129]{0,1:T(8,128)}")


class Damage(DumpTest):
    def test_a_cut_proto_is_an_error_with_file_and_offset_and_the_rest_is_there(self):
        root = self.inflated("v5e_matmul")
        cut = root / "module_0009.jit_cut.cl_1.after_optimizations.hlo.pb"
        (whole,) = (DUMPS / "v5e_padded").glob("*.after_optimizations.hlo.pb.gz")
        cut.write_bytes(gzip.decompress(whole.read_bytes())[:9999])
        answer = self.report(root, code=UNREADABLE)
        self.assertEqual([module["module"] for module in answer["modules"]], ["jit__lambda(2)"])
        (error,) = answer["errors"]
        self.assertEqual((error["code"], error["file"]), ("truncated", str(cut)))
        self.assertIsInstance(error["offset"], int)

    def test_cut_and_garbled_texts_tell_the_line(self):
        edits = [(lambda text: text[:-20], "truncated", "line 87"),
                 (lambda text: text.replace("size 1183744, page", "size x, page", 1), "malformed", "line 4"),
                 (lambda text: text + "x" * 5_000_000 + "\n", "malformed", "line 88")]
        for edit, code, line in edits:
            root = self.inflated("v5e_text_dump")
            path = root / ASSIGNMENT
            path.write_text(edit(path.read_text()))
            answer = self.report(root, code=UNREADABLE)
            (error,) = answer["errors"]
            self.assertEqual((error["code"], error["file"]), (code, str(path)))
            self.assertIn(line, error["message"])
            self.assertGreater(error["offset"], 0)

    def test_garbage_in_any_text_is_an_error_of_that_file(self):
        for ending in ("buffer-assignment.txt", "after_optimizations.txt", "live-range.txt"):
            root = self.inflated("v5e_text_dump")
            (path,) = root.glob(f"*{'' if ending.startswith('after') else 'after_optimizations-'}{ending}")
            path.write_bytes(b"\x00\xff garbage\n" * 100)
            (error,) = self.report(root, code=UNREADABLE)["errors"]
            self.assertEqual((error["code"], error["file"]), ("malformed", str(path)))

    def test_a_damaged_usage_report_hides_nothing(self):
        root = self.inflated("v5e_matmul")
        (path,) = root.glob("*memory-usage-report.pb")
        path.write_bytes(path.read_bytes()[:100])
        space = self.only_module(root)["memory_spaces"][0]
        self.assertIsNone(space["compiler_report"])
        self.assertTrue(any("memory-usage-report.pb, cannot be read" in note for note in space["notes"]))

    def test_thousands_of_files(self):
        root = self.folder()
        one = gzip.decompress(next((DUMPS / "v5e_matmul").glob("*.after_optimizations.hlo.pb.gz")).read_bytes())
        for number in range(1500):
            root.joinpath(f"module_{number:04}.jit_f.cl_1.after_optimizations.hlo.pb").write_bytes(one)
            root.joinpath(f"module_{number:04}.jit_f.cl_1.before_optimizations.hlo.pb").write_bytes(b"")
        modules = self.report(root, "--top=0")["modules"]
        self.assertEqual(len({module["module"] for module in modules}), 1500)


if __name__ == "__main__":
    unittest.main()
