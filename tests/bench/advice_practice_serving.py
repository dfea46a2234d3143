"""Steps that decode, as small teams serve models: slots of a batch at their own places, and speech into text.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it.
"""
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed
from advice_structures import BF16, F32
from advice_typical import standardized
from advice_typical_words import rope


class Slots(NamedTuple):
    """Of one layer: [slot, time, head, side]."""
    keys: Any
    values: Any


def plain_norm(x):
    """A layer norm that has no weights."""
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype)


def written_at(cache, new, places):
    """Each slot has got as far as its own place."""
    def one(rows, row, place):
        return jax.lax.dynamic_update_slice(rows, row[None].astype(rows.dtype), (place, 0, 0))
    return jax.vmap(one)(cache, new, places)


def slot_block(p, cache, x, places, n_heads):
    b, d_model = x.shape
    q, k, v = (t.reshape(b, 1, n_heads, -1) for t in jnp.split(plain_norm(x) @ p["att_proj"], 3, -1))
    turned = jax.vmap(lambda t, place: rope(t[None], place[None].astype(F32))[0])
    q, k = turned(q, places)[:, 0], turned(k, places)[:, 0]
    cache = Slots(written_at(cache.keys, k, places), written_at(cache.values, v[:, 0], places))
    scores = jnp.einsum("bhd,bthd->bht", q, cache.keys.astype(q.dtype)).astype(F32) * (d_model // n_heads) ** -0.5
    seen = jnp.arange(cache.keys.shape[1]) <= places[:, None]
    weights = jax.nn.softmax(jnp.where(seen[:, None], scores, -jnp.inf)).astype(x.dtype)
    mixed = jnp.einsum("bht,bthd->bhd", weights, cache.values.astype(x.dtype))
    x = x + mixed.reshape(b, d_model) @ p["attn_out"]
    up, gate = jnp.split(plain_norm(x) @ p["ff_proj"], 2, -1)
    return x + (jax.nn.silu(gate) * up) @ p["ff_out"], cache


def slots_of_olmo(n_layers, d_model, n_heads, mlp_hidden, vocab, slots, max_len, kind=BF16):
    """OLMo's step: a list of caches, one of each layer; sequences of all lengths share the batch."""
    def make(arrays, change):
        b, room = slots // change.batch_divisor, max_len // change.length_divisor
        sizes = {"att_proj": (d_model, 3 * d_model), "attn_out": (d_model, d_model),
                 "ff_proj": (d_model, 2 * mlp_hidden), "ff_out": (mlp_hidden, d_model)}
        params = {"wte": arrays.parameter((vocab, d_model)), "head": arrays.parameter((d_model, vocab)),
                  "blocks": [{name: arrays.parameter(size) for name, size in sizes.items()} for _ in range(n_layers)]}
        one = arrays.array((b, room, n_heads, d_model // n_heads), BF16, 0 if change.shard == "all" else None)

        def decode(params, caches, tokens, places, temperature):
            p = as_kind(params, computed(change, kind))
            x, grown = p["wte"][tokens], []
            for block, cache in zip(p["blocks"], caches):
                x, cache = slot_block(block, cache, x, places, n_heads)
                grown.append(cache)
            logits = (plain_norm(x) @ p["head"]).astype(F32) / temperature[:, None].astype(F32)
            words = jnp.argmax(logits, -1).astype(jnp.int32)
            said = jnp.take_along_axis(jax.nn.log_softmax(logits), words[:, None], -1)[:, 0]
            return words, grown, places + 1, said
        whole = arrays.batch((b,), jnp.int32)
        return decode, (params, [Slots(one, one)] * n_layers, whole, whole, arrays.batch((b,), F32)), (1,)
    return make


def looked_at(q, keys, values, seen, heads):
    """One query for each sequence, [batch, width]; keys and values are [batch, time, width]."""
    b, width = q.shape
    q = q.reshape(b, heads, -1) * (width // heads) ** -0.5
    keys, values = (t.reshape(*t.shape[:2], heads, -1).astype(q.dtype) for t in (keys, values))
    scores = jnp.where(seen, jnp.einsum("bhd,bthd->bht", q, keys).astype(F32), -1e30)
    return jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores).astype(q.dtype), values).reshape(b, width)


def words_of_whisper(layers, width, heads, vocab, frames, text, batch, kind=BF16):
    """The decoder of Whisper: stacked caches go through a scan over layers; those of the sound are only read."""
    def make(arrays, change):
        b, split = batch // change.batch_divisor, 1 if change.shard == "all" else None
        matrices = {"qkv": (width, 3 * width), "out": (width, width), "cross_q": (width, width),
                    "cross_out": (width, width), "fc1": (width, 4 * width), "fc2": (4 * width, width)}
        vectors = {"qkv_b": 3 * width, "out_b": width, "cross_q_b": width, "cross_out_b": width, "fc1_b": 4 * width,
                   "fc2_b": width}
        stack = {name: arrays.parameter((layers, *size), 1) for name, size in matrices.items()}
        stack |= {name: arrays.parameter((layers, size), None) for name, size in vectors.items()}

        def norm(*lead):
            return {name: arrays.parameter((*lead, width), None) for name in ("scale", "bias")}
        stack |= {name: norm(layers) for name in ("ln_self", "ln_cross", "ln_mlp")}
        params = {"tokens": arrays.parameter((vocab, width)), "positions": arrays.parameter((text, width), None),
                  "ln": norm(), "decoder": stack}

        def layer(p, mine, heard, x, place):
            p = as_kind(p, computed(change, kind))
            q, k, v = jnp.split(standardized(x, p["ln_self"]) @ p["qkv"] + p["qkv_b"], 3, -1)
            mine = {name: jax.lax.dynamic_update_slice(mine[name], new[:, None].astype(BF16), (0, place, 0))
                    for name, new in (("k", k), ("v", v))}
            y = looked_at(q, mine["k"], mine["v"], jnp.arange(text) <= place, heads)
            x = x + y @ p["out"] + p["out_b"]
            q = standardized(x, p["ln_cross"]) @ p["cross_q"] + p["cross_q_b"]
            x = x + looked_at(q, heard["k"], heard["v"], True, heads) @ p["cross_out"] + p["cross_out_b"]
            h = jax.nn.gelu(standardized(x, p["ln_mlp"]) @ p["fc1"] + p["fc1_b"])
            return x + h @ p["fc2"] + p["fc2_b"], mine

        def step(params, caches, heard, tokens, place):
            now = computed(change, kind)
            x = params["tokens"].astype(now)[tokens] + params["positions"].astype(now)[place]
            x, caches = jax.lax.scan(lambda x, one: layer(*one, x, place), x, (params["decoder"], caches, heard))
            x = standardized(x, as_kind(params["ln"], now))
            logits = jnp.einsum("bd,vd->bv", x, params["tokens"].astype(now)).astype(F32)
            return logits.argmax(-1).astype(jnp.int32), caches
        caches, heard = ({name: arrays.array((layers, b, time, width), BF16, split) for name in ("k", "v")}
                         for time in (text, frames))
        return step, (params, caches, heard, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make
