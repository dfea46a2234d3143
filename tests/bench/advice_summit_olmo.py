"""OLMo, pretrained in the manner of Levanter: equinox modules whose blocks are stacked and scanned, gradients clipped.

The maker takes its Arrays and Change, and gives (step, arguments, donated). The whole model is cast to what it computes
in before the loss. Its norms have no parameters, and the table is shared with the logits.
"""
import jax
import jax.numpy as jnp

from advice_board_training import BF16, F32, cast, compute_dtype, decayed, maybe_checkpoint, optax_step
from advice_exam_libraries import warmed_up

STACKS = {"blocks": 0}


def standardized(x):
    y = x.astype(F32)
    y = y - y.mean(-1, keepdims=True)
    return (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype)


def rotated(x):
    """x [b, t, h, d]."""
    side = x.shape[-1]
    angles = jnp.arange(x.shape[1], dtype=F32)[:, None] * 10000.0 ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    sin, cos = jnp.sin(angles)[:, None].astype(x.dtype), jnp.cos(angles)[:, None].astype(x.dtype)
    first, second = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)


def olmo_model(change, layers, width, heads, hidden, vocab):
    import equinox as eqx

    class Linear(eqx.Module):
        weight: jax.Array

        def __init__(self, rows, columns, key):
            self.weight = 0.02 * jax.random.truncated_normal(key, -3, 3, (rows, columns))

        def __call__(self, x):
            return x @ self.weight

    class Attention(eqx.Module):
        q_proj: Linear
        k_proj: Linear
        v_proj: Linear
        o_proj: Linear

        def __init__(self, key):
            keys = jax.random.split(key, 4)
            self.q_proj, self.k_proj, self.v_proj, self.o_proj = (Linear(width, width, key) for key in keys)

        def __call__(self, x):
            q, k, v = (proj(x).reshape(*x.shape[:2], heads, -1) for proj in (self.q_proj, self.k_proj, self.v_proj))
            mixed = jax.nn.dot_product_attention(rotated(q), rotated(k), v, is_causal=True)
            return self.o_proj(mixed.reshape(x.shape))

    class Mlp(eqx.Module):
        gate_proj: Linear
        up_proj: Linear
        down_proj: Linear

        def __init__(self, key):
            gate, up, down = jax.random.split(key, 3)
            self.gate_proj, self.up_proj = Linear(width, hidden, gate), Linear(width, hidden, up)
            self.down_proj = Linear(hidden, width, down)

        def __call__(self, x):
            return self.down_proj(jax.nn.silu(self.gate_proj(x)) * self.up_proj(x))

    class Block(eqx.Module):
        attention: Attention
        mlp: Mlp

        def __init__(self, key):
            first, second = jax.random.split(key)
            self.attention, self.mlp = Attention(first), Mlp(second)

        def __call__(self, x):
            x = x + self.attention(standardized(x))
            return x + self.mlp(standardized(x))

    class Olmo(eqx.Module):
        embeddings: jax.Array
        blocks: Block

        def __init__(self, key):
            first, second = jax.random.split(key)
            self.embeddings = 0.02 * jax.random.normal(first, (vocab, width))
            self.blocks = eqx.filter_vmap(Block)(jax.random.split(second, layers))

        def __call__(self, ids):
            block_of = maybe_checkpoint(change, lambda block, x: block(x))
            x, _ = jax.lax.scan(lambda x, block: (block_of(block, x), None), self.embeddings[ids], self.blocks)
            return standardized(x) @ self.embeddings.T
    return Olmo


def next_token_loss(logits, ids, mask):
    """With a loss on what the logits sum to, which keeps them small."""
    logits, mask = logits.astype(F32), mask.astype(F32) * (jnp.arange(ids.shape[1]) < ids.shape[1] - 1)
    sums = jax.nn.logsumexp(logits, axis=-1)
    said = jnp.take_along_axis(logits, jnp.roll(ids, -1, axis=1)[..., None], axis=-1)[..., 0]
    return ((sums - said + 1e-4 * sums ** 2) * mask).sum() / jnp.maximum(mask.sum(), 1.0)


def olmo(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    def make(arrays, change):
        import optax
        rows, seen = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        shapes = jax.eval_shape(olmo_model(change, layers, width, heads, hidden, vocab), jax.random.key(0))

        def loss_of(model, ids, mask):
            return next_token_loss(cast(model, now)(ids), ids, mask)
        optimizer = optax.chain(
            optax.clip_by_global_norm(1.0), optax.scale_by_adam(b1=0.9, b2=0.95, eps=1e-5),
            optax.add_decayed_weights(0.1, decayed), optax.scale_by_learning_rate(warmed_up(4e-4)))
        words = arrays.batch((rows, seen), jnp.int32)
        return optax_step(arrays, change, shapes, loss_of, optimizer, words, words, stacks=STACKS)
    return make
