"""DeBERTa (version 3's sizes), which learns masked words in float32 by LAMB, in haiku.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Attention sums content to content,
content to place and place to content; places lie in buckets of logarithmic width; only masked places are predicted.
"""
import math

import haiku as hk
import jax
import jax.numpy as jnp

from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, cross_entropy, optax_step


def bucketed(length, buckets, furthest):
    """[length, length]: where in a table of 2 * buckets the distance of two places lies."""
    distance = jnp.arange(length)[:, None] - jnp.arange(length)
    near = buckets // 2
    far = jnp.maximum(jnp.abs(distance), near).astype(F32)
    log = jnp.ceil(jnp.log(far / near) / math.log((furthest - 1) / near) * (near - 1)) + near
    bucket = jnp.where(jnp.abs(distance) <= near, distance, jnp.sign(distance) * log.astype(jnp.int32))
    return jnp.clip(bucket + buckets, 0, 2 * buckets - 1)


def norm(x, name):
    return hk.LayerNorm(-1, True, True, eps=1e-7, name=name)(x)


class DisentangledAttention(hk.Module):
    def __init__(self, heads, name="attention"):
        super().__init__(name)
        self.heads = heads

    def __call__(self, x, table, index, mask):
        width = x.shape[-1]
        side = width // self.heads
        query, key, value = (hk.Linear(width, name=name) for name in ("query", "key", "value"))

        def heads_of(y):
            return y.reshape(*y.shape[:-1], self.heads, side)
        q, k, v = (heads_of(proj(x)) for proj in (query, key, value))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
        to_place = jnp.einsum("bqhd,phd->bhqp", q, heads_of(key(table)))
        scores += jnp.take_along_axis(to_place, index[None, None], axis=-1)
        from_place = jnp.einsum("bkhd,phd->bhkp", k, heads_of(query(table)))
        scores += jnp.take_along_axis(from_place, index[None, None], axis=-1).swapaxes(-1, -2)
        scores = jnp.where(mask[:, None, None], scores / math.sqrt(3 * side), jnp.finfo(scores.dtype).min)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
        return hk.Linear(width, name="output")(mixed.reshape(x.shape))


class Layer(hk.Module):
    def __init__(self, heads, hidden, name):
        super().__init__(name)
        self.heads, self.hidden = heads, hidden

    def __call__(self, x, table, index, mask):
        x = norm(x + DisentangledAttention(self.heads)(x, table, index, mask), "attention_norm")
        h = jax.nn.gelu(hk.Linear(self.hidden, name="intermediate")(x), approximate=False)
        return norm(x + hk.Linear(x.shape[-1], name="output")(h), "output_norm")


def masked_words(change, layers, width, heads, hidden, vocab, buckets):
    def forward(ids, mask, places):
        words = hk.Embed(vocab, width, name="word_embeddings")
        x = norm(words(ids), "embeddings_norm") * mask[..., None].astype(words.embeddings.dtype)
        table = hk.get_parameter("rel_embeddings", (2 * buckets, width), init=hk.initializers.RandomNormal(0.02))
        table, index = norm(table, "rel_norm"), bucketed(ids.shape[1], buckets, 512)
        for number in range(layers):
            layer = Layer(heads, hidden, f"layer_{number}")
            if change.rematerialize:
                layer = hk.remat(layer, policy=checkpoint_policy(change))
            x = layer(x, table, index, mask)
        x = jnp.take_along_axis(x, places[..., None], axis=1)
        x = norm(jax.nn.gelu(hk.Linear(width, name="head")(x), approximate=False), "head_norm")
        return x @ words.embeddings.T + hk.get_parameter("bias", (vocab,), x.dtype, init=jnp.zeros)
    return hk.without_apply_rng(hk.transform(forward))


def masked_deberta(layers, width, heads, hidden, vocab, batch, length, masked, buckets=256, kind=F32):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        said, hiding = length // change.length_divisor, masked // change.length_divisor
        net = masked_words(change, layers, width, heads, hidden, vocab, buckets)
        shapes = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, said), jnp.int32),
                                jnp.ones((1, said), bool), jnp.zeros((1, hiding), jnp.int32))

        def loss_of(params, ids, mask, places, labels):
            return cross_entropy(net.apply(cast(params, now), ids, mask, places), labels, labels > 0)
        holes = arrays.batch((rows, hiding), jnp.int32)
        return optax_step(arrays, change, shapes, loss_of, optax.lamb(2e-3, weight_decay=0.01),
                          arrays.batch((rows, said), jnp.int32), arrays.batch((rows, said), jnp.bool_), holes, holes)
    return make
