"""Swin-B learns ImageNet: attention within windows that shift, over four levels that halve the picture.

In haiku. Blocks come in pairs (a plain window, a shifted one); the nine pairs of the third level are one layer_stack.
Stochastic depth grows with depth, pictures and labels are mixed, and a bfloat16 copy of the weights computes.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

INIT = hk.initializers.TruncatedNormal(0.02)


def layer_norm(x, name):
    return hk.LayerNorm(-1, True, True, eps=1e-5, name=name)(x)


def relative_index(window):
    """For each pair of places in a window, the row of the table of biases."""
    grid = np.stack(np.meshgrid(np.arange(window), np.arange(window), indexing="ij")).reshape(2, -1)
    apart = grid[:, :, None] - grid[:, None, :] + window - 1
    return apart[0] * (2 * window - 1) + apart[1]


def shift_mask(side, window, shift):
    """[windows, places, places]: what came together only because the picture was rolled may not be seen."""
    regions = np.zeros((side, side), np.int32)
    cuts = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
    for i, rows in enumerate(cuts):
        for j, columns in enumerate(cuts):
            regions[rows, columns] = 3 * i + j
    count = side // window
    regions = regions.reshape(count, window, count, window).transpose(0, 2, 1, 3).reshape(count * count, -1)
    return np.where(regions[:, :, None] == regions[:, None, :], 0.0, -100.0).astype(np.float32)


def to_windows(x, window):
    b, h, w, c = x.shape
    x = x.reshape(b, h // window, window, w // window, window, c)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, window * window, c)


def from_windows(x, window, side):
    count = side // window
    x = x.reshape(-1, count, count, window, window, x.shape[-1])
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, side, side, x.shape[-1])


def drop_path(x, rate):
    keep = jax.random.bernoulli(hk.next_rng_key(), 1 - rate, (x.shape[0], 1, 1, 1))
    return x * (keep / (1 - rate)).astype(x.dtype)


class WindowAttention(hk.Module):
    def __init__(self, heads, window, name=None):
        super().__init__(name)
        self.heads, self.window = heads, window

    def __call__(self, x, mask=None):
        count, places, width = x.shape
        qkv = hk.Linear(3 * width, w_init=INIT, name="qkv")(x)
        q, k, v = jnp.moveaxis(qkv.reshape(count, places, 3, self.heads, width // self.heads), 2, 0)
        logits = jnp.einsum("nqhd,nkhd->nhqk", q * (width // self.heads) ** -0.5, k)
        table = hk.get_parameter("relative_bias", ((2 * self.window - 1) ** 2, self.heads), init=INIT)
        bias = table[relative_index(self.window)].transpose(2, 0, 1)
        logits = logits + bias.astype(logits.dtype)
        if mask is not None:
            apart = logits.reshape(-1, mask.shape[0], self.heads, places, places)
            logits = (apart + mask[:, None].astype(logits.dtype)).reshape(logits.shape)
        mixed = jnp.einsum("nhqk,nkhd->nqhd", jax.nn.softmax(logits), v)
        return hk.Linear(width, w_init=INIT, name="proj")(mixed.reshape(x.shape))


class SwinBlock(hk.Module):
    def __init__(self, heads, window, shift, name=None):
        super().__init__(name)
        self.heads, self.window, self.shift = heads, window, shift

    def __call__(self, x, rate):
        side, width = x.shape[1], x.shape[-1]
        window, shift = (side, 0) if side <= self.window else (self.window, self.shift)
        h = layer_norm(x, "norm1")
        h = jnp.roll(h, (-shift, -shift), (1, 2)) if shift else h
        mask = shift_mask(side, window, shift) if shift else None
        h = WindowAttention(self.heads, window, name="attn")(to_windows(h, window), mask)
        h = from_windows(h, window, side)
        h = jnp.roll(h, (shift, shift), (1, 2)) if shift else h
        x = x + drop_path(h, rate)
        h = jax.nn.gelu(hk.Linear(4 * width, w_init=INIT, name="fc1")(layer_norm(x, "norm2")), approximate=False)
        return x + drop_path(hk.Linear(width, w_init=INIT, name="fc2")(h), rate)


def merge_patches(x, name):
    b, h, w, c = x.shape
    x = x.reshape(b, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 4, 2, 5).reshape(b, h // 2, w // 2, 4 * c)
    return hk.Linear(2 * c, with_bias=False, w_init=INIT, name=name)(layer_norm(x, f"{name}_norm"))


def swin(images, depths, width, heads, window, max_rate, classes, remat):
    x = hk.Conv2D(width, 4, 4, padding="VALID", w_init=INIT, name="patch_embed")(images)
    x = layer_norm(x, "patch_norm")
    rates = np.linspace(0, max_rate, sum(depths)).astype(np.float32)
    for level, depth in enumerate(depths):
        if level:
            x = merge_patches(x, f"merge_{level}")

        def pair(x, rate, level=level):
            x = SwinBlock(heads[level], window, 0, name=f"level_{level}_plain")(x, rate[0])
            return SwinBlock(heads[level], window, window // 2, name=f"level_{level}_shifted")(x, rate[1]), None
        begun = sum(depths[:level])
        its_rates = jnp.asarray(rates[begun:begun + depth].reshape(-1, 2))
        if depth == 2:
            x = remat(lambda x, rate: pair(x, rate)[0])(x, its_rates[0])
        else:
            stack = hk.layer_stack(depth // 2, with_per_layer_inputs=True, name=f"level_{level}_pairs")
            x, _ = stack(remat(pair))(x, its_rates)
    x = layer_norm(x, "norm").mean((1, 2))
    return hk.Linear(classes, w_init=INIT, name="head")(x).astype(F32)


def is_decayed(params):
    return hk.data_structures.map(lambda _, name, value: value.ndim > 1 and name != "relative_bias", params)


def swin_imagenet(depths, width, heads, window, batch, size=224, classes=1000, max_rate=0.5, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)

        def remat(block):
            return hk.remat(block, policy=checkpoint_policy(change)) if change.rematerialize else block
        network = hk.transform(lambda images: swin(images, depths, width, heads, window, max_rate, classes, remat))
        shapes = jax.eval_shape(network.init, jax.random.key(0), jnp.zeros((2, size, size, 3)))
        params = cast(shapes, change.stored)
        stacks = {name: 0 for name in shapes if "_pairs" in name}
        schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 20 * 1251, 300 * 1251, 1e-5)
        optimizer = optax.chain(optax.clip_by_global_norm(5.0),
                                optax.adamw(schedule, weight_decay=0.05, mask=is_decayed))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, images, labels):
            mix_key, depth_key = jax.random.split(key)
            lam = jax.random.beta(mix_key, 0.8, 0.8)
            targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            images = (lam * images + (1 - lam) * images[::-1]).astype(now)
            targets = lam * targets + (1 - lam) * targets[::-1]
            logits = network.apply(cast(params, now), depth_key, images)
            loss = -jnp.mean(jnp.sum(targets * jax.nn.log_softmax(logits), axis=-1))
            return loss, jnp.mean(jnp.argmax(logits, -1) == labels)

        def update(params, opt_state, key, images, labels):
            loss, accuracy, grads = summed_slopes(loss_fn, change.parts)(params, key, images, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"train_loss": loss, "train_accuracy": accuracy.mean()}

        return update, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), raw_key(arrays),
                        arrays.batch((rows, size, size, 3), F32), arrays.batch((rows,), jnp.int32)), (0, 1)
    return make


FAMILY = {"round_swin": dict(
    make=swin_imagenet((2, 2, 18, 2), 128, (4, 8, 16, 32), 7, batch=192), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
