"""DiT-XL/2 on latents of ImageNet at 256 pixels: plain dictionaries of arrays, blocks stacked and run by lax.scan.

Each block is shifted, scaled and gated by the time and the class (adaLN-zero). The target is the velocity between noise
and latent; weights are float32, computing is in bfloat16, and an average of the weights is kept.
"""
import math

import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key, specs, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype, maybe_checkpoint


def dit_shapes(layers, dim, hidden, channels, patch, classes):
    def linear(inner, outer, *lead):
        return {"w": (*lead, inner, outer), "b": (*lead, outer)}
    features = patch * patch * channels
    return {
        "patchify": linear(features, dim),
        "time": {"in": linear(256, dim), "out": linear(dim, dim)},
        "label": {"table": (classes + 1, dim)},
        "blocks": {
            "modulation": linear(dim, 6 * dim, layers),
            "qkv": linear(dim, 3 * dim, layers),
            "proj": linear(dim, dim, layers),
            "fc1": linear(dim, hidden, layers),
            "fc2": linear(hidden, dim, layers),
        },
        "final": {"modulation": linear(dim, 2 * dim), "linear": linear(dim, features)},
    }


def apply_linear(p, x):
    return x @ p["w"].astype(x.dtype) + p["b"].astype(x.dtype)


def layer_norm(x):
    x32 = x.astype(F32)
    mean = x32.mean(-1, keepdims=True)
    var = jnp.square(x32 - mean).mean(-1, keepdims=True)
    return ((x32 - mean) * jax.lax.rsqrt(var + 1e-6)).astype(x.dtype)


def modulate(x, shift, scale):
    return layer_norm(x) * (1 + scale[:, None]) + shift[:, None]


def sincos(places, dim):
    omega = jnp.exp(-math.log(10_000.0) * jnp.arange(dim // 2, dtype=F32) / (dim // 2))
    angles = places.astype(F32)[..., None] * omega
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], axis=-1)


def grid_positions(side, dim):
    rows, columns = jnp.meshgrid(jnp.arange(side), jnp.arange(side), indexing="ij")
    return jnp.concatenate([sincos(rows.ravel(), dim // 2), sincos(columns.ravel(), dim // 2)], axis=-1)


def dit_block(heads, p, x, condition):
    batch, tokens, dim = x.shape
    shift_a, scale_a, gate_a, shift_m, scale_m, gate_m = jnp.split(apply_linear(p["modulation"], condition), 6, axis=-1)
    qkv = apply_linear(p["qkv"], modulate(x, shift_a, scale_a)).reshape(batch, tokens, 3, heads, dim // heads)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    attended = jax.nn.dot_product_attention(q, k, v).reshape(batch, tokens, dim)
    x = x + gate_a[:, None] * apply_linear(p["proj"], attended)
    h = jax.nn.gelu(apply_linear(p["fc1"], modulate(x, shift_m, scale_m)), approximate=True)
    return x + gate_m[:, None] * apply_linear(p["fc2"], h)


def forward(params, latents, t, labels, *, heads, patch, dtype, wrap):
    batch, side, _, channels = latents.shape
    grid = side // patch
    x = latents.astype(dtype).reshape(batch, grid, patch, grid, patch, channels)
    x = x.transpose(0, 1, 3, 2, 4, 5).reshape(batch, grid * grid, patch * patch * channels)
    x = apply_linear(params["patchify"], x)
    x = x + grid_positions(grid, x.shape[-1]).astype(dtype)

    embedded = apply_linear(params["time"]["in"], sincos(1000.0 * t, 256).astype(dtype))
    embedded = apply_linear(params["time"]["out"], jax.nn.silu(embedded))
    condition = jax.nn.silu(embedded + params["label"]["table"][labels].astype(dtype))

    def body(x, block):
        return wrap(lambda x, block, c: dit_block(heads, block, x, c))(x, block, condition), None
    x, _ = jax.lax.scan(body, x, params["blocks"])

    shift, scale = jnp.split(apply_linear(params["final"]["modulation"], condition), 2, axis=-1)
    x = apply_linear(params["final"]["linear"], modulate(x, shift, scale))
    x = x.reshape(batch, grid, grid, patch, patch, channels).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(latents.shape).astype(F32)


def dit_flow(layers, dim, heads, patch, side, channels, classes, batch, drop_label=0.1, decay=0.9999, kind=BF16):
    def make(arrays, change):
        import optax
        rows, dtype = batch // change.batch_divisor, compute_dtype(change, kind)
        params = cast(specs(dit_shapes(layers, dim, 4 * dim, channels, patch, classes)), change.stored)
        optimizer = optax.adamw(1e-4, 0.9, 0.999, weight_decay=0.0)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, latents, labels):
            key_t, key_noise, key_drop = jax.random.split(key, 3)
            count = latents.shape[0]
            t = jax.nn.sigmoid(jax.random.normal(key_t, (count,)))
            noise = jax.random.normal(key_noise, latents.shape)
            labels = jnp.where(jax.random.bernoulli(key_drop, drop_label, (count,)), classes, labels)
            mix = t[:, None, None, None]
            velocity = forward(params, (1 - mix) * latents + mix * noise, t, labels, heads=heads, patch=patch,
                               dtype=dtype, wrap=lambda block: maybe_checkpoint(change, block))
            return jnp.mean((velocity - (noise - latents)) ** 2), None

        def train_step(params, ema, opt_state, key, latents, labels):
            key, now = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, now, latents, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            ema = jax.tree.map(lambda old, new: (old + (1 - decay) * (new - old)).astype(old.dtype), ema, params)
            return params, ema, opt_state, key, {"loss": loss, "grad_norm": optax.global_norm(grads)}
        state = [laid_out(arrays, tree, stacks={"blocks": 0}) for tree in (params, params, opt_state)]
        latents = arrays.batch((rows, side, side, channels), F32)
        return train_step, (*state, raw_key(arrays), latents, arrays.batch((rows,), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"tour_dit": dict(
    make=dit_flow(layers=28, dim=1152, heads=16, patch=2, side=32, channels=4, classes=1000, batch=48),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
