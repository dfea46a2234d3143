"""PatchTST on the traffic of 862 roads: each is a series of its own, cut in patches that overlap by half.

Equinox, float32, modules of one series under vmap. As published: reversible instance norm, batch norm in the blocks,
whose running moments are state, scores that are handed on from block to block, and one head for all roads.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import checkpointed, laid_out, like, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, compute_dtype


def batch_norm(x, scale, offset):
    """Over series and patches; what it saw is for the running moments."""
    wide = x.astype(F32)
    mean, var = wide.mean((0, 1)), wide.var((0, 1))
    y = (wide - mean) * jax.lax.rsqrt(var + 1e-5) * scale.astype(F32) + offset.astype(F32)
    return y.astype(x.dtype), (mean, var)


def dropped(key, x, rate):
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), jnp.zeros((), x.dtype))


def patchtst(layers, width, heads, hidden, channels, patches, patch, horizon, rate):
    import equinox as eqx

    def each(linear):
        return jax.vmap(jax.vmap(linear))

    class Block(eqx.Module):
        queries: eqx.nn.Linear
        keys: eqx.nn.Linear
        values: eqx.nn.Linear
        out: eqx.nn.Linear
        up: eqx.nn.Linear
        down: eqx.nn.Linear
        scales: jax.Array
        offsets: jax.Array

        def __init__(self, key):
            made = jax.random.split(key, 6)
            self.queries, self.keys, self.values, self.out = (eqx.nn.Linear(width, width, key=k) for k in made[:4])
            self.up, self.down = eqx.nn.Linear(width, hidden, key=made[4]), eqx.nn.Linear(hidden, width, key=made[5])
            self.scales, self.offsets = jnp.ones((2, width)), jnp.zeros((2, width))

        def __call__(self, x, before, key):
            """x [series, patches, width], scores before it [series, heads, patches, patches] or None."""
            made = jax.random.split(key, 3)
            q, k, v = (each(linear)(x).reshape(*x.shape[:2], heads, -1)
                       for linear in (self.queries, self.keys, self.values))
            scores = jnp.einsum("snhd,smhd->shnm", q, k) * (width // heads) ** -0.5
            scores = scores if before is None else scores + before
            weights = jax.nn.softmax(scores.astype(F32), -1).astype(x.dtype)
            mixed = each(self.out)(jnp.einsum("shnm,smhd->snhd", weights, v).reshape(x.shape))
            x, first = batch_norm(x + dropped(made[0], mixed, rate), self.scales[0], self.offsets[0])
            y = dropped(made[1], jax.nn.gelu(each(self.up)(x), approximate=False), rate)
            x, second = batch_norm(x + dropped(made[2], each(self.down)(y), rate), self.scales[1], self.offsets[1])
            return x, scores, (first, second)

    class PatchTST(eqx.Module):
        patch: eqx.nn.Linear
        places: jax.Array
        blocks: list
        head: eqx.nn.Linear
        gain: jax.Array
        shift: jax.Array

        def __init__(self, key):
            made = jax.random.split(key, layers + 2)
            self.patch = eqx.nn.Linear(patch, width, key=made[0])
            self.places = jnp.zeros((patches, width))
            self.blocks = [Block(one) for one in made[2:]]
            self.head = eqx.nn.Linear(patches * width, horizon, key=made[1])
            self.gain, self.shift = jnp.ones((channels,)), jnp.zeros((channels,))

        def __call__(self, run, series, key):
            """series [b, time, channels] to [b, horizon, channels], and the moments of each block's norms."""
            now = self.places.dtype
            wide = series.astype(F32)
            mean, spread = wide.mean(1, keepdims=True), jnp.sqrt(wide.var(1, keepdims=True) + 1e-5)
            x = (((wide - mean) / spread) * self.gain + self.shift).astype(now).swapaxes(1, 2)
            x = x.reshape(-1, x.shape[-1])
            x = jnp.pad(x, ((0, 0), (0, patch // 2)), mode="edge")
            starts = jnp.arange(patches) * (patch // 2)
            x = x[:, starts[:, None] + jnp.arange(patch)]
            keys = jax.random.split(key, layers + 1)
            x = dropped(keys[0], each(self.patch)(x) + self.places, rate)
            scores, moments = None, []
            for block, one in zip(self.blocks, keys[1:]):
                x, scores, seen = run(block, x, scores, one)
                moments.append(seen)
            told = jax.vmap(self.head)(x.reshape(x.shape[0], -1))
            told = told.reshape(series.shape[0], channels, horizon).swapaxes(1, 2).astype(F32)
            return (told - self.shift) / (self.gain + 1e-10) * spread + mean, moments
    return eqx, PatchTST


def patchtst_traffic(layers, width, heads, hidden, channels, batch, length, horizon, patch=16, rate=0.2, kind=F32):
    def make(arrays, change):
        import optax
        rows, steps, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        patches = steps // (patch // 2)
        eqx, model = patchtst(layers, width, heads, hidden, channels, patches, patch, horizon, rate)
        shapes = eqx.filter_eval_shape(model, jax.random.key(0))
        params, static = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(params, change.stored)
        moment = jax.ShapeDtypeStruct((width,), change.stored)
        moments = [((moment, moment), (moment, moment)) for _ in range(layers)]
        optimizer = optax.adam(optax.cosine_onecycle_schedule(100000, 1e-4, 0.2))
        opt_state = jax.eval_shape(optimizer.init, params)
        run = checkpointed(change, lambda block, x, scores, key: block(x, scores, key))

        def loss_of(params, key, past, future):
            net = eqx.combine(jax.tree.map(lambda p: p.astype(now), params), static)
            told, seen = net(run, past, key)
            return jnp.square(told - future.astype(F32)).mean(), seen

        def train_step(params, opt_state, moments, key, past, future):
            key, here = jax.random.split(key)
            loss, seen, slopes = summed_slopes(loss_of, change.parts)(params, here, past, future)
            new = jax.tree.map(lambda old, one: 0.9 * old.astype(F32) + 0.1 * one.mean(0), moments, seen)
            params, opt_state = updated(optimizer, slopes, opt_state, params)
            return params, opt_state, like(new, moments), key, loss
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, moments),
                            raw_key(arrays), arrays.batch((rows, steps, channels), F32),
                            arrays.batch((rows, horizon, channels), F32)), (0, 1, 2)
    return make
