"""Decoders that are trained: moments of eight bits beside working copies in bfloat16, and attention that is linear.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_field_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, placed, word_loss
from advice_fresh import graded, maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Moments in eight bits ---

BLOCK = 256


def blocks_of(shape):
    """How the last dimension is cut: in blocks of BLOCK, or not at all."""
    return (*shape[:-1], shape[-1] // BLOCK if shape[-1] % BLOCK == 0 else 1)


def packed(x, kind):
    cut = x.reshape(*blocks_of(x.shape), -1)
    top = jnp.max(jnp.abs(cut), -1) / 127 + 1e-12
    codes = jnp.round(cut / top[..., None]).astype(jnp.int8)
    return {"codes": codes.reshape(x.shape), "tops": top.astype(kind)}


def unpacked(state):
    tops = state["tops"].astype(F32)
    return (state["codes"].reshape(*tops.shape, -1).astype(F32) * tops[..., None]).reshape(state["codes"].shape)


def eight_bit_state(master):
    def one(leaf):
        return {"codes": jax.ShapeDtypeStruct(leaf.shape, jnp.int8),
                "tops": jax.ShapeDtypeStruct(blocks_of(leaf.shape), leaf.dtype)}
    return {name: jax.tree.map(one, master) for name in ("mean", "root")}


def eight_bit_adam(master, state, grads, t, rate=2e-4, b1=0.9, b2=0.95):
    """The second moment is kept as its root: eight bits reach further that way."""
    def one(p, g, m, r):
        g = g.astype(F32)
        mean = b1 * unpacked(m) + (1 - b1) * g
        square = b2 * jnp.square(unpacked(r)) + (1 - b2) * jnp.square(g)
        move = mean / (1 - b1 ** t) / (jnp.sqrt(square / (1 - b2 ** t)) + 1e-8)
        new = p.astype(F32) - rate * (move + (0.1 * p.astype(F32) if p.ndim > 2 else 0.0))
        return new.astype(p.dtype), packed(mean, m["tops"].dtype), packed(jnp.sqrt(square), r["tops"].dtype)

    leaves, tree = jax.tree.flatten(master)
    means, roots = (tree.flatten_up_to(state[name]) for name in ("mean", "root"))
    made = [one(*four) for four in zip(leaves, jax.tree.leaves(grads), means, roots)]
    master, means, roots = (jax.tree.unflatten(tree, some) for some in zip(*made))
    return master, {"mean": means, "root": roots}


def half_turned(x, share=2):
    """[batch, time, heads, side]: only the first 1 / share of each head is turned by its place."""
    side = x.shape[-1] // share
    still, x = x[..., side:], x[..., :side]
    angle = jnp.arange(x.shape[1], dtype=F32)[:, None, None] * 1e4 ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin, still], -1)


def squared_units(d_model, q_heads, kv_heads, side):
    """A layer of Minitron's kind: heads wider together than they must be, units of squared ReLU, no gates."""
    def layer(x, w):
        b, t, _ = x.shape
        h = root_normed(x, 1 + w["ln_attn"])
        qkv = jnp.einsum("btd,dnk->btnk", h, w["qkv"])
        q, k, v = jnp.split(qkv, [q_heads, q_heads + kv_heads], axis=2)
        q, k = half_turned(q).reshape(b, t, kv_heads, -1, side), half_turned(k)
        logits = jnp.einsum("btngk,bsnk->bngts", q, k) * side ** -0.5
        causal = jnp.arange(t)[:, None] >= jnp.arange(t)
        probs = jax.nn.softmax(jnp.where(causal, logits.astype(F32), -1e30), -1).astype(x.dtype)
        mixed = jnp.einsum("bngts,bsnk->btngk", probs, v).reshape(b, t, q_heads, side)
        x = x + jnp.einsum("btnk,nkd->btd", mixed, w["o"])
        h = jnp.square(jax.nn.relu(root_normed(x, 1 + w["ln_mlp"]) @ w["up"]))
        return x + h @ w["down"], None
    return layer


def eight_bit_minitron(n_layers, d_model, q_heads, kv_heads, side, d_ff, vocab, batch, length, kind=BF16):
    """Masters are stored, their copies in bfloat16 do the work and get the gradients, moments are of eight bits."""
    stack = {"qkv": (n_layers, d_model, q_heads + 2 * kv_heads, side), "o": (n_layers, q_heads, side, d_model),
             "up": (n_layers, d_model, d_ff), "down": (n_layers, d_ff, d_model), "ln_attn": (n_layers, d_model),
             "ln_mlp": (n_layers, d_model)}

    def make(arrays, change):
        master = as_kind(shaped(embed=(vocab, d_model), layer_stack=stack, ln=(d_model,), lm_head=(d_model, vocab)),
                         change.stored)
        layer = maybe_checkpointed(change, squared_units(d_model, q_heads, kv_heads, side))

        def loss_fn(work, ids):
            x, _ = jax.lax.scan(layer, work["embed"][ids[:, :-1]], work["layer_stack"])
            return word_loss(root_normed(x, 1 + work["ln"]) @ work["lm_head"], ids[:, 1:])

        def train_step(master, state, t, ids):
            work = as_kind(master, computed(change, kind))
            loss, grads = graded(loss_fn, change.parts)(work, ids)
            master, state = eight_bit_adam(master, state, grads, t + 1.0)
            return master, state, t + 1, loss
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor + 1), jnp.int32)
        state = placed(arrays, eight_bit_state(master))
        return train_step, (placed(arrays, master), state, arrays.array((), jnp.int32), ids), (0, 1, 2)
    return make


# --- Linear attention whose state forgets ---

def forgetting(q, k, v, log_decay, chunk):
    """[batch, time, heads, side], decays for each side of a key; scores within a chunk, a state across chunks."""
    b, t, n, d_k = q.shape

    def in_chunks(x):
        return x.reshape(b, t // chunk, chunk, n, -1).transpose(1, 0, 3, 2, 4)
    q, k, v, log_decay = (in_chunks(x) for x in (q, k, v, log_decay.astype(F32)))
    since = jnp.cumsum(log_decay, axis=3)
    until = since[..., -1:, :] - since
    q_in = q * jnp.exp(since).astype(q.dtype)
    k_out = k * jnp.exp(until).astype(k.dtype)
    k_in = k * jnp.exp(jnp.minimum(-since, 30.0)).astype(k.dtype)
    whole = jnp.exp(since[..., -1, :])

    def one(state, xs):
        q_in, k_in, k_out, v, whole = xs
        scores = jnp.tril(jnp.einsum("bnik,bnjk->bnij", q_in, k_in))
        out = jnp.einsum("bnij,bnjd->bnid", scores, v) + jnp.einsum("bnik,bnkd->bnid", q_in, state.astype(q_in.dtype))
        added = jnp.einsum("bnjk,bnjd->bnkd", k_out, v, preferred_element_type=F32)
        return state * whole[..., None] + added, out
    state = jnp.zeros((b, n, d_k, v.shape[-1]), F32)
    _, out = jax.lax.scan(one, state, (q_in, k_in, k_out, v, whole))
    return out.transpose(1, 0, 3, 2, 4).reshape(b, t, n, -1)


def gated_linear_words(n_layers, d_model, heads, d_ff, low, vocab, batch, length, chunk, kind=BF16):
    """GLA: keys half as wide as values, decays by a thin pair of matrices, a norm for each head, a gate at the end."""
    d_key = d_model // 2
    stack = {"q": (d_model, d_key), "k": (d_model, d_key), "v": (d_model, d_model), "gate": (d_model, d_model),
             "decay_a": (d_model, low), "decay_b": (low, d_key), "decay_bias": (d_key,), "out": (d_model, d_model),
             "head_norm": (d_model // heads,), "norm_mix": (d_model,), "norm_ffn": (d_model,),
             "wi": (d_model, 2 * d_ff), "wo": (d_ff, d_model)}
    stack = {name: (n_layers, *shape) for name, shape in stack.items()}

    def make(arrays, change):
        def layer(x, w):
            h = root_normed(x, w["norm_mix"])
            q, k, v = ((h @ w[name]).reshape(*h.shape[:2], heads, -1) for name in ("q", "k", "v"))
            decay = jax.nn.log_sigmoid(((h @ w["decay_a"]) @ w["decay_b"] + w["decay_bias"]).astype(F32)) / 16
            mixed = forgetting(q * q.shape[-1] ** -0.5, k, v, decay.reshape(q.shape), chunk)
            mixed = root_normed(mixed, w["head_norm"]).reshape(x.shape)
            x = x + (mixed * jax.nn.silu(h @ w["gate"])) @ w["out"]
            gate, up = jnp.split(root_normed(x, w["norm_ffn"]) @ w["wi"], 2, -1)
            return x + (jax.nn.silu(gate) * up) @ w["wo"], None

        def loss_fn(params, ids, labels):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), p["embeddings"][ids], p["layer_stack"])
            return word_loss(root_normed(x, p["norm"]) @ p["embeddings"].T, labels)
        shapes = shaped(embeddings=(vocab, d_model), norm=(d_model,), layer_stack=stack)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, clipped_adamw(3e-4), ids, ids)
    return make
