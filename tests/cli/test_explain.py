"""`hbmview explain` as a user and a script see it: the four real messages with and without their profiles, every shape,
inputs, formats, exit codes."""
import gzip
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from hbmview_command import FIXTURES, environment, hbmview, program

MESSAGES = FIXTURES / "oom_messages"
LOGDIR = FIXTURES / "logdir"
KEYS = {"kind", "error_code", "memory_space", "module", "needed_bytes", "capacity_bytes", "exceeded_bytes",
        "requested_bytes", "free_bytes", "reservable_bytes", "tensorcore_bytes", "sparsecore_bytes", "breakdown",
        "largest", "scenario", "scenario_reason", "cause", "causes", "fixes", "joined", "count", "line"}
KINDS = {"gpu_allocator": "gpu_allocator", "h200_step_oom": "gpu_allocation", "gpu_out_of_memory": "gpu_allocation",
         "tpu_allocation_exceeds": "allocation_exceeds_memory", "tpu_hbm_used": "compile_oom",
         "tpu_program_load_big": "program_load", "tpu_program_load_fragmented": "program_load",
         "tpu_runtime_allocation": "runtime_allocation", "tpu_smem_used": "compile_oom",
         "tpu_tensorcore_sparsecore": "tensorcore_sparsecore_oom", "tpu_vmem_scoped": "compile_oom"}
GIB = 1 << 30
GOOD, NOT_FOUND, USAGE, UNREADABLE = 0, 1, 2, 3


def message_file(name):
    return MESSAGES / f"{name}.txt"


class Explain(unittest.TestCase):
    def explain(self, name, *arguments):
        done = hbmview("explain", message_file(name), "--format=json", *arguments)
        self.assertEqual((done.code, done.errors), (GOOD, ""), done)
        messages = done.json()["messages"]
        self.assertEqual(len(messages), 1, done)
        self.assertLessEqual(KEYS, set(messages[0]))
        return messages[0]

    def piped(self, text, *arguments):
        done = subprocess.run([program(), "explain", *arguments], input=text, capture_output=True, check=False,
                              env=environment())
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_every_shape_has_its_kind_and_fixes(self):
        for name, kind in KINDS.items():
            message = self.explain(name)
            self.assertEqual(message["kind"], kind, name)
            self.assertTrue(message["causes"] or message["scenario_reason"], name)
            for fix in message["fixes"]:
                self.assertEqual(list(fix)[:5], ["id", "text", "how", "changes_numerics", "saves_bytes"])
                self.assertTrue(fix["name"])
                self.assertIsNone(fix["predicted_total_bytes"], "no program, no prediction")
            self.assertGreater(len(message["fixes"]), 2, name)

    def of_a_gpu(self, size):
        told = message_file("h200_step_oom").read_bytes().replace(b"jit_train_step", b"jit_gpt_large")
        arguments = "-", f"--logdir={LOGDIR}", "--session=h100_programs", "--format=json"
        [message] = json.loads(self.piped(told.replace(b"102.06GiB", size), *arguments)[1])["messages"]
        return message

    def test_a_gpus_program_is_found_by_its_name_and_temporaries(self):
        report = hbmview("report", LOGDIR, "--session=h100_programs", "--module=jit_gpt_large", "--format=json").json()
        temporaries = report["modules"][0]["memory_spaces"][0]["temporary_bytes"]
        found, other = self.of_a_gpu(b"%.2fGiB" % (temporaries / GIB)), self.of_a_gpu(b"102.06GiB")
        self.assertEqual((found["module"], found["allocator"]), ("jit_gpt_large", "GPU_0_bfc"))
        self.assertTrue(found["joined"]["module"].startswith("jit_gpt_large"))
        self.assertTrue(any(fix["predicted_total_bytes"] for fix in found["fixes"]))
        self.assertFalse(any(fix["predicted_total_bytes"] for fix in other["fixes"]), "another compilation of it")

    def kept_by_the_programs_of(self, session):
        report = hbmview("report", LOGDIR, f"--session={session}", "--format=json").json()
        kept = {}
        for module in report["modules"]:
            [hbm] = [space for space in module["memory_spaces"] if space["space"] == 0]
            kept[module["module"]] = (hbm["constant_bytes"], hbm["temporary_bytes"])
        return kept

    def test_a_program_that_found_no_room_is_told_what_the_others_keep(self):
        kept = self.kept_by_the_programs_of("h100_programs")
        loaded = self.explain("tpu_program_load_big", f"--logdir={LOGDIR}", "--session=h100_programs",
                              "--module=jit_gpt_large")["loaded_together"]
        self.assertEqual((loaded["session"], loaded["basis"], loaded["unread"]), ("h100_programs", "reasoned", 0))
        told = {one["module"]: (one["constant_bytes"], one["temporary_bytes"]) for one in loaded["programs"]}
        self.assertEqual(told, kept)
        sizes = [one["size_bytes"] for one in loaded["programs"]]
        self.assertEqual(sizes, sorted(map(sum, kept.values()), reverse=True))
        [failing] = [one["module"] for one in loaded["programs"] if one["is_failing"]]
        self.assertRegex(failing, r"^jit_gpt_large\(")
        others = {name: figures for name, figures in kept.items() if name != failing}
        self.assertEqual(loaded["evicting_low_bytes"], sum(constants for constants, _ in others.values()))
        self.assertEqual(loaded["evicting_high_bytes"], sum(map(sum, others.values())))
        temporaries = [figures[1] for figures in kept.values()]
        self.assertEqual(loaded["merging_high_bytes"], sum(temporaries) - max(temporaries))

    def test_a_program_that_no_profile_has_is_told_those_of_the_session_asked_for(self):
        arguments = (f"--logdir={LOGDIR}", "--session=h100_programs")
        message = self.explain("tpu_program_load_fragmented", *arguments)
        self.assertIsNone(message["joined"])
        self.assertEqual([one["is_failing"] for one in message["loaded_together"]["programs"]], [False] * 8)
        text = hbmview("explain", message_file("tpu_program_load_fragmented"), *arguments).out
        self.assertIn("The programs of h100_programs, which may be loaded together", text)
        self.assertIn("Evicting the other 8 frees between", text)
        for name, session in (("tpu_program_load_fragmented", ()), ("tpu_runtime_allocation", arguments[1:])):
            self.assertIsNone(self.explain(name, f"--logdir={LOGDIR}", *session)["loaded_together"])

    def test_a_program_that_is_not_named_may_be_any_of_the_session(self):
        whole = message_file("tpu_program_load_fragmented").read_bytes()
        code, out, _ = self.piped(whole[whole.index(b"Attempting"):], "-", f"--logdir={LOGDIR}",
                                  "--session=h100_programs", "--format=json")
        [message] = json.loads(out)["messages"]
        self.assertEqual((code, message["kind"], message["loaded_together"]), (GOOD, "program_load", None))

    def test_a_program_is_joined_by_what_loading_it_reserves(self):
        text = message_file("tpu_program_load_big").read_text().replace("jit_eval_step", "jit_train_step")
        for asked, session in (("3.76G", "v6e_gpt_fsdp"), ("12.66G", None)):
            told = text.replace("11.62G", asked).encode()
            [message] = json.loads(self.piped(told, f"--logdir={LOGDIR}", "--format=json")[1])["messages"]
            self.assertEqual(message["joined"] and message["joined"]["session"], session, asked)
        nearest = message["search"]["nearest"]
        self.assertLess(nearest["compared_bytes"], nearest["total_allocation_bytes"])
        self.assertFalse(any(fix["predicted_total_bytes"] for fix in message["fixes"]))
        self.assertRegex(" ".join(self.piped(told, f"--logdir={LOGDIR}")[1].split()),
                         r"No program there fits this message: the nearest, .* brings constants and temporaries of")
        asked = json.loads(self.piped(told, f"--logdir={LOGDIR}", "--session=v6e_gpt_fsdp", "--format=json")[1])
        [joined] = [message["joined"] for message in asked["messages"]]
        self.assertFalse(joined["is_same_size"])
        self.assertIn("the message asks for 12.66 GiB, this program brings constants and temporaries of 3.76 GiB",
                      joined["disagreements"][0])

    def test_the_chips_that_hold_it_are_those_of_advise(self):
        for session, first in (("v5e_gpt_12layer_oom", "TPU v5p"), ("v5e_arguments_oom", "TPU v4")):
            message = self.explain(session, f"--logdir={LOGDIR}")
            advice = hbmview("advise", LOGDIR / "plugins" / "profile" / session, "--format=json").json()
            self.assertEqual(message["held_by"], advice["held_by"])
            self.assertEqual((message["held_by"][0], message["held_by_part"]), (first, 1))
            [chips] = [fix for fix in message["fixes"] if fix["id"] == "more_chips"]
            self.assertIn(f"one of these holds it: {', '.join(advice['held_by'])}.", chips["text"])
        alone = self.explain("v5e_gpt_12layer_oom")
        self.assertEqual((alone["held_by"], alone["held_by_part"]), (None, None))

    def test_text_has_the_figures_of_the_message(self):
        figures = self.explain("tpu_hbm_used")["breakdown"]
        self.assertEqual(figures["arguments"], round(9.17 * GIB))
        text = hbmview("explain", message_file("tpu_hbm_used")).out
        told = text[text.index("The message's own figures"):].splitlines()[2:]
        self.assertEqual([line.split(None, 2)[2] for line in told], list(figures))
        self.assertIn("  9.17 GiB  arguments", told)
        markdown = hbmview("explain", message_file("tpu_hbm_used"), "--format=markdown").out
        self.assertIn("| 9.17 GiB | arguments |", markdown)

    def test_a_compressed_log(self):
        plain = message_file("tpu_hbm_used").read_bytes()
        packed = gzip.compress(b"noise\n" * 5000 + plain + b"noise\n" * 5000)
        whole = self.explain("tpu_hbm_used")
        code, out, errors = self.piped(packed, "--format=json")
        self.assertEqual((code, errors), (GOOD, ""))
        found = json.loads(out)
        self.assertIsNone(found["log_problem"])
        self.assertEqual({**found["messages"][0], "line": 1, "last_line": 0}, {**whole, "line": 1, "last_line": 0})
        code, out, _ = self.piped(packed[:-40], "--format=json")
        self.assertEqual((code, json.loads(out)["messages"][0]["needed_bytes"]), (GOOD, whole["needed_bytes"]))
        self.assertIn("gzip stream ends early", json.loads(out)["log_problem"])
        code, out, errors = self.piped(packed[:5])
        self.assertEqual((code, out), (UNREADABLE, ""))
        self.assertIn("gzip stream ends early", errors)

    def test_arguments_against_the_words_of_the_message(self):
        alone = self.explain("v5e_arguments_oom")
        self.assertEqual((alone["scenario"], alone["joined"], alone["largest"]), ("3", None, []))
        message = self.explain("v5e_arguments_oom", f"--logdir={LOGDIR}")
        self.assertEqual(message["needed_bytes"], 18 * GIB)
        self.assertEqual(message["capacity_bytes"], round(15.75 * GIB))
        self.assertEqual(message["scenario"], "3B")
        joined = message["joined"]
        self.assertEqual((joined["session"], joined["module"]), ("v5e_arguments_oom", "jit_h(1)"))
        self.assertGreaterEqual(joined["totals"]["argument_bytes"], 18 * GIB)
        self.assertIn("HLO temporaries", joined["disagreements"][0])
        self.assertIn("18.00 GiB of arguments", joined["disagreements"][0])

    def test_one_allocation(self):
        message = self.explain("v5e_readme_oom", f"--logdir={LOGDIR}")
        self.assertEqual(message["scenario"], "2")
        largest = message["largest"][0]
        self.assertEqual(largest["size_bytes"], 200 * GIB)
        self.assertTrue(largest["shape"].startswith("bf16[327680,327680]"), largest)
        self.assertTrue(largest["source"].endswith("train.py:33"), largest)
        self.assertIn("run=v5e_readme_oom", largest["link"])
        self.assertIn("200.00 GiB", message["scenario_reason"])

    def test_the_sum(self):
        message = self.explain("v5e_gpt_12layer_oom", f"--logdir={LOGDIR}")
        self.assertEqual(message["scenario"], "3A")
        self.assertIn("rematerialize", [fix["id"] for fix in message["fixes"]])
        self.assertIn("11 temporaries of 3.00 GiB", " ".join(message["causes"]))

    def test_replicated_argument(self):
        message = self.explain("v5e_replicated_oom", f"--logdir={LOGDIR}")
        self.assertEqual(message["scenario"], "2")
        [replicated] = message["joined"]["replicated_arguments"]
        self.assertEqual((replicated["name"], replicated["size_bytes"], replicated["sharded_bytes"]),
                         ("w", 16 * GIB, 4 * GIB))
        self.assertEqual(message["fixes"][0]["id"], "shard_parameters")
        self.assertEqual(message["plan"]["interventions"], ["shard_parameters"], "the chips are there already")

    def test_the_bytes_are_the_advices(self):
        for name in ("v5e_replicated_oom", "v5e_gpt_12layer_oom", "v5e_arguments_oom", "v5e_readme_oom"):
            message = self.explain(name, f"--logdir={LOGDIR}")
            advice = hbmview("advise", LOGDIR, f"--session={name}", "--format=json", "--capacity=15.75GiB").json()
            items = {item["id"]: item for item in advice["interventions"]}
            for fix in message["fixes"]:
                item = items.get(fix["id"])
                for key in ("saves_bytes", "predicted_total_bytes", "low_bytes", "high_bytes", "fit", "name"):
                    self.assertEqual(fix[key], item[key] if item else None if key != "name" else fix[key], (name, key))
            offered, excluded = [{one["id"] for one in message[key]} for key in ("fixes", "excluded")]
            self.assertFalse(offered & excluded)
            self.assertEqual({id for id, item in items.items() if not item["applies"]} - excluded, set(), name)
            for key in ("plan", "plan_without_sharding", "alternatives"):
                self.assertEqual(message[key], advice[key], name)

    def test_a_module_of_another_size_is_not_the_one(self):
        text = message_file("v5e_gpt_12layer_oom").read_text().replace("52.93G", "20.00G").encode()
        for arguments, is_joined in (([], False), (["--session=v5e_gpt_12layer_oom"], True)):
            code, out, _ = self.piped(text, "--format=json", f"--logdir={LOGDIR}", *arguments)
            self.assertEqual(code, GOOD)
            joined = json.loads(out)["messages"][0]["joined"]
            self.assertEqual(joined is not None, is_joined)
        self.assertIn("another compilation", " ".join(joined["disagreements"]))

    def test_who_holds_it_at_the_peak_of_the_joined_program(self):
        message = self.explain("v5e_gpt_12layer_oom", f"--logdir={LOGDIR}")
        holders = message["who_holds"]
        self.assertEqual((holders["from"], holders["by"]), ("profile", "line"))
        first = holders["rows"][0]
        self.assertEqual((first["key"], first["about"], first["buffers"]), ("train.py:53", "attention", 34))
        self.assertEqual((first["alike"], first["alike_bytes"]), (11, 3 * GIB))
        report = hbmview("report", LOGDIR, "--session=v5e_gpt_12layer_oom", "--by=source", "--format=json").json()
        space = report["modules"][0]["memory_spaces"][0]
        self.assertEqual([(row["key"], row["size_bytes"]) for row in holders["rows"]],
                         [(row["key"], row["size_bytes"]) for row in space["groups"]["rows"][:10]])
        self.assertEqual(sum(row["size_bytes"] for row in holders["rows"]) + holders["left_out_bytes"],
                         message["joined"]["totals"]["peak_bytes"])
        text = hbmview("explain", message_file("v5e_gpt_12layer_oom"), f"--logdir={LOGDIR}").out
        self.assertIn("52.93 GiB of 15.75 GiB: OVERFLOW by 37.18 GiB", text)
        self.assertRegex(text, r"33\.09 GiB +62\.6% +train\.py:53 +11 x 3\.00 GiB and 23 more")
        self.assertLess(text.index("train.py:53"), text.index("The plan"))

    def test_who_holds_it_of_what_the_message_lists(self):
        message = self.explain("tpu_hbm_used")
        holders = message["who_holds"]
        self.assertEqual(holders["from"], "message")
        self.assertEqual(sum(row["size_bytes"] for row in holders["rows"]) + holders["left_out_bytes"],
                         sum(entry["size_bytes"] for entry in message["largest"]))

    def test_a_message_without_a_name_is_joined_by_operation_and_shape(self):
        text = ("XlaRuntimeError: RESOURCE_EXHAUSTED: Allocation (size=107374182400) would exceed memory "
                "(size=17179869184) :: #allocation7 [shape = 'u8[327680,327680]{1,0:T(8,128)(4,1)}', space=hbm, "
                "size = 0xffffffffffffffff, tag = 'output of xor_convert_fusion@{}'] :: <no-hlo-instruction>\n")
        for name, is_there in (("xor_convert_fusion", True), ("xor_convert_fusion.2", False)):
            code, out, _ = self.piped(text.replace("xor_convert_fusion", name).encode(), f"--logdir={LOGDIR}",
                                      "--format=json")
            [message] = json.loads(out)["messages"]
            self.assertEqual((code, message["joined"] is not None), (GOOD, is_there))
            if is_there:
                self.assertEqual(message["joined"]["session"], "v5e_readme_oom")
                self.assertIn("train.py:32", message["scenario_reason"])
        text = text.replace("327680,327680", "327680,163840")
        [message] = json.loads(self.piped(text.encode(), f"--logdir={LOGDIR}", "--format=json")[1])["messages"]
        self.assertIsNone(message["joined"])

    def test_of_another_size_nothing_is_concluded(self):
        message = self.explain("v5e_gpt_12layer_oom", f"--logdir={LOGDIR}", "--session=v5e_gpt_4layer")
        self.assertFalse(message["joined"]["is_same_size"])
        self.assertIn("sizes do not match", message["joined"]["disagreements"][0])
        self.assertEqual((message["plan"], message["largest"], message["who_holds"]["rows"]), (None, [], []))
        self.assertEqual(message["scenario"], "3", "of the message alone")
        self.assertTrue(all(fix["saves_bytes"] is None for fix in message["fixes"]))

    def test_what_was_searched_and_what_came_near(self):
        text = message_file("v5e_gpt_12layer_oom").read_text().replace("52.93G", "20.00G").encode()
        [message] = json.loads(self.piped(text, "--format=json", f"--logdir={LOGDIR}")[1])["messages"]
        search = message["search"]
        self.assertEqual(search["sessions"], search["session_count"])
        self.assertGreater(search["programs"], 3)
        self.assertFalse(search["is_cut_short"])
        self.assertIsNotNone(search["nearest"])
        told = " ".join(self.piped(text, f"--logdir={LOGDIR}")[1].split())
        self.assertIn("No program there fits this message", told)
        self.assertIn("Searched %d of %d sessions" % (search["sessions"], search["session_count"]), told)

    def test_no_more_is_claimed_than_was_searched(self):
        with tempfile.TemporaryDirectory() as folder:
            sessions = pathlib.Path(folder, "plugins", "profile")
            for name in ("v5e_matmul", "v5e_readme_oom"):
                shutil.copytree(LOGDIR / "plugins" / "profile" / name, sessions / name)
            [file] = (sessions / "v5e_readme_oom").iterdir()
            file.write_bytes(b"\xff" * 100)
            (sessions / "v5e_matmul" / "gone.xplane.pb").symlink_to("nowhere")
            arguments = ("explain", message_file("v5e_readme_oom"), f"--logdir={folder}")
            done = hbmview(*arguments, "--format=json")
            told = " ".join(hbmview(*arguments).out.split())
        document = done.json()
        search = document["messages"][0]["search"]
        self.assertEqual((done.code, document["messages"][0]["joined"]), (GOOD, None))
        self.assertEqual((search["sessions"], search["session_count"], search["is_cut_short"]), (1, 2, False))
        self.assertEqual([pathlib.Path(one["path"]).name for one in document["unreadable"]],
                         ["gone.xplane.pb", file.name])
        self.assertIn("leads nowhere", document["unreadable"][0]["reason"])
        self.assertIn("No profile or dump that could be read there holds this program", told)
        self.assertIn("Searched 1 of 2 sessions.", told)
        for one in document["unreadable"]:
            self.assertIn(f"{one['path']}: {one['reason']}", told)

    def test_program_load_causes(self):
        self.assertEqual(self.explain("tpu_program_load_big")["cause"], "program_too_big")
        self.assertEqual(self.explain("tpu_program_load_fragmented")["cause"], "fragmented")
        self.assertIsNone(self.explain("tpu_runtime_allocation")["cause"])

    def test_capacity(self):
        self.assertEqual(self.explain("tpu_hbm_used")["scenario"], "3A")
        self.assertEqual(self.explain("tpu_hbm_used", "--capacity=2.5G")["scenario"], "2")
        for wrong in ("12X", "-1", "", "1.5", "0"):
            done = hbmview("explain", message_file("tpu_hbm_used"), f"--capacity={wrong}")
            self.assertEqual(done.code, USAGE, wrong)

    def test_inputs(self):
        text = message_file("v5e_readme_oom").read_bytes()
        for arguments in ([], ["-"]):
            code, out, _ = self.piped(text, *arguments)
            self.assertEqual(code, GOOD)
            self.assertIn("Scenario 3", out)
        self.assertEqual(self.piped(b"all is well\n")[0], NOT_FOUND)
        self.assertIn("no out-of-memory message found", self.piped(b"")[2])
        self.assertEqual(hbmview("explain", "/no/such/file").code, UNREADABLE)
        self.assertEqual(hbmview("explain", "/").code, UNREADABLE)
        self.assertEqual(hbmview("explain", message_file("tpu_hbm_used"), "--logdir=/no/such").code, UNREADABLE)
        self.assertEqual(hbmview("explain", "--format=xml").code, USAGE)
        self.assertEqual(hbmview("explain", "a", "b").code, USAGE)
        self.assertIn("Exit codes", hbmview("explain", "--help").out)

    def test_markdown_and_text(self):
        path = message_file("tpu_hbm_used")
        markdown = hbmview("explain", path, "--format=markdown").out
        self.assertIn("## E1000 compile", markdown)
        self.assertIn("| ---", markdown.replace("|---", "| ---"))
        text = hbmview("explain", path).out
        self.assertTrue(all(len(line) <= 110 or line.startswith("        ") for line in text.splitlines()), text)

    def test_terminal_is_not_driven(self):
        evil = b"Error loading program 'jit\x1b]0;owned\x07_x': Attempting to reserve 2.00G at the bottom of memory. " \
               b"That was not possible. There are 1.00G free, 0B reserved, and 1.00G reservable.\n"
        code, out, _ = self.piped(evil)
        self.assertEqual(code, GOOD)
        self.assertNotIn("\x1b", out)

    def test_terminal_is_not_driven_by_names(self):
        """Of the sessions that there are, and of what the user gives."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(LOGDIR / "plugins" / "profile" / "v5e_matmul",
                            pathlib.Path(folder, "plugins", "profile", "owned\x1b]0;x"))
            log = message_file("tpu_hbm_used")
            for arguments in ((log, f"--logdir={folder}", "--session=typo"), (f"{folder}/\x1b[31m",),
                              (log, f"--logdir={folder}/\x1b[31m"), ("--\x1b[31m",)):
                done = hbmview("explain", *arguments)
                self.assertIn(done.code, (USAGE, UNREADABLE), arguments)
                self.assertNotIn("\x1b", done.errors)
                self.assertIn("\N{REPLACEMENT CHARACTER}", done.errors)

    def test_ten_megabytes(self):
        noise = b"".join(b"step %d loss 1.25 used 12.5G of nothing\n" % i for i in range(260000))
        log = noise + message_file("tpu_hbm_used").read_bytes() + noise[: 1 << 20]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "train.log"
            path.write_bytes(log)
            done = hbmview("explain", path, "--format=json")
        self.assertEqual(done.code, GOOD)
        [message] = done.json()["messages"]
        self.assertEqual((message["line"], len(message["largest"])), (260001, 3))


if __name__ == "__main__":
    unittest.main()
