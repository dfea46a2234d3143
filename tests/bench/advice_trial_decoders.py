"""Decoders that are trained: norms behind layers, experts by hash, a full chip, nnx in a scan, two softmaxes apart.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_trial_families.py has the sizes.
"""
import functools
import math

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, placed, warmed_up,
                                   word_loss)
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_typical_words import rope


# --- What they share ---

def at_places(x, theta=10000.0):
    """[batch, time, heads, side], turned by its place."""
    return rope(x, jnp.arange(x.shape[1], dtype=F32), theta)


def shared_keys(q, k, v):
    """[batch, time, heads, side] all; fewer heads of keys than of queries, or as many; gives [batch, time, width]."""
    b, t, heads, side = q.shape
    q = q.reshape(b, t, k.shape[2], -1, side) * side ** -0.5
    scores = jnp.einsum("btngh,bsnh->bngts", q, k)
    causal = jnp.tril(jnp.ones((t, t), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores.astype(F32), -1e30), -1).astype(v.dtype)
    return jnp.einsum("bngts,bsnh->btngh", weights, v).reshape(b, t, heads * side)


# --- Norms behind layers, gradients over steps ---

def later_norms(layers, width, heads, hidden, vocab, steps, batch, length, kind=BF16):
    """OLMo 2's layers in a scan; a scan over steps sums gradients of all words' losses, which are then shared out."""
    stack = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width), "q_norm": (width,),
             "k_norm": (width,), "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width),
             "after_attention": (width,), "after_ffn": (width,)}
    stack = {name: (layers, *shape) for name, shape in stack.items()}

    def layer(x, w):
        b, t, _ = x.shape
        q, k = root_normed(x @ w["q"], w["q_norm"]), root_normed(x @ w["k"], w["k_norm"])
        q, k, v = (y.reshape(b, t, heads, -1) for y in (q, k, x @ w["v"]))
        x = x + root_normed(shared_keys(at_places(q, 5e5), at_places(k, 5e5), v) @ w["o"], w["after_attention"])
        h = (jax.nn.silu(x @ w["gate"]) * (x @ w["up"])) @ w["down"]
        return x + root_normed(h, w["after_ffn"]), None

    def make(arrays, change):
        import optax
        params = as_kind(shaped(embed=(vocab, width), norm=(width,), unembed=(width, vocab), layer_stack=stack),
                         change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(4e-4), b2=0.95, eps=1e-8))
        state = jax.eval_shape(optimizer.init, params)

        def loss_sum(params, ids, counts):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), p["embed"][ids], p["layer_stack"])
            logits = (root_normed(x, p["norm"]) @ p["unembed"]).astype(F32)[:, :-1]
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, ids[:, 1:])
            return jnp.sum(losses * counts[:, 1:])

        def train_step(params, state, batch):
            def one(sums, rows):
                loss, grads = jax.value_and_grad(loss_sum)(params, rows["ids"], rows["counts"])
                total = jax.tree.map(lambda s, g: s + g.astype(F32), sums["grads"], grads)
                return {"grads": total, "loss": sums["loss"] + loss, "words": sums["words"] + rows["counts"].sum()}, ()
            nothing = jnp.zeros((), F32)
            start = {"grads": jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params), "loss": nothing,
                     "words": nothing.astype(jnp.int32)}
            sums, _ = jax.lax.scan(one, start, batch)
            words = jnp.maximum(sums["words"], 1).astype(F32)
            grads = jax.tree.map(lambda g, p: (g / words).astype(p.dtype), sums["grads"], params)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, {"loss": sums["loss"] / words}
        shape = steps, batch // change.batch_divisor, length // change.length_divisor
        ids = arrays.array(shape, jnp.int32, 1 if change.shard == "all" else None)
        return train_step, (placed(arrays, params), placed(arrays, state), {"ids": ids, "counts": ids}), (0, 1)
    return make


# --- Sixteens ---

def by_hash(p, x, chosen, count):
    """Nothing is learnt of where words go, and none is dropped: rows lie by expert, and products are ragged."""
    rows = x.reshape(-1, x.shape[-1])
    order = jnp.argsort(chosen.reshape(-1))
    load = jnp.bincount(chosen.reshape(-1), length=count).astype(jnp.int32)
    h = jnp.square(jax.nn.relu(jax.lax.ragged_dot(rows[order], p["wi"], load)))
    return jax.lax.ragged_dot(h, p["wo"], load)[jnp.argsort(order)].reshape(x.shape)


def hashed_sixteens(width, hidden, vocab, length, n=16, kind=BF16):
    """Hash layers: as many sequences, layers, heads and experts; a word's number says where it goes in each layer."""
    stack = {"qkv": (n, width, 3, n, width // n), "out": (n, n, width // n, width), "wi": (n, n, width, hidden),
             "wo": (n, n, hidden, width), "norm_mix": (n, width), "norm_experts": (n, width)}

    def make(arrays, change):
        shapes = shaped(table=(vocab, width), places=(length // change.length_divisor, width), norm=(width,),
                        layer_stack=stack)

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))

            def layer(x, both):
                w, odd = both
                q, k, v = jnp.einsum("btd,dchk->cbthk", root_normed(x, w["norm_mix"]), w["qkv"])
                mixed = shared_keys(q, k, v).reshape(q.shape)
                x = x + jnp.einsum("bthk,hkd->btd", mixed, w["out"])
                chosen = (ids * odd >> 5) % n
                return x + by_hash(w, root_normed(x, w["norm_experts"]), chosen, n), None
            odds = 2 * jnp.arange(n, dtype=jnp.int32) + 12289
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), p["table"][ids] + p["places"],
                                (p["layer_stack"], odds))
            return next_word_loss(root_normed(x, p["norm"]) @ p["table"].T, ids)
        ids = arrays.batch((n // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(5e-4), ids)
    return make


# --- As much as the chip has, or more ---

def centred(x, scale):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def side_by_side_layer(w, x, heads, kv_heads):
    b, t, _ = x.shape
    h = centred(x, w["input_layernorm"])
    q, k, v = ((h @ w[name]).reshape(b, t, count, -1) for name, count in (
        ("q_proj", heads), ("k_proj", kv_heads), ("v_proj", kv_heads)))
    units = jax.nn.silu(h @ w["gate_proj"]) * (h @ w["up_proj"])
    return x + shared_keys(at_places(q, 8e6), at_places(k, 8e6), v) @ w["o_proj"] + units @ w["down_proj"]


def full_command(layers, width, heads, kv_heads, hidden, vocab, batch, length, kind=BF16):
    """Command R's layers in a small size, written out: one norm for attention and units, the table is the head."""
    def make(arrays, change):
        narrow = width // heads * kv_heads
        layer = {"q_proj": (width, width), "k_proj": (width, narrow), "v_proj": (width, narrow),
                 "o_proj": (width, width), "gate_proj": (width, hidden), "up_proj": (width, hidden),
                 "down_proj": (hidden, width), "input_layernorm": (width,)}
        shapes = shaped(embed_tokens=(vocab, width), norm=(width,), **{f"layers_{i}": layer for i in range(layers)})
        block = maybe_checkpointed(change, functools.partial(side_by_side_layer, heads=heads, kv_heads=kv_heads))

        def loss_of(params, ids, targets):
            p = as_kind(params, computed(change, kind))
            x = p["embed_tokens"][ids]
            for i in range(layers):
                x = block(p[f"layers_{i}"], x)
            logits = jnp.einsum("btd,vd->btv", centred(x, p["norm"]), p["embed_tokens"])
            return word_loss(0.0625 * logits, targets)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(2e-4), ids, ids)
    return make


# --- nnx, whose layers are made by vmap and run by scan ---

def deep_module(change, layers, width, heads, hidden, vocab, kind):
    from flax import nnx
    now = computed(change, kind)
    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    shrunk = 1.4 / layers ** 0.5

    class Layer(nnx.Module):
        def __init__(self, rngs):
            linear = functools.partial(nnx.Linear, use_bias=False, dtype=now, rngs=rngs)
            self.pre_mix, self.pre_ffn = (nnx.RMSNorm(width, dtype=now, rngs=rngs) for _ in range(2))
            self.qkv, self.out = linear(width, 3 * width), linear(width, width)
            self.gate, self.up, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)

        def __call__(self, x):
            b, t, _ = x.shape
            q, k, v = (y.reshape(b, t, heads, -1) for y in jnp.split(self.qkv(self.pre_mix(x)), 3, axis=-1))
            mask = jnp.tril(jnp.ones((1, 1, t, t), bool))
            mixed = nnx.dot_product_attention(at_places(q), at_places(k), v, mask=mask, dtype=now)
            x = x + shrunk * self.out(mixed.reshape(b, t, width))
            h = self.pre_ffn(x)
            return x + shrunk * self.down(nnx.silu(self.gate(h)) * self.up(h))

    class Deep(nnx.Module):
        def __init__(self, rngs):
            @nnx.split_rngs(splits=layers)
            @nnx.vmap(in_axes=(0,), out_axes=0)
            def many(rngs):
                return Layer(rngs)
            self.embed = nnx.Embed(vocab, width, dtype=now, rngs=rngs)
            self.scanned_layers = many(rngs)
            self.norm = nnx.RMSNorm(width, dtype=now, rngs=rngs)

        def __call__(self, ids):
            call = nnx.remat(Layer.__call__, policy=policy) if change.rematerialize else Layer.__call__

            @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
            def run(x, layer):
                return call(layer, x)
            x = run(12 * self.embed(ids), self.scanned_layers)
            return self.embed.attend(self.norm(x) * (256 / width))
    return Deep


def nnx_deep(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """MiniCPM's layers, many and narrow, whose sums are held small by depth; Adam without a schedule."""
    def make(arrays, change):
        import optax
        from flax import nnx
        module = deep_module(change, layers, width, heads, hidden, vocab, kind)
        graph, shapes = nnx.split(nnx.eval_shape(lambda: module(nnx.Rngs(0))))

        def loss_of(params, ids):
            return next_word_loss(nnx.merge(graph, params)(ids), ids)
        optimizer = optax.contrib.schedule_free_adamw(2e-3, warmup_steps=1000, b1=0.95, weight_decay=0.1,
                                                      state_dtype=change.stored)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids)
    return make


# --- The difference of two softmaxes ---

def difference_layer(w, x, heads, depth):
    """Values are twice as wide as keys; of each head's two maps the second is taken from the first."""
    b, t, width = x.shape
    side = width // heads // 2
    first = 0.8 - 0.6 * math.exp(-0.3 * depth)
    h = root_normed(x, w["norm_mix"])
    q, k = (at_places((h @ w[name]).reshape(b, t, 2 * heads, side)) for name in ("wq", "wk"))
    v = (h @ w["wv"]).reshape(b, t, heads, 2 * side)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=F32) * side ** -0.5
    maps = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -jnp.inf), axis=-1)
    maps = maps.reshape(b, heads, 2, t, t)
    a, c = (jnp.exp(jnp.sum((w[f"lambda_q{i}"] * w[f"lambda_k{i}"]).astype(F32))) for i in (1, 2))
    weights = (maps[:, :, 0] - (a - c + first) * maps[:, :, 1]).astype(x.dtype)
    mixed = root_normed(jnp.einsum("bhqk,bkhd->bqhd", weights, v), w["head_norm"]) * (1 - first)
    x = x + mixed.reshape(b, t, width) @ w["wo"]
    gate, up = jnp.split(root_normed(x, w["norm_ffn"]) @ w["w12"], 2, axis=-1)
    return x + (jax.nn.silu(gate) * up) @ w["w3"]


def difference_of_maps(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """The differential transformer on long rows, a list of layers; maps of attention are float32 until they are one."""
    side = width // heads // 2
    sizes = {"wq": (width, width), "wk": (width, width), "wv": (width, width), "wo": (width, width),
             "w12": (width, 2 * hidden), "w3": (hidden, width), "norm_mix": (width,), "norm_ffn": (width,),
             "head_norm": (2 * side,), **{f"lambda_{name}": (side,) for name in ("q1", "k1", "q2", "k2")}}

    def make(arrays, change):
        import optax
        shapes = shaped(tok_embeddings=(vocab, width), norm=(width,), output=(width, vocab))
        shapes["layers"] = [shaped(**sizes) for _ in range(layers)]

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            x = p["tok_embeddings"][ids[:, :-1]]
            for depth, w in enumerate(p["layers"]):
                x = maybe_checkpointed(change, functools.partial(difference_layer, heads=heads, depth=depth))(w, x)
            return word_loss(root_normed(x, p["norm"]) @ p["output"], ids[:, 1:])
        optimizer = optax.adamw(warmed_up(3e-4), b2=0.95, weight_decay=0.1, mask=matrices_only)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor + 1), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids)
    return make
