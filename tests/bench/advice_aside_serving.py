"""Steps that are served: caches that forget what is least looked at, and old words in bytes beside new ones.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_aside_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed
from advice_field_serving import turned_at
from advice_fresh import root_normed
from advice_structures import BF16, F32


def centred(x, scale, bias):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * scale + bias


# --- Heavy hitters ---

def forgotten_slot(hits, born, place, recent):
    """[batch, heads]: the next free one, or else that of the least attention which is not among the latest words."""
    room = hits.shape[-1]
    least = jnp.argmin(jnp.where(born > place - recent, jnp.inf, hits), -1).astype(jnp.int32)
    return jnp.where(place < room, place, least)


def heavy_hitters(layers, width, heads, hidden, vocab, places, recent, batch, room, kind=BF16):
    """H2O on GPT-Neo: each head keeps the words that were looked at most, and the latest; a list of layers' caches."""
    side = width // heads

    def make(arrays, change):
        b, slots, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        latest = recent // change.length_divisor
        split = 0 if change.shard == "all" else None

        def vector(size):
            return arrays.parameter((size,), None)

        def block():
            return {"ln_1": {"g": vector(width), "b": vector(width)}, "ln_2": {"g": vector(width), "b": vector(width)},
                    "attn": {"q": arrays.parameter((width, width), 1), "k": arrays.parameter((width, width), 1),
                             "v": arrays.parameter((width, width), 1), "o": arrays.parameter((width, width)),
                             "b": vector(width)},
                    "mlp": {"c_fc": arrays.parameter((width, hidden), 1), "b_fc": vector(hidden),
                            "c_proj": arrays.parameter((hidden, width)), "b_proj": vector(width)}}
        params = {"wte": arrays.parameter((vocab, width)), "wpe": arrays.parameter((places, width)),
                  "ln_f": {"g": vector(width), "b": vector(width)}, "head": arrays.parameter((width, vocab)),
                  "h": [block() for _ in range(layers)]}

        def empty():
            line = arrays.array((b, heads, slots, side), BF16, split)
            return {"k": line, "v": line, "hits": arrays.array((b, heads, slots), F32, split),
                    "born": arrays.array((b, heads, slots), jnp.int32, split)}
        rows, columns = jnp.arange(b)[:, None], jnp.arange(heads)[None]

        def look(p, x, store, place):
            q, k, v = ((x @ p[name]).reshape(b, heads, side) for name in ("q", "k", "v"))
            slot = forgotten_slot(store["hits"], store["born"], place, latest)
            store = {"k": store["k"].at[rows, columns, slot].set(k.astype(BF16)),
                     "v": store["v"].at[rows, columns, slot].set(v.astype(BF16)),
                     "hits": store["hits"].at[rows, columns, slot].set(0.0),
                     "born": store["born"].at[rows, columns, slot].set(place)}
            scores = jnp.einsum("bhd,bhsd->bhs", q, store["k"].astype(q.dtype), preferred_element_type=F32)
            chances = jax.nn.softmax(jnp.where(jnp.arange(slots) <= place, scores, -1e30))
            store["hits"] = store["hits"] + chances
            mixed = jnp.einsum("bhs,bhsd->bhd", chances.astype(q.dtype), store["v"].astype(q.dtype))
            return mixed.reshape(b, width) @ p["o"] + p["b"], store

        def decode(params, caches, tokens, place):
            p, grown = as_kind(params, now), []
            x = p["wte"][tokens] + p["wpe"][place][None]
            for block, store in zip(p["h"], caches):
                said, store = look(block["attn"], centred(x, block["ln_1"]["g"], block["ln_1"]["b"]), store, place)
                x, mlp = x + said, block["mlp"]
                h = jax.nn.gelu(centred(x, block["ln_2"]["g"], block["ln_2"]["b"]) @ mlp["c_fc"] + mlp["b_fc"])
                x = x + h @ mlp["c_proj"] + mlp["b_proj"]
                grown.append(store)
            logits = centred(x, p["ln_f"]["g"], p["ln_f"]["b"]) @ p["head"]
            return jnp.argmax(logits.astype(F32), -1).astype(jnp.int32), grown
        caches = [empty() for _ in range(layers)]
        return decode, (params, caches, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


# --- Old words in bytes ---

def in_bytes(x, axis):
    """Codes of a byte over an axis, and the scale and the least value of each line along it."""
    wide = x.astype(F32)
    low = wide.min(axis, keepdims=True)
    scale = (wide.max(axis, keepdims=True) - low) / 255 + 1e-6
    return {"codes": jnp.round((wide - low) / scale).astype(jnp.uint8), "scale": scale.astype(BF16),
            "low": low.astype(BF16)}


def from_bytes(store, kind):
    return store["codes"].astype(kind) * store["scale"].astype(kind) + store["low"].astype(kind)


def aged_bytes(layers, width, heads, kv_heads, hidden, vocab, group, batch, room, kind=BF16):
    """KIVI on Falcon 3: keys in bytes by channel, values by word, and the latest group as it was; layers in a scan."""
    side = width // heads
    narrow = kv_heads * side

    def make(arrays, change):
        b, now = batch // change.batch_divisor, computed(change, kind)
        groups = room // change.length_divisor // group
        split = 1 if change.shard == "all" else None

        def stack(rows, columns, cut):
            return arrays.parameter((layers, rows, columns), cut)
        blocks = {"wq": stack(width, width, 2), "wk": stack(width, narrow, 2), "wv": stack(width, narrow, 2),
                  "wo": stack(width, width, 1), "w1": stack(width, hidden, 2), "w3": stack(width, hidden, 2),
                  "w2": stack(hidden, width, 1), "norm_1": arrays.parameter((layers, width), None),
                  "norm_2": arrays.parameter((layers, width), None)}
        params = {"tok": arrays.parameter((vocab, width)), "norm": arrays.parameter((width,), None), "blocks": blocks,
                  "out": arrays.parameter((width, vocab), 1)}
        lead = layers, b, kv_heads

        def old(*line):
            scales = arrays.array((*lead, groups, *line), BF16, split)
            return {"codes": arrays.array((*lead, groups, group, side), jnp.uint8, split), "scale": scales,
                    "low": scales}
        new = arrays.array((*lead, group, side), BF16, split)
        caches = {"old": {"k": old(1, side), "v": old(group, 1)}, "new": {"k": new, "v": new}}

        def aged(store, lines, place):
            """The latest group is written at its place among the old; it counts when it is full."""
            return {name: jax.lax.dynamic_update_slice_in_dim(store[name], one[:, :, None], place // group, 2)
                    for name, one in lines.items()}

        def decode(params, caches, tokens, place):
            is_old = jnp.repeat(jnp.arange(groups) < place // group, group)
            seen = jnp.concatenate([is_old, jnp.arange(group) <= place % group])

            def layer(x, given):
                w, store = as_kind(given[0], now), given[1]
                h = root_normed(x, w["norm_1"])
                q = turned_at((h @ w["wq"]).reshape(b, heads, side), place)
                k = turned_at((h @ w["wk"]).reshape(b, kv_heads, side), place)
                v = (h @ w["wv"]).reshape(b, kv_heads, side)
                new = {name: jax.lax.dynamic_update_slice_in_dim(
                    store["new"][name], one[:, :, None].astype(BF16), place % group, 2)
                    for name, one in (("k", k), ("v", v))}
                old = {"k": aged(store["old"]["k"], in_bytes(new["k"], 2), place),
                       "v": aged(store["old"]["v"], in_bytes(new["v"], 3), place)}
                keys, values = (jnp.concatenate([from_bytes(old[name], now).reshape(b, kv_heads, -1, side),
                                                 new[name].astype(now)], 2) for name in ("k", "v"))
                q = q.reshape(b, kv_heads, -1, side) * side ** -0.5
                scores = jnp.einsum("bngd,bntd->bngt", q, keys, preferred_element_type=F32)
                chances = jax.nn.softmax(jnp.where(seen, scores, -1e30)).astype(now)
                x = x + jnp.einsum("bngt,bntd->bngd", chances, values).reshape(b, width) @ w["wo"]
                h = root_normed(x, w["norm_2"])
                return x + (jax.nn.silu(h @ w["w1"]) * (h @ w["w3"])) @ w["w2"], {"old": old, "new": new}
            x, caches = jax.lax.scan(layer, params["tok"][tokens].astype(now), (params["blocks"], caches))
            logits = root_normed(x, params["norm"].astype(now)) @ params["out"].astype(now)
            return jnp.argmax(logits.astype(F32), -1).astype(jnp.int32), caches
        return decode, (params, caches, arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make
