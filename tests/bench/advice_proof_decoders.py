"""Decoders that are trained: four words at once, sixteens with room, a full chip of skips, equinox in a scan.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_proof_families.py has the sizes.
"""
import functools
import math

import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, placed, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_decoders import at_places, shared_keys


def heads_of(x, count):
    return x.reshape(*x.shape[:2], count, -1)


# --- Several next words, gradients over steps ---

def gated_shapes(width, kv_width, hidden):
    return {"wq": (width, width), "wk": (width, kv_width), "wv": (width, kv_width), "wo": (width, width),
            "w1": (width, hidden), "w3": (width, hidden), "w2": (hidden, width), "attention_norm": (width,),
            "ffn_norm": (width,)}


def gated_layer(x, w, heads, kv_heads):
    h = root_normed(x, w["attention_norm"])
    q, k, v = heads_of(h @ w["wq"], heads), heads_of(h @ w["wk"], kv_heads), heads_of(h @ w["wv"], kv_heads)
    x = x + shared_keys(at_places(q), at_places(k), v) @ w["wo"]
    h = root_normed(x, w["ffn_norm"])
    return x + (jax.nn.silu(h @ w["w1"]) * (h @ w["w3"])) @ w["w2"]


def next_few_words(layers, width, heads, kv_heads, hidden, vocab, ahead, steps, batch, length, kind=BF16):
    """A trunk in a scan, a last layer for each of several next words, one unembedding; steps in a scan around all."""
    sizes = gated_shapes(width, width // heads * kv_heads, hidden)

    def make(arrays, change):
        import optax
        shapes = shaped(tok_embeddings=(vocab, width), output=(width, vocab), norm=(width,),
                        layer_stack={name: (layers, *size) for name, size in sizes.items()})
        shapes["extra"] = [shaped(**sizes) for _ in range(ahead)]
        params = as_kind(shapes, change.stored)
        optimizer = clipped_adamw(3e-4)
        state = jax.eval_shape(optimizer.init, params)
        time = length // change.length_divisor
        layer = maybe_checkpointed(change, functools.partial(gated_layer, heads=heads, kv_heads=kv_heads))

        def loss_of(params, rows):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), p["tok_embeddings"][rows[:, :time]],
                                p["layer_stack"])

            @jax.checkpoint
            def said(x, output, wanted):
                return word_loss(root_normed(x, p["norm"]) @ output, wanted)
            total = jnp.zeros((), F32)
            for i, w in enumerate(p["extra"]):
                total += said(layer(x, w), p["output"], rows[:, i + 1:i + 1 + time])
            return total / ahead

        def train_step(params, state, tokens):
            def accumulate(sums, rows):
                loss, grads = jax.value_and_grad(loss_of)(params, rows)
                return (sums[0] + loss / steps, jax.tree.map(lambda s, g: s + g / steps, sums[1], grads)), None
            zeros = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            (loss, grads), _ = jax.lax.scan(accumulate, zeros, tokens)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        tokens = arrays.array((steps, batch // change.batch_divisor, time + ahead), jnp.int32,
                              1 if change.shard == "all" else None)
        return train_step, (placed(arrays, params), placed(arrays, state), tokens), (0, 1)
    return make


# --- As many sequences, heads, experts and layers ---

def with_room(x, w, count, share=1.25, best=2):
    """Two experts a word, written by their places into rows of each; what finds no room goes round."""
    rows = x.reshape(-1, x.shape[-1])
    room = math.ceil(share * best * len(rows) / count)
    logits = (rows @ w["router"]).astype(F32)
    gates, chosen = jax.lax.top_k(jax.nn.softmax(logits), best)
    gates = gates / gates.sum(-1, keepdims=True)
    flat = chosen.T.reshape(-1)
    sent = jax.nn.one_hot(flat, count, dtype=jnp.int32)
    place = jnp.take_along_axis(jnp.cumsum(sent, 0), flat[:, None], 1)[:, 0] - 1
    slot = jnp.where(place < room, flat * room + place, count * room)
    inbox = jnp.zeros((count * room, rows.shape[-1]), x.dtype).at[slot].set(jnp.tile(rows, (best, 1)), mode="drop")
    gate, up = jnp.split(jnp.einsum("ecd,edf->ecf", inbox.reshape(count, room, -1), w["expert_in"]), 2, axis=-1)
    outbox = jnp.einsum("ecf,efd->ecd", jax.nn.silu(gate) * up, w["expert_out"]).reshape(count * room, -1)
    told = outbox.at[slot].get(mode="fill", fill_value=0).reshape(best, *rows.shape)
    out = jnp.einsum("nk,knd->nd", gates.astype(x.dtype), told)
    spread = count * jnp.mean(jax.nn.softmax(logits), 0) @ jnp.mean(sent.astype(F32), 0)
    return out.reshape(x.shape), spread + 1e-1 * jnp.mean(jnp.square(jax.nn.logsumexp(logits, -1)))


def rooms_of_sixteen(width, hidden, vocab, length, sixteen=16, kind=BF16):
    """Sixteen sequences, layers, heads and experts with capacity; slopes in place of positions, one table."""
    n = sixteen
    stack = {"qkv": (width, 3 * width), "out": (width, width), "router": (width, n),
             "expert_in": (n, width, 2 * hidden), "expert_out": (n, hidden, width), "norm_a": (width,),
             "norm_b": (width,)}

    def make(arrays, change):
        shapes = shaped(table=(vocab, width), norm=(width,),
                        layer_stack={name: (n, *size) for name, size in stack.items()})

        def layer(carry, w):
            x, extra = carry
            time = x.shape[1]
            q, k, v = (heads_of(y, n) for y in jnp.split(root_normed(x, w["norm_a"]) @ w["qkv"], 3, axis=-1))
            far = jnp.arange(time)[:, None] - jnp.arange(time)
            slopes = 2.0 ** (-8 * (1 + jnp.arange(n, dtype=F32)) / n)
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * (width // n) ** -0.5
            scores = jnp.where(far >= 0, scores - slopes[:, None, None] * far, -1e30)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v)
            x = x + mixed.reshape(x.shape) @ w["out"]
            y, more = with_room(root_normed(x, w["norm_b"]), w, n)
            return (x + y, extra + more), None

        def loss_of(params, ids, targets):
            p = as_kind(params, computed(change, kind))
            start = p["table"][ids], jnp.zeros((), F32)
            (x, extra), _ = jax.lax.scan(maybe_checkpointed(change, layer), start, p["layer_stack"])
            return word_loss(root_normed(x, p["norm"]) @ p["table"].T, targets) + 1e-2 * extra / n
        ids = arrays.batch((n // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(4e-4), ids, ids)
    return make


# --- As much as the chip has, or more ---

def plain_normed(x):
    wide = x.astype(F32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6)).astype(x.dtype)


def skipping_layer(w, x, first, more, heads):
    """Of nanoGPT's races: norms without weights, values mixed with a table's, squares; the first x comes in again."""
    x = w["lambdas"][0] * x + w["lambdas"][1] * first
    h = plain_normed(x)
    q, k, v = (heads_of(h @ w[name], heads) for name in ("c_q", "c_k", "c_v"))
    if more is not None:
        v = w["mix"][0] * v + w["mix"][1] * more.reshape(v.shape)
    x = x + shared_keys(at_places(plain_normed(q)), at_places(plain_normed(k)), v) @ w["c_proj"]
    return x + jnp.square(jax.nn.relu(plain_normed(x) @ w["c_fc"])) @ w["mlp_proj"]


def full_race(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """The first half of the layers is kept for the second, last first; tables of values for both ends."""
    half, ends = layers // 2, 2
    sizes = {"c_q": (width, width), "c_k": (width, width), "c_v": (width, width), "c_proj": (width, width),
             "c_fc": (width, hidden), "mlp_proj": (hidden, width), "lambdas": (2,), "mix": (2,)}

    def make(arrays, change):
        import optax
        shapes = shaped(wte=(vocab, width), lm_head=(width, vocab), skips=(half,))
        shapes["values"] = [shaped(table=(vocab, width)) for _ in range(ends)]
        shapes["blocks"] = [shaped(**sizes) for _ in range(layers)]
        block = maybe_checkpointed(change, functools.partial(skipping_layer, heads=heads))

        def loss_of(params, ids, targets):
            p = as_kind(params, computed(change, kind))
            tables = [one["table"][ids] for one in p["values"]]
            more = tables + [None] * (layers - 2 * ends) + tables
            x = first = plain_normed(p["wte"][ids])
            kept = []
            for i, w in enumerate(p["blocks"]):
                if i >= half:
                    x = x + p["skips"][i - half] * kept.pop()
                x = block(w, x, first, more[i])
                if i < half:
                    kept.append(x)
            logits = (plain_normed(x) @ p["lm_head"]).astype(F32)
            return word_loss(30 * jax.nn.sigmoid(logits / 7.5), targets)
        optimizer = optax.adamw(warmed_up(2e-3), b1=0.8, b2=0.95, mask=matrices_only)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids, ids)
    return make


# --- equinox, whose layers are made by vmap and run by scan ---

def starcoder(change, layers, width, heads, kv_heads, hidden, vocab):
    import equinox as eqx
    wrap = functools.partial(maybe_checkpointed, change)

    class Layer(eqx.Module):
        q: eqx.nn.Linear
        kv: eqx.nn.Linear
        o: eqx.nn.Linear
        c_fc: eqx.nn.Linear
        c_proj: eqx.nn.Linear
        norm_1: eqx.nn.LayerNorm
        norm_2: eqx.nn.LayerNorm

        def __init__(self, key):
            a, b, c, d, e = jax.random.split(key, 5)
            side = width // heads
            self.q, self.kv = eqx.nn.Linear(width, width, key=a), eqx.nn.Linear(width, 2 * kv_heads * side, key=b)
            self.o = eqx.nn.Linear(width, width, key=c)
            self.c_fc, self.c_proj = eqx.nn.Linear(width, hidden, key=d), eqx.nn.Linear(hidden, width, key=e)
            self.norm_1, self.norm_2 = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)

        def __call__(self, x):
            def each(f):
                return jax.vmap(jax.vmap(f))
            h = each(self.norm_1)(x)
            k, v = jnp.split(heads_of(each(self.kv)(h), 2 * kv_heads), 2, axis=2)
            q = heads_of(each(self.q)(h), heads)
            x = x + each(self.o)(shared_keys(at_places(q, 1e6), at_places(k, 1e6), v))
            h = jax.nn.gelu(each(self.c_fc)(each(self.norm_2)(x)))
            return x + each(self.c_proj)(h)

    class Model(eqx.Module):
        wte: eqx.nn.Embedding
        layer_stack: Layer
        norm: eqx.nn.LayerNorm

        def __init__(self, key):
            a, b = jax.random.split(key)
            self.wte = eqx.nn.Embedding(vocab, width, key=a)
            self.layer_stack = eqx.filter_vmap(Layer)(jax.random.split(b, layers))
            self.norm = eqx.nn.LayerNorm(width)

        def __call__(self, ids):
            weights, rest = eqx.partition(self.layer_stack, eqx.is_array)

            def body(x, one):
                return eqx.combine(one, rest)(x), None
            x, _ = jax.lax.scan(wrap(body), self.wte.weight[ids], weights)
            return jax.vmap(jax.vmap(self.norm))(x) @ self.wte.weight.T
    return Model


def equinox_starcoder(layers, width, heads, kv_heads, hidden, vocab, batch, length, kind=BF16):
    """StarCoder 2's layers with their biases as one module of equinox, trained by Lion, of one moment."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        model = starcoder(change, layers, width, heads, kv_heads, hidden, vocab)
        shapes, static = eqx.partition(eqx.filter_eval_shape(model, jax.random.key(0)),
                                       lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

        def loss_of(params, ids):
            logits = eqx.combine(as_kind(params, computed(change, kind)), static)(ids[:, :-1])
            return word_loss(logits, ids[:, 1:])
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(warmed_up(1e-4), weight_decay=0.3))
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor + 1), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids)
    return make
