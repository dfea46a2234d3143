"""GRPO on Qwen2.5-1.5B: one update of the policy from sampled answers whose advantages are known.

In flax nnx. The frozen reference (bfloat16) runs within the step; the loss has clipped ratios to what the sampler had
and the k3 estimate of KL, averaged over each answer and then over answers. Logits are made for answers only.
"""
import jax
import jax.numpy as jnp
from flax import nnx

from advice_board_changes import summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed, on_chips


def rotary(x, places, theta=1e6):
    """x [b, t, h, d], places [b, t]"""
    side = x.shape[-1]
    angles = places[..., None].astype(F32) * theta ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    cos, sin = jnp.cos(angles)[:, :, None], jnp.sin(angles)[:, :, None]
    left, right = jnp.split(x.astype(F32), 2, axis=-1)
    return jnp.concatenate([left * cos - right * sin, right * cos + left * sin], axis=-1).astype(x.dtype)


class Attention(nnx.Module):
    def __init__(self, width, heads, groups, side, dtype, rngs):
        self.heads, self.groups, self.side = heads, groups, side
        self.q_proj = nnx.Linear(width, heads * side, dtype=dtype, rngs=rngs)
        self.k_proj = nnx.Linear(width, groups * side, dtype=dtype, rngs=rngs)
        self.v_proj = nnx.Linear(width, groups * side, dtype=dtype, rngs=rngs)
        self.o_proj = nnx.Linear(heads * side, width, use_bias=False, dtype=dtype, rngs=rngs)

    def __call__(self, x, places, mask):
        rows, length, _ = x.shape
        q = rotary(self.q_proj(x).reshape(rows, length, self.heads, self.side), places)
        k = rotary(self.k_proj(x).reshape(rows, length, self.groups, self.side), places)
        v = self.v_proj(x).reshape(rows, length, self.groups, self.side)
        k, v = (jnp.repeat(y, self.heads // self.groups, axis=2) for y in (k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * self.side ** -0.5
        probs = nnx.softmax(jnp.where(mask, scores, jnp.finfo(F32).min), axis=-1).astype(x.dtype)
        return self.o_proj(jnp.einsum("bhqk,bkhd->bqhd", probs, v).reshape(rows, length, -1))


class MLP(nnx.Module):
    def __init__(self, width, hidden, dtype, rngs):
        self.gate_proj = nnx.Linear(width, hidden, use_bias=False, dtype=dtype, rngs=rngs)
        self.up_proj = nnx.Linear(width, hidden, use_bias=False, dtype=dtype, rngs=rngs)
        self.down_proj = nnx.Linear(hidden, width, use_bias=False, dtype=dtype, rngs=rngs)

    def __call__(self, x):
        return self.down_proj(nnx.silu(self.gate_proj(x)) * self.up_proj(x))


class DecoderLayer(nnx.Module):
    def __init__(self, width, heads, groups, side, hidden, dtype, rngs):
        self.input_layernorm = nnx.RMSNorm(width, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.self_attn = Attention(width, heads, groups, side, dtype, rngs)
        self.post_attention_layernorm = nnx.RMSNorm(width, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.mlp = MLP(width, hidden, dtype, rngs)

    def __call__(self, x, places, mask):
        x = x + self.self_attn(self.input_layernorm(x), places, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Qwen2(nnx.Module):
    def __init__(self, layers, width, heads, groups, side, hidden, vocab, dtype, change, rngs):
        self.embed_tokens = nnx.Embed(vocab, width, dtype=dtype, rngs=rngs)
        self.layers = nnx.List([DecoderLayer(width, heads, groups, side, hidden, dtype, rngs) for _ in range(layers)])
        self.norm = nnx.RMSNorm(width, epsilon=1e-6, dtype=dtype, rngs=rngs)
        self.change = change

    def __call__(self, tokens, real, keep):
        """Logits of the last `keep` tokens; the word embedding is tied to them."""
        places = jnp.maximum(jnp.cumsum(real, axis=1) - 1, 0)
        size = tokens.shape[1]
        mask = jnp.tril(jnp.ones((size, size), bool)) & real[:, None, None].astype(bool)

        def run(layer, x):
            return layer(x, places, mask)
        if self.change.rematerialize:
            run = nnx.remat(run, policy=checkpoint_policy(self.change))
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = run(layer, x)
        return self.embed_tokens.attend(self.norm(x[:, -keep:]))


def selected_log_softmax(logits, chosen):
    picked = jnp.take_along_axis(logits, chosen[..., None], axis=-1)[..., 0]
    return picked - jax.nn.logsumexp(logits, axis=-1)


def grpo_update(layers, width, heads, groups, side, hidden, vocab, batch, prompt, answer, beta=0.04, clip=0.2,
                temperature=0.9, kind=BF16):
    def make(arrays, change):
        import optax
        rows = batch // change.batch_divisor
        asked, said = prompt // change.length_divisor, answer // change.length_divisor
        model = nnx.eval_shape(lambda: Qwen2(layers, width, heads, groups, side, hidden, vocab,
                                             compute_dtype(change, kind), change, nnx.Rngs(0)))
        graph, shapes = nnx.split(model, nnx.Param)
        policy, reference = cast(shapes, change.stored), cast(shapes, BF16)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(optax.linear_schedule(1e-6, 0.0, 2000), weight_decay=0.01, mask=decayed))
        opt_state = jax.eval_shape(optimizer.init, policy)

        def log_probs(weights, tokens, real):
            logits = nnx.merge(graph, weights, copy=True)(tokens, real, said + 1)[:, :-1]
            return selected_log_softmax(logits.astype(F32) / temperature, tokens[:, -said:])

        def grpo_step(policy, opt_state, reference, tokens, real, sampled_logps, advantages):
            def loss_of(policy, _, tokens, real, sampled_logps, advantages):
                counted = real[:, -said:].astype(F32)
                lengths = jnp.maximum(counted.sum(-1), 1.0)
                frozen = jax.lax.stop_gradient(log_probs(reference, tokens, real))
                logps = log_probs(policy, tokens, real)
                ratio = jnp.exp(logps - sampled_logps.astype(F32))
                gain = advantages.astype(F32)[:, None]
                better = jnp.minimum(ratio * gain, jnp.clip(ratio, 1 - clip, 1 + clip) * gain)
                kl = jnp.exp(frozen - logps) - (frozen - logps) - 1
                loss = (((beta * kl - better) * counted).sum(-1) / lengths).mean()
                clipped = (jnp.abs(ratio - 1) > clip) * counted
                return loss, {"kl": (kl * counted).sum() / lengths.sum(), "clipped": clipped.sum() / lengths.sum()}
            loss, metrics, grads = summed_slopes(loss_of, change.parts)(
                policy, None, tokens, real, sampled_logps, advantages)
            policy, opt_state = updated(optimizer, grads, opt_state, policy)
            return policy, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        text = arrays.batch((rows, asked + said), jnp.int32)
        return grpo_step, (on_chips(arrays, policy), on_chips(arrays, opt_state), on_chips(arrays, reference), text,
                           text, arrays.batch((rows, said), F32), arrays.batch((rows,), F32)), (0, 1)
    return make
