"""Neural collaborative filtering (NeuMF) as MLPerf trained it: MovieLens-20M expanded by 16 x 32, 2.2M users.

Equinox: two tables of users and two of items (GMF of 64, MLP of 128), three dense layers, one logit; 2^20 pairs a step,
positives and sampled negatives. Float32 throughout, Adam over whole tables (dense gradients); nothing is donated.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import checkpointed, computing, laid_out, summed_slopes, updated
from advice_board_training import F32, cast

USERS, ITEMS = 2_197_232, 855_776  # users are padded to a multiple of 8
FACTORS, WIDTHS = 64, (256, 256, 128, 64)


def table(rows, width, key):
    return eqx.nn.Embedding(weight=0.01 * jax.random.normal(key, (rows, width)))


class GMF(eqx.Module):
    users: eqx.nn.Embedding
    items: eqx.nn.Embedding

    def __init__(self, key):
        one, two = jax.random.split(key)
        self.users, self.items = table(USERS, FACTORS, one), table(ITEMS, FACTORS, two)

    def __call__(self, user, item, dtype):
        return self.users(user).astype(dtype) * self.items(item).astype(dtype)


class Tower(eqx.Module):
    users: eqx.nn.Embedding
    items: eqx.nn.Embedding
    layers: list

    def __init__(self, key):
        one, two, *keys = jax.random.split(key, 1 + len(WIDTHS))
        self.users, self.items = table(USERS, WIDTHS[0] // 2, one), table(ITEMS, WIDTHS[0] // 2, two)
        self.layers = [eqx.nn.Linear(a, b, key=k) for a, b, k in zip(WIDTHS, WIDTHS[1:], keys)]

    def __call__(self, user, item, dtype):
        x = jnp.concatenate([self.users(user), self.items(item)]).astype(dtype)
        for layer in cast(self.layers, dtype):
            x = jax.nn.relu(layer(x))
        return x


class NeuMF(eqx.Module):
    gmf: GMF
    mlp: Tower
    out: eqx.nn.Linear

    def __init__(self, key):
        a, b, c = jax.random.split(key, 3)
        self.gmf, self.mlp, self.out = GMF(a), Tower(b), eqx.nn.Linear(FACTORS + WIDTHS[-1], 1, key=c)

    def __call__(self, users, items, dtype, change):
        """[pairs], [pairs] -> logits of [pairs]."""
        def over_pairs(part, users, items):
            return jax.vmap(lambda user, item: part(user, item, dtype))(users, items)
        run = checkpointed(change, over_pairs)
        x = jnp.concatenate([run(self.gmf, users, items), run(self.mlp, users, items)], -1)
        return jax.vmap(cast(self.out, dtype))(x)[:, 0]


def trainer(batch, rate=2e-3):
    def make(arrays, change):
        pairs, now = batch // change.batch_divisor, computing(change, F32)
        model = eqx.filter_eval_shape(NeuMF, jax.random.key(0))
        shapes, static = eqx.partition(model, lambda leaf: hasattr(leaf, "dtype"))
        params = cast(shapes, change.stored)
        optimizer = optax.adam(rate, b1=0.9, b2=0.999, eps=1e-8)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, users, items, labels):
            model = eqx.combine(params, static)
            logits = model(users, items, now, change).astype(F32)
            losses = optax.sigmoid_binary_cross_entropy(logits, labels.astype(F32))
            right = (logits > 0) == (labels > 0)
            return losses.mean(), {"accuracy": right.mean(), "mean_logit": logits.mean()}

        def train_step(params, opt_state, users, items, labels):
            loss, aux, grads = summed_slopes(loss_fn, change.parts)(params, None, users, items, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, aux)}

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state),
                            arrays.batch((pairs,), jnp.int32), arrays.batch((pairs,), jnp.int32),
                            arrays.batch((pairs,), jnp.int8)), (0, 1)
    return make


FAMILY = {"crown_ncf": dict(
    make=trainer(batch=1_048_576), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
