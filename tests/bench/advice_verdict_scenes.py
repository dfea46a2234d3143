"""Parts of one batch in a map, experts that choose, turns of frozen bytes, and questions about pictures.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_verdict_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, placed, trained, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_decoders import at_places, shared_keys
from advice_trial_sequences import kind_of
from advice_verdict_decoders import gated


# --- Rewards of steps, some rows at a time ---

def step_rewards(layers, width, heads, kv_heads, hidden, vocab, parts, batch, length, kind=BF16):
    """A model says after each step of a solution whether it is right; one gradient through a map over parts of rows."""
    side = width // heads
    stack = {"q": (width, width), "k": (width, kv_heads * side), "v": (width, kv_heads * side), "o": (width, width),
             "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width), "norm_1": (width,),
             "norm_2": (width,)}

    def layer(x, w):
        h = root_normed(x, w["norm_1"])
        q, k, v = ((h @ w[name]).reshape(*x.shape[:2], -1, side) for name in ("q", "k", "v"))
        x = x + shared_keys(at_places(q, 1e5), at_places(k, 1e5), v) @ w["o"]
        return x + gated(root_normed(x, w["norm_2"]), w), None

    def make(arrays, change):
        shapes = shaped(tokens=(vocab, width), norm=(width,), score={"w1": (width, width), "w2": (width, 1)},
                        layer_stack={name: (layers, *shape) for name, shape in stack.items()})

        def loss_of(params, ids, labels):
            @jax.checkpoint
            def of_part(both):
                p, (ids, labels) = as_kind(params, computed(change, kind)), both
                x, _ = jax.lax.scan(maybe_checkpointed(change, layer), p["tokens"][ids], p["layer_stack"])
                x = jax.nn.relu(root_normed(x, p["norm"]) @ p["score"]["w1"])
                logits = (x @ p["score"]["w2"])[..., 0].astype(F32)
                losses = jax.nn.softplus(logits) - labels * logits
                return jnp.sum(jnp.where(labels >= 0, losses, 0)), jnp.sum(labels >= 0)
            split = [jnp.moveaxis(rows.reshape(-1, parts, rows.shape[-1]), 1, 0) for rows in (ids, labels)]
            losses, counts = jax.lax.map(of_part, tuple(split))
            return losses.sum() / jnp.maximum(counts.sum(), 1)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained(arrays, change, shapes, loss_of, clipped_adamw(1e-5), ids, ids)
    return make


# --- Experts that choose ---

def experts_choose(x, w, experts, each):
    """[words, width]: every expert takes the words that it likes best, as many as its room has."""
    gates = jax.nn.softmax((x @ w["router"]).astype(F32), -1)
    liked, chosen = jax.lax.top_k(gates.T, each * x.shape[0] // experts)
    h = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", x[chosen], w["expert_in"]))
    made = jnp.einsum("ecf,efd->ecd", h, w["expert_out"]) * liked[..., None].astype(x.dtype)
    return jnp.zeros_like(x).at[chosen.reshape(-1)].add(made.reshape(-1, x.shape[-1]))


def chosen_by_experts(n, width, hidden, vocab, asked, length, each=2, kind=BF16):
    """An encoder that fills masks: as many rows, layers, heads and experts; experts choose among all words."""
    stack = {"qkv": (n, width, 3 * width), "out": (n, width, width), "router": (n, width, n),
             "expert_in": (n, n, width, hidden), "expert_out": (n, n, hidden, width), "norm_1": (n, width),
             "norm_2": (n, width)}

    def layer(x, w):
        b, t, _ = x.shape
        q, k, v = (y.reshape(b, t, n, -1) for y in jnp.split(root_normed(x, w["norm_1"]) @ w["qkv"], 3, -1))
        scores = jnp.einsum("bqhd,bkhd->bhqk", at_places(q), at_places(k)).astype(F32) * q.shape[-1] ** -0.5
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(v.dtype), v)
        x = x + mixed.reshape(x.shape) @ w["out"]
        h = root_normed(x, w["norm_2"]).reshape(b * t, -1)
        return x + experts_choose(h, w, n, each).reshape(x.shape), None

    def make(arrays, change):
        import optax
        shapes = shaped(words=(vocab, width), norm=(width,), transform=(width, width), transform_norm=(width,),
                        bias=(vocab,), layer_stack=stack)

        def loss_of(params, ids, places, labels):
            p = as_kind(params, kind_of(change, kind))
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), p["words"][ids], p["layer_stack"])
            x = jnp.take_along_axis(root_normed(x, p["norm"]), places[..., None], 1)
            x = root_normed(jax.nn.gelu(x @ p["transform"]), p["transform_norm"])
            return word_loss(x @ p["words"].T + p["bias"], labels)
        rows = n // change.batch_divisor
        places = arrays.batch((rows, asked // change.length_divisor), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(2e-4), mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((rows, length // change.length_divisor), jnp.int32), places, places)
    return make


# --- Turns of what is frozen in bytes ---

def turn_of(skew):
    """[blocks, r, r] -> matrices that turn: Cayley's, its inverse by the first few powers."""
    skew = (skew - skew.swapaxes(-1, -2)).astype(F32)
    one = jnp.eye(skew.shape[-1])
    total, power = one + skew, skew
    for _ in range(3):
        power = power @ skew
        total = total + power
    return (one + skew) @ total


def turned_bytes(layers, width, heads, kv_heads, hidden, vocab, block, batch, length, kind=BF16):
    """Orthogonal finetuning of a Qwen of int8: inputs of each product are turned, block by block, by what is learnt."""
    side = width // heads
    products = {"q": (width, width), "k": (width, kv_heads * side), "v": (width, kv_heads * side), "o": (width, width),
                "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}

    def make(arrays, change):
        import optax
        blocks = {}
        for name, (rows, columns) in products.items():
            split = 1 if name in ("o", "down") else 2
            blocks[name] = {"bytes": arrays.array((layers, rows, columns), jnp.int8, split),
                            "scale": arrays.array((layers, columns), change.stored)}
        biases = {name: (layers, products[name][1]) for name in ("q", "k", "v")}
        rest = shaped(embed=(vocab, width), norm=(width,), layer_stack={
            "norm_1": (layers, width), "norm_2": (layers, width), "bias": biases})
        frozen = placed(arrays, as_kind(rest, change.stored)) | {"blocks": blocks}
        turns = shaped(layer_stack={name: (layers, rows // block, block, block)
                                    for name, (rows, _) in products.items()})

        def layer(x, w):
            frozen, rest, skews = w

            def product(h, name):
                turn = turn_of(skews[name]).astype(h.dtype)
                h = jnp.einsum("btnr,nrs->btns", h.reshape(*h.shape[:2], -1, block), turn).reshape(h.shape)
                made = (h @ frozen[name]["bytes"].astype(h.dtype)) * frozen[name]["scale"].astype(h.dtype)
                return made + rest["bias"][name] if name in rest["bias"] else made
            rest = as_kind(rest, x.dtype)
            h = root_normed(x, rest["norm_1"])
            q, k, v = (product(h, name).reshape(*x.shape[:2], -1, side) for name in ("q", "k", "v"))
            x = x + product(shared_keys(at_places(q, 1e6), at_places(k, 1e6), v), "o")
            h = root_normed(x, rest["norm_2"])
            return x + product(jax.nn.silu(product(h, "gate")) * product(h, "up"), "down"), None

        def loss_of(turns, frozen, ids, answers):
            now = computed(change, kind)
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), frozen["embed"][ids].astype(now),
                                (frozen["blocks"], frozen["layer_stack"], turns["layer_stack"]))
            logits = root_normed(x, frozen["norm"].astype(now)) @ frozen["embed"].astype(now).T
            return word_loss(logits[:, :-1], ids[:, 1:], answers[:, 1:].astype(F32))
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained(arrays, change, turns, loss_of, optax.adamw(warmed_up(4e-4)), frozen, ids, ids)
    return make


# --- Questions about pictures ---

def watching_layer(x, w, heads):
    h = root_normed(x, w["norm_1"])
    q, k, v = (y.reshape(*x.shape[:2], heads, -1) for y in jnp.split(h @ w["qkv"] + w["qkv_bias"], 3, -1))
    x = x + jax.nn.dot_product_attention(q, k, v).reshape(x.shape) @ w["out"]
    return x + jax.nn.gelu(root_normed(x, w["norm_2"]) @ w["fc1"] + w["fc1_bias"]) @ w["fc2"]


def pictured_prefix(tower, decoder, heads, side, hidden, vocab, picture, patch, batch, length, kind=BF16):
    """PaliGemma: a frozen tower, and a decoder with one key that sees pictures and questions whole, answers in turn."""
    (depth, seen_width, seen_heads), (layers, width) = tower, decoder
    patches = (picture // patch) ** 2
    tower_stack = {"qkv": (seen_width, 3 * seen_width), "qkv_bias": (3 * seen_width,), "out": (seen_width, seen_width),
                   "fc1": (seen_width, 4 * seen_width), "fc1_bias": (4 * seen_width,),
                   "fc2": (4 * seen_width, seen_width), "norm_1": (seen_width,), "norm_2": (seen_width,)}
    stack = {"q": (width, heads * side), "kv": (width, 2 * side), "o": (heads * side, width), "gate": (width, hidden),
             "up": (width, hidden), "down": (hidden, width), "norm_1": (width,), "norm_2": (width,)}

    def stacked(count, sizes):
        return {name: (count, *shape) for name, shape in sizes.items()}

    def answer_layer(x, w, seen):
        b, t, _ = x.shape
        h = root_normed(x, w["norm_1"])
        k, v = (y[:, :, 0] for y in jnp.split((h @ w["kv"]).reshape(b, t, 1, 2 * side), 2, -1))
        q, k = at_places((h @ w["q"]).reshape(b, t, heads, side)), at_places(k[:, :, None])[:, :, 0]
        scores = jnp.einsum("bqhd,bkd->bhqk", q, k).astype(F32) * side ** -0.5
        weights = jax.nn.softmax(jnp.where(seen[:, None], scores, -1e30)).astype(v.dtype)
        x = x + jnp.einsum("bhqk,bkd->bqhd", weights, v).reshape(b, t, heads * side) @ w["o"]
        h = root_normed(x, w["norm_2"])
        return x + (jax.nn.gelu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

    def make(arrays, change):
        import optax
        frozen = shaped(patch=(3 * patch * patch, seen_width), places=(patches, seen_width), norm=(seen_width,),
                        layer_stack=stacked(depth, tower_stack))
        shapes = shaped(project=(seen_width, width), words=(vocab, width), norm=(width,),
                        layer_stack=stacked(layers, stack))

        def loss_of(params, frozen, pictures, ids, asked):
            now = computed(change, kind)
            p, f, b = as_kind(params, now), as_kind(frozen, now), ids.shape[0]
            x = pictures.astype(now).reshape(b, picture // patch, patch, picture // patch, patch, 3)
            x = (x / 127.5 - 1).swapaxes(2, 3).reshape(b, patches, -1) @ f["patch"] + f["places"]
            x, _ = jax.lax.scan(lambda x, w: (watching_layer(x, w, seen_heads), None), x, f["layer_stack"])
            x = jax.lax.stop_gradient(root_normed(x, f["norm"])) @ p["project"]
            x = jnp.concatenate([x, p["words"][ids] * width ** 0.5], 1)
            time = jnp.arange(x.shape[1])
            seen = (time[:, None] >= time) | (time < patches + asked[:, None])[:, None]
            block = maybe_checkpointed(change, answer_layer)
            x, _ = jax.lax.scan(lambda x, w: (block(x, w, seen), None), x, p["layer_stack"])
            logits = root_normed(x[:, patches:-1], p["norm"]) @ p["words"].T
            return word_loss(logits, ids[:, 1:], (jnp.arange(1, length) >= asked[:, None]).astype(F32))
        rows = batch // change.batch_divisor
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(2e-5), mask=matrices_only))
        return trained(arrays, change, shapes, loss_of, optimizer, placed(arrays, as_kind(frozen, change.stored)),
                       arrays.batch((rows, picture, picture, 3), jnp.uint8), arrays.batch((rows, length), jnp.int32),
                       arrays.batch((rows,), jnp.int32))
    return make
