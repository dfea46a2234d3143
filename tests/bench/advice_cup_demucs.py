"""Demucs separates music: a U-Net on the waveform with GLUs and a bidirectional LSTM at its bottom.

Plain JAX, dictionaries of weights, everything in float32, as the original trains it. Six levels of kernel 8, stride 4,
over stereo at 44.1 kHz; the loss is L1 over four sources, their gains and signs are shuffled within the step. Adam.
"""
import jax
import jax.numpy as jnp
import optax
from jax import lax

from advice_board_training import F32, abstract, compute_dtype, decayed, maybe_checkpoint, on_chips, \
    value_and_mean_grad
from advice_exam_libraries import as_kind

KERNEL, STRIDE, SOURCES, AUDIO = 8, 4, 4, 2


def param_shapes(channels, depth, lstm_layers):
    encoder, decoder, inputs = [], [], AUDIO
    for level in range(depth):
        out = channels * 2 ** level
        encoder.append({"conv": {"w": (KERNEL, inputs, out), "b": (out,)},
                        "rewrite": {"w": (1, out, 2 * out), "b": (2 * out,)}})
        decoder.insert(0, {"rewrite": {"w": (3, out, 2 * out), "b": (2 * out,)},
                           "conv_tr": {"w": (KERNEL, out, inputs if level else SOURCES * AUDIO),
                                       "b": (inputs if level else SOURCES * AUDIO,)}})
        inputs = out

    def direction(width):
        return {"w_ih": (width, 4 * inputs), "w_hh": (inputs, 4 * inputs), "bias": (4 * inputs,)}
    lstm = [{"forward": direction(inputs * (2 if i else 1)), "backward": direction(inputs * (2 if i else 1))}
            for i in range(lstm_layers)]
    return {"encoder": encoder, "lstm": lstm, "linear": {"w": (2 * inputs, inputs), "b": (inputs,)},
            "decoder": decoder}


def conv1d(p, x, stride=1, padding="VALID"):
    y = lax.conv_general_dilated(x, p["w"].astype(x.dtype), (stride,), padding, dimension_numbers=("NWC", "WIO", "NWC"))
    return y + p["b"].astype(x.dtype)


def conv_transpose1d(p, x):
    y = lax.conv_transpose(x, p["w"].astype(x.dtype), (STRIDE,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))
    return y + p["b"].astype(x.dtype)


def glu(x):
    a, b = jnp.split(x, 2, axis=-1)
    return a * jax.nn.sigmoid(b)


def lstm_direction(p, x, reverse):
    """x: [time, batch, width]"""
    gates = x @ p["w_ih"].astype(x.dtype) + p["bias"].astype(x.dtype)
    again = p["w_hh"].astype(x.dtype)

    def cell(carry, gate):
        h, c = carry
        i, f, g, o = jnp.split(gate + h @ again, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    zeros = jnp.zeros((x.shape[1], again.shape[0]), x.dtype)
    return lax.scan(cell, (zeros, zeros), gates, reverse=reverse)[1]


def encode(p, x):
    return glu(conv1d(p["rewrite"], jax.nn.relu(conv1d(p["conv"], x, STRIDE))))


def decode(p, x, skip, is_last):
    x = x + skip[:, :x.shape[1]]
    x = glu(conv1d(p["rewrite"], x, padding=[(1, 1)]))
    x = conv_transpose1d(p["conv_tr"], x)
    return x if is_last else jax.nn.relu(x)


def valid_length(length, depth):
    """What the encoder reads whole, and the decoder gives back."""
    for _ in range(depth):
        length = max(-(-(length - KERNEL) // STRIDE) + 1, 1)
    for _ in range(depth):
        length = (length - 1) * STRIDE + KERNEL
    return length


def separate(params, mix, change):
    """mix: [batch, samples, 2] -> [batch, samples, 4, 2]"""
    mean = mix.mean(axis=(1, 2), keepdims=True)
    std = mix.std(axis=(1, 2), keepdims=True)
    x = (mix - mean) / (1e-5 + std)
    skips = []
    for p in params["encoder"]:
        x = maybe_checkpoint(change, encode)(p, x)
        skips.append(x)
    x = x.swapaxes(0, 1)
    for p in params["lstm"]:
        def both(p, x):
            return jnp.concatenate([lstm_direction(p["forward"], x, False), lstm_direction(p["backward"], x, True)], -1)
        x = maybe_checkpoint(change, both)(p, x)
    x = (x @ params["linear"]["w"].astype(x.dtype) + params["linear"]["b"].astype(x.dtype)).swapaxes(0, 1)
    for i, p in enumerate(params["decoder"]):
        is_last = i + 1 == len(params["decoder"])
        x = maybe_checkpoint(change, lambda p, x, skip, is_last=is_last: decode(p, x, skip, is_last))(
            p, x, skips.pop())
    x = x.reshape(*x.shape[:2], SOURCES, AUDIO)
    return x * std[..., None] + mean[..., None]


def remixed(key, stems):
    """Sources change places over the batch, signs and gains: [batch, samples, 4, 2]."""
    order, sign, gain = jax.random.split(key, 3)
    rows = stems.shape[0]
    orders = jax.vmap(lambda k: jax.random.permutation(k, rows))(jax.random.split(order, SOURCES))
    stems = stems[orders.T, :, jnp.arange(SOURCES)].transpose(0, 2, 1, 3)
    signs = jax.random.rademacher(sign, (rows, 1, SOURCES, 1), dtype=stems.dtype)
    gains = jax.random.uniform(gain, (rows, 1, SOURCES, 1), stems.dtype, 0.25, 1.25)
    return stems * signs * gains


def demucs(channels, depth, lstm_layers, seconds, batch, rate=44_100, kind=F32):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        length = valid_length(int(seconds * rate) // change.length_divisor, depth)
        now = compute_dtype(change, kind)
        params = as_kind(abstract(param_shapes(channels, depth, lstm_layers)), change.stored)
        optimizer = optax.adamw(3e-4, b2=0.999, weight_decay=1e-6, mask=decayed)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, stems):
            mix = stems.sum(axis=2)
            estimates = separate(params, mix, change)
            return jnp.abs(estimates.astype(F32) - stems.astype(F32)).mean()

        def train_batch(params, opt_state, key, stems):
            key, augment_key = jax.random.split(key)
            stems = remixed(augment_key, stems.astype(now))
            loss, grads = value_and_mean_grad(loss_of, change.parts)(params, stems)
            norm = optax.global_norm(grads)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, key, {"loss": loss, "grad_norm": norm}
        stems = arrays.batch((rows, length, SOURCES, AUDIO), F32)
        return train_batch, (on_chips(arrays, params), on_chips(arrays, opt_state), arrays.array((2,), jnp.uint32),
                             stems), (0, 1)
    return make


FAMILY = {"cup_demucs": dict(
    make=demucs(channels=64, depth=6, lstm_layers=2, seconds=10, batch=32), is_donated=False,
    variants=("donate_inputs", "bf16_parameters", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "donate_inputs+halve_batch", "shard_parameters",
              "shard_all"))}
