"""Tables and graphs: a graph of facts, molecules that turn as they lie, the next item of millions.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_practice_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, trained, warmed_up
from advice_fresh import maybe_checkpointed, shaped
from advice_structures import F32


# --- One graph of facts ---

def composed_relations(n_entities, n_relations, dim, n_layers, n_edges, queries, kind=F32):
    """CompGCN with DistMult: both directions of all edges, and each query's tail is told among all entities.

    A batch is of queries; the graph stays whole with half of them.
    """
    def make(arrays, change):
        import optax
        now, b = computed(change, kind), queries // change.batch_divisor
        layer = {"w_in": (dim, dim), "w_out": (dim, dim), "w_loop": (dim, dim), "w_rel": (dim, dim),
                 "loop_rel": (dim,), "gain": (dim,), "bias": (dim,)}
        shapes = shaped(entities=(n_entities, dim), relations=(2 * n_relations, dim), tail_bias=(n_entities,),
                        **{f"gcn{i}": layer for i in range(n_layers)})

        def one_way(nodes, rels, src, dst, rel, weight):
            messages = nodes[src] * rels[rel]
            share = jax.ops.segment_sum(weight, dst, num_segments=n_entities)
            sums = jax.ops.segment_sum(messages * weight[:, None], dst, num_segments=n_entities)
            return sums / jnp.maximum(share, 1e-3)[:, None]

        def convolve(p, nodes, rels, head, tail, rel):
            out_rel, weight = rel + n_relations, jnp.ones(rel.shape, nodes.dtype)
            to_tail = one_way(nodes, rels, head, tail, rel, weight) @ p["w_in"]
            to_head = one_way(nodes, rels, tail, head, out_rel, weight) @ p["w_out"]
            x = (to_tail + to_head + (nodes * p["loop_rel"]) @ p["w_loop"]) / 3
            x = (x - x.mean(0)) * jax.lax.rsqrt(x.var(0) + 1e-5) * p["gain"] + p["bias"]
            return jnp.tanh(x), rels @ p["w_rel"]

        def loss_fn(params, edges, asked, answers):
            p = as_kind(params, now)
            nodes, rels = p["entities"], p["relations"]
            for i in range(n_layers):
                nodes, rels = maybe_checkpointed(change, convolve)(
                    p[f"gcn{i}"], nodes, rels, edges["head"], edges["tail"], edges["rel"])
            query = nodes[asked[:, 0]] * rels[asked[:, 1]]
            logits = (query @ nodes.T + p["tail_bias"]).astype(F32)
            return optax.softmax_cross_entropy_with_integer_labels(logits, answers).mean()
        ends = arrays.array((n_edges,), jnp.int32, 0 if change.shard == "all" else None)
        return trained(arrays, change, shapes, loss_fn, optax.adam(1e-3), {"head": ends, "tail": ends, "rel": ends},
                       arrays.batch((b, 2), jnp.int32), arrays.batch((b,), jnp.int32))
    return make


# --- Molecules ---

def turning_molecules(n_layers, width, atoms, kinds, batch, kind=F32):
    """EGNN in equinox on QM9: all pairs of a molecule's atoms; places move with messages. Types follow parameters."""
    bonds = atoms * (atoms - 1)

    def network():
        import equinox as eqx

        def mlp(sizes, key):
            keys = jax.random.split(key, len(sizes) - 1)
            return [eqx.nn.Linear(a, b, key=k) for a, b, k in zip(sizes, sizes[1:], keys)]

        def run(layers, x, is_open=False):
            for i, layer in enumerate(layers):
                x = jax.vmap(layer)(x)
                x = x if is_open and i == len(layers) - 1 else jax.nn.silu(x)
            return x

        class Layer(eqx.Module):
            edge: list
            gate: list
            place: list
            node: list

            def __init__(self, key):
                a, b, c, d = jax.random.split(key, 4)
                self.edge, self.gate = mlp((2 * width + 1, width, width), a), mlp((width, 1), b)
                self.place, self.node = mlp((width, width, 1), c), mlp((2 * width, width, width), d)

            def __call__(self, h, x, src, dst):
                apart = x[dst] - x[src]
                far = jnp.sum(apart * apart, -1, keepdims=True)
                m = run(self.edge, jnp.concatenate([h[dst], h[src], far], -1))
                m = m * jax.nn.sigmoid(run(self.gate, m, True))
                push = apart / (jnp.sqrt(far + 1e-8) + 1) * jnp.tanh(run(self.place, m, True))
                x = x + jax.ops.segment_sum(push, dst, h.shape[0], indices_are_sorted=True) / (atoms - 1)
                heard = jax.ops.segment_sum(m, dst, h.shape[0], indices_are_sorted=True)
                return h + run(self.node, jnp.concatenate([h, heard], -1), True), x

        class Network(eqx.Module):
            table: eqx.nn.Embedding
            layers: list
            readout: list

            def __init__(self, key):
                a, b, *keys = jax.random.split(key, n_layers + 2)
                self.table, self.layers = eqx.nn.Embedding(kinds, width, key=a), [Layer(k) for k in keys]
                self.readout = mlp((width, width, 1), b)

            def __call__(self, species, x, src, dst, wrap):
                h = self.table.weight[species]
                x = x.astype(h.dtype)
                for layer in self.layers:
                    h, x = wrap(layer)(h, x, src, dst)
                each = run(self.readout, h, True)[:, 0] * (species > 0)
                return jnp.sum(each.reshape(-1, atoms), -1)
        return Network

    def make(arrays, change):
        import equinox as eqx
        import optax
        b = batch // change.batch_divisor
        shapes, static = eqx.partition(eqx.filter_eval_shape(network(), jax.random.key(0)),
                                       lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        wrap = eqx.filter_checkpoint if change.rematerialize else lambda f: f

        def loss_fn(params, species, places, src, dst, energy):
            model = eqx.combine(as_kind(params, computed(change, kind)), static)
            made = model(species, places, src, dst, wrap).astype(F32)
            return jnp.mean(jnp.abs(made - energy.astype(F32)))
        ends = arrays.batch((b * bonds,), jnp.int32)
        return trained(arrays, change, shapes, loss_fn, optax.adamw(warmed_up(5e-4), weight_decay=1e-16),
                       arrays.batch((b * atoms,), jnp.int32), arrays.batch((b * atoms, 3), F32), ends, ends,
                       arrays.batch((b,), F32))
    return make


# --- What is watched next ---

def silu_sequences(n_items, dim, n_blocks, n_heads, negatives, batch, seq, kind=F32):
    """HSTU: attention by SiLU, not softmax, with biases by place and time; Adagrad by rows for the table, else Adam."""
    side = dim // n_heads

    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, seq // change.length_divisor, computed(change, kind)
        stack = {"uvqk": (n_blocks, dim, 4 * dim), "out": (n_blocks, dim, dim), "by_place": (n_blocks, 2 * seq),
                 "by_time": (n_blocks, 128), "gain_in": (n_blocks, dim), "gain_out": (n_blocks, dim)}
        shapes = as_kind(shaped(items=(n_items, dim), net={"places": (seq, dim), "scanned": stack}), change.stored)

        def norm(x, gain):
            x = x - x.mean(-1, keepdims=True)
            return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-6) * gain

        def block(x, p, buckets):
            u, v, q, k = jnp.split(jax.nn.silu(norm(x, p["gain_in"]) @ p["uvqk"]), 4, axis=-1)
            q, k, v = (y.reshape(-1, t, n_heads, side) for y in (q, k, v))
            at = jnp.arange(t)
            bias = p["by_place"][at[:, None] - at + seq] + p["by_time"][buckets]
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * side ** -0.5 + bias[:, None]
            scores = jnp.where(at[:, None] >= at, jax.nn.silu(scores) / t, 0)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(x.shape)
            return x + (norm(mixed, p["gain_out"]) * u) @ p["out"]

        def loss_fn(params, seen, times, wanted, others):
            net = as_kind(params["net"], now)

            def rows(ids):
                return jnp.take(params["items"], ids, axis=0).astype(now)
            apart = jnp.abs(times[:, :, None] - times[:, None]).astype(F32)
            buckets = jnp.clip(jnp.log1p(apart) / 0.301, 0, 127).astype(jnp.int32)
            x = rows(seen) * dim ** 0.5 + net["places"][:t]
            body = maybe_checkpointed(change, block)
            x, _ = jax.lax.scan(lambda x, p: (body(x, p, buckets), None), x, net["scanned"])
            x = x / jnp.maximum(jnp.linalg.norm(x, axis=-1, keepdims=True), 1e-6)
            good = jnp.sum(x * rows(wanted), -1, keepdims=True)
            bad = jnp.einsum("btd,nd->btn", x, rows(others))
            bad = jnp.where(wanted[..., None] == others, -5e4, bad)
            scores = jnp.concatenate([good, bad], -1).astype(F32) / 0.05
            losses = jax.nn.logsumexp(scores, -1) - scores[..., 0]
            return jnp.sum(losses * (wanted > 0)) / jnp.maximum(jnp.sum(wanted > 0), 1)

        def train_step(params, state, seen, times, wanted, others):
            loss, grads = jax.value_and_grad(loss_fn)(params, seen, times, wanted, others)
            slopes = grads["items"].astype(F32)
            sums = state["items"] + jnp.mean(slopes * slopes, -1).astype(state["items"].dtype)
            scale = jax.lax.rsqrt(sums.astype(F32) + 1e-10)[:, None]
            items = (params["items"] - 0.02 * slopes * scale).astype(params["items"].dtype)
            mu = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g).astype(m.dtype), state["mu"], grads["net"])
            nu = jax.tree.map(lambda n, g: (0.98 * n + 0.02 * g * g).astype(n.dtype), state["nu"], grads["net"])
            net = jax.tree.map(lambda p, m, n: (p - 1e-3 * m / (jnp.sqrt(n) + 1e-8)).astype(p.dtype),
                               params["net"], mu, nu)
            return {"items": items, "net": net}, {"items": sums, "mu": mu, "nu": nu}, loss
        params = placed(arrays, shapes)
        state = {"items": arrays.parameter((n_items,)), "mu": params["net"], "nu": params["net"]}
        rows = arrays.batch((b, t), jnp.int32)
        return train_step, (params, state, rows, rows, rows, arrays.array((negatives,), jnp.int32)), (0, 1)
    return make
