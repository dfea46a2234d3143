"""DLRM on Criteo's multi-hot click logs: 26 embedding bags, a bottom MLP, pairwise dots, a top MLP.

Flax linen, everything in float32, adagrad over dense gradients, the train state isn't donated. Rows are hashed down to
four million a table, as everyone does who has one card; the bags are of the sizes of MLPerf's synthetic multi-hot set.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import F32, cast, compute_dtype

ROWS = (40_000_000, 39_060, 17_295, 7_424, 20_265, 3, 7_122, 1_543, 63, 40_000_000, 3_067_956, 405_282, 10, 2_209,
        11_938, 155, 4, 976, 14, 40_000_000, 40_000_000, 40_000_000, 590_152, 12_973, 108, 36)
BAG = (3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1)
DENSE = 13


def spread_uniform(key, shape, dtype=F32):
    limit = float(np.sqrt(1 / shape[0]))
    return jax.random.uniform(key, shape, dtype, -limit, limit)


class Mlp(nn.Module):
    widths: tuple
    dtype: object
    last_is_linear: bool = False

    @nn.compact
    def __call__(self, x):
        for i, width in enumerate(self.widths):
            x = nn.Dense(width, dtype=self.dtype, kernel_init=nn.initializers.glorot_normal())(x)
            if not (self.last_is_linear and i + 1 == len(self.widths)):
                x = nn.relu(x)
        return x


class EmbeddingBags(nn.Module):
    rows: tuple
    width: int
    dtype: object

    @nn.compact
    def __call__(self, bags):
        pooled = []
        for i, rows in enumerate(self.rows):
            table = self.param(f"table_{i:02d}", spread_uniform, (rows, self.width))
            taken = jnp.take(table, bags[f"cat_{i:02d}"] % rows, axis=0).astype(self.dtype)
            pooled.append(taken.sum(1))
        return jnp.stack(pooled, axis=1)


class DotInteraction(nn.Module):
    """Dots of each two different features; the dense one goes through once more by itself."""

    @nn.compact
    def __call__(self, dense, sparse):
        features = jnp.concatenate([dense[:, None], sparse], axis=1)
        dots = jnp.einsum("bfd,bgd->bfg", features, features)
        below = np.tril_indices(features.shape[1], k=-1)
        return jnp.concatenate([dense, dots[:, below[0], below[1]]], axis=-1)


class Dlrm(nn.Module):
    rows: tuple
    width: int
    bottom: tuple
    top: tuple
    dtype: object

    @nn.compact
    def __call__(self, dense, bags):
        x = jnp.log1p(jnp.maximum(dense.astype(F32), 0.0)).astype(self.dtype)
        x = Mlp((*self.bottom, self.width), self.dtype, name="bottom")(x)
        sparse = EmbeddingBags(self.rows, self.width, self.dtype, name="embeddings")(bags)
        x = DotInteraction()(x, sparse)
        return Mlp((*self.top, 1), self.dtype, True, name="top")(x)[:, 0].astype(F32)


def metrics_of(logits, clicks):
    """Log loss over that of the mean rate; calibration; accuracy."""
    rate = jnp.clip(clicks.mean(), 1e-6, 1 - 1e-6)
    of_rate = -(rate * jnp.log(rate) + (1 - rate) * jnp.log1p(-rate))
    loss = optax.sigmoid_binary_cross_entropy(logits, clicks).mean()
    return {"normalized_entropy": loss / of_rate, "calibration": jax.nn.sigmoid(logits).mean() / rate,
            "accuracy": ((logits > 0) == (clicks > 0.5)).mean()}


def dlrm(most_rows, width, bottom, top, batch, kind=F32):
    rows = tuple(min(one, most_rows) for one in ROWS)

    def make(arrays, change):
        samples = batch // change.batch_divisor
        model = Dlrm(rows, width, bottom, top, compute_dtype(change, kind))

        def init():
            bags = {f"cat_{i:02d}": jnp.zeros((1, size), jnp.int32) for i, size in enumerate(BAG)}
            return model.init(jax.random.key(0), jnp.zeros((1, DENSE)), bags)["params"]
        params = cast(jax.eval_shape(init), change.stored)
        schedule = optax.join_schedules([optax.linear_schedule(0.0, 0.004, 2_750),
                                         optax.polynomial_schedule(0.004, 1e-5, 2, 27_772, 49_315)], [2_750])
        optimizer = optax.adagrad(schedule, initial_accumulator_value=0.0, eps=1e-8)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, _, dense, bags, clicks):
            logits = model.apply({"params": params}, dense, bags)
            clicks = clicks.astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, clicks).mean(), metrics_of(logits, clicks)

        def train_step(params, opt_state, step, dense, bags, clicks):
            loss, metrics, grads = summed_slopes(loss_of, change.parts)(params, None, dense, bags, clicks)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, step + 1, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}

        bags = {f"cat_{i:02d}": arrays.batch((samples, size), jnp.int32) for i, size in enumerate(BAG)}
        arguments = (laid_out(arrays, params), laid_out(arrays, opt_state), arrays.array((), jnp.int32),
                     arrays.batch((samples, DENSE), F32), bags, arrays.batch((samples,), jnp.int32))
        return train_step, arguments, (0, 1)
    return make


FAMILY = {"league_dlrm_v2": dict(
    make=dlrm(most_rows=4_000_000, width=64, bottom=(512, 256), top=(1024, 1024, 512, 256), batch=32_768),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "bf16_parameters", "bf16_parameters+halve_batch",
              "bf16_parameters.follow", "bf16_temporaries", "halve_batch", "micro_batch", "shard_parameters",
              "shard_all"))}
