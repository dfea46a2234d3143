"""DreamerV3 learns from replayed pixels: a world model (RSSM), and an actor and a critic in what it imagines.

In flax linen, networks apart and applied by jax.lax.scan over time: first over the replayed steps, then over imagined
ones from each of them. Sizes are those of the XL agent (about 200M). Weights and optimizers in float32, computation
in bfloat16, distributions and losses in float32. One update of all three, with a slow critic.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, maybe_checkpoint
from advice_round_f_parts import BINS, divergence, lambda_returns, twohot_loss, twohot_mean


class Act(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x):
        return nn.silu(nn.LayerNorm(epsilon=1e-3, dtype=self.dtype)(x))


class MLP(nn.Module):
    layers: int
    units: int
    out: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        for i in range(self.layers):
            x = Act(self.dtype, name=f"act{i}")(nn.Dense(self.units, use_bias=False, dtype=self.dtype, name=f"h{i}")(x))
        return nn.Dense(self.out, dtype=self.dtype, name="out")(x).astype(F32)


class Stage(nn.Module):
    depth: int
    up: bool
    dtype: object

    @nn.compact
    def __call__(self, x):
        conv = nn.ConvTranspose if self.up else nn.Conv
        return Act(self.dtype)(conv(self.depth, (4, 4), (2, 2), use_bias=False, dtype=self.dtype)(x))


class Encoder(nn.Module):
    depth: int
    dtype: object
    stage: object

    @nn.compact
    def __call__(self, image):
        x = image.astype(self.dtype) / 255 - 0.5
        for i in range(4):
            x = self.stage(self.depth * 2 ** i, False, self.dtype, name=f"down{i}")(x)
        return x.reshape(x.shape[0], -1)


class Decoder(nn.Module):
    depth: int
    dtype: object
    stage: object

    @nn.compact
    def __call__(self, feature):
        x = nn.Dense(4 * 4 * self.depth * 8, dtype=self.dtype)(feature).reshape(-1, 4, 4, self.depth * 8)
        for i in (2, 1, 0):
            x = self.stage(self.depth * 2 ** i, True, self.dtype, name=f"up{i}")(x)
        return nn.ConvTranspose(3, (4, 4), (2, 2), dtype=self.dtype, name="image")(x).astype(F32) + 0.5


class RSSM(nn.Module):
    deter: int
    stoch: int
    classes: int
    units: int
    dtype: object

    def setup(self):
        def dense(size):
            return nn.Dense(size, use_bias=False, dtype=self.dtype)
        self.inward, self.inward_act = dense(self.units), Act(self.dtype)
        self.gru, self.gru_norm = dense(3 * self.deter), nn.LayerNorm(epsilon=1e-3, dtype=self.dtype)
        self.prior, self.post = (MLP(1, self.units, self.stoch * self.classes, self.dtype) for _ in range(2))

    def sampled(self, logits, key):
        logits = logits.reshape(*logits.shape[:-1], self.stoch, self.classes)
        probs = 0.99 * jax.nn.softmax(logits, -1) + 0.01 / self.classes
        logits = jnp.log(probs)
        hot = jax.nn.one_hot(jax.random.categorical(key, logits), self.classes)
        hot = jax.lax.stop_gradient(hot) + probs - jax.lax.stop_gradient(probs)
        return hot.reshape(*hot.shape[:-2], -1).astype(self.dtype), logits

    def forward(self, deter, stoch, action):
        x = self.inward_act(self.inward(jnp.concatenate([stoch, action.astype(self.dtype)], -1)))
        reset, new, update = jnp.split(self.gru_norm(self.gru(jnp.concatenate([deter, x], -1))), 3, -1)
        update = nn.sigmoid(update - 1)
        return update * jnp.tanh(nn.sigmoid(reset) * new) + (1 - update) * deter

    def imagine(self, deter, stoch, action, key):
        deter = self.forward(deter, stoch, action)
        return deter, *self.sampled(self.prior(deter), key)

    def observe(self, deter, stoch, action, embed, first, key):
        keep = (1 - first)[:, None].astype(self.dtype)
        deter, prior_stoch, prior = self.imagine(deter * keep, stoch * keep, action * keep, key)
        stoch, post = self.sampled(self.post(jnp.concatenate([deter, embed], -1)), key)
        return deter, stoch, prior, post


def dreamer_update(deter, stoch, classes, units, depth, layers, actions, batch, length, horizon=15, kind=BF16):
    def make(arrays, change):
        rows, steps = batch // change.batch_divisor, length // change.length_divisor
        now, stop = compute_dtype(change, kind), jax.lax.stop_gradient
        stage = nn.remat(Stage, policy=checkpoint_policy(change)) if change.rematerialize else Stage
        encoder, decoder = Encoder(depth, now, stage), Decoder(depth, now, stage)
        rssm = RSSM(deter, stoch, classes, units, now)
        heads = {name: MLP(layers, units, size, now) for name, size in
                 dict(reward=BINS, more=1, actor=actions, critic=BINS).items()}

        def init(key):
            def zeros(*shape):
                return jnp.zeros((1, *shape))
            feature = zeros(deter + stoch * classes)
            made = {name: head.init(key, feature) for name, head in heads.items()}
            actor, critic = made.pop("actor"), made.pop("critic")
            embed, eyes = encoder.init_with_output(key, zeros(64, 64, 3))
            dynamics = rssm.init(key, zeros(deter), zeros(stoch * classes), zeros(actions), embed, jnp.zeros(1), key,
                                 method="observe")
            world = {"encoder": eyes, "decoder": decoder.init(key, feature), "rssm": dynamics, **made}
            return {"world": world, "actor": actor, "critic": critic}
        params = cast(jax.eval_shape(init, jax.random.PRNGKey(0)), change.stored)

        def adam(rate, clip):
            return optax.chain(optax.clip_by_global_norm(clip), optax.adam(rate, eps=1e-8))
        optimizer = optax.multi_transform({"world": adam(1e-4, 1000.0), "actor": adam(3e-5, 100.0),
                                           "critic": adam(3e-5, 100.0)}, {name: name for name in params})
        opt_state = jax.eval_shape(optimizer.init, params)

        def world_loss(world, key, data):
            embed = encoder.apply(world["encoder"], data["image"].reshape(-1, 64, 64, 3))
            size, time = data["image"].shape[:2]
            embed = embed.reshape(size, time, -1).swapaxes(0, 1)
            action = jax.nn.one_hot(data["action"], actions, dtype=now).swapaxes(0, 1)

            def step(carry, given):
                *state, prior, post = rssm.apply(world["rssm"], *carry, *given, method="observe")
                return tuple(state), (*state, prior, post)
            start = jnp.zeros((size, deter), now), jnp.zeros((size, stoch * classes), now)
            given = action, embed, data["first"].T, jax.random.split(key, time)
            _, (deters, stochs, prior, post) = jax.lax.scan(maybe_checkpoint(change, step), start, given)
            feature = jnp.concatenate([deters, stochs], -1)
            image = decoder.apply(world["decoder"], feature.reshape(size * time, -1)).reshape(time, size, 64, 64, 3)
            wanted = data["image"].swapaxes(0, 1).astype(F32) / 255
            reward = twohot_loss(heads["reward"].apply(world["reward"], feature), data["reward"].T.astype(F32))
            more = heads["more"].apply(world["more"], feature)[..., 0]
            losses = {"image": jnp.square(image - wanted).sum((-3, -2, -1)).mean(), "reward": reward.mean(),
                      "more": optax.sigmoid_binary_cross_entropy(more, 1.0 - data["last"].T).mean(),
                      "dynamics": 0.5 * divergence(stop(post), prior).mean(),
                      "representation": 0.1 * divergence(post, stop(prior)).mean()}
            return sum(losses.values()), losses, (deters.reshape(-1, deter), stochs.reshape(size * time, -1))

        def behaviour_loss(params, slow, spread, start, key):
            world = stop(params["world"])

            def step(state, key):
                feature = jnp.concatenate(state, -1)
                act_key, key = jax.random.split(key)
                action = jax.random.categorical(act_key, heads["actor"].apply(stop(params["actor"]), feature))
                new = rssm.apply(world["rssm"], *state, jax.nn.one_hot(action, actions), key, method="imagine")[:2]
                return new, (feature, action)
            keys = jax.random.split(key, horizon + 1)
            _, (feature, action) = jax.lax.scan(maybe_checkpoint(change, step), stop(start), keys)
            feature = stop(feature)
            reward = twohot_mean(heads["reward"].apply(world["reward"], feature))
            discount = jax.nn.sigmoid(heads["more"].apply(world["more"], feature)[..., 0]) * (1 - 1 / 333)
            values = heads["critic"].apply(params["critic"], feature)
            value = stop(twohot_mean(values))
            returns = lambda_returns(reward, value, discount)
            low, high = jnp.percentile(returns, 5), jnp.percentile(returns, 95)
            spread = 0.99 * spread + 0.01 * (high - low)
            weight = stop(jnp.cumprod(discount, 0) / discount)[:-1]
            logp = jax.nn.log_softmax(heads["actor"].apply(params["actor"], feature)[:-1], -1)
            chosen = jnp.take_along_axis(logp, action[:-1, :, None], -1)[..., 0]
            entropy = -jnp.sum(jnp.exp(logp) * logp, -1)
            advantage = stop((returns - value[:-1]) / jnp.maximum(spread, 1.0))
            actor = -jnp.mean(weight * (chosen * advantage + 3e-4 * entropy))
            old = twohot_mean(heads["critic"].apply(slow, feature[:-1]))
            critic = jnp.mean(weight * (twohot_loss(values[:-1], stop(returns)) + twohot_loss(values[:-1], stop(old))))
            return actor + critic, {"actor": actor, "critic": critic, "entropy": entropy.mean()}, spread

        def train_step(params, opt_state, slow, spread, key, data):
            def loss_of(params, key, data):
                seen, dreamt = jax.random.split(key)
                loss, metrics, start = world_loss(params["world"], seen, data)
                more, others, new = behaviour_loss(params, slow, spread, start, dreamt)
                return loss + more, ({**metrics, **others}, new)
            key, one = jax.random.split(key)
            loss, (metrics, spreads), grads = summed_slopes(loss_of, change.parts)(params, one, data)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            slow = optax.incremental_update(params["critic"], slow, 0.02)
            return params, opt_state, slow, spreads.mean(), key, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}

        flags = arrays.batch((rows, steps), jnp.int32)
        data = dict(image=arrays.batch((rows, steps, 64, 64, 3), jnp.uint8), action=flags, first=flags, last=flags,
                    reward=arrays.batch((rows, steps), F32))
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, params["critic"]),
                            arrays.array((), F32), raw_key(arrays), data), (0, 1, 2)
    return make


FAMILY = {"round_dreamer": dict(
    make=dreamer_update(deter=4096, stoch=32, classes=32, units=1024, depth=96, layers=5, actions=18, batch=64,
                        length=64),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
