"""EDM2 on ImageNet latents (64x64x4): a magnitude-preserving U-Net, preconditioned as Karras et al. do.

Plain JAX: parameters are a nested dictionary made by name, weights are normalized by their inputs wherever they are
used. Stored in float32, computes in bfloat16; Adam, an inverse square root schedule, and two averages of the weights.
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import checkpointed, laid_out, like, raw_key, specs, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype

SIGMA_DATA = 0.5


def unit(w, axes):
    """Weights of unit norm a fan-in, taken in float32."""
    w = w.astype(F32)
    return w / (1e-4 + jnp.sqrt(jnp.mean(jnp.square(w), axis=axes, keepdims=True)))


def mp_conv(w, x, gain=1.0):
    axes = tuple(range(w.ndim - 1))
    w = (unit(w, axes) * (gain / np.sqrt(np.prod(w.shape[:-1])))).astype(x.dtype)
    if w.ndim == 2:
        return x @ w
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def mp_silu(x):
    return jax.nn.silu(x) / 0.596


def mp_sum(a, b, t=0.3):
    return (a * (1 - t) + b * t) / np.sqrt((1 - t) ** 2 + t ** 2)


def mp_cat(a, b, t=0.5):
    na, nb = a.shape[-1], b.shape[-1]
    c = np.sqrt((na + nb) / ((1 - t) ** 2 + t ** 2))
    return jnp.concatenate([a * (c / np.sqrt(na) * (1 - t)), b * (c / np.sqrt(nb) * t)], -1)


def pixel_norm(x):
    y = x.astype(F32)
    return (y / (1e-4 + jnp.sqrt(jnp.mean(jnp.square(y), -1, keepdims=True)))).astype(x.dtype)


def down(x):
    b, h, w, c = x.shape
    return x.reshape(b, h // 2, 2, w // 2, 2, c).mean((2, 4))


def up(x):
    return x.repeat(2, axis=1).repeat(2, axis=2)


def plan(base, mult, blocks, attends):
    """[(name, kind, resample, inputs, outputs, has attention)] of the encoder and the decoder."""
    encoder, decoder, widths, c = [], [], [base], base
    for level, m in enumerate(mult):
        if level:
            encoder.append((f"enc{level}_down", "enc", "down", c, c, False))
            widths.append(c)
        for i in range(blocks):
            encoder.append((f"enc{level}_{i}", "enc", "", c, base * m, level in attends))
            c = base * m
            widths.append(c)
    for level in reversed(range(len(mult))):
        if level == len(mult) - 1:
            decoder.append((f"dec{level}_in0", "dec", "", c, c, True))
        else:
            decoder.append((f"dec{level}_up", "dec", "up", c, c, False))
        for i in range(blocks + 1):
            out = base * mult[level]
            decoder.append((f"dec{level}_{i}", "skip", "", c + widths.pop(), out, level in attends))
            c = out
    return encoder, decoder


def block_shapes(entry, emb):
    _, kind, _, inputs, outputs, attends = entry
    mid = outputs if kind == "enc" else inputs
    shapes = {"res0": (3, 3, mid, outputs), "res1": (3, 3, outputs, outputs), "emb": (emb, outputs), "gain": ()}
    if inputs != outputs:
        shapes["skip"] = (1, 1, inputs, outputs)
    if attends:
        shapes |= {"qkv": (1, 1, outputs, 3 * outputs), "proj": (1, 1, outputs, outputs)}
    return shapes


def run_block(entry, p, x, emb):
    _, kind, resample, _, outputs, attends = entry
    x = {"down": down, "up": up, "": lambda x: x}[resample](x)
    if kind == "enc":
        x = pixel_norm(mp_conv(p["skip"], x) if "skip" in p else x)
    y = mp_conv(p["res0"], mp_silu(x))
    scale = mp_conv(p["emb"], emb, p["gain"].astype(F32)) + 1
    y = mp_silu(y * scale[:, None, None].astype(y.dtype))
    y = mp_conv(p["res1"], y)
    if kind != "enc" and "skip" in p:
        x = mp_conv(p["skip"], x)
    x = mp_sum(x, y)
    if attends:
        b, h, w, c = x.shape
        qkv = pixel_norm(mp_conv(p["qkv"], x).reshape(b, h * w, 3, c // 64, 64))
        q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) / 8.0, -1).astype(x.dtype)
        y = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(b, h, w, c)
        x = mp_sum(x, mp_conv(p["proj"], y))
    return jnp.clip(x, -256, 256)


def edm2(base, mult, blocks, attends, batch, side, channels=4, classes=1000, stds=(0.05, 0.10), kind=BF16):
    encoder, decoder = plan(base, mult, blocks, attends)
    emb = base * max(mult)
    shapes = {"conv_in": (3, 3, channels + 1, base), "conv_out": (3, 3, base, channels), "out_gain": (),
              "frequencies": (base,), "phases": (base,), "emb_noise": (base, emb), "emb_label": (classes, emb),
              "logvar": (base, 1)}
    shapes |= {entry[0]: block_shapes(entry, emb) for entry in encoder + decoder}

    def make(arrays, change):
        n, now = batch // change.batch_divisor, compute_dtype(change, kind)
        params = cast(specs(shapes), change.stored)
        tx = optax.adam(lambda step: 0.012 / jnp.sqrt(jnp.maximum(step / 70_000, 1)), b1=0.9, b2=0.99)

        def unet(params, x, noise, labels):
            frequencies, phases = (jax.lax.stop_gradient(params[n].astype(F32)) for n in ("frequencies", "phases"))
            fourier = np.sqrt(2) * jnp.cos(jnp.outer(noise, frequencies) + phases)
            e = mp_sum(mp_conv(params["emb_noise"], fourier),
                       mp_conv(params["emb_label"], jax.nn.one_hot(labels, classes) * np.sqrt(classes)), 0.5)
            e = mp_silu(e).astype(now)
            x = jnp.concatenate([x, jnp.ones_like(x[..., :1])], -1).astype(now)
            x = mp_conv(params["conv_in"], x)
            skips = [x]
            for entry in encoder:
                x = checkpointed(change, lambda p, x, e, entry=entry: run_block(entry, p, x, e))(
                    params[entry[0]], x, e)
                skips.append(x)
            for entry in decoder:
                if entry[1] == "skip":
                    x = mp_cat(x, skips.pop())
                x = checkpointed(change, lambda p, x, e, entry=entry: run_block(entry, p, x, e))(
                    params[entry[0]], x, e)
            out = mp_conv(params["conv_out"], x, params["out_gain"].astype(F32))
            return out.astype(F32), mp_conv(params["logvar"], fourier)[:, 0]

        def loss_of(params, key, latents, labels):
            one, two = jax.random.split(key)
            latents = latents.astype(F32)
            sigma = jnp.exp(jax.random.normal(one, (latents.shape[0], 1, 1, 1)) - 0.4)
            noisy = latents + sigma * jax.random.normal(two, latents.shape)
            total = jnp.sqrt(SIGMA_DATA ** 2 + sigma ** 2)
            f, logvar = unet(params, noisy / total, jnp.log(sigma[:, 0, 0, 0]) / 4, labels)
            denoised = SIGMA_DATA ** 2 / total ** 2 * noisy + sigma * SIGMA_DATA / total * f
            weight = (total / (sigma * SIGMA_DATA)) ** 2
            logvar = logvar[:, None, None, None]
            return jnp.mean(weight / jnp.exp(logvar) * jnp.square(denoised - latents) + logvar), {}

        def train_step(params, emas, opt_state, key, step, latents, labels):
            key, here = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, here, latents, labels)
            grads = jax.tree.map(lambda g: jnp.nan_to_num(g, posinf=1e5, neginf=-1e5), grads)
            params, opt_state = updated(tx, grads, opt_state, params)
            betas = [(1 - 1 / (step + 1.0)) ** (1 / std) for std in stds]
            emas = [like(jax.tree.map(lambda a, p, beta=beta: beta * a + (1 - beta) * p, ema, params), ema)
                    for ema, beta in zip(emas, betas)]
            return params, emas, opt_state, key, step + 1, loss
        return train_step, (
            laid_out(arrays, params), [laid_out(arrays, params) for _ in stds],
            laid_out(arrays, jax.eval_shape(tx.init, params)), raw_key(arrays), arrays.array((), jnp.int32),
            arrays.batch((n, side, side, channels), F32), arrays.batch((n,), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"medal_edm2_unet": dict(
    make=edm2(base=128, mult=(1, 2, 3, 4), blocks=2, attends=(2, 3), batch=64, side=64), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "micro_batch.8",
              "micro_batch+rematerialize", "rematerialize", "rematerialize_dots", "rematerialize+halve_batch",
              "shard_parameters", "shard_all"))}
