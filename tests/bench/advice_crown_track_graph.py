"""Exa.TrkX's interaction network for tracks of particles: edges between hits of a detector are true or false.

Haiku, float32, eight message-passing steps of 128 numbers over sectors of TrackML events (padded to one size and
joined into one graph in the step); messages are summed by segment_sum both ways. AdamW, nothing donated.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import computing, laid_out, policy_of, summed_slopes, updated
from advice_board_training import F32, cast


class MLP(hk.Module):
    def __init__(self, widths, last=True, name=None):
        super().__init__(name)
        self.widths, self.last = widths, last

    def __call__(self, x):
        for i, width in enumerate(self.widths):
            x = hk.Linear(width, name=f"linear_{i}")(x)
            if self.last or i + 1 < len(self.widths):
                x = hk.LayerNorm(-1, True, True, name=f"norm_{i}")(x)
                x = jax.nn.silu(x)
        return x


class Interaction(hk.Module):
    def __init__(self, width, name=None):
        super().__init__(name)
        self.width = width

    def __call__(self, nodes, edges, senders, receivers):
        count, widths = nodes.shape[0], [self.width] * 3
        message = jnp.concatenate([jax.ops.segment_sum(edges, receivers, count),
                                   jax.ops.segment_sum(edges, senders, count), nodes], -1)
        nodes = nodes + MLP(widths, name="node")(message)
        both = jnp.concatenate([nodes[senders], nodes[receivers], edges], -1)
        return nodes, edges + MLP(widths, name="edge")(both)


class TrackGraph(hk.Module):
    def __init__(self, change, width, steps, name=None):
        super().__init__(name)
        self.change, self.width, self.steps = change, width, steps

    def __call__(self, hits, senders, receivers):
        nodes = MLP([self.width] * 3, name="encode_node")(hits)
        edges = MLP([self.width] * 3, name="encode_edge")(jnp.concatenate([nodes[senders], nodes[receivers]], -1))
        for i in range(self.steps):
            block = Interaction(self.width, name=f"interaction_{i}")
            if self.change.rematerialize:
                block = hk.remat(block, policy=policy_of(self.change))
            nodes, edges = block(nodes, edges, senders, receivers)
        ends = jnp.concatenate([nodes[senders], nodes[receivers], edges], -1)
        return MLP([self.width, self.width, 1], last=False, name="score")(ends)[:, 0]


def joined(hits, senders, receivers, labels):
    """[sectors, ...] as one graph, whose nodes are numbered through."""
    sectors, nodes = hits.shape[:2]
    offsets = (jnp.arange(sectors, dtype=senders.dtype) * nodes)[:, None]
    return (hits.reshape(-1, hits.shape[-1]), (senders + offsets).reshape(-1), (receivers + offsets).reshape(-1),
            labels.reshape(-1))


def track_graph(sectors, nodes, edges, width=128, steps=8, features=6):
    def make(arrays, change):
        count, now = sectors // change.batch_divisor, computing(change, F32)
        net = hk.without_apply_rng(hk.transform(lambda *graph: TrackGraph(change, width, steps)(*graph)))
        some = jax.ShapeDtypeStruct((8,), jnp.int32)
        params = jax.eval_shape(net.init, jax.random.key(0), jax.ShapeDtypeStruct((4, features), F32), some, some)
        params = cast(params, change.stored)
        schedule = optax.warmup_exponential_decay_schedule(0.0, 1e-3, 500, 10_000, 0.7)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-4))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, *batch):
            hits, senders, receivers, labels = joined(*batch)
            params = jax.tree.map(lambda p: p.astype(now), params)
            logits = net.apply(params, hits.astype(now), senders, receivers).astype(F32)
            real = (labels >= 0).astype(F32)  # -1: an edge of the padding
            losses = optax.sigmoid_binary_cross_entropy(logits, (labels > 0).astype(F32))
            total = jnp.maximum(real.sum(), 1.0)
            right = ((logits > 0) == (labels > 0)).astype(F32)
            return (losses * real).sum() / total, {"accuracy": (right * real).sum() / total}

        def train_step(params, opt_state, hits, senders, receivers, labels):
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, None, hits, senders, receivers, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state),
                            arrays.batch((count, nodes, features), F32), arrays.batch((count, edges), jnp.int32),
                            arrays.batch((count, edges), jnp.int32), arrays.batch((count, edges), jnp.int8)), (0, 1)
    return make


FAMILY = {"crown_track_graph": dict(
    make=track_graph(sectors=8, nodes=12_288, edges=65_536), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
