"""A stacked hourglass finds the joints of people (MPII): four hourglasses of residual modules in flax.nnx, heatmaps of
64 x 64 after each, all compared with gaussians that the step draws around the joints. All in float32, with Adam.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

JOINTS = 16


class Residual(nnx.Module):
    """Norms before convolutions: 1 x 1, 3 x 3, 1 x 1."""

    def __init__(self, inputs, outputs, dtype, rngs):
        half = outputs // 2

        def norm(features):
            return nnx.BatchNorm(features, momentum=0.9, epsilon=1e-5, dtype=dtype, rngs=rngs)
        self.norm1, self.norm2, self.norm3 = norm(inputs), norm(half), norm(half)
        self.conv1 = nnx.Conv(inputs, half, (1, 1), dtype=dtype, rngs=rngs)
        self.conv2 = nnx.Conv(half, half, (3, 3), dtype=dtype, rngs=rngs)
        self.conv3 = nnx.Conv(half, outputs, (1, 1), dtype=dtype, rngs=rngs)
        self.skip = nnx.Conv(inputs, outputs, (1, 1), dtype=dtype, rngs=rngs) if inputs != outputs else None

    def __call__(self, x):
        y = self.conv1(nnx.relu(self.norm1(x)))
        y = self.conv2(nnx.relu(self.norm2(y)))
        y = self.conv3(nnx.relu(self.norm3(y)))
        return y + (x if self.skip is None else self.skip(x))


class Hourglass(nnx.Module):
    def __init__(self, depth, features, dtype, rngs):
        self.up = Residual(features, features, dtype, rngs)
        self.before = Residual(features, features, dtype, rngs)
        self.inner = (Hourglass(depth - 1, features, dtype, rngs) if depth > 1
                      else Residual(features, features, dtype, rngs))
        self.after = Residual(features, features, dtype, rngs)

    def __call__(self, x):
        low = nnx.max_pool(x, (2, 2), strides=(2, 2))
        low = self.after(self.inner(self.before(low)))
        rows, height, width, features = low.shape
        low = jax.image.resize(low, (rows, 2 * height, 2 * width, features), "nearest")
        return self.up(x) + low


class Stage(nnx.Module):
    """One hourglass, its heatmaps, and what it hands on to the next."""

    def __init__(self, features, is_last, dtype, rngs):
        def conv(inputs, outputs):
            return nnx.Conv(inputs, outputs, (1, 1), dtype=dtype, rngs=rngs)
        self.hourglass = Hourglass(4, features, dtype, rngs)
        self.residual = Residual(features, features, dtype, rngs)
        self.linear = conv(features, features)
        self.norm = nnx.BatchNorm(features, momentum=0.9, dtype=dtype, rngs=rngs)
        self.predict = conv(features, JOINTS)
        self.merge_features = None if is_last else conv(features, features)
        self.merge_heatmaps = None if is_last else conv(JOINTS, features)

    def __call__(self, x):
        y = self.residual(self.hourglass(x))
        y = nnx.relu(self.norm(self.linear(y)))
        heatmaps = self.predict(y)
        if self.merge_features is not None:
            x = x + self.merge_features(y) + self.merge_heatmaps(heatmaps)
        return x, heatmaps


class PoseNet(nnx.Module):
    def __init__(self, stacks, features, dtype, remat, policy, rngs):
        self.dtype, self.remat, self.policy = dtype, remat, policy
        self.stem = nnx.Conv(3, 64, (7, 7), strides=(2, 2), padding=3, dtype=dtype, rngs=rngs)
        self.stem_norm = nnx.BatchNorm(64, momentum=0.9, dtype=dtype, rngs=rngs)
        self.first = Residual(64, 128, dtype, rngs)
        self.second = Residual(128, 128, dtype, rngs)
        self.third = Residual(128, features, dtype, rngs)
        self.stages = nnx.List([Stage(features, i == stacks - 1, dtype, rngs) for i in range(stacks)])

    def __call__(self, images):
        """[rows, 256, 256, 3] -> [rows, stacks, 64, 64, joints]."""
        x = nnx.relu(self.stem_norm(self.stem(images.astype(self.dtype))))
        x = nnx.max_pool(self.first(x), (2, 2), strides=(2, 2))
        x = self.third(self.second(x))

        def run(stage, x):
            return stage(x)
        if self.remat:
            run = nnx.remat(run, policy=self.policy)
        heatmaps = []
        for stage in self.stages:
            x, predicted = run(stage, x)
            heatmaps.append(predicted)
        return jnp.stack(heatmaps, axis=1).astype(F32)


def drawn(joints, size, sigma=1.0):
    """Gaussians of [rows, joints, (x, y, visible)] in pixels of heatmaps; and which joints count."""
    x, y, visible = joints[..., 0], joints[..., 1], joints[..., 2] > 0
    line = jnp.arange(size, dtype=F32)
    gx = jnp.exp(-jnp.square(line - x[..., None]) / (2 * sigma ** 2))
    gy = jnp.exp(-jnp.square(line - y[..., None]) / (2 * sigma ** 2))
    inside = (x >= 0) & (y >= 0) & (x < size) & (y < size)
    return jnp.einsum("bjy,bjx->byxj", gy, gx), (visible & inside).astype(F32)


def found(heatmaps):
    rows, height, width, joints = heatmaps.shape
    best = heatmaps.reshape(rows, height * width, joints).argmax(1)
    return jnp.stack([best % width, best // width], axis=-1).astype(F32)


def hourglass(stacks, features, size, batch, kind=F32):
    def make(arrays, change):
        rows, out = batch // change.batch_divisor, size // 4

        def build():
            return PoseNet(stacks, features, compute_dtype(change, kind), change.rematerialize,
                           checkpoint_policy(change), nnx.Rngs(0))
        graph, params, stats = nnx.split(nnx.eval_shape(build), nnx.Param, nnx.BatchStat)
        params, stats = cast(params, change.stored), cast(stats, change.stored)
        optimizer = optax.adam(optax.piecewise_constant_schedule(5e-4, {60_000: 0.1, 90_000: 0.1}))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, stats, images, joints):
            def loss_fn(params, _, images, joints):
                model = nnx.merge(graph, params, stats, copy=True)
                heatmaps = model(images / 255.0 - 0.5)
                targets, counts = drawn(joints, out)
                errors = jnp.square(heatmaps - targets[:, None]).mean((2, 3))
                loss = (errors * counts[:, None]).mean((0, 2)).sum()
                distance = jnp.linalg.norm(found(heatmaps[:, -1]) - joints[..., :2], axis=-1)
                pck = ((distance < 0.1 * out) * counts).sum() / jnp.maximum(counts.sum(), 1.0)
                return loss, (pck, nnx.state(model, nnx.BatchStat))
            loss, (pck, new_stats), grads = summed_slopes(loss_fn, change.parts)(params, None, images, joints)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            stats = jax.tree.map(lambda new, old: new.mean(0).astype(old.dtype), new_stats, stats)
            return params, opt_state, stats, {"loss": loss, "pck": pck.mean()}

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, stats),
                            arrays.batch((rows, size, size, 3), F32), arrays.batch((rows, JOINTS, 3), F32)), (0, 1, 2)
    return make


FAMILY = {"league_hourglass": dict(
    make=hourglass(stacks=4, features=256, size=256, batch=64),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
