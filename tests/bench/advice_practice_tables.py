"""Tables of narrow rows, and features found in what another model computes: not a transformer among them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import F32


def deep_factors(rows, width, numbers, hidden, batch, kind=F32):
    """DeepFM: for each field a table of narrow rows and one of single weights, pairs by sums of squares; Adagrad."""
    def make(arrays, change):
        import optax
        fields, b, now = len(rows), batch // change.batch_divisor, computed(change, kind)
        sizes = [fields * width + numbers, *hidden]
        shapes = {"tables": shaped(**{f"field_{i}": (count, width) for i, count in enumerate(rows)}),
                  "weights": shaped(**{f"field_{i}": (count, 1) for i, count in enumerate(rows)}),
                  "numbers": shaped(w=(numbers, 1), b=(1,)), "last": shaped(w=(hidden[-1], 1)),
                  "deep": [shaped(w=pair, b=pair[1:]) for pair in zip(sizes, sizes[1:])]}

        def dense(p, x):
            return jax.nn.relu(x @ p["w"] + p["b"])

        def loss_fn(params, ids, given, clicked):
            small = as_kind({name: params[name] for name in ("numbers", "last", "deep")}, now)
            found = jnp.stack([params["tables"][f"field_{i}"][ids[:, i]] for i in range(fields)], 1).astype(now)
            single = sum(params["weights"][f"field_{i}"][ids[:, i], 0].astype(now) for i in range(fields))
            given = jnp.log1p(given.astype(now))
            linear = single + (given @ small["numbers"]["w"] + small["numbers"]["b"])[:, 0]
            pairs = 0.5 * (jnp.square(found.sum(1)) - jnp.square(found).sum(1)).sum(-1)
            x = jnp.concatenate([found.reshape(found.shape[0], -1), given], -1)
            for p in small["deep"]:
                x = maybe_checkpointed(change, dense)(p, x)
            logits = (linear + pairs + (x @ small["last"]["w"])[:, 0]).astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, clicked.astype(F32)).mean()
        return trained_in_parts(arrays, change, shapes, loss_fn, optax.adagrad(0.01),
                                arrays.batch((b, fields), jnp.int32), arrays.batch((b, numbers), F32),
                                arrays.batch((b,), F32))
    return make


def sparse_dictionary(width, features, batch, sparsity=1e-3, soft=1e-3, kind=F32):
    """A sparse autoencoder with jumping gates of what a language model computes; Adam; it knows what is long idle."""
    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)
        shapes = shaped(enc=(width, features), dec=(features, width), enc_b=(features,), dec_b=(width,),
                        log_threshold=(features,))
        params = as_kind(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(warmed_up(2e-4), b1=0.0))

        def coded(p, x):
            before = x @ p["enc"] + p["enc_b"]
            away = jax.nn.relu(before) - jnp.exp(p["log_threshold"])
            slope = jnp.clip(away / soft + 0.5, 0, 1)
            gate = slope + jax.lax.stop_gradient((away > 0).astype(slope.dtype) - slope)
            return gate * before, gate

        def autoencoder(p, x):
            codes, gate = coded(p, x - p["dec_b"])
            made = codes @ p["dec"] + p["dec_b"]
            return made, gate.astype(F32).sum(-1), (gate > 0).any(0)

        def loss_of(params, rows):
            x = rows.astype(now)
            x = x / jnp.sqrt(jnp.square(x).mean())
            made, active, fired = maybe_checkpointed(change, autoencoder)(as_kind(params, now), x)
            error = jnp.square((made - x).astype(F32)).sum(-1).mean()
            return error + sparsity * active.mean(), fired

        def train_step(params, state, idle, rows):
            (loss, fired), grads = jax.value_and_grad(loss_of, has_aux=True)(params, rows)
            updates, state = optimizer.update(grads, state, params)
            params = optax.apply_updates(params, updates)
            lengths = jnp.linalg.norm(params["dec"].astype(F32), axis=1, keepdims=True)
            params["dec"] = (params["dec"] / lengths).astype(params["dec"].dtype)
            return params, state, jnp.where(fired, 0, idle + b), loss
        state, idle = jax.eval_shape(optimizer.init, params), arrays.array((features,), jnp.int32)
        rows = arrays.batch((b, width), F32)
        return train_step, (placed(arrays, params), placed(arrays, state), idle, rows), (0, 1, 2)
    return make
