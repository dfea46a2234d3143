"""SASRec on a large catalogue: what will one take next? Trained against sampled negatives with gSASRec's loss.

In equinox: a model of one history, under vmap over the users. Items are in one table, for the history and for what is
scored; each place of a history has negatives of its own. Adam keeps two moments of the whole table. All in float32.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype
from advice_tour_c_parts import DONATING, SEQUENCE, TRAINED_IN_FLOAT32

PAD = 0


def dropped(key, x, rate):
    return jnp.where(jax.random.bernoulli(key, 1.0 - rate, x.shape), x / (1.0 - rate), 0.0).astype(x.dtype)


class Attention(eqx.Module):
    query: eqx.nn.Linear
    key: eqx.nn.Linear
    value: eqx.nn.Linear
    output: eqx.nn.Linear
    heads: int = eqx.field(static=True)

    def __init__(self, dim, heads, *, key):
        keys = jax.random.split(key, 4)
        self.query, self.key, self.value, self.output = (eqx.nn.Linear(dim, dim, key=k) for k in keys)
        self.heads = heads

    def __call__(self, q, kv, mask, key, rate):
        length, dim = q.shape

        def split(linear, x):
            return jax.vmap(linear)(x).reshape(length, self.heads, dim // self.heads)
        queries, keys, values = split(self.query, q), split(self.key, kv), split(self.value, kv)
        scores = jnp.einsum("qhd,khd->hqk", queries, keys) / (dim // self.heads) ** 0.5
        scores = jnp.where(mask[None], scores, jnp.finfo(scores.dtype).min)
        weights = dropped(key, jax.nn.softmax(scores, axis=-1), rate)
        return jax.vmap(self.output)(jnp.einsum("hqk,khd->qhd", weights, values).reshape(length, dim))


class Block(eqx.Module):
    attention_norm: eqx.nn.LayerNorm
    attention: Attention
    forward_norm: eqx.nn.LayerNorm
    inner: eqx.nn.Linear
    outer: eqx.nn.Linear

    def __init__(self, dim, heads, *, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.attention_norm, self.forward_norm = eqx.nn.LayerNorm(dim), eqx.nn.LayerNorm(dim)
        self.attention = Attention(dim, heads, key=k1)
        self.inner, self.outer = eqx.nn.Linear(dim, dim, key=k2), eqx.nn.Linear(dim, dim, key=k3)

    def __call__(self, x, mask, key, rate):
        k1, k2, k3 = jax.random.split(key, 3)
        q = jax.vmap(self.attention_norm)(x)
        x = q + self.attention(q, x, mask, k1, rate)
        x = jax.vmap(self.forward_norm)(x)
        h = dropped(k2, jax.nn.relu(jax.vmap(self.inner)(x)), rate)
        return x + dropped(k3, jax.vmap(self.outer)(h), rate)


class SASRec(eqx.Module):
    items: eqx.nn.Embedding
    positions: eqx.nn.Embedding
    blocks: list
    norm: eqx.nn.LayerNorm

    def __init__(self, num_items, length, dim, heads, depth, *, key):
        k1, k2, *rest = jax.random.split(key, 2 + depth)
        self.items = eqx.nn.Embedding(num_items, dim, key=k1)
        self.positions = eqx.nn.Embedding(length, dim, key=k2)
        self.blocks = [Block(dim, heads, key=k) for k in rest]
        self.norm = eqx.nn.LayerNorm(dim)

    def __call__(self, history, key, *, rate, dtype, remat, policy):
        keys = jax.random.split(key, len(self.blocks) + 1)
        x = self.items.weight[history].astype(dtype) * history_scale(self.items)
        x = x + self.positions.weight[: history.shape[0]].astype(dtype)
        x = dropped(keys[0], x, rate) * (history != PAD)[:, None].astype(dtype)
        size = history.shape[0]
        mask = jnp.tril(jnp.ones((size, size), bool)) & (history != PAD)[None, :]
        for block, k in zip(cast(self.blocks, dtype), keys[1:]):
            def run(block, x, mask, k):
                return block(x, mask, k, rate)
            if remat:
                run = eqx.filter_checkpoint(run, policy=policy)
            x = run(block, x, mask, k)
        return jax.vmap(cast(self.norm, dtype))(x)


def history_scale(items):
    return items.embedding_size ** 0.5


def gbce(positive, negatives, counted, num_items, temperature):
    """Binary cross-entropy, calibrated for the share of the catalogue that is sampled."""
    rate = negatives.shape[-1] / (num_items - 1)
    beta = rate * (temperature * (1 - 1 / rate) + 1 / rate)
    losses = -beta * jax.nn.log_sigmoid(positive) - jax.nn.log_sigmoid(-negatives).sum(-1)
    return (losses * counted).sum() / jnp.maximum(counted.sum(), 1)


def sasrec(num_items, dim, heads, depth, batch, length, negatives, rate=0.2, temperature=0.75, kind=F32):
    def make(arrays, change):
        users, places = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        model = cast(eqx.filter_eval_shape(SASRec, num_items, places, dim, heads, depth, key=jax.random.key(0)),
                     change.stored)
        optimizer = optax.adam(1e-3, b2=0.98)
        opt_state = jax.eval_shape(optimizer.init, model)

        def loss_fn(model, key, history, targets, sampled):
            keys = jax.random.split(key, history.shape[0])
            hidden = jax.vmap(lambda one, k: model(one, k, rate=rate, dtype=now, remat=change.rematerialize,
                                                   policy=checkpoint_policy(change)))(history, keys)
            positive = jnp.sum(hidden * model.items.weight[targets].astype(now), axis=-1)
            negative = jnp.einsum("bld,blnd->bln", hidden, model.items.weight[sampled].astype(now))
            counted = (targets != PAD).astype(F32)
            loss = gbce(positive.astype(F32), negative.astype(F32), counted, num_items, temperature)
            return loss, (positive[..., None] > negative).mean()

        def train_step(model, opt_state, key, history, targets, sampled):
            key, subkey = jax.random.split(key)
            loss, auc, grads = summed_slopes(loss_fn, change.parts)(model, subkey, history, targets, sampled)
            model, opt_state = updated(optimizer, grads, opt_state, model)
            return model, opt_state, key, {"loss": loss, "sampled_auc": auc.mean()}

        seen = arrays.batch((users, places), jnp.int32)
        return (train_step, (laid_out(arrays, model), laid_out(arrays, opt_state), raw_key(arrays), seen, seen,
                             arrays.batch((users, places, negatives), jnp.int32)), (0, 1))
    return make


FAMILY = {"tour_sasrec": dict(make=sasrec(8_000_000, 128, 2, 3, 128, 200, 256), is_donated=False,
                              variants=DONATING + TRAINED_IN_FLOAT32 + SEQUENCE)}
