"""FT-Transformer ranks web pages from 136 numbers (as on the Microsoft set of the paper).

In equinox, one row at a time under jax.vmap: each number becomes a token, a CLS token is read at the end. Three
blocks of norm, attention with dropout and ReGLU. AdamW, no decay for tokens, norms and biases. All in float32.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype


class FeatureTokenizer(eqx.Module):
    weight: jax.Array
    bias: jax.Array
    cls: jax.Array

    def __init__(self, features, width, *, key):
        keys = jax.random.split(key, 3)
        bound = width ** -0.5
        self.weight = jax.random.uniform(keys[0], (features, width), minval=-bound, maxval=bound)
        self.bias = jax.random.uniform(keys[1], (features, width), minval=-bound, maxval=bound)
        self.cls = jax.random.uniform(keys[2], (1, width), minval=-bound, maxval=bound)

    def __call__(self, x):
        return jnp.concatenate([self.cls, x[:, None] * self.weight + self.bias], axis=0)


class Attention(eqx.Module):
    query: eqx.nn.Linear
    key: eqx.nn.Linear
    value: eqx.nn.Linear
    out: eqx.nn.Linear
    dropout: eqx.nn.Dropout
    heads: int = eqx.field(static=True)

    def __init__(self, width, heads, dropout, *, key):
        keys = jax.random.split(key, 4)
        self.query, self.key, self.value, self.out = (eqx.nn.Linear(width, width, key=k) for k in keys)
        self.dropout, self.heads = eqx.nn.Dropout(dropout), heads

    def __call__(self, x, *, key):
        def split(linear):
            return jax.vmap(linear)(x).reshape(x.shape[0], self.heads, -1)
        q, k, v = split(self.query), split(self.key), split(self.value)
        scores = jnp.einsum("shd,thd->hst", q, k) / q.shape[-1] ** 0.5
        weights = self.dropout(jax.nn.softmax(scores, axis=-1), key=key)
        return jax.vmap(self.out)(jnp.einsum("hst,thd->shd", weights, v).reshape(x.shape))


class ReGLU(eqx.Module):
    up: eqx.nn.Linear
    down: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, width, hidden, dropout, *, key):
        first, second = jax.random.split(key)
        self.up = eqx.nn.Linear(width, 2 * hidden, key=first)
        self.down = eqx.nn.Linear(hidden, width, key=second)
        self.dropout = eqx.nn.Dropout(dropout)

    def __call__(self, x, *, key):
        value, gate = jnp.split(jax.vmap(self.up)(x), 2, axis=-1)
        return jax.vmap(self.down)(self.dropout(value * jax.nn.relu(gate), key=key))


class Block(eqx.Module):
    attention_norm: eqx.nn.LayerNorm | None
    attention: Attention
    ffn_norm: eqx.nn.LayerNorm
    ffn: ReGLU
    dropout: eqx.nn.Dropout

    def __init__(self, width, heads, hidden, drops, is_first, *, key):
        first, second = jax.random.split(key)
        self.attention_norm = None if is_first else eqx.nn.LayerNorm(width)
        self.attention = Attention(width, heads, drops[0], key=first)
        self.ffn_norm = eqx.nn.LayerNorm(width)
        self.ffn = ReGLU(width, hidden, drops[1], key=second)
        self.dropout = eqx.nn.Dropout(drops[2])

    def __call__(self, x, key):
        keys = jax.random.split(key, 4)
        y = x if self.attention_norm is None else jax.vmap(self.attention_norm)(x)
        x = x + self.dropout(self.attention(y, key=keys[0]), key=keys[1])
        y = self.ffn(jax.vmap(self.ffn_norm)(x), key=keys[2])
        return x + self.dropout(y, key=keys[3])


class FTTransformer(eqx.Module):
    tokens: FeatureTokenizer
    blocks: list
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear

    def __init__(self, features, layers, width, heads, hidden, drops, *, key):
        keys = jax.random.split(key, layers + 2)
        self.tokens = FeatureTokenizer(features, width, key=keys[0])
        self.blocks = [Block(width, heads, hidden, drops, i == 0, key=keys[i + 2]) for i in range(layers)]
        self.norm, self.head = eqx.nn.LayerNorm(width), eqx.nn.Linear(width, "scalar", key=keys[1])

    def __call__(self, x, key, change):
        x = self.tokens(x)
        for block, block_key in zip(self.blocks, jax.random.split(key, len(self.blocks))):
            if change.rematerialize:
                block = eqx.filter_checkpoint(block, policy=checkpoint_policy(change))
            x = block(x, block_key)
        return self.head(jax.nn.relu(self.norm(x[0])))


def fttransformer_regression(features, layers, width, heads, hidden, batch, drops=(0.2, 0.1, 0.0), kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = eqx.filter_eval_shape(FTTransformer, features, layers, width, heads, hidden, drops,
                                      key=jax.random.PRNGKey(0))
        params, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(params, change.stored)

        def decays(params):
            mask = jax.tree.map(lambda p: p.ndim > 1, params)
            return eqx.tree_at(lambda m: m.tokens, mask, jax.tree.map(lambda _: False, mask.tokens))
        optimizer = optax.adamw(1e-4, weight_decay=1e-5, mask=decays)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, x, y):
            model = eqx.combine(jax.tree.map(lambda p: p.astype(now), params), static)
            keys = jax.random.split(key, x.shape[0])
            found = jax.vmap(lambda row, one: model(row, one, change))(x.astype(now), keys)
            return jnp.mean((found.astype(F32) - y.astype(F32)) ** 2), None

        def train_step(params, opt_state, key, x, y):
            key, drop_key = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, drop_key, x, y)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, jnp.sqrt(loss)

        arguments = (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                     arrays.batch((rows, features), F32), arrays.batch((rows,), F32))
        return train_step, arguments, (0, 1)
    return make


FAMILY = {"round_fttransformer": dict(
    make=fttransformer_regression(features=136, layers=3, width=192, heads=8, hidden=256, batch=4096),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
