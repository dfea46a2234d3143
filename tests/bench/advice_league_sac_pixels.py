"""SAC from pixels (DrQ): stacked frames from the replay, shifted at random, through a residual encoder.

Flax linen in float32. The critics share an encoder that only their loss trains; the actor sees its vectors without a
gradient. Two critics (vmapped), a target by a moving average, a learnt temperature; all of it one jitted update.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, like, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

ORTHOGONAL = nn.initializers.orthogonal(2 ** 0.5)


class ResidualBlock(nn.Module):
    channels: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        y = x
        for _ in range(2):
            y = nn.Conv(self.channels, (3, 3), dtype=self.dtype, kernel_init=ORTHOGONAL)(nn.relu(y))
        return x + y


class Encoder(nn.Module):
    channels: tuple
    latent: int
    dtype: object
    change: object

    @nn.compact
    def __call__(self, frames):
        block = ResidualBlock
        if self.change.rematerialize:
            block = nn.remat(ResidualBlock, policy=checkpoint_policy(self.change))
        x = frames.astype(self.dtype) / 255.0 - 0.5
        for i, channels in enumerate(self.channels):
            x = nn.Conv(channels, (3, 3), dtype=self.dtype, kernel_init=ORTHOGONAL, name=f"conv_{i}")(x)
            x = nn.max_pool(x, (3, 3), strides=(2, 2), padding="SAME")
            for j in range(2):
                x = block(channels, self.dtype, name=f"block_{i}_{j}")(x)
        x = nn.relu(x).reshape(x.shape[0], -1)
        x = nn.LayerNorm(dtype=self.dtype)(nn.Dense(self.latent, dtype=self.dtype, name="latent")(x))
        return nn.tanh(x)


class Mlp(nn.Module):
    widths: tuple
    dtype: object

    @nn.compact
    def __call__(self, x):
        for width in self.widths[:-1]:
            x = nn.relu(nn.LayerNorm(dtype=self.dtype)(nn.Dense(width, dtype=self.dtype)(x)))
        return nn.Dense(self.widths[-1], dtype=self.dtype)(x).astype(F32)


class Critic(nn.Module):
    channels: tuple
    latent: int
    hidden: tuple
    dtype: object
    change: object

    def setup(self):
        self.encoder = Encoder(self.channels, self.latent, self.dtype, self.change)
        heads = nn.vmap(Mlp, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=None, out_axes=0,
                        axis_size=2)
        self.heads = heads((*self.hidden, 1), self.dtype)

    def __call__(self, frames, actions):
        return self.of_latent(self.encoder(frames), actions)

    def of_latent(self, latent, actions):
        return self.heads(jnp.concatenate([latent, actions.astype(latent.dtype)], axis=-1))[..., 0]

    def encode(self, frames):
        return self.encoder(frames)


class Actor(nn.Module):
    hidden: tuple
    actions: int
    dtype: object

    @nn.compact
    def __call__(self, latent, key):
        mean, spread = jnp.split(Mlp((*self.hidden, 2 * self.actions), self.dtype)(latent), 2, axis=-1)
        spread = jnp.exp(-10.0 + 6.0 * (jnp.tanh(spread) + 1))
        noise = jax.random.normal(key, mean.shape)
        before = mean + spread * noise
        logs = -0.5 * jnp.square(noise) - jnp.log(spread) - 0.919
        logs = logs - 2 * (jnp.log(2.0) - before - jax.nn.softplus(-2 * before))
        return jnp.tanh(before), logs.sum(-1)


def shifted(key, frames, pad=4):
    """Each picture by its own few pixels."""
    rows, _, _, channels = frames.shape
    wide = jnp.pad(frames, ((0, 0), (pad, pad), (pad, pad), (0, 0)), mode="edge")
    starts = jax.random.randint(key, (rows, 2), 0, 2 * pad + 1)
    return jax.vmap(lambda one, at: jax.lax.dynamic_slice(one, (at[0], at[1], 0), frames.shape[1:]))(wide, starts)


def sac_pixels(size, frames, channels, latent, hidden, actions, batch, tau=0.01, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        critic, actor = Critic(channels, latent, hidden, now, change), Actor(hidden, actions, now)
        picture = (size, size, 3 * frames)

        def init(key):
            pixels, action = jnp.zeros((1, *picture), jnp.uint8), jnp.zeros((1, actions))
            return {"critic": critic.init(key, pixels, action)["params"],
                    "actor": actor.init(key, jnp.zeros((1, latent)), key)["params"], "log_alpha": jnp.zeros(())}
        params = cast(jax.eval_shape(init, jax.random.key(0)), change.stored)
        optimizers = {name: optax.adam(3e-4) for name in params}
        opt_states = {name: jax.eval_shape(optimizers[name].init, params[name]) for name in params}

        def critic_loss(critic_params, key, params, target, obs, act, reward, discount, next_obs):
            latents = critic.apply({"params": critic_params}, next_obs, method="encode")
            next_act, next_log = actor.apply({"params": params["actor"]}, latents, key)
            ahead = critic.apply({"params": target}, next_obs, next_act).min(0)
            ahead = ahead - jnp.exp(params["log_alpha"].astype(F32)) * next_log
            wanted = jax.lax.stop_gradient(reward.astype(F32) + discount.astype(F32) * ahead)
            values = critic.apply({"params": critic_params}, obs, act)
            return jnp.square(values - wanted).mean(1).sum(), {"q": values.mean()}

        def actor_loss(actor_params, key, critic_params, alpha, latents):
            act, log = actor.apply({"params": actor_params}, latents, key)
            values = critic.apply({"params": critic_params}, latents, act, method="of_latent").min(0)
            return (alpha * log - values).mean(), {"entropy": -log.mean()}

        def update(params, target, opt_states, key, obs, act, reward, discount, next_obs):
            key, aug, next_aug, critic_key, actor_key = jax.random.split(key, 5)
            obs, next_obs = shifted(aug, obs), shifted(next_aug, next_obs)
            new, states = dict(params), dict(opt_states)

            def step(name, slopes):
                new[name], states[name] = updated(optimizers[name], slopes, opt_states[name], params[name])

            def loss_of_critic(p, k, *replay):
                return critic_loss(p, k, params, target, *replay)
            loss_q, of_critic, slopes = summed_slopes(loss_of_critic, change.parts)(
                params["critic"], critic_key, obs, act, reward, discount, next_obs)
            step("critic", slopes)

            alpha = jnp.exp(params["log_alpha"].astype(F32))

            def loss_of_actor(p, k, obs):
                latents = jax.lax.stop_gradient(critic.apply({"params": new["critic"]}, obs, method="encode"))
                return actor_loss(p, k, new["critic"], alpha, latents)
            loss_pi, of_actor, slopes = summed_slopes(loss_of_actor, change.parts)(params["actor"], actor_key, obs)
            step("actor", slopes)

            entropy = of_actor["entropy"].mean()
            slope = jax.grad(lambda log: jnp.exp(log.astype(F32)) * (entropy + actions / 2))(params["log_alpha"])
            step("log_alpha", slope)
            target = like(optax.incremental_update(new["critic"], target, tau), target)
            info = {"critic_loss": loss_q, "actor_loss": loss_pi, "q": of_critic["q"].mean(), "entropy": entropy}
            return new, target, states, key, info

        return update, (
            laid_out(arrays, params), laid_out(arrays, params["critic"]), laid_out(arrays, opt_states),
            raw_key(arrays), arrays.batch((rows, *picture), jnp.uint8), arrays.batch((rows, actions), F32),
            arrays.batch((rows,), F32), arrays.batch((rows,), F32),
            arrays.batch((rows, *picture), jnp.uint8)), (0, 1, 2)
    return make


FAMILY = {"league_sac_pixels": dict(
    make=sac_pixels(size=96, frames=3, channels=(64, 128, 128), latent=512, hidden=(1024, 1024), actions=6,
                    batch=1024),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
