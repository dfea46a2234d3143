"""SOLAR (10.7B, upstage) is served: one decode step of 48 Llama layers with grouped queries, scaled up from Mistral.

Plain JAX; weights are stacked over the layers and so are the caches [layers, rows, room, kv heads, head]: one lax.scan
takes a layer's weights and caches as xs and gives the caches back as ys. All bfloat16; top-k sampling; nothing donated.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import looked_up, quantized, times

LAYERS, DIM, HEADS, KV_HEADS, HIDDEN, VOCAB = 48, 4096, 32, 8, 14336, 32000
HEAD_DIM, EOS = DIM // HEADS, 2


def shapes():
    layers = {"input_norm": (DIM,), "post_norm": (DIM,), "q_proj": (DIM, DIM), "k_proj": (DIM, KV_HEADS * HEAD_DIM),
              "v_proj": (DIM, KV_HEADS * HEAD_DIM), "o_proj": (DIM, DIM), "gate_proj": (DIM, HIDDEN),
              "up_proj": (DIM, HIDDEN), "down_proj": (HIDDEN, DIM)}
    return {"embed_tokens": (VOCAB, DIM), "layers": {name: (LAYERS, *shape) for name, shape in layers.items()},
            "norm": (DIM,), "lm_head": (DIM, VOCAB)}


def rms_norm(weight, x, eps=1e-5):
    x32 = x.astype(F32)
    x32 = x32 * jax.lax.rsqrt(jnp.mean(jnp.square(x32), -1, keepdims=True) + eps)
    return weight * x32.astype(x.dtype)


def rope(positions, theta=10000.0):
    """cos and sin, [rows, 1, head]: one place of each row."""
    inv_freq = theta ** (-jnp.arange(0, HEAD_DIM, 2, dtype=F32) / HEAD_DIM)
    angles = positions[:, None].astype(F32) * inv_freq
    angles = jnp.concatenate([angles, angles], -1)[:, None]
    return jnp.cos(angles).astype(BF16), jnp.sin(angles).astype(BF16)


def rotated(x, cos, sin):
    first, second = jnp.split(x, 2, -1)
    return x * cos + jnp.concatenate([-second, first], -1) * sin


def attention(p, x, k_cache, v_cache, positions, cos, sin):
    rows, room = k_cache.shape[:2]
    q = rotated(times(x, p["q_proj"]).reshape(rows, HEADS, HEAD_DIM), cos, sin)
    k = rotated(times(x, p["k_proj"]).reshape(rows, KV_HEADS, HEAD_DIM), cos, sin)
    v = times(x, p["v_proj"]).reshape(rows, KV_HEADS, HEAD_DIM)
    row = jnp.arange(rows)
    k_cache = k_cache.at[row, positions].set(k)
    v_cache = v_cache.at[row, positions].set(v)
    q = q.reshape(rows, KV_HEADS, HEADS // KV_HEADS, HEAD_DIM)
    scores = jnp.einsum("bkgd,btkd->bkgt", q, k_cache, preferred_element_type=F32) * HEAD_DIM ** -0.5
    visible = jnp.arange(room)[None] <= positions[:, None]
    scores = jnp.where(visible[:, None, None], scores, jnp.finfo(F32).min)
    weights = jax.nn.softmax(scores, -1).astype(x.dtype)
    out = jnp.einsum("bkgt,btkd->bkgd", weights, v_cache).reshape(rows, DIM)
    return times(out, p["o_proj"]), k_cache, v_cache


def forward(params, tokens, caches, positions):
    cos, sin = rope(positions)

    def layer(x, given):
        p, k_cache, v_cache = given
        y, k_cache, v_cache = attention(p, rms_norm(p["input_norm"], x), k_cache, v_cache, positions, cos, sin)
        x = x + y
        y = rms_norm(p["post_norm"], x)
        y = times(jax.nn.silu(times(y, p["gate_proj"])) * times(y, p["up_proj"]), p["down_proj"])
        return x + y, (k_cache, v_cache)

    x = looked_up(params["embed_tokens"], tokens, BF16)
    x, (k, v) = jax.lax.scan(layer, x, (params["layers"], caches["k"], caches["v"]))
    return times(rms_norm(params["norm"], x), params["lm_head"]).astype(F32), {"k": k, "v": v}


def sampled(key, logits, k=50, temperature=0.8):
    best, ids = jax.lax.top_k(logits / temperature, k)
    choice = jax.random.categorical(key, best)
    return jnp.take_along_axis(ids, choice[:, None], -1)[:, 0]


def server(batch, room):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, room // change.length_divisor
        params = quantized(change, abstract(shapes(), BF16), stacked=("layers",))
        split = 1 if change.shard == "all" else None
        caches = {name: arrays.array((LAYERS, rows, places, KV_HEADS, HEAD_DIM), BF16, split) for name in "kv"}

        def decode_step(params, caches, tokens, positions, is_done, key):
            key, now = jax.random.split(key)
            logits, caches = forward(params, tokens, caches, positions)
            following = jnp.where(is_done, EOS, sampled(now, logits)).astype(tokens.dtype)
            return caches, following, positions + 1, is_done | (following == EOS), key

        return decode_step, (laid_out(arrays, params, {"layers": 0}), caches, arrays.batch((rows,), jnp.int32),
                             arrays.batch((rows,), jnp.int32), arrays.batch((rows,), jnp.bool_),
                             raw_key(arrays)), (1, 2, 3, 4, 5)
    return make


FAMILY = {"crown_solar_decode": dict(
    make=server(batch=32, room=2048), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "halve_batch", "halve_sequence", "int8_weights",
              "shard_parameters", "shard_all"))}
