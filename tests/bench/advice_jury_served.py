"""Served: a vision encoder, a beam search over speech, and a decoder whose weights and caches are int8.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed
from advice_fresh import root_normed
from advice_jury_decoding import layer_norm, rope
from advice_structures import BF16, F32


# --- A vision encoder ---

def siglip_module(layers, width, heads, hidden, patch, kind):
    import flax.linen as nn

    class Mlp(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.gelu(nn.Dense(hidden, dtype=kind, name="fc1")(x))
            return nn.Dense(width, dtype=kind, name="fc2")(h)

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.LayerNorm(dtype=kind)(x)
            x = x + nn.MultiHeadDotProductAttention(heads, dtype=kind, deterministic=True, name="attn")(h)
            return x + Mlp(name="mlp")(nn.LayerNorm(dtype=kind)(x))

    class Vision(nn.Module):
        @nn.compact
        def __call__(self, images):
            x = images.astype(kind) / 127.5 - 1.0
            x = nn.Conv(width, (patch, patch), (patch, patch), "VALID", dtype=kind, name="conv_patches")(x)
            x = x.reshape(x.shape[0], -1, width)
            places = self.param("pos_embedding", nn.initializers.normal(0.02), (1, x.shape[1], width))
            x = x + places.astype(kind)
            for i in range(layers):
                x = Block(name=f"encoderblock_{i}")(x)
            x = nn.LayerNorm(dtype=kind, name="encoder_norm")(x)
            probe = self.param("probe", nn.initializers.xavier_uniform(), (1, 1, width)).astype(kind)
            probe = jnp.tile(probe, (x.shape[0], 1, 1))
            pooled = nn.MultiHeadDotProductAttention(heads, dtype=kind, deterministic=True, name="map_attn")(probe, x)
            pooled = pooled + Mlp(name="map_mlp")(nn.LayerNorm(dtype=kind)(pooled))
            return pooled[:, 0]
    return Vision()


def siglip_encode(layers, width, heads, hidden, patch, side, batch, kind=BF16):
    """Vectors of a batch of pictures, of length one; parameters as they were trained."""
    def make(arrays, change):
        b = batch // change.batch_divisor
        model = siglip_module(layers, width, heads, hidden, patch, computed(change, kind))
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, side, side, 3), jnp.uint8))

        def encode(params, images):
            vectors = model.apply(params, images).astype(F32)
            return vectors / (jnp.linalg.norm(vectors, axis=-1, keepdims=True) + 1e-7)
        images = arrays.batch((b, side, side, 3), jnp.uint8)
        return encode, (placed(arrays, as_kind(shapes, change.stored)), images), ()
    return make


# --- A beam search over speech ---

def whisper_params(arrays, layers, width, hidden, vocab, places):
    def vector(size):
        return arrays.parameter((size,), None)

    def norm():
        return {"scale": vector(width), "bias": vector(width)}

    def attention(names):
        return {name: {"kernel": arrays.parameter((width, width)), "bias": vector(width)} for name in names}

    def layer():
        return {"self_attn": attention(("q", "k", "v", "out")), "self_norm": norm(),
                "cross_attn": attention(("q", "out")), "cross_norm": norm(), "final_norm": norm(),
                "fc1": {"kernel": arrays.parameter((width, hidden)), "bias": vector(hidden)},
                "fc2": {"kernel": arrays.parameter((hidden, width)), "bias": vector(width)}}
    # The table is the head too, and stays as it is when the others are made int8.
    return {"embed_tokens": arrays.array((vocab, width), arrays.change.stored, 0),
            "embed_positions": arrays.array((places, width), arrays.change.stored, 0),
            "layer_norm": norm(), "layers": [layer() for _ in range(layers)]}


def whisper_beam(layers, width, heads, hidden, vocab, beams, frames, batch, room, kind=BF16):
    """All beams say a word; the best go on, each with the cache of the beam it comes from."""
    side = width // heads

    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        split = 0 if change.shard == "all" else None
        own = arrays.array((b * beams, t, heads, side), BF16, split)
        far = arrays.array((b, frames, heads, side), BF16, split)

        def dense(x, p):
            return x @ p["kernel"] + p["bias"]

        def self_attention(p, x, cache, pos):
            q, k, v = (dense(x, p[name]).reshape(-1, heads, side) for name in "qkv")
            cache = {"k": jax.lax.dynamic_update_slice(cache["k"], k[:, None].astype(BF16), (0, pos, 0, 0)),
                     "v": jax.lax.dynamic_update_slice(cache["v"], v[:, None].astype(BF16), (0, pos, 0, 0))}
            scores = jnp.einsum("rhd,rthd->rht", q, cache["k"].astype(now)).astype(F32) * side ** -0.5
            weights = jax.nn.softmax(jnp.where(jnp.arange(t) <= pos, scores, -1e30)).astype(now)
            mixed = jnp.einsum("rht,rthd->rhd", weights, cache["v"].astype(now))
            return dense(mixed.reshape(-1, width), p["out"]), cache

        def cross_attention(p, x, memory):
            q = dense(x, p["q"]).reshape(b, beams, heads, side) * side ** -0.5
            scores = jnp.einsum("bnhd,bshd->bhns", q, memory["k"].astype(now)).astype(F32)
            mixed = jnp.einsum("bhns,bshd->bnhd", jax.nn.softmax(scores).astype(now), memory["v"].astype(now))
            return dense(mixed.reshape(-1, width), p["out"])

        def beam_step(params, caches, memories, tokens, scores, pos):
            p, grown = as_kind(params, now), []
            x = p["embed_tokens"][tokens.reshape(-1)] + p["embed_positions"][pos]
            for layer, cache, memory in zip(p["layers"], caches, memories):
                said, cache = self_attention(layer["self_attn"], layer_norm(x, **layer["self_norm"]), cache, pos)
                x = x + said
                x = x + cross_attention(layer["cross_attn"], layer_norm(x, **layer["cross_norm"]), memory)
                h = jax.nn.gelu(dense(layer_norm(x, **layer["final_norm"]), layer["fc1"]))
                x = x + dense(h, layer["fc2"])
                grown.append(cache)
            logits = layer_norm(x, **p["layer_norm"]) @ p["embed_tokens"].T
            chances = jax.nn.log_softmax(logits.astype(F32)).reshape(b, beams, vocab) + scores[..., None]
            scores, flat = jax.lax.top_k(chances.reshape(b, beams * vocab), beams)
            parents = (jnp.arange(b)[:, None] * beams + flat // vocab).reshape(-1)
            grown = jax.tree.map(lambda cache: jnp.take(cache, parents, axis=0), grown)
            return grown, (flat % vocab).astype(jnp.int32), scores
        params = whisper_params(arrays, layers, width, hidden, vocab, 448)
        caches, memories = ([{"k": one, "v": one} for _ in range(layers)] for one in (own, far))
        arguments = (params, caches, memories, arrays.batch((b, beams), jnp.int32),
                     arrays.array((b, beams), F32, split), arrays.array((), jnp.int32))
        return beam_step, arguments, (1, 3, 4)
    return make


# --- Bytes ---

def as_bytes(x):
    """Along the last dimension, and the scale of each line."""
    wide = x.astype(F32)
    scale = jnp.max(jnp.abs(wide), -1, keepdims=True) / 127.0 + 1e-8
    return jnp.round(wide / scale).astype(jnp.int8), scale


def byte_dot(x, w):
    """Both sides in bytes, added up in int32."""
    codes, scale = as_bytes(x)
    sums = jax.lax.dot_general(codes, w["qvalue"], (((x.ndim - 1,), (0,)), ((), ())),
                               preferred_element_type=jnp.int32)
    return (sums.astype(F32) * scale * w["scale"]).astype(x.dtype)


def byte_params(arrays, layers, width, kv_width, hidden, vocab):
    def weight(rows, columns):
        return {"qvalue": arrays.array((rows, columns), jnp.int8, 0), "scale": arrays.array((columns,), F32)}

    def layer():
        return {"attention_norm": arrays.array((width,), BF16), "ffn_norm": arrays.array((width,), BF16),
                "wq": weight(width, width), "wk": weight(width, kv_width), "wv": weight(width, kv_width),
                "wo": weight(width, width), "w1": weight(width, hidden), "w2": weight(hidden, width),
                "w3": weight(width, hidden)}
    return {"tok_embeddings": arrays.array((vocab, width), BF16, 0), "norm": arrays.array((width,), BF16),
            "output": weight(width, vocab), "layers": [layer() for _ in range(layers)]}


def byte_llama_decode(layers, width, heads, kv_heads, hidden, vocab, batch, room):
    """Slots of a continuous batch, each at its own place; weights, activations of products and caches in int8."""
    side = width // heads

    def make(arrays, change):
        b, t = batch // change.batch_divisor, room // change.length_divisor
        split = 0 if change.shard == "all" else None
        codes = arrays.array((b, kv_heads, t, side), jnp.int8, split)
        scales = arrays.array((b, kv_heads, t), BF16, split)
        rows = jnp.arange(b)

        def stored(cache, name, new, lengths):
            line, scale = as_bytes(new)
            return (cache[name].at[rows, :, lengths].set(line),
                    cache[name + "_scale"].at[rows, :, lengths].set(scale[..., 0].astype(BF16)))

        def attention(p, x, cache, lengths):
            q = rope(byte_dot(x, p["wq"]).reshape(b, heads, side), lengths, 1e4)
            k = rope(byte_dot(x, p["wk"]).reshape(b, kv_heads, side), lengths, 1e4)
            v = byte_dot(x, p["wv"]).reshape(b, kv_heads, side)
            (k, k_scale), (v, v_scale) = (stored(cache, name, new, lengths) for name, new in (("k", k), ("v", v)))
            q = q.reshape(b, kv_heads, -1, side)
            scores = jnp.einsum("bkgd,bktd->bkgt", q, k.astype(BF16), preferred_element_type=F32)
            scores = scores * k_scale[:, :, None].astype(F32) * side ** -0.5
            seen = (jnp.arange(t)[None] <= lengths[:, None])[:, None, None]
            weights = jax.nn.softmax(jnp.where(seen, scores, -1e30)) * v_scale[:, :, None]
            mixed = jnp.einsum("bkgt,bktd->bkgd", weights.astype(BF16), v.astype(BF16))
            return (byte_dot(mixed.reshape(b, width), p["wo"]),
                    {"k": k, "k_scale": k_scale, "v": v, "v_scale": v_scale})

        def generate(params, caches, tokens, lengths):
            x, kept = params["tok_embeddings"][tokens], []
            for p, cache in zip(params["layers"], caches):
                said, cache = attention(p, root_normed(x, p["attention_norm"]), cache, lengths)
                x = x + said
                h = root_normed(x, p["ffn_norm"])
                x = x + byte_dot(jax.nn.silu(byte_dot(h, p["w1"])) * byte_dot(h, p["w3"]), p["w2"])
                kept.append(cache)
            logits = byte_dot(root_normed(x, params["norm"]), params["output"]).astype(F32)
            return jnp.argmax(logits, -1).astype(jnp.int32), kept, lengths + 1
        caches = [{"k": codes, "k_scale": scales, "v": codes, "v_scale": scales} for _ in range(layers)]
        slots = arrays.batch((b,), jnp.int32)
        params = byte_params(arrays, layers, width, kv_heads * side, hidden, vocab)
        return generate, (params, caches, slots, slots), (1, 3)
    return make
