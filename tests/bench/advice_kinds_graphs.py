"""Graphs whose messages are summed by segment_sum: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, placed, trained
from advice_fresh import maybe_checkpointed, shaped
from advice_structures import F32


# --- One graph ---

def cited_papers(rounds, nodes, edges, features, width, classes, kind=F32):
    """One graph of papers: gates on citations, sums by segment_sum, means by degrees; some papers' fields are known.

    Half of its batch would be another graph.
    """
    def make(arrays, change):
        layer = {"self": (width, width), "left": (width, width), "right": (width, width), "message": (width, width),
                 "bias": (width,), "scale": (width,)}
        shapes = shaped(enter={"w": (features, width), "b": (width,)}, leave={"w": (width, classes), "b": (classes,)})
        shapes["rounds"] = [shaped(**layer) for _ in range(rounds)]
        params, now = as_kind(shapes, change.stored), computed(change, kind)

        def layer_norm(h, scale):
            h = h - jnp.mean(h, -1, keepdims=True)
            return h * jax.lax.rsqrt(jnp.mean(h * h, -1, keepdims=True) + 1e-5) * scale

        def round_of(p, h, src, dst, degree):
            gate = jax.nn.sigmoid((h @ p["left"])[src] + (h @ p["right"])[dst] + p["bias"])
            sums = jax.ops.segment_sum(gate * (h @ p["message"])[src], dst, num_segments=nodes)
            return h + jax.nn.relu(layer_norm(h @ p["self"] + sums / degree[:, None], p["scale"]))

        def loss_fn(params, graph):
            p = as_kind(params, now)
            src, dst = graph["src"], graph["dst"]
            degree = jnp.maximum(jax.ops.segment_sum(jnp.ones(edges, now), dst, num_segments=nodes), 1)
            h = jax.nn.relu(graph["x"].astype(now) @ p["enter"]["w"] + p["enter"]["b"])
            for one in p["rounds"]:
                h = maybe_checkpointed(change, round_of)(one, h, src, dst, degree)
            logits = (h @ p["leave"]["w"] + p["leave"]["b"]).astype(F32)
            losses = -jnp.take_along_axis(jax.nn.log_softmax(logits), graph["field"][:, None], -1)[:, 0]
            known = graph["known"].astype(F32)
            return jnp.sum(losses * known) / jnp.sum(known)

        def step(params, velocity, graph):
            loss, grads = jax.value_and_grad(loss_fn)(params, graph)
            velocity = jax.tree.map(lambda v, g: 0.9 * v + g.astype(v.dtype), velocity, grads)
            params = jax.tree.map(lambda w, v: (w - 0.05 * (v + 5e-4 * w)).astype(w.dtype), params, velocity)
            return params, velocity, loss
        graph = {"x": arrays.batch((nodes, features), F32), "src": arrays.batch((edges,), jnp.int32),
                 "dst": arrays.batch((edges,), jnp.int32), "field": arrays.batch((nodes,), jnp.int32),
                 "known": arrays.batch((nodes,), jnp.bool_)}
        params = placed(arrays, params)
        return step, (params, params, graph), (0, 1)
    return make


# --- Many small graphs, joined ---

def crystal_network(rounds, width, bases, species):
    """SchNet of equinox, given how to run one of its rounds."""
    import equinox as eqx

    def rows(linear, x):
        return jax.vmap(linear)(x)

    class Round(eqx.Module):
        enter: eqx.nn.Linear
        filters: list
        leave: list

        def __init__(self, key):
            keys = jax.random.split(key, 5)
            self.enter = eqx.nn.Linear(width, width, use_bias=False, key=keys[0])
            self.filters = [eqx.nn.Linear(bases, width, key=keys[1]), eqx.nn.Linear(width, width, key=keys[2])]
            self.leave = [eqx.nn.Linear(width, width, key=one) for one in keys[3:]]

        def __call__(self, h, near, fades, senders, receivers):
            filtered = rows(self.filters[1], jax.nn.softplus(rows(self.filters[0], near))) * fades[:, None]
            messages = rows(self.enter, h)[senders] * filtered
            sums = jax.ops.segment_sum(messages, receivers, h.shape[0])
            return h + rows(self.leave[1], jax.nn.softplus(rows(self.leave[0], sums)))

    class Crystals(eqx.Module):
        embed: eqx.nn.Embedding
        rounds: list
        read: eqx.nn.MLP

        def __init__(self, key):
            keys = jax.random.split(key, rounds + 2)
            self.embed = eqx.nn.Embedding(species, width, key=keys[0])
            self.rounds = [Round(one) for one in keys[2:]]
            self.read = eqx.nn.MLP(width, 1, width // 2, 1, jax.nn.softplus, key=keys[1])

        def __call__(self, kinds, apart, senders, receivers, run):
            h = rows(self.embed, kinds)
            centers = jnp.linspace(0.0, 6.0, bases, dtype=h.dtype)
            near = jnp.exp(-10 * jnp.square(apart[:, None] - centers))
            fades = 0.5 * (jnp.cos(apart * (jnp.pi / 6)) + 1)
            for one in self.rounds:
                h = run(one)(h, near, fades, senders, receivers)
            return rows(self.read, h)[:, 0]
    return Crystals


def joined_crystals(rounds, width, bases, species, atoms, bonds, batch, kind=F32):
    """Crystals of a batch joined in one graph of jraph, each atom's share of energy summed for its own crystal."""
    def make(arrays, change):
        import equinox as eqx
        import jraph
        size, now = batch // change.batch_divisor, computed(change, kind)
        whole = eqx.filter_eval_shape(crystal_network(rounds, width, bases, species), jax.random.key(0))
        shapes, static = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        run = eqx.filter_checkpoint if change.rematerialize else lambda block: block

        def loss_of(params, graph, energies):
            network = eqx.combine(as_kind(params, now), static)
            places = graph.nodes["place"].astype(now)
            apart = places[graph.receivers] - places[graph.senders] + graph.edges["shift"].astype(now)
            apart = jnp.sqrt(jnp.sum(jnp.square(apart), -1) + 1e-8)
            each = network(graph.nodes["kind"], apart, graph.senders, graph.receivers, run)
            crystal = jnp.repeat(jnp.arange(size), graph.n_node, total_repeat_length=size * atoms)
            made = jraph.segment_sum(each.astype(F32), crystal, size)
            return jnp.mean(jnp.abs(made - energies.astype(F32)))

        graph = jraph.GraphsTuple(
            nodes={"kind": arrays.batch((size * atoms,), jnp.int32), "place": arrays.batch((size * atoms, 3), F32)},
            edges={"shift": arrays.batch((size * bonds, 3), F32)}, globals=None,
            senders=arrays.batch((size * bonds,), jnp.int32), receivers=arrays.batch((size * bonds,), jnp.int32),
            n_node=arrays.batch((size,), jnp.int32), n_edge=arrays.batch((size,), jnp.int32))
        return trained(arrays, change, shapes, loss_of, clipped_adamw(5e-4), graph, arrays.batch((size,), F32))
    return make
