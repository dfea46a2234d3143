"""Tables of embeddings and graphs, in usual sizes: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). Written by
somebody who had seen neither the rules nor any figure of the advice.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_exam_libraries import as_kind, computed, placed, trained, warmed_up
from advice_fresh import graded, maybe_checkpointed, shaped, trained_in_parts
from advice_structures import F32


# --- Clicks: all features in one table, crossed ---

def crossed_clicks(cardinalities, dim, hots, dense_features, crosses, rank, mlp, batch, kind=F32):
    """DCN v2 in linen: the features' rows lie in one table, at offsets; several ids of each are averaged; Adam."""
    offsets = np.concatenate([[0], np.cumsum(cardinalities)[:-1]]).astype(np.int32)

    def make(arrays, change):
        import optax
        from flax import linen as nn
        now, b = computed(change, kind), batch // change.batch_divisor
        fields = len(cardinalities)

        class Cross(nn.Module):
            @nn.compact
            def __call__(self, x0, x):
                low = nn.Dense(rank, use_bias=False, dtype=now, name="u")(x)
                return x0 * nn.Dense(x0.shape[-1], dtype=now, name="v")(low) + x

        class Hidden(nn.Module):
            size: int

            @nn.compact
            def __call__(self, x):
                return nn.relu(nn.Dense(self.size, dtype=now)(x))

        cross, hidden = (nn.remat(Cross), nn.remat(Hidden)) if change.rematerialize else (Cross, Hidden)

        class Ranker(nn.Module):
            @nn.compact
            def __call__(self, dense, sparse):
                table = self.param("embedding_table", nn.initializers.normal(0.01), (sum(cardinalities), dim))
                rows = jnp.take(table, sparse + offsets[None, :, None], axis=0).astype(now).mean(2)
                dense = hidden(dim, name="dense_1")(hidden(512, name="dense_0")(dense.astype(now)))
                x0 = x = jnp.concatenate([dense, rows.reshape(rows.shape[0], fields * dim)], -1)
                for i in range(crosses):
                    x = cross(name=f"cross_{i}")(x0, x)
                for i, size in enumerate(mlp):
                    x = hidden(size, name=f"over_{i}")(x)
                return nn.Dense(1, dtype=now, name="logit")(x)[:, 0]

        model = Ranker()
        dense, labels = arrays.batch((b, dense_features), F32), arrays.batch((b,), F32)
        sparse = arrays.batch((b, fields, hots), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, dense_features)),
                                jnp.zeros((1, fields, hots), jnp.int32))["params"]

        def loss_fn(params, dense, sparse, labels):
            logits = model.apply({"params": params}, dense, sparse)
            return optax.sigmoid_binary_cross_entropy(logits.astype(F32), labels.astype(F32)).mean()
        return trained_in_parts(arrays, change, shapes, loss_fn, optax.adam(warmed_up(1e-3)), dense, sparse, labels)
    return make


# --- The next item of a session ---

def self_attentive_items(items, dim, blocks, heads, batch, seq, negatives, kind=F32):
    """SASRec by hand: for each place one item that came and several that did not; heavy-ball steps by hand."""
    def make(arrays, change):
        b, t, now = batch // change.batch_divisor, seq // change.length_divisor, computed(change, kind)
        block = {"q": (dim, dim), "k": (dim, dim), "v": (dim, dim), "o": (dim, dim), "ff1": (dim, 4 * dim),
                 "b1": (4 * dim,), "ff2": (4 * dim, dim), "b2": (dim,), "g1": (dim,), "g2": (dim,)}
        shapes = shaped(item_emb=(items, dim), pos_emb=(seq, dim), last=(dim,))
        shapes["blocks"] = [shaped(**block) for _ in range(blocks)]

        def norm(x, g):
            mean = x.mean(-1, keepdims=True)
            return (x - mean) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-8) * g

        def apply(p, x, mask):
            h = norm(x, p["g1"])
            q, k, v = (y.reshape(*x.shape[:2], heads, -1) for y in (h @ p["q"], x @ p["k"], x @ p["v"]))
            att = jnp.einsum("blhd,bmhd->bhlm", q, k) / np.sqrt(dim // heads)
            att = jax.nn.softmax(jnp.where(mask, att, -1e9), -1)
            x = h + jnp.einsum("bhlm,bmhd->blhd", att, v).reshape(x.shape) @ p["o"]
            h = norm(x, p["g2"])
            return h + jax.nn.relu(h @ p["ff1"] + p["b1"]) @ p["ff2"] + p["b2"]

        def loss_fn(params, log, pos, neg):
            small = as_kind({k: v for k, v in params.items() if k != "item_emb"}, now)

            def rows(ids):
                return jnp.take(params["item_emb"], ids, axis=0).astype(now)
            there = (log > 0)[..., None]
            x = (rows(log) * np.sqrt(dim).astype(np.float32).astype(now) + small["pos_emb"][:t]) * there
            mask = jnp.tril(jnp.ones((t, t), bool)) & (log > 0)[:, None, None, :]
            for p in small["blocks"]:
                x = maybe_checkpointed(change, apply)(p, x, mask) * there
            x = norm(x, small["last"])
            up = jnp.sum(x * rows(pos), -1).astype(F32)
            down = jnp.einsum("bld,blnd->bln", x, rows(neg)).astype(F32)
            losses = jax.nn.softplus(-up) + jax.nn.softplus(down).mean(-1)
            return (losses * (pos > 0)).sum() / (pos > 0).sum()

        def train_step(params, m, log, pos, neg):
            loss, g = graded(loss_fn, change.parts)(params, log, pos, neg)
            m = jax.tree.map(lambda m, g: (0.9 * m + g).astype(m.dtype), m, g)
            return jax.tree.map(lambda p, m: (p - 0.01 * m).astype(p.dtype), params, m), m, loss
        params = placed(arrays, as_kind(shapes, change.stored))
        log = arrays.batch((b, t), jnp.int32)
        return train_step, (params, params, log, log, arrays.batch((b, t, negatives), jnp.int32)), (0, 1)
    return make


# --- One graph, attention over its edges ---

def gatv2_nodes(layers, nodes, edges, features, heads, side, classes, kind=F32):
    """GATv2 on one graph: a softmax over each node's edges by segment_max and segment_sum; AdamW."""
    def make(arrays, change):
        import optax
        dim, now = heads * side, computed(change, kind)
        shapes = {f"gat{i}": shaped(w_src=(dim if i else features, dim), w_dst=(dim if i else features, dim),
                                    att=(heads, side), bias=(dim,), w_skip=(dim if i else features, dim))
                  for i in range(layers)}
        shapes["out"] = shaped(w=(dim, classes), b=(classes,))

        def gat(p, x, senders, receivers):
            left, right = x @ p["w_src"], x @ p["w_dst"]
            msg = left[senders].reshape(-1, heads, side)
            e = jax.nn.leaky_relu(msg + right[receivers].reshape(-1, heads, side), 0.2)
            e = (e * p["att"]).sum(-1)
            top = jax.ops.segment_max(e, receivers, nodes)
            e = jnp.exp(e - jax.lax.stop_gradient(jnp.where(jnp.isfinite(top), top, 0))[receivers])
            total = jax.ops.segment_sum(e, receivers, nodes)
            alpha = e / (total[receivers] + 1e-9)
            out = jax.ops.segment_sum(alpha[..., None] * msg, receivers, nodes)
            return jax.nn.elu(out.reshape(nodes, dim) + p["bias"] + x @ p["w_skip"])

        def loss_fn(params, x, senders, receivers, labels, train_mask):
            p = as_kind(params, now)
            x = x.astype(now)
            for i in range(layers):
                x = maybe_checkpointed(change, gat)(p[f"gat{i}"], x, senders, receivers)
            logits = (x @ p["out"]["w"] + p["out"]["b"]).astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
            return jnp.where(train_mask, losses, 0).sum() / train_mask.sum()
        ends = arrays.batch((edges,), jnp.int32)
        return trained(arrays, change, shapes, loss_fn, optax.adamw(2e-3, weight_decay=5e-4),
                       arrays.batch((nodes, features), F32), ends, ends, arrays.batch((nodes,), jnp.int32),
                       arrays.batch((nodes,), jnp.bool_))
    return make


# --- Molecules of a batch, jraph's own networks ---

def graph_networks(rounds, latent, atoms, bonds, atom_kinds, bond_kinds, targets, batch, kind=F32):
    """An ogb-like classifier: jraph.GraphNetwork with edge, node and global MLPs in haiku, with skips."""
    def make(arrays, change):
        import haiku as hk
        import jraph
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)

        def mlp(name):
            return hk.Sequential([hk.Linear(latent), jax.nn.relu, hk.Linear(latent), hk.LayerNorm(-1, True, True)],
                                 name=name)

        def forward(graph):
            def one_round(nodes, edges, globals_, i):
                edge_net, node_net, global_net = mlp(f"edge_{i}"), mlp(f"node_{i}"), mlp(f"global_{i}")

                def joined(net):
                    return lambda *features: net(jnp.concatenate(features, -1))
                network = jraph.GraphNetwork(joined(edge_net), joined(node_net), joined(global_net))
                new = network(graph._replace(nodes=nodes, edges=edges, globals=globals_))
                return nodes + new.nodes, edges + new.edges, globals_ + new.globals
            state = (hk.Embed(atom_kinds, latent, name="atoms")(graph.nodes),
                     hk.Embed(bond_kinds, latent, name="bonds")(graph.edges))
            state = *state, jnp.zeros((graph.n_node.shape[0], latent), state[0].dtype)
            for i in range(rounds):
                def run(*state, i=i):
                    return one_round(*state, i)
                state = (hk.remat(run) if change.rematerialize else run)(*state)
            return hk.Linear(targets, name="decoder")(state[2])

        net = hk.without_apply_rng(hk.transform(forward))
        graph = jraph.GraphsTuple(
            nodes=arrays.batch((b * atoms,), jnp.int32), edges=arrays.batch((b * bonds,), jnp.int32), globals=None,
            senders=arrays.batch((b * bonds,), jnp.int32), receivers=arrays.batch((b * bonds,), jnp.int32),
            n_node=arrays.batch((b,), jnp.int32), n_edge=arrays.batch((b,), jnp.int32))
        shapes = as_kind(jax.eval_shape(net.init, jax.random.key(0), graph), F32)

        def loss_fn(params, graph, labels):
            logits = net.apply(as_kind(params, now), graph).astype(F32)
            known = jnp.logical_not(jnp.isnan(labels))
            labels = jnp.where(known, labels, 0).astype(F32)
            losses = optax.sigmoid_binary_cross_entropy(logits, labels)
            return (losses * known).sum() / jnp.maximum(known.sum(), 1)
        return trained(arrays, change, shapes, loss_fn, optax.adam(1e-3), graph, arrays.batch((b, targets), F32))
    return make
