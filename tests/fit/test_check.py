"""hbmview.check: programs of a dump, changed and compiled again, against jax's own compile of the changed source."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from steps import FLOAT, REPO, arguments, hbmview, jax, jnp, train_step

from hbmview._check import flags

V5E = "v5e:2x2"
CLOSE = 512 << 10  # bytes: as in test_fit


def stored_in_bf16(weights, rows, wanted):
    """The step as it computes, with what it is given and what it returns of that in bfloat16."""
    weights, rows, wanted = jax.tree.map(lambda x: x.astype(FLOAT), (weights, rows, wanted))
    updated, loss = train_step(weights, rows, wanted)
    return jax.tree.map(lambda x: x.astype(jnp.bfloat16), updated), loss


def narrow_arguments():
    return jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, jnp.bfloat16), arguments())


def by_id(checked):
    return {row["id"]: row for row in checked["check"]}


def stated(stats):
    return (stats["argument_size_in_bytes"] + stats["output_size_in_bytes"] - stats["alias_size_in_bytes"] +
            stats["temp_size_in_bytes"])


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = hbmview.fit(train_step, *arguments(), topology=V5E)
        cls.checked = hbmview.check(cls.base.dump, capacity="4MiB")
        cls.rows = by_id(cls.checked)

    def test_the_program_as_it_is_compiles_to_what_it_was(self):
        row = self.rows["as_it_is"]
        self.assertNotIn("another version", str(self.checked))
        self.assertEqual((row["status"], row["compiled_total_bytes"]), ("compiled", self.base.total))
        self.assertEqual(row["error_percent"], 0)

    def test_donating_is_what_jax_makes_of_donate_argnums(self):
        donated = hbmview.fit(train_step, *arguments(), topology=V5E, donate_argnums=0)
        self.assertGreater(donated.stats["alias_size_in_bytes"], 0)
        row = self.rows["donate_inputs"]
        self.assertEqual(row["compiled_total_bytes"], donated.total)
        self.assertLess(abs(row["compiled_total_bytes"] - stated(donated.stats)), CLOSE)
        told = {one["id"]: one for one in self.checked["interventions"]}["donate_inputs"]
        self.assertEqual(row["predicted_total_bytes"], told["predicted_total_bytes"])
        wanted = 100 * (told["predicted_total_bytes"] - donated.total) / donated.total
        self.assertAlmostEqual(row["error_percent"], wanted)

    def test_parameters_in_bfloat16_are_what_jax_makes_of_narrow_arguments(self):
        narrow = hbmview.fit(stored_in_bf16, *narrow_arguments(), topology=V5E)
        self.assertLess(abs(self.rows["bf16_parameters"]["compiled_total_bytes"] - narrow.total), CLOSE)

    def test_both_at_once(self):
        both = hbmview.fit(stored_in_bf16, *narrow_arguments(), topology=V5E, donate_argnums=0)
        self.assertGreater(both.stats["alias_size_in_bytes"], 0)
        row = self.rows["donate_inputs+bf16_parameters"]
        self.assertLess(abs(row["compiled_total_bytes"] - both.total), CLOSE)
        self.assertEqual(row["name"], "donate the inputs and parameters in bfloat16")

    def test_what_is_no_change_of_the_program_says_so(self):
        row = self.rows["halve_batch"]
        self.assertEqual((row["status"], row["compiled_total_bytes"]), ("not_in_module", None))
        self.assertIn("hbmview.fit.compare", row["reason"])
        self.assertIn("hbmview.fit.compare", str(self.checked))

    def test_a_limit_below_the_inputs_is_passed(self):
        self.assertEqual(self.rows["memory_limit"]["status"], "too_big")
        self.assertIn("more all the same", str(self.checked))

    def test_in_words(self):
        for words in str(self.checked), self.checked.markdown():
            self.assertIn("libtpu", words)
            self.assertRegex(words, r"\+0\.0%  as it is")
            self.assertIn("donate the inputs", words)

    def test_a_program_of_several_chips(self):
        mesh = jax.sharding.AbstractMesh((4,), ("x",))
        there = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
        result = hbmview.fit(train_step, *arguments(sharding=there), topology=V5E)
        donated = hbmview.fit(train_step, *arguments(sharding=there), topology=V5E, donate_argnums=0)
        rows = by_id(hbmview.check(result.dump))
        self.assertEqual(rows["as_it_is"]["compiled_total_bytes"], result.total)
        self.assertLess(abs(rows["donate_inputs"]["compiled_total_bytes"] - donated.total), CLOSE)

    def test_what_is_donated_stays_so(self):
        donated = hbmview.fit(train_step, *arguments(), topology=V5E, donate_argnums=0)
        rows = by_id(hbmview.check(donated.dump))
        self.assertEqual(rows["as_it_is"]["compiled_total_bytes"], donated.total)
        self.assertNotIn("donate_inputs", rows)

    def test_flags_are_a_table(self):
        tried = ({"xla_tpu_scoped_vmem_limit_kib": 65536}, {"xla_of_nobody": True})
        with mock.patch.object(flags, "_OF_TPU", tried):
            checked = hbmview.check(self.base.dump, flags=True)
        known, unknown = checked["flags"]
        wanted = hbmview.fit(train_step, *arguments(), topology=V5E, compiler_options=tried[0])
        self.assertEqual(known["compiled_total_bytes"], wanted.total)
        self.assertEqual((unknown["status"], unknown["compiled_total_bytes"]), ("failed", None))
        self.assertIn("xla_of_nobody", unknown["reason"])
        self.assertEqual([row["id"] for row in checked["check"]], ["as_it_is"])
        self.assertIn("xla_tpu_scoped_vmem_limit_kib=65536", str(checked))

    def test_a_program_for_more_chips_than_there_are(self):
        mesh = jax.sharding.AbstractMesh((4,), ("x",))
        there = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
        result = hbmview.fit(train_step, *arguments(sharding=there), topology=V5E)
        with self.assertRaisesRegex(hbmview.HbmviewError, "4 devices, cpu has 1") as caught:
            hbmview.check(result.dump, topology="cpu")
        self.assertEqual(caught.exception.exit_code, 2)

    def test_a_program_of_the_cpu_is_compiled_for_the_cpu(self):
        result = hbmview.fit(train_step, *arguments(), topology="cpu")
        checked = hbmview.check(result.dump)
        self.assertEqual(checked["check_by"]["target"], "cpu")
        self.assertEqual(by_id(checked)["as_it_is"]["compiled_total_bytes"], result.total)

    def test_text_does_as_well(self):
        with tempfile.TemporaryDirectory() as folder:
            options = {"xla_dump_hlo_as_text": True}
            result = hbmview.fit(train_step, *arguments(), topology=V5E, dump=os.path.join(folder, "dump"),
                                 compiler_options=options)
            text, = glob.glob(os.path.join(result.dump, "*.before_optimizations.txt"))
            rows = by_id(hbmview.check(result.dump, hlo=text))
            self.assertEqual(rows["as_it_is"]["compiled_total_bytes"], result.total)

    def test_the_commands(self):
        environment = {**os.environ, "HBMVIEW_PYTHON": sys.executable, "PYTHONPATH": str(REPO / "python")}
        for command in ([os.environ["HBMVIEW"], "advise", self.base.dump, "--check"],
                        [sys.executable, "-m", "hbmview", "check", self.base.dump]):
            done = subprocess.run([*command, "--format=json", "--module=jit_train_step"], env=environment, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("compiling jit_train_step", done.stderr)
            rows = by_id(json.loads(done.stdout))
            self.assertEqual(rows["donate_inputs"]["compiled_total_bytes"],
                             self.rows["donate_inputs"]["compiled_total_bytes"])


if __name__ == "__main__":
    unittest.main()
