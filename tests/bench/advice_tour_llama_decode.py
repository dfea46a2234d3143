"""One decode step of a Llama 3.2 3B server: every sequence of the batch gets its next token.

Plain pytrees, bfloat16 weights. Each layer has its own pair (k, v) in a Python list, [batch, length, kv heads, head];
sequences stand at places of their own, so a new key is scattered to one row of each. Sampling is by temperature.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, compute_dtype
from advice_tour_a_parts import lookup, matmul, stored, unembed


def rms_norm(x, weight, eps=1e-5):
    h = x.astype(F32)
    h = h * jax.lax.rsqrt(jnp.mean(h * h, axis=-1, keepdims=True) + eps)
    return h.astype(x.dtype) * weight.astype(x.dtype)


def rotary_tables(positions, head_dim, theta=500_000.0):
    inv_freq = theta ** (-jnp.arange(0, head_dim, 2, dtype=F32) / head_dim)
    angles = positions.astype(F32)[:, None] * inv_freq
    return jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]


def apply_rotary(x, cos, sin):
    """x: [batch, heads, head_dim], the halves rotated against each other."""
    a, b = jnp.split(x.astype(F32), 2, axis=-1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1).astype(x.dtype)


def attention(block, x, cache, positions, rotary, heads, kv_heads):
    batch = x.shape[0]
    k_cache, v_cache = cache
    head_dim = k_cache.shape[-1]
    q = apply_rotary(matmul(x, block["wq"]).reshape(batch, heads, head_dim), *rotary)
    k = apply_rotary(matmul(x, block["wk"]).reshape(batch, kv_heads, head_dim), *rotary)
    v = matmul(x, block["wv"]).reshape(batch, kv_heads, head_dim)

    rows = jnp.arange(batch)
    k_cache = k_cache.at[rows, positions].set(k.astype(k_cache.dtype))
    v_cache = v_cache.at[rows, positions].set(v.astype(v_cache.dtype))

    q = q.reshape(batch, kv_heads, heads // kv_heads, head_dim) * head_dim ** -0.5
    scores = jnp.einsum("bkgd,btkd->bkgt", q, k_cache.astype(q.dtype)).astype(F32)
    is_past = jnp.arange(k_cache.shape[1])[None] <= positions[:, None]
    weights = jax.nn.softmax(jnp.where(is_past[:, None, None], scores, -jnp.inf), axis=-1).astype(q.dtype)
    out = jnp.einsum("bkgt,btkd->bkgd", weights, v_cache.astype(q.dtype))
    return matmul(out.reshape(batch, heads * head_dim), block["wo"]), (k_cache, v_cache)


def feed_forward(block, x):
    return matmul(jax.nn.silu(matmul(x, block["w_gate"])) * matmul(x, block["w_up"]), block["w_down"])


def llama_decode(layers, width, heads, kv_heads, head_dim, hidden, vocab, batch, length, kind=BF16):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        block = {"attn_norm": (width,), "wq": (width, heads * head_dim), "wk": (width, kv_heads * head_dim),
                 "wv": (width, kv_heads * head_dim), "wo": (heads * head_dim, width), "mlp_norm": (width,),
                 "w_gate": (width, hidden), "w_up": (width, hidden), "w_down": (hidden, width)}
        shapes = {"embed": (vocab, width), "blocks": [dict(block) for _ in range(layers)], "norm": (width,)}
        params = laid_out(arrays, stored(shapes, BF16, change.quantized))

        def decode_step(params, caches, tokens, positions, key):
            x = lookup(params["embed"], tokens, now)
            rotary = rotary_tables(positions, head_dim)
            new_caches = []
            for block, cache in zip(params["blocks"], caches):
                normed = rms_norm(x, block["attn_norm"])
                mixed, cache = attention(block, normed, cache, positions, rotary, heads, kv_heads)
                new_caches.append(cache)
                x = x + mixed
                x = x + feed_forward(block, rms_norm(x, block["mlp_norm"]))
            logits = unembed(rms_norm(x, params["norm"]), params["embed"])
            key, sample_key = jax.random.split(key)
            next_tokens = jax.random.categorical(sample_key, logits / 0.7, axis=-1).astype(jnp.int32)
            return next_tokens, new_caches, positions + 1, key

        def cache():
            return arrays.batch((rows, places, kv_heads, head_dim), BF16)
        caches = [(cache(), cache()) for _ in range(layers)]
        ids = arrays.batch((rows,), jnp.int32)
        return decode_step, (params, caches, ids, ids, raw_key(arrays)), (1,)
    return make


FAMILY = {"tour_llama_decode": dict(
    make=llama_decode(layers=28, width=3072, heads=24, kv_heads=8, head_dim=128, hidden=8192, vocab=128256,
                      batch=48, length=4096),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "halve_batch", "halve_sequence", "shard_parameters",
              "shard_all", "int8_weights"))}
