"""Progressive Layered Extraction: a video feed's ranker that learns five tasks at once over large embedding tables.

Flax linen in float32. One sum-pooled history of watched videos, twelve id tables (the largest has 20 million rows), two
extraction layers with shared and own experts, a tower for each task; Adam over dense gradients of the tables, as in a
first version that fits one card. The train state is donated.
"""
from typing import Any, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import F32, cast, compute_dtype

TABLES = {"user": 20_000_000, "video": 8_000_000, "author": 3_000_000, "sound": 1_000_000, "tag": 400_000,
          "city": 30_000, "device": 20_000, "channel": 2_000, "hour": 168, "age": 16, "gender": 4, "network": 8}
TASKS = ("click", "finish", "like", "follow", "watch_time")
WEIGHTS = {"click": 1.0, "finish": 1.0, "like": 2.0, "follow": 4.0, "watch_time": 0.5}
NUMBERS = 40


class FeatureColumns(nn.Module):
    dim: int
    dtype: Any

    @nn.compact
    def __call__(self, ids, history, numbers):
        tables = {name: nn.Embed(rows, self.dim, dtype=self.dtype, embedding_init=nn.initializers.normal(0.01),
                                 name=f"emb_{name}") for name, rows in TABLES.items()}
        columns = [table(ids[name]) for name, table in tables.items()]
        watched = (history > 0).astype(self.dtype)[..., None]
        seen = tables["video"](history) * watched
        columns.append(seen.sum(1) / jnp.maximum(watched.sum(1), 1))
        numbers = jnp.sign(numbers) * jnp.log1p(jnp.abs(numbers))
        columns.append(nn.Dense(self.dim, dtype=self.dtype, name="numbers")(numbers.astype(self.dtype)))
        return jnp.concatenate(columns, -1)


class Expert(nn.Module):
    widths: Sequence[int]
    dtype: Any

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            x = nn.relu(nn.Dense(width, dtype=self.dtype)(x))
        return x


class Gate(nn.Module):
    dtype: Any

    @nn.compact
    def __call__(self, x, experts):
        weights = nn.softmax(nn.Dense(len(experts), use_bias=False, dtype=self.dtype)(x), -1)
        return jnp.einsum("be,ebd->bd", weights, jnp.stack(experts))


class ExtractionLayer(nn.Module):
    widths: Sequence[int]
    own: int
    shared: int
    is_last: bool
    dtype: Any

    @nn.compact
    def __call__(self, inputs):
        """inputs: of each task and, last, the shared one."""
        common = [Expert(self.widths, self.dtype, name=f"shared_{i}")(inputs[-1]) for i in range(self.shared)]
        every, outputs = list(common), []
        for task, x in zip(TASKS, inputs):
            own = [Expert(self.widths, self.dtype, name=f"{task}_{i}")(x) for i in range(self.own)]
            outputs.append(Gate(self.dtype, name=f"gate_{task}")(x, own + common))
            every += own
        if not self.is_last:
            outputs.append(Gate(self.dtype, name="gate_shared")(inputs[-1], every))
        return outputs


class PLE(nn.Module):
    dim: int
    layers: int
    widths: Sequence[int]
    own: int
    shared: int
    tower: Sequence[int]
    dtype: Any
    remat: bool = False
    policy: Any = None

    @nn.compact
    def __call__(self, ids, history, numbers):
        x = FeatureColumns(self.dim, self.dtype, name="columns")(ids, history, numbers)
        layer = nn.remat(ExtractionLayer, policy=self.policy) if self.remat else ExtractionLayer
        xs = [x] * (len(TASKS) + 1)
        for i in range(self.layers):
            xs = layer(self.widths, self.own, self.shared, i + 1 == self.layers, self.dtype, name=f"extract_{i}")(xs)
        heads = {}
        for task, x in zip(TASKS, xs):
            x = Expert(self.tower, self.dtype, name=f"tower_{task}")(x)
            heads[task] = nn.Dense(1, dtype=self.dtype, name=f"out_{task}")(x)[:, 0].astype(F32)
        return heads


def ple(dim, layers, widths, own, shared, tower, batch, length, kind=F32):
    def make(arrays, change):
        samples, steps = batch // change.batch_divisor, length // change.length_divisor
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
        model = PLE(dim, layers, widths, own, shared, tower, compute_dtype(change, kind), change.rematerialize, policy)

        def init():
            ids = {name: jnp.zeros((1,), jnp.int32) for name in TABLES}
            return model.init(jax.random.key(0), ids, jnp.zeros((1, 2), jnp.int32), jnp.zeros((1, NUMBERS)))["params"]
        params = cast(jax.eval_shape(init), change.stored)
        tx = optax.adam(optax.exponential_decay(1e-3, 10_000, 0.9), eps=1e-7)
        opt_state = jax.eval_shape(tx.init, params)

        def loss_fn(params, _, ids, history, numbers, labels):
            heads = model.apply({"params": params}, ids, history, numbers)
            losses = {}
            for task, logits in heads.items():
                label = labels[task].astype(F32)
                losses[task] = (optax.huber_loss(logits, jnp.log1p(label)) if task == "watch_time" else
                                optax.sigmoid_binary_cross_entropy(logits, label)).mean()
            return sum(WEIGHTS[task] * one for task, one in losses.items()), losses

        def train_step(params, opt_state, ids, history, numbers, labels):
            loss, losses, grads = summed_slopes(loss_fn, change.parts)(params, None, ids, history, numbers, labels)
            params, opt_state = updated(tx, grads, opt_state, params)
            return params, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, losses)}
        ids = {name: arrays.batch((samples,), jnp.int32) for name in TABLES}
        labels = {task: arrays.batch((samples,), F32) for task in TASKS}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), ids,
                            arrays.batch((samples, steps), jnp.int32), arrays.batch((samples, NUMBERS), F32),
                            labels), (0, 1)
    return make


FAMILY = {"cup_ple": dict(
    make=ple(dim=32, layers=2, widths=(512, 256), own=3, shared=3, tower=(128, 64), batch=32_768, length=64),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters.follow", "bf16_temporaries", "halve_batch", "halve_sequence",
              "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
