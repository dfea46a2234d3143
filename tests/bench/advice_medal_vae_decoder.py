"""The decoder of Stable Diffusion XL's autoencoder, served: latents of 128 x 128 to pictures of 1024 x 1024.

Flax linen, with the weights in float32 as they are published and computation in bfloat16; group norms in float32.
Pictures leave as bytes. In int8 weights are scaled back just before the layers take them.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out
from advice_board_training import BF16, F32, cast, compute_dtype
from advice_round_d_parts import Quantized, quantized


class Norm(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.GroupNorm(num_groups=32, epsilon=1e-6, dtype=F32)(x).astype(x.dtype)


class ResnetBlock(nn.Module):
    channels: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        h = nn.Conv(self.channels, (3, 3), dtype=self.dtype, name="conv1")(nn.swish(Norm(name="norm1")(x)))
        h = nn.Conv(self.channels, (3, 3), dtype=self.dtype, name="conv2")(nn.swish(Norm(name="norm2")(h)))
        if x.shape[-1] != self.channels:
            x = nn.Conv(self.channels, (1, 1), dtype=self.dtype, name="conv_shortcut")(x)
        return x + h


class AttentionBlock(nn.Module):
    """One head over all places of the latent."""
    dtype: object

    @nn.compact
    def __call__(self, x):
        rows, height, width, channels = x.shape
        h = Norm(name="group_norm")(x).reshape(rows, height * width, channels)
        q, k, v = (nn.Dense(channels, dtype=self.dtype, name=name)(h) for name in ("to_q", "to_k", "to_v"))
        scores = jnp.einsum("bqc,bkc->bqk", q, k).astype(F32) * channels ** -0.5
        h = jnp.einsum("bqk,bkc->bqc", nn.softmax(scores).astype(x.dtype), v)
        return x + nn.Dense(channels, dtype=self.dtype, name="to_out")(h).reshape(x.shape)


class Upsample(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x):
        rows, height, width, channels = x.shape
        x = jax.image.resize(x, (rows, 2 * height, 2 * width, channels), "nearest")
        return nn.Conv(channels, (3, 3), dtype=self.dtype, name="conv")(x)


class Decoder(nn.Module):
    widths: tuple  # from the finest
    layers: int
    dtype: object

    @nn.compact
    def __call__(self, z):
        z = nn.Conv(z.shape[-1], (1, 1), dtype=self.dtype, name="post_quant_conv")(z.astype(self.dtype))
        x = nn.Conv(self.widths[-1], (3, 3), dtype=self.dtype, name="conv_in")(z)
        x = ResnetBlock(self.widths[-1], self.dtype, name="mid_resnet_0")(x)
        x = AttentionBlock(self.dtype, name="mid_attention")(x)
        x = ResnetBlock(self.widths[-1], self.dtype, name="mid_resnet_1")(x)
        for level, channels in enumerate(reversed(self.widths)):
            for i in range(self.layers + 1):
                x = ResnetBlock(channels, self.dtype, name=f"up_{level}_resnet_{i}")(x)
            if level + 1 < len(self.widths):
                x = Upsample(self.dtype, name=f"up_{level}_upsample")(x)
        x = nn.swish(Norm(name="conv_norm_out")(x))
        return nn.Conv(3, (3, 3), dtype=self.dtype, name="conv_out")(x)


def dequantized(tree, kind):
    """Kernels as the modules expect them; all else as it is."""
    def is_quantized(leaf):
        return isinstance(leaf, Quantized)

    def one(leaf):
        if not is_quantized(leaf):
            return leaf
        scale = jnp.expand_dims(leaf.scale, -2)
        return leaf.values.astype(kind) * scale.astype(kind)
    return jax.tree.map(one, tree, is_leaf=is_quantized)


def vae_decoder(widths, layers, latent, channels, batch, scaling=0.13025, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = Decoder(widths, layers, now)
        example = jax.ShapeDtypeStruct((1, latent, latent, channels), F32)
        params = jax.eval_shape(model.init, jax.random.key(0), example)["params"]
        params = quantized(change, cast(params, change.stored))

        def decode(params, latents):
            pictures = model.apply({"params": dequantized(params, now)}, latents / scaling)
            pictures = jnp.clip(pictures.astype(F32) / 2 + 0.5, 0, 1)
            return jnp.round(pictures * 255).astype(jnp.uint8)

        split = 0 if change.shard == "all" else None
        return decode, (laid_out(arrays, params), arrays.array((rows, latent, latent, channels), F32, split)), (1,)
    return make


FAMILY = {"medal_vae_decoder": dict(
    make=vae_decoder(widths=(128, 256, 512, 512), layers=2, latent=128, channels=4, batch=8), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "bf16_parameters", "halve_batch", "int8_weights",
              "shard_parameters", "shard_all"))}
