"""R(2+1)D-18 learns Kinetics-400: each 3D convolution is one over a frame, then one over time, with batch norm between.

In flax nnx: the model is split into its graph, parameters and running statistics, and merged again within the loss.
Clips of 16 frames of 112 pixels; all in float32, SGD with momentum.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, like, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype


def conv3d(inputs, outputs, kernel, strides, dtype, rngs):
    return nnx.Conv(inputs, outputs, kernel, strides, padding=[(k // 2, k // 2) for k in kernel], use_bias=False,
                    dtype=dtype, kernel_init=nnx.initializers.variance_scaling(2.0, "fan_out", "normal"), rngs=rngs)


def batch_norm(features, dtype, rngs):
    return nnx.BatchNorm(features, momentum=0.9, epsilon=1e-5, dtype=dtype, rngs=rngs)


class Conv2Plus1D(nnx.Module):
    def __init__(self, inputs, outputs, stride, dtype, rngs):
        # as many weights as a full 3x3x3 kernel would have
        between = inputs * outputs * 27 // (inputs * 9 + 3 * outputs)
        self.spatial = conv3d(inputs, between, (1, 3, 3), (1, stride, stride), dtype, rngs)
        self.norm = batch_norm(between, dtype, rngs)
        self.temporal = conv3d(between, outputs, (3, 1, 1), (stride, 1, 1), dtype, rngs)

    def __call__(self, x):
        return self.temporal(nnx.relu(self.norm(self.spatial(x))))


class BasicBlock(nnx.Module):
    def __init__(self, inputs, outputs, stride, dtype, rngs):
        self.conv1 = Conv2Plus1D(inputs, outputs, stride, dtype, rngs)
        self.bn1 = batch_norm(outputs, dtype, rngs)
        self.conv2 = Conv2Plus1D(outputs, outputs, 1, dtype, rngs)
        self.bn2 = batch_norm(outputs, dtype, rngs)
        self.is_projected = stride != 1 or inputs != outputs
        if self.is_projected:
            self.shortcut = conv3d(inputs, outputs, (1, 1, 1), (stride,) * 3, dtype, rngs)
            self.shortcut_bn = batch_norm(outputs, dtype, rngs)

    def __call__(self, x):
        y = nnx.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.is_projected:
            x = self.shortcut_bn(self.shortcut(x))
        return nnx.relu(x + y)


class VideoResNet(nnx.Module):
    def __init__(self, depths, widths, classes, dtype, remat, policy, *, rngs):
        self.stem_spatial = conv3d(3, 45, (1, 7, 7), (1, 2, 2), dtype, rngs)
        self.stem_bn1 = batch_norm(45, dtype, rngs)
        self.stem_temporal = conv3d(45, widths[0], (3, 1, 1), (1, 1, 1), dtype, rngs)
        self.stem_bn2 = batch_norm(widths[0], dtype, rngs)
        blocks, width = [], widths[0]
        for stage, (depth, outputs) in enumerate(zip(depths, widths)):
            for i in range(depth):
                blocks.append(BasicBlock(width, outputs, 2 if stage and i == 0 else 1, dtype, rngs))
                width = outputs
        self.blocks = nnx.List(blocks)
        self.fc = nnx.Linear(width, classes, dtype=dtype, rngs=rngs)
        self.remat, self.policy = remat, policy

    def __call__(self, x):
        x = nnx.relu(self.stem_bn1(self.stem_spatial(x)))
        x = nnx.relu(self.stem_bn2(self.stem_temporal(x)))
        run = nnx.remat(lambda block, h: block(h), policy=self.policy) if self.remat else (lambda block, h: block(h))
        for block in self.blocks:
            x = run(block, x)
        return self.fc(jnp.mean(x, axis=(1, 2, 3)))


def video_r2plus1d(depths, widths, batch, frames=16, side=112, classes=400, kind=F32):
    def make(arrays, change):
        rows, length = batch // change.batch_divisor, frames // change.length_divisor
        now = compute_dtype(change, kind)
        model = nnx.eval_shape(lambda: VideoResNet(depths, widths, classes, now, change.rematerialize,
                                                   checkpoint_policy(change), rngs=nnx.Rngs(0)))
        graph, params, stats = nnx.split(model, nnx.Param, nnx.BatchStat)
        params = cast(params, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(1e-3, 0.32, 10 * 2500, 45 * 2500)
        optimizer = optax.chain(optax.add_decayed_weights(1e-4), optax.sgd(schedule, momentum=0.9))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, stats, clips, labels):
            def loss_fn(params, _, clips, labels):
                model = nnx.merge(graph, params, stats, copy=True)
                model.train()
                logits = model(clips.astype(now)).astype(F32)
                loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
                top5 = jnp.any(jax.lax.top_k(logits, 5)[1] == labels[:, None], axis=-1).mean()
                return loss, (nnx.state(model, nnx.BatchStat), top5)

            loss, (new_stats, top5), grads = summed_slopes(loss_fn, change.parts)(params, None, clips, labels)
            new_stats = like(jax.tree.map(lambda s: s.mean(0), new_stats), stats)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, new_stats, {"loss": loss, "top5": top5.mean()}

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, stats),
                            arrays.batch((rows, length, side, side, 3), F32),
                            arrays.batch((rows,), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"round_video": dict(
    make=video_r2plus1d((2, 2, 2, 2), (64, 128, 256, 512), batch=96), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
