"""Flan-T5 that answers one token more: the decoder's step with keys and values in a dictionary of its blocks.

Plain functions on nested dictionaries. The encoder has run before: its keys and values are cached per block and only
read. Weights are bfloat16, the sums of norms and softmax float32.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_training import BF16, F32, abstract, on_chips


def t5_decoder_shapes(layers, width, heads, per_head, hidden, vocab):
    inner = heads * per_head

    def block():
        return {"self_attention": {"norm": (width,), "q": (width, inner), "k": (width, inner), "v": (width, inner),
                                   "o": (inner, width)},
                "cross_attention": {"norm": (width,), "q": (width, inner), "o": (inner, width)},
                "mlp": {"norm": (width,), "wi_0": (width, hidden), "wi_1": (width, hidden), "wo": (hidden, width)}}
    return {"shared": (vocab, width), "relative_attention_bias": (32, heads), "final_norm": (width,),
            "lm_head": (width, vocab), **{f"block_{i}": block() for i in range(layers)}}


def in_eight_bits(shapes):
    """Matrices as int8 with a scale for each of their last axis."""
    def one(leaf):
        if len(leaf.shape) < 2:
            return leaf
        return {"int8": jax.ShapeDtypeStruct(leaf.shape, jnp.int8), "scale": jax.ShapeDtypeStruct(leaf.shape[-1:], F32)}
    return jax.tree.map(one, shapes)


def times(x, w):
    if isinstance(w, dict):
        return (x @ w["int8"].astype(x.dtype)) * w["scale"].astype(x.dtype)
    return x @ w


def rows_of(table, ids):
    if isinstance(table, dict):
        return table["int8"][ids].astype(BF16) * table["scale"].astype(BF16)
    return table[ids]


def rms_norm(x, weight):
    y = x.astype(F32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(x.dtype) * weight


def buckets_behind(distance, buckets=32, furthest=128):
    """T5's buckets of how far behind a key is: exact to sixteen, then logarithmic."""
    exact = buckets // 2
    distance = jnp.maximum(distance, 0)
    logs = jnp.log(jnp.maximum(distance, 1) / exact) / np.log(furthest / exact) * (buckets - exact)
    return jnp.where(distance < exact, distance, jnp.minimum(exact + logs.astype(jnp.int32), buckets - 1))


def attend(q, keys, values, bias):
    """Unscaled, as T5 has it. q [b, h, d], keys and values [b, t, h, d], bias [b or 1, h or 1, t]."""
    scores = jnp.einsum("bhd,bthd->bht", q, keys, preferred_element_type=F32) + bias
    weights = jax.nn.softmax(scores, axis=-1).astype(values.dtype)
    return jnp.einsum("bht,bthd->bhd", weights, values)


def t5_decode_step(layers, heads, per_head):
    def split(x):
        return x.reshape(x.shape[0], heads, per_head)

    def self_attention(p, x, cache, step, bias):
        h = rms_norm(x, p["norm"])
        k, v = (split(times(h, p[name]))[:, None].astype(BF16) for name in "kv")
        cache = {"key": jax.lax.dynamic_update_slice(cache["key"], k, (0, step, 0, 0)),
                 "value": jax.lax.dynamic_update_slice(cache["value"], v, (0, step, 0, 0))}
        out = attend(split(times(h, p["q"])), cache["key"], cache["value"], bias)
        return x + times(out.reshape(x.shape[0], -1), p["o"]), cache

    def cross_attention(p, x, encoded, bias):
        q = split(times(rms_norm(x, p["norm"]), p["q"]))
        out = attend(q, encoded["key"], encoded["value"], bias)
        return x + times(out.reshape(x.shape[0], -1), p["o"])

    def mlp(p, x):
        h = rms_norm(x, p["norm"])
        return x + times(jax.nn.gelu(times(h, p["wi_0"])) * times(h, p["wi_1"]), p["wo"])

    def step_of(params, caches, encoded, source_mask, tokens, step):
        x = rows_of(params["shared"], tokens)
        places = jnp.arange(caches["block_0"]["key"].shape[1])
        bias = rows_of(params["relative_attention_bias"], buckets_behind(step - places)).astype(F32).T
        bias = (bias + jnp.where(places <= step, 0.0, -1e9))[None]
        source_bias = jnp.where(source_mask, 0.0, -1e9)[:, None]
        new = {}
        for name in (f"block_{i}" for i in range(layers)):
            p = params[name]
            x, new[name] = self_attention(p["self_attention"], x, caches[name], step, bias)
            x = cross_attention(p["cross_attention"], x, encoded[name], source_bias)
            x = mlp(p["mlp"], x)
        logits = times(rms_norm(x, params["final_norm"]), params["lm_head"]).astype(F32)
        return jnp.argmax(logits, -1).astype(jnp.int32), new, step + 1
    return step_of


def flan_t5_decode(layers, width, heads, per_head, hidden, vocab, batch, source, target):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        heard, said = source // change.length_divisor, target // change.length_divisor
        shapes = abstract(t5_decoder_shapes(layers, width, heads, per_head, hidden, vocab), BF16)
        if change.quantized:
            shapes = in_eight_bits(shapes)

        def caches(length):
            one = arrays.batch((rows, length, heads, per_head), BF16)
            return {f"block_{i}": {"key": one, "value": one} for i in range(layers)}
        arguments = (on_chips(arrays, shapes), caches(said), caches(heard), arrays.batch((rows, heard), jnp.bool_),
                     arrays.batch((rows,), jnp.int32), arrays.array((), jnp.int32, None))
        return t5_decode_step(layers, heads, per_head), arguments, (1,)
    return make
