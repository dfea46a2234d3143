"""A word-piece language model of stacked LSTMs, trained by truncated backpropagation through time.

In haiku: each layer is unrolled over time by hk.dynamic_unroll (a lax.scan), the states of the last window are carried
over to the next one. Locked dropout between the layers, tied embeddings behind a projection, activations regularised
as in AWD-LSTM. All in float32.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype
from advice_tour_c_parts import DONATING, SEQUENCE, TRAINED_IN_FLOAT32


def locked_dropout(x, rate):
    """One mask for all time steps; x is [time, batch, features]."""
    keep = jax.random.bernoulli(hk.next_rng_key(), 1.0 - rate, (1, *x.shape[1:]))
    return jnp.where(keep, x / (1.0 - rate), jnp.zeros((), x.dtype))


class LSTMLanguageModel(hk.Module):
    def __init__(self, vocab, embed, hidden, layers, dropout, remat, policy, name="lstm_lm"):
        super().__init__(name=name)
        self.vocab, self.embed, self.hidden, self.layers = vocab, embed, hidden, layers
        self.dropout, self.remat, self.policy = dropout, remat, policy

    def __call__(self, tokens, states, dtype):
        table = hk.get_parameter("embedding", (self.vocab, self.embed), init=hk.initializers.RandomUniform(-0.1, 0.1))
        x = jnp.take(table, tokens.T, axis=0).astype(dtype)
        x = locked_dropout(x, self.dropout)
        new_states = []
        for i in range(self.layers):
            core = hk.LSTM(self.hidden, name=f"lstm_{i}")
            cell = hk.remat(core, policy=self.policy) if self.remat else core
            x, state = hk.dynamic_unroll(cell, x, states[i])
            new_states.append(state)
            raw, x = x, locked_dropout(x, self.dropout)
        projected = hk.Linear(self.embed, name="projection")(x)
        bias = hk.get_parameter("output_bias", (self.vocab,), init=jnp.zeros)
        logits = jnp.einsum("tbe,ve->tbv", projected, table) + bias
        return logits, new_states, raw, x


def lstm_lm(layers, hidden, embed, vocab, batch, length, dropout=0.4, alpha=2.0, beta=1.0, kind=F32):
    def make(arrays, change):
        rows, bptt = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)

        def forward(tokens, states):
            return LSTMLanguageModel(vocab, embed, hidden, layers, dropout, change.rematerialize,
                                     checkpoint_policy(change))(tokens, states, now)
        network = hk.transform(forward)

        def abstract_init(key):
            zeros = [hk.LSTMState(jnp.zeros((2, hidden), now), jnp.zeros((2, hidden), now)) for _ in range(layers)]
            return network.init(key, jnp.zeros((2, 3), jnp.int32), zeros)
        params = cast(jax.eval_shape(abstract_init, jax.random.PRNGKey(0)), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.adamw(1e-3, weight_decay=1.2e-6))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, states, inputs, targets):
            logits, new_states, raw, dropped = network.apply(cast(params, now), key, inputs, cast(states, now))
            nll = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), targets.T).mean()
            activation = alpha * jnp.mean(jnp.square(dropped.astype(F32)))
            slowness = beta * jnp.mean(jnp.square(raw[1:].astype(F32) - raw[:-1].astype(F32)))
            return nll + activation + slowness, (nll, new_states)

        def train_step(params, opt_state, states, key, inputs, targets):
            key, dropout_key = jax.random.split(key)
            _, (nll, new_states), grads = summed_slopes(loss_fn, change.parts)(
                params, dropout_key, states, inputs, targets)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            new_states = jax.tree.map(lambda new, old: jax.lax.stop_gradient(new).reshape(old.shape).astype(old.dtype),
                                      new_states, states)
            return params, opt_state, new_states, key, {"nll": nll.mean(), "ppl": jnp.exp(nll.mean())}

        states = [hk.LSTMState(arrays.batch((rows, hidden), F32), arrays.batch((rows, hidden), F32))
                  for _ in range(layers)]
        words = arrays.batch((rows, bptt), jnp.int32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), states, raw_key(arrays), words,
                            words), (0, 1, 2)
    return make


FAMILY = {"tour_lstm_lm": dict(make=lstm_lm(4, 2048, 1024, 32_000, 128, 256), is_donated=False,
                               variants=DONATING + TRAINED_IN_FLOAT32 + SEQUENCE)}
