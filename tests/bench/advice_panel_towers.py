"""Two networks, one of them frozen: a text tower in nnx that learns to agree with a locked image tower (LiT, SigLIP).

Each maker takes its Arrays and Change, and gives (step, arguments, donated); a library is imported where it is used.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, warmed_up
from advice_fresh import graded
from advice_structures import BF16, F32


def tower_parts():
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, width, heads, dtype, rngs):
            self.norm1 = nnx.LayerNorm(width, dtype=dtype, rngs=rngs)
            self.attn = nnx.MultiHeadAttention(heads, width, dtype=dtype, decode=False, rngs=rngs)
            self.norm2 = nnx.LayerNorm(width, dtype=dtype, rngs=rngs)
            self.fc1 = nnx.Linear(width, 4 * width, dtype=dtype, rngs=rngs)
            self.fc2 = nnx.Linear(4 * width, width, dtype=dtype, rngs=rngs)

        def __call__(self, x):
            x = x + self.attn(self.norm1(x))
            return x + self.fc2(nnx.gelu(self.fc1(self.norm2(x))))

    def stacked(layers, *sizes, rngs):
        """As many blocks as one, with a leading dimension of layers."""
        made = nnx.vmap(lambda rngs: Block(*sizes, rngs), in_axes=0, out_axes=0)
        return nnx.split_rngs(splits=layers)(made)(rngs)

    def through(run, x, blocks):
        return nnx.scan(run, in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x, blocks)

    class ImageTower(nnx.Module):
        def __init__(self, layers, width, heads, patch, side, dtype, rngs):
            self.patch_embedding = nnx.Conv(3, width, (patch, patch), (patch, patch), padding="VALID", dtype=dtype,
                                            rngs=rngs)
            self.pos = nnx.Param(jnp.zeros(((side // patch) ** 2, width)))
            self.scanned_blocks = stacked(layers, width, heads, dtype, rngs=rngs)
            self.norm = nnx.LayerNorm(width, dtype=dtype, rngs=rngs)

        def __call__(self, images):
            x = self.patch_embedding(images)
            x = x.reshape(x.shape[0], -1, x.shape[-1])
            x = x + self.pos[...].astype(x.dtype)
            return self.norm(through(lambda x, block: block(x), x, self.scanned_blocks)).mean(1)

    class TextTower(nnx.Module):
        def __init__(self, layers, width, heads, vocab, length, out, dtype, rngs):
            self.embed = nnx.Embed(vocab, width, dtype=dtype, rngs=rngs)
            self.pos = nnx.Param(jnp.zeros((length, width)))
            self.scanned_blocks = stacked(layers, width, heads, dtype, rngs=rngs)
            self.norm = nnx.LayerNorm(width, dtype=dtype, rngs=rngs)
            self.project = nnx.Linear(width, out, dtype=dtype, rngs=rngs)
            self.temperature = nnx.Param(jnp.zeros(()))
            self.bias = nnx.Param(jnp.zeros(()))

        def __call__(self, ids, run):
            x = self.embed(ids)
            x = x + self.pos[...].astype(x.dtype)
            return self.project(self.norm(through(run, x, self.scanned_blocks))[:, -1])
    return ImageTower, TextTower


def unit(x):
    wide = x.astype(F32)
    return wide * jax.lax.rsqrt(jnp.square(wide).sum(-1, keepdims=True) + 1e-12)


def locked_image(image, text, patch, side, vocab, batch, length, kind=BF16):
    """LiT with SigLIP's loss; image and text are (layers, width, heads). Only the text tower learns, by Adafactor."""
    def make(arrays, change):
        import optax
        from flax import nnx
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        eye, pen = tower_parts()
        seeing, frozen = nnx.split(nnx.eval_shape(lambda: eye(*image, patch, side, now, nnx.Rngs(0))))
        reading, shapes = nnx.split(nnx.eval_shape(lambda: pen(*text, vocab, time, image[1], now, nnx.Rngs(1))))
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None

        def run(x, block):
            return block(x)
        run = nnx.remat(run, policy=policy) if change.rematerialize else run

        def train_step(params, opt_state, frozen, images, ids):
            def loss_of(params, images, ids):
                model = nnx.merge(reading, params, copy=True)
                seen = unit(jax.lax.stop_gradient(nnx.merge(seeing, frozen, copy=True)(images.astype(now))))
                told = unit(model(ids, run))
                logits = seen @ told.T * jnp.exp(model.temperature[...].astype(F32)) + model.bias[...].astype(F32)
                signs = 2 * jnp.eye(logits.shape[0]) - 1
                return -jax.nn.log_sigmoid(signs * logits).sum(-1).mean()
            loss, grads = graded(loss_of, change.parts)(params, images, ids)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adafactor(
            warmed_up(1e-3), min_dim_size_to_factor=32, momentum=0.9, dtype_momentum=BF16, weight_decay_rate=1e-4))
        params = as_kind(shapes, change.stored)
        state = jax.eval_shape(optimizer.init, params)
        arguments = (placed(arrays, params), placed(arrays, state), placed(arrays, as_kind(frozen, change.stored)),
                     arrays.batch((b, side, side, 3), F32), arrays.batch((b, time), jnp.int32))
        return train_step, arguments, (0, 1)
    return make
