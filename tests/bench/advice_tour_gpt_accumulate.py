"""Pretraining of a GPT-2 small sized decoder in equinox; a step accumulates the gradients of several micro-batches.

Tokens come as [steps, batch, length]. A module works on one sequence and is mapped over the batch; the blocks were made
under vmap and run in a lax.scan. Parameters are float32 and cast to bfloat16 for each micro-batch. Rotary places,
norms of queries and keys, an untied head.
"""
import equinox as eqx
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed


def is_abstract(leaf):
    return isinstance(leaf, jax.ShapeDtypeStruct)


def in_type(tree, kind):
    return jax.tree.map(lambda a: a.astype(kind) if eqx.is_inexact_array(a) else a, tree)


def rotate(x):
    """x: [heads, length, head_dim]"""
    length, size = x.shape[-2:]
    freqs = 1.0 / 10_000 ** (jnp.arange(0, size, 2, dtype=F32) / size)
    angles = jnp.outer(jnp.arange(length, dtype=F32), freqs)
    cos, sin = jnp.cos(angles).astype(x.dtype), jnp.sin(angles).astype(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    return jnp.stack([even * cos - odd * sin, odd * cos + even * sin], axis=-1).reshape(x.shape)


class Norm(eqx.Module):
    weight: jax.Array

    def __init__(self, size):
        self.weight = jnp.ones(size)

    def __call__(self, x):
        h = x.astype(F32)
        h = h - h.mean(-1, keepdims=True)
        return (h * jax.lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * self.weight


class CausalSelfAttention(eqx.Module):
    c_attn: eqx.nn.Linear
    c_proj: eqx.nn.Linear
    q_norm: Norm
    k_norm: Norm
    heads: int = eqx.field(static=True)

    def __init__(self, width, heads, key):
        first, second = jax.random.split(key)
        self.c_attn = eqx.nn.Linear(width, 3 * width, use_bias=False, key=first)
        self.c_proj = eqx.nn.Linear(width, width, use_bias=False, key=second)
        self.q_norm, self.k_norm = Norm(width // heads), Norm(width // heads)
        self.heads = heads

    def __call__(self, x):
        length, width = x.shape
        qkv = jax.vmap(self.c_attn)(x).reshape(length, 3, self.heads, width // self.heads)
        q, k, v = jnp.transpose(qkv, (1, 2, 0, 3))
        q, k = rotate(self.q_norm(q)), rotate(self.k_norm(k))
        scores = q @ jnp.swapaxes(k, -1, -2) / (width // self.heads) ** 0.5
        causal = jnp.tril(jnp.ones((length, length), bool))
        scores = jnp.where(causal, scores.astype(F32), float("-inf"))
        out = jax.nn.softmax(scores, axis=-1).astype(x.dtype) @ v
        return jax.vmap(self.c_proj)(jnp.swapaxes(out, 0, 1).reshape(length, width))


class Block(eqx.Module):
    attn: CausalSelfAttention
    ln1: Norm
    ln2: Norm
    c_fc: eqx.nn.Linear
    c_proj: eqx.nn.Linear

    def __init__(self, width, heads, key):
        keys = jax.random.split(key, 3)
        self.attn = CausalSelfAttention(width, heads, keys[0])
        self.ln1, self.ln2 = Norm(width), Norm(width)
        self.c_fc = eqx.nn.Linear(width, 4 * width, use_bias=False, key=keys[1])
        self.c_proj = eqx.nn.Linear(4 * width, width, use_bias=False, key=keys[2])

    def __call__(self, x):
        x = x + self.attn(self.ln1(x))
        return x + jax.vmap(self.c_proj)(jax.nn.gelu(jax.vmap(self.c_fc)(self.ln2(x))))


class GPT(eqx.Module):
    wte: jax.Array
    blocks: Block
    ln_f: Norm
    lm_head: eqx.nn.Linear

    def __init__(self, layers, width, heads, vocab, key):
        keys = jax.random.split(key, 3)
        self.wte = 0.02 * jax.random.normal(keys[0], (vocab, width))
        self.blocks = eqx.filter_vmap(lambda k: Block(width, heads, k))(jax.random.split(keys[1], layers))
        self.ln_f = Norm(width)
        self.lm_head = eqx.nn.Linear(width, vocab, use_bias=False, key=keys[2])

    def __call__(self, tokens, change):
        """tokens: [batch, length]"""
        dynamic, static = eqx.partition(self.blocks, eqx.is_array)

        def run(x, layer):
            return jax.vmap(eqx.combine(layer, static))(x), None
        if change.rematerialize:
            run = eqx.filter_checkpoint(run, policy=checkpoint_policy(change))
        x, _ = jax.lax.scan(run, self.wte[tokens], dynamic)
        return jax.vmap(jax.vmap(self.lm_head))(self.ln_f(x))


def gpt_accumulate(layers, width, heads, vocab, steps, batch, length, kind=BF16):
    def make(arrays, change):
        import optax
        micro = batch // change.batch_divisor // change.parts
        shape = steps * change.parts, micro, length // change.length_divisor
        now = compute_dtype(change, kind)
        whole = eqx.filter_eval_shape(GPT, layers, width, heads, vocab, jax.random.key(0))
        params, static = eqx.partition(whole, is_abstract)
        params = cast(params, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 5000, 60_000, 1e-5)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(b2=0.95),
                                optax.add_decayed_weights(1e-4, mask=decayed),
                                optax.scale_by_schedule(schedule), optax.scale(-1.0))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, x, y):
            model = eqx.combine(in_type(params, now), static)
            logits = model(x, change).astype(F32)
            return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()

        def train_step(params, opt_state, x_gbt, y_gbt):
            def microstep(carry, xy):
                total, grads = carry
                loss, slopes = jax.value_and_grad(loss_of)(params, *xy)
                return (total + loss, jax.tree.map(jnp.add, grads, slopes)), None
            zeros = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            (loss, grads), _ = jax.lax.scan(microstep, zeros, (x_gbt, y_gbt))
            grads = jax.tree.map(lambda g: g / x_gbt.shape[0], grads)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, loss / x_gbt.shape[0]

        stacks = {"blocks": 0}
        text = arrays.array(shape, jnp.int32, 1 if change.shard == "all" else None)
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), text, text), (0, 1)
    return make


FAMILY = {"tour_gpt_accumulate": dict(
    make=gpt_accumulate(layers=12, width=768, heads=12, vocab=50304, steps=8, batch=32, length=1024),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
