"""SmolLM2-360M is pretrained: eight micro-batches to an update, AdamW, a schedule that warms up, stays and decays.

In equinox: a model of one sequence, mapped over the batch. The blocks are made by a filter_vmap, so that each of their
arrays has an axis of layers, and are scanned. Parameters are float32; the loss casts them to bfloat16 on entry.
"""
import equinox as eqx
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed, value_and_mean_grad


class RMSNorm(eqx.Module):
    weight: jax.Array

    def __init__(self, width):
        self.weight = jnp.ones(width)

    def __call__(self, x):
        wide = x.astype(F32)
        scale = jax.lax.rsqrt((wide ** 2).mean(-1, keepdims=True) + 1e-5)
        return (wide * scale).astype(x.dtype) * self.weight


class Linear(eqx.Module):
    weight: jax.Array

    def __init__(self, inputs, outputs, key):
        self.weight = jax.random.normal(key, (inputs, outputs)) * inputs ** -0.5

    def __call__(self, x):
        return jnp.dot(x, self.weight)


def rope_tables(length, size, theta):
    angles = jnp.outer(jnp.arange(length), theta ** (-jnp.arange(0, size, 2) / size))
    return jnp.cos(angles), jnp.sin(angles)


def turned(x, tables):
    """x: [length, heads, size]"""
    cos, sin = (table[:, None, :].astype(x.dtype) for table in tables)
    even, odd = x[..., 0::2], x[..., 1::2]
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1).reshape(x.shape)


class Attention(eqx.Module):
    q: Linear
    kv: Linear
    out: Linear
    heads: int = eqx.field(static=True)
    kv_heads: int = eqx.field(static=True)
    size: int = eqx.field(static=True)

    def __init__(self, width, heads, kv_heads, key):
        self.heads, self.kv_heads, self.size = heads, kv_heads, width // heads
        q, kv, out = jax.random.split(key, 3)
        self.q = Linear(width, width, q)
        self.kv = Linear(width, 2 * kv_heads * self.size, kv)
        self.out = Linear(width, width, out)

    def __call__(self, x, tables):
        length = x.shape[0]
        q = turned(self.q(x).reshape(length, self.heads, self.size), tables)
        k, v = jnp.split(self.kv(x).reshape(length, 2 * self.kv_heads, self.size), 2, axis=1)
        k = turned(k, tables)
        k, v = (jnp.repeat(one, self.heads // self.kv_heads, axis=1) for one in (k, v))
        logits = jnp.einsum("qhd,khd->hqk", q, k) / self.size ** 0.5
        causal = jnp.tril(jnp.ones((length, length), bool))
        logits = jnp.where(causal, logits.astype(F32), jnp.finfo(F32).min)
        probabilities = jax.nn.softmax(logits, axis=-1).astype(x.dtype)
        return self.out(jnp.einsum("hqk,khd->qhd", probabilities, v).reshape(x.shape))


class SwiGLU(eqx.Module):
    gate: Linear
    up: Linear
    down: Linear

    def __init__(self, width, hidden, key):
        gate, up, down = jax.random.split(key, 3)
        self.gate, self.up = Linear(width, hidden, gate), Linear(width, hidden, up)
        self.down = Linear(hidden, width, down)

    def __call__(self, x):
        return self.down(jax.nn.silu(self.gate(x)) * self.up(x))


class Block(eqx.Module):
    attention_norm: RMSNorm
    attention: Attention
    mlp_norm: RMSNorm
    mlp: SwiGLU

    def __init__(self, width, heads, kv_heads, hidden, key):
        first, second = jax.random.split(key)
        self.attention_norm, self.mlp_norm = RMSNorm(width), RMSNorm(width)
        self.attention = Attention(width, heads, kv_heads, first)
        self.mlp = SwiGLU(width, hidden, second)

    def __call__(self, x, tables):
        x = x + self.attention(self.attention_norm(x), tables)
        return x + self.mlp(self.mlp_norm(x))


class SmolLM(eqx.Module):
    embedding: jax.Array
    blocks: Block
    norm: RMSNorm
    theta: float = eqx.field(static=True)

    def __init__(self, layers, width, heads, kv_heads, hidden, vocab, theta, key):
        first, second = jax.random.split(key)
        self.embedding = jax.random.normal(first, (vocab, width)) * 0.02
        self.blocks = eqx.filter_vmap(lambda key: Block(width, heads, kv_heads, hidden, key))(
            jax.random.split(second, layers))
        self.norm, self.theta = RMSNorm(width), theta

    def __call__(self, tokens, wrap=lambda body: body):
        tables = rope_tables(tokens.shape[0], self.blocks.attention.size, self.theta)
        arrays, static = eqx.partition(self.blocks, eqx.is_array)

        def body(x, one):
            return eqx.combine(one, static)(x, tables), None
        x, _ = jax.lax.scan(wrap(body), self.embedding[tokens], arrays)
        return self.norm(x) @ self.embedding.T


def smollm_pretraining(layers, width, heads, kv_heads, hidden, vocab, batch, length, accumulated, theta=1e5):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor
        kind = compute_dtype(change, BF16)
        whole = eqx.filter_eval_shape(SmolLM, layers, width, heads, kv_heads, hidden, vocab, theta, jax.random.key(0))
        params, static = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = cast(params, change.stored)
        schedule = optax.join_schedules([optax.linear_schedule(0.0, 3e-3, 2_000), optax.constant_schedule(3e-3),
                                         optax.linear_schedule(3e-3, 0.0, 20_000)], [2_000, 80_000])
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, 0.9, 0.95, weight_decay=0.01, mask=decayed))
        opt_state = jax.eval_shape(optimizer.init, params)

        def wrap(body):
            return eqx.filter_checkpoint(body, policy=checkpoint_policy(change)) if change.rematerialize else body

        def loss_fn(params, inputs, targets):
            model = eqx.combine(jax.tree.map(lambda p: p.astype(kind), params), static)
            logits = jax.vmap(lambda tokens: model(tokens, wrap))(inputs).astype(F32)
            log_z = jax.nn.logsumexp(logits, axis=-1)
            right = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
            return jnp.mean(log_z - right) + 1e-4 * jnp.mean(log_z ** 2)

        def train_step(params, opt_state, inputs, targets):
            loss, grads = value_and_mean_grad(loss_fn, accumulated * change.parts)(params, inputs, targets)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return eqx.apply_updates(params, updates), opt_state, loss
        text = arrays.batch((rows, words), jnp.int32)
        stacks = {"blocks": 0}
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), text, text), (0, 1)
    return make


FAMILY = {"round_smollm": dict(
    make=smollm_pretraining(32, 960, 15, 5, 2560, 49152, batch=64, length=1024, accumulated=8), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
