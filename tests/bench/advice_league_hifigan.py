"""HiFi-GAN (V1) turns mel spectrograms into sound: a generator against discriminators of periods and of scales.

Plain pytrees and lax convolutions with weight norm (v, g); two AdamW in one step: first the discriminators, then the
generator by mel distance, feature matching and least squares. Float32.
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, specs, summed_slopes, updated
from advice_board_training import F32, cast, compute_dtype, maybe_checkpoint

MELS, HOP, FFT, RATE = 80, 256, 1024, 22_050
UPSAMPLE, UP_KERNELS = (8, 8, 2, 2), (16, 16, 4, 4)
KERNELS, DILATIONS = (3, 7, 11), (1, 3, 5)
PERIODS, SCALES = (2, 3, 5, 7, 11), 3
OF_PERIOD = ((32, 3), (128, 3), (512, 3), (1024, 3), (1024, 1))                               # channels, stride
OF_SCALE = ((128, 15, 1, 1), (128, 41, 2, 4), (256, 41, 2, 16), (512, 41, 4, 16), (1024, 41, 4, 16),
            (1024, 41, 1, 16), (1024, 5, 1, 1))                                # channels, kernel, stride, groups


def conv_shapes(*kernel):
    return {"v": kernel, "g": (kernel[-1],), "b": (kernel[-1],)}


def generator_shapes(first):
    ups, stages, width = [], [], first
    for kernel in UP_KERNELS:
        ups.append(conv_shapes(kernel, width, width // 2))
        width //= 2
        stages.append([[{"dilated": conv_shapes(k, width, width), "plain": conv_shapes(k, width, width)}
                        for _ in DILATIONS] for k in KERNELS])
    return {"pre": conv_shapes(7, MELS, first), "ups": ups, "stages": stages, "post": conv_shapes(7, width, 1)}


def discriminator_shapes():
    def of_period():
        widths = [1] + [width for width, _ in OF_PERIOD]
        return [conv_shapes(5, 1, a, b) for a, b in zip(widths, widths[1:])] + [conv_shapes(3, 1, widths[-1], 1)]

    def of_scale():
        widths = [1] + [width for width, *_ in OF_SCALE]
        return [conv_shapes(kernel, a // groups, width) for a, (width, kernel, _, groups) in zip(widths, OF_SCALE)] \
            + [conv_shapes(3, widths[-1], 1)]
    return {"periods": [of_period() for _ in PERIODS], "scales": [of_scale() for _ in range(SCALES)]}


def normed(p, now):
    v = p["v"].astype(F32)
    size = jnp.sqrt(jnp.square(v).sum(tuple(range(v.ndim - 1)), keepdims=True) + 1e-12)
    return (v / size * p["g"].astype(F32)).astype(now), p["b"].astype(now)


def conv(p, x, stride=1, dilation=1, groups=1):
    """Over the first axis after the batch's, padded to keep its length but for the stride."""
    w, b = normed(p, x.dtype)
    around = dilation * (w.shape[0] - 1) // 2
    flat = x.ndim - 3
    names = ("NHWC", "HWIO", "NHWC") if flat else ("NWC", "WIO", "NWC")
    return b + jax.lax.conv_general_dilated(
        x, w, (stride, *[1] * flat), [(around, around), *[(0, 0)] * flat], rhs_dilation=(dilation, *[1] * flat),
        dimension_numbers=names, feature_group_count=groups)


def leaky(x):
    return jax.nn.leaky_relu(x, 0.1)


def residual(block, x):
    for dilation, p in zip(DILATIONS, block):
        x = x + conv(p["plain"], leaky(conv(p["dilated"], leaky(x), dilation=dilation)))
    return x


def generate(params, mel, now, change):
    block = maybe_checkpoint(change, residual)
    x = conv(params["pre"], mel.astype(now))
    for up, stage, stride in zip(params["ups"], params["stages"], UPSAMPLE):
        w, b = normed(up, now)
        x = jax.lax.conv_transpose(leaky(x), w, (stride,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")) + b
        x = sum(block(one, x) for one in stage) / len(stage)
    return jnp.tanh(conv(params["post"], leaky(x)))[..., 0]


def judged(params, wave, now):
    """Of each discriminator its score and the maps before."""
    verdicts = []
    for period, layers in zip(PERIODS, params["periods"]):
        x = jnp.pad(wave, ((0, 0), (0, -wave.shape[1] % period)), mode="reflect")
        x, maps = x.reshape(x.shape[0], -1, period, 1).astype(now), []
        for p, (_, stride) in zip(layers, OF_PERIOD):
            x = leaky(conv(p, x, stride))
            maps.append(x)
        verdicts.append((conv(layers[-1], x), maps))
    for i, layers in enumerate(params["scales"]):
        if i:
            wave = jax.lax.reduce_window(wave, 0.0, jax.lax.add, (1, 4), (1, 2), ((0, 0), (2, 2))) / 4
        x, maps = wave[..., None].astype(now), []
        for p, (_, _, stride, groups) in zip(layers, OF_SCALE):
            x = leaky(conv(p, x, stride, groups=groups))
            maps.append(x)
        verdicts.append((conv(layers[-1], x), maps))
    return verdicts


def filters():
    def mel(f):
        return 2595 * np.log10(1 + f / 700)
    edges = np.interp(np.linspace(mel(0), mel(RATE / 2), MELS + 2), mel(np.linspace(0, RATE / 2, 4096)),
                      np.linspace(0, RATE / 2, 4096))
    bins, low, mid, high = np.linspace(0, RATE / 2, FFT // 2 + 1)[:, None], edges[:-2], edges[1:-1], edges[2:]
    return np.maximum(0, np.minimum((bins - low) / (mid - low), (high - bins) / (high - mid))).astype(np.float32)


def log_mel(wave):
    wave = jnp.pad(wave.astype(F32), ((0, 0), ((FFT - HOP) // 2,) * 2), mode="reflect")
    starts = np.arange(0, wave.shape[1] - FFT + 1, HOP)
    frames = wave[:, starts[:, None] + np.arange(FFT)] * np.hanning(FFT).astype(np.float32)
    spectrum = jnp.fft.rfft(frames)
    size = jnp.sqrt(jnp.square(spectrum.real) + jnp.square(spectrum.imag) + 1e-9)
    return jnp.log(jnp.maximum(size @ filters(), 1e-5))


def hifigan(first, batch, segment, kind=F32):
    def make(arrays, change):
        rows, samples = batch // change.batch_divisor, segment // change.length_divisor
        now = compute_dtype(change, kind)
        params = {"generator": generator_shapes(first), "discriminator": discriminator_shapes()}
        params = cast(specs(params), change.stored)
        optimizer = optax.adamw(optax.exponential_decay(2e-4, 1_000, 0.999), b1=0.8, b2=0.99, weight_decay=0.01)
        opt_state = {name: jax.eval_shape(optimizer.init, one) for name, one in params.items()}

        def train_step(params, opt_state, mel, wave):
            def discriminator_loss(p, _, mel, wave):
                made = jax.lax.stop_gradient(generate(params["generator"], mel, now, change))
                real, fake = judged(p, wave.astype(F32), now), judged(p, made.astype(F32), now)
                return sum(jnp.square(1 - r.astype(F32)).mean() + jnp.square(f.astype(F32)).mean()
                           for (r, _), (f, _) in zip(real, fake)), None
            judge_of = summed_slopes(discriminator_loss, change.parts)
            loss_d, _, slopes = judge_of(params["discriminator"], None, mel, wave)
            judge, judge_state = updated(optimizer, slopes, opt_state["discriminator"], params["discriminator"])

            def generator_loss(p, _, mel, wave):
                made = generate(p, mel, now, change).astype(F32)
                real, fake = judged(judge, wave.astype(F32), now), judged(judge, made, now)
                mel_loss = jnp.abs(log_mel(wave) - log_mel(made)).mean()
                matching = sum(jnp.abs((a - b).astype(F32)).mean()
                               for (_, r), (_, f) in zip(real, fake) for a, b in zip(r, f))
                adversarial = sum(jnp.square(1 - f.astype(F32)).mean() for f, _ in fake)
                return 45 * mel_loss + 2 * matching + adversarial, {"mel": mel_loss, "matching": matching}
            loss_g, metrics, slopes = summed_slopes(generator_loss, change.parts)(params["generator"], None, mel, wave)
            maker, maker_state = updated(optimizer, slopes, opt_state["generator"], params["generator"])
            return ({"generator": maker, "discriminator": judge},
                    {"generator": maker_state, "discriminator": judge_state},
                    {"discriminator": loss_d, "generator": loss_g, **jax.tree.map(jnp.mean, metrics)})

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state),
                            arrays.batch((rows, samples // HOP, MELS), F32),
                            arrays.batch((rows, samples), F32)), (0, 1)
    return make


FAMILY = {"league_hifigan": dict(
    make=hifigan(first=512, batch=64, segment=16_384), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
