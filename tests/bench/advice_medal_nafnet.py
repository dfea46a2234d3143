"""NAFNet (width 64) takes noise out of photographs: crops of 256 pixels of SIDD, noisy and clean.

Haiku, all in float32: a U-net of blocks without activations (gates of halves, channels weighed by their means), with
pixel shuffles on the way up. The loss is the negative PSNR, the optimizer AdamW with cosine decay; the train state
isn't donated.
"""
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import computing, laid_out, policy_of, summed_slopes, updated
from advice_board_training import F32, cast


class TrainState(NamedTuple):
    step: jax.Array
    params: hk.Params
    opt_state: optax.OptState


def conv(channels, size=1, stride=1, groups=1, bias=True, name=None):
    return hk.Conv2D(channels, size, stride=stride, feature_group_count=groups, with_bias=bias, name=name,
                     padding="VALID" if stride > 1 else "SAME")


def simple_gate(x):
    a, b = jnp.split(x, 2, axis=-1)
    return a * b


class NAFBlock(hk.Module):
    def __init__(self, width, name=None):
        super().__init__(name=name)
        self.width = width

    def __call__(self, inputs):
        c = self.width
        scales = [hk.get_parameter(name, (c,), inputs.dtype, init=jnp.zeros) for name in ("beta", "gamma")]
        x = hk.LayerNorm(-1, True, True, eps=1e-6, name="norm1")(inputs)
        x = conv(2 * c, name="conv1")(x)
        x = simple_gate(conv(2 * c, 3, groups=2 * c, name="conv2")(x))
        x = x * conv(c, name="sca")(x.mean(axis=(1, 2), keepdims=True))
        y = inputs + conv(c, name="conv3")(x) * scales[0]
        x = hk.LayerNorm(-1, True, True, eps=1e-6, name="norm2")(y)
        x = conv(c, name="conv5")(simple_gate(conv(2 * c, name="conv4")(x)))
        return y + x * scales[1]


def pixel_shuffle(x):
    b, h, w, c = x.shape
    x = x.reshape(b, h, w, 2, 2, c // 4).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(b, 2 * h, 2 * w, c // 4)


class NAFNet(hk.Module):
    def __init__(self, width, encoder, middle, decoder, change, name="nafnet"):
        super().__init__(name=name)
        self.width, self.encoder, self.middle, self.decoder = width, encoder, middle, decoder
        self.change = change

    def blocks(self, x, count, name):
        for i in range(count):
            block = NAFBlock(x.shape[-1], name=f"{name}_{i}")
            x = hk.remat(block, policy=policy_of(self.change))(x) if self.change.rematerialize else block(x)
        return x

    def __call__(self, noisy):
        x = conv(self.width, 3, name="intro")(noisy)
        skips = []
        for level, count in enumerate(self.encoder):
            x = self.blocks(x, count, f"encoder_{level}")
            skips.append(x)
            x = conv(2 * x.shape[-1], 2, stride=2, name=f"down_{level}")(x)
        x = self.blocks(x, self.middle, "middle")
        for level, (count, skip) in enumerate(zip(self.decoder, reversed(skips))):
            x = pixel_shuffle(conv(2 * x.shape[-1], bias=False, name=f"up_{level}")(x)) + skip
            x = self.blocks(x, count, f"decoder_{level}")
        return noisy + conv(3, 3, name="ending")(x)


def psnr(restored, clean):
    mse = jnp.square(restored - clean).mean(axis=(1, 2, 3))
    return -10 / jnp.log(10.0) * jnp.log(mse + 1e-8)


def denoiser(width, encoder, middle, decoder, crop, batch, steps=400_000, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, computing(change, kind)
        net = hk.without_apply_rng(hk.transform(lambda x: NAFNet(width, encoder, middle, decoder, change)(x)))
        example = jax.ShapeDtypeStruct((1, crop, crop, 3), F32)
        params = cast(jax.eval_shape(net.init, jax.random.key(0), example), change.stored)
        optimizer = optax.adamw(optax.cosine_decay_schedule(1e-3, steps, 1e-4), b1=0.9, b2=0.9, weight_decay=0.0)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, noisy, clean):
            params = jax.tree.map(lambda w: w.astype(now), params)
            restored = net.apply(params, noisy.astype(now)).astype(F32)
            quality = psnr(restored, clean.astype(F32)).mean()
            return -0.5 * quality, {"psnr": quality}

        def train_step(state, noisy, clean):
            loss, aux, grads = summed_slopes(loss_fn, change.parts)(state.params, None, noisy, clean)
            params, opt_state = updated(optimizer, grads, state.opt_state, state.params)
            metrics = {"loss": loss, **jax.tree.map(jnp.mean, aux)}
            return TrainState(state.step + 1, params, opt_state), metrics

        state = TrainState(arrays.array((), jnp.int32), laid_out(arrays, params), laid_out(arrays, opt_state))
        pictures = arrays.batch((rows, crop, crop, 3), F32)
        return train_step, (state, pictures, pictures), (0,)
    return make


FAMILY = {"medal_nafnet": dict(
    make=denoiser(width=64, encoder=(2, 2, 4, 4), middle=4, decoder=(2, 2, 2, 2), crop=256, batch=16),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "shard_parameters", "shard_all"))}
