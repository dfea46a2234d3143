"""PatchTST forecasts electricity loads: channels are independent, so that a batch is of windows of single clients.

In flax nnx: reversible instance norm, overlapping patches, an encoder with batch norm where the scores of a layer are
added to those of the next, and one flat head. All in float32.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype
from advice_tour_c_parts import SEQUENCE, TRAINED_IN_FLOAT32


class EncoderLayer(nnx.Module):
    def __init__(self, width, heads, hidden, dropout, dtype, rngs):
        def linear(inputs, outputs):
            return nnx.Linear(inputs, outputs, dtype=dtype, rngs=rngs)
        self.heads = heads
        self.qkv, self.out = linear(width, 3 * width), linear(width, width)
        self.up, self.down = linear(width, hidden), linear(hidden, width)
        self.norm_attention = nnx.BatchNorm(width, momentum=0.9, dtype=dtype, rngs=rngs)
        self.norm_ffn = nnx.BatchNorm(width, momentum=0.9, dtype=dtype, rngs=rngs)
        self.drop = nnx.Dropout(dropout, deterministic=False)

    def __call__(self, x, previous, rngs):
        series, patches, width = x.shape
        q, k, v = jnp.split(self.qkv(x).reshape(series, patches, 3 * self.heads, -1), 3, axis=2)
        scores = jnp.einsum("sqhd,skhd->shqk", q, k) * (width // self.heads) ** -0.5
        if previous is not None:
            scores = scores + previous
        weights = jax.nn.softmax(scores, axis=-1)
        mixed = jnp.einsum("shqk,skhd->sqhd", weights, v).reshape(x.shape)
        x = self.norm_attention(x + self.drop(self.out(mixed), rngs=rngs))
        h = self.drop(jax.nn.gelu(self.up(x), approximate=False), rngs=rngs)
        x = self.norm_ffn(x + self.drop(self.down(h), rngs=rngs))
        return x, scores


class PatchTST(nnx.Module):
    def __init__(self, length, horizon, patch, stride, layers, width, heads, hidden, dropout, dtype, remat,
                 policy, rngs):
        self.patch, self.stride, self.horizon, self.dtype = patch, stride, horizon, dtype
        self.remat, self.policy = remat, policy
        patches = (length - patch) // stride + 2
        self.affine_weight = nnx.Param(jnp.ones((1,)))
        self.affine_bias = nnx.Param(jnp.zeros((1,)))
        self.embed = nnx.Linear(patch, width, dtype=dtype, rngs=rngs)
        self.position = nnx.Param(jax.random.uniform(rngs.params(), (patches, width), minval=-0.02, maxval=0.02))
        self.layers = nnx.List([EncoderLayer(width, heads, hidden, dropout, dtype, rngs) for _ in range(layers)])
        self.head = nnx.Linear(patches * width, horizon, dtype=dtype, rngs=rngs)
        self.drop = nnx.Dropout(dropout, deterministic=False)

    def __call__(self, series, rngs):
        """[windows, time] -> [windows, horizon]."""
        x = series.astype(F32)
        mean = jax.lax.stop_gradient(x.mean(-1, keepdims=True))
        deviation = jax.lax.stop_gradient(jnp.sqrt(x.var(-1, keepdims=True) + 1e-5))
        weight, bias = self.affine_weight[...].astype(F32), self.affine_bias[...].astype(F32)
        x = (x - mean) / deviation * weight + bias

        x = jnp.pad(x, ((0, 0), (0, self.stride)), mode="edge")
        starts = jnp.arange(0, x.shape[1] - self.patch + 1, self.stride)
        x = x[:, starts[:, None] + jnp.arange(self.patch)].astype(self.dtype)
        x = self.drop(self.embed(x) + self.position[...].astype(self.dtype), rngs=rngs)

        def run(layer, x, scores, rngs):
            return layer(x, scores, rngs)
        if self.remat:
            run = nnx.remat(run, policy=self.policy)
        scores = None
        for layer in self.layers:
            x, scores = run(layer, x, scores, rngs)
        y = self.head(x.swapaxes(1, 2).reshape(x.shape[0], -1)).astype(F32)
        return (y - bias) / (weight + 1e-10) * deviation + mean


def patchtst(length, horizon, patch, stride, layers, width, heads, hidden, batch, dropout=0.2, kind=F32):
    def make(arrays, change):
        rows, time = batch // change.batch_divisor, length // change.length_divisor

        def build():
            return PatchTST(time, horizon, patch, stride, layers, width, heads, hidden, dropout,
                            compute_dtype(change, kind), change.rematerialize, checkpoint_policy(change), nnx.Rngs(0))
        graph, params, stats = nnx.split(nnx.eval_shape(build), nnx.Param, nnx.BatchStat)
        params, stats = cast(params, change.stored), cast(stats, change.stored)
        optimizer = optax.adam(optax.cosine_onecycle_schedule(50_000, 1e-4, 0.3))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, stats, key, past, future):
            def loss_fn(params, key, past, future):
                model = nnx.merge(graph, params, stats, copy=True)
                forecast = model(past, nnx.Rngs(dropout=key))
                errors = forecast - future.astype(F32)
                return jnp.mean(jnp.square(errors)), (jnp.abs(errors).mean(), nnx.state(model, nnx.BatchStat))
            key, dropout_key = jax.random.split(key)
            loss, (mae, new_stats), grads = summed_slopes(loss_fn, change.parts)(params, dropout_key, past, future)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            stats = jax.tree.map(lambda new, old: new.mean(0).astype(old.dtype), new_stats, stats)
            return params, opt_state, stats, key, {"mse": loss, "mae": mae.mean()}

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, stats),
                            raw_key(arrays), arrays.batch((rows, time), F32),
                            arrays.batch((rows, horizon), F32)), (0, 1, 2)
    return make


FAMILY = {"tour_patchtst": dict(make=patchtst(512, 96, 16, 8, 3, 128, 16, 256, 8192), is_donated=True,
                                variants=TRAINED_IN_FLOAT32 + SEQUENCE)}
