"""OLMoE-like pretraining: 64 small experts, 8 of which see a token, and one shared expert as in DeepSeekMoE.

flax.linen with nn.scan over the layers. Tokens are sorted by expert and put into buffers of a fixed room (capacity
1.25); what does not fit is dropped. Norms on queries and keys, load balance and router z losses; AdamW, bfloat16
computation, router in float32.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, cross_entropy

STACKED = {"layers": 0}
INIT = nn.initializers.normal(0.02)


class RMSNorm(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        x32 = x.astype(F32)
        x32 = x32 * jax.lax.rsqrt(jnp.mean(jnp.square(x32), -1, keepdims=True) + 1e-5)
        return (x32 * scale.astype(F32)).astype(self.dtype)


def rope(x, theta=10_000.0):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * theta ** (-jnp.arange(half) / half)
    sin, cos = jnp.sin(angles)[None, :, None], jnp.cos(angles)[None, :, None]
    a, b = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


class Attention(nn.Module):
    heads: int
    dtype: object

    @nn.compact
    def __call__(self, x):
        batch, length, width = x.shape

        def dense(name):
            return nn.Dense(width, use_bias=False, dtype=self.dtype, kernel_init=INIT, name=name)
        q = RMSNorm(self.dtype, name="q_norm")(dense("q_proj")(x)).reshape(batch, length, self.heads, -1)
        k = RMSNorm(self.dtype, name="k_norm")(dense("k_proj")(x)).reshape(q.shape)
        v = dense("v_proj")(x).reshape(q.shape)
        mixed = jax.nn.dot_product_attention(rope(q), rope(k), v, is_causal=True, implementation="xla")
        return dense("o_proj")(mixed.reshape(x.shape))


class MoE(nn.Module):
    experts: int
    top_k: int
    hidden: int
    capacity_factor: float
    dtype: object

    @nn.compact
    def __call__(self, x):
        shape, width = x.shape, x.shape[-1]
        x = x.reshape(-1, width)
        tokens = x.shape[0]
        room = max(8, int(self.capacity_factor * tokens * self.top_k / self.experts) // 8 * 8)
        router = self.param("router", INIT, (width, self.experts))
        logits = x.astype(F32) @ router.astype(F32)
        probs = jax.nn.softmax(logits, -1)
        gates, chosen = jax.lax.top_k(probs, self.top_k)

        with jax.named_scope("dispatch"):
            flat = chosen.reshape(-1)
            order = jnp.argsort(flat, stable=True)
            expert = flat[order]
            counts = jnp.bincount(flat, length=self.experts)
            place = jnp.arange(flat.shape[0]) - (jnp.cumsum(counts) - counts)[expert]
            slot = jnp.where(place < room, expert * room + place, self.experts * room)
            source = order // self.top_k
            inbox = jnp.zeros((self.experts * room, width), self.dtype).at[slot].set(x[source], mode="drop")
            inbox = inbox.reshape(self.experts, room, width)
        with jax.named_scope("experts"):
            up_shape, down_shape = (self.experts, width, self.hidden), (self.experts, self.hidden, width)
            w_gate = self.param("w_gate", INIT, up_shape).astype(self.dtype)
            w_up = self.param("w_up", INIT, up_shape).astype(self.dtype)
            w_down = self.param("w_down", INIT, down_shape).astype(self.dtype)
            h = jax.nn.silu(jnp.einsum("ecd,edf->ecf", inbox, w_gate)) * jnp.einsum("ecd,edf->ecf", inbox, w_up)
            outbox = jnp.einsum("ecf,efd->ecd", h, w_down).reshape(-1, width)
        with jax.named_scope("combine"):
            back = outbox.at[slot].get(mode="fill", fill_value=0) * gates.reshape(-1)[order, None].astype(self.dtype)
            y = jnp.zeros_like(x).at[source].add(back)

        gate_up = nn.Dense(4 * self.hidden, use_bias=False, dtype=self.dtype, kernel_init=INIT, name="shared_in")(x)
        gate, up = jnp.split(gate_up, 2, -1)
        y = y + nn.Dense(width, use_bias=False, dtype=self.dtype, kernel_init=INIT,
                         name="shared_out")(jax.nn.silu(gate) * up)
        share = counts.astype(F32) / flat.shape[0]
        aux = {"balance": self.experts * jnp.sum(share * probs.mean(0)),
               "z": jnp.square(jax.nn.logsumexp(logits, -1)).mean(),
               "dropped": (place >= room).astype(F32).mean()}
        return y.reshape(shape), aux


class Block(nn.Module):
    heads: int
    experts: int
    top_k: int
    hidden: int
    dtype: object

    @nn.compact
    def __call__(self, x, _):
        x = x + Attention(self.heads, self.dtype, name="attn")(RMSNorm(self.dtype, name="attn_norm")(x))
        y, aux = MoE(self.experts, self.top_k, self.hidden, 1.25, self.dtype,
                     name="moe")(RMSNorm(self.dtype, name="ffn_norm")(x))
        return x + y, aux


class OLMoE(nn.Module):
    layers: int
    width: int
    vocab: int
    block: tuple
    dtype: object
    remat: bool
    policy: object

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocab, self.width, dtype=self.dtype, embedding_init=INIT, name="embed")(tokens)
        block = nn.remat(Block, prevent_cse=False, policy=self.policy) if self.remat else Block
        scanned = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, length=self.layers)
        x, aux = scanned(*self.block, self.dtype, name="layers")(x, None)
        x = RMSNorm(self.dtype, name="final_norm")(x)
        return nn.Dense(self.vocab, use_bias=False, dtype=self.dtype, kernel_init=INIT, name="lm_head")(x), aux


def olmoe(layers, width, heads, experts, top_k, hidden, vocab, batch, length, kind=BF16):
    def make(arrays, change):
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        model = OLMoE(layers, width, vocab, (heads, experts, top_k, hidden), compute_dtype(change, kind),
                      change.rematerialize, checkpoint_policy(change))
        params = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 16), jnp.int32))["params"]
        params = cast(params, change.stored)
        optimizer = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 4e-4, 2_000, 200_000, 4e-5), b1=0.9, b2=0.95,
                        weight_decay=0.1))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, tokens):
            logits, aux = model.apply({"params": params}, tokens[:, :-1])
            aux = jax.tree.map(jnp.mean, aux)
            loss = cross_entropy(logits, tokens[:, 1:])
            return loss + 0.01 * aux["balance"] + 0.001 * aux["z"], {"ce": loss, **aux}

        def train_step(params, opt_state, tokens):
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, None, tokens)
            metrics = {"loss": loss, "grad_norm": optax.global_norm(grads), **jax.tree.map(jnp.mean, metrics)}
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, metrics
        return train_step, (laid_out(arrays, params, STACKED), laid_out(arrays, opt_state, STACKED),
                            arrays.batch((rows, time + 1), jnp.int32)), (0, 1)
    return make


FAMILY = {"league_olmoe": dict(
    make=olmoe(layers=12, width=1024, heads=16, experts=64, top_k=8, hidden=512, vocab=50304, batch=8, length=1024),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
