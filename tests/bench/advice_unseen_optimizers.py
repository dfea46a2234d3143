"""Optimizers of the models in advice_unseen.py: each is update(params, state, grads) -> (params, state)."""
import jax
import jax.numpy as jnp

from advice_structures import F32


def trained(loss_fn, update, params, state, *batch):
    """(step, arguments, donated) of a step that gives params, state and loss."""
    def train_step(params, state, *batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
        return *update(params, state, grads), loss
    return train_step, (params, state, *batch), (0, 1)


def each(change, *trees):
    """Change of each leaf, computed in float32 and stored as what is first."""
    return jax.tree.map(lambda old, *more: change(*(a.astype(F32) for a in (old, *more))).astype(old.dtype), *trees)


def adamw_state(arrays, params):
    return arrays.array((), jnp.int32), params, params


def adamw(params, state, grads):
    count, mu, nu = state
    count = count + 1
    mu = each(lambda m, g: 0.9 * m + 0.1 * g, mu, grads)
    nu = each(lambda n, g: 0.95 * n + 0.05 * jnp.square(g), nu, grads)
    small, smaller = 1 - 0.9 ** count.astype(F32), 1 - 0.95 ** count.astype(F32)

    def moved(p, m, n):
        return p - 1e-3 * (m / small / (jnp.sqrt(n / smaller) + 1e-8) + 0.01 * p)
    return each(moved, params, mu, nu), (count, mu, nu)


def lion(params, momentum, grads):
    moved = each(lambda p, m, g: p - 1e-4 * (jnp.sign(0.9 * m + 0.1 * g) + 0.1 * p), params, momentum, grads)
    return moved, each(lambda m, g: 0.99 * m + 0.01 * g, momentum, grads)


def nesterov(params, velocity, grads):
    velocity = each(lambda v, g: 0.9 * v + g, velocity, grads)
    return each(lambda p, v, g: p - 0.05 * (g + 0.9 * v), params, velocity, grads), velocity


def adagrad(params, sums, grads):
    sums = each(lambda s, g: s + g * g, sums, grads)
    return each(lambda p, s, g: p - 0.01 * g * jax.lax.rsqrt(s + 1e-10), params, sums, grads), sums


def clipped_sgd(params, count, grads):
    """No state but the count of steps; slopes scaled by the norm of them all."""
    norm = jnp.sqrt(sum(jnp.sum(jnp.square(g.astype(F32))) for g in jax.tree.leaves(grads)))
    rate = 0.5 * jnp.minimum(1, 1 / norm) * jax.lax.rsqrt(count + 1.0)
    return each(lambda p, g: p - rate * g, params, grads), count + 1


def adafactor_state(arrays, params):
    """Of matrices: the means of rows and of columns; of vectors: all of them."""
    def one(p):
        if len(p.shape) < 2:
            return (arrays.parameter(p.shape, None),)
        return arrays.parameter(p.shape[:-1], None), arrays.parameter(p.shape[:-2] + p.shape[-1:], None)
    return jax.tree.map(one, params)


def adafactor(params, state, grads):
    def one(p, moments, g):
        g = g.astype(F32)
        square = jnp.square(g) + 1e-30
        means = [square] if len(moments) == 1 else [square.mean(-1), square.mean(-2)]
        new = tuple((0.8 * old.astype(F32) + 0.2 * mean).astype(old.dtype) for old, mean in zip(moments, means))
        if len(new) == 1:
            scale = jax.lax.rsqrt(new[0].astype(F32))
        else:
            rows, columns = (m.astype(F32) for m in new)
            scale = jax.lax.rsqrt(rows / rows.mean(-1, keepdims=True))[..., None] * jax.lax.rsqrt(columns)[..., None, :]
        return (p - 1e-2 * g * scale).astype(p.dtype), new
    leaves, tree = jax.tree.flatten(params)
    made = [one(*each_of) for each_of in zip(leaves, tree.flatten_up_to(state), tree.flatten_up_to(grads))]
    return tree.unflatten([p for p, _ in made]), tree.unflatten([s for _, s in made])
