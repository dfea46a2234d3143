"""Programs as public JAX repositories have them, written without a look at the advice or its figures: things over time.

advice_exam_repos.py has language, and says what each maker takes and gives. These are in the manner of S5 in linen, of
FFJORD with equinox as diffrax has it, and of PureJaxRL's DQN.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, random_key, trained, warmed_up, word_loss
from advice_structures import F32


# --- S5 ---

def diagonal_states(layers, width, states, features, classes, batch, length, kind=F32):
    """Sequences through complex states of their own decay, by an associative scan; those parameters do not decay."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}

        def joined(first, second):
            return second[0] * first[0], second[0] * first[1] + second[1]

        class States(nn.Module):
            @nn.compact
            def __call__(self, x):
                def own(name, *shape):
                    return self.param(f"ssm_{name}", nn.initializers.normal(0.5), shape).astype(F32)
                decay = jax.lax.complex(-jnp.exp(own("real", states)), own("imaginary", states))
                enter, leave = own("enter", states, width, 2), own("leave", width, states, 2)
                kept = jnp.exp(decay * jnp.exp(own("step", states)))
                enter = ((kept - 1) / decay)[:, None] * jax.lax.complex(enter[..., 0], enter[..., 1])
                leave = jax.lax.complex(leave[..., 0], leave[..., 1])

                def of_one(x):
                    given = x.astype(jnp.complex64) @ enter.T
                    _, made = jax.lax.associative_scan(joined, (jnp.broadcast_to(kept, given.shape), given))
                    return 2 * (made @ leave.T).real
                return jax.vmap(of_one)(x.astype(F32)).astype(x.dtype) + own("skip", width).astype(x.dtype) * x

        class Layer(nn.Module):
            is_trained: bool = True

            @nn.compact
            def __call__(self, x):
                drop = nn.Dropout(0.1, broadcast_dims=(1,), deterministic=not self.is_trained)
                h = drop(nn.gelu(States()(nn.LayerNorm(**kinds)(x))))
                return x + drop(nn.Dense(width, **kinds)(h) * nn.sigmoid(nn.Dense(width, **kinds)(h)))

        class Classifier(nn.Module):
            @nn.compact
            def __call__(self, x):
                x = nn.Dense(width, **kinds)(x)
                for i in range(layers):
                    x = (nn.remat(Layer) if change.rematerialize else Layer)(name=f"layer_{i}")(x)
                return nn.Dense(classes, **kinds)(x.mean(1))

        model, size = Classifier(), batch // change.batch_divisor
        rows, labels = arrays.batch((size, length, features), F32), arrays.batch((size,), jnp.int32)
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(0)}
        shapes = jax.eval_shape(model.init, keys, jnp.zeros((1, 16, features)))["params"]

        def loss_of(params, rows, labels, key):
            return word_loss(model.apply({"params": params}, rows, rngs={"dropout": key}), labels)

        def kinds_of(params):
            def one(path, _):
                return "states" if "ssm_" in jax.tree_util.keystr(path) else "rest"
            return jax.tree_util.tree_map_with_path(one, params)
        optimizer = optax.multi_transform({"states": optax.adam(1e-3),
                                           "rest": optax.adamw(warmed_up(4e-3), weight_decay=0.05)}, kinds_of)
        return trained(arrays, change, shapes, loss_of, optimizer, rows, labels, random_key(arrays))
    return make


# --- equinox ---

def flowing_density(depth, width, numbers, steps, batch, kind=F32):
    """FFJORD: how likely rows are, by an equation that moves them to noise; the trace of its slope by one probe."""
    def make(arrays, change):
        import equinox as eqx
        import optax

        class Squash(eqx.Module):
            main: eqx.nn.Linear
            gate: eqx.nn.Linear
            shift: eqx.nn.Linear

            def __init__(self, before, after, key):
                self.main = eqx.nn.Linear(before, after, key=key)
                self.gate = eqx.nn.Linear(1, after, key=key)
                self.shift = eqx.nn.Linear(1, after, use_bias=False, key=key)

            def __call__(self, time, x):
                return self.main(x) * jax.nn.sigmoid(self.gate(time)) + self.shift(time)

        class Field(eqx.Module):
            layers: list

            def __init__(self, key):
                sizes = [numbers, *[width] * depth, numbers]
                self.layers = [Squash(*pair, key) for pair in zip(sizes, sizes[1:])]

            def __call__(self, time, x):
                for layer in self.layers[:-1]:
                    x = jnp.tanh(layer(time, x))
                return self.layers[-1](time, x)

        shapes, static = eqx.partition(eqx.filter_eval_shape(Field, jax.random.key(0)),
                                       lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

        def density(field, x, probe):
            def slope(time, x):
                made, back = jax.vjp(lambda x: field(time[None], x), x)
                return made, jnp.vdot(back(probe)[0], probe)

            def step(carry, time):
                def moved(size, slope):
                    return carry[0] + size * slope[0]
                size = jnp.asarray(1 / steps, x.dtype)
                first = slope(time, carry[0])
                second = slope(time + size / 2, moved(size / 2, first))
                third = slope(time + size / 2, moved(size / 2, second))
                fourth = slope(time + size, moved(size, third))
                total = jax.tree.map(lambda a, b, c, d: (a + 2 * b + 2 * c + d) / 6, first, second, third, fourth)
                return jax.tree.map(lambda old, by: old + size * by, carry, total), None
            times = jnp.arange(steps).astype(x.dtype) / steps
            run = jax.checkpoint(step) if change.rematerialize else step
            (x, spread), _ = jax.lax.scan(run, (x, jnp.zeros((), x.dtype)), times)
            return spread - jnp.sum(jnp.square(x.astype(F32))) / 2

        def loss_of(params, rows, key):
            field, rows = eqx.combine(as_kind(params, computed(change, kind)), static), rows.astype(
                computed(change, kind))
            probes = jax.random.rademacher(key, rows.shape, rows.dtype)
            return -jnp.mean(jax.vmap(density, (None, 0, 0))(field, rows, probes))
        rows = arrays.batch((batch // change.batch_divisor, numbers), F32)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adamw(1e-3, weight_decay=1e-5))
        return trained(arrays, change, shapes, loss_of, optimizer, rows, random_key(arrays))
    return make


# --- Games ---

def drawn(ball, paddle, side):
    """Of each game its picture, in bytes."""
    rows, columns = jnp.arange(side)[:, None], jnp.arange(side)
    is_ball = (abs(rows - ball[:, 0, None, None]) < 3) & (abs(columns - ball[:, 1, None, None]) < 3)
    is_paddle = (rows > side - 4) & (abs(columns - paddle[:, None, None]) < 8)
    return jnp.where(is_ball | is_paddle, 255, 0).astype(jnp.uint8).reshape(ball.shape[0], -1)


def played(game, actions, side, key):
    """One step of a ball that falls and a paddle below it: the game then, what was won, and whether it began anew."""
    paddle = jnp.clip(game["paddle"] + 4 * (actions - 1), 0, side - 1)
    row, column = game["ball"][:, 0] + 3, game["ball"][:, 1]
    is_over = row >= side - 4
    won = jnp.where(is_over, jnp.where(abs(column - paddle) < 8, 1.0, -1.0), 0.0)
    fresh = jax.random.randint(key, column.shape, 0, side)
    ball = jnp.stack([jnp.where(is_over, 0, row), jnp.where(is_over, fresh, column)], -1)
    return {"ball": ball, "paddle": paddle}, won, is_over


def replayed_games(games, room, side, hidden, steps, batch, kind=F32):
    """DQN: games go on, what was seen is kept in a ring of bytes on the device, and some of it is learned from."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        count, size = games // change.batch_divisor, batch // change.batch_divisor
        kinds = {"dtype": computed(change, kind)}

        class Worth(nn.Module):
            @nn.compact
            def __call__(self, frames):
                def seen(module, x):
                    for i, (width, window, stride) in enumerate(((32, 8, 4), (64, 4, 2), (64, 3, 1))):
                        conv = nn.Conv(width, (window, window), stride, padding="VALID", name=f"conv_{i}", **kinds)
                        x = nn.relu(conv(x))
                    return x.reshape(x.shape[0], -1)
                x = jnp.moveaxis(frames.reshape(*frames.shape[:2], side, side), 1, -1).astype(kinds["dtype"]) / 255
                x = (nn.remat(seen) if change.rematerialize else seen)(self, x)
                return nn.Dense(3, **kinds)(nn.relu(nn.Dense(hidden, **kinds)(x))).astype(F32)

        model = Worth()
        shapes = as_kind(jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 4, side * side), jnp.uint8)),
                         change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(1e-4, eps=1.5e-4))

        def own(shape, kind):
            return arrays.array(shape, kind, 0 if change.shard == "all" else None)
        ring = {"frames": own((count, room, side * side), jnp.uint8), "actions": own((count, room), jnp.int32),
                "won": own((count, room), F32), "is_over": own((count, room), jnp.bool_)}
        state = {"learned": placed(arrays, {"params": shapes, "target": shapes,
                                            "optimizer": jax.eval_shape(optimizer.init, shapes)}),
                 "ring": ring, "game": {"ball": own((count, 2), jnp.int32), "paddle": own((count,), jnp.int32)},
                 "now": own((count, 4, side * side), jnp.uint8), "place": arrays.array((), jnp.int32),
                 "key": random_key(arrays)}

        def play(params, carry, key):
            ring, game, now, place = carry
            keys = jax.random.split(key, 3)
            greedy = model.apply(params, now).argmax(-1)
            actions = jnp.where(jax.random.uniform(keys[0], (count,)) < 0.05,
                                jax.random.randint(keys[1], (count,), 0, 3), greedy)
            game, won, is_over = played(game, actions, side, keys[2])
            happened = {"frames": now[:, -1], "actions": actions, "won": won, "is_over": is_over}
            ring = {name: jax.lax.dynamic_update_slice_in_dim(ring[name], one[:, None].astype(ring[name].dtype), place,
                                                              1) for name, one in happened.items()}
            now = jnp.concatenate([now[:, 1:], drawn(game["ball"], game["paddle"], side)[:, None]], 1)
            return (ring, game, now, (place + 1) % room), won

        def loss_of(params, target, ring, key):
            keys = jax.random.split(key)
            which = jax.random.randint(keys[0], (size,), 0, count)
            when = jax.random.randint(keys[1], (size,), 0, room - 5)
            frames = ring["frames"][which[:, None], when[:, None] + jnp.arange(5)]
            action, won, is_over = (ring[name][which, when + 3] for name in ("actions", "won", "is_over"))
            later = model.apply(target, frames[:, 1:]).max(-1)
            wanted = won + 0.99 * jnp.where(is_over, 0.0, later)
            said = jnp.take_along_axis(model.apply(params, frames[:, :-1]), action[:, None], -1)[:, 0]
            return optax.huber_loss(said, jax.lax.stop_gradient(wanted)).mean()

        def learn(learned, ring, key):
            loss, grads = jax.value_and_grad(loss_of)(learned["params"], learned["target"], ring, key)
            updates, optimizer_state = optimizer.update(grads, learned["optimizer"], learned["params"])
            params = optax.apply_updates(learned["params"], updates)
            target = as_kind(optax.incremental_update(params, learned["target"], 0.005), change.stored)
            return {"params": params, "target": target, "optimizer": optimizer_state}, loss

        def train_step(state):
            key, one, *keys = jax.random.split(state["key"], steps + 2)
            carry = state["ring"], state["game"], state["now"], state["place"]
            carry, won = jax.lax.scan(lambda carry, key: play(state["learned"]["params"], carry, key), carry,
                                      jnp.stack(keys))
            learned, loss = learn(state["learned"], carry[0], one)
            return {"learned": learned, **dict(zip(("ring", "game", "now", "place"), carry)), "key": key}, (loss,
                                                                                                       won.mean())
        return train_step, (state,), (0,)
    return make
