"""Networks of convolutions, for classes of pictures and for scans of bodies, as other authors write them.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import matrices_only, trained_with_statistics, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_scenes import convolved
from advice_trial_sequences import cast, kind_of


def conv(size, before, after):
    """A kernel without a bias, and the norm after it."""
    return {"conv": (size, size, before, after), "gain": (after,), "shift": (after,)}


def norm(before):
    return {"gain": (before,), "shift": (before,)}


def running(shapes):
    """For each norm among the shapes, the mean and the variance that are kept of it."""
    if isinstance(shapes, list):
        return [running(one) for one in shapes]
    made = {name: running(one) for name, one in shapes.items() if isinstance(one, dict | list)}
    if "gain" in shapes:
        made |= {"mean": shapes["gain"], "spread": shapes["gain"]}
    return made


def standardized(p, kept, x, rate=0.1):
    """Over the batch and places, in float32; gives what is kept from now on too."""
    wide = x.astype(F32)
    mean = wide.mean((0, 1, 2))
    spread = jnp.square(wide).mean((0, 1, 2)) - jnp.square(mean)
    made = (wide - mean) * jax.lax.rsqrt(spread + 1e-5) * p["gain"].astype(F32) + p["shift"].astype(F32)
    kept = {"mean": kept["mean"].astype(F32) * (1 - rate) + rate * mean,
            "spread": kept["spread"].astype(F32) * (1 - rate) + rate * spread}
    return made.astype(x.dtype), jax.tree.map(jax.lax.stop_gradient, kept)


def pooled(x, size=2, stride=2):
    """The mean of each window."""
    sums = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, size, size, 1), (1, stride, stride, 1), "SAME")
    return sums / jnp.asarray(size * size, x.dtype)


def by_momentum(rate):
    import optax
    return optax.chain(optax.add_decayed_weights(1e-4, matrices_only),
                       optax.sgd(warmed_up(rate), momentum=0.9, nesterov=True))


# --- Residues within residues ---

def split_residues(blocks, base, scales, side, batch, classes=1000, kind=BF16):
    """Res2Net: within a block the channels are in groups, each of which reads the one before it; a deep stem."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        plan, before = [], 64
        tree = {"stem": [conv(3, 3, 32), conv(3, 32, 32), conv(3, 32, before)], "blocks": []}
        for stage, count in enumerate(blocks):
            group, after = base * 2 ** stage, 256 * 2 ** stage
            for i in range(count):
                one = {"enter": conv(1, before, group * scales), "leave": conv(1, group * scales, after),
                       "within": [conv(3, group, group) for _ in range(scales - 1)]}
                if i == 0:
                    one["skip"] = conv(1, before, after)
                tree["blocks"].append(one)
                plan.append(2 if i == 0 and stage > 0 else 1)
                before = after
        shapes = {"stem": [shaped(**one) for one in tree["stem"]], "blocks": [], "head": shaped(
            w=(before, classes), b=(classes,))}
        for one in tree["blocks"]:
            shapes["blocks"].append({name: [shaped(**q) for q in p] if name == "within" else shaped(**p)
                                     for name, p in one.items()})
        kept = jax.tree.map(lambda size: jax.ShapeDtypeStruct(size, F32), running(tree),
                            is_leaf=lambda x: isinstance(x, tuple))

        def layer(p, kept, x, stride=1):
            return standardized(p, kept, convolved(x, p["conv"].astype(now), stride))

        def block(p, kept, x, stride):
            new = {"within": []}
            h, new["enter"] = layer(p["enter"], kept["enter"], x)
            groups = jnp.split(jax.nn.relu(h), scales, -1)
            made, last = [], None
            for q, had, part in zip(p["within"], kept["within"], groups):
                last, one = layer(q, had, part if last is None or stride > 1 else part + last, stride)
                last = jax.nn.relu(last)
                new["within"].append(one)
                made.append(last)
            made.append(pooled(groups[-1], 3, stride) if stride > 1 else groups[-1])
            h, new["leave"] = layer(p["leave"], kept["leave"], jnp.concatenate(made, -1))
            if "skip" in p:
                x, new["skip"] = layer(p["skip"], kept["skip"], pooled(x) if stride > 1 else x)
            return jax.nn.relu(x + h), new

        def loss_of(params, kept, pictures, labels):
            x, new = pictures.astype(now), {"stem": [], "blocks": []}
            for i, (p, had) in enumerate(zip(params["stem"], kept["stem"])):
                x, one = layer(p, had, x, 2 if i == 0 else 1)
                x = jax.nn.relu(x)
                new["stem"].append(one)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            for p, had, stride in zip(params["blocks"], kept["blocks"], plan):
                def strided(p, had, x, stride=stride):
                    return block(p, had, x, stride)
                x, one = maybe_checkpointed(change, strided)(p, had, x)
                new["blocks"].append(one)
            logits = x.mean((1, 2)) @ params["head"]["w"].astype(now) + params["head"]["b"].astype(now)
            told = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            return optax.softmax_cross_entropy(logits.astype(F32), told).mean(), new
        return trained_with_statistics(arrays, change, shapes, kept, loss_of, by_momentum(0.4),
                                       arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32))
    return make


# --- Widths that grow with each block ---

def widening_blocks(blocks, first, added, side, batch, classes=200, kind=F32):
    """PyramidNet: each block is a little wider than the one before; skips are filled up with nothing."""
    def make(arrays, change):
        now, size, total = kind_of(change, kind), batch // change.batch_divisor, sum(blocks)
        widths = [first + round(added * (i + 1) / total) for i in range(total)]
        plan = [2 if i == 0 and stage > 0 else 1 for stage, count in enumerate(blocks) for i in range(count)]
        tree = {"stem": conv(3, 3, first), "last": norm(widths[-1]), "blocks": []}
        for before, after in zip((first, *widths), widths):
            tree["blocks"].append({"before": norm(before), "one": conv(3, before, after), "two": conv(3, after, after)})
        shapes = {"stem": shaped(**tree["stem"]), "last": shaped(**tree["last"]),
                  "blocks": [shaped(**one) for one in tree["blocks"]],
                  "head": shaped(w=(widths[-1], classes), b=(classes,))}
        kept = jax.tree.map(lambda size: jax.ShapeDtypeStruct(size, F32), running(tree),
                            is_leaf=lambda x: isinstance(x, tuple))

        def layer(p, kept, x, stride=1):
            return standardized(p, kept, convolved(x, p["conv"].astype(now), stride))

        def block(p, kept, x, stride):
            h, first = standardized(p["before"], kept["before"], x)
            h, one = layer(p["one"], kept["one"], h, stride)
            h, two = layer(p["two"], kept["two"], jax.nn.relu(h))
            x = pooled(x) if stride > 1 else x
            wider = jnp.pad(x, ((0, 0), (0, 0), (0, 0), (0, h.shape[-1] - x.shape[-1])))
            return wider + h, {"before": first, "one": one, "two": two}

        def loss_of(params, kept, pictures, labels):
            new = {"blocks": []}
            x, new["stem"] = layer(params["stem"], kept["stem"], pictures.astype(now))
            for p, had, stride in zip(params["blocks"], kept["blocks"], plan):
                def strided(p, had, x, stride=stride):
                    return block(p, had, x, stride)
                x, one = maybe_checkpointed(change, strided)(p, had, x)
                new["blocks"].append(one)
            x, new["last"] = standardized(params["last"], kept["last"], x)
            x = jax.nn.relu(x).mean((1, 2))
            logits = x @ params["head"]["w"].astype(now) + params["head"]["b"].astype(now)
            return word_loss(logits, labels), new
        return trained_with_statistics(arrays, change, shapes, kept, loss_of, by_momentum(0.25),
                                       arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32))
    return make


# --- All that came before ---

def all_before(blocks, growth, side, batch, classes=1000, kind=BF16):
    """DenseNet-BC: each layer reads all before it in its block, joined; halved between blocks; norms of groups."""
    def make(arrays, change):
        now, size, before = kind_of(change, kind), batch // change.batch_divisor, 2 * growth
        shapes = {"stem": shaped(conv=(7, 7, 3, before)), "blocks": []}
        for i, count in enumerate(blocks):
            layers = []
            for _ in range(count):
                layers.append(shaped(first=norm(before), narrow={"conv": (1, 1, before, 4 * growth)},
                                     second=norm(4 * growth), wide={"conv": (3, 3, 4 * growth, growth)}))
                before += growth
            shapes["blocks"].append({"layers": layers})
            if i + 1 < len(blocks):
                shapes["blocks"][-1]["between"] = shaped(norm=norm(before), conv=(1, 1, before, before // 2))
                before //= 2
        shapes["last"] = shaped(norm=norm(before), w=(before, classes), b=(classes,))

        def normed(p, x, groups=8):
            wide = x.astype(F32).reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
            mean = wide.mean((1, 3), keepdims=True)
            spread = jnp.square(wide - mean).mean((1, 3), keepdims=True)
            wide = ((wide - mean) * jax.lax.rsqrt(spread + 1e-5)).reshape(x.shape)
            return jax.nn.relu(wide.astype(now) * p["gain"] + p["shift"])

        def layer(p, joined):
            h = convolved(normed(p["first"], joined), p["narrow"]["conv"])
            return convolved(normed(p["second"], h), p["wide"]["conv"])

        def loss_of(params, pictures, labels):
            p = cast(params, now)
            x = convolved(pictures.astype(now), p["stem"]["conv"], 2)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            for block in p["blocks"]:
                for one in block["layers"]:
                    x = jnp.concatenate([x, maybe_checkpointed(change, layer)(one, x)], -1)
                if "between" in block:
                    x = pooled(convolved(normed(block["between"]["norm"], x), block["between"]["conv"]))
            x = normed(p["last"]["norm"], x).mean((1, 2))
            return word_loss(x @ p["last"]["w"] + p["last"]["b"], labels)
        return trained_in_parts(arrays, change, shapes, loss_of, by_momentum(0.1),
                                arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32))
    return make


# --- Scans of bodies ---

def unrolled_scans(rounds, width, depth, coils, side, batch, kind=F32):
    """A variational network for MRI: rounds that mend what was measured and clean the picture, in a scan; l1, Adam."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        cleaner = {"enter_conv": (rounds, 3, 3, 2, width), "conv": (rounds, depth, 3, 3, width, width),
                   "bias": (rounds, depth, width), "leave_conv": (rounds, 3, 3, width, 2), "step": (rounds,)}
        shapes = {"scanned": shaped(**cleaner)}

        def joined(x):
            return jax.lax.complex(x[..., 0].astype(F32), x[..., 1].astype(F32))

        def apart(x):
            return jnp.stack([x.real, x.imag], -1)

        def loss_of(params, measured, maps, mask, target):
            p, measured, maps = cast(params, now), joined(measured), joined(maps)
            mask = mask.astype(F32)[:, None, None]

            def back(waves):
                return jnp.sum(jnp.fft.ifft2(waves, norm="ortho") * jnp.conj(maps), 1)

            def mended(picture, step):
                waves = jnp.fft.fft2(picture[:, None] * maps, norm="ortho")
                return picture - step.astype(F32) * back(mask * waves - measured)

            def one_round(picture, p):
                x = convolved(apart(picture).astype(now), p["enter_conv"])
                h = x
                for i in range(depth):
                    h = convolved(jax.nn.leaky_relu(h, 0.2), p["conv"][i]) + p["bias"][i]
                cleaned = convolved(jax.nn.leaky_relu(x + h, 0.2), p["leave_conv"])
                return mended(picture, p["step"]) - joined(cleaned), None
            picture, _ = jax.lax.scan(maybe_checkpointed(change, one_round), back(measured), p["scanned"])
            return jnp.abs(jnp.sqrt(jnp.square(apart(picture)).sum(-1) + 1e-9) - target.astype(F32)).mean()
        waves = arrays.batch((size, coils, side, side, 2), F32)
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adam(warmed_up(3e-4)), waves, waves,
                                arrays.batch((size, side), F32), arrays.batch((size, side, side), F32))
    return make
