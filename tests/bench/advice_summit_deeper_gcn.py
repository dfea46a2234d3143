"""DeeperGCN: what proteins do, from a cluster of their graph of associations, in haiku and jraph.

28 generalized convolutions that weigh messages by a softmax of a learned temperature, each with its own encoder of
edges; normalized and rectified before the convolution, with a residual around it.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import F32, cast, computing, laid_out, policy_of, raw_key, summed_slopes, updated


def gen_conv(h, edges, senders, receivers, hidden):
    """One node per row of h; a message for each edge."""
    import haiku as hk
    import jraph
    nodes = h.shape[0]
    message = jax.nn.relu(h[senders] + hk.Linear(hidden, name="edge_encoder")(edges)) + 1e-7
    t = hk.get_parameter("t", (), init=jnp.ones).astype(h.dtype)
    weights = jraph.segment_softmax(message * t, receivers, num_segments=nodes)
    gathered = jax.ops.segment_sum(message * weights, receivers, num_segments=nodes)
    x = hk.Linear(2 * hidden, name="mlp_in")(h + gathered)
    x = jax.nn.relu(hk.LayerNorm(-1, True, True, name="mlp_norm")(x))
    return hk.Linear(hidden, name="mlp_out")(x)


def deeper_gcn(change, layers, hidden, tasks, rate):
    import haiku as hk

    def forward(graph):
        receivers, nodes = graph.receivers, graph.nodes["features"].shape[0]
        sums = jax.ops.segment_sum(graph.edges, receivers, num_segments=nodes)
        counts = jax.ops.segment_sum(jnp.ones_like(graph.edges[:, :1]), receivers, num_segments=nodes)
        given = jnp.concatenate([graph.nodes["species"], sums / jnp.maximum(counts, 1)], -1)
        h = hk.Linear(hidden, name="node_encoder")(jnp.concatenate([graph.nodes["features"], given], -1))

        def layer(h, edges, is_first):
            x = h
            if not is_first:
                x = jax.nn.relu(hk.LayerNorm(-1, True, True, name="norm")(h))
                x = hk.dropout(hk.next_rng_key(), rate, x)
            made = gen_conv(x, edges, graph.senders, receivers, hidden)
            return made if is_first else made + h

        for i in range(layers):
            with hk.experimental.name_scope(f"layer_{i}"):
                def one(h, edges, is_first=i == 0):
                    return layer(h, edges, is_first)
                h = (hk.remat(one, policy=policy_of(change)) if change.rematerialize else one)(h, graph.edges)
        h = jax.nn.relu(hk.LayerNorm(-1, True, True, name="last_norm")(h))
        return hk.Linear(tasks, name="prediction")(hk.dropout(hk.next_rng_key(), rate, h))
    return hk.transform(forward)


def protein_functions(layers, hidden, nodes, edges, tasks=112, species=8, features=8, rate=0.1, kind=F32):
    def make(arrays, change):
        import jraph
        import optax
        now = computing(change, kind)
        model = deeper_gcn(change, layers, hidden, tasks, rate)

        def graph_of(node_features, one_hot, edge_features, senders, receivers):
            return jraph.GraphsTuple(nodes={"features": node_features.astype(now), "species": one_hot.astype(now)},
                                     edges=edge_features.astype(now), senders=senders, receivers=receivers,
                                     globals=None, n_node=jnp.array([nodes]), n_edge=jnp.array([edges]))

        graph = (arrays.batch((nodes, features), F32), arrays.batch((nodes, species), F32),
                 arrays.batch((edges, features), F32), arrays.batch((edges,), jnp.int32),
                 arrays.batch((edges,), jnp.int32))
        labels = arrays.batch((nodes, tasks), jnp.int32), arrays.batch((nodes,), jnp.bool_)

        def loss_of(params, key, *batch):
            *parts, answers, is_train = batch
            logits = model.apply(cast(params, now), key, graph_of(*parts)).astype(F32)
            losses = optax.sigmoid_binary_cross_entropy(logits, answers.astype(F32)).mean(-1)
            return (losses * is_train).sum() / jnp.maximum(is_train.sum(), 1), ()

        plain = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in graph]
        shapes = jax.eval_shape(lambda key, *g: model.init(key, graph_of(*g)), jax.random.key(0), *plain)
        params = cast(shapes, change.stored)
        optimizer = optax.adam(1e-3)
        state = jax.eval_shape(optimizer.init, params)

        def step(params, state, key, *batch):
            loss, _, slopes = summed_slopes(loss_of, 1)(params, key, *batch)
            params, state = updated(optimizer, slopes, state, params)
            return params, state, loss
        arguments = laid_out(arrays, params), laid_out(arrays, state), raw_key(arrays), *graph, *labels
        return step, arguments, (0, 1)
    return make
