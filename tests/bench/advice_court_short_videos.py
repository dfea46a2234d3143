"""A ranker of short videos: tables of ids, lists of ids pooled over real slots, experts and a tower per task (MMoE).

Plain functions on nested dictionaries. Tables have row-wise Adagrad, one sum of squares a row; the net has Adam.
"""
import jax
import jax.numpy as jnp

from advice_board_training import F32, abstract, compute_dtype, maybe_checkpoint, optax_step


def rowwise_adagrad(rate, start=0.1):
    import optax

    def init(params):
        return jax.tree.map(lambda p: jnp.full(p.shape[:1], start, p.dtype), params)

    def update(grads, sums, params=None):
        del params
        sums = jax.tree.map(lambda g, s: s + jnp.square(g).mean(-1), grads, sums)
        return jax.tree.map(lambda g, s: -rate * g * jax.lax.rsqrt(s + 1e-10)[:, None], grads, sums), sums
    return optax.GradientTransformation(init, update)


def mlp_shapes(sizes):
    return [{"w": pair, "b": pair[1:]} for pair in zip(sizes, sizes[1:])]


def mmoe_shapes(tables, size, fields, dense, experts, expert_sizes, tasks, tower_sizes):
    """`fields` is how many vectors, of single ids and of pooled lists, are read side by side."""
    joined = fields * size + tower_sizes[0]
    many = [{"w": (experts, *pair), "b": (experts, pair[1])}
            for pair in zip((joined, *expert_sizes), expert_sizes)]
    tower = (expert_sizes[-1], *tower_sizes, 1)
    return {"tables": {name: (rows, size) for name, rows in tables.items()},
            "net": {"bottom": mlp_shapes((dense, 256, tower_sizes[0])), "experts": many,
                    "gates": {task: {"w": (joined, experts), "b": (experts,)} for task in tasks},
                    "towers": {task: mlp_shapes(tower) for task in tasks}}}


def pooled(table, ids, now):
    """The mean of the rows that a list names, [batch, slots] with 0 where there is none."""
    real = (ids > 0).astype(now)[..., None]
    total = (table[ids].astype(now) * real).sum(1)
    return total / jnp.maximum(real.sum(1), 1)


def mmoe(change, now, lists, tasks):
    def dense_layer(p, x):
        return x @ p["w"].astype(now) + p["b"].astype(now)

    def mlp(layers, x):
        for p in layers[:-1]:
            x = jax.nn.relu(dense_layer(p, x))
        return dense_layer(layers[-1], x)

    def expert_layer(p, x):
        """All of the experts: of [batch, inputs] at first, then [experts, batch, inputs]."""
        y = jnp.einsum("bi,eio->ebo" if x.ndim == 2 else "ebi,eio->ebo", x, p["w"].astype(now))
        return jax.nn.relu(y + p["b"].astype(now)[:, None])

    def task_tower(gate, layers, x, known):
        shares = jax.nn.softmax(dense_layer(gate, x).astype(F32)).astype(now)
        return mlp(layers, jnp.einsum("ebo,be->bo", known, shares))[:, 0]

    def logits_of(params, single, many, dense):
        tables, net = params["tables"], params["net"]
        parts = [tables[name][ids].astype(now) for name, ids in sorted(single.items())]
        parts += [pooled(tables[lists[name][0]], ids, now) for name, ids in sorted(many.items())]
        bottom = maybe_checkpoint(change, mlp)(net["bottom"], jnp.log1p(dense).astype(now))
        x = jnp.concatenate(parts + [jax.nn.relu(bottom)], -1)
        known = x
        for p in net["experts"]:
            known = maybe_checkpoint(change, expert_layer)(p, known)
        tower = maybe_checkpoint(change, task_tower)
        return jnp.stack([tower(net["gates"][task], net["towers"][task], x, known) for task in tasks], -1)
    return logits_of


def ranked_short_videos(tables, size, single, lists, dense, experts, expert_sizes, tasks, tower_sizes, batch, kind=F32):
    """`single` names the tables of which a row has one id, `lists` the lists with their table and slots."""
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        shapes = abstract(mmoe_shapes(tables, size, len(single) + len(lists), dense, experts, expert_sizes, tasks,
                                      tower_sizes))
        logits_of = mmoe(change, now, lists, tasks)

        def loss_of(params, single, many, dense, labels):
            logits = logits_of(params, single, many, dense).astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, labels).mean(0).sum()
        optimizer = optax.multi_transform({"tables": rowwise_adagrad(0.02), "net": optax.adam(1e-3)},
                                          {"tables": "tables", "net": "net"})
        ids = {name: arrays.batch((rows,), jnp.int32) for name in single}
        many = {name: arrays.batch((rows, slots // change.length_divisor), jnp.int32)
                for name, (_, slots) in lists.items()}
        return optax_step(arrays, change, shapes, loss_of, optimizer, ids, many, arrays.batch((rows, dense), F32),
                          arrays.batch((rows, len(tasks)), F32))
    return make
