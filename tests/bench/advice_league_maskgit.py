"""MaskGIT learns to fill in the tokens of pictures (VQGAN, 16 x 16 of 1024 codes) given their class, in Equinox.

Norms after, as in BERT; the class stands before the tokens and is dropped for one picture in ten; masks by the cosine
schedule; blocks stacked and scanned, models written for one example and vmapped. AdamW, EMA; bfloat16 over float32.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype, maybe_checkpoint

STACKED = {"blocks": 0}


class Block(eqx.Module):
    attention: eqx.nn.MultiheadAttention
    attention_norm: eqx.nn.LayerNorm
    up: eqx.nn.Linear
    down: eqx.nn.Linear
    mlp_norm: eqx.nn.LayerNorm
    dropout: eqx.nn.Dropout

    def __init__(self, width, heads, hidden, dropout, key):
        keys = jax.random.split(key, 3)
        self.attention = eqx.nn.MultiheadAttention(heads, width, use_query_bias=True, use_key_bias=True,
                                                   use_value_bias=True, use_output_bias=True, key=keys[0])
        self.attention_norm = eqx.nn.LayerNorm(width, eps=1e-12)
        self.up = eqx.nn.Linear(width, hidden, key=keys[1])
        self.down = eqx.nn.Linear(hidden, width, key=keys[2])
        self.mlp_norm = eqx.nn.LayerNorm(width, eps=1e-12)
        self.dropout = eqx.nn.Dropout(dropout)

    def __call__(self, x, key):
        first, second = jax.random.split(key)
        y = self.dropout(self.attention(x, x, x), key=first)
        x = jax.vmap(self.attention_norm)(x + y)
        y = jax.vmap(self.down)(jax.nn.gelu(jax.vmap(self.up)(x), approximate=False))
        return jax.vmap(self.mlp_norm)(x + self.dropout(y, key=second))


class MaskGIT(eqx.Module):
    tokens: jax.Array          # codes, then the mask
    classes: jax.Array         # classes, then none
    places: jax.Array
    embed_norm: eqx.nn.LayerNorm
    dropout: eqx.nn.Dropout
    blocks: Block
    head: eqx.nn.Linear
    head_norm: eqx.nn.LayerNorm
    head_bias: jax.Array
    depth: int = eqx.field(static=True)

    def __init__(self, codes, classes, length, depth, width, heads, dropout, key):
        keys = jax.random.split(key, 5)
        self.tokens = 0.02 * jax.random.truncated_normal(keys[0], -2, 2, (codes + 1, width))
        self.classes = 0.02 * jax.random.truncated_normal(keys[1], -2, 2, (classes + 1, width))
        self.places = 0.02 * jax.random.truncated_normal(keys[2], -2, 2, (length + 1, width))
        self.embed_norm = eqx.nn.LayerNorm(width, eps=1e-12)
        self.dropout = eqx.nn.Dropout(dropout)
        self.blocks = eqx.filter_vmap(lambda key: Block(width, heads, 4 * width, dropout, key))(
            jax.random.split(keys[3], depth))
        self.head = eqx.nn.Linear(width, width, key=keys[4])
        self.head_norm = eqx.nn.LayerNorm(width, eps=1e-12)
        self.head_bias = jnp.zeros((length, codes))
        self.depth = depth

    def __call__(self, label, tokens, key, change):
        """Of one picture: logits [tokens, codes]."""
        start, *keys = jax.random.split(key, 2)
        x = jnp.concatenate([self.classes[label][None], self.tokens[tokens]]) + self.places
        x = self.dropout(jax.vmap(self.embed_norm)(x), key=start)
        arrays, static = eqx.partition(self.blocks, eqx.is_array)

        def body(x, given):
            weights, key = given
            return eqx.combine(weights, static)(x, key), None
        x, _ = jax.lax.scan(maybe_checkpoint(change, body), x, (arrays, jax.random.split(keys[0], self.depth)))
        x = jax.nn.gelu(jax.vmap(self.head)(x[1:]), approximate=False)
        x = jax.vmap(self.head_norm)(x)
        return x @ self.tokens[:-1].T + self.head_bias


def masked_tokens(key, tokens, mask_id):
    """By the cosine schedule, at least one of each picture."""
    rows, length = tokens.shape
    share_key, order_key = jax.random.split(key)
    ratio = jnp.cos(0.5 * jnp.pi * jax.random.uniform(share_key, (rows, 1)))
    count = jnp.maximum(1, jnp.ceil(ratio * length))
    rank = jnp.argsort(jnp.argsort(jax.random.uniform(order_key, tokens.shape), axis=-1), axis=-1)
    chosen = rank < count
    return jnp.where(chosen, mask_id, tokens), chosen


def maskgit(codes, classes, length, depth, width, heads, batch, dropout=0.1, kind=BF16):
    def make(arrays, change):
        rows, seen = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        model = eqx.filter_eval_shape(MaskGIT, codes, classes, seen, depth, width, heads, dropout, jax.random.key(0))
        params, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(params, change.stored)
        schedule = optax.warmup_constant_schedule(0.0, 1e-4, 5_000)
        optimizer = optax.chain(optax.clip_by_global_norm(3.0),
                                optax.adamw(schedule, b1=0.9, b2=0.96, weight_decay=4.5e-2, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, labels, tokens):
            model = eqx.combine(jax.tree.map(lambda p: p.astype(now), params), static)
            mask_key, drop_key, model_key = jax.random.split(key, 3)
            inputs, chosen = masked_tokens(mask_key, tokens, codes)
            dropped = jax.random.bernoulli(drop_key, 0.1, labels.shape)
            labels = jnp.where(dropped, classes, labels)
            keys = jax.random.split(model_key, labels.shape[0])
            logits = jax.vmap(lambda label, row, key: model(label, row, key, change))(labels, inputs, keys)
            logits = logits.astype(F32)
            smooth = optax.smooth_labels(jax.nn.one_hot(tokens, codes), 0.1)
            weights = chosen.astype(F32)
            total = jnp.maximum(weights.sum(), 1.0)
            loss = (optax.softmax_cross_entropy(logits, smooth) * weights).sum() / total
            right = ((logits.argmax(-1) == tokens) * weights).sum() / total
            return loss, {"accuracy": right, "masked": weights.mean()}

        def train_step(params, ema, opt_state, key, labels, tokens):
            key, own = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, own, labels, tokens)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            ema = jax.tree.map(lambda e, p: (0.9999 * e + 0.0001 * p).astype(e.dtype), ema, params)
            return params, ema, opt_state, key, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        states = [laid_out(arrays, tree, STACKED) for tree in (params, params, opt_state)]
        return train_step, (*states, raw_key(arrays), arrays.batch((rows,), jnp.int32),
                            arrays.batch((rows, seen), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"league_maskgit": dict(
    make=maskgit(codes=1024, classes=1000, length=256, depth=24, width=768, heads=16, batch=64),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
