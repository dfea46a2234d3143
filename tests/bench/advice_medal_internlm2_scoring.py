"""InternLM2 (7B) scores answers, as an evaluation harness asks: log-likelihoods of continuations after contexts.

Equinox modules whose blocks are stacked by filter_vmap and scanned; weights and activations in bfloat16, norms,
softmaxes and the log-probabilities in float32. Given are rows of padded tokens, and where the answers lie in them.
"""
import equinox as eqx
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out
from advice_board_training import BF16, F32, cast
from advice_round_d_parts import looked_up, quantized, times


class Linear(eqx.Module):
    weight: jax.Array

    def __init__(self, in_features, out_features, key):
        self.weight = 0.02 * jax.random.normal(key, (in_features, out_features))

    def __call__(self, x):
        return times(x, self.weight)


class RMSNorm(eqx.Module):
    scale: jax.Array

    def __init__(self, dim):
        self.scale = jnp.ones(dim)

    def __call__(self, x):
        wide = x.astype(F32)
        wide = wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)
        return self.scale.astype(x.dtype) * wide.astype(x.dtype)


def rope(x, cos, sin):
    a, b = jnp.split(x, 2, axis=-1)
    return x * cos + jnp.concatenate([-b, a], axis=-1) * sin


class Attention(eqx.Module):
    wqkv: Linear
    wo: Linear
    heads: int = eqx.field(static=True)
    kv_heads: int = eqx.field(static=True)

    def __init__(self, dim, heads, kv_heads, key):
        k1, k2 = jax.random.split(key)
        self.heads, self.kv_heads = heads, kv_heads
        self.wqkv = Linear(dim, (heads + 2 * kv_heads) * (dim // heads), k1)
        self.wo = Linear(dim, dim, k2)

    def __call__(self, x, cos, sin, mask):
        rows, length, dim = x.shape
        head, group = dim // self.heads, self.heads // self.kv_heads
        qkv = self.wqkv(x).reshape(rows, length, self.kv_heads, group + 2, head)
        q, k, v = qkv[..., :group, :], qkv[..., group, :], qkv[..., group + 1, :]
        q = rope(q, cos[:, None, None], sin[:, None, None])
        k = rope(k, cos[:, None], sin[:, None])
        scores = jnp.einsum("btkgd,bskd->bkgts", q, k).astype(F32) / head ** 0.5
        probs = jax.nn.softmax(jnp.where(mask, scores, -1e30), axis=-1).astype(x.dtype)
        return self.wo(jnp.einsum("bkgts,bskd->btkgd", probs, v).reshape(rows, length, dim))


class FeedForward(eqx.Module):
    w1: Linear
    w2: Linear
    w3: Linear

    def __init__(self, dim, hidden, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.w1, self.w3 = Linear(dim, hidden, k1), Linear(dim, hidden, k3)
        self.w2 = Linear(hidden, dim, k2)

    def __call__(self, x):
        return self.w2(jax.nn.silu(self.w1(x)) * self.w3(x))


class Block(eqx.Module):
    attention_norm: RMSNorm
    attention: Attention
    ffn_norm: RMSNorm
    feed_forward: FeedForward

    def __init__(self, dim, heads, kv_heads, hidden, key):
        k1, k2 = jax.random.split(key)
        self.attention_norm, self.ffn_norm = RMSNorm(dim), RMSNorm(dim)
        self.attention = Attention(dim, heads, kv_heads, k1)
        self.feed_forward = FeedForward(dim, hidden, k2)

    def __call__(self, x, *given):
        x = x + self.attention(self.attention_norm(x), *given)
        return x + self.feed_forward(self.ffn_norm(x))


class InternLM2(eqx.Module):
    tok_embeddings: jax.Array
    blocks: Block
    norm: RMSNorm
    output: Linear
    head: int = eqx.field(static=True)

    def __init__(self, layers, dim, heads, kv_heads, hidden, vocab, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.tok_embeddings = 0.02 * jax.random.normal(k1, (vocab, dim))
        self.blocks = eqx.filter_vmap(lambda k: Block(dim, heads, kv_heads, hidden, k))(jax.random.split(k2, layers))
        self.norm = RMSNorm(dim)
        self.output = Linear(dim, vocab, k3)
        self.head = dim // heads

    def __call__(self, tokens):
        length = tokens.shape[1]
        freqs = 1e6 ** (-jnp.arange(0, self.head, 2) / self.head)
        angles = jnp.tile(jnp.arange(length)[:, None] * freqs, (1, 2))
        cos, sin = jnp.cos(angles).astype(BF16), jnp.sin(angles).astype(BF16)
        mask = jnp.tril(jnp.ones((length, length), bool))
        x = looked_up(self.tok_embeddings, tokens, BF16)
        x, _ = jax.lax.scan(lambda x, block: (block(x, cos, sin, mask), None), x, self.blocks)
        return self.output(self.norm(x))


def scoring(layers, dim, heads, kv_heads, hidden, vocab, batch, length):
    def make(arrays, change):
        rows, places = batch // change.batch_divisor, length // change.length_divisor
        model = eqx.filter_eval_shape(InternLM2, layers, dim, heads, kv_heads, hidden, vocab, jax.random.key(0))
        model = quantized(change, cast(model, BF16), ("blocks",))

        def loglikelihood(model, tokens, context_lengths, total_lengths):
            log_probs = jax.nn.log_softmax(model(tokens[:, :-1]).astype(F32), axis=-1)
            targets = tokens[:, 1:]
            place = jnp.arange(1, tokens.shape[1])
            is_answer = (place >= context_lengths[:, None]) & (place < total_lengths[:, None])
            of_targets = jnp.take_along_axis(log_probs, targets[..., None], axis=-1)[..., 0]
            is_greedy = jnp.all((log_probs.argmax(-1) == targets) | ~is_answer, axis=-1)
            return jnp.where(is_answer, of_targets, 0.0).sum(-1), is_greedy, is_answer.sum(-1)

        return loglikelihood, (laid_out(arrays, model, {"blocks": 0}), arrays.batch((rows, places + 1), jnp.int32),
                               arrays.batch((rows,), jnp.int32), arrays.batch((rows,), jnp.int32)), (1, 2, 3)
    return make


FAMILY = {"medal_internlm2_scoring": dict(
    make=scoring(layers=32, dim=4096, heads=32, kv_heads=8, hidden=14336, vocab=92544, batch=8, length=2048),
    is_donated=False,
    variants=("donate_inputs", "halve_batch", "halve_sequence", "int8_weights", "shard_parameters", "shard_all"))}
