"""A global weather model in the manner of Pangu: 1 degree, 69 fields, patches, shifted windows round the globe.

Flax nnx: pairs of blocks (plain, shifted) are stacked and scanned; each row of windows has its own bias, as the earth
isn't the same everywhere; longitude wraps, latitude doesn't. Weights, moments and their average are float32, the blocks
compute in bfloat16; the loss is L1 by latitude and by field.
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

from advice_board_changes import laid_out, like, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype, maybe_checkpoint

LATITUDES, LONGITUDES, PATCH = 180, 360, 4
UPPER, SURFACE, STATIC = 5 * 13, 4, 3
FIELDS = UPPER + SURFACE
WINDOW, SHIFT = (9, 10), (4, 5)
ROWS, COLUMNS = LATITUDES // PATCH, LONGITUDES // PATCH
BANDS, TURNS, INSIDE = ROWS // WINDOW[0], COLUMNS // WINDOW[1], WINDOW[0] * WINDOW[1]


def dealt(x):
    """[b, rows, columns, d] -> [b, bands, turns, inside, d]"""
    x = x.reshape(x.shape[0], BANDS, WINDOW[0], TURNS, WINDOW[1], x.shape[-1])
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(x.shape[0], BANDS, TURNS, INSIDE, -1)


def gathered(x):
    x = x.reshape(x.shape[0], BANDS, TURNS, *WINDOW, x.shape[-1]).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(x.shape[0], ROWS, COLUMNS, -1)


def over_the_pole():
    """Rolled rows that meet in the last band though they are poles apart: [bands, inside, inside]."""
    row = np.arange(ROWS)
    side = (row >= ROWS - SHIFT[0]).astype(np.int32).reshape(BANDS, WINDOW[0]).repeat(WINDOW[1], axis=1)
    return np.where(side[:, :, None] == side[:, None, :], 0.0, -1e4).astype(np.float32)


class Block(nnx.Module):
    def __init__(self, width, heads, dtype, rngs):
        def linear(inputs, outputs):
            return nnx.Linear(inputs, outputs, dtype=dtype, kernel_init=nnx.initializers.truncated_normal(0.02),
                              rngs=rngs)
        self.heads = heads
        self.norm1, self.norm2 = (nnx.LayerNorm(width, dtype=dtype, rngs=rngs) for _ in range(2))
        self.qkv, self.out = linear(width, 3 * width), linear(width, width)
        self.up, self.down = linear(width, 4 * width), linear(4 * width, width)
        self.earth_bias = nnx.Param(0.02 * jax.random.normal(rngs.params(), (BANDS, heads, INSIDE, INSIDE)))

    def attend(self, x, is_shifted):
        if is_shifted:
            x = jnp.roll(x, (-SHIFT[0], -SHIFT[1]), axis=(1, 2))
        w = dealt(x)
        q, k, v = jnp.split(self.qkv(w).reshape(*w.shape[:4], 3 * self.heads, -1), 3, axis=4)
        bias = self.earth_bias[...].astype(F32)
        if is_shifted:
            bias = bias + over_the_pole()[:, None]
        scores = jnp.einsum("brtqhd,brtkhd->brthqk", q, k) * q.shape[-1] ** -0.5
        weights = jax.nn.softmax(scores.astype(F32) + bias[None, :, None], axis=-1).astype(x.dtype)
        mixed = jnp.einsum("brthqk,brtkhd->brtqhd", weights, v).reshape(w.shape)
        x = gathered(self.out(mixed))
        return jnp.roll(x, SHIFT, axis=(1, 2)) if is_shifted else x

    def __call__(self, x, key, drop, is_shifted):
        def kept(key, y):
            keep = jax.random.bernoulli(key, 1 - drop, (y.shape[0], 1, 1, 1))
            return y * (keep / (1 - drop)).astype(y.dtype)
        first, second = jax.random.split(key)
        x = x + kept(first, self.attend(self.norm1(x), is_shifted))
        return x + kept(second, self.down(jax.nn.gelu(self.up(self.norm2(x)))))


class Pair(nnx.Module):
    def __init__(self, width, heads, dtype, rngs):
        self.plain, self.shifted = Block(width, heads, dtype, rngs), Block(width, heads, dtype, rngs)


class Weather(nnx.Module):
    def __init__(self, pairs, width, heads, drop, dtype, change, rngs):
        self.pairs, self.drop, self.dtype, self.change = pairs, drop, dtype, change

        @nnx.split_rngs(splits=pairs)
        @nnx.vmap(in_axes=0, out_axes=0)
        def stacked(rngs):
            return Pair(width, heads, dtype, rngs)
        self.embed = nnx.Conv(2 * FIELDS + STATIC, width, (PATCH, PATCH), strides=PATCH, padding="VALID", dtype=dtype,
                              rngs=rngs)
        self.place = nnx.Param(0.02 * jax.random.normal(rngs.params(), (ROWS, COLUMNS, width)))
        self.clock = nnx.Linear(4, width, dtype=dtype, rngs=rngs)
        self.layers = stacked(rngs)
        self.norm = nnx.LayerNorm(width, dtype=dtype, rngs=rngs)
        self.unpatch = nnx.ConvTranspose(2 * width, FIELDS, (PATCH, PATCH), strides=(PATCH, PATCH), padding="VALID",
                                         dtype=dtype, rngs=rngs)

    def __call__(self, before, current, static, time, key):
        """The change of the fields over six hours."""
        earth = jnp.broadcast_to(static, (current.shape[0], *static.shape))
        x = self.embed(jnp.concatenate([before, current, earth], axis=-1).astype(self.dtype))
        x = x + self.place[...].astype(self.dtype) + self.clock(time.astype(self.dtype))[:, None, None]
        early = x
        graph, state = nnx.split(self.layers)

        def one(is_shifted, state, x, key, drop):
            pair = nnx.merge(graph, state)
            return (pair.shifted if is_shifted else pair.plain)(x, key, drop, is_shifted)
        plain, shifted = (maybe_checkpoint(self.change, lambda *given, s=s: one(s, *given)) for s in (False, True))

        def body(x, layer):
            state, key, drop = layer
            first, second = jax.random.split(key)
            return shifted(state, plain(state, x, first, drop), second, drop), None
        drops = jnp.linspace(0.0, self.drop, self.pairs)
        x, _ = jax.lax.scan(body, x, (state, jax.random.split(key, self.pairs), drops))
        return self.unpatch(jnp.concatenate([self.norm(x), early], axis=-1)).astype(F32)


def weather(pairs, width, heads, batch, drop=0.2, decay=0.9999, kind=BF16):
    latitude = np.cos(np.deg2rad(np.linspace(89.5, -89.5, LATITUDES)))
    by_latitude = (latitude / latitude.mean()).astype(np.float32)[:, None, None]
    by_field = np.concatenate([np.tile(np.linspace(0.2, 1.8, 13), 5), [0.1, 0.1, 0.1, 1.0]]).astype(np.float32)

    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = nnx.eval_shape(lambda: Weather(pairs, width, heads, drop, now, change, nnx.Rngs(0)))
        graph, params = nnx.split(model, nnx.Param)
        params = cast(params, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 5e-4, 1_000, 150_000)
        optimizer = optax.chain(optax.clip_by_global_norm(32.0), optax.adamw(
            schedule, b1=0.9, b2=0.95, weight_decay=0.1, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, average, opt_state, key, static, before, current, time, following):
            def loss_of(params, key, before, current, time, following):
                change_of = nnx.merge(graph, params)(before, current, static, time, key)
                errors = change_of + current.astype(F32) - following.astype(F32)
                rmse = jnp.sqrt(jnp.mean(jnp.square(errors) * by_latitude, axis=(1, 2))).mean(0)
                return jnp.mean(jnp.abs(errors) * by_latitude * by_field), {"z500": rmse[7], "t2m": rmse[-1]}
            key, drop_key = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_of, change.parts)(
                params, drop_key, before, current, time, following)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            average = like(optax.incremental_update(params, average, 1 - decay), average)
            return params, average, opt_state, key, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}

        def fields():
            return arrays.batch((rows, LATITUDES, LONGITUDES, FIELDS), F32)
        stacks = {"layers": 0}
        return train_step, (
            laid_out(arrays, params, stacks), laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks),
            raw_key(arrays), arrays.array((LATITUDES, LONGITUDES, STATIC), change.stored), fields(), fields(),
            arrays.batch((rows, 4), F32), fields()), (0, 1, 2)
    return make


FAMILY = {"league_weather": dict(
    make=weather(pairs=8, width=1024, heads=16, batch=8), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
