"""TiSASRec: what comes next among millions of goods, by self-attention that knows how long ago each purchase was.

The model's state is dataclasses, registered as trees. The softmax goes over all items, at the last place of a session.
"""
import dataclasses

import jax
import jax.numpy as jnp

from advice_board_training import F32, compute_dtype, cross_entropy, maybe_checkpoint, optax_step


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Norm:
    scale: jax.Array
    bias: jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Block:
    attention_norm: Norm
    forward_norm: Norm
    query: jax.Array
    key: jax.Array
    value: jax.Array
    inner: jax.Array
    inner_bias: jax.Array
    outer: jax.Array
    outer_bias: jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Recommender:
    items: jax.Array
    place_keys: jax.Array
    place_values: jax.Array
    interval_keys: jax.Array
    interval_values: jax.Array
    blocks: list
    last_norm: Norm


def tisasrec_shapes(items, places, spans, width, blocks):
    def of(*shape):
        return jax.ShapeDtypeStruct(shape, F32)

    def norm():
        return Norm(of(width), of(width))

    def block():
        square = of(width, width)
        return Block(norm(), norm(), square, square, square, square, of(width), square, of(width))
    return Recommender(of(items, width), of(places, width), of(places, width), of(spans + 1, width),
                       of(spans + 1, width), [block() for _ in range(blocks)], norm())


def normed(norm, x):
    y = x.astype(F32)
    y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-8)
    return (y * norm.scale.astype(F32) + norm.bias.astype(F32)).astype(x.dtype)


def tisasrec(change, now, heads):
    def split(x):
        return x.reshape(*x.shape[:-1], heads, -1)

    def block_of(block, x, places, intervals, mask):
        """places: keys and values [t, h, d]; intervals: keys and values [b, t, s, h, d] of each pair of purchases."""
        h = normed(block.attention_norm, x)
        q, k, v = split(h @ block.query), split(x @ block.key), split(x @ block.value)
        scores = jnp.einsum("bthd,bshd->bhts", q, k + places[0])
        scores = (scores + jnp.einsum("bthd,btshd->bhts", q, intervals[0])) * q.shape[-1] ** -0.5
        weights = jax.nn.softmax(jnp.where(mask, scores.astype(F32), -1e9), -1).astype(now)
        out = jnp.einsum("bhts,bshd->bthd", weights, v + places[1])
        out = out + jnp.einsum("bhts,btshd->bthd", weights, intervals[1])
        x = h + out.reshape(x.shape)
        h = normed(block.forward_norm, x)
        return h + jax.nn.relu(h @ block.inner + block.inner_bias) @ block.outer + block.outer_bias

    def logits_of(params, session, times):
        """session [b, t] of items, 0 where there is none; times [b, t] in units of each buyer's shortest interval."""
        items, real = params.items, session > 0
        rest = jax.tree.map(lambda leaf: leaf.astype(now), dataclasses.replace(params, items=None))
        spans, length = rest.interval_keys.shape[0] - 1, session.shape[1]
        apart = jnp.minimum(jnp.abs(times[:, :, None] - times[:, None]), spans)
        intervals = split(rest.interval_keys[apart]), split(rest.interval_values[apart])
        places = split(rest.place_keys[:length]), split(rest.place_values[:length])
        mask = (jnp.tril(jnp.ones((length, length), bool)) & real[:, None])[:, None]
        x = items[session].astype(now) * items.shape[-1] ** 0.5 * real[..., None].astype(now)
        for block in rest.blocks:
            x = maybe_checkpoint(change, block_of)(block, x, places, intervals, mask) * real[..., None].astype(now)
        return normed(rest.last_norm, x)[:, -1] @ items.astype(now).T
    return logits_of


def next_goods_by_time(items, width, heads, blocks, spans, batch, length, kind=F32):
    def make(arrays, change):
        import optax
        rows, seen, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        logits_of = tisasrec(change, now, heads)

        def loss_of(params, session, times, bought):
            return cross_entropy(logits_of(params, session, times), bought)
        line = arrays.batch((rows, seen), jnp.int32)
        return optax_step(arrays, change, tisasrec_shapes(items, seen, spans, width, blocks), loss_of,
                          optax.adam(1e-3, b2=0.98), line, line, arrays.batch((rows,), jnp.int32))
    return make
