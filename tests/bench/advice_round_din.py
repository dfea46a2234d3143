"""Deep Interest Network guesses clicks on Taobao: what a user saw before counts by how near it is to the ad.

In flax linen: tables of users, goods and categories (at the sizes of the public Taobao set), an activation unit over
each pair of past good and candidate, no softmax over them, then a small network with Dice. Adagrad over everything,
tables included, with dense gradients. All in float32.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype


def table(rows, dim, dtype, name):
    return nn.Embed(rows, dim, dtype=dtype, embedding_init=nn.initializers.normal(1e-2), name=name)


class Dice(nn.Module):
    """A PReLU whose bend lies where the batch has its mean."""
    dtype: object

    @nn.compact
    def __call__(self, x):
        alpha = self.param("alpha", nn.initializers.zeros, (x.shape[-1],)).astype(x.dtype)
        centred = nn.BatchNorm(use_running_average=False, use_bias=False, use_scale=False, epsilon=1e-8,
                               dtype=self.dtype, name="bn")(x)
        p = nn.sigmoid(centred)
        return p * x + (1 - p) * alpha * x


class ActivationUnit(nn.Module):
    hidden: tuple
    dtype: object

    @nn.compact
    def __call__(self, candidate, history, mask):
        query = jnp.broadcast_to(candidate[:, None, :], history.shape)
        x = jnp.concatenate([query, history, query - history, query * history], axis=-1)
        for i, size in enumerate(self.hidden):
            x = nn.sigmoid(nn.Dense(size, dtype=self.dtype, name=f"f{i + 1}_att")(x))
        scores = nn.Dense(1, dtype=self.dtype, name="score")(x)[..., 0]
        scores = jnp.where(mask, scores, 0)
        return jnp.einsum("bl,bld->bd", scores, history)


class DIN(nn.Module):
    users: int
    goods: int
    categories: int
    dim: int
    attention: tuple
    hidden: tuple
    dtype: object
    remat: bool
    policy: object

    @nn.compact
    def __call__(self, user, good, category, past_goods, past_categories, past_length):
        good_table = table(self.goods, self.dim, self.dtype, "good_embedding")
        category_table = table(self.categories, self.dim, self.dtype, "category_embedding")
        who = table(self.users, self.dim, self.dtype, "user_embedding")(user)
        bias = self.param("good_bias", nn.initializers.zeros, (self.goods,))
        candidate = jnp.concatenate([good_table(good), category_table(category)], axis=-1)
        history = jnp.concatenate([good_table(past_goods), category_table(past_categories)], axis=-1)
        mask = jnp.arange(past_goods.shape[1])[None, :] < past_length[:, None]
        unit = nn.remat(ActivationUnit, policy=self.policy) if self.remat else ActivationUnit
        interest = unit(self.attention, self.dtype, name="attention")(candidate, history, mask)
        total = jnp.where(mask[..., None], history, 0).sum(axis=1)
        x = jnp.concatenate([who, candidate, interest, total, candidate * total], axis=-1)
        x = nn.BatchNorm(use_running_average=False, dtype=self.dtype, name="bn_in")(x)
        for i, size in enumerate(self.hidden):
            x = Dice(self.dtype, name=f"dice_{i}")(nn.Dense(size, dtype=self.dtype, name=f"f{i + 1}")(x))
        logit = nn.Dense(1, dtype=self.dtype, name="out")(x)[..., 0]
        return logit.astype(F32) + bias[good].astype(F32)


def din_clicks(users, goods, categories, dim, batch, history, attention=(80, 40), hidden=(200, 80), kind=F32):
    def make(arrays, change):
        rows, past = batch // change.batch_divisor, history // change.length_divisor
        model = DIN(users, goods, categories, dim, attention, hidden, compute_dtype(change, kind),
                    change.rematerialize, checkpoint_policy(change))
        one, some = jnp.zeros((2,), jnp.int32), jnp.zeros((2, 4), jnp.int32)
        made = jax.eval_shape(model.init, jax.random.key(0), one, one, one, some, some, one)
        params, stats = cast(made["params"], change.stored), made["batch_stats"]
        optimizer = optax.adagrad(0.05, initial_accumulator_value=0.1)
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, stats, features, clicked):
            def loss_of(params, _, features, clicked):
                logits, changed = model.apply({"params": params, "batch_stats": stats}, **features,
                                              mutable=["batch_stats"])
                loss = optax.sigmoid_binary_cross_entropy(logits, clicked.astype(F32)).mean()
                return loss, (changed["batch_stats"], ((logits > 0) == clicked).mean())

            loss, (new_stats, accuracy), grads = summed_slopes(loss_of, change.parts)(params, None, features, clicked)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            new_stats = jax.tree.map(lambda s: s.mean(0), new_stats)
            return params, opt_state, new_stats, {"loss": loss, "accuracy": accuracy.mean()}

        ids = arrays.batch((rows,), jnp.int32)
        seen = arrays.batch((rows, past), jnp.int32)
        features = dict(user=ids, good=ids, category=ids, past_goods=seen, past_categories=seen, past_length=ids)
        arguments = (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, stats), features, ids)
        return train_step, arguments, (0, 1, 2)
    return make


FAMILY = {"round_din": dict(
    make=din_clicks(users=988_000, goods=4_162_048, categories=9_472, dim=64, batch=16_384, history=100),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
