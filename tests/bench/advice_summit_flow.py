"""Stable Diffusion 3's MMDiT, trained by rectified flow: plain jax, a scan over blocks, Lion, an average of weights.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Picture and text have weights of their own
and attend to each other; of the last block the text is only read. Texts come encoded, and are dropped for one in ten.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import (cast, checkpointed, computing, laid_out, like, matrices_only, raw_key, specs,
                                  summed_slopes, updated)
from advice_board_training import BF16, F32

STACKS = {"blocks": 0}


def linear_shapes(rows, columns, *lead):
    return {"w": (*lead, rows, columns), "b": (*lead, columns)}


def stream_shapes(width, side, *lead, only_read=False):
    shapes = {"modulation": linear_shapes(width, (2 if only_read else 6) * width, *lead),
              "qkv": linear_shapes(width, 3 * width, *lead), "q_norm": (*lead, side), "k_norm": (*lead, side)}
    if only_read:
        return shapes
    return {**shapes, "proj": linear_shapes(width, width, *lead), "fc1": linear_shapes(width, 4 * width, *lead),
            "fc2": linear_shapes(4 * width, width, *lead)}


def mmdit_shapes(depth, patch, channels, texts, pooled, places):
    width, side, lead = 64 * depth, 64, depth - 1
    return specs({
        "x_embed": linear_shapes(patch * patch * channels, width), "places": (places, places, width),
        "t_embed": [linear_shapes(256, width), linear_shapes(width, width)],
        "y_embed": [linear_shapes(pooled, width), linear_shapes(width, width)],
        "context_embed": linear_shapes(texts, width),
        "blocks": {"x": stream_shapes(width, side, lead), "context": stream_shapes(width, side, lead)},
        "last": {"x": stream_shapes(width, side), "context": stream_shapes(width, side, only_read=True)},
        "final": {"modulation": linear_shapes(width, 2 * width),
                  "out": linear_shapes(width, patch * patch * channels)}})


def linear(p, x):
    return x @ p["w"].astype(x.dtype) + p["b"].astype(x.dtype)


def plain_norm(x):
    y = x.astype(F32)
    y = y - y.mean(-1, keepdims=True)
    return (y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype)


def rms_norm(scale, x):
    y = x.astype(F32)
    return (y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6) * scale.astype(F32)).astype(x.dtype)


def shifted(x, shift, scale):
    return plain_norm(x) * (1 + scale[:, None]) + shift[:, None]


def two_layers(p, x):
    return linear(p[1], jax.nn.silu(linear(p[0], x)))


def waves(times, now, size=256):
    rates = jnp.exp(-jnp.log(1e4) * jnp.arange(size // 2) / (size // 2))
    angles = times[:, None] * rates
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1).astype(now)


def joint_block(block, x, context, vector):
    """Both streams after one attention over all their tokens; context is None where it was only read."""
    def before(p, x):
        parts = linear(p["modulation"], jax.nn.silu(vector))
        parts = jnp.split(parts, parts.shape[-1] // x.shape[-1], -1)
        q, k, v = jnp.split(linear(p["qkv"], shifted(x, *parts[:2])), 3, -1)
        q, k, v = (a.reshape(*a.shape[:2], -1, p["q_norm"].shape[-1]) for a in (q, k, v))
        return (rms_norm(p["q_norm"], q), rms_norm(p["k_norm"], k), v), parts

    def after(p, x, mixed, parts):
        x = x + parts[2][:, None] * linear(p["proj"], mixed)
        inner = jax.nn.gelu(linear(p["fc1"], shifted(x, *parts[3:5])))
        return x + parts[5][:, None] * linear(p["fc2"], inner)
    of_text, text_parts = before(block["context"], context)
    of_picture, parts = before(block["x"], x)
    q, k, v = (jnp.concatenate(pair, 1) for pair in zip(of_text, of_picture))
    mixed = jax.nn.dot_product_attention(q, k, v).reshape(*q.shape[:2], -1)
    said = context.shape[1]
    if "proj" in block["context"]:
        context = after(block["context"], context, mixed[:, :said], text_parts)
    else:
        context = None
    return after(block["x"], x, mixed[:, said:], parts), context


def mmdit(change, now, patch):
    def velocity_of(params, latents, times, texts, pooled):
        rows, high, wide, channels = latents.shape
        grid = high // patch, wide // patch
        x = latents.reshape(rows, grid[0], patch, grid[1], patch, channels).transpose(0, 1, 3, 2, 4, 5)
        x = linear(params["x_embed"], x.reshape(rows, *grid, -1).astype(now))
        first = [(params["places"].shape[0] - side) // 2 for side in grid]
        places = jax.lax.dynamic_slice(params["places"], (*first, 0), (*grid, x.shape[-1]))
        x = (x + places.astype(now)).reshape(rows, grid[0] * grid[1], -1)
        context = linear(params["context_embed"], texts.astype(now))
        vector = two_layers(params["t_embed"], waves(1000 * times, now))
        vector = vector + two_layers(params["y_embed"], pooled.astype(now))

        def body(streams, block):
            return checkpointed(change, joint_block)(cast(block, now), *streams, vector), None
        (x, context), _ = jax.lax.scan(body, (x, context), params["blocks"])
        x, _ = checkpointed(change, joint_block)(cast(params["last"], now), x, context, vector)
        shift, scale = jnp.split(linear(params["final"]["modulation"], jax.nn.silu(vector)), 2, -1)
        x = linear(params["final"]["out"], shifted(x, shift, scale))
        x = x.reshape(rows, *grid, patch, patch, channels).transpose(0, 1, 3, 2, 4, 5)
        return x.reshape(latents.shape)
    return velocity_of


def rectified_flow(depth, batch, side, channels=16, patch=2, texts=4096, said=154, pooled=2048, places=192, kind=BF16):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        velocity_of = mmdit(change, now, patch)
        params = cast(mmdit_shapes(depth, patch, channels, texts, pooled, places), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.lion(2e-5, b1=0.95, b2=0.98, weight_decay=1e-2, mask=matrices_only))

        def loss_of(params, key, latents, texts, pooled):
            at, noise, dropped = jax.random.split(key, 3)
            times = jax.nn.sigmoid(jax.random.normal(at, latents.shape[:1]))
            noise = jax.random.normal(noise, latents.shape)
            kept = jax.random.bernoulli(dropped, 0.9, latents.shape[:1])
            clean, t = latents.astype(F32), times[:, None, None, None]
            told = velocity_of(params, (1 - t) * clean + t * noise, times, texts * kept[:, None, None],
                               pooled * kept[:, None])
            return jnp.square(told.astype(F32) - (noise - clean)).mean(), None

        def train_step(params, average, state, key, latents, texts, pooled):
            key, used = jax.random.split(key)
            loss, _, slopes = summed_slopes(loss_of, change.parts)(params, used, latents, texts, pooled)
            params, state = updated(optimizer, slopes, state, params)
            average = like(optax.incremental_update(params, average, 1e-4), average)
            return params, average, state, key, loss
        arguments = (laid_out(arrays, params, STACKS), laid_out(arrays, params, STACKS),
                     laid_out(arrays, jax.eval_shape(optimizer.init, params), STACKS), raw_key(arrays),
                     arrays.batch((rows, side, side, channels), F32), arrays.batch((rows, said, texts), BF16),
                     arrays.batch((rows, pooled), BF16))
        return train_step, arguments, (0, 1, 2, 3)
    return make
