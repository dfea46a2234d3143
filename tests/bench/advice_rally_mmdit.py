"""The MMDiT of Stable Diffusion 3 medium, pre-training at 256 x 256 by rectified flow.

Plain jax: blocks are stacked and scanned, words and picture have weights of their own and attend together, all is
modulated by time and pooled text. The last block drops its words after attention. Latents and text are computed before.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import (cast, checkpointed, computing, laid_out, matrices_only, raw_key, specs,
                                  summed_slopes, updated)

F32, BF16 = jnp.float32, jnp.bfloat16


def stream_shapes(width, heads, hidden, pre_only=False, lead=()):
    side, parts = width // heads, 2 if pre_only else 6
    shapes = {"modulation": (*lead, width, parts, width), "modulation_bias": (*lead, parts, width),
              "qkv": (*lead, width, 3, heads, side), "qkv_bias": (*lead, 3, heads, side)}
    if not pre_only:
        shapes |= {"out": (*lead, heads, side, width), "out_bias": (*lead, width),
                   "up": (*lead, width, hidden), "up_bias": (*lead, hidden),
                   "down": (*lead, hidden, width), "down_bias": (*lead, width)}
    return shapes


def mmdit_shapes(layers, width, heads, patch, channels, text, pooled):
    hidden, flat, stack = 4 * width, patch * patch * channels, (layers - 1,)

    def mlp(first):
        return {"w1": (first, width), "b1": (width,), "w2": (width, width), "b2": (width,)}
    return {"patches": {"w": (flat, width), "b": (width,)}, "text": {"w": (text, width), "b": (width,)},
            "time": mlp(256), "pooled": mlp(pooled),
            "joint": {"x": stream_shapes(width, heads, hidden, lead=stack),
                      "c": stream_shapes(width, heads, hidden, lead=stack)},
            "last_joint": {"x": stream_shapes(width, heads, hidden),
                           "c": stream_shapes(width, heads, hidden, pre_only=True)},
            "final": {"modulation": (width, 2, width), "modulation_bias": (2, width),
                      "w": (width, flat), "b": (flat,)}}


def sincos_2d(width, side, largest=192):
    """The middle of the grid of the largest pictures, as the release crops it."""
    first = (largest - side) // 2
    at = (np.arange(largest) / (largest / side))[first:first + side]
    rates = 1e4 ** -(np.arange(width // 4) / (width / 4))
    angles = at[:, None] * rates
    one = np.concatenate([np.sin(angles), np.cos(angles)], 1)
    both = [np.broadcast_to(given, (side, side, width // 2)) for given in (one[None], one[:, None])]
    return np.concatenate(both, -1).reshape(side * side, width).astype(np.float32)


def affine(x, layer, w="w", b="b"):
    return x @ layer[w].astype(x.dtype) + layer[b].astype(x.dtype)


def normalized(x):
    y = x.astype(F32)
    y = y - y.mean(-1, keepdims=True)
    return (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype)


def modulations(c, layer):
    """[b, parts, 1, width], of which each part is one row."""
    given = jnp.einsum("bd,dpe->bpe", jax.nn.silu(c), layer["modulation"].astype(c.dtype))
    given = given + layer["modulation_bias"].astype(c.dtype)
    return [given[:, i, None] for i in range(given.shape[1])]


def shifted(x, shift, scale):
    return normalized(x) * (1 + scale) + shift


def heads_of(x, layer):
    return jnp.einsum("btd,dphk->pbthk", x, layer["qkv"].astype(x.dtype)) + \
        layer["qkv_bias"].astype(x.dtype)[:, None, None]


def after_attention(x, mixed, layer, mods):
    _, _, gate, shift, scale, gate_mlp = mods
    mixed = jnp.einsum("bthk,hkd->btd", mixed, layer["out"].astype(x.dtype)) + layer["out_bias"].astype(x.dtype)
    x = x + gate * mixed
    h = jax.nn.gelu(affine(shifted(x, shift, scale), layer, "up", "up_bias"), approximate=True)
    return x + gate_mlp * affine(h, layer, "down", "down_bias")


def joint_block(x, c, y, block):
    mods_x, mods_c = modulations(y, block["x"]), modulations(y, block["c"])
    words = c.shape[1]
    qkv = jnp.concatenate([heads_of(shifted(c, *mods_c[:2]), block["c"]),
                           heads_of(shifted(x, *mods_x[:2]), block["x"])], 2)
    mixed = jax.nn.dot_product_attention(qkv[0], qkv[1], qkv[2])
    x = after_attention(x, mixed[:, words:], block["x"], mods_x)
    return x, after_attention(c, mixed[:, :words], block["c"], mods_c) if "out" in block["c"] else None


def mlp(x, layer):
    return affine(jax.nn.silu(affine(x, layer, "w1", "b1")), layer, "w2", "b2")


def time_waves(t):
    angles = 1000 * t[:, None] * jnp.exp(-np.log(1e4) * jnp.arange(128, dtype=F32) / 128)
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)


def velocity(change, params, now, noisy, t, text, pooled, patch):
    rows, side, _, channels = noisy.shape
    cells, width = side // patch, params["text"]["w"].shape[1]
    x = noisy.reshape(rows, cells, patch, cells, patch, channels).transpose(0, 1, 3, 2, 4, 5)
    x = affine(x.reshape(rows, cells * cells, -1).astype(now), params["patches"])
    x = x + jnp.asarray(sincos_2d(width, cells), now)
    c = affine(text.astype(now), params["text"])
    y = mlp(time_waves(t).astype(now), params["time"]) + mlp(pooled.astype(now), params["pooled"])
    block = checkpointed(change, joint_block)
    (x, c), _ = jax.lax.scan(lambda xc, layer: (block(*xc, y, layer), None), (x, c), params["joint"])
    x, _ = block(x, c, y, params["last_joint"])
    x = affine(shifted(x, *modulations(y, params["final"])), params["final"]).astype(F32)
    x = x.reshape(rows, cells, cells, patch, patch, channels).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(noisy.shape)


def mmdit(layers, width, heads, batch, side=32, patch=2, channels=16, words=154, text=4096, pooled=2048, kind=BF16):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        params = cast(specs(mmdit_shapes(layers, width, heads, patch, channels, text, pooled)), change.stored)

        def loss_of(params, key, latents, states, pools):
            at_time, at_noise, at_drop = jax.random.split(key, 3)
            clean = (latents.astype(F32) - 0.0609) * 1.5305
            t = jax.nn.sigmoid(jax.random.normal(at_time, clean.shape[:1]))     # the middle is the hardest
            noise = jax.random.normal(at_noise, clean.shape)
            told = jax.random.bernoulli(at_drop, 0.9, clean.shape[:1])
            at = t[:, None, None, None]
            found = velocity(change, params, now, (1 - at) * clean + at * noise, t,
                             jnp.where(told[:, None, None], states, 0), jnp.where(told[:, None], pools, 0), patch)
            return jnp.mean((found - (noise - clean)) ** 2), t.mean()

        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(optax.linear_schedule(0.0, 1e-4, 1000), weight_decay=0.01,
                                            mask=matrices_only))

        def train_step(params, opt_state, key, latents, states, pools):
            key, own = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, own, latents, states, pools)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, loss
        stacks = {"joint": 0}
        return train_step, (laid_out(arrays, params, stacks),
                            laid_out(arrays, jax.eval_shape(optimizer.init, params), stacks), raw_key(arrays),
                            arrays.batch((rows, side, side, channels), F32), arrays.batch((rows, words, text), BF16),
                            arrays.batch((rows, pooled), BF16)), (0, 1)
    return make
