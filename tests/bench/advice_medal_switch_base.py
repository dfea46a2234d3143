"""Switch Transformer (base, 8 experts): T5's encoder and decoder where every second MLP is a top-1 mixture of experts.

Flax linen, modules in loops, float32 weights, bfloat16 compute and a float32 router; tokens go to experts by one-hot
dispatch within their row, at a capacity of 1.25. Span corruption of 512 tokens to 128, Adafactor, nothing donated.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import computing, laid_out, policy_of, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast

VOCAB, D, FF, HEADS, DEPTH, EXPERTS = 32128, 768, 3072, 12, 12, 8


def buckets(queries, keys, both, count=32, far=128):
    gap = np.arange(keys)[None, :] - np.arange(queries)[:, None]
    out = np.zeros_like(gap)
    if both:
        count //= 2
        out += (gap > 0) * count
        gap = np.abs(gap)
    else:
        gap = -np.minimum(gap, 0)
    exact = count // 2
    large = exact + (np.log(np.maximum(gap, 1) / exact) / np.log(far / exact) * (count - exact)).astype(int)
    return out + np.where(gap < exact, gap, np.minimum(large, count - 1))


class RMSNorm(nn.Module):
    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        y = x.astype(F32)
        y = y * jax.lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)
        return (y * scale.astype(F32)).astype(x.dtype)


class Attention(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x, memory, bias):
        def dense(name):
            return nn.DenseGeneral((HEADS, D // HEADS), use_bias=False, dtype=self.dtype, name=name)
        q, k, v = dense("q")(x), dense("k")(memory), dense("v")(memory)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) + bias
        weights = nn.softmax(scores).astype(self.dtype)
        out = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return nn.DenseGeneral(D, axis=(-2, -1), use_bias=False, dtype=self.dtype, name="o")(out)


class SwitchMLP(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x):
        capacity = max(4, int(1.25 * x.shape[1] / EXPERTS))
        probs = nn.softmax(nn.Dense(EXPERTS, use_bias=False, dtype=F32, name="router")(x.astype(F32)))
        chosen = jax.nn.one_hot(jnp.argmax(probs, -1), EXPERTS, dtype=F32)
        place = jnp.cumsum(chosen, axis=1) * chosen - 1
        dispatch = jax.nn.one_hot(place.astype(jnp.int32), capacity, dtype=self.dtype)
        combine = dispatch * (probs * chosen)[..., None].astype(self.dtype)
        init = nn.initializers.lecun_normal(batch_axis=0)
        wi = self.param("wi", init, (EXPERTS, D, FF)).astype(self.dtype)
        wo = self.param("wo", init, (EXPERTS, FF, D)).astype(self.dtype)
        inputs = jnp.einsum("btec,btd->becd", dispatch, x)
        hidden = nn.relu(jnp.einsum("becd,edf->becf", inputs, wi))
        out = jnp.einsum("becf,efd->becd", hidden, wo)
        balance = EXPERTS * jnp.mean(jnp.sum(chosen.mean(1) * probs.mean(1), -1))
        return jnp.einsum("btec,becd->btd", combine, out), balance


class Layer(nn.Module):
    dtype: object
    sparse: bool
    cross: bool
    rate: float = 0.1

    @nn.compact
    def __call__(self, x, bias, memory=None, memory_bias=None):
        def drop(y):
            return nn.Dropout(self.rate, deterministic=False)(y)
        y = RMSNorm()(x)
        x = x + drop(Attention(self.dtype, name="self")(y, y, bias))
        if self.cross:
            x = x + drop(Attention(self.dtype, name="cross")(RMSNorm()(x), memory, memory_bias))
        y, balance = RMSNorm()(x), jnp.zeros((), F32)
        if self.sparse:
            y, balance = SwitchMLP(self.dtype, name="moe")(y)
        else:
            y = drop(nn.relu(nn.Dense(FF, use_bias=False, dtype=self.dtype, name="wi")(y)))
            y = nn.Dense(D, use_bias=False, dtype=self.dtype, name="wo")(y)
        return x + drop(y), balance


class Switch(nn.Module):
    dtype: object
    change: object

    @nn.compact
    def __call__(self, source, target):
        block = nn.remat(Layer, policy=policy_of(self.change)) if self.change.rematerialize else Layer
        embed = nn.Embed(VOCAB, D, dtype=self.dtype, embedding_init=nn.initializers.normal(1.0), name="shared")

        def relative(length, both, name):
            table = self.param(name, nn.initializers.normal(0.1), (32, HEADS))
            return table[buckets(length, length, both)].transpose(2, 0, 1)[None].astype(F32)
        padding = jnp.where(source > 0, 0.0, -1e9)[:, None, None]
        bias = relative(source.shape[1], True, "encoder_bias") + padding
        x, total = embed(source), 0.0
        for i in range(DEPTH):
            x, balance = block(self.dtype, i % 2 == 1, False, name=f"encoder_{i}")(x, bias)
            total += balance
        memory = RMSNorm(name="encoder_norm")(x)
        causal = jnp.where(np.tril(np.ones((target.shape[1],) * 2, bool)), 0.0, -1e9)
        bias = relative(target.shape[1], False, "decoder_bias") + causal
        x = embed(jnp.pad(target[:, :-1], ((0, 0), (1, 0))))
        for i in range(DEPTH):
            x, balance = block(self.dtype, i % 2 == 1, True, name=f"decoder_{i}")(x, bias, memory, padding)
            total += balance
        x = RMSNorm(name="decoder_norm")(x)
        return nn.Dense(VOCAB, use_bias=False, dtype=self.dtype, name="lm_head")(x), total / DEPTH


def switch(batch, inputs, targets):
    def make(arrays, change):
        rows, n, m = batch // change.batch_divisor, inputs // change.length_divisor, targets // change.length_divisor
        model = Switch(computing(change, BF16), change)
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        some = jnp.zeros((1, 32), jnp.int32)
        params = cast(jax.eval_shape(model.init, keys, some, some)["params"], change.stored)
        optimizer = optax.adafactor(lambda i: 0.01 * jax.lax.rsqrt(jnp.maximum(i, 10_000.0)), momentum=None)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, source, target):
            logits, balance = model.apply({"params": params}, source, target, rngs={"dropout": key})
            weights = (target > 0).astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), target)
            loss = jnp.sum(losses * weights) / jnp.maximum(weights.sum(), 1.0)
            return loss + 0.01 * balance, {"nll": loss, "balance": balance}

        def train_step(params, opt_state, key, source, target):
            key, now = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, now, source, target)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                            arrays.batch((rows, n), jnp.int32), arrays.batch((rows, m), jnp.int32)), (0, 1)
    return make


FAMILY = {"medal_switch_base": dict(
    make=switch(batch=32, inputs=512, targets=128), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
