"""LoRA finetuning of a frozen Qwen2.5 1.5B on instructions, in flax linen with nn.scan over the layers.

The frozen weights are in the collection "params", the adapters of every projection in the collection "lora"; only those
have gradients and an optimizer. Computes in bfloat16; the loss counts the tokens of the answers.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, value_and_mean_grad


class RMSNorm(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x):
        weight = self.param("weight", nn.initializers.ones, (x.shape[-1],), F32)
        h = x.astype(F32)
        h = h * jax.lax.rsqrt(jnp.mean(jnp.square(h), axis=-1, keepdims=True) + 1e-6)
        return h.astype(self.dtype) * weight.astype(self.dtype)


class LoRADense(nn.Module):
    features: int
    rank: int
    alpha: float
    dtype: object
    use_bias: bool = False

    @nn.compact
    def __call__(self, x):
        size = x.shape[-1]
        kernel = self.param("kernel", nn.initializers.lecun_normal(), (size, self.features), F32)
        down = self.variable("lora", "lora_a", lambda: nn.initializers.he_uniform()(
            self.make_rng("params"), (size, self.rank), F32)).value
        up = self.variable("lora", "lora_b", lambda: jnp.zeros((self.rank, self.features), F32)).value
        y = jnp.dot(x, kernel.astype(self.dtype))
        if self.use_bias:
            y = y + self.param("bias", nn.initializers.zeros, (self.features,), F32).astype(self.dtype)
        delta = jnp.dot(jnp.dot(x, down.astype(self.dtype)), up.astype(self.dtype))
        return y + delta * (self.alpha / self.rank)


def rope(x, theta=1_000_000.0):
    length, size = x.shape[1], x.shape[-1]
    freqs = theta ** -(jnp.arange(size // 2, dtype=F32) / (size // 2))
    angles = jnp.arange(length, dtype=F32)[:, None] * freqs
    angles = jnp.concatenate([angles, angles], axis=-1)[None, :, None]
    turned = jnp.concatenate([-x[..., size // 2:], x[..., :size // 2]], axis=-1)
    return x * jnp.cos(angles).astype(x.dtype) + turned * jnp.sin(angles).astype(x.dtype)


class DecoderLayer(nn.Module):
    heads: int
    kv_heads: int
    head_dim: int
    hidden: int
    rank: int
    alpha: float
    dtype: object

    @nn.compact
    def __call__(self, x, _):
        batch, length, width = x.shape

        def proj(features, name, use_bias=False):
            return LoRADense(features, self.rank, self.alpha, self.dtype, use_bias, name=name)
        h = RMSNorm(self.dtype, name="input_layernorm")(x)
        q = proj(self.heads * self.head_dim, "q_proj", True)(h).reshape(batch, length, self.heads, self.head_dim)
        k = proj(self.kv_heads * self.head_dim, "k_proj", True)(h).reshape(batch, length, self.kv_heads, -1)
        v = proj(self.kv_heads * self.head_dim, "v_proj", True)(h).reshape(batch, length, self.kv_heads, -1)
        out = jax.nn.dot_product_attention(rope(q), rope(k), v, is_causal=True)
        x = x + proj(width, "o_proj")(out.reshape(batch, length, -1))
        h = RMSNorm(self.dtype, name="post_attention_layernorm")(x)
        h = nn.silu(proj(self.hidden, "gate_proj")(h)) * proj(self.hidden, "up_proj")(h)
        return x + proj(width, "down_proj")(h), None


class Qwen(nn.Module):
    layers: int
    width: int
    vocab: int
    layer: dict
    dtype: object
    remat: bool
    policy: object

    @nn.compact
    def __call__(self, tokens):
        embedding = self.param("embed_tokens", nn.initializers.normal(0.02), (self.vocab, self.width), F32)
        x = jnp.take(embedding, tokens, axis=0).astype(self.dtype)
        block = nn.remat(DecoderLayer, prevent_cse=False, policy=self.policy) if self.remat else DecoderLayer
        stack = nn.scan(block, variable_axes={"params": 0, "lora": 0}, split_rngs={"params": True},
                        in_axes=nn.broadcast, length=self.layers)
        x, _ = stack(**self.layer, dtype=self.dtype, name="layers")(x, None)
        x = RMSNorm(self.dtype, name="norm")(x)
        return jnp.einsum("btd,vd->btv", x, embedding.astype(self.dtype))


def qwen_lora(layers, width, heads, kv_heads, head_dim, hidden, vocab, batch, length, rank=16, alpha=32.0, kind=BF16):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor
        layer = dict(heads=heads, kv_heads=kv_heads, head_dim=head_dim, hidden=hidden, rank=rank, alpha=alpha)
        model = Qwen(layers, width, vocab, layer, compute_dtype(change, kind), change.rematerialize,
                     checkpoint_policy(change))
        made = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 8), jnp.int32))
        frozen, lora = cast(made["params"], change.stored), cast(made["lora"], change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(0.3),
                                optax.adamw(optax.cosine_decay_schedule(2e-4, 10_000), weight_decay=0.0))
        opt_state = jax.eval_shape(optimizer.init, lora)

        def train_step(frozen, lora, opt_state, tokens, is_answer):
            def loss_of(lora, tokens, is_answer):
                logits = model.apply({"params": frozen, "lora": lora}, tokens)[:, :-1].astype(F32)
                wanted, counted = tokens[:, 1:], is_answer[:, 1:].astype(F32)
                log_probs = jax.nn.log_softmax(logits, axis=-1)
                picked = jnp.take_along_axis(log_probs, wanted[..., None], axis=-1)[..., 0]
                return -(picked * counted).sum() / jnp.maximum(counted.sum(), 1.0)
            loss, grads = value_and_mean_grad(loss_of, change.parts)(lora, tokens, is_answer)
            lora, opt_state = updated(optimizer, grads, opt_state, lora)
            return lora, opt_state, {"loss": loss, "grad_norm": optax.global_norm(grads)}

        stacks = {"layers": 0}
        state = [laid_out(arrays, tree, stacks) for tree in (frozen, lora, opt_state)]
        tokens, is_answer = arrays.batch((rows, words), jnp.int32), arrays.batch((rows, words), jnp.bool_)
        return train_step, (*state, tokens, is_answer), (1, 2)
    return make


FAMILY = {"tour_qwen_lora": dict(
    make=qwen_lora(layers=28, width=1536, heads=12, kv_heads=2, head_dim=128, hidden=8960, vocab=151936,
                   batch=16, length=512),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
