"""The U-Net of SDXL is adapted with LoRA (rank 32 in all attentions) on cached latents of pictures of 512 pixels and
cached embeddings of their captions; the net itself is frozen and in bfloat16, LoRA and AdamW are in float32.

Plain pytrees; the transformer blocks of a level are stacked and scanned, the rest is unrolled. Min-SNR weights.
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, abstract, cast, compute_dtype, maybe_checkpoint

STACKED = {"blocks": 0}
FIRST, TIME, CONTEXT, HEAD, RANK, POOLED = 320, 1280, 2048, 64, 32, 1280
LEVELS = ((320, 0), (640, 2), (1280, 10))              # channels, transformer blocks
DOWN = [step for c, n in LEVELS for step in (("down", c, n), ("down", c, n), ("shrink", c, 0))][:-1]
UP = [step for c, n in reversed(LEVELS) for step in 3 * (("up", c, n),) + (("grow", c, 0),)][:-1]
ALL = [*DOWN, ("mid", 1280, 10), ("mid", 1280, 0), *UP]
STEPS = [(f"{kind}_{i}", kind, c, n) for i, (kind, c, n) in enumerate(ALL)]
ALPHAS = np.cumprod(1.0 - np.linspace(0.00085 ** 0.5, 0.012 ** 0.5, 1000) ** 2).astype(np.float32)


def dense_of(*shape, stacks=0):
    return {"w": shape, "b": (*shape[:stacks], shape[-1])}


def norm_of(*shape):
    return {"scale": shape, "bias": shape}


def resnet_of(inputs, outputs):
    own = {"norm1": norm_of(inputs), "conv1": dense_of(3, 3, inputs, outputs), "time": dense_of(TIME, outputs),
           "norm2": norm_of(outputs), "conv2": dense_of(3, 3, outputs, outputs)}
    return own if inputs == outputs else own | {"skip": dense_of(inputs, outputs)}


def transformer_of(c, depth):
    """Frozen, and the LoRA of its attentions."""
    def attention(context):
        sizes = {"q": c, "k": context, "v": context, "out": c}
        return ({name: (depth, size, c) for name, size in sizes.items()} | {"bias": (depth, c)},
                {name: {"a": (depth, size, RANK), "b": (depth, RANK, c)} for name, size in sizes.items()})
    (own, own_lora), (cross, cross_lora) = attention(c), attention(CONTEXT)
    blocks = {"norm1": norm_of(depth, c), "self": own, "norm2": norm_of(depth, c), "cross": cross,
              "norm3": norm_of(depth, c), "geglu": dense_of(depth, c, 8 * c, stacks=1),
              "down": dense_of(depth, 4 * c, c, stacks=1)}
    return ({"norm": norm_of(c), "proj_in": dense_of(c, c), "blocks": blocks, "proj_out": dense_of(c, c)},
            {"blocks": {"self": own_lora, "cross": cross_lora}})


def shapes_of():
    net = {"conv_in": dense_of(3, 3, 4, FIRST), "time1": dense_of(FIRST, TIME), "time2": dense_of(TIME, TIME),
           "added1": dense_of(POOLED + 6 * 256, TIME), "added2": dense_of(TIME, TIME)}
    lora, skips, now = {}, [FIRST], FIRST
    for name, kind, c, depth in STEPS:
        inputs, now = now + (skips.pop() if kind == "up" else 0), c
        net[name] = dense_of(3, 3, c, c) if kind in ("shrink", "grow") else {"res": resnet_of(inputs, c)}
        if depth:
            net[name]["attn"], lora[name] = transformer_of(c, depth)
        if kind in ("down", "shrink"):
            skips.append(c)
    return net | {"norm_out": norm_of(now), "conv_out": dense_of(3, 3, now, 4)}, lora


def dense(p, x):
    return x @ p["w"].astype(x.dtype) + p["b"].astype(x.dtype)


def conv(p, x, stride=1):
    y = jax.lax.conv_general_dilated(x, p["w"].astype(x.dtype), (stride, stride), ((1, 1), (1, 1)),
                                     dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y + p["b"].astype(x.dtype)


def normed(p, x, groups, eps):
    """Over groups of channels and all places; with no groups, over channels."""
    y = x.astype(F32)
    axes = -1
    if groups:
        y, axes = y.reshape(x.shape[0], -1, groups, x.shape[-1] // groups), (1, 3)
    y = (y - y.mean(axes, keepdims=True)) * jax.lax.rsqrt(y.var(axes, keepdims=True) + eps)
    return (y.reshape(x.shape) * p["scale"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def resnet(p, x, time):
    y = conv(p["conv1"], jax.nn.silu(normed(p["norm1"], x, 32, 1e-5)))
    y = y + dense(p["time"], jax.nn.silu(time))[:, None, None]
    y = conv(p["conv2"], jax.nn.silu(normed(p["norm2"], y, 32, 1e-5)))
    return y + (dense(p["skip"], x) if "skip" in p else x)


def attention(p, lora, x, context):
    def adapted(name, w, y):
        low = y @ lora[name]["a"].astype(y.dtype)
        return y @ w.astype(y.dtype) + low @ lora[name]["b"].astype(y.dtype)
    q, k, v = (adapted(n, p[n], y).reshape(*y.shape[:2], -1, HEAD)
               for n, y in (("q", x), ("k", context), ("v", context)))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * HEAD ** -0.5
    weights = jax.nn.softmax(scores.astype(F32), axis=-1).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape)
    return adapted("out", p["out"], mixed) + p["bias"].astype(x.dtype)


def block(p, lora, x, context):
    y = normed(p["norm1"], x, 0, 1e-5)
    x = x + attention(p["self"], lora["self"], y, y)
    x = x + attention(p["cross"], lora["cross"], normed(p["norm2"], x, 0, 1e-5), context)
    value, gate = jnp.split(dense(p["geglu"], normed(p["norm3"], x, 0, 1e-5)), 2, axis=-1)
    return x + dense(p["down"], value * jax.nn.gelu(gate, approximate=False))


def waves(x, size):
    angles = x.astype(F32)[..., None] * jnp.exp(-jnp.log(10_000.0) * jnp.arange(size // 2) / (size // 2))
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], axis=-1)


def unet(net, lora, x, steps, context, pooled, sizes, change):
    now = x.dtype
    res, one_block = maybe_checkpoint(change, resnet), maybe_checkpoint(change, block)
    time = dense(net["time2"], jax.nn.silu(dense(net["time1"], waves(steps, FIRST).astype(now))))
    added = jnp.concatenate([pooled.astype(now), waves(sizes, 256).reshape(len(x), -1).astype(now)], axis=-1)
    time = time + dense(net["added2"], jax.nn.silu(dense(net["added1"], added)))

    def transformer(p, lora, x):
        y = dense(p["proj_in"], normed(p["norm"], x, 32, 1e-6).reshape(len(x), -1, x.shape[-1]))
        y, _ = jax.lax.scan(lambda y, layer: (one_block(*layer, y, context), None), y, (p["blocks"], lora["blocks"]))
        return x + dense(p["proj_out"], y).reshape(x.shape)
    x = conv(net["conv_in"], x)
    skips = [x]
    for name, kind, _, depth in STEPS:
        if kind == "shrink":
            x = conv(net[name], x, stride=2)
        elif kind == "grow":
            x = conv(net[name], x.repeat(2, axis=1).repeat(2, axis=2))
        else:
            x = res(net[name]["res"], jnp.concatenate([x, skips.pop()], axis=-1) if kind == "up" else x, time)
        if depth:
            x = transformer(net[name]["attn"], lora[name], x)
        if kind in ("down", "shrink"):
            skips.append(x)
    return conv(net["conv_out"], jax.nn.silu(normed(net["norm_out"], x, 32, 1e-5))).astype(F32)


def sdxl_lora(latent, words, batch, kind=BF16):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        net, lora = shapes_of()
        net, lora = abstract(net, BF16), cast(abstract(lora), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-4, weight_decay=1e-2))
        opt_state = jax.eval_shape(optimizer.init, lora)

        def train_step(lora, opt_state, net, key, latents, context, pooled, sizes):
            def loss_fn(lora, key, latents, context, pooled, sizes):
                noise_key, offset_key, step_key = jax.random.split(key, 3)
                offset = 0.05 * jax.random.normal(offset_key, (len(latents), 1, 1, 4))
                noise = jax.random.normal(noise_key, latents.shape) + offset
                steps = jax.random.randint(step_key, (len(latents),), 0, 1000)
                kept = jnp.asarray(ALPHAS)[steps]
                a, snr = kept[:, None, None, None], kept / (1 - kept)
                noisy = (jnp.sqrt(a) * latents + jnp.sqrt(1 - a) * noise).astype(now)
                guess = unet(net, lora, noisy, steps, context.astype(now), pooled, sizes, change)
                losses = jnp.square(guess - noise).mean((1, 2, 3))
                return (losses * jnp.minimum(snr, 5.0) / snr).mean(), losses.mean()
            key, own = jax.random.split(key)
            loss, plain, grads = summed_slopes(loss_fn, change.parts)(lora, own, latents, context, pooled, sizes)
            lora, opt_state = updated(optimizer, grads, opt_state, lora)
            return lora, opt_state, key, {"loss": loss, "mse": plain.mean(), "norm": optax.global_norm(grads)}
        states = [laid_out(arrays, tree, STACKED) for tree in (lora, opt_state, net)]
        return train_step, (*states, raw_key(arrays), arrays.batch((rows, latent, latent, 4), F32),
                            arrays.batch((rows, words, CONTEXT), BF16), arrays.batch((rows, POOLED), BF16),
                            arrays.batch((rows, 6), F32)), (0, 1)
    return make


FAMILY = {"league_sdxl_lora": dict(
    make=sdxl_lora(latent=64, words=77, batch=8),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
