"""Pictures: ResNet-101-D with batch norms (flax linen, LARS), and a score network's U-net with attention (haiku, DDPM).

Each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import functools

import jax
import jax.numpy as jnp

from advice_board_changes import (BF16, F32, cast, computing, laid_out, like, matrices_only, policy_of, raw_key,
                                   summed_slopes, updated)


# --- ResNet-D ---

def resnet_d_module(change, dtype, depths, classes):
    from flax import linen as nn
    conv = functools.partial(nn.Conv, use_bias=False, dtype=dtype, kernel_init=nn.initializers.he_normal())
    norm = functools.partial(nn.BatchNorm, use_running_average=False, momentum=0.9, epsilon=1e-5, dtype=dtype)

    class Bottleneck(nn.Module):
        filters: int
        stride: int

        @nn.compact
        def __call__(self, x):
            strides = (self.stride, self.stride)
            y = nn.relu(norm()(conv(self.filters, (1, 1))(x)))
            y = nn.relu(norm()(conv(self.filters, (3, 3), strides)(y)))
            y = norm(scale_init=nn.initializers.zeros)(conv(4 * self.filters, (1, 1))(y))
            if self.stride > 1:
                x = nn.avg_pool(x, (2, 2), strides, "SAME")
            if x.shape[-1] != y.shape[-1]:
                x = norm(name="norm_proj")(conv(4 * self.filters, (1, 1), name="conv_proj")(x))
            return nn.relu(x + y)
    block = nn.remat(Bottleneck, policy=policy_of(change)) if change.rematerialize else Bottleneck

    class ResNetD(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = x.astype(dtype)
            for filters, stride in ((32, 2), (32, 1), (64, 1)):
                x = nn.relu(norm()(conv(filters, (3, 3), (stride, stride))(x)))
            x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
            for stage, depth in enumerate(depths):
                for i in range(depth):
                    stride = 2 if stage and not i else 1
                    x = block(64 * 2 ** stage, stride, name=f"stage{stage + 1}_block{i + 1}")(x)
            return nn.Dense(classes, dtype=dtype, name="head")(x.mean((1, 2))).astype(F32)
    return ResNetD()


def resnet_d(depths, classes, side, batch, kind=BF16):
    def make(arrays, change):
        import optax
        rows = batch // change.batch_divisor
        model = resnet_d_module(change, computing(change, kind), depths, classes)
        shapes = jax.eval_shape(model.init, jax.random.PRNGKey(0), jnp.zeros((1, side, side, 3)))
        params, stats = (cast(shapes[name], change.stored) for name in ("params", "batch_stats"))
        rate = optax.warmup_cosine_decay_schedule(0.0, 9.5, 5004, 90 * 1251)
        optimizer = optax.lars(rate, 5e-5, matrices_only, trust_ratio_mask=matrices_only)

        def train_step(params, stats, opt_state, images, labels):
            def loss_of(params, _, images, labels):
                logits, made = model.apply({"params": params, "batch_stats": stats}, images, mutable=["batch_stats"])
                targets = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
                loss = optax.softmax_cross_entropy(logits, targets).mean()
                return loss, (made["batch_stats"], (logits.argmax(-1) == labels).mean())
            loss, (made, accuracy), grads = summed_slopes(loss_of, change.parts)(params, None, images, labels)
            stats = like(jax.tree.map(lambda s: s.mean(0), made), stats)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, stats, opt_state, {"loss": loss, "accuracy": accuracy.mean()}
        arguments = (laid_out(arrays, params), laid_out(arrays, stats),
                     laid_out(arrays, jax.eval_shape(optimizer.init, params)),
                     arrays.batch((rows, side, side, 3), F32), arrays.batch((rows,), jnp.int32))
        return train_step, arguments, (0, 1, 2)
    return make


# --- The U-net of a score network ---

def of_time(t, size):
    angles = t.astype(F32)[:, None] * 10000.0 ** (-jnp.arange(size // 2) / (size // 2 - 1))
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)


def unet_transform(change, now, width, multiples, depth, attended, dropout):
    import haiku as hk
    silu = jax.nn.silu

    def norm(x):
        return hk.GroupNorm(32)(x)

    def conv(x, channels, stride=1, **options):
        return hk.Conv2D(channels, 3, stride, **options)(x)

    def residual(x, temb, channels):
        h = conv(silu(norm(x)), channels) + hk.Linear(channels)(silu(temb))[:, None, None]
        h = hk.dropout(hk.next_rng_key(), dropout, silu(norm(h)))
        h = conv(h, channels, w_init=hk.initializers.Constant(0.0))
        return h + (x if x.shape[-1] == channels else hk.Linear(channels)(x))

    def attention(x):
        b, height, wide, c = x.shape
        h = norm(x).reshape(b, height * wide, c)
        q, k, v = (hk.Linear(c)(h) for _ in range(3))
        w = jax.nn.softmax(jnp.einsum("bqc,bkc->bqk", q, k).astype(F32) * c ** -0.5, -1).astype(x.dtype)
        return x + hk.Linear(c)(jnp.einsum("bqk,bkc->bqc", w, v)).reshape(x.shape)

    def plain_block(x, temb, channels, attends):
        x = residual(x, temb, channels)
        return attention(x) if attends else x

    def block(*given):
        if change.rematerialize:
            return hk.remat(plain_block, static_argnums=(2, 3), policy=policy_of(change))(*given)
        return plain_block(*given)

    def down(x, temb):
        skips = [x]
        for level, multiple in enumerate(multiples):
            for _ in range(depth):
                x = block(x, temb, width * multiple, x.shape[1] in attended)
                skips.append(x)
            if level < len(multiples) - 1:
                x = conv(x, x.shape[-1], 2)
                skips.append(x)
        return x, skips

    def up(x, temb, skips):
        for level, multiple in reversed(list(enumerate(multiples))):
            for _ in range(depth + 1):
                x = block(jnp.concatenate([x, skips.pop()], -1), temb, width * multiple, x.shape[1] in attended)
            if level:
                b, height, wide, c = x.shape
                x = conv(jax.image.resize(x, (b, 2 * height, 2 * wide, c), "nearest"), c)
        return x

    def run(x, t):
        temb = hk.Linear(4 * width)(of_time(t, width).astype(now))
        temb = hk.Linear(4 * width)(silu(temb))
        x, skips = down(conv(x.astype(now), width), temb)
        middle = x.shape[-1]
        x = block(block(x, temb, middle, True), temb, middle, False)
        return conv(silu(norm(up(x, temb, skips))), 3, w_init=hk.initializers.Constant(0.0)).astype(F32)
    return hk.transform(run)


def score_unet(width, multiples, depth, attended, side, batch, dropout=0.1, kind=F32):
    """Noise is told from pictures; Adam with a warm-up, and an average of the parameters."""
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        net = unet_transform(change, now, width, multiples, depth, attended, dropout)
        pictures = rows, side, side, 3
        params = cast(jax.eval_shape(net.init, jax.random.PRNGKey(0), jnp.zeros((1, *pictures[1:])),
                                     jnp.zeros((1,), jnp.int32)), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.linear_schedule(0, 2e-4, 5000)))
        kept = jnp.cumprod(1.0 - jnp.linspace(1e-4, 0.02, 1000))

        def loss_of(params, key, images):
            when, what, dropped = jax.random.split(key, 3)
            t = jax.random.randint(when, images.shape[:1], 0, 1000)
            noise = jax.random.normal(what, images.shape, F32)
            alpha = kept[t][:, None, None, None]
            noised = jnp.sqrt(alpha) * images.astype(F32) + jnp.sqrt(1 - alpha) * noise
            found = net.apply(cast(params, now), dropped, noised, t)
            return jnp.mean(jnp.square(found - noise)), ()

        def train_step(params, ema, opt_state, key, images):
            key, used = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, used, images)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            ema = like(jax.tree.map(lambda e, p: e + 1e-4 * (p - e), ema, params), ema)
            return params, ema, opt_state, key, loss
        arguments = (laid_out(arrays, params), laid_out(arrays, params),
                     laid_out(arrays, jax.eval_shape(optimizer.init, params)), raw_key(arrays),
                     arrays.batch(pictures, F32))
        return train_step, arguments, (0, 1, 2)
    return make
