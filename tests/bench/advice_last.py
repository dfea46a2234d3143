"""The second exam of the advice: models that no rule was tuned for then, each as yet another author would write it.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). What they do
differently: names with dots for weights of [out, in], steps of one example under vmap, a loop over time in a loop over
layers, skipped sums, few latents that look at a long input, adapters trained in parts of a batch, spectra.
advice_unseen_families.py lists them.
"""
import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp

from advice_structures import BF16, F32, checkpointed, in_float32, token_loss
from advice_unseen_optimizers import (adafactor, adafactor_state, adagrad, adamw, adamw_state, each, lion, nesterov,
                                      trained)


def centred(x, weight, bias=0.0):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5) * weight + bias).astype(x.dtype)


def root_mean(x, weight):
    wide = x.astype(F32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6)).astype(x.dtype) * weight


# --- Decoders ---

def turned(x, cosines, sines):
    """Of [batch, heads, time, side]: the two halves of each head as one complex number, turned by its place."""
    one, two = jnp.split(x, 2, -1)
    return x * cosines + jnp.concatenate([-two, one], -1) * sines


def angles(length, side):
    rates = 10000.0 ** (-jnp.arange(0, side, 2) / side)
    both = jnp.tile(jnp.arange(length)[:, None] * rates, (1, 2))
    return jnp.cos(both).astype(BF16), jnp.sin(both).astype(BF16)


def repeated(x, times):
    """Each head of keys as often as heads of queries share it."""
    batch, heads, length, side = x.shape
    return jnp.broadcast_to(x[:, :, None], (batch, heads, times, length, side)).reshape(batch, -1, length, side)


def rotary_decoder(layers, width, heads, groups, hidden, vocabulary, batch, length):
    """Weights by dotted names, [out, in]; heads of queries that share keys, turned by place; gated; not scanned."""
    side = width // heads
    rows = {"self_attn.q_proj": (heads * side, width), "self_attn.k_proj": (groups * side, width),
            "self_attn.v_proj": (groups * side, width), "self_attn.o_proj": (width, heads * side),
            "mlp.gate_proj": (hidden, width), "mlp.up_proj": (hidden, width), "mlp.down_proj": (width, hidden)}

    def state_of(arrays):
        state = {"model.embed_tokens.weight": arrays.parameter((vocabulary, width)),
                 "model.norm.weight": arrays.parameter((width,), None),
                 "lm_head.weight": arrays.parameter((vocabulary, width))}
        for i in range(layers):
            state |= {f"model.layers.{i}.{name}.weight": arrays.parameter(shape) for name, shape in rows.items()}
            state |= {f"model.layers.{i}.{name}_layernorm.weight": arrays.parameter((width,), None)
                      for name in ("input", "post_attention")}
        return state

    def make(arrays, change):
        size = batch // change.batch_divisor

        def attention(linear, x, places):
            q, k, v = (linear(f"self_attn.{name}_proj", x).reshape(size, length, -1, side).transpose(0, 2, 1, 3)
                       for name in "qkv")
            q, k = turned(q, *places), turned(k, *places)
            k, v = repeated(k, heads // groups), repeated(v, heads // groups)
            scores = (q @ k.swapaxes(2, 3)) * side ** -0.5
            scores = scores + jnp.triu(jnp.full((length, length), -1e9, BF16), 1)
            mixed = jax.nn.softmax(scores.astype(F32), -1).astype(BF16) @ v
            return linear("self_attn.o_proj", mixed.transpose(0, 2, 1, 3).reshape(size, length, -1))

        def layer(weights, x, places):
            def linear(name, x):
                return x @ weights[f"{name}.weight"].T
            x = x + attention(linear, root_mean(x, weights["input_layernorm.weight"]), places)
            h = root_mean(x, weights["post_attention_layernorm.weight"])
            return x + linear("mlp.down_proj", jax.nn.silu(linear("mlp.gate_proj", h)) * linear("mlp.up_proj", h))

        def loss_fn(state, input_ids, labels):
            state = {name: weight.astype(BF16) for name, weight in state.items()}
            x, places = state["model.embed_tokens.weight"][input_ids], angles(length, side)
            for i in range(layers):
                prefix = f"model.layers.{i}."
                own = {name.removeprefix(prefix): state[name] for name in state if name.startswith(prefix)}
                x = checkpointed(change, layer)(own, x, places)
            return token_loss(root_mean(x, state["model.norm.weight"]) @ state["lm_head.weight"].T, labels)
        state, ids = state_of(arrays), arrays.batch((size, length), jnp.int32)
        return trained(loss_fn, adamw, state, adamw_state(arrays, state), ids, ids)
    return make


class Adapter(NamedTuple):
    down: object
    up: object


def adapters_in_parts(layers, width, heads, hidden, vocabulary, rank, parts, batch, length):
    """Frozen weights of bfloat16 in one stack and adapters in another; parts of the batch one after the other."""
    side = width // heads
    shapes = {"qkv": (width, 3 * width), "proj": (width, width), "fc": (width, hidden), "fc_out": (hidden, width)}

    def make(arrays, change):
        frozen = {name: arrays.array((layers, *shape), BF16, 1) for name, shape in shapes.items()}
        tables = arrays.array((vocabulary, width), BF16, 0), arrays.array((length, width), BF16)
        adapters = {name: Adapter(arrays.parameter((layers, come, rank), 1), arrays.parameter((layers, rank, go), 2))
                    for name, (come, go) in shapes.items() if name != "fc_out"}
        size = batch // change.batch_divisor
        ids = arrays.array((parts, size, length), jnp.int32, 1 if change.shard == "all" else None)

        def block(x, weights):
            big, small = weights

            def through(name, x):
                y = x @ big[name]
                return y + 2 * (x @ small[name].down.astype(BF16)) @ small[name].up.astype(BF16) if name in small else y
            q, k, v = jnp.split(through("qkv", centred(x, 1.0)).reshape(size, length, heads, 3 * side), 3, -1)
            scores = jnp.einsum("bihd,bjhd->bhij", q, k, preferred_element_type=F32) * side ** -0.5
            scores = jnp.where(jnp.tri(length, dtype=bool), scores, -jnp.inf)
            mixed = jnp.einsum("bhij,bjhd->bihd", jax.nn.softmax(scores).astype(BF16), v)
            x = x + through("proj", mixed.reshape(x.shape))
            return x + through("fc_out", jax.nn.gelu(through("fc", centred(x, 1.0)))), None

        def loss_fn(adapters, tables, frozen, ids):
            x = tables[0][ids] + tables[1]
            x, _ = jax.lax.scan(checkpointed(change, block), x, (frozen, adapters))
            return token_loss((centred(x, 1.0) @ tables[0].T)[:, :-1], ids[:, 1:])

        def finetune_step(adapters, state, tables, frozen, ids):
            def one_part(summed, part):
                loss, slopes = jax.value_and_grad(loss_fn)(adapters, tables, frozen, part)
                return each(lambda s, g: s + g / parts, summed, slopes), loss
            start = jax.tree.map(lambda p: jnp.zeros(p.shape, F32), adapters)
            slopes, losses = jax.lax.scan(one_part, start, ids)
            return *adamw(adapters, state, slopes), losses.mean()
        return finetune_step, (adapters, adamw_state(arrays, adapters), tables, frozen, ids), (0, 1)
    return make


# --- Encoders ---

def sentence_classifier(layers, width, heads, hidden, vocabulary, classes, batch, length):
    """Written for one sentence and mapped over them; the mean of the words that are there; float32."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor

        def encoder():
            return {"attn": {"in": arrays.parameter((width, 3 * width)), "out": arrays.parameter((width, width))},
                    "ff": {"in": arrays.parameter((width, hidden)), "in_bias": arrays.parameter((hidden,), None),
                           "out": arrays.parameter((hidden, width)), "out_bias": arrays.parameter((width,), None)},
                    "ln": [arrays.parameter((width,), None) for _ in range(4)]}
        params = {"words": arrays.parameter((vocabulary, width)), "places": arrays.parameter((length, width)),
                  "encoders": [encoder() for _ in range(layers)],
                  "pooler": arrays.parameter((width, width)), "classifier": arrays.parameter((width, classes), None)}

        def encode(p, x, is_word):
            q, k, v = (t.reshape(length, heads, side) for t in jnp.split(x @ p["attn"]["in"], 3, -1))
            scores = jnp.where(is_word, jnp.einsum("ihd,jhd->hij", q, k) / side ** 0.5, -1e9)
            mixed = jnp.einsum("hij,jhd->ihd", jax.nn.softmax(scores), v).reshape(length, width)
            x = centred(x + mixed @ p["attn"]["out"], *p["ln"][:2])
            h = jax.nn.gelu(x @ p["ff"]["in"] + p["ff"]["in_bias"], approximate=False)
            return centred(x + h @ p["ff"]["out"] + p["ff"]["out_bias"], *p["ln"][2:])

        def logits_of(params, ids):
            is_word = ids != 0
            x = params["words"][ids] + params["places"]
            for p in params["encoders"]:
                x = checkpointed(change, encode)(p, x, is_word)
            pooled = jnp.sum(x, 0, where=is_word[:, None]) / jnp.maximum(jnp.sum(is_word), 1)
            return jnp.tanh(pooled @ params["pooler"]) @ params["classifier"]

        def loss_fn(params, ids, labels):
            logits = jax.vmap(logits_of, in_axes=(None, 0))(in_float32(params), ids)
            soft = 0.9 * jax.nn.one_hot(labels, classes) + 0.1 / classes
            return -jnp.mean(jnp.sum(soft * jax.nn.log_softmax(logits), -1))
        data = arrays.batch((size, length), jnp.int32), arrays.batch((size,), jnp.int32)
        return trained(loss_fn, adagrad, params, params, *data)
    return make


def few_latents(rounds, inner, latents, width, heads, channels, classes, batch, points):
    """Few latents look at a long input, then at each other by a scan; all rounds but the first share their weights."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor

        def attention(lead, enter):
            at = len(lead)
            return {"to_q": arrays.parameter((*lead, width, heads, side), at),
                    "to_kv": arrays.parameter((*lead, enter, 2, heads, side), at),
                    "to_out": arrays.parameter((*lead, heads, side, width), at + 2),
                    "ff1": arrays.parameter((*lead, width, 2 * width), at),
                    "ff2": arrays.parameter((*lead, 2 * width, width), at)}

        def one_round():
            return {"cross": attention((), channels), "latent": attention((inner,), width)}
        params = {"latents": arrays.parameter((latents, width)), "first": one_round(), "again": one_round(),
                  "head": arrays.parameter((width, classes))}

        def look(p, x, seen):
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            q = jnp.einsum("bld,dhk->bhlk", centred(x, 1.0), p["to_q"])
            kv = jnp.einsum("bpc,cshk->sbhpk", seen, p["to_kv"])
            weights = jax.nn.softmax(jnp.einsum("bhlk,bhpk->bhlp", q, kv[0]) * side ** -0.5)
            x = x + jnp.einsum("bhlp,bhpk,hkd->bld", weights, kv[1], p["to_out"])
            return x + jax.nn.gelu(centred(x, 1.0) @ p["ff1"]) @ p["ff2"]

        def within(x, p):
            return look(p, x, centred(x, 1.0)), None

        def one(p, x, points):
            x = look(p["cross"], x, points)
            return jax.lax.scan(within, x, p["latent"])[0]

        def loss_fn(params, points, labels):
            seen = centred(points.astype(BF16), 1.0)
            x = jnp.broadcast_to(params["latents"].astype(BF16), (size, latents, width))
            for i in range(rounds):
                x = checkpointed(change, one)(params["again" if i else "first"], x, seen)
            return token_loss(jnp.mean(x, 1) @ params["head"].astype(BF16), labels)
        data = arrays.batch((size, points, channels), F32), arrays.batch((size,), jnp.int32)
        return trained(loss_fn, adafactor, params, adafactor_state(arrays, params), *data)
    return make


# --- Sequences of numbers and of words, over time ---

def token_shift(layers, width, hidden, vocabulary, batch, length):
    """Sums that decay, one step of time after the other, in a scan over layers; each word mixed with the one before."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def stacked(*shape):
            return arrays.parameter((layers, *shape), 1 if len(shape) > 1 else None)
        blocks = {"time": {n: stacked(width, width) for n in ("receptance", "key", "value", "output")},
                  "mix": {n: stacked(width) for n in ("r", "k", "v", "ffn")},
                  "decay": stacked(width), "bonus": stacked(width),
                  "ffn": {"key": stacked(width, hidden), "value": stacked(hidden, width),
                          "receptance": stacked(width, width)}}
        params = {"emb": arrays.parameter((vocabulary, width)), "blocks": blocks,
                  "head": arrays.parameter((width, vocabulary))}

        def shifted(x, share):
            before = jnp.pad(x, ((0, 0), (1, 0), (0, 0)))[:, :-1]
            return x * share + before * (1 - share)

        def remembered(k, v, decay, bonus):
            def tick(carry, kv):
                above, below, top = carry
                k, v = kv
                high = jnp.maximum(top, k + bonus)
                old, new = jnp.exp(top - high), jnp.exp(k + bonus - high)
                out = (old * above + new * v) / (old * below + new)
                high = jnp.maximum(top - decay, k)
                old, new = jnp.exp(top - decay - high), jnp.exp(k - high)
                return (old * above + new * v, old * below + new, high), out
            zero = jnp.zeros((size, width))
            kv = jax.tree.map(lambda t: jnp.moveaxis(t.astype(F32), 1, 0), (k, v))
            return jnp.moveaxis(jax.lax.scan(tick, (zero, zero, zero - 1e30), kv)[1], 0, 1)

        def block(x, p):
            mix = jax.tree.map(lambda m: m.astype(BF16), p["mix"])
            time, ffn = (jax.tree.map(lambda w: w.astype(BF16), p[n]) for n in ("time", "ffn"))
            h = centred(x, 1.0)
            k, v = shifted(h, mix["k"]) @ time["key"], shifted(h, mix["v"]) @ time["value"]
            decay, bonus = jnp.exp(p["decay"].astype(F32)), p["bonus"].astype(F32)
            seen = remembered(k, v, decay, bonus).astype(BF16)
            x = x + (jax.nn.sigmoid(shifted(h, mix["r"]) @ time["receptance"]) * seen) @ time["output"]
            h = shifted(centred(x, 1.0), mix["ffn"])
            grown = jnp.square(jax.nn.relu(h @ ffn["key"])) @ ffn["value"]
            return x + jax.nn.sigmoid(h @ ffn["receptance"]) * grown, None

        def loss_fn(params, ids):
            x = params["emb"][ids[:, :-1]].astype(BF16)
            x, _ = jax.lax.scan(checkpointed(change, block), x, params["blocks"])
            return token_loss(centred(x, 1.0) @ params["head"].astype(BF16), ids[:, 1:])
        return trained(loss_fn, lion, params, params, arrays.batch((size, length + 1), jnp.int32))
    return make


def convolved(x, kernel, dilation=1):
    """Of [batch, time, channels]: what comes after is not seen."""
    before = dilation * (kernel.shape[0] - 1)
    return jax.lax.conv_general_dilated(x, kernel, (1,), [(before, 0)], rhs_dilation=(dilation,),
                                        dimension_numbers=("NWC", "WIO", "NWC"))


def dilated_waves(cycles, dilations, channels, skipped, levels, hints, batch, length):
    """One-dimensional convolutions ever wider apart, gated, with hints at each step; sums that skip layers; float32."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def layer():
            return (arrays.parameter((2, channels, 2 * channels), 2), arrays.parameter((hints, 2 * channels), 1),
                    arrays.parameter((channels, channels)), arrays.parameter((channels, skipped)))
        params = {"causal": arrays.parameter((2, levels, channels), 2),
                  "dilated": [layer() for _ in range(cycles * dilations)],
                  "post": (arrays.parameter((skipped, skipped)), arrays.parameter((skipped, levels)))}
        waves, given = arrays.batch((size, length), jnp.int32), arrays.batch((size, length, hints), F32)

        def gated(weights, x, given, dilation):
            kernel, hint, onwards, skip = weights
            left, right = jnp.split(convolved(x, kernel, dilation) + given @ hint, 2, -1)
            h = jnp.tanh(left) * jax.nn.sigmoid(right)
            return x + h @ onwards, h @ skip

        def loss_fn(params, waves, given):
            params, given = in_float32(params), given.astype(F32)
            x, total = convolved(jax.nn.one_hot(waves, levels), params["causal"]), 0.0
            for i, weights in enumerate(params["dilated"]):
                one = functools.partial(gated, dilation=2 ** (i % dilations))
                x, skip = checkpointed(change, one)(weights, x, given)
                total = total + skip
            h = jax.nn.relu(jax.nn.relu(total) @ params["post"][0])
            return token_loss((h @ params["post"][1])[:, :-1], waves[:, 1:])
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), waves, given)
    return make


def spoken_frames(layers, width, heads, stem, bands, labels, reach, batch, frames):
    """Spectra through two strided convolutions, then attention biased by distance; one label for four frames."""
    side, steps = width // heads, frames // 4

    def make(arrays, change):
        size = batch // change.batch_divisor

        def layer():
            return {"qkv": arrays.parameter((3, width, width), 1), "o": arrays.parameter((width, width)),
                    "apart": arrays.parameter((heads, 2 * reach + 1), None),
                    "ff_in": arrays.parameter((width, 4 * width)), "ff_out": arrays.parameter((4 * width, width)),
                    "scale": arrays.parameter((2, width), None)}
        params = {"conv": [arrays.parameter((3, 3, 1, stem), 3), arrays.parameter((3, 3, stem, stem), 3)],
                  "project": arrays.parameter((bands // 4 * stem, width)), "layers": [layer() for _ in range(layers)],
                  "out": arrays.parameter((width, labels)), "out_bias": arrays.parameter((labels,), None)}

        def attend(p, x):
            q, k, v = (t.reshape(size, steps, heads, side) for t in jnp.einsum("btd,sde->sbte", x, p["qkv"]))
            far = jnp.clip(jnp.arange(steps)[None] - jnp.arange(steps)[:, None], -reach, reach) + reach
            scores = jnp.einsum("bqhe,bkhe->bhqk", q, k) * side ** -0.5 + p["apart"][:, far]
            weights = jax.nn.softmax(scores.astype(F32)).astype(BF16)
            return jnp.einsum("bhqk,bkhe->bqhe", weights, v).reshape(x.shape) @ p["o"]

        def block(p, x):
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            x = x + attend(p, centred(x, p["scale"][0]))
            return x + 0.5 * (jax.nn.silu(centred(x, p["scale"][1]) @ p["ff_in"]) @ p["ff_out"])

        def loss_fn(params, spectra, wanted):
            x = spectra[..., None].astype(BF16)
            for kernel in params["conv"]:
                x = jax.nn.relu(jax.lax.conv_general_dilated(x, kernel.astype(BF16), (2, 2), "SAME",
                                                             dimension_numbers=("NHWC", "HWIO", "NHWC")))
            x = x.reshape(size, steps, -1) @ params["project"].astype(BF16)
            for p in params["layers"]:
                x = checkpointed(change, block)(p, x)
            return token_loss(x @ params["out"].astype(BF16) + params["out_bias"].astype(BF16), wanted)
        data = arrays.batch((size, frames, bands), F32), arrays.batch((size, steps), jnp.int32)
        return trained(loss_fn, nesterov, params, params, *data)
    return make
