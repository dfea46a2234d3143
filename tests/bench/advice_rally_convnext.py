"""ConvNeXt V2 on ImageNet: depthwise 7 x 7, global response normalisation, stochastic depth, mean of the weights.

In equinox: the model is written for one picture [c, h, w] and is mapped over the batch. Labels are soft, as mixup
leaves them. AdamW, and an exponential moving average of all weights that is evaluated.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import cast, computing, laid_out, policy_of, raw_key, summed_slopes, updated

F32 = jnp.float32


def over_pixels(layer, x):
    """A layer of vectors at each place of [h, w, c]."""
    return jax.vmap(jax.vmap(layer))(x)


def over_channels(norm, x):
    return over_pixels(norm, x.transpose(1, 2, 0)).transpose(2, 0, 1)


class GRN(eqx.Module):
    gamma: jax.Array
    beta: jax.Array

    def __init__(self, width):
        self.gamma, self.beta = jnp.zeros(width), jnp.zeros(width)

    def __call__(self, x):
        norm = jnp.sqrt((x * x).sum((0, 1), keepdims=True) + 1e-12)
        scaled = norm / (norm.mean(-1, keepdims=True) + 1e-6)
        return self.gamma * (x * scaled) + self.beta + x


class Block(eqx.Module):
    dwconv: eqx.nn.Conv2d
    norm: eqx.nn.LayerNorm
    pwconv1: eqx.nn.Linear
    grn: GRN
    pwconv2: eqx.nn.Linear
    drop_path: float = eqx.field(static=True)

    def __init__(self, width, drop_path, key):
        one, two, three = jax.random.split(key, 3)
        self.dwconv = eqx.nn.Conv2d(width, width, 7, padding=3, groups=width, key=one)
        self.norm = eqx.nn.LayerNorm(width, eps=1e-6)
        self.pwconv1 = eqx.nn.Linear(width, 4 * width, key=two)
        self.grn = GRN(4 * width)
        self.pwconv2 = eqx.nn.Linear(4 * width, width, key=three)
        self.drop_path = drop_path

    def __call__(self, x, key):
        y = self.dwconv(x).transpose(1, 2, 0)
        y = over_pixels(self.pwconv1, over_pixels(self.norm, y))
        y = self.grn(jax.nn.gelu(y, approximate=False))
        y = over_pixels(self.pwconv2, y).transpose(2, 0, 1)
        kept = 1 - self.drop_path
        if self.drop_path:
            y = jnp.where(jax.random.bernoulli(key, kept), y / kept, jnp.zeros_like(y))
        return x + y


class ConvNeXtV2(eqx.Module):
    stem: eqx.nn.Conv2d
    stem_norm: eqx.nn.LayerNorm
    down_norms: list
    downs: list
    stages: list
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear

    def __init__(self, depths, widths, classes, drop_path, key):
        keys = iter(jax.random.split(key, sum(depths) + len(widths) + 1))
        rates = iter(np.linspace(0, drop_path, sum(depths)).tolist())
        self.stem = eqx.nn.Conv2d(3, widths[0], 4, stride=4, key=next(keys))
        self.stem_norm = eqx.nn.LayerNorm(widths[0], eps=1e-6)
        self.down_norms = [eqx.nn.LayerNorm(width, eps=1e-6) for width in widths[:-1]]
        self.downs = [eqx.nn.Conv2d(a, b, 2, stride=2, key=next(keys)) for a, b in zip(widths, widths[1:])]
        self.stages = [[Block(width, next(rates), next(keys)) for _ in range(depth)]
                       for depth, width in zip(depths, widths)]
        self.norm = eqx.nn.LayerNorm(widths[-1], eps=1e-6)
        self.head = eqx.nn.Linear(widths[-1], classes, key=next(keys))

    def __call__(self, x, key, wrap=lambda block: block):
        x = over_channels(self.stem_norm, self.stem(x))
        for i, stage in enumerate(self.stages):
            if i:
                x = self.downs[i - 1](over_channels(self.down_norms[i - 1], x))
            for block in stage:
                key, own = jax.random.split(key)
                x = wrap(block)(x, own)
        return self.head(self.norm(x.mean((1, 2))))


def convnext_v2(depths, widths, batch, side=224, classes=1000, drop_path=0.1, decay=0.9999, kind=F32):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        model = eqx.filter_eval_shape(ConvNeXtV2, depths, widths, classes, drop_path, jax.random.key(0))
        shapes, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(shapes, change.stored)

        def wrap(block):
            return eqx.filter_checkpoint(block, policy=policy_of(change)) if change.rematerialize else block

        def loss_of(params, key, images, targets):
            model = eqx.combine(jax.tree.map(lambda p: p.astype(now), params), static)
            keys = jax.random.split(key, images.shape[0])
            logits = jax.vmap(lambda image, key: model(image, key, wrap))(images.astype(now), keys).astype(F32)
            targets = targets.astype(F32)
            right = (logits.argmax(-1) == targets.argmax(-1)).mean()
            return optax.softmax_cross_entropy(logits, targets).mean(), right

        schedule = optax.warmup_cosine_decay_schedule(0.0, 8e-4, 25000, 375000, 1e-6)
        optimizer = optax.adamw(schedule, weight_decay=0.05, mask=lambda tree: jax.tree.map(lambda p: p.ndim > 1, tree))

        def train_step(params, ema, opt_state, key, images, targets):
            loss, right, grads = summed_slopes(loss_of, change.parts)(params, key, images, targets)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            ema = jax.tree.map(lambda e, p: (decay * e + (1 - decay) * p).astype(e.dtype), ema, params)
            return params, ema, opt_state, {"loss": loss, "accuracy": right.mean()}
        state = jax.eval_shape(optimizer.init, params)
        return train_step, (laid_out(arrays, params), laid_out(arrays, params), laid_out(arrays, state),
                            raw_key(arrays), arrays.batch((rows, 3, side, side), F32),
                            arrays.batch((rows, classes), F32)), (0, 1, 2)
    return make
