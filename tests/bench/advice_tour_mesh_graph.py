"""A MeshGraphNet learns the pressure and the wall shear stress on a car body: the whole surface mesh in each step.

In haiku, as encode-process-decode: MLPs with layer norms of the edges and of the nodes, 15 rounds of message passing
with weights of their own, sums over a node's edges by segment_sum. Nodes and edges are padded. All in float32.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype
from advice_tour_c_parts import IN_FLOAT32


def mlp(latent, depth, name, outputs=None):
    """Depth hidden layers and one more; a norm unless it is the decoder's."""
    net = hk.nets.MLP([latent] * depth + [outputs or latent], activation=jax.nn.relu, name=f"{name}_mlp")
    if outputs is not None:
        return net
    return hk.Sequential([net, hk.LayerNorm(-1, True, True, name=f"{name}_norm")])


class MessagePassing(hk.Module):
    def __init__(self, latent, depth, name):
        super().__init__(name=name)
        self.latent, self.depth = latent, depth

    def __call__(self, nodes, edges, senders, receivers):
        gathered = jnp.concatenate([edges, nodes[senders], nodes[receivers]], axis=-1)
        messages = mlp(self.latent, self.depth, "edge")(gathered)
        received = jax.ops.segment_sum(messages, receivers, num_segments=nodes.shape[0])
        changes = mlp(self.latent, self.depth, "node")(jnp.concatenate([nodes, received], axis=-1))
        return nodes + changes, edges + messages


class MeshGraphNet(hk.Module):
    def __init__(self, latent, depth, rounds, outputs, remat, policy, name="mesh_graph_net"):
        super().__init__(name=name)
        self.latent, self.depth, self.rounds, self.outputs = latent, depth, rounds, outputs
        self.remat, self.policy = remat, policy

    def __call__(self, nodes, edges, senders, receivers):
        nodes = mlp(self.latent, self.depth, "encode_nodes")(nodes)
        edges = mlp(self.latent, self.depth, "encode_edges")(edges)
        for i in range(self.rounds):
            one = MessagePassing(self.latent, self.depth, name=f"process_{i}")
            one = hk.remat(one, policy=self.policy) if self.remat else one
            nodes, edges = one(nodes, edges, senders, receivers)
        return mlp(self.latent, self.depth, "decode", self.outputs)(nodes)


def mesh_graph(nodes, edges, node_features, edge_features, outputs, latent, depth, rounds, kind=F32):
    def make(arrays, change):
        now = compute_dtype(change, kind)

        def forward(x, e, senders, receivers):
            return MeshGraphNet(latent, depth, rounds, outputs, change.rematerialize, checkpoint_policy(change))(
                x, e, senders, receivers)
        network = hk.without_apply_rng(hk.transform(forward))
        some = jnp.zeros((2,), jnp.int32)
        params = jax.eval_shape(network.init, jax.random.PRNGKey(0), jnp.zeros((2, node_features)),
                                jnp.zeros((2, edge_features)), some, some)
        params = cast(params, change.stored)
        optimizer = optax.adam(optax.exponential_decay(1e-4, 1000, 0.985))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, graph, targets, mask):
            x, e, senders, receivers = graph
            predicted = network.apply(cast(params, now), x.astype(now), e.astype(now), senders, receivers).astype(F32)
            errors = jnp.square(predicted - targets.astype(F32)) * mask[:, None]
            return errors.sum() / (mask.sum() * outputs)

        def train_step(params, opt_state, graph, targets, mask):
            loss, grads = jax.value_and_grad(loss_fn)(params, graph, targets, mask)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, loss

        ends = arrays.batch((edges,), jnp.int32)
        graph = arrays.batch((nodes, node_features), F32), arrays.batch((edges, edge_features), F32), ends, ends
        return (train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), graph,
                             arrays.batch((nodes, outputs), F32), arrays.batch((nodes,), jnp.bool_)), (0, 1))
    return make


FAMILY = {"tour_mesh_graph": dict(
    make=mesh_graph(98_304, 589_824, 11, 4, 4, 128, 2, 15), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "bf16_parameters", *IN_FLOAT32, "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
