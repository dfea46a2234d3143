"""Steps that decode: latents in place of keys and values, and caches that are kept as bytes.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_field_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed
from advice_fresh import root_normed, shaped
from advice_structures import BF16, F32


def turned_at(x, place, theta=10000.0):
    """[..., side] of one place in time: the first half of a head is turned against the second."""
    half = x.shape[-1] // 2
    angles = place.astype(F32) * theta ** (-jnp.arange(half) / half)
    sin, cos = jnp.sin(angles).astype(x.dtype), jnp.cos(angles).astype(x.dtype)
    low, high = x[..., :half], x[..., half:]
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)


# --- Latents ---

def latent_attention(p, cache, x, place, nope):
    """Keys and values are never made: queries go to the latents, and what is mixed of these comes back."""
    latent, heads = p["up_k"].shape[:2]
    q = (x @ p["q_proj"]).reshape(x.shape[0], heads, -1)
    q_plain, q_turned = q[..., :nope], turned_at(q[..., nope:], place)
    low = x @ p["kv_down"]
    new = {"latent": root_normed(low[:, :latent], p["kv_norm"]), "rope": turned_at(low[:, latent:], place)}
    cache = {name: jax.lax.dynamic_update_slice(cache[name], one[:, None].astype(BF16), (0, place, 0))
             for name, one in new.items()}
    kept, keys = cache["latent"].astype(x.dtype), cache["rope"].astype(x.dtype)
    q_plain = jnp.einsum("bhn,lhn->bhl", q_plain, p["up_k"])
    scores = jnp.einsum("bhl,btl->bht", q_plain, kept) + jnp.einsum("bhr,btr->bht", q_turned, keys)
    scores = scores.astype(F32) * q.shape[-1] ** -0.5
    weights = jax.nn.softmax(jnp.where(jnp.arange(kept.shape[1]) <= place, scores, -1e30)).astype(x.dtype)
    mixed = jnp.einsum("bht,btl->bhl", weights, kept)
    return jnp.einsum("bhl,lhv->bhv", mixed, p["up_v"]).reshape(x.shape[0], -1) @ p["o_proj"], cache


def latent_decode(layers, width, heads, nope, rope, latent, hidden, vocab, batch, room, kind=BF16):
    """DeepSeek V2's attention in a dense model, its layers written out: a tuple of caches, one of each layer."""
    sizes = {"q_proj": (width, heads * (nope + rope)), "kv_down": (width, latent + rope), "kv_norm": (latent,),
             "up_k": (latent, heads, nope), "up_v": (latent, heads, nope), "o_proj": (heads * nope, width),
             "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width), "norm_1": (width,),
             "norm_2": (width,)}

    def make(arrays, change):
        b, time = batch // change.batch_divisor, room // change.length_divisor
        shapes = {"embed": shaped(table=(vocab, width)), "layers": [shaped(**sizes) for _ in range(layers)],
                  "last": shaped(norm=(width,), lm_head=(width, vocab))}
        split = 0 if change.shard == "all" else None
        one = {"latent": arrays.array((b, time, latent), BF16, split), "rope": arrays.array((b, time, rope), BF16,
                                                                                            split)}

        def decode_step(params, caches, tokens, place):
            p, grown = as_kind(params, computed(change, kind)), []
            x = p["embed"]["table"][tokens]
            for layer, cache in zip(p["layers"], caches):
                y, cache = latent_attention(layer, cache, root_normed(x, layer["norm_1"]), place, nope)
                x = x + y
                h = root_normed(x, layer["norm_2"])
                x = x + (jax.nn.silu(h @ layer["gate"]) * (h @ layer["up"])) @ layer["down"]
                grown.append(cache)
            logits = (root_normed(x, p["last"]["norm"]) @ p["last"]["lm_head"]).astype(F32)
            return logits.argmax(-1).astype(jnp.int32), tuple(grown)
        params = placed(arrays, as_kind(shapes, change.stored))
        return decode_step, (params, (one,) * layers, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


# --- Caches of bytes ---

def as_bytes(x):
    """[..., side] -> int8 and the scale of each row."""
    scale = jnp.max(jnp.abs(x.astype(F32)), -1) / 127 + 1e-8
    return jnp.round(x / scale[..., None]).astype(jnp.int8), scale.astype(BF16)


def read_and_written(cache, k, v, place):
    """k and v are [batch, heads, side]; caches are [batch, heads, time, side], their scales [batch, heads, time]."""
    new = {}
    for name, x in (("k", k), ("v", v)):
        small, scale = as_bytes(x)
        new[name] = jax.lax.dynamic_update_slice(cache[name], small[:, :, None], (0, 0, place, 0))
        new[f"{name}_scale"] = jax.lax.dynamic_update_slice(cache[f"{name}_scale"], scale[:, :, None], (0, 0, place))
    return new


def qwen_bytes(layers, width, heads, kv_heads, side, hidden, vocab, batch, room, kind=BF16):
    """Qwen 3's step, with a head of its own: a scan over layers and their caches, which are bytes with scales."""
    matrices = {"q_proj": (width, heads * side), "k_proj": (width, kv_heads * side),
                "v_proj": (width, kv_heads * side), "o_proj": (heads * side, width), "gate_proj": (width, hidden),
                "up_proj": (width, hidden), "down_proj": (hidden, width)}
    vectors = {"input_norm": width, "post_norm": width, "q_norm": side, "k_norm": side}

    def layer(x, p, cache, place):
        b, h = x.shape[0], root_normed(x, p["input_norm"])
        q = root_normed((h @ p["q_proj"]).reshape(b, heads, side), p["q_norm"])
        k = root_normed((h @ p["k_proj"]).reshape(b, kv_heads, side), p["k_norm"])
        q, k = turned_at(q, place, 1e6), turned_at(k, place, 1e6)
        cache = read_and_written(cache, k, (h @ p["v_proj"]).reshape(b, kv_heads, side), place)
        q = q.reshape(b, kv_heads, -1, side) * side ** -0.5
        scores = jnp.einsum("bkgd,bktd->bkgt", q, cache["k"].astype(q.dtype)).astype(F32)
        scores = scores * cache["k_scale"][:, :, None].astype(F32)
        weights = jax.nn.softmax(jnp.where(jnp.arange(cache["k"].shape[2]) <= place, scores, -1e30))
        weights = (weights * cache["v_scale"][:, :, None]).astype(x.dtype)
        mixed = jnp.einsum("bkgt,bktd->bkgd", weights, cache["v"].astype(x.dtype))
        x = x + mixed.reshape(b, heads * side) @ p["o_proj"]
        h = root_normed(x, p["post_norm"])
        return x + (jax.nn.silu(h @ p["gate_proj"]) * (h @ p["up_proj"])) @ p["down_proj"], cache

    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        stack = {name: arrays.parameter((layers, *size), 1) for name, size in matrices.items()}
        stack |= {name: arrays.parameter((layers, size), None) for name, size in vectors.items()}
        params = {"embed": arrays.parameter((vocab, width)), "lm_head": arrays.parameter((width, vocab), 1),
                  "norm": arrays.parameter((width,), None), "layers": stack}
        shape, split = (layers, b, kv_heads, time), 1 if change.shard == "all" else None
        caches = {name: arrays.array((*shape, side), jnp.int8, split) for name in ("k", "v")}
        caches |= {name: arrays.array(shape, BF16, split) for name in ("k_scale", "v_scale")}

        def generate(params, caches, tokens, place):
            def body(x, one):
                weights, cache = one
                return layer(x, as_kind(weights, now), cache, place)
            x = as_kind(params["embed"], now)[tokens].astype(now)
            x, caches = jax.lax.scan(body, x, (params["layers"], caches))
            logits = (root_normed(x, params["norm"].astype(now)) @ as_kind(params["lm_head"], now)).astype(F32)
            best, words = jax.lax.top_k(logits, 20)
            return words, jax.nn.softmax(best), caches
        return generate, (params, caches, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make
