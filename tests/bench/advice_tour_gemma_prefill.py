"""Prefill of Gemma 2 2B: long prompts go into the key/value caches, and the logits of their last tokens come out.

Weights of all layers are stacked, in bfloat16; a lax.scan goes over layers and their slices of the two caches,
[layers, batch, length, kv heads, head]. Every second layer sees a window only; scores and logits are capped.
"""
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from advice_board_changes import laid_out
from advice_board_training import BF16, F32, compute_dtype
from advice_tour_a_parts import lookup, matmul, stored, unembed


class Cache(NamedTuple):
    k: jax.Array
    v: jax.Array


def norm(x, scale):
    var = jnp.mean(jnp.square(x.astype(F32)), axis=-1, keepdims=True)
    return (x * lax.rsqrt(var + 1e-6) * (1 + scale.astype(F32))).astype(x.dtype)


def rope(x, positions, base=10_000):
    """x: [batch, length, heads, head_dim]"""
    half = x.shape[-1] // 2
    timescale = base ** (jnp.arange(half, dtype=F32) / half)
    sinusoid = (positions[..., None] / timescale)[:, :, None, :]
    first, second = x[..., :half].astype(F32), x[..., half:].astype(F32)
    sin, cos = jnp.sin(sinusoid), jnp.cos(sinusoid)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(x.dtype)


def soft_cap(x, cap):
    return jnp.tanh(x / cap) * cap


def attend(q, k, v, mask):
    batch, length, heads, size = q.shape
    q = q.reshape(batch, length, k.shape[2], -1, size) * size ** -0.5
    logits = jnp.einsum("BTKGH,BSKH->BKGTS", q, k).astype(F32)
    logits = jnp.where(mask[:, None, None], soft_cap(logits, 50.0), -2.3819763e38)
    probs = jax.nn.softmax(logits, axis=-1).astype(q.dtype)
    return jnp.einsum("BKGTS,BSKH->BTKGH", probs, v).reshape(batch, length, heads * size)


def gemma_prefill(layers, width, heads, kv_heads, head_dim, hidden, vocab, window, batch, prompt, length, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        words, places = prompt // change.length_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        per_layer = {"pre_attention_norm": (width,), "q": (width, heads * head_dim),
                     "kv": (width, 2 * kv_heads * head_dim), "o": (heads * head_dim, width),
                     "post_attention_norm": (width,), "pre_ffw_norm": (width,), "gating": (width, 2 * hidden),
                     "linear": (hidden, width), "post_ffw_norm": (width,)}
        stack = {name: (layers, *shape) for name, shape in per_layer.items()}
        params = {"embedder": stored((vocab, width), BF16, change.quantized),
                  "layers": stored(stack, BF16, change.quantized, stacked=1),
                  "final_norm": stored((width,), BF16, change.quantized)}

        def layer_of(w, x, positions, mask):
            h = norm(x, w["pre_attention_norm"])
            q = matmul(h, w["q"]).reshape(*h.shape[:2], heads, head_dim)
            k, v = jnp.moveaxis(matmul(h, w["kv"]).reshape(*h.shape[:2], 2, kv_heads, head_dim), 2, 0)
            q, k = rope(q, positions), rope(k, positions)
            x = x + norm(matmul(attend(q, k, v, mask), w["o"]), w["post_attention_norm"])
            gate, up = jnp.split(matmul(norm(x, w["pre_ffw_norm"]), w["gating"]), 2, axis=-1)
            h = matmul(jax.nn.gelu(gate) * up, w["linear"])
            return x + norm(h, w["post_ffw_norm"]), k, v

        def prefill(params, cache, tokens, lengths):
            positions = jnp.broadcast_to(jnp.arange(words), tokens.shape)
            is_past = jnp.arange(words)[None, :] <= jnp.arange(words)[:, None]
            is_near = jnp.arange(words)[None, :] > jnp.arange(words)[:, None] - window
            full = is_past[None] & (positions < lengths[:, None])[:, None, :]
            x = lookup(params["embedder"], tokens, now) * jnp.asarray(width ** 0.5, now)

            def body(x, layer):
                w, is_local, cache_k, cache_v = layer
                x, k, v = layer_of(w, x, positions, full & (is_near | ~is_local))
                cache_k = lax.dynamic_update_slice(cache_k, k.astype(cache_k.dtype), (0, 0, 0, 0))
                cache_v = lax.dynamic_update_slice(cache_v, v.astype(cache_v.dtype), (0, 0, 0, 0))
                return x, Cache(cache_k, cache_v)
            is_local = jnp.arange(layers) % 2 == 0
            x, cache = lax.scan(body, x, (params["layers"], is_local, cache.k, cache.v))
            last = jnp.take_along_axis(x, (lengths - 1)[:, None, None], axis=1)[:, 0]
            logits = unembed(norm(last, params["final_norm"]), params["embedder"])
            return soft_cap(logits, 30.0), cache

        split = 1 if change.shard == "all" else None
        shape = layers, rows, places, kv_heads, head_dim
        cache = Cache(arrays.array(shape, BF16, split), arrays.array(shape, BF16, split))
        tokens, lengths = arrays.batch((rows, words), jnp.int32), arrays.batch((rows,), jnp.int32)
        return prefill, (laid_out(arrays, params, {"layers": 0}), cache, tokens, lengths), (1,)
    return make


FAMILY = {"tour_gemma_prefill": dict(
    make=gemma_prefill(layers=26, width=2304, heads=8, kv_heads=4, head_dim=256, hidden=9216, vocab=256_000,
                       window=2048, batch=16, prompt=4096, length=8192),
    is_donated=True,
    variants=("halve_batch", "halve_sequence", "shard_parameters", "shard_all", "int8_weights"))}
