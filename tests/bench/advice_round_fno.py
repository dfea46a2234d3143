"""A Fourier neural operator steps a compressible flow in two dimensions, from four past frames to the next.

In flax nnx, channels last: fields and grid are lifted to 128 channels, four blocks add a convolution of the lowest
16 x 16 modes (rfft2, complex weights kept as real pairs) to a linear map of each point, and two maps lead back.
All in float32, the transforms too where something else is narrower; relative L2 loss, AdamW.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, value_and_mean_grad


class SpectralConv2d(nnx.Module):
    def __init__(self, width, modes, *, rngs):
        self.modes = modes
        scale = 1.0 / (width * width)

        def weights():
            return nnx.Param(scale * jax.random.uniform(rngs.params(), (width, width, modes, modes, 2)))
        self.low, self.high = weights(), weights()

    def __call__(self, x):
        m, (rows, columns) = self.modes, x.shape[1:3]
        spectrum = jnp.fft.rfft2(x.astype(F32), axes=(1, 2), norm="ortho")

        def mixed(part, weight):
            pair = weight[...].astype(F32)
            return jnp.einsum("bxyi,ioxy->bxyo", part, jax.lax.complex(pair[..., 0], pair[..., 1]))
        out = jnp.zeros_like(spectrum)
        out = out.at[:, :m, :m].set(mixed(spectrum[:, :m, :m], self.low))
        out = out.at[:, -m:, :m].set(mixed(spectrum[:, -m:, :m], self.high))
        return jnp.fft.irfft2(out, s=(rows, columns), axes=(1, 2), norm="ortho").astype(x.dtype)


class FourierBlock(nnx.Module):
    def __init__(self, width, modes, dtype, last, *, rngs):
        self.spectral = SpectralConv2d(width, modes, rngs=rngs)
        self.skip = nnx.Linear(width, width, dtype=dtype, rngs=rngs)
        self.last = last

    def __call__(self, x):
        x = self.spectral(x) + self.skip(x)
        return x if self.last else nnx.gelu(x)


class FNO2d(nnx.Module):
    def __init__(self, inputs, outputs, width, modes, layers, dtype, change, *, rngs):
        self.dtype, self.change = dtype, change
        self.lift = nnx.Linear(inputs + 2, width, dtype=dtype, rngs=rngs)
        self.blocks = nnx.List([FourierBlock(width, modes, dtype, i == layers - 1, rngs=rngs) for i in range(layers)])
        self.project = nnx.Linear(width, 2 * width, dtype=dtype, rngs=rngs)
        self.out = nnx.Linear(2 * width, outputs, dtype=dtype, rngs=rngs)

    def __call__(self, fields):
        batch, rows, columns, _ = fields.shape
        grid = jnp.stack(jnp.meshgrid(jnp.linspace(0, 1, rows), jnp.linspace(0, 1, columns), indexing="ij"), -1)
        grid = jnp.broadcast_to(grid, (batch, rows, columns, 2))
        x = self.lift(jnp.concatenate([fields.astype(self.dtype), grid.astype(self.dtype)], axis=-1))
        for block in self.blocks:
            if self.change.rematerialize:
                x = nnx.remat(FourierBlock.__call__, policy=checkpoint_policy(self.change))(block, x)
            else:
                x = block(x)
        return self.out(nnx.gelu(self.project(x)))


def relative_l2(found, true):
    axes = tuple(range(1, true.ndim))
    found, true = found.astype(F32), true.astype(F32)
    error = jnp.sqrt(jnp.sum((found - true) ** 2, axis=axes))
    return jnp.mean(error / jnp.sqrt(jnp.sum(true ** 2, axis=axes) + 1e-8))


def fno_flow(width, modes, layers, grid, past, fields, batch, kind=F32):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        model = nnx.eval_shape(lambda: FNO2d(past * fields, fields, width, modes, layers, compute_dtype(change, kind),
                                             change, rngs=nnx.Rngs(0)))
        graphdef, params = nnx.split(model, nnx.Param)
        params = cast(params, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-4, 1_000, 100_000)
        optimizer = optax.adamw(schedule, weight_decay=1e-5)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, before, after):
            found = nnx.merge(graphdef, params)(before)
            return relative_l2(found, after)

        def train_step(params, opt_state, before, after):
            loss, grads = value_and_mean_grad(loss_of, change.parts)(params, before, after)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, "grad_norm": optax.global_norm(grads)}

        arguments = (laid_out(arrays, params), laid_out(arrays, opt_state),
                     arrays.batch((rows, grid, grid, past * fields), F32),
                     arrays.batch((rows, grid, grid, fields), F32))
        return train_step, arguments, (0, 1)
    return make


FAMILY = {"round_fno": dict(
    make=fno_flow(width=128, modes=16, layers=4, grid=128, past=4, fields=4, batch=128),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
