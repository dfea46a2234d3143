#!/usr/bin/env python3
"""Compiles the programs of tests/fixtures/compare: compare_programs.py [FOLDER] (needs jax and libtpu, no TPU)

One training step for TPU v5e three times: as it is, with its blocks rematerialized, and without donating its state.
What the compiler dumps is kept, gzipped. Run it again only to change the programs; the result is committed.
"""
import gzip
import os
import pathlib
import sys
import tempfile

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v5litepod-4", TPU_WORKER_ID="0",
                  TPU_WORKER_HOSTNAMES="localhost", ALLOW_MULTIPLE_LIBTPU_LOAD="1")

import jax
import jax.numpy as jnp
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding

LAYERS, WIDTH, HIDDEN, WORDS, BATCH, LENGTH = 2, 512, 2048, 4096, 16, 512
FOLDER = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "compare"


def block(p, x):
    scores = jnp.einsum("btd,bsd->bts", x @ p["q"], x @ p["k"])
    x = x + jax.nn.softmax(scores.astype(jnp.float32)).astype(x.dtype) @ (x @ p["v"])
    return x + jax.nn.gelu(x @ p["up"]) @ p["down"]


def make_step(remat):
    layer = jax.checkpoint(block) if remat else block

    def loss(params, words):
        x = params["emb"][words]
        for p in params["layers"]:
            x = layer(p, x)
        scores = jax.nn.log_softmax((x @ params["head"]).astype(jnp.float32))
        return -jnp.mean(jnp.take_along_axis(scores[:, :-1], words[:, 1:, None], -1))

    def train_step(params, momentum, words):
        value, gradients = jax.value_and_grad(loss)(params, words)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
        return jax.tree.map(lambda p, m: p - 1e-3 * m, params, momentum), momentum, value

    return train_step


def arguments(device):
    def array(shape, dtype=jnp.bfloat16):
        return jax.ShapeDtypeStruct(shape, dtype, sharding=SingleDeviceSharding(device))
    square = array((WIDTH, WIDTH))
    layer = {"q": square, "k": square, "v": square, "up": array((WIDTH, HIDDEN)), "down": array((HIDDEN, WIDTH))}
    params = {"emb": array((WORDS, WIDTH)), "head": array((WIDTH, WORDS)), "layers": [layer] * LAYERS}
    return params, params, array((BATCH, LENGTH), jnp.int32)


def compile_one(folder, name, device, remat=False, donated=(0, 1)):
    with tempfile.TemporaryDirectory() as dump:
        lowered = jax.jit(make_step(remat), donate_argnums=donated).lower(*arguments(device))
        lowered.compile(compiler_options={"xla_dump_to": dump, "xla_dump_hlo_as_proto": True})
        [found] = [path for path in pathlib.Path(dump).iterdir() if path.name.endswith("after_optimizations.hlo.pb")]
        (folder / f"{name}.hlo.pb.gz").write_bytes(gzip.compress(found.read_bytes(), 9, mtime=0))
        print(f"{name}: {(folder / f'{name}.hlo.pb.gz').stat().st_size} bytes")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(exist_ok=True)
    device = topologies.get_topology_desc("v5e:2x2", platform="tpu").devices[0]
    compile_one(folder, "plain", device)
    compile_one(folder, "rematerialized", device, remat=True)
    compile_one(folder, "not_donated", device, donated=())


if __name__ == "__main__":
    main()
