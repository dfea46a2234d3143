"""Decoders that are trained: words that skip layers, and rows that look at what was computed of the rows before.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_aside_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_aside_serving import centred
from advice_exam_libraries import as_kind, computed, matrices_only, placed, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped
from advice_structures import BF16, F32
from advice_verdict_decoders import rotary


# --- Words that skip layers, gradients over steps ---

def of_words(x, w, places, heads):
    """What a block adds to words that are at these places, in order; biases nowhere, a GELU between."""
    b, t, width = x.shape
    h = root_normed(x, w["attn_norm"])
    q, k, v = (jnp.einsum("btd,de->bte", h, w[name]).reshape(b, t, heads, -1) for name in ("wq", "wk", "wv"))
    q, k = rotary(q, places), rotary(k, places)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * (width // heads) ** -0.5
    scores = jnp.where((places[:, :, None] >= places[:, None])[:, None], scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(v.dtype), v).reshape(b, t, width)
    added = mixed @ w["wo"]
    h = root_normed(x + added, w["mlp_norm"])
    return added + jax.nn.gelu(h @ w["wi"]) @ w["wf"]


def skipped_layers(pairs, width, heads, hidden, vocab, share, steps, batch, length, kind=BF16):
    """Mixture of depths: every second layer reads one word of `share`, which its router chooses; the rest go round."""
    sizes = {"wq": (width, width), "wk": (width, width), "wv": (width, width), "wo": (width, width),
             "wi": (width, hidden), "wf": (hidden, width), "attn_norm": (width,), "mlp_norm": (width,)}

    def stacked(sizes):
        return {name: (pairs, *shape) for name, shape in sizes.items()}

    def pair(carry, both):
        (x, balance), (all_of_them, some) = carry, both
        b, t, _ = x.shape
        everywhere = jnp.broadcast_to(jnp.arange(t), (b, t))
        x = x + of_words(x, all_of_them, everywhere, heads)
        liked = jnp.einsum("btd,d->bt", x, some["router"]).astype(F32)
        chosen = jnp.sort(jax.lax.top_k(liked, t // share)[1], -1)
        few = jnp.take_along_axis(x, chosen[..., None], 1)
        gate = jax.nn.sigmoid(jnp.take_along_axis(liked, chosen, 1))[..., None].astype(x.dtype)
        rows = jnp.arange(b)[:, None]
        x = x.at[rows, chosen].add(gate * of_words(few, some, chosen, heads))
        is_chosen = jnp.zeros((b, t), F32).at[rows, chosen].set(1.0)
        told = jax.nn.softplus(liked) - is_chosen * liked
        return (x, balance + told.mean()), None

    def make(arrays, change):
        import optax
        shapes = shaped(embed=(vocab, width), head=(width, vocab), norm=(width,), layer_stack={
            "whole": stacked(sizes), "some": stacked(sizes | {"router": (width,)})})
        params = as_kind(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(6e-4), b2=0.95, weight_decay=0.1,
                                                                            mask=matrices_only))
        state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            stack = p["layer_stack"]["whole"], p["layer_stack"]["some"]
            (x, balance), _ = jax.lax.scan(maybe_checkpointed(change, pair), (p["embed"][ids], jnp.zeros((), F32)),
                                           stack)
            logits = root_normed(x, p["norm"]) @ p["head"]
            return word_loss(logits[:, :-1], ids[:, 1:]) + 0.01 * balance / pairs

        def train_step(params, state, tokens):
            def accumulate(sums, ids):
                made = jax.value_and_grad(loss_of)(params, ids)
                return jax.tree.map(lambda total, one: total + one.astype(F32) / steps, sums, made), None
            zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params)
            (loss, grads), _ = jax.lax.scan(accumulate, (jnp.zeros((), F32), zeros), tokens)
            grads = jax.tree.map(lambda g, p: g.astype(p.dtype), grads, params)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        shape = steps, batch // change.batch_divisor, length // change.length_divisor
        tokens = arrays.array(shape, jnp.int32, 1 if change.shard == "all" else None)
        return train_step, (placed(arrays, params), placed(arrays, state), tokens), (0, 1)
    return make


# --- Rows before ---

def shifted(scores):
    """[batch, heads, queries, distances] -> [..., keys]: each query's row is moved by one more."""
    b, n, q, k = scores.shape
    padded = jnp.pad(scores, ((0, 0), (0, 0), (0, 0), (1, 0))).reshape(b, n, k + 1, q)
    return padded[:, :, 1:].reshape(b, n, q, k)


def remembering_layer(x, memory, w, distances, heads):
    """Transformer-XL's: scores by what is there and by how far it is, each with a bias of its own; norms come after."""
    b, t, width = x.shape
    every = jnp.concatenate([memory, x], 1)
    q = (x @ w["q"]).reshape(b, t, heads, -1)
    k, v = (y.reshape(b, every.shape[1], heads, -1) for y in jnp.split(every @ w["kv"], 2, -1))
    r = (distances @ w["r"]).reshape(-1, heads, width // heads)
    by_words = jnp.einsum("bqhd,bkhd->bhqk", q + w["bias_words"], k, preferred_element_type=F32)
    by_distance = shifted(jnp.einsum("bqhd,khd->bhqk", q + w["bias_places"], r, preferred_element_type=F32))
    seen = jnp.tril(jnp.ones((t, every.shape[1]), bool), memory.shape[1])
    scores = jnp.where(seen, (by_words + by_distance) * (width // heads) ** -0.5, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(v.dtype), v).reshape(b, t, width)
    x = centred(x + mixed @ w["o"], w["scale_1"], w["shift_1"])
    h = jax.nn.relu(x @ w["up"] + w["up_bias"]) @ w["down"] + w["down_bias"]
    return centred(x + h, w["scale_2"], w["shift_2"])


def rows_before(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """Transformer-XL on letters: what each layer was given for the last rows goes in, and that for these comes out."""
    side = width // heads
    sizes = {"q": (width, width), "kv": (width, 2 * width), "r": (width, width), "o": (width, width),
             "bias_words": (heads, side), "bias_places": (heads, side), "up": (width, hidden), "up_bias": (hidden,),
             "down": (hidden, width), "down_bias": (width,), "scale_1": (width,), "shift_1": (width,),
             "scale_2": (width,), "shift_2": (width,)}

    def make(arrays, change):
        import optax
        b, t = batch // change.batch_divisor, length // change.length_divisor
        shapes = shaped(letters=(vocab, width), softmax_bias=(vocab,),
                        layer_stack={name: (layers, *shape) for name, shape in sizes.items()})
        params = as_kind(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.adam(warmed_up(2.5e-4)))
        state = jax.eval_shape(optimizer.init, params)
        memories = arrays.array((layers, b, t, width), BF16, 1 if change.shard == "all" else None)

        def far(count, now):
            angles = jnp.arange(count - 1, -1, -1.0)[:, None] * 10000.0 ** (-jnp.arange(0, width, 2) / width)
            return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1).astype(now)

        def loss_of(params, memories, ids, targets):
            now = computed(change, kind)
            p, distances = as_kind(params, now), far(2 * t, now)
            block = maybe_checkpointed(change, lambda x, memory, w: remembering_layer(x, memory, w, distances, heads))

            def layer(x, both):
                return block(x, both[0].astype(now), both[1]), x.astype(BF16)
            x, kept = jax.lax.scan(layer, p["letters"][ids] * width ** 0.5, (memories, p["layer_stack"]))
            return word_loss(x @ p["letters"].T + p["softmax_bias"], targets), jax.lax.stop_gradient(kept)

        def train_step(params, state, memories, ids, targets):
            (loss, memories), grads = jax.value_and_grad(loss_of, has_aux=True)(params, memories, ids, targets)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, memories, loss
        ids = arrays.batch((b, t), jnp.int32)
        return train_step, (placed(arrays, params), placed(arrays, state), memories, ids, ids), (0, 1, 2)
    return make
