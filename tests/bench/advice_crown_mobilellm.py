"""MobileLLM (600M), deep and thin: all weights are tuned on packed instructions, 40 layers in one nn.scan.

Flax linen; grouped queries, SwiGLU, the embedding is also the head. Float32 weights, bfloat16 compute with a float32
softmax, AdamW with clipping and a cosine; a mask says which tokens are answers. Nothing is donated.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import computing, laid_out, matrices_only, policy_of, summed_slopes, updated
from advice_board_training import BF16, F32, cast

VOCAB, DIM, LAYERS, HEADS, KV_HEADS, HIDDEN = 32000, 1152, 40, 18, 6, 3072
HEAD_DIM = DIM // HEADS


class RMSNorm(nn.Module):
    eps: float = 1e-5

    @nn.compact
    def __call__(self, x):
        weight = self.param("weight", nn.initializers.ones, (x.shape[-1],))
        x32 = x.astype(F32)
        x32 = x32 * jax.lax.rsqrt(jnp.mean(jnp.square(x32), -1, keepdims=True) + self.eps)
        return weight.astype(x.dtype) * x32.astype(x.dtype)


def rope_table(length, theta=10000.0):
    inv_freq = theta ** (-jnp.arange(0, HEAD_DIM, 2, dtype=F32) / HEAD_DIM)
    angles = jnp.arange(length, dtype=F32)[:, None] * inv_freq
    angles = jnp.concatenate([angles, angles], -1)
    return jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]


def apply_rope(x, cos, sin):
    a, b = jnp.split(x, 2, -1)
    turned = jnp.concatenate([-b, a], -1)
    return x * cos.astype(x.dtype) + turned * sin.astype(x.dtype)


class Attention(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x, cos, sin, bias):
        def proj(heads, name):
            return nn.DenseGeneral((heads, HEAD_DIM), use_bias=False, dtype=self.dtype, name=name)(x)
        q = apply_rope(proj(HEADS, "q_proj"), cos, sin)
        k = apply_rope(proj(KV_HEADS, "k_proj"), cos, sin)
        v = proj(KV_HEADS, "v_proj")
        k, v = (jnp.repeat(t, HEADS // KV_HEADS, axis=2) for t in (k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * HEAD_DIM ** -0.5
        probs = jax.nn.softmax(scores.astype(F32) + bias, axis=-1).astype(self.dtype)
        out = jnp.einsum("bhqk,bkhd->bqhd", probs, v)
        return nn.DenseGeneral(DIM, axis=(-2, -1), use_bias=False, dtype=self.dtype, name="o_proj")(out)


class MLP(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x):
        def dense(width, name):
            return nn.Dense(width, use_bias=False, dtype=self.dtype, name=name)
        return dense(DIM, "down_proj")(nn.silu(dense(HIDDEN, "gate_proj")(x)) * dense(HIDDEN, "up_proj")(x))


class Block(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x, cos, sin, bias):
        x = x + Attention(self.dtype, name="attn")(RMSNorm(name="input_norm")(x), cos, sin, bias)
        x = x + MLP(self.dtype, name="mlp")(RMSNorm(name="post_norm")(x))
        return x, None


class MobileLLM(nn.Module):
    dtype: object
    change: object

    @nn.compact
    def __call__(self, tokens):
        n = tokens.shape[1]
        embed = nn.Embed(VOCAB, DIM, dtype=self.dtype, embedding_init=nn.initializers.normal(0.02), name="embed")
        block = Block
        if self.change.rematerialize:
            block = nn.remat(Block, policy=policy_of(self.change), prevent_cse=False)
        stack = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast,
                        length=LAYERS)
        bias = jnp.where(jnp.tril(jnp.ones((n, n), bool)), 0.0, jnp.finfo(F32).min)[None, None]
        x, _ = stack(self.dtype, name="blocks")(embed(tokens), *rope_table(n), bias)
        return embed.attend(RMSNorm(name="norm")(x)).astype(F32)


def tuned(batch, length):
    def make(arrays, change):
        rows, n = batch // change.batch_divisor, length // change.length_divisor
        model = MobileLLM(computing(change, BF16), change)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 16), jnp.int32))["params"]
        params = cast(shapes, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-5, 100, 5_000, 2e-6)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=0.1, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, tokens, is_answer):
            logits = model.apply({"params": params}, tokens)[:, :-1]
            targets, weights = tokens[:, 1:], is_answer[:, 1:].astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
            total = jnp.maximum(weights.sum(), 1.0)
            right = (logits.argmax(-1) == targets) * weights
            return (losses * weights).sum() / total, {"accuracy": right.sum() / total}

        def train_step(params, opt_state, tokens, is_answer):
            loss, aux, grads = summed_slopes(loss_fn, change.parts)(params, None, tokens, is_answer)
            metrics = {"loss": loss, "accuracy": aux["accuracy"].mean(), "grad_norm": optax.global_norm(grads)}
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, metrics

        stacks = {"blocks": 0}
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks),
                            arrays.batch((rows, n), jnp.int32), arrays.batch((rows, n), jnp.bool_)), (0, 1)
    return make


FAMILY = {"crown_mobilellm": dict(
    make=tuned(batch=16, length=512), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
