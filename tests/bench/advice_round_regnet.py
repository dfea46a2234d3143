"""RegNetY-16GF learns ImageNet: grouped bottlenecks with squeeze-and-excitation, batch norm and SGD with momentum.

In flax linen with a train step of its own (parameters, optimizer, running statistics). Convolutions run in bfloat16,
weights and statistics are kept in float32. Mixed pictures (mixup) and smoothed labels, as the usual recipe has it.
"""
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, like, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class SqueezeExcite(nn.Module):
    squeezed: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        s = x.mean((1, 2), keepdims=True)
        s = nn.relu(nn.Conv(self.squeezed, (1, 1), dtype=self.dtype, name="fc1")(s))
        return x * nn.sigmoid(nn.Conv(x.shape[-1], (1, 1), dtype=self.dtype, name="fc2")(s))


class YBlock(nn.Module):
    width: int
    stride: int
    group_width: int
    dtype: object
    train: bool

    @nn.compact
    def __call__(self, x):
        conv = partial(nn.Conv, use_bias=False, dtype=self.dtype, kernel_init=nn.initializers.he_normal())
        norm = partial(nn.BatchNorm, use_running_average=not self.train, momentum=0.9, epsilon=1e-5, dtype=self.dtype)
        strides = (self.stride, self.stride)
        y = nn.relu(norm(name="a_bn")(conv(self.width, (1, 1), name="a")(x)))
        y = conv(self.width, (3, 3), strides, padding=[(1, 1), (1, 1)],
                 feature_group_count=self.width // self.group_width, name="b")(y)
        y = nn.relu(norm(name="b_bn")(y))
        y = SqueezeExcite(x.shape[-1] // 4, self.dtype, name="se")(y)
        y = norm(name="c_bn", scale_init=nn.initializers.zeros)(conv(self.width, (1, 1), name="c")(y))
        if x.shape != y.shape:
            x = norm(name="proj_bn")(conv(self.width, (1, 1), strides, name="proj")(x))
        return nn.relu(x + y)


class RegNetY(nn.Module):
    depths: tuple
    widths: tuple
    group_width: int
    classes: int
    dtype: object
    remat: bool = False
    policy: object = None

    @nn.compact
    def __call__(self, x, train=True):
        block = nn.remat(YBlock, policy=self.policy) if self.remat else YBlock
        x = nn.Conv(32, (3, 3), (2, 2), padding=[(1, 1), (1, 1)], use_bias=False, dtype=self.dtype, name="stem")(x)
        x = nn.relu(nn.BatchNorm(not train, momentum=0.9, epsilon=1e-5, dtype=self.dtype, name="stem_bn")(x))
        for stage, (depth, width) in enumerate(zip(self.depths, self.widths), 1):
            for i in range(depth):
                x = block(width, 2 if i == 0 else 1, self.group_width, self.dtype, train, name=f"s{stage}_b{i + 1}")(x)
        x = x.mean((1, 2))
        return nn.Dense(self.classes, dtype=F32, kernel_init=nn.initializers.normal(0.01), name="head")(x)


def mixup(key, images, targets, alpha=0.2):
    lam = jax.random.beta(key, alpha, alpha)
    blend = lambda a: (lam * a + (1 - lam) * jnp.flip(a, 0)).astype(a.dtype)  # noqa: E731
    return blend(images), blend(targets)


def regnet_imagenet(depths, widths, group_width, batch, size=224, classes=1000, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        now = compute_dtype(change, kind)
        model = RegNetY(depths, widths, group_width, classes, now, change.rematerialize, checkpoint_policy(change))
        variables = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, size, size, 3)))
        params, stats = cast(variables["params"], change.stored), variables["batch_stats"]
        schedule = optax.warmup_cosine_decay_schedule(0.0, 0.8, 5 * 1251, 100 * 1251)
        optimizer = optax.chain(optax.add_decayed_weights(5e-5, mask=decayed),
                                optax.sgd(schedule, momentum=0.9, nesterov=True))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, batch_stats, key, images, labels):
            def loss_fn(params, key, images, labels):
                x = ((images.astype(F32) / 255 - jnp.array(MEAN)) / jnp.array(STD)).astype(now)
                targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
                x, targets = mixup(key, x, targets)
                logits, new = model.apply({"params": params, "batch_stats": batch_stats}, x, mutable=["batch_stats"])
                loss = optax.softmax_cross_entropy(logits, targets).mean()
                return loss, (new["batch_stats"], (logits.argmax(-1) == labels).mean())

            key, mix_key = jax.random.split(key)
            loss, (new_stats, accuracy), grads = summed_slopes(loss_fn, change.parts)(params, mix_key, images, labels)
            new_stats = like(jax.tree.map(lambda s: s.mean(0), new_stats), batch_stats)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            metrics = {"loss": loss, "accuracy": accuracy.mean(), "grad_norm": optax.global_norm(grads)}
            return params, opt_state, new_stats, key, metrics

        arguments = (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, stats), raw_key(arrays),
                     arrays.batch((rows, size, size, 3), jnp.uint8), arrays.batch((rows,), jnp.int32))
        return train_step, arguments, (0, 1, 2)
    return make


FAMILY = {"round_regnet": dict(
    make=regnet_imagenet((2, 4, 11, 1), (224, 448, 1232, 3024), 112, batch=256), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
