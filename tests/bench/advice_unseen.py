"""Models of language and of time that no rule of the advice was made for, each written as another author would.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). Images are in
advice_unseen_vision.py, tables, graphs and equations in advice_unseen_other.py; advice_unseen_families.py lists all.
"""
import dataclasses

import jax
import jax.numpy as jnp

from advice_structures import BF16, F32, checkpointed, in_float32, token_loss
from advice_unseen_optimizers import adafactor, adafactor_state, adamw, adamw_state, clipped_sgd, nesterov, trained


def layer_norm(x, scale, shift):
    wide = x.astype(F32)
    wide = (wide - wide.mean(-1, keepdims=True)) * jax.lax.rsqrt(wide.var(-1, keepdims=True) + 1e-6)
    return (wide * scale + shift).astype(x.dtype)


def whitened(x):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-6)


# --- Encoders ---

def masked_encoder(layers, width, heads, vocabulary, picked, batch, length):
    """Norms after the sums, three tables, a padding mask; scores only of the words that were masked. All in tuples."""
    side = width // heads

    def make(arrays, change):
        size, vector = batch // change.batch_divisor, arrays.parameter((width,), None)
        square, norm = arrays.parameter((width, width)), (vector, vector)

        def layer():
            return ((square,) * 4, norm, (arrays.parameter((width, 4 * width)), arrays.parameter((4 * width,), None),
                                          arrays.parameter((4 * width, width)), vector), norm)
        tables = tuple(arrays.parameter((rows, width)) for rows in (vocabulary, length, 4))
        params = (tables, [layer() for _ in range(layers)], (square, norm, arrays.parameter((vocabulary,), None)))
        ids = arrays.batch((size, length), jnp.int32)
        places = arrays.batch((size, picked), jnp.int32)

        def block(x, layer, mask):
            (wq, wk, wv, wo), norm1, (w1, b1, w2, b2), norm2 = jax.tree.map(lambda p: p.astype(BF16), layer)
            q, k, v = ((x @ w).reshape(size, length, heads, side) for w in (wq, wk, wv))
            seen = jnp.einsum("nihc,njhc->nhij", q, k) * side ** -0.5 + mask
            mixed = jnp.einsum("nhij,njhc->nihc", jax.nn.softmax(seen, axis=-1), v).reshape(x.shape) @ wo
            x = layer_norm(x + mixed, *norm1)
            return layer_norm(x + jax.nn.gelu(x @ w1 + b1) @ w2 + b2, *norm2)

        def loss_fn(params, ids, kinds, lengths, places, labels):
            (words, positions, segments), stack, (transform, norm, bias) = params
            x = (words[ids] + positions[None] + segments[kinds]).astype(BF16)
            mask = jnp.where(jnp.arange(length) < lengths[:, None], 0, -1e4).astype(BF16)[:, None, None]
            for layer in stack:
                x = checkpointed(change, block)(x, layer, mask)
            x = jnp.take_along_axis(x, places[..., None], axis=1)
            x = layer_norm(jax.nn.gelu(x @ transform.astype(BF16)), *norm)
            return token_loss(jnp.einsum("npc,vc->npv", x, words.astype(BF16)) + bias, labels)
        data = (ids, ids, arrays.batch((size,), jnp.int32), places, places)
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), *data)
    return make


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Shared:
    table: object
    widen: object
    qkv: object
    out: object
    up: object
    down: object
    scales: object


def shared_layers(times, width, narrow, heads, vocabulary, batch, length):
    """One layer's weights used again and again in a fori_loop, a narrow table widened; float32 throughout."""
    def make(arrays, change):
        size, side = batch // change.batch_divisor, width // heads
        params = Shared(arrays.parameter((vocabulary, narrow)), arrays.parameter((narrow, width)),
                        arrays.parameter((3, width, heads, side), 1), arrays.parameter((heads, side, width)),
                        arrays.parameter((width, 4 * width)), arrays.parameter((4 * width, width)),
                        arrays.parameter((2, width), None))

        def block(params, x):
            q, k, v = jnp.einsum("btd,sdhe->sbhte", whitened(x) * params.scales[0], params.qkv)
            seen = jax.nn.softmax(jnp.einsum("bhte,bhue->bhtu", q, k) / side ** 0.5, -1)
            x = x + jnp.einsum("bhtu,bhue,hed->btd", seen, v, params.out)
            return x + jax.nn.relu(whitened(x) * params.scales[1] @ params.up) @ params.down

        def loss_fn(params, ids, hidden):
            params = in_float32(params)
            x = jnp.where(hidden[..., None] > 0, 0, params.table[ids]) @ params.widen
            x = jax.lax.fori_loop(0, times, lambda _, x: checkpointed(change, block)(params, x), x)
            return token_loss(x @ params.widen.T @ params.table.T, ids)
        ids = arrays.batch((size, length), jnp.int32)
        return trained(loss_fn, nesterov, params, params, ids, ids)
    return make


# --- Encoders with decoders ---

def text_to_text(layers, width, heads, side, hidden, vocabulary, batch, source, target):
    """Biases by distance that all layers share, gated units, heads wider together than the model; factored moments."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def attention():
            return {n: arrays.parameter((width, heads * side)) for n in "qkv"} | {
                "o": arrays.parameter((heads * side, width)), "ln": arrays.parameter((width,), None)}

        def ffn():
            return {"wi_0": arrays.parameter((width, hidden)), "wi_1": arrays.parameter((width, hidden)),
                    "wo": arrays.parameter((hidden, width)), "ln": arrays.parameter((width,), None)}
        params = {"shared": arrays.parameter((vocabulary, width)),
                  "enc": [{"self": attention(), "ffn": ffn()} for _ in range(layers)],
                  "dec": [{"self": attention(), "cross": attention(), "ffn": ffn()} for _ in range(layers)],
                  "enc_bias": arrays.parameter((32, heads), None), "dec_bias": arrays.parameter((32, heads), None)}

        def biases(table, steps):
            apart = jnp.arange(steps)[:, None] - jnp.arange(steps)[None]
            return jnp.moveaxis(table[jnp.clip(apart + 16, 0, 31)], -1, 0)

        def attend(p, x, y, bias):
            q = (whitened(x) * p["ln"].astype(x.dtype)) @ p["q"].astype(x.dtype)
            q, k, v = (t.reshape(size, -1, heads, side)
                       for t in (q, y @ p["k"].astype(x.dtype), y @ p["v"].astype(x.dtype)))
            scores = jnp.einsum("bqnd,bknd->bnqk", q, k, preferred_element_type=F32) + bias
            mixed = jnp.einsum("bnqk,bknd->bqnd", jax.nn.softmax(scores).astype(x.dtype), v)
            return x + mixed.reshape(size, -1, heads * side) @ p["o"].astype(x.dtype)

        def feed(p, x):
            h = whitened(x) * p["ln"].astype(x.dtype)
            return x + (jax.nn.gelu(h @ p["wi_0"].astype(x.dtype)) * (h @ p["wi_1"].astype(x.dtype))
                        ) @ p["wo"].astype(x.dtype)

        def encode(x, p, bias):
            return feed(p["ffn"], attend(p["self"], x, whitened(x), bias))

        def decode(x, p, bias, memory):
            x = attend(p["self"], x, whitened(x), bias)
            return feed(p["ffn"], attend(p["cross"], x, memory, 0.0))

        def loss_fn(params, source_ids, target_ids):
            x, y = (params["shared"][ids].astype(BF16) for ids in (source_ids, target_ids))
            bias = biases(params["enc_bias"], source)
            for p in params["enc"]:
                x = checkpointed(change, encode)(x, p, bias)
            x = whitened(x)
            bias = jnp.where(jnp.tril(jnp.ones((target, target), bool)), biases(params["dec_bias"], target), -1e9)
            for p in params["dec"]:
                y = checkpointed(change, decode)(y, p, bias, x)
            return token_loss((whitened(y) @ params["shared"].T.astype(BF16))[:, :-1], target_ids[:, 1:])
        data = (arrays.batch((size, source), jnp.int32), arrays.batch((size, target), jnp.int32))
        return trained(loss_fn, adafactor, params, adafactor_state(arrays, params), *data)
    return make


def attentive_units(width, vocabulary, batch, source, target):
    """Gated recurrent units that read, and others that write and look at all that was read; time first, float32."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def unit(enter):
            return [arrays.parameter((enter, 3 * width)), arrays.parameter((width, 3 * width)),
                    arrays.parameter((3 * width,), None)]
        params = [arrays.parameter((vocabulary, width)), unit(width), unit(2 * width), arrays.parameter((width, width)),
                  arrays.parameter((2 * width, vocabulary))]

        def advance(weights, hidden, x):
            enter, again, bias = weights
            reads, keeps = jnp.split(x @ enter + bias, 3, -1), jnp.split(hidden @ again, 3, -1)
            update, reset = (jax.nn.sigmoid(a + b) for a, b in zip(reads[:2], keeps[:2]))
            return update * hidden + (1 - update) * jnp.tanh(reads[2] + reset * keeps[2])

        def loss_fn(params, read, write):
            table, reader, writer, match, out = in_float32(params)

            def see(hidden, x):
                hidden = advance(reader, hidden, x)
                return hidden, hidden

            def say(hidden, x):
                weights = jax.nn.softmax(jnp.einsum("bh,sbh->bs", hidden @ match, memory), -1)
                context = jnp.einsum("bs,sbh->bh", weights, memory)
                hidden = advance(writer, hidden, jnp.concatenate([x, context], -1))
                return hidden, jnp.concatenate([hidden, context], -1)
            last, memory = jax.lax.scan(checkpointed(change, see), jnp.zeros((size, width)), table[read])
            _, states = jax.lax.scan(checkpointed(change, say), last, table[write[:-1]])
            return token_loss(states @ out, write[1:])
        split = 1 if change.shard == "all" else None
        data = (arrays.array((source, size), jnp.int32, split), arrays.array((target + 1, size), jnp.int32, split))
        return trained(loss_fn, clipped_sgd, params, arrays.array((), jnp.int32), *data)
    return make


# --- Decoders ---

def two_experts(layers, width, heads, experts, hidden, vocabulary, batch, length):
    """Each token to two experts, by scattering it to its place there; layers without experts between those with."""
    def make(arrays, change):
        size, side = batch // change.batch_divisor, width // heads
        room = size * length * 5 // (2 * experts)

        def attention():
            return {"wqkv": arrays.parameter((width, heads, 3, side)), "wo": arrays.parameter((heads, side, width)),
                    "g0": arrays.parameter((width,), None), "g1": arrays.parameter((width,), None)}
        layer_of = [lambda: {"w_in": arrays.parameter((width, 4 * width)),
                             "w_out": arrays.parameter((4 * width, width))},
                    lambda: {"gate": arrays.parameter((width, experts)),
                             "e_in": arrays.parameter((experts, width, hidden)),
                             "e_out": arrays.parameter((experts, hidden, width))}]
        params = {"emb": arrays.parameter((vocabulary, width)), "unemb": arrays.parameter((width, vocabulary)),
                  "stack": tuple(attention() | layer_of[i % 2]() for i in range(layers))}

        def mix(p, x):
            q, k, v = jnp.moveaxis(jnp.einsum("zld,dnsf->zlnsf", x, p["wqkv"].astype(x.dtype)), 3, 0)
            scores = jnp.einsum("zlnf,zmnf->znlm", q, k).astype(F32) * side ** -0.5
            scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
            return jnp.einsum("znlm,zmnf,nfd->zld", jax.nn.softmax(scores).astype(x.dtype), v, p["wo"].astype(x.dtype))

        def dispatch(p, x):
            tokens = x.reshape(-1, width)
            weights, chosen = jax.lax.top_k(jax.nn.softmax((tokens @ p["gate"].astype(x.dtype)).astype(F32)), 2)
            flat = chosen.reshape(-1)
            place = jnp.cumsum(jax.nn.one_hot(flat, experts, dtype=jnp.int32), 0)
            place = jnp.take_along_axis(place, flat[:, None], 1)[:, 0] - 1
            slot = jnp.where(place < room, flat * room + place, experts * room)
            inbox = jnp.zeros((experts * room, width), x.dtype).at[slot].set(jnp.repeat(tokens, 2, 0), mode="drop")
            h = jax.nn.silu(jnp.einsum("erd,edf->erf", inbox.reshape(experts, room, width), p["e_in"].astype(x.dtype)))
            outbox = jnp.einsum("erf,efd->erd", h, p["e_out"].astype(x.dtype)).reshape(-1, width)
            back = jnp.take(outbox, slot, axis=0, mode="fill", fill_value=0).reshape(-1, 2, width)
            return jnp.einsum("tkd,tk->td", back, weights.astype(x.dtype)).reshape(x.shape)

        def block(x, p):
            x = x + mix(p, whitened(x) * p["g0"].astype(x.dtype))
            h = whitened(x) * p["g1"].astype(x.dtype)
            if "gate" in p:
                return x + dispatch(p, h)
            return x + jax.nn.silu(h @ p["w_in"].astype(x.dtype)) @ p["w_out"].astype(x.dtype)

        def loss_fn(params, tokens):
            x = params["emb"].astype(BF16)[tokens]
            for p in params["stack"]:
                x = checkpointed(change, block)(x, p)
            return token_loss((x @ params["unemb"].astype(BF16))[:, :-1], tokens[:, 1:])
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), arrays.batch((size, length), jnp.int32))
    return make


def key_blocks(layers, width, heads, hidden, vocabulary, batch, length, piece):
    """Attention to one block of keys after the other, as a scan in a scan over layers; what is kept are the sums."""
    def make(arrays, change):
        size, side, pieces = batch // change.batch_divisor, width // heads, length // piece

        def stacked(*shape):
            return arrays.parameter((layers, *shape), 1)
        params = {"tok": arrays.parameter((vocabulary, width)), "blk": (
            stacked(width, 3 * width), stacked(width, width), stacked(width, hidden), stacked(hidden, width))}

        def attend(q, k, v):
            rows = jnp.arange(length)

            @jax.checkpoint
            def one(carry, part):
                top, total, mixed = carry
                start, k, v = part
                seen = jnp.einsum("qbhd,kbhd->bhqk", q, k).astype(F32) * side ** -0.5
                seen = jnp.where(rows[:, None] >= start + jnp.arange(piece), seen, -1e30)
                higher = jnp.maximum(top, seen.max(-1))
                weights, less = jnp.exp(seen - higher[..., None]), jnp.exp(top - higher)
                mixed = mixed * less[..., None] + jnp.einsum("bhqk,kbhd->bhqd", weights, v.astype(F32))
                return (higher, total * less + weights.sum(-1), mixed), None
            k, v = (t.reshape(pieces, piece, *t.shape[1:]) for t in (k, v))
            lead = (size, heads, length)
            start = (jnp.full(lead, -1e30), jnp.zeros(lead), jnp.zeros((*lead, side)))
            (_, total, mixed), _ = jax.lax.scan(one, start, (jnp.arange(pieces) * piece, k, v))
            return jnp.einsum("bhqd->qbhd", mixed / total[..., None])

        def block(x, p):
            qkv, out, up, down = (w.astype(BF16) for w in p)
            q, k, v = ((whitened(x) @ w).reshape(length, size, heads, side) for w in jnp.split(qkv, 3, -1))
            x = x + attend(q, k, v).astype(BF16).reshape(x.shape) @ out
            return x + jnp.square(jax.nn.relu(whitened(x) @ up)) @ down, None

        def loss_fn(params, tokens):
            x = params["tok"].astype(BF16)[tokens.T]
            x, _ = jax.lax.scan(checkpointed(change, block), x, params["blk"])
            return token_loss((x @ params["tok"].T.astype(BF16))[:-1], tokens.T[1:])
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), arrays.batch((size, length), jnp.int32))
    return make


def window_cache(layers, width, heads, groups, hidden, vocabulary, batch, room, steps):
    """Several tokens by a scan, caches by time first that begin anew when full, heads in groups; nothing is trained."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor
        weights = [(arrays.parameter((width, heads * side)), arrays.parameter((width, 2 * groups * side)),
                    arrays.parameter((heads * side, width)), arrays.parameter((width, hidden)),
                    arrays.parameter((width, hidden)), arrays.parameter((hidden, width))) for _ in range(layers)]
        params = (arrays.parameter((vocabulary, width)), weights)
        cache = [arrays.array((room, size, 2, groups, side), BF16, 1 if change.shard == "all" else None)] * layers

        def layer(x, p, cache, step):
            wq, wkv, wo, gate, up, down = (w.astype(BF16) for w in p)
            h = whitened(x)
            new = (h @ wkv).reshape(1, size, 2, groups, side)
            cache = jax.lax.dynamic_update_slice_in_dim(cache, new, step % room, 0)
            q = (h @ wq).reshape(size, groups, heads // groups, side)
            scores = jnp.einsum("bgrd,tbgd->bgrt", q, cache[:, :, 0]).astype(F32) * side ** -0.5
            scores = jax.nn.softmax(jnp.where(jnp.arange(room) <= step, scores, -1e30)).astype(BF16)
            x = x + jnp.einsum("bgrt,tbgd->bgrd", scores, cache[:, :, 1]).reshape(size, -1) @ wo
            h = whitened(x)
            return x + (jax.nn.silu(h @ gate) * (h @ up)) @ down, cache

        def decode(params, cache, token, step):
            table, weights = params

            def one(carry, _):
                cache, token, step = carry
                x, grown = table[token].astype(BF16), []
                for p, old in zip(weights, cache):
                    x, new = layer(x, p, old, step)
                    grown.append(new)
                token = jnp.argmax(x @ table.T.astype(BF16), -1).astype(jnp.int32)
                return (grown, token, step + 1), token
            (cache, _, step), said = jax.lax.scan(one, (cache, token, step), None, length=steps)
            return said, cache, step
        return decode, (params, cache, arrays.batch((size,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


# --- Recurrences ---

def linear_recurrence(layers, width, inner, batch, length):
    """Diagonal recurrences by associative_scan, time first, gated; float32."""
    def make(arrays, change):
        size = batch // change.batch_divisor
        params = [{"B": arrays.parameter((width, inner)), "C": arrays.parameter((inner, width)),
                   "decay": arrays.parameter((inner,), None), "gate": arrays.parameter((width, inner)),
                   "D": arrays.parameter((width,), None)} for _ in range(layers)]
        waves = arrays.array((length + 1, size, width), change.stored, 1 if change.shard == "all" else None)

        def join(one, two):
            return one[0] * two[0], two[0] * one[1] + two[1]

        def block(u, p):
            h = whitened(u)
            gate = jax.nn.sigmoid(h @ p["gate"])
            decay = jnp.exp(-jax.nn.softplus(p["decay"]) * gate)
            _, state = jax.lax.associative_scan(join, (decay, (1 - decay) * (h @ p["B"])), axis=0)
            return u + jax.nn.gelu(state * gate) @ p["C"] + p["D"] * h

        def loss_fn(params, waves):
            params, waves = in_float32(params), waves.astype(F32)
            u = waves[:-1]
            for p in params:
                u = checkpointed(change, block)(u, p)
            return jnp.mean(jnp.abs(u - waves[1:]))
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), waves)
    return make
