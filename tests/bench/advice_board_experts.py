"""A mixture of experts whose sizes are told apart by no number: layers, heads, experts and rows are as many.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Layers are a list; a shared expert sees
every word, and two of the others see those words that they are sent, which are scattered into the experts' slots and
gathered back, as DeepSeek's and Mixtral's are.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, abstract, cast, compute_dtype, cross_entropy, decayed, maybe_checkpoint,
                                   optax_step)

CHOICES = 2


def rms_norm(x, weight):
    wide = x.astype(F32)
    return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype) * weight


def rotate(x, theta=10000.0):
    """Pairs of neighbours are turned; x [batch, time, heads, side]."""
    side = x.shape[-1]
    angles = jnp.arange(x.shape[1])[:, None] * theta ** (-jnp.arange(0, side, 2) / side)
    sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    even, odd = x[..., ::2].astype(F32), x[..., 1::2].astype(F32)
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape).astype(x.dtype)


def attention(p, x):
    length, side = x.shape[1], p["wqkv"].shape[-1]
    q, k, v = jnp.einsum("bld,dchk->cblhk", x, p["wqkv"])
    scores = jnp.einsum("blhk,bmhk->bhlm", rotate(q), rotate(k)).astype(F32) * side ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    mixed = jnp.einsum("bhlm,bmhk->blhk", jax.nn.softmax(scores).astype(x.dtype), v)
    return jnp.einsum("blhk,hkd->bld", mixed, p["wo"])


def routed(p, x, probs, room):
    """One row's words [length, width] by way of the experts' slots; those that find no room are passed by."""
    experts = probs.shape[-1]
    gates, chosen = jax.lax.top_k(probs, CHOICES)
    gates = gates / gates.sum(-1, keepdims=True)
    chosen = chosen.reshape(-1)
    hot = jax.nn.one_hot(chosen, experts, dtype=jnp.int32)
    place = jnp.sum((jnp.cumsum(hot, 0) - 1) * hot, -1)
    slot = jnp.where(place < room, chosen * room + place, experts * room)
    inbox = jnp.zeros((experts * room, x.shape[-1]), x.dtype)
    inbox = inbox.at[slot].set(jnp.repeat(x, CHOICES, axis=0), mode="drop").reshape(experts, room, -1)
    h = jax.nn.silu(jnp.einsum("ecd,edf->ecf", inbox, p["w1"])) * jnp.einsum("ecd,edf->ecf", inbox, p["w3"])
    outbox = jnp.einsum("ecf,efd->ecd", h, p["w2"]).reshape(experts * room, -1)
    back = outbox.at[slot].get(mode="fill", fill_value=0).reshape(*gates.shape, -1)
    return jnp.einsum("tk,tkd->td", gates.astype(x.dtype), back)


def expert_layer(p, x, room):
    logits = x.astype(F32) @ p["gate"].astype(F32)
    probs = jax.nn.softmax(logits)
    said = jax.vmap(lambda words, chances: routed(p, words, chances, room))(x, probs)
    shared = p["shared"]
    said = said + (jax.nn.silu(x @ shared["w1"]) * (x @ shared["w3"])) @ shared["w2"]
    best = jax.nn.one_hot(jnp.argmax(probs, -1), probs.shape[-1])
    balance = probs.shape[-1] * jnp.sum(best.mean((0, 1)) * probs.mean((0, 1)))
    return said, balance + 0.1 * jnp.mean(jnp.square(jax.nn.logsumexp(logits, -1)))


def shapes_of(count, width, hidden, vocab):
    side = width // count
    layer = {"attn": {"wqkv": (width, 3, count, side), "wo": (count, side, width)}, "attn_norm": (width,),
             "moe": {"gate": (width, count), "w1": (count, width, hidden), "w3": (count, width, hidden),
                     "w2": (count, hidden, width),
                     "shared": {"w1": (width, hidden), "w3": (width, hidden), "w2": (hidden, width)}},
             "moe_norm": (width,)}
    return abstract({"tok_embeddings": (vocab, width), "norm": (width,), "output": (width, vocab),
                     "layers": [layer for _ in range(count)]})


def as_many_experts(count, width, hidden, vocab, length, kind=BF16):
    """`count` layers of `count` heads and `count` experts, of `count` rows; length may be width."""
    def make(arrays, change):
        import optax
        rows, time, now = count // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        room = CHOICES * time * 5 // (4 * count)

        def layer(p, x):
            x = x + attention(p["attn"], rms_norm(x, p["attn_norm"]))
            said, balance = expert_layer(p["moe"], rms_norm(x, p["moe_norm"]), room)
            return x + said, balance
        block = maybe_checkpoint(change, layer)

        def loss_of(params, tokens, targets):
            p, balances = cast(params, now), []
            x = p["tok_embeddings"][tokens]
            for one in p["layers"]:
                x, balance = block(one, x)
                balances.append(balance)
            logits = rms_norm(x, p["norm"]) @ p["output"]
            return cross_entropy(logits, targets) + 0.01 * sum(balances) / count
        tokens = arrays.batch((rows, time), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(4e-4, b2=0.95, weight_decay=0.1,
                                                                           mask=decayed))
        return optax_step(arrays, change, shapes_of(count, width, hidden, vocab), loss_of, optimizer, tokens, tokens)
    return make
