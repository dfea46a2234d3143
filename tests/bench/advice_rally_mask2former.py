"""Mask2Former with a Swin-T on scenes of ADE20K: 100 queries that attend within the masks they have told so far.

In haiku, parameters cast to bfloat16 at the start. Deformable attention over three scales as pixel decoder, nine layers
of queries, and ten predictions that are judged at points, most of them where a mask is unsure. Matches were computed
before; a target that is not there has matched the query after the last.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import cast, computing, laid_out, policy_of, raw_key, summed_slopes, updated
from advice_rally_mask2former_parts import BACKBONE, F32, W_INIT, Backbone, bilinear, norm, pixel_decoder, position_sine

BF16 = jnp.bfloat16


class QueryLayer(hk.Module):
    def __init__(self, heads=8, hidden=2048, name=None):
        super().__init__(name)
        self.heads, self.hidden = heads, hidden

    def attention(self, query, key, value, mask=None):
        width = query.shape[-1]
        init = hk.initializers.VarianceScaling(1.0, "fan_avg", "uniform")
        return hk.MultiHeadAttention(self.heads, width // self.heads, w_init=init)(query, key, value, mask)

    def __call__(self, x, queries, memory, places, seen):
        x = norm()(x + self.attention(x + queries, memory + places, memory, seen[:, None]))
        x = norm()(x + self.attention(x + queries, x + queries, x))
        return norm()(x + hk.Linear(x.shape[-1])(jax.nn.relu(hk.Linear(self.hidden)(x))))


def mask2former(change, images, classes, queries, layers, width=256):
    def remat(block):
        return hk.remat(block, policy=policy_of(change)) if change.rematerialize else block

    scales, fine = pixel_decoder(remat, Backbone(remat, name=BACKBONE)(images), width)
    asked = hk.get_parameter("query_embed", (queries, width), init=W_INIT)
    x = hk.get_parameter("query_feat", (queries, width), init=W_INIT).astype(fine.dtype)
    told = hk.get_parameter("query_level_embed", (len(scales), width), init=W_INIT)
    last, to_class = norm(), hk.Linear(classes + 1)
    to_mask = hk.nets.MLP([width, width, width])
    memories, places = [], []
    for i, scale in enumerate(scales):
        memories.append(hk.Linear(width)(scale).reshape(scale.shape[0], -1, width) + told[i])
        places.append(jnp.asarray(position_sine(*scale.shape[1:3], width), fine.dtype))

    def predict(x, size):
        y = last(x)
        masks = jnp.einsum("bqc,bhwc->bqhw", to_mask(y), fine)
        small = jax.image.resize(masks.astype(F32), (*masks.shape[:2], *size), "bilinear")
        seen = jax.lax.stop_gradient(jax.nn.sigmoid(small) >= 0.5).reshape(*masks.shape[:2], -1)
        return to_class(y), masks, seen | ~seen.any(-1, keepdims=True)

    x = jnp.broadcast_to(x, (images.shape[0], queries, width))
    logits, masks, seen = predict(x, scales[0].shape[1:3])
    all_logits, all_masks = [logits], [masks]
    for i in range(layers):
        level = i % len(scales)
        x = remat(QueryLayer())(x, asked, memories[level], places[level], seen)
        logits, masks, seen = predict(x, scales[(i + 1) % len(scales)].shape[1:3])
        all_logits.append(logits)
        all_masks.append(masks)
    return jnp.stack(all_logits, 1), jnp.stack(all_masks, 1)


def read_at(mask, points):
    return bilinear(mask[..., None], points)[:, 0]


def unsure_points(key, masks, count, more=3, share=0.75):
    """Of three times as many at random, those whose logit is next to nothing, and a quarter anywhere."""
    first, rest = jax.random.split(key)
    points = jax.random.uniform(first, (masks.shape[0], more * count, 2))
    doubt = -jnp.abs(jax.vmap(read_at)(masks, points))
    chosen = int(share * count)
    _, which = jax.lax.top_k(doubt, chosen)
    points = jnp.take_along_axis(points, which[..., None], axis=1)
    return jnp.concatenate([points, jax.random.uniform(rest, (masks.shape[0], count - chosen, 2))], 1)


def losses_of_one(key, logits, masks, matched, labels, targets, points, nothing=0.1):
    """Of one of the ten predictions: [b, q, k + 1], [b, q, h, w], which query [b, t] each target has matched."""
    rows, queries, kinds = logits.shape
    line = jnp.arange(rows)[:, None]
    wanted = jnp.full((rows, queries), kinds - 1).at[line, matched].set(labels, mode="drop")
    weights = jnp.where(wanted == kinds - 1, nothing, 1.0)
    likelihood = jax.nn.log_softmax(logits.astype(F32))
    of_class = -jnp.take_along_axis(likelihood, wanted[..., None], 2)[..., 0]
    of_class = (of_class * weights).sum() / weights.sum()

    real = (matched < queries).reshape(-1)
    count = jnp.maximum(real.sum(), 1)
    chosen = masks[line, jnp.minimum(matched, queries - 1)].astype(F32).reshape(-1, *masks.shape[2:])
    at = jax.lax.stop_gradient(unsure_points(key, jax.lax.stop_gradient(chosen), points))
    said = jax.vmap(read_at)(chosen, at)
    truth = jax.vmap(read_at)(targets.astype(F32).reshape(-1, *targets.shape[2:]), at)
    of_points = jnp.maximum(said, 0) - said * truth + jnp.log1p(jnp.exp(-jnp.abs(said)))
    share = jax.nn.sigmoid(said)
    dice = 1 - (2 * (share * truth).sum(-1) + 1) / (share.sum(-1) + truth.sum(-1) + 1)
    return jnp.stack([of_class, (of_points.mean(-1) * real).sum() / count, (dice * real).sum() / count])


def mask2former_scenes(batch, side=512, classes=150, queries=100, layers=9, most=20, points=12544, kind=BF16):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        model = hk.transform(lambda images: mask2former(change, images, classes, queries, layers))
        shapes = jax.eval_shape(model.init, jax.random.key(0), jax.ShapeDtypeStruct((1, side, side, 3), F32))
        params = cast(shapes, change.stored)
        mean, spread = np.float32([123.675, 116.28, 103.53]), np.float32([58.395, 57.12, 57.375])

        def loss_of(params, key, images, matched, labels, targets):
            at_model, at_points = jax.random.split(key)
            images = ((images.astype(F32) - mean) / spread).astype(now)
            logits, masks = model.apply(jax.tree.map(lambda p: p.astype(now), params), at_model, images)
            each = jax.vmap(lambda key, logits, masks, matched: losses_of_one(
                key, logits, masks, matched, labels, targets, points), (0, 1, 1, 1))
            losses = each(jax.random.split(at_points, layers + 1), logits, masks, matched)
            return (losses * np.float32([2, 5, 5])).sum(), losses[-1]

        def mask(params):
            return hk.data_structures.map(lambda module, name, p: name == "w", params)

        def labelled(params):
            return hk.data_structures.map(lambda module, *_: "slow" if BACKBONE in module else "rest", params)
        rates = optax.polynomial_schedule(1e-4, 0.0, 0.9, 160000)
        optimizer = optax.chain(optax.clip_by_global_norm(0.01), optax.scale_by_adam(),
                                optax.add_decayed_weights(0.05, mask),
                                optax.multi_transform({"slow": optax.scale(0.1), "rest": optax.identity()}, labelled),
                                optax.scale_by_learning_rate(rates))

        def train_step(params, opt_state, key, images, matched, labels, targets):
            key, own = jax.random.split(key)
            loss, parts, grads = summed_slopes(loss_of, change.parts)(params, own, images, matched, labels, targets)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, "last": parts.mean(0)}
        return train_step, (laid_out(arrays, params), laid_out(arrays, jax.eval_shape(optimizer.init, params)),
                            raw_key(arrays), arrays.batch((rows, side, side, 3), jnp.uint8),
                            arrays.batch((rows, layers + 1, most), jnp.int32), arrays.batch((rows, most), jnp.int32),
                            arrays.batch((rows, most, side, side), jnp.uint8)), (0, 1)
    return make
