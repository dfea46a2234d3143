"""Pictures, words over time and long sequences in usual sizes: networks of convolutions, noise, gates and scores.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, placed, random_key,
                                   trained, trained_with_statistics, warmed_up, word_loss)
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_typical import standardized
from advice_typical_words import rope


# --- Convolutions ---

def darknet(change, counts, first, classes, kind):
    """YOLO's backbone in linen: a narrow convolution and a wide one in each block, and stages of several lengths."""
    from flax import linen as nn
    now = computed(change, kind)

    class ConvNorm(nn.Module):
        features: int
        size: int
        stride: int = 1

        @nn.compact
        def __call__(self, x):
            x = nn.Conv(self.features, (self.size, self.size), self.stride, use_bias=False, dtype=now, name="conv")(x)
            x = nn.BatchNorm(use_running_average=False, momentum=0.97, dtype=now, name="bn")(x)
            return nn.leaky_relu(x, 0.1)

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            y = ConvNorm(x.shape[-1] // 2, 1, name="narrow")(x)
            return x + ConvNorm(x.shape[-1], 3, name="wide")(y)

    class Darknet(nn.Module):
        @nn.compact
        def __call__(self, x):
            block = nn.remat(Block) if change.rematerialize else Block
            x = ConvNorm(first, 3, name="stem")(x.astype(now))
            for i, count in enumerate(counts):
                x = ConvNorm(first * 2 ** (i + 1), 3, 2, name=f"down_{i}")(x)
                for j in range(count):
                    x = block(name=f"stage_{i}_{j}")(x)
            return nn.Dense(classes, dtype=now, name="fc")(x.mean((1, 2)))
    return Darknet()


def darknet_pictures(counts, first, side, batch, classes=1000, kind=BF16):
    """By momentum, with labels smoothed."""
    def make(arrays, change):
        import optax
        model, size = darknet(change, counts, first, classes, kind), batch // change.batch_divisor
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, side, side, 3)))

        def loss_of(params, batch_stats, images, labels):
            logits, new = model.apply({"params": params, "batch_stats": batch_stats}, images, mutable=["batch_stats"])
            wanted = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            return optax.softmax_cross_entropy(logits.astype(F32), wanted).mean(), new["batch_stats"]
        optimizer = optax.chain(optax.add_decayed_weights(5e-4, matrices_only),
                                optax.sgd(warmed_up(0.1), momentum=0.9))
        return trained_with_statistics(arrays, change, shapes["params"], shapes["batch_stats"], loss_of, optimizer,
                                       arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32))
    return make


# --- Noise ---

def unscaled_norm(x):
    wide = x.astype(F32)
    mean = wide.mean(-1, keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(wide.var(-1, keepdims=True) + 1e-6)).astype(x.dtype)


def two_streams(carry, p, when, heads):
    """MMDiT: words and patches have weights of their own, and look at each other in one attention."""
    mods = {name: jnp.split(jax.nn.silu(when) @ p[name]["mod"] + p[name]["mod_b"], 6, -1) for name in carry}
    qkv = {}
    for name, x in carry.items():
        shift, scale = mods[name][0], mods[name][1]
        h = unscaled_norm(x) * (1 + scale[:, None]) + shift[:, None]
        qkv[name] = (h @ p[name]["qkv"] + p[name]["qkv_b"]).reshape(*x.shape[:2], 3, heads, -1)
    joined = jnp.concatenate(list(qkv.values()), axis=1)
    mixed = jax.nn.dot_product_attention(joined[:, :, 0], joined[:, :, 1], joined[:, :, 2])
    mixed = mixed.reshape(*joined.shape[:2], -1)
    made, start = {}, 0
    for name, x in carry.items():
        _, _, gate, shift, scale, last = mods[name]
        own = jax.lax.slice_in_dim(mixed, start, start + x.shape[1], axis=1)
        x = x + gate[:, None] * (own @ p[name]["proj"])
        h = unscaled_norm(x) * (1 + scale[:, None]) + shift[:, None]
        made[name] = x + last[:, None] * (jax.nn.gelu(h @ p[name]["fc1"]) @ p[name]["fc2"])
        start += x.shape[1]
    return made


def two_streams_shapes(depth, width):
    one = {"mod": (depth, width, 6 * width), "mod_b": (depth, 6 * width), "qkv": (depth, width, 3 * width),
           "qkv_b": (depth, 3 * width), "proj": (depth, width, width), "fc1": (depth, width, 4 * width),
           "fc2": (depth, 4 * width, width)}
    return {"text": one, "image": one}


def waves(when, size):
    angles = 1000 * when[:, None] * jnp.exp(-9.21 * jnp.arange(size // 2) / (size // 2))
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)


def flow_of_latents(depth, width, heads, side, channels, patch, words, word_width, batch, kind=BF16):
    """Rectified flow of latents by text, as Stable Diffusion 3 is trained; an average of the weights beside them."""
    def make(arrays, change):
        import optax
        size, now, across = batch // change.batch_divisor, computed(change, kind), side // patch
        flat = patch * patch * channels
        shapes = shaped(x_in=(flat, width), x_out=(width, flat), places=(across ** 2, width),
                        text_in=(word_width, width), when_1=(256, width), when_2=(width, width),
                        pooled_in=(word_width, width), layer_stack=two_streams_shapes(depth, width))
        params, optimizer = as_kind(shapes, change.stored), optax.adamw(1e-4, weight_decay=0.0)
        block = maybe_checkpointed(change, functools.partial(two_streams, heads=heads))

        def speed_of(params, mixed, text, when):
            p = as_kind(params, now)
            x = mixed.astype(now).reshape(size, across, patch, across, patch, channels)
            x = x.transpose(0, 1, 3, 2, 4, 5).reshape(size, across ** 2, flat)
            text = text.astype(now)
            known = jax.nn.silu(waves(when, 256).astype(now) @ p["when_1"]) @ p["when_2"]
            known = known + text.mean(1) @ p["pooled_in"]
            streams = {"text": text @ p["text_in"], "image": x @ p["x_in"] + p["places"]}
            streams, _ = jax.lax.scan(lambda s, w: (block(s, w, known), None), streams, p["layer_stack"])
            x = unscaled_norm(streams["image"]) @ p["x_out"]
            x = x.reshape(size, across, across, patch, patch, channels).transpose(0, 1, 3, 2, 4, 5)
            return x.reshape(mixed.shape).astype(F32)

        def loss_of(params, latents, text, key):
            first, second = jax.random.split(key)
            noise = jax.random.normal(first, latents.shape)
            when = jax.nn.sigmoid(jax.random.normal(second, (size,)))
            share = when[:, None, None, None]
            latents = latents.astype(F32)
            made = speed_of(params, (1 - share) * latents + share * noise, text, when)
            return jnp.mean(jnp.square(made - (noise - latents)))

        def train_step(params, average, state, latents, text, key):
            loss, grads = jax.value_and_grad(loss_of)(params, latents, text, key)
            updates, state = optimizer.update(grads, state, params)
            params = optax.apply_updates(params, updates)
            average = jax.tree.map(lambda a, p: (0.9999 * a + 0.0001 * p).astype(a.dtype), average, params)
            return params, average, state, loss
        state = jax.eval_shape(optimizer.init, params)
        batches = arrays.batch((size, side, side, channels), F32), arrays.batch((size, words, word_width), F32)
        return train_step, (placed(arrays, params), placed(arrays, params), placed(arrays, state), *batches,
                            random_key(arrays)), (0, 1, 2)
    return make


# --- Scores, more than all else ---

def bases_layer(p, x, heads):
    """Attention in both directions, all of it in float32 or in what the weights are."""
    b, t, width = x.shape
    h = standardized(x, p["ln_1"])
    q, k, v = ((h @ p[name]).reshape(b, t, heads, width // heads) for name in ("query", "key", "value"))
    pos = jnp.arange(t, dtype=F32)
    scores = jnp.einsum("bqhd,bkhd->bhqk", rope(q, pos), rope(k, pos)) / (width // heads) ** 0.5
    probs = jax.nn.softmax(scores.astype(F32), axis=-1)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", probs.astype(x.dtype), v).reshape(b, t, width) @ p["output"]
    h = standardized(x, p["ln_2"])
    return x + jax.nn.gelu(h @ p["wi"] + p["wi_b"]) @ p["wo"] + p["wo_b"]


def masked_bases(layers, width, heads, kmers, batch, length, kind=F32):
    """An encoder of DNA in k-mers, long and narrow; masked ones are said."""
    def make(arrays, change):
        norm = {"scale": (width,), "bias": (width,)}
        layer = {name: (width, width) for name in ("query", "key", "value", "output")}
        layer |= {"ln_1": norm, "ln_2": norm, "wi": (width, 4 * width), "wi_b": (4 * width,), "wo": (4 * width, width),
                  "wo_b": (width,)}
        shapes = shaped(kmers=(kmers, width), ln=norm, **{f"layer_{i}": layer for i in range(layers)})

        def loss_of(params, ids, labels):
            p = as_kind(params, computed(change, kind))
            x = p["kmers"][ids]
            for i in range(layers):
                x = maybe_checkpointed(change, functools.partial(bases_layer, heads=heads))(p[f"layer_{i}"], x)
            logits = standardized(x, p["ln"]) @ p["kmers"].T
            return word_loss(logits, jnp.maximum(labels, 0), (labels >= 0).astype(F32))
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(5e-4), ids, ids)
    return make


# --- Gates over time ---

def exponential_cell(weights, carry, given):
    """sLSTM: gates are exponents, held back by the largest so far; a head's outputs come back to that head only."""
    c, n, m, h = carry
    i, f, z, o = jnp.split(given + jnp.einsum("bhd,hdg->bhg", h, weights), 4, -1)
    f = jax.nn.log_sigmoid(f)
    top = jnp.maximum(f + m, i)
    enter, stay = jnp.exp(i - top), jnp.exp(f + m - top)
    c, n = stay * c + enter * jnp.tanh(z), stay * n + enter
    h = jax.nn.sigmoid(o) * c / jnp.maximum(n, 1e-6)
    return (c, n, top, h), h


def exponential_block(p, x, heads):
    b, t, width = x.shape
    given = standardized(x, p["ln_1"]) @ p["gates"] + p["gates_b"]
    given = given.reshape(b, t, heads, -1).swapaxes(0, 1)
    zeros = jnp.zeros((b, heads, width // heads), x.dtype)
    _, h = jax.lax.scan(functools.partial(exponential_cell, p["again"]), (zeros,) * 4, given)
    x = x + h.swapaxes(0, 1).reshape(b, t, width) @ p["leave"]
    h = standardized(x, p["ln_2"])
    return x + (jax.nn.gelu(h @ p["up_1"]) * (h @ p["up_2"])) @ p["down"]


def words_of_xlstm(layers, width, heads, vocab, batch, length, kind=F32):
    """sLSTM blocks, as wide as what they read, that say the next word."""
    def make(arrays, change):
        norm, hidden = {"scale": (width,), "bias": (width,)}, 64 * round(width * 4 / 3 / 64)
        block = {"ln_1": norm, "ln_2": norm, "gates": (width, 4 * width), "gates_b": (4 * width,),
                 "again": (heads, width // heads, 4 * width // heads), "leave": (width, width),
                 "up_1": (width, hidden), "up_2": (width, hidden), "down": (hidden, width)}
        shapes = shaped(embedding=(vocab, width), ln=norm, **{f"block_{i}": block for i in range(layers)})
        run = maybe_checkpointed(change, functools.partial(exponential_block, heads=heads))

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            x = p["embedding"][ids]
            for i in range(layers):
                x = run(p[f"block_{i}"], x)
            return next_word_loss(standardized(x, p["ln"]) @ p["embedding"].T, ids)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained(arrays, change, shapes, loss_of, clipped_adamw(1e-3), ids)
    return make
