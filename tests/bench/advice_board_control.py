"""Control: PPO on frames of games, with an IMPALA network of nnx modules; one call is an update on a whole rollout.

The maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_board_changes import F32, cast, computing, laid_out, policy_of, raw_key, summed_slopes, updated


def impala(change, channels, side, hidden, actions, rngs):
    from flax import nnx

    def conv(reads, gives):
        return nnx.Conv(reads, gives, (3, 3), rngs=rngs)

    class Residual(nnx.Module):
        def __init__(self, width):
            self.conv0, self.conv1 = conv(width, width), conv(width, width)

        def __call__(self, x):
            return x + self.conv1(nnx.relu(self.conv0(nnx.relu(x))))

    class Stage(nnx.Module):
        def __init__(self, reads, width):
            self.conv = conv(reads, width)
            self.res0, self.res1 = Residual(width), Residual(width)

        def __call__(self, x):
            return self.res1(self.res0(nnx.max_pool(self.conv(x), (3, 3), (2, 2), "SAME")))

    def called(stage, x):
        return stage(x)
    run = nnx.remat(called, policy=policy_of(change)) if change.rematerialize else called

    class ActorCritic(nnx.Module):
        def __init__(self):
            self.stages = nnx.List([Stage(*pair) for pair in zip((3, *channels), channels)])
            self.fc = nnx.Linear(channels[-1] * (side // 2 ** len(channels)) ** 2, hidden, rngs=rngs)
            self.actor = nnx.Linear(hidden, actions, kernel_init=nnx.initializers.orthogonal(0.01), rngs=rngs)
            self.critic = nnx.Linear(hidden, 1, kernel_init=nnx.initializers.orthogonal(1.0), rngs=rngs)

        def __call__(self, x):
            for stage in self.stages:
                x = run(stage, x)
            x = nnx.relu(self.fc(nnx.relu(x).reshape(x.shape[0], -1)))
            return self.actor(x).astype(F32), self.critic(x)[:, 0].astype(F32)
    return ActorCritic()


def advantages_of(rewards, values, dones, last_values, gamma=0.999, decay=0.95):
    """Of [environments, steps]: generalized advantages, from the last step to the first."""
    def back(carry, step):
        gathered, following = carry
        reward, value, done = step
        delta = reward + gamma * following * (1 - done) - value
        gathered = delta + gamma * decay * (1 - done) * gathered
        return (gathered, value), gathered
    start = jnp.zeros_like(last_values), last_values
    _, gathered = jax.lax.scan(back, start, (rewards.T, values.T, dones.T), reverse=True)
    return gathered.T


def ppo_loss(logits, values, actions, old_logprobs, old_values, advantages, clip=0.2):
    logprobs = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(logprobs, actions[:, None], 1)[:, 0]
    ratio = jnp.exp(chosen - old_logprobs)
    actor = -jnp.minimum(ratio * advantages[0], jnp.clip(ratio, 1 - clip, 1 + clip) * advantages[0]).mean()
    wanted = advantages[1] + old_values
    near = old_values + jnp.clip(values - old_values, -clip, clip)
    critic = 0.5 * jnp.maximum(jnp.square(values - wanted), jnp.square(near - wanted)).mean()
    entropy = -jnp.sum(jnp.exp(logprobs) * logprobs, -1).mean()
    return actor + 0.5 * critic - 0.01 * entropy


def ppo_frames(channels, side, hidden, actions, environments, steps, minibatches, epochs, kind=F32):
    def make(arrays, change):
        import optax
        from flax import nnx
        envs, time = environments // change.batch_divisor, steps // change.length_divisor
        now = computing(change, kind)
        graph, params = nnx.split(nnx.eval_shape(lambda: impala(change, channels, side, hidden, actions,
                                                                nnx.Rngs(0))), nnx.Param)
        params = cast(params, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(5e-4, eps=1e-5))

        def loss_of(params, _, frames, actions, logprobs, values, normed, advantages):
            model = nnx.merge(graph, cast(params, now))
            logits, found = model(frames.astype(now) / 255)
            return ppo_loss(logits, found, actions, logprobs, values, (normed, advantages)), ()

        def on_minibatch(state, rows):
            *seen, advantages = rows
            normed = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
            loss, _, grads = summed_slopes(loss_of, change.parts)(state[0], None, *seen, normed, advantages)
            return updated(optimizer, grads, state[1], state[0]), loss

        def train_step(params, opt_state, key, frames, chosen, logprobs, values, rewards, dones, last_values):
            logprobs, values, rewards, last_values = cast((logprobs, values, rewards, last_values), F32)
            advantages = advantages_of(rewards, values, dones.astype(F32), last_values)
            rollout = [one.reshape(envs * time, *one.shape[2:])
                       for one in (frames, chosen, logprobs, values, advantages)]

            def epoch(state, key):
                order = jax.random.permutation(key, envs * time).reshape(minibatches, -1)
                return jax.lax.scan(lambda state, rows: on_minibatch(state, [one[rows] for one in rollout]), state,
                                    order)
            (params, opt_state), losses = jax.lax.scan(epoch, (params, opt_state), jax.random.split(key, epochs))
            return params, opt_state, losses.mean()
        figures, count = arrays.batch((envs, time), F32), arrays.batch((envs, time), jnp.int32)
        arguments = (laid_out(arrays, params), laid_out(arrays, jax.eval_shape(optimizer.init, params)),
                     raw_key(arrays), arrays.batch((envs, time, side, side, 3), jnp.uint8), count, figures, figures,
                     figures, arrays.batch((envs, time), jnp.bool_), arrays.batch((envs,), F32))
        return train_step, arguments, (0, 1)
    return make
