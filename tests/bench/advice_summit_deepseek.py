"""DeepSeek-V2, trained in plain jax: keys and values out of a low rank, shared experts beside those that are routed to.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Layers are a list, the first of them dense.
Each row of words sends its own to the experts' slots; what finds no slot is dropped. Lion keeps its momentum in bf16.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, abstract, cast, compute_dtype, cross_entropy, decayed, maybe_checkpoint,
                                   optax_step)


def gated(inputs, hidden):
    return {"gate": (inputs, hidden), "up": (inputs, hidden), "down": (hidden, inputs)}


def deepseek_shapes(layers, width, heads, nope, rope, rank, dense, experts, hidden, shared, vocab):
    def layer(is_dense):
        made = {"attention_norm": (width,), "ffn_norm": (width,), "q": (width, heads * (nope + rope)),
                "kv_down": (width, rank + rope), "kv_norm": (rank,), "kv_up": (rank, heads * 2 * nope),
                "o": (heads * nope, width)}
        if is_dense:
            return {**made, "ffn": gated(width, dense)}
        routed = {name: (experts, *shape) for name, shape in gated(width, hidden).items()}
        return {**made, "router": (width, experts), "experts": routed, "shared": gated(width, shared * hidden)}
    return abstract({"embed": (vocab, width), "head": (width, vocab), "norm": (width,),
                     "layers": [layer(n == 0) for n in range(layers)]})


def rms_norm(x, scale):
    y = x.astype(F32)
    return (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


def rotated(x):
    side = x.shape[-1]
    angles = jnp.arange(x.shape[1], dtype=F32)[:, None] * 10000.0 ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    even, odd = x[..., ::2].astype(F32), x[..., 1::2].astype(F32)
    return jnp.concatenate([even * cos - odd * sin, odd * cos + even * sin], -1).astype(x.dtype)


def mlp(weights, x):
    return (jax.nn.silu(x @ weights["gate"]) * (x @ weights["up"])) @ weights["down"]


def latent_attention(layer, x, heads, nope, rope):
    rows, length, _ = x.shape
    q = (x @ layer["q"]).reshape(rows, length, heads, nope + rope)
    low, k_place = jnp.split(x @ layer["kv_down"], [layer["kv_norm"].shape[0]], axis=-1)
    k_word, v = jnp.split((rms_norm(low, layer["kv_norm"]) @ layer["kv_up"]).reshape(rows, length, heads, -1), 2, -1)
    k_place = jnp.broadcast_to(rotated(k_place[:, :, None]), (rows, length, heads, rope))
    q = jnp.concatenate([q[..., :nope], rotated(q[..., nope:])], axis=-1)
    k = jnp.concatenate([k_word, k_place], axis=-1)
    scores = jnp.einsum("bthd,bshd->bhts", q, k, preferred_element_type=F32) * (nope + rope) ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
    weights = jax.nn.softmax(scores, axis=-1).astype(x.dtype)
    return jnp.einsum("bhts,bshd->bthd", weights, v).reshape(rows, length, heads * nope) @ layer["o"]


def routed(layer, x, each, slack):
    """What the experts make of x [b, t, d], and how uneven the load of each row was."""
    length, experts = x.shape[1], layer["router"].shape[-1]
    room = int(slack * each * length / experts)
    odds = jax.nn.softmax(jnp.einsum("btd,de->bte", x, layer["router"], preferred_element_type=F32), axis=-1)
    shares, chosen = jax.lax.top_k(odds, each)
    taken = jax.nn.one_hot(chosen, experts, dtype=jnp.int32)                              # [b, t, k, e]
    ahead = jnp.cumsum(taken.reshape(x.shape[0], -1, experts), axis=1).reshape(taken.shape) - 1
    place = (ahead * taken).sum(-1)
    slot = jnp.where(place < room, chosen * room + place, experts * room)                 # [b, t, k]

    def sent(words, slot):
        copies = jnp.repeat(words, each, axis=0)
        return jnp.zeros((experts * room, words.shape[-1]), words.dtype).at[slot.reshape(-1)].set(copies, mode="drop")
    held = jax.vmap(sent)(x, slot).reshape(x.shape[0], experts, room, -1)
    inner = jax.nn.silu(jnp.einsum("becd,edf->becf", held, layer["experts"]["gate"]))
    inner = inner * jnp.einsum("becd,edf->becf", held, layer["experts"]["up"])
    made = jnp.einsum("becf,efd->becd", inner, layer["experts"]["down"]).reshape(x.shape[0], experts * room, -1)
    back = jax.vmap(lambda made, slot: made.at[slot].get(mode="fill", fill_value=0))(made, slot)
    load = taken.sum((1, 2)).astype(F32) * experts / (each * length)
    return jnp.einsum("btkd,btk->btd", back, shares.astype(x.dtype)), (load * odds.mean(1)).sum(-1).mean()


def deepseek(layers, width, heads, nope, rope, rank, dense, experts, each, hidden, shared, vocab, batch, length,
             slack=1.25, kind=BF16):
    def make(arrays, change):
        import optax
        rows, said = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        shapes = deepseek_shapes(layers, width, heads, nope, rope, rank, dense, experts, hidden, shared, vocab)

        def layer_of(layer, x):
            layer = cast(layer, now)
            x = x + latent_attention(layer, rms_norm(x, layer["attention_norm"]), heads, nope, rope)
            h = rms_norm(x, layer["ffn_norm"])
            if "ffn" in layer:
                return x + mlp(layer["ffn"], h), jnp.zeros((), F32)
            made, uneven = routed(layer, h, each, slack)
            return x + made + mlp(layer["shared"], h), uneven

        def loss_of(params, ids, labels):
            x, total = params["embed"].astype(now)[ids], 0.0
            for layer in params["layers"]:
                x, uneven = maybe_checkpoint(change, layer_of)(layer, x)
                total += uneven
            logits = rms_norm(x, params["norm"].astype(now)) @ params["head"].astype(now)
            return cross_entropy(logits, labels, labels >= 0) + 0.001 * total
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.lion(1e-4, b1=0.95, b2=0.98, mu_dtype=BF16, weight_decay=1.0, mask=decayed))
        words = arrays.batch((rows, said), jnp.int32)
        return optax_step(arrays, change, shapes, loss_of, optimizer, words, words)
    return make
