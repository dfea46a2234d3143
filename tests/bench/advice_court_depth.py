"""Depth of single pictures, in equinox: DINOv2 is frozen, the DPT decoder on four of its layers is trained.

Both are written for one picture and mapped over the batch. All is float32.
"""
import equinox as eqx
import jax
import jax.numpy as jnp

from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, on_chips, value_and_mean_grad


class ViTBlock(eqx.Module):
    norm1: eqx.nn.LayerNorm
    norm2: eqx.nn.LayerNorm
    qkv: eqx.nn.Linear
    proj: eqx.nn.Linear
    fc1: eqx.nn.Linear
    fc2: eqx.nn.Linear
    scale1: jax.Array
    scale2: jax.Array
    heads: int = eqx.field(static=True)

    def __init__(self, width, heads, key):
        k = jax.random.split(key, 4)
        self.norm1, self.norm2 = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)
        self.qkv, self.proj = eqx.nn.Linear(width, 3 * width, key=k[0]), eqx.nn.Linear(width, width, key=k[1])
        self.fc1, self.fc2 = eqx.nn.Linear(width, 4 * width, key=k[2]), eqx.nn.Linear(4 * width, width, key=k[3])
        self.scale1, self.scale2, self.heads = jnp.ones(width), jnp.ones(width), heads

    def __call__(self, x):
        q, k, v = jnp.moveaxis(jax.vmap(self.qkv)(jax.vmap(self.norm1)(x)).reshape(len(x), 3, self.heads, -1), 1, 0)
        scores = jnp.einsum("qhd,khd->hqk", q, k) * q.shape[-1] ** -0.5
        weights = jax.nn.softmax(scores.astype(F32), -1).astype(x.dtype)
        out = jnp.einsum("hqk,khd->qhd", weights, v).reshape(x.shape)
        x = x + self.scale1 * jax.vmap(self.proj)(out)
        h = jax.nn.gelu(jax.vmap(self.fc1)(jax.vmap(self.norm2)(x)), approximate=False)
        return x + self.scale2 * jax.vmap(self.fc2)(h)


class DINOv2(eqx.Module):
    patches: eqx.nn.Conv2d
    first: jax.Array
    places: jax.Array
    blocks: list
    norm: eqx.nn.LayerNorm

    def __init__(self, layers, width, heads, side, patch, key):
        k = jax.random.split(key, layers + 1)
        self.patches = eqx.nn.Conv2d(3, width, patch, patch, key=k[-1])
        self.first, self.places = jnp.zeros((1, width)), jnp.zeros((side * side + 1, width))
        self.blocks = [ViTBlock(width, heads, one) for one in k[:layers]]
        self.norm = eqx.nn.LayerNorm(width)

    def __call__(self, picture, taps, run):
        x = self.patches(picture)
        x = jnp.concatenate([self.first, x.reshape(len(x), -1).T]) + self.places
        outs = []
        for layer, block in enumerate(self.blocks):
            x = run(block, x)
            if layer in taps:
                outs.append(jax.vmap(self.norm)(x)[1:])
        return outs


class ResidualUnit(eqx.Module):
    conv1: eqx.nn.Conv2d
    conv2: eqx.nn.Conv2d

    def __init__(self, width, key):
        one, two = jax.random.split(key)
        self.conv1 = eqx.nn.Conv2d(width, width, 3, padding=1, key=one)
        self.conv2 = eqx.nn.Conv2d(width, width, 3, padding=1, key=two)

    def __call__(self, x):
        return x + self.conv2(jax.nn.relu(self.conv1(jax.nn.relu(x))))


def resized(x, side):
    return jax.image.resize(x, (x.shape[0], side, side), "bilinear")


class DPTHead(eqx.Module):
    projects: list
    resizes: list
    layers: list
    units1: list
    units2: list
    outs: list
    output1: eqx.nn.Conv2d
    output2: eqx.nn.Conv2d
    output3: eqx.nn.Conv2d

    def __init__(self, width, channels, features, key):
        k = iter(jax.random.split(key, 40))
        a, b, _, d = channels
        self.projects = [eqx.nn.Conv2d(width, c, 1, key=next(k)) for c in channels]
        self.resizes = [eqx.nn.ConvTranspose2d(a, a, 4, 4, key=next(k)),
                        eqx.nn.ConvTranspose2d(b, b, 2, 2, key=next(k)), eqx.nn.Identity(),
                        eqx.nn.Conv2d(d, d, 3, 2, padding=1, key=next(k))]
        self.layers = [eqx.nn.Conv2d(c, features, 3, padding=1, use_bias=False, key=next(k)) for c in channels]
        self.units1 = [ResidualUnit(features, next(k)) for _ in channels[1:]]
        self.units2 = [ResidualUnit(features, next(k)) for _ in channels]
        self.outs = [eqx.nn.Conv2d(features, features, 1, key=next(k)) for _ in channels]
        self.output1 = eqx.nn.Conv2d(features, features // 2, 3, padding=1, key=next(k))
        self.output2 = eqx.nn.Conv2d(features // 2, 32, 3, padding=1, key=next(k))
        self.output3 = eqx.nn.Conv2d(32, 1, 1, key=next(k))

    def __call__(self, tokens, side, pixels, run):
        maps = []
        for x, project, resize, layer in zip(tokens, self.projects, self.resizes, self.layers):
            maps.append(layer(resize(project(x.T.reshape(-1, side, side)))))
        x = None
        for at in (3, 2, 1, 0):
            x = maps[at] if x is None else x + run(self.units1[at], maps[at])
            x = run(self.units2[at], x)
            x = self.outs[at](resized(x, maps[at - 1].shape[-1] if at else 2 * x.shape[-1]))
        x = jax.nn.relu(self.output2(resized(self.output1(x), pixels)))
        return jax.nn.relu(self.output3(x))[0]


def scale_and_shift_free(depth, truth, seen):
    """Mean distance once the median-like shift and the scale of both are taken out, over pixels that were measured."""
    def normal(d):
        shift = (d * seen).sum((1, 2), keepdims=True) / count
        scale = (jnp.abs(d - shift) * seen).sum((1, 2), keepdims=True) / count
        return (d - shift) / jnp.maximum(scale, 1e-6)
    count = jnp.maximum(seen.sum((1, 2), keepdims=True), 1)
    return ((jnp.abs(normal(depth.astype(F32)) - normal(truth)) * seen).sum((1, 2)) / count[:, 0, 0]).mean()


def frozen_dinov2_depth(layers, width, heads, taps, channels, features, batch, pixels, patch=14, kind=F32):
    def make(arrays, change):
        import optax
        rows, now, side = batch // change.batch_divisor, compute_dtype(change, kind), pixels // patch

        def is_abstract(leaf):
            return isinstance(leaf, jax.ShapeDtypeStruct)

        def build():
            one, two = jax.random.split(jax.random.key(0))
            return (DINOv2(layers, width, heads, side, patch, one), DPTHead(width, channels, features, two))
        shapes, static = eqx.partition(eqx.filter_eval_shape(build), is_abstract)
        frozen, head = cast(shapes, change.stored)
        optimizer = optax.adamw(5e-5, weight_decay=0.01)
        opt_state = jax.eval_shape(optimizer.init, head)

        def run(block, x):
            kept = checkpoint_policy(change)
            return eqx.filter_checkpoint(block, policy=kept)(x) if change.rematerialize else block(x)

        def train_step(head, opt_state, frozen, pictures, truth, seen):
            def loss_of(head, pictures, truth, seen):
                params = jax.tree.map(lambda leaf: leaf.astype(now), (jax.lax.stop_gradient(frozen), head))
                tower, decoder = eqx.combine(params, static)

                def depth_of(picture):
                    return decoder(tower(picture.astype(now), taps, run), side, pixels, run)
                return scale_and_shift_free(jax.vmap(depth_of)(pictures), truth, seen)
            loss, grads = value_and_mean_grad(loss_of, change.parts)(head, pictures, truth, seen)
            updates, opt_state = optimizer.update(grads, opt_state, head)
            return optax.apply_updates(head, updates), opt_state, loss
        pixels_of = arrays.batch((rows, pixels, pixels), F32)
        state = (on_chips(arrays, tree, are_kernels=True) for tree in (head, opt_state, frozen))
        return train_step, (*state, arrays.batch((rows, 3, pixels, pixels), F32), pixels_of, pixels_of), (0, 1)
    return make
