"""Supervised fine-tuning of Gemma 3 (1B), all weights: five layers of a local window, then one global.

flax nnx, layers in a list. One key/value head, norms before and after, norms on queries and keys, tied embedding of
262144 words; the loss is over answers alone. Adafactor with weights in float32, computation in bfloat16.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, cross_entropy

PATTERN = ("local",) * 5 + ("global",)
MASKED = -2.3819763e38


class RMSNorm(nnx.Module):
    def __init__(self, width):
        self.scale = nnx.Param(jnp.zeros((width,)))

    def __call__(self, x):
        x32 = x.astype(F32)
        normed = x32 * jax.lax.rsqrt(jnp.mean(jnp.square(x32), -1, keepdims=True) + 1e-6)
        return (normed * (1 + self.scale[...].astype(F32))).astype(x.dtype)


def apply_rope(x, positions, base):
    fraction = 2 * jnp.arange(x.shape[-1] // 2) / x.shape[-1]
    angles = (positions[..., None] / base ** fraction)[:, :, None, :]
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    first, second = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1).astype(x.dtype)


class Attention(nnx.Module):
    def __init__(self, width, heads, kv_heads, head, kind, window, dtype, rngs):
        def linear(inputs, outputs):
            return nnx.Linear(inputs, outputs, use_bias=False, dtype=dtype, rngs=rngs)
        self.heads, self.kv_heads, self.head, self.kind, self.window = heads, kv_heads, head, kind, window
        self.q_proj, self.kv_proj = linear(width, heads * head), linear(width, 2 * kv_heads * head)
        self.o_proj = linear(heads * head, width)
        self.q_norm, self.k_norm = RMSNorm(head), RMSNorm(head)

    def __call__(self, x, positions, mask):
        batch, length, _ = x.shape
        base = 10_000 if self.kind == "local" else 1_000_000
        q = self.q_proj(x).reshape(batch, length, self.heads, self.head)
        k, v = jnp.split(self.kv_proj(x).reshape(batch, length, 2 * self.kv_heads, self.head), 2, axis=2)
        q = apply_rope(self.q_norm(q), positions, base) * self.head ** -0.5
        k = apply_rope(self.k_norm(k), positions, base)
        if self.kind == "local":
            near = positions[:, :, None] - positions[:, None, :] < self.window
            mask = mask & near
        q = q.reshape(batch, length, self.kv_heads, -1, self.head)
        logits = jnp.einsum("btkgh,bskh->bkgts", q, k)
        logits = jnp.where(mask[:, None, None], logits.astype(F32), MASKED)
        probs = jax.nn.softmax(logits, axis=-1).astype(x.dtype)
        mixed = jnp.einsum("bkgts,bskh->btkgh", probs, v)
        return self.o_proj(mixed.reshape(batch, length, -1))


class FeedForward(nnx.Module):
    def __init__(self, width, hidden, dtype, rngs):
        def linear(inputs, outputs):
            return nnx.Linear(inputs, outputs, use_bias=False, dtype=dtype, rngs=rngs)
        self.gate_proj, self.up_proj, self.down_proj = linear(width, hidden), linear(width, hidden), \
            linear(hidden, width)

    def __call__(self, x):
        return self.down_proj(nnx.gelu(self.gate_proj(x)) * self.up_proj(x))


class Block(nnx.Module):
    def __init__(self, width, heads, kv_heads, head, hidden, kind, window, dtype, rngs):
        self.attn = Attention(width, heads, kv_heads, head, kind, window, dtype, rngs)
        self.mlp = FeedForward(width, hidden, dtype, rngs)
        self.pre_attention_norm, self.post_attention_norm = RMSNorm(width), RMSNorm(width)
        self.pre_ffw_norm, self.post_ffw_norm = RMSNorm(width), RMSNorm(width)

    def __call__(self, x, positions, mask):
        x = x + self.post_attention_norm(self.attn(self.pre_attention_norm(x), positions, mask))
        return x + self.post_ffw_norm(self.mlp(self.pre_ffw_norm(x)))


class Gemma3(nnx.Module):
    def __init__(self, layers, width, heads, kv_heads, head, hidden, vocab, window, dtype, remat, policy, rngs):
        self.width, self.dtype, self.remat, self.policy = width, dtype, remat, policy
        self.embedder = nnx.Embed(vocab, width, dtype=dtype, rngs=rngs)
        self.layers = nnx.List([Block(width, heads, kv_heads, head, hidden, PATTERN[i % len(PATTERN)], window, dtype,
                                      rngs) for i in range(layers)])
        self.final_norm = RMSNorm(width)

    def __call__(self, tokens, positions, mask):
        x = self.embedder(tokens) * jnp.asarray(self.width ** 0.5, self.dtype)

        def run(layer, x, positions, mask):
            return layer(x, positions, mask)
        if self.remat:
            run = nnx.remat(run, policy=self.policy)
        for layer in self.layers:
            x = run(layer, x, positions, mask)
        return self.embedder.attend(self.final_norm(x))


def gemma3_sft(layers, width, heads, kv_heads, head, hidden, vocab, window, batch, length, kind=BF16):
    def make(arrays, change):
        rows, time = batch // change.batch_divisor, length // change.length_divisor

        def build():
            return Gemma3(layers, width, heads, kv_heads, head, hidden, vocab, window, compute_dtype(change, kind),
                          change.rematerialize, checkpoint_policy(change), nnx.Rngs(0))
        graph, params = nnx.split(nnx.eval_shape(build), nnx.Param)
        params = cast(params, change.stored)
        optimizer = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.adafactor(optax.warmup_cosine_decay_schedule(0.0, 1e-5, 100, 3_000),
                            multiply_by_parameter_scale=False, clipping_threshold=1.0))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, tokens, present, is_answer):
            model = nnx.merge(graph, params)
            positions = jnp.maximum(jnp.cumsum(present, -1) - 1, 0)
            causal = jnp.tril(jnp.ones((time, time), bool))
            mask = causal[None] & present[:, None, :]
            logits = model(tokens, positions, mask)
            wanted = is_answer[:, 1:] & present[:, 1:]
            loss = cross_entropy(logits[:, :-1], tokens[:, 1:], wanted)
            right = (jnp.argmax(logits[:, :-1], -1) == tokens[:, 1:]) & wanted
            return loss, {"accuracy": right.sum() / jnp.maximum(wanted.sum(), 1), "answer_tokens": wanted.sum()}

        def train_step(params, opt_state, tokens, present, is_answer):
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, None, tokens, present, is_answer)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, "accuracy": metrics["accuracy"].mean(),
                                       "answer_tokens": metrics["answer_tokens"].sum()}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state),
                            arrays.batch((rows, time), jnp.int32), arrays.batch((rows, time), jnp.bool_),
                            arrays.batch((rows, time), jnp.bool_)), (0, 1)
    return make


FAMILY = {"league_gemma3_sft": dict(
    make=gemma3_sft(layers=26, width=1152, heads=4, kv_heads=1, head=256, hidden=6912, vocab=262144, window=512,
                    batch=8, length=1024),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
