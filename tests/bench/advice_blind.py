"""Models of language that nobody tunes the advice for: written without a look at its rules or its figures.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). What is served
is in advice_blind_serving.py, images and scenes in advice_blind_scenes.py, sequences, games and pairs in
advice_blind_time.py; advice_unseen_families.py lists all of them.
"""
from typing import NamedTuple

import jax
import jax.numpy as jnp

from advice_structures import BF16, F32, checkpointed, in_float32, token_loss
from advice_unseen_optimizers import adafactor, adafactor_state, adamw, adamw_state, each, lion, trained


def by_root_mean(x, gain):
    wide = x.astype(F32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6) * gain.astype(F32)).astype(x.dtype)


def rotate(x, places, base=10000.0):
    """Of [batch, time, ..., side]: neighbours in each head, as pairs, turned by their place."""
    side = x.shape[-1]
    turn = places[:, None] * base ** (-jnp.arange(0, side, 2) / side)
    turn = turn.reshape(turn.shape[0], *(1,) * (x.ndim - 3), side // 2)
    even, odd = x[..., ::2].astype(F32), x[..., 1::2].astype(F32)
    both = even * jnp.cos(turn) - odd * jnp.sin(turn), even * jnp.sin(turn) + odd * jnp.cos(turn)
    return jnp.stack(both, -1).reshape(x.shape).astype(x.dtype)


def clipped(update, most=1.0):
    """The update of slopes whose norm is at most that."""
    def clip_and_update(params, state, grads):
        norm = jnp.sqrt(sum(jnp.sum(jnp.square(g.astype(F32))) for g in jax.tree.leaves(grads)))
        return update(params, state, each(lambda g: g * jnp.minimum(1.0, most / (norm + 1e-6)), grads))
    return clip_and_update


# --- Decoders ---

class Layers(NamedTuple):
    q: object
    k: object
    v: object
    o: object
    q_norm: object
    k_norm: object
    gate_up: object
    down: object
    norms: object


def grouped_layers(arrays, layers, width, groups, share, side, hidden):
    def stacked(*shape):
        return arrays.parameter((layers, *shape), 1)
    return Layers(stacked(width, groups, share, side), stacked(width, groups, side), stacked(width, groups, side),
                  arrays.parameter((layers, groups, share, side, width), 4),
                  arrays.parameter((layers, side), None), arrays.parameter((layers, side), None),
                  arrays.parameter((layers, 2, width, hidden), 2), stacked(hidden, width),
                  arrays.parameter((layers, 2, width), None))


def normed_heads(layers, width, groups, share, side, hidden, vocabulary, batch, length):
    """Scanned; heads in groups that are normed and turned by place; words with a weight each, scores held small."""
    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"tok": arrays.parameter((vocabulary, width)), "final": arrays.parameter((width,), None),
                  "layers": grouped_layers(arrays, layers, width, groups, share, side, hidden),
                  "unembed": arrays.parameter((width, vocabulary))}

        def attention(p, h):
            places = jnp.arange(length)
            q = rotate(by_root_mean(jnp.einsum("btd,dgrk->btgrk", h, p.q), p.q_norm), places)
            k = rotate(by_root_mean(jnp.einsum("btd,dgk->btgk", h, p.k), p.k_norm), places)
            v = jnp.einsum("btd,dgk->btgk", h, p.v)
            logits = jnp.einsum("btgrk,bsgk->bgrts", q, k, preferred_element_type=F32) * side ** -0.5
            logits = jnp.where(places[:, None] >= places, logits, jnp.finfo(F32).min)
            mixed = jnp.einsum("bgrts,bsgk->btgrk", jax.nn.softmax(logits, -1).astype(BF16), v)
            return jnp.einsum("btgrk,grkd->btd", mixed, p.o)

        def layer(x, p):
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            x = x + attention(p, by_root_mean(x, p.norms[0]))
            gate, up = jnp.einsum("btd,sdf->sbtf", by_root_mean(x, p.norms[1]), p.gate_up)
            return x + (jax.nn.silu(gate) * up) @ p.down, None

        def loss_fn(params, inputs, targets, weights):
            x = params["tok"].astype(BF16)[inputs]
            x, _ = jax.lax.scan(checkpointed(change, layer), x, params["layers"])
            logits = (by_root_mean(x, params["final"]) @ params["unembed"].astype(BF16)).astype(F32)
            total = jax.nn.logsumexp(logits, -1)
            right = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
            losses = total - right + 1e-4 * jnp.square(total)
            return jnp.sum(losses * weights) / jnp.maximum(jnp.sum(weights), 1)
        ids = arrays.batch((size, length), jnp.int32)
        weights = arrays.batch((size, length), F32)
        return trained(loss_fn, clipped(adamw), params, adamw_state(arrays, params), ids, ids, weights)
    return make


def parallel_units(layers, width, heads, side, hidden, vocabulary, parts, batch, length):
    """Attention beside the units, one key for all heads; [out, in]; unrolled layers in a fori_loop over parts."""
    cuts = [heads * side, heads * side + side, heads * side + 2 * side, heads * side + 2 * side + hidden]

    def linear(x, weight):
        return jax.lax.dot_general(x, weight.astype(x.dtype), (((x.ndim - 1,), (1,)), ((), ())))

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"wte": arrays.parameter((vocabulary, width)), "blocks": [
            {"ln": arrays.parameter((width,), None), "fused": arrays.parameter((cuts[-1] + hidden, width)),
             "attn_out": arrays.parameter((width, heads * side)), "ff_out": arrays.parameter((width, hidden))}
            for _ in range(layers)]}
        tokens = arrays.array((parts, size, length + 1), jnp.int32, 1 if change.shard == "all" else None)

        def block(p, x):
            q, k, v, gate, up = jnp.split(linear(by_root_mean(x, p["ln"]), p["fused"]), cuts, -1)
            q = q.reshape(size, length, heads, side)
            seen = jnp.einsum("bihd,bjd->bhij", q, k) * side ** -0.5
            seen = jnp.where(jnp.tri(length, dtype=bool), seen.astype(F32), -1e10)
            mixed = jnp.einsum("bhij,bjd->bihd", jax.nn.softmax(seen).astype(x.dtype), v).reshape(size, length, -1)
            return x + linear(mixed, p["attn_out"]) + linear(jax.nn.silu(gate) * up, p["ff_out"])

        def loss_fn(params, ids):
            x = params["wte"][ids[:, :-1]].astype(BF16)
            for p in params["blocks"]:
                x = checkpointed(change, block)(p, x)
            return token_loss(linear(x, params["wte"]), ids[:, 1:])

        def train_step(params, moments, tokens):
            def one_part(i, sums):
                loss, grads = jax.value_and_grad(loss_fn)(params, tokens[i])
                return sums[0] + loss / parts, jax.tree.map(lambda s, g: s + g.astype(F32) / parts, sums[1], grads)
            zeros = jnp.zeros(()), jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params)
            loss, grads = jax.lax.fori_loop(0, parts, one_part, zeros)
            return *adafactor(params, moments, grads), loss
        return train_step, (params, adafactor_state(arrays, params), tokens), (0, 1)
    return make


def sorted_experts(layers, width, heads, experts, chosen, hidden, vocabulary, batch, length):
    """Tokens sorted by expert and multiplied raggedly, none dropped, an expert that all share; unrolled."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor

        def layer():
            return {"attn": {"w_qkv": arrays.parameter((width, 3, heads, side)),
                             "w_o": arrays.parameter((heads, side, width)), "g": arrays.parameter((width,), None)},
                    "moe": {"router": arrays.parameter((width, experts)), "g": arrays.parameter((width,), None),
                            "w1": arrays.parameter((experts, width, hidden)),
                            "w3": arrays.parameter((experts, width, hidden)),
                            "w2": arrays.parameter((experts, hidden, width)),
                            "shared": (arrays.parameter((width, hidden)), arrays.parameter((hidden, width)))}}
        params = {"embed": arrays.parameter((vocabulary, width)), "head": arrays.parameter((width, vocabulary)),
                  "layers": [layer() for _ in range(layers)]}

        def attention(p, x):
            q, k, v = jnp.moveaxis(jnp.einsum("bld,dshk->bslhk", by_root_mean(x, p["g"]), p["w_qkv"]), 1, 0)
            return jnp.einsum("blhk,hkd->bld", jax.nn.dot_product_attention(q, k, v, is_causal=True), p["w_o"])

        def mixture(p, x):
            flat = by_root_mean(x, p["g"]).reshape(-1, width)
            scores = jax.nn.sigmoid((flat @ p["router"]).astype(F32))
            weights, picked = jax.lax.top_k(scores, chosen)
            weights = weights / jnp.sum(weights, -1, keepdims=True)
            order = jnp.argsort(picked.reshape(-1))
            counts = jnp.bincount(picked.reshape(-1), length=experts).astype(jnp.int32)
            inbox = flat[order // chosen]
            h = jax.nn.silu(jax.lax.ragged_dot(inbox, p["w1"], counts)) * jax.lax.ragged_dot(inbox, p["w3"], counts)
            outbox = jax.lax.ragged_dot(h, p["w2"], counts) * weights.reshape(-1)[order][:, None].astype(x.dtype)
            mixed = jnp.zeros_like(flat).at[order // chosen].add(outbox)
            return (mixed + jax.nn.silu(flat @ p["shared"][0]) @ p["shared"][1]).reshape(x.shape)

        def block(p, x):
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            x = x + attention(p["attn"], x)
            return x + mixture(p["moe"], x)

        def loss_fn(params, tokens):
            x = params["embed"].astype(BF16)[tokens]
            for p in params["layers"]:
                x = checkpointed(change, block)(p, x)
            return token_loss((x @ params["head"].astype(BF16))[:, :-1], tokens[:, 1:])
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), arrays.batch((size, length), jnp.int32))
    return make


# --- Teachers ---

def plain_layer(arrays, kind, lead, width):
    """Of a student in a list (no lead) or of a frozen teacher in a stack."""
    def weight(*shape):
        shape, split = (*lead, *shape), len(lead)
        return arrays.array(shape, BF16, split) if kind == "frozen" else arrays.parameter(shape, split)
    return {"c_attn": weight(width, 3 * width), "c_proj": weight(width, width), "fc": weight(width, 4 * width),
            "fc_proj": weight(4 * width, width)}


def taught(teacher, student, vocabulary, heat, batch, length):
    """A student in float32 of a list of layers, a frozen teacher in bfloat16 of a stack; either (layers, width, heads).

    The loss is the divergence of what both say at each word.
    """
    def make(arrays, change):
        size = batch // change.batch_divisor
        frozen = {"wte": arrays.array((vocabulary, teacher[1]), BF16, 0),
                  "h": plain_layer(arrays, "frozen", teacher[:1], teacher[1])}
        params = {"wte": arrays.parameter((vocabulary, student[1])), "wpe": arrays.parameter((length, student[1])),
                  "h": [plain_layer(arrays, "trained", (), student[1]) for _ in range(student[0])]}

        def block(heads):
            def run(x, p):
                q, k, v = (t.reshape(size, length, heads, -1).swapaxes(1, 2)
                           for t in jnp.split(by_root_mean(x, jnp.ones(())) @ p["c_attn"], 3, -1))
                scores = jnp.matmul(q, k.swapaxes(2, 3)) / q.shape[-1] ** 0.5
                scores = jax.nn.softmax(jnp.where(jnp.tri(length) > 0, scores.astype(F32), -1e9), -1).astype(x.dtype)
                x = x + jnp.matmul(scores, v).swapaxes(1, 2).reshape(x.shape) @ p["c_proj"]
                return x + jax.nn.gelu(by_root_mean(x, jnp.ones(())) @ p["fc"]) @ p["fc_proj"]
            return run

        def loss_fn(params, frozen, ids):
            run = block(teacher[2])
            x, _ = jax.lax.scan(lambda x, p: (run(x, p), None), frozen["wte"][ids], frozen["h"])
            wanted = jax.nn.log_softmax((x @ frozen["wte"].T).astype(F32) / heat)
            params = in_float32(params)
            y = params["wte"][ids] + params["wpe"]
            for p in params["h"]:
                y = checkpointed(change, block(student[2]))(y, p)
            said = jax.nn.log_softmax(y @ params["wte"].T / heat)
            return heat ** 2 * jnp.mean(jnp.sum(jnp.exp(wanted) * (wanted - said), -1))
        return trained(loss_fn, lion, params, params, frozen, arrays.batch((size, length), jnp.int32))
    return make


# --- Encoders ---

def matched_texts(layers, width, heads, hidden, vocabulary, batch, asked, told):
    """One encoder for questions and for passages (one right, one wrong each), stacked; means; all are held together."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor

        def stacked(*shape):
            return arrays.parameter((layers, *shape), 1)
        params = {"embeddings": arrays.parameter((vocabulary, width)), "encoder": {
            "Wqkv": stacked(width, 3 * width), "Wo": stacked(width, width), "Wi": stacked(width, 2 * hidden),
            "Wmo": stacked(hidden, width), "norms": arrays.parameter((layers, 2, width), None)}}

        def encode(params, ids):
            there = ids != 1

            def layer(x, p):
                p = jax.tree.map(lambda w: w.astype(BF16), p)
                qkv = (by_root_mean(x, p["norms"][0]) @ p["Wqkv"]).reshape(*ids.shape, 3, heads, side)
                places = jnp.arange(ids.shape[1])
                q, k, v = rotate(qkv[:, :, 0], places), rotate(qkv[:, :, 1], places), qkv[:, :, 2]
                near = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * side ** -0.5
                near = jax.nn.softmax(jnp.where(there[:, None, None], near, -1e9), -1).astype(BF16)
                x = x + jnp.einsum("bhqk,bkhd->bqhd", near, v).reshape(x.shape) @ p["Wo"]
                one, two = jnp.split(by_root_mean(x, p["norms"][1]) @ p["Wi"], 2, -1)
                return x + (jax.nn.gelu(one) * two) @ p["Wmo"], None
            x, _ = jax.lax.scan(checkpointed(change, layer), params["embeddings"].astype(BF16)[ids], params["encoder"])
            mean = jnp.einsum("btd,bt->bd", x.astype(F32), there.astype(F32)) / jnp.sum(there, 1, keepdims=True)
            return mean * jax.lax.rsqrt(jnp.sum(mean * mean, -1, keepdims=True) + 1e-12)

        def loss_fn(params, questions, right, wrong):
            one = encode(params, questions)
            two = encode(params, jnp.concatenate([right, wrong], 0))
            return token_loss(one @ two.T / 0.02, jnp.arange(size))
        passages = arrays.batch((size, told), jnp.int32)
        return trained(loss_fn, clipped(adamw), params, adamw_state(arrays, params),
                       arrays.batch((size, asked), jnp.int32), passages, passages)
    return make
