"""EfficientNet-B4 on ImageNet at 380 pixels, as in the ports to flax.linen: MBConv blocks with depthwise convolutions,
squeeze and excite, batch norm, stochastic depth; RMSProp with momentum, decay of weights in the loss, an EMA of them.

Weights in float32, computation in bfloat16, statistics and losses in float32.
"""
import math
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

# (expansion, kernel, stride, filters, repeats) of B0
STAGES = ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
          (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1))
CONV_INIT = nn.initializers.variance_scaling(2.0, "fan_out", "normal")
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def round_filters(filters, width, divisor=8):
    scaled = filters * width
    rounded = max(divisor, int(scaled + divisor / 2) // divisor * divisor)
    return int(rounded + divisor if rounded < 0.9 * scaled else rounded)


class ConvNorm(nn.Module):
    features: int
    kernel: int = 1
    stride: int = 1
    depthwise: bool = False
    act: bool = True
    dtype: Any = F32

    @nn.compact
    def __call__(self, x):
        groups = x.shape[-1] if self.depthwise else 1
        x = nn.Conv(self.features, (self.kernel, self.kernel), (self.stride, self.stride), "SAME", use_bias=False,
                    feature_group_count=groups, kernel_init=CONV_INIT, dtype=self.dtype, name="conv")(x)
        x = nn.BatchNorm(use_running_average=False, momentum=0.99, epsilon=1e-3, dtype=self.dtype, name="bn")(x)
        return nn.swish(x) if self.act else x


class SqueezeExcite(nn.Module):
    reduced: int
    dtype: Any = F32

    @nn.compact
    def __call__(self, x):
        s = x.mean((1, 2), keepdims=True)
        s = nn.swish(nn.Conv(self.reduced, (1, 1), dtype=self.dtype, kernel_init=CONV_INIT, name="reduce")(s))
        s = nn.Conv(x.shape[-1], (1, 1), dtype=self.dtype, kernel_init=CONV_INIT, name="expand")(s)
        return x * nn.sigmoid(s)


class MBConv(nn.Module):
    features: int
    expansion: int
    kernel: int
    stride: int
    survival: float
    dtype: Any = F32

    @nn.compact
    def __call__(self, inputs):
        channels = inputs.shape[-1]
        x = inputs
        if self.expansion != 1:
            x = ConvNorm(channels * self.expansion, dtype=self.dtype, name="expand")(x)
        x = ConvNorm(x.shape[-1], self.kernel, self.stride, depthwise=True, dtype=self.dtype, name="depthwise")(x)
        x = SqueezeExcite(max(1, channels // 4), dtype=self.dtype, name="se")(x)
        x = ConvNorm(self.features, act=False, dtype=self.dtype, name="project")(x)
        if self.stride == 1 and channels == self.features:
            keep = jax.random.bernoulli(self.make_rng("dropout"), self.survival, (x.shape[0], 1, 1, 1))
            x = jnp.where(keep, x / self.survival, 0).astype(x.dtype) + inputs
        return x


class EfficientNet(nn.Module):
    width: float
    depth: float
    dropout: float
    classes: int = 1000
    drop_connect: float = 0.2
    dtype: Any = F32
    remat: bool = False
    policy: Any = None

    @nn.compact
    def __call__(self, x):
        x = x.astype(self.dtype)
        block = nn.remat(MBConv, policy=self.policy) if self.remat else MBConv
        x = ConvNorm(round_filters(32, self.width), 3, 2, dtype=self.dtype, name="stem")(x)
        repeats = [math.ceil(self.depth * stage[-1]) for stage in STAGES]
        index, total = 0, sum(repeats)
        for (expansion, kernel, stride, filters, _), count in zip(STAGES, repeats):
            for i in range(count):
                survival = 1.0 - self.drop_connect * index / total
                x = block(round_filters(filters, self.width), expansion, kernel, stride if i == 0 else 1, survival,
                          self.dtype, name=f"block_{index}")(x)
                index += 1
        x = ConvNorm(round_filters(1280, self.width), dtype=self.dtype, name="head")(x)
        x = nn.Dropout(self.dropout, deterministic=False)(x.mean((1, 2)))
        return nn.Dense(self.classes, dtype=self.dtype, name="classifier")(x).astype(F32)


def efficientnet(width, depth, size, dropout, batch, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        model = EfficientNet(width, depth, dropout, dtype=compute_dtype(change, kind), remat=change.rematerialize,
                             policy=checkpoint_policy(change))
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        variables = jax.eval_shape(model.init, keys, jax.ShapeDtypeStruct((2, size, size, 3), F32))
        params, stats = (cast(variables[name], change.stored) for name in ("params", "batch_stats"))
        schedule = optax.exponential_decay(0.016 * batch / 256, 3_000, 0.97, staircase=True)
        optimizer = optax.rmsprop(schedule, decay=0.9, eps=1e-3, momentum=0.9, initial_scale=1.0)
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(state, key, images, labels):
            def loss_fn(params, key, images, labels):
                x = (images.astype(F32) / 255.0 - jnp.asarray(MEAN)) / jnp.asarray(STD)
                logits, new = model.apply({"params": params, "batch_stats": state["stats"]}, x,
                                          rngs={"dropout": key}, mutable=["batch_stats"])
                targets = optax.smooth_labels(jax.nn.one_hot(labels, 1000), 0.1)
                loss = optax.softmax_cross_entropy(logits, targets).mean()
                decay = sum(jnp.sum(jnp.square(p.astype(F32))) for p in jax.tree.leaves(params) if p.ndim > 1)
                correct = (logits.argmax(-1) == labels).mean()
                return loss + 1e-5 * 0.5 * decay, (new["batch_stats"], {"cross_entropy": loss, "top1": correct})

            key, dropout_key = jax.random.split(key)
            loss, (stats, metrics), grads = summed_slopes(loss_fn, change.parts)(
                state["params"], dropout_key, images, labels)
            params, opt_state = updated(optimizer, grads, state["opt_state"], state["params"])
            stats = jax.tree.map(lambda new, old: new.mean(0).astype(old.dtype), stats, state["stats"])
            ema = jax.tree.map(lambda e, p: (0.9999 * e + 0.0001 * p).astype(e.dtype), state["ema"], params)
            metrics = {"loss": loss, "grad_norm": optax.global_norm(grads), **jax.tree.map(jnp.mean, metrics)}
            return {"params": params, "opt_state": opt_state, "stats": stats, "ema": ema}, key, metrics

        state = {"params": params, "opt_state": opt_state, "stats": stats, "ema": params}
        return train_step, (laid_out(arrays, state), raw_key(arrays), arrays.batch((rows, size, size, 3), jnp.uint8),
                            arrays.batch((rows,), jnp.int32)), (0,)
    return make


FAMILY = {"league_efficientnet": dict(
    make=efficientnet(width=1.4, depth=1.8, size=380, dropout=0.4, batch=64),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
