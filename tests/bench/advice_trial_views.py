"""Transformers that see: one whose channels look at each other, and a text tower beside a frozen tower of pictures.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_exam_libraries import as_kind, matrices_only, placed, trained, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_scenes import convolved
from advice_trial_sequences import cast, kind_of


def layer_normed(x, gain, shift):
    wide = x.astype(F32)
    mean = wide.mean(-1, keepdims=True)
    wide = (wide - mean) * jax.lax.rsqrt(jnp.square(wide - mean).mean(-1, keepdims=True) + 1e-6)
    return wide.astype(x.dtype) * gain + shift


def stacked(depth, **shapes):
    return shaped(**{name: (depth, *shape) for name, shape in shapes.items()})


# --- Channels that look at each other ---

def crossed_channels(depth, width, heads, patch, side, batch, classes=1000, kind=BF16):
    """XCiT: attention over channels, not places; small convolutions between; a class token reads all at the end."""
    across, head = side // patch, width // heads

    def make(arrays, change):
        import optax
        now, rows = kind_of(change, kind), batch // change.batch_divisor
        shapes = {"patches": shaped(kernel=(patch * patch * 3, width), bias=(width,)),
                  "places": shaped(table=(across * across, width)),
                  "scanned": stacked(depth, qkv=(width, 3 * width), qkv_bias=(3 * width,), heat=(heads, 1, 1),
                                     out=(width, width), taps_0=(3, 3, 1, width), taps_1=(3, 3, 1, width),
                                     up=(width, 4 * width), up_bias=(4 * width,), down=(4 * width, width),
                                     **{f"{part}_{i}": (width,) for part in ("gain", "shift", "scale")
                                        for i in range(3)}),
                  "reader": shaped(token=(width,), query=(width, width), key=(width, width), value=(width, width),
                                   out=(width, width), gain=(width,), shift=(width,)),
                  "classes": shaped(kernel=(width, classes), bias=(classes,))}

        def unit(x):
            return x * jax.lax.rsqrt(jnp.sum(jnp.square(x.astype(F32)), 1, keepdims=True) + 1e-6).astype(x.dtype)

        def block(x, p):
            size, places, _ = x.shape
            h = layer_normed(x, p["gain_0"], p["shift_0"]) @ p["qkv"] + p["qkv_bias"]
            query, key, value = (one.reshape(size, places, heads, head) for one in jnp.split(h, 3, -1))
            scores = jnp.einsum("bnhc,bnhd->bhcd", unit(query), unit(key)) * p["heat"]
            weights = jax.nn.softmax(scores.astype(F32)).astype(x.dtype)
            mixed = jnp.einsum("bhcd,bnhd->bnhc", weights, value).reshape(x.shape)
            x = x + p["scale_0"] * (mixed @ p["out"])
            h = layer_normed(x, p["gain_1"], p["shift_1"]).reshape(size, across, across, width)
            h = jax.nn.gelu(convolved(h, p["taps_0"], groups=width))
            x = x + p["scale_1"] * convolved(h, p["taps_1"], groups=width).reshape(x.shape)
            h = jax.nn.gelu(layer_normed(x, p["gain_2"], p["shift_2"]) @ p["up"] + p["up_bias"])
            return x + p["scale_2"] * (h @ p["down"]), None

        def read(p, x):
            x = layer_normed(x, p["gain"], p["shift"])
            query = (p["token"] @ p["query"]).reshape(heads, head)
            key, value = ((x @ p[name]).reshape(*x.shape[:2], heads, head) for name in ("key", "value"))
            weights = jax.nn.softmax(jnp.einsum("hd,bnhd->bhn", query, key).astype(F32) * head ** -0.5)
            return jnp.einsum("bhn,bnhd->bhd", weights.astype(x.dtype), value).reshape(-1, width) @ p["out"]

        def loss_of(params, pictures, labels):
            p = cast(params, now)
            x = pictures.astype(now).reshape(-1, across, patch, across, patch, 3).transpose(0, 1, 3, 2, 4, 5)
            x = x.reshape(x.shape[0], across * across, -1) @ p["patches"]["kernel"] + p["patches"]["bias"]
            x, _ = jax.lax.scan(maybe_checkpointed(change, block), x + p["places"]["table"], p["scanned"])
            logits = read(p["reader"], x) @ p["classes"]["kernel"] + p["classes"]["bias"]
            told = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            return optax.softmax_cross_entropy(logits.astype(F32), told).mean()
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(warmed_up(5e-4), weight_decay=0.05, mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((rows, side, side, 3), F32), arrays.batch((rows,), jnp.int32))
    return make


# --- Words that learn from a locked tower ---

def tower_shapes(depth, width):
    return stacked(depth, query=(width, width), key=(width, width), value=(width, width), out=(width, width),
                   up=(width, 4 * width), up_bias=(4 * width,), down=(4 * width, width), down_bias=(width,),
                   **{f"{part}_{i}": (width,) for part in ("gain", "shift") for i in range(2)})


def tower_block(x, p, heads, mask=None):
    size, length, width = x.shape
    h = layer_normed(x, p["gain_0"], p["shift_0"])
    query, key, value = ((h @ p[name]).reshape(size, length, heads, width // heads)
                         for name in ("query", "key", "value"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", query, key).astype(F32) / np.sqrt(width // heads).astype(np.float32)
    scores = scores if mask is None else jnp.where(mask[:, None, None, :], scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), value)
    x = x + mixed.reshape(x.shape) @ p["out"]
    h = jax.nn.gelu(layer_normed(x, p["gain_1"], p["shift_1"]) @ p["up"] + p["up_bias"])
    return x + h @ p["down"] + p["down_bias"]


def locked_pictures(images, texts, patch, side, vocabulary, length, batch, kind=BF16):
    """LiT: a tower of pictures stays as it was, one of words learns to agree with it; either (depth, width, heads).

    The frozen tower is stored as the one that learns is.
    """
    (image_depth, image_width, image_heads), (text_depth, text_width, text_heads) = images, texts
    places = (side // patch) ** 2

    def make(arrays, change):
        import optax
        now, rows = kind_of(change, kind), batch // change.batch_divisor
        frozen = {"patches": shaped(kernel=(patch * patch * 3, image_width), bias=(image_width,)),
                  "places": shaped(table=(places, image_width)), "scanned": tower_shapes(image_depth, image_width),
                  "last": shaped(gain=(image_width,), shift=(image_width,))}
        shapes = {"words": shaped(table=(vocabulary, text_width), places=(length, text_width)),
                  "scanned": tower_shapes(text_depth, text_width),
                  "last": shaped(gain=(text_width,), shift=(text_width,)),
                  "project": shaped(kernel=(text_width, image_width)), "heat": shaped(log=(), bias=())}

        def image_block(x, p):
            return tower_block(x, cast(p, now), image_heads), None

        def seen(frozen, pictures):
            across = side // patch
            x = (pictures.astype(now) / jnp.asarray(127.5, now) - 1).reshape(-1, across, patch, across, patch, 3)
            x = x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, places, patch * patch * 3)
            x = x @ frozen["patches"]["kernel"].astype(now) + frozen["patches"]["bias"].astype(now)
            x, _ = jax.lax.scan(image_block, x + frozen["places"]["table"].astype(now), frozen["scanned"])
            last = cast(frozen["last"], now)
            return layer_normed(x, last["gain"], last["shift"]).mean(1)

        def said(p, ids):
            mask = ids > 0

            def block(x, one):
                return tower_block(x, cast(one, now), text_heads, mask), None
            x = p["words"]["table"][ids].astype(now) + p["words"]["places"][:ids.shape[1]].astype(now)
            x, _ = jax.lax.scan(maybe_checkpointed(change, block), x, p["scanned"])
            last = cast(p["last"], now)
            return layer_normed(x[:, -1], last["gain"], last["shift"]) @ p["project"]["kernel"].astype(now)

        def loss_of(params, frozen, pictures, ids):
            def unit(x):
                x = x.astype(F32)
                return x * jax.lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-8)
            image, text = unit(jax.lax.stop_gradient(seen(frozen, pictures))), unit(said(params, ids))
            heat = {name: one.astype(F32) for name, one in params["heat"].items()}
            scores = text @ image.T * jnp.exp(heat["log"]) + heat["bias"]
            return (optax.softmax_cross_entropy_with_integer_labels(scores, jnp.arange(rows)).mean()
                    + optax.softmax_cross_entropy_with_integer_labels(scores.T, jnp.arange(rows)).mean()) / 2
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(warmed_up(1e-3), b2=0.95, weight_decay=1e-4, mask=matrices_only))
        return trained(arrays, change, shapes, loss_of, optimizer, placed(arrays, as_kind(frozen, change.stored)),
                       arrays.batch((rows, side, side, 3), jnp.uint8),
                       arrays.batch((rows, length // change.length_divisor), jnp.int32))
    return make
