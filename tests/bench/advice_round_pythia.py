"""Pythia-1B is fine-tuned on instructions, all of its parameters, with AdamW.

In flax nnx, layers in a list: attention and feed-forward are parallel, a quarter of each head is rotated, and queries,
keys and values come of one projection. Parameters are float32, activations bfloat16. Prompts don't count in the loss.
"""
import jax
import jax.numpy as jnp
from flax import nnx

from advice_board_changes import laid_out, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed, value_and_mean_grad


def rotary(x, dims, base=10_000.0):
    """x: [batch, length, heads, size], of which the first `dims` turn."""
    turned, rest = x[..., :dims], x[..., dims:]
    inverse = 1.0 / base ** (jnp.arange(0, dims, 2) / dims)
    angles = jnp.arange(x.shape[1])[:, None] * inverse
    angles = jnp.concatenate([angles, angles], axis=-1)[None, :, None, :]
    first, second = jnp.split(turned, 2, axis=-1)
    swapped = jnp.concatenate([-second, first], axis=-1)
    turned = turned * jnp.cos(angles).astype(x.dtype) + swapped * jnp.sin(angles).astype(x.dtype)
    return jnp.concatenate([turned, rest], axis=-1)


class NeoXAttention(nnx.Module):
    def __init__(self, width, heads, rotary_pct, *, dtype, rngs):
        self.heads, self.dims = heads, int(width // heads * rotary_pct)
        self.query_key_value = nnx.Linear(width, 3 * width, dtype=dtype, rngs=rngs)
        self.dense = nnx.Linear(width, width, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        batch, length, width = x.shape
        qkv = self.query_key_value(x).reshape(batch, length, self.heads, 3 * width // self.heads)
        q, k, v = jnp.split(qkv, 3, axis=-1)
        q, k = rotary(q, self.dims), rotary(k, self.dims)
        out = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        return self.dense(out.reshape(batch, length, width))


class NeoXMLP(nnx.Module):
    def __init__(self, width, hidden, *, dtype, rngs):
        self.dense_h_to_4h = nnx.Linear(width, hidden, dtype=dtype, rngs=rngs)
        self.dense_4h_to_h = nnx.Linear(hidden, width, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        return self.dense_4h_to_h(nnx.gelu(self.dense_h_to_4h(x), approximate=False))


class NeoXBlock(nnx.Module):
    def __init__(self, width, heads, hidden, rotary_pct, *, dtype, rngs):
        self.input_layernorm = nnx.LayerNorm(width, epsilon=1e-5, dtype=dtype, rngs=rngs)
        self.post_attention_layernorm = nnx.LayerNorm(width, epsilon=1e-5, dtype=dtype, rngs=rngs)
        self.attention = NeoXAttention(width, heads, rotary_pct, dtype=dtype, rngs=rngs)
        self.mlp = NeoXMLP(width, hidden, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        return x + self.attention(self.input_layernorm(x)) + self.mlp(self.post_attention_layernorm(x))


class Pythia(nnx.Module):
    def __init__(self, layers, width, heads, hidden, vocab, rotary_pct, *, dtype, remat, policy, rngs):
        self.embed_in = nnx.Embed(vocab, width, dtype=dtype, rngs=rngs)
        self.layers = nnx.List([NeoXBlock(width, heads, hidden, rotary_pct, dtype=dtype, rngs=rngs)
                                for _ in range(layers)])
        self.final_layer_norm = nnx.LayerNorm(width, epsilon=1e-5, dtype=dtype, rngs=rngs)
        self.embed_out = nnx.Linear(width, vocab, use_bias=False, dtype=dtype, rngs=rngs)
        self.remat, self.policy = remat, policy

    def __call__(self, input_ids):
        def run(block, x):
            return block(x)
        if self.remat:
            run = nnx.remat(run, policy=self.policy)
        x = self.embed_in(input_ids)
        for block in self.layers:
            x = run(block, x)
        return self.embed_out(self.final_layer_norm(x))


def pythia_instructions(layers, width, heads, hidden, vocab, batch, length, rotary_pct=0.25):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor

        def create():
            return Pythia(layers, width, heads, hidden, vocab, rotary_pct, dtype=compute_dtype(change, BF16),
                          remat=change.rematerialize, policy=checkpoint_policy(change), rngs=nnx.Rngs(0))
        graphdef, params, others = nnx.split(nnx.eval_shape(create), nnx.Param, ...)
        assert not jax.tree.leaves(others), "no dropout, no statistics"
        params = cast(params, change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-5, 100, 3_000)
        tx = optax.chain(optax.clip_by_global_norm(1.0),
                         optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=0.1, mask=decayed))
        opt_state = jax.eval_shape(tx.init, params)

        def loss_fn(params, input_ids, completion_mask):
            model = nnx.merge(graphdef, params, others)
            logits = model(input_ids)[:, :-1].astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, input_ids[:, 1:])
            mask = completion_mask[:, 1:].astype(F32)
            return jnp.sum(losses * mask) / jnp.maximum(mask.sum(), 1.0)

        def train_step(params, opt_state, input_ids, completion_mask):
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(params, input_ids, completion_mask)
            norm = optax.global_norm(grads)
            params, opt_state = updated(tx, grads, opt_state, params)
            return params, opt_state, {"loss": loss, "grad_norm": norm}
        text = arrays.batch((rows, words), jnp.int32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), text, text), (0, 1)
    return make


FAMILY = {"round_pythia": dict(
    make=pythia_instructions(16, 2048, 8, 8192, 50304, batch=16, length=1024), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
