"""Tables of clicks, one graph of payments and joined meshes, as other authors write them.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import trained, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import F32
from advice_trial_sequences import cast, kind_of


# --- Clicks ---

def compressed_crosses(rows_of, width, numbers, maps, hidden, batch, kind=F32):
    """xDeepFM: products of fields' rows by each coordinate, compressed to few maps, layer after layer; Adam."""
    def make(arrays, change):
        import optax
        now, size, fields = kind_of(change, kind), batch // change.batch_divisor, len(rows_of)
        shapes = {"tables": shaped(**{f"field_{i}": (rows, width) for i, rows in enumerate(rows_of)}),
                  "first_order": shaped(**{f"field_{i}": (rows,) for i, rows in enumerate(rows_of)})}
        before = (fields, *maps[:-1])
        shapes["crosses"] = [shaped(kernel=(fields, one, made), bias=(made,)) for one, made in zip(before, maps)]
        sizes = (fields * width + numbers, *hidden)
        shapes["deep"] = [shaped(kernel=(one, made), bias=(made,)) for one, made in zip(sizes, hidden)]
        shapes["last"] = shaped(crosses=(sum(maps),), deep=(hidden[-1],), numbers=(numbers,), bias=(1,))

        def cross(p, first, x):
            """Of [batch, fields, width] and [batch, maps, width]."""
            mixed = jnp.einsum("bhd,fhm->bfmd", x, p["kernel"])
            return jax.nn.relu(jnp.einsum("bfd,bfmd->bmd", first, mixed) + p["bias"][:, None])

        def dense(p, x):
            return jax.nn.relu(x @ p["kernel"] + p["bias"])

        def loss_of(params, ids, told, clicked):
            keys = [f"field_{i}" for i in range(fields)]
            first = jnp.stack([params["tables"][key][ids[:, i]] for i, key in enumerate(keys)], 1).astype(now)
            score = sum(params["first_order"][key][ids[:, i]].astype(F32) for i, key in enumerate(keys))
            above = cast({name: params[name] for name in ("crosses", "deep", "last")}, now)
            told = told.astype(now)
            x, sums = first, []
            for p in above["crosses"]:
                x = maybe_checkpointed(change, cross)(p, first, x)
                sums.append(x.sum(-1))
            y = jnp.concatenate([first.reshape(first.shape[0], -1), told], -1)
            for p in above["deep"]:
                y = maybe_checkpointed(change, dense)(p, y)
            last = above["last"]
            score = score + (jnp.concatenate(sums, -1) @ last["crosses"] + y @ last["deep"] + told @ last["numbers"]
                             + last["bias"][0]).astype(F32)
            return optax.sigmoid_binary_cross_entropy(score, clicked.astype(F32)).mean()
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adam(1e-3),
                                arrays.batch((size, fields), jnp.int32), arrays.batch((size, numbers), F32),
                                arrays.batch((size,), F32))
    return make


# --- One graph of payments ---

def payments(layers, accounts, edges, known, told, heads, side, kind=F32):
    """EGAT: scores of each payment by its own state and both of its ends, which it changes; is an account a fraud."""
    width = heads * side

    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        one = {"sender": (width, width), "receiver": (width, width), "edge": (width, width), "score": (width, heads),
               "value": (width, width), "merge": (width, width), "merge_bias": (width,), "gain": (width,),
               "edge_gain": (width,)}
        shapes = {"nodes_in": shaped(kernel=(known, width), bias=(width,)),
                  "edges_in": shaped(kernel=(told, width), bias=(width,)),
                  "layers": [shaped(**one) for _ in range(layers)],
                  "head": shaped(up=(width, width), bias=(width,), out=(width, 1))}

        def norm(x, gain):
            x = x - x.mean(-1, keepdims=True)
            return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * gain

        def layer(p, nodes, payments, senders, receivers):
            from_, to = nodes @ p["sender"], nodes @ p["receiver"]
            state = jax.nn.leaky_relu(from_[senders] + to[receivers] + payments @ p["edge"], 0.2)
            scores = (state @ p["score"]).astype(F32)
            top = jax.lax.stop_gradient(jax.ops.segment_max(scores, receivers, accounts))
            weights = jnp.exp(scores - top[receivers])
            total = jax.ops.segment_sum(weights, receivers, accounts)
            weights = (weights / (total[receivers] + 1e-9)).astype(now)
            told = jnp.repeat(weights, side, axis=1) * (nodes @ p["value"])[senders]
            summed = jax.ops.segment_sum(told, receivers, accounts)
            nodes = norm(nodes + jax.nn.elu(summed @ p["merge"] + p["merge_bias"]), p["gain"])
            return nodes, norm(payments + state, p["edge_gain"])

        def loss_of(params, nodes, payments, senders, receivers, labels, weights):
            p = cast(params, now)
            x = nodes.astype(now) @ p["nodes_in"]["kernel"] + p["nodes_in"]["bias"]
            e = payments.astype(now) @ p["edges_in"]["kernel"] + p["edges_in"]["bias"]
            for one in p["layers"]:
                x, e = maybe_checkpointed(change, layer)(one, x, e, senders, receivers)
            h = jax.nn.relu(x @ p["head"]["up"] + p["head"]["bias"])
            losses = optax.sigmoid_focal_loss((h @ p["head"]["out"])[:, 0].astype(F32), labels.astype(F32), alpha=0.8)
            weights = weights.astype(F32)
            return (losses * weights).sum() / weights.sum()
        ends = arrays.batch((edges,), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optax.adamw(1e-3, weight_decay=1e-4),
                       arrays.batch((accounts, known), F32), arrays.batch((edges, told), F32), ends, ends,
                       arrays.batch((accounts,), F32), arrays.batch((accounts,), F32))
    return make


# --- Meshes that are joined ---

def joined_meshes(steps, latent, points, edges, batch, kind=F32):
    """MeshGraphNets on flows around cylinders: meshes of a batch in one graph, blocks in a scan; noisy speeds."""
    kinds, speeds = 9, 2

    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor

        def mlp(inputs, outputs=latent, is_normed=True, lead=()):
            sizes = {"w0": (*lead, inputs, latent), "b0": (*lead, latent), "w1": (*lead, latent, latent),
                     "b1": (*lead, latent), "w2": (*lead, latent, outputs), "b2": (*lead, outputs)}
            norm = {"gain": (*lead, outputs), "shift": (*lead, outputs)}
            return shaped(**sizes, **(norm if is_normed else {}))
        shapes = {"nodes_in": mlp(speeds + kinds), "edges_in": mlp(3), "out": mlp(latent, speeds, False),
                  "scanned": {"edges": mlp(3 * latent, lead=(steps,)), "nodes": mlp(2 * latent, lead=(steps,))}}

        def run(p, x):
            x = jax.nn.relu(x @ p["w0"] + p["b0"])
            x = jax.nn.relu(x @ p["w1"] + p["b1"])
            x = x @ p["w2"] + p["b2"]
            if "gain" not in p:
                return x
            x = x - x.mean(-1, keepdims=True)
            return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * p["gain"] + p["shift"]

        def loss_of(params, key, speed, kind_of_point, place, senders, receivers, then):
            p = cast(params, now)
            inside = (kind_of_point == 0)[:, None]
            noise = 0.02 * jax.random.normal(key, speed.shape, F32) * inside
            seen = speed.astype(F32) + noise
            x = run(p["nodes_in"], jnp.concatenate([seen, jax.nn.one_hot(kind_of_point, kinds)], -1).astype(now))
            way = place[senders].astype(F32) - place[receivers].astype(F32)
            far = jnp.sqrt(jnp.sum(way * way, -1, keepdims=True) + 1e-12)
            e = run(p["edges_in"], jnp.concatenate([way, far], -1).astype(now))

            def block(state, p):
                x, e = state
                e_new = run(p["edges"], jnp.concatenate([x[senders], x[receivers], e], -1))
                summed = jax.ops.segment_sum(e_new, receivers, x.shape[0])
                return (x + run(p["nodes"], jnp.concatenate([x, summed], -1)), e + e_new), None
            (x, _), _ = jax.lax.scan(maybe_checkpointed(change, block), (x, e), p["scanned"])
            told = run(p["out"], x).astype(F32)
            change_of_speed = then.astype(F32) - seen
            is_asked = ((kind_of_point == 0) | (kind_of_point == 5)).astype(F32)
            return (jnp.square(told - change_of_speed).sum(-1) * is_asked).sum() / is_asked.sum()
        ends = arrays.batch((size * edges,), jnp.int32)
        pairs = arrays.batch((size * points, speeds), F32)
        return trained(arrays, change, shapes, loss_of, optax.adam(warmed_up(1e-4)), arrays.array((2,), jnp.uint32),
                       pairs, arrays.batch((size * points,), jnp.int32), pairs, ends, ends, pairs)
    return make
