"""data2vec on pictures, ViT-Large: a student sees 40% of the patches and regresses an averaged teacher's layers.

Flax linen with nn.scan over 24 blocks, float32 weights and bfloat16 blocks. The teacher is a moving average of the
student without gradients; its target is the mean of the last layers, normalized. AdamW, smooth L1, nothing donated.
"""
import functools
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, like, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

trunc = nn.initializers.truncated_normal(0.02)


class EncoderBlock(nn.Module):
    dim: int
    heads: int
    dtype: Any

    @nn.compact
    def __call__(self, x, rate):
        dense = functools.partial(nn.Dense, dtype=self.dtype, kernel_init=trunc)
        norm = functools.partial(nn.LayerNorm, epsilon=1e-6, dtype=self.dtype)

        def scaled(name, y):
            y = y * self.param(name, nn.initializers.constant(1e-4), (self.dim,)).astype(self.dtype)
            if not self.has_rng("drop_path"):
                return y
            keep = jax.random.uniform(self.make_rng("drop_path"), (y.shape[0], 1, 1)) >= rate
            return jnp.where(keep, y / (1 - rate).astype(y.dtype), jnp.zeros_like(y))

        b, n, _ = x.shape
        qkv = dense(3 * self.dim, name="qkv")(norm(name="norm1")(x)).reshape(b, n, 3, self.heads, -1)
        y = jax.nn.dot_product_attention(qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]).reshape(b, n, self.dim)
        x = x + scaled("gamma1", dense(self.dim, name="proj")(y))
        y = dense(4 * self.dim, name="fc1")(norm(name="norm2")(x))
        y = scaled("gamma2", dense(self.dim, name="fc2")(nn.gelu(y)))
        return x + y, y


class Tower(nn.Module):
    layers: int
    dim: int
    heads: int
    patch: int
    top: int
    dtype: Any
    drop: float = 0.2
    block: Any = EncoderBlock

    @nn.compact
    def __call__(self, images, mask=None):
        """Final tokens [b, n, d]; with no mask, the mean of what the last `top` MLPs gave, normalized."""
        x = nn.Conv(self.dim, (self.patch,) * 2, (self.patch,) * 2, padding="VALID", dtype=self.dtype,
                    kernel_init=trunc, name="patch_embed")(images.astype(self.dtype))
        x = x.reshape(x.shape[0], -1, self.dim)
        hole = self.param("mask_token", trunc, (self.dim,)).astype(self.dtype)
        if mask is not None:
            x = jnp.where(mask[..., None], hole, x)
        x = x + self.param("pos_embed", trunc, (x.shape[1], self.dim)).astype(self.dtype)
        rates = jnp.linspace(0.0, self.drop, self.layers)
        scan = nn.scan(self.block, variable_axes={"params": 0}, split_rngs={"params": True, "drop_path": True},
                       length=self.layers)
        x, outs = scan(self.dim, self.heads, self.dtype, name="blocks")(x, rates)
        x = nn.LayerNorm(epsilon=1e-6, dtype=self.dtype, name="norm")(x)
        prediction = nn.Dense(self.dim, dtype=self.dtype, kernel_init=trunc, name="head")(x)
        if mask is not None:
            return prediction.astype(F32)
        tops = outs[-self.top:].astype(F32)
        tops = (tops - tops.mean(-2, keepdims=True)) * jax.lax.rsqrt(tops.var(-2, keepdims=True) + 1e-5)
        mean = tops.mean(0)
        return (mean - mean.mean(-1, keepdims=True)) * jax.lax.rsqrt(mean.var(-1, keepdims=True) + 1e-5)


def smooth_l1(x, beta=2.0):
    return jnp.where(jnp.abs(x) < beta, 0.5 * jnp.square(x) / beta, jnp.abs(x) - 0.5 * beta)


def data2vec(layers, dim, heads, pixels, patch, batch, top=6, tau=0.9998, kind=BF16):
    patches = (pixels // patch) ** 2

    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        block = EncoderBlock
        if change.rematerialize:
            block = nn.remat(block, prevent_cse=False, policy=checkpoint_policy(change))
        student = Tower(layers, dim, heads, patch, top, now, block=block)
        made = jax.eval_shape(student.init, jax.random.key(0), jnp.zeros((1, pixels, pixels, 3)),
                              jnp.zeros((1, patches), bool))
        params = cast(made["params"], change.stored)
        tx = optax.chain(optax.clip_by_global_norm(3.0), optax.adamw(
            optax.warmup_cosine_decay_schedule(0.0, 5e-4, 20_000, 400_000), b2=0.98, weight_decay=0.05,
            mask=matrices_only))

        def pretrain_step(params, teacher, opt_state, rng, images, mask):
            def loss_fn(params, key, images, mask):
                images = (images.astype(F32) / 255 - 0.5) / 0.5
                target = jax.lax.stop_gradient(student.apply({"params": teacher}, images))
                guess = student.apply({"params": params}, images, mask, rngs={"drop_path": key})
                each = smooth_l1(guess - target).mean(-1)
                return jnp.sum(each * mask) / jnp.maximum(mask.sum(), 1), {"target_std": target.std(0).mean()}
            rng, key = jax.random.split(rng)
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, key, images, mask)
            params, opt_state = updated(tx, grads, opt_state, params)
            teacher = like(optax.incremental_update(params, teacher, 1 - tau), teacher)
            return params, teacher, opt_state, rng, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        stacks = {"blocks": 0}
        return pretrain_step, (
            laid_out(arrays, params, stacks), laid_out(arrays, params, stacks),
            laid_out(arrays, jax.eval_shape(tx.init, params), stacks), raw_key(arrays),
            arrays.batch((rows, pixels, pixels, 3), jnp.uint8), arrays.batch((rows, patches), jnp.bool_)), (0, 1, 2)
    return make


FAMILY = {"medal_data2vec_vision": dict(
    make=data2vec(layers=24, dim=1024, heads=16, pixels=224, patch=16, batch=64), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
