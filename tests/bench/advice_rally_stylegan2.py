"""StyleGAN2 (config F) on faces of 256 x 256: a step of the generator, then one of the discriminator with R1.

Plain jax, pictures [b, h, w, c], weights at equalised rates. Both sides learn by Adam whose first beta is 0, so that
only its squares are kept. The generator's moving average and that of its styles are kept as well.
"""
import math

import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import cast, checkpointed, computing, laid_out, like, raw_key, specs, summed_slopes

F32 = jnp.float32
LAYOUT = ("NHWC", "HWIO", "NHWC")
FILTER = np.outer([1, 3, 3, 1], [1, 3, 3, 1]) / 64


def conv_shapes(kernel, inside, out, style=None):
    shapes = {"w": (kernel, kernel, inside, out), "b": (out,)}
    return shapes if style is None else shapes | {"style": (style, inside), "style_b": (inside,)}


def generator_shapes(widths, style, mapping):
    sides = list(widths)
    shapes = {"mapping": [{"w": (style, style), "b": (style,)} for _ in range(mapping)],
              "constant": (4, 4, widths[4]), "blocks": []}
    for i, side in enumerate(sides):
        block = {"conv1": conv_shapes(3, widths[side], widths[side], style) | {"strength": ()},
                 "rgb": conv_shapes(1, widths[side], 3, style)}
        if i:
            block["conv0"] = conv_shapes(3, widths[sides[i - 1]], widths[side], style) | {"strength": ()}
        shapes["blocks"].append(block)
    return shapes


def discriminator_shapes(widths):
    sides = list(widths)[::-1]
    last = widths[4]
    return {"rgb": conv_shapes(1, 3, widths[sides[0]]),
            "blocks": [{"conv0": conv_shapes(3, widths[a], widths[a]), "conv1": conv_shapes(3, widths[a], widths[b]),
                        "skip": {"w": (1, 1, widths[a], widths[b])}} for a, b in zip(sides, sides[1:])],
            "conv": conv_shapes(3, last + 1, last), "dense": {"w": (16 * last, last), "b": (last,)},
            "out": {"w": (last, 1), "b": (1,)}}


def leaky(x):
    return jax.nn.leaky_relu(x, 0.2) * np.sqrt(2).astype(x.dtype)


def equalised(weight, rate=1.0):
    return weight * (rate / math.sqrt(math.prod(weight.shape[:-1])))


def dense(x, layer, rate=1.0):
    return x @ equalised(layer["w"], rate) + layer["b"] * rate


def conv(x, weight, padding="SAME", stride=1, up=1):
    return jax.lax.conv_general_dilated(x, weight, (stride, stride), padding, (up, up), dimension_numbers=LAYOUT)


def filtered(x, before, after, gain=1.0, up=1, down=1):
    """Each channel by itself, by the binomial filter."""
    width = x.shape[-1]
    kernel = jnp.broadcast_to(jnp.asarray(FILTER * gain, x.dtype)[:, :, None, None], (4, 4, 1, width))
    return jax.lax.conv_general_dilated(x, kernel, (down, down), [(before, after)] * 2, (up, up),
                                        dimension_numbers=LAYOUT, feature_group_count=width)


def modulated(x, layer, w, up=False, demodulate=True):
    """The style scales what goes in, and what comes out is scaled by what the weights have become."""
    style = w @ equalised(layer["style"]) + layer["style_b"] + 1
    weight = equalised(layer["w"])
    x = x * style[:, None, None]
    if up:
        x = conv(x, weight, [(2, 2), (2, 2)], up=2)      # to 2 s + 1, which the filter takes to 2 s
        x = filtered(x, 1, 1, gain=4.0)
    else:
        x = conv(x, weight)
    if demodulate:
        powers = jnp.einsum("bi,io->bo", style ** 2, (weight ** 2).sum((0, 1)))
        x = x * jax.lax.rsqrt(powers + 1e-8)[:, None, None]
    return x


def noisy(x, layer, key):
    noise = jax.random.normal(key, (*x.shape[:3], 1), x.dtype)
    return leaky(x + noise * layer["strength"] + layer["b"])


def synthesis_block(block, x, picture, styles, key):
    keys = jax.random.split(key)
    if "conv0" in block:
        x = noisy(modulated(x, block["conv0"], styles[0], up=True), block["conv0"], keys[0])
    x = noisy(modulated(x, block["conv1"], styles[1]), block["conv1"], keys[1])
    rgb = modulated(x, block["rgb"], styles[2], demodulate=False) + block["rgb"]["b"]
    return x, rgb if picture is None else filtered(picture, 2, 2, gain=4.0, up=2) + rgb


def mapped(params, z):
    w = z * jax.lax.rsqrt((z * z).mean(-1, keepdims=True) + 1e-8)
    for layer in params["mapping"]:
        w = leaky(dense(w, layer, 0.01))
    return w


def generated(change, params, key, z, other):
    """Styles of a second face take over from a random layer on, nine times of ten."""
    at, which, noises = jax.random.split(key, 3)
    w, second = mapped(params, z), mapped(params, other)
    layers = 2 * len(params["blocks"])
    cut = jax.random.randint(at, (), 1, layers)
    cut = jnp.where(jax.random.bernoulli(which, 0.9), cut, layers)
    styles = [jnp.where(i < cut, w, second) for i in range(layers)]
    x = jnp.broadcast_to(params["constant"], (z.shape[0], *params["constant"].shape))
    picture, block_of = None, checkpointed(change, synthesis_block)
    for i, (block, own) in enumerate(zip(params["blocks"], jax.random.split(noises, layers // 2))):
        used = [styles[max(2 * i - 1, 0)], styles[2 * i], styles[2 * i + 1]]
        x, picture = block_of(block, x, picture, used, own)
    return picture, w


def residual_block(block, x):
    y = leaky(conv(x, equalised(block["conv0"]["w"])) + block["conv0"]["b"])
    y = conv(filtered(y, 2, 2), equalised(block["conv1"]["w"]), "VALID", stride=2)
    y = leaky(y + block["conv1"]["b"])
    return (y + conv(filtered(x, 1, 1, down=2), equalised(block["skip"]["w"]))) * math.sqrt(0.5)


def judged(change, params, images, group=4):
    x = leaky(conv(images, equalised(params["rgb"]["w"])) + params["rgb"]["b"])
    block_of = checkpointed(change, residual_block)
    for block in params["blocks"]:
        x = block_of(block, x)
    of_group = x.reshape(group, -1, *x.shape[1:])
    spread = jnp.sqrt(of_group.var(0) + 1e-8).mean((1, 2, 3))
    spread = jnp.tile(spread, group)[:, None, None, None]
    x = jnp.concatenate([x, jnp.broadcast_to(spread, (*x.shape[:3], 1))], -1)
    x = leaky(conv(x, equalised(params["conv"]["w"])) + params["conv"]["b"])
    return dense(leaky(dense(x.reshape(x.shape[0], -1), params["dense"])), params["out"])[:, 0]


def adam(params, squares, slopes, count, rate=0.002, beta=0.99):
    squares = jax.tree.map(lambda s, g: s * beta + (1 - beta) * g * g, squares, slopes)
    sure = 1 - beta ** count.astype(F32)
    new = jax.tree.map(lambda p, s, g: p - rate * g / (jnp.sqrt(s / sure) + 1e-8), params, squares, slopes)
    return like(new, params), squares


def stylegan2(batch, side=256, wide=512, most=32768, style=512, mapping=8, gamma=1.0, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, computing(change, kind)
        widths = {2 ** i: min(wide, most // 2 ** i) for i in range(2, int(math.log2(side)) + 1)}
        g_params = cast(specs(generator_shapes(widths, style, mapping)), change.stored)
        d_params = cast(specs(discriminator_shapes(widths)), change.stored)

        def cast_in(tree):
            return jax.tree.map(lambda leaf: leaf.astype(now), tree)

        def step(state, key, images):
            key, *keys = jax.random.split(key, 5)
            z = jax.random.normal(keys[0], (2, 2, images.shape[0], style), now)

            def generator_loss(params, key, z, other):
                fakes, w = generated(change, cast_in(params), key, z, other)
                scores = judged(change, cast_in(state["d"]), fakes).astype(F32)
                return jax.nn.softplus(-scores).mean(), w.astype(F32).mean(0)

            def discriminator_loss(params, key, images, z, other):
                params, images = cast_in(params), images.astype(now)
                fakes, _ = generated(change, cast_in(g_params), key, z, other)
                scores, back = jax.vjp(lambda images: judged(change, params, images), images)
                slopes, = back(jnp.ones_like(scores))
                penalty = (slopes.astype(F32) ** 2).sum((1, 2, 3)).mean()
                loss = jax.nn.softplus(judged(change, params, jax.lax.stop_gradient(fakes)).astype(F32)).mean()
                return loss + jax.nn.softplus(-scores.astype(F32)).mean() + gamma / 2 * penalty, penalty

            count = state["count"] + 1
            g_loss, w, slopes = summed_slopes(generator_loss, change.parts)(state["g"], keys[1], *z[0])
            g_params, g_squares = adam(state["g"], state["g_squares"], slopes, count)
            d_slopes_of = summed_slopes(discriminator_loss, change.parts)
            d_loss, penalty, slopes = d_slopes_of(state["d"], keys[2], images, *z[1])
            d_params, d_squares = adam(state["d"], state["d_squares"], slopes, count)
            ema = jax.tree.map(lambda e, p: e + (p - e) * (1 - 0.998), state["ema"], g_params)
            middle = state["w_avg"] + (w.mean(0) - state["w_avg"]) * 0.005
            new = {"g": g_params, "d": d_params, "g_squares": g_squares, "d_squares": d_squares, "ema": ema,
                   "w_avg": middle, "count": count}
            return like(new, state), key, {"g": g_loss, "d": d_loss, "r1": penalty.mean()}
        state = {"g": g_params, "d": d_params, "g_squares": g_params, "d_squares": d_params, "ema": g_params,
                 "w_avg": jax.ShapeDtypeStruct((style,), change.stored), "count": jax.ShapeDtypeStruct((), jnp.int32)}
        return step, (laid_out(arrays, state), raw_key(arrays), arrays.batch((rows, side, side, 3), F32)), (0,)
    return make
