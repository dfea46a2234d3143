"""SegFormer-B2 learns the 150 classes of ADE20K in crops of 512 pixels, in flax linen and float32.

Four stages of tokens at strides 4 to 32; attention whose keys are of a coarser grid, a depthwise convolution in the
feed-forward, and a head that joins all stages at stride 4. Logits are resized to the crop before the cross entropy.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, decayed

IGNORED = 255
MEAN, STD = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


class DropPath(nn.Module):
    rate: float

    @nn.compact
    def __call__(self, x):
        if self.rate == 0.0:
            return x
        kept = jax.random.bernoulli(self.make_rng("dropout"), 1.0 - self.rate, (x.shape[0], 1, 1))
        return jnp.where(kept, x / (1.0 - self.rate), 0.0).astype(x.dtype)


class EfficientAttention(nn.Module):
    heads: int
    ratio: int
    dtype: object

    @nn.compact
    def __call__(self, x, grid):
        b, n, c = x.shape
        q = nn.Dense(c, dtype=self.dtype, name="q")(x).reshape(b, n, self.heads, c // self.heads)
        if self.ratio > 1:
            x = nn.Conv(c, (self.ratio, self.ratio), (self.ratio, self.ratio), padding="VALID", dtype=self.dtype,
                        name="sr")(x.reshape(b, *grid, c))
            x = nn.LayerNorm(dtype=self.dtype, name="norm")(x.reshape(b, -1, c))
        kv = nn.Dense(2 * c, dtype=self.dtype, name="kv")(x).reshape(b, -1, 2, self.heads, c // self.heads)
        out = nn.dot_product_attention(q, kv[:, :, 0], kv[:, :, 1], dtype=self.dtype)
        return nn.Dense(c, dtype=self.dtype, name="proj")(out.reshape(b, n, c))


class MixFFN(nn.Module):
    hidden: int
    dtype: object

    @nn.compact
    def __call__(self, x, grid):
        b, n, c = x.shape
        h = nn.Dense(self.hidden, dtype=self.dtype, name="fc1")(x).reshape(b, *grid, self.hidden)
        h = nn.Conv(self.hidden, (3, 3), feature_group_count=self.hidden, dtype=self.dtype, name="dwconv")(h)
        return nn.Dense(c, dtype=self.dtype, name="fc2")(nn.gelu(h.reshape(b, n, -1), approximate=False))


class Block(nn.Module):
    grid: tuple
    heads: int
    ratio: int
    drop_path: float
    dtype: object

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm(epsilon=1e-6, dtype=self.dtype)(x)
        mixed = EfficientAttention(self.heads, self.ratio, self.dtype, name="attn")(h, self.grid)
        x = x + DropPath(self.drop_path)(mixed)
        h = nn.LayerNorm(epsilon=1e-6, dtype=self.dtype)(x)
        return x + DropPath(self.drop_path)(MixFFN(4 * x.shape[-1], self.dtype, name="mlp")(h, self.grid))


class MixTransformer(nn.Module):
    dims: tuple
    depths: tuple
    heads: tuple
    ratios: tuple
    drop_path: float
    dtype: object
    block: type

    @nn.compact
    def __call__(self, x):
        rates = iter(self.drop_path * i / (sum(self.depths) - 1) for i in range(sum(self.depths)))
        features = []
        for s, (dim, depth, heads, ratio) in enumerate(zip(self.dims, self.depths, self.heads, self.ratios)):
            kernel, stride = (7, 4) if s == 0 else (3, 2)
            x = nn.Conv(dim, (kernel, kernel), (stride, stride), padding=kernel // 2, dtype=self.dtype,
                        name=f"patch_embed{s + 1}")(x)
            b, height, width, _ = x.shape
            x = nn.LayerNorm(dtype=self.dtype, name=f"patch_norm{s + 1}")(x.reshape(b, -1, dim))
            for i in range(depth):
                x = self.block((height, width), heads, ratio, next(rates), self.dtype, name=f"block{s + 1}_{i}")(x)
            x = nn.LayerNorm(epsilon=1e-6, dtype=self.dtype, name=f"norm{s + 1}")(x).reshape(b, height, width, dim)
            features.append(x)
        return features


class SegFormer(nn.Module):
    backbone: MixTransformer
    decoder: int
    classes: int
    dtype: object

    @nn.compact
    def __call__(self, images):
        x = (images.astype(F32) - jnp.array(MEAN)) / jnp.array(STD)
        features = self.backbone(x.astype(self.dtype))
        b, height, width, _ = features[0].shape
        resized = []
        for i, feature in enumerate(features):
            y = nn.Dense(self.decoder, dtype=self.dtype, name=f"linear_c{i + 1}")(feature)
            resized.append(jax.image.resize(y, (b, height, width, self.decoder), "bilinear"))
        x = nn.Conv(self.decoder, (1, 1), use_bias=False, dtype=self.dtype, name="fuse")(
            jnp.concatenate(resized[::-1], axis=-1))
        x = nn.relu(nn.BatchNorm(use_running_average=False, momentum=0.9, dtype=self.dtype, name="fuse_bn")(x))
        x = nn.Dropout(0.1, broadcast_dims=(1, 2), deterministic=False)(x)
        logits = nn.Conv(self.classes, (1, 1), dtype=self.dtype, name="classifier")(x)
        return jax.image.resize(logits, (b, *images.shape[1:3], self.classes), "bilinear")


def segmentation_loss(logits, labels):
    valid = labels != IGNORED
    log_probs = jax.nn.log_softmax(logits.astype(F32), axis=-1)
    picked = jnp.take_along_axis(log_probs, jnp.where(valid, labels, 0)[..., None].astype(jnp.int32), axis=-1)[..., 0]
    return -jnp.sum(picked * valid) / jnp.maximum(valid.sum(), 1)


def segformer(dims, depths, heads, ratios, decoder, classes, pixels, batch, drop_path=0.1, kind=F32):
    def make(arrays, change):
        import optax
        rows, dtype = batch // change.batch_divisor, compute_dtype(change, kind)
        block = nn.remat(Block, policy=checkpoint_policy(change)) if change.rematerialize else Block
        model = SegFormer(MixTransformer(dims, depths, heads, ratios, drop_path, dtype, block), decoder, classes, dtype)
        made = jax.eval_shape(model.init, {"params": jax.random.key(0), "dropout": jax.random.key(1)},
                              jnp.zeros((1, pixels, pixels, 3), jnp.uint8))
        params, stats = cast(made["params"], change.stored), made["batch_stats"]
        optimizer = optax.adamw(optax.polynomial_schedule(6e-5, 0.0, 1.0, 160_000), weight_decay=0.01, mask=decayed)
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, stats, key, images, labels):
            def loss_of(params, key, images, labels):
                logits, new = model.apply({"params": params, "batch_stats": stats}, images, rngs={"dropout": key},
                                          mutable=["batch_stats"])
                accuracy = jnp.mean(logits.argmax(-1) == labels)
                return segmentation_loss(logits, labels), (new["batch_stats"], accuracy)
            key, now = jax.random.split(key)
            loss, (new, accuracy), grads = summed_slopes(loss_of, change.parts)(params, now, images, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            new = jax.tree.map(lambda s: s.mean(0), new)
            return params, opt_state, new, key, {"loss": loss, "pixel_accuracy": accuracy.mean()}
        state = [laid_out(arrays, tree) for tree in (params, opt_state, stats)]
        return train_step, (*state, raw_key(arrays), arrays.batch((rows, pixels, pixels, 3), jnp.uint8),
                            arrays.batch((rows, pixels, pixels), jnp.uint8)), (0, 1, 2)
    return make


FAMILY = {"tour_segformer": dict(
    make=segformer(dims=(64, 128, 320, 512), depths=(3, 4, 6, 3), heads=(1, 2, 5, 8), ratios=(8, 4, 2, 1), decoder=768,
                   classes=150, pixels=512, batch=16),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
