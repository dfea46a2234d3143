"""Pictures that are told, made larger or cut into parts, as other authors write them; networks of convolutions.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import matrices_only, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_sequences import cast, kind_of

LAYOUT = "NHWC", "HWIO", "NHWC"


def convolved(x, kernel, stride=1, groups=1):
    return jax.lax.conv_general_dilated(x, kernel, (stride, stride), "SAME", dimension_numbers=LAYOUT,
                                        feature_group_count=groups)


# --- Classes, without norms ---

def standard(p, kind):
    """A kernel whose weights have no mean and one variance for each channel that comes out."""
    kernel = p["kernel"].astype(F32)
    fan = kernel.shape[0] * kernel.shape[1] * kernel.shape[2]
    mean = kernel.mean((0, 1, 2), keepdims=True)
    scale = jax.lax.rsqrt(jnp.maximum(kernel.var((0, 1, 2), keepdims=True) * fan, 1e-4)) * p["gain"].astype(F32)
    return ((kernel - mean) * scale).astype(kind)


def normless_pictures(depths, widths, group, side, batch, classes=1000, kind=BF16):
    """NFNet: weights are standardized, not what goes through; grouped convolutions, gates; slopes clipped by units."""
    def conv_shapes(size, inputs, outputs, groups=1):
        return {"kernel": (size, size, inputs // groups, outputs), "gain": (outputs,), "bias": (outputs,)}

    def block_shapes(inputs, width, is_first):
        half = width // 2
        one = {"conv_in": conv_shapes(1, inputs, half), "conv_mid": conv_shapes(3, half, half, half // group),
               "conv_next": conv_shapes(3, half, half, half // group), "conv_out": conv_shapes(1, half, width),
               "squeeze": (width, width // 2), "excite": (width // 2, width), "skip_gain": ()}
        return one | ({"conv_skip": conv_shapes(1, inputs, width)} if is_first else {})

    def make(arrays, change):
        import optax
        from flax import linen as nn
        now, size = kind_of(change, kind), batch // change.batch_divisor
        stem = ((3, 16, 2), (16, 32, 1), (32, 64, 1), (64, 128, 2))
        shapes = {f"stem_conv_{i}": shaped(**conv_shapes(3, before, after))
                  for i, (before, after, _) in enumerate(stem)}
        before, blocks = 128, []
        for stage, (depth, width) in enumerate(zip(depths, widths)):
            for i in range(depth):
                shapes[f"stage_{stage}_block_{i}"] = shaped(**block_shapes(before, width, i == 0))
                blocks.append((f"stage_{stage}_block_{i}", 2 if stage and not i else 1, i))
                before = width
        shapes |= {"final_conv": shaped(**conv_shapes(1, before, 2 * before)),
                   "head": shaped(kernel=(2 * before, classes), bias=(classes,))}

        def conv(p, x, stride=1):
            groups = x.shape[-1] // p["kernel"].shape[2]
            return convolved(x, standard(p, now), stride, groups) + p["bias"].astype(now)

        def active(x):
            return jax.nn.gelu(x) * jnp.asarray(1.7015043, now)

        def block(p, x, stride, place):
            h = active(x) * jnp.asarray((1 + 0.04 * place) ** -0.5, now)
            if "conv_skip" in p:
                x = conv(p["conv_skip"], h if stride == 1 else nn.avg_pool(h, (2, 2), (2, 2), "SAME"))
            h = active(conv(p["conv_in"], h))
            h = active(conv(p["conv_mid"], h, stride))
            h = active(conv(p["conv_next"], h))
            h = conv(p["conv_out"], h)
            seen = jax.nn.relu(h.mean((1, 2)) @ p["squeeze"].astype(now)) @ p["excite"].astype(now)
            h = 2 * jax.nn.sigmoid(seen)[:, None, None] * h
            return x + jnp.asarray(0.2, now) * p["skip_gain"].astype(now) * h

        def loss_of(params, pictures, labels):
            x = pictures.astype(now) / jnp.asarray(127.5, now) - 1
            for i, (_, _, stride) in enumerate(stem):
                x = conv(params[f"stem_conv_{i}"], x, stride)
                x = active(x) if i < len(stem) - 1 else x
            for name, stride, place in blocks:
                def placed_block(p, x, stride=stride, place=place):
                    return block(p, x, stride, place)
                x = maybe_checkpointed(change, placed_block)(params[name], x)
            x = active(conv(params["final_conv"], x)).mean((1, 2))
            logits = x @ params["head"]["kernel"].astype(now) + params["head"]["bias"].astype(now)
            told = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            return optax.softmax_cross_entropy(logits.astype(F32), told).mean()
        optimizer = optax.chain(optax.adaptive_grad_clip(0.01), optax.add_decayed_weights(2e-5, matrices_only),
                                optax.sgd(warmed_up(0.4), momentum=0.9, nesterov=True))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((size, side, side, 3), jnp.uint8), arrays.batch((size,), jnp.int32))
    return make


# --- Pictures made larger ---

def larger_pictures(blocks, width, side, times, batch, kind=F32):
    """EDSR: residual blocks without norms on small cuts, pixels from channels at the end; the mean absolute error."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor

        def conv_shapes(inputs, outputs):
            return {"conv": {"kernel": (3, 3, inputs, outputs), "bias": (outputs,)}}
        shapes = shaped(head=conv_shapes(3, width), body_end=conv_shapes(width, width),
                        wider=conv_shapes(width, times ** 2 * width), tail=conv_shapes(width, 3))
        shapes["body"] = [shaped(first=conv_shapes(width, width), second=conv_shapes(width, width))
                          for _ in range(blocks)]

        def conv(p, x):
            return convolved(x, p["conv"]["kernel"]) + p["conv"]["bias"]

        def block(p, x):
            return x + 0.1 * conv(p["second"], jax.nn.relu(conv(p["first"], x)))

        def spread(x):
            rows, high, wide, channels = x.shape
            x = x.reshape(rows, high, wide, times, times, channels // times ** 2)
            return x.transpose(0, 1, 3, 2, 4, 5).reshape(rows, high * times, wide * times, -1)

        def loss_of(params, small, large):
            p = cast(params, now)
            x = start = conv(p["head"], small.astype(now))
            for one in p["body"]:
                x = maybe_checkpointed(change, block)(one, x)
            x = spread(conv(p["wider"], start + conv(p["body_end"], x)))
            return jnp.abs(conv(p["tail"], x).astype(F32) - large.astype(F32)).mean()
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adam(1e-4, eps=1e-8),
                                arrays.batch((size, side, side, 3), F32),
                                arrays.batch((size, times * side, times * side, 3), F32))
    return make


# --- Parts of pictures ---

def nested_parts(widths, side, channels, classes, batch, kind=F32):
    """UNet++: at each level every node reads all before it there and what is below, made larger; a loss for each."""
    levels = len(widths)

    def make(arrays, change):
        import optax
        from flax import linen as nn
        now, size = kind_of(change, kind), batch // change.batch_divisor
        shapes = {}
        for level, width in enumerate(widths):
            for order in range(levels - level):
                inputs = order * width + widths[level + 1] if order else widths[level - 1] if level else channels
                shapes[f"node_{level}_{order}"] = shaped(
                    conv_0=(3, 3, inputs, width), conv_1=(3, 3, width, width), gain_0=(width,), gain_1=(width,),
                    shift_0=(width,), shift_1=(width,))
        shapes |= {f"head_{i}": shaped(conv=(1, 1, widths[0], classes), bias=(classes,)) for i in range(1, levels)}

        def normed(x, gain, shift):
            """Of each picture and channel by itself."""
            mean = x.mean((1, 2), keepdims=True)
            spread = jnp.square(x - mean).mean((1, 2), keepdims=True)
            return (x - mean) * jax.lax.rsqrt(spread + 1e-5) * gain + shift

        def node(p, *read):
            x = jnp.concatenate(read, -1) if len(read) > 1 else read[0]
            for i in ("0", "1"):
                x = normed(convolved(x, p["conv_" + i]), p["gain_" + i], p["shift_" + i])
                x = jax.nn.leaky_relu(x, 0.01)
            return x

        def halved(x):
            return nn.max_pool(x, (2, 2), (2, 2))

        def doubled(x):
            return jax.image.resize(x, (x.shape[0], 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), "bilinear")

        def loss_of(params, scans, labels):
            p, made = cast(params, now), {}
            for total in range(levels):
                for level in range(total, -1, -1):
                    order = total - level
                    if order:
                        read = [made[level, i] for i in range(order)] + [doubled(made[level + 1, order - 1])]
                    else:
                        read = [halved(made[level - 1, 0]) if level else scans.astype(now)]
                    made[level, order] = maybe_checkpointed(change, node)(p[f"node_{level}_{order}"], *read)
            told, losses = jax.nn.one_hot(labels, classes), []
            for i in range(1, levels):
                logits = convolved(made[0, i], p[f"head_{i}"]["conv"]) + p[f"head_{i}"]["bias"]
                guess = jax.nn.softmax(logits.astype(F32))
                both, either = (guess * told).sum((1, 2)), (guess + told).sum((1, 2))
                losses.append(word_loss(logits, labels) + 1 - ((2 * both + 1) / (either + 1)).mean())
            return sum(losses) / len(losses)
        optimizer = optax.adamw(warmed_up(3e-4), weight_decay=1e-4, mask=matrices_only)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((size, side, side, channels), F32),
                                arrays.batch((size, side, side), jnp.int32))
    return make
