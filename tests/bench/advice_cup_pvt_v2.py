"""PVT v2 (B2) on ImageNet: a pyramid of four stages whose attention reads keys of a reduced picture.

Flax linen: overlapping patch embeddings, attention with spatial reduction by a strided convolution, a depthwise
convolution inside each feed-forward, stochastic depth. Weights are float32, computation is bfloat16; AdamW, mixup
within the step. The train state is donated.
"""
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

from advice_board_changes import laid_out, matrices_only, raw_key, summed_slopes
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

trunc = nn.initializers.truncated_normal(0.02)


class SpatialReductionAttention(nn.Module):
    heads: int
    reduction: int
    dtype: Any

    @nn.compact
    def __call__(self, x):
        b, h, w, c = x.shape
        queries = nn.Dense(c, kernel_init=trunc, dtype=self.dtype, name="q")(x).reshape(b, h * w, self.heads, -1)
        y = x
        if self.reduction > 1:
            r = self.reduction
            y = nn.Conv(c, (r, r), strides=(r, r), padding="VALID", dtype=self.dtype, name="sr")(y)
            y = nn.LayerNorm(dtype=self.dtype, name="sr_norm")(y)
        kv = nn.Dense(2 * c, kernel_init=trunc, dtype=self.dtype, name="kv")(y).reshape(b, -1, 2, self.heads,
                                                                                       c // self.heads)
        out = nn.dot_product_attention(queries, kv[:, :, 0], kv[:, :, 1], dtype=self.dtype)
        return nn.Dense(c, kernel_init=trunc, dtype=self.dtype, name="proj")(out.reshape(b, h, w, c))


class ConvFeedForward(nn.Module):
    ratio: int
    dtype: Any

    @nn.compact
    def __call__(self, x):
        c = x.shape[-1]
        hidden = c * self.ratio
        y = nn.Dense(hidden, kernel_init=trunc, dtype=self.dtype, name="fc1")(x)
        y = nn.Conv(hidden, (3, 3), feature_group_count=hidden, dtype=self.dtype, name="dwconv")(y)
        return nn.Dense(c, kernel_init=trunc, dtype=self.dtype, name="fc2")(nn.gelu(y))


class DropPath(nn.Module):
    rate: float

    @nn.compact
    def __call__(self, x):
        if self.rate == 0.0:
            return x
        keep = jax.random.bernoulli(self.make_rng("droppath"), 1 - self.rate, (x.shape[0], 1, 1, 1))
        return jnp.where(keep, x / (1 - self.rate), 0).astype(x.dtype)


class Block(nn.Module):
    heads: int
    ratio: int
    reduction: int
    drop_path: float
    dtype: Any

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm(dtype=self.dtype)(x)
        x = x + DropPath(self.drop_path)(SpatialReductionAttention(self.heads, self.reduction, self.dtype)(y))
        y = nn.LayerNorm(dtype=self.dtype)(x)
        return x + DropPath(self.drop_path)(ConvFeedForward(self.ratio, self.dtype)(y))


class PyramidVisionTransformer(nn.Module):
    depths: tuple
    dims: tuple
    heads: tuple
    ratios: tuple
    reductions: tuple
    classes: int
    drop_path: float
    dtype: Any
    block: Any = Block

    @nn.compact
    def __call__(self, x):
        rates = np.linspace(0.0, self.drop_path, sum(self.depths)).tolist()
        x = x.astype(self.dtype)
        for s, dim in enumerate(self.dims):
            kernel, stride = (7, 4) if s == 0 else (3, 2)
            x = nn.Conv(dim, (kernel, kernel), (stride, stride), padding=kernel // 2, dtype=self.dtype,
                        name=f"patch_embed{s + 1}")(x)
            x = nn.LayerNorm(dtype=self.dtype, name=f"patch_norm{s + 1}")(x)
            for i in range(self.depths[s]):
                x = self.block(self.heads[s], self.ratios[s], self.reductions[s], rates.pop(0), self.dtype,
                               name=f"block{s + 1}_{i}")(x)
            x = nn.LayerNorm(dtype=self.dtype, name=f"norm{s + 1}")(x)
        return nn.Dense(self.classes, kernel_init=trunc, dtype=self.dtype, name="head")(x.mean((1, 2))).astype(F32)


def mixed(key, images, labels, classes, alpha, smoothing):
    targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), smoothing)
    share = jax.random.beta(key, alpha, alpha)
    images = share.astype(images.dtype) * images + (1 - share).astype(images.dtype) * images[::-1]
    return images, share * targets + (1 - share) * targets[::-1]


def pvt_imagenet(depths, dims, heads, ratios, reductions, pixels, batch, classes=1000, drop_path=0.1, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        block = nn.remat(Block, policy=checkpoint_policy(change)) if change.rematerialize else Block
        model = PyramidVisionTransformer(depths, dims, heads, ratios, reductions, classes, drop_path,
                                         compute_dtype(change, kind), block)
        keys = {"params": jax.random.key(0), "droppath": jax.random.key(1)}
        params = jax.eval_shape(model.init, keys, jnp.zeros((1, pixels, pixels, 3)))["params"]
        steps = 1_281_167 // batch
        tx = optax.chain(
            optax.clip_by_global_norm(5.0),
            optax.adamw(optax.warmup_cosine_decay_schedule(1e-6, 1e-3 * batch / 1024, 5 * steps, 300 * steps, 1e-5),
                        weight_decay=0.05, mask=matrices_only))
        state = jax.eval_shape(lambda p: train_state.TrainState.create(apply_fn=model.apply, params=p, tx=tx),
                               cast(params, change.stored))

        def train_step(state, rng, images, labels):
            rng, mix_rng, drop_rng = jax.random.split(rng, 3)
            images, targets = mixed(mix_rng, images, labels, classes, 0.8, 0.1)

            def loss_fn(params, key, images, targets):
                logits = state.apply_fn({"params": params}, images, rngs={"droppath": key})
                return optax.softmax_cross_entropy(logits, targets).mean(), logits.argmax(-1)
            loss, predicted, grads = summed_slopes(loss_fn, change.parts)(state.params, drop_rng, images, targets)
            accuracy = (predicted.reshape(-1) == labels).mean()
            metrics = {"loss": loss, "accuracy": accuracy, "grad_norm": optax.global_norm(grads)}
            return state.apply_gradients(grads=grads), rng, metrics
        return train_step, (laid_out(arrays, state), raw_key(arrays), arrays.batch((rows, pixels, pixels, 3), F32),
                            arrays.batch((rows,), jnp.int32)), (0,)
    return make


FAMILY = {"cup_pvt_v2": dict(
    make=pvt_imagenet(depths=(3, 4, 6, 3), dims=(64, 128, 320, 512), heads=(1, 2, 5, 8), ratios=(8, 8, 4, 4),
                      reductions=(8, 4, 2, 1), pixels=224, batch=256),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "rematerialize+halve_batch", "shard_parameters", "shard_all"))}
