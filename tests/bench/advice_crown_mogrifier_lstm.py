"""Mogrifier LSTM on the bytes of enwik8: before each step, input and state gate one another five times.

Haiku, two layers of 1024 units on an embedding of 1024 tied to the output, hk.dynamic_unroll over 512 steps of time;
the LSTMs' state is carried from one stretch of text to the next. float32 throughout, Adam, nothing is donated.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import cast, computing, laid_out, like, policy_of, raw_key, summed_slopes, updated
from advice_board_training import F32

VOCAB = 208  # 205 bytes occur in enwik8


class MogrifierLSTM(hk.RNNCore):
    """Melis et al. 2019, with full matrices instead of low-rank ones."""

    def __init__(self, size, rounds, change, name=None):
        super().__init__(name=name)
        self.size, self.rounds, self.change = size, rounds, change

    def mogrify(self, x, h):
        for i in range(self.rounds):
            if i % 2 == 0:
                x = 2 * jax.nn.sigmoid(hk.Linear(self.size, name=f"q_{i}")(h)) * x
            else:
                h = 2 * jax.nn.sigmoid(hk.Linear(self.size, name=f"r_{i}")(x)) * h
        return x, h

    def cell(self, x, h, c):
        x, h = self.mogrify(x, h)
        gates = hk.Linear(4 * self.size, name="gates")(jnp.concatenate([x, h], axis=-1))
        i, g, f, o = jnp.split(gates, 4, axis=-1)
        f = jax.nn.sigmoid(f + 1)
        c = f * c + jnp.minimum(1 - f, jax.nn.sigmoid(i)) * jnp.tanh(g)
        return jax.nn.sigmoid(o) * jnp.tanh(c), c

    def __call__(self, x, state):
        cell = hk.remat(self.cell, policy=policy_of(self.change)) if self.change.rematerialize else self.cell
        h, c = cell(x, state.hidden, state.cell)
        return h, hk.LSTMState(hidden=h, cell=c)

    def initial_state(self, batch_size):
        zeros = jnp.zeros((batch_size, self.size))
        return hk.LSTMState(hidden=zeros, cell=zeros)


def shared_dropout(rate, x):
    """One mask for all steps of time; x: [time, rows, size]"""
    keep = jax.random.bernoulli(hk.next_rng_key(), 1 - rate, x.shape[1:])
    return jnp.where(keep, x / (1 - rate), jnp.zeros((), x.dtype))


def language_model(size, layers, rounds, input_rate, between_rate, output_rate, change):
    def forward(tokens, states):
        """tokens: [rows, time]"""
        table = hk.get_parameter("embedding", (VOCAB, size), init=hk.initializers.TruncatedNormal(size ** -0.5))
        x = table[tokens.T]
        x = shared_dropout(input_rate, x)
        new = []
        for i in range(layers):
            core = MogrifierLSTM(size, rounds, change, name=f"lstm_{i}")
            x, state = hk.dynamic_unroll(core, x, states[i])
            new.append(state)
            x = shared_dropout(between_rate if i + 1 < layers else output_rate, x)
        bias = hk.get_parameter("output_bias", (VOCAB,), init=jnp.zeros)
        logits = x @ table.T + bias
        return logits.swapaxes(0, 1), new
    return forward


def mogrifier(batch, steps, size=1024, layers=2, rounds=5, rates=(0.1, 0.2, 0.2), kind=F32):
    def make(arrays, change):
        rows, length = batch // change.batch_divisor, steps // change.length_divisor
        now = computing(change, kind)
        model = hk.transform(language_model(size, layers, rounds, *rates, change))
        plain = [hk.LSTMState(*(jax.ShapeDtypeStruct((1, size), F32),) * 2) for _ in range(layers)]
        params = cast(jax.eval_shape(model.init, jax.random.key(0), jax.ShapeDtypeStruct((1, 4), jnp.int32), plain),
                      change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(3e-3, b1=0.0, b2=0.999))
        opt_state = jax.eval_shape(optimizer.init, params)
        carried = [hk.LSTMState(*(arrays.batch((rows, size), F32) for _ in range(2))) for _ in range(layers)]

        def loss_fn(params, key, inputs, targets, carried):
            logits, new = model.apply(cast(params, now), key, inputs, cast(carried, now))
            losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), targets)
            return losses.mean(), jax.lax.stop_gradient(like(new, carried))

        def train_step(params, opt_state, carried, key, inputs, targets):
            key, drop = jax.random.split(key)

            def loss_of(params, key, inputs, targets, *leaves):
                return loss_fn(params, key, inputs, targets, jax.tree.unflatten(jax.tree.structure(carried), leaves))
            loss, new, grads = summed_slopes(loss_of, change.parts)(params, drop, inputs, targets,
                                                                    *jax.tree.leaves(carried))
            params, opt_state = updated(optimizer, grads, opt_state, params)
            carried = jax.tree.map(lambda parts, old: parts.reshape(old.shape), new, carried)
            return params, opt_state, carried, key, {"loss": loss, "bits": loss / jnp.log(2.0)}

        text = arrays.batch((rows, length), jnp.int32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), carried, raw_key(arrays),
                            text, text), (0, 1, 2)
    return make


FAMILY = {"crown_mogrifier_lstm": dict(
    make=mogrifier(batch=128, steps=512), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
