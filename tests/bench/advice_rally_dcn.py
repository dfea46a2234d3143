"""DCN-v2 on Criteo's terabyte of clicks, as the DLRM benchmark trains it: ids in bags of one to a hundred.

Plain jax. Tables are learnt by exact row-wise Adagrad: the loss is differentiated by the pooled bags, slopes of a row
that many bags name are summed, and only the rows that were looked up are written. Dense weights learn by Adagrad.
"""
import jax
import jax.numpy as jnp

from advice_board_training import F32, cast, compute_dtype, dealt, maybe_checkpoint, on_chips

ROWS = (40000000, 39060, 17295, 7424, 20265, 3, 7122, 1543, 63, 40000000, 3067956, 405282, 10, 2209, 11938, 155, 4, 976,
        14, 40000000, 40000000, 40000000, 590152, 12973, 108, 36)
HOTS = (3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1)


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, F32)


def mlp_spec(sizes):
    return [{"w": spec(a, b), "b": spec(b)} for a, b in zip(sizes, sizes[1:])]


def affine(layer, x):
    return x @ layer["w"].astype(x.dtype) + layer["b"].astype(x.dtype)


def perceptron(layers, x):
    for layer in layers:
        x = jax.nn.relu(affine(layer, x))
    return x


def cross(layer, x0, x):
    """x0 * (U (V x) + b) + x, of low rank."""
    low = x @ layer["v"].astype(x.dtype)
    return x0 * (low @ layer["u"].astype(x.dtype) + layer["b"].astype(x.dtype)) + x


def dense_adagrad(params, sums, slopes, rate=0.005, eps=1e-8):
    sums = jax.tree.map(lambda s, g: (s + g.astype(F32) ** 2).astype(s.dtype), sums, slopes)

    def moved(p, s, g):
        return (p - rate * g.astype(F32) / (jnp.sqrt(s.astype(F32)) + eps)).astype(p.dtype)
    return jax.tree.map(moved, params, sums, slopes), sums


def rowwise_adagrad(table, sums, ids, slopes, rate=0.005, eps=1e-8):
    """ids [b, h]; slopes [b, d] of the bags' sums. Rows that nobody named are filled in past the end and dropped."""
    size = min(ids.size, table.shape[0])
    rows, place = jnp.unique(ids.reshape(-1), return_inverse=True, size=size, fill_value=table.shape[0])
    of_each = jnp.repeat(slopes.astype(F32), ids.shape[1], axis=0)
    total = jax.ops.segment_sum(of_each, place.reshape(-1), num_segments=size)
    sums = sums.at[rows].add(jnp.mean(total * total, -1).astype(sums.dtype), mode="drop")
    seen = sums.at[rows].get(mode="fill", fill_value=1.0).astype(F32)
    change = -rate * total / (jnp.sqrt(seen) + eps)[:, None]
    return table.at[rows].add(change.astype(table.dtype), mode="drop"), sums


def dcn_v2_clicks(cap, batch, width=128, numbers=13, bottom=(512, 256, 128), crosses=3, rank=512,
                  top=(1024, 1024, 512, 256), kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        sizes = [min(cap, size) for size in ROWS]
        flat = (len(sizes) + 1) * width
        dense = {"bottom": mlp_spec((numbers, *bottom)),
                 "cross": [{"v": spec(flat, rank), "u": spec(rank, flat), "b": spec(flat)} for _ in range(crosses)],
                 "top": mlp_spec((flat, *top)), "last": {"w": spec(top[-1], 1), "b": spec(1)}}
        tables = [spec(size, width) for size in sizes]
        crossed = maybe_checkpoint(change, cross)

        def pool(tables, ids):
            return jnp.stack([table[bag].astype(now).sum(1) for table, bag in zip(tables, ids)], 1)

        def loss_of(dense, pooled, features, clicked):
            first = perceptron(dense["bottom"], jnp.log1p(jax.nn.relu(features.astype(F32))).astype(now))
            x0 = jnp.concatenate([first[:, None], pooled], 1).reshape(first.shape[0], -1)
            x = x0
            for layer in dense["cross"]:
                x = crossed(layer, x0, x)
            logits = affine(dense["last"], perceptron(dense["top"], x))[:, 0].astype(F32)
            return jnp.mean(jax.nn.softplus(logits) - logits * clicked.astype(F32))

        def of_part(dense, tables, features, ids, clicked):
            slopes_of = jax.value_and_grad(loss_of, argnums=(0, 1))
            return slopes_of(dense, pool(tables, ids), features, clicked)

        def slopes_of(dense, tables, *given):
            parts = change.parts
            if parts == 1:
                return of_part(dense, tables, *given)

            def add(total, part):
                loss, (slopes, of_bags) = of_part(dense, tables, *part)
                return jax.tree.map(jnp.add, total, (loss, slopes)), of_bags
            start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, dense)
            total, of_bags = jax.lax.scan(add, start, jax.tree.map(lambda a: dealt(a, parts), given))
            loss, slopes = jax.tree.map(lambda a: a / parts, total)
            return loss, (slopes, of_bags.swapaxes(0, 1).reshape(-1, *of_bags.shape[2:]) / parts)

        def train_step(dense, tables, dense_sums, row_sums, features, ids, clicked):
            loss, (slopes, of_bags) = slopes_of(dense, tables, features, ids, clicked)
            dense, dense_sums = dense_adagrad(dense, dense_sums, slopes)
            moved = [rowwise_adagrad(table, sums, bag, of_bags[:, i])
                     for i, (table, sums, bag) in enumerate(zip(tables, row_sums, ids))]
            return dense, [t for t, _ in moved], dense_sums, [s for _, s in moved], loss

        state = (dense, tables, dense, [spec(size) for size in sizes])
        ids = [arrays.batch((rows, hot), jnp.int32) for hot in HOTS]
        return train_step, (*(on_chips(arrays, cast(part, change.stored)) for part in state),
                            arrays.batch((rows, numbers), F32), ids, arrays.batch((rows,), jnp.int32)), (0, 1, 2, 3)
    return make
