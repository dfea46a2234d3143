"""The image encoder of SAM ViT-L, served in bfloat16: pictures of 1024 x 1024 to 256 channels at 64 x 64.

In equinox, with modules of its own whose weights multiply from the right, so that a weight may be in int8. Blocks
attend within windows of 14 x 14 but for every sixth, which is global; all add relative
positions, rows and columns apart.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_training import BF16, F32, on_chips


def whole(weight, kind):
    """A weight as an array, be it in int8 or not."""
    return weight.values.astype(kind) * weight.scale.astype(kind) if hasattr(weight, "values") else weight.astype(kind)


class Linear(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __init__(self, inside, out):
        self.weight, self.bias = jnp.zeros((inside, out)), jnp.zeros(out)

    def __call__(self, x):
        return x @ self.weight.astype(x.dtype) + self.bias.astype(x.dtype)


class Conv(eqx.Module):
    weight: jax.Array
    bias: jax.Array | None
    stride: int = eqx.field(static=True)

    def __init__(self, inside, out, kernel, stride=1, bias=False):
        self.weight, self.bias = jnp.zeros((kernel, kernel, inside, out)), jnp.zeros(out) if bias else None
        self.stride = stride

    def __call__(self, x):
        x = jax.lax.conv_general_dilated(x, whole(self.weight, x.dtype), (self.stride,) * 2, "SAME",
                                         dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return x if self.bias is None else x + self.bias.astype(x.dtype)


class Norm(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __init__(self, width):
        self.weight, self.bias = jnp.ones(width), jnp.zeros(width)

    def __call__(self, x):
        y = x.astype(F32)
        y = y - y.mean(-1, keepdims=True)
        y = y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)
        return (y * self.weight + self.bias).astype(x.dtype)


def relative(q_size, k_size, table, kind):
    """[q, k, c]: what a table of 2 n - 1 rows says of each distance."""
    at = np.arange(q_size)[:, None] - np.arange(k_size)[None] + k_size - 1
    return table[at].astype(kind)


class Attention(eqx.Module):
    qkv: Linear
    proj: Linear
    rel_pos_h: jax.Array
    rel_pos_w: jax.Array
    heads: int = eqx.field(static=True)

    def __init__(self, width, heads, size):
        self.qkv, self.proj, self.heads = Linear(width, 3 * width), Linear(width, width), heads
        self.rel_pos_h = self.rel_pos_w = jnp.zeros((2 * size - 1, width // heads))

    def __call__(self, x):
        rows, high, wide, width = x.shape
        side = width // self.heads
        qkv = self.qkv(x).reshape(rows, high * wide, 3, self.heads, side).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv.reshape(3, rows * self.heads, high * wide, side)
        scores = (q * side ** -0.5) @ k.swapaxes(-1, -2)
        grid = q.reshape(-1, high, wide, side)
        by_row = jnp.einsum("bhwc,hkc->bhwk", grid, relative(high, high, self.rel_pos_h, q.dtype))
        by_column = jnp.einsum("bhwc,wkc->bhwk", grid, relative(wide, wide, self.rel_pos_w, q.dtype))
        scores = scores.reshape(-1, high, wide, high, wide) + by_row[..., None] + by_column[:, :, :, None]
        scores = scores.reshape(-1, high * wide, high * wide).astype(F32)
        mixed = jax.nn.softmax(scores, axis=-1).astype(x.dtype) @ v
        mixed = mixed.reshape(rows, self.heads, high, wide, side).transpose(0, 2, 3, 1, 4)
        return self.proj(mixed.reshape(rows, high, wide, width))


def windows(x, size):
    """[b, h, w, c] padded and cut to [b n n, size, size, c], and the padded side."""
    rows, side, _, width = x.shape
    padded = -(-side // size) * size
    x = jnp.pad(x, ((0, 0), (0, padded - side), (0, padded - side), (0, 0)))
    n = padded // size
    return x.reshape(rows, n, size, n, size, width).transpose(0, 1, 3, 2, 4, 5).reshape(-1, size, size, width), n


def joined(x, n, side):
    size, width = x.shape[1], x.shape[-1]
    x = x.reshape(-1, n, n, size, size, width).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(-1, n * size, n * size, width)[:, :side, :side]


class Block(eqx.Module):
    norm1: Norm
    attn: Attention
    norm2: Norm
    lin1: Linear
    lin2: Linear
    window: int = eqx.field(static=True)

    def __init__(self, width, heads, side, window):
        self.norm1, self.norm2, self.window = Norm(width), Norm(width), window
        self.attn = Attention(width, heads, window or side)
        self.lin1, self.lin2 = Linear(width, 4 * width), Linear(4 * width, width)

    def __call__(self, x):
        y = self.norm1(x)
        if self.window:
            cut, n = windows(y, self.window)
            y = joined(self.attn(cut), n, x.shape[1])
        else:
            y = self.attn(y)
        x = x + y
        return x + self.lin2(jax.nn.gelu(self.lin1(self.norm2(x)), approximate=False))


class ImageEncoder(eqx.Module):
    patch_embed: Conv
    pos_embed: jax.Array
    blocks: list
    neck: tuple

    def __init__(self, width, depth, heads, globals_at, side, patch, window, out):
        self.patch_embed = Conv(3, width, patch, patch, bias=True)
        self.pos_embed = jnp.zeros((1, side // patch, side // patch, width))
        self.blocks = [Block(width, heads, side // patch, 0 if i in globals_at else window) for i in range(depth)]
        self.neck = Conv(width, out, 1), Norm(out), Conv(out, out, 3), Norm(out)

    def __call__(self, images):
        x = self.patch_embed(images)
        x = x + whole(self.pos_embed, x.dtype)
        for block in self.blocks:
            x = block(x)
        for layer in self.neck:
            x = layer(x)
        return x


def stored(change, shapes):
    from advice_programs import Int8

    def one(leaf):
        if change.quantized and leaf.ndim > 1:
            return Int8(jax.ShapeDtypeStruct(leaf.shape, jnp.int8), jax.ShapeDtypeStruct(leaf.shape[-1:], F32))
        return jax.ShapeDtypeStruct(leaf.shape, BF16)
    return jax.tree.map(one, shapes)


def sam_encoder(width, depth, heads, globals_at, batch, side=1024, patch=16, window=14, out=256, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        shapes = eqx.filter_eval_shape(ImageEncoder, width, depth, heads, globals_at, side, patch, window, out)
        mean, spread = np.float32([123.675, 116.28, 103.53]), np.float32([58.395, 57.12, 57.375])

        def embed(encoder, images, sizes):
            """Pictures lie in a corner of theirs; what is beyond their sizes is nothing."""
            at = jnp.arange(side)
            inside = (at[:, None] < sizes[:, :1, None]) & (at < sizes[:, 1:, None])
            x = jnp.where(inside[..., None], (images.astype(F32) - mean) / spread, 0)
            return encoder(x.astype(kind))
        return embed, (on_chips(arrays, stored(change, shapes)), arrays.batch((rows, side, side, 3), jnp.uint8),
                       arrays.batch((rows, 2), jnp.int32)), ()
    return make
