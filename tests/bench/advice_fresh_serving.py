"""Models that are served, not trained, of the exam of advice_fresh.py, which says what each maker takes and gives."""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, random_key
from advice_fresh import root_normed
from advice_structures import BF16, F32


# --- Prompts by chunks ---

def chunked_prompts(layers, width, heads, hidden, vocabulary, batch, prompt, chunk, room, kind=BF16):
    """A long prompt read chunk after chunk by a scan that carries all caches, one key for all heads; the last word."""
    side = width // heads

    def make(arrays, change):
        size, now = batch // change.batch_divisor, computed(change, kind)
        length, room_now = prompt // change.length_divisor, room // change.length_divisor
        one = {"query": arrays.parameter((width, width)), "key_value": arrays.parameter((width, 2 * side)),
               "out": arrays.parameter((width, width)), "up": arrays.parameter((width, hidden)),
               "down": arrays.parameter((hidden, width)), "norms": arrays.parameter((2, width), None)}
        params = {"words": arrays.parameter((vocabulary, width)), "layers": [one] * layers,
                  "head": arrays.parameter((width, vocabulary))}
        cache = arrays.array((size, room_now, 2 * side), BF16, 0 if change.shard == "all" else None)

        def layer(p, x, cache, start):
            h = root_normed(x, p["norms"][0].astype(now))
            query = (h @ p["query"]).reshape(size, chunk, heads, side) * side ** -0.5
            cache = jax.lax.dynamic_update_slice_in_dim(cache, (h @ p["key_value"]).astype(BF16), start, 1)
            key, value = jnp.split(cache.astype(now), 2, -1)
            scores = jnp.einsum("bqhd,bkd->bhqk", query, key).astype(F32)
            seen = jnp.arange(room_now) <= start + jnp.arange(chunk)[:, None]
            weights = jax.nn.softmax(jnp.where(seen, scores, -1e30)).astype(now)
            x = x + jnp.einsum("bhqk,bkd->bqhd", weights, value).reshape(x.shape) @ p["out"]
            h = root_normed(x, p["norms"][1].astype(now))
            return x + jax.nn.gelu(h @ p["up"]) @ p["down"], cache

        def prefill(params, caches, ids):
            def typed(tree):
                return jax.tree.map(lambda w: w.astype(now) if w.dtype != jnp.int8 else w, tree)

            def read(caches, both):
                some, start = both
                x, written = params["words"].astype(now)[some], []
                for p, cache in zip(params["layers"], caches):
                    x, cache = layer(typed(p), x, cache, start)
                    written.append(cache)
                return written, x[:, -1]
            chunks = jnp.swapaxes(ids.reshape(size, -1, chunk), 0, 1)
            caches, last = jax.lax.scan(read, caches, (chunks, chunk * jnp.arange(length // chunk)))
            return (root_normed(last[-1], 1) @ params["head"].astype(now)).astype(F32).argmax(-1), caches
        return prefill, (params, [cache] * layers, arrays.batch((size, length), jnp.int32)), (1,)
    return make


# --- Pictures from noise ---

def steered_noise(layers, width, heads, side, patch, channels, classes, steps, batch, kind=BF16):
    """A DiT that samples: each step sees all with and without its class, and steers by what differs; one scan."""
    def make(arrays, change):
        from flax import linen as nn
        kinds, places = {"dtype": computed(change, kind)}, (side // patch) ** 2

        class Block(nn.Module):
            @nn.compact
            def __call__(self, x, given):
                changed = jnp.split(nn.Dense(6 * width, **kinds)(nn.silu(given))[:, None], 6, -1)

                def normed(x, shift, scale):
                    return nn.LayerNorm(use_bias=False, use_scale=False, **kinds)(x) * (1 + scale) + shift
                h = normed(x, *changed[:2])
                x = x + changed[2] * nn.MultiHeadDotProductAttention(heads, **kinds)(h)
                h = nn.Dense(4 * width, **kinds)(normed(x, *changed[3:5]))
                return x + changed[5] * nn.Dense(width, **kinds)(nn.gelu(h))

        class Network(nn.Module):
            @nn.compact
            def __call__(self, x, time, labels):
                angles = time[:, None] * jnp.exp(-9.2 * jnp.arange(128) / 128)
                given = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)
                given = nn.Dense(width, **kinds)(nn.silu(nn.Dense(width, **kinds)(given)))
                given = given + nn.Embed(classes + 1, width, **kinds)(labels)
                x = nn.Conv(width, (patch, patch), patch, name="patch_embedding", **kinds)(x)
                x = x.reshape(x.shape[0], places, width)
                x = x + self.param("places", nn.initializers.normal(0.02), (1, places, width)).astype(x.dtype)
                for _ in range(layers):
                    x = Block()(x, given)
                x = nn.Dense(patch * patch * channels, **kinds)(nn.LayerNorm(**kinds)(x))
                grid = x.reshape(x.shape[0], side // patch, side // patch, patch, patch, channels)
                return jnp.einsum("bhwpqc->bhpwqc", grid).reshape(x.shape[0], side, side, channels)

        model, size = Network(), batch // change.batch_divisor
        few = jnp.zeros((1, side, side, channels)), jnp.zeros((1,)), jnp.zeros((1,), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), *few)["params"]

        def sample(params, noise, labels, strength):
            both = jnp.concatenate([labels, jnp.full_like(labels, classes)])

            def step(x, share):
                made = model.apply({"params": params}, jnp.concatenate([x, x]).astype(F32),
                                   jnp.broadcast_to(1000 * share, both.shape), both)
                told, untold = jnp.split(made.astype(F32), 2)
                return (x - (untold + strength * (told - untold)) / steps).astype(x.dtype), None
            return jax.lax.scan(step, noise, 1 - jnp.arange(steps) / steps)[0]
        noise = arrays.batch((size, side, side, channels), F32)
        return sample, (placed(arrays, as_kind(shapes, change.stored)), noise, arrays.batch((size,), jnp.int32),
                        arrays.array((), F32)), (1,)
    return make


def latents_to_pictures(widths, blocks, latent, side, batch, kind=BF16):
    """The decoder of a latent autoencoder in haiku: attention in the middle, larger by repeating; bytes come out."""
    def make(arrays, change):
        import haiku as hk
        now = computed(change, kind)

        def normed(x):
            return jax.nn.silu(hk.GroupNorm(16)(x))

        def residual(x, width):
            h = hk.Conv2D(width, 3)(normed(x))
            h = hk.Conv2D(width, 3)(normed(h))
            return h + (x if x.shape[-1] == width else hk.Conv2D(width, 1)(x))

        def looked(x):
            flat = hk.GroupNorm(16)(x).reshape(x.shape[0], -1, x.shape[-1])
            query, key, value = (hk.Linear(x.shape[-1])(flat) for _ in range(3))
            scores = jnp.einsum("bqc,bkc->bqk", query, key).astype(F32) * x.shape[-1] ** -0.5
            made = jnp.einsum("bqk,bkc->bqc", jax.nn.softmax(scores).astype(x.dtype), value)
            return x + hk.Linear(x.shape[-1])(made).reshape(x.shape)

        def forward(latents):
            x = residual(looked(residual(hk.Conv2D(widths[0], 3)(latents / 0.18215), widths[0])), widths[0])
            for level, width in enumerate(widths):
                for _ in range(blocks):
                    x = residual(x, width)
                if level < len(widths) - 1:
                    x = hk.Conv2D(width, 3)(jnp.repeat(jnp.repeat(x, 2, 1), 2, 2))
            return hk.Conv2D(3, 3)(normed(x))

        net, size = hk.without_apply_rng(hk.transform(forward)), batch // change.batch_divisor
        shapes = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, side, side, latent)))

        def decode(params, latents, key):
            noised = latents.astype(F32) + 0.01 * jax.random.normal(key, latents.shape)
            made = net.apply(as_kind(params, now), noised.astype(now)).astype(F32)
            return jnp.clip(127.5 * (made + 1), 0, 255).astype(jnp.uint8)
        latents = arrays.batch((size, side, side, latent), F32)
        return decode, (placed(arrays, as_kind(shapes, change.stored)), latents, random_key(arrays)), (1,)
    return make
