"""Tables, graphs and equations that no rule of the advice was made for: neighbours of advice_unseen.py."""
import math

import jax
import jax.numpy as jnp

from advice_structures import F32, checkpointed, in_float32
from advice_unseen_optimizers import adagrad, adamw, adamw_state, nesterov, trained


def interactions(features, rows, width, numbers, hidden, batch):
    """All features in one table, each with rows of its own; products of every two of them, then a dense top."""
    def make(arrays, change):
        size, pairs = batch // change.batch_divisor, (features + 1) * features // 2
        params = {"table": arrays.parameter((features * rows, width)),
                  "bottom": [arrays.parameter((numbers, hidden)), arrays.parameter((hidden, width))],
                  "top": [arrays.parameter((pairs + width, 2 * hidden)), arrays.parameter((2 * hidden, hidden)),
                          arrays.parameter((hidden, 1))]}

        def crossed(dense, looked_up):
            every = jnp.concatenate([dense[:, None], looked_up], 1)
            one, two = jnp.tril_indices(features + 1, -1)
            return jnp.concatenate([dense, jnp.einsum("bfw,bgw->bfg", every, every)[:, one, two]], -1)

        def loss_fn(params, ids, values, clicked):
            params, x = in_float32(params), jnp.log1p(jnp.abs(values.astype(F32)))
            for w in params["bottom"]:
                x = jax.nn.relu(x @ w)
            looked_up = params["table"][ids + jnp.arange(features) * rows]
            x = checkpointed(change, crossed)(x, looked_up)
            for w in params["top"][:-1]:
                x = jax.nn.relu(x @ w)
            logits = (x @ params["top"][-1])[:, 0]
            return jnp.mean(jax.nn.softplus(logits) - clicked * logits)
        data = (arrays.batch((size, features), jnp.int32), arrays.batch((size, numbers), F32),
                arrays.batch((size,), jnp.int32))
        return trained(loss_fn, adagrad, params, params, *data)
    return make


def graph_attention(layers, nodes, edges, width, heads):
    """Each node looks at its neighbours: weights by segment_max and segment_sum over one graph's edges; float32."""
    def make(arrays, change):
        params = [{"w": arrays.parameter((width, width)), "bias": arrays.parameter((width,), None),
                   "from": arrays.parameter((width, heads)), "to": arrays.parameter((width, heads))}
                  for _ in range(layers)]
        features = arrays.array((nodes, width), change.stored)
        ends = arrays.array((2, edges), jnp.int32)

        def look(h, p, ends):
            source, target = ends
            seen = h @ p["w"]
            score = jax.nn.leaky_relu((seen @ p["from"])[source] + (seen @ p["to"])[target])
            score = jnp.exp(score - jax.ops.segment_max(score, target, nodes)[target])
            score = score / (jax.ops.segment_sum(score, target, nodes)[target] + 1e-9)
            sent = seen[source].reshape(edges, heads, -1) * score[..., None]
            return h + jax.nn.elu(jax.ops.segment_sum(sent.reshape(edges, width), target, nodes) + p["bias"])

        def loss_fn(params, features, ends):
            h, params = features.astype(F32), in_float32(params)
            for p in params:
                h = checkpointed(change, look)(h, p, ends)
            return jnp.mean(jnp.square(jnp.sum(h[ends[0]] * h[ends[1]], -1) - 1))
        return trained(loss_fn, nesterov, params, params, features, ends)
    return make


def wave_equation(layers, width, points, checks):
    """A network of place and time whose second derivatives are held to an equation; all weights in one flat array."""
    shapes = [(2, width), (width,)] + [(width, width), (width,)] * layers + [(width, 1), (1,)]

    def make(arrays, change):
        size = points // change.batch_divisor
        total = sum(map(math.prod, shapes))
        flat = arrays.parameter((-(-total // 4) * 4,))

        def unpacked(flat):
            ends = 0
            for shape in shapes:
                begins, ends = ends, ends + math.prod(shape)
                yield flat[begins:ends].reshape(shape)

        def loss_fn(flat, where, known):
            *weights, w_out, b_out = unpacked(flat.astype(F32))

            def hidden(h, w, b):
                return jnp.tanh(h @ w + b)

            def height(x, t):
                h = jnp.stack([x, t])
                for w, b in zip(weights[::2], weights[1::2]):
                    h = checkpointed(change, hidden)(h, w, b)
                return (h @ w_out + b_out)[0]

            def residual(point):
                x, t = point
                _, in_x = jax.jvp(lambda x: jax.grad(height)(x, t), (x,), (1.0,))
                _, in_t = jax.jvp(lambda t: jax.grad(height, 1)(x, t), (t,), (1.0,))
                return in_t - 0.25 * in_x
            errors = jax.vmap(residual)(where.astype(F32))
            known = known.astype(F32)
            return jnp.mean(errors ** 2) + jnp.mean((jax.vmap(height)(known[:, 0], known[:, 1]) - known[:, 2]) ** 2)
        data = arrays.batch((size, 2), F32), arrays.batch((checks // change.batch_divisor, 3), F32)
        return trained(loss_fn, adamw, flat, adamw_state(arrays, flat), *data)
    return make
