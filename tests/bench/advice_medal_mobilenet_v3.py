"""MobileNetV3-Large on ImageNet at 224 pixels as its authors trained it: RMSprop, dropout, and an average of weights.

Flax linen with batch norms and squeeze-and-excite; weights are float32, convolutions compute in bfloat16. The state is
a dataclass that isn't donated: parameters, their moving average, batch statistics, the optimizer's moments, a key.
"""
from typing import Any

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, like, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

# kernel, expanded, out, squeezes, activation, stride
LARGE = ((3, 16, 16, False, "relu", 1), (3, 64, 24, False, "relu", 2), (3, 72, 24, False, "relu", 1),
         (5, 72, 40, True, "relu", 2), (5, 120, 40, True, "relu", 1), (5, 120, 40, True, "relu", 1),
         (3, 240, 80, False, "hard_swish", 2), (3, 200, 80, False, "hard_swish", 1),
         (3, 184, 80, False, "hard_swish", 1), (3, 184, 80, False, "hard_swish", 1),
         (3, 480, 112, True, "hard_swish", 1), (3, 672, 112, True, "hard_swish", 1),
         (5, 672, 160, True, "hard_swish", 2), (5, 960, 160, True, "hard_swish", 1),
         (5, 960, 160, True, "hard_swish", 1))


@flax.struct.dataclass
class State:
    params: Any
    ema: Any
    batch_stats: Any
    opt_state: Any
    key: Any


class ConvBnAct(nn.Module):
    features: int
    kernel: int
    stride: int = 1
    depthwise: bool = False
    act: str = ""
    dtype: Any = BF16

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.features, (self.kernel,) * 2, (self.stride,) * 2, use_bias=False, dtype=self.dtype,
                    feature_group_count=x.shape[-1] if self.depthwise else 1,
                    kernel_init=nn.initializers.variance_scaling(2.0, "fan_out", "truncated_normal"))(x)
        x = nn.BatchNorm(use_running_average=False, momentum=0.99, epsilon=1e-3, dtype=self.dtype)(x)
        return getattr(jax.nn, self.act)(x) if self.act else x


class SqueezeExcite(nn.Module):
    reduced: int
    dtype: Any

    @nn.compact
    def __call__(self, x):
        s = x.mean((1, 2), keepdims=True)
        s = nn.relu(nn.Conv(self.reduced, (1, 1), dtype=self.dtype)(s))
        return x * nn.hard_sigmoid(nn.Conv(x.shape[-1], (1, 1), dtype=self.dtype)(s))


class InvertedResidual(nn.Module):
    spec: tuple
    dtype: Any

    @nn.compact
    def __call__(self, inputs):
        kernel, expanded, out, squeezes, act, stride = self.spec
        x = inputs
        if expanded != x.shape[-1]:
            x = ConvBnAct(expanded, 1, act=act, dtype=self.dtype, name="expand")(x)
        x = ConvBnAct(expanded, kernel, stride, True, act, self.dtype, name="depthwise")(x)
        if squeezes:
            x = SqueezeExcite(max(8, expanded // 32 * 8), self.dtype, name="se")(x)
        x = ConvBnAct(out, 1, dtype=self.dtype, name="project")(x)
        return x + inputs if x.shape == inputs.shape else x


class MobileNetV3(nn.Module):
    classes: int
    dropout: float
    dtype: Any
    block: Any = InvertedResidual

    @nn.compact
    def __call__(self, images):
        x = images.astype(self.dtype)
        x = ConvBnAct(16, 3, 2, act="hard_swish", dtype=self.dtype, name="stem")(x)
        for i, spec in enumerate(LARGE):
            x = self.block(spec, self.dtype, name=f"block{i:02d}")(x)
        x = ConvBnAct(960, 1, act="hard_swish", dtype=self.dtype, name="last")(x).mean((1, 2))
        x = nn.hard_swish(nn.Dense(1280, dtype=self.dtype, name="pre_head")(x))
        x = nn.Dropout(self.dropout, deterministic=False)(x)
        return nn.Dense(self.classes, dtype=self.dtype, name="head")(x).astype(F32)


def mobilenet(pixels, batch, classes=1000, dropout=0.2, decay=0.9999, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        block = InvertedResidual
        if change.rematerialize:
            block = nn.remat(block, policy=checkpoint_policy(change))
        model = MobileNetV3(classes, dropout, compute_dtype(change, kind), block)
        made = jax.eval_shape(model.init, {"params": jax.random.key(0), "dropout": jax.random.key(1)},
                              jnp.zeros((1, pixels, pixels, 3)))
        params = cast(made["params"], change.stored)
        tx = optax.chain(optax.add_decayed_weights(1e-5, mask=matrices_only),
                         optax.rmsprop(optax.exponential_decay(0.16, 3_750, 0.99, staircase=True), decay=0.9, eps=1e-3,
                                       momentum=0.9))

        def train_step(state, images, labels):
            key, drop_key = jax.random.split(state.key)

            def loss_fn(params, key, images, labels):
                images = (images.astype(F32) - 127.5) / 127.5
                logits, new = model.apply({"params": params, "batch_stats": state.batch_stats}, images,
                                          mutable=["batch_stats"], rngs={"dropout": key})
                targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
                loss = optax.softmax_cross_entropy(logits, targets).mean()
                return loss, (new["batch_stats"], (logits.argmax(-1) == labels).mean())
            loss, (stats, top1), grads = summed_slopes(loss_fn, change.parts)(state.params, drop_key, images, labels)
            params, opt_state = updated(tx, grads, state.opt_state, state.params)
            ema = like(optax.incremental_update(params, state.ema, 1 - decay), state.ema)
            stats = like(jax.tree.map(lambda s: s.mean(0), stats), state.batch_stats)
            return State(params, ema, stats, opt_state, key), {"loss": loss, "top1": top1.mean()}

        state = State(laid_out(arrays, params), laid_out(arrays, params), laid_out(arrays, made["batch_stats"]),
                      laid_out(arrays, jax.eval_shape(tx.init, params)), raw_key(arrays))
        return train_step, (state, arrays.batch((rows, pixels, pixels, 3), jnp.uint8),
                            arrays.batch((rows,), jnp.int32)), (0,)
    return make


FAMILY = {"medal_mobilenet_v3": dict(
    make=mobilenet(pixels=224, batch=512), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
