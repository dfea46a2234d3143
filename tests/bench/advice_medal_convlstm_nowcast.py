"""A ConvLSTM that nowcasts rain from radar: an encoder over ten frames, a forecaster over the twenty that follow.

Equinox, channels first and vmapped over the batch, three levels, each a lax.scan over time; float32. Loss is the mean
of balanced squared and absolute errors, where heavy rain weighs more. Adam with clipped gradients; donated.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import checkpointed, laid_out, like
from advice_board_training import F32, cast, compute_dtype, value_and_mean_grad


class ConvLSTMCell(eqx.Module):
    gates: eqx.nn.Conv2d
    norm: eqx.nn.GroupNorm
    hidden: int = eqx.field(static=True)

    def __init__(self, inputs, hidden, kernel, key):
        self.gates = eqx.nn.Conv2d(inputs + hidden, 4 * hidden, kernel, padding=kernel // 2, key=key)
        self.norm = eqx.nn.GroupNorm(4, 4 * hidden)
        self.hidden = hidden

    def __call__(self, x, h, c):
        i, f, g, o = jnp.split(self.norm(self.gates(jnp.concatenate([x, h]))), 4)
        c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c


class Nowcaster(eqx.Module):
    down: list
    encoders: list
    forecasters: list
    up: list
    head: eqx.nn.Conv2d

    def __init__(self, stems, hiddens, key):
        keys = iter(jax.random.split(key, 4 * len(hiddens) + 1))
        self.down, self.encoders, self.forecasters, self.up = [], [], [], []
        last = 1
        for level, (stem, hidden) in enumerate(zip(stems, hiddens)):
            stride = 4 if level == 0 else 2
            self.down.append(eqx.nn.Conv2d(last, stem, stride + 1, stride, padding=stride // 2, key=next(keys)))
            self.encoders.append(ConvLSTMCell(stem, hidden, 3, next(keys)))
            self.forecasters.append(ConvLSTMCell(hidden, hidden, 3, next(keys)))
            below = hiddens[level - 1] if level else stems[0]
            self.up.append(eqx.nn.ConvTranspose2d(hidden, below, stride, stride, key=next(keys)))
            last = hidden
        self.head = eqx.nn.Conv2d(stems[0], 1, 1, key=next(keys))


def over_frames(layer, frames):
    """[time, batch, channels, rows, columns] through a layer for one frame."""
    return jax.vmap(jax.vmap(layer))(frames)


def unrolled(cell, frames, state, change):
    def body(state, x):
        h, c = jax.vmap(cell)(x, *state)
        return (h, c), h
    return jax.lax.scan(checkpointed(change, body), state, frames)


def forecast(model, frames, steps, change):
    x, states = frames, []
    for down, cell in zip(model.down, model.encoders):
        x = jax.nn.leaky_relu(over_frames(down, x), 0.2)
        zeros = jnp.zeros((x.shape[1], cell.hidden, *x.shape[3:]), x.dtype)
        state, x = unrolled(cell, x, (zeros, zeros), change)
        states.append(state)
    x = jnp.zeros((steps, *states[-1][0].shape), x.dtype)
    for up, cell, state in zip(model.up[::-1], model.forecasters[::-1], states[::-1]):
        _, x = unrolled(cell, x, state, change)
        x = jax.nn.leaky_relu(over_frames(up, x), 0.2)
    return over_frames(model.head, x)


def rain_weights(rain):
    """By the rate in mm/h that a reflectivity of 0 to 1 stands for."""
    thresholds, weights = (0.28, 0.40, 0.46, 0.56), (1.0, 3.0, 5.0, 20.0)
    total = jnp.ones_like(rain)
    for threshold, weight in zip(thresholds, weights):
        total = total + weight * (rain >= threshold)
    return total


def convlstm(side, seen, ahead, stems, hiddens, batch, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        t_in, t_out = seen // change.length_divisor, ahead // change.length_divisor
        model = cast(eqx.filter_eval_shape(Nowcaster, stems, hiddens, jax.random.key(0)), change.stored)
        optim = optax.chain(optax.clip_by_global_norm(5.0), optax.adam(optax.exponential_decay(2e-4, 10_000, 0.7)))
        opt_state = jax.eval_shape(optim.init, model)

        def loss_fn(model, radar):
            model = jax.tree.map(lambda w: w.astype(now), model)
            radar = jnp.moveaxis(radar, 1, 0)[:, :, None].astype(F32) / 255.0
            made = forecast(model, radar[:t_in].astype(now), t_out, change).astype(F32)
            wanted = radar[t_in:]
            errors, weights = made - wanted, rain_weights(wanted)
            return jnp.mean(weights * jnp.square(errors)) + jnp.mean(weights * jnp.abs(errors))

        def make_step(model, opt_state, radar):
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(model, radar)
            updates, new_state = optim.update(grads, opt_state, model)
            return eqx.apply_updates(model, like(updates, model)), like(new_state, opt_state), loss
        return make_step, (laid_out(arrays, model), laid_out(arrays, opt_state),
                           arrays.batch((rows, t_in + t_out, side, side), jnp.uint8)), (0, 1)
    return make


FAMILY = {"medal_convlstm_nowcast": dict(
    make=convlstm(side=256, seen=10, ahead=20, stems=(16, 64, 128), hiddens=(64, 128, 128), batch=16),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
