"""Latte (XL/2) learns to denoise latent videos: 16 frames of 32 x 32 x 4, by blocks over space and over time in turn.

Flax linen; pairs of blocks (spatial, temporal), adaptive layer norms that begin at zero, are scanned over the depth.
Weights, moments and the moving average are float32, the blocks compute in bfloat16. DDPM with learned variances: a mean
squared error of the noise, and a variational bound of the variance; labels are dropped a tenth of the time.
"""
import math

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct

from advice_board_changes import laid_out, like, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

STEPS = 1000
BETAS = np.linspace(1e-4, 0.02, STEPS)
ALPHAS_BAR = np.cumprod(1 - BETAS)
POSTERIOR = BETAS * (1 - np.append(1.0, ALPHAS_BAR[:-1])) / (1 - ALPHAS_BAR)
LOG_POSTERIOR = np.log(np.append(POSTERIOR[1], POSTERIOR[1:]))


def timestep_features(t, width=256):
    angles = t.astype(F32)[:, None] * jnp.exp(-math.log(10_000) * jnp.arange(width // 2) / (width // 2))
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], axis=-1)


def sincos(count, width):
    angles = np.arange(count)[:, None] / 10_000 ** (np.arange(width // 2) / (width // 2))
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1).astype(np.float32)


class AdaBlock(nn.Module):
    width: int
    heads: int
    dtype: object

    @nn.compact
    def __call__(self, x, c):
        """x [n, tokens, width], c [n, width]"""
        n, tokens, width = x.shape
        six = nn.Dense(6 * width, kernel_init=nn.initializers.zeros, dtype=self.dtype, name="ada")(nn.silu(c))
        shift1, scale1, gate1, shift2, scale2, gate2 = jnp.split(six[:, None], 6, axis=-1)

        def norm(x):
            return nn.LayerNorm(use_scale=False, use_bias=False, epsilon=1e-6, dtype=self.dtype)(x)
        y = norm(x) * (1 + scale1) + shift1
        qkv = nn.Dense(3 * width, kernel_init=nn.initializers.xavier_uniform(), dtype=self.dtype, name="qkv")(y)
        q, k, v = jnp.split(qkv.reshape(n, tokens, 3 * self.heads, -1), 3, axis=2)
        y = jax.nn.dot_product_attention(q, k, v).reshape(n, tokens, width)
        x = x + gate1 * nn.Dense(width, dtype=self.dtype, name="proj")(y)
        y = norm(x) * (1 + scale2) + shift2
        y = nn.gelu(nn.Dense(4 * width, dtype=self.dtype, name="fc1")(y))
        return x + gate2 * nn.Dense(width, dtype=self.dtype, name="fc2")(y)


class SpaceTime(nn.Module):
    width: int
    heads: int
    dtype: object

    @nn.compact
    def __call__(self, x, c):
        """x [batch, frames, patches, width]"""
        b, f, p, w = x.shape
        x = AdaBlock(self.width, self.heads, self.dtype, name="spatial")(
            x.reshape(b * f, p, w), jnp.repeat(c, f, axis=0)).reshape(b, f, p, w)
        x = x.swapaxes(1, 2).reshape(b * p, f, w)
        x = AdaBlock(self.width, self.heads, self.dtype, name="temporal")(x, jnp.repeat(c, p, axis=0))
        return x.reshape(b, p, f, w).swapaxes(1, 2), None


class Latte(nn.Module):
    depth: int
    width: int
    heads: int
    patch: int
    classes: int
    dtype: object
    change: object

    @nn.compact
    def __call__(self, videos, t, labels):
        b, f, side, _, channels = videos.shape
        grid = side // self.patch
        x = nn.Conv(self.width, (self.patch, self.patch), strides=self.patch, padding="VALID", dtype=self.dtype,
                    name="patch")(videos.reshape(b * f, side, side, channels).astype(self.dtype))
        x = x.reshape(b, f, grid * grid, self.width)
        x = x + jnp.asarray(sincos(grid * grid, self.width), self.dtype)
        x = x + jnp.asarray(sincos(f, self.width), self.dtype)[:, None]
        c = nn.Dense(self.width, dtype=self.dtype, name="t1")(timestep_features(t).astype(self.dtype))
        c = nn.Dense(self.width, dtype=self.dtype, name="t2")(nn.silu(c))
        c = c + nn.Embed(self.classes + 1, self.width, dtype=self.dtype, name="label")(labels)
        pair = SpaceTime
        if self.change.rematerialize:
            pair = nn.remat(SpaceTime, prevent_cse=False, policy=checkpoint_policy(self.change))
        stack = nn.scan(pair, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast,
                        length=self.depth // 2)
        x, _ = stack(self.width, self.heads, self.dtype, name="pairs")(x, c)
        shift, scale = jnp.split(nn.Dense(2 * self.width, dtype=self.dtype, name="ada")(nn.silu(c)), 2, axis=-1)
        x = nn.LayerNorm(use_scale=False, use_bias=False, dtype=self.dtype)(x)
        x = x * (1 + scale[:, None, None]) + shift[:, None, None]
        x = nn.Dense(self.patch ** 2 * 2 * channels, kernel_init=nn.initializers.zeros, dtype=self.dtype, name="out")(x)
        x = x.reshape(b, f, grid, grid, self.patch, self.patch, 2 * channels).swapaxes(3, 4)
        return x.reshape(b, f, side, side, 2 * channels).astype(F32)


@struct.dataclass
class State:
    params: dict
    ema: dict
    opt_state: tuple
    step: jax.Array


def spread(table, t):
    return jnp.asarray(table, F32)[t].reshape(-1, 1, 1, 1, 1)


def losses(out, x0, noisy, noise, t):
    """The error of the noise, and the bound of the variance for a mean that is not to learn from it."""
    guess, mix = jnp.split(out, 2, axis=-1)
    mix = (mix + 1) / 2
    log_variance = mix * spread(np.log(BETAS), t) + (1 - mix) * spread(LOG_POSTERIOR, t)
    before = np.append(1.0, ALPHAS_BAR[:-1])
    first = BETAS * np.sqrt(before) / (1 - ALPHAS_BAR)
    guessed = (noisy - spread(np.sqrt(1 - ALPHAS_BAR), t) * jax.lax.stop_gradient(guess)) / spread(
        np.sqrt(ALPHAS_BAR), t)
    apart = spread(first, t) * (x0 - guessed)
    true = spread(LOG_POSTERIOR, t)
    bound = 0.5 * (log_variance - true - 1 + jnp.exp(true - log_variance) + apart ** 2 * jnp.exp(-log_variance))
    return jnp.mean((guess - noise) ** 2), jnp.mean(bound) / math.log(2) * STEPS / 1000


def latte(depth, width, heads, frames, side, batch, classes=101, channels=4, patch=2, decay=0.9999, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        length = frames // change.length_divisor
        model = Latte(depth, width, heads, patch, classes, now, change)
        ids = jnp.zeros((1,), jnp.int32)
        params = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, length, side, side, channels)), ids, ids)
        params = cast(params["params"], change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(0.1), optax.adamw(1e-4, weight_decay=0.0))
        state = State(params, params, jax.eval_shape(optimizer.init, params), jax.ShapeDtypeStruct((), jnp.int32))

        def loss_fn(params, key, x0, labels):
            t_key, noise_key, drop_key = jax.random.split(key, 3)
            x0 = x0.astype(F32)
            t = jax.random.randint(t_key, labels.shape, 0, STEPS)
            noise = jax.random.normal(noise_key, x0.shape)
            noisy = spread(np.sqrt(ALPHAS_BAR), t) * x0 + spread(np.sqrt(1 - ALPHAS_BAR), t) * noise
            labels = jnp.where(jax.random.bernoulli(drop_key, 0.1, labels.shape), classes, labels)
            out = model.apply({"params": params}, noisy, t, labels)
            mse, bound = losses(out, x0, noisy, noise, t)
            return mse + bound, {"mse": mse, "vb": bound}

        def train_step(state, rng, latents, labels):
            rng, key = jax.random.split(rng)
            loss, parts, grads = summed_slopes(loss_fn, change.parts)(state.params, key, latents, labels)
            params, opt_state = updated(optimizer, grads, state.opt_state, state.params)
            ema = like(jax.tree.map(lambda e, p: e * decay + p * (1 - decay), state.ema, params), state.ema)
            return State(params, ema, opt_state, state.step + 1), rng, {"loss": loss, **jax.tree.map(jnp.mean, parts)}
        return train_step, (laid_out(arrays, state, {"pairs": 0}), raw_key(arrays),
                            arrays.batch((rows, length, side, side, channels), F32),
                            arrays.batch((rows,), jnp.int32)), (0,)
    return make


FAMILY = {"cup_latte_video": dict(
    make=latte(depth=28, width=1152, heads=16, frames=16, side=32, batch=4), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
