"""hbmview.fit against the compiler's own sums: jax's CompiledMemoryStats of a compile that the test makes itself."""
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from steps import BATCH, REPO, WIDTH, arguments, array, hbmview, of_numbers, train_step

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

V5E = "v5e:2x2"
CAPACITY = 16911433728  # 15.75 GiB, as the E1000 of libtpu has it
CLOSE = 512 << 10       # bytes: scratch that jax's sums count or not, by the version of libtpu
MIB = 1 << 20


def stats_of(fn, args, **options):
    """The compiler's own sums, without hbmview."""
    stats = jax.jit(fn, **options).lower(*args).compile().memory_analysis()
    total = (stats.argument_size_in_bytes + stats.output_size_in_bytes - stats.alias_size_in_bytes +
             stats.temp_size_in_bytes)
    return total, stats


def on_chip(args, chip):
    return jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=SingleDeviceSharding(chip)), args)


class Fits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.environment = dict(os.environ)
        cls.result = hbmview.fit(train_step, *arguments(), topology=V5E)
        cls.chips = topologies.get_topology_desc(V5E, platform="tpu").devices

    def test_the_total_is_the_compilers(self):
        total, stats = stats_of(train_step, on_chip(arguments(), self.chips[0]))
        self.assertLess(abs(self.result.total - total), CLOSE)
        self.assertEqual(self.result.code, stats.generated_code_size_in_bytes)

    def test_the_peak_is_the_compilers(self):
        large = arguments(batch=1 << 15)  # for VMEM, so that all temporaries lie in HBM
        _, stats = stats_of(train_step, on_chip(large, self.chips[0]))
        self.assertEqual(hbmview.fit(train_step, *large, topology=V5E).peak, stats.peak_memory_in_bytes)

    def test_it_fits_and_says_of_what(self):
        self.assertIs(self.result.fits, True)
        self.assertEqual((self.result.capacity, self.result.chips), (CAPACITY, 1))
        self.assertIn("train_step fits v5e:2x2, 1 device: it needs", str(self.result))
        self.assertIn("15.75 GiB", str(self.result))
        self.assertIn("libtpu", str(self.result))

    def test_lines_sum_to_the_peak(self):
        held = sum(line.size for line in self.result.by_line) + self.result.by_line_left_out
        self.assertEqual(held, self.result.peak)
        self.assertIn("steps.py:", " ".join(line.key for line in self.result.by_line))
        self.assertEqual({line.key: line.size for line in self.result.by_line}["rows"], BATCH * WIDTH * 4)

    def test_advice_is_the_programs(self):
        asked = hbmview.advise(self.result.dump, capacity="v5e")
        wanted = {one["id"]: one["predicted_total_bytes"] for one in asked["interventions"] if one["applies"]}
        self.assertEqual({one.id: one.predicted for one in self.result.advice}, wanted)
        self.assertIn("halve_batch", wanted)

    def test_another_capacity(self):
        small = hbmview.fit(train_step, *arguments(), topology=V5E, capacity="4MiB")
        self.assertEqual((small.fits, small.capacity), (False, 4 * MIB))
        self.assertIn("does not fit", small.verdict)
        self.assertEqual(hbmview.fit(train_step, *arguments(), topology=V5E, capacity="v5p").capacity // MIB, 98027)

    def test_donated_arguments(self):
        donated = hbmview.fit(train_step, *arguments(), topology=V5E, donate_argnums=0)
        total, stats = stats_of(train_step, on_chip(arguments(), self.chips[0]), donate_argnums=0)
        self.assertLess(abs(donated.total - total), CLOSE)
        self.assertEqual(donated.stats["alias_size_in_bytes"], stats.alias_size_in_bytes)
        self.assertGreater(stats.alias_size_in_bytes, 0)
        useless = hbmview.fit(lambda x: x.sum(), array(256, 256), topology=V5E, donate_argnums=0)
        self.assertIn("not usable", " ".join(useless.notes))

    def test_whatever_way_it_is_called(self):
        real = jax.tree.map(lambda a: np.zeros(a.shape, a.dtype), arguments())
        weights, rows, wanted = arguments()
        for fn, args, kwargs in [
            (jax.jit(train_step), arguments(), None),
            (train_step, real, None),
            (functools.partial(train_step, block=lambda weight, x: jnp.tanh(x @ weight)), arguments(), None),
            (train_step, (weights,), {"rows": rows, "wanted": wanted}),
        ]:
            with self.subTest(fn=fn, kwargs=kwargs):
                again = hbmview.fit(fn, *args, kwargs=kwargs, topology=V5E)
                self.assertEqual(again.name, "train_step")
                self.assertEqual(again.total, self.result.total)

    def test_static_arguments_stay_as_they_are(self):
        power = jax.jit(lambda x, n: x @ x if n == 2 else x, static_argnums=1)
        result = hbmview.fit(power, array(256, 256), 2, topology=V5E)
        self.assertEqual(result.stats["argument_size_in_bytes"], 256 * 256 * 4)

    def test_a_step_without_arguments(self):
        made = hbmview.fit(lambda: jnp.ones((1024, 1024)), topology=V5E)
        self.assertLess(abs(made.total - 4 * MIB), MIB)
        self.assertEqual(made.name, "<lambda>")
        self.assertIn("&lt;lambda&gt; fits", made._repr_html_())

    def test_sharded_arguments_are_told_by_chip(self):
        there = NamedSharding(Mesh(np.array(self.chips), ("x",)), PartitionSpec("x"))
        total, _ = stats_of(train_step, arguments(sharding=there))
        nowhere = NamedSharding(AbstractMesh((4,), ("x",)), PartitionSpec("x"))
        for sharding in there, nowhere:
            result = hbmview.fit(train_step, *arguments(sharding=sharding), topology=V5E)
            self.assertEqual(result.chips, 4)
            self.assertLess(abs(result.total - total), CLOSE)
        mesh = hbmview.fit.mesh(V5E, (2, 2), ("x", "y"))
        self.assertEqual(dict(mesh.shape), {"x": 2, "y": 2})

    def test_nothing_of_it_stays(self):
        self.assertEqual(dict(os.environ), self.environment)
        code = "import sys, hbmview; sys.exit('jax' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], cwd=REPO / "python", check=True)
        folder = hbmview.fit(lambda x: x + 1, array(8, 128), topology=V5E).dump
        self.assertFalse(os.path.exists(folder))

    def test_a_dump_that_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(folder, "kept")
            result = hbmview.fit(train_step, *arguments(), topology=V5E, dump=kept)
            self.assertEqual(result.dump, kept)
            report = hbmview.report(kept, memory_space="HBM")
            self.assertEqual(report["modules"][0]["memory_spaces"][0]["total_allocation_bytes"], result.total)
            self.assertTrue(report["modules"][0]["memory_spaces"][0]["compiler_report"]["agrees"])
            with self.assertRaisesRegex(hbmview.HbmviewError, "is not empty"):
                hbmview.fit(train_step, *arguments(), topology=V5E, dump=kept)

    def test_what_comes_from_a_cache_is_compiled_all_the_same(self):
        with tempfile.TemporaryDirectory() as cache:
            code = ("import sys; sys.path[:0] = ['tests/fit']\nfrom steps import *\n"
                    "for _ in range(2): print(hbmview.fit(train_step, *arguments(), topology='v5e:2x2').total)")
            environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": cache, "JAX_PLATFORMS": "cpu",
                           "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
            done = subprocess.run([sys.executable, "-c", code], cwd=REPO, env=environment, stdout=subprocess.PIPE,
                                  check=True, text=True)
            self.assertEqual([int(line) for line in done.stdout.split()[-2:]], [self.result.total] * 2)


class DoesNotFit(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = hbmview.fit(train_step, *arguments(batch=1 << 23), topology=V5E)

    def test_the_compiler_ran_out_of_memory(self):
        self.assertIs(self.result.fits, False)
        self.assertIn("Ran out of memory on HBM", self.result.error)  # E1000 is named by some versions only
        message, = self.result.explanation["messages"]
        self.assertEqual((message["kind"], message["capacity_bytes"]), ("compile_oom", CAPACITY))
        self.assertLess(abs(message["needed_bytes"] - self.result.total), self.result.total // 1000)
        self.assertEqual(self.result.capacity, CAPACITY)

    def test_who_would_hold_it(self):
        self.assertEqual({line.key: line.size for line in self.result.by_line}["rows"], (1 << 23) * WIDTH * 4)
        self.assertIn("halve_batch", [one.id for one in self.result.advice])
        self.assertIn("what the compiler said, explained", str(self.result).lower())
        self.assertIn("OVERFLOW", self.result._repr_html_())

    def test_a_chip_with_more_memory(self):
        larger = hbmview.fit(train_step, *arguments(batch=1 << 22), topology=V5E, capacity="v5p")
        self.assertEqual((larger.fits, bool(larger.error)), (True, True))


class Elsewhere(unittest.TestCase):
    def test_the_cpu(self):
        result = hbmview.fit(train_step, *arguments(), topology="cpu")
        total, _ = stats_of(train_step, arguments())
        self.assertLess(abs(result.total - total), CLOSE)
        self.assertEqual((result.fits, result.capacity, "libtpu" in result.versions), (None, None, False))
        self.assertIn("an accelerator's figures differ", str(result))
        self.assertIs(hbmview.fit(train_step, *arguments(), topology="cpu", capacity="16GiB").fits, True)

    def test_a_topology_object(self):
        there = topologies.get_topology_desc("v6e:2x2", platform="tpu")
        self.assertEqual(hbmview.fit(train_step, *arguments(), topology=there).capacity, 33543694582)

    def test_what_cannot_be_compiled_says_why(self):
        mesh, rows = NamedSharding(AbstractMesh((8,), ("x",)), PartitionSpec("x")), array(8, 8)
        for code, said, call in [
            (2, "neither a TPU topology such as v5e:2x2", lambda: hbmview.fit(train_step, topology="v5e")),
            (2, 'libtpu knows no topology "v99:2x2"', lambda: hbmview.fit(train_step, topology="v99:2x2")),
            (2, "sharded over 8 devices, v5e:2x2 has 4",
             lambda: hbmview.fit(train_step, *arguments(sharding=mesh), topology=V5E)),
            (2, "cannot be called", lambda: hbmview.fit(3, topology=V5E)),
            (3, "train_step could not be traced", lambda: hbmview.fit(train_step, 1, 2, 3, topology=V5E)),
            (2, "--capacity wants a size", lambda: hbmview.fit(of_numbers, rows, rows, topology=V5E, capacity="x")),
        ]:
            with self.subTest(said=said):
                with self.assertRaisesRegex(hbmview.HbmviewError, said) as caught:
                    call()
                self.assertEqual(caught.exception.exit_code, code)

    def test_without_libtpu(self):
        code = ("import sys, importlib.util; find = importlib.util.find_spec\n"
                "importlib.util.find_spec = lambda name, *a: None if name == 'libtpu' else find(name, *a)\n"
                "sys.path[:0] = ['tests/fit']\nfrom steps import *\n"
                "print(hbmview.fit(train_step, *arguments()).target)\n"
                "try: hbmview.fit(train_step, *arguments(), topology='v5e:2x2')\n"
                "except hbmview.HbmviewError as error: print(error)")
        done = subprocess.run([sys.executable, "-c", code], cwd=REPO, env={**os.environ, "JAX_PLATFORMS": "cpu"},
                              stdout=subprocess.PIPE, check=True, text=True)
        self.assertEqual(done.stdout.splitlines()[0], "cpu")
        self.assertIn("pip install 'jax[tpu]'", done.stdout)


if __name__ == "__main__":
    unittest.main()
