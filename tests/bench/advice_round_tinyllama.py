"""TinyLlama-1.1B learns from preferences by DPO, beside a frozen copy of itself.

In flax linen with nn.scan over the blocks. Chosen and rejected answers go through the policy as one batch, the same
through the reference; RMSprop, as in the published code of DPO. Parameters are float32, activations bfloat16.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype


def apply_rope(x, base=10_000.0):
    size = x.shape[-1]
    frequencies = base ** (-jnp.arange(0, size, 2, dtype=F32) / size)
    angles = jnp.arange(x.shape[1], dtype=F32)[:, None] * frequencies
    sin, cos = jnp.sin(angles)[:, None, :], jnp.cos(angles)[:, None, :]
    first, second = jnp.split(x.astype(F32), 2, axis=-1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(x.dtype)


class LlamaAttention(nn.Module):
    heads: int
    kv_heads: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        size = x.shape[-1] // self.heads

        def project(heads, name):
            return nn.DenseGeneral((heads, size), use_bias=False, dtype=self.dtype, name=name)(x)
        q, k = apply_rope(project(self.heads, "q_proj")), apply_rope(project(self.kv_heads, "k_proj"))
        v = project(self.kv_heads, "v_proj")
        mixed = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        return nn.DenseGeneral(x.shape[-1], axis=(-2, -1), use_bias=False, dtype=self.dtype, name="o_proj")(mixed)


class LlamaMLP(nn.Module):
    hidden: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        def dense(size, name):
            return nn.Dense(size, use_bias=False, dtype=self.dtype, name=name)
        gate, up = dense(self.hidden, "gate_proj")(x), dense(self.hidden, "up_proj")(x)
        return dense(x.shape[-1], "down_proj")(nn.silu(gate) * up)


class LlamaBlock(nn.Module):
    heads: int
    kv_heads: int
    hidden: int
    dtype: object

    @nn.compact
    def __call__(self, x, _):
        h = nn.RMSNorm(epsilon=1e-5, dtype=self.dtype, name="input_layernorm")(x)
        x = x + LlamaAttention(self.heads, self.kv_heads, self.dtype, name="self_attn")(h)
        h = nn.RMSNorm(epsilon=1e-5, dtype=self.dtype, name="post_attention_layernorm")(x)
        return x + LlamaMLP(self.hidden, self.dtype, name="mlp")(h), None


class TinyLlama(nn.Module):
    depth: int
    width: int
    heads: int
    kv_heads: int
    hidden: int
    vocab: int
    dtype: object
    remat: bool = False
    policy: object = None

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocab, self.width, dtype=self.dtype, name="embed_tokens")(tokens)
        block = nn.remat(LlamaBlock, policy=self.policy, prevent_cse=False) if self.remat else LlamaBlock
        stack = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, length=self.depth)
        x, _ = stack(self.heads, self.kv_heads, self.hidden, self.dtype, name="layers")(x, None)
        x = nn.RMSNorm(epsilon=1e-5, dtype=self.dtype, name="norm")(x)
        return nn.Dense(self.vocab, use_bias=False, dtype=self.dtype, name="lm_head")(x)


def answer_logps(logits, tokens, mask):
    """The summed log-probability of the tokens in the mask, for each row."""
    logps = jax.nn.log_softmax(logits[:, :-1].astype(F32), axis=-1)
    each = jnp.take_along_axis(logps, tokens[:, 1:, None], axis=-1).squeeze(-1)
    return jnp.sum(each * mask[:, 1:].astype(F32), axis=-1)


def tinyllama_dpo(layers, width, heads, kv_heads, hidden, vocab, batch, length, beta=0.1, smoothing=0.0):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, BF16)
        policy = TinyLlama(layers, width, heads, kv_heads, hidden, vocab, now, change.rematerialize,
                           checkpoint_policy(change))
        reference = TinyLlama(layers, width, heads, kv_heads, hidden, vocab, now)
        made = jax.eval_shape(reference.init, jax.random.key(0), jnp.zeros((1, 8), jnp.int32))
        params = cast(made["params"], change.stored)
        tx = optax.chain(optax.clip_by_global_norm(10.0), optax.rmsprop(optax.linear_schedule(0.0, 5e-7, 150)))
        opt_state = jax.eval_shape(tx.init, params)

        def pair_logps(model, params, tokens, mask):
            logps = answer_logps(model.apply({"params": params}, tokens), tokens, mask)
            return logps.reshape(-1, 2).T

        def train_step(params, opt_state, reference_params, tokens, mask):
            """tokens, mask: [pairs, 2, length], the chosen answer and the rejected one, each after its prompt."""
            def dpo_loss(params, _, tokens, mask):
                tokens, mask = (one.reshape(-1, one.shape[-1]) for one in (tokens, mask))
                chosen, rejected = pair_logps(policy, params, tokens, mask)
                old_chosen, old_rejected = jax.lax.stop_gradient(pair_logps(reference, reference_params, tokens, mask))
                margin = beta * ((chosen - rejected) - (old_chosen - old_rejected))
                losses = -(1 - smoothing) * jax.nn.log_sigmoid(margin) - smoothing * jax.nn.log_sigmoid(-margin)
                return losses.mean(), {"margin": margin.mean(), "accuracy": (margin > 0).mean(),
                                       "chosen_reward": beta * (chosen - old_chosen).mean()}
            loss, metrics, grads = summed_slopes(dpo_loss, change.parts)(params, None, tokens, mask)
            params, opt_state = updated(tx, grads, opt_state, params)
            return params, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        stacks = {"layers": 0}
        state = laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), laid_out(arrays, params, stacks)
        tokens, mask = (arrays.batch((rows, 2, words), kind) for kind in (jnp.int32, jnp.bool_))
        return train_step, (*state, tokens, mask), (0, 1)
    return make


FAMILY = {"round_tinyllama": dict(
    make=tinyllama_dpo(22, 2048, 32, 4, 5632, 32000, batch=16, length=256), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
