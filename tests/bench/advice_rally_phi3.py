"""Phi-3-mini (3.8B) in a batched server: one decode step over a cache of fixed size, with nucleus sampling.

Plain jax. Layers are stacked and scanned, the caches [layer, b, g, t, d] are carried and written in place. Projections
are fused as in the published checkpoint; keys and values are pooled to groups of heads (uptrained from the 32 that were
published). Prompts are padded on the left, so that all rows write at one place.
"""
import jax
import jax.numpy as jnp
from jax import lax

from advice_board_changes import raw_key
from advice_board_training import BF16, F32, on_chips


def weight_shapes(layers, width, heads, groups, side, hidden, vocab):
    return {
        "embed_tokens": (vocab, width),
        "blocks": {
            "input_norm": (layers, width),
            "qkv_proj": (layers, width, (heads + 2 * groups) * side),
            "o_proj": (layers, heads * side, width),
            "post_attention_norm": (layers, width),
            "gate_up_proj": (layers, width, 2 * hidden),
            "down_proj": (layers, hidden, width),
        },
        "final_norm": (width,),
        "lm_head": (width, vocab),
    }


def frozen(change, shapes):
    from advice_programs import Int8

    def one(path, shape):
        if change.quantized and not path[-1].key.endswith("norm"):
            scales = (*shape[:-2], shape[-1])
            return Int8(jax.ShapeDtypeStruct(shape, jnp.int8), jax.ShapeDtypeStruct(scales, F32))
        return jax.ShapeDtypeStruct(shape, BF16)
    return jax.tree_util.tree_map_with_path(one, shapes, is_leaf=lambda node: isinstance(node, tuple))


def linear(x, w):
    return x @ w.astype(x.dtype)


def rms_norm(x, scale, eps=1e-5):
    wide = x.astype(F32)
    return (wide * lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + eps)).astype(x.dtype) * scale


def rotary_tables(places, side, base=10000.0):
    inverse = base ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    angles = places.astype(F32)[:, None] * inverse
    angles = jnp.concatenate([angles, angles], -1)[:, None]         # [b, 1, d]
    return jnp.cos(angles), jnp.sin(angles)


def apply_rotary(x, cos, sin):
    first, second = jnp.split(x.astype(F32), 2, axis=-1)
    turned = jnp.concatenate([-second, first], -1)
    return (x.astype(F32) * cos + turned * sin).astype(x.dtype)


def top_p_sample(key, logits, top_p, temperature):
    """Draws out of the fewest tokens whose probabilities reach top_p."""
    logits = logits / temperature
    order = jnp.argsort(logits, axis=-1, descending=True)
    ranked = jnp.take_along_axis(logits, order, -1)
    probs = jax.nn.softmax(ranked, -1)
    before = jnp.cumsum(probs, -1) - probs
    ranked = jnp.where(before < top_p, ranked, -jnp.inf)
    rank = jax.random.categorical(key, ranked, axis=-1)
    return jnp.take_along_axis(order, rank[:, None], -1)[:, 0]


def phi3_decode(layers, width, heads, groups, side, hidden, vocab, batch, length, window=2047, top_p=0.9,
                temperature=0.8, eos=32000, kind=BF16):
    def make(arrays, change):
        rows, room = batch // change.batch_divisor, length // change.length_divisor

        def step(params, caches, tokens, starts, done, position, key):
            cos, sin = rotary_tables(position - starts, side)
            slots = jnp.arange(room)
            visible = (slots <= position) & (slots > position - window) & (slots >= starts[:, None])
            bias = jnp.where(visible, 0.0, jnp.finfo(F32).min)[:, None, None]      # [b, 1, 1, t]

            def block(carry, layer_and_index):
                x, keys, values = carry
                layer, i = layer_and_index
                h = rms_norm(x, layer["input_norm"])
                q, k, v = jnp.split(linear(h, layer["qkv_proj"]), [heads * side, (heads + groups) * side], axis=-1)
                q = apply_rotary(q.reshape(rows, heads, side), cos, sin).reshape(rows, groups, heads // groups, side)
                k = apply_rotary(k.reshape(rows, groups, side), cos, sin)
                v = v.reshape(rows, groups, side)
                keys = lax.dynamic_update_slice(keys, k[None, :, :, None], (i, 0, 0, position, 0))
                values = lax.dynamic_update_slice(values, v[None, :, :, None], (i, 0, 0, position, 0))
                all_k = lax.dynamic_index_in_dim(keys, i, 0, keepdims=False)
                all_v = lax.dynamic_index_in_dim(values, i, 0, keepdims=False)
                scores = jnp.einsum("bgqd,bgtd->bgqt", q, all_k, preferred_element_type=F32) / side ** 0.5
                probs = jax.nn.softmax(scores + bias, axis=-1).astype(x.dtype)
                mixed = jnp.einsum("bgqt,bgtd->bgqd", probs, all_v).reshape(rows, heads * side)
                x = x + linear(mixed, layer["o_proj"])
                gate, up = jnp.split(linear(rms_norm(x, layer["post_attention_norm"]), layer["gate_up_proj"]), 2, -1)
                return (x + linear(up * jax.nn.silu(gate), layer["down_proj"]), keys, values), None

            x = params["embed_tokens"][tokens].astype(kind)
            (x, keys, values), _ = lax.scan(block, (x, caches["keys"], caches["values"]),
                                            (params["blocks"], jnp.arange(layers)))
            logits = linear(rms_norm(x, params["final_norm"]), params["lm_head"]).astype(F32)
            key, draw = jax.random.split(key)
            drawn = jnp.where(done, eos, top_p_sample(draw, logits, top_p, temperature)).astype(jnp.int32)
            return {"keys": keys, "values": values}, drawn, done | (drawn == eos), position + 1, key

        weights = frozen(change, weight_shapes(layers, width, heads, groups, side, hidden, vocab))
        split = 1 if change.shard == "all" else None              # the rows are behind the layers
        caches = {name: arrays.array((layers, rows, groups, room, side), kind, split) for name in ("keys", "values")}
        return step, (on_chips(arrays, weights, {"blocks": 0}), caches, arrays.batch((rows,), jnp.int32),
                      arrays.batch((rows,), jnp.int32), arrays.batch((rows,), jnp.bool_),
                      arrays.array((), jnp.int32), raw_key(arrays)), (1,)
    return make
