"""Words in other ways: ranked answers in a loop, shared projections, two kinds of places, many words, sparse passages.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_proof_families.py has the sizes.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np

from advice_exam_libraries import as_kind, computed, matrices_only, placed, trained, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_decoders import at_places, shared_keys
from advice_trial_sequences import kind_of


def layer_norm(x, p):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype) * p["g"] + p["b"]


def affine(x, p):
    return x @ p["w"] + p["b"]


def affine_shapes(inputs, outputs, *lead):
    return {"w": (*lead, inputs, outputs), "b": (*lead, outputs)}


def norm_shapes(width, *lead):
    return {"g": (*lead, width), "b": (*lead, width)}


# --- Answers ranked, some prompts at a time ---

def later_normed_layer(x, w, heads):
    q, k, v = (affine(x, w[name]).reshape(*x.shape[:2], heads, -1) for name in ("q_proj", "k_proj", "v_proj"))
    x = layer_norm(x + affine(shared_keys(q, k, v), w["out_proj"]), w["attention_norm"])
    return layer_norm(x + affine(jax.nn.relu(affine(x, w["fc1"])), w["fc2"]), w["final_norm"])


def ranked_answers(layers, width, narrow, heads, hidden, vocab, parts, prompts, answers, length, kind=BF16):
    """A model of reward in OPT-350m's manner learns an order of answers; a fori_loop over parts of all prompts."""
    stack = {name: affine_shapes(width, width, layers) for name in ("q_proj", "k_proj", "v_proj", "out_proj")}
    stack |= {"fc1": affine_shapes(width, hidden, layers), "fc2": affine_shapes(hidden, width, layers),
              "attention_norm": norm_shapes(width, layers), "final_norm": norm_shapes(width, layers)}

    def make(arrays, change):
        import optax
        count, time = prompts // change.batch_divisor, length // change.length_divisor
        shapes = shaped(embed_tokens=(vocab, narrow), embed_positions=(length, width), project_in=(narrow, width),
                        reward=(width, 1), layer_stack=stack)
        params = as_kind(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(9e-6), mask=matrices_only))
        state = jax.eval_shape(optimizer.init, params)
        block = maybe_checkpointed(change, functools.partial(later_normed_layer, heads=heads))

        def loss_of(params, ids, last):
            p = as_kind(params, computed(change, kind))
            rows = ids.reshape(-1, time)
            x = p["embed_tokens"][rows] @ p["project_in"] + p["embed_positions"][:time]
            x, _ = jax.lax.scan(lambda x, w: (block(x, w), None), x, p["layer_stack"])
            ends = jnp.take_along_axis(x, last.reshape(-1, 1, 1), 1)[:, 0]
            rewards = (ends @ p["reward"]).astype(F32).reshape(-1, answers)
            behind = jax.lax.cumlogsumexp(rewards, axis=1, reverse=True)
            return jnp.mean(jnp.sum(behind - rewards, -1))

        def train_step(params, state, ids, last):
            parted = [x.reshape(count // parts, parts, *x.shape[1:]) for x in (ids, last)]

            def add(i, sums):
                some = [jax.lax.dynamic_index_in_dim(x, i, 1, False) for x in parted]
                loss, grads = jax.value_and_grad(loss_of)(params, *some)
                return sums[0] + loss / parts, jax.tree.map(lambda s, g: s + g / parts, sums[1], grads)
            zeros = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            loss, grads = jax.lax.fori_loop(0, parts, add, zeros)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        arguments = (placed(arrays, params), placed(arrays, state),
                     arrays.batch((count, answers, time), jnp.int32), arrays.batch((count, answers), jnp.int32))
        return train_step, arguments, (0, 1)
    return make


# --- Random projections that all layers share, beside weights of bytes ---

def from_groups(w, kind):
    """Bytes with a scale for each group of rows of a column."""
    values, scale = w["bytes"], w["scale"]
    rows, columns = values.shape
    grouped = values.reshape(scale.shape[0], -1, columns).astype(kind) * scale[:, None].astype(kind)
    return grouped.reshape(rows, columns)


def shared_projections(layers, width, heads, hidden, vocab, rank, batch, length, group=128, kind=BF16):
    """VeRA on Phi-2: all that is trained are two vectors a product; the thin matrices are random and everybody's."""
    products = {"q": (width, width), "k": (width, width), "v": (width, width), "dense": (width, width),
                "fc1": (width, hidden), "fc2": (hidden, width)}
    adapted = "q", "k", "v", "fc1"

    def make(arrays, change):
        import optax
        stack = {}
        for name, (rows, columns) in products.items():
            split = 0 if name == "fc2" else 1
            stack[name] = {"bytes": arrays.array((layers, rows, columns), jnp.int8, 1 + split),
                           "scale": arrays.array((layers, rows // group, columns), change.stored, 1 + split),
                           "bias": arrays.array((layers, columns), change.stored)}
        floats = shaped(embed=(vocab, width), head=(width, vocab), head_bias=(vocab,), norm=norm_shapes(width),
                        down=(width, rank), up=(rank, hidden))
        norms = as_kind(shaped(layer_stack=norm_shapes(width, layers)), change.stored)
        frozen = placed(arrays, as_kind(floats, change.stored)) | {
            "layer_stack": stack, "norms": placed(arrays, norms)["layer_stack"]}
        vectors = shaped(layer_stack={name: {"d": (layers, rank), "b": (layers, products[name][1])}
                                      for name in adapted})

        def layer(x, w, vector, norm, down, up):
            now = x.dtype
            h = layer_norm(x, norm)

            def product(y, name):
                out = y @ from_groups(w[name], now) + w[name]["bias"].astype(now)
                if name in adapted:
                    thin = (y @ down) * vector[name]["d"]
                    out = out + (thin @ up[:, :out.shape[-1]]) * vector[name]["b"]
                return out
            q, k, v = (product(h, name).reshape(*x.shape[:2], heads, -1) for name in ("q", "k", "v"))
            mixed = shared_keys(at_places(q), at_places(k), v)
            return x + product(mixed, "dense") + product(jax.nn.gelu(product(h, "fc1")), "fc2")

        def loss_of(vectors, frozen, ids):
            now = computed(change, kind)
            down, up = frozen["down"].astype(now), frozen["up"].astype(now)
            block = maybe_checkpointed(change, layer)

            def body(x, one):
                w, vector, norm = one
                return block(x, w, as_kind(vector, now), as_kind(norm, now), down, up), None
            x, _ = jax.lax.scan(body, frozen["embed"][ids].astype(now),
                                (frozen["layer_stack"], vectors["layer_stack"], frozen["norms"]))
            x = layer_norm(x, as_kind(frozen["norm"], now))
            return word_loss((x @ frozen["head"].astype(now) + frozen["head_bias"].astype(now))[:, :-1], ids[:, 1:])
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained(arrays, change, vectors, loss_of, optax.adamw(warmed_up(4e-3)), frozen, ids)
    return make


# --- What is said, and how far away it is, apart ---

def buckets_of(time, most, near):
    """Near distances one by one, far ones by their logarithm: [time, time] of 0 to 2 * near - 1."""
    far = np.arange(time)[:, None] - np.arange(time)
    sizes, middle = np.abs(far), near // 2
    logs = np.ceil(np.log(np.maximum(sizes, 1) / middle) / np.log((most - 1) / middle) * (middle - 1)) + middle
    return np.clip(np.where(sizes <= middle, far, logs * np.sign(far)) + near, 0, 2 * near - 1).astype(np.int32)


def untangled_layer(x, w, places, buckets, heads):
    b, t, width = x.shape
    side = width // heads
    q, k, v = (affine(x, w[name]).reshape(b, t, heads, side) for name in ("query", "key", "value"))
    pos_q, pos_k = (affine(places, w[name]).reshape(-1, heads, side) for name in ("query", "key"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k)
    to_place = jnp.einsum("bqhd,phd->bhqp", q, pos_k)
    scores += jnp.take_along_axis(to_place, jnp.broadcast_to(buckets, (b, heads, t, t)), axis=-1)
    from_place = jnp.einsum("bkhd,phd->bhkp", k, pos_q)
    turned = jnp.take_along_axis(from_place, jnp.broadcast_to(buckets, (b, heads, t, t)), axis=-1)
    scores = (scores + turned.swapaxes(-1, -2)).astype(F32) * (3 * side) ** -0.5
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v).reshape(b, t, width)
    x = layer_norm(x + affine(mixed, w["output"]), w["norm_1"])
    return layer_norm(x + affine(jax.nn.gelu(affine(x, w["up"])), w["down"]), w["norm_2"])


def untangled_places(layers, width, heads, vocab, asked, batch, length, near=256, kind=F32):
    """DeBERTa 3 fills masks: three products make the scores, with queries and keys that words and distances share."""
    stack = {name: affine_shapes(width, width, layers) for name in ("query", "key", "value", "output")}
    stack |= {"up": affine_shapes(width, 4 * width, layers), "down": affine_shapes(4 * width, width, layers),
              "norm_1": norm_shapes(width, layers), "norm_2": norm_shapes(width, layers)}

    def make(arrays, change):
        import optax
        now, rows = kind_of(change, kind), batch // change.batch_divisor
        time, wanted = length // change.length_divisor, asked // change.length_divisor
        shapes = shaped(words=(vocab, width), rel_embeddings=(2 * near, width), norm=norm_shapes(width),
                        rel_norm=norm_shapes(width), transform=affine_shapes(width, width),
                        transform_norm=norm_shapes(width), bias=(vocab,), layer_stack=stack)

        def loss_of(params, ids, places, labels):
            p = as_kind(params, now)
            buckets = jnp.asarray(buckets_of(time, 512, near))
            far = layer_norm(p["rel_embeddings"], p["rel_norm"])
            block = maybe_checkpointed(change, functools.partial(untangled_layer, heads=heads))
            x, _ = jax.lax.scan(lambda x, w: (block(x, w, far, buckets), None), layer_norm(p["words"][ids], p["norm"]),
                                p["layer_stack"])
            x = jnp.take_along_axis(x, places[..., None], 1)
            x = layer_norm(jax.nn.gelu(affine(x, p["transform"])), p["transform_norm"])
            return word_loss(x @ p["words"].T + p["bias"], labels)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(5e-4), mask=matrices_only))
        places = arrays.batch((rows, wanted), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((rows, time), jnp.int32),
                                places, places)
    return make


# --- Many words, few units ---

def log_units(gates, told):
    """minGRU by an associative scan over time: h = (1 - z) * h + z * told."""
    z = jax.nn.sigmoid(gates.astype(F32))

    def join(one, other):
        return one[0] * other[0], other[0] * one[1] + other[1]
    return jax.lax.associative_scan(join, (1 - z, z * told.astype(F32)), axis=1)[1].astype(told.dtype)


def few_units(layers, width, inner, hidden, vocab, batch, length, kind=BF16):
    """minGRU with a short convolution and units, a list of layers; all scores of many words at once, with z-loss."""
    sizes = {"norm_1": (width,), "norm_2": (width,), "norm_3": (width,), "taps": (4, width), "mix": (width, width),
             "into": (width, 2 * inner), "out": (inner, width), "up": (width, hidden), "down": (hidden, width)}

    def layer(w, x):
        h = root_normed(x, w["norm_1"])
        padded = jnp.pad(h, ((0, 0), (3, 0), (0, 0)))
        x = x + sum(padded[:, i:i + x.shape[1]] * w["taps"][i] for i in range(4)) @ w["mix"]
        gates, told = jnp.split(root_normed(x, w["norm_2"]) @ w["into"], 2, axis=-1)
        told = jnp.where(told >= 0, told + 0.5, jax.nn.sigmoid(told))
        x = x + log_units(gates, told) @ w["out"]
        return x + jax.nn.gelu(root_normed(x, w["norm_3"]) @ w["up"]) @ w["down"]

    def make(arrays, change):
        import optax
        shapes = shaped(table=(vocab, width), norm=(width,))
        shapes["layers"] = [shaped(**sizes) for _ in range(layers)]

        def loss_of(params, ids, targets):
            p = as_kind(params, computed(change, kind))
            x = p["table"][ids]
            for w in p["layers"]:
                x = maybe_checkpointed(change, layer)(w, x)
            logits = (root_normed(x, p["norm"]) @ p["table"].T).astype(F32)
            total = jax.nn.logsumexp(logits, -1)
            said = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
            return jnp.mean(total - said) + 1e-4 * jnp.mean(jnp.square(total))
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adamw(warmed_up(1e-3), b2=0.98), ids, ids)
    return make


# --- Passages as weights of all words ---

def both_ways_layer(w, x, mask, heads):
    b, t, width = x.shape
    q, k, v = (affine(x, w[name]).reshape(b, t, heads, -1) for name in ("q_lin", "k_lin", "v_lin"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // heads) ** -0.5
    scores = jnp.where(mask[:, None, None], scores, jnp.finfo(scores.dtype).min)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(b, t, width)
    x = layer_norm(x + affine(mixed, w["out_lin"]), w["sa_layer_norm"])
    return layer_norm(x + affine(jax.nn.gelu(affine(x, w["lin1"])), w["lin2"]), w["output_layer_norm"])


def sparse_passages(layers, width, heads, vocab, batch, asked, told, kind=F32):
    """SPLADE on DistilBERT: the most of each word's scores in a text; questions tell their passages from all others."""
    sizes = {name: affine_shapes(width, width) for name in ("q_lin", "k_lin", "v_lin", "out_lin")}
    sizes |= {"lin1": affine_shapes(width, 4 * width), "lin2": affine_shapes(4 * width, width),
              "sa_layer_norm": norm_shapes(width), "output_layer_norm": norm_shapes(width)}

    def make(arrays, change):
        import optax
        now, rows = kind_of(change, kind), batch // change.batch_divisor
        shapes = shaped(words=(vocab, width), places=(512, width), norm=norm_shapes(width), bias=(vocab,),
                        transform=affine_shapes(width, width), transform_norm=norm_shapes(width))
        shapes["layers"] = [shaped(**sizes) for _ in range(layers)]

        def weights_of(p, ids):
            mask = ids > 0
            x = layer_norm(p["words"][ids] + p["places"][:ids.shape[1]], p["norm"])
            block = maybe_checkpointed(change, functools.partial(both_ways_layer, heads=heads))
            for w in p["layers"]:
                x = block(w, x, mask)
            x = layer_norm(jax.nn.gelu(affine(x, p["transform"])), p["transform_norm"])
            logits = x @ p["words"].T + p["bias"]
            return jnp.max(jnp.log1p(jax.nn.relu(logits)) * mask[..., None], axis=1).astype(F32)

        def loss_of(params, questions, right, wrong):
            p = as_kind(params, now)
            q = weights_of(p, questions)
            d = weights_of(p, jnp.concatenate([right, wrong]))
            scores = q @ d.T
            ranked = optax.softmax_cross_entropy_with_integer_labels(scores, jnp.arange(len(q))).mean()
            flops = [jnp.sum(jnp.square(jnp.mean(some, 0))) for some in (q, d)]
            return ranked + 3e-4 * flops[0] + 1e-4 * flops[1]
        passages = arrays.batch((rows, told // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adamw(warmed_up(2e-5)),
                                arrays.batch((rows, asked // change.length_divisor), jnp.int32), passages, passages)
    return make
