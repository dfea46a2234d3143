"""DINO: a ViT-B/16 student matches a teacher that is its own moving average, over two large and eight small crops.

In equinox: modules see one crop and are vmapped over the batch; the blocks are stacked and scanned. A bfloat16 copy of
the weights computes, float32 ones are kept. The head has 65,536 prototypes; the teacher's outputs are centred.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, like, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed


class Attention(eqx.Module):
    qkv: eqx.nn.Linear
    proj: eqx.nn.Linear
    heads: int = eqx.field(static=True)

    def __init__(self, dim, heads, key):
        one, two = jax.random.split(key)
        self.qkv, self.proj = eqx.nn.Linear(dim, 3 * dim, key=one), eqx.nn.Linear(dim, dim, key=two)
        self.heads = heads

    def __call__(self, x):
        tokens, dim = x.shape
        q, k, v = jax.vmap(self.qkv)(x).reshape(tokens, 3, self.heads, dim // self.heads).transpose(1, 2, 0, 3)
        attn = jax.nn.softmax((q @ k.swapaxes(-1, -2)) * (dim // self.heads) ** -0.5, axis=-1)
        return jax.vmap(self.proj)((attn @ v).swapaxes(0, 1).reshape(tokens, dim))


class Block(eqx.Module):
    norm1: eqx.nn.LayerNorm
    attn: Attention
    norm2: eqx.nn.LayerNorm
    fc1: eqx.nn.Linear
    fc2: eqx.nn.Linear

    def __init__(self, dim, heads, key):
        keys = jax.random.split(key, 3)
        self.norm1, self.norm2 = eqx.nn.LayerNorm(dim, eps=1e-6), eqx.nn.LayerNorm(dim, eps=1e-6)
        self.attn = Attention(dim, heads, keys[0])
        self.fc1, self.fc2 = eqx.nn.Linear(dim, 4 * dim, key=keys[1]), eqx.nn.Linear(4 * dim, dim, key=keys[2])

    def __call__(self, x, rate, key):
        keep = 1.0 if key is None else jax.random.bernoulli(key, 1 - rate, (2,)) / (1 - rate)
        keep = jnp.broadcast_to(keep, (2,)).astype(x.dtype)
        x = x + keep[0] * self.attn(jax.vmap(self.norm1)(x))
        h = jax.nn.gelu(jax.vmap(self.fc1)(jax.vmap(self.norm2)(x)), approximate=False)
        return x + keep[1] * jax.vmap(self.fc2)(h)


class ViT(eqx.Module):
    patch_embed: eqx.nn.Conv2d
    cls_token: jax.Array
    pos_embed: jax.Array
    blocks: Block
    norm: eqx.nn.LayerNorm
    depth: int = eqx.field(static=True)
    drop_path: float = eqx.field(static=True)

    def __init__(self, dim, depth, heads, patch, side, drop_path, key):
        keys = jax.random.split(key, 4)
        self.patch_embed = eqx.nn.Conv2d(3, dim, patch, patch, key=keys[0])
        self.cls_token = 0.02 * jax.random.normal(keys[1], (1, dim))
        self.pos_embed = 0.02 * jax.random.normal(keys[2], (1 + side * side, dim))
        self.blocks = eqx.filter_vmap(lambda k: Block(dim, heads, k))(jax.random.split(keys[3], depth))
        self.norm = eqx.nn.LayerNorm(dim, eps=1e-6)
        self.depth, self.drop_path = depth, drop_path

    def positions(self, side):
        cls, grid = self.pos_embed[:1], self.pos_embed[1:]
        was = int(round(grid.shape[0] ** 0.5))
        if side != was:
            grid = jax.image.resize(grid.reshape(was, was, -1), (side, side, grid.shape[-1]), "bicubic")
        return jnp.concatenate([cls, grid.reshape(side * side, -1)])

    def __call__(self, image, key, wrap):
        x = self.patch_embed(image.transpose(2, 0, 1))
        side = x.shape[-1]
        x = jnp.concatenate([self.cls_token, x.reshape(x.shape[0], -1).T]) + self.positions(side)

        def layer(x, given):
            block, rate, key = given
            return block(x, rate, key), None
        keys = None if key is None else jax.random.split(key, self.depth)
        x, _ = jax.lax.scan(wrap(layer), x, (self.blocks, jnp.linspace(0, self.drop_path, self.depth), keys))
        return self.norm(x[0])


class DinoHead(eqx.Module):
    layers: list
    last: jax.Array

    def __init__(self, dim, hidden, neck, prototypes, key):
        keys = jax.random.split(key, 4)
        sizes = (dim, hidden, hidden, neck)
        self.layers = [eqx.nn.Linear(a, b, key=k) for a, b, k in zip(sizes, sizes[1:], keys)]
        self.last = jax.random.normal(keys[3], (prototypes, neck)) * neck ** -0.5

    def __call__(self, x):
        for linear in self.layers[:-1]:
            x = jax.nn.gelu(linear(x), approximate=False)
        x = self.layers[-1](x)
        x = x / (jnp.linalg.norm(x) + 1e-6)
        return (self.last / jnp.linalg.norm(self.last, axis=1, keepdims=True)) @ x


class Dino(eqx.Module):
    backbone: ViT
    head: DinoHead

    def __init__(self, dim, depth, heads, patch, side, prototypes, drop_path, key):
        one, two = jax.random.split(key)
        self.backbone = ViT(dim, depth, heads, patch, side, drop_path, one)
        self.head = DinoHead(dim, 2048, 256, prototypes, two)

    def __call__(self, crops, key, wrap):
        """[batch, crops, h, w, 3] -> [crops, batch, prototypes]"""
        rows, views = crops.shape[:2]
        flat = crops.reshape(rows * views, *crops.shape[2:])
        keys = None if key is None else jax.random.split(key, rows * views)
        features = jax.vmap(lambda image, k: self.backbone(image, k, wrap))(flat, keys)
        return jax.vmap(self.head)(features).reshape(rows, views, -1).swapaxes(0, 1)


def dino_loss(student, teacher, center, student_temp=0.1, teacher_temp=0.04):
    targets = jax.lax.stop_gradient(jax.nn.softmax((teacher.astype(F32) - center) / teacher_temp, axis=-1))
    log_probs = jax.nn.log_softmax(student.astype(F32) / student_temp, axis=-1)
    total, terms = 0.0, 0
    for t in range(targets.shape[0]):
        for s in range(log_probs.shape[0]):
            if s != t:
                total, terms = total - (targets[t] * log_probs[s]).sum(-1).mean(), terms + 1
    return total / terms


def dino_multicrop(dim, depth, heads, batch, patch=16, large=224, small=96, smalls=8, prototypes=65536, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = eqx.filter_eval_shape(Dino, dim, depth, heads, patch, large // patch, prototypes, 0.1,
                                      jax.random.key(0))
        student = cast(model, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(3.0),
                                optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 7.5e-4, 12_510, 125_100, 2e-6),
                                            weight_decay=0.04, mask=decayed))
        opt_state = jax.eval_shape(optimizer.init, student)

        def wrap(layer):
            policy = checkpoint_policy(change)
            return eqx.filter_checkpoint(layer, policy=policy) if change.rematerialize else layer

        def train_step(student, opt_state, teacher, center, key, momentum, global_crops, local_crops):
            halved_teacher = cast(teacher, now)

            def loss_fn(student, key, global_crops, local_crops):
                halved = cast(student, now)
                k1, k2 = jax.random.split(key)
                out_t = halved_teacher(global_crops.astype(now), None, lambda layer: layer)
                out_s = jnp.concatenate([halved(global_crops.astype(now), k1, wrap),
                                         halved(local_crops.astype(now), k2, wrap)])
                return dino_loss(out_s, out_t, center.astype(F32)), out_t.astype(F32).mean((0, 1))

            key, drop_key = jax.random.split(key)
            loss, means, grads = summed_slopes(loss_fn, change.parts)(student, drop_key, global_crops, local_crops)
            student, opt_state = updated(optimizer, grads, opt_state, student)
            ema = jax.tree.map(lambda t, s: momentum * t + (1 - momentum) * s, teacher, student)
            new_center = (0.9 * center + 0.1 * means.mean(0)).astype(center.dtype)
            return student, opt_state, like(ema, teacher), new_center, key, loss

        def crops(views, side):
            return arrays.batch((rows, views, side, side, 3), F32)

        def state(tree):
            return laid_out(arrays, tree, stacks={"blocks": 0})
        return train_step, (state(student), state(opt_state), state(student), arrays.array((prototypes,), F32),
                            raw_key(arrays), arrays.array((), F32), crops(2, large), crops(smalls, small)), (0, 1, 2, 3)
    return make


FAMILY = {"round_dino": dict(
    make=dino_multicrop(768, 12, 12, batch=128), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
