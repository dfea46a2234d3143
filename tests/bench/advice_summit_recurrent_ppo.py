"""PPO of an agent that sees, and remembers by an LSTM, in flax linen: one minibatch of whole rollouts, as in cleanba.

Frames come as the simulators give them, in bytes with channels first; the residual network is IMPALA's, twice as wide.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import F32, cast, computing, laid_out, policy_of, summed_slopes, updated


def agent_of(change, now, channels, hidden, cells, actions):
    import flax.linen as nn
    orthogonal, zeros = nn.initializers.orthogonal, nn.initializers.zeros

    class ResidualBlock(nn.Module):
        channels: int

        @nn.compact
        def __call__(self, x):
            inputs = x
            for _ in range(2):
                x = nn.Conv(self.channels, (3, 3), dtype=now)(nn.relu(x))
            return x + inputs

    class ConvSequence(nn.Module):
        channels: int

        @nn.compact
        def __call__(self, x):
            x = nn.Conv(self.channels, (3, 3), dtype=now)(x)
            x = nn.max_pool(x, (3, 3), (2, 2), "SAME")
            block = nn.remat(ResidualBlock, policy=policy_of(change)) if change.rematerialize else ResidualBlock
            for i in range(2):
                x = block(self.channels, name=f"residual_{i}")(x)
            return x

    class Memory(nn.Module):
        """An LSTM whose state is forgotten where an episode begins."""
        @nn.compact
        def __call__(self, state, given):
            x, is_new = given
            state = jax.tree.map(lambda s: jnp.where(is_new[:, None], jnp.zeros_like(s), s), state)
            return nn.OptimizedLSTMCell(cells, dtype=now, name="lstm")(state, x)

    class Agent(nn.Module):
        @nn.compact
        def __call__(self, frames, is_new, state):
            rows, steps = frames.shape[:2]
            x = frames.reshape(rows * steps, *frames.shape[2:]).transpose(0, 2, 3, 1).astype(now) / 255.0
            for i, size in enumerate(channels):
                x = ConvSequence(size, name=f"sequence_{i}")(x)
            x = nn.relu(x).reshape(rows * steps, -1)
            x = nn.relu(nn.Dense(hidden, kernel_init=orthogonal(2 ** 0.5), dtype=now, name="hidden")(x))
            memory = nn.scan(Memory, variable_broadcast="params", split_rngs={"params": False}, in_axes=1, out_axes=1)
            _, x = memory(name="memory")(state, (x.reshape(rows, steps, -1), is_new))
            logits = nn.Dense(actions, kernel_init=orthogonal(0.01), dtype=now, name="actor")(x)
            value = nn.Dense(1, kernel_init=orthogonal(1.0), bias_init=zeros, dtype=now, name="critic")(x)
            return logits.astype(F32), value[..., 0].astype(F32)
    return Agent()


def ppo_loss(logits, value, acts, old, advantages, returns, clip=0.1, entropy_weight=0.01, value_weight=0.5):
    said = jax.nn.log_softmax(logits)
    chosen = jnp.take_along_axis(said, acts[..., None], -1)[..., 0]
    log_ratio = chosen - old.astype(F32)
    ratio, advantages = jnp.exp(log_ratio), advantages.astype(F32)
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    policy = jnp.maximum(-advantages * ratio, -advantages * jnp.clip(ratio, 1 - clip, 1 + clip)).mean()
    error = 0.5 * ((value - returns.astype(F32)) ** 2).mean()
    entropy = -(jnp.exp(said) * said).sum(-1).mean()
    kl = (ratio - 1 - log_ratio).mean()
    return policy - entropy_weight * entropy + value_weight * error, (policy, error, entropy, kl)


def recurrent_ppo(channels, hidden, cells, batch, steps, actions=18, pixels=84, stacked=4, kind=F32):
    def make(arrays, change):
        import optax
        rows, played, now = batch // change.batch_divisor, steps // change.length_divisor, computing(change, kind)
        agent = agent_of(change, now, channels, hidden, cells, actions)
        frames = jnp.zeros((1, 2, stacked, pixels, pixels), jnp.uint8)
        one = frames, jnp.zeros((1, 2), bool), (jnp.zeros((1, cells)),) * 2
        shapes = jax.eval_shape(agent.init, jax.random.key(0), *one)["params"]

        def loss_of(params, key, frames, is_new, state, *rest):
            state = jax.tree.map(lambda s: s.astype(now), state)
            logits, value = agent.apply({"params": params}, frames, is_new, state)
            return ppo_loss(logits, value, *rest)
        params = cast(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.inject_hyperparams(optax.adam)(
            learning_rate=optax.linear_schedule(2.5e-4, 0.0, 100000), eps=1e-5))
        opt_state = jax.eval_shape(optimizer.init, params)

        def update_minibatch(params, opt_state, *batch):
            loss, aux, slopes = summed_slopes(loss_of, change.parts)(params, None, *batch)
            params, opt_state = updated(optimizer, slopes, opt_state, params)
            return params, opt_state, loss, jax.tree.map(jnp.mean, aux)
        state = arrays.batch((rows, cells), F32)
        numbers = arrays.batch((rows, played), F32)
        batch_given = (arrays.batch((rows, played, stacked, pixels, pixels), jnp.uint8),
                       arrays.batch((rows, played), jnp.bool_), (state, state),
                       arrays.batch((rows, played), jnp.int32), numbers, numbers, numbers)
        return update_minibatch, (laid_out(arrays, params), laid_out(arrays, opt_state), *batch_given), (0, 1)
    return make
