"""Convolutional networks of unequal stages: a residual classifier with squeezing, and a U-Net that segments.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import functools

import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, placed, trained_with_statistics, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- A residual classifier ---

def trained_in_parts_with_statistics(arrays, change, shapes, statistics, loss_of, optimizer, *batch):
    """Statistics go from one part of the batch to the next; gradients are summed."""
    import optax
    if change.parts == 1:
        return trained_with_statistics(arrays, change, shapes, statistics, loss_of, optimizer, *batch)
    params, statistics = as_kind(shapes, change.stored), as_kind(statistics, change.stored)
    state = jax.eval_shape(optimizer.init, params)

    def train_step(params, statistics, state, *batch):
        def add(carry, part):
            stats, total, sums = carry
            (loss, made), grads = jax.value_and_grad(loss_of, has_aux=True)(params, stats, *part)
            made = jax.tree.map(lambda new, old: new.astype(old.dtype), made, stats)
            return (made, total + loss, jax.tree.map(jnp.add, sums, grads)), None
        split = [rows.reshape(change.parts, -1, *rows.shape[1:]) for rows in batch]
        start = statistics, jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
        (statistics, loss, grads), _ = jax.lax.scan(add, start, split)
        grads = jax.tree.map(lambda g: g / change.parts, grads)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), statistics, state, loss / change.parts
    arguments = placed(arrays, params), placed(arrays, statistics), placed(arrays, state), *batch
    return train_step, arguments, (0, 1, 2)


def squeezed_bottleneck(now):
    """The class of a residual block of ResNet-RS, in flax."""
    import flax.linen as nn

    class Bottleneck(nn.Module):
        width: int
        stride: int

        @nn.compact
        def __call__(self, x):
            conv = functools.partial(nn.Conv, use_bias=False, dtype=now)
            norm = functools.partial(nn.BatchNorm, use_running_average=False, momentum=0.9, epsilon=1e-5, dtype=now)
            out, residual = 4 * self.width, x
            y = nn.relu(norm(name="bn_1")(conv(self.width, (1, 1), name="conv_1")(x)))
            y = conv(self.width, (3, 3), strides=self.stride, name="conv_2")(y)
            y = nn.relu(norm(name="bn_2")(y))
            y = norm(name="bn_3", scale_init=nn.initializers.zeros)(conv(out, (1, 1), name="conv_3")(y))
            squeezed = nn.relu(nn.Dense(out // 4, dtype=now, name="se_reduce")(y.mean((1, 2))))
            y = y * nn.sigmoid(nn.Dense(out, dtype=now, name="se_expand")(squeezed))[:, None, None]
            if residual.shape != y.shape:
                if self.stride > 1:
                    residual = nn.avg_pool(residual, (2, 2), strides=(2, 2), padding="SAME")
                residual = norm(name="bn_skip")(conv(out, (1, 1), name="conv_skip")(residual))
            return nn.relu(y + residual)
    return Bottleneck


def squeezed_residual(stages, widths, stem, size, classes, batch, kind=BF16):
    """ResNet-RS: a stem of three convolutions, bottlenecks with squeeze and excitation; momentum of Nesterov."""
    def make(arrays, change):
        import flax.linen as nn
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)
        block = squeezed_bottleneck(now)
        if change.rematerialize:
            block = nn.remat(block)

        class ResNet(nn.Module):
            @nn.compact
            def __call__(self, x):
                norm = functools.partial(nn.BatchNorm, use_running_average=False, momentum=0.9, dtype=now)
                x = x.astype(now)
                for i, (width, stride) in enumerate(((stem // 2, 2), (stem // 2, 1), (stem, 1))):
                    x = nn.Conv(width, (3, 3), stride, use_bias=False, dtype=now, name=f"conv_stem_{i}")(x)
                    x = nn.relu(norm(name=f"bn_stem_{i}")(x))
                x = nn.max_pool(x, (3, 3), strides=(2, 2), padding="SAME")
                for i, (count, width) in enumerate(zip(stages, widths)):
                    for j in range(count):
                        x = block(width, 2 if i and not j else 1, name=f"stage_{i}_block_{j}")(x)
                return nn.Dense(classes, dtype=now, name="head")(x.mean((1, 2)))
        model = ResNet()
        pictures = jax.ShapeDtypeStruct((b, size, size, 3), F32)
        made = jax.eval_shape(model.init, jax.random.key(0), pictures)

        def loss_of(params, statistics, pictures, labels):
            logits, grown = model.apply({"params": params, "batch_stats": statistics}, pictures,
                                        mutable=["batch_stats"])
            target = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            loss = optax.softmax_cross_entropy(logits.astype(F32), target).mean()
            return loss, grown["batch_stats"]
        optimizer = optax.chain(optax.add_decayed_weights(4e-5, matrices_only),
                                optax.sgd(warmed_up(0.8), momentum=0.9, nesterov=True))
        return trained_in_parts_with_statistics(
            arrays, change, made["params"], made["batch_stats"], loss_of, optimizer,
            arrays.batch((b, size, size, 3), F32), arrays.batch((b,), jnp.int32))
    return make


# --- A U-Net ---

def convolved(x, w, stride=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def instance_normed(x, scale, bias):
    mean = x.mean((1, 2), keepdims=True)
    var = jnp.square(x - mean).mean((1, 2), keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-5) * scale + bias


def two_convolutions(p, x, stride=1):
    for i in (1, 2):
        x = convolved(x, p[f"conv_{i}"], stride if i == 1 else 1) + p[f"b_{i}"]
        x = jax.nn.leaky_relu(instance_normed(x, p[f"scale_{i}"], p[f"bias_{i}"]), 0.01)
    return x


def dice_and_cross_entropy(logits, labels):
    logits = logits.astype(F32)
    target = jax.nn.one_hot(labels, logits.shape[-1])
    logs = jax.nn.log_softmax(logits)
    chances = jnp.exp(logs)
    both = (chances * target).sum((1, 2))
    dice = (2 * both + 1e-5) / (chances.sum((1, 2)) + target.sum((1, 2)) + 1e-5)
    return -(target * logs).sum(-1).mean() - dice[:, 1:].mean()


def segmenting_unet(widths, channels, classes, height, width, batch, kind=F32):
    """nnU-Net in the plane: strided stages, skips by concatenation, transposed convolutions, deep supervision."""
    def stage(ins, outs):
        vectors = {f"{name}_{i}": (outs,) for name in ("b", "scale", "bias") for i in (1, 2)}
        return {"conv_1": (3, 3, ins, outs), "conv_2": (3, 3, outs, outs)} | vectors

    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, change.computed or computed(change, kind)
        depth = len(widths)
        shapes = {f"down_{i}": shaped(**stage(channels if i == 0 else widths[i - 1], widths[i])) for i in range(depth)}
        for i in range(depth - 1):
            shapes[f"up_{i}"] = shaped(conv_up=(2, 2, widths[i + 1], widths[i]), **stage(2 * widths[i], widths[i]))
            shapes[f"conv_head_{i}"] = shaped(kernel=(1, 1, widths[i], classes), bias=(classes,))
        down_1 = maybe_checkpointed(change, two_convolutions)
        down_2 = maybe_checkpointed(change, functools.partial(two_convolutions, stride=2))

        def up(p, x, skip):
            x = jax.lax.conv_transpose(x, p["conv_up"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            return two_convolutions(p, jnp.concatenate([x, skip], -1))
        up = maybe_checkpointed(change, up)

        def loss_of(params, pictures, labels):
            p, x, skips, loss = as_kind(params, now), pictures.astype(now), [], 0.0
            for i in range(depth):
                x = (down_2 if i else down_1)(p[f"down_{i}"], x)
                skips.append(x)
            for i in reversed(range(depth - 1)):
                x = up(p[f"up_{i}"], x, skips[i])
                if i < depth - 2:  # the smallest has no say
                    logits = convolved(x, p[f"conv_head_{i}"]["kernel"]) + p[f"conv_head_{i}"]["bias"]
                    loss += 0.5 ** i * dice_and_cross_entropy(logits, labels[:, ::2 ** i, ::2 ** i])
            return loss
        optimizer = optax.chain(optax.clip_by_global_norm(12.0), optax.add_decayed_weights(3e-5),
                                optax.sgd(optax.polynomial_schedule(1e-2, 0.0, 0.9, 250000), 0.99, nesterov=True))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((b, height, width, channels), F32),
                                arrays.batch((b, height, width), jnp.int32))
    return make
