"""Language models that are trained, in sizes that published models have or that people pick at work.

Micro-batches around a scan of layers, eights everywhere, many words over a small body, a full chip, nnx, DoRA. As in
advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, placed, trained,
                                   warmed_up, word_loss)
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_typical_words import rope


# --- What they share ---

def causal_groups(q, k, v):
    """[batch, time, heads, side], with fewer heads of keys than of queries, or as many."""
    b, t, heads, side = q.shape
    q = q.reshape(b, t, k.shape[2], -1, side) * side ** -0.5
    scores = jnp.einsum("btkgd,bskd->bkgts", q, k).astype(F32)
    scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, jnp.finfo(F32).min)
    probs = jax.nn.softmax(scores, axis=-1).astype(v.dtype)
    return jnp.einsum("bkgts,bskd->btkgd", probs, v).reshape(b, t, heads * side)


def turned(q, k, theta=10000.0):
    pos = jnp.arange(q.shape[1], dtype=F32)
    return rope(q, pos, theta), rope(k, pos, theta)


def in_heads(x, count):
    return x.reshape(*x.shape[:2], count, -1)


def llama_shapes(lead, width, kv_width, hidden):
    return {"q": (*lead, width, width), "k": (*lead, width, kv_width), "v": (*lead, width, kv_width),
            "o": (*lead, width, width), "gate": (*lead, width, hidden), "up": (*lead, width, hidden),
            "down": (*lead, hidden, width), "norm_in": (*lead, width), "norm_post": (*lead, width)}


def llama_layer(x, p, heads, kv_heads):
    h = root_normed(x, p["norm_in"])
    q, k = turned(in_heads(h @ p["q"], heads), in_heads(h @ p["k"], kv_heads))
    x = x + causal_groups(q, k, in_heads(h @ p["v"], kv_heads)) @ p["o"]
    h = root_normed(x, p["norm_post"])
    return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]


# --- Gradients over micro-batches ---

def smol_in_steps(layers, width, heads, kv_heads, hidden, vocab, steps, batch, length, kind=BF16):
    """SmolLM: tokens [steps, batch, length]; a scan over steps around a scan over layers; sums in float32."""
    def make(arrays, change):
        import optax
        shapes = shaped(embed=(vocab, width), norm=(width,),
                        layer_stack=llama_shapes((layers,), width, width // heads * kv_heads, hidden))
        params = as_kind(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(3e-3), b2=0.95))
        layer = maybe_checkpointed(change, functools.partial(llama_layer, heads=heads, kv_heads=kv_heads))

        def loss_fn(params, ids):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), p["embed"][ids], p["layer_stack"])
            return next_word_loss(root_normed(x, p["norm"]) @ p["embed"].T, ids)

        def train_step(params, state, tokens):
            def one(carry, ids):
                total, sums = carry
                loss, grads = jax.value_and_grad(loss_fn)(params, ids)
                return (total + loss, jax.tree.map(lambda s, g: s + g.astype(F32) / steps, sums, grads)), None
            zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params)
            (total, grads), _ = jax.lax.scan(one, (jnp.zeros((), F32), zeros), tokens)
            grads = jax.tree.map(lambda g, p: g.astype(p.dtype), grads, params)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, total / steps
        state = jax.eval_shape(optimizer.init, params)
        tokens = arrays.array((steps, batch // change.batch_divisor, length // change.length_divisor), jnp.int32,
                              1 if change.shard == "all" else None)
        return train_step, (placed(arrays, params), placed(arrays, state), tokens), (0, 1)
    return make


# --- Eights ---

def all_experts(x, p):
    """Each expert reads each token; those that are not among a token's two best count for nothing."""
    scores = jnp.einsum("bsd,de->bse", x, p["router"]).astype(F32)
    best, chosen = jax.lax.top_k(scores, 2)
    shares = jax.nn.softmax(best)[..., None] * jax.nn.one_hot(chosen, scores.shape[-1])
    shares = shares.sum(2).astype(x.dtype)
    h = jax.nn.silu(jnp.einsum("bsd,edf->besf", x, p["w1"])) * jnp.einsum("bsd,edf->besf", x, p["w3"])
    return jnp.einsum("besf,efd->bsd", h * shares.swapaxes(1, 2)[..., None], p["w2"])


def mixtral_of_eights(width, hidden, vocab, length, eight=8, kind=BF16):
    """A small Mixtral: as many sequences, layers, heads and experts; layers in a scan."""
    def body(x, p):
        h = root_normed(x, p["attention_norm"])
        q, k, v = jnp.einsum("bsd,dchk->cbshk", h, p["wqkv"])
        x = x + causal_groups(*turned(q, k, 1e6), v) @ p["wo"]
        return x + all_experts(root_normed(x, p["ffn_norm"]), p), None

    def make(arrays, change):
        stack = {"wqkv": (eight, width, 3, eight, width // eight), "wo": (eight, width, width),
                 "router": (eight, width, eight), "w1": (eight, eight, width, hidden),
                 "w3": (eight, eight, width, hidden), "w2": (eight, eight, hidden, width),
                 "attention_norm": (eight, width), "ffn_norm": (eight, width)}
        shapes = shaped(tok_embeddings=(vocab, width), norm=(width,), output=(width, vocab), layer_stack=stack)

        def loss_fn(params, ids):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(maybe_checkpointed(change, body), p["tok_embeddings"][ids], p["layer_stack"])
            return next_word_loss(root_normed(x, p["norm"]) @ p["output"], ids)
        ids = arrays.batch((eight // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, clipped_adamw(3e-4), ids)
    return make


# --- Many words ---

def small_gemma(layers, width, heads, side, hidden, vocab, batch, length, kind=BF16):
    """Gemma 3 in its smallest size: one key head, norms before and after, and far more words than width; by Lion."""
    stack = {"q": (layers, width, heads, side), "kv": (layers, width, 2, side), "o": (layers, heads * side, width),
             "gate": (layers, width, hidden), "up": (layers, width, hidden), "down": (layers, hidden, width),
             "q_norm": (layers, side), "k_norm": (layers, side)}
    stack |= {name: (layers, width) for name in ("pre_attention", "post_attention", "pre_ffw", "post_ffw")}

    def body(x, p):
        h = root_normed(x, 1 + p["pre_attention"])
        q = root_normed(jnp.einsum("btd,dhk->bthk", h, p["q"]), 1 + p["q_norm"])
        k, v = jnp.split(jnp.einsum("btd,dck->btck", h, p["kv"]), 2, axis=2)
        mixed = causal_groups(*turned(q, root_normed(k, 1 + p["k_norm"])), v)
        x = x + root_normed(mixed @ p["o"], 1 + p["post_attention"])
        h = root_normed(x, 1 + p["pre_ffw"])
        return x + root_normed((jax.nn.gelu(h @ p["gate"]) * (h @ p["up"])) @ p["down"], 1 + p["post_ffw"]), None

    def make(arrays, change):
        import optax
        shapes = shaped(embedder=(vocab, width), final_norm=(width,), layer_stack=stack)

        def loss_fn(params, ids, mask):
            p = as_kind(params, computed(change, kind))
            x = p["embedder"][ids] * jnp.asarray(width ** 0.5, p["embedder"].dtype)
            x, _ = jax.lax.scan(maybe_checkpointed(change, body), x, p["layer_stack"])
            logits = root_normed(x, 1 + p["final_norm"]) @ p["embedder"].T
            return word_loss(logits[:, :-1], ids[:, 1:], mask[:, 1:].astype(F32))
        rows = batch // change.batch_divisor, length // change.length_divisor
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(warmed_up(1e-4), weight_decay=0.1))
        return trained_in_parts(arrays, change, shapes, loss_fn, optimizer, arrays.batch(rows, jnp.int32),
                                arrays.batch(rows, jnp.bool_))
    return make


# --- As much as the chip has ---

def slopes_of(heads):
    return 2.0 ** (-8.0 * (jnp.arange(heads) + 1) / heads)


def sloped_layer(p, x, heads):
    """ALiBi: scores fall off with distance, and the products keep their heads apart."""
    b, t, width = x.shape
    h = root_normed(x, p["norm_1"])
    q, k, v = (y.reshape(b, t, heads, -1).transpose(0, 2, 1, 3) for y in jnp.split(h @ p["Wqkv"], 3, axis=-1))
    away = jnp.arange(t)[None, :] - jnp.arange(t)[:, None]
    bias = jnp.where(away > 0, -1e9, slopes_of(heads)[:, None, None] * away)
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k).astype(F32) * (width // heads) ** -0.5 + bias
    mixed = jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores).astype(x.dtype), v)
    x = x + mixed.transpose(0, 2, 1, 3).reshape(b, t, width) @ p["out_proj"]
    return x + jax.nn.gelu(root_normed(x, p["norm_2"]) @ p["up_proj"]) @ p["down_proj"]


def full_mpt(layers, width, heads, vocab, batch, length, kind=BF16):
    """MPT with its layers written out, donated, and more of it than most would try."""
    def make(arrays, change):
        layer = {"Wqkv": (width, 3 * width), "out_proj": (width, width), "up_proj": (width, 4 * width),
                 "down_proj": (4 * width, width), "norm_1": (width,), "norm_2": (width,)}
        shapes = shaped(wte=(vocab, width), norm_f=(width,), **{f"block_{i}": layer for i in range(layers)})
        block = maybe_checkpointed(change, functools.partial(sloped_layer, heads=heads))

        def loss_fn(params, ids, labels):
            p = as_kind(params, computed(change, kind))
            x = p["wte"][ids]
            for i in range(layers):
                x = block(p[f"block_{i}"], x)
            return word_loss(root_normed(x, p["norm_f"]) @ p["wte"].T, labels)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, clipped_adamw(2e-4), ids, ids)
    return make


# --- Of flax's newer layers ---

def nnx_decoder(change, layers, width, heads, hidden, vocab, length, kind):
    from flax import nnx
    kinds = {"dtype": computed(change, kind)}

    class Layer(nnx.Module):
        def __init__(self, rngs):
            self.ln_1 = nnx.LayerNorm(width, rngs=rngs, **kinds)
            self.ln_2 = nnx.LayerNorm(width, rngs=rngs, **kinds)
            self.attention = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs, **kinds)
            self.fc = nnx.Linear(width, hidden, rngs=rngs, **kinds)
            self.proj = nnx.Linear(hidden, width, rngs=rngs, **kinds)

        def __call__(self, x, mask):
            x = x + self.attention(self.ln_1(x), mask=mask)
            return x + self.proj(nnx.gelu(self.fc(self.ln_2(x))))

    class Decoder(nnx.Module):
        def __init__(self, rngs):
            self.words = nnx.Embed(vocab, width, rngs=rngs, **kinds)
            self.places = nnx.Embed(length, width, rngs=rngs, **kinds)
            self.layers = nnx.List([Layer(rngs) for _ in range(layers)])
            self.norm = nnx.LayerNorm(width, rngs=rngs, **kinds)
            self.head = nnx.Linear(width, vocab, use_bias=False, rngs=rngs, **kinds)

        def __call__(self, ids):
            call = nnx.remat(Layer.__call__) if change.rematerialize else Layer.__call__
            x = self.words(ids) + self.places(jnp.arange(ids.shape[1]))
            mask = nnx.make_causal_mask(ids)
            for layer in self.layers:
                x = call(layer, x, mask)
            return self.head(self.norm(x))
    return Decoder


def nnx_words(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """A decoder as flax's own examples have it, by AdamW."""
    def make(arrays, change):
        import optax
        from flax import nnx
        time = length // change.length_divisor
        decoder = nnx_decoder(change, layers, width, heads, hidden, vocab, time, kind)
        graph, shapes = nnx.split(nnx.eval_shape(lambda: decoder(nnx.Rngs(0))))
        ids = arrays.batch((batch // change.batch_divisor, time), jnp.int32)

        def loss_fn(params, ids):
            return next_word_loss(nnx.merge(graph, params)(ids), ids)
        optimizer = optax.adamw(warmed_up(6e-4), weight_decay=0.1, mask=matrices_only)
        return trained(arrays, change, shapes, loss_fn, optimizer, ids)
    return make


# --- DoRA ---

def directed(p, thin, name, x, scale=2.0):
    """The frozen matrix and two thin ones, each column of their sum as long as its learnt magnitude."""
    if f"{name}_a" not in thin:
        return x @ p[name]
    a, b = thin[f"{name}_a"], thin[f"{name}_b"]
    lengths = jnp.sqrt(jnp.sum(jnp.square((p[name] + scale * (a @ b)).astype(F32)), 0))
    longer = thin[f"{name}_m"] / jax.lax.stop_gradient(lengths).astype(x.dtype)
    return (x @ p[name] + scale * ((x @ a) @ b)) * longer


def directed_layer(x, both, heads, kv_heads):
    p, thin = both
    proj = functools.partial(directed, p, thin)
    h = root_normed(x, p["norm_in"])
    q, k = turned(in_heads(proj("q", h), heads), in_heads(proj("k", h), kv_heads), 5e5)
    x = x + proj("o", causal_groups(q, k, in_heads(proj("v", h), kv_heads)))
    h = root_normed(x, p["norm_post"])
    return x + proj("down", jax.nn.silu(proj("gate", h)) * proj("up", h)), None


def dora_of_llama(layers, width, heads, kv_heads, hidden, vocab, rank, batch, length, kind=BF16):
    """DoRA on a frozen Llama whose layers are in a scan; the frozen part is stored as the trained one is."""
    def make(arrays, change):
        import optax
        frozen = shaped(embed=(vocab, width), norm=(width,),
                        layer_stack=llama_shapes((layers,), width, width // heads * kv_heads, hidden))
        thin = {}
        for name in ("q", "k", "v", "up", "down"):
            _, rows, columns = frozen["layer_stack"][name].shape
            thin |= {f"{name}_a": (layers, rows, rank), f"{name}_b": (layers, rank, columns),
                     f"{name}_m": (layers, columns)}
        layer = maybe_checkpointed(change, functools.partial(directed_layer, heads=heads, kv_heads=kv_heads))

        def loss_fn(tuned, frozen, ids, mask):
            p, thin = as_kind((frozen, tuned["layer_stack"]), computed(change, kind))
            x, _ = jax.lax.scan(layer, p["embed"][ids], (p["layer_stack"], thin))
            logits = root_normed(x, p["norm"]) @ p["embed"].T
            return word_loss(logits[:, :-1], ids[:, 1:], mask[:, 1:].astype(F32))
        rows = batch // change.batch_divisor, length // change.length_divisor
        return trained(arrays, change, shaped(layer_stack=thin), loss_fn, optax.adamw(1e-4),
                       placed(arrays, as_kind(frozen, change.stored)), arrays.batch(rows, jnp.int32),
                       arrays.batch(rows, jnp.bool_))
    return make
