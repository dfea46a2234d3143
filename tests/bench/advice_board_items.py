"""Large tables: DLRM on Criteo with row-wise Adagrad, and GRU4Rec in flax with a sampled softmax over OTTO's items.

Each maker has its sizes as arguments and gives make(arrays, change), which gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_board_blocks import F32, cast, checkpointed, compute_type, mean_gradients, optimized

# Criteo's display advertising challenge: values of the 26 columns.
KAGGLE = (1460, 583, 10131227, 2202608, 305, 24, 12517, 633, 3, 93145, 5683, 8351593, 3194, 27, 14992, 5461306, 10,
          5652, 2173, 4, 7046547, 18, 15, 286181, 105, 142572)


# --- DLRM: one table for all columns ---

def column_offsets(counts, most):
    """Where each column starts in the table, as values beyond `most` are hashed, and how many rows there are."""
    offsets, total = [], 0
    for count in counts:
        offsets.append(total)
        total += min(count, most)
    return jnp.array(offsets, jnp.int32), -(-total // 8) * 8


def click_loss(logits, clicked):
    return jnp.mean(jnp.maximum(logits, 0) - logits * clicked + jnp.log1p(jnp.exp(-jnp.abs(logits))))


def adagrad(params, sums, grads, rate, eps=1e-8):
    """A row of the table has one sum, the mean of its squares; other arrays have one for each number."""
    def added(total, grad):
        square = jnp.square(grad)
        return total + (square if total.shape == grad.shape else square.mean(-1))

    def moved(param, total, grad):
        spread = jnp.sqrt(total) + eps
        return param - rate * grad / (spread if total.shape == grad.shape else spread[:, None])
    sums = jax.tree.map(added, sums, grads)
    return jax.tree.map(moved, params, sums, grads), sums


def dlrm(counts, most, width, dense_count, bottom, top, batch, usual=F32):
    """A dense part, a row of each column, all their products, and a part above them."""
    def layers_of(arrays, sizes):
        def matrix(rows, columns):
            return arrays.parameter((rows, columns), 1 if columns > 1 else None)
        return [{"w": matrix(i, o), "b": arrays.parameter((o,), None)} for i, o in zip(sizes, sizes[1:])]

    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_type(change, usual)
        offsets, total = column_offsets(counts, most)
        features = len(counts) + 1
        pairs = jnp.tril_indices(features, -1)
        params = {"table": arrays.parameter((total, width)),
                  "bottom": layers_of(arrays, (dense_count, *bottom, width)),
                  "top": layers_of(arrays, (width + features * (features - 1) // 2, *top, 1))}
        sums = params | {"table": arrays.array((total,), change.stored, 0)}

        def mlp(layers, x, is_last_plain):
            for i, p in enumerate(layers):
                p = cast(p, now)
                x = x @ p["w"] + p["b"]
                x = x if is_last_plain and i == len(layers) - 1 else jax.nn.relu(x)
            return x

        def interact(dense, found):
            both = jnp.concatenate([dense[:, None], found], axis=1)
            products = jnp.einsum("bfd,bgd->bfg", both, both)
            return jnp.concatenate([dense, products[:, pairs[0], pairs[1]]], axis=1)
        below = checkpointed(change, lambda layers, x: mlp(layers, x, False))
        above = checkpointed(change, lambda layers, x: mlp(layers, x, True))
        between = checkpointed(change, interact)

        def loss_of(params, dense, ids, clicked):
            found = params["table"][ids % most + offsets].astype(now)
            x = below(params["bottom"], jnp.log1p(dense.astype(now)))
            logits = above(params["top"], between(x, found))[:, 0]
            return click_loss(logits.astype(F32), clicked.astype(F32))

        def train_step(params, sums, dense, ids, clicked):
            loss, grads = mean_gradients(loss_of, change.parts)(params, dense, ids, clicked)
            params, sums = adagrad(params, sums, grads, 0.01)
            return params, sums, loss
        arguments = (params, sums, arrays.batch((rows, dense_count), F32),
                     arrays.batch((rows, len(counts)), jnp.int32), arrays.batch((rows,), jnp.int32))
        return train_step, arguments, (0, 1)
    return make


# --- GRU4Rec: sessions, the next item of each place ---

def session_module(items, width, hidden, layers, now, change):
    from flax import linen as nn

    class GRULayer(nn.Module):
        @nn.compact
        def __call__(self, x):
            start = jnp.zeros((x.shape[0], hidden), now)
            return nn.RNN(nn.GRUCell(hidden, dtype=now), name="rnn")(x, initial_carry=start)
    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    Layer = nn.remat(GRULayer, policy=policy) if change.rematerialize else GRULayer

    class Sessions(nn.Module):
        def setup(self):
            self.item_embedding = self.param("item_embedding", nn.initializers.normal(0.05), (items, width))
            self.item_bias = self.param("item_bias", nn.initializers.zeros, (items,))
            self.grus = [Layer(name=f"gru_{i}") for i in range(layers)]
            self.to_items = nn.Dense(width, dtype=now)

        def look_up(self, ids):
            return jnp.take(self.item_embedding, ids, axis=0).astype(now), jnp.take(self.item_bias, ids).astype(now)

        def __call__(self, ids, targets, drawn):
            x = self.look_up(ids)[0]
            for gru in self.grus:
                x = gru(x)
            x = self.to_items(x)
            (good, good_bias), (bad, bad_bias) = self.look_up(targets), self.look_up(drawn)
            return jnp.einsum("btd,btd->bt", x, good) + good_bias, jnp.einsum("btd,nd->btn", x, bad) + bad_bias
    return Sessions()


def log_expected(ids, items, count):
    """Of ids that were drawn log-uniformly, as they are in the order of how often they occur."""
    chance = jnp.log1p(1 / (ids.astype(F32) + 1)) / jnp.log(items + 1.0)
    return jnp.log(count * chance)


def session_items(items, width, hidden, layers, negatives, batch, length, usual=F32):
    """All places of a step share the items that were drawn; what is drawn by chance as the target is left out."""
    def make(arrays, change):
        import optax
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        now = compute_type(change, usual)
        model = session_module(items, width, hidden, layers, now, change)
        ids, drawn = arrays.batch((rows, time), jnp.int32), arrays.array((negatives,), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), ids, ids, drawn)["params"]

        def loss_of(params, drawn, ids, targets):
            good, bad = model.apply({"params": params}, ids, targets, drawn)
            good = good.astype(F32) - log_expected(targets, items, negatives)
            bad = bad.astype(F32) - log_expected(drawn, items, negatives)
            bad = jnp.where(targets[..., None] == drawn, -1e9, bad)
            losses = jnp.logaddexp(good, jax.nn.logsumexp(bad, axis=-1)) - good
            counted = (targets > 0).astype(F32)
            return (losses * counted).sum() / jnp.maximum(counted.sum(), 1.0)
        return optimized(arrays, change, shapes, optax.adam(1e-3), loss_of, (ids, ids), (drawn,))
    return make
