"""GLM-4 of nine billion weights reads prompts: the prefill of a chat server, in plain jax with a scan over 40 layers.

Fused projections, two heads of keys and values, rotary places on half of each head in pairs, SwiGLU from one matrix.
Weights and caches are bfloat16; prompts are padded on the right, and only the logits of each one's last token are
made. The caches of the whole room come in, have their first places written, and are donated.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out
from advice_board_training import BF16, F32, abstract
from advice_round_d_parts import looked_up, quantized, times


def glm_shapes(L, D, H, KV, HD, FF, V):
    return {
        "word_embeddings": (V, D),
        "encoder": {
            "input_layernorm": (L, D),
            "query_key_value": (L, D, (H + 2 * KV) * HD),
            "qkv_bias": (L, (H + 2 * KV) * HD),
            "dense": (L, H * HD, D),
            "post_attention_layernorm": (L, D),
            "dense_h_to_4h": (L, D, 2 * FF),
            "dense_4h_to_h": (L, FF, D),
        },
        "final_layernorm": (D,),
        "output_layer": (D, V),
    }


def rmsnorm(x, w):
    y = x.astype(F32)
    y = y / jnp.sqrt(jnp.mean(y * y, axis=-1, keepdims=True) + 1.5625e-7)
    return (y * w.astype(F32)).astype(x.dtype)


def rotary_half(x, cos, sin):
    """[B, S, heads, HD]; the first half of a head is turned, in neighbouring pairs."""
    half = x.shape[-1] // 2
    turned, kept = x[..., :half].astype(F32), x[..., half:]
    pairs = turned.reshape(*turned.shape[:-1], half // 2, 2)
    a, b = pairs[..., 0], pairs[..., 1]
    out = jnp.stack([a * cos - b * sin, b * cos + a * sin], axis=-1).reshape(turned.shape)
    return jnp.concatenate([out.astype(x.dtype), kept], axis=-1)


def glm4_prefill(L, D, H, KV, HD, FF, V, batch, prompt, room, rope_base=10_000.0):
    def make(arrays, change):
        B = batch // change.batch_divisor
        S, R = prompt // change.length_divisor, room // change.length_divisor
        params = quantized(change, abstract(glm_shapes(L, D, H, KV, HD, FF, V), BF16), ("encoder",))
        split = 1 if change.shard == "all" else None
        kv_cache = {n: arrays.array((L, B, R, KV, HD), BF16, split) for n in ("key", "value")}

        def layer(x, inputs, cos, sin, mask):
            p, cached = inputs
            qkv = times(rmsnorm(x, p["input_layernorm"]), p["query_key_value"]) + p["qkv_bias"].astype(x.dtype)
            q, k, v = jnp.split(qkv, [H * HD, (H + KV) * HD], axis=-1)
            q = rotary_half(q.reshape(B, S, H, HD), cos, sin)
            k = rotary_half(k.reshape(B, S, KV, HD), cos, sin)
            v = v.reshape(B, S, KV, HD)
            q = q.reshape(B, S, KV, H // KV, HD)
            scores = jnp.einsum("bsngd,btnd->bngst", q, k, preferred_element_type=F32) * HD ** -0.5
            probs = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -1e30), axis=-1).astype(x.dtype)
            ctx = jnp.einsum("bngst,btnd->bsngd", probs, v).reshape(B, S, H * HD)
            x = x + times(ctx, p["dense"])
            gate, up = jnp.split(times(rmsnorm(x, p["post_attention_layernorm"]), p["dense_h_to_4h"]), 2, axis=-1)
            x = x + times(jax.nn.silu(gate) * up, p["dense_4h_to_h"])
            cached = {"key": jax.lax.dynamic_update_slice(cached["key"], k, (0, 0, 0, 0)),
                      "value": jax.lax.dynamic_update_slice(cached["value"], v, (0, 0, 0, 0))}
            return x, cached

        def prefill(params, kv_cache, input_ids, lengths):
            theta = rope_base ** (-jnp.arange(0, HD // 2, 2, dtype=F32) / (HD // 2))
            angles = (jnp.arange(S, dtype=F32)[:, None] * theta)[None, :, None]
            cos, sin = jnp.cos(angles), jnp.sin(angles)
            place = jnp.arange(S)
            mask = (place[None, :] <= place[:, None])[None] & (place[None, None] < lengths[:, None, None])
            x = looked_up(params["word_embeddings"], input_ids, BF16)
            x, kv_cache = jax.lax.scan(lambda x, given: layer(x, given, cos, sin, mask), x,
                                       (params["encoder"], kv_cache))
            last = jnp.take_along_axis(x, (lengths - 1)[:, None, None], axis=1)[:, 0]
            logits = times(rmsnorm(last, params["final_layernorm"]), params["output_layer"]).astype(F32)
            return kv_cache, logits, jnp.argmax(logits, axis=-1)

        return prefill, (laid_out(arrays, params, {"encoder": 0}), kv_cache, arrays.batch((B, S), jnp.int32),
                         arrays.batch((B,), jnp.int32)), (1,)
    return make


FAMILY = {"cup_glm4_prefill": dict(
    make=glm4_prefill(L=40, D=4096, H=32, KV=2, HD=128, FF=13696, V=151552, batch=8, prompt=2048, room=4096),
    is_donated=True,
    variants=("halve_batch", "halve_sequence", "int8_weights", "shard_parameters", "shard_all"))}
