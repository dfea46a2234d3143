"""Language in other ways: gradients of single examples, four-bit weights, very many words, passages, curvature.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_trial_families.py has the sizes.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np

from advice_exam_libraries import (as_kind, computed, next_word_loss, placed, random_key, trained,
                                   warmed_up, word_loss)
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_decoders import at_places, centred, shared_keys


# --- Gradients of single examples ---

def short_gpt_layer(w, x, heads):
    """[time, width], of one sequence."""
    t, width = x.shape
    h = centred(x, w["ln_1"])
    q, k, v = ((h @ w["c_attn"] + w["c_attn_b"]).reshape(t, 3, heads, -1)[:, i] for i in range(3))
    scores = jnp.einsum("qhd,khd->hqk", q, k).astype(F32) * (width // heads) ** -0.5
    weights = jax.nn.softmax(jnp.where(jnp.tri(t, dtype=bool), scores, -1e9), -1).astype(x.dtype)
    x = x + jnp.einsum("hqk,khd->qhd", weights, v).reshape(t, width) @ w["c_proj"]
    return x + jax.nn.gelu(centred(x, w["ln_2"]) @ w["c_fc"] + w["c_fc_b"]) @ w["mlp_proj"]


def private_examples(layers, width, heads, vocab, at_once, batch, length, most=1.0, noise=0.6, kind=F32):
    """DP-SGD on GPT-2's small sister: a fori_loop over parts, a vmap of gradients in each, all clipped by themselves.

    How many examples are together in a part does not change with the batch.
    """
    layer = {"c_attn": (width, 3 * width), "c_attn_b": (3 * width,), "c_proj": (width, width),
             "c_fc": (width, 4 * width), "c_fc_b": (4 * width,), "mlp_proj": (4 * width, width), "ln_1": (width,),
             "ln_2": (width,)}

    def make(arrays, change):
        import optax
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        shapes = shaped(wte=(vocab, width), wpe=(time, width), ln_f=(width,), **{f"h{i}": layer for i in range(layers)})
        params, optimizer = as_kind(shapes, change.stored), optax.adam(5e-4)
        state = jax.eval_shape(optimizer.init, params)
        block = maybe_checkpointed(change, functools.partial(short_gpt_layer, heads=heads))

        def loss_of_one(params, ids):
            p = as_kind(params, computed(change, kind))
            x = p["wte"][ids] + p["wpe"]
            for i in range(layers):
                x = block(p[f"h{i}"], x)
            return word_loss((centred(x, p["ln_f"]) @ p["wte"].T)[:-1], ids[1:])

        def clipped(params, ids):
            loss, grads = jax.value_and_grad(loss_of_one)(params, ids)
            size = optax.global_norm(as_kind(grads, F32))
            return loss, jax.tree.map(lambda g: g * jnp.minimum(1.0, most / size).astype(g.dtype), grads)

        def train_step(params, state, key, ids):
            parts = ids.reshape(at_once, rows // at_once, time)

            def add(i, sums):
                some = jax.lax.dynamic_index_in_dim(parts, i, 1, keepdims=False)
                losses, grads = jax.vmap(clipped, (None, 0))(params, some)
                return sums[0] + losses.sum(), jax.tree.map(lambda s, g: s + g.astype(F32).sum(0), sums[1], grads)
            start = jnp.zeros((), F32), jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params)
            loss, total = jax.lax.fori_loop(0, rows // at_once, add, start)
            leaves, tree = jax.tree.flatten(total)
            keys = jax.random.split(key, len(leaves))
            noisy = [g + most * noise * jax.random.normal(one, g.shape) for one, g in zip(keys, leaves)]
            grads = jax.tree.map(lambda g, p: (g / rows).astype(p.dtype), jax.tree.unflatten(tree, noisy), params)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss / rows
        ids = arrays.batch((rows, time), jnp.int32)
        return train_step, (placed(arrays, params), placed(arrays, state), random_key(arrays), ids), (0, 1)
    return make


# --- Frozen weights of four bits ---

LEVELS = (-1.0, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0.0, 0.0796, 0.1609, 0.2461, 0.3379, 0.4407,
          0.5626, 0.723, 1.0)


def opened(codes, scales, kind):
    """Two codes a byte, one scale for so many rows of a column."""
    rows, columns = 2 * codes.shape[0], codes.shape[1]
    both = jnp.stack([codes & 15, codes >> 4], 1).reshape(scales.shape[0], -1, columns)
    return (jnp.asarray(LEVELS, kind)[both] * scales[:, None].astype(kind)).reshape(rows, columns)


@jax.custom_vjp
def by_four_bits(x, codes, scales):
    return x @ opened(codes, scales, x.dtype)


def by_four_bits_forward(x, codes, scales):
    return by_four_bits(x, codes, scales), (codes, scales)


def by_four_bits_backward(kept, slope):
    """Weights are opened again: what is kept is as narrow as they are."""
    return slope @ opened(*kept, slope.dtype).T, np.zeros(kept[0].shape, jax.dtypes.float0), jnp.zeros_like(kept[1])


by_four_bits.defvjp(by_four_bits_forward, by_four_bits_backward)


def four_bit_llama(layers, width, heads, hidden, vocab, rank, batch, length, block=64, kind=BF16):
    """QLoRA on OpenLLaMA: frozen codes and their scales in a scan, two thin matrices at each of seven products."""
    sizes = {"q": (width, width), "k": (width, width), "v": (width, width), "o": (width, width),
             "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}

    def layer(x, both):
        w, thin = both
        b, t, _ = x.shape

        def product(name, x):
            low = (x @ thin[f"{name}_a"]) @ thin[f"{name}_b"]
            return by_four_bits(x, w[name]["codes"], w[name]["scales"]) + 2.0 * low
        h = root_normed(x, w["norm_in"])
        q, k, v = (product(name, h).reshape(b, t, heads, -1) for name in "qkv")
        x = x + product("o", shared_keys(at_places(q), at_places(k), v))
        h = root_normed(x, w["norm_post"])
        return x + product("down", jax.nn.silu(product("gate", h)) * product("up", h)), None

    def make(arrays, change):
        import optax
        stack = {name: {"codes": jax.ShapeDtypeStruct((layers, rows // 2, columns), jnp.uint8),
                        "scales": jax.ShapeDtypeStruct((layers, rows // block, columns), F32)}
                 for name, (rows, columns) in sizes.items()}
        stack |= shaped(norm_in=(layers, width), norm_post=(layers, width))
        frozen = {**shaped(embed=(vocab, width), norm=(width,), lm_head=(width, vocab)), "layer_stack": stack}
        thin = {}
        for name, (rows, columns) in sizes.items():
            thin |= {f"{name}_a": (layers, rows, rank), f"{name}_b": (layers, rank, columns)}

        def loss_of(tuned, frozen, ids, counts):
            p, thin = as_kind((frozen, tuned["layer_stack"]), computed(change, kind))
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), p["embed"][ids], (p["layer_stack"], thin))
            logits = root_normed(x, p["norm"]) @ p["lm_head"]
            return word_loss(logits[:, :-1], ids[:, 1:], counts[:, 1:].astype(F32))
        rows = batch // change.batch_divisor, length // change.length_divisor
        optimizer = optax.chain(optax.clip_by_global_norm(0.3), optax.adamw(2e-4, b2=0.999))
        return trained(arrays, change, shaped(layer_stack=thin), loss_of, optimizer,
                       placed(arrays, as_kind(frozen, change.stored)), arrays.batch(rows, jnp.int32),
                       arrays.batch(rows, jnp.bool_))
    return make


# --- Very many words over a small body ---

def short_convolution(w, x):
    """Between two gates, over three words."""
    before, after, y = jnp.split(root_normed(x, w["norm_mix"]) @ w["in_proj"], 3, axis=-1)
    y = jnp.pad(before * y, ((0, 0), (2, 0), (0, 0)))
    y = sum(y[:, i:i + x.shape[1]] * w["conv"][i] for i in range(3))
    return x + (after * y) @ w["out_proj"]


def few_keys(w, x, heads, kv_heads):
    b, t, _ = x.shape
    h = root_normed(x, w["norm_mix"])
    q, k, v = jnp.split((h @ w["qkv"]).reshape(b, t, heads + 2 * kv_heads, -1), [heads, heads + kv_heads], axis=2)
    q, k = at_places(root_normed(q, w["q_norm"]), 1e6), at_places(root_normed(k, w["k_norm"]), 1e6)
    return x + shared_keys(q, k, v) @ w["out_proj"]


def short_convolutions(pattern, width, heads, kv_heads, hidden, vocab, batch, length, kind=BF16):
    """Like LFM2 under words of many tongues: "c" is a convolution, "a" attention; all logits at once, with a z-loss."""
    def layer(w, x, which):
        x = short_convolution(w, x) if which == "c" else few_keys(w, x, heads, kv_heads)
        h = root_normed(x, w["norm_ffn"])
        return x + (jax.nn.silu(h @ w["w1"]) * (h @ w["w3"])) @ w["w2"]

    def make(arrays, change):
        import optax
        side = width // heads
        both = {"out_proj": (width, width), "norm_mix": (width,), "norm_ffn": (width,), "w1": (width, hidden),
                "w3": (width, hidden), "w2": (hidden, width)}
        own = {"c": {"in_proj": (width, 3 * width), "conv": (3, width)},
               "a": {"qkv": (width, width + 2 * kv_heads * side), "q_norm": (side,), "k_norm": (side,)}}
        shapes = shaped(embed_tokens=(vocab, width), embedding_norm=(width,),
                        **{f"block_{i}": {**both, **own[which]} for i, which in enumerate(pattern)})

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            x = p["embed_tokens"][ids[:, :-1]]
            for i, which in enumerate(pattern):
                x = maybe_checkpointed(change, functools.partial(layer, which=which))(p[f"block_{i}"], x)
            logits = (root_normed(x, p["embedding_norm"]) @ p["embed_tokens"].T).astype(F32)
            total = jax.nn.logsumexp(logits, axis=-1)
            said = jnp.take_along_axis(logits, ids[:, 1:, None], axis=-1)[..., 0]
            return jnp.mean(total - said) + 1e-4 * jnp.mean(jnp.square(total))
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor + 1), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optax.nadamw(warmed_up(8e-4), weight_decay=0.05), ids)
    return make


# --- Passages that are read apart and answered from together ---

def by_distance(table, queries, keys, both_ways):
    """A bias for each head, [heads, queries, keys], by how far apart two words are."""
    away = jnp.arange(keys)[None, :] - jnp.arange(queries)[:, None]
    half = table.shape[0] // 2
    bucket = jnp.minimum(jnp.abs(away), half - 1) + (half * (away > 0) if both_ways else 0)
    return table[bucket].transpose(2, 0, 1)


def biased(q, k, v, bias):
    """As T5 has it, without a scale."""
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) + bias
    weights = jax.nn.softmax(scores, axis=-1).astype(v.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def inner_look(w, x, memory, bias):
    h = root_normed(x, w["norm"])
    q, k, v = (jnp.einsum("btd,dhk->bthk", y, w[name]) for name, y in (
        ("q", h), ("k", h if memory is None else memory), ("v", h if memory is None else memory)))
    return x + jnp.einsum("bthk,hkd->btd", biased(q, k, v, bias), w["o"])


def gated_units(w, x):
    h = root_normed(x, w["norm"])
    return x + (jax.nn.gelu(h @ w["wi_0"]) * (h @ w["wi_1"])) @ w["wo"]


def fused_passages(layers, width, heads, hidden, vocab, batch, passages, length, answer, kind=BF16):
    """Fusion-in-Decoder on T5 1.1: a question with each of its passages is read alone; answers look at all of them."""
    side = width // heads
    look = {"q": (layers, width, heads, side), "k": (layers, width, heads, side), "v": (layers, width, heads, side),
            "o": (layers, heads, side, width), "norm": (layers, width)}
    units = {"wi_0": (layers, width, hidden), "wi_1": (layers, width, hidden), "wo": (layers, hidden, width),
             "norm": (layers, width)}

    def make(arrays, change):
        import optax
        b, t, said = batch // change.batch_divisor, length // change.length_divisor, answer // change.length_divisor
        shapes = shaped(shared=(vocab, width), lm_head=(width, vocab), encoder_norm=(width,), decoder_norm=(width,),
                        encoder_bias=(32, heads), decoder_bias=(32, heads),
                        encoder_layer_stack={"look": look, "units": units},
                        decoder_layer_stack={"look": look, "across": look, "units": units})

        def loss_of(params, ids, valid, targets):
            p = as_kind(params, computed(change, kind))
            shown = jnp.where(valid.reshape(-1, 1, 1, t), 0.0, -1e9)
            bias = by_distance(p["encoder_bias"].astype(F32), t, t, True) + shown

            def read(x, w):
                return gated_units(w["units"], inner_look(w["look"], x, None, bias)), None
            x = p["shared"][ids.reshape(-1, t)]
            x, _ = jax.lax.scan(maybe_checkpointed(change, read), x, p["encoder_layer_stack"])
            memory = root_normed(x, p["encoder_norm"]).reshape(-1, passages * t, width)
            hidden_words = jnp.where(valid.reshape(-1, 1, 1, passages * t), 0.0, -1e9)
            before = by_distance(p["decoder_bias"].astype(F32), said, said, False)
            before = jnp.where(jnp.tri(said, dtype=bool), before, -1e9)

            def write(y, w):
                y = inner_look(w["across"], inner_look(w["look"], y, None, before), memory, hidden_words)
                return gated_units(w["units"], y), None
            y = p["shared"][jnp.pad(targets[:, :-1], ((0, 0), (1, 0)))]
            y, _ = jax.lax.scan(maybe_checkpointed(change, write), y, p["decoder_layer_stack"])
            return word_loss(root_normed(y, p["decoder_norm"]) @ p["lm_head"], targets)
        ids = arrays.batch((b, passages, t), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adamw(1e-4, weight_decay=0.01), ids,
                                arrays.batch((b, passages, t), jnp.bool_), arrays.batch((b, said), jnp.int32))
    return make


# --- Curvature ---

def steepest_direction(layers, width, heads, vocab, batch, length, rounds=4, kind=F32):
    """Where the loss of a GPT bends most: rounds of Hessian times direction, forward through the backward pass."""
    stack = {"qkv": (layers, width, 3, heads, width // heads), "out": (layers, heads, width // heads, width),
             "fc": (layers, width, 4 * width), "proj": (layers, 4 * width, width), "norm_1": (layers, width),
             "norm_2": (layers, width)}

    def layer(x, w):
        q, k, v = jnp.einsum("btd,dchk->cbthk", centred(x, w["norm_1"]), w["qkv"])
        x = x + jnp.einsum("bthk,hkd->btd", shared_keys(q, k, v).reshape(q.shape), w["out"])
        return x + jax.nn.gelu(centred(x, w["norm_2"]) @ w["fc"]) @ w["proj"], None

    def make(arrays, change):
        rows = batch // change.batch_divisor, length // change.length_divisor
        shapes = as_kind(shaped(wte=(vocab, width), wpe=(rows[1], width), norm=(width,), layer_stack=stack),
                         change.stored)

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), p["wte"][ids] + p["wpe"], p["layer_stack"])
            return next_word_loss(centred(x, p["norm"]) @ p["wte"].T, ids)

        def product(one, other):
            return sum(jnp.vdot(a.astype(F32), b.astype(F32)) for a, b in zip(jax.tree.leaves(one),
                                                                             jax.tree.leaves(other)))

        def iterate(params, direction, ids):
            def turn(direction, _):
                _, bent = jax.jvp(lambda p: jax.grad(loss_of)(p, ids), (params,), (direction,))
                size = jnp.sqrt(product(bent, bent)) + 1e-12
                return jax.tree.map(lambda b: (b / size).astype(b.dtype), bent), product(direction, bent)
            direction, bends = jax.lax.scan(turn, direction, length=rounds)
            return direction, bends
        params = placed(arrays, shapes)
        return iterate, (params, params, arrays.batch(rows, jnp.int32)), (1,)
    return make
