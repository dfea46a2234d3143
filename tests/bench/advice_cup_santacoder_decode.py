"""SantaCoder (1.1 billion weights) completes code: one decode step for many rows, each at a place of its own.

Plain jax, 24 layers in a loop, attention with a single head of keys and values that all query heads share; keys and
values of a layer lie side by side in one cache. Weights and caches in bfloat16, sampling from the fifty best tokens
at a temperature. The caches are not donated.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import against, looked_up, quantized, times


def weights(n_layer, n_embd, head_dim, n_positions, vocab):
    def layer():
        return {
            "ln_1": {"scale": (n_embd,), "bias": (n_embd,)},
            "c_attn": {"kernel": (n_embd, n_embd + 2 * head_dim), "bias": (n_embd + 2 * head_dim,)},
            "attn_proj": {"kernel": (n_embd, n_embd), "bias": (n_embd,)},
            "ln_2": {"scale": (n_embd,), "bias": (n_embd,)},
            "c_fc": {"kernel": (n_embd, 4 * n_embd), "bias": (4 * n_embd,)},
            "mlp_proj": {"kernel": (4 * n_embd, n_embd), "bias": (n_embd,)},
        }
    return {"wte": (vocab, n_embd), "wpe": (n_positions, n_embd), "h": [layer() for _ in range(n_layer)],
            "ln_f": {"scale": (n_embd,), "bias": (n_embd,)}}


def layer_norm(p, x):
    h = x.astype(F32)
    h = (h - h.mean(-1, keepdims=True)) / jnp.sqrt(h.var(-1, keepdims=True) + 1e-5)
    return (h * p["scale"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def dense(p, x):
    return times(x, p["kernel"]) + p["bias"].astype(x.dtype)


def attend(p, x, kv_cache, position, n_head):
    rows, n_embd = x.shape
    head_dim = n_embd // n_head
    q, kv = jnp.split(dense(p["c_attn"], x), [n_embd], axis=-1)
    kv_cache = kv_cache.at[jnp.arange(rows), position].set(kv.astype(kv_cache.dtype))
    k, v = kv_cache[..., :head_dim], kv_cache[..., head_dim:]
    q = q.reshape(rows, n_head, head_dim) * head_dim ** -0.5
    scores = jnp.einsum("bhd,bsd->bhs", q, k).astype(F32)
    seen = jnp.arange(kv_cache.shape[1])[None] <= position[:, None]
    scores = jnp.where(seen[:, None], scores, jnp.finfo(F32).min)
    probs = jax.nn.softmax(scores, axis=-1).astype(x.dtype)
    out = jnp.einsum("bhs,bsd->bhd", probs, v).reshape(rows, n_embd)
    return dense(p["attn_proj"], out), kv_cache


def sample(key, logits, temperature, top_k):
    best, ids = jax.lax.top_k(logits / temperature, top_k)
    drawn = jax.random.categorical(key, best, axis=-1)
    return jnp.take_along_axis(ids, drawn[:, None], axis=1)[:, 0], jax.nn.log_softmax(best)[:, 0]


def santacoder_decode(n_layer, n_embd, n_head, n_positions, vocab, rows, max_len, temperature=0.2, top_k=50, eos=49152):
    def make(arrays, change):
        b, s = rows // change.batch_divisor, max_len // change.length_divisor
        head_dim = n_embd // n_head
        params = quantized(change, abstract(weights(n_layer, n_embd, head_dim, n_positions, vocab), BF16))
        caches = [arrays.batch((b, s, 2 * head_dim), BF16) for _ in range(n_layer)]

        def decode_step(params, caches, tokens, position, finished, rng):
            x = looked_up(params["wte"], tokens, BF16) + looked_up(params["wpe"], position, BF16)
            new_caches = []
            for p, cache in zip(params["h"], caches):
                a, cache = attend(p, layer_norm(p["ln_1"], x), cache, position, n_head)
                new_caches.append(cache)
                x = x + a
                h = jax.nn.gelu(dense(p["c_fc"], layer_norm(p["ln_2"], x)), approximate=True)
                x = x + dense(p["mlp_proj"], h)
            logits = against(layer_norm(params["ln_f"], x), params["wte"])
            rng, sub = jax.random.split(rng)
            token, best = sample(sub, logits, temperature, top_k)
            token = jnp.where(finished, eos, token)
            finished = finished | (token == eos) | (position + 1 >= s)
            return new_caches, token, jnp.where(finished, position, position + 1), finished, rng, best

        return decode_step, (laid_out(arrays, params), caches, arrays.batch((b,), jnp.int32),
                             arrays.batch((b,), jnp.int32), arrays.batch((b,), jnp.bool_), raw_key(arrays)), (1,)
    return make


FAMILY = {"cup_santacoder_decode": dict(
    make=santacoder_decode(n_layer=24, n_embd=2048, n_head=16, n_positions=2048, vocab=49280, rows=128, max_len=2048),
    is_donated=False,
    variants=("donate_inputs", "halve_batch", "halve_sequence", "int8_weights", "shard_parameters", "shard_all"))}
