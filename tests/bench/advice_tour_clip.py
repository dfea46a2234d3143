"""CLIP ViT-B/32 from pictures and their captions, in haiku: both towers are layer stacks, the loss goes both ways.

Float32 weights, cast to bfloat16 for the pass; norms and the similarities are in float32. Micro-batches contrast only
what is inside them, as halves of a batch do.
"""
import haiku as hk
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed, value_and_mean_grad

PIXEL_MEAN, PIXEL_STD = (0.4815, 0.4578, 0.4082), (0.2686, 0.2613, 0.2758)


def norm(x, name):
    ln = hk.LayerNorm(-1, create_scale=True, create_offset=True, name=name)
    return ln(x.astype(F32)).astype(x.dtype)


def attention(x, heads, causal, layers):
    batch, tokens, width = x.shape
    init = hk.initializers.RandomNormal(width ** -0.5)
    q, k, v = (hk.Linear(width, w_init=init, name=name)(x).reshape(batch, tokens, heads, -1)
               for name in ("query", "key", "value"))
    logits = jnp.einsum("bthd,bshd->bhts", q, k) * (width // heads) ** -0.5
    if causal:
        logits = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), logits, -1e9)
    weights = jax.nn.softmax(logits.astype(F32)).astype(x.dtype)
    mixed = jnp.einsum("bhts,bshd->bthd", weights, v).reshape(x.shape)
    return hk.Linear(width, w_init=hk.initializers.RandomNormal((2 * layers * width) ** -0.5), name="out")(mixed)


def quick_gelu(x):
    return x * jax.nn.sigmoid(1.702 * x)


def tower(x, layers, heads, causal, change):
    width = x.shape[-1]

    def block(x):
        x = x + attention(norm(x, "ln_1"), heads, causal, layers)
        h = quick_gelu(hk.Linear(4 * width, name="mlp_in")(norm(x, "ln_2")))
        return x + hk.Linear(width, name="mlp_out")(h)
    if change.rematerialize:
        block = hk.remat(block, policy=checkpoint_policy(change))
    return hk.experimental.layer_stack(layers)(block)(x)


class PictureTower(hk.Module):
    def __init__(self, cfg, change):
        super().__init__(name="visual")
        self.cfg, self.change = cfg, change

    def __call__(self, pixels):
        cfg = self.cfg
        x = hk.Conv2D(cfg["vision_width"], cfg["patch"], cfg["patch"], with_bias=False, padding="VALID")(pixels)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        first = hk.get_parameter("class_embedding", (1, 1, x.shape[-1]), init=hk.initializers.RandomNormal(0.02))
        first = jnp.broadcast_to(first.astype(x.dtype), (x.shape[0], 1, x.shape[-1]))
        x = jnp.concatenate([first, x], axis=1)
        places = hk.get_parameter("positions", x.shape[1:], init=hk.initializers.RandomNormal(0.02))
        x = norm(x + places.astype(x.dtype), "ln_pre")
        x = tower(x, cfg["vision_layers"], cfg["vision_heads"], False, self.change)
        return hk.Linear(cfg["embed"], with_bias=False, name="proj")(norm(x[:, 0], "ln_post"))


class TextTower(hk.Module):
    def __init__(self, cfg, change, dtype):
        super().__init__(name="text")
        self.cfg, self.change, self.dtype = cfg, change, dtype

    def __call__(self, tokens):
        cfg = self.cfg
        table = hk.get_parameter("tokens", (cfg["vocab"], cfg["text_width"]), init=hk.initializers.RandomNormal(0.02))
        places = hk.get_parameter("positions", (tokens.shape[1], cfg["text_width"]),
                                  init=hk.initializers.RandomNormal(0.01))
        x = (table[tokens] + places).astype(self.dtype)
        x = tower(x, cfg["text_layers"], cfg["text_heads"], True, self.change)
        x = norm(x, "ln_final")
        ends = jnp.argmax(tokens, axis=-1)                     # the end of text has the highest number
        x = jnp.take_along_axis(x, ends[:, None, None], axis=1)[:, 0]
        return hk.Linear(cfg["embed"], with_bias=False, name="proj")(x)


def clip(cfg, pixels, words, batch, kind=BF16):
    def make(arrays, change):
        import optax
        rows, length, dtype = batch // change.batch_divisor, words // change.length_divisor, compute_dtype(change, kind)

        @hk.without_apply_rng
        @hk.transform
        def encode(images, tokens):
            images = (images.astype(F32) / 255.0 - jnp.array(PIXEL_MEAN)) / jnp.array(PIXEL_STD)
            pictures = PictureTower(cfg, change)(images.astype(dtype))
            texts = TextTower(cfg, change, dtype)(tokens)
            scale = hk.get_parameter("logit_scale", (), init=hk.initializers.Constant(2.6592))
            return pictures.astype(F32), texts.astype(F32), scale.astype(F32)
        params = jax.eval_shape(encode.init, jax.random.PRNGKey(0), jnp.zeros((1, pixels, pixels, 3), jnp.uint8),
                                jnp.zeros((1, length), jnp.int32))
        params = cast(params, change.stored)
        stacks = {name: 0 for name in params if "layer_stack" in name}
        schedule = optax.warmup_cosine_decay_schedule(0.0, 5e-4, 2000, 400_000)
        optimizer = optax.adamw(schedule, 0.9, 0.98, 1e-6, weight_decay=0.2, mask=decayed)
        opt_state = jax.eval_shape(optimizer.init, params)

        def contrastive_loss(params, images, tokens):
            pictures, texts, scale = encode.apply(jax.tree.map(lambda p: p.astype(dtype), params), images, tokens)
            pictures = pictures / jnp.linalg.norm(pictures, axis=-1, keepdims=True)
            texts = texts / jnp.linalg.norm(texts, axis=-1, keepdims=True)
            logits = jnp.exp(jnp.minimum(scale, 4.6052)) * pictures @ texts.T
            of_pictures = jnp.diagonal(jax.nn.log_softmax(logits, axis=1))
            of_texts = jnp.diagonal(jax.nn.log_softmax(logits, axis=0))
            return -0.5 * (of_pictures.mean() + of_texts.mean())

        def update(params, opt_state, images, tokens):
            loss, grads = value_and_mean_grad(contrastive_loss, change.parts)(params, images, tokens)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, loss
        return update, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks),
                        arrays.batch((rows, pixels, pixels, 3), jnp.uint8),
                        arrays.batch((rows, length), jnp.int32)), (0, 1)
    return make


VIT_B_32 = dict(embed=512, patch=32, vision_layers=12, vision_width=768, vision_heads=12,
                text_layers=12, text_width=512, text_heads=8, vocab=49408)

FAMILY = {"tour_clip": dict(
    make=clip(VIT_B_32, pixels=224, words=77, batch=512), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
