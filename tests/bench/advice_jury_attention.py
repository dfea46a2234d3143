"""Transformers of pictures: diffusion with averaged weights, pairs with a sigmoid loss, attention over time and space.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, placed, random_key, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- A diffusion transformer ---

def plain_normed(x):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype)


def waves(places, width):
    rates = jnp.exp(-jnp.log(10000.0) * jnp.arange(width // 2) / (width // 2))
    angles = places.astype(F32)[..., None] * rates
    return jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1)


def trained_with_average(arrays, change, shapes, loss_of, optimizer, key, *batch):
    """Parameters, their running average and the optimizer's state; each part of the batch has a key of its own."""
    import optax
    params = as_kind(shapes, change.stored)
    state = jax.eval_shape(optimizer.init, params)

    def graded(params, key, batch):
        of_one = jax.value_and_grad(loss_of)
        if change.parts == 1:
            return of_one(params, key, *batch)

        def add(sums, part):
            return jax.tree.map(jnp.add, sums, of_one(params, part[0], *part[1])), None
        split = [rows.reshape(change.parts, -1, *rows.shape[1:]) for rows in batch]
        zeros = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
        sums, _ = jax.lax.scan(add, zeros, (jax.random.split(key, change.parts), split))
        return jax.tree.map(lambda total: total / change.parts, sums)

    def train_step(params, average, state, key, *batch):
        loss, grads = graded(params, jax.random.wrap_key_data(key), batch)
        updates, state = optimizer.update(grads, state, params)
        params = optax.apply_updates(params, updates)
        average = jax.tree.map(lambda a, p: (0.9999 * a + 0.0001 * p).astype(a.dtype), average, params)
        return params, average, state, loss
    arguments = placed(arrays, params), placed(arrays, params), placed(arrays, state), key, *batch
    return train_step, arguments, (0, 1, 2)


def diffusion_transformer(layers, width, heads, hidden, side, patch, channels, classes, batch, kind=BF16):
    """DiT with adaptive norms that begin at zero, layers in a scan; it learns the velocity of a straight flow."""
    tokens, pixels = (side // patch) ** 2, patch * patch * channels

    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)
        shapes = shaped(
            x_embed={"kernel": (pixels, width), "bias": (width,)}, y_embed=(classes + 1, width),
            t_embed={"w1": (256, width), "b1": (width,), "w2": (width, width), "b2": (width,)},
            layer_stack={"ada": (layers, width, 6 * width), "ada_bias": (layers, 6 * width),
                         "qkv": (layers, width, 3 * width), "qkv_bias": (layers, 3 * width),
                         "proj": (layers, width, width), "proj_bias": (layers, width),
                         "fc1": (layers, width, hidden), "fc1_bias": (layers, hidden),
                         "fc2": (layers, hidden, width), "fc2_bias": (layers, width)},
            final={"ada": (width, 2 * width), "ada_bias": (2 * width,), "kernel": (width, pixels), "bias": (pixels,)})

        def attended(w, x):
            q, k, v = jnp.split(x @ w["qkv"] + w["qkv_bias"], 3, -1)
            q, k, v = (t.reshape(*t.shape[:2], heads, width // heads) for t in (q, k, v))
            mixed = jax.nn.dot_product_attention(q, k, v)
            return mixed.reshape(x.shape) @ w["proj"] + w["proj_bias"]

        def layer(x, w, c):
            shift_1, scale_1, gate_1, shift_2, scale_2, gate_2 = jnp.split(
                (jax.nn.silu(c) @ w["ada"] + w["ada_bias"])[:, None], 6, -1)
            x = x + gate_1 * attended(w, plain_normed(x) * (1 + scale_1) + shift_1)
            h = plain_normed(x) * (1 + scale_2) + shift_2
            h = jax.nn.gelu(h @ w["fc1"] + w["fc1_bias"], approximate=True)
            return x + gate_2 * (h @ w["fc2"] + w["fc2_bias"])
        block = maybe_checkpointed(change, layer)

        def patched(x):
            x = x.reshape(-1, side // patch, patch, side // patch, patch, channels)
            return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, tokens, pixels)

        def velocity(p, x, t, labels):
            x = x @ p["x_embed"]["kernel"] + p["x_embed"]["bias"]
            x = x + waves(jnp.arange(tokens), width).astype(x.dtype)
            e = p["t_embed"]
            c = jax.nn.silu(waves(1000 * t, 256).astype(x.dtype) @ e["w1"] + e["b1"]) @ e["w2"] + e["b2"]
            c = c + p["y_embed"][labels]
            x, _ = jax.lax.scan(lambda x, w: (block(x, w, c), None), x, p["layer_stack"])
            shift, scale = jnp.split((jax.nn.silu(c) @ p["final"]["ada"] + p["final"]["ada_bias"])[:, None], 2, -1)
            return (plain_normed(x) * (1 + scale) + shift) @ p["final"]["kernel"] + p["final"]["bias"]

        def loss_of(params, key, latents, labels):
            rows = latents.shape[0]
            for_noise, for_time, for_label = jax.random.split(key, 3)
            clean = patched(latents.astype(F32))
            noise = jax.random.normal(for_noise, clean.shape)
            t = jax.nn.sigmoid(jax.random.normal(for_time, (rows,)))
            labels = jnp.where(jax.random.bernoulli(for_label, 0.1, (rows,)), classes, labels)
            mixed = (1 - t)[:, None, None] * clean + t[:, None, None] * noise
            said = velocity(as_kind(params, now), mixed.astype(now), t, labels)
            return jnp.square(said.astype(F32) - (noise - clean)).mean()
        return trained_with_average(
            arrays, change, shapes, loss_of, optax.adamw(1e-4, weight_decay=0.0), random_key(arrays),
            arrays.batch((b, side, side, channels), F32), arrays.batch((b,), jnp.int32))
    return make


# --- Pairs of pictures and texts ---

def pair_encoder(change, now):
    """The class of a pre-norm encoder of flax's layers."""
    import flax.linen as nn

    class Block(nn.Module):
        width: int
        heads: int
        hidden: int

        @nn.compact
        def __call__(self, x):
            h = nn.LayerNorm(dtype=now, name="ln_1")(x)
            h = nn.MultiHeadDotProductAttention(self.heads, dtype=now, deterministic=True, name="attn")(h, h)
            x = x + h
            h = nn.LayerNorm(dtype=now, name="ln_2")(x)
            h = nn.gelu(nn.Dense(self.hidden, dtype=now, name="fc_1")(h))
            return x + nn.Dense(self.width, dtype=now, name="fc_2")(h)
    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    block = nn.remat(Block, policy=policy) if change.rematerialize else Block

    class Encoder(nn.Module):
        layers: int
        width: int
        heads: int
        hidden: int

        @nn.compact
        def __call__(self, x):
            for i in range(self.layers):
                x = block(self.width, self.heads, self.hidden, name=f"block_{i}")(x)
            return nn.LayerNorm(dtype=now, name="ln_post")(x)
    return Encoder


def sigmoid_pairs(picture, text, size, patch, vocab, words, batch, kind=BF16):
    """SigLIP in flax: pictures pooled by a probe, texts by their last word; lion. Towers: (layers, width, heads)."""
    def make(arrays, change):
        import flax.linen as nn
        import optax
        b, length = batch // change.batch_divisor, words // change.length_divisor
        now = computed(change, kind)
        encoder, side = pair_encoder(change, now), size // patch
        (p_layers, p_width, p_heads), (t_layers, t_width, t_heads) = picture, text

        class Towers(nn.Module):
            @nn.compact
            def __call__(self, pictures, ids):
                x = nn.Conv(p_width, (patch, patch), (patch, patch), "VALID", dtype=now,
                            name="patch_embedding")(pictures)
                x = x.reshape(x.shape[0], side * side, p_width)
                x = x + self.param("places", nn.initializers.normal(0.02), (1, side * side, p_width)).astype(now)
                x = encoder(p_layers, p_width, p_heads, 4 * p_width, name="img")(x)
                probe = self.param("probe", nn.initializers.xavier_uniform(), (1, 1, p_width)).astype(now)
                probe = jnp.tile(probe, (x.shape[0], 1, 1))
                x = nn.MultiHeadDotProductAttention(p_heads, dtype=now, deterministic=True, name="pool")(probe, x)
                x = nn.Dense(t_width, dtype=now, name="img_head")(x[:, 0])
                y = nn.Embed(vocab, t_width, dtype=now, name="words")(ids)
                places = self.param("txt_places", nn.initializers.normal(0.01), (1, words, t_width))
                y = y + places[:, :length].astype(now)
                y = encoder(t_layers, t_width, t_heads, 4 * t_width, name="txt")(y)
                y = nn.Dense(t_width, dtype=now, name="txt_head")(y[:, -1])
                scale = self.param("t", nn.initializers.constant(2.3), ())
                return x, y, scale, self.param("b", nn.initializers.constant(-10.0), ())
        model = Towers()
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, size, size, 3)),
                                jnp.zeros((1, length), jnp.int32))["params"]

        def loss_of(params, pictures, ids):
            x, y, scale, bias = model.apply({"params": params}, pictures, ids)
            x, y = (one.astype(F32) / jnp.linalg.norm(one.astype(F32), axis=-1, keepdims=True) for one in (x, y))
            logits = x @ y.T * jnp.exp(scale.astype(F32)) + bias.astype(F32)
            return -jax.nn.log_sigmoid(logits * (2 * jnp.eye(x.shape[0]) - 1)).sum(-1).mean()
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.lion(warmed_up(1e-4), b2=0.98, weight_decay=0.3, mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((b, size, size, 3), F32),
                                arrays.batch((b, length), jnp.int32))
    return make


# --- Films ---

def divided_attention(layers, width, heads, hidden, frames, size, patch, classes, batch, kind=F32):
    """TimeSformer: each layer looks over time, then over a frame; heads have a dimension of their own in weights."""
    side, each, pixels = size // patch, width // heads, 3 * patch * patch
    spots = side * side

    def attention(name):
        return {f"{name}_qkv": (3, width, heads, each), f"{name}_qkv_bias": (3, heads, each),
                f"{name}_out": (heads, each, width), f"{name}_out_bias": (width,), f"{name}_scale": (width,),
                f"{name}_bias": (width,)}

    def looked(p, name, x):
        """Over the last dimension but one of [batch, here or there, length, width]."""
        h = plain_normed(x) * p[name + "_scale"] + p[name + "_bias"]
        qkv = jnp.einsum("bgnd,sdhk->sbgnhk", h, p[name + "_qkv"]) + p[name + "_qkv_bias"][:, None, None, None]
        q, k, v = qkv
        chances = jax.nn.softmax(jnp.einsum("bgnhk,bgmhk->bghnm", q, k).astype(F32) * each ** -0.5)
        mixed = jnp.einsum("bghnm,bgmhk->bgnhk", chances.astype(v.dtype), v)
        return jnp.einsum("bgnhk,hkd->bgnd", mixed, p[name + "_out"]) + p[name + "_out_bias"]

    def make(arrays, change):
        import optax
        b, time = batch // change.batch_divisor, frames // change.length_divisor
        now = change.computed or computed(change, kind)
        units = {"w1": (width, hidden), "b1": (hidden,), "w2": (hidden, width), "b2": (width,), "scale": (width,),
                 "bias": (width,)}
        shapes = shaped(patches={"kernel": (pixels, width), "bias": (width,)}, spots=(spots, width),
                        times=(frames, width), head={"kernel": (width, classes), "bias": (classes,)},
                        **{f"layer_{i}": attention("time") | attention("space") | units for i in range(layers)})

        def layer(p, x):
            """[batch, time, spots, width]"""
            x = x + looked(p, "time", x.swapaxes(1, 2)).swapaxes(1, 2)
            x = x + looked(p, "space", x)
            h = plain_normed(x) * p["scale"] + p["bias"]
            return x + jax.nn.gelu(h @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
        block = maybe_checkpointed(change, layer)

        def loss_of(params, films, labels):
            p, x = as_kind(params, now), films.astype(now)
            x = x.reshape(-1, time, side, patch, side, patch, 3).transpose(0, 1, 2, 4, 3, 5, 6)
            x = x.reshape(-1, time, spots, pixels) @ p["patches"]["kernel"] + p["patches"]["bias"]
            x = x + p["spots"] + p["times"][:time, None]
            for i in range(layers):
                x = block(p[f"layer_{i}"], x)
            pooled = plain_normed(x).mean((1, 2))
            return word_loss(pooled @ p["head"]["kernel"] + p["head"]["bias"], labels)
        optimizer = optax.chain(optax.add_decayed_weights(1e-4, matrices_only), optax.sgd(5e-3, momentum=0.9))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((b, time, size, size, 3), F32), arrays.batch((b,), jnp.int32))
    return make
