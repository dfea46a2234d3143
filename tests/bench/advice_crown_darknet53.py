"""Darknet-53 (YOLOv3's backbone) learns ImageNet's classes: residual stages of 1, 2, 8, 8 and 4 blocks.

Flax nnx, 3x3 and 1x1 convolutions with batch norm and leaky rectifiers, float32 throughout, SGD with Nesterov's
momentum, a polynomial schedule and decay of the kernels. Nothing is donated.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import cast, computing, laid_out, like, matrices_only, policy_of, summed_slopes, updated
from advice_board_training import F32

STAGES = ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4))
CLASSES = 1000
MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


class ConvUnit(nnx.Module):
    def __init__(self, inputs, outputs, size, *, stride=1, dtype, rngs):
        self.conv = nnx.Conv(inputs, outputs, (size, size), strides=stride, padding=size // 2, use_bias=False,
                             dtype=dtype, rngs=rngs)
        self.norm = nnx.BatchNorm(outputs, momentum=0.9, epsilon=1e-5, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        return nnx.leaky_relu(self.norm(self.conv(x)), 0.1)


class Residual(nnx.Module):
    def __init__(self, width, *, dtype, rngs):
        self.squeeze = ConvUnit(width, width // 2, 1, dtype=dtype, rngs=rngs)
        self.expand = ConvUnit(width // 2, width, 3, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        return x + self.expand(self.squeeze(x))


class Stage(nnx.Module):
    def __init__(self, inputs, width, depth, change, *, dtype, rngs):
        self.down = ConvUnit(inputs, width, 3, stride=2, dtype=dtype, rngs=rngs)
        self.blocks = nnx.List([Residual(width, dtype=dtype, rngs=rngs) for _ in range(depth)])
        self.change = change

    def __call__(self, x):
        def run(block, x):
            return block(x)
        if self.change.rematerialize:
            run = nnx.remat(run, policy=policy_of(self.change))
        x = self.down(x)
        for block in self.blocks:
            x = run(block, x)
        return x


class Darknet53(nnx.Module):
    def __init__(self, change, *, dtype, rngs):
        self.stem = ConvUnit(3, 32, 3, dtype=dtype, rngs=rngs)
        widths = (32, *(width for width, _ in STAGES))
        self.stages = nnx.List([Stage(before, width, depth, change, dtype=dtype, rngs=rngs)
                                for before, (width, depth) in zip(widths, STAGES)])
        self.head = nnx.Linear(widths[-1], CLASSES, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean(axis=(1, 2)))


def darknet(batch, side, kind=F32, rate=0.1, total=800_000, smoothing=0.1):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, computing(change, kind)
        model = nnx.eval_shape(lambda: Darknet53(change, dtype=now, rngs=nnx.Rngs(0)))
        graphdef, params, stats = nnx.split(model, nnx.Param, nnx.BatchStat)
        params = cast(nnx.to_pure_dict(params), change.stored)
        stats = cast(nnx.to_pure_dict(stats), change.stored)
        schedule = optax.polynomial_schedule(rate, 0.0, 4, total)
        optimizer = optax.chain(optax.add_decayed_weights(5e-4, mask=matrices_only),
                                optax.sgd(schedule, momentum=0.9, nesterov=True))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, stats, images, labels):
            def loss_fn(params, _, images, labels):
                net = nnx.merge(graphdef, params, stats)
                net.train()
                x = (images.astype(F32) - jnp.array(MEAN)) / jnp.array(STD)
                logits = net(x.astype(now)).astype(F32)
                targets = optax.smooth_labels(jax.nn.one_hot(labels, CLASSES), smoothing)
                loss = optax.softmax_cross_entropy(logits, targets).mean()
                moved = nnx.to_pure_dict(nnx.state(net, nnx.BatchStat))
                return loss, (like(moved, stats), jnp.mean(logits.argmax(-1) == labels))

            loss, (moved, accuracy), grads = summed_slopes(loss_fn, change.parts)(params, None, images, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            stats_now = jax.tree.map(lambda parts: parts.mean(0), moved)
            return params, opt_state, stats_now, {"loss": loss, "accuracy": accuracy.mean()}

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, stats),
                            arrays.batch((rows, side, side, 3), jnp.uint8),
                            arrays.batch((rows,), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"crown_darknet53": dict(
    make=darknet(batch=192, side=256), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "shard_parameters", "shard_all"))}
