"""Graphs: GCNII on one graph of citations (plain functions), and SchNet's energies and forces of many (flax linen).

Each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import functools
import math

import jax
import jax.numpy as jnp

from advice_board_changes import (F32, cast, checkpointed, computing, laid_out, like, policy_of, raw_key, specs,
                                   updated)


# --- One graph ---

def node_norm(p, stats, x):
    """A batch norm over all nodes, and its running figures."""
    wide = x.astype(F32)
    mean, var = wide.mean(0), wide.var(0)
    y = ((wide - mean) * jax.lax.rsqrt(var + 1e-5)).astype(x.dtype) * p["gamma"] + p["beta"]
    return y, {"mean": 0.9 * stats["mean"] + 0.1 * mean, "var": 0.9 * stats["var"] + 0.1 * var}


def dropped(key, x, rate):
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


def gcn2(layers, width, features, classes, nodes, edges, alpha=0.1, theta=0.5, rate=0.1, kind=F32):
    """Each layer takes from its neighbours and from the first; edges have both ways, loops, and weights of degrees."""
    def make(arrays, change):
        import optax
        now = computing(change, kind)
        norm, figures = {"gamma": (width,), "beta": (width,)}, {"mean": (width,), "var": (width,)}
        params = cast(specs({
            "lin_in": {"weight": (features, width), "bias": (width,)},
            "lin_out": {"weight": (width, classes), "bias": (classes,)},
            "convs": [{"weight": (width, width), "norm": norm} for _ in range(layers)]}), change.stored)
        stats = cast(specs([figures for _ in range(layers)]), change.stored)
        optimizer = optax.chain(optax.add_decayed_weights(5e-4), optax.adam(0.01))

        def conv(p, stats, key, x, first, senders, receivers, weights, strength):
            h = dropped(key, x, rate)
            mixed = jax.ops.segment_sum(h[senders] * weights[:, None], receivers, nodes)
            h = (1 - alpha) * mixed + alpha * first
            h = (1 - strength) * h + strength * (h @ p["weight"])
            h, stats = node_norm(p["norm"], stats, h)
            return x + jax.nn.relu(h), stats

        def loss_of(params, stats, key, x, senders, receivers, weights, labels, is_trained):
            p, weights, made = cast(params, now), weights.astype(now), []
            first, *keys = jax.random.split(key, layers + 1)
            x = dropped(first, x.astype(now), rate)
            x = start = jax.nn.relu(x @ p["lin_in"]["weight"] + p["lin_in"]["bias"])
            for i, (w, figures, key) in enumerate(zip(p["convs"], stats, keys)):
                block = checkpointed(change, functools.partial(conv, strength=math.log(theta / (i + 1) + 1)))
                x, figures = block(w, figures, key, x, start, senders, receivers, weights)
                made.append(figures)
            logits = (x @ p["lin_out"]["weight"] + p["lin_out"]["bias"]).astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
            return jnp.sum(losses * is_trained) / is_trained.sum(), made

        def train_step(params, stats, opt_state, key, *graph):
            (loss, made), grads = jax.value_and_grad(loss_of, has_aux=True)(params, stats, key, *graph)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, like(made, stats), opt_state, loss
        ends = arrays.batch((edges,), jnp.int32)
        arguments = (laid_out(arrays, params), laid_out(arrays, stats),
                     laid_out(arrays, jax.eval_shape(optimizer.init, params)), raw_key(arrays),
                     arrays.batch((nodes, features), F32), ends, ends, arrays.batch((edges,), F32),
                     arrays.batch((nodes,), jnp.int32), arrays.batch((nodes,), jnp.bool_))
        return train_step, arguments, (0, 1, 2)
    return make


# --- Many graphs ---

def shifted_softplus(x):
    return jax.nn.softplus(x) - math.log(2.0)


def schnet_module(change, dtype, interactions, hidden, filters, gaussians, cutoff):
    from flax import linen as nn
    dense = functools.partial(nn.Dense, dtype=dtype)

    class Interaction(nn.Module):
        @nn.compact
        def __call__(self, h, smeared, window, senders, receivers):
            w = dense(filters, name="filter_1")(shifted_softplus(dense(filters, name="filter_0")(smeared)))
            x = dense(filters, use_bias=False, name="lin1")(h)
            x = jax.ops.segment_sum(x[senders] * w * window[:, None], receivers, h.shape[0])
            return h + dense(hidden, name="lin")(shifted_softplus(dense(hidden, name="lin2")(x)))
    block = nn.remat(Interaction, policy=policy_of(change)) if change.rematerialize else Interaction

    class SchNet(nn.Module):
        @nn.compact
        def __call__(self, species, positions, shifts, senders, receivers, of_graph, graphs):
            off = positions[senders] + shifts - positions[receivers]
            distance = jnp.sqrt(jnp.sum(off * off, -1) + 1e-8)
            centers = jnp.linspace(0.0, cutoff, gaussians)
            smeared = jnp.exp(-0.5 * jnp.square((distance[:, None] - centers) / (centers[1] - centers[0])))
            window = jnp.where(distance < cutoff, 0.5 * (jnp.cos(distance * jnp.pi / cutoff) + 1), 0.0)
            smeared, window = smeared.astype(dtype), window.astype(dtype)
            h = nn.Embed(100, hidden, dtype=dtype, name="embedding")(species)
            for i in range(interactions):
                h = block(name=f"interaction_{i}")(h, smeared, window, senders, receivers)
            h = dense(1, name="lin2")(shifted_softplus(dense(hidden // 2, name="lin1")(h)))
            return jax.ops.segment_sum(h[:, 0].astype(F32), of_graph, graphs)
    return SchNet()


def schnet_forces(interactions, hidden, filters, gaussians, graphs, atoms, neighbours, cutoff=6.0, kind=F32):
    """Adsorbates on slabs: forces are the slopes of the energies, so that training takes slopes of slopes."""
    def make(arrays, change):
        import optax
        g = graphs // change.batch_divisor
        n, e = g * atoms, g * atoms * neighbours
        model = schnet_module(change, computing(change, kind), interactions, hidden, filters, gaussians, cutoff)
        few = jnp.zeros((1,), jnp.int32)
        params = cast(jax.eval_shape(lambda key: model.init(key, few, jnp.zeros((1, 3)), jnp.zeros((1, 3)), few, few,
                                                            few, 1), jax.random.PRNGKey(0)), change.stored)
        rate = optax.piecewise_constant_schedule(1e-4, {52083: 0.1, 83333: 0.1, 104166: 0.1})
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.amsgrad(rate))

        def loss_of(params, positions, energies, forces, is_free, species, *rest):
            def total(positions):
                found = model.apply(params, species, positions, *rest, g)
                return -found.sum(), found
            found_forces, found = jax.grad(total, has_aux=True)(positions.astype(F32))
            off = jnp.sqrt(jnp.sum(jnp.square(found_forces - forces.astype(F32)), -1) + 1e-12)
            return jnp.abs(found - energies.astype(F32)).mean() + 30 * jnp.sum(off * is_free) / is_free.sum()

        def train_step(params, opt_state, positions, energies, forces, is_free, species, shifts, *indices):
            loss, grads = jax.value_and_grad(loss_of)(params, positions, energies, forces, is_free, species,
                                                      shifts.astype(F32), *indices)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, loss
        of_node, of_edge = arrays.batch((n,), jnp.int32), arrays.batch((e,), jnp.int32)
        places = arrays.batch((n, 3), F32)
        arguments = (laid_out(arrays, params), laid_out(arrays, jax.eval_shape(optimizer.init, params)), places,
                     arrays.batch((g,), F32), places, arrays.batch((n,), jnp.bool_), of_node,
                     arrays.batch((e, 3), F32), of_edge, of_edge, of_node)
        return train_step, arguments, (0, 1)
    return make
