"""A radiance field as in Instant-NGP: hashed grids of many resolutions, two small networks, rays through a scene.

Plain jax. Rays are cut into even pieces of which those in empty cells count nothing, as a grid of densities tells that
is renewed at random cells. Targets have opacity and are laid on random colours. Adam without decay for the tables.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import cast, checkpointed, computing, laid_out, like, raw_key, specs, summed_slopes

F32, U32 = jnp.float32, jnp.uint32
PRIMES = (1, 2654435761, 805459861)
CORNERS = np.array([[i >> 2 & 1, i >> 1 & 1, i & 1] for i in range(8)], np.uint32)


@jax.custom_vjp
def trunc_exp(x):
    return jnp.exp(x)


trunc_exp.defvjp(lambda x: (jnp.exp(x), x), lambda x, slope: (slope * jnp.exp(jnp.clip(x, -15, 15)),))


def resolutions(levels, coarsest, finest):
    growth = np.exp((np.log(finest) - np.log(coarsest)) / (levels - 1))
    return [int(np.ceil(coarsest * growth ** i - 1)) + 1 for i in range(levels)]


def rows_of(resolution, most):
    """All corners where there is room for them, in eights."""
    return min(most, -(-(resolution + 1) ** 3 // 8) * 8)


def grid_features(table, places, resolution):
    """places [n, 3] in the unit cube, to [n, f] between the eight corners of a cell."""
    scaled = places * resolution
    low = jnp.clip(jnp.floor(scaled), 0, resolution - 1)
    share = (scaled - low)[:, None]
    corners = low.astype(U32)[:, None] + CORNERS
    if table.shape[0] >= (resolution + 1) ** 3:
        side = resolution + 1
        index = corners[..., 0] + corners[..., 1] * side + corners[..., 2] * (side * side)
    else:
        mixed = corners * np.array(PRIMES, np.uint32)
        index = (mixed[..., 0] ^ mixed[..., 1] ^ mixed[..., 2]) % table.shape[0]
    weights = jnp.where(CORNERS == 1, share, 1 - share).prod(-1).astype(table.dtype)
    return jnp.einsum("nc,ncf->nf", weights, table[index.astype(jnp.int32)])


def harmonics(d):
    """The first sixteen, of directions [n, 3]."""
    x, y, z = d[:, 0], d[:, 1], d[:, 2]
    xx, yy, zz = x * x, y * y, z * z
    parts = [jnp.full_like(x, 0.28209479), -0.48860251 * y, 0.48860251 * z, -0.48860251 * x, 1.09254843 * x * y,
             -1.09254843 * y * z, 0.94617470 * zz - 0.31539157, -1.09254843 * x * z, 0.54627421 * (xx - yy),
             0.59004359 * y * (yy - 3 * xx), 2.89061144 * x * y * z, 0.45704579 * y * (1 - 5 * zz),
             0.37317633 * z * (5 * zz - 3), 0.45704579 * x * (1 - 5 * zz), 1.44530572 * z * (xx - yy),
             0.59004359 * x * (3 * yy - xx)]
    return jnp.stack(parts, -1)


def network(weights, x):
    for weight in weights[:-1]:
        x = jax.nn.relu(x @ weight)
    return x @ weights[-1]


def ngp_shapes(sides, most, features, hidden, geometry):
    return {"tables": [(rows_of(side, most), features) for side in sides],
            "density": [(len(sides) * features, hidden), (hidden, geometry)],
            "color": [(geometry + 16, hidden), (hidden, hidden), (hidden, 3)]}


def ngp(rays, samples=128, levels=16, coarsest=16, finest=2048, most=2 ** 19, features=2, hidden=64, geometry=16,
        cells=128, renewed=2 ** 17, kind=F32):
    sides = resolutions(levels, coarsest, finest)

    def make(arrays, change):
        rows, now = rays // change.batch_divisor, computing(change, kind)
        params = cast(specs(ngp_shapes(sides, most, features, hidden, geometry)), change.stored)
        encoders = [checkpointed(change, functools.partial(grid_features, resolution=side)) for side in sides]
        run = checkpointed(change, network)

        def field(params, places):
            found = [encode(table, places) for encode, table in zip(encoders, params["tables"])]
            found = run(params["density"], jnp.concatenate(found, -1))
            return trunc_exp(found[:, 0].astype(F32)), found

        def cell_of(places):
            at = jnp.clip((places * cells).astype(jnp.int32), 0, cells - 1)
            return (at[..., 0] * cells + at[..., 1]) * cells + at[..., 2]

        def rendered(params, grid, key, origins, ways, back):
            """Slabs of the unit cube bound the ray; it starts at a random place within its first piece."""
            inverse = 1 / jnp.where(jnp.abs(ways) < 1e-6, 1e-6, ways)
            ends = jnp.stack([-origins * inverse, (1 - origins) * inverse])
            near, far = jnp.maximum(ends.min(0).max(-1), 0.05), ends.max(0).min(-1)
            piece = jnp.maximum(far - near, 0) / samples
            at = jnp.arange(samples) + jax.random.uniform(key, (origins.shape[0], 1))
            places = origins[:, None] + (near[:, None] + at * piece[:, None])[..., None] * ways[:, None]
            places = jnp.clip(places, 0, 1)
            full = grid[cell_of(places)] > jnp.minimum(0.01 * cells, grid.mean())
            density, found = field(params, places.reshape(-1, 3))
            seen = jnp.repeat(harmonics(ways).astype(now), samples, axis=0)
            color = jax.nn.sigmoid(run(params["color"], jnp.concatenate([found, seen], -1)).astype(F32))
            depth = jnp.where(full, density.reshape(-1, samples), 0) * piece[:, None]
            before = jnp.exp(-jnp.cumsum(jnp.pad(depth, ((0, 0), (1, 0)))[:, :-1], axis=1))
            weights = before * -jnp.expm1(-depth)
            pixel = jnp.einsum("rs,rsc->rc", weights, color.reshape(-1, samples, 3))
            return pixel + (1 - weights.sum(1, keepdims=True)) * back

        def step(params, means, squares, grid, count, key, origins, ways, target):
            key, at_loss, at_cells = jax.random.split(key, 3)

            def loss_of(params, key, origins, ways, target):
                params = jax.tree.map(lambda p: p.astype(now), params)
                at_back, at_ray = jax.random.split(key)
                origins, ways, target = (x.astype(F32) for x in (origins, ways, target))
                back = jax.random.uniform(at_back, (origins.shape[0], 3))
                pixel = rendered(params, grid, at_ray, origins, ways, back)
                off = pixel - (target[:, :3] * target[:, 3:] + (1 - target[:, 3:]) * back)
                size = jnp.abs(off)
                return jnp.where(size < 0.1, 5 * off * off, size - 0.05).mean(), (off ** 2).mean()

            loss, error, slopes = summed_slopes(loss_of, change.parts)(params, at_loss, origins, ways, target)
            count = count + 1
            means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, slopes)
            squares = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, squares, slopes)
            rate = 1e-2 * 0.33 ** jnp.maximum(0, (count - 20000) // 10000 + 1).astype(F32)
            rate = rate * jnp.sqrt(1 - 0.99 ** count.astype(F32)) / (1 - 0.9 ** count.astype(F32))

            def moved(p, m, s, decay):
                return p - rate * m / (jnp.sqrt(s) + 1e-15) - 1e-6 * decay * p
            decays = {name: jax.tree.map(lambda _: float(name != "tables"), part) for name, part in params.items()}
            new = like(jax.tree.map(moved, params, means, squares, decays), params)

            where = jax.random.randint(at_cells, (renewed,), 0, cells ** 3)
            corner = jnp.stack([where // cells ** 2, where // cells % cells, where % cells], -1).astype(F32)
            places = (corner + jax.random.uniform(jax.random.fold_in(at_cells, 1), corner.shape)) / cells
            density, _ = field(jax.tree.map(lambda p: p.astype(now), new), places)
            grid = (grid * 0.95).at[where].max(density)
            return new, means, squares, grid, count, key, {"loss": loss, "psnr": -10 * jnp.log10(error.mean())}
        state = [laid_out(arrays, params) for _ in range(3)]
        return step, (*state, arrays.array((cells ** 3,), F32), arrays.array((), jnp.int32), raw_key(arrays),
                      arrays.batch((rows, 3), F32), arrays.batch((rows, 3), F32),
                      arrays.batch((rows, 4), F32)), (0, 1, 2, 3)
    return make
