"""Steps that are served: one memory that half of the layers share, and drafts checked against caches of four bits.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_verdict_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed
from advice_field_serving import turned_at
from advice_fresh import root_normed
from advice_proof_serving import turned_from
from advice_structures import BF16, F32


# --- Kept once ---

def look_back(q, keys, values, seen):
    """q [batch, heads, side] at [batch, time, kv heads, side], of which some are seen."""
    b, heads, side = q.shape
    q = q.reshape(b, keys.shape[2], -1, side) * side ** -0.5
    scores = jnp.einsum("bngd,btnd->bngt", q, keys.astype(q.dtype), preferred_element_type=F32)
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e30), axis=-1).astype(q.dtype)
    return jnp.einsum("bngt,btnd->bngd", weights, values.astype(q.dtype)).reshape(b, heads * side)


def kept_once(layers, width, heads, kv_heads, hidden, vocab, window, batch, room, kind=BF16):
    """YOCO's step: the lower half of the layers keeps a window each, the upper half reads one cache that all share."""
    side = width // heads
    narrow = kv_heads * side

    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        split = 0 if change.shard == "all" else None

        def vector():
            return arrays.parameter((width,), None)

        def block_of(is_lower):
            block = {"norm1": vector(), "norm2": vector(), "wq": arrays.parameter((width, width), 1),
                     "wo": arrays.parameter((width, width)), "w1": arrays.parameter((width, hidden), 1),
                     "w3": arrays.parameter((width, hidden), 1), "w2": arrays.parameter((hidden, width))}
            if is_lower:
                block |= {"wk": arrays.parameter((width, narrow), 1), "wv": arrays.parameter((width, narrow), 1)}
            return block
        params = {"tok": arrays.parameter((vocab, width)), "norm": vector(),
                  "head": arrays.parameter((width, vocab), 1),
                  "lower": [block_of(True) for _ in range(layers // 2)],
                  "upper": [block_of(False) for _ in range(layers // 2)],
                  "kv": {"norm": vector(), "wk": arrays.parameter((width, narrow), 1),
                         "wv": arrays.parameter((width, narrow), 1)}}

        def kept(length):
            one = arrays.array((b, length, kv_heads, side), BF16, split)
            return {"k": one, "v": one}
        cache = {"near": [kept(window) for _ in range(layers // 2)], "whole": kept(time)}

        def put(store, p, h, place, slot):
            k = turned_at((h @ p["wk"]).reshape(b, kv_heads, side), place)
            v = (h @ p["wv"]).reshape(b, kv_heads, side)
            return {name: jax.lax.dynamic_update_slice_in_dim(store[name], new[:, None].astype(BF16), slot, 1)
                    for name, new in (("k", k), ("v", v))}

        def finish(p, x, mixed):
            x = x + mixed @ p["wo"]
            h = root_normed(x, p["norm2"])
            return x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]

        def step(params, cache, tokens, place):
            p = as_kind(params, now)
            x, near = p["tok"][tokens], []
            for block, store in zip(p["lower"], cache["near"]):
                h = root_normed(x, block["norm1"])
                store = put(store, block, h, place, place % window)
                q = turned_at((h @ block["wq"]).reshape(b, heads, side), place)
                x = finish(block, x, look_back(q, store["k"], store["v"], jnp.arange(window) <= place))
                near.append(store)
            whole = put(cache["whole"], p["kv"], root_normed(x, p["kv"]["norm"]), place, place)
            for block in p["upper"]:
                q = turned_at((root_normed(x, block["norm1"]) @ block["wq"]).reshape(b, heads, side), place)
                x = finish(block, x, look_back(q, whole["k"], whole["v"], jnp.arange(time) <= place))
            logits = (root_normed(x, p["norm"]) @ p["head"]).astype(F32)
            return jnp.argmax(logits, -1).astype(jnp.int32), {"near": near, "whole": whole}
        return step, (params, cache, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


# --- Nibbles ---

def to_nibbles(x):
    """[..., side] -> two values a byte; the scale and the least value of each row."""
    wide = x.astype(F32)
    low = wide.min(-1)
    scale = (wide.max(-1) - low) / 15 + 1e-6
    codes = jnp.round((wide - low[..., None]) / scale[..., None]).astype(jnp.uint8)
    side = x.shape[-1] // 2
    return {"packed": codes[..., :side] | (codes[..., side:] << 4), "scale": scale.astype(BF16),
            "low": low.astype(BF16)}


def from_nibbles(store, kind):
    codes = jnp.concatenate([store["packed"] & 15, store["packed"] >> 4], -1).astype(kind)
    return codes * store["scale"][..., None].astype(kind) + store["low"][..., None].astype(kind)


def nibble_drafts(layers, width, heads, kv_heads, side, hidden, vocab, draft, batch, room, kind=BF16):
    """A draft of some words is checked at once: layers in a scan, keys and values of four bits, two in a byte."""
    matrices = {"q": (width, heads * side), "k": (width, kv_heads * side), "v": (width, kv_heads * side),
                "o": (heads * side, width), "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}

    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        blocks = {name: arrays.parameter((layers, *shape), 1 if name in ("o", "down") else 2)
                  for name, shape in matrices.items()}
        blocks |= {name: arrays.parameter((layers, size), None) for name, size in (
            ("ln1", width), ("ln2", width), ("q_ln", side), ("k_ln", side))}
        params = {"embed": arrays.parameter((vocab, width)), "ln": arrays.parameter((width,), None), "blocks": blocks}
        split, lead = 1 if change.shard == "all" else None, (layers, b, kv_heads, time)
        line = arrays.array(lead, BF16, split)
        caches = {name: {"packed": arrays.array((*lead, side // 2), jnp.uint8, split), "scale": line, "low": line}
                  for name in ("k", "v")}

        def write(store, new, starts):
            rows, columns = jnp.arange(b)[:, None], starts[:, None] + jnp.arange(draft)
            return {name: store[name].at[rows, :, columns].set(one) for name, one in to_nibbles(new).items()}

        def verify(params, caches, tokens, starts):
            places = starts[:, None] + jnp.arange(draft)
            seen = (jnp.arange(time) <= places[..., None])[:, None, None]

            def layer(x, both):
                w, mine = as_kind(both[0], now), both[1]
                h = root_normed(x, w["ln1"])
                q, k, v = ((h @ w[name]).reshape(b, draft, -1, side) for name in ("q", "k", "v"))
                q, k = (turned_from(root_normed(y, w[ln]), places, 1e6) for y, ln in ((q, "q_ln"), (k, "k_ln")))
                mine = {"k": write(mine["k"], k, starts), "v": write(mine["v"], v, starts)}
                keys, values = from_nibbles(mine["k"], now), from_nibbles(mine["v"], now)
                q = q.reshape(b, draft, kv_heads, -1, side) * side ** -0.5
                scores = jnp.einsum("bwngd,bntd->bngwt", q, keys).astype(F32)
                weights = jax.nn.softmax(jnp.where(seen, scores, -1e30)).astype(now)
                mixed = jnp.einsum("bngwt,bntd->bwngd", weights, values)
                x = x + mixed.reshape(b, draft, heads * side) @ w["o"]
                h = root_normed(x, w["ln2"])
                return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], mine
            table = params["embed"]
            x, caches = jax.lax.scan(layer, table[tokens].astype(now), (params["blocks"], caches))
            x = root_normed(x, params["ln"].astype(now))
            if hasattr(table, "scale"):
                logits = (x * table.scale.astype(now)) @ table.values.T.astype(now)
            else:
                logits = x @ table.astype(now).T
            said = jnp.argmax(logits.astype(F32), -1).astype(jnp.int32)
            kept = jnp.cumprod((tokens[:, 1:] == said[:, :-1]).astype(jnp.int32), 1).sum(1)
            return said, starts + kept + 1, caches
        return verify, (params, caches, arrays.batch((b, draft), jnp.int32), arrays.batch((b,), jnp.int32)), (1,)
    return make
