"""Networks for pictures, of plain dictionaries: an aggregated residual network, and a detector with a pyramid.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_panel_families.py has the sizes.
advice_panel_modules.py has pictures by modules of libraries.
"""
import math

import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, placed
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- What they share ---

def conv2d(x, w, stride=1, groups=1):
    return jax.lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                        feature_group_count=groups)


def summed_over_parts(loss_of, parts):
    """((loss, statistics), grads): of micro-batches one after the other, the statistics go from one to the next."""
    of_one = jax.value_and_grad(loss_of, has_aux=True)

    def of_parts(params, stats, *batch):
        def one(carry, part):
            stats, loss, grads = carry
            (one_loss, new), one_grads = of_one(params, stats, *part)
            new = jax.tree.map(lambda n, s: n.astype(s.dtype), new, stats)
            return (new, loss + one_loss, jax.tree.map(jnp.add, grads, one_grads)), None
        split = jax.tree.map(lambda a: a.reshape(parts, a.shape[0] // parts, *a.shape[1:]), batch)
        start = stats, jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
        (stats, loss, grads), _ = jax.lax.scan(one, start, split)
        return (loss / parts, stats), jax.tree.map(lambda g: g / parts, grads)
    return of_one if parts == 1 else of_parts


def trained_variables(arrays, change, variables, loss_of, optimizer, *batch):
    """A step over {"params", "batch_stats"} and the optimizer's state."""
    import optax
    variables = as_kind(variables, change.stored)
    state = jax.eval_shape(optimizer.init, variables["params"])

    def train_step(variables, opt_state, *batch):
        params, stats = variables["params"], variables["batch_stats"]
        (loss, new), grads = summed_over_parts(loss_of, change.parts)(params, stats, *batch)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        new = jax.tree.map(lambda n, s: n.astype(s.dtype), new, stats)
        return {"params": optax.apply_updates(params, updates), "batch_stats": new}, opt_state, loss
    return train_step, (placed(arrays, variables), placed(arrays, state), *batch), (0, 1)


def smoothed_loss(logits, labels, smoothing=0.1):
    import optax
    wanted = optax.smooth_labels(jax.nn.one_hot(labels, logits.shape[-1]), smoothing)
    return optax.softmax_cross_entropy(logits.astype(F32), wanted).mean()


# --- ResNeXt ---

def batch_norm(x, p, stats, momentum=0.9):
    wide = x.astype(F32)
    mean = wide.mean((0, 1, 2))
    var = jnp.mean(jnp.square(wide), (0, 1, 2)) - jnp.square(mean)
    scale = p["scale"].astype(F32) * jax.lax.rsqrt(var + 1e-5)
    y = wide * scale + (p["bias"].astype(F32) - mean * scale)
    new = {"mean": momentum * stats["mean"] + (1 - momentum) * mean,
           "var": momentum * stats["var"] + (1 - momentum) * var}
    return y.astype(x.dtype), new


def resnext(depths, stem, inner, cardinality, expansion, side, classes, batch, kind=BF16):
    """Grouped bottlenecks; the stages widen from stem * expansion; SGD with Nesterov's momentum, as for ImageNet."""
    def shapes():
        params, stats, enters = {}, {}, stem

        def norm(width):
            return {"scale": (width,), "bias": (width,)}, {"mean": (width,), "var": (width,)}

        params["conv_stem"] = (7, 7, 3, stem)
        params["bn_stem"], stats["bn_stem"] = norm(stem)
        for i, depth in enumerate(depths):
            width, leaves = inner * 2 ** i, stem * expansion * 2 ** i
            for j in range(depth):
                p = {"conv1": (1, 1, enters, width), "conv2": (3, 3, width // cardinality, width),
                     "conv3": (1, 1, width, leaves)}
                s = {}
                for k, size in (("bn1", width), ("bn2", width), ("bn3", leaves)):
                    p[k], s[k] = norm(size)
                if j == 0:
                    p["conv_proj"] = (1, 1, enters, leaves)
                    p["bn_proj"], s["bn_proj"] = norm(leaves)
                params[f"layer{i + 1}_{j}"], stats[f"layer{i + 1}_{j}"], enters = p, s, leaves
        params["fc"] = {"kernel": (enters, classes), "bias": (classes,)}
        return {"params": shaped(**params), "batch_stats": shaped(**stats)}

    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)

        def bottleneck(p, s, x, stride):
            new = {}
            y, new["bn1"] = batch_norm(conv2d(x, p["conv1"]), p["bn1"], s["bn1"])
            y = jax.nn.relu(y)
            y, new["bn2"] = batch_norm(conv2d(y, p["conv2"], stride, cardinality), p["bn2"], s["bn2"])
            y = jax.nn.relu(y)
            y, new["bn3"] = batch_norm(conv2d(y, p["conv3"]), p["bn3"], s["bn3"])
            if "conv_proj" in p:
                x, new["bn_proj"] = batch_norm(conv2d(x, p["conv_proj"], stride), p["bn_proj"], s["bn_proj"])
            return jax.nn.relu(x + y), new

        def forward(params, stats, images):
            p, new = as_kind(params, now), {}
            x = conv2d(images.astype(now), p["conv_stem"], 2)
            x, new["bn_stem"] = batch_norm(x, p["bn_stem"], stats["bn_stem"])
            x = jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            for i, depth in enumerate(depths):
                for j in range(depth):
                    name, stride = f"layer{i + 1}_{j}", 2 if i and not j else 1
                    block = maybe_checkpointed(change, lambda p, s, x, stride=stride: bottleneck(p, s, x, stride))
                    x, new[name] = block(p[name], stats[name], x)
            return x.mean((1, 2)) @ p["fc"]["kernel"] + p["fc"]["bias"], new

        def loss_of(params, stats, images, labels):
            logits, new = forward(params, stats, images)
            return smoothed_loss(logits, labels), new
        rate = optax.warmup_cosine_decay_schedule(0.0, 0.4, 3125, 62500)
        optimizer = optax.chain(optax.add_decayed_weights(5e-5, matrices_only),
                                optax.sgd(rate, momentum=0.9, nesterov=True))
        return trained_variables(arrays, change, shapes(), loss_of, optimizer,
                                 arrays.batch((b, side, side, 3), F32), arrays.batch((b,), jnp.int32))
    return make


# --- RetinaNet ---

def group_norm(x, p, groups=32):
    b, h, w, c = x.shape
    y = x.astype(F32).reshape(b, h, w, groups, c // groups)
    mean = y.mean((1, 2, 4), keepdims=True)
    var = jnp.square(y - mean).mean((1, 2, 4), keepdims=True)
    y = ((y - mean) * jax.lax.rsqrt(var + 1e-5)).reshape(x.shape).astype(x.dtype)
    return y * p["scale"] + p["bias"]


def upsampled(x):
    return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)


def focal_loss(logits, labels, alpha=0.25, gamma=2.0):
    """Labels: 0 is background, -1 is not counted."""
    wanted = jax.nn.one_hot(labels - 1, logits.shape[-1])
    prob = jax.nn.sigmoid(logits)
    entropy = jnp.maximum(logits, 0) - logits * wanted + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    weight = jnp.where(wanted > 0, alpha * (1 - prob) ** gamma, (1 - alpha) * prob ** gamma)
    return jnp.sum(weight * entropy * (labels >= 0)[..., None])


def retina_shapes(depths, stem, pyramid, towers, anchors, classes):
    def norm(width):
        return {"scale": (width,), "bias": (width,)}

    params, enters = {"conv_stem": (7, 7, 3, stem), "gn_stem": norm(stem)}, stem
    for i, depth in enumerate(depths):
        width = stem * 2 ** i
        for j in range(depth):
            p = {"conv1": (1, 1, enters, width), "gn1": norm(width), "conv2": (3, 3, width, width),
                 "gn2": norm(width), "conv3": (1, 1, width, 4 * width), "gn3": norm(4 * width)}
            if j == 0:
                p |= {"conv_down": (1, 1, enters, 4 * width), "gn_down": norm(4 * width)}
            params[f"res{i + 2}_{j}"], enters = p, 4 * width
    for level in (3, 4, 5):
        params[f"conv_lateral{level}"] = (1, 1, stem * 2 ** level, pyramid)
        params[f"conv_output{level}"] = (3, 3, pyramid, pyramid)
    params |= {"conv_p6": (3, 3, enters, pyramid), "conv_p7": (3, 3, pyramid, pyramid)}
    for head, size in (("cls", anchors * classes), ("box", anchors * 4)):
        params[head] = {f"conv{k}": (3, 3, pyramid, pyramid) for k in range(towers)}
        params[head] |= {f"gn{k}": norm(pyramid) for k in range(towers)}
        params[head] |= {"conv_pred": (3, 3, pyramid, size), "bias": (size,)}
    return shaped(**params)


def retinanet(depths, stem, pyramid, towers, anchors, classes, height, width, batch, kind=F32):
    """A residual network with group norms, a pyramid from P3 to P7, two heads that all levels share; dense targets."""
    places = sum(math.ceil(height / 2 ** i) * math.ceil(width / 2 ** i) for i in range(3, 8)) * anchors

    def make(arrays, change):
        import optax
        b = batch // change.batch_divisor
        now = change.computed or computed(change, kind)

        def bottleneck(p, x, stride):
            y = jax.nn.relu(group_norm(conv2d(x, p["conv1"]), p["gn1"]))
            y = jax.nn.relu(group_norm(conv2d(y, p["conv2"], stride), p["gn2"]))
            y = group_norm(conv2d(y, p["conv3"]), p["gn3"])
            if "conv_down" in p:
                x = group_norm(conv2d(x, p["conv_down"], stride), p["gn_down"])
            return jax.nn.relu(x + y)

        def backbone(p, x):
            x = jax.nn.relu(group_norm(conv2d(x, p["conv_stem"], 2), p["gn_stem"]))
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            made = []
            for i, depth in enumerate(depths):
                for j in range(depth):
                    stride = 2 if i and not j else 1
                    block = maybe_checkpointed(change, lambda p, x, stride=stride: bottleneck(p, x, stride))
                    x = block(p[f"res{i + 2}_{j}"], x)
                made.append(x)
            return made[1:]

        def pyramid_of(p, c3, c4, c5):
            p5 = conv2d(c5, p["conv_lateral5"])
            p4 = conv2d(c4, p["conv_lateral4"]) + upsampled(p5)
            p3 = conv2d(c3, p["conv_lateral3"]) + upsampled(p4)
            p6 = conv2d(c5, p["conv_p6"], 2)
            p7 = conv2d(jax.nn.relu(p6), p["conv_p7"], 2)
            return [*(conv2d(x, p[f"conv_output{n}"]) for n, x in ((3, p3), (4, p4), (5, p5))), p6, p7]

        def head(p, x, size):
            for k in range(towers):
                x = jax.nn.relu(group_norm(conv2d(x, p[f"conv{k}"]), p[f"gn{k}"]))
            return (conv2d(x, p["conv_pred"]) + p["bias"]).reshape(x.shape[0], -1, size)

        def loss_of(params, images, labels, boxes):
            p = as_kind(params, now)
            levels = pyramid_of(p, *backbone(p, images.astype(now)))
            logits = jnp.concatenate([head(p["cls"], x, classes) for x in levels], 1).astype(F32)
            deltas = jnp.concatenate([head(p["box"], x, 4) for x in levels], 1).astype(F32)
            count = jnp.maximum(jnp.sum(labels > 0), 1)
            off = optax.huber_loss(deltas, boxes.astype(F32), delta=0.1).sum(-1)
            return (focal_loss(logits, labels) + 10 * jnp.sum(off * (labels > 0))) / count
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.add_decayed_weights(1e-4, matrices_only),
                                optax.sgd(optax.linear_schedule(1e-4, 1e-2, 1000), momentum=0.9))
        shapes = retina_shapes(depths, stem, pyramid, towers, anchors, classes)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((b, height, width, 3), F32), arrays.batch((b, places), jnp.int32),
                                arrays.batch((b, places, 4), F32))
    return make
