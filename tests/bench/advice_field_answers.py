"""What is served: prompts with sinks and windows, answers that share a prompt, embeddings of sentences.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_field_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, model_of, placed
from advice_fresh import root_normed, shaped
from advice_structures import BF16, F32


# --- A prompt, read at once ---

def with_sink(scores, sink):
    """Softmax over the last dimension and one more place, whose score is learnt and whose value is nothing."""
    top = jnp.maximum(jnp.max(scores, -1, keepdims=True), sink)
    weights = jnp.exp(scores - top)
    return weights / (jnp.sum(weights, -1, keepdims=True) + jnp.exp(sink - top))


def seen_in_window(q, k, v, sink, window):
    """q [batch, time, kv heads, share, side]: each block looks at itself and at the one before."""
    b, t, n, g, side = q.shape

    def blocks(x):
        return x.reshape(b, t // window, window, *x.shape[2:])

    def with_last(x):
        x = blocks(x)
        return jnp.concatenate([jnp.pad(x[:, :-1], ((0, 0), (1, 0)) + ((0, 0),) * (x.ndim - 2)), x], 2)
    at, to = jnp.arange(window)[:, None] + window, jnp.arange(2 * window)
    seen = (to <= at) & (to > at - window)
    first = seen & (to >= window)
    seen = jnp.where((jnp.arange(t // window) == 0)[:, None, None], first, seen)
    scores = jnp.einsum("bcqngk,bcsnk->bcngqs", blocks(q), with_last(k)).astype(F32) * side ** -0.5
    scores = jnp.where(seen[:, None, None], scores, -1e30)
    probs = with_sink(scores, sink.astype(F32)[:, :, None, None]).astype(v.dtype)
    return jnp.einsum("bcngqs,bcsnk->bcqngk", probs, with_last(v)).reshape(b, t, -1)


def seen_all(q, k, v, sink, piece):
    """The same over all that came before, one piece of the queries after the other."""
    b, t, n, g, side = q.shape

    def some(start):
        mine = jax.lax.dynamic_slice_in_dim(q, start, piece, 1)
        scores = jnp.einsum("bqngk,bsnk->bngqs", mine, k).astype(F32) * side ** -0.5
        seen = (start + jnp.arange(piece))[:, None] >= jnp.arange(t)
        probs = with_sink(jnp.where(seen, scores, -1e30), sink.astype(F32)[:, :, None, None]).astype(v.dtype)
        return jnp.einsum("bngqs,bsnk->bqngk", probs, v)
    made = jax.lax.map(some, jnp.arange(0, t, piece))
    return jnp.moveaxis(made, 0, 1).reshape(b, t, -1)


def turned_in_place(x, base=150000.0):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1], dtype=F32)[:, None, None] * base ** (-jnp.arange(half, dtype=F32) / half)
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def sinks_and_windows(pairs, d_model, q_heads, kv_heads, side, d_ff, vocab, batch, prompt, window, piece, kind=BF16):
    """Like gpt-oss without its experts: layers come in pairs, the first of which sees and keeps a window only."""
    sizes = {"wq": (d_model, q_heads * side), "wk": (d_model, kv_heads * side), "wv": (d_model, kv_heads * side),
             "wo": (q_heads * side, d_model), "w1": (d_model, 2 * d_ff), "w2": (d_ff, d_model)}

    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, prompt // change.length_divisor, computed(change, kind)

        def layers():
            made = {name: arrays.parameter((pairs, *size), 1) for name, size in sizes.items()}
            made |= {name: arrays.parameter((pairs, d_model), None) for name in ("norm1", "norm2")}
            return made | {"sinks": arrays.parameter((pairs, kv_heads, q_heads // kv_heads), None)}
        params = {"embedding": arrays.parameter((vocab, d_model)), "unembedding": arrays.parameter((d_model, vocab)),
                  "norm": arrays.parameter((d_model,), None), "narrow": layers(), "wide": layers()}

        def layer(w, x, look):
            w = as_kind(w, now)
            h = root_normed(x, w["norm1"])
            q, k, v = ((h @ w[name]).reshape(b, t, -1, side) for name in ("wq", "wk", "wv"))
            q, k = turned_in_place(q).reshape(b, t, kv_heads, -1, side), turned_in_place(k)
            x = x + look(q, k, v, w["sinks"]) @ w["wo"]
            gate, line = jnp.split(root_normed(x, w["norm2"]) @ w["w1"], 2, -1)
            return x + (gate * jax.nn.sigmoid(1.702 * gate) * (line + 1)) @ w["w2"], k, v

        def pair(x, both):
            narrow, wide = both
            x, k, v = layer(narrow, x, lambda *qkvs: seen_in_window(*qkvs, window))
            kept = {"k": k[:, -window:].astype(BF16), "v": v[:, -window:].astype(BF16)}
            x, k, v = layer(wide, x, lambda *qkvs: seen_all(*qkvs, piece))
            return x, (kept, {"k": k.astype(BF16), "v": v.astype(BF16)})

        def prefill(params, ids):
            x = params["embedding"].astype(now)[ids]
            x, caches = jax.lax.scan(pair, x, (params["narrow"], params["wide"]))
            last = root_normed(x[:, -1], params["norm"].astype(now))
            return (last @ params["unembedding"].astype(now)).astype(F32), caches
        return prefill, (params, arrays.batch((b, t), jnp.int32)), ()
    return make


# --- Several answers to each prompt, which is stored once ---

def partly(q, k, v, seen, subscripts):
    """Attention of q [prompt, answer, kv heads, share, side] to some of the keys, and the logarithm of its weight."""
    scores = jnp.einsum(f"pangd,{subscripts}->pangt", q, k.astype(q.dtype)).astype(F32) * q.shape[-1] ** -0.5
    scores = jnp.where(seen, scores, -1e30)
    weight = jax.nn.logsumexp(scores, -1)
    probs = jnp.exp(scores - weight[..., None]).astype(q.dtype)
    return jnp.einsum(f"pangt,{subscripts}->pangd", probs, v.astype(q.dtype)), weight


def turned_to(x, place, base=1e6):
    """All of [prompt, answer, heads, side] are at one place."""
    half = x.shape[-1] // 2
    angle = place.astype(F32) * base ** (-jnp.arange(half, dtype=F32) / half)
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def answers_that_share(layers, d_model, q_heads, kv_heads, side, d_ff, vocab, prompts, answers, prompt, room, turns,
                       kind=BF16):
    """Qwen 3's sizes: a while_loop over words, a fori_loop over layers; many answers are drawn for each prompt.

    The prompt's keys and values are only read, once for all of its answers, whose own come time first and
    are written in place.
    """
    stack = {"q": (d_model, q_heads * side), "k": (d_model, kv_heads * side), "v": (d_model, kv_heads * side),
             "o": (q_heads * side, d_model), "q_norm": (side,), "k_norm": (side,), "gate": (d_model, d_ff),
             "up": (d_model, d_ff), "down": (d_ff, d_model), "norm_in": (d_model,), "norm_post": (d_model,)}
    stack = {name: (layers, *shape) for name, shape in stack.items()}

    def make(arrays, change):
        b, now = prompts // change.batch_divisor, computed(change, kind)
        known, own = prompt // change.length_divisor, room // change.length_divisor
        shapes = shaped(embed_tokens=(vocab, d_model), norm=(d_model,), layer_stack=stack)
        first, second = (0, 1) if change.shard == "all" else (None, None)
        shared = arrays.array((layers, b, kv_heads, known, side), BF16, second)
        mine = arrays.array((layers, own, b, kv_heads, answers, side), BF16, 2 if second else None)
        state = {"k": mine, "v": mine, "word": arrays.array((b, answers), jnp.int32, first),
                 "said": arrays.array((b, answers, own), jnp.int32, first), "place": arrays.array((), jnp.int32),
                 "score": arrays.array((b, answers), F32, first), "key": arrays.array((2,), jnp.uint32)}

        def layer(p, shared, place, i, carry):
            x, keys, values = carry
            w = {name: whole[i] for name, whole in p["layer_stack"].items()}
            h = root_normed(x, w["norm_in"])
            q, k, v = ((h @ w[name]).reshape(b, answers, -1, side) for name in ("q", "k", "v"))
            q = turned_to(root_normed(q, w["q_norm"]), known + place).reshape(b, answers, kv_heads, -1, side)
            k = turned_to(root_normed(k, w["k_norm"]), known + place)
            at = (i, place, 0, 0, 0, 0)
            keys = jax.lax.dynamic_update_slice(keys, k.swapaxes(1, 2)[None, None].astype(BF16), at)
            values = jax.lax.dynamic_update_slice(values, v.swapaxes(1, 2)[None, None].astype(BF16), at)
            before, heavy = partly(q, shared["k"][i], shared["v"][i], True, "pntd")
            after, light = partly(q, keys[i], values[i], jnp.arange(own) <= place, "tpnad")
            part = jax.nn.sigmoid(heavy - light)[..., None].astype(x.dtype)
            x = x + (before * part + after * (1 - part)).reshape(b, answers, -1) @ w["o"]
            h = root_normed(x, w["norm_post"])
            return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], keys, values

        def answer(params, state, shared, stop_words):
            p = as_kind(params, now)
            last = jnp.minimum(state["place"] + turns, own)

            def turn(state):
                place = state["place"]
                x, keys, values = jax.lax.fori_loop(
                    0, layers, lambda i, carry: layer(p, shared, place, i, carry),
                    (p["embed_tokens"][state["word"]], state["k"], state["v"]))
                logits = (root_normed(x, p["norm"]) @ p["embed_tokens"].T).astype(F32) / 0.6
                key, mine = jax.random.split(state["key"])
                best, words = jax.lax.top_k(logits, 20)
                kept = jnp.cumsum(jax.nn.softmax(best), -1) - jax.nn.softmax(best) < 0.95
                drawn = jax.random.categorical(mine, jnp.where(kept, best, -1e30))[..., None]
                word = jnp.take_along_axis(words, drawn, -1)[..., 0].astype(jnp.int32)
                score = jnp.take_along_axis(best, drawn, -1)[..., 0] - jax.nn.logsumexp(logits, -1)
                said = jax.lax.dynamic_update_slice(state["said"], word[..., None], (0, 0, place))
                return {"k": keys, "v": values, "word": word, "said": said, "place": place + 1,
                        "score": state["score"] + score, "key": key}

            def goes_on(state):
                return (state["place"] < last) & ~jnp.all(state["word"] == stop_words)
            return jax.lax.while_loop(goes_on, turn, state)
        arguments = (placed(arrays, as_kind(shapes, change.stored)), state, {"k": shared, "v": shared},
                     arrays.array((), jnp.int32))
        return answer, arguments, (1,)
    return make


# --- Sentences to vectors ---

def embedded_by_albert(config, batch, length, kind=BF16):
    """transformers' ALBERT, one wide layer used again and again; the mean of the words that are there, of length 1."""
    def make(arrays, change):
        model = model_of(change, "FlaxAlbertModel", kind, config)
        rows = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)

        def embed(params, ids, mask):
            hidden = model(ids, attention_mask=mask, params=params).last_hidden_state
            there = mask[..., None].astype(hidden.dtype)
            mean = (jnp.sum(hidden * there, 1) / jnp.maximum(jnp.sum(there, 1), 1)).astype(F32)
            return mean / jnp.linalg.norm(mean, axis=-1, keepdims=True)
        return embed, (placed(arrays, as_kind(model.params_shape_tree, change.stored)), rows, rows), ()
    return make
