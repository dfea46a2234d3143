"""Prompts that are read at once, for caches and the scores of the next word: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import computed
from advice_fresh import root_normed
from advice_kinds_decoders import rotated
from advice_structures import BF16, F32


def in_type(tree, kind):
    """Floating weights in this type; what is stored as bytes stays so, its scales aside."""
    return jax.tree.map(lambda w: w.astype(kind) if jnp.issubdtype(w.dtype, jnp.floating) else w, tree)


# --- Unrolled ---

def read_prompt(layers, width, heads, groups, hidden, vocabulary, batch, prompt, kind=BF16):
    """A decoder of the manner of Qwen, unrolled: caches come out as a list; prompts have lengths of their own."""
    side = width // heads

    def make(arrays, change):
        size, length, now = batch // change.batch_divisor, prompt // change.length_divisor, computed(change, kind)

        def layer():
            return {"q": arrays.parameter((width, width)), "k": arrays.parameter((width, groups * side)),
                    "v": arrays.parameter((width, groups * side)), "o": arrays.parameter((width, width)),
                    "gate": arrays.parameter((width, hidden)), "up": arrays.parameter((width, hidden)),
                    "down": arrays.parameter((hidden, width)), "q_bias": arrays.parameter((width,), None),
                    "norm1": arrays.parameter((width,), None), "norm2": arrays.parameter((width,), None)}
        params = {"embed": arrays.parameter((vocabulary, width)), "norm": arrays.parameter((width,), None),
                  "layers": [layer() for _ in range(layers)], "head": arrays.parameter((width, vocabulary))}

        def block(p, x, mask):
            h = root_normed(x, p["norm1"])
            query = rotated((h @ p["q"] + p["q_bias"]).reshape(size, length, heads, side), 1e6)
            key = rotated((h @ p["k"]).reshape(size, length, groups, side), 1e6)
            value = (h @ p["v"]).reshape(size, length, groups, side)
            wide = [jnp.repeat(one, heads // groups, 2) for one in (key, value)]
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, wide[0]).astype(F32) / side ** 0.5
            weights = jax.nn.softmax(jnp.where(mask, scores, -1e9)).astype(x.dtype)
            x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, wide[1]).reshape(x.shape) @ p["o"]
            h = root_normed(x, p["norm2"])
            return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"], (key, value)

        def prefill(params, ids, lengths):
            p = in_type(params, now)
            x, caches = p["embed"][ids], []
            seen = jnp.tril(jnp.ones((length, length), bool)) & (jnp.arange(length) < lengths[:, None, None])
            for one in p["layers"]:
                x, cache = block(one, x, seen[:, None])
                caches.append(cache)
            last = jnp.take_along_axis(x, lengths[:, None, None] - 1, 1)[:, 0]
            return (root_normed(last, p["norm"]) @ p["head"]).astype(F32), caches
        return prefill, (params, arrays.batch((size, length), jnp.int32), arrays.batch((size,), jnp.int32)), ()
    return make


# --- Scanned ---

def filled_caches(layers, width, heads, hidden, vocabulary, batch, prompt, room, kind=BF16):
    """A decoder of one scan, that writes the prompt's keys and values into caches of all layers that it was given."""
    side = width // heads

    def make(arrays, change):
        size, now = batch // change.batch_divisor, computed(change, kind)
        stacks = {"wq": (width, width), "wk": (width, width), "wv": (width, width), "wo": (width, width),
                  "fc1": (width, hidden), "fc2": (hidden, width)}
        stacks = {name: arrays.parameter((layers, *shape), 1) for name, shape in stacks.items()}
        stacks |= {name: arrays.parameter((layers, width), None) for name in ("ln1", "ln2")}
        params = {"wte": arrays.parameter((vocabulary, width)), "stack": stacks,
                  "ln": arrays.parameter((width,), None)}
        cache = arrays.array((layers, size, room, heads, side), BF16, 1 if change.shard == "all" else None)

        def body(x, both):
            p, cache = both
            p = in_type(p, now)
            h = root_normed(x, p["ln1"])
            query, key, value = ((h @ p[name]).reshape(size, prompt, heads, side) for name in ("wq", "wk", "wv"))
            query, key = rotated(query), rotated(key)
            grown = {"k": jax.lax.dynamic_update_slice(cache["k"], key.astype(BF16), (0, 0, 0, 0)),
                     "v": jax.lax.dynamic_update_slice(cache["v"], value.astype(BF16), (0, 0, 0, 0))}
            mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True)
            x = x + mixed.reshape(x.shape) @ p["wo"]
            return x + jax.nn.gelu(root_normed(x, p["ln2"]) @ p["fc1"]) @ p["fc2"], grown

        def prefill(params, cache, tokens):
            table = params["wte"].astype(now)
            x, cache = jax.lax.scan(body, table[tokens], (params["stack"], cache))
            return jnp.einsum("bd,vd->bv", root_normed(x[:, -1], params["ln"].astype(now)), table), cache
        return prefill, (params, {"k": cache, "v": cache}, arrays.batch((size, prompt), jnp.int32)), (1,)
    return make
