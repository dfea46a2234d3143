"""Tables, sound, and encoders: tasks over many tables, frames over time, masked words in steps, pairs in parts.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_field_families.py has the sizes.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, placed, trained, warmed_up, word_loss
from advice_field_decoders import turned, unit
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Tables ---

def dense_shapes(*sizes):
    return {f"dense_{i}": {"w": pair, "b": pair[1:]} for i, pair in enumerate(zip(sizes, sizes[1:]))}


def dense(p, x):
    for i in range(len(p)):
        x = jax.nn.relu(x @ p[f"dense_{i}"]["w"] + p[f"dense_{i}"]["b"])
    return x


def many_tasks(tables, numbers, experts, hidden, towers, tasks, batch, kind=F32):
    """MMoE: each field a table of (rows, width) of its own, experts that all tasks share; Adagrad, and AdamW above."""
    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)
        wide = sum(width for _, width in tables) + numbers
        shapes = {"tables": shaped(**{f"field_{i:02d}": one for i, one in enumerate(tables)}),
                  "upper": shaped(gates=(tasks, wide, experts),
                                  **{f"expert_{i}": dense_shapes(wide, *hidden) for i in range(experts)},
                                  **{f"tower_{i}": dense_shapes(hidden[-1], *towers) for i in range(tasks)},
                                  **{f"score_{i}": (towers[-1], 1) for i in range(tasks)})}

        def loss_of(params, ids, given, done):
            p = as_kind(params["upper"], now)
            rows = [params["tables"][f"field_{i:02d}"][ids[:, i]].astype(now) for i in range(len(tables))]
            x = jnp.concatenate([*rows, jnp.log1p(jax.nn.relu(given.astype(now)))], -1)
            made = jnp.stack([maybe_checkpointed(change, dense)(p[f"expert_{i}"], x) for i in range(experts)], 1)
            shares = jax.nn.softmax(jnp.einsum("bd,tde->bte", x, p["gates"]).astype(F32)).astype(now)
            mixed = jnp.einsum("bte,bed->tbd", shares, made)
            logits = [dense(p[f"tower_{i}"], mixed[i]) @ p[f"score_{i}"] for i in range(tasks)]
            logits = jnp.concatenate(logits, -1).astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, done.astype(F32)).mean(0).sum()
        optimizer = optax.multi_transform({"tables": optax.adagrad(0.02), "upper": optax.adamw(1e-3)},
                                          {"tables": "tables", "upper": "upper"})
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((b, len(tables)), jnp.int32), arrays.batch((b, numbers), F32),
                                arrays.batch((b, tasks), F32))
    return make


# --- Frames ---

def batch_normed(x, gain):
    """Over time and batch."""
    wide = x.astype(F32)
    wide = (wide - wide.mean((0, 1))) * jax.lax.rsqrt(wide.var((0, 1)) + 1e-5)
    return wide.astype(x.dtype) * gain


def light_gates(change, p, x, reverse):
    """Light GRU, [time, batch, width]: one gate, rectified units, norms of what comes in but not of what comes back."""
    fed = batch_normed(x @ p["w"], p["gain"]) + p["bias"]

    def cell(before, row):
        gate, new = jnp.split(row + before @ p["u"], 2, -1)
        gate = jax.nn.sigmoid(gate)
        after = gate * before + (1 - gate) * jax.nn.relu(new)
        return after, after
    return jax.lax.scan(maybe_checkpointed(change, cell), jnp.zeros_like(x[0]), fed, reverse=reverse)[1]


def heard_frames(layers, width, inputs, states, batch, length, kind=F32):
    """As speech recognition had it before transformers: layers both ways over time, a state for each frame; RMSProp."""
    one = {"w": (width, 2 * width), "u": (width, 2 * width), "gain": (2 * width,), "bias": (2 * width,)}

    def make(arrays, change):
        import optax
        b, time = batch // change.batch_divisor, length // change.length_divisor
        shapes = shaped(project=(inputs, width), head=(width, states), head_bias=(states,),
                        **{f"layer_{i}_{way}": one for i in range(layers) for way in ("ahead", "back")})
        split = 1 if change.shard == "all" else None

        def loss_of(params, frames, labels):
            now = computed(change, kind)
            p = as_kind(params, now)
            x = frames.astype(now) @ p["project"]
            for i in range(layers):
                x = (light_gates(change, p[f"layer_{i}_ahead"], x, False) +
                     light_gates(change, p[f"layer_{i}_back"], x, True)) / 2
            return word_loss(x @ p["head"] + p["head_bias"], labels)
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.rmsprop(4e-4, decay=0.95))
        return trained(arrays, change, shapes, loss_of, optimizer,
                       arrays.array((time, b, inputs), change.stored, split),
                       arrays.array((time, b), jnp.int32, split))
    return make


# --- Encoders ---

def layer_normed(x, gain):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype) * gain


def both_ways(x, p, heads, mask, theta):
    """One layer of an encoder without biases; `mask` is what may be seen, or None."""
    q, k, v = (y.reshape(*y.shape[:2], heads, -1) for y in jnp.split(layer_normed(x, p["norm_1"]) @ p["wqkv"], 3, -1))
    scores = jnp.einsum("bqhd,bkhd->bhqk", turned(q, theta), turned(k, theta)).astype(F32) * q.shape[-1] ** -0.5
    scores = scores if mask is None else jnp.where(mask, scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v)
    x = x + mixed.reshape(x.shape) @ p["wo"]
    up, gate = jnp.split(layer_normed(x, p["norm_2"]) @ p["wi"], 2, -1)
    return x + (jax.nn.gelu(up) * gate) @ p["mlp_wo"]


def encoder_shapes(lead, width, hidden):
    return {"wqkv": (*lead, width, 3 * width), "wo": (*lead, width, width), "wi": (*lead, width, 2 * hidden),
            "mlp_wo": (*lead, hidden, width), "norm_1": (*lead, width), "norm_2": (*lead, width)}


def three_layers(x, p, heads, window):
    """One that sees all and two that see what is near; p has a dimension of three."""
    places = jnp.arange(x.shape[1])
    near = jnp.abs(places[:, None] - places) <= window // 2
    for i in range(3):
        mask, theta = (near, 1e4) if i else (None, 1.6e5)
        x = both_ways(x, jax.tree.map(lambda w: w[i], p), heads, mask, theta)
    return x, None


def masked_in_steps(groups, width, heads, hidden, vocab, window, steps, batch, length, kind=BF16):
    """ModernBERT on ids and labels [steps, batch, length]: a scan over steps around one over groups of layers."""
    def make(arrays, change):
        import optax
        shapes = shaped(words=(vocab, width), norm=(width,), transform=(width, width), bias=(vocab,),
                        layer_stack=encoder_shapes((groups, 3), width, hidden))
        params = as_kind(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(warmed_up(8e-4), b2=0.98, weight_decay=1e-5, mask=matrices_only))
        group = maybe_checkpointed(change, functools.partial(three_layers, heads=heads, window=window))

        def loss_of(params, ids, labels):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(group, p["words"][ids], p["layer_stack"])
            x = layer_normed(jax.nn.gelu(x @ p["transform"]), p["norm"])
            logits = x @ p["words"].T + p["bias"]
            return word_loss(logits, jnp.maximum(labels, 0), (labels >= 0).astype(F32) + 1e-6)

        def train_step(params, state, batch):
            def one(sums, some):
                loss, grads = jax.value_and_grad(loss_of)(params, some["ids"], some["labels"])
                return jax.tree.map(lambda s, g: s + g.astype(F32), sums, (loss, grads)), None
            zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params)
            (loss, grads), _ = jax.lax.scan(one, (jnp.zeros((), F32), zeros), batch)
            grads = jax.tree.map(lambda g, p: (g / steps).astype(p.dtype), grads, params)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss / steps
        ids = arrays.array((steps, batch // change.batch_divisor, length // change.length_divisor), jnp.int32,
                           1 if change.shard == "all" else None)
        state = jax.eval_shape(optimizer.init, params)
        return train_step, (placed(arrays, params), placed(arrays, state), {"ids": ids, "labels": ids}), (0, 1)
    return make


def pairs_in_parts(layers, width, heads, hidden, vocab, parts, batch, asked, told, kind=BF16):
    """GradCache: vectors of all texts by a map over parts, their slopes at once, then each part again for weights."""
    def make(arrays, change):
        import optax
        size = batch // change.batch_divisor
        each = size // parts
        shapes = shaped(words=(vocab, width), norm=(width,), log_scale=(),
                        layer_stack=encoder_shapes((layers,), width, hidden))
        params, optimizer = as_kind(shapes, change.stored), optax.adamw(warmed_up(2e-5), weight_decay=0.01)
        layer = maybe_checkpointed(change, lambda x, p: both_ways(x, p, heads, None, 1e4))

        def encode(params, ids):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), p["words"][ids], p["layer_stack"])
            return unit(layer_normed(x, p["norm"]).mean(1).astype(F32))

        def all_vectors(params, ids):
            made = jax.lax.map(functools.partial(encode, params), ids.reshape(parts, each, -1))
            return made.reshape(size, width)

        def contrast(queries, texts, log_scale):
            scores = queries @ texts.T * jnp.exp(log_scale.astype(F32))
            own = jnp.arange(size)
            return (word_loss(scores, own) + word_loss(scores.T, own)) / 2

        def train_step(params, state, queries, texts):
            made = all_vectors(params, queries), all_vectors(params, texts)
            loss, (*slopes, of_scale) = jax.value_and_grad(contrast, (0, 1, 2))(*made, params["log_scale"])

            def add(i, sums):
                ids, wanted = jax.tree.map(lambda rows: jax.lax.dynamic_slice_in_dim(rows, i * each, each),
                                           ((queries, texts), tuple(slopes)))
                _, pull = jax.vjp(lambda params: tuple(encode(params, some) for some in ids), params)
                return jax.tree.map(jnp.add, sums, pull(wanted)[0])
            grads = jax.lax.fori_loop(0, parts, add, jax.tree.map(jnp.zeros_like, params))
            grads["log_scale"] = grads["log_scale"] + of_scale
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        state = jax.eval_shape(optimizer.init, params)
        return train_step, (placed(arrays, params), placed(arrays, state),
                            *(arrays.batch((size, length // change.length_divisor), jnp.int32)
                              for length in (asked, told))), (0, 1)
    return make
