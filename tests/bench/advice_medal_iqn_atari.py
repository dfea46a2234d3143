"""Implicit quantile networks on Atari frames: the learner's update on a replayed batch, with a target network.

Flax nnx, the convolutions of DQN, double Q-learning and n-step returns, 64 quantiles of the next state against 64 of
this one, priorities by importance weights; float32. Adam with clipped gradients, the target is a moving average;
nothing is donated, as the actors keep reading the weights.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import checkpointed, laid_out, like, raw_key, updated
from advice_board_training import F32, cast, compute_dtype

FRAMES, SIDE, COSINES = 4, 84, 64


class Torso(nnx.Module):
    def __init__(self, channels, dtype, rngs):
        def conv(inputs, outputs, size, stride):
            return nnx.Conv(inputs, outputs, (size, size), strides=stride, padding="VALID", dtype=dtype,
                            kernel_init=nnx.initializers.variance_scaling(1 / 3, "fan_in", "uniform"), rngs=rngs)
        a, b, c = channels
        self.conv1, self.conv2, self.conv3 = conv(FRAMES, a, 8, 4), conv(a, b, 4, 2), conv(b, c, 3, 1)
        self.dtype = dtype

    def __call__(self, frames):
        x = frames.astype(self.dtype) / 255.0
        for conv in (self.conv1, self.conv2, self.conv3):
            x = nnx.relu(conv(x))
        return x.reshape(x.shape[0], -1)


class QuantileHead(nnx.Module):
    """Values at the wanted quantiles: cosines of tau gate the features, then a dueling pair of layers."""

    def __init__(self, features, hidden, actions, dtype, rngs):
        self.cosine = nnx.Linear(COSINES, features, dtype=dtype, rngs=rngs)
        self.advantage1 = nnx.Linear(features, hidden, dtype=dtype, rngs=rngs)
        self.advantage2 = nnx.Linear(hidden, actions, dtype=dtype, rngs=rngs)
        self.value1 = nnx.Linear(features, hidden, dtype=dtype, rngs=rngs)
        self.value2 = nnx.Linear(hidden, 1, dtype=dtype, rngs=rngs)

    def __call__(self, features, taus):
        """[b, f], [b, n] -> [b, n, actions] in float32"""
        angles = jnp.pi * jnp.arange(1, COSINES + 1) * taus[..., None]
        gate = nnx.relu(self.cosine(jnp.cos(angles).astype(features.dtype)))
        x = features[:, None] * gate
        advantage = self.advantage2(nnx.relu(self.advantage1(x)))
        value = self.value2(nnx.relu(self.value1(x)))
        return (value + advantage - advantage.mean(-1, keepdims=True)).astype(F32)


class IQN(nnx.Module):
    def __init__(self, channels, hidden, actions, dtype, change, rngs):
        self.torso = Torso(channels, dtype, rngs)
        self.head = QuantileHead(7 * 7 * channels[-1], hidden, actions, dtype, rngs)
        self.change = change

    def __call__(self, frames, taus):
        def run(part):
            graph, state = nnx.split(part)
            return lambda *given: checkpointed(self.change, lambda s, *g: nnx.merge(graph, s)(*g))(state, *given)
        return run(self.head)(run(self.torso)(frames), taus)


def taken(quantiles, actions):
    """[b, n, actions] at one action of each row: [b, n]"""
    return jnp.take_along_axis(quantiles, actions[:, None, None], axis=2)[..., 0]


def quantile_huber(online, taus, target):
    """[b, n] against [b, m]; also the absolute errors that become priorities."""
    delta = target[:, None, :] - online[:, :, None]
    huber = optax.huber_loss(delta, delta=1.0)
    weight = jnp.abs(taus[:, :, None] - (delta < 0).astype(F32))
    return (weight * huber).mean(2).sum(1), jnp.abs(delta).mean((1, 2))


def iqn(channels, hidden, actions, batch, quantiles=64, steps=3, gamma=0.99, tau=0.005, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        model = nnx.eval_shape(lambda: IQN(channels, hidden, actions, now, change, nnx.Rngs(0)))
        graph, params = nnx.split(model, nnx.Param)
        params = cast(params, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(5e-5, eps=1e-2 / 32))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, target_params, key, obs, action, returns, discount, next_obs, weights):
            net, target_net = nnx.merge(graph, params), nnx.merge(graph, target_params)
            now_key, pick_key, next_key = jax.random.split(key, 3)
            size = (obs.shape[0], quantiles)
            chosen = net(next_obs, jax.random.uniform(pick_key, (obs.shape[0], 32))).mean(1).argmax(-1)
            following = taken(target_net(next_obs, jax.random.uniform(next_key, size)), chosen)
            target = returns.astype(F32)[:, None] + gamma ** steps * discount.astype(F32)[:, None] * following
            taus = jax.random.uniform(now_key, size)
            online = taken(net(obs, taus), action)
            losses, priorities = quantile_huber(online, taus, jax.lax.stop_gradient(target))
            return (weights.astype(F32) * losses).mean(), (priorities, online.mean())

        def gradients(params, target_params, key, *batch):
            of_one = jax.value_and_grad(loss_of, has_aux=True)
            if change.parts == 1:
                (loss, aux), grads = of_one(params, target_params, key, *batch)
                return loss, aux, grads

            def body(sums, given):
                (loss, aux), grads = of_one(params, target_params, *given)
                return jax.tree.map(jnp.add, sums, (loss, grads)), aux
            parts = jax.tree.map(lambda a: a.reshape(change.parts, -1, *a.shape[1:]), batch)
            start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            sums, (priorities, value) = jax.lax.scan(body, start, (jax.random.split(key, change.parts), *parts))
            loss, grads = jax.tree.map(lambda one: one / change.parts, sums)
            return loss, (priorities.reshape(-1), value.mean()), grads

        def learner_step(params, target_params, opt_state, key, *batch):
            key, use = jax.random.split(key)
            loss, (priorities, value), grads = gradients(params, target_params, use, *batch)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            target_params = like(optax.incremental_update(params, target_params, tau), target_params)
            return params, target_params, opt_state, key, priorities, {"loss": loss, "q": value}

        def frames():
            return arrays.batch((rows, SIDE, SIDE, FRAMES), jnp.uint8)
        return learner_step, (
            laid_out(arrays, params), laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), frames(),
            arrays.batch((rows,), jnp.int32), arrays.batch((rows,), F32), arrays.batch((rows,), F32), frames(),
            arrays.batch((rows,), F32)), (0, 1, 2)
    return make


FAMILY = {"medal_iqn_atari": dict(
    make=iqn(channels=(32, 64, 64), hidden=512, actions=18, batch=2048), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_temporaries", "halve_batch", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
