"""MaxViT-Tiny on ImageNet at 224 pixels: MBConv, attention within windows, attention over a grid, in four stages.

Haiku, float32 throughout, layer norms instead of batch norms so that nothing but parameters is state. Relative biases,
stochastic depth, mixup with soft labels done on the chip, AdamW with clipping; parameters and moments are donated.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

init = hk.initializers.TruncatedNormal(0.02)


def ln(x, name):
    return hk.LayerNorm(-1, True, True, eps=1e-5, name=name)(x)


def drop_path(x, rate):
    if rate == 0.0:
        return x
    keep = jax.random.bernoulli(hk.next_rng_key(), 1 - rate, (x.shape[0],) + (1,) * (x.ndim - 1))
    return x * keep.astype(x.dtype) / (1 - rate)


def windows(x, p):
    b, h, w, c = x.shape
    return x.reshape(b, h // p, p, w // p, p, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, -1, p * p, c)


def unwindows(t, p, h, w):
    b, c = t.shape[0], t.shape[-1]
    return t.reshape(b, h // p, w // p, p, p, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)


def grid(x, p):
    b, h, w, c = x.shape
    return x.reshape(b, p, h // p, p, w // p, c).transpose(0, 2, 4, 1, 3, 5).reshape(b, -1, p * p, c)


def ungrid(t, p, h, w):
    b, c = t.shape[0], t.shape[-1]
    return t.reshape(b, h // p, w // p, p, p, c).transpose(0, 3, 1, 4, 2, 5).reshape(b, h, w, c)


def relative_index(p):
    at = np.stack(np.meshgrid(np.arange(p), np.arange(p), indexing="ij"), -1).reshape(-1, 2)
    apart = at[:, None] - at[None] + p - 1
    return apart[..., 0] * (2 * p - 1) + apart[..., 1]


class MBConv(hk.Module):
    def __init__(self, width, stride, rate, name=None):
        super().__init__(name)
        self.width, self.stride, self.rate = width, stride, rate

    def __call__(self, x):
        shortcut = x
        if self.stride > 1:
            shortcut = hk.avg_pool(shortcut, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        if shortcut.shape[-1] != self.width:
            shortcut = hk.Conv2D(self.width, 1, w_init=init, name="proj")(shortcut)
        hidden = 4 * self.width
        y = jax.nn.gelu(hk.Conv2D(hidden, 1, w_init=init, name="expand")(ln(x, "pre")))
        y = hk.DepthwiseConv2D(1, 3, stride=self.stride, name="depthwise")(y)
        y = jax.nn.gelu(ln(y, "mid"))
        s = jax.nn.silu(hk.Linear(self.width // 4, name="se_down")(y.mean((1, 2))))
        y = y * jax.nn.sigmoid(hk.Linear(hidden, name="se_up")(s))[:, None, None]
        return shortcut + drop_path(hk.Conv2D(self.width, 1, w_init=init, name="shrink")(y), self.rate)


class RelAttentionBlock(hk.Module):
    def __init__(self, p, head, rate, name=None):
        super().__init__(name)
        self.p, self.head, self.rate = p, head, rate

    def __call__(self, t):
        *lead, n, c = t.shape
        heads = c // self.head
        qkv = hk.Linear(3 * c, w_init=init, name="qkv")(ln(t, "norm1")).reshape(*lead, n, 3, heads, self.head)
        q, k, v = (qkv[..., i, :, :] for i in range(3))
        table = hk.get_parameter("bias", ((2 * self.p - 1) ** 2, heads), init=init).astype(t.dtype)
        bias = table[relative_index(self.p)].transpose(2, 0, 1)
        a = jax.nn.softmax(jnp.einsum("bwqhd,bwkhd->bwhqk", q, k) * self.head ** -0.5 + bias, axis=-1)
        y = jnp.einsum("bwhqk,bwkhd->bwqhd", a, v).reshape(t.shape)
        t = t + drop_path(hk.Linear(c, w_init=init, name="out")(y), self.rate)
        y = jax.nn.gelu(hk.Linear(4 * c, w_init=init, name="fc1")(ln(t, "norm2")))
        return t + drop_path(hk.Linear(c, w_init=init, name="fc2")(y), self.rate)


class MaxViTBlock(hk.Module):
    def __init__(self, width, stride, p, rate, name=None):
        super().__init__(name)
        self.width, self.stride, self.p, self.rate = width, stride, p, rate

    def __call__(self, x):
        x = MBConv(self.width, self.stride, self.rate, name="mbconv")(x)
        h, w = x.shape[1:3]
        x = unwindows(RelAttentionBlock(self.p, 32, self.rate, name="block")(windows(x, self.p)), self.p, h, w)
        return ungrid(RelAttentionBlock(self.p, 32, self.rate, name="grid")(grid(x, self.p)), self.p, h, w)


def net(images, *, depths, widths, p, rate, classes, change):
    x = jax.nn.gelu(ln(hk.Conv2D(64, 3, 2, w_init=init, name="stem1")(images), "stem_norm"))
    x = hk.Conv2D(64, 3, w_init=init, name="stem2")(x)
    rates = iter(np.linspace(0.0, rate, sum(depths)).tolist())
    for s, (depth, width) in enumerate(zip(depths, widths)):
        for i in range(depth):
            block = MaxViTBlock(width, 2 if i == 0 else 1, p, next(rates), name=f"stage{s}_{i}")
            x = (hk.remat(block, policy=checkpoint_policy(change)) if change.rematerialize else block)(x)
    x = ln(x.mean((1, 2)), "head_norm")
    x = jnp.tanh(hk.Linear(widths[-1], w_init=init, name="pre_logits")(x))
    return hk.Linear(classes, w_init=init, name="logits")(x)


def maxvit(depths, widths, pixels, batch, p=7, rate=0.2, classes=1000, kind=F32):
    def make(arrays, change):
        n, now = batch // change.batch_divisor, compute_dtype(change, kind)
        forward = hk.transform(lambda images: net(images, depths=depths, widths=widths, p=p, rate=rate,
                                                  classes=classes, change=change))
        params = jax.eval_shape(forward.init, jax.random.key(0), jnp.zeros((1, pixels, pixels, 3)))
        params = cast(params, change.stored)
        opt = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
            optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10_000, 300_000, 1e-5), weight_decay=0.05,
            mask=matrices_only))

        def loss_fn(params, rng, images, labels):
            mix_rng, lam_rng, net_rng = jax.random.split(rng, 3)
            lam = jax.random.beta(lam_rng, 0.8, 0.8)
            order = jax.random.permutation(mix_rng, images.shape[0])
            hot = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            mixed = (lam * images + (1 - lam) * images[order]).astype(now)
            logits = forward.apply(jax.tree.map(lambda w: w.astype(now), params), net_rng, mixed).astype(F32)
            return optax.softmax_cross_entropy(logits, lam * hot + (1 - lam) * hot[order]).mean(), ()

        def update(params, opt_state, rng, images, labels):
            rng, here = jax.random.split(rng)
            loss, _, grads = summed_slopes(loss_fn, change.parts)(params, here, images, labels)
            params, opt_state = updated(opt, grads, opt_state, params)
            return params, opt_state, rng, loss
        return update, (laid_out(arrays, params), laid_out(arrays, jax.eval_shape(opt.init, params)), raw_key(arrays),
                        arrays.batch((n, pixels, pixels, 3), F32), arrays.batch((n,), jnp.int32)), (0, 1)
    return make


FAMILY = {"medal_maxvit": dict(
    make=maxvit(depths=(2, 2, 5, 2), widths=(64, 128, 256, 512), pixels=224, batch=64), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "bf16_temporaries+halve_batch", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
