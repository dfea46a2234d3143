"""Sound, pictures, games, flows and weather: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_practice_families.py has the sizes.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_exam_libraries import as_kind, computed, matrices_only, placed, trained, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_practice_words import mean_nll, rms
from advice_structures import BF16, F32


# --- A codec of sound, in haiku ---

def coded_sounds(width, strides, codes, books, batch, samples, kind=F32):
    """EnCodec: convolutions down to frames, an LSTM, books of codes each for what the last one left, and back up."""
    hop = int(np.prod(strides))

    def make(arrays, change):
        import haiku as hk
        import optax
        now, b = computed(change, kind), batch // change.batch_divisor
        remat = hk.remat if change.rematerialize else lambda f: f

        def conv(x, channels, size, stride=1):
            return hk.Conv1D(channels, size, stride, name="conv")(x)

        def unit(x):
            h = conv(jax.nn.elu(x), x.shape[-1] // 2, 3)
            return x + conv(jax.nn.elu(h), x.shape[-1], 1)

        def over_time(x):
            core = hk.LSTM(x.shape[-1])
            start = jax.tree.map(lambda s: s.astype(x.dtype), core.initial_state(x.shape[0]))
            made, _ = hk.dynamic_unroll(core, x, start, time_major=False)
            return x + made

        def quantized(x):
            left, total, lost = x, jnp.zeros_like(x), jnp.zeros((), F32)
            tables = hk.get_parameter("books", (books, codes, x.shape[-1]), init=hk.initializers.RandomNormal(0.1))
            for i in range(books):
                table = tables[i].astype(x.dtype)
                far = jnp.sum(table * table, -1) - 2 * left @ table.T
                row = table[jnp.argmin(far, -1)]
                lost += jnp.mean(jnp.square(jax.lax.stop_gradient(row) - left).astype(F32))
                lost += jnp.mean(jnp.square(row - jax.lax.stop_gradient(left)).astype(F32))
                total, left = total + row, left - jax.lax.stop_gradient(row)
            return x + jax.lax.stop_gradient(total - x), lost

        def forward(wave):
            x, channels = conv(wave, width, 7), width
            for stride in strides:
                channels *= 2
                x = remat(lambda x, c=channels, s=stride: conv(jax.nn.elu(unit(x)), c, 2 * s, s))(x)
            x, lost = quantized(conv(jax.nn.elu(over_time(x)), 128, 7))
            x = over_time(conv(x, channels, 7))
            for stride in reversed(strides):
                channels //= 2
                x = remat(lambda x, c=channels, s=stride: unit(
                    hk.Conv1DTranspose(c, 2 * s, s, name="conv_up")(jax.nn.elu(x))))(x)
            return conv(jax.nn.elu(x), 1, 7), lost

        def spectrum(wave, size):
            frames = wave.reshape(wave.shape[0], -1, size)
            turns = 2 * np.pi * np.outer(np.arange(size), np.arange(size // 2)) / size
            real, imaginary = (frames @ jnp.asarray(f(turns), wave.dtype) for f in (np.cos, np.sin))
            return jnp.log(jnp.sqrt(real * real + imaginary * imaginary + 1e-5))

        net = hk.without_apply_rng(hk.transform(forward))
        shapes = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, 4 * hop, 1)))

        def loss_fn(params, wave):
            made, lost = net.apply(as_kind(params, now), wave.astype(now))
            made, wave = made.astype(F32)[..., 0], wave.astype(F32)[..., 0]
            apart = [jnp.mean(jnp.abs(spectrum(made, n) - spectrum(wave, n))) for n in (160, 480)]
            return 0.1 * jnp.mean(jnp.abs(made - wave)) + sum(apart) + lost
        optimizer = optax.adam(3e-4, b1=0.5, b2=0.9)
        return trained(arrays, change, shapes, loss_fn, optimizer, arrays.batch((b, samples, 1), F32))
    return make


# --- A teacher that stays, a student that learns its features ---

def vit_stack(depth, d, hidden):
    return {"ln1": (depth, d), "ln2": (depth, d), "qkv": (depth, d, 3 * d), "proj": (depth, d, d),
            "fc1": (depth, d, hidden), "fc2": (depth, hidden, d)}


def vit_shapes(depth, d, patch, places, classes):
    return {"patch_embedding": (patch * patch * 3, d), "cls": (1, 1, d), "pos": (places + 1, d), "norm": (d,),
            "head": (d, classes), "scanned": vit_stack(depth, d, 4 * d)}


def vit_features(p, patches, heads, wrap):
    x = patches @ p["patch_embedding"]
    b, _, d = x.shape
    x = jnp.concatenate([jnp.broadcast_to(p["cls"], (b, 1, d)), x], 1) + p["pos"]

    def block(x, w):
        q, k, v = jnp.split((rms(x, w["ln1"]) @ w["qkv"]).reshape(b, -1, 3 * heads, d // heads), 3, axis=2)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (d // heads) ** -0.5
        mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores.astype(F32)).astype(x.dtype), v)
        x = x + mixed.reshape(x.shape) @ w["proj"]
        return x + jax.nn.gelu(rms(x, w["ln2"]) @ w["fc1"]) @ w["fc2"], None
    x, _ = jax.lax.scan(wrap(block), x, p["scanned"])
    return rms(x, p["norm"])


def distilled_views(teacher, student, patch, side, classes, batch, kind=BF16):
    """(depth, width, heads) of both: smooth L1 between features, divergence between classes; Lion. Pictures are bytes.

    Only the student's blocks are rematerialized: no gradient goes through the teacher's.
    """
    grid = side // patch

    def make(arrays, change):
        import optax
        now, b = computed(change, kind), batch // change.batch_divisor
        shapes = shaped(vit=vit_shapes(*student[:2], patch, grid ** 2, classes), to_teacher=(student[1], teacher[1]))
        frozen = as_kind(shaped(**vit_shapes(*teacher[:2], patch, grid ** 2, classes)), change.stored)

        def loss_fn(params, frozen, images, labels):
            p, fixed = as_kind(params, now), as_kind(frozen, now)
            x = images.astype(now) / 127.5 - 1
            x = x.reshape(b, grid, patch, grid, patch, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, grid ** 2, -1)
            wanted = jax.lax.stop_gradient(vit_features(fixed, x, teacher[2], lambda block: block))
            soft = jax.nn.softmax((wanted[:, 0] @ fixed["head"]).astype(F32))
            made = vit_features(p["vit"], x, student[2], lambda block: maybe_checkpointed(change, block))
            logits = (made[:, 0] @ p["vit"]["head"]).astype(F32)
            apart = optax.huber_loss((made @ p["to_teacher"]).astype(F32), wanted.astype(F32)).mean()
            return apart + optax.safe_softmax_cross_entropy(logits, soft).mean() + 0.5 * mean_nll(logits, labels)
        optimizer = optax.lion(warmed_up(1e-4), b2=0.98, weight_decay=1.0, mask=matrices_only)
        return trained(arrays, change, shapes, loss_fn, optimizer, placed(arrays, frozen),
                       arrays.batch((b, side, side, 3), jnp.uint8), arrays.batch((b,), jnp.int32))
    return make


# --- A policy that continues games ---

def many_games(n_layers, d, heads, steps, actions, returns, rewards, batch, kind=BF16):
    """A decision transformer of many games in linen: each step has patches, return, action and reward; LAMB."""
    patch, pixels = 14, 84
    seen = (pixels // patch) ** 2
    each = seen + 3

    def make(arrays, change):
        import optax
        from flax import linen as nn
        options, b = {"dtype": computed(change, kind)}, batch // change.batch_divisor

        class Block(nn.Module):
            @nn.compact
            def __call__(self, x, mask):
                h = nn.LayerNorm(**options)(x)
                x = x + nn.MultiHeadDotProductAttention(heads, **options)(h, mask=mask)
                h = nn.gelu(nn.Dense(4 * d, **options)(nn.LayerNorm(**options)(x)))
                return x + nn.Dense(d, **options)(h), None

        class Policy(nn.Module):
            @nn.compact
            def __call__(self, frames, returned, acted, rewarded):
                n = frames.shape[0]
                grid = pixels // patch
                x = frames.reshape(n, steps, grid, patch, grid, patch).swapaxes(3, 4).reshape(n, steps, seen, -1)
                x = nn.Dense(d, name="patches", **options)(x.astype(options["dtype"]) / 255)
                x = x + self.param("patch_places", nn.initializers.normal(0.02), (seen, d)).astype(x.dtype)
                others = [nn.Embed(count, d, **options)(ids)[:, :, None] for count, ids in (
                    (returns, returned), (actions, acted), (rewards, rewarded))]
                x = jnp.concatenate([x, *others], 2)
                x = x + self.param("step_places", nn.initializers.normal(0.02), (steps, 1, d)).astype(x.dtype)
                x = x.reshape(n, steps * each, d)
                at = jnp.arange(steps * each)
                frame = jnp.where(at % each < seen, at // each, -1)
                mask = (at[:, None] >= at) | ((frame[:, None] == frame) & (frame >= 0))
                block = nn.remat(Block, prevent_cse=False) if change.rematerialize else Block
                layers = nn.scan(block, {"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast,
                                 length=n_layers)
                x, _ = layers(name="scanned")(x, mask[None, None])
                x = nn.LayerNorm(**options)(x).reshape(n, steps, each, d)
                return [nn.Dense(count, **options)(x[:, :, seen - 1 + i]).astype(F32)
                        for i, count in enumerate((returns, actions, rewards))]

        model = Policy()
        few = jnp.zeros((1, steps), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, steps, pixels, pixels), jnp.uint8), few,
                                few, few)["params"]

        def loss_fn(params, frames, *told):
            made = model.apply({"params": params}, frames, *told)
            return sum(mean_nll(logits, ids) for logits, ids in zip(made, told)) / 3
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lamb(warmed_up(3e-4), weight_decay=0.01))
        row = arrays.batch((b, steps), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, optimizer,
                                arrays.batch((b, steps, pixels, pixels), jnp.uint8), row, row, row)
    return make


# --- An operator on three dimensions ---

def fourier_operator(n_layers, width, modes, grid, times, batch, kind=F32):
    """FNO on [batch, x, y, t]: low frequencies are mixed by weights, real and imaginary apart; relative L2; Adam."""
    def make(arrays, change):
        import optax
        now, b = computed(change, kind), batch // change.batch_divisor
        low = 2 * modes, 2 * modes, modes
        layer = {"spectral": (width, width, *low, 2), "w": (width, width), "bias": (width,)}
        shapes = shaped(lift={"w": (13, width), "bias": (width,)}, fc1={"w": (width, 128), "bias": (128,)},
                        fc2={"w": (128, 1), "bias": (1,)}, **{f"fourier{i}": layer for i in range(n_layers)})

        def corners(x):
            """Of the first two axes of frequencies the lowest on both sides, of the last the lowest."""
            x = x[..., :modes]
            x = jnp.concatenate([x[:, :, :modes], x[:, :, -modes:]], 2)
            return jnp.concatenate([x[:, :, :, :modes], x[:, :, :, -modes:]], 3)

        def spread(x):
            def apart(x, axis):
                gap = list(x.shape)
                gap[axis] = grid - 2 * modes
                first, second = jnp.split(x, 2, axis)
                return jnp.concatenate([first, jnp.zeros(gap, x.dtype), second], axis)
            x = apart(apart(x, 2), 3)
            return jnp.pad(x, ((0, 0),) * 4 + ((0, times // 2 + 1 - modes),))

        def block(p, x, is_last):
            waves = corners(jnp.fft.rfftn(jnp.moveaxis(x, -1, 1).astype(F32), axes=(2, 3, 4)))
            weights = jax.lax.complex(p["spectral"][..., 0].astype(F32), p["spectral"][..., 1].astype(F32))
            waves = spread(jnp.einsum("bixyt,ioxyt->boxyt", waves, weights))
            far = jnp.moveaxis(jnp.fft.irfftn(waves, s=(grid, grid, times), axes=(2, 3, 4)), 1, -1).astype(x.dtype)
            x = far + x @ p["w"] + p["bias"]
            return x if is_last else jax.nn.gelu(x)

        def loss_fn(params, before, after):
            p = as_kind(params, now)
            places = jnp.stack(jnp.meshgrid(*(jnp.linspace(0, 1, n) for n in (grid, grid, times)), indexing="ij"), -1)
            x = jnp.broadcast_to(before[:, :, :, None].astype(now), (b, grid, grid, times, 10))
            x = jnp.concatenate([x, jnp.broadcast_to(places.astype(now), (*x.shape[:4], 3))], -1)
            x = x @ p["lift"]["w"] + p["lift"]["bias"]
            for i in range(n_layers):
                one = maybe_checkpointed(change, lambda w, x, i=i: block(w, x, i == n_layers - 1))
                x = one(p[f"fourier{i}"], x)
            x = jax.nn.gelu(x @ p["fc1"]["w"] + p["fc1"]["bias"])
            made, after = (x @ p["fc2"]["w"] + p["fc2"]["bias"])[..., 0].astype(F32), after.astype(F32)
            wrong = jnp.sqrt(jnp.sum(jnp.square(made - after), (1, 2, 3)))
            return jnp.mean(wrong / jnp.sqrt(jnp.sum(jnp.square(after), (1, 2, 3)) + 1e-12))
        optimizer = optax.adamw(warmed_up(1e-3), weight_decay=1e-4)
        return trained(arrays, change, shapes, loss_fn, optimizer, arrays.batch((b, grid, grid, 10), F32),
                       arrays.batch((b, grid, grid, times), F32))
    return make


# --- Weather, two steps ahead ---

def rolled_weather(n_blocks, width, levels, fields, latitudes, longitudes, leads, batch, kind=BF16):
    """ConvNeXt on a globe: a scan over lead times around a scan over blocks; east meets west, and poles count less."""
    down = 4

    def make(arrays, change):
        import optax
        now, b, channels = computed(change, kind), batch // change.batch_divisor, levels * fields + 4
        stack = {"conv": (n_blocks, 7, 7, 1, width), "gain": (n_blocks, width), "fc1": (n_blocks, width, 4 * width),
                 "fc2": (n_blocks, 4 * width, width), "layer_scale": (n_blocks, width)}
        shapes = shaped(enter=(down * down * channels, width), scanned=stack, norm=(width,),
                        leave=(width, down * down * channels))

        def block(x, w):
            h = jnp.concatenate([x[:, :, -3:], x, x[:, :, :3]], 2)
            h = jnp.pad(h, ((0, 0), (3, 3), (0, 0), (0, 0)))
            h = jax.lax.conv_general_dilated(h, w["conv"], (1, 1), "VALID", feature_group_count=width,
                                             dimension_numbers=("NHWC", "HWIO", "NHWC"))
            h = jax.nn.gelu(rms(h, w["gain"]) @ w["fc1"]) @ w["fc2"]
            return x + h * w["layer_scale"], None

        def loss_fn(params, now_state, later_states, spread):
            p = as_kind(params, now)
            high, wide = latitudes // down, longitudes // down
            area = jnp.cos(jnp.linspace(-np.pi / 2, np.pi / 2, latitudes))[:, None, None]

            def lead(state, wanted):
                x = state.reshape(-1, high, down, wide, down, channels).transpose(0, 1, 3, 2, 4, 5)
                x, _ = jax.lax.scan(maybe_checkpointed(change, block), x.reshape(-1, high, wide, down * down * channels)
                                    @ p["enter"], p["scanned"])
                x = (rms(x, p["norm"]) @ p["leave"]).reshape(-1, high, wide, down, down, channels)
                state = state + x.transpose(0, 1, 3, 2, 4, 5).reshape(state.shape)
                wrong = jnp.square((state - wanted.astype(now)).astype(F32) / spread.astype(F32)) * area
                return state, jnp.mean(wrong)
            _, losses = jax.lax.scan(lead, now_state.astype(now), later_states.swapaxes(0, 1))
            return jnp.mean(losses)
        optimizer = optax.chain(optax.clip_by_global_norm(32.0), optax.adamw(warmed_up(1e-3), b2=0.95,
                                                                             weight_decay=0.1))
        globe = latitudes, longitudes, channels
        return trained(arrays, change, shapes, loss_fn, optimizer, arrays.batch((b, *globe), F32),
                       arrays.batch((b, leads, *globe), F32), arrays.array((channels,), change.stored))
    return make
