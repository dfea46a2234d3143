"""What DreamerV3 (advice_round_dreamer.py) computes apart from its networks: two-hot values, divergences, returns."""
import jax
import jax.numpy as jnp

BINS = 255


def symlog(x):
    return jnp.sign(x) * jnp.log1p(jnp.abs(x))


def symexp(x):
    return jnp.sign(x) * jnp.expm1(jnp.abs(x))


def twohot_mean(logits):
    return symexp(jnp.sum(jax.nn.softmax(logits, -1) * jnp.linspace(-20.0, 20.0, BINS), -1))


def twohot_loss(logits, target):
    place = (jnp.clip(symlog(target), -20.0, 20.0) + 20.0) / 40.0 * (BINS - 1)
    low = jnp.floor(place).astype(jnp.int32)
    high, part = jnp.minimum(low + 1, BINS - 1), (place - low)[..., None]
    wanted = jax.nn.one_hot(low, BINS) * (1.0 - part) + jax.nn.one_hot(high, BINS) * part
    return -jnp.sum(wanted * jax.nn.log_softmax(logits, -1), -1)


def divergence(left, right):
    return jnp.maximum(jnp.sum(jnp.exp(left) * (left - right), (-2, -1)), 1.0)


def lambda_returns(reward, value, discount, lam=0.95):
    def back(after, now):
        r, v, d = now
        total = r + d * ((1 - lam) * v + lam * after)
        return total, total
    return jax.lax.scan(back, value[-1], (reward[1:], value[1:], discount[1:]), reverse=True)[1]
