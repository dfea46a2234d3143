"""One step of serving Granite 3.1 8B: a token for each of the requests in a batch, in bfloat16.

Plain functions over named tuples. Keys and values of all layers lie in two arrays, [layers, batch, length, heads,
size], which a scan over the layers takes one by one and gives back. Granite multiplies what it embeds, what each branch
adds and its scores, and divides its logits; its embedding is its head.
"""
from typing import NamedTuple

import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract, compute_dtype
from advice_round_d_parts import against, looked_up, quantized, times


class Layer(NamedTuple):
    attn_norm: jax.Array
    wq: jax.Array
    wk: jax.Array
    wv: jax.Array
    wo: jax.Array
    mlp_norm: jax.Array
    w_gate: jax.Array
    w_up: jax.Array
    w_down: jax.Array


class Granite(NamedTuple):
    embed: jax.Array
    layers: Layer           # each with a leading axis of layers
    final_norm: jax.Array


class KVCache(NamedTuple):
    k: jax.Array
    v: jax.Array


class Config(NamedTuple):
    layers: int
    width: int
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    vocab: int
    rope_theta: float = 10_000_000.0
    embedding_multiplier: float = 12.0
    residual_multiplier: float = 0.22
    attention_multiplier: float = 0.0078125
    logits_scaling: float = 16.0


def shapes_of(c):
    return Granite(
        embed=(c.vocab, c.width),
        layers=Layer(
            attn_norm=(c.layers, c.width),
            wq=(c.layers, c.width, c.heads * c.head_dim),
            wk=(c.layers, c.width, c.kv_heads * c.head_dim),
            wv=(c.layers, c.width, c.kv_heads * c.head_dim),
            wo=(c.layers, c.heads * c.head_dim, c.width),
            mlp_norm=(c.layers, c.width),
            w_gate=(c.layers, c.width, c.hidden),
            w_up=(c.layers, c.width, c.hidden),
            w_down=(c.layers, c.hidden, c.width)),
        final_norm=(c.width,))


def abstract_params(c, kind):
    shapes = shapes_of(c)
    return Granite(abstract(shapes.embed, kind), Layer(*(abstract(shape, kind) for shape in shapes.layers)),
                   abstract(shapes.final_norm, kind))


def rms_norm(x, scale, eps=1e-5):
    wide = x.astype(F32)
    wide = wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), axis=-1, keepdims=True) + eps)
    return wide.astype(x.dtype) * scale.astype(x.dtype)


def rope(x, positions, theta):
    """x: [batch, heads, size]; a position for each row."""
    half = x.shape[-1] // 2
    frequencies = theta ** (-jnp.arange(half, dtype=F32) / half)
    angles = positions[:, None, None].astype(F32) * frequencies
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    a, b = x[..., :half].astype(F32), x[..., half:].astype(F32)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1).astype(x.dtype)


def attend(q, k_cache, v_cache, positions, scale):
    rows, heads, size = q.shape
    kv_heads = k_cache.shape[2]
    q = q.reshape(rows, kv_heads, heads // kv_heads, size)
    scores = jnp.einsum("bkgd,btkd->bkgt", q, k_cache, preferred_element_type=F32) * scale
    seen = jnp.arange(k_cache.shape[1]) <= positions[:, None]
    scores = jnp.where(seen[:, None, None, :], scores, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=-1).astype(v_cache.dtype)
    return jnp.einsum("bkgt,btkd->bkgd", weights, v_cache).reshape(rows, heads * size)


def forward_one(c, params, cache, tokens, positions, kind):
    """Logits [batch, vocab] of the token after these, and the cache with their keys and values."""
    rows = jnp.arange(tokens.shape[0])
    x = looked_up(params.embed, tokens, kind) * c.embedding_multiplier

    def body(x, given):
        layer, k_cache, v_cache = given
        h = rms_norm(x, layer.attn_norm)
        q = times(h, layer.wq).reshape(-1, c.heads, c.head_dim)
        k = times(h, layer.wk).reshape(-1, c.kv_heads, c.head_dim)
        v = times(h, layer.wv).reshape(-1, c.kv_heads, c.head_dim)
        q, k = rope(q, positions, c.rope_theta), rope(k, positions, c.rope_theta)
        k_cache = k_cache.at[rows, positions].set(k.astype(k_cache.dtype))
        v_cache = v_cache.at[rows, positions].set(v.astype(v_cache.dtype))
        mixed = attend(q, k_cache, v_cache, positions, c.attention_multiplier).astype(x.dtype)
        x = x + times(mixed, layer.wo) * c.residual_multiplier
        h = rms_norm(x, layer.mlp_norm)
        h = jax.nn.silu(times(h, layer.w_gate)) * times(h, layer.w_up)
        return x + times(h, layer.w_down) * c.residual_multiplier, (k_cache, v_cache)

    x, (k, v) = jax.lax.scan(body, x, (params.layers, cache.k, cache.v))
    logits = against(rms_norm(x, params.final_norm), params.embed) / c.logits_scaling
    return logits, KVCache(k, v)


def granite_decode(config, batch, length, temperature=0.7, top_k=50):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, length // change.length_divisor
        kind = compute_dtype(change, BF16)
        params = quantized(change, abstract_params(config, BF16), stacked=("layers",))

        def decode_step(params, cache, tokens, positions, key):
            logits, cache = forward_one(config, params, cache, tokens, positions, kind)
            best, which = jax.lax.top_k(logits / temperature, top_k)
            chosen = jax.random.categorical(key, best, axis=-1)
            tokens = jnp.take_along_axis(which, chosen[:, None], axis=-1)[:, 0]
            return tokens, positions + 1, cache
        one = arrays.array((config.layers, rows, places, config.kv_heads, config.head_dim), BF16,
                           1 if change.shard == "all" else None)
        each = arrays.batch((rows,), jnp.int32)
        arguments = laid_out(arrays, params, {"layers": 0}), KVCache(one, one), each, each, raw_key(arrays)
        return decode_step, arguments, (1,)
    return make


FAMILY = {"round_granite": dict(
    make=granite_decode(Config(40, 4096, 32, 8, 128, 12800, 49155), batch=32, length=4096), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "halve_batch", "halve_sequence", "shard_parameters",
              "shard_all", "int8_weights"))}
