"""CenterNet upon ViTDet, in the manner of scenic's project: flax linen, windows but for four blocks, a simple pyramid.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Positions within a window, or a picture,
are relative and decomposed; heat of classes and distances to a box's sides come from towers shared by all levels.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import computing, policy_of
from advice_board_training import F32, decayed, optax_step

STRIDES = (8, 16, 32, 64, 128)
RANGES = ((0, 80), (64, 160), (128, 320), (256, 640), (512, 1e7))
MEAN, SPREAD = (103.53, 116.28, 123.675), (57.375, 57.12, 58.395)


def windowed(x, window):
    rows, high, wide, width = x.shape
    more = -high % window, -wide % window
    x = jnp.pad(x, ((0, 0), (0, more[0]), (0, more[1]), (0, 0)))
    counts = x.shape[1] // window, x.shape[2] // window
    x = x.reshape(rows, counts[0], window, counts[1], window, width).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(-1, window, window, width), counts


def unwindowed(x, counts, high, wide):
    window, width = x.shape[1], x.shape[-1]
    x = x.reshape(-1, *counts, window, window, width).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(x.shape[0], counts[0] * window, counts[1] * window, width)[:, :high, :wide]


def centernet(change, now, layers, width, heads, window, whole, grid, classes):
    import flax.linen as nn
    side = width // heads

    class Attention(nn.Module):
        size: tuple

        @nn.compact
        def __call__(self, x):
            rows, high, wide, _ = x.shape
            count = high * wide
            qkv = nn.Dense(3 * width, dtype=now, name="qkv")(x).reshape(rows, count, 3, heads, side)
            q, k, v = (qkv[:, :, one].transpose(0, 2, 1, 3).reshape(rows * heads, count, side) for one in range(3))
            scores = jnp.einsum("nqd,nkd->nqk", q * side ** -0.5, k)
            apart = {}
            for name, long in (("rel_pos_h", high), ("rel_pos_w", wide)):
                table = self.param(name, nn.initializers.zeros, (2 * self.size[name == "rel_pos_w"] - 1, side))
                apart[name] = table.astype(now)[jnp.arange(long)[:, None] - jnp.arange(long) + long - 1]
            across = q.reshape(-1, high, wide, side)
            down, over = (jnp.einsum("nhwd,hkd->nhwk", across, apart["rel_pos_h"]),
                          jnp.einsum("nhwd,wkd->nhwk", across, apart["rel_pos_w"]))
            scores = scores.reshape(-1, high, wide, high, wide) + down[..., None] + over[..., None, :]
            weights = nn.softmax(scores.reshape(-1, high * wide, high * wide))
            mixed = jnp.einsum("nqk,nkd->nqd", weights, v).reshape(rows, heads, high, wide, side)
            return nn.Dense(width, dtype=now, name="proj")(mixed.transpose(0, 2, 3, 1, 4).reshape(x.shape))

    class Block(nn.Module):
        window: int

        @nn.compact
        def __call__(self, x):
            h = nn.LayerNorm(epsilon=1e-6, dtype=now, name="norm1")(x)
            if self.window:
                h, counts = windowed(h, self.window)
            h = Attention(h.shape[1:3], name="attn")(h)
            if self.window:
                h = unwindowed(h, counts, *x.shape[1:3])
            x = x + h
            h = nn.LayerNorm(epsilon=1e-6, dtype=now, name="norm2")(x)
            h = nn.gelu(nn.Dense(4 * width, dtype=now, name="fc1")(h), approximate=False)
            return x + nn.Dense(width, dtype=now, name="fc2")(h)

    class ViT(nn.Module):
        @nn.compact
        def __call__(self, x):
            block = nn.remat(Block, policy=policy_of(change)) if change.rematerialize else Block
            x = nn.Conv(width, (16, 16), (16, 16), padding="VALID", dtype=now, name="patch_embed")(x)
            x = x + self.param("pos_embed", nn.initializers.truncated_normal(0.02), (1, *grid, width)).astype(now)
            for number in range(layers):
                x = block(0 if number in whole else window, name=f"blocks.{number}")(x)
            return x

    class SimplePyramid(nn.Module):
        @nn.compact
        def __call__(self, x):
            finer = nn.ConvTranspose(width // 2, (2, 2), (2, 2), dtype=now, name="up")(x)
            coarser = nn.max_pool(x, (2, 2), (2, 2))
            levels = []
            for number, level in enumerate((finer, x, coarser)):
                level = nn.Conv(256, (1, 1), use_bias=False, dtype=now, name=f"lateral{number}")(level)
                level = nn.LayerNorm(dtype=now, name=f"lateral_norm{number}")(level)
                level = nn.Conv(256, (3, 3), use_bias=False, dtype=now, name=f"out{number}")(level)
                levels.append(nn.LayerNorm(dtype=now, name=f"out_norm{number}")(level))
            for number in (6, 7):
                level = nn.Conv(256, (3, 3), (2, 2), padding=1, dtype=now, name=f"p{number}")(nn.relu(levels[-1]))
                levels.append(level)
            return levels

    class Head(nn.Module):
        def setup(self):
            self.convs = {name: [nn.Conv(256, (3, 3), dtype=now) for _ in range(4)] for name in ("cls", "bbox")}
            self.norms = {name: [nn.GroupNorm(32, dtype=now) for _ in range(4)] for name in ("cls", "bbox")}
            self.scales = [self.param(f"scale{number}", nn.initializers.ones, ()) for number in range(len(STRIDES))]
            self.heat = nn.Conv(classes, (3, 3), dtype=now, bias_init=nn.initializers.constant(-4.6))
            self.sides = nn.Conv(4, (3, 3), dtype=now, bias_init=nn.initializers.constant(8.0))

        def __call__(self, levels):
            heats, sides = [], []
            for number, level in enumerate(levels):
                towers = {"cls": level, "bbox": level}
                for name in towers:
                    for conv, norm in zip(self.convs[name], self.norms[name]):
                        towers[name] = nn.relu(norm(conv(towers[name])))
                heats.append(self.heat(towers["cls"]).reshape(level.shape[0], -1, classes))
                far = nn.relu(self.sides(towers["bbox"]) * self.scales[number].astype(now))
                sides.append(far.reshape(level.shape[0], -1, 4))
            return jnp.concatenate(heats, 1).astype(F32), jnp.concatenate(sides, 1).astype(F32)

    class CenterNet(nn.Module):
        @nn.compact
        def __call__(self, images):
            x = (images.astype(F32) - jnp.array(MEAN)) / jnp.array(SPREAD)
            features = ViT(name="backbone")(x.astype(now))
            return Head(name="head")(SimplePyramid(name="pyramid")(features))
    return CenterNet()


def all_places(pixels):
    """Centers of every level's cells, their strides and the sizes of boxes that each level is for."""
    centers, strides, ranges = [], [], []
    for stride, wanted in zip(STRIDES, RANGES):
        cells = (jnp.arange(-(-pixels // stride)) + 0.5) * stride
        centers.append(jnp.stack(jnp.meshgrid(cells, cells), -1).reshape(-1, 2))
        strides.append(jnp.full(cells.size ** 2, float(stride)))
        ranges.append(jnp.tile(jnp.array(wanted, F32), (cells.size ** 2, 1)))
    return jnp.concatenate(centers), jnp.concatenate(strides), jnp.concatenate(ranges)


def targets_of(boxes, labels, places, classes):
    """Of one picture: heat [places, classes], distances to the sides of a place's box, and which places have one."""
    centers, strides, ranges = places
    near, far = boxes[:, :2], boxes[:, 2:]
    sides = jnp.concatenate([centers[:, None] - near, far - centers[:, None]], -1)
    middle = (jnp.floor((near + far) / 2 / strides[:, None, None]) + 0.5) * strides[:, None, None]
    apart = jnp.abs(centers[:, None] - middle)
    size = jnp.sqrt(jnp.square(far - near).sum(-1)) / 2
    fits = (size >= ranges[:, :1]) & (size <= ranges[:, 1:]) & (labels >= 0)
    holds = (sides.min(-1) > 0) & (apart.max(-1) <= strides[:, None]) & fits
    area = jnp.where(holds, (far - near).prod(-1), 1e8)
    chosen = area.argmin(1)
    is_place = holds.any(1)
    spread = 2 * jnp.square(0.8 / 3 * size).clip(16)
    heat = jnp.exp(-jnp.square(centers[:, None] - middle).sum(-1) / spread) * fits
    by_class = (heat[..., None] * jax.nn.one_hot(labels, classes)).max(1)
    return by_class, jnp.take_along_axis(sides, chosen[:, None, None], 1)[:, 0] / strides[:, None], is_place


def overlap_loss(told, wanted):
    """Of generalized intersection over union, of distances to sides."""
    def area(sides):
        return (sides[..., 0] + sides[..., 2]) * (sides[..., 1] + sides[..., 3])
    shared, around = area(jnp.minimum(told, wanted)), area(jnp.maximum(told, wanted))
    joined = area(told) + area(wanted) - shared
    return 1 - shared / (joined + 1e-6) + (around - joined) / (around + 1e-6)


def trained_detector(layers, width, heads, batch, pixels, window=14, whole=(2, 5, 8, 11), classes=80, most=100,
                     kind=F32):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        model = centernet(change, now, layers, width, heads, window, whole, (pixels // 16,) * 2, classes)
        one = jax.ShapeDtypeStruct((1, pixels, pixels, 3), F32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), one)["params"]

        def loss_of(params, images, boxes, labels):
            heat, sides = model.apply({"params": params}, images)
            places = all_places(pixels)
            wanted, far, is_place = jax.vmap(lambda box, label: targets_of(box, label, places, classes))(
                boxes.astype(F32), labels)
            count = jnp.maximum(is_place.sum(), 1)
            p = jnp.clip(jax.nn.sigmoid(heat), 1e-4, 1 - 1e-4)
            is_center = wanted >= 0.999
            losses = jnp.where(is_center, -0.25 * jnp.square(1 - p) * jnp.log(p),
                               -0.75 * (1 - wanted) ** 4 * jnp.square(p) * jnp.log(1 - p))
            boxed = (overlap_loss(sides, far.clip(0)) * is_place).sum() / count
            return losses.sum() / count + 2 * boxed
        layered = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-4, weight_decay=0.1, mask=decayed))
        return optax_step(arrays, change, shapes, loss_of, layered,
                          arrays.batch((rows, pixels, pixels, 3), jnp.uint8),
                          arrays.batch((rows, most, 4), F32), arrays.batch((rows, most), jnp.int32))
    return make
