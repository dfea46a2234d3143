"""A sparse mixture of experts language model in training: 16 layers, 16 heads, 16 experts, 16 texts in a batch.

flax nnx; the layers are made by nnx.vmap and run by nnx.scan. Two experts see each token, each expert has room for so
many of every text, and tokens are dealt by one-hot tensors as in GShard; the two losses that keep the router even are
summed over the layers. Mixed precision.
"""
import jax
import jax.numpy as jnp
from flax import nnx

from advice_board_changes import laid_out, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, decayed, value_and_mean_grad


def weight(rngs, *shape):
    return nnx.Param(nnx.initializers.truncated_normal(0.02)(rngs.params(), shape, F32))


class Attention(nnx.Module):
    def __init__(self, width, heads, dtype, rngs):
        self.qkv = nnx.LinearGeneral(width, (3, heads, width // heads), use_bias=False, dtype=dtype, rngs=rngs)
        self.out = nnx.LinearGeneral((heads, width // heads), width, axis=(-2, -1), use_bias=False, dtype=dtype,
                                     rngs=rngs)

    def __call__(self, x, bias):
        q, k, v = (a[:, :, 0] for a in jnp.split(self.qkv(x), 3, axis=2))
        logits = jnp.einsum("bqhd,bkhd->bhqk", q, k) * q.shape[-1] ** -0.5
        probs = nnx.softmax(logits.astype(F32) + bias, axis=-1).astype(x.dtype)
        return self.out(jnp.einsum("bhqk,bkhd->bqhd", probs, v))


class SparseMoE(nnx.Module):
    def __init__(self, width, hidden, experts, top_k, capacity_factor, dtype, rngs):
        self.router = nnx.Linear(width, experts, use_bias=False, dtype=F32, rngs=rngs)
        self.w_in = weight(rngs, experts, width, hidden)
        self.w_gate = weight(rngs, experts, width, hidden)
        self.w_out = weight(rngs, experts, hidden, width)
        self.experts, self.top_k, self.capacity_factor, self.dtype = experts, top_k, capacity_factor, dtype

    def route(self, x):
        """[group, tokens, experts, capacity]: what goes where, by what weight; and the two losses."""
        tokens = x.shape[1]
        capacity = max(int(self.capacity_factor * self.top_k * tokens / self.experts), 4)
        logits = self.router(x.astype(F32))
        probs = nnx.softmax(logits, axis=-1)
        gates, chosen = jax.lax.top_k(probs, self.top_k)
        gates = gates / gates.sum(-1, keepdims=True)
        combine, filled = 0.0, jnp.zeros((x.shape[0], 1, self.experts), F32)
        for i in range(self.top_k):
            mask = nnx.one_hot(chosen[..., i], self.experts, dtype=F32)
            place = (jnp.cumsum(mask, axis=1) - 1.0 + filled) * mask
            filled = filled + mask.sum(axis=1, keepdims=True)
            mask = mask * (place < capacity)
            slots = nnx.one_hot(place.sum(-1).astype(jnp.int32), capacity, dtype=F32)
            combine = combine + jnp.einsum("gt,gte,gtc->gtec", gates[..., i], mask, slots)
        first = nnx.one_hot(chosen[..., 0], self.experts, dtype=F32)
        balance = self.experts * (first.mean(axis=(0, 1)) * probs.mean(axis=(0, 1))).sum()
        z_loss = jnp.square(jax.nn.logsumexp(logits, axis=-1)).mean()
        return combine.astype(self.dtype), (combine > 0).astype(self.dtype), 0.01 * balance + 0.001 * z_loss

    def __call__(self, x):
        combine, dispatch, loss = self.route(x)
        w_in, w_gate, w_out = (w[...].astype(self.dtype) for w in (self.w_in, self.w_gate, self.w_out))
        dealt = jnp.einsum("gtec,gtd->egcd", dispatch, x)
        h = nnx.silu(jnp.einsum("egcd,edf->egcf", dealt, w_gate)) * jnp.einsum("egcd,edf->egcf", dealt, w_in)
        done = jnp.einsum("egcf,efd->egcd", h, w_out)
        return jnp.einsum("gtec,egcd->gtd", combine, done), loss


class Block(nnx.Module):
    def __init__(self, width, heads, moe, dtype, rngs):
        self.norm1 = nnx.RMSNorm(width, dtype=dtype, rngs=rngs)
        self.attention = Attention(width, heads, dtype, rngs)
        self.norm2 = nnx.RMSNorm(width, dtype=dtype, rngs=rngs)
        self.moe = SparseMoE(width, **moe, dtype=dtype, rngs=rngs)

    def __call__(self, x, bias):
        x = x + self.attention(self.norm1(x), bias)
        y, loss = self.moe(self.norm2(x))
        return x + y, loss


class MoELM(nnx.Module):
    def __init__(self, layers, width, heads, vocab, length, moe, dtype, change, rngs):
        self.embed = nnx.Embed(vocab, width, dtype=dtype, rngs=rngs)
        self.places = weight(rngs, length, width)

        @nnx.split_rngs(splits=layers)
        @nnx.vmap(in_axes=0, out_axes=0)
        def made(rngs):
            return Block(width, heads, moe, dtype, rngs)
        self.layers = made(rngs)
        self.norm = nnx.RMSNorm(width, dtype=dtype, rngs=rngs)
        self.dtype, self.change = dtype, change

    def __call__(self, tokens):
        length = tokens.shape[1]
        x = self.embed(tokens) + self.places[:length].astype(self.dtype)
        bias = jnp.where(jnp.tril(jnp.ones((length, length), bool)), 0.0, -1e30)

        def run(x, block):
            return block(x, bias)
        if self.change.rematerialize:
            run = nnx.remat(run, policy=checkpoint_policy(self.change))
        x, losses = nnx.scan(run, in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0))(x, self.layers)
        return self.embed.attend(self.norm(x)), losses.sum()


def moe_language_model(layers, width, heads, hidden, experts, vocab, batch, length, top_k=2, capacity_factor=1.25,
                       kind=BF16):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor
        moe = dict(hidden=hidden, experts=experts, top_k=top_k, capacity_factor=capacity_factor)
        model = nnx.eval_shape(lambda: MoELM(layers, width, heads, vocab, length, moe, compute_dtype(change, kind),
                                             change, nnx.Rngs(0)))
        graph, state, rest = nnx.split(model, nnx.Param, ...)
        params = cast(nnx.to_pure_dict(state), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 3e-4, 2000, 200_000), b2=0.95,
                                            weight_decay=0.1, mask=decayed))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, tokens):
            logits, router_loss = nnx.merge(graph, params, rest)(tokens[:, :-1])
            logits, wanted = logits.astype(F32), tokens[:, 1:]
            return optax.softmax_cross_entropy_with_integer_labels(logits, wanted).mean() + router_loss

        def train_step(params, opt_state, tokens):
            loss, grads = value_and_mean_grad(loss_of, change.parts)(params, tokens)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, loss

        stacks = {"layers": 0}
        tokens = arrays.batch((rows, words + 1), jnp.int32)
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), tokens), (0, 1)
    return make


FAMILY = {"tour_moe_sixteen": dict(
    make=moe_language_model(layers=16, width=1024, heads=16, hidden=2048, experts=16, vocab=32_000, batch=16,
                            length=512),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
