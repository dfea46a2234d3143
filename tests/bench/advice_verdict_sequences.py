"""Words through many gates, chatty answers, relations that are followed, bases of a genome, as others write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_verdict_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, matrices_only, model_of, placed, random_key, trained, warmed_up,
                                   word_loss)
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_sequences import cast, kind_of


# --- A recurrent net ---

def mogrified_words(layers, width, rounds, rank, vocabulary, batch, length, kind=F32):
    """A Mogrifier LSTM: what is read and what is kept gate each other, by thin matrices, before each cell; forgetting
    and writing share a gate. All layers go in one scan over time; the table of words is the head too."""
    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        shapes = {"words": shaped(table=(vocabulary, width), bias=(vocabulary,)),
                  "cells": [shaped(read=(width, 3 * width), kept=(width, 3 * width), bias=(3 * width,),
                                   thin=(rounds, width, rank), back=(rounds, rank, width), tilt=(rounds, width))
                            for _ in range(layers)]}

        def cell(p, x, hidden, memory):
            for i in range(rounds):
                told = hidden if i % 2 == 0 else x
                gate = 2 * jax.nn.sigmoid(told @ p["thin"][i] @ p["back"][i] + p["tilt"][i])
                x, hidden = (x * gate, hidden) if i % 2 == 0 else (x, hidden * gate)
            forget, made, out = jnp.split(x @ p["read"] + hidden @ p["kept"] + p["bias"], 3, -1)
            forget = jax.nn.sigmoid(forget + 1)
            memory = forget * memory + (1 - forget) * jnp.tanh(made)
            return jax.nn.sigmoid(out) * jnp.tanh(memory), memory

        def loss_of(params, ids):
            p = cast(params, now)

            def word(states, x):
                new = []
                for one, (hidden, memory) in zip(p["cells"], states):
                    x, memory = cell(one, x, hidden, memory)
                    new.append((x, memory))
                return new, x
            start = [(jnp.zeros((ids.shape[0], width), now),) * 2 for _ in range(layers)]
            _, made = jax.lax.scan(maybe_checkpointed(change, word), start, p["words"]["table"][ids[:, :-1].T])
            return word_loss(made @ p["words"]["table"].T + p["words"]["bias"], ids[:, 1:].T)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adamw(3e-3, b1=0.0, weight_decay=1e-4,
                                                                             mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((rows, time + 1), jnp.int32))
    return make


# --- A model of transformers ---

def chatty_answers(config, batch, said, answered, kind=BF16):
    """Blenderbot: few layers read what was said, many answer; both are padded, and what was dull is unlearnt: words
    that were said before in an answer are held down beside the loss of the right ones."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxBlenderbotForConditionalGeneration", kind, config, "FlaxBlenderbotEncoderLayer",
                         "FlaxBlenderbotDecoderLayer")
        rows = batch // change.batch_divisor
        texts, answers = (arrays.batch((rows, count // change.length_divisor), jnp.int32)
                          for count in (said, answered))

        def loss_of(params, texts, mask, before, answers, key):
            logits = model(texts, mask, before, params=params, dropout_rng=key, train=True).logits
            there = (answers > 0).astype(F32)
            logs = jax.nn.log_softmax(logits.astype(F32))
            last = jnp.take_along_axis(logs, before[..., None], -1)[..., 0]
            again = -jnp.log(jnp.maximum(1 - jnp.exp(last), 1e-5)) * (before != answers)
            return word_loss(logits, answers, there) + 0.25 * jnp.sum(again * there) / there.sum()
        optimizer = optax.chain(optax.clip_by_global_norm(0.1), optax.adamw(warmed_up(7e-6), mask=matrices_only))
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, texts, texts, answers, answers,
                       random_key(arrays))
    return make


# --- Relations that are followed ---

def tower_of(depth, width, vocabulary):
    return {"words": shaped(table=(vocabulary, width), places=(512, width), gain=(width,), shift=(width,)),
            "scanned": shaped(qkv=(depth, width, 3 * width), qkv_bias=(depth, 3 * width), out=(depth, width, width),
                              out_bias=(depth, width), up=(depth, width, 4 * width), up_bias=(depth, 4 * width),
                              down=(depth, 4 * width, width), down_bias=(depth, width), gain=(depth, 2, width),
                              shift=(depth, 2, width))}


def followed_relations(teacher, student, relations, vocabulary, batch, length, kind=F32):
    """MiniLM 2: how alike queries, keys and values of any two words are in the teacher, which stays as it is in
    bfloat16, is followed by the student's last layer, in more heads than either has; both are (depth, width, heads)."""
    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        rows, words = batch // change.batch_divisor, length // change.length_divisor

        def normed(x, gain, shift):
            wide = x.astype(F32)
            wide = wide - wide.mean(-1, keepdims=True)
            wide = wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-12)
            return wide.astype(x.dtype) * gain + shift

        def layer(p, x, mask, heads):
            query, key, value = (one.reshape(*x.shape[:2], heads, -1)
                                 for one in jnp.split(x @ p["qkv"] + p["qkv_bias"], 3, -1))
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, key).astype(F32) * query.shape[-1] ** -0.5
            weights = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -1e9), -1).astype(x.dtype)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(x.shape)
            x = normed(x + mixed @ p["out"] + p["out_bias"], p["gain"][0], p["shift"][0])
            h = jax.nn.gelu(x @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]
            return normed(x + h, p["gain"][1], p["shift"][1])

        def last_of(p, ids, mask, heads, is_trained):
            """Queries, keys and values of the last layer, whose other parts nobody needs."""
            def one_layer(one, x):
                return layer(one, x, mask, heads)
            block = maybe_checkpointed(change, one_layer) if is_trained else one_layer
            first = p["words"]["table"][ids] + p["words"]["places"][:ids.shape[1]]
            first = normed(first, p["words"]["gain"], p["words"]["shift"])
            x, _ = jax.lax.scan(lambda x, one: (block(one, x), None), first,
                                jax.tree.map(lambda leaf: leaf[:-1], p["scanned"]))
            last = jax.tree.map(lambda leaf: leaf[-1], p["scanned"])
            return jnp.split(x @ last["qkv"] + last["qkv_bias"], 3, -1)

        def alike(x, mask):
            x = x.reshape(*x.shape[:2], relations, -1)
            scores = jnp.einsum("bqhd,bkhd->bhqk", x, x).astype(F32) * x.shape[-1] ** -0.5
            return jax.nn.log_softmax(jnp.where(mask[:, None, None], scores, -1e9), -1)

        def loss_of(params, frozen, ids):
            mask, total = ids > 0, 0
            told = jax.lax.stop_gradient(last_of(frozen, ids, mask, teacher[2], False))
            made = last_of(cast(params, now), ids, mask, student[2], True)
            for one, other in zip(made, told):
                right = alike(other, mask)
                lost = jnp.sum(jnp.exp(right) * (right - alike(one, mask)), -1)
                total = total + jnp.sum(lost * mask[:, None]) / (relations * jnp.sum(mask))
            return total
        optimizer = optax.adamw(warmed_up(6e-4), b2=0.98, weight_decay=0.01, mask=matrices_only)
        frozen = placed(arrays, as_kind(tower_of(*teacher[:2], vocabulary), BF16))
        return trained(arrays, change, tower_of(*student[:2], vocabulary), loss_of, optimizer, frozen,
                       arrays.batch((rows, words), jnp.int32))
    return make


# --- Bases of a genome ---

def tracks_of_bases(widths, narrow, reaches, crop, wide, tracks, batch, bases, kind=F32):
    """Basenji 2: convolutions and maxima down to bins of 128 bases, residual ones that reach further and further, and
    thousands of tracks for each bin in the middle, whose counts are Poisson's."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        count = bases // change.length_divisor

        def unit(taps, before, after):
            return {"conv": (taps, before, after), "gain": (after,), "shift": (after,)}
        last = widths[-1]
        shapes = {"down": [], "far": [shaped(near=unit(3, last, narrow), back=unit(1, narrow, last)) for _ in reaches],
                  "late": shaped(**unit(1, last, wide)), "head": shaped(w=(wide, tracks), b=(tracks,))}
        for i, (before, after) in enumerate(zip((4, *widths), widths)):
            shapes["down"].append(shaped(**unit(15 if i == 0 else 5, before, after)))

        def done(p, x, reach=1):
            x = jax.lax.conv_general_dilated(jax.nn.gelu(x), p["conv"], (1,), "SAME", rhs_dilation=(reach,),
                                             dimension_numbers=("NWC", "WIO", "NWC"))
            mean = x.astype(F32).mean((0, 1))
            spread = jnp.square(x.astype(F32) - mean).mean((0, 1))
            return (x - mean.astype(now)) * (jax.lax.rsqrt(spread + 1e-3).astype(now) * p["gain"]) + p["shift"]

        def halved(p, x):
            return jax.lax.reduce_window(done(p, x), -jnp.inf, jax.lax.max, (1, 2, 1), (1, 2, 1), "SAME")

        def loss_of(params, letters, counts):
            p, x = cast(params, now), jax.nn.one_hot(letters, 4, dtype=now)
            for one in p["down"]:
                x = maybe_checkpointed(change, halved)(one, x)
            for one, reach in zip(p["far"], reaches):
                def further(p, x, reach=reach):
                    return x + done(p["back"], done(p["near"], x, reach))
                x = maybe_checkpointed(change, further)(one, x)
            x = jax.nn.gelu(done(p["late"], x[:, crop:x.shape[1] - crop]))
            told = jax.nn.softplus((x @ p["head"]["w"] + p["head"]["b"]).astype(F32))
            counts = counts.astype(F32)
            return (told - counts * jnp.log(told + 1e-6)).mean()
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.15, momentum=0.99))
        bins = count // 2 ** len(widths) - 2 * crop
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((size, count), jnp.int32),
                                arrays.batch((size, bins, tracks), F32))
    return make
