"""A masked autoencoder of pictures (ViT-Large, a narrower decoder) in equinox modules, each of one row.

The maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_board_changes import (BF16, F32, cast, checkpointed, computing, laid_out, matrices_only, raw_key,
                                   summed_slopes, updated)


def sines(count, width):
    """Of a square grid of places: half of the channels tell the row, half the column."""
    rates = 10000.0 ** (-jnp.arange(width // 4) / (width // 4))
    angles = jnp.arange(count)[:, None] * rates
    one = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)
    rows = jnp.broadcast_to(one[:, None], (count, count, width // 2))
    return jnp.concatenate([rows, rows.swapaxes(0, 1)], -1).reshape(count * count, width)


def autoencoder(change, encoder, decoder, side, patch, masked, key):
    import equinox as eqx
    count = side // patch
    places, pixels = count * count, 3 * patch * patch
    shown = round(places * (1 - masked))

    class Block(eqx.Module):
        norm1: eqx.nn.LayerNorm
        qkv: eqx.nn.Linear
        proj: eqx.nn.Linear
        norm2: eqx.nn.LayerNorm
        fc1: eqx.nn.Linear
        fc2: eqx.nn.Linear
        heads: int = eqx.field(static=True)

        def __init__(self, width, heads, key):
            keys = jax.random.split(key, 4)
            self.norm1, self.norm2 = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)
            self.qkv = eqx.nn.Linear(width, 3 * width, key=keys[0])
            self.proj = eqx.nn.Linear(width, width, key=keys[1])
            self.fc1 = eqx.nn.Linear(width, 4 * width, key=keys[2])
            self.fc2 = eqx.nn.Linear(4 * width, width, key=keys[3])
            self.heads = heads

        def __call__(self, x):
            n, width = x.shape
            qkv = jax.vmap(self.qkv)(jax.vmap(self.norm1)(x)).reshape(n, 3, self.heads, width // self.heads)
            q, k, v = (qkv[:, i].swapaxes(0, 1) for i in range(3))
            scores = (q @ k.swapaxes(1, 2)).astype(F32) * (width // self.heads) ** -0.5
            mixed = jax.nn.softmax(scores, -1).astype(x.dtype) @ v
            x = x + jax.vmap(self.proj)(mixed.swapaxes(0, 1).reshape(n, width))
            h = jax.nn.gelu(jax.vmap(self.fc1)(jax.vmap(self.norm2)(x)), approximate=False)
            return x + jax.vmap(self.fc2)(h)

    run = checkpointed(change, lambda block, x: block(x))

    class Tower(eqx.Module):
        enter: eqx.nn.Linear
        blocks: list
        norm: eqx.nn.LayerNorm

        def __init__(self, reads, depth, width, heads, key):
            first, *keys = jax.random.split(key, depth + 1)
            self.enter = eqx.nn.Linear(reads, width, key=first)
            self.blocks = [Block(width, heads, k) for k in keys]
            self.norm = eqx.nn.LayerNorm(width)

        def __call__(self, x):
            for block in self.blocks:
                x = run(block, x)
            return jax.vmap(self.norm)(x)

    class MaskedAutoencoder(eqx.Module):
        encoder: Tower
        decoder: Tower
        cls_token: jax.Array
        mask_token: jax.Array
        pixels: eqx.nn.Linear

        def __init__(self, key):
            keys = jax.random.split(key, 3)
            self.encoder = Tower(pixels, *encoder, keys[0])
            self.decoder = Tower(encoder[1], *decoder, keys[1])
            self.cls_token, self.mask_token = jnp.zeros((1, encoder[1])), jnp.zeros((1, decoder[1]))
            self.pixels = eqx.nn.Linear(decoder[1], pixels, key=keys[2])

        def __call__(self, patches, order):
            kept, back = order[:shown], jnp.argsort(order)
            x = jax.vmap(self.encoder.enter)(patches[kept]) + sines(count, encoder[1])[kept].astype(patches.dtype)
            x = jax.vmap(self.decoder.enter)(self.encoder(jnp.concatenate([self.cls_token, x])))
            hidden = jnp.broadcast_to(self.mask_token, (places - shown, decoder[1]))
            grid = jnp.concatenate([x[1:], hidden])[back] + sines(count, decoder[1]).astype(x.dtype)
            return jax.vmap(self.pixels)(self.decoder(jnp.concatenate([x[:1], grid]))[1:]), back >= shown
    return MaskedAutoencoder(key)


def cut(images, patch):
    """[rows, side, side, 3] to [rows, places, pixels]."""
    rows, side, _, channels = images.shape
    count = side // patch
    x = images.reshape(rows, count, patch, count, patch, channels)
    return jnp.einsum("nhpwqc->nhwpqc", x).reshape(rows, count * count, -1)


def masked_autoencoder(encoder, decoder, side, patch, batch, masked=0.75, kind=BF16):
    """Towers of (depth, width, heads); the loss is of hidden patches, each with its own mean and deviation."""
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        shapes = jax.eval_shape(lambda key: autoencoder(change, encoder, decoder, side, patch, masked, key),
                                jax.random.PRNGKey(0))
        model = cast(shapes, change.stored)
        rate = optax.warmup_cosine_decay_schedule(0.0, 2.4e-3, 40 * 1251, 800 * 1251)
        optimizer = optax.adamw(rate, b1=0.9, b2=0.95, weight_decay=0.05, mask=matrices_only)
        places = (side // patch) ** 2

        def loss_of(model, key, images):
            patches = cut(images.astype(F32), patch)
            order = jnp.argsort(jax.random.uniform(key, (images.shape[0], places)), -1)
            found, is_hidden = jax.vmap(cast(model, now))(patches.astype(now), order)
            mean, var = patches.mean(-1, keepdims=True), patches.var(-1, keepdims=True)
            off = jnp.square(found.astype(F32) - (patches - mean) * jax.lax.rsqrt(var + 1e-6)).mean(-1)
            return jnp.sum(off * is_hidden) / is_hidden.sum(), ()

        def train_step(model, opt_state, images, key):
            loss, _, grads = summed_slopes(loss_of, change.parts)(model, key, images)
            model, opt_state = updated(optimizer, grads, opt_state, model)
            return model, opt_state, loss
        arguments = (laid_out(arrays, model), laid_out(arrays, jax.eval_shape(optimizer.init, model)),
                     arrays.batch((rows, side, side, 3), F32), raw_key(arrays))
        return train_step, arguments, (0, 1)
    return make
