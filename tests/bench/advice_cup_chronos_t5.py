"""Chronos (T5 large) forecasts: one step of sampling, twenty paths for each of 48 series.

Plain JAX, weights and caches in bfloat16. Layers of the decoder are stacked and scanned with their caches as the scan's
inputs and outputs; the paths of a series share its keys and values of 512 encoded values. Next bins are sampled among
the top fifty, and turned back into values by their centers and each series' scale. Caches are donated.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import looked_up, quantized, times

STACKED = {"decoder": 0}
BUCKETS, FARTHEST, LIMIT, SPECIAL = 32, 128, 15.0, 2


def decoder_shapes(layers, d_model, heads, d_kv, d_ff, vocab):
    inner = heads * d_kv
    return {
        "shared": (vocab, d_model),
        "relative_bias": (BUCKETS, heads),
        "decoder": {
            "self_norm": (layers, d_model), "self_q": (layers, d_model, inner), "self_k": (layers, d_model, inner),
            "self_v": (layers, d_model, inner), "self_o": (layers, inner, d_model),
            "cross_norm": (layers, d_model), "cross_q": (layers, d_model, inner),
            "cross_o": (layers, inner, d_model),
            "ff_norm": (layers, d_model), "wi": (layers, d_model, d_ff), "wo": (layers, d_ff, d_model),
        },
        "final_norm": (d_model,),
        "lm_head": (d_model, vocab),
    }


def rms(x, scale):
    y = x.astype(F32)
    return (y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(x.dtype) * scale.astype(x.dtype)


def buckets_of(distance):
    """T5's, of a decoder: exact ones first, then by logarithm."""
    exact = BUCKETS // 2
    far = exact + (jnp.log(jnp.maximum(distance, 1) / exact) / np.log(FARTHEST / exact) * exact).astype(jnp.int32)
    return jnp.where(distance < exact, distance, jnp.minimum(far, BUCKETS - 1))


def decode(params, self_cache, cross_cache, cross_mask, tokens, step, heads, d_kv):
    series, paths = tokens.shape
    room = self_cache["k"].shape[3]
    distance = jnp.maximum(step - jnp.arange(room), 0)
    bias = looked_up(params["relative_bias"], buckets_of(distance), F32).T
    bias = jnp.where(jnp.arange(room) <= step, bias, -1e9)
    x = looked_up(params["shared"], tokens, BF16)

    def split(y):
        return y.reshape(series, paths, heads, d_kv)

    def layer(x, given):
        p, own, cross = given
        y = rms(x, p["self_norm"])
        own = {name: jax.lax.dynamic_update_slice_in_dim(
            own[name], split(times(y, p[f"self_{name}"]))[:, :, None], step, axis=2) for name in ("k", "v")}
        scores = jnp.einsum("sphd,spthd->spht", split(times(y, p["self_q"])), own["k"], preferred_element_type=F32)
        weights = jax.nn.softmax(scores + bias, -1).astype(x.dtype)
        mixed = jnp.einsum("spht,spthd->sphd", weights, own["v"])
        x = x + times(mixed.reshape(series, paths, -1), p["self_o"])
        y = rms(x, p["cross_norm"])
        scores = jnp.einsum("sphd,schd->shpc", split(times(y, p["cross_q"])), cross["k"], preferred_element_type=F32)
        scores = jnp.where(cross_mask[:, None, None], scores, -1e9)
        weights = jax.nn.softmax(scores, -1).astype(x.dtype)
        mixed = jnp.einsum("shpc,schd->sphd", weights, cross["v"])
        x = x + times(mixed.reshape(series, paths, -1), p["cross_o"])
        y = rms(x, p["ff_norm"])
        return x + times(jax.nn.relu(times(y, p["wi"])), p["wo"]), own
    x, self_cache = jax.lax.scan(layer, x, (params["decoder"], self_cache, cross_cache))
    x = rms(x, params["final_norm"])
    return times(x, params["lm_head"]).astype(F32), self_cache


def sampled(key, logits, temperature, top_k):
    best, bins = jax.lax.top_k(logits / temperature, top_k)
    choice = jax.random.categorical(key, best)
    return jnp.take_along_axis(bins, choice[..., None], -1)[..., 0]


def forecast(layers, d_model, heads, d_kv, d_ff, vocab, series, paths, context, horizon, temperature=1.0, top_k=50):
    def make(arrays, change):
        rows, seen = series // change.batch_divisor, context // change.length_divisor
        room = horizon // change.length_divisor
        params = abstract(decoder_shapes(layers, d_model, heads, d_kv, d_ff, vocab), BF16)
        params = quantized(change, params, tuple(STACKED))
        split = 1 if change.shard == "all" else None
        own = {name: arrays.array((layers, rows, paths, room, heads, d_kv), BF16, split) for name in ("k", "v")}
        cross = {name: arrays.array((layers, rows, seen, heads, d_kv), BF16, split) for name in ("k", "v")}
        centers = np.linspace(-LIMIT, LIMIT, vocab - SPECIAL).astype(np.float32)

        def forecast_step(params, self_cache, values, cross_cache, cross_mask, tokens, scale, step, key):
            logits, self_cache = decode(params, self_cache, cross_cache, cross_mask, tokens, step, heads, d_kv)
            logits = logits.at[..., :SPECIAL].set(-1e9)
            key, use = jax.random.split(key)
            tokens = sampled(use, logits, temperature, top_k)
            now = jnp.asarray(centers)[tokens - SPECIAL] * scale[:, None]
            values = jax.lax.dynamic_update_slice_in_dim(values, now[..., None], step, axis=2)
            return self_cache, values, tokens, step + 1, key
        return forecast_step, (laid_out(arrays, params, STACKED), own, arrays.batch((rows, paths, room), F32), cross,
                               arrays.batch((rows, seen), jnp.bool_), arrays.batch((rows, paths), jnp.int32),
                               arrays.batch((rows,), F32), arrays.array((), jnp.int32), raw_key(arrays)), (1, 2)
    return make


FAMILY = {"cup_chronos_t5": dict(
    make=forecast(layers=24, d_model=1024, heads=16, d_kv=64, d_ff=4096, vocab=4096, series=48, paths=20, context=512,
                  horizon=64),
    is_donated=True,
    variants=("halve_batch", "halve_sequence", "int8_weights", "shard_parameters", "shard_all"))}
