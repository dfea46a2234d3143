"""Clicks by stacked products of fields, and one graph of roads whose edges have states, as other authors write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_aside_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, placed, trained, warmed_up
from advice_fresh import graded, maybe_checkpointed, shaped
from advice_structures import BF16, F32
from advice_trial_sequences import cast, kind_of


# --- Clicks ---

def stacked_products(rows, dim, hots, numbers, layers, products, lines, rank, hidden, batch, kind=BF16):
    """Wukong: in each layer some fields are made of products of fields, and others are sums of them; several ids of a
    feature are summed. Tables have one number of Adagrad for each row, the rest has Adam; both by hand."""
    fields = len(rows) + 1
    inner = products + lines

    def make(arrays, change):
        now, b = kind_of(change, kind), batch // change.batch_divisor
        tables = shaped(**{f"table_{i}": (size, dim) for i, size in enumerate(rows)})
        net = {"numbers": {"w1": (numbers, hidden), "b1": (hidden,), "w2": (hidden, dim), "b2": (dim,)}}
        for i in range(layers):
            n = inner if i else fields
            net[f"layer_{i}"] = {"down": (n, rank), "up": (n * rank, hidden), "up_b": (hidden,),
                                 "made": (hidden, products * dim), "line": (n, lines), "skip": (n, inner),
                                 "scale": (dim,)}
        net["top"] = {"w1": (inner * dim, hidden), "b1": (hidden,), "w2": (hidden, 1), "b2": (1,)}
        net = shaped(**net)

        def layer(p, x):
            """Of [batch, fields, dim]."""
            low = jnp.einsum("bnd,nk->bdk", x, p["down"])
            pairs = jnp.einsum("bnd,bdk->bnk", x, low).reshape(x.shape[0], -1)
            made = jax.nn.relu(pairs @ p["up"] + p["up_b"]) @ p["made"]
            made = made.reshape(x.shape[0], products, dim)
            summed = jnp.einsum("bnd,nl->bld", x, p["line"])
            x = jnp.concatenate([made, summed], 1) + jnp.einsum("bnd,nm->bmd", x, p["skip"])
            wide = x.astype(F32)
            root = jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-6)
            return (wide * root).astype(x.dtype) * p["scale"]

        def loss_of(params, dense, ids, clicks):
            tables, net = params["tables"], cast(params["net"], now)
            found = [tables[f"table_{i}"][ids[:, i]].sum(1).astype(now) for i in range(len(rows))]
            p = net["numbers"]
            dense = jnp.log1p(jax.nn.relu(dense.astype(F32))).astype(now)
            found.append(jax.nn.relu(dense @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
            x = jnp.stack(found, 1)
            for i in range(layers):
                x = maybe_checkpointed(change, layer)(net[f"layer_{i}"], x)
            p = net["top"]
            logits = jax.nn.relu(x.reshape(b // change.parts, -1) @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
            logits = logits[:, 0].astype(F32)
            return (jax.nn.softplus(logits) - logits * clicks.astype(F32)).mean()

        def adagrad(table, total, slope):
            total = total.astype(F32) + jnp.square(slope.astype(F32)).mean(-1)
            moved = table - 0.02 * slope.astype(F32) * jax.lax.rsqrt(total + 1e-8)[:, None]
            return moved.astype(table.dtype), total

        def train_step(params, totals, means, squares, dense, ids, clicks):
            loss, slopes = graded(loss_of, change.parts)(params, dense, ids, clicks)
            pairs = {name: adagrad(params["tables"][name], totals[name], slopes["tables"][name]) for name in totals}
            of_tables, new = {k: v[0] for k, v in pairs.items()}, {k: v[1].astype(totals[k].dtype)
                                                                  for k, v in pairs.items()}
            g = slopes["net"]
            means = jax.tree.map(lambda m, g: (0.9 * m + 0.1 * g).astype(m.dtype), means, g)
            squares = jax.tree.map(lambda s, g: (0.999 * s + 0.001 * g * g).astype(s.dtype), squares, g)
            of_net = jax.tree.map(lambda p, m, s: (p - 4e-4 * m / (jnp.sqrt(s) + 1e-8)).astype(p.dtype),
                                  params["net"], means, squares)
            return {"tables": of_tables, "net": of_net}, new, means, squares, loss

        params = placed(arrays, as_kind({"tables": tables, "net": net}, change.stored))
        totals = {f"table_{i}": arrays.parameter((size,), None) for i, size in enumerate(rows)}
        return train_step, (params, totals, params["net"], params["net"], arrays.batch((b, numbers), F32),
                            arrays.batch((b, len(rows), hots), jnp.int32), arrays.batch((b,), F32)), (0, 1, 2, 3)
    return make


# --- One graph of roads ---

def gated_roads(layers, width, crossings, roads, features, road_features, kinds, kind=F32):
    """GatedGCN in a scan: the state of a road gates what passes, and is told at last; norms over the graph."""
    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        stack = {name: (layers, width, width) for name in ("own", "sent", "of_road", "of_start", "of_end")}
        stack |= {name: (layers, width) for name in ("node_gain", "node_shift", "road_gain", "road_shift")}
        shapes = shaped(enter=(features, width), enter_road=(road_features, width), layer_stack=stack,
                        out1=(3 * width, width), out1_b=(width,), out2=(width, kinds), out2_b=(kinds,))

        def even(x, gain, shift):
            wide = x.astype(F32)
            mean, spread = wide.mean(0), wide.var(0)
            return ((wide - mean) * jax.lax.rsqrt(spread + 1e-5)).astype(x.dtype) * gain + shift

        def loss_of(params, places, lengths, starts, ends, labels):
            p = cast(params, now)

            def layer(both, w):
                x, e = both
                gate = e @ w["of_road"] + (x @ w["of_start"])[starts] + (x @ w["of_end"])[ends]
                open_ = jax.nn.sigmoid(gate)
                came = jax.ops.segment_sum(open_ * (x @ w["sent"])[starts], ends, crossings)
                share = jax.ops.segment_sum(open_, ends, crossings)
                h = x @ w["own"] + came / (share + 1e-6)
                x = x + jax.nn.relu(even(h, w["node_gain"], w["node_shift"]))
                return (x, e + jax.nn.relu(even(gate, w["road_gain"], w["road_shift"]))), None
            both = places.astype(now) @ p["enter"], lengths.astype(now) @ p["enter_road"]
            (x, e), _ = jax.lax.scan(maybe_checkpointed(change, layer), both, p["layer_stack"])
            h = jnp.concatenate([x[starts], x[ends], e], -1)
            logits = jax.nn.relu(h @ p["out1"] + p["out1_b"]) @ p["out2"] + p["out2_b"]
            return optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), labels).mean()
        one = arrays.batch((roads,), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optax.adam(warmed_up(1e-3)),
                       arrays.batch((crossings, features), F32), arrays.batch((roads, road_features), F32), one, one,
                       one)
    return make
