"""Pix2Struct (large, DocVQA) answers questions about pages: one greedy step of its text decoder for a batch of pages.

Plain JAX; dictionaries of bfloat16 weights and of caches, 18 layers in a Python loop. Each layer reads its own cache
[rows, room, heads, head] and the keys and values of 2048 patches, which stay as they are. Nothing is donated.
"""
import math

import jax
import jax.numpy as jnp

from advice_board_changes import laid_out
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import looked_up, quantized, times

VOCAB, HIDDEN, HEADS, D_KV, D_FF, LAYERS = 50244, 1536, 24, 64, 3968, 18
BUCKETS, FAR, EOS, PAD = 32, 128, 1, 0


def shapes():
    inner = HEADS * D_KV

    def attention():
        return {"query": (HIDDEN, inner), "key": (HIDDEN, inner), "value": (HIDDEN, inner), "output": (inner, HIDDEN)}

    def layer(i):
        cross = attention()
        del cross["key"], cross["value"]  # applied to the patches once, before the first step
        return {"self_attention": attention(), "self_norm": (HIDDEN,), "cross_attention": cross,
                "cross_norm": (HIDDEN,), "mlp": {"wi_0": (HIDDEN, D_FF), "wi_1": (HIDDEN, D_FF), "wo": (D_FF, HIDDEN)},
                "mlp_norm": (HIDDEN,)}
    return {"embed_tokens": (VOCAB, HIDDEN), "relative_attention_bias": (BUCKETS, HEADS),
            "layers": {f"layer_{i}": layer(i) for i in range(LAYERS)},
            "final_norm": (HIDDEN,), "lm_head": (HIDDEN, VOCAB)}


def rms_norm(weight, x, eps=1e-6):
    x32 = x.astype(F32)
    x32 = x32 * jax.lax.rsqrt(jnp.mean(jnp.square(x32), -1, keepdims=True) + eps)
    return weight * x32.astype(weight.dtype)


def position_bias(table, position, room):
    """[1, heads, room]: of one query at `position`, by how long ago a key was."""
    ago = jnp.maximum(position - jnp.arange(room), 0)
    exact = BUCKETS // 2
    large = exact + (jnp.log(jnp.maximum(ago, 1) / exact) / math.log(FAR / exact) * (BUCKETS - exact)).astype(jnp.int32)
    bucket = jnp.where(ago < exact, ago, jnp.minimum(large, BUCKETS - 1))
    bias = looked_up(table, bucket, F32).T
    return jnp.where(jnp.arange(room) <= position, bias, jnp.finfo(F32).min)[None]


def heads_of(x):
    return x.reshape(*x.shape[:-1], HEADS, D_KV)


def attend(q, keys, values, bias):
    """q: [rows, heads, d]; keys and values: [rows, places, heads, d]. T5 does not scale its scores."""
    scores = jnp.einsum("bhd,bthd->bht", q, keys, preferred_element_type=F32) + bias
    weights = jax.nn.softmax(scores, -1).astype(values.dtype)
    return jnp.einsum("bht,bthd->bhd", weights, values).reshape(q.shape[0], HEADS * D_KV)


def self_attention(p, x, cache, position, bias):
    q, k, v = (heads_of(times(x, p[name])) for name in ("query", "key", "value"))
    cache = {"key": jax.lax.dynamic_update_slice_in_dim(cache["key"], k[:, None], position, 1),
             "value": jax.lax.dynamic_update_slice_in_dim(cache["value"], v[:, None], position, 1)}
    return times(attend(q, cache["key"], cache["value"], bias), p["output"]), cache


def cross_attention(p, x, patches, bias):
    q = heads_of(times(x, p["query"]))
    return times(attend(q, patches["key"], patches["value"], bias), p["output"])


def mlp(p, x):
    return times(jax.nn.gelu(times(x, p["wi_0"])) * times(x, p["wi_1"]), p["wo"])


def decode(params, caches, patches, patch_mask, tokens, position):
    x = looked_up(params["embed_tokens"], tokens, BF16)
    room = caches["layer_0"]["key"].shape[1]
    bias = position_bias(params["relative_attention_bias"], position, room)
    patch_bias = jnp.where(patch_mask, 0.0, jnp.finfo(F32).min)[:, None]
    new = {}
    for name in (f"layer_{i}" for i in range(LAYERS)):
        p = params["layers"][name]
        y, new[name] = self_attention(p["self_attention"], rms_norm(p["self_norm"], x), caches[name], position, bias)
        x = x + y
        x = x + cross_attention(p["cross_attention"], rms_norm(p["cross_norm"], x), patches[name], patch_bias)
        x = x + mlp(p["mlp"], rms_norm(p["mlp_norm"], x))
    x = rms_norm(params["final_norm"], x)
    return times(x, params["lm_head"]).astype(F32), new


def server(batch, room, patch_count):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, room // change.length_divisor
        seen = patch_count // change.length_divisor
        params = quantized(change, abstract(shapes(), BF16))
        split = 0 if change.shard == "all" else None

        def empty(length):
            return {f"layer_{i}": {name: arrays.array((rows, length, HEADS, D_KV), BF16, split)
                                   for name in ("key", "value")} for i in range(LAYERS)}

        def decode_step(params, caches, tokens, scores, is_done, position, patches, patch_mask):
            logits, caches = decode(params, caches, patches, patch_mask, tokens, position)
            log_probs = jax.nn.log_softmax(logits, -1)
            following = jnp.argmax(log_probs, -1).astype(tokens.dtype)
            gained = jnp.take_along_axis(log_probs, following[:, None], -1)[:, 0]
            following = jnp.where(is_done, PAD, following)
            scores = scores + jnp.where(is_done, 0.0, gained)
            return caches, following, scores, is_done | (following == EOS), position + 1

        return decode_step, (laid_out(arrays, params), empty(places), arrays.batch((rows,), jnp.int32),
                             arrays.array((rows,), F32, split), arrays.batch((rows,), jnp.bool_),
                             arrays.array((), jnp.int32), empty(seen),
                             arrays.batch((rows, seen), jnp.bool_)), (1, 2, 3, 4, 5)
    return make


FAMILY = {"crown_pix2struct_decode": dict(
    make=server(batch=64, room=256, patch_count=2048), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "halve_batch", "halve_sequence", "int8_weights",
              "shard_parameters", "shard_all"))}
