"""Pictures, music, and words about pictures.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_field_families.py has the sizes.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, placed, random_key,
                                   trained, trained_with_statistics, warmed_up, word_loss)
from advice_field_decoders import attended, turned
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Noise ---

def waves(times, width):
    angles = times[:, None] * jnp.exp(-jnp.log(10000.0) * jnp.arange(width // 2) / (width // 2))
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)


def skipping_transformer(change, depth, width, heads, side, patch, channels, classes, kind):
    """U-ViT of linen: time and class are tokens, and each layer past the middle is joined by one before it."""
    from flax import linen as nn
    options = {"dtype": computed(change, kind)}

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x, skip=None):
            if skip is not None:
                x = nn.Dense(width, name="skip_linear", **options)(jnp.concatenate([x, skip], -1))
            h = nn.LayerNorm(name="norm1", **options)(x)
            q, k, v = jnp.split(nn.Dense(3 * width, use_bias=False, name="qkv", **options)(h), 3, -1)
            q, k, v = (t.reshape(*t.shape[:2], heads, -1) for t in (q, k, v))
            weights = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * q.shape[-1] ** -0.5)
            h = jnp.einsum("bhqk,bkhd->bqhd", weights.astype(v.dtype), v).reshape(x.shape)
            x = x + nn.Dense(width, name="proj", **options)(h)
            h = nn.gelu(nn.Dense(4 * width, name="fc1", **options)(nn.LayerNorm(name="norm2", **options)(x)))
            return x + nn.Dense(width, name="fc2", **options)(h)

    class UViT(nn.Module):
        @nn.compact
        def __call__(self, noisy, times, labels):
            b, cells = noisy.shape[0], side // patch
            x = noisy.reshape(b, cells, patch, cells, patch, channels).transpose(0, 1, 3, 2, 4, 5)
            x = nn.Dense(width, name="patch_embed", **options)(x.reshape(b, cells * cells, -1))
            time = nn.Dense(width, name="time_embed", **options)(waves(times, width))
            label = nn.Embed(classes + 1, width, name="label_embed", **options)(labels)
            x = jnp.concatenate([time[:, None], label[:, None], x], 1)
            x = x + self.param("pos_embed", nn.initializers.normal(0.02), x.shape[1:]).astype(x.dtype)
            block, skips = nn.remat(Block) if change.rematerialize else Block, []
            for i in range(depth // 2):
                x = block(name=f"in_{i}")(x)
                skips.append(x)
            x = block(name="mid")(x)
            for i in range(depth // 2):
                x = block(name=f"out_{i}")(x, skips.pop())
            x = nn.LayerNorm(name="norm", **options)(x)
            x = nn.Dense(patch * patch * channels, name="decoder_pred", **options)(x[:, 2:])
            x = x.reshape(b, cells, cells, patch, patch, channels).transpose(0, 1, 3, 2, 4, 5)
            return x.reshape(noisy.shape)
    return UViT()


def noise_by_skips(depth, width, heads, side, patch, batch, classes=1000, channels=4, kind=BF16):
    """Noise of latents is told at a time drawn for each, by AdamW with a slow second moment."""
    def make(arrays, change):
        import optax
        size = batch // change.batch_divisor
        model = skipping_transformer(change, depth, width, heads, side, patch, channels, classes, kind)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, side, side, channels)), jnp.zeros((1,)),
                                jnp.zeros((1,), jnp.int32))["params"]

        def loss_of(params, latents, labels, key):
            pick, draw, drop = jax.random.split(key, 3)
            times = jax.random.randint(pick, labels.shape, 0, 1000).astype(F32)
            kept = jnp.square(jnp.cos(times / 1000 * jnp.pi / 2))[:, None, None, None]
            noise = jax.random.normal(draw, latents.shape)
            noisy = jnp.sqrt(kept) * latents.astype(F32) + jnp.sqrt(1 - kept) * noise
            labels = jnp.where(jax.random.bernoulli(drop, 0.15, labels.shape), classes, labels)
            told = model.apply({"params": params}, noisy, times, labels)
            return jnp.mean(jnp.square(told.astype(F32) - noise))
        optimizer = optax.adamw(warmed_up(2e-4), b1=0.99, b2=0.99, weight_decay=0.03, mask=matrices_only)
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch((size, side, side, channels), F32),
                       arrays.batch((size,), jnp.int32), random_key(arrays))
    return make


# --- Pictures ---

def three_branches(change, counts, widths, stem, classes, kind):
    """RepVGG of linen as it is trained: a 3x3 and a 1x1 convolution and, where shapes allow, the input, each normed."""
    from flax import linen as nn
    options = {"dtype": computed(change, kind)}
    norm = functools.partial(nn.BatchNorm, use_running_average=False, momentum=0.9, **options)
    conv = functools.partial(nn.Conv, use_bias=False, **options)

    class Block(nn.Module):
        channels: int
        stride: int

        @nn.compact
        def __call__(self, x):
            y = norm(name="bn_3")(conv(self.channels, (3, 3), self.stride, name="conv_3")(x))
            y = y + norm(name="bn_1")(conv(self.channels, (1, 1), self.stride, name="conv_1")(x))
            if y.shape == x.shape:
                y = y + norm(name="bn_identity")(x)
            return nn.relu(y)

    class RepVGG(nn.Module):
        @nn.compact
        def __call__(self, x):
            block = nn.remat(Block) if change.rematerialize else Block
            x = block(stem, 2, name="stage0")(x.astype(options["dtype"]))
            for i, (count, channels) in enumerate(zip(counts, widths), 1):
                for j in range(count):
                    x = block(channels, 1 if j else 2, name=f"stage{i}_{j}")(x)
            return nn.Dense(classes, name="linear", **options)(x.mean((1, 2)))
    return RepVGG()


def branched_pictures(counts, widths, stem, side, batch, classes=1000, kind=BF16):
    """By momentum, with a cosine and decay of all matrices."""
    def make(arrays, change):
        import optax
        model, size = three_branches(change, counts, widths, stem, classes, kind), batch // change.batch_divisor
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, side, side, 3)))

        def loss_of(params, batch_stats, images, labels):
            logits, new = model.apply({"params": params, "batch_stats": batch_stats}, images, mutable=["batch_stats"])
            return word_loss(logits, labels), new["batch_stats"]
        optimizer = optax.chain(optax.add_decayed_weights(1e-4, matrices_only),
                                optax.sgd(optax.cosine_decay_schedule(0.1, 600000), momentum=0.9))
        images, labels = arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)
        return trained_with_statistics(arrays, change, shapes["params"], shapes["batch_stats"], loss_of, optimizer,
                                       images, labels)
    return make


# --- Words about pictures ---

def looked(p, x, seen, heads):
    """Attention of x to what is seen, [batch, time, width] both, with nothing hidden."""
    q, k, v = (y.reshape(*y.shape[:2], heads, -1) for y in (
        root_normed(x, p["norm_x"]) @ p["q"], *jnp.split(seen @ p["kv"], 2, -1)))
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * q.shape[-1] ** -0.5).astype(x.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape) @ p["o"]


def looking_shapes(lead, width):
    return {"q": (*lead, width, width), "kv": (*lead, width, 2 * width), "o": (*lead, width, width),
            "norm_x": (*lead, width), "norm_ff": (*lead, width), "w1": (*lead, width, 4 * width),
            "w2": (*lead, 4 * width, width)}


def units(p, x):
    return jax.nn.gelu(root_normed(x, p["norm_ff"]) @ p["w1"]) @ p["w2"]


def read_group(x, both, pictures, heads):
    """One gated look at the pictures, then the frozen layers of its group; gates start at nothing."""
    p, frozen = both
    x = x + jnp.tanh(p["gate_look"]) * looked(p, x, pictures, heads)
    x = x + jnp.tanh(p["gate_units"]) * units(p, x)

    def layer(x, w):
        q, k, v = (y.reshape(*y.shape[:2], heads, -1) for y in jnp.split(root_normed(x, w["norm_x"]) @ w["qkv"], 3, -1))
        x = x + attended(turned(q), turned(k), v) @ w["o"]
        return x + units(w, x), None
    return jax.lax.scan(layer, x, frozen)


def flamingo(groups, each, width, heads, vocab, latents, resampled, features, places, images, batch, length, kind=BF16):
    """Flamingo: frozen layers in bf16, a scan in a scan; looks at pictures, and what resamples them, are trained."""
    lead = groups, each
    layer = {"qkv": (*lead, width, 3 * width), "o": (*lead, width, width), "norm_x": (*lead, width),
             "norm_ff": (*lead, width), "w1": (*lead, width, 4 * width), "w2": (*lead, 4 * width, width)}

    def make(arrays, change):
        import optax
        b = batch // change.batch_divisor
        frozen = as_kind(shaped(words=(vocab, width), norm=(width,), scanned=layer), BF16)
        gates = {"gate_look": (groups, 1), "gate_units": (groups, 1)}
        tuned = shaped(scanned=looking_shapes((groups,), width) | gates, latents=(latents, width),
                       project=(features, width), frames=(images, width), last=(width,),
                       resampler={f"layer_{i}": looking_shapes((), width) for i in range(resampled)})
        group = maybe_checkpointed(change, functools.partial(read_group, heads=heads))

        def loss_of(tuned, frozen, seen, ids, said):
            t, w = as_kind((tuned, frozen), computed(change, kind))
            x = seen.astype(t["project"].dtype) @ t["project"] + t["frames"][:, None]
            x = x.reshape(x.shape[0], -1, width)
            few = jnp.broadcast_to(t["latents"], (x.shape[0], latents, width))
            for i in range(resampled):
                p = t["resampler"][f"layer_{i}"]
                few = few + looked(p, few, jnp.concatenate([x, few], 1), heads)
                few = few + units(p, few)
            few = root_normed(few, t["last"])
            x, _ = jax.lax.scan(lambda x, both: group(x, both, few), w["words"][ids], (t["scanned"], w["scanned"]))
            logits = root_normed(x, w["norm"]) @ w["words"].T
            return word_loss(logits[:, :-1], ids[:, 1:], said[:, 1:].astype(F32))
        rows = b, length // change.length_divisor
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(warmed_up(1e-4), weight_decay=0.1))
        return trained(arrays, change, tuned, loss_of, optimizer, placed(arrays, frozen),
                       arrays.batch((b, images, places, features), F32), arrays.batch(rows, jnp.int32),
                       arrays.batch(rows, jnp.bool_))
    return make


# --- Music ---

def skewed(scores):
    """[..., time, distance] -> [..., time, time]: what is known by distance is moved to where it belongs."""
    *lead, length, _ = scores.shape
    padded = jnp.pad(scores, [(0, 0)] * (len(lead) + 1) + [(1, 0)])
    return padded.reshape(*lead, length + 1, length)[..., 1:, :]


def music_layer(x, p, heads):
    b, t, width = x.shape
    q, k, v = (y.reshape(b, t, heads, -1).swapaxes(1, 2) for y in jnp.split(root_normed(x, p["norm_1"]) @ p["qkv"],
                                                                            3, -1))
    far = skewed(jnp.einsum("bhtd,hsd->bhts", q, p["distances"]))
    scores = ((q @ k.swapaxes(-1, -2) + far) * q.shape[-1] ** -0.5).astype(F32)
    scores = jnp.where(jnp.tri(t, dtype=bool), scores, jnp.finfo(F32).min)
    mixed = jax.nn.softmax(scores).astype(x.dtype) @ v
    x = x + mixed.swapaxes(1, 2).reshape(b, t, width) @ p["out"]
    return x + jax.nn.relu(root_normed(x, p["norm_2"]) @ p["fc1"] + p["fc1_b"]) @ p["fc2"], None


def played_notes(layers, width, heads, hidden, vocab, batch, length, kind=F32):
    """Music Transformer: a vector for each distance and head, on long rows of events; layers in a scan."""
    def make(arrays, change):
        time = length // change.length_divisor
        stack = {"qkv": (layers, width, 3 * width), "out": (layers, width, width), "fc1": (layers, width, hidden),
                 "fc1_b": (layers, hidden), "fc2": (layers, hidden, width), "norm_1": (layers, width),
                 "norm_2": (layers, width), "distances": (layers, heads, time, width // heads)}
        shapes = shaped(events=(vocab, width), norm=(width,), head=(width, vocab), layer_stack=stack)
        layer = maybe_checkpointed(change, functools.partial(music_layer, heads=heads))

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(layer, p["events"][ids], p["layer_stack"])
            return next_word_loss(root_normed(x, p["norm"]) @ p["head"], ids)
        ids = arrays.batch((batch // change.batch_divisor, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(1e-4), ids)
    return make
