"""Wide ResNet-50-2 (torchvision's widths) learns the classes of ImageNet: stages of 3, 4, 6 and 3 bottlenecks.

Flax nnx, split into parameters and batch statistics; float32 weights, bfloat16 compute, norms over the whole batch.
SGD with Nesterov momentum, weight decay on kernels, smoothed labels, a cosine. Nothing is donated.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import computing, laid_out, like, matrices_only, policy_of, summed_slopes, updated
from advice_board_training import BF16, F32, cast

STAGES, WIDTHS, CLASSES = (3, 4, 6, 3), (128, 256, 512, 1024), 1000


def conv(inner, outer, size, stride, dtype, rngs):
    pad = [(size // 2, size // 2)] * 2
    return nnx.Conv(inner, outer, (size, size), strides=stride, padding=pad, use_bias=False, dtype=dtype,
                    kernel_init=nnx.initializers.variance_scaling(2.0, "fan_out", "normal"), rngs=rngs)


def norm(width, dtype, rngs, scale=1.0):
    return nnx.BatchNorm(width, momentum=0.9, epsilon=1e-5, dtype=dtype,
                         scale_init=nnx.initializers.constant(scale), rngs=rngs)


class Bottleneck(nnx.Module):
    def __init__(self, inner, width, outer, stride, dtype, rngs):
        self.conv1, self.bn1 = conv(inner, width, 1, 1, dtype, rngs), norm(width, dtype, rngs)
        self.conv2, self.bn2 = conv(width, width, 3, stride, dtype, rngs), norm(width, dtype, rngs)
        self.conv3, self.bn3 = conv(width, outer, 1, 1, dtype, rngs), norm(outer, dtype, rngs, 0.0)
        self.has_shortcut = stride != 1 or inner != outer
        if self.has_shortcut:
            self.down, self.down_bn = conv(inner, outer, 1, stride, dtype, rngs), norm(outer, dtype, rngs)

    def __call__(self, x):
        y = nnx.relu(self.bn1(self.conv1(x)))
        y = nnx.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        if self.has_shortcut:
            x = self.down_bn(self.down(x))
        return nnx.relu(x + y)


class WideResNet(nnx.Module):
    def __init__(self, dtype, change, rngs):
        self.dtype, self.change = dtype, change
        self.stem, self.stem_bn = conv(3, 64, 7, 2, dtype, rngs), norm(64, dtype, rngs)
        blocks, inner = [], 64
        for stage, (count, width) in enumerate(zip(STAGES, WIDTHS)):
            for i in range(count):
                blocks.append(Bottleneck(inner, width, 2 * width, 2 if stage and i == 0 else 1, dtype, rngs))
                inner = 2 * width
        self.blocks = nnx.List(blocks)
        self.head = nnx.Linear(inner, CLASSES, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        def apply(block, x):
            return block(x)
        if self.change.rematerialize:
            apply = nnx.remat(apply, policy=policy_of(self.change))
        x = nnx.relu(self.stem_bn(self.stem(x.astype(self.dtype))))
        x = nnx.max_pool(x, (3, 3), strides=(2, 2), padding=((1, 1), (1, 1)))
        for block in self.blocks:
            x = apply(block, x)
        return self.head(x.mean((1, 2))).astype(F32)


def trainer(batch, side, steps=112_000):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        model = nnx.eval_shape(lambda: WideResNet(computing(change, BF16), change, nnx.Rngs(0)))
        graph, params, stats = nnx.split(model, nnx.Param, nnx.BatchStat)
        params, stats = cast(params, change.stored), cast(stats, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, 5_000, steps)
        optimizer = optax.chain(optax.add_decayed_weights(5e-5, mask=matrices_only),
                                optax.sgd(schedule, momentum=0.9, nesterov=True))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, stats, opt_state, images, labels):
            def loss_fn(params, _, images, labels):
                model = nnx.merge(graph, params, stats, copy=True)
                logits = model(images)
                _, _, new_stats = nnx.split(model, nnx.Param, nnx.BatchStat)
                targets = optax.smooth_labels(jax.nn.one_hot(labels, CLASSES), 0.1)
                loss = optax.softmax_cross_entropy(logits, targets).mean()
                return loss, {"stats": like(new_stats, stats), "top1": jnp.mean(logits.argmax(-1) == labels)}

            loss, aux, grads = summed_slopes(loss_fn, change.parts)(params, None, images, labels)
            new_stats = like(jax.tree.map(lambda s: s.astype(F32).mean(0), aux["stats"]), stats)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, new_stats, opt_state, {"loss": loss, "top1": aux["top1"].mean()}

        return train_step, (laid_out(arrays, params), laid_out(arrays, stats), laid_out(arrays, opt_state),
                            arrays.batch((rows, side, side, 3), BF16), arrays.batch((rows,), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"crown_wide_resnet": dict(
    make=trainer(batch=192, side=224), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
