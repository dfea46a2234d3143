"""What `hbmview advise` says of a program: reasons, figures and names that hold together. The figures themselves are
test_advise's."""
import functools
import json
import re
import unittest

from hbmview_command import FIXTURES, hbmview

ADVICE = FIXTURES / "advice"
PARTS = re.compile(r"of ([\d.]+) (\w+) that this is about, what ([\d.]+) (\w+) is cannot be seen")
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
PROGRAMS = sorted(json.loads((ADVICE / "index.json").read_text())["programs"])


def advise(name, *arguments):
    done = hbmview("advise", ADVICE / f"{name}.hlo.pb.gz", "--format=json", *arguments)
    assert done.code == 0 and not done.errors, done
    return done.json()


@functools.cache
def of_program(name):
    return advise(name)


def by_id(document):
    return {item["id"]: item for item in document["interventions"]}


def items(*programs):
    for name in programs or PROGRAMS:
        for item in of_program(name)["interventions"]:
            yield name, item


class Reasons(unittest.TestCase):
    def test_why_a_change_does_not_apply_is_said_first(self):
        evidence = by_id(of_program("gpu_haiku"))["rematerialize"]["evidence"]
        self.assertEqual(evidence[0], "What the blocks keep is not what the program's peak is made of.")
        self.assertIn("of the forward pass", evidence[1])

    def test_no_least_of_nothing_is_told(self):
        for name, item in items():
            self.assertNotIn(" 0 B at least", " ".join(item["evidence"]), (name, item["id"]))

    def test_what_is_not_seen_is_no_more_than_what_a_change_is_about(self):
        told = 0
        for name, item in items():
            found = PARTS.search(item["evidence"][0])
            if found:
                whole, part = (float(found[i]) * UNITS[found[i + 1]] for i in (1, 3))
                self.assertLessEqual(part, whole, (name, item["id"]))
                told += 1
        self.assertGreater(told, 10)

    def test_what_saves_less_than_a_thousandth_does_not_apply(self):
        for name in PROGRAMS:
            total = of_program(name)["total_bytes"]
            for item in of_program(name)["interventions"]:
                followed = item.get("followed_total_bytes", 0)
                saved = total - followed if followed else item["saves_bytes"]
                if item["applies"]:
                    self.assertGreaterEqual(abs(saved), total // 1000, (name, item["id"]))
        self.assertEqual(by_id(of_program("gpu_window_cache"))["bf16_temporaries"]["evidence"][0],
                         "It would save nothing.")
        item = by_id(of_program("caches_scanned"))["donate_inputs"]
        self.assertEqual(item["evidence"][0], "It would save 512 B, less than a thousandth of the total.")
        self.assertEqual((item["applies"], item["saves_bytes"], item["understood"]), (False, 0, 1))


class Capacity(unittest.TestCase):
    def head(self, name, capacity):
        done = hbmview("advise", ADVICE / f"{name}.hlo.pb.gz", f"--capacity={capacity}")
        self.assertEqual((done.code, done.errors), (0, ""), done)
        return next(line for line in done.out.splitlines() if line.startswith("The capacity is"))

    def test_a_gpus_last_quarter_is_not_there_unless_asked_for(self):
        total = of_program("gpu_attention")["total_bytes"]
        head = self.head("gpu_attention", total * 5 // 4)
        self.assertIn("it fits if XLA may take all of it; of a GPU's memory it takes three quarters by itself", head)
        self.assertIn("XLA_PYTHON_CLIENT_MEM_FRACTION", head)
        self.assertTrue(self.head("gpu_attention", total * 3 // 2).endswith(": it fits."))
        self.assertTrue(self.head("gpu_attention", total - 1).endswith(": it does not fit."))
        self.assertTrue(self.head("dense", of_program("dense")["total_bytes"] + 1).endswith(": it fits."))  # of a TPU


class Help(unittest.TestCase):
    def test_what_is_known_is_not_asked_for(self):
        for name in PROGRAMS:
            document = of_program(name)
            for item in document["interventions"]:
                told = " ".join(item["evidence"])
                for flag in ("batch", "sequence"):
                    if document[flag]:
                        self.assertNotIn(f"--{flag}=N", told, (name, item["id"]))
                self.assertNotIn("HloProto", told, (name, item["id"]))  # these are such, and have op names

    def test_what_is_given_is_not_asked_for(self):
        given = by_id(advise("gpu_attention", "--batch=8"))["bf16_temporaries"]["evidence"][0]
        self.assertTrue(given.endswith("compile the step in bfloat16 to know."), given)
        given = by_id(advise("dense", "--batch=1"))
        for change in ("halve_batch", "micro_batch"):
            self.assertEqual(given[change]["evidence"], ["The batch given, 1, cannot be divided."])
        self.assertEqual(given["shard_all"]["evidence"], ["4 chips cannot share a batch of 1."])

    def test_what_is_not_known_is_asked_for(self):
        evidence = by_id(of_program("played"))["halve_batch"]["evidence"][0]
        self.assertIn("give it with --batch=N", evidence)


class Code(unittest.TestCase):
    def code(self, change, *programs):
        return [by_id(of_program(name))[change]["code"] for name in programs]

    def test_those_arguments_are_donated_that_the_step_returns(self):
        self.assertEqual(self.code("donate_inputs", "dense", "packed", "gpu_window_cache", "played"),
                         ["jax.jit(step, donate_argnums=(0, 1, 2))  # params, m, v",
                          "jax.jit(step, donate_argnums=(0, 2))  # params, opt_state",  # not the frozen ones between
                          "jax.jit(step, donate_argnums=(1, 3))  # cache, step",  # not the weights, nor the token
                          "jax.jit(step, donate_argnums=(0,))  # state"])

    def test_where_no_argument_is_to_be_donated_none_is_named(self):
        self.assertEqual(self.code("donate_inputs", "caches_scanned"),
                         ["jax.jit(step, donate_argnums=...)  # the arguments that the step returns updated"])

    def test_the_batch_has_so_many_parts_as_are_predicted(self):
        for name, item in items():
            if item["id"] == "micro_batch" and item["applies"]:
                self.assertIn(f"batch.reshape({item['parts']}, -1,", item["code"], name)
                self.assertIn(f"x / {item['parts']}, sums)", item["code"], name)

    def test_a_dimension_is_made_what_is_predicted(self):
        self.assertEqual(self.code("align_dimensions", "odd_width", "second_axis", "dense"),
                         ["size = 2048  # not 2050", "size = 896  # not 960", "size = size // 128 * 128"])

    def test_an_axis_of_the_mesh_has_one_name(self):
        for _, item in items("dense"):
            told = " ".join([item["code"], item["how"], *item["evidence"]])
            self.assertEqual(set(re.findall(r"PartitionSpec\((?:None, )?'(\w+)'", told)) - {"x"}, set(), item["id"])

    def test_each_is_python(self):
        for name, item in items():
            compile(item["code"], name, "exec")

    def test_text_has_the_code_of_this_program(self):
        for form, line in (("text", "        jax.jit(step, donate_argnums=(0, 1, 2))  # params, m, v\n"),
                           ("markdown", "- `size = 2048  # not 2050`\n")):
            done = hbmview("advise", ADVICE / f"{'dense' if form == 'text' else 'odd_width'}.hlo.pb.gz",
                           f"--format={form}")
            self.assertIn(line, done.out)


class OfInference(unittest.TestCase):
    def test_where_nothing_is_trained_nothing_is_said_of_training(self):
        words = re.compile(r"gradient|optimizer|master copy|small updates|training|trains", re.IGNORECASE)
        seen = 0
        for name, item in items():
            if of_program(name)["is_training"] or not item["applies"]:
                continue
            told = " ".join([item["how"], item["code"], *item["evidence"]])
            self.assertEqual(words.findall(told), [], (name, item["id"], told))
            seen += 1
        self.assertGreater(seen, 20)

    def test_of_training_it_is(self):
        told = by_id(of_program("dense"))
        self.assertIn("the batch that the optimizer sees", told["halve_batch"]["how"])
        self.assertIn("each weight, and its optimizer state, with", told["shard_parameters"]["how"])
        self.assertIn("a float32 master copy", told["bf16_parameters"]["how"])


class Names(unittest.TestCase):
    def largest(self, name):
        told = " ".join(by_id(of_program(name))["rematerialize"]["evidence"])
        return re.search(r"the largest is (\S+) ", told).group(1)

    def test_arrays_have_the_names_of_the_source(self):
        compilers = re.compile(r"(?:the largest is|Dimension \d+ of|A callback gets) (?!jit\()[\w.-]+ ")
        for name, item in items():
            self.assertEqual(compilers.findall(" ".join(item["evidence"])), [], (name, item["id"]))

    def test_an_element_of_a_fusion_has_its_own(self):
        self.assertEqual(self.largest("experts"), "jit(train_step)/jvp(attention)/exp")  # not /sub, another's

    def test_what_a_loop_fills_is_not_called_zeros(self):
        for name in ("too_big_scanned", "odd_table"):
            self.assertRegex(self.largest(name), r"/while/body/.*/dynamic_update_slice$")

    def test_an_input_has_its_arguments(self):
        told = " ".join(by_id(of_program("odd_width"))["align_dimensions"]["evidence"])
        self.assertIn("Dimension 1 of parameters[0]['weight'] f32[2050,2050]", told)


class Figures(unittest.TestCase):
    def test_half_of_an_odd_batch_is_no_number_of_examples(self):
        words = "Half of 1025 is between 512 and 513 examples, and so is the figure."
        self.assertIn(words, by_id(advise("odd_length", "--batch=1025"))["halve_batch"]["evidence"])
        self.assertNotIn("Half of", " ".join(by_id(of_program("odd_length"))["halve_batch"]["evidence"]))

    def test_one_is_no_plural(self):
        for name, item in items():
            told = " ".join(item["evidence"])
            self.assertNotRegex(told, r"(?<![\d.])1 (inputs|arrays|operations|weights)\b", (name, item["id"]))
        self.assertIn("1 operation hands arrays to the host.",
                      by_id(of_program("debug_print"))["remove_debug_print"]["evidence"])
        self.assertIn("1 input of 60.00 MiB has an output of the same shape and type that lies beside it.",
                      by_id(of_program("heads"))["donate_inputs"]["evidence"])

    def test_what_does_not_stay_whole_is_not_counted(self):
        for name, item in items():
            self.assertNotIn("; 0 B stay", " ".join(item["evidence"]), (name, item["id"]))
        told = " ".join(by_id(of_program("gpt2_decode"))["shard_all"]["evidence"])
        self.assertRegex(told, r"; [\d.]+ KiB stay whole on each\.")

    def test_scores_are_told_of_where_the_sequence_stands_twice(self):
        told = {name: by_id(of_program(name))["halve_sequence"]["evidence"][0] for name in ("dilated", "experts")}
        self.assertEqual(told, {"dilated": "The sequence is 2048, dimension 1 of an input.",
                                "experts": "The sequence is 512, dimension 1 of an input; where it stands twice, as in "
                                           "attention's scores, a quarter is left."})


if __name__ == "__main__":
    unittest.main()
