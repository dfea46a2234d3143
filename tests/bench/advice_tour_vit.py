"""ViT-B/16 classifies ImageNet, in equinox: the model is of one picture and is vmapped, with a key for each picture.

Float32 masters are cast to bfloat16 before the pass; AdamW with clipped gradients, dropout, and smoothed labels.
"""
import equinox as eqx
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed


class SelfAttention(eqx.Module):
    qkv: eqx.nn.Linear
    proj: eqx.nn.Linear
    heads: int = eqx.field(static=True)

    def __init__(self, dim, heads, key):
        key1, key2 = jax.random.split(key)
        self.heads = heads
        self.qkv = eqx.nn.Linear(dim, 3 * dim, key=key1)
        self.proj = eqx.nn.Linear(dim, dim, key=key2)

    def __call__(self, x):
        tokens, dim = x.shape
        q, k, v = jnp.moveaxis(jax.vmap(self.qkv)(x).reshape(tokens, 3, self.heads, dim // self.heads), 1, 0)
        scores = jnp.einsum("qhd,khd->hqk", q, k) / (dim // self.heads) ** 0.5
        weights = jax.nn.softmax(scores.astype(F32), axis=-1).astype(x.dtype)
        return jax.vmap(self.proj)(jnp.einsum("hqk,khd->qhd", weights, v).reshape(tokens, dim))


class Block(eqx.Module):
    norm1: eqx.nn.LayerNorm
    attention: SelfAttention
    norm2: eqx.nn.LayerNorm
    fc1: eqx.nn.Linear
    fc2: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, dim, heads, hidden, dropout, key):
        keys = jax.random.split(key, 3)
        self.norm1, self.norm2 = eqx.nn.LayerNorm(dim, eps=1e-6), eqx.nn.LayerNorm(dim, eps=1e-6)
        self.attention = SelfAttention(dim, heads, keys[0])
        self.fc1 = eqx.nn.Linear(dim, hidden, key=keys[1])
        self.fc2 = eqx.nn.Linear(hidden, dim, key=keys[2])
        self.dropout = eqx.nn.Dropout(dropout)

    def __call__(self, x, key):
        keys = jax.random.split(key, 3)
        x = x + self.dropout(self.attention(jax.vmap(self.norm1)(x)), key=keys[0])
        h = jax.vmap(self.fc1)(jax.vmap(self.norm2)(x))
        h = self.dropout(jax.nn.gelu(h), key=keys[1])
        return x + self.dropout(jax.vmap(self.fc2)(h), key=keys[2])


class VisionTransformer(eqx.Module):
    patch: eqx.nn.Conv2d
    cls_token: jax.Array
    positions: jax.Array
    blocks: list
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear
    dropout: eqx.nn.Dropout

    def __init__(self, layers, dim, heads, hidden, pixels, patch, classes, dropout, key):
        keys = jax.random.split(key, layers + 3)
        self.patch = eqx.nn.Conv2d(3, dim, patch, stride=patch, key=keys[-1])
        self.cls_token = jnp.zeros((1, dim))
        self.positions = 0.02 * jax.random.normal(keys[-2], ((pixels // patch) ** 2 + 1, dim))
        self.blocks = [Block(dim, heads, hidden, dropout, keys[i]) for i in range(layers)]
        self.norm = eqx.nn.LayerNorm(dim, eps=1e-6)
        self.head = eqx.nn.Linear(dim, classes, key=keys[-3])
        self.dropout = eqx.nn.Dropout(dropout)

    def __call__(self, image, key, wrap):
        keys = jax.random.split(key, len(self.blocks) + 1)
        x = self.patch(jnp.transpose(image, (2, 0, 1)))
        x = x.reshape(x.shape[0], -1).T
        x = self.dropout(jnp.concatenate([self.cls_token, x]) + self.positions, key=keys[-1])
        for block, block_key in zip(self.blocks, keys):
            x = wrap(block)(x, block_key)
        return self.head(self.norm(x[0]))


def vit_classifier(layers, dim, heads, hidden, pixels, patch, classes, batch, dropout=0.1, kind=BF16):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        shapes = eqx.filter_eval_shape(VisionTransformer, layers, dim, heads, hidden, pixels, patch, classes, dropout,
                                       jax.random.key(0))
        shapes, static = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(shapes, change.stored)
        optimizer = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10_000, 300_000), 0.9, 0.999,
                        weight_decay=0.1, mask=decayed))
        opt_state = jax.eval_shape(optimizer.init, params)

        def wrap(block):
            return eqx.filter_checkpoint(block, policy=checkpoint_policy(change)) if change.rematerialize else block

        def loss_of(params, key, images, labels):
            half = jax.tree.map(lambda p: p.astype(now), params)
            model = eqx.combine(half, static)
            keys = jax.random.split(key, images.shape[0])
            logits = jax.vmap(lambda image, key: model(image, key, wrap))(images.astype(now), keys).astype(F32)
            targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            loss = optax.softmax_cross_entropy(logits, targets).mean()
            return loss, jnp.mean(logits.argmax(-1) == labels)

        def train_step(params, opt_state, key, images, labels):
            key, drop_key = jax.random.split(key)
            loss, accuracy, grads = summed_slopes(loss_of, change.parts)(params, drop_key, images, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, loss, accuracy.mean()
        images = arrays.batch((rows, pixels, pixels, 3), F32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), images,
                            arrays.batch((rows,), jnp.int32)), (0, 1)
    return make


FAMILY = {"tour_vit": dict(
    make=vit_classifier(layers=12, dim=768, heads=12, hidden=3072, pixels=224, patch=16, classes=1000, batch=256),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
