"""DeepAR: a probabilistic forecaster, three layers of LSTM run over hours by one lax.scan, trained by teacher forcing.

Plain JAX with dictionaries, all in float32. Series are scaled by their mean, each series has an embedding, the inputs
are the last value and eight lags with the calendar; negative binomial likelihood of each hour, Adam with clipping.
The state is not donated.
"""
import jax
import jax.numpy as jnp
import optax
from jax.scipy.special import gammaln

from advice_board_changes import checkpointed, laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, abstract, cast, compute_dtype

LAGS = (1, 2, 3, 24, 25, 48, 168, 336)
CALENDAR, STATIC_DIM = 6, 64


def shapes_of(series, layers, hidden):
    inputs = len(LAGS) + CALENDAR + STATIC_DIM + 1
    return {
        "series": (series, STATIC_DIM),
        "lstm": [{"wx": (inputs if i == 0 else hidden, 4 * hidden), "wh": (hidden, 4 * hidden), "b": (4 * hidden,)}
                 for i in range(layers)],
        "mu": {"w": (hidden, 1), "b": (1,)},
        "alpha": {"w": (hidden, 1), "b": (1,)},
    }


def lstm_cell(p, x, h, c):
    gates = x @ p["wx"] + h @ p["wh"] + p["b"]
    i, f, g, o = jnp.split(gates, 4, axis=-1)
    c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def zoneout(key, new, old, rate):
    return jnp.where(jax.random.bernoulli(key, rate, new.shape), old, new)


def negative_binomial(target, mu, alpha):
    """Log likelihood of counts with this mean and shape."""
    r = 1.0 / alpha
    return (gammaln(target + r) - gammaln(target + 1.0) - gammaln(r) + r * jnp.log(r / (r + mu))
            + target * jnp.log(mu / (r + mu) + 1e-10))


def network(params, key, lagged, calendar, ids, change, rate):
    """[batch, time, ...] -> mu, alpha [batch, time]"""
    batch, time, _ = lagged.shape
    hidden = params["lstm"][0]["wh"].shape[0]
    static = params["series"][ids]

    def tick(carry, now):
        lags, clock, key = now
        x = jnp.concatenate([lags, clock, static, jnp.ones((batch, 1), static.dtype)], -1)
        following = []
        for p, (h, c), k in zip(params["lstm"], carry, jax.random.split(key, len(carry))):
            h_new, c_new = lstm_cell(p, x, h, c)
            h_new = zoneout(k, h_new, h, rate)
            following.append((h_new, c_new))
            x = h_new
        return following, x
    zeros = jnp.zeros((batch, hidden), static.dtype)
    carry = [(zeros, zeros) for _ in params["lstm"]]
    xs = lagged.swapaxes(0, 1), calendar.swapaxes(0, 1), jax.random.split(key, time)
    _, out = jax.lax.scan(checkpointed(change, tick), carry, xs)
    mu = jax.nn.softplus((out @ params["mu"]["w"] + params["mu"]["b"]).astype(F32))
    alpha = jax.nn.softplus((out @ params["alpha"]["w"] + params["alpha"]["b"]).astype(F32))
    return mu[..., 0].T + 1e-6, alpha[..., 0].T + 1e-6


def deepar(series, layers, hidden, batch, context, horizon, rate=0.1, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        time = (context + horizon) // change.length_divisor
        ahead = horizon // change.length_divisor
        params = cast(abstract(shapes_of(series, layers, hidden)), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(1e-3))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss(params, key, past, calendar, ids, weights):
            params = jax.tree.map(lambda p: p.astype(now), params)
            past = past.astype(F32)
            first = max(LAGS)
            target = past[:, first:]
            scale = 1.0 + past[:, :-ahead].mean(1, keepdims=True)
            lagged = jnp.stack([past[:, first - lag:first - lag + time] for lag in LAGS], -1) / scale[..., None]
            mu, alpha = network(params, key, lagged.astype(now), calendar.astype(now), ids, change, rate)
            mu, alpha = mu * scale, alpha / jnp.sqrt(scale)
            nll = -negative_binomial(target, mu, alpha)
            weights = weights.astype(F32)
            of_horizon = jnp.abs(mu - target)[:, -ahead:].sum() / jnp.maximum(target[:, -ahead:].sum(), 1.0)
            return (nll * weights).sum() / jnp.maximum(weights.sum(), 1.0), of_horizon

        def update(params, opt_state, key, past, calendar, ids, weights):
            key, sub = jax.random.split(key)
            nll, nd, grads = summed_slopes(loss, change.parts)(params, sub, past, calendar, ids, weights)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"nll": nll, "nd": nd.mean()}
        return update, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                        arrays.batch((rows, max(LAGS) + time), F32), arrays.batch((rows, time, CALENDAR), F32),
                        arrays.batch((rows,), jnp.int32), arrays.batch((rows, time), F32)), (0, 1)
    return make


FAMILY = {"cup_deepar": dict(
    make=deepar(series=100_000, layers=3, hidden=512, batch=1024, context=336, horizon=48), is_donated=False,
    variants=("donate_inputs", "bf16_parameters", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
