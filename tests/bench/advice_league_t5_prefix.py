"""T5 v1.1 (base) learns to summarize: prefixed articles of 512 pieces, summaries of 128.

flax.linen with layers in a loop, all in float32 as flax's examples have it: relative position biases of the first
layer are shared by all of a stack, gated gelu, dropout, label smoothing and z loss, adafactor with its own scale of
steps. The script does not donate its state.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

PAD, START = 0, 0


def relative_buckets(rows, columns, is_both_ways, buckets=32, furthest=128):
    distance = np.arange(columns)[None, :] - np.arange(rows)[:, None]
    bucket = np.zeros_like(distance)
    if is_both_ways:
        buckets //= 2
        bucket += (distance > 0) * buckets
        distance = np.abs(distance)
    else:
        distance = -np.minimum(distance, 0)
    exact = buckets // 2
    far = exact + (np.log(np.maximum(distance, 1) / exact) / np.log(furthest / exact) * (buckets - exact)).astype(int)
    return bucket + np.where(distance < exact, distance, np.minimum(far, buckets - 1))


class RelativeBias(nn.Module):
    heads: int
    is_both_ways: bool
    dtype: object

    @nn.compact
    def __call__(self, length):
        table = nn.Embed(32, self.heads, dtype=self.dtype, name="rel_embedding")
        return table(jnp.asarray(relative_buckets(length, length, self.is_both_ways))).transpose(2, 0, 1)[None]


class RMSNorm(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x):
        scale = self.param("scale", nn.initializers.ones, (x.shape[-1],))
        x32 = x.astype(F32)
        x32 = x32 * jax.lax.rsqrt(jnp.mean(jnp.square(x32), -1, keepdims=True) + 1e-6)
        return (x32 * scale.astype(F32)).astype(self.dtype)


class Attention(nn.Module):
    heads: int
    head: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x, memory, bias):
        def project(name, x):
            y = nn.Dense(self.heads * self.head, use_bias=False, dtype=self.dtype, name=name)(x)
            return y.reshape(*x.shape[:2], self.heads, self.head)
        q, k, v = project("q", x), project("k", memory), project("v", memory)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) + bias
        weights = jax.nn.softmax(scores.astype(F32), axis=-1).astype(self.dtype)
        weights = nn.Dropout(self.dropout, deterministic=False)(weights)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(*x.shape[:2], -1)
        return nn.Dense(x.shape[-1], use_bias=False, dtype=self.dtype, name="o")(mixed)


class GatedGelu(nn.Module):
    hidden: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x):
        gate, up, down = (nn.Dense(size, use_bias=False, dtype=self.dtype, name=name) for size, name in (
            (self.hidden, "wi_0"), (self.hidden, "wi_1"), (x.shape[-1], "wo")))
        return down(nn.Dropout(self.dropout, deterministic=False)(nn.gelu(gate(x)) * up(x)))


class Layer(nn.Module):
    heads: int
    head: int
    hidden: int
    dropout: float
    dtype: object
    is_decoder: bool = False

    @nn.compact
    def __call__(self, x, own_bias, memory=None, memory_bias=None):
        drop = nn.Dropout(self.dropout, deterministic=False)

        def attention(name):
            return Attention(self.heads, self.head, self.dropout, self.dtype, name=name)
        y = RMSNorm(self.dtype, name="self_norm")(x)
        x = x + drop(attention("self")(y, y, own_bias))
        if self.is_decoder:
            y = RMSNorm(self.dtype, name="cross_norm")(x)
            x = x + drop(attention("cross")(y, memory, memory_bias))
        y = RMSNorm(self.dtype, name="ffn_norm")(x)
        return x + drop(GatedGelu(self.hidden, self.dropout, self.dtype, name="ffn")(y))


class T5(nn.Module):
    layers: int
    width: int
    heads: int
    hidden: int
    vocab: int
    dropout: float
    dtype: object
    remat: bool
    policy: object

    @nn.compact
    def __call__(self, source, target_in):
        embed = nn.Embed(self.vocab, self.width, dtype=self.dtype, name="shared")
        layer = nn.remat(Layer, policy=self.policy) if self.remat else Layer
        sizes = (self.heads, self.width // self.heads, self.hidden, self.dropout, self.dtype)
        drop = nn.Dropout(self.dropout, deterministic=False)
        unseen = jnp.where(source == PAD, -1e9, 0.0)[:, None, None, :].astype(self.dtype)
        bias = RelativeBias(self.heads, True, self.dtype, name="encoder_bias")(source.shape[1]) + unseen
        x = drop(embed(source))
        for i in range(self.layers):
            x = layer(*sizes, name=f"encoder_{i}")(x, bias)
        memory = drop(RMSNorm(self.dtype, name="encoder_norm")(x))
        length = target_in.shape[1]
        future = jnp.where(jnp.tril(jnp.ones((length, length), bool)), 0.0, -1e9).astype(self.dtype)
        bias = RelativeBias(self.heads, False, self.dtype, name="decoder_bias")(length) + future
        y = drop(embed(target_in))
        for i in range(self.layers):
            y = layer(*sizes, is_decoder=True, name=f"decoder_{i}")(y, bias, memory, unseen)
        y = drop(RMSNorm(self.dtype, name="decoder_norm")(y))
        return nn.Dense(self.vocab, use_bias=False, dtype=self.dtype, name="lm_head")(y)


def t5_summaries(layers, width, heads, hidden, vocab, batch, source_length, target_length, dropout=0.1, kind=F32):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        read, written = source_length // change.length_divisor, target_length // change.length_divisor
        model = T5(layers, width, heads, hidden, vocab, dropout, compute_dtype(change, kind), change.rematerialize,
                   checkpoint_policy(change))
        tokens, rngs = jnp.zeros((1, 8), jnp.int32), {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        params = cast(jax.eval_shape(model.init, rngs, tokens, tokens)["params"], change.stored)
        optimizer = optax.adafactor(optax.linear_schedule(1e-3, 1e-4, 30_000), weight_decay_rate=None)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, source, target):
            shifted = jnp.pad(target[:, :-1], ((0, 0), (1, 0)), constant_values=START)
            logits = model.apply({"params": params}, source, shifted, rngs={"dropout": key}).astype(F32)
            soft = optax.smooth_labels(jax.nn.one_hot(target, vocab), 0.1)
            losses = optax.softmax_cross_entropy(logits, soft)
            losses = losses + 1e-4 * jnp.square(jax.nn.logsumexp(logits, -1))
            weights = (target != PAD).astype(F32)
            weights = weights / jnp.maximum(weights.sum(), 1.0)
            return (losses * weights).sum(), ((logits.argmax(-1) == target) * weights).sum()

        def train_step(params, opt_state, key, source, target):
            key, dropout_key = jax.random.split(key)
            loss, accuracy, grads = summed_slopes(loss_fn, change.parts)(params, dropout_key, source, target)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, "accuracy": accuracy.mean()}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                            arrays.batch((rows, read), jnp.int32), arrays.batch((rows, written), jnp.int32)), (0, 1)
    return make


FAMILY = {"league_t5_prefix": dict(
    make=t5_summaries(layers=12, width=768, heads=12, hidden=2048, vocab=32128, batch=32, source_length=512,
                      target_length=128),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
