"""The picture's side of advice_rally_mask2former.py, in haiku: a Swin-T and the deformable pixel decoder."""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

F32, BACKBONE = jnp.float32, "backbone"
W_INIT = hk.initializers.TruncatedNormal(0.02)


def norm():
    return hk.LayerNorm(-1, create_scale=True, create_offset=True, param_axis=-1)


def bilinear(grid, at):
    """grid [h, w, c] at [k, 2] of the unit square, x first; nothing is beyond it."""
    high, wide, width = grid.shape
    at = at.astype(F32) * np.float32([wide, high]) - 0.5
    low, flat, total = jnp.floor(at), grid.reshape(high * wide, width), 0
    for corner in np.float32([[0, 0], [0, 1], [1, 0], [1, 1]]):
        place = low + corner
        weight = (1 - jnp.abs(at - place)).prod(-1) * ((place >= 0) & (place < np.float32([wide, high]))).all(-1)
        x, y = jnp.clip(place[:, 0], 0, wide - 1).astype(int), jnp.clip(place[:, 1], 0, high - 1).astype(int)
        total = total + flat[y * wide + x] * weight[:, None].astype(grid.dtype)
    return total


def position_sine(high, wide, width):
    rates = 1e4 ** (np.arange(width // 4) / (width // 4))

    def waves(count):
        angles = (np.arange(1, count + 1) / count * 2 * np.pi)[:, None] / rates
        return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(count, -1)
    both = (np.broadcast_to(waves(high)[:, None], (high, wide, width // 2)),
            np.broadcast_to(waves(wide)[None], (high, wide, width // 2)))
    return np.concatenate(both, -1).reshape(high * wide, width).astype(np.float32)


def windows(x, size):
    rows, high, wide, width = x.shape
    x = x.reshape(rows, high // size, size, wide // size, size, width)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, size * size, width)


class SwinBlock(hk.Module):
    def __init__(self, heads, shift, drop_path, size=7, name=None):
        super().__init__(name)
        self.heads, self.shift, self.drop_path, self.size = heads, shift, drop_path, size

    def attention(self, x, seen):
        count, tokens, width = x.shape
        q, k, v = jnp.moveaxis(hk.Linear(3 * width)(x).reshape(count, tokens, 3, self.heads, -1), 2, 0)
        scores = jnp.einsum("nqhd,nkhd->nhqk", q * q.shape[-1] ** -0.5, k)
        table = hk.get_parameter("relative", ((2 * self.size - 1) ** 2, self.heads), init=W_INIT)
        at = np.stack(np.meshgrid(*[np.arange(self.size)] * 2, indexing="ij"), -1).reshape(-1, 2)
        apart = at[:, None] - at[None] + self.size - 1
        scores = scores + table[apart[..., 0] * (2 * self.size - 1) + apart[..., 1]].transpose(2, 0, 1)
        if seen is not None:
            scores = scores.reshape(-1, len(seen), self.heads, tokens, tokens)
            scores = jnp.where(seen[:, None], scores, -100.0).reshape(count, self.heads, tokens, tokens)
        weights = jax.nn.softmax(scores.astype(F32), -1).astype(x.dtype)
        return hk.Linear(width)(jnp.einsum("nhqk,nkhd->nqhd", weights, v).reshape(x.shape))

    def dropped(self, x):
        kept = jax.random.bernoulli(hk.next_rng_key(), 1 - self.drop_path, (x.shape[0], 1, 1, 1))
        return x * kept / (1 - self.drop_path)

    def __call__(self, x):
        rows, high, wide, width = x.shape
        size, shift = self.size, self.shift
        below, beside = -high % size, -wide % size
        y = jnp.pad(norm()(x), ((0, 0), (0, below), (0, beside), (0, 0)))
        seen, shape = None, y.shape
        if shift:
            y = jnp.roll(y, (-shift, -shift), (1, 2))
            region = [np.digitize(np.arange(side), [side - size, side - shift]) for side in y.shape[1:3]]
            region = windows((3 * region[0][:, None] + region[1])[None, :, :, None], size)[..., 0]
            seen = region[:, :, None] == region[:, None]
        y = self.attention(windows(y, size), seen)
        y = y.reshape(rows, shape[1] // size, shape[2] // size, size, size, width).transpose(0, 1, 3, 2, 4, 5)
        y = jnp.roll(y.reshape(shape), (shift, shift), (1, 2))[:, :high, :wide]
        x = x + self.dropped(y)
        return x + self.dropped(hk.Linear(width)(jax.nn.gelu(hk.Linear(4 * width)(norm()(x)), approximate=False)))


class Backbone(hk.Module):
    """A Swin: what each of its four stages finds, each halved in size."""
    def __init__(self, remat, width=96, depths=(2, 2, 6, 2), heads=(3, 6, 12, 24), drop_path=0.3, name=None):
        super().__init__(name)
        self.remat, self.width, self.depths, self.heads, self.drop_path = remat, width, depths, heads, drop_path

    def __call__(self, images):
        rates, levels = iter(np.linspace(0, self.drop_path, sum(self.depths)).tolist()), []
        x = norm()(hk.Conv2D(self.width, 4, 4, padding="VALID")(images))
        for stage, (depth, count) in enumerate(zip(self.depths, self.heads)):
            if stage:
                x = jnp.concatenate([x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)], -1)
                x = hk.Linear(x.shape[-1] // 2, with_bias=False)(norm()(x))
            for i in range(depth):
                x = self.remat(SwinBlock(count, 3 * (i % 2), next(rates)))(x)
            levels.append(norm()(x))
        return levels


class DeformableLayer(hk.Module):
    """Each place looks at four points of each scale for each head; what is around it."""
    def __init__(self, sizes, heads=8, points=4, hidden=1024, name=None):
        super().__init__(name)
        self.sizes, self.heads, self.points, self.hidden = sizes, heads, points, hidden

    def __call__(self, x, places, reference):
        rows, count, width = x.shape
        lead, scales = (rows, count, self.heads), len(self.sizes)
        query = x + places
        value = hk.Linear(width)(x).reshape(*lead, -1)
        moved = hk.Linear(self.heads * scales * self.points * 2)(query).reshape(*lead, scales, self.points, 2)
        weights = hk.Linear(self.heads * scales * self.points)(query).reshape(*lead, -1).astype(F32)
        weights = jax.nn.softmax(weights, -1).astype(x.dtype).reshape(*lead, scales, self.points)
        first, total = 0, 0
        for i, (high, wide) in enumerate(self.sizes):
            level = value[:, first:first + high * wide].reshape(rows, high, wide, self.heads, -1)
            at = reference[:, None, None] + moved[:, :, :, i].astype(F32) / np.float32([wide, high])
            at = at.transpose(0, 2, 1, 3, 4).reshape(rows, self.heads, count * self.points, 2)
            found = jax.vmap(jax.vmap(bilinear))(jnp.moveaxis(level, 3, 1), at)
            found = found.reshape(rows, self.heads, count, self.points, -1)
            total = total + jnp.einsum("bhnpd,bnhp->bnhd", found, weights[:, :, :, i])
            first += high * wide
        x = norm()(x + hk.Linear(width)(total.reshape(x.shape)))
        return norm()(x + hk.Linear(width)(jax.nn.relu(hk.Linear(self.hidden)(x))))


def pixel_decoder(remat, levels, width=256, layers=6):
    """Three scales, coarse first, and the features of masks at a quarter."""
    sizes = [level.shape[1:3] for level in levels[:0:-1]]
    flat, places, reference = [], [], []
    told = hk.get_parameter("level_embed", (len(sizes), width), init=W_INIT)
    for i, (level, (high, wide)) in enumerate(zip(levels[:0:-1], sizes)):
        flat.append(hk.GroupNorm(32)(hk.Conv2D(width, 1)(level)).reshape(-1, high * wide, width))
        places.append(jnp.asarray(position_sine(high, wide, width), told.dtype) + told[i])
        y, x = np.meshgrid((np.arange(high) + 0.5) / high, (np.arange(wide) + 0.5) / wide, indexing="ij")
        reference.append(np.stack([x, y], -1).reshape(-1, 2).astype(np.float32))
    x, places, reference = jnp.concatenate(flat, 1), jnp.concatenate(places), np.concatenate(reference)
    for _ in range(layers):
        x = remat(DeformableLayer(sizes))(x, places, reference)
    cuts = np.cumsum([high * wide for high, wide in sizes])[:-1].tolist()
    scales = [part.reshape(-1, *size, width) for part, size in zip(jnp.split(x, cuts, 1), sizes)]
    fine = hk.GroupNorm(32)(hk.Conv2D(width, 1, with_bias=False)(levels[0]))
    fine = fine + jax.image.resize(scales[-1], fine.shape, "bilinear")
    fine = jax.nn.relu(hk.GroupNorm(32)(hk.Conv2D(width, 3, with_bias=False)(fine)))
    return scales, hk.Conv2D(width, 1)(fine)
