"""ResNet-50 learns ImageNet at 224 pixels, all in float32: a flax linen model with batch norms, kept in a TrainState.

SGD with Nesterov momentum, a warmed up cosine rate, and L2 on kernels in the loss. The whole state is one argument.
"""
import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax.training import train_state

from advice_board_changes import laid_out, summed_slopes
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

he_normal = nn.initializers.variance_scaling(2.0, "fan_out", "normal")


class TrainState(train_state.TrainState):
    batch_stats: object


class Bottleneck(nn.Module):
    filters: int
    strides: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        conv = functools.partial(nn.Conv, use_bias=False, dtype=self.dtype, kernel_init=he_normal)
        norm = functools.partial(nn.BatchNorm, use_running_average=False, momentum=0.9, epsilon=1e-5, dtype=self.dtype)
        y = nn.relu(norm()(conv(self.filters, (1, 1))(x)))
        y = nn.relu(norm()(conv(self.filters, (3, 3), (self.strides, self.strides))(y)))
        y = norm(scale_init=nn.initializers.zeros)(conv(4 * self.filters, (1, 1))(y))
        if x.shape != y.shape:
            x = conv(4 * self.filters, (1, 1), (self.strides, self.strides), name="conv_proj")(x)
            x = norm(name="norm_proj")(x)
        return nn.relu(x + y)


class ResNet(nn.Module):
    stages: tuple
    classes: int
    width: int
    dtype: object
    block: type = Bottleneck

    @nn.compact
    def __call__(self, images):
        x = images.astype(self.dtype)
        x = nn.Conv(self.width, (7, 7), (2, 2), padding=[(3, 3), (3, 3)], use_bias=False, dtype=self.dtype,
                    kernel_init=he_normal, name="conv_init")(x)
        x = nn.BatchNorm(use_running_average=False, momentum=0.9, epsilon=1e-5, dtype=self.dtype, name="bn_init")(x)
        x = nn.max_pool(nn.relu(x), (3, 3), strides=(2, 2), padding="SAME")
        for i, blocks in enumerate(self.stages):
            for j in range(blocks):
                strides = 2 if i > 0 and j == 0 else 1
                x = self.block(self.width * 2 ** i, strides, self.dtype, name=f"stage{i + 1}_block{j + 1}")(x)
        x = x.mean(axis=(1, 2))
        x = nn.Dense(self.classes, dtype=self.dtype, kernel_init=nn.initializers.zeros, name="head")(x)
        return x.astype(F32)


def resnet_imagenet(stages, width, classes, pixels, batch, weight_decay=1e-4, smoothing=0.1, kind=F32):
    def make(arrays, change):
        import optax
        rows = batch // change.batch_divisor
        block = Bottleneck
        if change.rematerialize:
            block = nn.remat(Bottleneck, policy=checkpoint_policy(change))
        model = ResNet(stages, classes, width, compute_dtype(change, kind), block)
        made = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, pixels, pixels, 3), F32))
        steps = 1_281_167 // batch
        tx = optax.sgd(optax.warmup_cosine_decay_schedule(0.0, 0.1 * batch / 256, 5 * steps, 90 * steps),
                       momentum=0.9, nesterov=True)
        state = jax.eval_shape(
            lambda params, stats: TrainState.create(apply_fn=model.apply, params=params, tx=tx, batch_stats=stats),
            cast(made["params"], change.stored), made["batch_stats"])

        def train_step(state, images, labels):
            def loss_of(params, key, images, labels):
                logits, new = state.apply_fn({"params": params, "batch_stats": state.batch_stats}, images,
                                             mutable=["batch_stats"])
                targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), smoothing)
                loss = optax.softmax_cross_entropy(logits, targets).mean()
                kernels = [p for p in jax.tree.leaves(params) if p.ndim > 1]
                loss += weight_decay * 0.5 * sum(jnp.sum(jnp.square(p.astype(F32))) for p in kernels)
                return loss, (new["batch_stats"], (logits.argmax(-1) == labels).mean())
            loss, (stats, accuracy), grads = summed_slopes(loss_of, change.parts)(state.params, None, images, labels)
            stats = jax.tree.map(lambda s: s.mean(0), stats)
            state = state.apply_gradients(grads=grads, batch_stats=stats)
            return state, {"loss": loss, "accuracy": accuracy.mean()}
        images = arrays.batch((rows, pixels, pixels, 3), F32)
        return train_step, (laid_out(arrays, state), images, arrays.batch((rows,), jnp.int32)), (0,)
    return make


FAMILY = {"tour_resnet": dict(
    make=resnet_imagenet(stages=(3, 4, 6, 3), width=64, classes=1000, pixels=224, batch=256), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "shard_parameters", "shard_all"))}
