"""Steps that are served: states beside caches in a tuple of layers, and drafts judged by experts against bytes.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_proof_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed
from advice_fresh import root_normed, shaped
from advice_structures import BF16, F32


# --- States and caches in turns ---

def state_shapes(width, heads, side, state, taps):
    inner = heads * side
    return {"norm": (width,), "into": (width, 2 * inner + 2 * state + heads), "taps": (taps, inner + 2 * state),
            "taps_bias": (inner + 2 * state,), "a_log": (heads,), "skip": (heads,), "dt_bias": (heads,),
            "gate_norm": (inner,), "out": (inner, width)}


def state_step(w, kept, x, heads, side, state):
    """Mamba 2 for one word: the last few inputs of its convolution, and one state for each head."""
    b, inner = x.shape[0], heads * side
    gate, mixed, step = jnp.split(root_normed(x, w["norm"]) @ w["into"], [inner, 2 * inner + 2 * state], axis=-1)
    seen = jnp.concatenate([kept["window"].astype(x.dtype), mixed[:, None]], axis=1)
    mixed = jax.nn.silu(jnp.einsum("bkc,kc->bc", seen, w["taps"]) + w["taps_bias"])
    u, key, query = jnp.split(mixed.astype(F32), [inner, inner + state], axis=-1)
    u, step = u.reshape(b, heads, side), jax.nn.softplus(step.astype(F32) + w["dt_bias"].astype(F32))
    fade = jnp.exp(-step * jnp.exp(w["a_log"].astype(F32)))
    states = kept["state"].astype(F32) * fade[..., None, None] + jnp.einsum("bh,bhp,bn->bhpn", step, u, key)
    y = jnp.einsum("bhpn,bn->bhp", states, query) + w["skip"].astype(F32)[:, None] * u
    y = y.reshape(b, inner).astype(x.dtype) * jax.nn.silu(gate)
    kept = {"window": seen[:, 1:].astype(kept["window"].dtype), "state": states.astype(kept["state"].dtype)}
    return x + root_normed(y, w["gate_norm"]) @ w["out"], kept


def looking_shapes(width, heads, kv_heads, hidden):
    side = width // heads
    return {"norm": (width,), "q": (width, width), "kv": (width, 2 * kv_heads * side), "o": (width, width),
            "ffn_norm": (width,), "gate_up": (width, 2 * hidden), "down": (hidden, width)}


def looking_step(w, kept, x, place, heads, kv_heads):
    """Attention without places, and units; the cache is [batch, room, kv heads, side]."""
    b, width = x.shape
    side, h = width // heads, root_normed(x, w["norm"])
    k, v = jnp.split((h @ w["kv"]).reshape(b, 1, 2 * kv_heads, side), 2, axis=2)
    keys = jax.lax.dynamic_update_slice_in_dim(kept["k"], k.astype(kept["k"].dtype), place, axis=1)
    values = jax.lax.dynamic_update_slice_in_dim(kept["v"], v.astype(kept["v"].dtype), place, axis=1)
    q = (h @ w["q"]).reshape(b, kv_heads, heads // kv_heads, side) * side ** -0.5
    scores = jnp.einsum("bkgd,btkd->bkgt", q, keys.astype(x.dtype)).astype(F32)
    weights = jax.nn.softmax(jnp.where(jnp.arange(keys.shape[1]) <= place, scores, -1e30)).astype(x.dtype)
    x = x + jnp.einsum("bkgt,btkd->bkgd", weights, values.astype(x.dtype)).reshape(b, width) @ w["o"]
    gate, up = jnp.split(root_normed(x, w["ffn_norm"]) @ w["gate_up"], 2, axis=-1)
    return x + (jax.nn.silu(gate) * up) @ w["down"], {"k": keys, "v": values}


def states_and_caches(pattern, width, heads, kv_heads, hidden, inner_heads, state, vocab, batch, room, kind=BF16):
    """Bamba's step in a small size, written out: "s" keeps a state, "a" a cache; all of it is a tuple of layers."""
    side, taps = 64, 4
    inner = inner_heads * side

    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        split = 0 if change.shard == "all" else None
        shapes = shaped(embed=(vocab, width), norm=(width,))
        shapes["layers"] = [shaped(**(state_shapes(width, inner_heads, side, state, taps) if one == "s" else
                                      looking_shapes(width, heads, kv_heads, hidden))) for one in pattern]

        def kept_of(one):
            if one == "s":
                return {"window": arrays.array((b, taps - 1, inner + 2 * state), BF16, split),
                        "state": arrays.array((b, inner_heads, side, state), change.stored, split)}
            cache = arrays.array((b, time, kv_heads, width // heads), BF16, split)
            return {"k": cache, "v": cache}

        def next_words(params, memory, tokens, place, key):
            p, grown = as_kind(params, now), []
            x = p["embed"][tokens]
            for one, w, kept in zip(pattern, p["layers"], memory):
                if one == "s":
                    x, kept = state_step(w, kept, x, inner_heads, side, state)
                else:
                    x, kept = looking_step(w, kept, x, place, heads, kv_heads)
                grown.append(kept)
            logits = (root_normed(x, p["norm"]) @ p["embed"].T).astype(F32)
            noise = jax.random.gumbel(jax.random.wrap_key_data(key), logits.shape)
            return jnp.argmax(logits / 0.7 + noise, -1).astype(jnp.int32), tuple(grown)
        arguments = (placed(arrays, as_kind(shapes, change.stored)), tuple(kept_of(one) for one in pattern),
                     arrays.batch((b,), jnp.int32), arrays.array((), jnp.int32), arrays.array((2,), jnp.uint32))
        return next_words, arguments, (1,)
    return make


# --- Drafts that experts judge ---

def by_each(x, w):
    """[words, in] or [experts, words, in] by every expert's matrix, which may be in bytes with a scale a column."""
    if hasattr(w, "scale"):
        return (x @ w.values.astype(x.dtype)) * w.scale[..., None, :]
    return x @ w


def of_experts(x, w, best):
    """All experts see the few words of a step; gates of those that were not chosen are zero."""
    scores, chosen = jax.lax.top_k((x @ w["router"]).astype(F32), best)
    count = w["router"].shape[-1]
    gates = jnp.einsum("nk,nke->en", jax.nn.softmax(scores), jax.nn.one_hot(chosen, count))
    units = jax.nn.silu(by_each(x, w["expert_gate"])) * by_each(x, w["expert_up"])
    return jnp.einsum("en,enw->nw", gates.astype(x.dtype), by_each(units, w["expert_down"]))


def turned_from(x, places, theta=10000.0):
    """x [batch, words, heads, side] at places [batch, words]."""
    half = x.shape[-1] // 2
    angle = places[..., None, None].astype(F32) / theta ** (jnp.arange(half, dtype=F32) / half)
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def into_bytes(x):
    scale = jnp.max(jnp.abs(x.astype(F32)), -1) / 127 + 1e-8
    return jnp.round(x.astype(F32) / scale[..., None]).astype(jnp.int8), scale.astype(BF16)


def behind(whole, new, layer, starts):
    """New rows of [batch, words, ...] into one layer of [layers, batch, room, ...], of each sequence at its place."""
    rows = jnp.arange(new.shape[0])[:, None]
    return whole.at[layer, rows, starts[:, None] + jnp.arange(new.shape[1])].set(new)


def drafted_experts(layers, width, heads, kv_heads, experts, best, hidden, vocab, words, batch, room, kind=BF16):
    """Granite 3's experts judge a draft of a few words; whole caches, in bytes, are carried from layer to layer."""
    side = width // heads
    matrices = {"q": (width, width), "k": (width, kv_heads * side), "v": (width, kv_heads * side), "o": (width, width),
                "router": (width, experts), "expert_gate": (experts, width, hidden),
                "expert_up": (experts, width, hidden), "expert_down": (experts, hidden, width)}

    def make(arrays, change):
        b, time, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        stack = {name: arrays.parameter((layers, *size), None if name == "router" else 1)
                 for name, size in matrices.items()}
        stack |= {name: arrays.parameter((layers, width), None) for name in ("mix_norm", "experts_norm")}
        params = {"embed": arrays.parameter((vocab, width)), "head": arrays.parameter((width, vocab), 1),
                  "norm": arrays.parameter((width,), None), "layers": stack}
        split, shape = 1 if change.shard == "all" else None, (layers, b, time, kv_heads)
        cache = {name: arrays.array((*shape, side), jnp.int8, split) for name in ("k", "v")}
        cache |= {name: arrays.array(shape, BF16, split) for name in ("k_scale", "v_scale")}

        def attend(w, h, cache, layer, starts):
            places = starts[:, None] + jnp.arange(words)
            q, k, v = ((h @ w[one]).reshape(b, words, -1, side) for one in ("q", "k", "v"))
            for name, new in (("k", turned_from(k, places)), ("v", v)):
                values, scale = into_bytes(new)
                cache = cache | {name: behind(cache[name], values, layer, starts),
                                 f"{name}_scale": behind(cache[f"{name}_scale"], scale, layer, starts)}
            mine = {name: jax.lax.dynamic_index_in_dim(one, layer, 0, False) for name, one in cache.items()}
            q = turned_from(q, places).reshape(b, words, kv_heads, -1, side) * side ** -0.5
            scores = jnp.einsum("bwkgd,btkd->bkgwt", q, mine["k"].astype(q.dtype)).astype(F32)
            scores = scores * mine["k_scale"].astype(F32).swapaxes(1, 2)[:, :, None, None]
            seen = jnp.arange(time) <= places[..., None]
            weights = jax.nn.softmax(jnp.where(seen[:, None, None], scores, -1e30))
            weights = (weights * mine["v_scale"].astype(F32).swapaxes(1, 2)[:, :, None, None]).astype(h.dtype)
            mixed = jnp.einsum("bkgwt,btkd->bwkgd", weights, mine["v"].astype(h.dtype))
            return mixed.reshape(b, words, width) @ w["o"], cache

        def judge(params, cache, draft, starts):
            def body(carry, xs):
                x, cache = carry
                layer, w = xs[0], as_kind(xs[1], now)
                y, cache = attend(w, root_normed(x, w["mix_norm"]), cache, layer, starts)
                x = x + 0.22 * y
                h = root_normed(x, w["experts_norm"]).reshape(-1, width)
                return (x + 0.22 * of_experts(h, w, best).reshape(x.shape), cache), None
            x = 12 * as_kind(params["embed"], now)[draft].astype(now)
            (x, cache), _ = jax.lax.scan(body, (x, cache), (jnp.arange(layers), params["layers"]))
            logits = (root_normed(x, params["norm"].astype(now)) @ as_kind(params["head"], now)).astype(F32) / 6
            said = jnp.argmax(logits, -1).astype(jnp.int32)
            agreed = jnp.cumprod((draft[:, 1:] == said[:, :-1]).astype(jnp.int32), axis=1).sum(1)
            return said, starts + agreed + 1, cache
        return judge, (params, cache, arrays.batch((b, words), jnp.int32), arrays.batch((b,), jnp.int32)), (1,)
    return make
