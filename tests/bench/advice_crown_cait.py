"""CaiT (S24, 224) on ImageNet: talking heads over the patches, then two layers in which only the class token attends.

Equinox; the model is of one picture under vmap, its 24 blocks are stacked and run by a scan. Float32 throughout,
AdamW, label smoothing, LayerScale and stochastic depth from a key. Nothing is donated.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import checkpointed, computing, laid_out, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import F32, cast

DIM, HEADS, DEPTH, CLASS_DEPTH, PATCH, PIXELS, CLASSES = 384, 8, 24, 2, 16, 224, 1000
TOKENS = (PIXELS // PATCH) ** 2


class LayerNorm(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __init__(self):
        self.weight, self.bias = jnp.ones(DIM), jnp.zeros(DIM)

    def __call__(self, x):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-6) * self.weight + self.bias


def linear(layer, x):
    return jax.vmap(layer)(x)


class TalkingHeads(eqx.Module):
    qkv: eqx.nn.Linear
    before: eqx.nn.Linear
    after: eqx.nn.Linear
    proj: eqx.nn.Linear

    def __init__(self, key):
        a, b, c, d = jax.random.split(key, 4)
        self.qkv = eqx.nn.Linear(DIM, 3 * DIM, key=a)
        self.before, self.after = eqx.nn.Linear(HEADS, HEADS, key=b), eqx.nn.Linear(HEADS, HEADS, key=c)
        self.proj = eqx.nn.Linear(DIM, DIM, key=d)

    def __call__(self, x):
        n = x.shape[0]
        q, k, v = jnp.moveaxis(linear(self.qkv, x).reshape(n, 3, HEADS, DIM // HEADS), 1, 0)
        scores = jnp.einsum("qhd,khd->hqk", q * (DIM // HEADS) ** -0.5, k)
        scores = jnp.einsum("hqk,gh->gqk", scores, self.before.weight) + self.before.bias[:, None, None]
        weights = jax.nn.softmax(scores, -1)
        weights = jnp.einsum("hqk,gh->gqk", weights, self.after.weight) + self.after.bias[:, None, None]
        return linear(self.proj, jnp.einsum("hqk,khd->qhd", weights, v).reshape(n, DIM))


class ClassAttention(eqx.Module):
    q: eqx.nn.Linear
    kv: eqx.nn.Linear
    proj: eqx.nn.Linear

    def __init__(self, key):
        a, b, c = jax.random.split(key, 3)
        self.q, self.kv = eqx.nn.Linear(DIM, DIM, key=a), eqx.nn.Linear(DIM, 2 * DIM, key=b)
        self.proj = eqx.nn.Linear(DIM, DIM, key=c)

    def __call__(self, x):
        q = self.q(x[0]).reshape(HEADS, DIM // HEADS) * (DIM // HEADS) ** -0.5
        k, v = jnp.moveaxis(linear(self.kv, x).reshape(-1, 2, HEADS, DIM // HEADS), 1, 0)
        weights = jax.nn.softmax(jnp.einsum("hd,khd->hk", q, k), -1)
        return self.proj(jnp.einsum("hk,khd->hd", weights, v).reshape(DIM))[None]


class Block(eqx.Module):
    norm1: LayerNorm
    norm2: LayerNorm
    attn: eqx.Module
    fc1: eqx.nn.Linear
    fc2: eqx.nn.Linear
    gamma1: jax.Array
    gamma2: jax.Array

    def __init__(self, attention, key):
        a, b, c = jax.random.split(key, 3)
        self.norm1, self.norm2, self.attn = LayerNorm(), LayerNorm(), attention(a)
        self.fc1, self.fc2 = eqx.nn.Linear(DIM, 4 * DIM, key=b), eqx.nn.Linear(4 * DIM, DIM, key=c)
        self.gamma1, self.gamma2 = jnp.full(DIM, 1e-5), jnp.full(DIM, 1e-5)

    def mlp(self, x):
        return linear(self.fc2, jax.nn.gelu(linear(self.fc1, x), approximate=False))

    def __call__(self, x, key, drop_path=0.1):
        kept = jax.random.bernoulli(key, 1 - drop_path, (2,)).astype(x.dtype) / (1 - drop_path)
        x = x + kept[0] * self.gamma1 * self.attn(self.norm1(x))
        return x + kept[1] * self.gamma2 * self.mlp(self.norm2(x))

    def of_class(self, token, patches):
        together = jnp.concatenate([token, patches])
        token = token + self.gamma1 * self.attn(self.norm1(together))
        return token + self.gamma2 * self.mlp(self.norm2(token))


class CaiT(eqx.Module):
    patch_embed: eqx.nn.Linear
    pos_embed: jax.Array
    cls_token: jax.Array
    blocks: Block
    class_blocks: list
    norm: LayerNorm
    head: eqx.nn.Linear

    def __init__(self, key):
        a, b, c, d, e, f = jax.random.split(key, 6)
        self.patch_embed = eqx.nn.Linear(PATCH * PATCH * 3, DIM, key=a)
        self.pos_embed = 0.02 * jax.random.normal(b, (TOKENS, DIM))
        self.cls_token = 0.02 * jax.random.normal(c, (1, DIM))
        self.blocks = eqx.filter_vmap(lambda key: Block(TalkingHeads, key))(jax.random.split(d, DEPTH))
        self.class_blocks = [Block(ClassAttention, key) for key in jax.random.split(e, CLASS_DEPTH)]
        self.norm, self.head = LayerNorm(), eqx.nn.Linear(DIM, CLASSES, key=f)

    def __call__(self, image, key, wrap):
        side = PIXELS // PATCH
        x = image.reshape(side, PATCH, side, PATCH, 3).transpose(0, 2, 1, 3, 4).reshape(TOKENS, -1)
        x = linear(self.patch_embed, x) + self.pos_embed
        stacked, static = eqx.partition(self.blocks, eqx.is_array)
        run = wrap(lambda block, x, key: eqx.combine(block, static)(x, key))
        x, _ = jax.lax.scan(lambda x, given: (run(given[0], x, given[1]), None), x,
                            (stacked, jax.random.split(key, DEPTH)))
        token = self.cls_token
        for block in self.class_blocks:
            arrays, rest = eqx.partition(block, eqx.is_array)
            token = wrap(lambda arrays, token, x: eqx.combine(arrays, rest).of_class(token, x))(arrays, token, x)
        return self.head(self.norm(token)[0])


def classifier(batch):
    def make(arrays, change):
        rows, kind = batch // change.batch_divisor, computing(change, F32)
        shapes = eqx.filter_eval_shape(CaiT, jax.random.key(0))
        shapes, static = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(shapes, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(1e-6, 1e-3, 6_250, 500_000, 1e-5)
        optimizer = optax.adamw(schedule, weight_decay=0.05, mask=matrices_only)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, images, labels):
            model = eqx.combine(cast(params, kind), static)
            keys = jax.random.split(key, images.shape[0])
            logits = jax.vmap(lambda image, key: model(image, key, lambda f: checkpointed(change, f)))(
                images.astype(kind), keys).astype(F32)
            targets = optax.smooth_labels(jax.nn.one_hot(labels, CLASSES), 0.1)
            return optax.softmax_cross_entropy(logits, targets).mean(), jnp.mean(logits.argmax(-1) == labels)

        def train_step(params, opt_state, key, images, labels):
            key, now = jax.random.split(key)
            loss, accuracy, grads = summed_slopes(loss_of, change.parts)(params, now, images, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, "accuracy": accuracy.mean()}

        stacks = {"blocks": 0}
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), raw_key(arrays),
                            arrays.batch((rows, PIXELS, PIXELS, 3), F32), arrays.batch((rows,), jnp.int32)), (0, 1)
    return make


FAMILY = {"crown_cait": dict(
    make=classifier(batch=128), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
