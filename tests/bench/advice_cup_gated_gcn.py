"""GatedGCN on the whole citation graph of ogbn-arxiv: residual gated convolutions with features of edges.

haiku, all in float32, full batch: 169 thousand papers, each citation in both directions, padded to round numbers. Gates
of edges are normalized over each node's arriving edges by segment_sum; batch norms of nodes and edges keep running
means. Labels go in as features where masked. Not donated.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, policy_of, raw_key, updated
from advice_board_training import F32, cast, compute_dtype

FEATURES, CLASSES = 128, 40


def batch_norm(name):
    return hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.9, name=name)


class GatedConv(hk.Module):
    def __init__(self, dim, dropout, name):
        super().__init__(name=name)
        self.dim, self.dropout = dim, dropout

    def __call__(self, h, e, senders, receivers, is_training):
        nodes = h.shape[0]
        Ah, Bh, Dh, Eh = (hk.Linear(self.dim, name=name)(h) for name in "ABDE")
        Ce = hk.Linear(self.dim, name="C")(e)
        e_hat = Ce + Dh[receivers] + Eh[senders]
        sigma = jax.nn.sigmoid(e_hat)
        total = jax.ops.segment_sum(sigma * Bh[senders], receivers, nodes)
        weight = jax.ops.segment_sum(sigma, receivers, nodes)
        new_h = Ah + total / (weight + 1e-6)
        new_h = jax.nn.relu(batch_norm("bn_h")(new_h, is_training))
        new_e = jax.nn.relu(batch_norm("bn_e")(e_hat, is_training))
        if is_training:
            new_h = hk.dropout(hk.next_rng_key(), self.dropout, new_h)
        return h + new_h, e + new_e


class GatedGCN(hk.Module):
    def __init__(self, layers, dim, dropout, change, name="gated_gcn"):
        super().__init__(name=name)
        self.layers, self.dim, self.dropout, self.change = layers, dim, dropout, change

    def __call__(self, x, edge_kind, senders, receivers, is_training=True):
        h = hk.Linear(self.dim, name="embed_h")(x)
        e = hk.Embed(3, self.dim, name="embed_e")(edge_kind).astype(h.dtype)
        for i in range(self.layers):
            conv = GatedConv(self.dim, self.dropout, name=f"conv_{i}")

            def run(h, e, conv=conv):
                return conv(h, e, senders, receivers, is_training)
            if self.change.rematerialize:
                run = hk.remat(run, policy=policy_of(self.change))
            h, e = run(h, e)
        h = jax.nn.relu(hk.Linear(self.dim // 2, name="read_0")(h))
        return hk.Linear(CLASSES, name="read_1")(h)


def gated_gcn(nodes, edges, layers, dim, dropout=0.2, kind=F32):
    def make(arrays, change):
        n, m = nodes // change.batch_divisor, edges // change.batch_divisor  # half: a cluster of the graph's two
        now = compute_dtype(change, kind)
        net = hk.transform_with_state(lambda *graph: GatedGCN(layers, dim, dropout, change)(*graph))

        def init():
            zeros = jnp.zeros((4,), jnp.int32)
            return net.init(jax.random.key(0), jnp.zeros((4, FEATURES + CLASSES)), zeros, zeros, zeros)
        params, state = jax.eval_shape(init)
        params = cast(params, change.stored)
        opt = optax.chain(optax.add_decayed_weights(1e-5), optax.adam(1e-3))
        opt_state = jax.eval_shape(opt.init, params)

        def loss_fn(params, state, rng, graph, labels, train_mask):
            pick, drop = jax.random.split(rng)
            shown = train_mask & jax.random.bernoulli(pick, 0.5, train_mask.shape)
            hints = jax.nn.one_hot(labels, CLASSES, dtype=now) * shown[:, None].astype(now)
            x = jnp.concatenate([graph["x"].astype(now), hints], -1)
            cast_params = jax.tree.map(lambda p: p.astype(now), params)
            logits, new_state = net.apply(cast_params, state, drop, x, graph["kind"], graph["senders"],
                                          graph["receivers"])
            new_state = jax.tree.map(lambda new, old: new.astype(old.dtype), new_state, state)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), labels)
            wanted = (train_mask & ~shown).astype(F32)
            count = jnp.maximum(wanted.sum(), 1.0)
            accuracy = ((logits.argmax(-1) == labels) * wanted).sum() / count
            return (losses * wanted).sum() / count, (new_state, accuracy)

        def train_epoch(params, state, opt_state, rng, graph, labels, train_mask):
            rng, use = jax.random.split(rng)
            (loss, (state, accuracy)), grads = jax.value_and_grad(loss_fn, has_aux=True)(
                params, state, use, graph, labels, train_mask)
            params, opt_state = updated(opt, grads, opt_state, params)
            return params, state, opt_state, rng, loss, accuracy
        whole = jax.tree.map(lambda one: arrays.array(one.shape, one.dtype), state)
        graph = {"x": arrays.batch((n, FEATURES), F32), "kind": arrays.batch((m,), jnp.int32),
                 "senders": arrays.batch((m,), jnp.int32), "receivers": arrays.batch((m,), jnp.int32)}
        return train_epoch, (laid_out(arrays, params), whole, laid_out(arrays, opt_state), raw_key(arrays), graph,
                             arrays.batch((n,), jnp.int32), arrays.batch((n,), jnp.bool_)), (0, 1, 2)
    return make


FAMILY = {"cup_gated_gcn": dict(
    make=gated_gcn(nodes=169_344, edges=2_332_672, layers=6, dim=80), is_donated=False,
    variants=("donate_inputs", "bf16_parameters", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
