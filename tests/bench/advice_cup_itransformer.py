"""iTransformer on the Traffic data: each of 862 sensors is one token, attention goes over sensors.

Flax nnx in float32. A window of 96 hours becomes a token by one linear layer, the calendar adds four tokens, encoder
layers with norms after, a linear layer back to 720 hours; each window is normalized by its own mean and deviation. MSE,
Adam with a rate that decays by epochs. The state is not donated.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, policy_of, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, compute_dtype

CALENDAR = 4


class InvertedAttention(nnx.Module):
    def __init__(self, d_model, n_heads, dropout, dtype, rngs):
        self.n_heads = n_heads
        self.query, self.key, self.value, self.out = (
            nnx.Linear(d_model, d_model, dtype=dtype, rngs=rngs) for _ in range(4))
        self.dropout = dropout

    def __call__(self, x, rng):
        b, n, d = x.shape
        q, k, v = (f(x).reshape(b, n, self.n_heads, -1) for f in (self.query, self.key, self.value))
        scores = jnp.einsum("blhe,bshe->bhls", q, k) / (d // self.n_heads) ** 0.5
        weights = drop(rng, jax.nn.softmax(scores, -1), self.dropout)
        return self.out(jnp.einsum("bhls,bshd->blhd", weights, v).reshape(b, n, d))


def drop(rng, x, rate):
    return jnp.where(jax.random.bernoulli(rng, 1 - rate, x.shape), x / (1 - rate), 0).astype(x.dtype)


class EncoderLayer(nnx.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout, dtype, rngs):
        self.attention = InvertedAttention(d_model, n_heads, dropout, dtype, rngs)
        self.conv1 = nnx.Linear(d_model, d_ff, dtype=dtype, rngs=rngs)
        self.conv2 = nnx.Linear(d_ff, d_model, dtype=dtype, rngs=rngs)
        self.norm1 = nnx.LayerNorm(d_model, dtype=dtype, rngs=rngs)
        self.norm2 = nnx.LayerNorm(d_model, dtype=dtype, rngs=rngs)
        self.dropout = dropout

    def __call__(self, x, rng):
        a, b, c, d = jax.random.split(rng, 4)
        x = self.norm1(x + drop(a, self.attention(x, b), self.dropout))
        y = drop(c, jax.nn.gelu(self.conv1(x), approximate=False), self.dropout)
        return self.norm2(x + drop(d, self.conv2(y), self.dropout))


class ITransformer(nnx.Module):
    def __init__(self, seq_len, pred_len, d_model, n_heads, d_ff, e_layers, dropout, dtype, change, rngs):
        self.dropout, self.dtype, self.change = dropout, dtype, change
        self.embedding = nnx.Linear(seq_len, d_model, dtype=dtype, rngs=rngs)
        self.layers = nnx.List([EncoderLayer(d_model, n_heads, d_ff, dropout, dtype, rngs) for _ in range(e_layers)])
        self.norm = nnx.LayerNorm(d_model, dtype=dtype, rngs=rngs)
        self.projector = nnx.Linear(d_model, pred_len, dtype=dtype, rngs=rngs)

    def __call__(self, x, marks, rng):
        """[batch, time, sensors], [batch, time, 4] -> [batch, horizon, sensors]"""
        sensors = x.shape[-1]
        x = x.astype(F32)
        mean = jax.lax.stop_gradient(x.mean(1, keepdims=True))
        deviation = jnp.sqrt(jnp.var(x - mean, axis=1, keepdims=True) + 1e-5)
        tokens = jnp.concatenate([(x - mean) / deviation, marks.astype(F32)], -1).swapaxes(1, 2)
        first, *rngs = jax.random.split(rng, len(self.layers) + 1)
        h = drop(first, self.embedding(tokens.astype(self.dtype)), self.dropout)
        for layer, key in zip(self.layers, rngs):
            graph, state = nnx.split(layer)

            def run(state, h, key, graph=graph):
                return nnx.merge(graph, state)(h, key)
            if self.change.rematerialize:
                run = jax.checkpoint(run, policy=policy_of(self.change))
            h = run(state, h, key)
        out = self.projector(self.norm(h)).astype(F32).swapaxes(1, 2)[..., :sensors]
        return out * deviation + mean


def itransformer(sensors, seq_len, pred_len, d_model, n_heads, d_ff, e_layers, batch, dropout=0.1, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = nnx.eval_shape(lambda: ITransformer(seq_len, pred_len, d_model, n_heads, d_ff, e_layers, dropout, now,
                                                    change, nnx.Rngs(0)))
        graph, params = nnx.split(model, nnx.Param)
        params = cast(params, change.stored)
        tx = optax.adam(optax.exponential_decay(1e-3, 1_000, 0.5, staircase=True))
        opt_state = jax.eval_shape(tx.init, params)

        def loss_fn(params, rng, x, x_mark, y):
            predicted = nnx.merge(graph, params)(x, x_mark, rng)
            errors = predicted - y.astype(F32)
            return jnp.mean(jnp.square(errors)), jnp.mean(jnp.abs(errors))

        def train_step(params, opt_state, rng, x, x_mark, y):
            rng, dropout_rng = jax.random.split(rng)
            mse, mae, grads = summed_slopes(loss_fn, change.parts)(params, dropout_rng, x, x_mark, y)
            params, opt_state = updated(tx, grads, opt_state, params)
            return params, opt_state, rng, {"mse": mse, "mae": mae.mean()}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                            arrays.batch((rows, seq_len, sensors), F32), arrays.batch((rows, seq_len, CALENDAR), F32),
                            arrays.batch((rows, pred_len, sensors), F32)), (0, 1)
    return make


FAMILY = {"cup_itransformer": dict(
    make=itransformer(sensors=862, seq_len=96, pred_len=720, d_model=512, n_heads=8, d_ff=512, e_layers=4, batch=64),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "bf16_parameters", "bf16_parameters.follow",
              "bf16_temporaries", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
