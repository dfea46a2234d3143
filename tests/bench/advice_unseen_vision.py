"""Models of images that no rule of the advice was made for: the neighbours of what advice_unseen.py has of language."""
import functools

import jax
import jax.numpy as jnp

from advice_structures import BF16, F32, checkpointed, conv, in_float32, token_loss
from advice_unseen import layer_norm, whitened
from advice_unseen_optimizers import adagrad, adamw, adamw_state, each, lion, nesterov, trained


# --- Transformers ---

def image_transformer(layers, width, heads, patch, side, batch, classes=1000):
    """Written for one image and mapped over all of them, layers stacked, a token for the class; sign-based updates."""
    def make(arrays, change):
        size, count, depth = batch // change.batch_divisor, (side // patch) ** 2, width // heads

        def stacked(*shape, split=1):
            return arrays.parameter((layers, *shape), split)
        params = {"patch": {"w": arrays.parameter((patch * patch * 3, width)), "b": arrays.parameter((width,), None)},
                  "class": arrays.parameter((1, width), None), "pos": arrays.parameter((count + 1, width), None),
                  "head": arrays.parameter((width, classes)),
                  "blocks": {"q": stacked(width, width), "k": stacked(width, width), "v": stacked(width, width),
                             "o": stacked(width, width), "fc1": stacked(width, 3 * width), "fc2": stacked(
                                 3 * width, width), "ln": stacked(4, width, split=None)}}

        def block(x, p):
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            h = layer_norm(x, p["ln"][0], p["ln"][1])
            q, k, v = (jnp.reshape(h @ p[n], (-1, heads, depth)) for n in "qkv")
            near = jax.nn.softmax(jnp.einsum("ihd,jhd->hij", q, k).astype(F32) / depth ** 0.5)
            x = x + jnp.einsum("hij,jhd->ihd", near.astype(BF16), v).reshape(x.shape) @ p["o"]
            h = layer_norm(x, p["ln"][2], p["ln"][3])
            return x + jax.nn.gelu(h @ p["fc1"]) @ p["fc2"], ()

        def scores_of(params, image):
            pieces = image.reshape(side // patch, patch, side // patch, patch, 3).swapaxes(1, 2).reshape(count, -1)
            x = pieces.astype(BF16) @ params["patch"]["w"].astype(BF16) + params["patch"]["b"].astype(BF16)
            x = jnp.concatenate([params["class"].astype(BF16), x]) + params["pos"].astype(BF16)
            x, _ = jax.lax.scan(checkpointed(change, block), x, params["blocks"])
            return whitened(x[0]) @ params["head"].astype(BF16)

        def loss_fn(params, images, labels):
            return token_loss(jax.vmap(scores_of, (None, 0))(params, images), labels)
        data = arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)
        return trained(loss_fn, lion, params, params, *data)
    return make


def image_text(images, texts, shared, patch, side, vocabulary, batch, length):
    """Pictures and their captions held against each other; either tower is (layers, width, heads)."""
    def make(arrays, change):
        size, count = batch // change.batch_divisor, (side // patch) ** 2

        def tower(layers, width, _):
            layer = {"wi": arrays.parameter((width, 7 * width)), "wo": arrays.parameter((5 * width, width)),
                     "scale": arrays.parameter((width,), None)}
            return [layer] * layers, arrays.parameter((width, shared))
        params = {"pixels": arrays.parameter((patch, patch, 3, images[1]), 3),
                  "where": arrays.parameter((count, images[1])), "when": arrays.parameter((length, texts[1])),
                  "words": arrays.parameter((vocabulary, texts[1])),
                  "image": tower(*images), "text": tower(*texts), "heat": arrays.parameter((), None)}

        def block(heads, is_causal, x, p):
            """Attention and the units beside it, of one product each way."""
            width = x.shape[-1]
            q, k, v, h = jnp.split(whitened(x) * p["scale"].astype(x.dtype) @ p["wi"].astype(x.dtype),
                                   [width, 2 * width, 3 * width], -1)
            q, k, v = (t.reshape(*t.shape[:2], heads, -1) for t in (q, k, v))
            scores = jnp.einsum("aphd,aqhd->ahpq", q, k).astype(F32) / (width // heads) ** 0.5
            if is_causal:
                scores += jnp.triu(jnp.full(scores.shape[-2:], -1e9), 1)
            mixed = jnp.einsum("ahpq,aqhd->aphd", jax.nn.softmax(scores).astype(x.dtype), v).reshape(x.shape)
            return x + jnp.concatenate([mixed, jax.nn.gelu(h)], -1) @ p["wo"].astype(x.dtype)

        def run(tower, x, heads, is_causal):
            layers, out = tower
            for p in layers:
                x = checkpointed(change, functools.partial(block, heads, is_causal))(x, p)
            x = (x[:, -1] if is_causal else x.mean(1)).astype(F32) @ out.astype(F32)
            return x / jnp.linalg.norm(x, axis=-1, keepdims=True)

        def loss_fn(params, pictures, captions):
            x = conv(pictures.astype(BF16), params["pixels"], patch).reshape(size, count, -1)
            one = run(params["image"], x + params["where"].astype(BF16), images[2], False)
            two = run(params["text"], (params["words"][captions] + params["when"]).astype(BF16), texts[2], True)
            alike = jnp.exp(params["heat"].astype(F32)) * one @ two.T
            return token_loss(alike, jnp.arange(size)) + token_loss(alike.T, jnp.arange(size))
        data = arrays.batch((size, side, side, 3), F32), arrays.batch((size, length), jnp.int32)
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), *data)
    return make


# --- Convolutions ---

def running_norm(x, p, running):
    """Standardized over the batch in float32, and the running means that it leaves."""
    wide = x.astype(F32)
    mean, spread = wide.mean((0, 1, 2)), wide.var((0, 1, 2))
    y = (wide - mean) * jax.lax.rsqrt(spread + 1e-5) * p["gamma"].astype(F32) + p["beta"].astype(F32)
    return y.astype(x.dtype), each(lambda old, new: 0.9 * old + 0.1 * new, running, {"mean": mean, "var": spread})


def plain_residual(counts, widths, side, batch, kind, classes=200):
    """Residual blocks of two 3x3 convolutions, stages of unequal depth, running means beside the weights."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def norm(width):
            return {"gamma": arrays.parameter((width,), None), "beta": arrays.parameter((width,), None)}

        def unit(enter, width):
            made = {"conv1": arrays.parameter((3, 3, enter, width), 3), "bn1": norm(width),
                    "conv2": arrays.parameter((3, 3, width, width), 3), "bn2": norm(width)}
            return made | ({"down": arrays.parameter((1, 1, enter, width), 3)} if enter != width else {})

        def seen(width):
            return {n: arrays.parameter((width,), None) for n in ("mean", "var")}
        enters = (widths[0], *widths)
        units = [unit(enters[s] if i == 0 else widths[s], widths[s]) for s, n in enumerate(counts) for i in range(n)]
        params = {"stem": arrays.parameter((3, 3, 3, widths[0]), 3), "units": units,
                  "fc": arrays.parameter((widths[-1], classes))}
        running = [[seen(w)] * 2 for w, n in zip(widths, counts) for _ in range(n)]

        def block(x, p, old):
            stride = 2 if "down" in p else 1
            h, new1 = running_norm(conv(x, p["conv1"], stride), p["bn1"], old[0])
            h, new2 = running_norm(conv(jax.nn.relu(h), p["conv2"]), p["bn2"], old[1])
            return jax.nn.relu(h + (conv(x, p["down"], stride) if "down" in p else x)), [new1, new2]

        def loss_fn(params, running, images, labels):
            x, news = conv(images.astype(kind), params["stem"], 2), []
            for p, old in zip(params["units"], running):
                x, new = checkpointed(change, block)(x, p, old)
                news.append(new)
            return token_loss(x.mean((1, 2)) @ params["fc"].astype(kind), labels), news

        def train_step(params, velocity, running, images, labels):
            (loss, running), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, running, images, labels)
            return *nesterov(params, velocity, grads), running, loss
        data = arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)
        return train_step, (params, params, running, *data), (0, 1, 2)
    return make


def depthwise_stages(counts, widths, side, batch, classes=1000):
    """7x7 depthwise convolutions and wide 1x1 ones; each stage a scan over its blocks, the stages unequal."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def stage(count, enter, width, by):
            return {"down": arrays.parameter((by, by, enter, width), 3), "blocks": {
                "dw": arrays.parameter((count, 7, 7, 1, width), 4), "rest": arrays.parameter((count, 3, width), None),
                "pw1": arrays.parameter((count, width, 4 * width), 1),
                "pw2": arrays.parameter((count, 4 * width, width), 1)}}
        enters, factors = (3, *widths), (4, 2, 2, 2)
        params = {"stages": [stage(*four) for four in zip(counts, enters, widths, factors)],
                  "top": arrays.parameter((widths[-1], classes))}

        def block(x, p):
            scale, shift, gamma = p["rest"].astype(x.dtype)
            h = jax.lax.conv_general_dilated(x, p["dw"].astype(x.dtype), (1, 1), "SAME",
                                             feature_group_count=x.shape[-1],
                                             dimension_numbers=("NHWC", "HWIO", "NHWC"))
            h = jax.nn.gelu(layer_norm(h, scale, shift) @ p["pw1"].astype(x.dtype))
            return x + gamma * (h @ p["pw2"].astype(x.dtype)), None

        def loss_fn(params, images, labels):
            x = images.astype(BF16)
            for p, by in zip(params["stages"], factors):
                x = conv(x, p["down"], by)
                x, _ = jax.lax.scan(checkpointed(change, block), x, p["blocks"])
            return token_loss(x.mean((1, 2)) @ params["top"].astype(x.dtype), labels)
        data = arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), *data)
    return make


def noise_predictor(widths, side, batch, depth):
    """Group norms, times as waves, attention where the picture is smallest, and a slow mean of the weights."""
    top = widths[-1]

    def make(arrays, change):
        size = batch // change.batch_divisor

        def res(enter, width):
            return {"c1": arrays.parameter((3, 3, enter, width), 3), "c2": arrays.parameter((3, 3, width, width), 3),
                    "t": arrays.parameter((4 * widths[0], width)), "skip": arrays.parameter((1, 1, enter, width), 3)}
        down = [[res(a, b)] + [res(b, b) for _ in range(depth - 1)] for a, b in zip((widths[0], *widths), widths)]
        up = [[res(2 * b, a)] + [res(a, a) for _ in range(depth - 1)] for a, b in zip((widths[0], *widths), widths)]
        params = {"in": arrays.parameter((3, 3, 3, widths[0]), 3), "time": arrays.parameter((widths[0], 4 * widths[0])),
                  "down": down, "qkv": arrays.parameter((top, 3 * top)), "proj": arrays.parameter((top, top)),
                  "up": up, "out": arrays.parameter((3, 3, widths[0], 3), 3)}

        def group_norm(x):
            grouped = x.reshape(*x.shape[:3], 8, -1).astype(F32)
            grouped = grouped - grouped.mean((1, 2, 4), keepdims=True)
            grouped = grouped * jax.lax.rsqrt(grouped.var((1, 2, 4), keepdims=True) + 1e-5)
            return grouped.reshape(x.shape).astype(x.dtype)

        def resnet(x, p, t):
            h = conv(jax.nn.swish(group_norm(x)), p["c1"]) + (t @ p["t"].astype(x.dtype))[:, None, None]
            return conv(x, p["skip"]) + conv(jax.nn.swish(group_norm(h)), p["c2"])

        def attend(x, params):
            q, k, v = jnp.split(group_norm(x).reshape(size, -1, top) @ params["qkv"].astype(x.dtype), 3, -1)
            near = jax.nn.softmax(jnp.einsum("bic,bjc->bij", q, k).astype(F32) * top ** -0.5).astype(x.dtype)
            return x + (jnp.einsum("bij,bjc->bic", near, v) @ params["proj"].astype(x.dtype)).reshape(x.shape)

        def predict(params, x, times):
            one = checkpointed(change, resnet)
            waves = times.astype(F32)[:, None] * jnp.exp(-jnp.arange(widths[0] // 2) / 16.0)
            t = jnp.concatenate([jnp.sin(waves), jnp.cos(waves)], -1).astype(BF16) @ params["time"].astype(BF16)
            x, kept = conv(x.astype(BF16), params["in"]), []
            for level in params["down"]:
                for p in level:
                    x = one(x, p, t)
                kept.append(x)
                x = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
            x = attend(x, params)
            for level in reversed(params["up"]):
                x = jax.image.resize(x, (size, 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), "nearest")
                x = jnp.concatenate([x, kept.pop()], -1)
                for p in level:
                    x = one(x, p, t)
            return conv(jax.nn.swish(group_norm(x)), params["out"])

        def loss_fn(params, images, noise, times):
            level = jnp.cos(times / 1000)[:, None, None, None]
            mixed = level * images.astype(F32) + jnp.sqrt(1 - level * level) * noise.astype(F32)
            return jnp.mean(jnp.square(predict(params, mixed, times).astype(F32) - noise))

        def train_step(params, slow, opt_state, images, noise, times):
            loss, grads = jax.value_and_grad(loss_fn)(params, images, noise, times)
            params, opt_state = adamw(params, opt_state, grads)
            return params, each(lambda s, p: 0.999 * s + 0.001 * p, slow, params), opt_state, loss
        images = arrays.batch((size, side, side, 3), F32)
        return train_step, (params, params, adamw_state(arrays, params), images, images,
                            arrays.batch((size,), jnp.int32)), (0, 1, 2)
    return make


def sampled_code(pixels, widths, code, samples, batch):
    """A variational autoencoder of dense layers, several codes drawn for each image and read by lax.map; float32."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def dense(*sizes):
            return [(arrays.parameter(two), arrays.parameter(two[1:], None)) for two in zip(sizes, sizes[1:])]
        params = dense(pixels, *widths, 2 * code), dense(code, *reversed(widths), pixels)

        def run(layers, x):
            def hidden(x, layer):
                return jnp.tanh(x @ layer[0] + layer[1])
            for layer in layers[:-1]:
                x = checkpointed(change, hidden)(x, layer)
            return x @ layers[-1][0] + layers[-1][1]

        def loss_fn(params, key, images):
            (encoder, decoder), images = in_float32(params), images.astype(F32)
            mean, spread = jnp.split(run(encoder, images), 2, -1)

            def one(key):
                noise = jax.random.normal(key, mean.shape)
                drawn = mean + jnp.exp(spread) * noise
                logits = run(decoder, drawn)
                fits = jnp.sum(images * logits - jax.nn.softplus(logits), -1)
                return fits + jnp.sum(0.5 * (jnp.square(noise) - jnp.square(drawn)) + spread, -1)
            bounds = jax.lax.map(one, jax.random.split(key, samples))
            return -jnp.mean(jax.nn.logsumexp(bounds, 0))
        data = arrays.array((2,), jnp.uint32), arrays.batch((size, pixels), F32)
        return trained(loss_fn, adagrad, params, params, *data)
    return make
