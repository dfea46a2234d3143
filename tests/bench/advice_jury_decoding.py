"""Decoders that are served: a step with a dictionary of caches, one with stacked caches in a scan, and a long prompt.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, random_key
from advice_fresh import root_normed
from advice_structures import BF16, F32


# --- What they share ---

def served_weight(arrays, shape, split=0):
    """Checkpoints for serving lie in bfloat16 from the start, or in int8."""
    return arrays.parameter(shape, split) if arrays.change.quantized else arrays.array(shape, BF16, split)


def rope(x, positions, theta, dims=None):
    """x [..., heads, side]; positions [...]; the first dims of a side are turned, halves against each other."""
    dims = dims or x.shape[-1]
    half = dims // 2
    angles = positions[..., None, None].astype(F32) * theta ** (-jnp.arange(half, dtype=F32) / half)
    cos, sin = jnp.cos(angles), jnp.sin(angles)
    first, second = x[..., :half].astype(F32), x[..., half:dims].astype(F32)
    turned = jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1).astype(x.dtype)
    return jnp.concatenate([turned, x[..., dims:]], -1)


def layer_norm(x, scale, bias):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * scale + bias


# --- A dictionary of caches ---

def qwen3_params(arrays, layers, width, heads, kv_heads, side, hidden, vocab):
    def weight(*shape):
        return served_weight(arrays, shape)

    def vector(size):
        return served_weight(arrays, (size,), None)

    def layer():
        return {"input_layernorm": vector(width), "post_attention_layernorm": vector(width),
                "self_attn": {"q_proj": weight(width, heads * side), "k_proj": weight(width, kv_heads * side),
                              "v_proj": weight(width, kv_heads * side), "o_proj": weight(heads * side, width),
                              "q_norm": vector(side), "k_norm": vector(side)},
                "mlp": {"gate_proj": weight(width, hidden), "up_proj": weight(width, hidden),
                        "down_proj": weight(hidden, width)}}
    return {"embed_tokens": weight(vocab, width), "norm": vector(width), "lm_head": weight(width, vocab),
            "layers": [layer() for _ in range(layers)]}


def qwen3_decode(layers, width, heads, kv_heads, side, hidden, vocab, batch, room, kind=BF16):
    """A greedy step of all rows at the same place."""
    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        line = arrays.array((b, t, kv_heads, side), BF16, 0 if change.shard == "all" else None)
        caches = {f"layer_{i}": {"k": line, "v": line} for i in range(layers)}

        def attention(p, x, cache, pos):
            q = root_normed((x @ p["q_proj"]).reshape(b, heads, side), p["q_norm"])
            k = root_normed((x @ p["k_proj"]).reshape(b, kv_heads, side), p["k_norm"])
            v = (x @ p["v_proj"]).reshape(b, kv_heads, side)
            q, k = rope(q, jnp.full((b,), pos), 1e6), rope(k, jnp.full((b,), pos), 1e6)
            cache = {"k": jax.lax.dynamic_update_slice(cache["k"], k[:, None].astype(BF16), (0, pos, 0, 0)),
                     "v": jax.lax.dynamic_update_slice(cache["v"], v[:, None].astype(BF16), (0, pos, 0, 0))}
            q = q.reshape(b, kv_heads, heads // kv_heads, side)
            scores = jnp.einsum("bkgd,btkd->bkgt", q, cache["k"]).astype(F32) * side ** -0.5
            scores = jnp.where(jnp.arange(t) <= pos, scores, -1e30)
            mixed = jnp.einsum("bkgt,btkd->bkgd", jax.nn.softmax(scores).astype(now), cache["v"])
            return mixed.reshape(b, heads * side) @ p["o_proj"], cache

        def decode_step(params, caches, tokens, pos):
            params, new = as_kind(params, now), {}
            x = params["embed_tokens"][tokens]
            for i, p in enumerate(params["layers"]):
                said, new[f"layer_{i}"] = attention(p["self_attn"], root_normed(x, p["input_layernorm"]),
                                                    caches[f"layer_{i}"], pos)
                x = x + said
                h = root_normed(x, p["post_attention_layernorm"])
                mlp = p["mlp"]
                x = x + (jax.nn.silu(h @ mlp["gate_proj"]) * (h @ mlp["up_proj"])) @ mlp["down_proj"]
            logits = (root_normed(x, params["norm"]) @ params["lm_head"]).astype(F32)
            return jnp.argmax(logits, -1).astype(jnp.int32), new
        params = qwen3_params(arrays, layers, width, heads, kv_heads, side, hidden, vocab)
        return decode_step, (params, caches, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


# --- Stacked caches ---

def neox_params(arrays, layers, width, hidden, vocab):
    """In the type that the checkpoint was converted to."""
    def stack(rows, columns):
        return arrays.parameter((layers, rows, columns), 1)

    def line(*shape):
        return arrays.parameter(shape, None)
    blocks = {"ln1": {"scale": line(layers, width), "bias": line(layers, width)},
              "ln2": {"scale": line(layers, width), "bias": line(layers, width)},
              "qkv": {"w": stack(width, 3 * width), "b": line(layers, 3 * width)},
              "dense": {"w": stack(width, width), "b": line(layers, width)},
              "up": {"w": stack(width, hidden), "b": line(layers, hidden)},
              "down": {"w": stack(hidden, width), "b": line(layers, width)}}
    return {"embed_in": arrays.parameter((vocab, width)), "embed_out": arrays.parameter((width, vocab)),
            "blocks": blocks, "final": {"scale": line(width), "bias": line(width)}}


def neox_decode(layers, width, heads, hidden, vocab, top, batch, room, kind=BF16):
    """Pythia: attention and mlp side by side, a scan over layers with caches as xs and ys; top-k sampling."""
    side = width // heads

    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        stacked = arrays.array((layers, b, heads, t, side), BF16, 1 if change.shard == "all" else None)

        def linear(x, p):
            return x @ p["w"] + p["b"]

        def write(cache, new, lengths):
            """cache [b, heads, t, side]: every row at its own place."""
            return jax.vmap(lambda c, n, at: jax.lax.dynamic_update_slice(c, n[:, None], (0, at, 0)))(
                cache, new.astype(cache.dtype), lengths)

        def decode_step(params, cache, tokens, lengths, key):
            seen = jnp.arange(t)[None, None] <= lengths[:, None, None]

            def layer(x, scanned):
                p, k_cache, v_cache = scanned
                p = as_kind(p, now)
                h = layer_norm(x, **p["ln1"])
                q, k, v = jnp.split(linear(h, p["qkv"]).reshape(b, heads, 3 * side), 3, -1)
                q, k = rope(q, lengths, 1e4, side // 4), rope(k, lengths, 1e4, side // 4)
                k_cache, v_cache = write(k_cache, k, lengths), write(v_cache, v, lengths)
                scores = jnp.einsum("bhd,bhtd->bht", q, k_cache.astype(now), preferred_element_type=F32)
                weights = jax.nn.softmax(jnp.where(seen, scores / side ** 0.5, -1e9), -1).astype(now)
                mixed = jnp.einsum("bht,bhtd->bhd", weights, v_cache.astype(now)).reshape(b, width)
                grown = linear(jax.nn.gelu(linear(layer_norm(x, **p["ln2"]), p["up"])), p["down"])
                return x + linear(mixed, p["dense"]) + grown, (k_cache, v_cache)
            x = params["embed_in"].astype(now)[tokens]
            x, (k_cache, v_cache) = jax.lax.scan(layer, x, (params["blocks"], cache["k"], cache["v"]))
            x = layer_norm(x, **as_kind(params["final"], now))
            logits = (x @ params["embed_out"].astype(now)).astype(F32) / 0.8
            best, ids = jax.lax.top_k(logits, top)
            chosen = jax.random.categorical(jax.random.wrap_key_data(key), best)
            tokens = jnp.take_along_axis(ids, chosen[:, None], 1)[:, 0]
            return tokens, {"k": k_cache, "v": v_cache}, lengths + 1
        rows = arrays.batch((b,), jnp.int32)
        params = neox_params(arrays, layers, width, hidden, vocab)
        return decode_step, (params, {"k": stacked, "v": stacked}, rows, rows, random_key(arrays)), (1, 3)
    return make


# --- A long prompt ---

def gemma2_params(arrays, layers, width, heads, kv_heads, side, hidden, vocab):
    def weight(*shape):
        return served_weight(arrays, shape)

    def layer():
        norms = {name: served_weight(arrays, (width,), None) for name in (
            "pre_attention_norm", "post_attention_norm", "pre_ffw_norm", "post_ffw_norm")}
        return norms | {"q": weight(width, heads * side), "k": weight(width, kv_heads * side),
                        "v": weight(width, kv_heads * side), "o": weight(heads * side, width),
                        "gate": weight(width, hidden), "up": weight(width, hidden), "down": weight(hidden, width)}
    # The table is the head too, and stays as it is when the others are made int8.
    return {"embedder": arrays.array((vocab, width), BF16, 0), "final_norm": served_weight(arrays, (width,), None),
            "layers": [layer() for _ in range(layers)]}


def gemma2_prefill(layers, width, heads, kv_heads, side, hidden, vocab, window, size, batch, prompt, answer, kind=BF16):
    """Prompts fill caches that have room for an answer; every other layer sees a window; queries in blocks."""
    def make(arrays, change):
        b, now = batch // change.batch_divisor, computed(change, kind)
        t, room = prompt // change.length_divisor, (prompt + answer) // change.length_divisor
        line = arrays.array((b, room, kv_heads, side), BF16, 0 if change.shard == "all" else None)
        groups = heads // kv_heads

        def attended(q, k, v, lengths, is_local):
            """In blocks of queries; of [b, t, heads, side]."""
            at = jnp.arange(t)
            blocks = q.reshape(b, t // size, size, kv_heads, groups, side).swapaxes(0, 1)

            def of_block(given):
                index, block = given
                here = index * size + jnp.arange(size)
                scores = jnp.einsum("bqkgd,btkd->bkgqt", block, k, preferred_element_type=F32) * side ** -0.5
                scores = 50.0 * jnp.tanh(scores / 50.0)
                seen = here[:, None] >= at[None]
                if is_local:
                    seen &= here[:, None] - at[None] < window
                seen = seen[None] & (at[None, None] < lengths[:, None, None])
                weights = jax.nn.softmax(jnp.where(seen[:, None, None], scores, -2.4e38)).astype(now)
                return jnp.einsum("bkgqt,btkd->bqkgd", weights, v)
            mixed = jax.lax.map(of_block, (jnp.arange(t // size), blocks))
            return mixed.swapaxes(0, 1).reshape(b, t, heads * side)

        def block(p, x, cache, lengths, is_local):
            h = root_normed(x, 1 + p["pre_attention_norm"])
            q = rope((h @ p["q"]).reshape(b, t, heads, side), jnp.arange(t), 1e4)
            k = rope((h @ p["k"]).reshape(b, t, kv_heads, side), jnp.arange(t), 1e4)
            v = (h @ p["v"]).reshape(b, t, kv_heads, side)
            cache = {"k": jax.lax.dynamic_update_slice(cache["k"], k.astype(BF16), (0, 0, 0, 0)),
                     "v": jax.lax.dynamic_update_slice(cache["v"], v.astype(BF16), (0, 0, 0, 0))}
            x = x + root_normed(attended(q, k, v, lengths, is_local) @ p["o"], 1 + p["post_attention_norm"])
            h = root_normed(x, 1 + p["pre_ffw_norm"])
            h = (jax.nn.gelu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]
            return x + root_normed(h, 1 + p["post_ffw_norm"]), cache

        def prefill(params, caches, ids, lengths):
            params, filled = as_kind(params, now), []
            x = params["embedder"][ids] * jnp.asarray(width ** 0.5, now)
            for i, (p, cache) in enumerate(zip(params["layers"], caches)):
                x, cache = block(p, x, cache, lengths, i % 2 == 0)
                filled.append(cache)
            last = jnp.take_along_axis(x, lengths[:, None, None] - 1, 1)[:, 0]
            logits = (root_normed(last, 1 + params["final_norm"]) @ params["embedder"].T).astype(F32)
            return 30.0 * jnp.tanh(logits / 30.0), filled
        caches = [{"k": line, "v": line} for _ in range(layers)]
        params = gemma2_params(arrays, layers, width, heads, kv_heads, side, hidden, vocab)
        return prefill, (params, caches, arrays.batch((b, t), jnp.int32), arrays.batch((b,), jnp.int32)), (1,)
    return make
