"""ModernBERT-base learns to fill in masked words: an encoder in which every third layer looks at the whole text.

In equinox, written for one text and mapped over the batch. The other layers look 64 words to both sides, in blocks.
GeGLU, rotary places with another base for each sort of layer, no biases; the head sees masked words only. StableAdamW
is Adam whose updates are clipped by their size.
"""
import equinox as eqx
import jax
import jax.numpy as jnp

from advice_board_changes import updated
from advice_board_training import (
    BF16, F32, cast, compute_dtype, cross_entropy, decayed, maybe_checkpoint, on_chips, value_and_mean_grad)


def norm(width):
    return eqx.nn.LayerNorm(width, eps=1e-5, use_bias=False)


def matrix(rows, columns, key):
    return eqx.nn.Linear(rows, columns, use_bias=False, key=key)


def rotate(x, base):
    """x [t, h, d], halves turned against each other."""
    side = x.shape[-1]
    angles = jnp.arange(x.shape[0], dtype=F32)[:, None] * base ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    a, b = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def softmax(scores, seen, kind):
    return jax.nn.softmax(jnp.where(seen, scores.astype(F32), -1e30), -1).astype(kind)


def look_everywhere(q, k, v, real):
    scores = jnp.einsum("qhd,khd->hqk", q, k) * q.shape[-1] ** -0.5
    return jnp.einsum("hqk,khd->qhd", softmax(scores, real, q.dtype), v)


def look_around(q, k, v, real, reach):
    """In blocks as long as the reach, which see themselves and their two neighbours."""
    length, heads, side = q.shape
    blocks = length // reach

    def with_neighbours(x):
        x = jnp.pad(x, ((reach, reach),) + ((0, 0),) * (x.ndim - 1)).reshape(blocks + 2, reach, *x.shape[1:])
        return jnp.concatenate([x[:-2], x[1:-1], x[2:]], axis=1)
    q = q.reshape(blocks, reach, heads, side)
    scores = jnp.einsum("nqhd,nkhd->nhqk", q, with_neighbours(k)) * side ** -0.5
    apart = jnp.arange(3 * reach) - reach - jnp.arange(reach)[:, None]
    seen = (jnp.abs(apart) <= reach) & with_neighbours(real)[:, None, None]
    mixed = jnp.einsum("nhqk,nkhd->nqhd", softmax(scores, seen, q.dtype), with_neighbours(v))
    return mixed.reshape(length, heads, side)


class Attention(eqx.Module):
    wqkv: eqx.nn.Linear
    wo: eqx.nn.Linear
    heads: int = eqx.field(static=True)
    reach: int = eqx.field(static=True)                  # 0: the whole text

    def __init__(self, width, heads, reach, key):
        one, two = jax.random.split(key)
        self.wqkv, self.wo = matrix(width, 3 * width, one), matrix(width, width, two)
        self.heads, self.reach = heads, reach

    def __call__(self, x, real):
        q, k, v = jnp.moveaxis(jax.vmap(self.wqkv)(x).reshape(x.shape[0], 3, self.heads, -1), 1, 0)
        base = 10_000.0 if self.reach else 160_000.0
        q, k = rotate(q, base), rotate(k, base)
        mixed = look_around(q, k, v, real, self.reach) if self.reach else look_everywhere(q, k, v, real)
        return jax.vmap(self.wo)(mixed.reshape(x.shape))


class GeGLU(eqx.Module):
    wi: eqx.nn.Linear
    wo: eqx.nn.Linear

    def __init__(self, width, hidden, key):
        one, two = jax.random.split(key)
        self.wi, self.wo = matrix(width, 2 * hidden, one), matrix(hidden, width, two)

    def __call__(self, x):
        value, gate = jnp.split(jax.vmap(self.wi)(x), 2, -1)
        return jax.vmap(self.wo)(jax.nn.gelu(value, approximate=False) * gate)


class Layer(eqx.Module):
    attn_norm: eqx.nn.LayerNorm | None                   # the first layer's input has just been normed
    attn: Attention
    mlp_norm: eqx.nn.LayerNorm
    mlp: GeGLU

    def __init__(self, index, width, heads, hidden, reach, key):
        one, two = jax.random.split(key)
        self.attn_norm = norm(width) if index else None
        self.attn = Attention(width, heads, reach if index % 3 else 0, one)
        self.mlp_norm, self.mlp = norm(width), GeGLU(width, hidden, two)

    def __call__(self, x, real):
        x = x + self.attn(jax.vmap(self.attn_norm)(x) if self.attn_norm else x, real)
        return x + self.mlp(jax.vmap(self.mlp_norm)(x))


class ModernBert(eqx.Module):
    embeddings: jax.Array
    embeddings_norm: eqx.nn.LayerNorm
    layers: list
    final_norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear
    head_norm: eqx.nn.LayerNorm
    decoder_bias: jax.Array

    def __init__(self, layers, width, heads, hidden, vocab, reach, key):
        first, last, *keys = jax.random.split(key, layers + 2)
        self.embeddings = 0.02 * jax.random.normal(first, (vocab, width))
        self.embeddings_norm, self.final_norm, self.head_norm = norm(width), norm(width), norm(width)
        self.layers = [Layer(i, width, heads, hidden, reach, one) for i, one in enumerate(keys)]
        self.head, self.decoder_bias = matrix(width, width, last), jnp.zeros(vocab)

    def __call__(self, words, real, masked, wrap):
        """Logits of one text at its masked places."""
        x = jax.vmap(self.embeddings_norm)(self.embeddings[words])
        for layer in self.layers:
            x = wrap(lambda layer, x, real: layer(x, real))(layer, x, real)
        x = jax.vmap(self.final_norm)(x[masked])
        x = jax.vmap(self.head_norm)(jax.nn.gelu(jax.vmap(self.head)(x), approximate=False))
        return x @ self.embeddings.T + self.decoder_bias


def stable_adamw(rate, decay):
    import optax
    trapezoid = optax.join_schedules([optax.linear_schedule(0.0, rate, 3000), optax.constant_schedule(rate)], [3000])
    return optax.chain(optax.scale_by_adam(0.9, 0.98, eps=1e-6), optax.clip_by_block_rms(1.0),
                       optax.add_decayed_weights(decay, mask=decayed), optax.scale_by_learning_rate(trapezoid))


def modernbert_masked(layers, width, heads, hidden, vocab, batch, length, reach=64, share=0.3125, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        words = length // change.length_divisor
        masked = int(words * share)
        shapes = eqx.filter_eval_shape(ModernBert, layers, width, heads, hidden, vocab, reach, jax.random.key(0))
        optimizer = stable_adamw(8e-4, 1e-5)

        def loss_of(model, text, real, places, labels, counted):
            model = jax.tree.map(lambda p: p.astype(now), model)
            logits = jax.vmap(lambda *one: model(*one, lambda block: maybe_checkpoint(change, block)))
            return cross_entropy(logits(text, real, places), labels, counted)

        def train_step(model, opt_state, *batch):
            loss, grads = value_and_mean_grad(loss_of, change.parts)(model, *batch)
            model, opt_state = updated(optimizer, grads, opt_state, model)
            return model, opt_state, loss
        model = cast(shapes, change.stored)
        opt_state = jax.eval_shape(optimizer.init, model)
        few = arrays.batch((rows, masked), jnp.int32)
        return train_step, (on_chips(arrays, model), on_chips(arrays, opt_state),
                            arrays.batch((rows, words), jnp.int32), arrays.batch((rows, words), jnp.bool_),
                            few, few, arrays.batch((rows, masked), jnp.bool_)), (0, 1)
    return make
