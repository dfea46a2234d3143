"""MuZero on Atari, the learner's update: a representation of 96x96 pixels, five unrolled steps of learned dynamics.

Equinox, residual networks of 256 planes with layer norms, vmapped over the replayed batch, all in float32. Rewards and
values are categorical over 601 atoms; gradients into the dynamics are halved, replay's importance weights count, and
priorities come back. AdamW with a cosine schedule; the learner's state is donated.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax

from advice_board_changes import laid_out, policy_of, summed_slopes, updated
from advice_board_training import F32, cast, compute_dtype

ACTIONS, ATOMS, HALF = 18, 601, 300
FRAMES = 8 * 3 + 8  # eight frames and the actions that led to them, as planes


def conv(inputs, outputs, key, size=3, stride=1):
    return eqx.nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, use_bias=False, key=key)


class ResidualBlock(eqx.Module):
    conv1: eqx.nn.Conv2d
    conv2: eqx.nn.Conv2d
    norm1: eqx.nn.GroupNorm
    norm2: eqx.nn.GroupNorm

    def __init__(self, planes, key):
        a, b = jr.split(key)
        self.conv1, self.conv2 = conv(planes, planes, a), conv(planes, planes, b)
        self.norm1, self.norm2 = eqx.nn.GroupNorm(1, planes), eqx.nn.GroupNorm(1, planes)

    def __call__(self, x):
        y = self.conv1(jax.nn.relu(self.norm1(x)))
        return x + self.conv2(jax.nn.relu(self.norm2(y)))


def over_batch(block, x, change):
    def run(block, x):
        return jax.vmap(block)(x)
    return (jax.checkpoint(run, policy=policy_of(change)) if change.rematerialize else run)(block, x)


class Representation(eqx.Module):
    stem: eqx.nn.Conv2d
    blocks1: list
    widen: eqx.nn.Conv2d
    blocks2: list
    blocks3: list
    blocks4: list

    def __init__(self, planes, key):
        keys = iter(jr.split(key, 16))
        self.stem = conv(FRAMES, planes // 2, next(keys), stride=2)
        self.blocks1 = [ResidualBlock(planes // 2, next(keys)) for _ in range(2)]
        self.widen = conv(planes // 2, planes, next(keys), stride=2)
        self.blocks2, self.blocks3, self.blocks4 = (
            [ResidualBlock(planes, next(keys)) for _ in range(count)] for count in (2, 3, 3))

    def __call__(self, x, change):
        pool = jax.vmap(eqx.nn.AvgPool2d(3, 2, padding=1))
        x = jax.vmap(self.stem)(x)
        for block in self.blocks1:
            x = over_batch(block, x, change)
        x = jax.vmap(self.widen)(x)
        for block in self.blocks2:
            x = over_batch(block, x, change)
        x = pool(x)
        for block in self.blocks3:
            x = over_batch(block, x, change)
        x = pool(x)
        for block in self.blocks4:
            x = over_batch(block, x, change)
        return scaled(x)


def scaled(x):
    """Hidden states between 0 and 1, as actions are."""
    low, high = x.min((1, 2, 3), keepdims=True), x.max((1, 2, 3), keepdims=True)
    return (x - low) / (high - low + 1e-5)


class Head(eqx.Module):
    squeeze: eqx.nn.Conv2d
    hidden: eqx.nn.Linear
    out: eqx.nn.Linear

    def __init__(self, planes, outputs, key):
        a, b, c = jr.split(key, 3)
        self.squeeze = conv(planes, 16, a, size=1)
        self.hidden, self.out = eqx.nn.Linear(16 * 36, 256, key=b), eqx.nn.Linear(256, outputs, key=c)

    def __call__(self, x):
        y = jax.nn.relu(self.squeeze(x)).reshape(-1)
        return self.out(jax.nn.relu(self.hidden(y)))


class MuZero(eqx.Module):
    represent: Representation
    enter: eqx.nn.Conv2d
    dynamics: list
    reward: Head
    tower: list
    value: Head
    policy: Head

    def __init__(self, planes, depth, key):
        keys = iter(jr.split(key, 2 * depth + 8))
        self.represent = Representation(planes, next(keys))
        self.enter = conv(planes + ACTIONS, planes, next(keys))
        self.dynamics = [ResidualBlock(planes, next(keys)) for _ in range(depth)]
        self.tower = [ResidualBlock(planes, next(keys)) for _ in range(2)]
        self.reward, self.value = Head(planes, ATOMS, next(keys)), Head(planes, ATOMS, next(keys))
        self.policy = Head(planes, ACTIONS, next(keys))

    def predict(self, s, change):
        for block in self.tower:
            s = over_batch(block, s, change)
        return jax.vmap(self.value)(s).astype(F32), jax.vmap(self.policy)(s).astype(F32)

    def step(self, s, action, change):
        planes = jax.nn.one_hot(action, ACTIONS, dtype=s.dtype)[:, :, None, None]
        x = jnp.concatenate([s, jnp.broadcast_to(planes, (*planes.shape[:2], *s.shape[2:]))], 1)
        x = jax.vmap(self.enter)(x)
        for block in self.dynamics:
            x = over_batch(block, x, change)
        return scaled(x), jax.vmap(self.reward)(x).astype(F32)


def two_hot(x):
    """Scalars, squeezed, as weights of the two atoms next to them."""
    x = jnp.sign(x) * (jnp.sqrt(jnp.abs(x) + 1) - 1) + 0.001 * x
    x = jnp.clip(x, -HALF, HALF)
    low = jnp.floor(x)
    above = (x - low)[..., None]
    index = (low + HALF).astype(jnp.int32)
    return jax.nn.one_hot(index, ATOMS) * (1 - above) + jax.nn.one_hot(index + 1, ATOMS) * above


def halved(x):
    return 0.5 * x + 0.5 * jax.lax.stop_gradient(x)


def learner(planes, depth, batch, unroll, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = eqx.filter_eval_shape(MuZero, planes, depth, jr.key(0))
        params, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(params, change.stored)
        optim = optax.chain(optax.clip_by_global_norm(5.0),
                            optax.adamw(optax.cosine_decay_schedule(3e-4, 1_000_000), weight_decay=1e-4))
        opt_state = jax.eval_shape(optim.init, params)

        def loss_fn(params, _, pixels, actions, rewards, values, policies, weights):
            net = eqx.combine(jax.tree.map(lambda p: p.astype(now), params), static)
            state = net.represent(pixels.astype(now) / 255, change)
            value, policy = net.predict(state, change)

            def unrolled(state, action):
                state, reward = net.step(state, action, change)
                state = halved(state)
                return state, (reward, *net.predict(state, change))
            _, (reward, later_values, later_policies) = jax.lax.scan(unrolled, state, actions.T)
            all_values = jnp.concatenate([value[None], later_values]).swapaxes(0, 1)
            all_policies = jnp.concatenate([policy[None], later_policies]).swapaxes(0, 1)
            cross = optax.softmax_cross_entropy
            of_value = cross(all_values, two_hot(values.astype(F32)))
            of_policy = cross(all_policies, policies.astype(F32))
            of_reward = cross(reward.swapaxes(0, 1), two_hot(rewards.astype(F32)))
            each = (0.25 * of_value + of_policy).mean(1) + of_reward.mean(1)
            return (each * weights.astype(F32)).mean(), of_value[:, 0]

        def update(params, opt_state, pixels, actions, rewards, values, policies, weights):
            loss, priorities, grads = summed_slopes(loss_fn, change.parts)(
                params, None, pixels, actions, rewards, values, policies, weights)
            params, opt_state = updated(optim, grads, opt_state, params)
            return params, opt_state, loss, priorities.reshape(-1), optax.global_norm(grads)
        return update, (
            laid_out(arrays, params), laid_out(arrays, opt_state), arrays.batch((rows, FRAMES, 96, 96), jnp.uint8),
            arrays.batch((rows, unroll), jnp.int32), arrays.batch((rows, unroll), F32),
            arrays.batch((rows, unroll + 1), F32), arrays.batch((rows, unroll + 1, ACTIONS), F32),
            arrays.batch((rows,), F32)), (0, 1)
    return make


FAMILY = {"cup_muzero": dict(
    make=learner(planes=256, depth=8, batch=256, unroll=5), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters.follow", "bf16_temporaries", "halve_batch", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
