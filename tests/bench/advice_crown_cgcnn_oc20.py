"""CGCNN (Open Catalyst's size) on IS2RE: relaxed energies of slabs with adsorbates, joined into one padded graph.

Flax linen over a jraph.GraphsTuple; six crystal graph convolutions of 384, each gathers both ends of 256,000 edges and
adds by segment_sum; batch norm over the edges that are there. Float32, AdamW, mean absolute error; nothing is donated.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import jraph
import optax

from advice_board_changes import computing, laid_out, like, matrices_only, policy_of, summed_slopes, updated
from advice_board_training import F32, cast

ELEMENT_FEATURES, ATOM, GAUSSIANS, CONVOLUTIONS, CUTOFF = 92, 384, 100, 6, 6.0
FC, FC_LAYERS = 512, 4


def smeared(distances, dtype):
    """[edges] -> [edges, gaussians]"""
    centers = jnp.linspace(0.0, CUTOFF, GAUSSIANS)
    gap = distances.astype(F32)[:, None] - centers
    return jnp.exp(-0.5 * jnp.square(gap / (centers[1] - centers[0]))).astype(dtype)


class Convolution(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x, edges, senders, receivers, edge_mask):
        z = jnp.concatenate([x[receivers], x[senders], edges], -1)
        z = nn.Dense(2 * ATOM, dtype=self.dtype, name="lin1")(z)
        z = nn.BatchNorm(use_running_average=False, momentum=0.9, epsilon=1e-5, dtype=self.dtype, name="bn1")(
            z, mask=edge_mask[:, None])
        gate, core = jnp.split(z, 2, -1)
        messages = nn.sigmoid(gate) * nn.softplus(core)
        messages = jnp.where(edge_mask[:, None], messages, 0)
        total = jraph.segment_sum(messages, receivers, x.shape[0])
        return nn.softplus(x + nn.LayerNorm(dtype=self.dtype, name="ln1")(total))


class CGCNN(nn.Module):
    dtype: object
    change: object

    @nn.compact
    def __call__(self, graph):
        conv = nn.remat(Convolution, policy=policy_of(self.change)) if self.change.rematerialize else Convolution
        nodes, graphs = graph.nodes.shape[0], graph.n_node.shape[0]
        edge_mask = jraph.get_edge_padding_mask(graph)
        edges = smeared(graph.edges, self.dtype)
        x = nn.Dense(ATOM, dtype=self.dtype, name="embedding_fc")(graph.nodes.astype(self.dtype))
        for i in range(CONVOLUTIONS):
            x = conv(self.dtype, name=f"conv_{i}")(x, edges, graph.senders, graph.receivers, edge_mask)
        belongs = jnp.repeat(jnp.arange(graphs), graph.n_node, total_repeat_length=nodes)
        pooled = jraph.segment_sum(x, belongs, graphs)
        pooled = pooled / jnp.maximum(graph.n_node, 1)[:, None].astype(self.dtype)
        for i in range(FC_LAYERS):
            pooled = nn.softplus(nn.Dense(FC, dtype=self.dtype, name=f"fc_{i}")(pooled))
        return nn.Dense(1, dtype=self.dtype, name="fc_out")(pooled)[:, 0].astype(F32)


def trainer(batch, atoms, neighbours):
    """`batch` graphs, the last of which is the padding, of about so many atoms with at most so many neighbours."""
    def make(arrays, change):
        graphs = batch // change.batch_divisor
        nodes, edges = graphs * atoms, graphs * atoms * neighbours
        model = CGCNN(computing(change, F32), change)

        def joined(features, distances, senders, receivers, n_node, n_edge):
            return jraph.GraphsTuple(features, distances, receivers, senders, None, n_node, n_edge)

        small = [jnp.zeros(shape, kind) for shape, kind in (
            ((4, ELEMENT_FEATURES), F32), ((8,), F32), ((8,), jnp.int32), ((8,), jnp.int32), ((2,), jnp.int32),
            ((2,), jnp.int32))]
        variables = jax.eval_shape(lambda key: model.init(key, joined(*small)), jax.random.key(0))
        params, stats = (cast(variables[name], change.stored) for name in ("params", "batch_stats"))
        schedule = optax.warmup_cosine_decay_schedule(2e-4, 1e-2, 1_000, 60_000)
        optimizer = optax.adamw(schedule, weight_decay=1e-3, mask=matrices_only)
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, stats, opt_state, *batch):
            def loss_fn(params, _, *batch):
                *parts, energies = batch
                graph = joined(*parts)
                predicted, new = model.apply({"params": params, "batch_stats": stats}, graph, mutable=["batch_stats"])
                weights = jraph.get_graph_padding_mask(graph).astype(F32)
                errors = jnp.abs(predicted - energies.astype(F32)) * weights
                return errors.sum() / jnp.maximum(weights.sum(), 1.0), like(new["batch_stats"], stats)

            loss, new_stats, grads = summed_slopes(loss_fn, change.parts)(params, None, *batch)
            new_stats = like(jax.tree.map(lambda s: s.astype(F32).mean(0), new_stats), stats)
            norm = optax.global_norm(grads)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, new_stats, opt_state, {"mae": loss, "grad_norm": norm}

        return train_step, (laid_out(arrays, params), laid_out(arrays, stats), laid_out(arrays, opt_state),
                            arrays.batch((nodes, ELEMENT_FEATURES), F32), arrays.batch((edges,), F32),
                            arrays.batch((edges,), jnp.int32), arrays.batch((edges,), jnp.int32),
                            arrays.batch((graphs,), jnp.int32), arrays.batch((graphs,), jnp.int32),
                            arrays.batch((graphs,), F32)), (0, 1, 2)
    return make


FAMILY = {"crown_cgcnn_oc20": dict(
    make=trainer(batch=64, atoms=80, neighbours=50), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
