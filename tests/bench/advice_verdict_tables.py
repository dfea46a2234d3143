"""Masked clicks, parts of words, one graph whose labels are shown, molecules of angles, as other authors write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_verdict_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import matrices_only, trained, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_sequences import cast, kind_of


def affine(rows, columns):
    return {"w": (rows, columns), "b": (columns,)}


def apply(p, x):
    return x @ p["w"] + p["b"]


def scaled(x, p):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    made = wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)
    return made.astype(x.dtype) * p["gain"] + p["shift"]


def scale_of(width):
    return {"gain": (width,), "shift": (width,)}


# --- Clicks ---

def masked_clicks(rows_of, width, numbers, blocks, narrow, made, hidden, batch, kind=F32):
    """MaskNet with blocks side by side: what all fields say together makes a mask over them, once for each block."""
    fields = len(rows_of) + numbers

    def make(arrays, change):
        import optax
        now, size, joined = kind_of(change, kind), batch // change.batch_divisor, fields * width
        shapes = {"tables": shaped(**{f"field_{i:02d}": (rows, width) for i, rows in enumerate(rows_of)}),
                  "numbers": shaped(slope=(numbers, width), shift=(numbers, width)),
                  "fields": shaped(gain=(fields, width), shift=(fields, width)), "deep": [],
                  "blocks": [shaped(first=affine(joined, narrow), second=affine(narrow, joined),
                                    over=affine(joined, made), norm=scale_of(made)) for _ in range(blocks)]}
        for before, after in zip((blocks * made, *hidden), (*hidden, 1)):
            shapes["deep"].append(shaped(**affine(before, after)))

        def block(p, told, held):
            mask = apply(p["second"], jax.nn.relu(apply(p["first"], told)))
            return jax.nn.relu(scaled(apply(p["over"], mask * held), p["norm"]))

        def loss_of(params, ids, given, clicked):
            rows = [params["tables"][f"field_{i:02d}"][ids[:, i]].astype(now) for i in range(len(rows_of))]
            p = cast({name: params[name] for name in ("numbers", "fields", "blocks", "deep")}, now)
            given = jnp.log1p(jnp.maximum(given.astype(now), 0))[:, :, None]
            counted = given * p["numbers"]["slope"] + p["numbers"]["shift"]
            told = jnp.concatenate([jnp.stack(rows, 1), counted], 1)
            held = scaled(told, p["fields"]).reshape(told.shape[0], -1)
            told = told.reshape(held.shape)
            x = jnp.concatenate([maybe_checkpointed(change, block)(one, told, held) for one in p["blocks"]], -1)
            for one in p["deep"][:-1]:
                x = jax.nn.relu(apply(one, x))
            logit = apply(p["deep"][-1], x)[:, 0].astype(F32)
            return optax.sigmoid_binary_cross_entropy(logit, clicked.astype(F32)).mean()
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adam(1e-3),
                                arrays.batch((size, len(rows_of)), jnp.int32), arrays.batch((size, numbers), F32),
                                arrays.batch((size,), F32))
    return make


# --- Words by their parts ---

def parts_of_words(words, buckets, width, parts, wrong, batch, kind=BF16):
    """fastText: a word is the mean of its own row and those its letters hash to, and is told from words drawn by
    chance beside what stands near it; rows are cast after they are read. SGD, whose rate falls in a line."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        shapes = shaped(read={"table": (words + buckets, width)}, told={"table": (words, width)})

        def centre(table, ids):
            rows, there = table[ids].astype(now), (ids > 0).astype(now)[..., None]
            return (rows * there).sum(1) / jnp.maximum(there.sum(1), 1)

        def loss_of(params, ids, near, drawn):
            x = maybe_checkpointed(change, centre)(params["read"]["table"], ids)
            told = params["told"]["table"]
            right = jnp.sum(x * told[near].astype(now), -1).astype(F32)
            others = jnp.einsum("bd,bnd->bn", x, told[drawn].astype(now)).astype(F32)
            others = jnp.where(drawn == near[:, None], -1e9, others)
            return (jax.nn.softplus(-right) + jax.nn.softplus(others).sum(-1)).mean()
        optimizer = optax.sgd(optax.linear_schedule(0.05, 0.0, 2000000))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((size, parts), jnp.int32), arrays.batch((size,), jnp.int32),
                                arrays.batch((size, wrong), jnp.int32))
    return make


# --- One graph of papers ---

def shown_labels(layers, papers, links, known, kinds_of_link, heads, side, classes, kind=F32):
    """UniMP: some labels are shown and others asked for; papers look along links, whose own features are added to
    keys and values; a gate says how much of a paper stays as it is."""
    width = heads * side

    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        one = {"query": affine(width, width), "key": affine(width, width), "value": affine(width, width),
               "link": {"w": (kinds_of_link, width)}, "stay": affine(width, width), "gate": {"w": (3 * width, 1)},
               "norm": scale_of(width)}
        shapes = {"enter": shaped(**affine(known, width)), "labels": shaped(table=(classes, width)),
                  "layers": [shaped(**one) for _ in range(layers)], "leave": shaped(**affine(width, classes))}

        def layer(p, x, links, senders, receivers):
            brought = links @ p["link"]["w"]
            query = apply(p["query"], x)[receivers]
            key = apply(p["key"], x)[senders] + brought
            score = (query * key).reshape(-1, heads, side).sum(-1).astype(F32) * side ** -0.5
            top = jax.lax.stop_gradient(jax.ops.segment_max(score, receivers, papers))
            weight = jnp.exp(score - top[receivers])
            weight = weight / (jax.ops.segment_sum(weight, receivers, papers)[receivers] + 1e-9)
            value = apply(p["value"], x)[senders] + brought
            sent = value * jnp.repeat(weight.astype(now), side, -1)
            mixed, stays = jax.ops.segment_sum(sent, receivers, papers), apply(p["stay"], x)
            gate = jax.nn.sigmoid(jnp.concatenate([mixed, stays, mixed - stays], -1) @ p["gate"]["w"])
            return jax.nn.relu(scaled(gate * stays + (1 - gate) * mixed, p["norm"]))

        def loss_of(params, known, links, senders, receivers, labels, is_shown, is_asked):
            p = cast(params, now)
            x = apply(p["enter"], known.astype(now))
            x = x + p["labels"]["table"][labels] * is_shown.astype(now)[:, None]
            for one in p["layers"]:
                x = maybe_checkpointed(change, layer)(one, x, links.astype(now), senders, receivers)
            return word_loss(apply(p["leave"], x), labels, is_asked.astype(F32))
        ends, each = arrays.batch((links,), jnp.int32), arrays.batch((papers,), F32)
        optimizer = optax.adamw(1e-3, weight_decay=5e-4, mask=matrices_only)
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch((papers, known), F32),
                       arrays.batch((links, kinds_of_link), F32), ends, ends, arrays.batch((papers,), jnp.int32), each,
                       each)
    return make


# --- Joined molecules, by angles ---

def angled_molecules(blocks, width, narrow, wide, radial, circles, elements, atoms, pairs, triples, batch, reach=5.0,
                     kind=F32):
    """DimeNet++: what goes from one atom to another is told by what comes to it, at which distance and angle; the
    molecules of a batch are joined; energies are sums over atoms."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        one = {"own": affine(width, width), "others": affine(width, width), "down": {"w": (width, narrow)},
               "up": {"w": (narrow, width)}, "far": {"w": (radial, 8), "again": (8, width)},
               "angle": {"w": (radial * circles, 8), "again": (8, narrow)},
               "after": {"first": affine(width, width), "second": affine(width, width), "third": affine(width, width)}}
        told = {"far": {"w": (radial, width)}, "up": {"w": (width, wide)}, "first": affine(wide, wide),
                "second": affine(wide, wide), "energy": {"w": (wide, 1)}}
        shapes = {"elements": shaped(table=(elements, width)), "far": shaped(**affine(radial, width)),
                  "enter": shaped(**affine(3 * width, width)), "blocks": [shaped(**one) for _ in range(blocks)],
                  "told": [shaped(**told) for _ in range(blocks + 1)]}

        def waves(far):
            x = far[:, None] / reach
            fade = 1 / x - 28 * x ** 5 + 48 * x ** 6 - 21 * x ** 7
            return jnp.where(x < 1, fade, 0) * jnp.sin(jnp.arange(1, radial + 1) * jnp.pi * x)

        def block(p, sent, near, angles, into, out_of):
            far = near @ p["far"]["w"] @ p["far"]["again"]
            others = jax.nn.silu(apply(p["others"], sent)) * far
            others = jax.nn.silu(others @ p["down"]["w"])
            turned = angles @ p["angle"]["w"] @ p["angle"]["again"]
            others = jax.ops.segment_sum(others[into] * turned, out_of, sent.shape[0])
            h = jax.nn.silu(apply(p["own"], sent)) + jax.nn.silu(others @ p["up"]["w"])
            for name in ("first", "second", "third"):
                h = h + jax.nn.silu(apply(p["after"][name], h))
            return sent + h

        def said(p, sent, near, receivers, count):
            x = jax.ops.segment_sum(sent * (near @ p["far"]["w"]), receivers, count) @ p["up"]["w"]
            x = jax.nn.silu(apply(p["second"], jax.nn.silu(apply(p["first"], x))))
            return (x @ p["energy"]["w"])[:, 0].astype(F32)

        def loss_of(params, kinds, places, senders, receivers, into, out_of, molecule, energies):
            p, places = cast(params, now), places.astype(F32)
            way = places[receivers] - places[senders]
            far = jnp.sqrt(jnp.sum(way * way, -1) + 1e-8)
            near = waves(far).astype(now)
            cosine = -jnp.sum(way[into] * way[out_of], -1) / (far[into] * far[out_of])
            turns = jnp.cos(jnp.arange(circles) * jnp.arccos(jnp.clip(cosine, -0.999, 0.999))[:, None]).astype(now)
            angles = (near[into][:, :, None] * turns[:, None]).reshape(-1, radial * circles)
            atom = p["elements"]["table"][kinds]
            sent = jnp.concatenate([atom[senders], atom[receivers], jax.nn.silu(apply(p["far"], near))], -1)
            sent = jax.nn.silu(apply(p["enter"], sent))
            total = said(p["told"][0], sent, near, receivers, kinds.shape[0])
            for one, told in zip(p["blocks"], p["told"][1:]):
                sent = maybe_checkpointed(change, block)(one, sent, near, angles, into, out_of)
                total = total + said(told, sent, near, receivers, kinds.shape[0])
            return jnp.abs(jax.ops.segment_sum(total, molecule, size) - energies.astype(F32)).mean()
        each, ends = (arrays.batch((size * count,), jnp.int32) for count in (atoms, pairs))
        threes = arrays.batch((size * triples,), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.amsgrad(warmed_up(1e-3)))
        return trained(arrays, change, shapes, loss_of, optimizer, each, arrays.batch((size * atoms, 3), F32), ends,
                       ends, threes, threes, each, arrays.batch((size,), F32))
    return make
