"""A mixture of experts in the manner of Qwen1.5-MoE, made smaller: 32 small experts, four to a token, and a shared one.

flax nnx, twelve layers one by one. Tokens are dealt by scatter into slots of each expert and gathered back, with a
capacity; the shared expert has a gate of its own. Weights in float32, computed in bfloat16; AdamW without donation.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import laid_out, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed, value_and_mean_grad

init_fn = nnx.initializers.normal(0.02)


def rope(x, base=1_000_000.0):
    half = x.shape[-1] // 2
    freq = base ** (-jnp.arange(half, dtype=F32) / half)
    angle = (jnp.arange(x.shape[1], dtype=F32)[:, None] * freq)[None, :, None]
    x1, x2 = x[..., :half].astype(F32), x[..., half:].astype(F32)
    return jnp.concatenate([x1 * jnp.cos(angle) - x2 * jnp.sin(angle),
                            x2 * jnp.cos(angle) + x1 * jnp.sin(angle)], -1).astype(x.dtype)


class Attention(nnx.Module):
    def __init__(self, config, dtype, rngs):
        d, self.n_heads = config["hidden_size"], config["heads"]

        def dense(use_bias):
            return nnx.Linear(d, d, use_bias=use_bias, dtype=dtype, kernel_init=init_fn, rngs=rngs)
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = dense(True), dense(True), dense(True), dense(False)

    def __call__(self, x):
        b, s, d = x.shape
        q, k, v = (f(x).reshape(b, s, self.n_heads, -1) for f in (self.q_proj, self.k_proj, self.v_proj))
        out = jax.nn.dot_product_attention(rope(q), rope(k), v, is_causal=True)
        return self.o_proj(out.reshape(b, s, d))


class GatedMLP(nnx.Module):
    def __init__(self, d, hidden, dtype, rngs):
        kw = dict(use_bias=False, dtype=dtype, kernel_init=init_fn, rngs=rngs)
        self.gate_proj, self.up_proj = nnx.Linear(d, hidden, **kw), nnx.Linear(d, hidden, **kw)
        self.down_proj = nnx.Linear(hidden, d, **kw)

    def __call__(self, x):
        return self.down_proj(nnx.silu(self.gate_proj(x)) * self.up_proj(x))


class SparseMoeBlock(nnx.Module):
    def __init__(self, config, dtype, rngs):
        d, e, f = config["hidden_size"], config["experts"], config["expert_size"]
        self.e, self.k, self.factor, self.dtype = e, config["top_k"], config["capacity_factor"], dtype
        self.gate = nnx.Linear(d, e, use_bias=False, dtype=F32, kernel_init=init_fn, rngs=rngs)
        self.w_gate = nnx.Param(init_fn(rngs.params(), (e, d, f), F32))
        self.w_up = nnx.Param(init_fn(rngs.params(), (e, d, f), F32))
        self.w_down = nnx.Param(init_fn(rngs.params(), (e, f, d), F32))
        self.shared_expert = GatedMLP(d, config["shared_size"], dtype, rngs)
        self.shared_gate = nnx.Linear(d, 1, use_bias=False, dtype=dtype, kernel_init=init_fn, rngs=rngs)

    def __call__(self, x):
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        n = x.shape[0]
        capacity = int(self.factor * self.k * n / self.e)
        probs = nnx.softmax(self.gate(x.astype(F32)), axis=-1)
        weights, chosen = jax.lax.top_k(probs, self.k)
        flat = chosen.reshape(-1)
        onehot = nnx.one_hot(flat, self.e, dtype=jnp.int32)
        slot = jnp.take_along_axis(jnp.cumsum(onehot, axis=0) - 1, flat[:, None], axis=1)[:, 0]
        repeated = jnp.repeat(x, self.k, axis=0)
        buffer = jnp.zeros((self.e, capacity, shape[-1]), x.dtype).at[flat, slot].set(repeated, mode="drop")
        w_gate, w_up, w_down = (w[...].astype(self.dtype) for w in (self.w_gate, self.w_up, self.w_down))
        h = nnx.silu(jnp.einsum("ecd,edf->ecf", buffer, w_gate)) * jnp.einsum("ecd,edf->ecf", buffer, w_up)
        out = jnp.einsum("ecf,efd->ecd", h, w_down).at[flat, slot].get(mode="fill", fill_value=0)
        out = (out.reshape(n, self.k, -1) * weights[..., None].astype(out.dtype)).sum(1)
        out = out + nnx.sigmoid(self.shared_gate(x)) * self.shared_expert(x)
        load = onehot.sum(0).astype(F32) / flat.shape[0]
        return out.reshape(shape), self.e * jnp.sum(load * probs.mean(0))


class DecoderLayer(nnx.Module):
    def __init__(self, config, dtype, rngs):
        self.ln1 = nnx.RMSNorm(config["hidden_size"], dtype=dtype, rngs=rngs)
        self.self_attn = Attention(config, dtype, rngs)
        self.ln2 = nnx.RMSNorm(config["hidden_size"], dtype=dtype, rngs=rngs)
        self.mlp = SparseMoeBlock(config, dtype, rngs)

    def __call__(self, x):
        x = x + self.self_attn(self.ln1(x))
        y, aux = self.mlp(self.ln2(x))
        return x + y, aux


class QwenMoe(nnx.Module):
    def __init__(self, config, dtype, change, rngs):
        self.change, d = change, config["hidden_size"]
        self.embed = nnx.Embed(config["vocab"], d, dtype=dtype, embedding_init=init_fn, rngs=rngs)
        self.layers = nnx.List([DecoderLayer(config, dtype, rngs) for _ in range(config["layers"])])
        self.norm = nnx.RMSNorm(d, dtype=dtype, rngs=rngs)
        self.lm_head = nnx.Linear(d, config["vocab"], use_bias=False, dtype=dtype, kernel_init=init_fn, rngs=rngs)

    def __call__(self, ids):
        x, total = self.embed(ids), 0.0

        def run(layer, x):
            return layer(x)
        if self.change.rematerialize:
            run = nnx.remat(run, policy=checkpoint_policy(self.change))
        for layer in self.layers:
            x, aux = run(layer, x)
            total = total + aux
        return self.lm_head(self.norm(x)), total / len(self.layers)


def qwen_moe(batch, seq, aux_coef=0.001, **config):
    def make(arrays, change):
        b, s = batch // change.batch_divisor, seq // change.length_divisor
        model = nnx.eval_shape(lambda: QwenMoe(config, compute_dtype(change, BF16), change, nnx.Rngs(0)))
        graphdef, params, rest = nnx.split(model, nnx.Param, ...)
        params = cast(nnx.to_pure_dict(params), change.stored)
        tx = optax.adamw(optax.warmup_cosine_decay_schedule(0, 3e-4, 1000, 100_000), b2=0.95, weight_decay=0.1,
                         mask=decayed)
        opt_state = jax.eval_shape(tx.init, params)

        def loss_fn(params, ids, labels):
            logits, aux = nnx.merge(graphdef, params, rest)(ids)
            ce = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), jnp.maximum(labels, 0))
            valid = labels >= 0
            return jnp.where(valid, ce, 0).sum() / jnp.maximum(valid.sum(), 1) + aux_coef * aux

        def train_step(params, opt_state, ids, labels):
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(params, ids, labels)
            new_params, new_state = updated(tx, grads, opt_state, params)
            return new_params, new_state, loss

        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), arrays.batch((b, s), jnp.int32),
                            arrays.batch((b, s), jnp.int32)), (0, 1)
    return make


FAMILY = {"cup_qwen_moe": dict(
    make=qwen_moe(batch=8, seq=1024, hidden_size=1024, heads=16, layers=12, experts=32, top_k=4, expert_size=704,
                  shared_size=2816, capacity_factor=1.25, vocab=65_536),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
