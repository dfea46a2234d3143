"""Compiles a 48-layer training step for a TPU, without one, for make-bench-inputs: tpu_train_step.py DUMP_FOLDER.

A decoder with grouped key-value heads and gated MLPs, its parameters sharded over four v5p chips, with
Adam; the layers are unrolled, as people do who want to see each of them. libtpu writes the HloProto into DUMP_FOLDER.
"""
import os
import sys

os.environ.update(JAX_PLATFORMS="cpu", TPU_SKIP_MDS_QUERY="1", TPU_WORKER_HOSTNAMES="localhost", TPU_WORKER_ID="0")
os.environ.setdefault("TPU_ACCELERATOR_TYPE", "v5p-8")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

LAYERS, WIDTH, HIDDEN, VOCABULARY = 48, 1024, 2816, 32000
HEADS, KEY_HEADS, BATCH, LENGTH = 16, 4, 8, 1024
HEAD_WIDTH = WIDTH // HEADS


def normalize(x):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-5)


@jax.named_scope("attention")
def attend(layer, x):
    query = (x @ layer["query"]).reshape(BATCH, LENGTH, HEADS, HEAD_WIDTH)
    key = (x @ layer["key"]).reshape(BATCH, LENGTH, KEY_HEADS, HEAD_WIDTH)
    value = (x @ layer["value"]).reshape(BATCH, LENGTH, KEY_HEADS, HEAD_WIDTH)
    return jax.nn.dot_product_attention(query, key, value, is_causal=True).reshape(x.shape) @ layer["output"]


@jax.named_scope("mlp")
def think(layer, x):
    gate, up = jnp.split(x @ layer["gate_up"], 2, -1)
    return (jax.nn.silu(gate) * up) @ layer["down"]


def loss_of(parameters, tokens):
    parameters = jax.tree.map(lambda p: p.astype(jnp.bfloat16), parameters)
    x = parameters["embedding"][tokens] + parameters["positions"]
    for layer in parameters["layers"]:
        x = x + attend(layer, normalize(x))
        x = x + think(layer, normalize(x))
    scores = (x @ parameters["embedding"].T).astype(jnp.float32)
    chosen = jnp.take_along_axis(jax.nn.log_softmax(scores[:, :-1]), tokens[:, 1:, None], -1)
    return -chosen.mean()


def train_step(parameters, means, squares, tokens):
    loss, slopes = jax.value_and_grad(loss_of)(parameters, tokens)
    means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slopes)
    squares = jax.tree.map(lambda s, g: 0.95 * s + 0.05 * g * g, squares, slopes)
    parameters = jax.tree.map(lambda p, m, s: p - 3e-4 * m / (jnp.sqrt(s) + 1e-8), parameters, means, squares)
    return parameters, means, squares, loss


def parameter_shapes(array):
    key_width = KEY_HEADS * HEAD_WIDTH
    widths = {"query": (WIDTH, WIDTH), "key": (WIDTH, key_width), "value": (WIDTH, key_width), "output": (WIDTH, WIDTH),
              "gate_up": (WIDTH, 2 * HIDDEN), "down": (HIDDEN, WIDTH)}
    layer = {name: array(shape) for name, shape in widths.items()}
    return {"embedding": array((VOCABULARY, WIDTH)), "positions": array((LENGTH, WIDTH)),
            "layers": [dict(layer) for _ in range(LAYERS)]}


def main():
    topology = topologies.get_topology_desc("v5p:2x2x1", platform="tpu")
    mesh = Mesh(np.array(topology.devices).reshape(-1), ("data",))
    sharded = NamedSharding(mesh, PartitionSpec("data"))

    def array(shape, kind=jnp.float32):
        return jax.ShapeDtypeStruct(shape, kind, sharding=sharded)

    state = parameter_shapes(array)
    lowered = jax.jit(train_step, donate_argnums=(0, 1, 2)).lower(
        state, state, state, array((BATCH, LENGTH), jnp.int32))
    lowered.compile(compiler_options={"xla_dump_to": sys.argv[1], "xla_dump_hlo_as_proto": True})


if __name__ == "__main__":
    main()
