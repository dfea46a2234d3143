"""Phi-tiny-MoE (3.8B, 16 experts of which two are used, 16 heads) is tuned on instructions, 16 rows of 256 tokens.

Flax linen, one nn.scan over 32 layers; weights and compute in bfloat16, norms, router and losses in float32. Tokens
go to experts by one-hot dispatch within their row, at a capacity of 1.25. Adafactor; nothing is donated.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import computing, laid_out, policy_of, summed_slopes, updated
from advice_board_training import BF16, F32, cast

VOCAB, WIDTH, LAYERS, HEADS, KV_HEADS, HEAD = 32064, 4096, 32, 16, 4, 128
EXPERTS, TOP, EXPERT_WIDTH, CAPACITY = 16, 2, 448, 1.25
STACKS = {"layers": 0}


class LayerNorm(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm(epsilon=1e-5, dtype=F32, name="norm")(x)
        return y.astype(x.dtype)


def rope(x, theta=10000.0):
    rates = 1.0 / theta ** (jnp.arange(0, HEAD, 2, dtype=F32) / HEAD)
    angle = jnp.arange(x.shape[1], dtype=F32)[:, None] * rates
    cos, sin = jnp.cos(angle)[None, :, None], jnp.sin(angle)[None, :, None]
    a, b = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


class Attention(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x, mask):
        rows, length, _ = x.shape

        def heads(name, count):
            return nn.Dense(count * HEAD, dtype=self.dtype, name=name)(x).reshape(rows, length, count, HEAD)
        q, k, v = heads("q_proj", HEADS), heads("k_proj", KV_HEADS), heads("v_proj", KV_HEADS)
        q, k = rope(q), rope(k)
        k, v = (jnp.repeat(t, HEADS // KV_HEADS, axis=2) for t in (k, v))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * HEAD ** -0.5
        weights = nn.softmax(jnp.where(mask, scores, -1e30)).astype(self.dtype)
        out = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(rows, length, HEADS * HEAD)
        return nn.Dense(WIDTH, dtype=self.dtype, name="o_proj")(out)


class SparseMLP(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x):
        rows, length, _ = x.shape
        capacity = max(4, int(CAPACITY * TOP * length / EXPERTS))
        probs = nn.softmax(nn.Dense(EXPERTS, use_bias=False, dtype=F32, name="router")(x.astype(F32)))
        gates, chosen = jax.lax.top_k(probs, TOP)
        chosen = jax.nn.one_hot(chosen, EXPERTS, dtype=F32)
        # first choices of all tokens go before second ones
        order = chosen.swapaxes(1, 2).reshape(rows, TOP * length, EXPERTS)
        place = ((jnp.cumsum(order, 1) - 1) * order).sum(-1).reshape(rows, TOP, length).swapaxes(1, 2)
        slots = jax.nn.one_hot(place.astype(jnp.int32), capacity, dtype=F32)
        dispatch = jnp.einsum("btke,btkc->btec", chosen, slots).astype(self.dtype)
        combine = jnp.einsum("btk,btke,btkc->btec", gates, chosen, slots).astype(self.dtype)

        init = nn.initializers.lecun_normal(batch_axis=0)
        w1 = self.param("w1", init, (EXPERTS, WIDTH, EXPERT_WIDTH)).astype(self.dtype)
        w3 = self.param("w3", init, (EXPERTS, WIDTH, EXPERT_WIDTH)).astype(self.dtype)
        w2 = self.param("w2", init, (EXPERTS, EXPERT_WIDTH, WIDTH)).astype(self.dtype)
        inputs = jnp.einsum("btec,btd->becd", dispatch, x)
        hidden = nn.silu(jnp.einsum("becd,edf->becf", inputs, w1)) * jnp.einsum("becd,edf->becf", inputs, w3)
        out = jnp.einsum("becf,efd->becd", hidden, w2)
        balance = EXPERTS * jnp.sum(chosen.sum(2).mean((0, 1)) * probs.mean((0, 1))) / TOP
        return jnp.einsum("btec,becd->btd", combine, out), balance


class DecoderLayer(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x, mask):
        x = x + Attention(self.dtype, name="self_attn")(LayerNorm(name="input_layernorm")(x), mask)
        y, balance = SparseMLP(self.dtype, name="moe")(LayerNorm(name="post_attention_layernorm")(x))
        return x + y, balance


class PhiTinyMoE(nn.Module):
    dtype: object
    change: object

    @nn.compact
    def __call__(self, tokens):
        block = DecoderLayer
        if self.change.rematerialize:
            block = nn.remat(DecoderLayer, policy=policy_of(self.change), prevent_cse=False)
        x = nn.Embed(VOCAB, WIDTH, dtype=self.dtype, name="embed_tokens")(tokens)
        mask = nn.make_causal_mask(tokens, dtype=bool)
        stack = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast,
                        length=LAYERS)
        x, balance = stack(self.dtype, name="layers")(x, mask)
        x = LayerNorm(name="norm")(x)
        return nn.Dense(VOCAB, dtype=self.dtype, name="lm_head")(x), balance.mean()


def tuning(batch, length, rate=1e-5):
    def make(arrays, change):
        rows, n = batch // change.batch_divisor, length // change.length_divisor
        model = PhiTinyMoE(computing(change, BF16), change)
        params = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 16), jnp.int32))["params"]
        params = cast(params, BF16)
        optimizer = optax.adafactor(rate, momentum=None)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, tokens, answers):
            logits, balance = model.apply({"params": params}, tokens)
            weights = answers[:, 1:].astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1].astype(F32), tokens[:, 1:])
            nll = jnp.sum(losses * weights) / jnp.maximum(weights.sum(), 1.0)
            return nll + 0.01 * balance, {"nll": nll, "balance": balance}

        def train_step(params, opt_state, tokens, answers):
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, None, tokens, answers)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        return train_step, (laid_out(arrays, params, STACKS), laid_out(arrays, opt_state, STACKS),
                            arrays.batch((rows, n), jnp.int32), arrays.batch((rows, n), jnp.bool_)), (0, 1)
    return make


FAMILY = {"crown_phi_tiny_moe": dict(
    make=tuning(batch=16, length=256), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
