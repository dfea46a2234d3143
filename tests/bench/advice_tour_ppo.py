"""PPO on Procgen: the learner's update of one rollout, with the wide IMPALA network for pictures.

In flax linen: generalised advantages by a reverse scan over time, then epochs of shuffled minibatches, a scan within a
scan, each with its own step of Adam. Pictures stay bytes until the network. All in float32.
"""
from typing import Any, NamedTuple, Sequence

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, value_and_mean_grad
from advice_tour_c_parts import DONATING, SEQUENCE, TRAINED_IN_FLOAT32

CLIP, ENTROPY, VALUE, GAMMA, LAMBDA = 0.2, 0.01, 0.5, 0.999, 0.95


class Rollout(NamedTuple):
    obs: Any         # [envs, time, height, width, 3], uint8
    action: Any
    log_prob: Any
    value: Any
    reward: Any
    done: Any


class Residual(nn.Module):
    dtype: Any

    @nn.compact
    def __call__(self, x):
        channels = x.shape[-1]
        h = nn.Conv(channels, (3, 3), dtype=self.dtype)(nn.relu(x))
        return x + nn.Conv(channels, (3, 3), dtype=self.dtype)(nn.relu(h))


class ConvSequence(nn.Module):
    channels: int
    dtype: Any

    @nn.compact
    def __call__(self, x):
        x = nn.Conv(self.channels, (3, 3), dtype=self.dtype)(x)
        x = nn.max_pool(x, (3, 3), strides=(2, 2), padding="SAME")
        return Residual(self.dtype)(Residual(self.dtype)(x))


class ActorCritic(nn.Module):
    actions: int
    channels: Sequence[int]
    dtype: Any
    remat: bool
    policy: Any

    @nn.compact
    def __call__(self, obs):
        stage = nn.remat(ConvSequence, policy=self.policy) if self.remat else ConvSequence
        x = obs.astype(self.dtype) / 255.0
        for i, channels in enumerate(self.channels):
            x = stage(channels, self.dtype, name=f"stage_{i}")(x)
        x = nn.relu(x).reshape(x.shape[0], -1)
        x = nn.relu(nn.Dense(256, dtype=self.dtype, kernel_init=nn.initializers.orthogonal(2 ** 0.5))(x))
        logits = nn.Dense(self.actions, dtype=self.dtype, kernel_init=nn.initializers.orthogonal(0.01), name="actor")(x)
        value = nn.Dense(1, dtype=self.dtype, kernel_init=nn.initializers.orthogonal(1.0), name="critic")(x)
        return logits.astype(F32), value[:, 0].astype(F32)


def gae(rollout, last_value):
    """Advantages and targets, [envs, time]."""
    def backwards(carry, step):
        advantage, next_value = carry
        reward, value, done = step
        alive = 1.0 - done
        delta = reward + GAMMA * next_value * alive - value
        advantage = delta + GAMMA * LAMBDA * alive * advantage
        return (advantage, value), advantage
    steps = tuple(a.astype(F32).T for a in (rollout.reward, rollout.value, rollout.done))
    last = last_value.astype(F32)
    _, advantages = jax.lax.scan(backwards, (jnp.zeros_like(last), last), steps, reverse=True)
    return advantages.T, advantages.T + rollout.value.astype(F32)


def ppo_loss(logits, value, batch, advantage, target):
    log_probs = jax.nn.log_softmax(logits)
    log_prob = jnp.take_along_axis(log_probs, batch.action[:, None], axis=1)[:, 0]
    ratio = jnp.exp(log_prob - batch.log_prob.astype(F32))
    actor = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage).mean()
    old = batch.value.astype(F32)
    clipped = old + jnp.clip(value - old, -CLIP, CLIP)
    critic = 0.5 * jnp.maximum(jnp.square(value - target), jnp.square(clipped - target)).mean()
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
    return actor + VALUE * critic - ENTROPY * entropy


def ppo(actions, channels, side, envs, time, minibatches, epochs, kind=F32):
    def make(arrays, change):
        rows, steps = envs // change.batch_divisor, time // change.length_divisor
        network = ActorCritic(actions, channels, compute_dtype(change, kind), change.rematerialize,
                              checkpoint_policy(change))
        variables = jax.eval_shape(network.init, jax.random.key(0), jnp.zeros((1, side, side, 3), jnp.uint8))
        params = cast(variables["params"], change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(5e-4, eps=1e-5))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, batch, advantage, target):
            logits, value = network.apply({"params": params}, batch.obs)
            return ppo_loss(logits, value, batch, advantage, target)

        def on_minibatch(train_state, minibatch):
            params, opt_state = train_state
            batch, advantage, target = minibatch
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(params, batch, advantage, target)
            return updated_pair(optimizer, grads, opt_state, params), loss

        def update(params, opt_state, key, rollout, last_obs):
            _, last_value = network.apply({"params": params}, last_obs)
            advantages, targets = gae(rollout, last_value)
            samples = jax.tree.map(lambda a: a.reshape(rows * steps, *a.shape[2:]), (rollout, advantages, targets))

            def on_epoch(carry, _):
                train_state, key = carry
                key, shuffle_key = jax.random.split(key)
                order = jax.random.permutation(shuffle_key, rows * steps)
                shuffled = jax.tree.map(lambda a: jnp.take(a, order, axis=0), samples)
                split = jax.tree.map(lambda a: a.reshape(minibatches, -1, *a.shape[1:]), shuffled)
                train_state, losses = jax.lax.scan(on_minibatch, train_state, split)
                return (train_state, key), losses.mean()
            ((params, opt_state), key), losses = jax.lax.scan(on_epoch, ((params, opt_state), key), None, epochs)
            return params, opt_state, key, {"loss": losses.mean(), "value_target": targets.mean()}

        def of_steps(dtype):
            return arrays.batch((rows, steps), dtype)
        rollout = Rollout(arrays.batch((rows, steps, side, side, 3), jnp.uint8), of_steps(jnp.int32), of_steps(F32),
                          of_steps(F32), of_steps(F32), of_steps(jnp.bool_))
        return update, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), rollout,
                        arrays.batch((rows, side, side, 3), jnp.uint8)), (0, 1)
    return make


def updated_pair(optimizer, grads, opt_state, params):
    params, opt_state = updated(optimizer, grads, opt_state, params)
    return params, opt_state


FAMILY = {"tour_ppo": dict(make=ppo(15, (32, 64, 64), 64, 256, 256, 8, 3), is_donated=False,
                           variants=DONATING + TRAINED_IN_FLOAT32 + SEQUENCE)}
