"""Jais (13B, Arabic and English) answers: one decode step of a batched server, in plain JAX.

GPT-2's blocks with ALiBi instead of places, SwiGLU and muP's factors. Forty layers are stacked and scanned over; the
caches [layers, rows, room, heads, head] go in as the scan's xs and come out as its ys. All is bfloat16, drawn from
the best 50 of the next tokens. What goes in is not donated.
"""
import math

import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import against, looked_up, quantized, times

LAYERS, WIDTH, HEADS, INNER, VOCAB = 40, 5120, 40, 13653, 84992
HEAD = WIDTH // HEADS
EMBEDDINGS_SCALE, LOGITS_SCALE = 14.6, 0.11100000000000002
EOS = 0


def shapes():
    norm = {"g": (LAYERS, WIDTH), "b": (LAYERS, WIDTH)}
    blocks = {
        "ln_1": norm,
        "attn": {"c_attn": (LAYERS, WIDTH, 3 * WIDTH), "b_attn": (LAYERS, 3 * WIDTH),
                 "c_proj": (LAYERS, WIDTH, WIDTH), "b_proj": (LAYERS, WIDTH)},
        "ln_2": norm,
        "mlp": {"c_fc": (LAYERS, WIDTH, INNER), "b_fc": (LAYERS, INNER),
                "c_fc2": (LAYERS, WIDTH, INNER), "b_fc2": (LAYERS, INNER),
                "c_proj": (LAYERS, INNER, WIDTH), "b_proj": (LAYERS, WIDTH)},
    }
    return {"wte": (VOCAB, WIDTH), "blocks": blocks, "ln_f": {"g": (WIDTH,), "b": (WIDTH,)}}


def alibi_slopes(heads):
    def of_power(n):
        start = 2.0 ** (-2.0 ** -(math.log2(n) - 3))
        return [start ** (i + 1) for i in range(n)]
    near = 2 ** math.floor(math.log2(heads))
    return np.array(of_power(near) + of_power(2 * near)[0::2][:heads - near], np.float32)


def layer_norm(p, x, eps=1e-5):
    y = x.astype(F32)
    mean = jnp.mean(y, -1, keepdims=True)
    var = jnp.var(y, -1, keepdims=True)
    y = (y - mean) * jax.lax.rsqrt(var + eps)
    return (y * p["g"].astype(F32) + p["b"].astype(F32)).astype(x.dtype)


def attention(p, x, k_cache, v_cache, positions, bias):
    """x: [rows, width]; caches: [rows, room, heads, head]; bias: [rows, heads, room]"""
    rows = x.shape[0]
    qkv = times(x, p["c_attn"]) + p["b_attn"]
    q, k, v = (part.reshape(rows, HEADS, HEAD) for part in jnp.split(qkv, 3, axis=-1))
    row = jnp.arange(rows)
    k_cache = k_cache.at[row, positions].set(k)
    v_cache = v_cache.at[row, positions].set(v)
    scores = jnp.einsum("bhd,bthd->bht", q, k_cache, preferred_element_type=F32) / HEAD + bias
    weights = jax.nn.softmax(scores, axis=-1).astype(x.dtype)
    out = jnp.einsum("bht,bthd->bhd", weights, v_cache).reshape(rows, WIDTH)
    return times(out, p["c_proj"]) + p["b_proj"], k_cache, v_cache


def mlp(p, x):
    up = times(x, p["c_fc"]) + p["b_fc"]
    gate = times(x, p["c_fc2"]) + p["b_fc2"]
    return times(up * jax.nn.silu(gate), p["c_proj"]) + p["b_proj"]


def decode(params, cache, tokens, positions):
    """Of one token a row: logits, and the caches with it."""
    room = cache["k"].shape[2]
    x = looked_up(params["wte"], tokens, BF16) * EMBEDDINGS_SCALE
    past = jnp.arange(room)[None, :] - positions[:, None]
    bias = jnp.asarray(alibi_slopes(HEADS))[None, :, None] * past[:, None, :].astype(F32)
    bias = jnp.where(past[:, None, :] <= 0, bias, jnp.finfo(F32).min)

    def block(x, layer):
        p, k_cache, v_cache = layer
        out, k_cache, v_cache = attention(p["attn"], layer_norm(p["ln_1"], x), k_cache, v_cache, positions, bias)
        x = x + out
        x = x + mlp(p["mlp"], layer_norm(p["ln_2"], x))
        return x, (k_cache, v_cache)

    x, (keys, values) = jax.lax.scan(block, x, (params["blocks"], cache["k"], cache["v"]))
    x = layer_norm(params["ln_f"], x)
    return against(x, params["wte"]) * LOGITS_SCALE, {"k": keys, "v": values}


def sample(key, logits, temperature, top_k):
    best, which = jax.lax.top_k(logits / temperature, top_k)
    drawn = jax.random.categorical(key, best)
    return jnp.take_along_axis(which, drawn[:, None], axis=-1)[:, 0]


def server(batch, room, temperature=0.3, top_k=50):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, room // change.length_divisor
        params = quantized(change, abstract(shapes(), BF16), stacked=("blocks",))
        split = 1 if change.shard == "all" else None
        cache = {name: arrays.array((LAYERS, rows, places, HEADS, HEAD), BF16, split) for name in ("k", "v")}

        def decode_step(params, cache, tokens, positions, finished, key):
            key, now = jax.random.split(key)
            logits, cache = decode(params, cache, tokens, positions)
            chosen = sample(now, logits, temperature, top_k).astype(tokens.dtype)
            chosen = jnp.where(finished, EOS, chosen)
            finished = finished | (chosen == EOS)
            positions = jnp.where(finished, positions, positions + 1)
            return cache, chosen, positions, finished, key

        return decode_step, (laid_out(arrays, params, {"blocks": 0}), cache, arrays.batch((rows,), jnp.int32),
                             arrays.batch((rows,), jnp.int32), arrays.batch((rows,), jnp.bool_),
                             raw_key(arrays)), (1, 2, 3, 4, 5)
    return make


FAMILY = {"crown_jais_decode": dict(
    make=server(batch=16, room=1024), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "halve_batch", "halve_sequence", "int8_weights",
              "shard_parameters", "shard_all"))}
