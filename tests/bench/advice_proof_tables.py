"""Clicks, what people look at next, proteins that are linked, and joined molecules, as other authors write them.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import matrices_only, trained, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_sequences import cast, kind_of


def dense(rows, columns):
    return {"w": (rows, columns), "b": (columns,)}


def through(p, x):
    return x @ p["w"] + p["b"]


# --- Clicks ---

def fields_that_look(rows_of, width, numbers, layers, heads, side, hidden, batch, kind=F32):
    """AutoInt+: fields, numbers among them, are tokens that look at each other; a dense network beside; Adam."""
    inner, fields = heads * side, len(rows_of) + numbers

    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        shapes = {"embed": shaped(**{f"c{i:02d}": (rows, width) for i, rows in enumerate(rows_of)}),
                  "numeric": shaped(vectors=(numbers, width)), "looks": [], "deep": []}
        for i in range(layers):
            before = inner if i else width
            shapes["looks"].append(shaped(**{name: (before, inner) for name in ("query", "key", "value", "skip")}))
        for before, after in zip((fields * width, *hidden), hidden):
            shapes["deep"].append(shaped(**dense(before, after)))
        shapes["logit"] = shaped(looks=(fields * inner, 1), deep=(hidden[-1], 1), bias=(1,))

        def look(p, x):
            query, key, value = ((x @ p[name]).reshape(*x.shape[:2], heads, side) for name in ("query", "key", "value"))
            weights = jax.nn.softmax(jnp.einsum("bfhd,bghd->bhfg", query, key), -1)
            mixed = jnp.einsum("bhfg,bghd->bfhd", weights, value).reshape(*x.shape[:2], inner)
            return jax.nn.relu(mixed + x @ p["skip"])

        def loss_of(params, ids, told, clicked):
            rows = jnp.stack([params["embed"][f"c{i:02d}"][ids[:, i]] for i in range(len(rows_of))], 1)
            p = cast({name: params[name] for name in ("numeric", "looks", "deep", "logit")}, now)
            counted = jnp.log1p(jax.nn.relu(told.astype(now)))[:, :, None] * p["numeric"]["vectors"]
            tokens = jnp.concatenate([rows.astype(now), counted], 1)
            x, y = tokens, tokens.reshape(tokens.shape[0], -1)
            for one in p["looks"]:
                x = maybe_checkpointed(change, look)(one, x)
            for one in p["deep"]:
                y = maybe_checkpointed(change, lambda q, y: jax.nn.relu(through(q, y)))(one, y)
            logit = x.reshape(x.shape[0], -1) @ p["logit"]["looks"] + y @ p["logit"]["deep"] + p["logit"]["bias"]
            return optax.sigmoid_binary_cross_entropy(logit[:, 0].astype(F32), clicked.astype(F32)).mean()
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adam(1e-3),
                                arrays.batch((size, len(rows_of)), jnp.int32), arrays.batch((size, numbers), F32),
                                arrays.batch((size,), F32))
    return make


# --- What is looked at next ---

def several_interests(goods, users, shops, width, interests, turns, batch, length, others, kind=BF16):
    """MIND: capsules find a few interests in what a user did; the one that fits best is held against sampled goods.

    Rows are read from float32 tables and cast after it; Adagrad for tables, Adam above.
    """
    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        size, time = batch // change.batch_divisor, length // change.length_divisor
        shapes = {"tables": shaped(goods=(goods, width), users=(users, width), shops=(shops, width)),
                  "net": shaped(bilinear=(width, width), up=dense(2 * width, 4 * width), down=dense(4 * width, width))}

        def squash(x):
            square = jnp.sum(jnp.square(x.astype(F32)), -1, keepdims=True)
            return (square / (1 + square) * jax.lax.rsqrt(square + 1e-9)).astype(x.dtype) * x

        def routed(bilinear, seen, is_there):
            """[batch, time, width] -> [batch, interests, width]."""
            sent = seen @ bilinear
            held = jax.lax.stop_gradient(sent)
            start = jax.random.normal(jax.random.key(7), (1, interests, time), F32)
            logits = jnp.broadcast_to(start, (sent.shape[0], interests, time))
            for turn in range(turns):
                read = sent if turn + 1 == turns else held
                weights = jnp.where(is_there[:, None], jax.nn.softmax(logits, 1), 0).astype(now)
                capsules = squash(jnp.einsum("bkt,btd->bkd", weights, read))
                logits = logits + jnp.einsum("bkd,btd->bkt", capsules, held).astype(F32)
            return capsules

        def loss_of(params, did, at, user, target, sampled):
            tables, p = params["tables"], cast(params["net"], now)
            seen = tables["goods"][did].astype(now) + tables["shops"][at].astype(now)
            capsules = maybe_checkpointed(change, routed)(p["bilinear"], seen, did > 0)
            who = jnp.broadcast_to(tables["users"][user].astype(now)[:, None], capsules.shape)
            joined = jnp.concatenate([capsules, who], -1)
            made = through(p["down"], jax.nn.relu(through(p["up"], joined)))
            right = tables["goods"][target].astype(now)
            fit = jnp.einsum("bkd,bd->bk", made, right).astype(F32)
            one = jnp.einsum("bk,bkd->bd", jax.nn.softmax(2.0 * fit, -1).astype(now), made)
            wrong = tables["goods"][sampled].astype(now)
            score = jnp.sum(one * right, -1, keepdims=True).astype(F32)
            against = jnp.where(target[:, None] == sampled, -1e9, (one @ wrong.T).astype(F32))
            return word_loss(jnp.concatenate([score, against], -1), jnp.zeros(target.shape, jnp.int32))
        optimizer = optax.multi_transform({"tables": optax.adagrad(0.05), "net": optax.adam(1e-3)},
                                          {"tables": "tables", "net": "net"})
        rows = arrays.batch((size, time), jnp.int32)
        one_each = arrays.batch((size,), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optimizer, rows, rows, one_each, one_each,
                       arrays.array((others,), jnp.int32))
    return make


# --- One graph of proteins ---

def linked_proteins(layers, proteins, links, channels, width, tasks, kind=F32):
    """DeeperGCN: a softmax of learnt heat over what a link brings, norm before it, a sum around; layers in a scan."""
    def make(arrays, change):
        import optax
        now = kind_of(change, kind)

        def stack(**sizes):
            return shaped(**{name: (layers, *size) for name, size in sizes.items()})
        shapes = {"enter": shaped(**dense(channels, width)), "leave": shaped(**dense(width, tasks)),
                  "last": shaped(gain=(width,), shift=(width,)),
                  "scanned": stack(link=(channels, width), link_bias=(width,), heat=(), gain=(width,), shift=(width,),
                                   up=(width, 2 * width), up_bias=(2 * width,), up_gain=(2 * width,),
                                   down=(2 * width, width), down_bias=(width,))}

        def norm(x, gain, shift=0):
            wide = x.astype(F32)
            wide = wide - wide.mean(-1, keepdims=True)
            return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)).astype(now) * gain + shift

        def loss_of(params, known, strengths, senders, receivers, labels, is_known):
            p, strengths = cast(params, now), strengths.astype(now)

            def layer(x, p):
                h = jax.nn.relu(norm(x, p["gain"], p["shift"]))
                message = jax.nn.relu(h[senders] + strengths @ p["link"] + p["link_bias"]) + 1e-7
                score = message * p["heat"]
                top = jax.lax.stop_gradient(jax.ops.segment_max(score, receivers, proteins))
                weight = jnp.exp(score - top[receivers])
                total = jax.ops.segment_sum(weight, receivers, proteins)
                mixed = jax.ops.segment_sum(message * weight, receivers, proteins) / (total + 1e-7)
                h = jax.nn.relu(norm((h + mixed) @ p["up"] + p["up_bias"], p["up_gain"]))
                return x + h @ p["down"] + p["down_bias"], None
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), through(p["enter"], known.astype(now)), p["scanned"])
            logits = through(p["leave"], jax.nn.relu(norm(x, p["last"]["gain"], p["last"]["shift"]))).astype(F32)
            losses = optax.sigmoid_binary_cross_entropy(logits, labels.astype(F32)).mean(-1) * is_known.astype(F32)
            return losses.sum() / is_known.astype(F32).sum()
        ends = arrays.batch((links,), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optax.adam(1e-3), arrays.batch((proteins, channels), F32),
                       arrays.batch((links, channels), F32), ends, ends, arrays.batch((proteins, tasks), jnp.int32),
                       arrays.batch((proteins,), F32))
    return make


# --- Joined molecules ---

def turned_molecules(rounds, width, waves, elements, atoms, pairs, batch, reach=5.0, kind=F32):
    """PaiNN: each atom has numbers and arrows, pairs within reach move both; energies of molecules, summed by atoms."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        one = {"first": dense(width, width), "second": dense(width, 3 * width), "filter": dense(waves, 3 * width),
               "across": {"u": (width, width), "v": (width, width)}, "mix": dense(2 * width, width),
               "mixed": dense(width, 3 * width)}
        shapes = {"elements": shaped(table=(elements, width)), "rounds": [shaped(**one) for _ in range(rounds)],
                  "energy": shaped(first=dense(width, width // 2), second=dense(width // 2, 1))}

        def message(p, numbers, arrows, near, way, senders, receivers):
            told = through(p["second"], jax.nn.silu(through(p["first"], numbers)))
            sent = told[senders] * through(p["filter"], near)
            of_numbers, of_arrows, of_ways = jnp.split(sent, 3, -1)
            moved = arrows[senders] * of_arrows[:, None] + way[:, :, None] * of_ways[:, None]
            return (numbers + jax.ops.segment_sum(of_numbers, receivers, numbers.shape[0]),
                    arrows + jax.ops.segment_sum(moved, receivers, numbers.shape[0]))

        def update(p, numbers, arrows):
            u, v = arrows @ p["across"]["u"], arrows @ p["across"]["v"]
            size_of_v = jnp.sqrt(jnp.sum(v * v, 1) + 1e-8)
            h = jax.nn.silu(through(p["mix"], jnp.concatenate([numbers, size_of_v], -1)))
            a_arrows, a_both, a_numbers = jnp.split(through(p["mixed"], h), 3, -1)
            return numbers + a_numbers + a_both * jnp.sum(u * v, 1), arrows + u * a_arrows[:, None]

        def loss_of(params, kinds, places, senders, receivers, molecule, energies):
            p, places = cast(params, now), places.astype(F32)
            way = places[receivers] - places[senders]
            far = jnp.sqrt(jnp.sum(way * way, -1, keepdims=True) + 1e-8)
            fade = jnp.where(far < reach, 0.5 * (jnp.cos(jnp.pi * far / reach) + 1), 0)
            near = (jnp.sin(jnp.arange(1, waves + 1) * jnp.pi * far / reach) / far * fade).astype(now)
            way = (way / far).astype(now)
            numbers = p["elements"]["table"][kinds]
            arrows = jnp.zeros((numbers.shape[0], 3, width), now)

            def one_round(p, numbers, arrows):
                return update(p, *message(p, numbers, arrows, near, way, senders, receivers))
            for one in p["rounds"]:
                numbers, arrows = maybe_checkpointed(change, one_round)(one, numbers, arrows)
            share = through(p["energy"]["second"], jax.nn.silu(through(p["energy"]["first"], numbers)))[:, 0]
            told = jax.ops.segment_sum(share.astype(F32), molecule, size)
            return jnp.abs(told - energies.astype(F32)).mean()
        ends = arrays.batch((size * pairs,), jnp.int32)
        each = arrays.batch((size * atoms,), jnp.int32)
        optimizer = optax.adamw(warmed_up(5e-4), weight_decay=0.01, mask=matrices_only)
        return trained(arrays, change, shapes, loss_of, optimizer, each, arrays.batch((size * atoms, 3), F32), ends,
                       ends, each, arrays.batch((size,), F32))
    return make
