"""GATv2 with edge states predicts the gap of orbitals of molecules (PCQM4Mv2): L1 on one number a graph.

Equinox: the model is of one molecule, padded to fixed numbers of atoms and bonds, and vmapped over the batch; softmax
over the incoming bonds is by segments. Float32 throughout; the step returns a new model and gives nothing away.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

ATOM = (119, 5, 12, 12, 10, 6, 6, 2, 2)
BOND = (5, 6, 2)


def segment_softmax(scores, receivers, mask, nodes):
    scores = jnp.where(mask[:, None], scores, -1e9)
    most = jax.lax.stop_gradient(jax.ops.segment_max(scores, receivers, nodes))
    weights = jnp.exp(scores - jnp.maximum(most, -1e9)[receivers]) * mask[:, None].astype(scores.dtype)
    total = jax.ops.segment_sum(weights, receivers, nodes)
    return weights / (total[receivers] + 1e-6)


class FeedForward(eqx.Module):
    up: eqx.nn.Linear
    down: eqx.nn.Linear
    norm: eqx.nn.LayerNorm

    def __init__(self, inputs, hidden, width, key):
        up, down = jax.random.split(key)
        self.up, self.down = eqx.nn.Linear(inputs, hidden, key=up), eqx.nn.Linear(hidden, width, key=down)
        self.norm = eqx.nn.LayerNorm(inputs)

    def __call__(self, x):
        return self.down(jax.nn.gelu(self.up(self.norm(x))))


class GatLayer(eqx.Module):
    norm: eqx.nn.LayerNorm
    source: eqx.nn.Linear
    target: eqx.nn.Linear
    edge: eqx.nn.Linear
    attention: jax.Array
    out: eqx.nn.Linear
    of_edges: FeedForward
    of_nodes: FeedForward
    drop: eqx.nn.Dropout
    heads: int = eqx.field(static=True)

    def __init__(self, width, heads, dropout, key):
        keys = jax.random.split(key, 7)
        self.heads = heads
        self.norm = eqx.nn.LayerNorm(width)
        self.source, self.target, self.out = (eqx.nn.Linear(width, width, key=k) for k in keys[:3])
        self.edge = eqx.nn.Linear(width, width, use_bias=False, key=keys[3])
        self.attention = jax.random.normal(keys[4], (heads, width // heads)) * (heads / width) ** 0.5
        self.of_edges = FeedForward(3 * width, width, width, keys[5])
        self.of_nodes = FeedForward(width, 2 * width, width, keys[6])
        self.drop = eqx.nn.Dropout(dropout)

    def __call__(self, x, e, senders, receivers, edge_mask, key):
        drop_out, drop_nodes, drop_edges = jax.random.split(key, 3)
        nodes, width = x.shape
        normed = jax.vmap(self.norm)(x)
        values = jax.vmap(self.source)(normed)[senders]
        hidden = values + jax.vmap(self.target)(normed)[receivers] + jax.vmap(self.edge)(e)
        hidden = jax.nn.leaky_relu(hidden, 0.2).reshape(-1, self.heads, width // self.heads)
        scores = jnp.einsum("ehd,hd->eh", hidden, self.attention)
        weights = segment_softmax(scores, receivers, edge_mask, nodes)
        messages = (values.reshape(hidden.shape) * weights[..., None]).reshape(-1, width)
        mixed = jax.ops.segment_sum(messages, receivers, nodes)
        x = x + self.drop(jax.vmap(self.out)(mixed), key=drop_out)
        x = x + self.drop(jax.vmap(self.of_nodes)(x), key=drop_nodes)
        ends = jnp.concatenate([x[senders], x[receivers], e], axis=-1)
        return x, e + self.drop(jax.vmap(self.of_edges)(ends), key=drop_edges)


class MoleculeNet(eqx.Module):
    atoms: list
    bonds: list
    layers: list
    norm: eqx.nn.LayerNorm
    head: eqx.nn.MLP

    def __init__(self, layers, width, heads, dropout, key):
        atoms, bonds, body, head = jax.random.split(key, 4)
        self.atoms = [eqx.nn.Embedding(n, width, key=k) for n, k in zip(ATOM, jax.random.split(atoms, len(ATOM)))]
        self.bonds = [eqx.nn.Embedding(n, width, key=k) for n, k in zip(BOND, jax.random.split(bonds, len(BOND)))]
        self.layers = [GatLayer(width, heads, dropout, k) for k in jax.random.split(body, layers)]
        self.norm = eqx.nn.LayerNorm(width)
        self.head = eqx.nn.MLP(2 * width, "scalar", width, 2, activation=jax.nn.gelu, key=head)

    def __call__(self, atoms, bonds, senders, receivers, node_mask, edge_mask, key, change):
        x = sum(jax.vmap(table)(atoms[:, i]) for i, table in enumerate(self.atoms))
        e = sum(jax.vmap(table)(bonds[:, i]) for i, table in enumerate(self.bonds))
        def run(layer, *rest):
            return layer(*rest)
        if change.rematerialize:
            run = eqx.filter_checkpoint(run, policy=checkpoint_policy(change))
        for layer, layer_key in zip(self.layers, jax.random.split(key, len(self.layers))):
            x, e = run(layer, x, e, senders, receivers, edge_mask, layer_key)
        x = jax.vmap(self.norm)(x) * node_mask[:, None].astype(x.dtype)
        total = x.sum(0)
        mean = total / jnp.maximum(node_mask.sum(), 1).astype(x.dtype)
        return self.head(jnp.concatenate([total / 8, mean]))


def graph_attention(layers, width, heads, batch, nodes, edges, dropout=0.1, kind=F32):
    def make(arrays, change):
        graphs = batch // change.batch_divisor
        now = compute_dtype(change, kind)
        model = eqx.filter_eval_shape(MoleculeNet, layers, width, heads, dropout, jax.random.key(0))
        params, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(params, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-4, 10_000, 400_000)
        optimizer = optax.chain(optax.clip_by_global_norm(5.0),
                                optax.adamw(schedule, weight_decay=1e-2, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, atoms, bonds, senders, receivers, node_mask, edge_mask, gaps):
            model = eqx.combine(cast(params, now), static)
            keys = jax.random.split(key, atoms.shape[0])
            found = jax.vmap(lambda *one: model(*one, change))(
                atoms, bonds, senders, receivers, node_mask, edge_mask, keys).astype(F32)
            gaps = gaps.astype(F32)
            known = jnp.isfinite(gaps)
            errors = jnp.where(known, jnp.abs(found - jnp.where(known, gaps, 0.0)), 0.0)
            return errors.sum() / jnp.maximum(known.sum(), 1), {"atoms": node_mask.sum(-1).mean()}

        def train_step(params, opt_state, key, *batch):
            key, dropout_key = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_of, change.parts)(params, dropout_key, *batch)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"mae": loss, **jax.tree.map(jnp.mean, metrics)}

        def given(*shape, kind=jnp.int32):
            return arrays.batch((graphs, *shape), kind)
        return train_step, (
            laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), given(nodes, len(ATOM)),
            given(edges, len(BOND)), given(edges), given(edges), given(nodes, kind=jnp.bool_),
            given(edges, kind=jnp.bool_), given(kind=F32)), (0, 1)
    return make


FAMILY = {"league_graph_attention": dict(
    make=graph_attention(layers=10, width=256, heads=8, batch=1024, nodes=52, edges=116),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
