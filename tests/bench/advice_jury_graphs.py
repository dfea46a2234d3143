"""Graphs: one large one whose papers are told apart, and many molecules joined to one, with energies and forces.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, trained
from advice_fresh import maybe_checkpointed, shaped
from advice_structures import F32


# --- One large graph ---

def layer_normed(x, w):
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * w["scale"] + w["bias"]


def soft_aggregated(messages, receivers, heat, count):
    """For each receiver the mean of its messages, weighted by their softmax, channel by channel."""
    scores = messages * heat
    top = jax.lax.stop_gradient(jax.ops.segment_max(scores, receivers, count))
    weights = jnp.exp(scores - top[receivers])
    sums = jax.ops.segment_sum(weights, receivers, count)
    return jax.ops.segment_sum(messages * (weights / (sums[receivers] + 1e-9)), receivers, count)


def cited_papers(layers, width, features, classes, nodes, edges, kind=F32):
    """DeeperGCN on ogbn-arxiv, in plain arrays: GENConv with softmax aggregation, res+ blocks, the whole graph."""
    norm = {"scale": (width,), "bias": (width,)}

    def make(arrays, change):
        import optax
        now = change.computed or computed(change, kind)
        block = {"norm": norm, "heat": (), "mlp_1": {"w": (width, 2 * width), "b": (2 * width,)},
                 "mlp_norm": {"scale": (2 * width,), "bias": (2 * width,)},
                 "mlp_2": {"w": (2 * width, width), "b": (width,)}}
        shapes = shaped(encode={"w": (features, width), "b": (width,)}, norm=norm,
                        predict={"w": (width, classes), "b": (classes,)}, **{f"gcn_{i}": block for i in range(layers)})

        def residual(w, x, senders, receivers):
            h = jax.nn.relu(layer_normed(x, w["norm"]))
            messages = jax.nn.relu(h[senders]) + 1e-7
            h = h + soft_aggregated(messages, receivers, w["heat"], nodes)
            h = layer_normed(h @ w["mlp_1"]["w"] + w["mlp_1"]["b"], w["mlp_norm"])
            return x + jax.nn.relu(h) @ w["mlp_2"]["w"] + w["mlp_2"]["b"]
        convolve = maybe_checkpointed(change, residual)

        def loss_of(params, papers, senders, receivers, subjects, is_known):
            p = as_kind(params, now)
            x = papers.astype(now) @ p["encode"]["w"] + p["encode"]["b"]
            for i in range(layers):
                x = convolve(p[f"gcn_{i}"], x, senders, receivers)
            logits = jax.nn.relu(layer_normed(x, p["norm"])) @ p["predict"]["w"] + p["predict"]["b"]
            losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), subjects)
            return jnp.where(is_known, losses, 0.0).sum() / is_known.sum()
        ends = arrays.batch((edges,), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optax.adam(1e-2), arrays.batch((nodes, features), F32), ends,
                       ends, arrays.batch((nodes,), jnp.int32), arrays.batch((nodes,), jnp.bool_))
    return make


# --- Many molecules ---

def interaction_classes(width, waves, nodes):
    """Two layers one after the other, and what a molecule's atoms tell each other."""
    import equinox as eqx

    class Pair(eqx.Module):
        up: eqx.nn.Linear
        down: eqx.nn.Linear

        def __init__(self, inner, outer, key):
            one, two = jax.random.split(key)
            self.up = eqx.nn.Linear(inner, width, key=one)
            self.down = eqx.nn.Linear(width, outer, key=two)

        def __call__(self, x):
            return jax.vmap(self.down)(jax.nn.silu(jax.vmap(self.up)(x)))

    class Interaction(eqx.Module):
        context: Pair
        filters: eqx.nn.Linear
        mixed: eqx.nn.Linear
        update: Pair

        def __init__(self, key):
            keys = jax.random.split(key, 4)
            self.context = Pair(width, 3 * width, keys[0])
            self.filters = eqx.nn.Linear(waves, 3 * width, key=keys[1])
            self.mixed = eqx.nn.Linear(width, 2 * width, use_bias=False, key=keys[2])
            self.update = Pair(2 * width, 3 * width, keys[3])

        def __call__(self, s, v, radial, fade, way, senders, receivers):
            filters = jax.vmap(self.filters)(radial) * fade[:, None]
            ds, dv, turn = jnp.split(self.context(s)[senders] * filters, 3, -1)
            sent = v[senders] * dv[:, None] + way[:, :, None] * turn[:, None]
            s = s + jax.ops.segment_sum(ds, receivers, nodes)
            v = v + jax.ops.segment_sum(sent, receivers, nodes)
            left, right = jnp.split(v @ self.mixed.weight.T, 2, -1)
            length = jnp.sqrt(jnp.sum(right * right, 1) + 1e-8)
            ss, sv, vv = jnp.split(self.update(jnp.concatenate([s, length], -1)), 3, -1)
            return s + ss + sv * jnp.sum(left * right, 1), v + vv[:, None] * left
    return Pair, Interaction


def molecule_class(change, layers, width, waves, species, cutoff, nodes, graphs):
    import equinox as eqx
    pair, interaction = interaction_classes(width, waves, nodes)

    class Painn(eqx.Module):
        embedding: jax.Array
        blocks: list
        readout: pair

        def __init__(self, key):
            keys = jax.random.split(key, layers + 2)
            self.embedding = jax.random.normal(keys[0], (species, width))
            self.blocks = [interaction(one) for one in keys[1:-1]]
            self.readout = pair(width, 1, keys[-1])

        def __call__(self, places, kinds, senders, receivers, molecule):
            edge = places[receivers] - places[senders]
            far = jnp.sqrt(jnp.sum(edge * edge, -1) + 1e-8)
            radial = jnp.sin(jnp.arange(1, waves + 1, dtype=far.dtype) * jnp.pi / cutoff * far[:, None])
            radial = radial / far[:, None]
            fade = jnp.where(far < cutoff, 0.5 * (jnp.cos(far * jnp.pi / cutoff) + 1), 0)
            s, v = self.embedding[kinds], jnp.zeros((nodes, 3, width), places.dtype)
            block = maybe_checkpointed(change, lambda w, *rest: w(*rest))
            for w in self.blocks:
                s, v = block(w, s, v, radial, fade, edge / far[:, None], senders, receivers)
            return jax.ops.segment_sum(self.readout(s)[:, 0].astype(F32), molecule, graphs)
    return Painn


def joined_molecules(layers, width, waves, species, cutoff, atoms, neighbours, batch, kind=F32):
    """PaiNN, in equinox: scalars and vectors of atoms; forces are the slope of the energy, and are trained too."""
    def make(arrays, change):
        import optax
        now = change.computed or computed(change, kind)
        graphs = batch // change.batch_divisor
        nodes, edges = graphs * atoms, graphs * atoms * neighbours
        painn = molecule_class(change, layers, width, waves, species, cutoff, nodes, graphs)
        shapes = jax.eval_shape(lambda: painn(jax.random.key(0)))

        def loss_of(params, places, kinds, senders, receivers, molecule, energies, forces):
            model = as_kind(params, now)

            def total(places):
                made = model(places, kinds, senders, receivers, molecule)
                return made.sum(), made
            slopes, made = jax.grad(total, has_aux=True)(places.astype(now))
            off = jnp.mean(jnp.abs(made - energies.astype(F32))) / atoms
            return off + 100 * jnp.mean(jnp.square(slopes.astype(F32) + forces.astype(F32)))
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adamw(5e-4, weight_decay=0.01))
        points, marks = arrays.batch((nodes, 3), F32), arrays.batch((nodes,), jnp.int32)
        ends = arrays.batch((edges,), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optimizer, points, marks, ends, ends, marks,
                       arrays.batch((graphs,), F32), points)
    return make
