"""Steps that are served: caches of two kinds in one dictionary, and trees of guesses against caches of small floats.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_trial_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed
from advice_field_serving import turned_at
from advice_fresh import root_normed, shaped
from advice_structures import BF16, F32


# --- Rings and whole caches in turns ---

def capped(scores, most):
    return most * jnp.tanh(scores / most)


def looked_up(q, k, v, cache, place):
    """One query for each sequence; the cache [batch, kv heads, room, side] is a ring where it is shorter than all."""
    b, kv_heads, room, side = cache["k"].shape
    at = (0, 0, place % room, 0)
    cache = {"k": jax.lax.dynamic_update_slice(cache["k"], k[:, :, None].astype(cache["k"].dtype), at),
             "v": jax.lax.dynamic_update_slice(cache["v"], v[:, :, None].astype(cache["v"].dtype), at)}
    q = q.reshape(b, kv_heads, -1, side)
    scores = capped(jnp.einsum("bngh,bnth->bngt", q, cache["k"].astype(q.dtype)).astype(F32), 50.0)
    weights = jax.nn.softmax(jnp.where(jnp.arange(room) <= place, scores, -2.4e38), axis=-1).astype(q.dtype)
    return jnp.einsum("bngt,bnth->bngh", weights, cache["v"].astype(q.dtype)).reshape(b, -1), cache


def ringed_and_whole(layers, width, heads, kv_heads, side, hidden, vocab, batch, room, window, kind=BF16):
    """Gemma 2's step, written out: each even layer keeps a window only, each odd one all; four norms a layer."""
    sizes = {"q": (width, heads * side), "k": (width, kv_heads * side), "v": (width, kv_heads * side),
             "o": (heads * side, width), "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width),
             "pre_attention": (width,), "post_attention": (width,), "pre_ffw": (width,), "post_ffw": (width,)}

    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        names = [f"layer_{i}" for i in range(layers)]
        shapes = shaped(embedder=(vocab, width), final_norm=(width,), **{name: sizes for name in names})
        split = 0 if change.shard == "all" else None
        caches = {}
        for i, name in enumerate(names):
            shape = b, kv_heads, time if i % 2 else min(window, time), side
            caches[name] = {which: arrays.array(shape, BF16, split) for which in ("k", "v")}

        def sample(params, caches, tokens, place):
            p, grown = as_kind(params, now), {}
            x = p["embedder"][tokens] * jnp.asarray(width ** 0.5, now)
            for name in names:
                w = p[name]
                h = root_normed(x, 1 + w["pre_attention"])
                q, k, v = ((h @ w[one]).reshape(b, -1, side) for one in ("q", "k", "v"))
                y, grown[name] = looked_up(turned_at(q, place) * side ** -0.5, turned_at(k, place), v, caches[name],
                                           place)
                x = x + root_normed(y @ w["o"], 1 + w["post_attention"])
                h = root_normed(x, 1 + w["pre_ffw"])
                h = (jax.nn.gelu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]
                x = x + root_normed(h, 1 + w["post_ffw"])
            logits = (root_normed(x, 1 + p["final_norm"]) @ p["embedder"].T).astype(F32)
            return jnp.argmax(capped(logits, 30.0), -1).astype(jnp.int32), grown
        params = placed(arrays, as_kind(shapes, change.stored))
        return sample, (params, caches, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


# --- Trees of guesses ---

def turned_everywhere(x, places, theta=1e6):
    """x [batch, nodes, heads, side], each at its own place."""
    half = x.shape[-1] // 2
    angles = places.astype(F32)[..., None, None] * theta ** (-jnp.arange(half, dtype=F32) / half)
    cos, sin = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    low, high = x[..., :half], x[..., half:]
    return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)


def put_behind(whole, new, lengths):
    """Rows of each sequence's nodes, [batch, heads, nodes, side], behind what its cache has."""
    def one(rows, some, length):
        return jax.lax.dynamic_update_slice(rows, some.astype(rows.dtype), (0, length, 0))
    return jax.vmap(one)(whole, new, lengths)


def seen_by_nodes(ancestors, lengths, room):
    """[batch, nodes, room]: all of the text, and of the tree what leads to a node."""
    def one(mine, length):
        tree = jax.lax.dynamic_update_slice(jnp.zeros((mine.shape[0], room), bool), mine, (0, length))
        return tree | (jnp.arange(room) < length)
    return jax.vmap(one)(ancestors, lengths)


def judged_trees(layers, width, heads, kv_heads, hidden, vocab, nodes, batch, room, kept=jnp.float8_e4m3fn, kind=BF16):
    """Qwen 2.5 judges a small tree of guesses a sequence: one scan over layers and their caches of eight-bit floats."""
    side = width // heads
    matrices = {"q_proj": (width, width), "k_proj": (width, kv_heads * side), "v_proj": (width, kv_heads * side),
                "o_proj": (width, width), "gate_proj": (width, hidden), "up_proj": (width, hidden),
                "down_proj": (hidden, width)}
    vectors = {"input_norm": width, "post_norm": width, "q_bias": width, "k_bias": kv_heads * side,
               "v_bias": kv_heads * side}

    def layer(x, w, keys, values, places, lengths, seen):
        b = x.shape[0]
        h = root_normed(x, w["input_norm"])
        q, k, v = ((h @ w[f"{one}_proj"] + w[f"{one}_bias"]).reshape(b, nodes, -1, side) for one in ("q", "k", "v"))
        q, k = turned_everywhere(q, places), turned_everywhere(k, places)
        keys, values = put_behind(keys, k.swapaxes(1, 2), lengths), put_behind(values, v.swapaxes(1, 2), lengths)
        q = q.reshape(b, nodes, kv_heads, -1, side) * side ** -0.5
        scores = jnp.einsum("bnkgd,bktd->bkgnt", q, keys.astype(q.dtype)).astype(F32)
        weights = jax.nn.softmax(jnp.where(seen[:, None, None], scores, -1e30), -1).astype(x.dtype)
        mixed = jnp.einsum("bkgnt,bktd->bnkgd", weights, values.astype(x.dtype)).reshape(x.shape)
        x = x + mixed @ w["o_proj"]
        h = root_normed(x, w["post_norm"])
        return x + (jax.nn.silu(h @ w["gate_proj"]) * (h @ w["up_proj"])) @ w["down_proj"], (keys, values)

    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        stack = {name: arrays.parameter((layers, *size), 1) for name, size in matrices.items()}
        stack |= {name: arrays.parameter((layers, size), None) for name, size in vectors.items()}
        params = {"embed_tokens": arrays.parameter((vocab, width)), "norm": arrays.parameter((width,), None),
                  "lm_head": arrays.parameter((width, vocab), 1), "layers": stack}
        cache = arrays.array((layers, b, kv_heads, time, side), kept, 1 if change.shard == "all" else None)

        def judge(params, caches, tree, lengths):
            seen = seen_by_nodes(tree["ancestors"], lengths, time)
            places = lengths[:, None] + tree["depth"]

            def body(x, one):
                w, (keys, values) = one
                return layer(x, as_kind(w, now), keys, values, places, lengths, seen)
            x = as_kind(params["embed_tokens"], now)[tree["tokens"]].astype(now)
            x, caches = jax.lax.scan(body, x, (params["layers"], caches))
            logits = (root_normed(x, params["norm"].astype(now)) @ as_kind(params["lm_head"], now)).astype(F32)
            said = jnp.argmax(logits, -1).astype(jnp.int32)
            agreed = jnp.take_along_axis(said, tree["parent"], 1) == tree["tokens"]
            right = jnp.all(agreed[:, None] | ~tree["ancestors"], -1)
            return said, jnp.max(jnp.where(right, tree["depth"], 0), -1), caches
        whole = arrays.batch((b, nodes), jnp.int32)
        tree = {"tokens": whole, "depth": whole, "parent": whole,
                "ancestors": arrays.batch((b, nodes, nodes), jnp.bool_)}
        return judge, (params, (cache, cache), tree, arrays.batch((b,), jnp.int32)), (1,)
    return make
