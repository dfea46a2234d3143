"""The U-Net of Stable Diffusion 2 learns to denoise latents of 512-pixel pictures, told by their captions.

In flax linen: residual blocks, and transformers with attention to themselves, to the text and a gated feed-forward.
Latents and text states come ready from frozen encoders. It predicts v in bfloat16; AdamW and a moving average are
float32.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, like, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

STEPS = 1000


def group_norm(dtype, name, epsilon=1e-5):
    return nn.GroupNorm(32, epsilon=epsilon, dtype=dtype, name=name)


def conv3(features, dtype, name, strides=(1, 1)):
    return nn.Conv(features, (3, 3), strides, padding=((1, 1), (1, 1)), dtype=dtype, name=name)


def timestep_embedding(t, dim):
    freqs = jnp.exp(-jnp.log(10000.0) * jnp.arange(dim // 2) / (dim // 2))
    angles = t[:, None].astype(F32) * freqs
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], axis=-1)


class ResnetBlock(nn.Module):
    features: int
    dtype: object

    @nn.compact
    def __call__(self, x, temb):
        h = conv3(self.features, self.dtype, "conv1")(nn.swish(group_norm(self.dtype, "norm1")(x)))
        h = h + nn.Dense(self.features, dtype=self.dtype, name="time_emb_proj")(nn.swish(temb))[:, None, None]
        h = conv3(self.features, self.dtype, "conv2")(nn.swish(group_norm(self.dtype, "norm2")(h)))
        if x.shape[-1] != self.features:
            x = nn.Conv(self.features, (1, 1), dtype=self.dtype, name="conv_shortcut")(x)
        return x + h


class CrossAttention(nn.Module):
    head_dim: int
    dtype: object

    @nn.compact
    def __call__(self, x, context=None):
        context = x if context is None else context
        batch, width = x.shape[0], x.shape[-1]
        heads = width // self.head_dim
        q, k, v = (nn.Dense(width, use_bias=False, dtype=self.dtype, name=name)(inputs)
                   .reshape(batch, -1, heads, self.head_dim)
                   for name, inputs in (("to_q", x), ("to_k", context), ("to_v", context)))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * self.head_dim ** -0.5
        out = jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores, axis=-1), v)
        return nn.Dense(width, dtype=self.dtype, name="to_out")(out.reshape(x.shape))


class SpatialTransformer(nn.Module):
    head_dim: int
    dtype: object

    @nn.compact
    def __call__(self, x, context):
        batch, height, wide, width = x.shape
        norm = lambda name: nn.LayerNorm(epsilon=1e-5, dtype=self.dtype, name=name)  # noqa: E731
        h = group_norm(self.dtype, "norm", 1e-6)(x).reshape(batch, height * wide, width)
        h = nn.Dense(width, dtype=self.dtype, name="proj_in")(h)
        h = h + CrossAttention(self.head_dim, self.dtype, name="attn1")(norm("norm1")(h))
        h = h + CrossAttention(self.head_dim, self.dtype, name="attn2")(norm("norm2")(h), context)
        gated = nn.Dense(8 * width, dtype=self.dtype, name="ff_in")(norm("norm3")(h))
        value, gate = jnp.split(gated, 2, axis=-1)
        h = h + nn.Dense(width, dtype=self.dtype, name="ff_out")(value * nn.gelu(gate))
        return x + nn.Dense(width, dtype=self.dtype, name="proj_out")(h).reshape(x.shape)


class ConditionalUNet(nn.Module):
    widths: tuple
    attends: tuple
    layers: int
    head_dim: int
    dtype: object
    remat: bool
    policy: object

    @nn.compact
    def __call__(self, sample, t, context):
        Res, Attend = (nn.remat(kind, policy=self.policy) if self.remat else kind
                       for kind in (ResnetBlock, SpatialTransformer))
        res = lambda width, name: Res(width, self.dtype, name=name)  # noqa: E731
        attend = lambda name: Attend(self.head_dim, self.dtype, name=name)  # noqa: E731
        context = context.astype(self.dtype)
        temb = timestep_embedding(t, self.widths[0]).astype(self.dtype)
        temb = nn.Dense(4 * self.widths[0], dtype=self.dtype, name="time_1")(temb)
        temb = nn.Dense(4 * self.widths[0], dtype=self.dtype, name="time_2")(nn.swish(temb))

        x = conv3(self.widths[0], self.dtype, "conv_in")(sample.astype(self.dtype))
        skips, last = [x], len(self.widths) - 1
        for level, (width, has_attention) in enumerate(zip(self.widths, self.attends)):
            for i in range(self.layers):
                x = res(width, f"down_{level}_res_{i}")(x, temb)
                if has_attention:
                    x = attend(f"down_{level}_attn_{i}")(x, context)
                skips.append(x)
            if level < last:
                x = conv3(width, self.dtype, f"down_{level}_sample", (2, 2))(x)
                skips.append(x)

        x = res(self.widths[-1], "mid_res_0")(x, temb)
        x = attend("mid_attn")(x, context)
        x = res(self.widths[-1], "mid_res_1")(x, temb)

        for level in reversed(range(len(self.widths))):
            for i in range(self.layers + 1):
                x = jnp.concatenate([x, skips.pop()], axis=-1)
                x = res(self.widths[level], f"up_{level}_res_{i}")(x, temb)
                if self.attends[level]:
                    x = attend(f"up_{level}_attn_{i}")(x, context)
            if level > 0:
                batch, height, wide, width = x.shape
                x = jax.image.resize(x, (batch, 2 * height, 2 * wide, width), "nearest")
                x = conv3(width, self.dtype, f"up_{level}_sample")(x)
        x = nn.swish(group_norm(self.dtype, "conv_norm_out")(x))
        return conv3(sample.shape[-1], F32, "conv_out")(x)


def scaled_linear_alphas():
    betas = jnp.linspace(0.00085 ** 0.5, 0.012 ** 0.5, STEPS) ** 2
    return jnp.cumprod(1 - betas)


def latent_diffusion(widths, attends, batch, side, words=77, text_width=1024, layers=2, head_dim=64, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        unet = ConditionalUNet(widths, attends, layers, head_dim, now, change.rematerialize, checkpoint_policy(change))
        made = jax.eval_shape(unet.init, jax.random.key(0), jnp.zeros((1, side, side, 4)), jnp.zeros((1,), jnp.int32),
                              jnp.zeros((1, words, text_width)))
        params = cast(made["params"], change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-4, weight_decay=1e-2))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, latents, text):
            noise_key, t_key, drop_key = jax.random.split(key, 3)
            latents = latents.astype(F32)
            noise = jax.random.normal(noise_key, latents.shape)
            t = jax.random.randint(t_key, latents.shape[:1], 0, STEPS)
            alphas = scaled_linear_alphas()[t][:, None, None, None]
            noisy = jnp.sqrt(alphas) * latents + jnp.sqrt(1 - alphas) * noise
            velocity = jnp.sqrt(alphas) * noise - jnp.sqrt(1 - alphas) * latents
            is_told = jax.random.bernoulli(drop_key, 0.9, (latents.shape[0], 1, 1))
            predicted = unet.apply({"params": params}, noisy, t, jnp.where(is_told, text, 0))
            return jnp.mean(jnp.square(predicted - velocity)), ()

        def train_step(params, opt_state, ema_params, key, latents, text):
            key, step_key = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_fn, change.parts)(params, step_key, latents, text)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            ema = jax.tree.map(lambda e, p: e + (1 - 0.9999) * (p - e), ema_params, params)
            return params, opt_state, like(ema, ema_params), key, {"loss": loss}

        state = laid_out(arrays, params)
        return train_step, (state, laid_out(arrays, opt_state), state, raw_key(arrays),
                            arrays.batch((rows, side, side, 4), F32),
                            arrays.batch((rows, words, text_width), F32)), (0, 1, 2)
    return make


FAMILY = {"round_latent": dict(
    make=latent_diffusion((320, 640, 1280, 1280), (True, True, True, False), batch=16, side=64), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
