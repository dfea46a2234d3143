"""FourCastNet: a global weather model of Adaptive Fourier Neural Operators at a quarter of a degree, 20 fields.

Flax linen. Patches of eight pixels, twelve blocks in a loop: tokens are mixed by a block-diagonal MLP on their two
dimensional spectrum (float32), then by an MLP (bfloat16 activations, float32 weights). Trained on one step with a
relative L2 loss by latitude, Adam with a cosine schedule. The train state is donated.
"""
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype

HEIGHT, WIDTH, CHANNELS, PATCH = 720, 1440, 20, 8
small = nn.initializers.normal(0.02)


def soft_shrink(x, threshold):
    return jnp.sign(x) * jnp.maximum(jnp.abs(x) - threshold, 0)


class AFNO2D(nn.Module):
    dim: int
    num_blocks: int = 8
    sparsity: float = 0.01

    @nn.compact
    def __call__(self, x):
        batch, rows, columns, _ = x.shape
        dtype, size = x.dtype, self.dim // self.num_blocks
        w1 = self.param("w1", small, (2, self.num_blocks, size, size)).astype(F32)
        b1 = self.param("b1", small, (2, self.num_blocks, size)).astype(F32)
        w2 = self.param("w2", small, (2, self.num_blocks, size, size)).astype(F32)
        b2 = self.param("b2", small, (2, self.num_blocks, size)).astype(F32)
        spectrum = jnp.fft.rfft2(x.astype(F32), axes=(1, 2), norm="ortho")
        spectrum = spectrum.reshape(batch, rows, columns // 2 + 1, self.num_blocks, size)
        real, imag = spectrum.real, spectrum.imag
        mul = partial(jnp.einsum, "...bi,bio->...bo")
        real, imag = (nn.relu(mul(real, w1[0]) - mul(imag, w1[1]) + b1[0]),
                      nn.relu(mul(imag, w1[0]) + mul(real, w1[1]) + b1[1]))
        real, imag = (soft_shrink(mul(real, w2[0]) - mul(imag, w2[1]) + b2[0], self.sparsity),
                      soft_shrink(mul(imag, w2[0]) + mul(real, w2[1]) + b2[1], self.sparsity))
        mixed = jax.lax.complex(real, imag).reshape(batch, rows, columns // 2 + 1, self.dim)
        return jnp.fft.irfft2(mixed, s=(rows, columns), axes=(1, 2), norm="ortho").astype(dtype) + x


class Block(nn.Module):
    dim: int
    mlp_ratio: int
    drop_path: float
    dtype: Any

    def dropped(self, x):
        if self.drop_path == 0:
            return x
        keep = jax.random.bernoulli(self.make_rng("drop"), 1 - self.drop_path, (x.shape[0], 1, 1, 1))
        return x * keep.astype(x.dtype) / (1 - self.drop_path)

    @nn.compact
    def __call__(self, x):
        residual = x
        x = AFNO2D(self.dim, name="filter")(nn.LayerNorm(dtype=self.dtype, name="norm1")(x))
        x = x + residual  # two skips, as in the paper's code
        residual = x
        x = nn.LayerNorm(dtype=self.dtype, name="norm2")(x)
        x = nn.Dense(self.mlp_ratio * self.dim, dtype=self.dtype, kernel_init=small, name="fc1")(x)
        x = nn.Dense(self.dim, dtype=self.dtype, kernel_init=small, name="fc2")(nn.gelu(x, approximate=False))
        return residual + self.dropped(x)


class AFNONet(nn.Module):
    dim: int
    depth: int
    mlp_ratio: int
    drop_path: float
    dtype: Any
    remat: bool
    policy: Any

    @nn.compact
    def __call__(self, x):
        batch = x.shape[0]
        x = nn.Conv(self.dim, (PATCH, PATCH), strides=PATCH, padding="VALID", dtype=self.dtype, name="patch")(x)
        x = x + self.param("pos_embed", small, (1, *x.shape[1:])).astype(self.dtype)
        block = nn.remat(Block, policy=self.policy) if self.remat else Block
        for i in range(self.depth):
            rate = self.drop_path * i / max(self.depth - 1, 1)
            x = block(self.dim, self.mlp_ratio, rate, self.dtype, name=f"block_{i}")(x)
        x = nn.Dense(CHANNELS * PATCH * PATCH, use_bias=False, dtype=self.dtype, name="head")(x)
        x = x.reshape(batch, HEIGHT // PATCH, WIDTH // PATCH, PATCH, PATCH, CHANNELS)
        return x.transpose(0, 1, 3, 2, 4, 5).reshape(batch, HEIGHT, WIDTH, CHANNELS)


def fourcastnet(dim, depth, batch, mlp_ratio=4, drop_path=0.1, kind=BF16):
    latitude = np.cos(np.deg2rad(np.linspace(90, -89.75, HEIGHT))).clip(0)
    by_latitude = (latitude / latitude.mean()).astype(np.float32)[:, None, None]

    def make(arrays, change):
        rows = batch // change.batch_divisor
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
        model = AFNONet(dim, depth, mlp_ratio, drop_path, compute_dtype(change, kind), change.rematerialize, policy)

        def init():
            return model.init({"params": jax.random.key(0), "drop": jax.random.key(1)},
                              jnp.zeros((1, HEIGHT, WIDTH, CHANNELS)))["params"]
        params = cast(jax.eval_shape(init), change.stored)
        optimizer = optax.adam(optax.cosine_decay_schedule(5e-4, 80 * 13_000))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, rng, now, after):
            predicted = model.apply({"params": params}, now, rngs={"drop": rng}).astype(F32)
            after = after.astype(F32)
            errors = predicted - after
            of_sample = jnp.sqrt(jnp.sum(jnp.square(errors), (1, 2, 3)) / jnp.sum(jnp.square(after), (1, 2, 3)))
            rmse = jnp.sqrt(jnp.mean(jnp.square(errors) * by_latitude, (0, 1, 2)))
            return of_sample.mean(), rmse

        def train_step(params, opt_state, rng, now, after):
            rng, drop = jax.random.split(rng)
            loss, rmse, grads = summed_slopes(loss_fn, change.parts)(params, drop, now, after)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, rng, {"loss": loss, "rmse": rmse.mean(0)}
        fields = arrays.batch((rows, HEIGHT, WIDTH, CHANNELS), F32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), fields,
                            fields), (0, 1)
    return make


FAMILY = {"cup_afno": dict(
    make=fourcastnet(dim=768, depth=12, batch=4), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
