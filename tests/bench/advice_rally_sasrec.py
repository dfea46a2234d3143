"""gSASRec: the next item of long histories, a causal transformer of two blocks over a table of millions of items.

Flax nnx, float32. Every position has its own sampled negatives out of the whole table, which is both input and output,
and a generalized binary cross entropy that answers for the sampling rate. Dense Adam moves the whole table.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, on_chips


def dropped(key, x, rate):
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0).astype(x.dtype)


def sasrec(change, now, items, width, heads, blocks, length, rate):
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.norm1, self.norm2 = (nnx.LayerNorm(width, epsilon=1e-8, dtype=now, rngs=rngs) for _ in range(2))
            self.query, self.key, self.value = (nnx.Linear(width, width, dtype=now, rngs=rngs) for _ in range(3))
            self.conv1, self.conv2 = (nnx.Linear(width, width, dtype=now, rngs=rngs) for _ in range(2))

        def __call__(self, x, seen, key):
            b, t, _ = x.shape
            keys = jax.random.split(key, 3)
            normed = self.norm1(x)  # queries alone are normed, as published
            q, k, v = (layer(given).reshape(b, t, heads, -1) for layer, given in (
                (self.query, normed), (self.key, x), (self.value, x)))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * (width // heads) ** -0.5
            allowed = jnp.tril(jnp.ones((t, t), bool)) & seen[:, None, None, :]
            weights = dropped(keys[0], jax.nn.softmax(jnp.where(allowed, scores, -1e9)).astype(now), rate)
            x = normed + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(b, t, -1)
            y = self.norm2(x)
            x = y + dropped(keys[2], self.conv2(jax.nn.relu(dropped(keys[1], self.conv1(y), rate))), rate)
            return x * seen[..., None]

    class SASRec(nnx.Module):
        def __init__(self, rngs):
            self.items = nnx.Embed(items, width, dtype=now, rngs=rngs)
            self.places = nnx.Embed(length, width, dtype=now, rngs=rngs)
            self.blocks = nnx.List([Block(rngs) for _ in range(blocks)])
            self.last = nnx.LayerNorm(width, epsilon=1e-8, dtype=now, rngs=rngs)

        def __call__(self, history, key):
            seen = history > 0
            key, first = jax.random.split(key)
            x = self.items(history) * width ** 0.5 + self.places(jnp.arange(history.shape[1]))
            x = dropped(first, x, rate) * seen[..., None]
            for block, one in zip(self.blocks, jax.random.split(key, blocks)):
                run = type(block).__call__
                run = nnx.remat(run, policy=checkpoint_policy(change)) if change.rematerialize else run
                x = run(block, x, seen, one)
            return self.last(x)
    return nnx, SASRec


def calibrated(negatives, items, trust):
    """The exponent of gBCE."""
    alpha = negatives / (items - 1)
    return alpha * (trust * (1 - 1 / alpha) + 1 / alpha)


def sasrec_items(items, width, heads, blocks, batch, length, negatives, trust=0.75, rate=0.2, kind=F32):
    def make(arrays, change):
        import optax
        rows, steps, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        nnx, model = sasrec(change, now, items, width, heads, blocks, steps, rate)
        graph, shapes = nnx.split(nnx.eval_shape(lambda: model(nnx.Rngs(0))), nnx.Param, ...)[:2]
        params = cast(nnx.to_pure_dict(shapes), change.stored)
        optimizer = optax.adam(1e-3, b2=0.98)
        opt_state = jax.eval_shape(optimizer.init, params)
        beta = calibrated(negatives, items, trust)

        def loss_of(params, key, history, following):
            state = jax.tree.map(lambda a: a, shapes)
            nnx.replace_by_pure_dict(state, params)
            net = nnx.merge(graph, state)
            for_net, for_sampling = jax.random.split(key)
            x = net(history, for_net)
            wrong = jax.random.randint(for_sampling, (*history.shape, negatives), 1, items)
            chosen = jnp.concatenate([following[..., None], wrong], -1)
            logits = jnp.einsum("btd,btnd->btn", x, net.items(chosen)).astype(F32)
            right = -beta * jax.nn.log_sigmoid(logits[..., 0])
            losses = right + jax.nn.softplus(logits[..., 1:]).sum(-1)
            counted = (following > 0).astype(F32)
            return (losses * counted).sum() / jnp.maximum(counted.sum(), 1), ()

        def train_step(params, opt_state, key, history, following):
            key, here = jax.random.split(key)
            loss, _, slopes = summed_slopes(loss_of, change.parts)(params, here, history, following)
            params, opt_state = updated(optimizer, slopes, opt_state, params)
            return params, opt_state, key, loss
        words = arrays.batch((rows, steps), jnp.int32)
        return train_step, (on_chips(arrays, params), on_chips(arrays, opt_state), raw_key(arrays), words,
                            words), (0, 1)
    return make
