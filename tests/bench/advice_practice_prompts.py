"""What is served: long prompts by blocks of queries, several words a turn with heads that guess ahead.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_practice_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed
from advice_fresh import shaped
from advice_practice_words import rms
from advice_structures import BF16, F32


# --- Long prompts: one key head, ALiBi ---

def layer_normed(x, gain):
    wide = x.astype(F32)
    mean = jnp.mean(wide, -1, keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(jnp.var(wide, -1, keepdims=True) + 1e-5)).astype(x.dtype) * gain


def biased_blocks(q, k, v, n_heads, size):
    """[batch, time, heads * side] by [batch, time, side]: one block of queries at a time sees all keys."""
    b, t, side = k.shape
    slopes = 2.0 ** (-8.0 * jnp.arange(1, n_heads + 1, dtype=F32) / n_heads)
    keys = jnp.arange(t)

    def of_block(both):
        start, some = both
        apart = (start + jnp.arange(size))[:, None] - keys
        bias = jnp.where(apart >= 0, -slopes[:, None, None] * apart, -jnp.inf)
        scores = jnp.einsum("bqhd,bkd->bhqk", some, k, preferred_element_type=F32) * side ** -0.5 + bias
        return jnp.einsum("bhqk,bkd->bqhd", jax.nn.softmax(scores).astype(v.dtype), v)
    blocks = q.reshape(b, t // size, size, n_heads, side).swapaxes(0, 1)
    return jax.lax.map(of_block, (jnp.arange(0, t, size), blocks)).swapaxes(0, 1).reshape(b, t, -1)


def alibi_long_prefill(n_layers, d, n_heads, d_ff, vocab, batch, prompt, block, room, kind=BF16):
    """StarCoder's sizes with ALiBi: prompts fill the caches that are given; in them is room for what will be said."""
    side = d // n_heads

    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, prompt // change.length_divisor, computed(change, kind)
        stack = {name: arrays.parameter((n_layers, *shape), 1) for name, shape in {
            "c_attn": (d, d + 2 * side), "c_proj": (d, d), "c_fc": (d, d_ff), "mlp_proj": (d_ff, d)}.items()}
        stack |= {name: arrays.parameter((n_layers, d), None) for name in ("ln_1", "ln_2")}
        params = {"wte": arrays.parameter((vocab, d)), "h": stack, "ln_f": arrays.parameter((d,), None),
                  "lm_head": arrays.parameter((d, vocab))}
        cache = arrays.array((n_layers, b, room // change.length_divisor, side), BF16,
                             1 if change.shard == "all" else None)

        def body(x, layer):
            w, keys, values = layer
            w = as_kind(w, now)
            q, k, v = jnp.split(layer_normed(x, w["ln_1"]) @ w["c_attn"], [d, d + side], axis=-1)
            keys = jax.lax.dynamic_update_slice(keys, k.astype(BF16), (0, 0, 0))
            values = jax.lax.dynamic_update_slice(values, v.astype(BF16), (0, 0, 0))
            x = x + biased_blocks(q, k, v, n_heads, block) @ w["c_proj"]
            return x + jax.nn.gelu(layer_normed(x, w["ln_2"]) @ w["c_fc"]) @ w["mlp_proj"], (keys, values)

        def prefill(params, cache, ids, lengths):
            x = params["wte"].astype(now)[ids]
            x, (keys, values) = jax.lax.scan(body, x, (params["h"], cache["k"], cache["v"]))
            last = x[jnp.arange(b), lengths - 1]
            logits = layer_normed(last, params["ln_f"].astype(now)) @ params["lm_head"].astype(now)
            return logits.astype(F32), {"k": keys, "v": values}
        arguments = params, {"k": cache, "v": cache}, arrays.batch((b, t), jnp.int32), arrays.batch((b,), jnp.int32)
        return prefill, arguments, (1,)
    return make


# --- Several words a turn ---

def turned_at(x, places, base=5e5):
    """[batch, words, heads, side], of which each word has a place of its own."""
    half = x.shape[-1] // 2
    angle = places[..., None, None].astype(F32) * base ** (-jnp.arange(half, dtype=F32) / half)
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def written(whole, new, starts):
    """Rows of `new` into those of `whole`, each at its own place."""
    def one(row, piece, start):
        return jax.lax.dynamic_update_slice(row, piece.astype(row.dtype), (start,) + (0,) * (row.ndim - 1))
    return jax.vmap(one)(whole, new, starts)


def guessed_ahead(n_layers, d, n_heads, n_kv, d_ff, vocab, guesses, batch, room, turns, kind=BF16):
    """Medusa on Llama 3.2: a fori_loop over turns; each checks the last one's guesses and makes new ones."""
    side, words = d // n_heads, guesses + 1
    stack = {"ln_in": (n_layers, d), "ln_post": (n_layers, d), "q": (n_layers, d, d), "k": (n_layers, d, n_kv * side),
             "v": (n_layers, d, n_kv * side), "o": (n_layers, d, d), "gate": (n_layers, d, d_ff),
             "up": (n_layers, d, d_ff), "down": (n_layers, d_ff, d)}

    def make(arrays, change):
        b, length, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        shapes = shaped(embed=(vocab, d), norm=(d,), layer_stack=stack, medusa={"w": (guesses, d, d)})
        split = 1 if change.shard == "all" else None
        cache = arrays.array((n_layers, b, length, n_kv, side), BF16, split)

        def attend(w, x, keys, values, pos):
            places = pos[:, None] + jnp.arange(words)
            q = turned_at((x @ w["q"]).reshape(b, words, n_heads, side), places)
            k = turned_at((x @ w["k"]).reshape(b, words, n_kv, side), places)
            keys = written(keys, k, pos)
            values = written(values, (x @ w["v"]).reshape(b, words, n_kv, side), pos)
            q = q.reshape(b, words, n_kv, n_heads // n_kv, side)
            scores = jnp.einsum("bwkgd,bskd->bkgws", q, keys.astype(now)).astype(F32) * side ** -0.5
            seen = jnp.arange(length) <= places[..., None]
            scores = jnp.where(seen[:, None, None], scores, -1e30)
            mixed = jnp.einsum("bkgws,bskd->bwkgd", jax.nn.softmax(scores).astype(now), values.astype(now))
            return mixed.reshape(b, words, d) @ w["o"], keys, values

        def decode(params, cache, text, draft, pos):
            p = as_kind(params, now)

            def layer(carry, xs):
                x, pos = carry
                w, keys, values = xs
                y, keys, values = attend(w, rms(x, w["ln_in"]), keys, values, pos)
                x = x + y
                h = rms(x, w["ln_post"])
                return (x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], pos), (keys, values)

            def turn(_, state):
                cache, text, draft, pos = state
                (x, _), (keys, values) = jax.lax.scan(layer, (p["embed"][draft], pos),
                                                      (p["layer_stack"], cache["k"], cache["v"]))
                x = rms(x, p["norm"])
                said = jnp.argmax((x @ p["embed"].T).astype(F32), -1).astype(jnp.int32)
                right = jnp.cumprod((draft[:, 1:] == said[:, :-1]).astype(jnp.int32), axis=1).sum(1)
                text = written(text, said, pos + 1)
                last = jnp.take_along_axis(x, right[:, None, None], 1)[:, 0]
                ahead = last[:, None] + jax.nn.silu(jnp.einsum("bd,gde->bge", last, p["medusa"]["w"]))
                guessed = jnp.argmax((ahead @ p["embed"].T).astype(F32), -1).astype(jnp.int32)
                first = jnp.take_along_axis(said, right[:, None], 1)
                return {"k": keys, "v": values}, text, jnp.concatenate([first, guessed], 1), pos + right + 1
            return jax.lax.fori_loop(0, turns, turn, (cache, text, draft, pos))
        arguments = (placed(arrays, as_kind(shapes, change.stored)), {"k": cache, "v": cache},
                     arrays.batch((b, length), jnp.int32), arrays.batch((b, words), jnp.int32),
                     arrays.batch((b,), jnp.int32))
        return decode, arguments, (1, 2, 3, 4)
    return make
