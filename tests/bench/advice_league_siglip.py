"""SigLIP 2 B/16 (NaFlex) from scratch, in the style of big_vision: two towers in flax.linen with scanned blocks, images
as padded sequences of patches with masks, attention pooling, the pairwise sigmoid loss with a learned scale and bias.

Weights in float32, Adam's first moment in bfloat16, computation in bfloat16.
"""
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

STACKED = {"encoderblock": 0}
GRID = 16


class MlpBlock(nn.Module):
    hidden: int
    dtype: Any

    @nn.compact
    def __call__(self, x):
        width = x.shape[-1]
        x = nn.Dense(self.hidden, dtype=self.dtype, bias_init=nn.initializers.normal(1e-6))(x)
        return nn.Dense(width, dtype=self.dtype, bias_init=nn.initializers.normal(1e-6))(nn.gelu(x))


class Encoder1DBlock(nn.Module):
    heads: int
    hidden: int
    dtype: Any

    @nn.compact
    def __call__(self, x, mask):
        y = nn.LayerNorm(dtype=self.dtype)(x)
        y = nn.MultiHeadDotProductAttention(self.heads, dtype=self.dtype, deterministic=True,
                                            kernel_init=nn.initializers.xavier_uniform())(y, y, mask=mask)
        x = x + y
        y = nn.LayerNorm(dtype=self.dtype)(x)
        return x + MlpBlock(self.hidden, self.dtype)(y), None


class Encoder(nn.Module):
    depth: int
    heads: int
    hidden: int
    dtype: Any
    remat: bool
    policy: Any

    @nn.compact
    def __call__(self, x, mask):
        block = nn.remat(Encoder1DBlock, prevent_cse=False, policy=self.policy) if self.remat else Encoder1DBlock
        stack = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast,
                        length=self.depth)
        x, _ = stack(self.heads, self.hidden, self.dtype, name="encoderblock")(x, mask)
        return nn.LayerNorm(dtype=self.dtype, name="encoder_norm")(x)


class MAPHead(nn.Module):
    heads: int
    hidden: int
    dtype: Any

    @nn.compact
    def __call__(self, x, mask):
        rows, _, width = x.shape
        probe = self.param("probe", nn.initializers.xavier_uniform(), (1, 1, width), F32)
        probe = jnp.tile(probe.astype(self.dtype), (rows, 1, 1))
        x = nn.MultiHeadDotProductAttention(self.heads, dtype=self.dtype, deterministic=True)(probe, x, mask=mask)
        y = nn.LayerNorm(dtype=self.dtype)(x)
        return (x + MlpBlock(self.hidden, self.dtype)(y))[:, 0]


class TwoTowers(nn.Module):
    width: int
    depth: int
    heads: int
    vocab: int
    dtype: Any
    remat: bool
    policy: Any

    def image(self, patches, places, present):
        x = nn.Dense(self.width, dtype=self.dtype, name="img_embedding")(patches)
        grid = self.param("img_pos", nn.initializers.normal(self.width ** -0.5), (GRID, GRID, self.width), F32)
        # Fractional places on the grid, as pictures keep their aspect: bilinear between the four learned neighbours.
        where = places * (GRID - 1)
        low = jnp.clip(jnp.floor(where).astype(jnp.int32), 0, GRID - 2)
        part = (where - low)[..., None].astype(self.dtype)
        grid = grid.astype(self.dtype)
        (r, c), (dr, dc) = (low[..., 0], low[..., 1]), (part[..., 0, :], part[..., 1, :])
        x = x + (grid[r, c] * (1 - dr) * (1 - dc) + grid[r + 1, c] * dr * (1 - dc)
                 + grid[r, c + 1] * (1 - dr) * dc + grid[r + 1, c + 1] * dr * dc)
        mask = present[:, None, None, :]
        x = Encoder(self.depth, self.heads, 4 * self.width, self.dtype, self.remat, self.policy, name="img")(x, mask)
        return MAPHead(self.heads, 4 * self.width, self.dtype, name="img_head")(x, mask)

    def text(self, tokens):
        x = nn.Embed(self.vocab, self.width, dtype=self.dtype, name="txt_embedding")(tokens)
        x = x + self.param("txt_pos", nn.initializers.normal(0.01), (1, tokens.shape[1], self.width), F32
                           ).astype(self.dtype)
        x = Encoder(self.depth, self.heads, 4 * self.width, self.dtype, self.remat, self.policy, name="txt")(x, None)
        return nn.Dense(self.width, dtype=self.dtype, name="txt_head")(x[:, -1])

    @nn.compact
    def __call__(self, patches, places, present, tokens):
        zimg = self.image(patches.astype(self.dtype), places, present).astype(F32)
        ztxt = self.text(tokens).astype(F32)
        zimg = zimg / (jnp.linalg.norm(zimg, axis=-1, keepdims=True) + 1e-8)
        ztxt = ztxt / (jnp.linalg.norm(ztxt, axis=-1, keepdims=True) + 1e-8)
        scale = self.param("t", nn.initializers.constant(2.302585), (1,), F32)
        bias = self.param("b", nn.initializers.constant(-10.0), (1,), F32)
        return zimg, ztxt, jnp.exp(scale.astype(F32)), bias.astype(F32)


def siglip(width, depth, heads, vocab, patches, patch, text, batch, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        seen, words = patches // change.length_divisor, text // change.length_divisor
        model = TwoTowers(width, depth, heads, vocab, compute_dtype(change, kind), change.rematerialize,
                          checkpoint_policy(change))
        one = (((rows, seen, 3 * patch * patch), BF16), ((rows, seen, 2), F32), ((rows, seen), jnp.bool_),
               ((rows, words), jnp.int32))
        params = jax.eval_shape(model.init, jax.random.key(0), *[jax.ShapeDtypeStruct(*leaf) for leaf in one])
        params = cast(params["params"], change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 20_000, 400_000)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, b1=0.9, b2=0.95, mu_dtype=BF16, weight_decay=1e-4,
                                            mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, patches, places, present, tokens):
            zimg, ztxt, scale, bias = model.apply({"params": params}, patches, places, present, tokens)
            logits = zimg @ ztxt.T * scale + bias
            eye = jnp.eye(zimg.shape[0])
            loss = -jax.nn.log_sigmoid((2 * eye - 1) * logits).sum(-1).mean()
            return loss, {"min_positive": jnp.diag(logits).min(), "scale": scale.mean(),
                          "accuracy": (logits.argmax(-1) == jnp.arange(zimg.shape[0])).mean()}

        def update_fn(params, opt_state, key, *data):
            key, own = jax.random.split(key)
            loss, measured, grads = summed_slopes(loss_fn, change.parts)(params, own, *data)
            measured = jax.tree.map(jnp.mean, measured)
            measured["l2_grads"] = optax.global_norm(grads)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            measured["l2_params"] = optax.global_norm(params)
            return params, opt_state, key, {"training_loss": loss, **measured}
        return update_fn, (laid_out(arrays, params, STACKED), laid_out(arrays, opt_state, STACKED), raw_key(arrays),
                           *[arrays.batch(*leaf) for leaf in one]), (0, 1)
    return make


FAMILY = {"league_siglip": dict(
    make=siglip(width=768, depth=12, heads=12, vocab=256_000, patches=256, patch=16, text=64, batch=128),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
