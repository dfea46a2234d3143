"""RetinaNet with a ResNet-50 and a feature pyramid learns to find the objects of COCO, all in float32.

In flax linen. Batch norms are frozen, and nothing is learned up to the first stage. Anchors of nine shapes at each
place of five levels are matched to the boxes of each picture on the chip; classes have the focal loss, boxes a
smooth L1.
"""
from functools import partial
from typing import Any

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, decayed

LEVELS, SHAPES = (3, 4, 5, 6, 7), 9


class FrozenBatchNorm(nn.Module):
    """Scale and shift of a trained batch norm, as constants."""
    dtype: Any

    @nn.compact
    def __call__(self, x):
        def constant(name, value):
            return self.variable("frozen", name, jnp.full, (x.shape[-1],), value).value.astype(F32)
        scale = constant("scale", 1.0) * jax.lax.rsqrt(constant("var", 1.0) + 1e-5)
        shift = constant("bias", 0.0) - constant("mean", 0.0) * scale
        return x * scale.astype(self.dtype) + shift.astype(self.dtype)


class Bottleneck(nn.Module):
    features: int
    stride: int
    dtype: Any

    @nn.compact
    def __call__(self, x):
        conv = partial(nn.Conv, use_bias=False, dtype=self.dtype)
        s = (self.stride, self.stride)
        y = nn.relu(FrozenBatchNorm(self.dtype, name="bn1")(conv(self.features, (1, 1), name="conv1")(x)))
        y = nn.relu(FrozenBatchNorm(self.dtype, name="bn2")(conv(self.features, (3, 3), s, name="conv2")(y)))
        y = FrozenBatchNorm(self.dtype, name="bn3")(conv(4 * self.features, (1, 1), name="conv3")(y))
        if x.shape != y.shape:
            x = FrozenBatchNorm(self.dtype, name="bn0")(conv(4 * self.features, (1, 1), s, name="conv0")(x))
        return nn.relu(x + y)


class Head(nn.Module):
    """Four convolutions and an output, the same at every level."""
    outputs: int
    bias: float
    dtype: Any

    def setup(self):
        conv = partial(nn.Conv, kernel_size=(3, 3), dtype=self.dtype, kernel_init=nn.initializers.normal(0.01))
        self.tower = [conv(256) for _ in range(4)]
        self.output = conv(SHAPES * self.outputs, bias_init=nn.initializers.constant(self.bias))

    def __call__(self, x):
        for conv in self.tower:
            x = nn.relu(conv(x))
        return self.output(x).reshape(x.shape[0], -1, self.outputs)


class RetinaNet(nn.Module):
    classes: int
    depths: tuple
    dtype: Any
    remat: bool
    policy: Any

    @nn.compact
    def __call__(self, images):
        Block, ItsHead = ((nn.remat(k, policy=self.policy) if self.remat else k) for k in (Bottleneck, Head))
        x = nn.Conv(64, (7, 7), (2, 2), use_bias=False, dtype=self.dtype, name="conv_stem")(images.astype(self.dtype))
        x = nn.max_pool(nn.relu(FrozenBatchNorm(self.dtype, name="bn_stem")(x)), (3, 3), (2, 2), "SAME")
        stages = []
        for i, depth in enumerate(self.depths):
            for j in range(depth):
                x = Block(64 * 2 ** i, 2 if i and j == 0 else 1, self.dtype, name=f"res{i + 2}_{j}")(x)
            x = jax.lax.stop_gradient(x) if i == 0 else x
            stages.append(x)
        c3, c4, c5 = stages[1:]
        lateral = lambda c, name: nn.Conv(256, (1, 1), dtype=self.dtype, name=name)(c)  # noqa: E731
        smooth = lambda p, name, s=1: nn.Conv(256, (3, 3), (s, s), dtype=self.dtype, name=name)(p)  # noqa: E731

        def enlarged(p, like):
            return jax.image.resize(p, (*like.shape[:3], p.shape[-1]), "nearest")
        p5 = lateral(c5, "lateral5")
        p4 = lateral(c4, "lateral4")
        p4 = p4 + enlarged(p5, p4)
        p3 = lateral(c3, "lateral3")
        p3 = p3 + enlarged(p4, p3)
        p6 = smooth(c5, "p6", 2)
        p7 = smooth(nn.relu(p6), "p7", 2)
        pyramid = [smooth(p3, "out3"), smooth(p4, "out4"), smooth(p5, "out5"), p6, p7]
        class_head = ItsHead(self.classes, -float(np.log(99.0)), self.dtype, name="class_head")
        box_head = ItsHead(4, 0.0, self.dtype, name="box_head")
        return (jnp.concatenate([class_head(p) for p in pyramid], axis=1).astype(F32),
                jnp.concatenate([box_head(p) for p in pyramid], axis=1).astype(F32))


def all_anchors(size):
    """[anchors, 4] as y0, x0, y1, x1."""
    found = []
    for level in LEVELS:
        stride = 2 ** level
        count = -(-size // stride)
        centers = (np.arange(count) + 0.5) * stride
        y, x = np.meshgrid(centers, centers, indexing="ij")
        shapes = np.array([(4 * stride * 2 ** (o / 3) * np.sqrt(r), 4 * stride * 2 ** (o / 3) / np.sqrt(r))
                           for o in range(3) for r in (0.5, 1.0, 2.0)])
        middle = np.stack([y, x], -1).reshape(-1, 1, 2)
        found.append(np.concatenate([middle - shapes / 2, middle + shapes / 2], -1).reshape(-1, 4))
    return np.concatenate(found).astype(np.float32)


def box_iou(a, b):
    top_left = jnp.maximum(a[:, None, :2], b[None, :, :2])
    bottom_right = jnp.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = jnp.prod(jnp.maximum(bottom_right - top_left, 0), axis=-1)
    area = lambda boxes: jnp.prod(boxes[:, 2:] - boxes[:, :2], axis=-1)  # noqa: E731
    return shared / jnp.maximum(area(a)[:, None] + area(b)[None] - shared, 1e-6)


def encoded(anchors, boxes):
    size, its = anchors[:, 2:] - anchors[:, :2], jnp.maximum(boxes[:, 2:] - boxes[:, :2], 1.0)
    shift = ((boxes[:, :2] + boxes[:, 2:]) - (anchors[:, :2] + anchors[:, 2:])) / (2 * size)
    return jnp.concatenate([shift / 0.1, jnp.log(its / size) / 0.2], axis=-1)


def picture_loss(anchors, logits, offsets, boxes, classes):
    """Of one picture; boxes are padded, and the classes of padding are -1."""
    iou = jnp.where(classes[None] >= 0, box_iou(anchors, boxes), -1.0)
    best, which = iou.max(axis=1), iou.argmax(axis=1)
    is_object, is_ignored = best >= 0.5, (best >= 0.4) & (best < 0.5)
    targets = jax.nn.one_hot(classes[which], logits.shape[-1]) * is_object[:, None]
    focal = optax.sigmoid_focal_loss(logits, targets, alpha=0.25, gamma=2.0).sum(-1)
    smooth = optax.huber_loss(offsets, encoded(anchors, boxes[which]), delta=0.1).sum(-1)
    count = jnp.maximum(is_object.sum(), 1)
    return jnp.where(is_ignored, 0.0, focal).sum() / count, jnp.where(is_object, smooth, 0.0).sum() / count


def retina_coco(depths, batch, size, classes=80, boxes=100, kind=F32):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        model = RetinaNet(classes, depths, compute_dtype(change, kind), change.rematerialize, checkpoint_policy(change))
        made = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, size, size, 3)))
        params, frozen = cast(made["params"], change.stored), cast(made["frozen"], change.stored)
        schedule = optax.join_schedules([optax.linear_schedule(1e-5, 0.02, 500),
                                         optax.piecewise_constant_schedule(0.02, {59_500: 0.1, 79_500: 0.1})], [500])
        optimizer = optax.chain(optax.add_decayed_weights(1e-4, mask=decayed), optax.sgd(schedule, momentum=0.9))
        opt_state = jax.eval_shape(optimizer.init, params)
        anchors = all_anchors(size)

        def train_step(params, opt_state, frozen, images, gt_boxes, gt_classes):
            def loss_fn(params, _, images, gt_boxes, gt_classes):
                logits, offsets = model.apply({"params": params, "frozen": frozen}, images)
                per_picture = jax.vmap(partial(picture_loss, anchors))
                focal, box = per_picture(logits, offsets, gt_boxes.astype(F32), gt_classes)
                return focal.mean() + box.mean(), {"class_loss": focal.mean(), "box_loss": box.mean()}

            loss, parts, grads = summed_slopes(loss_fn, change.parts)(params, None, images, gt_boxes, gt_classes)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, parts)}

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, frozen),
                            arrays.batch((rows, size, size, 3), F32), arrays.batch((rows, boxes, 4), F32),
                            arrays.batch((rows, boxes), jnp.int32)), (0, 1)
    return make


FAMILY = {"round_retina": dict(
    make=retina_coco((3, 4, 6, 3), batch=32, size=640), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
