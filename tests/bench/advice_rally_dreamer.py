"""DreamerV3's world model (200 million weights): pictures of 64 x 64, a recurrent state in blocks, one update of it.

Plain jax, float32 weights and bfloat16 activations. The encoder and the posterior's state run first, the prior, the
decoder and the heads over all times at once; LaProp with adaptive clipping. The actor is trained elsewhere.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import checkpointed, laid_out, raw_key, specs, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype

MULTS = (2, 3, 4, 4)


def dense(a, b):
    return {"kernel": (a, b), "bias": (b,)}


def normed(a, b):
    return {**dense(a, b), "scale": (b,)}


def world_shapes(deter, hidden, stoch, classes, depth, units, blocks, actions, side, kernel, bins):
    depths = [depth * mult for mult in MULTS]
    small, flat = side // 2 ** len(MULTS), stoch * classes
    tokens = small * small * depths[-1]

    def conv(a, b):
        return {"kernel": (kernel, kernel, a, b), "bias": (b,), "scale": (b,)}
    per = deter // blocks
    return {
        "encoder": [conv(a, b) for a, b in zip([3, *depths], depths)],
        "core": {"deter": normed(deter, hidden), "stoch": normed(flat, hidden), "action": normed(actions, hidden),
                 "hidden": {"kernel": (blocks, per + 3 * hidden, per), "bias": (deter,), "scale": (deter,)},
                 "gates": {"kernel": (blocks, per, 3 * per), "bias": (3 * deter,)}},
        "posterior": {"hidden": normed(deter + tokens, hidden), "logits": dense(hidden, flat)},
        "prior": {"hidden": [normed(deter, hidden), normed(hidden, hidden)], "logits": dense(hidden, flat)},
        "decoder": {"deter": {"kernel": (blocks, per, tokens // blocks), "bias": (tokens,)},
                    "stoch": normed(flat, 2 * units), "spread": dense(2 * units, tokens), "scale": (depths[-1],),
                    "convs": [conv(a, b) for a, b in zip(depths[::-1], depths[-2::-1])],
                    "picture": {"kernel": (kernel, kernel, depths[0], 3), "bias": (3,)}},
        "reward": {"hidden": normed(deter + flat, units), "out": dense(units, bins)},
        "proceed": {"hidden": normed(deter + flat, units), "out": dense(units, 1)}}


def linear(p, x):
    return x @ p["kernel"].astype(x.dtype) + p["bias"].astype(x.dtype)


def block_linear(p, x):
    """x [b, groups, i]; flat, of [b, groups * o]."""
    y = jnp.einsum("...gi,gio->...go", x, p["kernel"].astype(x.dtype))
    return y.reshape(*y.shape[:-2], -1) + p["bias"].astype(x.dtype)


def rms(scale, x):
    wide = x.astype(F32)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-4)
    return (wide * scale.astype(F32)).astype(x.dtype)


def layer(p, x):
    return jax.nn.silu(rms(p["scale"], linear(p, x)))


def convolve(p, x):
    return jax.lax.conv_general_dilated(x, p["kernel"].astype(x.dtype), (1, 1), "SAME",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC")) + p["bias"].astype(x.dtype)


def shrink(p, x):
    """Convolution, the largest of each 2 x 2, norm."""
    x = convolve(p, x)
    n, h, w, c = x.shape
    return jax.nn.silu(rms(p["scale"], x.reshape(n, h // 2, 2, w // 2, 2, c).max((2, 4))))


def doubled(x):
    return x.repeat(2, -2).repeat(2, -3)


def grow(p, x):
    return jax.nn.silu(rms(p["scale"], convolve(p, doubled(x))))


def mixed_logits(logits, stoch, classes):
    """Log-probabilities, one hundredth of which is uniform."""
    probs = jax.nn.softmax(logits.reshape(*logits.shape[:-1], stoch, classes).astype(F32))
    return jnp.log(0.99 * probs + 0.01 / classes)


def drawn(key, logits):
    """One of each, with slopes as if its probabilities had been taken."""
    probs = jax.nn.softmax(logits)
    return jax.nn.one_hot(jax.random.categorical(key, logits), logits.shape[-1]) + probs - jax.lax.stop_gradient(probs)


def divergence(p, q):
    return jnp.sum(jnp.exp(p) * (p - q), (-2, -1))


def core(p, deter, stoch, action, blocks):
    x = jnp.concatenate([layer(p["deter"], deter), layer(p["stoch"], stoch), layer(p["action"], action)], -1)
    groups = deter.reshape(deter.shape[0], blocks, -1)
    x = jnp.concatenate([groups, jnp.broadcast_to(x[:, None], (x.shape[0], blocks, x.shape[-1]))], -1)
    x = jax.nn.silu(rms(p["hidden"]["scale"], block_linear(p["hidden"], x)))
    gates = block_linear(p["gates"], x.reshape(x.shape[0], blocks, -1)).reshape(x.shape[0], blocks, 3, -1)
    reset, candidate, update = (gates[:, :, i].reshape(deter.shape) for i in range(3))
    update = jax.nn.sigmoid(update - 1)
    return update * jnp.tanh(jax.nn.sigmoid(reset) * candidate) + (1 - update) * deter


def two_hot(values, bins):
    """Of symlog(values), over bins from -20 to 20."""
    values = jnp.sign(values) * jnp.log1p(jnp.abs(values))
    place = (jnp.clip(values, -20, 20) + 20) / 40 * (bins - 1)
    low = jnp.floor(place)
    above = (place - low)[..., None]
    low = low.astype(jnp.int32)
    return jax.nn.one_hot(low, bins) * (1 - above) + jax.nn.one_hot(jnp.minimum(low + 1, bins - 1), bins) * above


def dreamer_world(batch, length, deter=8192, hidden=1024, stoch=32, classes=64, depth=64, units=1024, blocks=8,
                  actions=18, side=64, kernel=5, bins=255, kind=BF16):
    def make(arrays, change):
        import optax
        rows, steps, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        params = cast(specs(world_shapes(deter, hidden, stoch, classes, depth, units, blocks, actions, side, kernel,
                                         bins)), change.stored)
        optimizer = optax.chain(optax.adaptive_grad_clip(0.3), optax.scale_by_rms(0.999, 1e-20, bias_correction=True),
                                optax.ema(0.9), optax.scale(-4e-5))
        opt_state = jax.eval_shape(optimizer.init, params)
        encode, decode = checkpointed(change, shrink), checkpointed(change, grow)

        def observed(params, tokens, actions, firsts, key):
            """States [t, b, ...] and the posterior's logits."""
            def step(state, given):
                old, one = state
                token, action, first, key = given
                kept = (1 - first.astype(now))[:, None]
                new = core(params["core"], old * kept, one * kept, action * kept, blocks)
                x = layer(params["posterior"]["hidden"], jnp.concatenate([new, token], -1))
                logits = mixed_logits(linear(params["posterior"]["logits"], x), stoch, classes)
                one = drawn(key, logits).reshape(new.shape[0], -1).astype(now)
                return (new, one), (new, one, logits)
            count = tokens.shape[0]
            start = jnp.zeros((count, deter), now), jnp.zeros((count, stoch * classes), now)
            along = [jnp.swapaxes(a, 0, 1) for a in (tokens, actions, firsts)]
            keys = jax.random.split(key, tokens.shape[1])
            return jax.lax.scan(checkpointed(change, step), start, (*along, keys))[1]

        def pictures_of(p, states, ones):
            x = block_linear(p["deter"], states.reshape(*states.shape[:2], blocks, -1))
            small = side // 2 ** len(MULTS)
            x = (x + linear(p["spread"], layer(p["stoch"], ones))).reshape(-1, small, small, depth * MULTS[-1])
            x = jax.nn.silu(rms(p["scale"], x))
            for one in p["convs"]:
                x = decode(one, x)
            return jax.nn.sigmoid(convolve(p["picture"], doubled(x)).astype(F32))

        def loss_of(params, key, pictures, taken, rewards, firsts, ended):
            x = (pictures.reshape(-1, side, side, 3).astype(F32) / 255 - 0.5).astype(now)
            for one in params["encoder"]:
                x = encode(one, x)
            tokens = x.reshape(*pictures.shape[:2], -1)
            states, ones, after = observed(params, tokens, taken.astype(now), firsts, key)
            x = states
            for one in params["prior"]["hidden"]:
                x = layer(one, x)
            before = mixed_logits(linear(params["prior"]["logits"], x), stoch, classes)
            learned = jnp.maximum(divergence(jax.lax.stop_gradient(after), before), 1.0)
            kept = jnp.maximum(divergence(after, jax.lax.stop_gradient(before)), 1.0)
            told = pictures_of(params["decoder"], states, ones).reshape(*states.shape[:2], side, side, 3)
            wrong = jnp.square(told - pictures.swapaxes(0, 1).astype(F32) / 255).sum((-3, -2, -1))
            features = jnp.concatenate([states, ones], -1)

            def head(p):
                return linear(p["out"], layer(p["hidden"], features)).astype(F32)
            reward = -(two_hot(rewards.T.astype(F32), bins) * jax.nn.log_softmax(head(params["reward"]))).sum(-1)
            goes_on = optax.sigmoid_binary_cross_entropy(head(params["proceed"])[..., 0], 1 - ended.T.astype(F32))
            losses = {"picture": wrong, "reward": reward, "proceed": goes_on, "dynamics": learned, "kept": 0.1 * kept}
            means = {name: one.mean() for name, one in losses.items()}
            return sum(means.values()), means

        def update(params, opt_state, key, *batch):
            key, here = jax.random.split(key)
            _, means, slopes = summed_slopes(loss_of, change.parts)(params, here, *batch)
            params, opt_state = updated(optimizer, slopes, opt_state, params)
            return params, opt_state, key, jax.tree.map(jnp.mean, means)
        flags = arrays.batch((rows, steps), jnp.bool_)
        return update, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                        arrays.batch((rows, steps, side, side, 3), jnp.uint8),
                        arrays.batch((rows, steps, actions), F32), arrays.batch((rows, steps), F32), flags,
                        flags), (0, 1)
    return make
