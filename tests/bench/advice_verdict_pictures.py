"""Branches that merge, separable stages, boxes on a pyramid, heads that talk: pictures, as other authors write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_verdict_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import matrices_only, trained_with_statistics, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_proof_scenes import by_momentum, conv, norm, running, standardized
from advice_structures import BF16, F32
from advice_trial_scenes import convolved
from advice_trial_sequences import cast, kind_of


def is_size(x):
    return isinstance(x, tuple)


def abstract(tree):
    """A tree of sizes as abstract arrays."""
    return jax.tree.map(lambda size: jax.ShapeDtypeStruct(size, F32), tree, is_leaf=is_size)


def most(x, size=3, stride=2):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, size, size, 1), (1, stride, stride, 1), "SAME")


# --- Branches that merge when training is over ---

def merged_branches(depths, widths, stem, side, batch, classes=1000, kind=BF16):
    """RepVGG in training: a 3x3, a 1x1 and, where sizes agree, nothing at all, each with a norm, are summed."""
    def make(arrays, change):
        now, size = kind_of(change, kind), batch // change.batch_divisor
        tree, strides, before = [], [], 3
        for count, width in zip((1, *depths), (stem, *widths)):
            for i in range(count):
                one = {"large": conv(3, before, width), "small": conv(1, before, width)}
                if i > 0:
                    one["same"] = norm(before)
                tree.append(one)
                strides.append(1 if i else 2)
                before = width
        shapes = {"blocks": abstract(tree), "head": shaped(w=(before, classes), b=(classes,))}
        kept = abstract(running(tree))

        def block(p, kept, x, stride):
            new = {}
            total, new["large"] = standardized(p["large"], kept["large"],
                                               convolved(x, p["large"]["conv"].astype(now), stride))
            small, new["small"] = standardized(p["small"], kept["small"],
                                               convolved(x, p["small"]["conv"].astype(now), stride))
            total = total + small
            if "same" in p:
                same, new["same"] = standardized(p["same"], kept["same"], x)
                total = total + same
            return jax.nn.relu(total), new

        def loss_of(params, kept, pictures, labels):
            x, new = pictures.astype(now), []
            for p, had, stride in zip(params["blocks"], kept, strides):
                def strided(p, had, x, stride=stride):
                    return block(p, had, x, stride)
                x, one = maybe_checkpointed(change, strided)(p, had, x)
                new.append(one)
            logits = x.mean((1, 2)) @ params["head"]["w"].astype(now) + params["head"]["b"].astype(now)
            return word_loss(logits, labels), new
        return trained_with_statistics(arrays, change, shapes, kept, loss_of, by_momentum(0.1),
                                       arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32))
    return make


# --- Separable convolutions ---

def separable(before, after):
    return {"depth_conv": (3, 3, 1, before), "conv": (1, 1, before, after), "gain": (after,), "shift": (after,)}


def separable_pictures(entry, middle, exits, side, batch, classes=1000, kind=BF16):
    """Xception: stages that grow, a scan over equal blocks in the middle, and two wide layers last."""
    def make(arrays, change):
        import optax
        now, size, width = kind_of(change, kind), batch // change.batch_divisor, entry[-1]
        growing = [{"first": separable(before, after), "second": separable(after, after),
                    "skip": conv(1, before, after)} for before, after in zip((64, *entry), entry)]
        leaving = {"first": separable(width, width), "second": separable(width, exits[0]),
                   "skip": conv(1, width, exits[0])}
        equal = {name: separable(width, width) for name in ("first", "second", "third")}
        equal = jax.tree.map(lambda size: (middle, *size), equal, is_leaf=is_size)
        tree = {"stem": [conv(3, 3, 32), conv(3, 32, 64)], "growing": [*growing, leaving], "scanned": equal,
                "last": [separable(exits[0], exits[1]), separable(exits[1], exits[2])]}
        shapes = abstract(tree) | {"head": shaped(w=(exits[2], classes), b=(classes,))}
        kept = abstract(running(tree))

        def split(p, kept, x):
            x = convolved(x, p["depth_conv"].astype(now), groups=x.shape[-1])
            return standardized(p, kept, convolved(x, p["conv"].astype(now)))

        def stage(p, kept, x):
            new = {}
            h, new["first"] = split(p["first"], kept["first"], jax.nn.relu(x))
            h, new["second"] = split(p["second"], kept["second"], jax.nn.relu(h))
            skip, new["skip"] = standardized(p["skip"], kept["skip"], convolved(x, p["skip"]["conv"].astype(now), 2))
            return most(h) + skip, new

        def one_of_many(x, both):
            (p, kept), h, new = both, x, {}
            for name in ("first", "second", "third"):
                h, new[name] = split(p[name], kept[name], jax.nn.relu(h))
            return x + h, new

        def loss_of(params, kept, pictures, labels):
            x, new = pictures.astype(now), {"stem": [], "growing": [], "last": []}
            for p, had, stride in zip(params["stem"], kept["stem"], (2, 1)):
                x, one = standardized(p, had, convolved(x, p["conv"].astype(now), stride))
                x = jax.nn.relu(x)
                new["stem"].append(one)
            for i, (p, had) in enumerate(zip(params["growing"], kept["growing"])):
                if i == len(entry):
                    x, new["scanned"] = jax.lax.scan(maybe_checkpointed(change, one_of_many), x,
                                                     (params["scanned"], kept["scanned"]))
                x, one = maybe_checkpointed(change, stage)(p, had, x)
                new["growing"].append(one)
            for p, had in zip(params["last"], kept["last"]):
                x, one = split(p, had, x)
                x = jax.nn.relu(x)
                new["last"].append(one)
            logits = x.mean((1, 2)) @ params["head"]["w"].astype(now) + params["head"]["b"].astype(now)
            return word_loss(logits, labels), new
        optimizer = optax.chain(optax.add_decayed_weights(1e-5, matrices_only),
                                optax.sgd(warmed_up(0.045), momentum=0.9))
        return trained_with_statistics(arrays, change, shapes, kept, loss_of, optimizer,
                                       arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32))
    return make


# --- Boxes, told at each place of a pyramid ---

def boxes_on_levels(inner, outer, each, channels, side, batch, classes=80, kind=BF16):
    """FCOS on VoVNet: what each convolution of a stage made is joined at its end; three of the stages make a pyramid
    of five levels, that share two heads."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor

        def unit(taps, before, after):
            return {"conv": (taps, taps, before, after), "gain": (after,), "shift": (after,)}
        stages, before = [], 128
        for narrow, wide in zip(inner, outer):
            layers = [unit(3, narrow if i else before, narrow) for i in range(each)]
            stages.append({"layers": layers, "joined": unit(1, before + each * narrow, wide),
                           "weigh": {"w": (wide, wide), "b": (wide,)}})
            before = wide
        head = [unit(3, channels, channels) for _ in range(4)]
        shapes = abstract({
            "stem": [unit(3, 3, 64), unit(3, 64, 64), unit(3, 64, 128)], "stages": stages,
            "across": [{"conv": (1, 1, wide, channels)} for wide in outer[1:]],
            "smooth": [{"conv": (3, 3, channels, channels)} for _ in outer[1:]],
            "lower": [{"conv": (3, 3, channels, channels)} for _ in range(2)],
            "class": head, "box": head, "say": {"class_conv": (3, 3, channels, classes),
                                                "box_conv": (3, 3, channels, 4), "near_conv": (3, 3, channels, 1)}})

        def done(p, x, stride=1):
            x = convolved(x, p["conv"], stride)
            wide = x.astype(F32).reshape(x.shape[0], -1, 16, x.shape[-1] // 16)
            mean = wide.mean((1, 3), keepdims=True)
            wide = (wide - mean) * jax.lax.rsqrt(jnp.square(wide - mean).mean((1, 3), keepdims=True) + 1e-5)
            return jax.nn.relu(wide.reshape(x.shape).astype(now) * p["gain"] + p["shift"])

        def stage(p, x):
            made = [x]
            for one in p["layers"]:
                made.append(done(one, made[-1]))
            x = done(p["joined"], jnp.concatenate(made, -1))
            gate = jax.nn.hard_sigmoid(x.mean((1, 2)) @ p["weigh"]["w"] + p["weigh"]["b"])
            return x * gate[:, None, None]

        def doubled(x):
            return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)

        def said(p, x):
            told = seen = x
            for one, other in zip(p["class"], p["box"]):
                told, seen = done(one, told), done(other, seen)
            made = (convolved(told, p["say"]["class_conv"]), jnp.exp(convolved(seen, p["say"]["box_conv"])),
                    convolved(seen, p["say"]["near_conv"]))
            return [one.reshape(x.shape[0], -1, one.shape[-1]).astype(F32) for one in made]

        def loss_of(params, pictures, labels, boxes, near):
            p, x, found = cast(params, now), pictures.astype(now), []
            for one, stride in zip(p["stem"], (2, 1, 2)):
                x = done(one, x, stride)
            for i, one in enumerate(p["stages"]):
                x = maybe_checkpointed(change, stage)(one, most(x) if i else x)
                found.append(x)
            levels, above = [], None
            for one, across, smooth in zip(found[:0:-1], p["across"][::-1], p["smooth"][::-1]):
                here = convolved(one, across["conv"])
                above = here if above is None else here + doubled(above)
                levels.insert(0, convolved(above, smooth["conv"]))
            for one in p["lower"]:
                levels.append(convolved(jax.nn.relu(levels[-1]), one["conv"], 2))
            made = [maybe_checkpointed(change, said)(p, level) for level in levels]
            logits, sides, nearness = (jnp.concatenate(some, 1) for some in zip(*made))
            right = jax.nn.one_hot(labels - 1, classes)
            focal = optax.sigmoid_focal_loss(logits, right, alpha=0.25, gamma=2.0).sum(-1)
            boxes, near = boxes.astype(F32), near.astype(F32)
            low, high = jnp.minimum(sides, boxes), jnp.maximum(sides, boxes)
            shared = (low[..., 0] + low[..., 2]) * (low[..., 1] + low[..., 3])
            around = (high[..., 0] + high[..., 2]) * (high[..., 1] + high[..., 3])
            there = (labels > 0).astype(F32)
            off = there * (near * (1 - shared / (around + 1e-6))
                           + optax.sigmoid_binary_cross_entropy(nearness[..., 0], near))
            return (focal.sum() + off.sum()) / jnp.maximum(there.sum(), 1)
        places = sum((side // stride) ** 2 for stride in (8, 16, 32, 64, 128))
        return trained_in_parts(arrays, change, shapes, loss_of, by_momentum(0.01),
                                arrays.batch((size, side, side, 3), F32), arrays.batch((size, places), jnp.int32),
                                arrays.batch((size, places, 4), F32), arrays.batch((size, places), F32))
    return make


# --- Heads that talk ---

def talking_heads(depth, last, width, heads, patch, side, batch, classes=1000, kind=BF16):
    """CaiT: maps of attention are mixed over heads before and after the softmax; layers are scaled; only the last
    layers have a token of the class, which looks at all places."""
    places, head = (side // patch) ** 2, width // heads

    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        units = {"up": (width, 4 * width), "up_bias": (4 * width,), "down": (4 * width, width), "down_bias": (width,),
                 "gain": (2, width), "shift": (2, width), "scale": (2, width)}
        many = {"qkv": (width, 3 * width), "out": (width, width), "before": (heads, heads), "after": (heads, heads)}
        shapes = abstract({
            "patches": {"kernel": (patch * patch * 3, width), "bias": (width,)}, "places": {"table": (places, width)},
            "scanned": jax.tree.map(lambda size: (depth, *size), many | units, is_leaf=is_size),
            "class": [{"query": (width, width), "read": (width, 2 * width), "out": (width, width)} | units
                      for _ in range(last)],
            "head": {"token": (1, width), "gain": (width,), "shift": (width,), "w": (width, classes),
                     "b": (classes,)}})

        def normed(x, gain, shift):
            wide = x.astype(F32)
            wide = wide - wide.mean(-1, keepdims=True)
            return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-6)).astype(now) * gain + shift

        def split_heads(x):
            return x.reshape(*x.shape[:2], heads, head)

        def fed(p, x):
            h = jax.nn.gelu(normed(x, p["gain"][1], p["shift"][1]) @ p["up"] + p["up_bias"])
            return x + p["scale"][1] * (h @ p["down"] + p["down_bias"])

        def layer(x, p):
            h = normed(x, p["gain"][0], p["shift"][0])
            query, key, value = (split_heads(one) for one in jnp.split(h @ p["qkv"], 3, -1))
            maps = jnp.einsum("bqhd,bkhd->bhqk", query * head ** -0.5, key)
            maps = jnp.einsum("bhqk,hg->bgqk", maps, p["before"]).astype(F32)
            maps = jnp.einsum("bhqk,hg->bgqk", jax.nn.softmax(maps, -1).astype(now), p["after"])
            mixed = jnp.einsum("bhqk,bkhd->bqhd", maps, value).reshape(x.shape)
            return fed(p, x + p["scale"][0] * (mixed @ p["out"])), None

        def class_layer(p, token, x):
            h = normed(jnp.concatenate([token, x], 1), p["gain"][0], p["shift"][0])
            query = split_heads(h[:, :1] @ p["query"]) * head ** -0.5
            key, value = (split_heads(one) for one in jnp.split(h @ p["read"], 2, -1))
            weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", query, key).astype(F32), -1).astype(now)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(token.shape)
            return fed(p, token + p["scale"][0] * (mixed @ p["out"]))

        def loss_of(params, pictures, labels):
            p, across = cast(params, now), side // patch
            x = pictures.astype(now).reshape(-1, across, patch, across, patch, 3).transpose(0, 1, 3, 2, 4, 5)
            x = x.reshape(x.shape[0], places, -1) @ p["patches"]["kernel"] + p["patches"]["bias"]
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), x + p["places"]["table"], p["scanned"])
            token = jnp.broadcast_to(p["head"]["token"], (x.shape[0], 1, width))
            for one in p["class"]:
                token = maybe_checkpointed(change, class_layer)(one, token, x)
            told = normed(token[:, 0], p["head"]["gain"], p["head"]["shift"]) @ p["head"]["w"] + p["head"]["b"]
            right = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            return optax.softmax_cross_entropy(told.astype(F32), right).mean()
        optimizer = optax.adamw(warmed_up(1e-3), weight_decay=0.05, mask=matrices_only)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32))
    return make
