"""DeepLabv3+ on Cityscapes: a ResNet-50 whose last stage is dilated, ASPP, and a decoder that reads the first stage.

Flax nnx: the model is split into its graph, its parameters and its batch statistics, and merged within the loss.
Weights are float32 and convolutions compute in bfloat16, batch norm and the upsampled logits in float32. Cross-entropy
over the pixels that have a label, an auxiliary head on the third stage, SGD with momentum and a polynomial schedule.
"""
import functools

import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, like, matrices_only, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

IGNORE = 255


class ConvBN(nnx.Module):
    def __init__(self, inputs, outputs, kernel, *, stride=1, dilation=1, groups=1, act=True, dtype, rngs):
        self.conv = nnx.Conv(inputs, outputs, (kernel, kernel), strides=stride, kernel_dilation=dilation,
                             feature_group_count=groups, use_bias=False, dtype=dtype, rngs=rngs)
        self.bn = nnx.BatchNorm(outputs, momentum=0.9, epsilon=1e-5, dtype=dtype, rngs=rngs)
        self.act = act

    def __call__(self, x):
        x = self.bn(self.conv(x))
        return nnx.relu(x) if self.act else x


class Bottleneck(nnx.Module):
    def __init__(self, inputs, width, stride, dilation, *, dtype, rngs):
        unit = functools.partial(ConvBN, dtype=dtype, rngs=rngs)
        self.reduce = unit(inputs, width, 1)
        self.conv = unit(width, width, 3, stride=stride, dilation=dilation)
        self.expand = unit(width, 4 * width, 1, act=False)
        is_same = stride == 1 and inputs == 4 * width
        self.shortcut = None if is_same else unit(inputs, 4 * width, 1, stride=stride, act=False)

    def __call__(self, x):
        y = self.expand(self.conv(self.reduce(x)))
        return nnx.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class SeparableConv(nnx.Module):
    def __init__(self, inputs, outputs, dilation=1, *, dtype, rngs):
        self.depthwise = ConvBN(inputs, inputs, 3, dilation=dilation, groups=inputs, dtype=dtype, rngs=rngs)
        self.pointwise = ConvBN(inputs, outputs, 1, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        return self.pointwise(self.depthwise(x))


class ASPP(nnx.Module):
    """Atrous spatial pyramid pooling."""

    def __init__(self, inputs, width, rates, *, dtype, rngs):
        self.one = ConvBN(inputs, width, 1, dtype=dtype, rngs=rngs)
        self.atrous = nnx.List([SeparableConv(inputs, width, rate, dtype=dtype, rngs=rngs) for rate in rates])
        self.pooled = ConvBN(inputs, width, 1, dtype=dtype, rngs=rngs)
        self.project = ConvBN((len(rates) + 2) * width, width, 1, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        whole = self.pooled(x.mean(axis=(1, 2), keepdims=True))
        branches = [self.one(x), *(branch(x) for branch in self.atrous),
                    jnp.broadcast_to(whole, (*x.shape[:3], whole.shape[-1]))]
        return self.project(jnp.concatenate(branches, axis=-1))


def resized(x, like):
    return jax.image.resize(x, (x.shape[0], *like.shape[1:3], x.shape[-1]), "bilinear")


class DeepLabV3Plus(nnx.Module):
    def __init__(self, stages, classes, change, *, dtype, rngs):
        self.dtype, self.change = dtype, change
        self.stem = nnx.List([ConvBN(3, 32, 3, stride=2, dtype=dtype, rngs=rngs),
                              ConvBN(32, 32, 3, dtype=dtype, rngs=rngs), ConvBN(32, 64, 3, dtype=dtype, rngs=rngs)])
        inputs, made = 64, []
        for s, (blocks, stride, dilation) in enumerate(zip(stages, (1, 2, 2, 1), (1, 1, 1, 2))):
            width = 64 * 2 ** s
            made.append(nnx.List([
                Bottleneck(inputs if i == 0 else 4 * width, width, stride if i == 0 else 1, dilation, dtype=dtype,
                           rngs=rngs) for i in range(blocks)]))
            inputs = 4 * width
        self.stages = nnx.List(made)
        self.aspp = ASPP(inputs, 256, (6, 12, 18), dtype=dtype, rngs=rngs)
        self.low = ConvBN(256, 48, 1, dtype=dtype, rngs=rngs)
        self.decoder = nnx.List([SeparableConv(256 + 48, 256, dtype=dtype, rngs=rngs),
                                 SeparableConv(256, 256, dtype=dtype, rngs=rngs)])
        self.classifier = nnx.Conv(256, classes, (1, 1), dtype=dtype, rngs=rngs)
        self.aux = ConvBN(1024, 256, 3, dtype=dtype, rngs=rngs)
        self.aux_classifier = nnx.Conv(256, classes, (1, 1), dtype=dtype, rngs=rngs)

    def block(self, block, x):
        if not self.change.rematerialize:
            return block(x)
        graph, state = nnx.split(block)

        def run(state, x):
            merged = nnx.merge(graph, state, copy=True)
            return merged(x), nnx.state(merged, nnx.BatchStat)
        x, stats = jax.checkpoint(run, policy=checkpoint_policy(self.change))(state, x)
        nnx.update(block, stats)
        return x

    def __call__(self, images):
        x = images.astype(self.dtype)
        for unit in self.stem:
            x = unit(x)
        x = nnx.max_pool(x, (3, 3), strides=(2, 2), padding="SAME")
        features = []
        for stage in self.stages:
            for block in stage:
                x = self.block(block, x)
            features.append(x)
        y = resized(self.aspp(x), features[0])
        y = jnp.concatenate([y, self.low(features[0])], axis=-1)
        for unit in self.decoder:
            y = unit(y)
        main, aux = self.classifier(y), self.aux_classifier(self.aux(features[2]))
        return resized(main.astype(F32), images), resized(aux.astype(F32), images)


def pixel_loss(logits, labels):
    valid = labels != IGNORE
    each = optax.softmax_cross_entropy_with_integer_labels(logits, jnp.where(valid, labels, 0))
    return jnp.sum(each * valid) / jnp.maximum(valid.sum(), 1)


def confusion(logits, labels, classes):
    """[classes, classes]: counts of (truth, guess)."""
    pairs = jnp.where(labels == IGNORE, classes * classes, labels * classes + logits.argmax(-1))
    return jnp.bincount(pairs.reshape(-1), length=classes * classes + 1)[:-1].reshape(classes, classes)


def deeplab(stages, height, width, batch, classes=19, peak=0.01, steps=90_000, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = nnx.eval_shape(lambda: DeepLabV3Plus(stages, classes, change, dtype=now, rngs=nnx.Rngs(0)))
        graph, params, stats = nnx.split(model, nnx.Param, nnx.BatchStat)
        params = cast(params, change.stored)
        optimizer = optax.chain(
            optax.add_decayed_weights(1e-4, mask=matrices_only),
            optax.sgd(optax.polynomial_schedule(peak, 0.0, 0.9, steps), momentum=0.9))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, stats, opt_state, images, labels):
            def loss_fn(params, _, images, labels):
                model = nnx.merge(graph, params, stats, copy=True)
                model.train()
                main, aux = model(images)
                loss = pixel_loss(main, labels) + 0.4 * pixel_loss(aux, labels)
                return loss, (nnx.state(model, nnx.BatchStat), confusion(main, labels, classes))
            labels = labels.astype(jnp.int32)
            loss, (seen, counts), grads = summed_slopes(loss_fn, change.parts)(params, None, images, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            stats = like(jax.tree.map(lambda s: s.mean(0), seen), stats)
            counts = counts.sum(0)
            hit = jnp.diagonal(counts)
            miou = jnp.mean(hit / jnp.maximum(counts.sum(0) + counts.sum(1) - hit, 1))
            return params, stats, opt_state, {"loss": loss, "miou": miou}
        return train_step, (laid_out(arrays, params), laid_out(arrays, stats), laid_out(arrays, opt_state),
                            arrays.batch((rows, height, width, 3), F32),
                            arrays.batch((rows, height, width), jnp.uint8)), (0, 1, 2)
    return make


FAMILY = {"cup_deeplab": dict(
    make=deeplab(stages=(3, 4, 6, 3), height=512, width=1024, batch=16), is_donated=False,
    variants=("donate_inputs", "bf16_parameters", "halve_batch", "micro_batch", "rematerialize",
              "donate_inputs+rematerialize", "donate_inputs+halve_batch", "shard_parameters", "shard_all"))}
