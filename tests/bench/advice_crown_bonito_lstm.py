"""Bonito's `sup` basecaller: labels a nanopore's signal with bases; five LSTMs of 1024 in turns of direction, a CRF.

Haiku: a stem of three convolutions (stride 5), hk.LSTM unrolled by a lax.scan over 720 places, and CTC-CRF over the
1024 states of five bases (two more scans over time). Float32 throughout, AdamW with clipping; nothing is donated.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import computing, laid_out, policy_of, summed_slopes, updated
from advice_board_training import F32, cast

WIDTH, LAYERS, STRIDE, BASES, MEMORY = 1024, 5, 5, 4, 5
STATES = BASES ** MEMORY
# Which states lead to each: itself (no new base), or one of the four that end in its first four bases.
BEFORE = np.concatenate([np.arange(STATES)[:, None], np.arange(STATES).repeat(BASES).reshape(BASES, -1).T], 1)


def lstm_layer(is_reversed, name):
    def apply(x):
        """[time, rows, width] -> the same."""
        core = hk.LSTM(WIDTH, name=name)
        start = jax.tree.map(lambda s: s.astype(x.dtype), core.initial_state(x.shape[1]))
        y, _ = hk.dynamic_unroll(core, jnp.flip(x, 0) if is_reversed else x, start)
        return jnp.flip(y, 0) if is_reversed else y
    return apply


def network(change):
    def forward(signal):
        """[rows, samples] -> scores of transitions, [time, rows, states, 1 + bases]."""
        x = signal[..., None]
        for i, (channels, width, stride) in enumerate(((4, 5, 1), (16, 5, 1), (WIDTH, 19, STRIDE))):
            x = jax.nn.silu(hk.Conv1D(channels, width, stride, padding="SAME", name=f"conv_{i}")(x))
        x = x.swapaxes(0, 1)
        for i in range(LAYERS):
            layer = lstm_layer(i % 2 == 0, f"lstm_{i}")
            if change.rematerialize:
                layer = hk.remat(layer, policy=policy_of(change))
            x = layer(x)
        scores = 5.0 * jnp.tanh(hk.Linear(STATES * BASES, name="crf")(x))
        scores = scores.reshape(*scores.shape[:2], STATES, BASES)
        return jnp.pad(scores, ((0, 0), (0, 0), (0, 0), (1, 0)), constant_values=2.0)
    return hk.without_apply_rng(hk.transform(forward))


def log_z(scores):
    """Over all paths, [rows]."""
    def one(alpha, now):
        return jax.nn.logsumexp(now.astype(F32) + alpha[:, BEFORE], axis=-1), None
    alpha, _ = jax.lax.scan(one, jnp.zeros(scores.shape[1:3], F32), scores)
    return jax.nn.logsumexp(alpha, axis=-1)


def log_aligned(scores, bases, lengths):
    """Over the paths that say these bases, [rows]."""
    time, rows = scores.shape[:2]
    count = bases.shape[1] - MEMORY + 1
    state = sum(bases[:, i:count + i] * BASES ** (MEMORY - i - 1) for i in range(MEMORY))
    flat = scores.reshape(time, rows, -1)
    stay = jnp.take_along_axis(flat, (state * (BASES + 1))[None], axis=2)
    move = jnp.take_along_axis(flat, (state[:, 1:] * (BASES + 1) + bases[:, :count - 1] + 1)[None], axis=2)
    nothing = jnp.full((rows, 1), -1e30, F32)

    def one(alpha, given):
        stay, move = (s.astype(F32) for s in given)
        moved = jnp.concatenate([nothing, alpha[:, :-1] + move], 1)
        return jnp.logaddexp(alpha + stay, moved), None
    start = jnp.concatenate([jnp.zeros((rows, 1), F32), jnp.full((rows, count - 1), -1e30, F32)], 1)
    alpha, _ = jax.lax.scan(one, start, (stay, move))
    last = jnp.clip(lengths - MEMORY, 0, count - 1)
    return jnp.take_along_axis(alpha, last[:, None], 1)[:, 0]


def basecaller(batch, samples, bases):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        chunk, longest = samples // change.length_divisor, bases // change.length_divisor
        net, now = network(change), computing(change, F32)
        shapes = jax.eval_shape(net.init, jax.random.key(0), jax.ShapeDtypeStruct((1, 100), F32))
        params = cast(shapes, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(1e-4, 2e-3, 500, 100_000, 2e-5)
        optimizer = optax.chain(optax.clip_by_global_norm(2.0), optax.adamw(schedule, weight_decay=0.01))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, signal, targets, lengths):
            scores = net.apply(cast(params, now), signal.astype(now))
            logz, aligned = log_z(scores), log_aligned(scores, targets, lengths)
            loss = jnp.mean((logz - aligned) / jnp.maximum(lengths, 1).astype(F32))
            return loss, {"log_z": logz.mean()}

        def train_step(params, opt_state, signal, targets, lengths):
            loss, aux, grads = summed_slopes(loss_fn, change.parts)(params, None, signal, targets, lengths)
            metrics = {"loss": loss, "log_z": aux["log_z"].mean(), "grad_norm": optax.global_norm(grads)}
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, metrics

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state),
                            arrays.batch((rows, chunk), F32), arrays.batch((rows, longest), jnp.int32),
                            arrays.batch((rows,), jnp.int32)), (0, 1)
    return make


FAMILY = {"crown_bonito_lstm": dict(
    make=basecaller(batch=64, samples=3600, bases=400), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
