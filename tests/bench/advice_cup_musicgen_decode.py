"""MusicGen (large) plays one frame: four codebooks in a delay pattern, told by a T5 text, with guidance.

Plain JAX, weights and caches in bfloat16. Each request is two rows (with the text and without); the layers are stacked
and scanned, with the cache of the frames as what goes in and comes out; keys and values of the text were made before.
Codes are sampled from the best 250. The cache and the codes so far are donated.
"""
import math

import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import looked_up, quantized, times

STACKS = {"decoder": 0, "cache": 0}
CODES = 2048


def shapes(layers, dim, ffn, codebooks):
    def ln():
        return {"weight": (layers, dim), "bias": (layers, dim)}

    def attn(names):
        return {name: (layers, dim, dim) for name in names}
    return {
        "emb": [(CODES + 1, dim) for _ in range(codebooks)],
        "decoder": {
            "norm1": ln(), "self_attn": attn(("q", "k", "v", "out")),
            "norm_cross": ln(), "cross_attn": attn(("q", "out")),
            "norm2": ln(), "linear1": (layers, dim, ffn), "linear2": (layers, ffn, dim),
        },
        "out_norm": {"weight": (dim,), "bias": (dim,)},
        "heads": [(dim, CODES) for _ in range(codebooks)],
    }


def layer_norm(p, x):
    wide = x.astype(F32)
    wide = (wide - wide.mean(-1, keepdims=True)) * jax.lax.rsqrt(wide.var(-1, keepdims=True) + 1e-5)
    return (wide * p["weight"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def sinusoid(position, dim):
    half = dim // 2
    phase = position.astype(F32)[:, None] / (10000.0 ** (jnp.arange(half) / (half - 1)))
    return jnp.concatenate([jnp.cos(phase), jnp.sin(phase)], axis=-1)


def attend(q, keys, values, mask, heads):
    """One query a row: q [rows, dim], keys and values [rows, frames, heads, head]."""
    q = q.reshape(q.shape[0], heads, -1)
    scores = jnp.einsum("bhd,bshd->bhs", q, keys, preferred_element_type=F32) / math.sqrt(q.shape[-1])
    probs = jax.nn.softmax(jnp.where(mask[:, None], scores, -1e9), axis=-1).astype(q.dtype)
    return jnp.einsum("bhs,bshd->bhd", probs, values).reshape(q.shape[0], -1)


def decoder_layer(p, x, cache, text, offset, text_mask, heads):
    rows = x.shape[0]
    y = layer_norm(p["norm1"], x)
    q, k, v = (times(y, p["self_attn"][name]) for name in "qkv")
    cache = {"k": jax.lax.dynamic_update_slice_in_dim(cache["k"], k.reshape(rows, 1, heads, -1), offset, 1),
             "v": jax.lax.dynamic_update_slice_in_dim(cache["v"], v.reshape(rows, 1, heads, -1), offset, 1)}
    seen = jnp.broadcast_to(jnp.arange(cache["k"].shape[1]) <= offset, (rows, cache["k"].shape[1]))
    x = x + times(attend(q, cache["k"], cache["v"], seen, heads), p["self_attn"]["out"])
    y = times(layer_norm(p["norm_cross"], x), p["cross_attn"]["q"])
    x = x + times(attend(y, text["k"], text["v"], text_mask, heads), p["cross_attn"]["out"])
    y = jax.nn.gelu(times(layer_norm(p["norm2"], x), p["linear1"]), approximate=False)
    return x + times(y, p["linear2"]), cache


def sampled(key, logits, top, temperature):
    best, which = jax.lax.top_k(logits / temperature, top)
    chosen = jax.random.categorical(key, best)
    return jnp.take_along_axis(which, chosen[..., None], axis=-1)[..., 0]


def musicgen(layers, dim, heads, ffn, codebooks, requests, frames, words, guidance=3.0, top=250, temperature=1.0):
    def make(arrays, change):
        count, room = requests // change.batch_divisor, frames // change.length_divisor
        rows, head = 2 * count, dim // heads
        params = quantized(change, abstract(shapes(layers, dim, ffn, codebooks), BF16), ("decoder",))
        split = 1 if change.shard == "all" else None
        cache = {name: arrays.array((layers, rows, room, heads, head), BF16, split) for name in "kv"}
        text = {name: arrays.array((layers, rows, words, heads, head), BF16, split) for name in "kv"}

        def generate_frame(params, cache, codes, offset, key, text, text_mask):
            """codes: [requests, codebooks, room + codebooks]"""
            key, sample_key = jax.random.split(key)
            last = jax.lax.dynamic_index_in_dim(codes, offset, axis=2, keepdims=False)
            last = jnp.concatenate([last, last], axis=0)
            x = sum(looked_up(table, last[:, i], BF16) for i, table in enumerate(params["emb"]))
            x = x + sinusoid(jnp.full((rows,), offset), dim).astype(BF16)

            def body(x, xs):
                layer, held, of_text = xs
                return decoder_layer(layer, x, held, of_text, offset, text_mask, heads)
            x, cache = jax.lax.scan(body, x, (params["decoder"], cache, text))
            x = layer_norm(params["out_norm"], x)
            logits = jnp.stack([times(x, w).astype(F32) for w in params["heads"]], axis=1)
            told, untold = jnp.split(logits, 2, axis=0)
            tokens = sampled(sample_key, untold + guidance * (told - untold), top, temperature)
            begun = offset + 1 > jnp.arange(codebooks)
            tokens = jnp.where(begun, tokens, CODES).astype(codes.dtype)
            codes = jax.lax.dynamic_update_slice_in_dim(codes, tokens[:, :, None], offset + 1, axis=2)
            return cache, codes, offset + 1, key, tokens
        codes = arrays.batch((count, codebooks, room + codebooks), jnp.int32)
        return generate_frame, (laid_out(arrays, params, STACKS), cache, codes, arrays.array((), jnp.int32),
                                raw_key(arrays), text, arrays.batch((rows, words), jnp.bool_)), (1, 2)
    return make


FAMILY = {"cup_musicgen_decode": dict(
    make=musicgen(layers=48, dim=2048, heads=32, ffn=8192, codebooks=4, requests=16, frames=1500, words=64),
    is_donated=True,
    variants=("halve_batch", "halve_sequence", "int8_weights", "shard_parameters", "shard_all"))}
