"""VideoMAE-B: pre-training on clips of 16 frames, of which nine tubes of ten are hidden.

In flax nnx, in mixed precision. The encoder sees the tubes that are left, a narrow decoder tells the pixels of those
that are hidden, each normalised within its own cube. Which are hidden comes with the batch, as an order of the places.
"""
import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, on_chips, value_and_mean_grad


def sinusoids(places, width):
    angles = np.arange(places)[:, None] / 1e4 ** (2 * (np.arange(width) // 2) / width)
    return np.where(np.arange(width) % 2, np.cos(angles), np.sin(angles)).astype(np.float32)


class Attention(nnx.Module):
    def __init__(self, width, heads, *, dtype, rngs):
        self.heads, self.dtype = heads, dtype
        self.qkv = nnx.Linear(width, 3 * width, use_bias=False, dtype=dtype, rngs=rngs)
        self.q_bias, self.v_bias = nnx.Param(jnp.zeros(width)), nnx.Param(jnp.zeros(width))   # keys have none
        self.proj = nnx.Linear(width, width, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        rows, count, width = x.shape
        bias = jnp.concatenate([self.q_bias[...], jnp.zeros_like(self.q_bias[...]), self.v_bias[...]])
        qkv = (self.qkv(x) + bias.astype(self.dtype)).reshape(rows, count, 3, self.heads, width // self.heads)
        q, k, v = jnp.moveaxis(qkv, 2, 0)
        return self.proj(nnx.dot_product_attention(q, k, v, dtype=self.dtype).reshape(rows, count, width))


class Block(nnx.Module):
    def __init__(self, width, heads, *, dtype, rngs):
        self.norm1 = nnx.LayerNorm(width, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.attn = Attention(width, heads, dtype=dtype, rngs=rngs)
        self.norm2 = nnx.LayerNorm(width, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.fc1 = nnx.Linear(width, 4 * width, dtype=dtype, rngs=rngs)
        self.fc2 = nnx.Linear(4 * width, width, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.fc2(nnx.gelu(self.fc1(self.norm2(x)), approximate=False))


def taken(x, order):
    """Tubes of [b, t, n, d], as one line of tokens."""
    x = jnp.take_along_axis(x, order[:, None, :, None], axis=2)
    return x.reshape(x.shape[0], -1, x.shape[-1])


class VideoMAE(nnx.Module):
    def __init__(self, change, cube, encoder, decoder, *, dtype, rngs):
        (width, layers, heads), (narrow, few, narrow_heads) = encoder, decoder
        self.change, self.dtype = change, dtype
        self.patch_embed = nnx.Linear(cube, width, dtype=dtype, rngs=rngs)
        self.blocks = nnx.List([Block(width, heads, dtype=dtype, rngs=rngs) for _ in range(layers)])
        self.norm = nnx.LayerNorm(width, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.encoder_to_decoder = nnx.Linear(width, narrow, use_bias=False, dtype=dtype, rngs=rngs)
        self.mask_token = nnx.Param(jnp.zeros((1, 1, narrow)))
        self.decoder_blocks = nnx.List([Block(narrow, narrow_heads, dtype=dtype, rngs=rngs) for _ in range(few)])
        self.decoder_norm = nnx.LayerNorm(narrow, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.head = nnx.Linear(narrow, cube, dtype=dtype, rngs=rngs)

    def run(self, blocks, x):
        for block in blocks:
            if self.change.rematerialize:
                x = nnx.remat(Block.__call__, policy=checkpoint_policy(self.change))(block, x)
            else:
                x = block(x)
        return x

    def __call__(self, cubes, seen, hidden):
        rows, times, places, _ = cubes.shape

        def positions(width, order):
            table = jnp.asarray(sinusoids(times * places, width), self.dtype).reshape(1, times, places, width)
            return taken(jnp.broadcast_to(table, (rows, times, places, width)), order)
        x = self.patch_embed(taken(cubes, seen).astype(self.dtype))
        x = x + positions(x.shape[-1], seen)
        x = self.encoder_to_decoder(self.norm(self.run(self.blocks, x)))
        width = x.shape[-1]
        masks = self.mask_token[...].astype(self.dtype) + positions(width, hidden)
        x = self.run(self.decoder_blocks, jnp.concatenate([x + positions(width, seen), masks], 1))
        return self.head(self.decoder_norm(x[:, -masks.shape[1]:]))


def cubes_of(clips, tube, patch):
    """[b, t, n, pixels, 3]"""
    rows, frames, side, _, colors = clips.shape
    times, cells = frames // tube, side // patch
    x = clips.reshape(rows, times, tube, cells, patch, cells, patch, colors).transpose(0, 1, 3, 5, 2, 4, 6, 7)
    return x.reshape(rows, times, cells * cells, tube * patch * patch, colors)


def video_mae(batch, frames=16, side=224, tube=2, patch=16, ratio=0.9, encoder=(768, 12, 12), decoder=(384, 4, 6),
              kind=BF16):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        length, places = frames // change.length_divisor, (side // patch) ** 2
        shown = places - int(ratio * places)
        model = nnx.eval_shape(lambda: VideoMAE(change, tube * patch * patch * 3, encoder, decoder, dtype=now,
                                                rngs=nnx.Rngs(0)))
        graph, shapes = nnx.split(model, nnx.Param)
        params = cast(shapes, change.stored)
        mean, spread = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])

        def loss_of(params, clips, order):
            model = nnx.merge(graph, params)
            seen, hidden = order[:, :shown], order[:, shown:]
            pixels = clips.astype(F32) / 255
            cubes = cubes_of((pixels - mean) / spread, tube, patch)
            flat = cubes.reshape(*cubes.shape[:3], -1)
            target = cubes_of(pixels, tube, patch)
            target = (target - target.mean(-2, keepdims=True)) / (target.std(-2, ddof=1, keepdims=True) + 1e-6)
            target = jax.lax.stop_gradient(taken(target.reshape(flat.shape), hidden))
            return jnp.mean((model(flat, seen, hidden).astype(F32) - target) ** 2)

        optimizer = optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 6e-4, 9600, 192000, 1e-5), b2=0.95,
                                weight_decay=0.05, mask=lambda tree: jax.tree.map(lambda p: p.ndim == 2, tree))

        def train_step(params, opt_state, clips, order):
            loss, grads = value_and_mean_grad(loss_of, change.parts)(params, clips, order)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, {"loss": loss, "norm": optax.global_norm(grads)}
        return train_step, (on_chips(arrays, params), on_chips(arrays, jax.eval_shape(optimizer.init, params)),
                            arrays.batch((rows, length, side, side, 3), jnp.uint8),
                            arrays.batch((rows, places), jnp.int32)), (0, 1)
    return make
