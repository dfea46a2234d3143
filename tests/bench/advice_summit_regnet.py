"""RegNetY, in the manner of pycls' configurations written with haiku: grouped convolutions, squeezed and excited.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Batch norms keep their averages in the
state of haiku; momentum is Nesterov's, and weights decay in the loss as in haiku's own example of ImageNet.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import cast, computing, laid_out, like, policy_of, summed_slopes, updated
from advice_board_training import F32

MEAN, SPREAD = (123.68, 116.28, 103.53), (58.4, 57.12, 57.38)


def regnet_y(change, depths, widths, group, labels, squeezed=0.25):
    import haiku as hk

    def convolved(width, side, stride=1, groups=1, name=None):
        start = hk.initializers.VarianceScaling(2.0, "fan_out", "truncated_normal")
        return hk.Conv2D(width, side, stride, with_bias=False, feature_group_count=groups, w_init=start, name=name)

    def normed(name):
        return hk.BatchNorm(create_scale=True, create_offset=True, decay_rate=0.9, name=name)

    class SqueezeExcite(hk.Module):
        def __init__(self, inner, name="se"):
            super().__init__(name=name)
            self.inner = inner

        def __call__(self, x):
            h = x.mean((1, 2), keepdims=True)
            h = jax.nn.relu(hk.Conv2D(self.inner, 1, name="reduce")(h))
            return x * jax.nn.sigmoid(hk.Conv2D(x.shape[-1], 1, name="expand")(h))

    class Bottleneck(hk.Module):
        def __init__(self, width, stride, name):
            super().__init__(name=name)
            self.width, self.stride = width, stride

        def __call__(self, x):
            width, stride = self.width, self.stride
            h = jax.nn.relu(normed("a_bn")(convolved(width, 1, name="a")(x), is_training=True))
            h = convolved(width, 3, stride, width // group, name="b")(h)
            h = jax.nn.relu(normed("b_bn")(h, is_training=True))
            h = SqueezeExcite(int(squeezed * x.shape[-1]))(h)
            h = normed("c_bn")(convolved(width, 1, name="c")(h), is_training=True)
            if stride > 1 or x.shape[-1] != width:
                x = normed("proj_bn")(convolved(width, 1, stride, name="proj")(x), is_training=True)
            return jax.nn.relu(x + h)

    def forward(images):
        x = jax.nn.relu(normed("stem_bn")(convolved(32, 3, 2, name="stem")(images), is_training=True))
        for stage, (depth, width) in enumerate(zip(depths, widths)):
            for number in range(depth):
                block = Bottleneck(width, 2 if number == 0 else 1, f"s{stage + 1}_b{number + 1}")
                x = (hk.remat(block, policy=policy_of(change)) if change.rematerialize else block)(x)
        return hk.Linear(labels, w_init=hk.initializers.RandomNormal(0.01), name="head")(x.mean((1, 2)))
    return hk.transform_with_state(forward)


def trained_regnet(depths, widths, group, batch, pixels, labels=1000, kind=F32):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        net = regnet_y(change, depths, widths, group, labels)
        one = jax.ShapeDtypeStruct((2, pixels, pixels, 3), F32)
        params, averages = cast(jax.eval_shape(net.init, jax.random.key(0), one), change.stored)
        rate = optax.warmup_cosine_decay_schedule(0.0, 0.8, 6250, 125000)
        optimizer = optax.chain(optax.trace(0.9, nesterov=True), optax.scale_by_learning_rate(rate))

        def train_step(params, averages, state, images, classes):
            def loss_of(params, key, images, classes):
                images = ((images.astype(F32) - jnp.array(MEAN)) / jnp.array(SPREAD)).astype(now)
                logits, made = net.apply(cast(params, now), cast(averages, now), key, images)
                wanted = optax.smooth_labels(jax.nn.one_hot(classes, labels), 0.1)
                loss = optax.softmax_cross_entropy(logits.astype(F32), wanted).mean()
                weights = [p.astype(F32) for name, module in params.items() if "bn" not in name
                           for p in module.values()]
                return loss + 5e-5 * 0.5 * sum(jnp.square(p).sum() for p in weights), made
            loss, made, slopes = summed_slopes(loss_of, change.parts)(params, None, images, classes)
            params, state = updated(optimizer, slopes, state, params)
            made = like(jax.tree.map(lambda each: each.mean(0), made), averages)
            return params, made, state, loss
        arguments = (laid_out(arrays, params), laid_out(arrays, averages),
                     laid_out(arrays, jax.eval_shape(optimizer.init, params)),
                     arrays.batch((rows, pixels, pixels, 3), jnp.uint8), arrays.batch((rows,), jnp.int32))
        return train_step, arguments, (0, 1, 2)
    return make
