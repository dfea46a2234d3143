"""Deep Speech 2 hears English: two convolutions over a spectrogram, seven bidirectional GRU layers, CTC over letters.

In haiku. Each direction multiplies the whole utterance by its input weights at once and then walks over time in
jax.lax.scan; directions are added. Norms are those of batches (between layers, not inside the recurrence), and the
optimizer is Nesterov's. All in float32.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

BANDS, LETTERS = 161, 29


def clipped_relu(x):
    return jnp.clip(x, 0.0, 20.0)


class Norm(hk.Module):
    def __call__(self, x):
        return hk.BatchNorm(True, True, 0.99, name="batch")(x, is_training=True).astype(x.dtype)


class GRU(hk.Module):
    """One direction over [time, batch, features]; at frames past the end the state stays."""

    def __init__(self, hidden, reverse, name):
        super().__init__(name=name)
        self.hidden, self.reverse = hidden, reverse

    def __call__(self, x, inside):
        hidden, kind = self.hidden, x.dtype
        init = hk.initializers.VarianceScaling(1.0, "fan_avg", "uniform")
        w_i = hk.get_parameter("w_i", (x.shape[-1], 3 * hidden), kind, init)
        w_h = hk.get_parameter("w_h", (hidden, 3 * hidden), kind, hk.initializers.Orthogonal())
        b_i = hk.get_parameter("b_i", (3 * hidden,), kind, jnp.zeros)
        b_n = hk.get_parameter("b_n", (hidden,), kind, jnp.zeros)
        projected = jnp.dot(x, w_i) + b_i

        def step(h, frame):
            from_x, valid = frame
            xr, xz, xn = jnp.split(from_x, 3, axis=-1)
            hr, hz, hn = jnp.split(jnp.dot(h, w_h), 3, axis=-1)
            r = jax.nn.sigmoid(xr + hr)
            z = jax.nn.sigmoid(xz + hz)
            n = jnp.tanh(xn + r * (hn + b_n))
            new = (1.0 - z) * n + z * h
            h = jnp.where(valid[:, None], new, h)
            return h, h
        start = jnp.zeros((x.shape[1], hidden), kind)
        return jax.lax.scan(step, start, (projected, inside), reverse=self.reverse)[1]


class BiGRULayer(hk.Module):
    def __init__(self, hidden, norm, name):
        super().__init__(name=name)
        self.hidden, self.norm = hidden, norm

    def __call__(self, x, inside):
        if self.norm:
            x = Norm(name="norm")(x)
        return GRU(self.hidden, False, "forward")(x, inside) + GRU(self.hidden, True, "backward")(x, inside)


def deep_speech(layers, hidden, channels, now, change):
    def forward(spectrogram, frames):
        def as_now(next_getter, value, context):
            return next_getter(value).astype(now)

        with hk.custom_getter(as_now):
            x = spectrogram[..., None].astype(now)
            x = hk.Conv2D(channels, (11, 41), (2, 2), with_bias=False, name="conv_0")(x)
            x = clipped_relu(Norm(name="conv_norm_0")(x))
            x = hk.Conv2D(channels, (11, 21), (1, 2), with_bias=False, name="conv_1")(x)
            x = clipped_relu(Norm(name="conv_norm_1")(x))
            steps = x.shape[1]
            x = x.reshape(*x.shape[:2], -1).swapaxes(0, 1)
            inside = jnp.arange(steps)[:, None] < (frames // 2)[None]
            for i in range(layers):
                layer = BiGRULayer(hidden, i > 0, f"rnn_{i}")
                x = (hk.remat(layer, policy=checkpoint_policy(change)) if change.rematerialize else layer)(x, inside)
            x = Norm(name="out_norm")(x)
            return hk.Linear(LETTERS, name="letters")(x).swapaxes(0, 1), inside.T
    return hk.transform_with_state(forward)


def deepspeech_ctc(layers, hidden, channels, batch, length, letters, kind=F32):
    def make(arrays, change):
        rows, frames, longest = (batch // change.batch_divisor, length // change.length_divisor,
                                 letters // change.length_divisor)
        model = deep_speech(layers, hidden, channels, compute_dtype(change, kind), change)
        params, norms = jax.eval_shape(model.init, jax.random.PRNGKey(0), jnp.zeros((2, 32, BANDS)),
                                       jnp.zeros((2,), jnp.int32))
        params, norms = cast(params, change.stored), cast(norms, F32)
        schedule = optax.exponential_decay(3e-4, 4_000, 0.9)
        optimizer = optax.chain(optax.clip_by_global_norm(400.0), optax.sgd(schedule, momentum=0.99, nesterov=True))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, norms, opt_state, spectrogram, frames, text, text_length):
            def loss_of(params, _, spectrogram, frames, text, text_length):
                (logits, inside), state = model.apply(params, norms, None, spectrogram, frames)
                padding = jnp.arange(text.shape[1])[None] >= text_length[:, None]
                losses = optax.ctc_loss(logits.astype(F32), 1.0 - inside.astype(F32), text, padding.astype(F32))
                return (losses / jnp.maximum(text_length, 1)).mean(), state

            loss, states, grads = summed_slopes(loss_of, change.parts)(
                params, None, spectrogram, frames, text, text_length)
            state = jax.tree.map(lambda new, old: new.mean(0).astype(old.dtype), states, norms)
            norm = optax.global_norm(grads)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, state, opt_state, {"loss": loss, "grad_norm": norm}

        arguments = (laid_out(arrays, params), laid_out(arrays, norms), laid_out(arrays, opt_state),
                     arrays.batch((rows, frames, BANDS), F32), arrays.batch((rows,), jnp.int32),
                     arrays.batch((rows, longest), jnp.int32), arrays.batch((rows,), jnp.int32))
        return train_step, arguments, (0, 1, 2)
    return make


FAMILY = {"round_deepspeech": dict(
    make=deepspeech_ctc(layers=7, hidden=1280, channels=32, batch=64, length=1600, letters=256),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
