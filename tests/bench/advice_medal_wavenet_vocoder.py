"""A WaveNet vocoder on 22 kHz speech: 24 dilated causal layers conditioned on mel frames, a mixture of logistics out.

Flax nnx, float32 as the usual repositories train it: gated units, skip sums, mels brought up by transposed
convolutions, clips of 12 thousand samples. Adam with a halving rate; parameters and optimizer are donated together
with an average of the weights that is used to synthesize.
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from advice_board_changes import laid_out, like, summed_slopes, updated
from advice_board_training import F32, cast, compute_dtype, maybe_checkpoint

HOP, MELS = 256, 80


class ResidualLayer(nnx.Module):
    def __init__(self, residual, gate, skip, dilation, *, dtype, rngs):
        self.conv = nnx.Conv(residual, gate, (3,), kernel_dilation=dilation, padding="CAUSAL", dtype=dtype, rngs=rngs)
        self.condition = nnx.Conv(MELS, gate, (1,), use_bias=False, dtype=dtype, rngs=rngs)
        self.to_skip = nnx.Conv(gate // 2, skip, (1,), dtype=dtype, rngs=rngs)
        self.to_residual = nnx.Conv(gate // 2, residual, (1,), dtype=dtype, rngs=rngs)

    def __call__(self, x, mels):
        a, b = jnp.split(self.conv(x) + self.condition(mels), 2, axis=-1)
        z = jnp.tanh(a) * nnx.sigmoid(b)
        return (x + self.to_residual(z)) * np.sqrt(0.5), self.to_skip(z)


class Upsampler(nnx.Module):
    def __init__(self, scales, *, dtype, rngs):
        self.conv_in = nnx.Conv(MELS, MELS, (5,), use_bias=False, dtype=dtype, rngs=rngs)
        self.ups = nnx.List([nnx.ConvTranspose(MELS, MELS, (2 * s,), strides=(s,), padding="SAME", dtype=dtype,
                                               rngs=rngs) for s in scales])

    def __call__(self, mels):
        x = self.conv_in(mels)
        for up in self.ups:
            x = nnx.leaky_relu(up(x), 0.4)
        return x


class WaveNet(nnx.Module):
    def __init__(self, layers, stacks, residual, gate, skip, mixtures, change, *, dtype, rngs):
        self.dtype, self.change = dtype, change
        self.upsampler = Upsampler((4, 4, 4, 4), dtype=dtype, rngs=rngs)
        self.first = nnx.Conv(1, residual, (1,), dtype=dtype, rngs=rngs)
        self.layers = nnx.List([ResidualLayer(residual, gate, skip, 2 ** (i % (layers // stacks)), dtype=dtype,
                                              rngs=rngs) for i in range(layers)])
        self.last1 = nnx.Conv(skip, skip, (1,), dtype=dtype, rngs=rngs)
        self.last2 = nnx.Conv(skip, 3 * mixtures, (1,), dtype=dtype, rngs=rngs)

    def __call__(self, wave, mels):
        """[b, t], [b, t / hop, mels] -> [b, t, 3 * mixtures] for the next samples."""
        mels = self.upsampler(mels.astype(self.dtype))
        x = self.first(wave.astype(self.dtype)[..., None])
        total = 0.0
        for layer in self.layers:
            graph, state = nnx.split(layer)
            run = maybe_checkpoint(self.change, lambda s, x, m, graph=graph: nnx.merge(graph, s)(x, m))
            x, skip = run(state, x, mels)
            total = total + skip
        x = nnx.relu(total * np.sqrt(1 / len(self.layers)))
        return self.last2(nnx.relu(self.last1(x))).astype(F32)


def mixture_loss(out, target, levels=65536, least=-16.0):
    """Minus the log likelihood of 16 bit samples in [-1, 1] under discretized logistics."""
    logits, means, scales = jnp.split(out, 3, axis=-1)
    scales = jnp.maximum(scales, least)
    y = target[..., None] - means
    inverse, half = jnp.exp(-scales), 1 / (levels - 1)
    plus, minus, middle = inverse * (y + half), inverse * (y - half), inverse * y
    mass = nnx.sigmoid(plus) - nnx.sigmoid(minus)
    density = middle - scales - 2 * nnx.softplus(middle) - np.log((levels - 1) / 2)
    inner = jnp.where(mass > 1e-5, jnp.log(jnp.maximum(mass, 1e-12)), density)
    edge = target[..., None]
    each = jnp.where(edge < -0.999, plus - nnx.softplus(plus), jnp.where(edge > 0.999, -nnx.softplus(minus), inner))
    return -jax.nn.logsumexp(each + jax.nn.log_softmax(logits, -1), axis=-1)


def vocoder(layers, stacks, residual, gate, skip, mixtures, batch, samples, decay=0.9999, kind=F32):
    def make(arrays, change):
        rows, length, now = batch // change.batch_divisor, samples // change.length_divisor, compute_dtype(change, kind)
        model = nnx.eval_shape(lambda: WaveNet(layers, stacks, residual, gate, skip, mixtures, change, dtype=now,
                                               rngs=nnx.Rngs(0)))
        graph, params = nnx.split(model, nnx.Param)
        params = cast(params, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adam(optax.exponential_decay(1e-3, 200_000, 0.5), eps=1e-8))

        def train_step(params, average, opt_state, wave, mels):
            def loss_of(params, _, wave, mels):
                out = nnx.merge(graph, params)(wave, mels)
                return mixture_loss(out[:, :-1], wave[:, 1:].astype(F32)).mean(), ()
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, None, wave, mels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            average = like(optax.incremental_update(params, average, 1 - decay), average)
            return params, average, opt_state, loss
        return train_step, (laid_out(arrays, params), laid_out(arrays, params),
                            laid_out(arrays, jax.eval_shape(optimizer.init, params)),
                            arrays.batch((rows, length), F32),
                            arrays.batch((rows, length // HOP, MELS), F32)), (0, 1, 2)
    return make


FAMILY = {"medal_wavenet_vocoder": dict(
    make=vocoder(layers=24, stacks=3, residual=128, gate=256, skip=128, mixtures=10, batch=16, samples=12_288),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "rematerialize+halve_batch", "shard_parameters", "shard_all"))}
