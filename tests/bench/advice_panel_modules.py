"""Networks for pictures, of modules of libraries: EfficientNetV2 in flax linen, a diffusion transformer in nnx.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_panel_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, placed, random_key
from advice_panel_pictures import smoothed_loss, trained_variables
from advice_structures import BF16, F32


# --- EfficientNetV2 ---

def efficientnet_v2(change, now, stages, stem, top, classes):
    """The module: stages of (is_fused, expansion, width, depth, stride)."""
    from flax import linen as nn

    def bn(name):
        return nn.BatchNorm(use_running_average=False, momentum=0.99, epsilon=1e-3, dtype=now, name=name)

    def conv(width, size, stride, name, groups=1, bias=False):
        return nn.Conv(width, (size, size), (stride, stride), use_bias=bias, feature_group_count=groups, dtype=now,
                       name=name)

    class MBConv(nn.Module):
        width: int
        expansion: int
        stride: int
        is_fused: bool

        @nn.compact
        def __call__(self, x):
            enters = x.shape[-1]
            inner, y = enters * self.expansion, x
            if self.is_fused:
                y = nn.silu(bn("bn_expand")(conv(inner, 3, self.stride, "conv_expand")(y)))
            else:
                y = nn.silu(bn("bn_expand")(conv(inner, 1, 1, "conv_expand")(y)))
                y = nn.silu(bn("bn_depth")(conv(inner, 3, self.stride, "conv_depth", inner)(y)))
                se = y.mean((1, 2), keepdims=True)
                se = nn.silu(conv(enters // 4, 1, 1, "conv_reduce", bias=True)(se))
                y = y * nn.sigmoid(conv(inner, 1, 1, "conv_widen", bias=True)(se))
            y = bn("bn_project")(conv(self.width, 1, 1, "conv_project")(y))
            return x + y if self.stride == 1 and enters == self.width else y

    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    Block = nn.remat(MBConv, policy=policy) if change.rematerialize else MBConv

    class EfficientNetV2(nn.Module):
        @nn.compact
        def __call__(self, images):
            x = nn.silu(bn("bn_stem")(conv(stem, 3, 2, "conv_stem")(images.astype(now))))
            for i, (is_fused, expansion, width, depth, stride) in enumerate(stages):
                for j in range(depth):
                    x = Block(width, expansion, 1 if j else stride, is_fused, name=f"stage{i}_block{j}")(x)
            x = nn.silu(bn("bn_top")(conv(top, 1, 1, "conv_top")(x)))
            return nn.Dense(classes, dtype=now, name="classifier")(x.mean((1, 2)))
    return EfficientNetV2()


def trained_efficientnet(stages, stem, top, classes, side, batch, kind=BF16):
    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)
        model = efficientnet_v2(change, now, stages, stem, top, classes)
        variables = dict(jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((2, side, side, 3))))

        def loss_of(params, stats, images, labels):
            logits, made = model.apply({"params": params, "batch_stats": stats}, images, mutable=["batch_stats"])
            return smoothed_loss(logits, labels), made["batch_stats"]
        rate = optax.warmup_exponential_decay_schedule(0.0, 0.016, 5000, 2400, 0.97, staircase=True)
        optimizer = optax.chain(optax.add_decayed_weights(1e-5, matrices_only),
                                optax.rmsprop(rate, decay=0.9, eps=1e-3, momentum=0.9))
        return trained_variables(arrays, change, variables, loss_of, optimizer,
                                 arrays.batch((b, side, side, 3), F32), arrays.batch((b,), jnp.int32))
    return make


# --- A diffusion transformer ---

def modulate(x, shift, scale):
    return x * (1 + scale[:, None]) + shift[:, None]


def timestep_embedding(t, size=256):
    freqs = jnp.exp(-jnp.log(10000.0) * jnp.arange(size // 2) / (size // 2))
    args = t[:, None].astype(F32) * freqs
    return jnp.concatenate([jnp.cos(args), jnp.sin(args)], -1)


def dit(change, depth, width, heads, ratio, patch, side, channels, classes, rngs):
    """The module itself, of Linear layers that compute in the type of what they are given."""
    from flax import nnx

    def plain_norm():
        return nnx.LayerNorm(width, epsilon=1e-6, use_scale=False, use_bias=False, rngs=rngs)

    class DiTBlock(nnx.Module):
        def __init__(self):
            self.norm1, self.norm2 = plain_norm(), plain_norm()
            self.qkv = nnx.Linear(width, 3 * width, rngs=rngs)
            self.proj = nnx.Linear(width, width, rngs=rngs)
            self.fc1 = nnx.Linear(width, ratio * width, rngs=rngs)
            self.fc2 = nnx.Linear(ratio * width, width, rngs=rngs)
            self.ada = nnx.Linear(width, 6 * width, kernel_init=nnx.initializers.zeros, rngs=rngs)

        def attention(self, x):
            b, n, _ = x.shape
            q, k, v = jnp.moveaxis(self.qkv(x).reshape(b, n, 3, heads, width // heads), 2, 0)
            attn = jnp.einsum("bqhd,bkhd->bhqk", q * (width // heads) ** -0.5, k)
            attn = jax.nn.softmax(attn, -1)
            return self.proj(jnp.einsum("bhqk,bkhd->bqhd", attn, v).reshape(b, n, width))

        def __call__(self, x, c):
            shift1, scale1, gate1, shift2, scale2, gate2 = jnp.split(self.ada(nnx.silu(c)), 6, -1)
            x = x + gate1[:, None] * self.attention(modulate(self.norm1(x), shift1, scale1))
            h = nnx.gelu(self.fc1(modulate(self.norm2(x), shift2, scale2)), approximate=True)
            return x + gate2[:, None] * self.fc2(h)

    def called(block, x, c):
        return block(x, c)
    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    run = nnx.remat(called, policy=policy) if change.rematerialize else called

    class DiT(nnx.Module):
        def __init__(self):
            tokens = (side // patch) ** 2
            self.x_embed = nnx.Linear(patch * patch * channels, width, rngs=rngs)
            self.t_embed1 = nnx.Linear(256, width, rngs=rngs)
            self.t_embed2 = nnx.Linear(width, width, rngs=rngs)
            self.y_embed = nnx.Embed(classes + 1, width, rngs=rngs)
            self.pos_embed = nnx.Param(nnx.initializers.normal(0.02)(rngs.params(), (tokens, width)))
            self.blocks = nnx.List([DiTBlock() for _ in range(depth)])
            self.norm = plain_norm()
            self.ada = nnx.Linear(width, 2 * width, kernel_init=nnx.initializers.zeros, rngs=rngs)
            self.out = nnx.Linear(width, patch * patch * channels, rngs=rngs)

        def __call__(self, z, t, y):
            b, n = z.shape[0], side // patch
            x = z.reshape(b, n, patch, n, patch, channels).transpose(0, 1, 3, 2, 4, 5).reshape(b, n * n, -1)
            x = self.x_embed(x) + self.pos_embed[...]
            c = self.t_embed2(nnx.silu(self.t_embed1(timestep_embedding(t).astype(x.dtype))))
            c = c + self.y_embed(y).astype(x.dtype)
            for block in self.blocks:
                x = run(block, x, c)
            shift, scale = jnp.split(self.ada(nnx.silu(c)), 2, -1)
            x = self.out(modulate(self.norm(x), shift, scale)).reshape(b, n, n, patch, patch, channels)
            return x.transpose(0, 1, 3, 2, 4, 5).reshape(z.shape)
    return DiT()


def graded_with_key(loss_of, parts):
    """Loss and gradients; of micro-batches each has a key of its own."""
    of_one = jax.value_and_grad(loss_of)

    def of_parts(params, key, *batch):
        def add(sums, given):
            key, part = given
            return jax.tree.map(jnp.add, sums, of_one(params, key, *part)), None
        split = jax.tree.map(lambda a: a.reshape(parts, a.shape[0] // parts, *a.shape[1:]), batch)
        zeros = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
        sums, _ = jax.lax.scan(add, zeros, (jax.random.split(key, parts), split))
        return jax.tree.map(lambda total: total / parts, sums)
    return of_one if parts == 1 else of_parts


def trained_dit(depth, width, heads, ratio, patch, side, channels, classes, batch, kind=F32):
    """DDPM's loss, AdamW, and an average of the parameters that is kept beside them."""
    def make(arrays, change):
        import optax
        from flax import nnx
        b, now = batch // change.batch_divisor, change.computed or computed(change, kind)
        graph, params = nnx.split(nnx.eval_shape(lambda: dit(
            change, depth, width, heads, ratio, patch, side, channels, classes, nnx.Rngs(0))), nnx.Param)
        params = as_kind(params, change.stored)
        optimizer = optax.adamw(1e-4, weight_decay=0.01)
        state = jax.eval_shape(optimizer.init, params)
        alphas = jnp.cumprod(1 - jnp.linspace(1e-4, 0.02, 1000))

        def loss_of(params, key, latents, labels):
            model = nnx.merge(graph, as_kind(params, now))
            of_time, of_noise, of_drop = jax.random.split(key, 3)
            t = jax.random.randint(of_time, labels.shape, 0, 1000)
            noise = jax.random.normal(of_noise, latents.shape, F32)
            kept = alphas[t][:, None, None, None]
            noised = jnp.sqrt(kept) * latents.astype(F32) + jnp.sqrt(1 - kept) * noise
            labels = jnp.where(jax.random.bernoulli(of_drop, 0.1, labels.shape), classes, labels)
            return jnp.mean(jnp.square(model(noised.astype(now), t, labels).astype(F32) - noise))

        def train_step(params, ema, opt_state, latents, labels, key):
            key = jax.random.wrap_key_data(key)
            loss, grads = graded_with_key(loss_of, change.parts)(params, key, latents, labels)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            ema = jax.tree.map(lambda e, p: (0.9999 * e + 0.0001 * p).astype(e.dtype), ema, params)
            return params, ema, opt_state, loss
        placed_params = placed(arrays, params)
        arguments = (placed_params, placed_params, placed(arrays, state),
                     arrays.batch((b, side, side, channels), F32), arrays.batch((b,), jnp.int32), random_key(arrays))
        return train_step, arguments, (0, 1, 2)
    return make
