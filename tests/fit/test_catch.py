"""hbmview.catch around a real compile that runs out of memory: libtpu's E1000, joined to the dump XLA was asked for."""
import os
import pathlib
import subprocess
import sys
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]

STEP = """
import os, sys
import hbmview

def compile_too_much():
    import jax, jax.numpy as jnp
    from hbmview._fit.targets import target_of
    from jax.sharding import SingleDeviceSharding
    chip = SingleDeviceSharding(target_of("v5e:2x2").devices[0])
    huge = jax.ShapeDtypeStruct((65536, 65536), jnp.float32, sharding=chip)
    jax.jit(lambda x, y: jnp.sin(x @ y) @ y).lower(huge, huge).compile()
"""


def python(script):
    environment = {**os.environ, "HBMVIEW": str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve()),
                   "PYTHONPATH": str(REPO / "python")}
    environment.pop("XLA_FLAGS", None)
    return subprocess.run([sys.executable, "-c", STEP + script], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


class Caught(unittest.TestCase):
    def test_a_compile_that_ends_for_want_of_memory(self):
        done = python("with hbmview.catch() as caught:\n    compile_too_much()\n")
        traceback, explanation = done.stderr.split("\nE1000 compile_oom", 1)
        self.assertRegex(traceback, "RESOURCE_EXHAUSTED: .*Ran out of memory on HBM")  # E1000 is named by some only
        self.assertRegex(explanation, r"16\.00 GiB +\S+% +x +1 buffer")  # an argument, by its name: read from the dump
        self.assertRegex(explanation, r"The compiled programs are in \S+hbmview-dump-\S+: hbmview\.show")

    def test_when_jax_has_begun_before(self):
        done = python("import jax; jax.config.update('jax_platforms', 'cpu'); jax.devices()\n"
                      "with hbmview.catch():\n    compile_too_much()\n")
        self.assertIn("E1000 compile_oom", done.stderr)
        self.assertIn("jax had begun before hbmview could ask XLA for a dump", done.stderr)


if __name__ == "__main__":
    unittest.main()
