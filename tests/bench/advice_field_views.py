"""Patches, pins, voices, views and robots: programs whose steps are trained, each of its own make.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_field_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, computed, matrices_only, model_of, placed, random_key, trained, warmed_up,
                                   word_loss)
from advice_fresh import maybe_checkpointed, root_normed, shaped
from advice_structures import BF16, F32


# --- transformers' BEiT ---

def codes_of_patches(config, batch, kind=BF16):
    """BEiT before any classes: patches are hidden, and a code of another model is to be said for each of them."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxBeitForMaskedImageModeling", kind, config, "FlaxBeitLayer")
        size, side = batch // change.batch_divisor, config["image_size"]
        places = (side // config["patch_size"]) ** 2

        def loss_fn(params, pixels, is_hidden, codes, key):
            logits = model(pixels, is_hidden, params=params, dropout_rng=key, train=True).logits
            return word_loss(logits, codes, is_hidden.astype(F32))
        optimizer = optax.chain(optax.clip_by_global_norm(3.0),
                                optax.adamw(warmed_up(1.5e-3), b2=0.98, weight_decay=0.05, mask=matrices_only))
        return trained(arrays, change, model.params_shape_tree, loss_fn, optimizer,
                       arrays.batch((size, 3, side, side), F32), arrays.batch((size, places), jnp.bool_),
                       arrays.batch((size, places), jnp.int32), random_key(arrays))
    return make


# --- Who will save which pin ---

def actions_to_pins(rows, side, layers, width, heads, kinds, actions, wanted, out, batch, kind=F32):
    """Two towers: what a user did, read in order, against what comes later; all others' pins are wrong ones; SM3.

    An id is two rows of two tables; how often a pin is seen at all is taken off its score.
    """
    stack = {"wqkv": (layers, width, 3 * width), "wo": (layers, width, width), "w1": (layers, width, 4 * width),
             "w2": (layers, 4 * width, width), "ln1": (layers, width), "ln2": (layers, width)}

    def make(arrays, change):
        import optax
        b, t = batch // change.batch_divisor, actions // change.length_divisor
        now = computed(change, kind)
        shapes = shaped(table_a=(rows, side), table_b=(rows, side), kinds=(kinds, width), places=(t, width),
                        enter=(2 * side + 2, width), layer_stack=stack, user_out=(width, out), norm=(width,),
                        pin_in=(2 * side, 4 * out), pin_out=(4 * out, out), warmth=(1,))

        def layer(x, w):
            q, k, v = jnp.split(root_normed(x, w["ln1"]) @ w["wqkv"], 3, -1)
            q, k, v = (y.reshape(b, t, heads, -1) for y in (q, k, v))
            mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(b, t, width)
            x = x + mixed @ w["wo"]
            return x + jax.nn.gelu(root_normed(x, w["ln2"]) @ w["w1"]) @ w["w2"], None

        def unit(x):
            x = x.astype(F32)
            return x * jax.lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-8)

        def loss_fn(params, ids, kind_of, since, saved, often):
            p = as_kind(params, now)

            def looked_up(ids):
                mixed = (ids.astype(jnp.uint32) * jnp.uint32(2654435761)) % jnp.uint32(rows)
                return jnp.concatenate([p["table_a"][ids % rows], p["table_b"][mixed.astype(jnp.int32)]], -1)
            waves = jnp.stack([jnp.sin(since.astype(now)), jnp.cos(since.astype(now))], -1)
            x = jnp.concatenate([looked_up(ids), waves], -1) @ p["enter"] + p["kinds"][kind_of] + p["places"]
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), x, p["layer_stack"])
            user = unit(root_normed(x[:, -1], p["norm"]) @ p["user_out"])
            pins = unit(jax.nn.relu(looked_up(saved) @ p["pin_in"]) @ p["pin_out"]).reshape(b * wanted, out)
            scores = user @ pins.T * jnp.exp(params["warmth"].astype(F32)) - often.astype(F32).reshape(-1)
            mine = jnp.arange(b * wanted) // wanted == jnp.arange(b)[:, None]
            others = jax.nn.logsumexp(jnp.where(mine, -1e30, scores), -1, keepdims=True)
            return jnp.sum(jnp.where(mine, jnp.logaddexp(others, scores) - scores, 0.0)) / (b * wanted)
        row, few = arrays.batch((b, t), jnp.int32), arrays.batch((b, wanted), jnp.int32)
        return trained(arrays, change, shapes, loss_fn, optax.sm3(0.05), row, row, arrays.batch((b, t), F32), few,
                       arrays.batch((b, wanted), F32))
    return make


# --- A voice, in haiku; it computes in what it is given ---

def spoken_spectra(encoders, decoders, width, heads, inner, sounds, bands, phones, frames, batch, kind=F32):
    """FastSpeech 2: each phone is repeated as long as it lasts, with pitch and loudness; spectra, then corrected."""
    def make(arrays, change):
        import haiku as hk
        import optax
        b, n, t = (batch // change.batch_divisor, phones // change.length_divisor, frames // change.length_divisor)
        now = computed(change, kind)
        remat = hk.remat if change.rematerialize else lambda f: f

        def norm(x):
            return hk.LayerNorm(-1, True, True)(x)

        def block(x, there):
            attention = hk.MultiHeadAttention(heads, width // heads, w_init_scale=1.0, model_size=width)
            x = norm(x + attention(x, x, x, mask=there[:, None, None]))
            h = jax.nn.relu(hk.Conv1D(inner, 9)(x))
            return norm(x + hk.Conv1D(width, 1)(h)) * there[..., None].astype(x.dtype)

        def told(x, name):
            for i in range(2):
                x = norm(jax.nn.relu(hk.Conv1D(width, 3, name=f"{name}_{i}")(x)))
            return hk.Linear(1, name=name)(x)[..., 0]

        def waves(length, dtype):
            angle = jnp.arange(length)[:, None] / 10000 ** (jnp.arange(0, width, 2) / width)
            return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1).astype(dtype)

        def speak(phone, lasts, pitch, energy):
            x = hk.Embed(sounds, width)(phone)
            x = x + waves(x.shape[1], x.dtype)
            for _ in range(encoders):
                x = remat(block)(x, phone > 0)
            guesses = [told(x, name) for name in ("duration", "pitch", "energy")]
            for value, name in ((pitch, "pitch_bins"), (energy, "energy_bins")):
                bins = jnp.clip((value.astype(F32) * 32 + 128).astype(jnp.int32), 0, 255)
                x = x + hk.Embed(256, width, name=name)(bins)
            ends = jnp.cumsum(lasts, -1)
            at = jax.vmap(lambda row: jnp.searchsorted(row, jnp.arange(t), side="right"))(ends)
            there = jnp.arange(t) < ends[:, -1:]
            x = jnp.take_along_axis(x, jnp.minimum(at, x.shape[1] - 1)[..., None], 1)
            x = x + waves(t, x.dtype)
            for _ in range(decoders):
                x = remat(block)(x, there)
            made = hk.Linear(bands)(x)
            h = made
            for _ in range(4):
                h = jnp.tanh(norm(hk.Conv1D(512, 5)(h)))
            return made, made + hk.Conv1D(bands, 5)(h), guesses, there

        net = hk.without_apply_rng(hk.transform(speak))
        short = jnp.ones((1, n), jnp.int32)
        shapes = jax.eval_shape(net.init, jax.random.key(0), short, short, jnp.ones((1, n)), jnp.ones((1, n)))

        def loss_fn(params, phone, lasts, pitch, energy, spectra):
            early, late, guesses, there = net.apply(as_kind(params, now), phone, lasts, pitch, energy)
            weight = there[..., None] / (jnp.sum(there) * bands)
            wanted = [jnp.log1p(lasts.astype(F32)), pitch.astype(F32), energy.astype(F32)]
            known = (phone > 0) / jnp.sum(phone > 0)
            lost = sum(jnp.sum(jnp.square(one.astype(F32) - y) * known) for one, y in zip(guesses, wanted))
            return lost + sum(jnp.sum(jnp.abs(one.astype(F32) - spectra.astype(F32)) * weight)
                              for one in (early, late))
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(warmed_up(1e-3), b2=0.98, eps=1e-9))
        ids, values = arrays.batch((b, n), jnp.int32), arrays.batch((b, n), F32)
        return trained(arrays, change, shapes, loss_fn, optimizer, ids, ids, values, values,
                       arrays.batch((b, t, bands), F32))
    return make


# --- Two views whose features are to be alike, and each feature unlike the others ---

def redundant_views(depth, width, heads, patch, side, wide, batch, kind=BF16):
    """Barlow twins: a vision transformer, a wide head with batch norms, one large matrix of products; SGD momentum."""
    grid = side // patch
    stack = {"qkv": (depth, width, 3 * width), "proj": (depth, width, width), "fc1": (depth, width, 4 * width),
             "fc2": (depth, 4 * width, width), "norm1": (depth, width), "norm2": (depth, width)}

    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)
        shapes = shaped(patches=(3 * patch ** 2, width), places=(grid ** 2, width), layer_stack=stack, norm=(width,),
                        head={"w1": (width, wide), "w2": (wide, wide), "w3": (wide, wide), "g1": (wide,),
                              "b1": (wide,), "g2": (wide,), "b2": (wide,)})

        def layer(x, w):
            qkv = (root_normed(x, w["norm1"]) @ w["qkv"]).reshape(*x.shape[:2], 3, heads, -1)
            q, k, v = (qkv[:, :, i] for i in range(3))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * q.shape[-1] ** -0.5
            mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v)
            x = x + mixed.reshape(x.shape) @ w["proj"]
            return x + jax.nn.gelu(root_normed(x, w["norm2"]) @ w["fc1"]) @ w["fc2"], None

        def even(x):
            """Each feature over the batch, in float32."""
            x = x.astype(F32)
            return (x - x.mean(0)) * jax.lax.rsqrt(x.var(0) + 1e-5)

        def features(p, view):
            x = (view.astype(now) - 118) / 58
            x = x.reshape(b, grid, patch, grid, patch, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, grid ** 2, -1)
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), x @ p["patches"] + p["places"], p["layer_stack"])
            h, w = root_normed(x, p["norm"]).mean(1), p["head"]
            for i in (1, 2):
                h = jax.nn.relu(even(h @ w[f"w{i}"]).astype(now) * w[f"g{i}"] + w[f"b{i}"])
            return even(h @ w["w3"])

        def loss_fn(params, first, second):
            p = as_kind(params, now)
            products = features(p, first).T @ features(p, second) / b
            like = jnp.diagonal(products)
            unlike = jnp.sum(jnp.square(products)) - jnp.sum(jnp.square(like))
            return jnp.sum(jnp.square(like - 1)) + 0.0051 * unlike
        optimizer = optax.chain(optax.add_decayed_weights(1e-6, matrices_only),
                                optax.sgd(warmed_up(0.2), momentum=0.9))
        view = arrays.batch((b, side, side, 3), jnp.uint8)
        return trained(arrays, change, shapes, loss_fn, optimizer, view, view)
    return make


# --- Many critics, several updates a step ---

def many_critics(critics, hidden, depth, sees, acts, updates, batch, kind=F32):
    """REDQ with normed layers: a scan over updates moves critics and their slow twins, then the policy moves once."""
    def tower(lead, enter, leave):
        layers = {f"l{i}": {"w": (*lead, hidden if i else enter, hidden), "b": (*lead, hidden), "g": (*lead, hidden)}
                  for i in range(depth)}
        return layers | {"out": {"w": (*lead, hidden, leave), "b": (*lead, leave)}}

    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)

        def layer(w, x):
            """One network's, or that of all critics, whose dimension comes first."""
            x = x @ w["w"] + w["b"][..., None, :]
            x = x - x.mean(-1, keepdims=True)
            return jax.nn.relu(x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * w["g"][..., None, :])

        def run(p, x):
            p = as_kind(p, now)
            for i in range(depth):
                x = maybe_checkpointed(change, layer)(p[f"l{i}"], x)
            return x @ p["out"]["w"] + p["out"]["b"][..., None, :]

        def acted(policy, seen, key):
            mean, spread = jnp.split(run(policy, seen.astype(now)).astype(F32), 2, -1)
            spread = jnp.clip(spread, -10, 2)
            noise = jax.random.normal(key, mean.shape)
            raw = mean + jnp.exp(spread) * noise
            logp = -0.5 * noise ** 2 - spread - 2 * (jnp.log(2.0) - raw - jax.nn.softplus(-2 * raw))
            return jnp.tanh(raw), logp.sum(-1)

        def valued(p, seen, action):
            x = jnp.concatenate([seen.astype(now), action.astype(now)], -1)
            return run(p, x)[..., 0].astype(F32)

        def of_critics(p, seen, action, goal):
            return jnp.mean(jnp.square(valued(p, seen, action) - goal))

        def of_policy(p, critic, warmth, seen, key):
            action, logp = acted(p["policy"], seen, key)
            value = valued(critic, seen, action).mean(0)
            heat = jnp.exp(p["warmth"].astype(F32))
            return jnp.mean(jnp.exp(warmth.astype(F32)) * logp - value) - heat * jnp.mean(
                jax.lax.stop_gradient(logp) + acts)

        def train_step(state, replay, key):
            def update(carry, xs):
                live, slow, moments = carry
                some, key = xs
                pick, draw = jax.random.split(key)
                action, logp = acted(state["actor"]["policy"], some["next"], draw)
                two = jax.random.choice(pick, critics, (2,), replace=False)
                ahead = valued(slow, some["next"], action)[two].min(0)
                ahead = ahead - jnp.exp(state["actor"]["warmth"].astype(F32)) * logp
                goal = some["reward"].astype(F32) + 0.99 * (1 - some["done"].astype(F32)) * ahead
                loss, grads = jax.value_and_grad(of_critics)(live, some["seen"], some["action"], goal)
                change_by, moments = adam.update(grads, moments, live)
                live = optax.apply_updates(live, change_by)
                slow = jax.tree.map(lambda s, p: (0.995 * s + 0.005 * p).astype(s.dtype), slow, live)
                return (live, slow, moments), loss
            keys = jax.random.split(key, updates + 1)
            carry = state["critic"], state["slow"], state["critic_moments"]
            (live, slow, moments), losses = jax.lax.scan(update, carry, (replay, keys[1:]))
            last = jax.tree.map(lambda x: x[-1], replay)
            actor = state["actor"]
            grads = jax.grad(of_policy)(actor, live, actor["warmth"], last["seen"], keys[0])
            change_by, actor_moments = adam.update(grads, state["actor_moments"], actor)
            return {"actor": optax.apply_updates(actor, change_by), "critic": live, "slow": slow,
                    "critic_moments": moments, "actor_moments": actor_moments}, losses.mean()
        adam = optax.adam(3e-4)
        actor = as_kind(shaped(policy=tower((), sees, 2 * acts), warmth=()), change.stored)
        critic = as_kind(shaped(**tower((critics,), sees + acts, 1)), change.stored)
        state = {"actor": actor, "critic": critic, "slow": critic,
                 "critic_moments": jax.eval_shape(adam.init, critic), "actor_moments": jax.eval_shape(adam.init, actor)}
        split = 1 if change.shard == "all" else None
        replay = {"seen": arrays.array((updates, b, sees), change.stored, split),
                  "next": arrays.array((updates, b, sees), change.stored, split),
                  "action": arrays.array((updates, b, acts), change.stored, split),
                  "reward": arrays.array((updates, b), change.stored, split),
                  "done": arrays.array((updates, b), jnp.bool_, split)}
        return train_step, (placed(arrays, state), replay, random_key(arrays)), (0,)
    return make
