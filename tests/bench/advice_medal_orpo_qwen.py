"""ORPO of a Qwen2.5 of 0.5B: chosen and rejected answers in one pass, no reference model, log odds beside the loss.

Equinox: a module for one sequence under vmap, layers in a tuple, float32 weights that are cast to bfloat16 by the
step, biases on q, k and v, grouped heads, the table tied. AdamW with a cosine schedule; the state is not donated.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax

from advice_board_changes import computing, laid_out, matrices_only, policy_of, summed_slopes, updated
from advice_board_training import BF16, F32, cast


class RMSNorm(eqx.Module):
    weight: jax.Array

    def __init__(self, size):
        self.weight = jnp.ones(size)

    def __call__(self, x):
        y = x.astype(F32)
        return self.weight * (y * jax.lax.rsqrt(jnp.mean(y ** 2, -1, keepdims=True) + 1e-6)).astype(x.dtype)


def rope(x, theta=1e6):
    """[length, heads, size]"""
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[0])[:, None] / theta ** (jnp.arange(half) / half)
    sin, cos = (f(angle)[:, None].astype(x.dtype) for f in (jnp.sin, jnp.cos))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


class Attention(eqx.Module):
    q_proj: eqx.nn.Linear
    k_proj: eqx.nn.Linear
    v_proj: eqx.nn.Linear
    o_proj: eqx.nn.Linear
    heads: int = eqx.field(static=True)
    groups: int = eqx.field(static=True)

    def __init__(self, size, heads, groups, key):
        a, b, c, d = jr.split(key, 4)
        self.heads, self.groups = heads, groups
        self.q_proj = eqx.nn.Linear(size, size, key=a)
        self.k_proj = eqx.nn.Linear(size, groups * size // heads, key=b)
        self.v_proj = eqx.nn.Linear(size, groups * size // heads, key=c)
        self.o_proj = eqx.nn.Linear(size, size, use_bias=False, key=d)

    def __call__(self, x, mask):
        length = x.shape[0]
        q = rope(jax.vmap(self.q_proj)(x).reshape(length, self.heads, -1))
        k = rope(jax.vmap(self.k_proj)(x).reshape(length, self.groups, -1))
        v = jax.vmap(self.v_proj)(x).reshape(length, self.groups, -1)
        k, v = (jnp.repeat(a, self.heads // self.groups, axis=1) for a in (k, v))
        logits = jnp.einsum("shd,Shd->hsS", q, k) / jnp.sqrt(q.shape[-1]).astype(q.dtype)
        logits = jnp.where(mask, logits.astype(F32), jnp.finfo(F32).min)
        out = jnp.einsum("hsS,Shd->shd", jax.nn.softmax(logits).astype(x.dtype), v)
        return jax.vmap(self.o_proj)(out.reshape(length, -1))


class SwiGLU(eqx.Module):
    gate: eqx.nn.Linear
    up: eqx.nn.Linear
    down: eqx.nn.Linear

    def __init__(self, size, hidden, key):
        a, b, c = jr.split(key, 3)
        self.gate = eqx.nn.Linear(size, hidden, use_bias=False, key=a)
        self.up = eqx.nn.Linear(size, hidden, use_bias=False, key=b)
        self.down = eqx.nn.Linear(hidden, size, use_bias=False, key=c)

    def __call__(self, x):
        return self.down(jax.nn.silu(self.gate(x)) * self.up(x))


class DecoderLayer(eqx.Module):
    attention: Attention
    mlp: SwiGLU
    norm1: RMSNorm
    norm2: RMSNorm

    def __init__(self, size, heads, groups, hidden, key):
        a, b = jr.split(key)
        self.attention, self.mlp = Attention(size, heads, groups, a), SwiGLU(size, hidden, b)
        self.norm1, self.norm2 = RMSNorm(size), RMSNorm(size)

    def __call__(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + jax.vmap(self.mlp)(self.norm2(x))


class Qwen(eqx.Module):
    embed: jax.Array
    layers: tuple
    norm: RMSNorm

    def __init__(self, vocab, size, depth, heads, groups, hidden, key):
        first, *keys = jr.split(key, depth + 1)
        self.embed = 0.02 * jr.normal(first, (vocab, size))
        self.layers = tuple(DecoderLayer(size, heads, groups, hidden, k) for k in keys)
        self.norm = RMSNorm(size)

    def __call__(self, tokens, attended, change):
        mask = jnp.tril(jnp.ones((tokens.shape[0],) * 2, bool)) & attended[None, :]
        x = self.embed[tokens]
        for layer in self.layers:
            run = eqx.filter_checkpoint(layer, policy=policy_of(change)) if change.rematerialize else layer
            x = run(x, mask)
        return self.norm(x) @ self.embed.T


def orpo(vocab, size, depth, heads, groups, hidden, pairs, length, beta=0.1):
    def make(arrays, change):
        rows, n, now = pairs // change.batch_divisor, length // change.length_divisor, computing(change, BF16)
        model = eqx.filter_eval_shape(lambda: Qwen(vocab, size, depth, heads, groups, hidden, jr.key(0)))
        model = cast(model, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
            optax.cosine_decay_schedule(8e-6, 20_000), b2=0.99, weight_decay=0.05, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, model)

        def log_probs(model, ids, attended, answer):
            logits = jax.vmap(lambda t, a: model(t, a, change))(ids, attended)[:, :-1]
            chosen = -optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), ids[:, 1:])
            weight = answer[:, 1:].astype(F32)
            return jnp.sum(chosen * weight, -1) / jnp.maximum(weight.sum(-1), 1.0)

        def loss_fn(model, _, ids, attended, answer):
            model = jax.tree.map(lambda w: w.astype(now), model)
            both = [a.swapaxes(0, 1).reshape(-1, a.shape[-1]) for a in (ids, attended, answer)]
            won, lost = jnp.split(log_probs(model, *both), 2)
            odds = won - lost - (jnp.log1p(-jnp.exp(jnp.minimum(won, -1e-6)))
                                 - jnp.log1p(-jnp.exp(jnp.minimum(lost, -1e-6))))
            ratio = jax.nn.log_sigmoid(odds)
            return jnp.mean(-won - beta * ratio), {"margin": jnp.mean(won - lost), "wins": jnp.mean(odds > 0)}

        def step(model, opt_state, ids, attended, answer):
            loss, logs, grads = summed_slopes(loss_fn, change.parts)(model, None, ids, attended, answer)
            model, opt_state = updated(optimizer, grads, opt_state, model)
            return model, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, logs)}
        return step, (laid_out(arrays, model), laid_out(arrays, opt_state), arrays.batch((rows, 2, n), jnp.int32),
                      arrays.batch((rows, 2, n), bool), arrays.batch((rows, 2, n), bool)), (0, 1)
    return make


FAMILY = {"medal_orpo_qwen": dict(
    make=orpo(vocab=151936, size=896, depth=24, heads=14, groups=2, hidden=4864, pairs=4, length=768),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
