"""Pictures, volumes, films and sound of the exam of advice_fresh.py, which says what each maker takes and gives."""
import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, placed, random_key, trained,
                                   warmed_up, word_loss)
from advice_exam_repos import trained_with_average
from advice_structures import BF16, F32


# --- linen ---

def masked_patches(encoder, decoder, side, patch, hidden_share, batch, kind=BF16):
    """MAE: only the patches that are not hidden are encoded, put back among what stands for the others, and told."""
    places = (side // patch) ** 2
    kept = places - int(places * hidden_share)

    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}

        class Block(nn.Module):
            heads: int

            @nn.compact
            def __call__(self, x):
                width = x.shape[-1]
                x = x + nn.MultiHeadAttention(self.heads, **kinds)(nn.LayerNorm(**kinds)(x))
                h = nn.Dense(4 * width, **kinds)(nn.LayerNorm(**kinds)(x))
                return x + nn.Dense(width, **kinds)(nn.gelu(h))

        def blocks(x, layers, heads):
            for _ in range(layers):
                x = (nn.remat(Block) if change.rematerialize else Block)(heads)(x)
            return nn.LayerNorm(**kinds)(x)

        class Masked(nn.Module):
            @nn.compact
            def __call__(self, patches, noise):
                (layers, width, heads), (few, narrow, others) = encoder, decoder
                order = jnp.argsort(noise, 1)
                back, seen = jnp.argsort(order, 1), order[:, :kept, None]
                where = nn.initializers.normal(0.02)
                x = nn.Dense(width, name="patch", **kinds)(patches)
                x = x + self.param("places", where, (1, places, width)).astype(x.dtype)
                x = blocks(jnp.take_along_axis(x, seen, 1), layers, heads)
                x = nn.Dense(narrow, **kinds)(x)
                hidden = self.param("hidden", where, (1, 1, narrow)).astype(x.dtype)
                hidden = jnp.broadcast_to(hidden, (x.shape[0], places - kept, narrow))
                x = jnp.take_along_axis(jnp.concatenate([x, hidden], 1), back[..., None], 1)
                x = x + self.param("all_places", where, (1, places, narrow)).astype(x.dtype)
                return nn.Dense(patches.shape[-1], **kinds)(blocks(x, few, others)), back >= kept

        model, size = Masked(), batch // change.batch_divisor
        few = jnp.zeros((1, places, 3 * patch ** 2)), jnp.zeros((1, places))
        shapes = jax.eval_shape(model.init, jax.random.key(0), *few)["params"]

        def loss_of(params, images, key):
            grid = images.reshape(size, side // patch, patch, side // patch, patch, 3).astype(F32) / 255
            patches = jnp.einsum("bhpwqc->bhwpqc", grid).reshape(size, places, -1)
            wanted = (patches - patches.mean(-1, keepdims=True)) / jnp.sqrt(patches.var(-1, keepdims=True) + 1e-6)
            made, mask = model.apply({"params": params}, patches, jax.random.uniform(key, (size, places)))
            missed = jnp.square(made.astype(F32) - wanted).mean(-1)
            return (missed * mask).sum() / mask.sum()
        optimizer = optax.adamw(warmed_up(1.5e-4), b2=0.95, weight_decay=0.05, mask=matrices_only)
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch((size, side, side, 3), jnp.uint8),
                       random_key(arrays))
    return make


def sharpness_aware(layers, width, mixed, hidden, side, patch, batch, kind=F32):
    """An MLP-Mixer by SAM: the gradient is taken a second time, a step up the first; momentum."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}

        class Mixer(nn.Module):
            @nn.compact
            def __call__(self, x):
                def units(h, inner):
                    return nn.Dense(h.shape[-1], **kinds)(nn.gelu(nn.Dense(inner, **kinds)(h)))
                h = jnp.swapaxes(nn.LayerNorm(**kinds)(x), 1, 2)
                x = x + jnp.swapaxes(units(h, mixed), 1, 2)
                return x + units(nn.LayerNorm(**kinds)(x), hidden)

        class Classifier(nn.Module):
            @nn.compact
            def __call__(self, images):
                x = nn.Conv(width, (patch, patch), patch, name="conv_stem", **kinds)(images)
                x = x.reshape(x.shape[0], -1, width)
                for _ in range(layers):
                    x = (nn.remat(Mixer) if change.rematerialize else Mixer)()(x)
                return nn.Dense(1000, **kinds)(nn.LayerNorm(**kinds)(x).mean(1))

        model, size = Classifier(), batch // change.batch_divisor
        params = as_kind(jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, side, side, 3)))["params"],
                         change.stored)
        optimizer = optax.chain(optax.add_decayed_weights(1e-4, matrices_only),
                                optax.sgd(warmed_up(0.1), momentum=0.9))

        def loss_of(params, images, labels):
            return word_loss(model.apply({"params": params}, images), labels)

        def train_step(params, state, images, labels):
            _, grads = jax.value_and_grad(loss_of)(params, images, labels)
            length = optax.global_norm(grads).astype(F32) + 1e-12
            above = jax.tree.map(lambda p, g: p + (0.05 * g / length).astype(p.dtype), params, grads)
            loss, grads = jax.value_and_grad(loss_of)(above, images, labels)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        return train_step, (placed(arrays, params), placed(arrays, jax.eval_shape(optimizer.init, params)),
                            arrays.batch((size, side, side, 3), F32), arrays.batch((size,), jnp.int32)), (0, 1)
    return make


def sound_and_words(sound, words, joined, frames, bands, vocabulary, batch, length, kind=BF16):
    """CLAP: spectra by stages of convolutions, words by attention, each pair told apart by a sigmoid of its own."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind)}

        class Stage(nn.Module):
            width: int

            @nn.compact
            def __call__(self, x):
                for i in range(2):
                    x = nn.Conv(self.width, (3, 3), use_bias=False, name=f"conv_{i}", **kinds)(x)
                    x = nn.relu(nn.GroupNorm(8, **kinds)(x))
                return nn.avg_pool(x, (2, 2), (2, 2))

        class Words(nn.Module):
            heads: int

            @nn.compact
            def __call__(self, x, mask):
                h = nn.MultiHeadDotProductAttention(self.heads, **kinds)(x, mask=mask)
                x = nn.LayerNorm(**kinds)(x + h)
                h = nn.Dense(x.shape[-1], **kinds)(nn.gelu(nn.Dense(4 * x.shape[-1], **kinds)(x)))
                return nn.LayerNorm(**kinds)(x + h)

        class Both(nn.Module):
            @nn.compact
            def __call__(self, spectra, ids):
                stage, attentive = (nn.remat(one) if change.rematerialize else one for one in (Stage, Words))
                x = nn.LayerNorm(**kinds)(spectra)[..., None]
                for width in sound:
                    x = stage(width)(x)
                x = x.mean(2)
                heard = nn.Dense(joined, **kinds)(nn.relu(nn.Dense(joined, **kinds)(x.max(1) + x.mean(1))))
                layers, width, heads = words
                mask = nn.make_attention_mask(ids > 0, ids > 0)
                x = nn.Embed(vocabulary, width, **kinds)(ids) + nn.Embed(length, width, **kinds)(jnp.arange(length))
                for _ in range(layers):
                    x = attentive(heads)(x, mask)
                read = nn.Dense(joined, **kinds)(x[:, 0])
                scale = self.param("scale", nn.initializers.constant(2.3), ())
                shift = self.param("shift", nn.initializers.constant(-10.0), ())
                heard, read = (one.astype(F32) / jnp.linalg.norm(one.astype(F32), axis=-1, keepdims=True)
                               for one in (heard, read))
                return jnp.exp(scale) * heard @ read.T + shift

        model, size = Both(), batch // change.batch_divisor
        few = jnp.zeros((1, frames, bands)), jnp.zeros((1, length), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), *few)["params"]

        def loss_of(params, spectra, ids):
            scores = model.apply({"params": params}, spectra, ids)
            return -jnp.mean(jax.nn.log_sigmoid(scores * (2 * jnp.eye(size) - 1)).sum(-1))
        optimizer = optax.lamb(warmed_up(1e-3), weight_decay=0.01, mask=matrices_only)
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch((size, frames, bands), F32),
                       arrays.batch((size, length), jnp.int32))
    return make


# --- haiku ---

def scaled_volumes(widths, classes, side, batch, kind=BF16):
    """A 3-D U-net in haiku; the loss is scaled, and a step whose gradients overflow leaves everything as it was."""
    def make(arrays, change):
        import haiku as hk
        import optax
        now = computed(change, kind)

        def twice(x, width):
            for _ in range(2):
                x = jax.nn.leaky_relu(hk.InstanceNorm(True, True)(hk.Conv3D(width, 3, with_bias=False)(x)), 0.01)
            return x

        def forward(x):
            def stage(x, width):
                def run(x):
                    return twice(x, width)
                return (hk.remat(run) if change.rematerialize else run)(x)
            ways = []
            for width in widths[:-1]:
                ways.append(stage(x, width))
                x = hk.Conv3D(width, 2, 2)(ways[-1])
            x = stage(x, widths[-1])
            for width, way in zip(reversed(widths[:-1]), reversed(ways)):
                x = stage(jnp.concatenate([hk.Conv3DTranspose(width, 2, 2)(x), way], -1), width)
            return hk.Conv3D(classes, 1)(x)

        net, size = hk.without_apply_rng(hk.transform(forward)), batch // change.batch_divisor
        params = as_kind(jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, side, side, side, 2))),
                         change.stored)
        optimizer = optax.sgd(optax.polynomial_schedule(0.01, 0.0, 0.9, 250000), momentum=0.99, nesterov=True)
        state = {"params": params, "optimizer": jax.eval_shape(optimizer.init, params),
                 "scale": jax.ShapeDtypeStruct((), F32), "good": jax.ShapeDtypeStruct((), jnp.int32)}

        def loss_of(params, volumes, labels, scale):
            logits = net.apply(as_kind(params, now), volumes.astype(now)).astype(F32)
            shares, wanted = jax.nn.softmax(logits), jax.nn.one_hot(labels, classes)
            common = (shares * wanted).sum((1, 2, 3))
            overlap = (2 * common + 1) / (shares.sum((1, 2, 3)) + wanted.sum((1, 2, 3)) + 1)
            return scale * (word_loss(logits, labels) - overlap[:, 1:].mean())

        def train_step(state, volumes, labels):
            loss, grads = jax.value_and_grad(loss_of)(state["params"], volumes, labels, state["scale"])
            grads = jax.tree.map(lambda g: (g.astype(F32) / state["scale"]).astype(g.dtype), grads)
            is_fine = jnp.all(jnp.stack([jnp.isfinite(g).all() for g in jax.tree.leaves(grads)]))
            updates, optimizer_state = optimizer.update(grads, state["optimizer"], state["params"])
            new = optax.apply_updates(state["params"], updates), optimizer_state
            params, optimizer_state = jax.tree.map(lambda new, old: jnp.where(is_fine, new, old), new,
                                                   (state["params"], state["optimizer"]))
            grows = state["good"] == 1999
            scale = jnp.where(is_fine, state["scale"] * jnp.where(grows, 2, 1), state["scale"] / 2)
            good = jnp.where(is_fine & ~grows, state["good"] + 1, 0)
            return {"params": params, "optimizer": optimizer_state, "scale": scale, "good": good}, loss
        return train_step, (placed(arrays, state), arrays.batch((size, side, side, side, 2), F32),
                            arrays.batch((size, side, side, side), jnp.int32)), (0,)
    return make


# --- nnx ---

def films(space, time, width, heads, frames, side, patch, classes, batch, kind=BF16):
    """ViViT in nnx: each frame by itself, then what is told of each over time; the weights are averaged too."""
    def make(arrays, change):
        from flax import nnx
        kinds = {"dtype": computed(change, kind)}

        class Block(nnx.Module):
            def __init__(self, rngs):
                self.norm1, self.norm2 = (nnx.LayerNorm(width, rngs=rngs, **kinds) for _ in range(2))
                self.mix = nnx.MultiHeadAttention(heads, width, decode=False, rngs=rngs, **kinds)
                self.up = nnx.Linear(width, 4 * width, rngs=rngs, **kinds)
                self.down = nnx.Linear(4 * width, width, rngs=rngs, **kinds)

            def __call__(self, x):
                x = x + self.mix(self.norm1(x))
                return x + self.down(nnx.gelu(self.up(self.norm2(x))))

        class Film(nnx.Module):
            def __init__(self, rngs):
                self.tubes_conv = nnx.Conv(3, width, (2, patch, patch), (2, patch, patch), rngs=rngs, **kinds)
                self.places = nnx.Param(jnp.zeros((1, (side // patch) ** 2, width)))
                self.times = nnx.Param(jnp.zeros((1, frames // 2, width)))
                self.space = nnx.List([Block(rngs) for _ in range(space)])
                self.time = nnx.List([Block(rngs) for _ in range(time)])
                self.norm = nnx.LayerNorm(width, rngs=rngs, **kinds)
                self.head = nnx.Linear(width, classes, rngs=rngs, **kinds)

            def __call__(self, film):
                call = nnx.remat(Block.__call__) if change.rematerialize else Block.__call__
                x = self.tubes_conv(film)
                x = x.reshape(-1, (side // patch) ** 2, width) + self.places[...].astype(x.dtype)
                for block in self.space:
                    x = call(block, x)
                x = x.mean(1).reshape(-1, frames // 2, width) + self.times[...].astype(x.dtype)
                for block in self.time:
                    x = call(block, x)
                return self.head(self.norm(x.mean(1)))

        graph, shapes = nnx.split(nnx.eval_shape(lambda: Film(nnx.Rngs(0))))
        size = batch // change.batch_divisor

        def loss_of(params, film, labels):
            return word_loss(nnx.merge(graph, params)(film), labels)
        return trained_with_average(arrays, change, shapes, loss_of, clipped_adamw(1e-4), 0.9999,
                                    arrays.batch((size, frames, side, side, 3), F32),
                                    arrays.batch((size,), jnp.int32))
    return make
