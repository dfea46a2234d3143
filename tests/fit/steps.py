"""Steps to compile, small enough for a second each; and the package of this checkout: from steps import hbmview."""
import os
import pathlib
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
os.environ["HBMVIEW"] = str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())
os.environ.pop("COLUMNS", None)
sys.path.insert(0, str(REPO / "python"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import hbmview  # noqa: E402  the path above is for it

WIDTH, LAYERS, BATCH = 512, 3, 1024
FLOAT = jnp.float32


def array(*shape, kind=FLOAT, sharding=None):
    return jax.ShapeDtypeStruct(shape, kind, sharding=sharding)


def train_step(weights, rows, wanted, block=lambda weight, x: jnp.tanh(x @ weight)):
    def loss_of(weights):
        x = rows
        for weight in weights:
            x = block(weight, x)
        return jnp.mean((x - wanted) ** 2)

    loss, slopes = jax.value_and_grad(loss_of)(weights)
    return jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, slopes), loss


def remat_step(weights, rows, wanted):
    return train_step(weights, rows, wanted, jax.checkpoint(lambda weight, x: jnp.tanh(x @ weight)))


def arguments(batch=BATCH, sharding=None):
    weights = [array(WIDTH, WIDTH, sharding=sharding)] * LAYERS
    return weights, array(batch, WIDTH, sharding=sharding), array(batch, WIDTH, sharding=sharding)


# --- For the command ---

def fitting():
    return train_step, *arguments()


def too_large():
    return train_step, *arguments(batch=1 << 23)


def variants():
    return {"base": fitting(), "batch/2": (train_step, *arguments(batch=BATCH // 2)),
            "broken": (train_step, 1, 2, 3)}


def of_numbers(a, b):
    return jnp.tanh(a @ b)


def told_by_attribute(a, b):
    return a + b


told_by_attribute.hbmview_args = lambda: (array(1024, 1024), array(1024, 1024))
