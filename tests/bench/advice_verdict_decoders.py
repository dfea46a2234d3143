"""Decoders that are trained: depth in loops, gates that forget, heads that talk, blanks, noise, what teachers say.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_verdict_families.py has the sizes.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, placed, random_key, trained,
                                   warmed_up, word_loss)
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_decoders import at_places, shared_keys
from advice_trial_sequences import kind_of


def gated(x, w):
    return (jax.nn.silu(x @ w["gate"]) * (x @ w["up"])) @ w["down"]


# --- Depth in loops, gradients over steps ---

def looped_depth(entry, core, leave, loops, width, heads, hidden, vocab, steps, batch, length, kind=BF16):
    """Huginn's recurrent depth: some layers go round and round over what was read; a scan over steps adds gradients."""
    sizes = {"qkv": (width, 3 * width), "out": (width, width), "gate": (width, hidden), "up": (width, hidden),
             "down": (hidden, width), "n1": (width,), "n2": (width,), "n3": (width,), "n4": (width,)}

    def stack(count):
        return {name: (count, *shape) for name, shape in sizes.items()}

    def sandwich(x, w):
        q, k, v = (y.reshape(*x.shape[:2], heads, -1) for y in jnp.split(root_normed(x, w["n1"]) @ w["qkv"], 3, -1))
        x = x + root_normed(shared_keys(at_places(q, 5e4), at_places(k, 5e4), v) @ w["out"], w["n2"])
        return x + root_normed(gated(root_normed(x, w["n3"]), w), w["n4"]), None

    def make(arrays, change):
        import optax
        params = as_kind(shaped(wte=(vocab, width), adapter=(2 * width, width), norm=(width,), loop_norm=(width,),
                                entry_layer_stack=stack(entry), core_layer_stack=stack(core),
                                leave_layer_stack=stack(leave)), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(5e-4), b2=0.95, weight_decay=0.1,
                                                                            mask=matrices_only))
        state = jax.eval_shape(optimizer.init, params)
        block = maybe_checkpointed(change, sandwich)

        def loss_of(params, ids, key):
            p = as_kind(params, computed(change, kind))
            read, _ = jax.lax.scan(block, p["wte"][ids], p["entry_layer_stack"])

            def again(thought, _):
                x = jnp.concatenate([thought, read], -1) @ p["adapter"]
                x, _ = jax.lax.scan(block, x, p["core_layer_stack"])
                return root_normed(x, p["loop_norm"]), None
            start = 0.02 * jax.random.normal(key, read.shape, read.dtype)
            thought, _ = jax.lax.scan(again, start, length=loops)
            x, _ = jax.lax.scan(block, thought, p["leave_layer_stack"])
            return word_loss((root_normed(x, p["norm"]) @ p["wte"].T)[:, :-1], ids[:, 1:])

        def train_step(params, state, tokens, key):
            def micro(total, both):
                loss, grads = jax.value_and_grad(loss_of)(params, *both)
                return jax.tree.map(lambda t, g: t + g.astype(F32) / steps, total, grads), loss
            zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params)
            keys = jax.random.split(jax.random.wrap_key_data(key), steps)
            grads, losses = jax.lax.scan(micro, zeros, (tokens, keys))
            grads = jax.tree.map(lambda g, p: g.astype(p.dtype), grads, params)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, losses.mean()
        shape = steps, batch // change.batch_divisor, length // change.length_divisor
        tokens = arrays.array(shape, jnp.int32, 1 if change.shard == "all" else None)
        return train_step, (placed(arrays, params), placed(arrays, state), tokens, random_key(arrays)), (0, 1)
    return make


# --- Gates that forget, in equinox ---

def forgetting_lines(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """A forgetting transformer: each head's gates add up to a bias of its scores; blocks made by vmap, in one scan."""
    def make(arrays, change):
        import equinox as eqx
        import optax

        class Block(eqx.Module):
            qkv: eqx.nn.Linear
            forget: eqx.nn.Linear
            out: eqx.nn.Linear
            up: eqx.nn.Linear
            down: eqx.nn.Linear
            norm_1: jax.Array
            norm_2: jax.Array

            def __init__(self, key):
                keys = jax.random.split(key, 5)
                self.qkv = eqx.nn.Linear(width, 3 * width, use_bias=False, key=keys[0])
                self.forget = eqx.nn.Linear(width, heads, key=keys[1])
                self.out = eqx.nn.Linear(width, width, use_bias=False, key=keys[2])
                self.up = eqx.nn.Linear(width, 2 * hidden, use_bias=False, key=keys[3])
                self.down = eqx.nn.Linear(hidden, width, use_bias=False, key=keys[4])
                self.norm_1 = self.norm_2 = jnp.ones((width,))

            def __call__(self, x):
                time = x.shape[0]
                h = root_normed(x, self.norm_1)
                q, k, v = jnp.split(jax.vmap(self.qkv)(h).reshape(time, 3 * heads, -1), 3, axis=1)
                kept = jnp.cumsum(jax.nn.log_sigmoid(jax.vmap(self.forget)(h).astype(F32)), axis=0).T
                scores = jnp.einsum("qhd,khd->hqk", q, k).astype(F32) * q.shape[-1] ** -0.5
                scores = scores + kept[:, :, None] - kept[:, None]
                scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, -jnp.inf)
                mixed = jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores).astype(v.dtype), v)
                x = x + jax.vmap(self.out)(mixed.reshape(time, width))
                a, b = jnp.split(jax.vmap(self.up)(root_normed(x, self.norm_2)), 2, axis=-1)
                return x + jax.vmap(self.down)(jax.nn.silu(a) * b)

        class Model(eqx.Module):
            words: jax.Array
            layer_stack: Block
            norm: jax.Array
            head: eqx.nn.Linear

            def __init__(self, key):
                first, second, third = jax.random.split(key, 3)
                self.words = jax.random.normal(first, (vocab, width))
                self.layer_stack = eqx.filter_vmap(Block)(jax.random.split(second, layers))
                self.norm = jnp.ones((width,))
                self.head = eqx.nn.Linear(width, vocab, use_bias=False, key=third)

            def __call__(self, ids):
                dynamic, static = eqx.partition(self.layer_stack, eqx.is_array)
                block = maybe_checkpointed(change, lambda x, one: eqx.combine(one, static)(x))
                x, _ = jax.lax.scan(lambda x, one: (block(x, one), None), self.words[ids], dynamic)
                return jax.vmap(self.head)(root_normed(x, self.norm))
        shapes, static = eqx.partition(eqx.filter_eval_shape(Model, jax.random.key(0)),
                                       lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

        def loss_of(params, ids):
            model = eqx.combine(as_kind(params, computed(change, kind)), static)
            return word_loss(jax.vmap(model)(ids[:, :-1]), ids[:, 1:])
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adan(warmed_up(1e-3), weight_decay=0.02))
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor + 1), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids)
    return make


# --- Heads that talk ---

def talking_layer(x, w, causal):
    """Scores are mixed among heads before the softmax and after it; all of it in float32."""
    h = root_normed(x, w["norm_1"])
    q, k, v = (jnp.einsum("btd,dhe->bhte", h, w[name]) for name in ("wq", "wk", "wv"))
    scores = jnp.einsum("bhqe,bhke->bhqk", q, k, preferred_element_type=F32) * q.shape[-1] ** -0.5
    scores = jnp.einsum("bhqk,hg->bgqk", scores, w["before"].astype(F32))
    weights = jax.nn.softmax(jnp.where(causal, scores, -1e30), axis=-1)
    weights = jnp.einsum("bgqk,gh->bhqk", weights, w["after"].astype(F32)).astype(v.dtype)
    x = x + jnp.einsum("bhqk,bhke,hed->bqd", weights, v, w["wo"])
    return x + jax.nn.gelu(root_normed(x, w["norm_2"]) @ w["wi"]) @ w["wf"]


def talking_heads(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """Few layers on long rows, written out: what fills the memory are scores, which two small matrices mix."""
    side = width // heads
    sizes = {"wq": (width, heads, side), "wk": (width, heads, side), "wv": (width, heads, side),
             "wo": (heads, side, width), "before": (heads, heads), "after": (heads, heads), "wi": (width, hidden),
             "wf": (hidden, width), "norm_1": (width,), "norm_2": (width,)}

    def make(arrays, change):
        import optax
        time = length // change.length_divisor
        shapes = shaped(words=(vocab, width), places=(time, width), norm=(width,),
                        **{f"block_{i}": sizes for i in range(layers)})

        def loss_of(params, ids):
            p = as_kind(params, kind_of(change, kind))
            causal = jnp.tril(jnp.ones((time, time), bool))
            x = p["words"][ids] + p["places"]
            for i in range(layers):
                x = maybe_checkpointed(change, talking_layer)(x, p[f"block_{i}"], causal)
            return word_loss((root_normed(x, p["norm"]) @ p["words"].T)[:, :-1], ids[:, 1:])
        optimizer = optax.adafactor(warmed_up(1e-2), multiply_by_parameter_scale=True, clipping_threshold=1.0)
        ids = arrays.batch((batch // change.batch_divisor, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids)
    return make


# --- Blanks ---

def blank_layer(x, w, seen, places, heads, alpha):
    """GLM's layer under DeepNorm: half of a head is turned by the place in the text, half by that in the blank."""
    b, t, width = x.shape
    q, k, v = (y.reshape(b, t, heads, -1) for y in jnp.split(x @ w["qkv"] + w["qkv_bias"], 3, -1))

    def turned(y):
        return jnp.concatenate([rotary(half, at) for half, at in zip(jnp.split(y, 2, -1), places)], -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", turned(q), turned(k)).astype(F32) * (width // heads) ** -0.5
    weights = jax.nn.softmax(jnp.where(seen, scores, -1e30)).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(b, t, width)
    x = root_normed(alpha * x + mixed @ w["dense"] + w["dense_bias"], w["norm_1"])
    a, g = jnp.split(x @ w["h_to_4h"], 2, -1)
    return root_normed(alpha * x + (jax.nn.gelu(g) * a) @ w["4h_to_h"], w["norm_2"])


def rotary(x, places):
    """x [batch, time, heads, side], places [batch, time]."""
    half = x.shape[-1] // 2
    angles = places[..., None, None].astype(F32) * 10000.0 ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def full_blanks(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """GLM fills blanks: a prefix is seen by all, what fills it by what comes later; written out, and all there is."""
    sizes = {"qkv": (width, 3 * width), "qkv_bias": (3 * width,), "dense": (width, width), "dense_bias": (width,),
             "h_to_4h": (width, 2 * hidden), "4h_to_h": (hidden, width), "norm_1": (width,), "norm_2": (width,)}

    def make(arrays, change):
        rows = batch // change.batch_divisor, length // change.length_divisor
        shapes = shaped(embedding=(vocab, width), norm=(width,), layers={f"{i}": sizes for i in range(layers)})

        def loss_of(params, ids, labels, within, prefix):
            p = as_kind(params, computed(change, kind))
            time = jnp.arange(ids.shape[1])
            seen = (time[:, None] >= time)[None] | (time < prefix[:, None])[:, None]
            places = jnp.minimum(time, prefix[:, None]), within
            block = maybe_checkpointed(change, functools.partial(blank_layer, heads=heads, alpha=(2 * layers) ** 0.5))
            x = root_normed(p["embedding"][ids], p["norm"])
            for i in range(layers):
                x = block(x, p["layers"][f"{i}"], seen[:, None], places)
            return word_loss(x @ p["embedding"].T, jnp.maximum(labels, 0), (labels >= 0).astype(F32))
        ids = arrays.batch(rows, jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(8e-5), ids, ids, ids,
                                arrays.batch(rows[:1], jnp.int32))
    return make


# --- Masks as noise ---

def masks_as_noise(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """LLaDA: each row loses a share of its words, and those that are lost are said, each over its row's share."""
    stack = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width),
             "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width), "norm_1": (width,),
             "norm_2": (width,)}

    def layer(x, w):
        h = root_normed(x, w["norm_1"])
        q, k, v = ((h @ w[name]).reshape(*x.shape[:2], heads, -1) for name in ("q", "k", "v"))
        mixed = jax.nn.dot_product_attention(at_places(q, 5e5), at_places(k, 5e5), v).reshape(x.shape)
        x = x + mixed @ w["o"]
        return x + gated(root_normed(x, w["norm_2"]), w), None

    def make(arrays, change):
        import optax
        shapes = shaped(wte=(vocab, width), ln_f=(width,), ff_out=(width, vocab),
                        layer_stack={name: (layers, *shape) for name, shape in stack.items()})

        def loss_of(params, ids, key):
            p = as_kind(params, computed(change, kind))
            first, second = jax.random.split(jax.random.wrap_key_data(key))
            share = 0.001 + 0.999 * jax.random.uniform(first, (ids.shape[0], 1))
            lost = jax.random.uniform(second, ids.shape) < share
            x = p["wte"][jnp.where(lost, vocab - 1, ids)]
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), x, p["layer_stack"])
            logits = (root_normed(x, p["ln_f"]) @ p["ff_out"]).astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, ids)
            return jnp.mean(jnp.where(lost, losses / share, 0))
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained(arrays, change, shapes, loss_of, clipped_adamw(4e-4), ids, random_key(arrays))
    return make


# --- A teacher's tops ---

def teachers_tops(layers, width, heads, kv_heads, hidden, vocab, top, batch, length, kind=BF16):
    """A small Qwen learns from what was stored of a teacher: its most probable words, and how probable they are."""
    side = width // heads
    sizes = {"q": (width, width), "kv": (width, 2 * kv_heads * side), "bias": (width + 2 * kv_heads * side,),
             "o": (width, width), "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width),
             "norm_1": (width,), "norm_2": (width,)}

    def layer(x, w):
        b, t, _ = x.shape
        h = root_normed(x, w["norm_1"])
        q, k, v = jnp.split(jnp.concatenate([h @ w["q"], h @ w["kv"]], -1) + w["bias"],
                            [width, width + kv_heads * side], -1)
        q, k, v = (y.reshape(b, t, -1, side) for y in (q, k, v))
        x = x + shared_keys(at_places(q, 1e6), at_places(k, 1e6), v) @ w["o"]
        return x + gated(root_normed(x, w["norm_2"]), w)

    def make(arrays, change):
        import optax
        shapes = shaped(embed=(vocab, width), norm=(width,), layers={f"layer{i}": sizes for i in range(layers)})

        def loss_of(params, ids, best, chances):
            p = as_kind(params, computed(change, kind))
            x = p["embed"][ids]
            for i in range(layers):
                x = maybe_checkpointed(change, layer)(x, p["layers"][f"layer{i}"])
            said = jax.nn.log_softmax((root_normed(x, p["norm"]) @ p["embed"].T).astype(F32))
            mine = jnp.take_along_axis(said, best, -1)
            chances = chances.astype(F32)
            return jnp.mean(jnp.sum(chances * (jnp.log(chances + 1e-9) - mine), -1))
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(1e-4), weight_decay=0.05))
        rows = batch // change.batch_divisor, length // change.length_divisor
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch(rows, jnp.int32),
                                arrays.batch((*rows, top), jnp.int32), arrays.batch((*rows, top), BF16))
    return make
