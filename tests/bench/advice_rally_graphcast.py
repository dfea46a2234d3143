"""GraphCast of one degree: six hours of weather on a grid, through the edges of a refined icosahedron and back.

In haiku, as the published code is: each set of edges and nodes has its own network of one hidden layer, swish and layer
norm, and its own residual; messages are summed in float32. There is one state of the weather and no batch.
"""
import jax
import jax.numpy as jnp

from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, on_chips


def graphcast(change, now, latent, steps, outputs, grid_count, mesh_count):
    import haiku as hk

    def mlp(name, size=latent, has_norm=True):
        parts = [hk.nets.MLP([latent, size], activation=jax.nn.swish, name=name + "_mlp")]
        if has_norm:
            parts.append(hk.LayerNorm(-1, True, True, name=name + "_layer_norm"))
        return hk.Sequential(parts, name=name)

    def summed(messages, receivers, count):
        return jax.ops.segment_sum(messages.astype(F32), receivers, count).astype(now)

    def interact(name, edges, sources, targets, senders, receivers):
        """New edges, and what the targets make of them."""
        messages = mlp(name + "_edges")(jnp.concatenate([edges, sources[senders], targets[receivers]], -1))
        gathered = summed(messages, receivers, targets.shape[0])
        return messages, mlp(name + "_nodes")(jnp.concatenate([targets, gathered], -1))

    def process(i, edges, nodes, senders, receivers):
        messages, made = interact(f"processor_{i}", edges, nodes, nodes, senders, receivers)
        return edges + messages, nodes + made

    def forward(state, graph):
        def now_of(name):
            return graph[name].astype(now)
        grid = jnp.concatenate([state.astype(now), now_of("grid_places")], -1)
        grid = mlp("embed_grid")(grid)
        mesh = mlp("embed_mesh")(now_of("mesh_places"))
        up = mlp("embed_grid2mesh")(now_of("grid2mesh"))
        around = mlp("embed_mesh_edges")(now_of("mesh"))
        down = mlp("embed_mesh2grid")(now_of("mesh2grid"))

        _, made = interact("grid2mesh", up, grid, mesh, graph["grid2mesh_from"], graph["grid2mesh_to"])
        mesh = mesh + made
        grid = grid + mlp("grid2mesh_grid")(grid)
        for i in range(steps):
            def one(edges, nodes, i=i):
                return process(i, edges, nodes, graph["mesh_from"], graph["mesh_to"])
            one = hk.remat(one, policy=checkpoint_policy(change)) if change.rematerialize else one
            around, mesh = one(around, mesh)
        _, made = interact("mesh2grid", down, mesh, grid, graph["mesh2grid_from"], graph["mesh2grid_to"])
        return mlp("output", outputs, has_norm=False)(grid + made)

    def cast_forward(*given):
        def getter(following, value, context):
            return following(value).astype(now)
        with hk.custom_getter(getter):
            return forward(*given)
    return hk.without_apply_rng(hk.transform(cast_forward))


def graph_of(arrays, grid, mesh, up, around, down):
    """Places and edges, which are the same in every step; edges are dealt to the chips as a batch would be."""
    def ends(count):
        return arrays.batch((count,), jnp.int32)
    return {"grid_places": arrays.batch((grid, 3), F32), "mesh_places": arrays.array((mesh, 3), F32),
            "grid2mesh": arrays.batch((up, 4), F32), "mesh": arrays.batch((around, 4), F32),
            "mesh2grid": arrays.batch((down, 4), F32), "grid2mesh_from": ends(up), "grid2mesh_to": ends(up),
            "mesh_from": ends(around), "mesh_to": ends(around), "mesh2grid_from": ends(down),
            "mesh2grid_to": ends(down)}


def graphcast_weather(latitudes, longitudes, refined, up, latent, steps, inputs, outputs, kind=F32):
    def make(arrays, change):
        import optax
        now = compute_dtype(change, kind)
        grid, mesh = latitudes * longitudes, 10 * 4 ** refined + 2
        around = 20 * (4 ** (refined + 1) - 1)
        model = graphcast(change, now, latent, steps, outputs, grid, mesh)
        graph = graph_of(arrays, grid, mesh, up, around, 3 * grid)
        plain = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), graph)
        shapes = jax.eval_shape(model.init, jax.random.PRNGKey(0), jax.ShapeDtypeStruct((grid, inputs), F32), plain)
        params = cast(cast(shapes, F32), change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 1000, 300000)
        optimizer = optax.chain(optax.clip_by_global_norm(32.0), optax.adamw(
            schedule, b2=0.95, weight_decay=0.1, mask=lambda tree: jax.tree.map(lambda p: p.ndim > 1, tree)))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, graph, area, weights, state, tendency):
            """`area` of each latitude, `weights` of each variable and level; what is told is the normalized change."""
            def loss_of(params):
                told = model.apply(params, state, graph).astype(F32)
                wrong = jnp.square(told - tendency.astype(F32)) * weights
                return (wrong.reshape(latitudes, longitudes, -1) * area[:, None, None]).mean()
            loss, slopes = jax.value_and_grad(loss_of)(params)
            updates, opt_state = optimizer.update(slopes, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss
        return train_step, (on_chips(arrays, params), on_chips(arrays, opt_state), graph,
                            arrays.array((latitudes,), F32), arrays.array((outputs,), F32),
                            arrays.batch((grid, inputs), F32), arrays.batch((grid, outputs), F32)), (0, 1)
    return make
