"""Recommendations whose tables of embeddings are most of their memory: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_exam_libraries import as_kind, computed, trained, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import F32


# --- Visits ranked by DLRM ---

def layers_of(sizes):
    return [{"w": (before, after), "b": (after,)} for before, after in zip(sizes, sizes[1:])]


def all_shaped(layers):
    return [shaped(**layer) for layer in layers]


def ranked_visits(rows, width, numbers, bottom, top, batch, kind=F32):
    """DLRM in plain functions: one id a table, products of all pairs of features, a small network above; Adagrad."""
    def make(arrays, change):
        import optax
        size, features = batch // change.batch_divisor, len(rows) + 1
        pairs = features * (features - 1) // 2
        shapes = {"emb": [jax.ShapeDtypeStruct((count, width), F32) for count in rows],
                  "bot": all_shaped(layers_of((numbers, *bottom, width))),
                  "top": all_shaped(layers_of((width + pairs, *top, 1)))}

        def dense(p, x):
            return jax.nn.relu(x @ p["w"] + p["b"])

        def interact(x, looked):
            stacked = jnp.stack([x, *looked], 1)
            products = jnp.einsum("bid,bjd->bij", stacked, stacked)
            left, right = np.triu_indices(features, 1)
            return jnp.concatenate([x, products[:, left, right]], -1)

        def loss_of(params, dense_in, ids, clicked):
            now = computed(change, kind)
            bot, top_p = as_kind((params["bot"], params["top"]), now)
            x = jnp.log1p(jnp.maximum(dense_in.astype(now), 0))
            for p in bot:
                x = maybe_checkpointed(change, dense)(p, x)
            looked = [jnp.take(table, ids[:, i], axis=0).astype(now) for i, table in enumerate(params["emb"])]
            x = maybe_checkpointed(change, interact)(x, looked)
            for p in top_p[:-1]:
                x = maybe_checkpointed(change, dense)(p, x)
            logits = (x @ top_p[-1]["w"] + top_p[-1]["b"])[:, 0].astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, clicked.astype(F32)).mean()
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adagrad(0.015),
                                arrays.batch((size, numbers), F32), arrays.batch((size, len(rows)), jnp.int32),
                                arrays.batch((size,), F32))
    return make


# --- Queries and goods in two towers ---

def asked_and_sold(users, words, goods, sorts, width, bag, past, hidden, out, batch, kind=F32):
    """Two towers in haiku: who asks, in which words, after which goods; each other query's good is a wrong one."""
    def make(arrays, change):
        import haiku as hk
        import optax
        size = batch // change.batch_divisor

        def tower(x, name):
            def block(x):
                h = jax.nn.gelu(hk.Linear(hidden)(x))
                return hk.LayerNorm(-1, True, True)(x + hk.Linear(x.shape[-1])(h))
            x = hk.Linear(hidden // 2, name=f"{name}_in")(x)
            for _ in range(2):
                x = (hk.remat(block) if change.rematerialize else block)(x)
            x = hk.Linear(out, name=f"{name}_out")(x)
            return x * jax.lax.rsqrt(jnp.sum(jnp.square(x), -1, keepdims=True) + 1e-6)

        def forward(user, asked, bought, good, sort):
            item = hk.Embed(goods, width, name="goods")
            asked_now = hk.Embed(words, width, name="words")(asked)
            kept = (asked > 0).astype(asked_now.dtype)[..., None]
            asked_mean = (asked_now * kept).sum(1) / jnp.maximum(kept.sum(1), 1)
            history = item(bought)
            scores = jnp.einsum("bpw,bw->bp", history, hk.Linear(width, name="look")(asked_mean)) * width ** -0.5
            seen = jnp.einsum("bp,bpw->bw", jax.nn.softmax(scores), history)
            query = tower(jnp.concatenate([hk.Embed(users, width, name="users")(user), asked_mean, seen], -1), "query")
            both = jnp.concatenate([item(good), hk.Embed(sorts, width, name="sorts")(sort)], -1)
            return query, tower(both, "good")

        net = hk.without_apply_rng(hk.transform(forward))
        single, several, before = ((size,), (size, bag), (size, past))
        rows = [arrays.batch(shape, jnp.int32) for shape in (single, several, before, single, single)]
        shapes = jax.eval_shape(net.init, jax.random.key(0), *rows)
        shapes = as_kind(shapes, F32)

        def loss_of(params, often, *rows):
            query, good = net.apply(as_kind(params, computed(change, kind)), *rows)
            logits = jnp.einsum("qo,go->qg", query, good).astype(F32) / 0.05 - often.astype(F32)
            return optax.softmax_cross_entropy_with_integer_labels(logits, jnp.arange(size)).mean()
        optimizer = optax.adam(warmed_up(1e-3))
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch(single, F32), *rows)
    return make
