"""Mixtral 8x7B reads prompts into its caches and gives the logits of the first new word; 16 of the 32 layers.

Plain jax: layers are a list and experts a stacked axis under vmap. Each prompt is a group that deals its words to two
of eight experts by one-hot products, and words beyond an expert's capacity pass by (GShard). Queries are taken block by
block, so that scores are never whole.
"""
import jax
import jax.numpy as jnp

from advice_board_training import BF16, F32, on_chips
from advice_summit_nemo import dot, rms_norm


def mixtral_shapes(layers, width, heads, groups, side, hidden, experts, vocab):
    def layer():
        return {"attention_norm": (width,), "ffn_norm": (width,),
                "attention": {"wq": (width, heads * side), "wk": (width, groups * side), "wv": (width, groups * side),
                              "wo": (heads * side, width)},
                "moe": {"gate": (width, experts), "w1": (experts, width, hidden), "w3": (experts, width, hidden),
                        "w2": (experts, hidden, width)}}
    return {"tok_embeddings": (vocab, width), "layers": [layer() for _ in range(layers)], "norm": (width,),
            "output": (width, vocab)}


def served(change, shapes):
    from advice_programs import Int8

    def one(shape):
        if not change.quantized or len(shape) < 2:
            return jax.ShapeDtypeStruct(shape, BF16)
        return Int8(jax.ShapeDtypeStruct(shape, jnp.int8), jax.ShapeDtypeStruct((*shape[:-2], shape[-1]), F32))
    return jax.tree.map(one, shapes, is_leaf=lambda node: isinstance(node, tuple))


def rotate_half(x):
    """x [b, t, h, d], from place 0 on."""
    side = x.shape[-1]
    angles = jnp.outer(jnp.arange(x.shape[1], dtype=F32), 1e6 ** (-jnp.arange(0, side, 2, dtype=F32) / side))
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    one, two = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([one * cos - two * sin, two * cos + one * sin], -1).astype(x.dtype)


def blockwise_attention(q, k, v, block):
    """q [b, t, g, r, d], k and v [b, t, g, d]; prompts are padded on the right, so causality hides the padding."""
    rows, length, groups, repeats, side = q.shape
    blocks = jnp.moveaxis(q.reshape(rows, length // block, block, groups, repeats, side), 1, 0)

    def one(given):
        start, q = given
        scores = jnp.einsum("bqgrd,bkgd->bgrqk", q, k, preferred_element_type=F32) * side ** -0.5
        seen = jnp.arange(length) <= start + jnp.arange(block)[:, None]
        weights = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf), axis=-1).astype(q.dtype)
        return jnp.einsum("bgrqk,bkgd->bqgrd", weights, v)
    mixed = jax.lax.map(one, (jnp.arange(0, length, block), blocks))
    return jnp.moveaxis(mixed, 0, 1).reshape(rows, length, groups * repeats * side)


def dispatch(scores, real, chosen, capacity):
    """From router scores [b, t, e]: which word has which seat [b, t, e, c], and the same weighted by its gate."""
    experts = scores.shape[-1]
    best, which = jax.lax.top_k(scores, chosen)                                     # [b, t, k]
    gates = jax.nn.softmax(best, axis=-1)
    wants = jax.nn.one_hot(which, experts, dtype=jnp.int32) * real[..., None, None]
    by_rank = wants.swapaxes(1, 2).reshape(wants.shape[0], -1, experts)             # all first choices come first
    seats = (jnp.cumsum(by_rank, axis=1) - 1).reshape(wants.shape[0], chosen, -1, experts).swapaxes(1, 2)
    seat = jnp.where(wants > 0, seats, capacity)                                    # beyond the capacity: no seat
    seated, weighted = 0, 0
    for rank in range(chosen):
        placed = jax.nn.one_hot(seat[:, :, rank], capacity, dtype=BF16)
        seated = seated + placed
        weighted = weighted + placed * gates[:, :, rank, None, None].astype(BF16)
    return seated, weighted


def mixtral_prefill(layers, width, heads, groups, side, hidden, experts, vocab, batch, length, room, chosen=2,
                    factor=1.25, block=512, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        words, places = length // change.length_divisor, room // change.length_divisor
        capacity = int(factor * chosen * words / experts)

        def attention(layer, cache, x):
            q = rotate_half(dot(x, layer["wq"]).reshape(rows, words, heads, side))
            k = rotate_half(dot(x, layer["wk"]).reshape(rows, words, groups, side))
            v = dot(x, layer["wv"]).reshape(rows, words, groups, side)
            cache = {"k": cache["k"].at[:, :words].set(k), "v": cache["v"].at[:, :words].set(v)}
            q = q.reshape(rows, words, groups, heads // groups, side)
            return dot(blockwise_attention(q, k, v, block), layer["wo"]), cache

        def expert(w1, w3, w2, x):
            return dot(jax.nn.silu(dot(x, w1)) * dot(x, w3), w2)

        def mixture(layer, x, real):
            scores = dot(x, layer["gate"]).astype(F32)
            seated, weighted = dispatch(scores, real, chosen, capacity)
            sent = jnp.einsum("btec,btd->ebcd", seated.astype(x.dtype), x).reshape(experts, rows * capacity, width)
            made = jax.vmap(expert)(layer["w1"], layer["w3"], layer["w2"], sent)
            return jnp.einsum("btec,ebcd->btd", weighted.astype(x.dtype), made.reshape(experts, rows, capacity, width))

        def prefill(params, caches, prompts, lengths):
            real = (jnp.arange(words) < lengths[:, None]).astype(jnp.int32)
            x, filled = params["tok_embeddings"][prompts].astype(kind), []
            for layer, cache in zip(params["layers"], caches):
                mixed, cache = attention(layer["attention"], cache, rms_norm(x, layer["attention_norm"]))
                x = x + mixed
                x = x + mixture(layer["moe"], rms_norm(x, layer["ffn_norm"]), real)
                filled.append(cache)
            last = jnp.take_along_axis(x, lengths[:, None, None] - 1, axis=1)[:, 0]
            logits = dot(rms_norm(last, params["norm"]), params["output"]).astype(F32)
            return logits.argmax(-1).astype(jnp.int32), logits, filled
        params = served(change, mixtral_shapes(layers, width, heads, groups, side, hidden, experts, vocab))
        caches = [{name: arrays.batch((rows, places, groups, side), kind) for name in ("k", "v")}
                  for _ in range(layers)]
        stacks = {"w1": 0, "w2": 0, "w3": 0}                                        # experts are not torn apart
        return prefill, (on_chips(arrays, params, stacks), caches, arrays.batch((rows, words), jnp.int32),
                         arrays.batch((rows,), jnp.int32)), (1,)
    return make
