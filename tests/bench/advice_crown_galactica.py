"""Galactica (1.3B) goes on learning from papers: all weights are tuned on packed rows, 24 layers in one nn.scan.

Flax linen; OPT's decoder with GELU and without biases, learned places, a tied embedding, dropout of 0.1. Float32
weights, bfloat16 compute with a float32 softmax, AdamW with clipping. The state is donated: it would not fit otherwise.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import computing, laid_out, matrices_only, policy_of, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast

VOCAB, DIM, LAYERS, HEADS, HIDDEN, PLACES, RATE = 50000, 2048, 24, 32, 8192, 2048, 0.1
HEAD_DIM = DIM // HEADS
INIT = nn.initializers.normal(0.02)


class Attention(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x, bias):
        def proj(name):
            return nn.DenseGeneral((HEADS, HEAD_DIM), use_bias=False, dtype=self.dtype, kernel_init=INIT, name=name)(x)
        q, k, v = proj("q_proj") * HEAD_DIM ** -0.5, proj("k_proj"), proj("v_proj")
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) + bias
        weights = jax.nn.softmax(scores, axis=-1).astype(self.dtype)
        weights = nn.Dropout(RATE, deterministic=False)(weights)
        out = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        return nn.DenseGeneral(DIM, axis=(-2, -1), use_bias=False, dtype=self.dtype, kernel_init=INIT,
                               name="out_proj")(out)


class Layer(nn.Module):
    dtype: object

    @nn.compact
    def __call__(self, x, bias):
        def norm(name):
            return nn.LayerNorm(epsilon=1e-5, use_bias=False, dtype=self.dtype, name=name)

        def dense(width, name):
            return nn.Dense(width, use_bias=False, dtype=self.dtype, kernel_init=INIT, name=name)
        drop = nn.Dropout(RATE, deterministic=False)
        x = x + drop(Attention(self.dtype, name="self_attn")(norm("self_attn_layer_norm")(x), bias))
        y = dense(HIDDEN, "fc1")(norm("final_layer_norm")(x))
        return x + drop(dense(DIM, "fc2")(nn.gelu(y))), None


class Galactica(nn.Module):
    dtype: object
    change: object

    @nn.compact
    def __call__(self, tokens):
        n = tokens.shape[1]
        embed = nn.Embed(VOCAB, DIM, dtype=self.dtype, embedding_init=INIT, name="embed_tokens")
        places = nn.Embed(PLACES + 2, DIM, dtype=self.dtype, embedding_init=INIT, name="embed_positions")
        layer = Layer
        if self.change.rematerialize:
            layer = nn.remat(Layer, policy=policy_of(self.change), prevent_cse=False)
        stack = nn.scan(layer, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True},
                        in_axes=nn.broadcast, length=LAYERS)
        bias = jnp.where(jnp.tril(jnp.ones((n, n), bool)), 0.0, jnp.finfo(F32).min)[None, None]
        x = embed(tokens) + places(jnp.arange(n) + 2)
        x = nn.Dropout(RATE, deterministic=False)(x)
        x, _ = stack(self.dtype, name="layers")(x, bias)
        x = nn.LayerNorm(epsilon=1e-5, use_bias=False, dtype=self.dtype, name="final_layer_norm")(x)
        return embed.attend(x).astype(F32)


def trainer(batch, length):
    def make(arrays, change):
        rows, n = batch // change.batch_divisor, length // change.length_divisor
        model = Galactica(computing(change, BF16), change)
        keys = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        params = cast(jax.eval_shape(model.init, keys, jnp.zeros((1, 16), jnp.int32))["params"], change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-5, 375, 20_000, 2e-6)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=0.1, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, tokens):
            logits = model.apply({"params": params}, tokens, rngs={"dropout": key})[:, :-1]
            targets = tokens[:, 1:]
            weights = (targets != 1).astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
            loss = (losses * weights).sum() / jnp.maximum(weights.sum(), 1.0)
            return loss, {"tokens": weights.sum()}

        def train_step(params, opt_state, key, tokens):
            key, now = jax.random.split(key)
            loss, aux, grads = summed_slopes(loss_fn, change.parts)(params, now, tokens)
            metrics = {"loss": loss, "tokens": aux["tokens"].sum(), "grad_norm": optax.global_norm(grads)}
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, metrics

        stacks = {"layers": 0}
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), raw_key(arrays),
                            arrays.batch((rows, n), jnp.int32)), (0, 1)
    return make


FAMILY = {"crown_galactica": dict(
    make=trainer(batch=8, length=768), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
