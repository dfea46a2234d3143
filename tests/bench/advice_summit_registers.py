"""DeiT III with register tokens, in the manner of deit3-jax: flax linen, layers one by one, LAMB, mixed pictures.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Pictures come as bytes; layers are scaled
by a vector that starts near nought, and fall away at random for a picture.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import cast, computing, laid_out, policy_of, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, decayed

MEAN, SPREAD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def vision_transformer(change, now, layers, width, heads, hidden, patch, registers, labels, fallen):
    import flax.linen as nn
    start = nn.initializers.truncated_normal(0.02)

    class PatchEmbed(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.Conv(width, (patch, patch), (patch, patch), padding="VALID", dtype=now, name="wte")(x)
            x = x.reshape(x.shape[0], -1, width)
            x = x + self.param("wpe", start, (x.shape[1], width)).astype(now)
            first = self.param("tokens", start, (1 + registers, width)).astype(now)
            return jnp.concatenate([jnp.broadcast_to(first, (x.shape[0], *first.shape)), x], 1)

    class Attention(nn.Module):
        @nn.compact
        def __call__(self, x):
            def of(name):
                return nn.DenseGeneral((heads, width // heads), dtype=now, kernel_init=start, name=name)(x)
            q, k, v = of("wq"), of("wk"), of("wv")
            scores = jnp.einsum("bqhd,bkhd->bhqk", q / q.shape[-1] ** 0.5, k)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v)
            return nn.DenseGeneral(width, axis=(-2, -1), dtype=now, kernel_init=start, name="wo")(mixed)

    class FeedForward(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.gelu(nn.Dense(hidden, dtype=now, kernel_init=start, name="w1")(x))
            return nn.Dense(width, dtype=now, kernel_init=start, name="w2")(x)

    class ViTLayer(nn.Module):
        @nn.compact
        def __call__(self, x):
            def added(x, branch, number):
                scale = self.param(f"scale{number}", nn.initializers.constant(1e-4), (width,)).astype(now)
                h = branch(nn.LayerNorm(dtype=now, name=f"norm{number}")(x)) * scale
                return x + nn.Dropout(fallen, broadcast_dims=(1, 2), deterministic=False)(h)
            x = added(x, Attention(name="attn"), 1)
            return added(x, FeedForward(name="ff"), 2)

    class ViT(nn.Module):
        @nn.compact
        def __call__(self, x):
            layer = nn.remat(ViTLayer, policy=policy_of(change)) if change.rematerialize else ViTLayer
            x = PatchEmbed(name="embed")(x)
            for number in range(layers):
                x = layer(name=f"layer_{number}")(x)
            x = nn.LayerNorm(dtype=now, name="norm")(x)[:, 0]
            return nn.Dense(labels, dtype=now, kernel_init=start, name="head")(x)
    return ViT()


def deit3_registers(layers, width, heads, hidden, batch, pixels, patch=16, registers=4, labels=1000, fallen=0.2,
                    kind=BF16):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        model = vision_transformer(change, now, layers, width, heads, hidden, patch, registers, labels, fallen)
        picture, key = jax.ShapeDtypeStruct((1, pixels, pixels, 3), F32), jax.random.key(0)
        shapes = cast(jax.eval_shape(model.init, {"params": key, "dropout": key}, picture)["params"], change.stored)
        warm = optax.warmup_cosine_decay_schedule(1e-6, 3e-3, 5000, 250000, 1e-6)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lamb(warm, weight_decay=0.02, mask=decayed))

        def loss_of(params, key, images, labels_of):
            mixing, falling = jax.random.split(key)
            images = (images.astype(F32) / 255 - jnp.array(MEAN)) / jnp.array(SPREAD)
            ratio = jax.random.beta(mixing, 0.8, 0.8)
            images = (ratio * images + (1 - ratio) * images[::-1]).astype(now)
            wanted = jax.nn.one_hot(labels_of, labels)
            wanted = jnp.maximum(wanted * (ratio > 0.2), wanted[::-1] * (ratio < 0.8))
            logits = model.apply({"params": params}, images, rngs={"dropout": falling}).astype(F32)
            loss = optax.sigmoid_binary_cross_entropy(logits, wanted).mean(-1)
            return loss.mean(), (logits.argmax(-1) == labels_of).mean()

        def train_step(params, state, key, images, labels_of):
            key, used = jax.random.split(key)
            loss, right, slopes = summed_slopes(loss_of, change.parts)(params, used, images, labels_of)
            params, state = updated(optimizer, slopes, state, params)
            return params, state, key, {"loss": loss, "acc1": right.mean()}
        arguments = (laid_out(arrays, shapes), laid_out(arrays, jax.eval_shape(optimizer.init, shapes)),
                     raw_key(arrays), arrays.batch((rows, pixels, pixels, 3), jnp.uint8),
                     arrays.batch((rows,), jnp.int32))
        return train_step, arguments, (0, 1, 2)
    return make
