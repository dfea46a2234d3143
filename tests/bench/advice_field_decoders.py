"""Language models: twelves with experts, vectors beside weights of bytes, spheres, many words in chunks.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_field_families.py has the sizes.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, next_word_loss, placed, trained,
                                   trained_with_statistics, warmed_up, word_loss)
from advice_fresh import graded, maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_typical_words import rope


# --- What they share ---

def turned(x, theta=10000.0):
    """[batch, time, heads, side]."""
    return rope(x, jnp.arange(x.shape[1], dtype=F32), theta)


def seen_before(scores):
    """A softmax in float32 over [..., queries, keys] of what is not later."""
    length = scores.shape[-1]
    later = jnp.arange(length)[None, :] > jnp.arange(length)[:, None]
    return jax.nn.softmax(jnp.where(later, -1e30, scores.astype(F32)), axis=-1)


def attended(q, k, v):
    """[batch, time, heads, side] each."""
    weights = seen_before(jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5).astype(v.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*q.shape[:2], -1)


# --- Twelves ---

def sorted_to_experts(p, bias, x, best):
    """No token is dropped: rows are sorted by expert and multiplied raggedly; the bias chooses, and is not learnt."""
    rows, count = x.reshape(-1, x.shape[-1]), bias.shape[0]
    scores = jax.nn.sigmoid((rows @ p["router"]).astype(F32))
    _, chosen = jax.lax.top_k(jax.lax.stop_gradient(scores) + bias, best)
    gates = jnp.take_along_axis(scores, chosen, -1)
    gates = gates / (gates.sum(-1, keepdims=True) + 1e-9)
    order = jnp.argsort(chosen.reshape(-1))
    load = jnp.bincount(chosen.reshape(-1), length=count).astype(jnp.int32)
    sent = rows[order // best]
    h = jax.nn.silu(jax.lax.ragged_dot(sent, p["w_gate"], load)) * jax.lax.ragged_dot(sent, p["w_up"], load)
    out = jax.lax.ragged_dot(h, p["w_down"], load) * gates.reshape(-1)[order][:, None].astype(x.dtype)
    return jnp.zeros_like(rows).at[order // best].add(out).reshape(x.shape), load


def twelves(width, hidden, shared, vocab, length, twelve=12, best=2, kind=BF16):
    """As many sequences, layers, heads and experts; one more expert reads all, and loads are evened by a bias."""
    def layer(x, both):
        p, bias = both
        h = root_normed(x, p["norm_attention"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", h, p[name]) for name in ("query", "key", "value"))
        x = x + attended(turned(q), turned(k), v) @ p["out"]
        h = root_normed(x, p["norm_experts"])
        y, load = sorted_to_experts(p, bias, h, best)
        always = (jax.nn.silu(h @ p["shared_gate"]) * (h @ p["shared_up"])) @ p["shared_down"]
        return x + y + always, load

    def make(arrays, change):
        n = twelve
        stack = {name: (n, width, n, width // n) for name in ("query", "key", "value")}
        stack |= {"out": (n, width, width), "router": (n, width, n), "w_gate": (n, n, width, hidden),
                  "w_up": (n, n, width, hidden), "w_down": (n, n, hidden, width), "shared_gate": (n, width, shared),
                  "shared_up": (n, width, shared), "shared_down": (n, shared, width), "norm_attention": (n, width),
                  "norm_experts": (n, width)}
        shapes = shaped(embedding=(vocab, width), final_norm=(width,), unembed=(width, vocab), layer_stack=stack)

        def loss_of(params, bias, ids):
            p = as_kind(params, computed(change, kind))
            x, loads = jax.lax.scan(maybe_checkpointed(change, layer), p["embedding"][ids],
                                    (p["layer_stack"], bias.astype(F32)))
            loads = loads.astype(F32)
            bias = bias + 1e-3 * jnp.sign(loads.mean(-1, keepdims=True) - loads)
            return next_word_loss(root_normed(x, p["final_norm"]) @ p["unembed"], ids), bias
        ids = arrays.batch((n // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_with_statistics(arrays, change, shapes, jax.ShapeDtypeStruct((n, n), F32), loss_of,
                                       clipped_adamw(4e-4), ids)
    return make


# --- Vectors beside bytes ---

def from_bytes(x, w):
    return (x @ w["int8"].astype(x.dtype)) * w["scale"].astype(x.dtype)


def scaled_layer(x, both, heads):
    """Falcon's layer: one key and one value for all heads, units beside attention; three vectors scale what is made."""
    w, learnt = both
    b, t, width = x.shape
    h = root_normed(x, w["norm"])
    q = turned(from_bytes(h, w["query"]).reshape(b, t, heads, -1))
    k, v = jnp.split(from_bytes(h, w["key_value"]), 2, -1)
    k = turned(k[:, :, None] * learnt["l_k"])[:, :, 0]
    weights = seen_before(jnp.einsum("bqhd,bkd->bhqk", q, k) * q.shape[-1] ** -0.5).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkd->bqhd", weights, v * learnt["l_v"]).reshape(b, t, width)
    units = jax.nn.gelu(from_bytes(h, w["up"])) * learnt["l_ff"]
    return x + from_bytes(mixed, w["dense"]) + from_bytes(units, w["down"]), None


def scaled_falcon(sixteen, width, hidden, vocab, length, kind=BF16):
    """(IA)3 on frozen weights of int8, a scale for each column: as many layers as heads as sequences."""
    n, side = sixteen, width // sixteen
    sizes = {"query": (width, width), "key_value": (width, 2 * side), "dense": (width, width), "up": (width, hidden),
             "down": (hidden, width)}

    def make(arrays, change):
        import optax
        frozen = {"scanned": {name: {"int8": jax.ShapeDtypeStruct((n, *size), jnp.int8),
                                     "scale": jax.ShapeDtypeStruct((n, size[-1]), BF16)}
                              for name, size in sizes.items()},
                  "words": jax.ShapeDtypeStruct((vocab, width), BF16), "ln_f": jax.ShapeDtypeStruct((width,), BF16)}
        frozen["scanned"]["norm"] = jax.ShapeDtypeStruct((n, width), BF16)
        tuned = shaped(scanned={"l_k": (n, side), "l_v": (n, side), "l_ff": (n, hidden)})
        layer = maybe_checkpointed(change, functools.partial(scaled_layer, heads=n))

        def loss_of(tuned, frozen, ids, answers):
            now = computed(change, kind)
            w, learnt = as_kind(frozen, now), as_kind(tuned, now)
            x, _ = jax.lax.scan(layer, w["words"][ids], (w["scanned"], learnt["scanned"]))
            logits = root_normed(x, w["ln_f"]) @ w["words"].T
            return word_loss(logits[:, :-1], ids[:, 1:], answers[:, 1:].astype(F32))
        rows = n // change.batch_divisor, length // change.length_divisor
        return trained(arrays, change, tuned, loss_of, optax.adafactor(3e-3, multiply_by_parameter_scale=False),
                       placed(arrays, frozen), arrays.batch(rows, jnp.int32), arrays.batch(rows, jnp.bool_))
    return make


# --- On a sphere ---

def unit(x, axis=-1):
    wide = x.astype(F32)
    return (wide * jax.lax.rsqrt(jnp.sum(jnp.square(wide), axis, keepdims=True) + 1e-8)).astype(x.dtype)


def sphere(change, layers, width, heads, hidden, vocab, kind):
    """nGPT of nnx: all that flows has length one, and layers move it by learnt rates."""
    from flax import nnx
    now = computed(change, kind)

    class Layer(nnx.Module):
        def __init__(self, rngs):
            linear = functools.partial(nnx.Linear, use_bias=False, dtype=now, rngs=rngs)
            self.q_proj, self.k_proj, self.v_proj, self.o_proj = (linear(width, width) for _ in range(4))
            self.u_proj, self.g_proj, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)
            self.rate_attention, self.rate_units = (nnx.Param(jnp.full((width,), 0.05)) for _ in range(2))
            self.s_qk, self.s_units = nnx.Param(jnp.ones((heads, width // heads))), nnx.Param(jnp.ones((hidden,)))

        def __call__(self, x):
            b, t, _ = x.shape
            q, k, v = (proj(x).reshape(b, t, heads, -1) for proj in (self.q_proj, self.k_proj, self.v_proj))
            scale = self.s_qk[...].astype(now)
            q, k = unit(turned(q)) * scale * (width // heads), unit(turned(k)) * scale
            made = unit(self.o_proj(attended(q, k, v)))
            x = unit(x + self.rate_attention[...].astype(now) * (made - x))
            scale = self.s_units[...].astype(now)
            made = unit(self.down(self.u_proj(x) * scale * nnx.silu(self.g_proj(x) * scale * width ** 0.5)))
            return unit(x + self.rate_units[...].astype(now) * (made - x))

    class Sphere(nnx.Module):
        def __init__(self, rngs):
            self.words = nnx.Embed(vocab, width, dtype=now, rngs=rngs)
            self.layers = nnx.List([Layer(rngs) for _ in range(layers)])
            self.head = nnx.Linear(width, vocab, use_bias=False, dtype=now, rngs=rngs)
            self.s_z = nnx.Param(jnp.ones((vocab,)))

        def __call__(self, ids):
            call = nnx.remat(Layer.__call__) if change.rematerialize else Layer.__call__
            x = self.words(ids)
            for layer in self.layers:
                x = call(layer, x)
            return self.head(x) * self.s_z[...].astype(now) * width ** 0.5
    return Sphere


def back_on_sphere(params):
    """Matrices whose vectors of the model's width have length one again."""
    def one(path, w):
        name = jax.tree_util.keystr(path)
        rows = any(part in name for part in ("o_proj", "down", "embedding"))
        return unit(w, 1 if rows else 0) if w.ndim == 2 and "s_qk" not in name else w
    return jax.tree_util.tree_map_with_path(one, params)


def nnx_sphere(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """By Adam without decay; after each step all matrices are normed again."""
    def make(arrays, change):
        import optax
        from flax import nnx
        module = sphere(change, layers, width, heads, hidden, vocab, kind)
        graph, shapes = nnx.split(nnx.eval_shape(lambda: module(nnx.Rngs(0))))
        params, optimizer = as_kind(shapes, change.stored), optax.adam(warmed_up(1e-3), b2=0.95)
        state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, ids):
            return next_word_loss(nnx.merge(graph, params)(ids), ids)

        def train_step(params, state, ids):
            loss, grads = graded(loss_of, change.parts)(params, ids)
            updates, state = optimizer.update(grads, state, params)
            return back_on_sphere(optax.apply_updates(params, updates)), state, loss
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return train_step, (placed(arrays, params), placed(arrays, state), ids), (0, 1)
    return make


# --- Many words in chunks ---

def gated_attention(x, p):
    """A gated attention unit: one narrow head, squares in place of a softmax."""
    length = x.shape[1]
    h = root_normed(x, p["norm"])
    gate, value = jnp.split(jax.nn.silu(h @ p["uv"]), 2, -1)
    base = jax.nn.silu(h @ p["z"])
    q, k = (base * p["gain"][i] + p["offset"][i] for i in range(2))
    scores = jnp.einsum("btd,bsd->bts", q, k) / length + p["near"][jnp.clip(
        jnp.arange(length)[:, None] - jnp.arange(length), 0, p["near"].shape[0] - 1)]
    weights = jnp.square(jax.nn.relu(jnp.tril(scores)))
    return x + (gate * (weights @ value)) @ p["out"], None


def loss_in_chunks(x, table, targets, chunks):
    """The mean over [batch, time], of which some words at a time have all of their logits; scores are held small."""
    def split(rows):
        return rows.reshape(rows.shape[0], chunks, -1, *rows.shape[2:]).swapaxes(0, 1)

    @jax.checkpoint
    def add(total, some):
        rows, wanted = some
        logits = 30 * jnp.tanh(jnp.einsum("btd,vd->btv", rows, table).astype(F32) / 30)
        return total + word_loss(logits, wanted), None
    total, _ = jax.lax.scan(add, jnp.zeros((), F32), (split(x), split(targets)))
    return total / chunks


def gated_words(layers, width, inner, narrow, vocab, batch, length, chunks, kind=BF16):
    """FLASH's units in one scan under a table of very many words, whose loss is taken in chunks of the text."""
    def make(arrays, change):
        time = length // change.length_divisor
        stack = {"uv": (layers, width, 2 * inner), "z": (layers, width, narrow), "gain": (layers, 2, narrow),
                 "offset": (layers, 2, narrow), "near": (layers, 128), "out": (layers, inner, width),
                 "norm": (layers, width)}
        shapes = shaped(words=(vocab, width), norm=(width,), layer_stack=stack)

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            x = p["words"][ids[:, :-1]] * jnp.asarray(width ** 0.5, p["words"].dtype)
            x, _ = jax.lax.scan(maybe_checkpointed(change, gated_attention), x, p["layer_stack"])
            return loss_in_chunks(root_normed(x, p["norm"]), p["words"], ids[:, 1:], chunks)
        ids = arrays.batch((batch // change.batch_divisor, time + 1), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(6e-4), ids)
    return make
