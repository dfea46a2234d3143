"""Models of images and of scenes that nobody tunes the advice for: neighbours of advice_blind.py."""
import functools

import jax
import jax.numpy as jnp

from advice_structures import BF16, F32, checkpointed, conv, in_float32, token_loss
from advice_unseen_optimizers import adamw, adamw_state, each, lion, trained


def standardized(x):
    wide = x.astype(F32)
    wide = wide - jnp.mean(wide, -1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6)).astype(x.dtype)


# --- Images ---

def adaptive_norms(layers, width, heads, side, patch, channels, classes, batch):
    """Noise of latents told by a stacked transformer whose norms and gates come of time and class; a slow mean."""
    count, depth = (side // patch) ** 2, width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor

        def stacked(*shape):
            return arrays.parameter((layers, *shape), 1)
        pixels = patch * patch * channels
        params = {"x_embed": arrays.parameter((pixels, width)), "y_embed": arrays.parameter((classes + 1, width), 1),
                  "t_embed": (arrays.parameter((256, width)), arrays.parameter((width, width))),
                  "pos": arrays.parameter((count, width)), "final": (arrays.parameter((width, 2 * width)),
                                                                     arrays.parameter((width, 2 * pixels))),
                  "blocks": {"ada": stacked(width, 6 * width), "ada_bias": arrays.parameter((layers, 6 * width), None),
                             "qkv": stacked(width, 3 * width), "proj": stacked(width, width),
                             "fc1": stacked(width, 4 * width), "fc2": stacked(4 * width, width)}}

        def modulated(x, shift, scale):
            return standardized(x) * (1 + scale[:, None]) + shift[:, None]

        def block(carry, p):
            x, c = carry
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            six = jnp.split(jax.nn.silu(c) @ p["ada"] + p["ada_bias"], 6, -1)
            qkv = (modulated(x, *six[:2]) @ p["qkv"]).reshape(size, count, 3, heads, depth)
            near = jnp.einsum("bqhd,bkhd->bhqk", qkv[:, :, 0], qkv[:, :, 1], preferred_element_type=F32)
            near = jax.nn.softmax(near * depth ** -0.5).astype(BF16)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", near, qkv[:, :, 2]).reshape(x.shape)
            x = x + six[2][:, None] * (mixed @ p["proj"])
            h = jax.nn.gelu(modulated(x, *six[3:5]) @ p["fc1"])
            return (x + six[5][:, None] * (h @ p["fc2"]), c), None

        def predict(params, x, t, y):
            x = x.reshape(size, side // patch, patch, side // patch, patch, channels).swapaxes(2, 3)
            x = x.reshape(size, count, pixels).astype(BF16) @ params["x_embed"].astype(BF16)
            waves = t[:, None] * jnp.exp(-jnp.linspace(0, 9.2, 128))
            waves = jnp.concatenate([jnp.cos(waves), jnp.sin(waves)], -1)
            c = jax.nn.silu(waves @ params["t_embed"][0]) @ params["t_embed"][1] + params["y_embed"][y]
            c = c.astype(BF16)
            x = x + params["pos"].astype(BF16)
            (x, _), _ = jax.lax.scan(checkpointed(change, block), (x, c), params["blocks"])
            both = jnp.split(jax.nn.silu(c) @ params["final"][0].astype(BF16), 2, -1)
            return jnp.split((modulated(x, *both) @ params["final"][1].astype(BF16)).astype(F32), 2, -1)[0]

        def loss_fn(params, latents, labels, key):
            one, two = jax.random.split(key)
            t, noise = jax.random.uniform(one, (size,)), jax.random.normal(two, latents.shape)
            mixed = (1 - t)[:, None, None, None] * latents.astype(F32) + t[:, None, None, None] * noise
            wanted = (noise - latents).reshape(size, side // patch, patch, side // patch, patch, channels)
            return jnp.mean(jnp.square(predict(params, mixed, t * 1000, labels)
                                       - wanted.swapaxes(2, 3).reshape(size, count, pixels)))

        def train_step(state, latents, labels, key):
            loss, grads = jax.value_and_grad(loss_fn)(state["params"], latents, labels, key)
            params, opt = adamw(state["params"], state["opt"], grads)
            slow = each(lambda s, p: 0.9999 * s + 1e-4 * p, state["ema"], params)
            return {"params": params, "opt": opt, "ema": slow}, loss
        state = {"params": params, "opt": adamw_state(arrays, params), "ema": params}
        return train_step, (state, arrays.batch((size, side, side, channels), F32), arrays.batch((size,), jnp.int32),
                            arrays.array((2,), jnp.uint32)), (0,)
    return make


def windowed_stages(counts, widths, heads, window, side, batch, classes=1000):
    """Attention within windows that are shifted in every other layer, biased by place, in stages."""
    def make(arrays, change):
        size, area = batch // change.batch_divisor, window * window

        def layer(width, heads):
            return {"qkv": (arrays.parameter((width, 3 * width)), arrays.parameter((3 * width,), None)),
                    "proj": arrays.parameter((width, width)), "bias": arrays.parameter((heads, area, area), None),
                    "mlp": [arrays.parameter((width, 4 * width)), arrays.parameter((4 * width, width))]}
        params = {"embed": arrays.parameter((4, 4, 3, widths[0]), 3), "head": arrays.parameter((widths[-1], classes)),
                  "stages": [[layer(w, h) for _ in range(n)] for n, w, h in zip(counts, widths, heads)],
                  "merge": [arrays.parameter((4 * a, b)) for a, b in zip(widths, widths[1:])]}

        def attend(p, x, heads, shift):
            edge, width = x.shape[1], x.shape[-1]
            x = jnp.roll(x, (-shift, -shift), (1, 2))
            x = x.reshape(size, edge // window, window, edge // window, window, width).swapaxes(2, 3)
            qkv = x.reshape(-1, area, width) @ p["qkv"][0] + p["qkv"][1]
            q, k, v = jnp.moveaxis(qkv.reshape(-1, area, 3, heads, width // heads), (2, 3), (0, 2))
            near = (q @ k.swapaxes(-1, -2)).astype(F32) * (width // heads) ** -0.5 + p["bias"]
            x = (jax.nn.softmax(near).astype(BF16) @ v).swapaxes(1, 2).reshape(x.shape).swapaxes(2, 3)
            return jnp.roll(x.reshape(size, edge, edge, width), (shift, shift), (1, 2)) @ p["proj"]

        def block(heads, shift, p, x):
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            x = x + attend(p, standardized(x), heads, shift)
            return x + jax.nn.gelu(standardized(x) @ p["mlp"][0]) @ p["mlp"][1]

        def loss_fn(params, images, labels):
            x = conv(images.astype(BF16), params["embed"], 4)
            for s, stage in enumerate(params["stages"]):
                if s:
                    edge = x.shape[1] // 2
                    x = x.reshape(size, edge, 2, edge, 2, -1).swapaxes(2, 3).reshape(size, edge, edge, -1)
                    x = standardized(x) @ params["merge"][s - 1].astype(BF16)
                for i, p in enumerate(stage):
                    x = checkpointed(change, functools.partial(block, heads[s], i % 2 * (window // 2)))(p, x)
            return token_loss(jnp.mean(standardized(x), (1, 2)) @ params["head"].astype(BF16), labels)
        data = arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)
        return trained(loss_fn, lion, params, params, *data)
    return make


def forged_pictures(code, widths, side, batch):
    """A step of a maker of pictures and of who tells them from true ones, one after the other; float32."""
    start = side // 2 ** len(widths)

    def make(arrays, change):
        size = batch // change.batch_divisor
        pairs = list(zip(widths, (*widths[1:], widths[-1])))

        def kernels(enter, leave):
            return [arrays.parameter((3, 3, enter, leave), 3), arrays.parameter((3, 3, leave, leave), 3),
                    arrays.parameter((1, 1, enter, leave), 3)]
        maker = {"dense": arrays.parameter((code, start * start * widths[0])), "up": [kernels(*two) for two in pairs],
                 "rgb": arrays.parameter((3, 3, widths[-1], 3), 3)}
        teller = {"rgb": arrays.parameter((3, 3, 3, widths[-1]), 3), "down": [kernels(b, a) for a, b in pairs[::-1]],
                  "dense": arrays.parameter((widths[0], 1), None)}

        def grow(x, kernels):
            x = jax.image.resize(x, (size, 2 * x.shape[1], 2 * x.shape[2], x.shape[3]), "nearest")
            h = conv(jax.nn.relu(standardized(x)), kernels[0])
            return conv(jax.nn.relu(standardized(h)), kernels[1]) + conv(x, kernels[2])

        def shrink(x, kernels):
            h = conv(jax.nn.leaky_relu(conv(jax.nn.leaky_relu(x), kernels[0])), kernels[1]) + conv(x, kernels[2])
            return jax.lax.reduce_window(h, 0.0, jax.lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4

        def made(params, codes):
            params = in_float32(params)
            x = (codes.astype(F32) @ params["dense"]).reshape(size, start, start, widths[0])
            for kernels in params["up"]:
                x = checkpointed(change, grow)(x, kernels)
            return jnp.tanh(conv(jax.nn.relu(x), params["rgb"]))

        def told(params, x):
            params = in_float32(params)
            x = conv(x, params["rgb"])
            for kernels in params["down"]:
                x = checkpointed(change, shrink)(x, kernels)
            return jnp.sum(jax.nn.relu(x), (1, 2)) @ params["dense"]

        def teller_loss(teller, maker, codes, images):
            false = jax.lax.stop_gradient(made(maker, codes))
            return jnp.mean(jax.nn.relu(1 - told(teller, images.astype(F32))) + jax.nn.relu(1 + told(teller, false)))

        def maker_loss(maker, teller, codes):
            return -jnp.mean(told(teller, made(maker, codes)))

        def train_step(maker, teller, states, codes, images):
            loss_t, grads = jax.value_and_grad(teller_loss)(teller, maker, codes, images)
            teller, state_t = adamw(teller, states[1], grads)
            loss_m, grads = jax.value_and_grad(maker_loss)(maker, teller, codes)
            maker, state_m = adamw(maker, states[0], grads)
            return maker, teller, (state_m, state_t), (loss_m, loss_t)
        states = adamw_state(arrays, maker), adamw_state(arrays, teller)
        return train_step, (maker, teller, states, arrays.batch((size, code), F32),
                            arrays.batch((size, side, side, 3), F32)), (0, 1, 2)
    return make


def rays(layers, width, waves, points, batch):
    """Colours of rays from a dense network of places, written for one point and mapped twice; float32, Adam."""
    enter = 6 * waves + 3

    def make(arrays, change):
        size = batch // change.batch_divisor

        def dense(enter, leave):
            return {"kernel": arrays.parameter((enter, leave)), "bias": arrays.parameter((leave,), None)}
        params = {"trunk": [dense(enter if i == 0 else width + enter * (i == layers // 2), width)
                            for i in range(layers)],
                  "sigma": arrays.parameter((width, 1), None), "view": dense(width + 3, width // 2),
                  "rgb": arrays.parameter((width // 2, 3), None)}

        def layer(p, x):
            return jax.nn.relu(x @ p["kernel"] + p["bias"])

        def field(params, place, toward):
            scaled = jnp.concatenate([place * 2.0 ** i for i in range(waves)])
            seen = jnp.concatenate([place, jnp.sin(scaled), jnp.cos(scaled)])
            x = seen
            for i, p in enumerate(params["trunk"]):
                x = checkpointed(change, layer)(p, jnp.concatenate([x, seen]) if i == layers // 2 else x)
            colour = checkpointed(change, layer)(params["view"], jnp.concatenate([x, toward]))
            return jax.nn.softplus(x @ params["sigma"])[0], jax.nn.sigmoid(colour @ params["rgb"])

        def drawn(params, key, origin, toward):
            depths = jnp.linspace(2.0, 6.0, points) + jax.random.uniform(key, (points,)) * 4 / points
            places = origin + depths[:, None] * toward
            density, colours = jax.vmap(field, (None, 0, None))(params, places, toward)
            opaque = 1 - jnp.exp(-density * jnp.diff(depths, append=1e10))
            left = jnp.cumprod(jnp.concatenate([jnp.ones(1), 1 - opaque[:-1] + 1e-10]))
            return jnp.sum((opaque * left)[:, None] * colours, 0)

        def loss_fn(params, key, origins, towards, wanted):
            keys = jax.random.split(key, size)
            said = jax.vmap(drawn, (None, 0, 0, 0))(in_float32(params), keys, *in_float32((origins, towards)))
            return jnp.mean(jnp.square(said - wanted))
        three = arrays.batch((size, 3), F32)
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), arrays.array((2,), jnp.uint32),
                       three, three, three)
    return make
