"""DDPM's U-Net learns pictures of 256 pixels, in flax nnx and float32, with an exponential average of the weights.

Six levels, two residual blocks at each (three on the way up), one-headed attention at 16 x 16 and in the middle; the
time is a sinusoid through two dense layers, added in every residual block.
"""
import math

import jax
import jax.numpy as jnp
from flax import nnx

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype


def timestep_embedding(t, dim):
    freqs = jnp.exp(-math.log(10_000) * jnp.arange(dim // 2) / (dim // 2 - 1))
    angles = t[:, None].astype(F32) * freqs[None]
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], axis=-1)


def conv3(inner, outer, dtype, rngs, strides=1):
    return nnx.Conv(inner, outer, (3, 3), strides=strides, padding="SAME", dtype=dtype, rngs=rngs)


class ResBlock(nnx.Module):
    def __init__(self, inner, outer, time_dim, dtype, rngs):
        self.norm1 = nnx.GroupNorm(inner, num_groups=32, dtype=dtype, rngs=rngs)
        self.conv1 = conv3(inner, outer, dtype, rngs)
        self.time = nnx.Linear(time_dim, outer, dtype=dtype, rngs=rngs)
        self.norm2 = nnx.GroupNorm(outer, num_groups=32, dtype=dtype, rngs=rngs)
        self.conv2 = conv3(outer, outer, dtype, rngs)
        self.shortcut = nnx.Linear(inner, outer, dtype=dtype, rngs=rngs) if inner != outer else None

    def __call__(self, x, emb):
        h = self.conv1(nnx.swish(self.norm1(x)))
        h = h + self.time(nnx.swish(emb))[:, None, None, :]
        h = self.conv2(nnx.swish(self.norm2(h)))
        return h + (x if self.shortcut is None else self.shortcut(x))


class AttnBlock(nnx.Module):
    def __init__(self, dim, dtype, rngs):
        self.norm = nnx.GroupNorm(dim, num_groups=32, dtype=dtype, rngs=rngs)
        self.q, self.k, self.v, self.out = (nnx.Linear(dim, dim, dtype=dtype, rngs=rngs) for _ in range(4))

    def __call__(self, x):
        b, height, width, dim = x.shape
        h = self.norm(x).reshape(b, height * width, dim)
        q, k, v = self.q(h), self.k(h), self.v(h)
        w = nnx.softmax(jnp.einsum("bqc,bkc->bqk", q, k) * dim ** -0.5, axis=-1)
        return x + self.out(w @ v).reshape(x.shape)


class Stage(nnx.Module):
    """A residual block, and the attention that may follow it."""
    def __init__(self, inner, outer, time_dim, attends, dtype, rngs):
        self.res = ResBlock(inner, outer, time_dim, dtype, rngs)
        self.attn = AttnBlock(outer, dtype, rngs) if attends else None

    def __call__(self, x, emb):
        x = self.res(x, emb)
        return x if self.attn is None else self.attn(x)


class UNet(nnx.Module):
    def __init__(self, ch, ch_mult, blocks, attends_at, pixels, dtype, remat, rngs):
        self.ch, self.blocks, self.dtype, self.remat = ch, blocks, dtype, remat
        time_dim = 4 * ch
        self.time1 = nnx.Linear(ch, time_dim, dtype=dtype, rngs=rngs)
        self.time2 = nnx.Linear(time_dim, time_dim, dtype=dtype, rngs=rngs)
        self.conv_in = conv3(3, ch, dtype, rngs)
        skips, now, size = [ch], ch, pixels
        down, downsample, up, upsample = [], [], [], []
        for level, mult in enumerate(ch_mult):
            for _ in range(blocks):
                down.append(Stage(now, ch * mult, time_dim, size in attends_at, dtype, rngs))
                now = ch * mult
                skips.append(now)
            if level + 1 < len(ch_mult):
                downsample.append(conv3(now, now, dtype, rngs, strides=2))
                skips.append(now)
                size //= 2
        self.mid1 = Stage(now, now, time_dim, True, dtype, rngs)
        self.mid2 = Stage(now, now, time_dim, False, dtype, rngs)
        for level, mult in reversed(list(enumerate(ch_mult))):
            for _ in range(blocks + 1):
                up.append(Stage(now + skips.pop(), ch * mult, time_dim, size in attends_at, dtype, rngs))
                now = ch * mult
            if level:
                upsample.append(conv3(now, now, dtype, rngs))
                size *= 2
        self.down, self.downsample = nnx.List(down), nnx.List(downsample)
        self.up, self.upsample = nnx.List(up), nnx.List(upsample)
        self.norm_out = nnx.GroupNorm(now, num_groups=32, dtype=dtype, rngs=rngs)
        self.conv_out = conv3(now, 3, dtype, rngs)

    def __call__(self, x, t):
        emb = timestep_embedding(t, self.ch).astype(self.dtype)
        emb = self.time2(nnx.swish(self.time1(emb)))
        h = self.conv_in(x.astype(self.dtype))
        hs = [h]
        for i, stage in enumerate(self.down):
            h = self.remat(stage, h, emb)
            hs.append(h)
            level = i // self.blocks
            if i % self.blocks == self.blocks - 1 and level < len(self.downsample):
                h = self.downsample[level](h)
                hs.append(h)
        h = self.remat(self.mid2, self.remat(self.mid1, h, emb), emb)
        for i, stage in enumerate(self.up):
            h = self.remat(stage, jnp.concatenate([h, hs.pop()], axis=-1), emb)
            level = i // (self.blocks + 1)
            if i % (self.blocks + 1) == self.blocks and level < len(self.upsample):
                b, height, width, c = h.shape
                h = jax.image.resize(h, (b, 2 * height, 2 * width, c), method="nearest")
                h = self.upsample[level](h)
        return self.conv_out(nnx.swish(self.norm_out(h)))


def ddpm_unet(ch, ch_mult, blocks, attends_at, pixels, batch, times=1000, ema_decay=0.9999, kind=F32):
    def make(arrays, change):
        import optax
        rows = batch // change.batch_divisor

        def run(stage, x, emb):
            return stage(x, emb)
        remat = nnx.remat(run, policy=checkpoint_policy(change)) if change.rematerialize else run
        model = nnx.eval_shape(lambda: UNet(ch, ch_mult, blocks, attends_at, pixels, compute_dtype(change, kind), remat,
                                            nnx.Rngs(0)))
        graphdef, params = nnx.split(model, nnx.Param)
        params = cast(params, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adam(optax.linear_schedule(0.0, 2e-5, 5000)))
        opt_state = jax.eval_shape(optimizer.init, params)
        alphas = jnp.cumprod(1.0 - jnp.linspace(1e-4, 0.02, times))

        def loss_of(params, key, images):
            t_key, noise_key = jax.random.split(key)
            t = jax.random.randint(t_key, (images.shape[0],), 0, times)
            noise = jax.random.normal(noise_key, images.shape)
            a = alphas[t][:, None, None, None]
            noisy = jnp.sqrt(a) * images + jnp.sqrt(1.0 - a) * noise
            predicted = nnx.merge(graphdef, params)(noisy, t)
            return jnp.mean(jnp.square(predicted.astype(F32) - noise)), ()

        def train_step(params, opt_state, ema, key, images):
            key, now = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, now, images)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            ema = jax.tree.map(lambda e, p: (ema_decay * e + (1 - ema_decay) * p).astype(e.dtype), ema, params)
            return params, opt_state, ema, key, loss
        images = arrays.batch((rows, pixels, pixels, 3), F32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, params),
                            raw_key(arrays), images), (0, 1, 2)
    return make


FAMILY = {"tour_unet": dict(
    make=ddpm_unet(ch=128, ch_mult=(1, 1, 2, 2, 4, 4), blocks=2, attends_at=(16,), pixels=256, batch=16),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
