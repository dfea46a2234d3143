"""Point Transformer labels the points of rooms (S3DIS, blocks of 4096 points), in Haiku and all in float32.

Farthest points are sampled, neighbours found by all distances and gathered; blocks attend to 16 neighbours with vectors
of weights shared by groups of channels; batch norm throughout, max pooling down, interpolation of three up. SGD.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, cross_entropy

CLASSES, NEIGHBOURS, SHARED = 13, 16, 8


def squared_distances(a, b):
    """[rows, n, 3], [rows, m, 3] -> [rows, n, m]."""
    return (jnp.square(a).sum(-1)[:, :, None] + jnp.square(b).sum(-1)[:, None, :]
            - 2 * jnp.einsum("bnc,bmc->bnm", a, b))


def nearest(a, b, count):
    values, indices = jax.lax.top_k(-squared_distances(a, b), count)
    return -values, indices


def gathered(x, indices):
    """[rows, n, c] at [rows, m, k] -> [rows, m, k, c]."""
    return jax.vmap(lambda one, at: one[at])(x, indices)


def farthest_points(xyz, count):
    def of_one(points):
        def body(i, state):
            chosen, distances, last = state
            chosen = chosen.at[i].set(last)
            distances = jnp.minimum(distances, jnp.square(points - points[last]).sum(-1))
            return chosen, distances, jnp.argmax(distances).astype(jnp.int32)
        start = jnp.zeros((count,), jnp.int32), jnp.full((points.shape[0],), 1e10), jnp.zeros((), jnp.int32)
        return jax.lax.fori_loop(0, count, body, start)[0]
    return jax.lax.stop_gradient(jax.vmap(of_one)(xyz))


def norm(x):
    return hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.9, eps=1e-5)(x, is_training=True)


def linear_norm(x, width):
    return jax.nn.relu(norm(hk.Linear(width, with_bias=False)(x)))


class VectorAttention(hk.Module):
    def __call__(self, x, offsets, indices):
        width = x.shape[-1]
        q, k, v = hk.Linear(width, name="q")(x), hk.Linear(width, name="k")(x), hk.Linear(width, name="v")(x)
        k, v = gathered(k, indices), gathered(v, indices)
        place = hk.Linear(width, name="place")(linear_norm(offsets, 3))
        w = k - q[:, :, None] + place
        w = hk.Linear(width // SHARED, name="weigh")(jax.nn.relu(norm(w)))
        w = hk.Linear(width // SHARED, name="weigh_again")(jax.nn.relu(norm(w)))
        w = jax.nn.softmax(w, axis=2)
        mixed = (v + place).reshape(*v.shape[:3], SHARED, width // SHARED) * w[..., None, :]
        return mixed.sum(2).reshape(x.shape)


class Block(hk.Module):
    def __call__(self, x, offsets, indices):
        width = x.shape[-1]
        y = linear_norm(x, width)
        y = jax.nn.relu(norm(VectorAttention()(y, offsets, indices)))
        return jax.nn.relu(x + norm(hk.Linear(width, with_bias=False)(y)))


def around(xyz, dtype):
    _, indices = nearest(xyz, xyz, min(NEIGHBOURS, xyz.shape[1]))
    return (gathered(xyz, indices) - xyz[:, :, None]).astype(dtype), indices


def down(xyz, x, width):
    picked = farthest_points(xyz, xyz.shape[1] // 4)
    centres = jnp.take_along_axis(xyz, picked[..., None], axis=1)
    _, indices = nearest(centres, xyz, NEIGHBOURS)
    offsets = (gathered(xyz, indices) - centres[:, :, None]).astype(x.dtype)
    grouped = jnp.concatenate([offsets, gathered(x, indices)], axis=-1)
    return centres, linear_norm(grouped, width).max(2)


def up(xyz, x, coarse_xyz, coarse, width):
    distances, indices = nearest(xyz, coarse_xyz, 3)
    weights = 1.0 / (jnp.maximum(distances, 0.0) + 1e-8)
    weights = (weights / weights.sum(-1, keepdims=True)).astype(x.dtype)
    spread = (gathered(linear_norm(coarse, width), indices) * weights[..., None]).sum(2)
    return linear_norm(x, width) + spread


class PointTransformer(hk.Module):
    def __init__(self, widths, depths, change, dtype):
        super().__init__(name="point_transformer")
        self.widths, self.depths, self.change, self.dtype = widths, depths, change, dtype

    def blocks(self, x, neighbours, count, name):
        for i in range(count):
            block = Block(name=f"{name}_{i}")
            if self.change.rematerialize:
                block = hk.remat(block, policy=checkpoint_policy(self.change))
            x = block(x, *neighbours)
        return x

    def __call__(self, xyz, features):
        x = linear_norm(jnp.concatenate([xyz, features], axis=-1).astype(self.dtype), self.widths[0])
        levels = []
        for i, (width, depth) in enumerate(zip(self.widths, self.depths)):
            if i:
                xyz, x = down(xyz, x, width)
            neighbours = around(xyz, self.dtype)
            x = self.blocks(x, neighbours, depth, f"encode_{i}")
            levels.append((xyz, x, neighbours))
        x = linear_norm(x + linear_norm(x.mean(1, keepdims=True), self.widths[-1]), self.widths[-1])
        for i in reversed(range(len(levels) - 1)):
            fine_xyz, fine, neighbours = levels[i]
            x = up(fine_xyz, fine, levels[i + 1][0], x, self.widths[i])
            x = self.blocks(x, neighbours, 1, f"decode_{i}")
        return hk.Linear(CLASSES, name="head")(linear_norm(x, self.widths[0]))


def pointnet(widths, depths, points, batch, kind=F32):
    def make(arrays, change):
        rows, seen = batch // change.batch_divisor, points // change.length_divisor
        now = compute_dtype(change, kind)
        net = hk.without_apply_rng(hk.transform_with_state(
            lambda xyz, features: PointTransformer(widths, depths, change, now)(xyz, features)))
        example = jax.ShapeDtypeStruct((rows, seen, 3), F32), jax.ShapeDtypeStruct((rows, seen, 6), F32)
        params, stats = jax.eval_shape(net.init, jax.random.key(0), *example)
        params, stats = cast(params, change.stored), cast(stats, change.stored)
        schedule = optax.piecewise_constant_schedule(0.5, {60_000: 0.1, 80_000: 0.1})
        optimizer = optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(schedule, momentum=0.9))
        opt_state = jax.eval_shape(optimizer.init, params)

        def augmented(key, xyz):
            turn, size, jitter = jax.random.split(key, 3)
            angle = jax.random.uniform(turn, (xyz.shape[0],), maxval=2 * jnp.pi)
            c, s, zero, one = jnp.cos(angle), jnp.sin(angle), jnp.zeros_like(angle), jnp.ones_like(angle)
            spin = jnp.stack([c, -s, zero, s, c, zero, zero, zero, one], axis=-1).reshape(-1, 3, 3)
            scale = jax.random.uniform(size, (xyz.shape[0], 1, 1), minval=0.9, maxval=1.1)
            noise = jnp.clip(0.01 * jax.random.normal(jitter, xyz.shape), -0.05, 0.05)
            return jnp.einsum("bnc,bcd->bnd", xyz, spin) * scale + noise

        def train_step(params, stats, opt_state, key, xyz, features, labels):
            def loss_fn(params, key, xyz, features, labels):
                weights = jax.tree.map(lambda p: p.astype(now), params)
                logits, new_stats = net.apply(weights, stats, augmented(key, xyz), features)
                known = labels >= 0
                loss = cross_entropy(logits, jnp.maximum(labels, 0), known)
                right = ((logits.argmax(-1) == labels) & known).sum() / jnp.maximum(known.sum(), 1)
                return loss, (right, new_stats)
            key, own = jax.random.split(key)
            loss, (right, new_stats), grads = summed_slopes(loss_fn, change.parts)(
                params, own, xyz, features, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            stats = jax.tree.map(lambda new, old: new.astype(F32).mean(0).astype(old.dtype), new_stats, stats)
            return params, stats, opt_state, key, {"loss": loss, "accuracy": right.mean()}
        states = [laid_out(arrays, tree) for tree in (params, stats, opt_state)]
        return train_step, (*states, raw_key(arrays), arrays.batch((rows, seen, 3), F32),
                            arrays.batch((rows, seen, 6), F32), arrays.batch((rows, seen), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"league_pointnet": dict(
    make=pointnet(widths=(32, 64, 128, 256, 512), depths=(1, 2, 3, 5, 2), points=4096, batch=32),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
