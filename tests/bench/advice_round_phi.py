"""Phi-1.5 reads prompts: a prefill that fills the caches of its layers and gives the logits of each last token.

A dictionary of weights by their published names, layers one by one in Python, a dictionary of caches with places for
what is to be written. Weights are kept in float32, as they were loaded, and everything is computed in bfloat16.
"""
import math

import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, specs
from advice_board_training import BF16, F32, cast, compute_dtype
from advice_round_d_parts import looked_up, quantized, times


def phi_shapes(layers, width, hidden, vocab):
    def linear(inputs, outputs):
        return {"kernel": (inputs, outputs), "bias": (outputs,)}

    def norm():
        return {"scale": (width,), "bias": (width,)}
    shapes = {"embed_tokens": (vocab, width), "final_layernorm": norm(), "lm_head": linear(width, vocab)}
    for i in range(layers):
        shapes[f"layers_{i}"] = {
            "input_layernorm": norm(),
            "self_attn": {name: linear(width, width) for name in ("q_proj", "k_proj", "v_proj", "dense")},
            "mlp": {"fc1": linear(width, hidden), "fc2": linear(hidden, width)}}
    return shapes


def dense(p, x):
    return times(x, p["kernel"]) + p["bias"].astype(x.dtype)


def layer_norm(p, x, epsilon=1e-5):
    wide = x.astype(F32)
    mean = wide.mean(axis=-1, keepdims=True)
    variance = jnp.var(wide, axis=-1, keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(variance + epsilon) * p["scale"] + p["bias"]).astype(x.dtype)


def rotary_tables(length, dims):
    inverse = 1.0 / 10_000.0 ** (jnp.arange(0, dims, 2, dtype=F32) / dims)
    angles = jnp.einsum("t,f->tf", jnp.arange(length, dtype=F32), inverse)
    return jnp.cos(angles)[None, :, None, :], jnp.sin(angles)[None, :, None, :]


def rotate(x, cos, sin):
    half = cos.shape[-1]
    a, b, rest = x[..., :half], x[..., half:2 * half], x[..., 2 * half:]
    cos, sin = cos.astype(x.dtype), sin.astype(x.dtype)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin, rest], axis=-1)


def self_attention(p, x, cache, cos, sin, mask, heads):
    batch, length, width = x.shape

    def heads_of(y):
        return y.reshape(batch, length, heads, width // heads)
    q = rotate(heads_of(dense(p["q_proj"], x)), cos, sin)
    k = rotate(heads_of(dense(p["k_proj"], x)), cos, sin)
    v = heads_of(dense(p["v_proj"], x))
    cache = {"key": jax.lax.dynamic_update_slice(cache["key"], k.astype(cache["key"].dtype), (0, 0, 0, 0)),
             "value": jax.lax.dynamic_update_slice(cache["value"], v.astype(cache["value"].dtype), (0, 0, 0, 0))}
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) / math.sqrt(width // heads)
    probabilities = jax.nn.softmax(jnp.where(mask, scores, -1e30), axis=-1).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", probabilities, v).reshape(batch, length, width)
    return dense(p["dense"], mixed), cache


def mlp(p, x):
    return dense(p["fc2"], jax.nn.gelu(dense(p["fc1"], x), approximate=True))


def prefill(params, cache, tokens, lengths, *, layers, heads, rotary_dims, kind):
    """tokens: [batch, length], with anything after the first lengths[i] of row i."""
    length = tokens.shape[1]
    x = looked_up(params["embed_tokens"], tokens, kind)
    cos, sin = rotary_tables(length, rotary_dims)
    places = jnp.arange(length)
    mask = (places[None, :, None] >= places[None, None, :]) & (places[None, None, :] < lengths[:, None, None])
    mask = mask[:, None]
    filled = {}
    for i in range(layers):
        name = f"layers_{i}"
        layer = params[name]
        with jax.named_scope(name):
            h = layer_norm(layer["input_layernorm"], x)
            mixed, filled[name] = self_attention(layer["self_attn"], h, cache[name], cos, sin, mask, heads)
            x = x + mixed + mlp(layer["mlp"], h)
    last = jnp.take_along_axis(x, (lengths - 1)[:, None, None], axis=1)[:, 0]
    logits = dense(params["lm_head"], layer_norm(params["final_layernorm"], last))
    return logits.astype(F32), filled


def phi_prefill(layers, width, heads, hidden, vocab, batch, prompt, places, rotary_dims=32):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        words, room = prompt // change.length_divisor, places // change.length_divisor
        kind = compute_dtype(change, BF16)
        params = quantized(change, cast(specs(phi_shapes(layers, width, hidden, vocab)), change.stored))

        def step(params, cache, tokens, lengths):
            return prefill(params, cache, tokens, lengths, layers=layers, heads=heads, rotary_dims=rotary_dims,
                           kind=kind)
        cache = {f"layers_{i}": {name: arrays.batch((rows, room, heads, width // heads), BF16)
                                 for name in ("key", "value")} for i in range(layers)}
        tokens, lengths = arrays.batch((rows, words), jnp.int32), arrays.batch((rows,), jnp.int32)
        return step, (laid_out(arrays, params), cache, tokens, lengths), (1,)
    return make


FAMILY = {"round_phi": dict(
    make=phi_prefill(24, 2048, 32, 8192, 51200, batch=32, prompt=1536, places=2048), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch",
              "halve_sequence", "shard_parameters", "shard_all", "int8_weights"))}
