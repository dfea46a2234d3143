"""Graphs, tables and worlds of the exam of advice_fresh.py, which says what each maker takes and gives."""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, random_key, trained, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import F32


# --- Graphs ---

def paired_atoms(layers, width, heads, hidden, nodes, kinds_of_atoms, batch, kind=F32):
    """Graphormer in haiku: dense pairs of nodes, whose distance and bond are a bias of all layers; one value each."""
    def make(arrays, change):
        import haiku as hk
        import optax
        size = batch // change.batch_divisor

        def norm(x):
            return hk.LayerNorm(-1, True, True)(x)

        def block(x, bias):
            h = norm(x)
            query, key, value = (hk.Linear(width)(h).reshape(*x.shape[:2], heads, -1) for _ in range(3))
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) * (width // heads) ** -0.5 + bias
            weights = hk.dropout(hk.next_rng_key(), 0.1, jax.nn.softmax(scores))
            x = x + hk.Linear(width)(jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(x.shape))
            return x + hk.Linear(width)(jax.nn.gelu(hk.Linear(hidden)(norm(x))))

        def forward(atoms, degrees, apart, bonds, lengths):
            one = hk.remat(block) if change.rematerialize else block
            x = hk.Embed(kinds_of_atoms, width)(atoms) + hk.Embed(64, width)(degrees)
            wide = hk.get_parameter("centers", (128,), x.dtype, hk.initializers.RandomUniform(0, 3))
            near = jnp.exp(-jnp.square(lengths[..., None].astype(x.dtype) - wide))
            near = hk.Linear(heads)(jax.nn.gelu(hk.Linear(128)(near)))
            bias = jnp.moveaxis(hk.Embed(40, heads)(apart) + hk.Embed(24, heads)(bonds) + near, -1, 1)
            bias = jnp.where((atoms > 0)[:, None, None], bias, -1e9)
            for _ in range(layers):
                x = one(x, bias)
            return hk.Linear(1)(jax.nn.gelu(hk.Linear(width)(norm(x)[:, 0])))[:, 0]

        net = hk.transform(forward)
        one, pair = (jax.ShapeDtypeStruct((1, *shape), jnp.int32) for shape in ((nodes,), (nodes, nodes)))
        shapes = jax.eval_shape(net.init, jax.random.key(0), one, one, pair, pair,
                                jax.ShapeDtypeStruct(pair.shape, F32))

        def loss_of(params, atoms, degrees, apart, bonds, lengths, wanted, key):
            made = net.apply(as_kind(params, computed(change, kind)), key, atoms, degrees, apart, bonds, lengths)
            return jnp.mean(abs(made.astype(F32) - wanted))
        one, pair = (arrays.batch((size, *shape), jnp.int32) for shape in ((nodes,), (nodes, nodes)))
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adamw(warmed_up(2e-4), b2=0.99))
        return trained(arrays, change, shapes, loss_of, optimizer, one, one, pair, pair,
                       arrays.batch((size, nodes, nodes), F32), arrays.batch((size,), F32), random_key(arrays))
    return make


# --- Tables ---

def crossed_features(rows, width, bag, numbers, crosses, rank, experts, deep, batch, kind=F32):
    """DCN v2: tables read by bags of ids, crosses of low rank by several experts, and deep layers; Adagrad."""
    def make(arrays, change):
        import optax
        size, tables, total = batch // change.batch_divisor, len(rows), numbers + width * len(rows)
        pairs = list(zip((total, *deep), deep))
        shapes = shaped(tables={f"t{i}": (count, width) for i, count in enumerate(rows)},
                        cross={f"c{i}": {"down": (experts, total, rank), "inner": (experts, rank, rank),
                                         "up": (experts, rank, total), "gate": (total, experts), "bias": (total,)}
                               for i in range(crosses)},
                        deep={f"d{i}": {"w": pair, "b": pair[1:]} for i, pair in enumerate(pairs)},
                        out=(total + deep[-1], 1))

        def cross(p, first, x):
            thin = jnp.tanh(jnp.einsum("bt,etr->ebr", x, p["down"]))
            made = jnp.einsum("ebr,ert->ebt", jnp.tanh(jnp.einsum("ebr,ers->ebs", thin, p["inner"])), p["up"])
            shares = jax.nn.softmax(x @ p["gate"])
            return x + jnp.einsum("be,ebt->bt", shares, first * (made + p["bias"]))

        def loss_of(params, dense, ids, weights, clicked):
            now = computed(change, kind)
            bags = [jnp.einsum("bsw,bs->bw", params["tables"][f"t{i}"][ids[:, i]].astype(now),
                               weights[:, i].astype(now)) for i in range(tables)]
            p = as_kind({name: params[name] for name in ("cross", "deep", "out")}, now)
            first = x = jnp.concatenate([jnp.log1p(abs(dense)).astype(now), *bags], -1)
            for i in range(crosses):
                x = maybe_checkpointed(change, cross)(p["cross"][f"c{i}"], first, x)
            h = first
            for i in range(len(deep)):
                h = jax.nn.relu(h @ p["deep"][f"d{i}"]["w"] + p["deep"][f"d{i}"]["b"])
            logits = (jnp.concatenate([x, h], -1) @ p["out"])[:, 0].astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, clicked.astype(F32)).mean()
        batches = (arrays.batch((size, numbers), F32), arrays.batch((size, tables, bag), jnp.int32),
                   arrays.batch((size, tables, bag), F32), arrays.batch((size,), F32))
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adagrad(0.02), *batches)
    return make


# --- Worlds ---

def imagined_worlds(width, hidden, groups, classes, channels, side, ahead, batch, length, kind=F32):
    """Dreamer's model of a world in linen: pictures in, a recurrent state that guesses its own samples, pictures out;
    an actor and its critic learn from where that state goes by itself."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}

        def sampled(logits, key):
            logits = logits.reshape(*logits.shape[:-1], groups, classes).astype(F32)
            shares = 0.99 * jax.nn.softmax(logits) + 0.01 / classes
            drawn = jax.nn.one_hot(jax.random.categorical(key, jnp.log(shares)), classes)
            drawn = drawn + shares - jax.lax.stop_gradient(shares)
            return drawn.reshape(*drawn.shape[:-2], -1).astype(kinds["dtype"]), jnp.log(shares)

        class World(nn.Module):
            def setup(self):
                self.down = [nn.Conv(channels * 2 ** i, (4, 4), 2, name=f"conv_down_{i}", **kinds) for i in range(4)]
                self.up = [nn.ConvTranspose(count, (4, 4), (2, 2), name=f"conv_up_{i}", **kinds)
                           for i, count in enumerate((4 * channels, 2 * channels, channels, 3))]
                self.enter, self.unit = nn.Dense(hidden, **kinds), nn.GRUCell(width, **kinds)
                self.guess, self.see = (nn.Sequential([nn.Dense(hidden, **kinds), nn.silu,
                                                       nn.Dense(groups * classes, **kinds)]) for _ in range(2))
                self.spread = nn.Dense((side // 16) ** 2 * 8 * channels, **kinds)
                self.reward, self.actor, self.critic = (nn.Sequential([nn.Dense(hidden, **kinds), nn.silu,
                                                                       nn.Dense(count, **kinds)])
                                                        for count in (1, 18, 1))

            def embed(self, frames):
                for conv in self.down:
                    frames = nn.silu(conv(frames))
                return frames.reshape(frames.shape[0], -1)

            def moved(self, state, drawn, action):
                given = nn.silu(self.enter(jnp.concatenate([drawn, action], -1)))
                return self.unit(state, given)[0]

            def draw(self, x):
                x = self.spread(x).reshape(-1, side // 16, side // 16, 8 * channels)
                for conv in self.up[:-1]:
                    x = nn.silu(conv(x))
                return self.up[-1](x)

            def follow(self, carry, given):
                state, drawn = carry
                seen, action, key = given
                state = self.moved(state, drawn, action)
                drawn, after = sampled(self.see(jnp.concatenate([state, seen], -1)), key)
                return (state, drawn), (jnp.concatenate([state, drawn], -1), after, sampled(self.guess(state), key)[1])

            def dream(self, carry, key):
                state, drawn = carry
                x = jnp.concatenate([state, drawn], -1)
                action, chosen = jax.random.split(key)
                logits = self.actor(jax.lax.stop_gradient(x)).astype(F32)
                act = jax.nn.one_hot(jax.random.categorical(action, logits), 18, dtype=x.dtype)
                said = jnp.sum(jax.nn.log_softmax(logits) * act, -1)
                state = self.moved(state, drawn, act)
                drawn, _ = sampled(self.guess(state), chosen)
                return (state, drawn), (said, self.critic(x)[..., 0].astype(F32), self.reward(x)[..., 0].astype(F32))

            def __call__(self, frames, actions, rewards, key):
                count, steps = actions.shape[:2]
                flat = frames.reshape(-1, side, side, 3).astype(kinds["dtype"]) / 255
                seen = jnp.swapaxes(self.embed(flat).reshape(count, steps, -1), 0, 1)
                acts = jnp.swapaxes(jax.nn.one_hot(actions, 18, dtype=kinds["dtype"]), 0, 1)
                keys = jax.random.split(key, steps + ahead)
                start = jnp.zeros((count, width), kinds["dtype"]), jnp.zeros((count, groups * classes), kinds["dtype"])
                (follow, dream) = (nn.remat(one) if change.rematerialize else one for one in (
                    World.follow, World.dream))
                loop = {"variable_broadcast": "params", "split_rngs": {"params": False}}
                _, (x, after, guessed) = nn.scan(follow, **loop)(self, start, (seen, acts, keys[:steps]))
                apart = jnp.sum(jnp.exp(after) * (after - guessed), (-2, -1)).mean()
                flat_x = jnp.swapaxes(x, 0, 1).reshape(-1, x.shape[-1])
                missed = jnp.square(self.draw(flat_x).astype(F32) - flat.astype(F32)).sum((1, 2, 3)).mean()
                wrong = jnp.square(self.reward(flat_x)[:, 0].astype(F32) - rewards.reshape(-1)).mean()
                from_here = tuple(jnp.split(jax.lax.stop_gradient(flat_x), [width], -1))
                _, (said, worth, won) = nn.scan(dream, **loop)(self, from_here, keys[steps:])

                def discounted(later, now):
                    made = now[0] + 0.997 * (0.05 * now[1] + 0.95 * later)
                    return made, made
                _, wanted = jax.lax.scan(discounted, worth[-1], (won, worth), reverse=True)
                wanted = jax.lax.stop_gradient(wanted)
                better = jax.lax.stop_gradient(wanted - worth)
                return missed + wrong + 0.5 * apart + jnp.square(worth - wanted).mean() - (said * better).mean()

        model, size = World(), batch // change.batch_divisor
        few = (jnp.zeros((1, 2, side, side, 3), jnp.uint8), jnp.zeros((1, 2), jnp.int32), jnp.zeros((1, 2)))
        shapes = jax.eval_shape(model.init, jax.random.key(0), *few, jax.random.key(0))["params"]

        def loss_of(params, frames, actions, rewards, key):
            return model.apply({"params": params}, frames, actions, rewards.astype(F32), key)
        optimizer = optax.chain(optax.adaptive_grad_clip(0.3), optax.scale_by_rms(0.999, 1e-20),
                                optax.trace(0.9), optax.scale(-4e-5))
        return trained(arrays, change, shapes, loss_of, optimizer,
                       arrays.batch((size, length, side, side, 3), jnp.uint8),
                       arrays.batch((size, length), jnp.int32), arrays.batch((size, length), F32), random_key(arrays))
    return make
