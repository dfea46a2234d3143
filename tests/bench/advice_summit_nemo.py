"""Mistral Nemo of 12 billion weights, one word after the other for rows that are each at their own place.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Plain jax: layers are a list, as are their
caches of keys and values [b, t, g, d], which each row writes at its own place. The word is drawn out of the likeliest.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import raw_key
from advice_board_training import BF16, F32, on_chips


def nemo_shapes(layers, width, heads, groups, side, hidden, vocab):
    def layer():
        return {"attention_norm": (width,), "ffn_norm": (width,), "wq": (width, heads * side),
                "wk": (width, groups * side), "wv": (width, groups * side), "wo": (heads * side, width),
                "w1": (width, hidden), "w3": (width, hidden), "w2": (hidden, width)}
    return {"tok_embeddings": (vocab, width), "norm": (width,), "output": (width, vocab),
            "layers": [layer() for _ in range(layers)]}


def weights_of(change, shapes):
    """In bfloat16, or matrices in int8 with a scale for each column."""
    from advice_programs import Int8

    def one(shape):
        if change.quantized and len(shape) > 1:
            return Int8(jax.ShapeDtypeStruct(shape, jnp.int8), jax.ShapeDtypeStruct((shape[-1],), F32))
        return jax.ShapeDtypeStruct(shape, BF16)
    return jax.tree.map(one, shapes, is_leaf=lambda node: isinstance(node, tuple))


def dot(x, weight):
    return x @ weight.astype(x.dtype)


def rms_norm(x, scale):
    y = x.astype(F32)
    return (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def rotated(x, places):
    """x [b, h, d] at places [b], its numbers in pairs as they come."""
    side = x.shape[-1]
    angles = places[:, None].astype(F32) * 1e6 ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    even, odd = x[..., ::2].astype(F32), x[..., 1::2].astype(F32)
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape).astype(x.dtype)


def nemo_decode(layers, width, heads, groups, side, hidden, vocab, batch, length, likeliest=50, kind=BF16):
    def make(arrays, change):
        rows, room = batch // change.batch_divisor, length // change.length_divisor

        def attention(layer, cache, x, places):
            q = rotated(dot(x, layer["wq"]).reshape(-1, heads, side), places)
            k = rotated(dot(x, layer["wk"]).reshape(-1, groups, side), places)
            v = dot(x, layer["wv"]).reshape(-1, groups, side)
            line = jnp.arange(x.shape[0])
            cache = {"k": cache["k"].at[line, places].set(k), "v": cache["v"].at[line, places].set(v)}
            q = q.reshape(-1, groups, heads // groups, side)
            scores = jnp.einsum("bgqd,btgd->bgqt", q, cache["k"], preferred_element_type=F32) * side ** -0.5
            seen = (jnp.arange(room) <= places[:, None])[:, None, None]
            weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1).astype(x.dtype)
            mixed = jnp.einsum("bgqt,btgd->bgqd", weights, cache["v"])
            return dot(mixed.reshape(x.shape[0], -1), layer["wo"]), cache

        def step(params, caches, words, places, key):
            x, written = params["tok_embeddings"][words].astype(kind), []
            for layer, cache in zip(params["layers"], caches):
                mixed, cache = attention(layer, cache, rms_norm(x, layer["attention_norm"]), places)
                x = x + mixed
                h = rms_norm(x, layer["ffn_norm"])
                x = x + dot(jax.nn.silu(dot(h, layer["w1"])) * dot(h, layer["w3"]), layer["w2"])
                written.append(cache)
            logits = dot(rms_norm(x, params["norm"]), params["output"]).astype(F32) / 0.7
            best, which = jax.lax.top_k(logits, likeliest)
            key, drawn = jax.random.split(key)
            picked = jax.random.categorical(drawn, best)[:, None]
            return jnp.take_along_axis(which, picked, axis=1)[:, 0], written, places + 1, key
        params = weights_of(change, nemo_shapes(layers, width, heads, groups, side, hidden, vocab))
        caches = [{name: arrays.batch((rows, room, groups, side), kind) for name in ("k", "v")} for _ in range(layers)]
        line = arrays.batch((rows,), jnp.int32)
        return step, (on_chips(arrays, params), caches, line, line, raw_key(arrays)), (1,)
    return make
