"""AutoInt+ for click-through rates on Avazu: 24 fields in one unfiltered table, three layers of self-attention.

Flax linen, float32 throughout, optax's Adam over everything, a plain network of 400 x 400 beside the attention; every
id of Avazu has its row (9.4 million of 16 numbers). Dropout in the network alone. Nothing is donated.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import computing, laid_out, policy_of, raw_key, summed_slopes, updated
from advice_board_training import F32, cast

FEATURES, FIELDS, DIM = 9_449_448, 24, 16


class Interacting(nn.Module):
    """Fields attend to one another; what came in is projected and added."""
    heads: int
    width: int
    dtype: object

    @nn.compact
    def __call__(self, v):
        def project(name):
            return nn.Dense(self.width, use_bias=False, dtype=self.dtype, name=name)(v)

        def split(t):
            return t.reshape(*t.shape[:-1], self.heads, self.width // self.heads)
        q, k, values = (split(project(name)) for name in ("query", "key", "value"))
        weights = nn.softmax(jnp.einsum("bfhd,bghd->bhfg", q, k), -1)
        mixed = jnp.einsum("bhfg,bghd->bfhd", weights, values).reshape(*v.shape[:-1], self.width)
        return nn.relu(mixed + project("residual"))


class Hidden(nn.Module):
    width: int
    rate: float
    dtype: object

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.width, dtype=self.dtype)(x))
        return nn.Dropout(self.rate, deterministic=False)(x)


class AutoInt(nn.Module):
    change: object
    dtype: object
    layers: int
    heads: int
    width: int
    hidden: tuple
    rate: float = 0.2

    @nn.compact
    def __call__(self, ids):
        def block(module):
            return nn.remat(module, policy=policy_of(self.change)) if self.change.rematerialize else module
        table = self.param("table", nn.initializers.normal(0.01), (FEATURES, DIM))
        linear = self.param("linear", nn.initializers.zeros, (FEATURES,))
        v = jnp.take(table, ids, axis=0).astype(self.dtype)
        first = jnp.take(linear, ids, axis=0).astype(self.dtype).sum(-1)
        x = v
        for i in range(self.layers):
            x = block(Interacting)(self.heads, self.width, self.dtype, name=f"interact_{i}")(x)
        attended = nn.Dense(1, dtype=self.dtype, name="attended")(x.reshape(x.shape[0], -1))
        y = v.reshape(v.shape[0], -1)
        for i, width in enumerate(self.hidden):
            y = block(Hidden)(width, self.rate, self.dtype, name=f"hidden_{i}")(y)
        deep = nn.Dense(1, dtype=self.dtype, name="deep")(y)
        return (attended + deep)[:, 0] + first


def autoint(batch, layers=3, heads=2, width=64, hidden=(400, 400)):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        model = AutoInt(change, computing(change, F32), layers, heads, width, hidden)
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        params = jax.eval_shape(model.init, keys, jnp.zeros((2, FIELDS), jnp.int32))["params"]
        params = cast(params, change.stored)
        optimizer = optax.adam(1e-3)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, ids, clicks):
            logits = model.apply({"params": params}, ids, rngs={"dropout": key}).astype(F32)
            loss = optax.sigmoid_binary_cross_entropy(logits, clicks.astype(F32)).mean()
            return loss, {"rate": nn.sigmoid(logits).mean()}

        def train_step(params, opt_state, key, ids, clicks):
            key, now = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, now, ids, clicks)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                            arrays.batch((rows, FIELDS), jnp.int32), arrays.batch((rows,), jnp.int32)), (0, 1)
    return make


FAMILY = {"crown_autoint_avazu": dict(
    make=autoint(batch=16_384), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
