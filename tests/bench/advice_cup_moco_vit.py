"""MoCo v3 pre-trains a ViT-B/16: two views, a momentum encoder, a projector and a predictor, InfoNCE within the batch.

Equinox; blocks are filter_vmap'ped into a stack and scanned. Weights and moments are float32, the encoders compute in
bfloat16; batch norms of the heads are those of the batch (as both sides train, no running mean is ever read). The patch
embedding is frozen at its random values, as the paper does for stability. AdamW.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, like, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype, maybe_checkpoint


class Attention(eqx.Module):
    qkv: eqx.nn.Linear
    proj: eqx.nn.Linear
    heads: int = eqx.field(static=True)

    def __init__(self, dim, heads, key):
        first, second = jax.random.split(key)
        self.qkv = eqx.nn.Linear(dim, 3 * dim, key=first)
        self.proj = eqx.nn.Linear(dim, dim, key=second)
        self.heads = heads

    def __call__(self, x):
        q, k, v = jnp.moveaxis(jax.vmap(self.qkv)(x).reshape(x.shape[0], 3, self.heads, -1), 1, 0)
        scores = jnp.einsum("qhd,khd->hqk", q, k) * q.shape[-1] ** -0.5
        weights = jax.nn.softmax(scores.astype(F32), axis=-1).astype(x.dtype)
        return jax.vmap(self.proj)(jnp.einsum("hqk,khd->qhd", weights, v).reshape(x.shape))


class Block(eqx.Module):
    norm1: eqx.nn.LayerNorm
    attn: Attention
    norm2: eqx.nn.LayerNorm
    fc1: eqx.nn.Linear
    fc2: eqx.nn.Linear

    def __init__(self, dim, heads, key):
        keys = jax.random.split(key, 3)
        self.norm1, self.norm2 = eqx.nn.LayerNorm(dim), eqx.nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, keys[0])
        self.fc1 = eqx.nn.Linear(dim, 4 * dim, key=keys[1])
        self.fc2 = eqx.nn.Linear(4 * dim, dim, key=keys[2])

    def __call__(self, x):
        x = x + self.attn(jax.vmap(self.norm1)(x))
        return x + jax.vmap(self.fc2)(jax.nn.gelu(jax.vmap(self.fc1)(jax.vmap(self.norm2)(x))))


class VisionTransformer(eqx.Module):
    patch: eqx.nn.Conv2d
    cls: jax.Array
    blocks: Block
    norm: eqx.nn.LayerNorm

    def __init__(self, depth, dim, heads, patch, key):
        keys = jax.random.split(key, 3)
        self.patch = eqx.nn.Conv2d(3, dim, patch, stride=patch, key=keys[0])
        self.cls = 0.02 * jax.random.normal(keys[1], (1, dim))
        self.blocks = eqx.filter_vmap(lambda k: Block(dim, heads, k))(jax.random.split(keys[2], depth))
        self.norm = eqx.nn.LayerNorm(dim)

    def __call__(self, images, places, change):
        """[batch, 3, side, side] -> [batch, dim]"""
        x = jax.lax.stop_gradient(jax.vmap(self.patch)(images))
        x = x.reshape(*x.shape[:2], -1).swapaxes(1, 2) + places
        x = jnp.concatenate([jnp.broadcast_to(self.cls, (x.shape[0], *self.cls.shape)), x], axis=1)
        arrays, static = eqx.partition(self.blocks, eqx.is_array)

        def one(x, layer):
            return jax.vmap(eqx.combine(layer, static))(x), None
        x, _ = jax.lax.scan(maybe_checkpoint(change, one), x, arrays)
        return jax.vmap(self.norm)(x[:, 0])


class Mlp(eqx.Module):
    """Linear layers without biases, with batch norm after each and ReLU between; the last norm has no scale."""
    linears: list
    scales: list
    shifts: list

    def __init__(self, widths, key):
        keys = jax.random.split(key, len(widths) - 1)
        self.linears = [eqx.nn.Linear(a, b, use_bias=False, key=k) for a, b, k in zip(widths, widths[1:], keys)]
        self.scales = [jnp.ones(width) for width in widths[1:-1]]
        self.shifts = [jnp.zeros(width) for width in widths[1:-1]]

    def __call__(self, x):
        for i, linear in enumerate(self.linears):
            x = jax.vmap(linear)(x)
            wide = x.astype(F32)
            x = ((wide - wide.mean(0)) * jax.lax.rsqrt(wide.var(0) + 1e-5)).astype(x.dtype)
            if i < len(self.scales):
                x = jax.nn.relu(x * self.scales[i] + self.shifts[i])
        return x


class Encoder(eqx.Module):
    backbone: VisionTransformer
    projector: Mlp

    def __init__(self, depth, dim, heads, patch, hidden, out, key):
        first, second = jax.random.split(key)
        self.backbone = VisionTransformer(depth, dim, heads, patch, first)
        self.projector = Mlp((dim, hidden, hidden, out), second)

    def __call__(self, images, places, change):
        return self.projector(self.backbone(images, places, change))


def sin_cos_places(grid, dim):
    omega = 1.0 / 10000 ** (np.arange(dim // 4) / (dim // 4))
    rows, columns = np.meshgrid(np.arange(grid), np.arange(grid), indexing="ij")
    angles = [place.reshape(-1, 1) * omega for place in (rows, columns)]
    return np.concatenate([turn(a) for a in angles for turn in (np.sin, np.cos)], axis=1).astype(np.float32)


def contrast(queries, keys, temperature):
    q, k = (v / (jnp.linalg.norm(v, axis=-1, keepdims=True) + 1e-8) for v in (queries.astype(F32), keys.astype(F32)))
    logits = q @ k.T / temperature
    labels = jnp.arange(q.shape[0])
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return 2 * temperature * loss, (logits.argmax(-1) == labels).mean()


def moco_v3(depth, dim, heads, patch, side, batch, hidden=4096, out=256, temperature=0.2, momentum=0.99, kind=BF16):
    places = sin_cos_places(side // patch, dim)

    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)

        def build(key):
            first, second = jax.random.split(key)
            return Encoder(depth, dim, heads, patch, hidden, out, first), Mlp((out, hidden, out), second)
        online, static = eqx.partition(eqx.filter_eval_shape(build, jax.random.key(0)),
                                       lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        online = cast(online, change.stored)
        target = online[0]
        schedule = optax.warmup_cosine_decay_schedule(0.0, 2.4e-3, 12_000, 90_000)
        optimizer = optax.adamw(schedule, weight_decay=0.1)
        opt_state = jax.eval_shape(optimizer.init, online)

        def encode(model, *given):
            return model(*given, jnp.asarray(places, now), change)

        def pretrain_step(online, target, opt_state, step, view1, view2):
            def loss_fn(online, _, view1, view2):
                encoder, predictor = eqx.combine(cast(online, now), static)
                momentum_encoder = eqx.combine(cast(target, now), static[0])
                view1, view2 = view1.astype(now), view2.astype(now)
                q1, q2 = predictor(encode(encoder, view1)), predictor(encode(encoder, view2))
                k1, k2 = (jax.lax.stop_gradient(encode(momentum_encoder, view)) for view in (view1, view2))
                (loss1, right1), (loss2, right2) = contrast(q1, k2, temperature), contrast(q2, k1, temperature)
                return loss1 + loss2, (right1 + right2) / 2
            m = 1 - 0.5 * (1 + jnp.cos(jnp.pi * step / 90_000)) * (1 - momentum)
            target = like(jax.tree.map(lambda t, o: t * m + o * (1 - m), target, online[0]), target)
            loss, accuracy, grads = summed_slopes(loss_fn, change.parts)(online, None, view1, view2)
            online, opt_state = updated(optimizer, grads, opt_state, online)
            return online, target, opt_state, step + 1, {"loss": loss, "accuracy": accuracy.mean()}
        stacks = {"blocks": 0}
        views = [arrays.batch((rows, 3, side, side), F32) for _ in range(2)]
        return pretrain_step, (laid_out(arrays, online, stacks), laid_out(arrays, target, stacks),
                               laid_out(arrays, opt_state, stacks), arrays.array((), jnp.int32), *views), (0, 1, 2)
    return make


FAMILY = {"cup_moco_vit": dict(
    make=moco_v3(depth=12, dim=768, heads=12, patch=16, side=224, batch=128), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
