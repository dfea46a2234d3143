"""GIN with a virtual node on ogbg-molpcba: 2048 molecules at once, padded, 128 assays with labels missing.

Flax linen with jraph's GraphsTuple, sums by segment_sum; batch norms, dropout of one half, bonds embedded anew by each
layer, all float32. A train state as in flax's examples, donated; plain Adam.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import jraph
import optax

from advice_board_changes import laid_out, policy_of, raw_key, updated
from advice_board_training import F32, cast, compute_dtype

ATOM = (119, 5, 12, 12, 10, 6, 6, 2, 2)
BOND = (5, 6, 2)
TASKS = 128


class CategoricalEncoder(nn.Module):
    sizes: tuple
    width: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        return sum(nn.Embed(size, self.width, dtype=self.dtype, embedding_init=nn.initializers.xavier_uniform(),
                            name=f"embed_{i}")(x[:, i]) for i, size in enumerate(self.sizes))


class Mlp(nn.Module):
    hidden: int
    out: int
    dtype: object
    ends_active: bool = False

    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(self.hidden, dtype=self.dtype)(x)
        x = nn.relu(nn.BatchNorm(not train, dtype=self.dtype)(x))
        x = nn.Dense(self.out, dtype=self.dtype)(x)
        return nn.relu(nn.BatchNorm(not train, dtype=self.dtype)(x)) if self.ends_active else x


class GinLayer(nn.Module):
    width: int
    dropout: float
    dtype: object
    is_last: bool
    train: bool

    @nn.compact
    def __call__(self, h, bonds, senders, receivers):
        eps = self.param("eps", nn.initializers.zeros, ())
        e = CategoricalEncoder(BOND, self.width, self.dtype, name="bonds")(bonds)
        message = nn.relu(h[senders] + e)
        gathered = jax.ops.segment_sum(message, receivers, h.shape[0])
        h = (1 + eps.astype(h.dtype)) * h + gathered
        h = Mlp(2 * self.width, self.width, self.dtype, name="mlp")(h, self.train)
        h = nn.BatchNorm(not self.train, dtype=self.dtype)(h)
        h = h if self.is_last else nn.relu(h)
        return nn.Dropout(self.dropout, deterministic=not self.train)(h)


class GinVirtual(nn.Module):
    layers: int
    width: int
    dropout: float
    dtype: object
    remats: bool
    policy: object

    @nn.compact
    def __call__(self, graph, train=True):
        count = graph.n_node.shape[0]
        owner = jnp.repeat(jnp.arange(count), graph.n_node, total_repeat_length=graph.nodes.shape[0])
        layer = nn.remat(GinLayer, policy=self.policy) if self.remats else GinLayer
        h = CategoricalEncoder(ATOM, self.width, self.dtype, name="atoms")(graph.nodes)
        virtual = self.param("virtual", nn.initializers.zeros, (self.width,)).astype(h.dtype)
        virtual = jnp.broadcast_to(virtual, (count, self.width))
        for i in range(self.layers):
            h = h + virtual[owner]
            new = layer(self.width, self.dropout, self.dtype, i + 1 == self.layers, train, name=f"gin_{i}")(
                h, graph.edges, graph.senders, graph.receivers)
            if i + 1 < self.layers:
                pooled = virtual + jax.ops.segment_sum(h, owner, count)
                pooled = Mlp(2 * self.width, self.width, self.dtype, True, name=f"virtual_{i}")(pooled, train)
                virtual = virtual + nn.Dropout(self.dropout, deterministic=not train)(pooled)
            h = h + new
        sizes = jnp.maximum(graph.n_node, 1).astype(h.dtype)[:, None]
        return nn.Dense(TASKS, dtype=self.dtype, name="head")(jax.ops.segment_sum(h, owner, count) / sizes)


def gin(layers, width, graphs, nodes, edges, dropout=0.5, kind=F32):
    def make(arrays, change):
        g, n, m = (size // change.batch_divisor for size in (graphs, nodes, edges))
        now = compute_dtype(change, kind)
        model = GinVirtual(layers, width, dropout, now, change.rematerialize, policy_of(change))

        def graph_of(array, n, m, g):
            return jraph.GraphsTuple(nodes=array((n, len(ATOM)), jnp.int32), edges=array((m, len(BOND)), jnp.int32),
                                     senders=array((m,), jnp.int32), receivers=array((m,), jnp.int32), globals=None,
                                     n_node=array((g,), jnp.int32), n_edge=array((g,), jnp.int32))

        def init():
            keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
            return model.init(keys, graph_of(jnp.zeros, 4, 4, 2))
        variables = jax.eval_shape(init)
        params, stats = cast(variables["params"], change.stored), variables["batch_stats"]
        tx = optax.adam(1e-3)
        opt_state = jax.eval_shape(tx.init, params)

        def train_step(params, stats, opt_state, rng, graph, labels, labelled):
            rng, dropout_rng = jax.random.split(rng)
            mask = labelled & jraph.get_graph_padding_mask(graph)[:, None]

            def loss_fn(params):
                logits, new = model.apply({"params": params, "batch_stats": stats}, graph, mutable=["batch_stats"],
                                          rngs={"dropout": dropout_rng})
                losses = optax.sigmoid_binary_cross_entropy(logits.astype(F32), labels.astype(F32))
                return jnp.where(mask, losses, 0.0).sum() / jnp.maximum(mask.sum(), 1), (new["batch_stats"], logits)
            (loss, (new_stats, logits)), grads = jax.value_and_grad(loss_fn, has_aux=True)(params)
            params, opt_state = updated(tx, grads, opt_state, params)
            right = (((logits > 0) == labels) & mask).sum() / jnp.maximum(mask.sum(), 1)
            return params, new_stats, opt_state, rng, {"loss": loss, "accuracy": right}
        whole = jax.tree.map(lambda one: arrays.array(one.shape, one.dtype), stats)
        return train_step, (laid_out(arrays, params), whole, laid_out(arrays, opt_state), raw_key(arrays),
                            graph_of(arrays.batch, n, m, g), arrays.batch((g, TASKS), jnp.bool_),
                            arrays.batch((g, TASKS), jnp.bool_)), (0, 1, 2)
    return make


FAMILY = {"medal_gin_virtual_node": dict(
    make=gin(layers=5, width=512, graphs=2048, nodes=55_296, edges=118_784), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "rematerialize", "rematerialize_dots",
              "rematerialize+halve_batch", "shard_parameters", "shard_all"))}
