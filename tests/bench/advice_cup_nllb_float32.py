"""NLLB-200 (distilled, 600 million weights) tuned to translate one pair of languages: all in float32, flax linen.

Twelve layers of an encoder and twelve of a decoder, norms before, ReLU, sinusoidal places, one table of 256206 pieces
for both sides and the output. Padded batches, label smoothing of 0.1, Adam with an inverse square root schedule and
flax's TrainState, which isn't donated.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

from advice_board_changes import laid_out, raw_key, summed_slopes
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

PAD = 1


def sinusoids(n, d):
    inv = np.exp(np.arange(d // 2) * -(np.log(10000.0) / (d // 2 - 1)))
    ang = np.arange(n)[:, None] * inv[None]
    return np.concatenate([np.sin(ang), np.cos(ang)], axis=1).astype(np.float32)


class M2M100Attention(nn.Module):
    num_heads: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, hidden, kv, mask, deterministic):
        d = hidden.shape[-1]

        def proj(name, x):
            y = nn.Dense(d, dtype=self.dtype, name=name)(x)
            return y.reshape(*y.shape[:2], self.num_heads, d // self.num_heads)
        q, k, v = proj("q_proj", hidden), proj("k_proj", kv), proj("v_proj", kv)
        rng = None if deterministic else self.make_rng("dropout")
        out = nn.dot_product_attention(q, k, v, mask=mask, dropout_rng=rng, dropout_rate=self.dropout,
                                       deterministic=deterministic, dtype=self.dtype)
        return nn.Dense(d, dtype=self.dtype, name="out_proj")(out.reshape(hidden.shape))


class FeedForward(nn.Module):
    ffn_dim: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x, deterministic):
        y = nn.relu(nn.Dense(self.ffn_dim, dtype=self.dtype, name="fc1")(x))
        y = nn.Dense(x.shape[-1], dtype=self.dtype, name="fc2")(y)
        return nn.Dropout(self.dropout)(y, deterministic=deterministic)


class EncoderLayer(nn.Module):
    cfg: dict
    dtype: object

    @nn.compact
    def __call__(self, x, mask, deterministic):
        c = self.cfg
        y = nn.LayerNorm(dtype=self.dtype, name="self_attn_layer_norm")(x)
        y = M2M100Attention(c["heads"], c["attention_dropout"], self.dtype, name="self_attn")(y, y, mask, deterministic)
        x = x + nn.Dropout(c["dropout"])(y, deterministic=deterministic)
        y = nn.LayerNorm(dtype=self.dtype, name="final_layer_norm")(x)
        return x + FeedForward(c["ffn_dim"], c["dropout"], self.dtype, name="ffn")(y, deterministic)


class DecoderLayer(nn.Module):
    cfg: dict
    dtype: object

    @nn.compact
    def __call__(self, x, memory, mask, cross_mask, deterministic):
        c = self.cfg
        y = nn.LayerNorm(dtype=self.dtype, name="self_attn_layer_norm")(x)
        y = M2M100Attention(c["heads"], c["attention_dropout"], self.dtype, name="self_attn")(y, y, mask, deterministic)
        x = x + nn.Dropout(c["dropout"])(y, deterministic=deterministic)
        y = nn.LayerNorm(dtype=self.dtype, name="encoder_attn_layer_norm")(x)
        y = M2M100Attention(c["heads"], c["attention_dropout"], self.dtype, name="encoder_attn")(
            y, memory, cross_mask, deterministic)
        x = x + nn.Dropout(c["dropout"])(y, deterministic=deterministic)
        y = nn.LayerNorm(dtype=self.dtype, name="final_layer_norm")(x)
        return x + FeedForward(c["ffn_dim"], c["dropout"], self.dtype, name="ffn")(y, deterministic)


class NLLB(nn.Module):
    cfg: dict
    dtype: object
    change: object

    @nn.compact
    def __call__(self, source, target, deterministic=False):
        c, policy = self.cfg, checkpoint_policy(self.change)
        enc, dec = EncoderLayer, DecoderLayer
        if self.change.rematerialize:
            enc = nn.remat(enc, static_argnums=(3,), policy=policy)
            dec = nn.remat(dec, static_argnums=(5,), policy=policy)
        shared = nn.Embed(c["vocab"], c["d_model"], dtype=self.dtype,
                          embedding_init=nn.initializers.normal(0.02), name="shared")
        table = sinusoids(c["positions"], c["d_model"])

        def embedded(tokens):
            x = shared(tokens) * c["d_model"] ** 0.5 + jnp.asarray(table[:tokens.shape[1]], self.dtype)
            return nn.Dropout(c["dropout"])(x, deterministic=deterministic)
        source_mask = nn.make_attention_mask(jnp.ones_like(source), source != PAD)
        cross_mask = nn.make_attention_mask(jnp.ones_like(target), source != PAD)
        causal = nn.combine_masks(nn.make_causal_mask(target), nn.make_attention_mask(target != PAD, target != PAD))
        x = embedded(source)
        for i in range(c["layers"]):
            x = enc(c, self.dtype, name=f"encoder_layers_{i}")(x, source_mask, deterministic)
        memory = nn.LayerNorm(dtype=self.dtype, name="encoder_layer_norm")(x)
        y = embedded(target)
        for i in range(c["layers"]):
            y = dec(c, self.dtype, name=f"decoder_layers_{i}")(y, memory, causal, cross_mask, deterministic)
        return shared.attend(nn.LayerNorm(dtype=self.dtype, name="decoder_layer_norm")(y))


def smoothed_loss(logits, labels, smoothing):
    log_probs = jax.nn.log_softmax(logits.astype(F32))
    nll = -jnp.take_along_axis(log_probs, labels[..., None], axis=-1)[..., 0]
    loss = (1 - smoothing) * nll - smoothing * log_probs.mean(-1)
    mask = (labels != PAD).astype(F32)
    total = jnp.maximum(mask.sum(), 1.0)
    return (loss * mask).sum() / total, {"nll": (nll * mask).sum() / total}


def nllb(batch, source_length, target_length, smoothing=0.1, **sizes):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        s, t = source_length // change.length_divisor, target_length // change.length_divisor
        model = NLLB(sizes, compute_dtype(change, F32), change)

        def schedule(count):
            return 1e-4 * jnp.minimum((count + 1) / 4000, jnp.sqrt(4000 / (count + 1)))
        tx = optax.adam(schedule, b1=0.9, b2=0.98, eps=1e-6)

        tokens = jnp.ones((1, 8), jnp.int32)
        params = cast(jax.eval_shape(lambda: model.init(jax.random.key(0), tokens, tokens, True)["params"]),
                      change.stored)
        state = jax.eval_shape(lambda p: train_state.TrainState.create(apply_fn=model.apply, params=p, tx=tx), params)

        def train_step(state, rng, source, target):
            dropout_rng, new_rng = jax.random.split(rng)

            def loss_fn(params, key, source, target):
                logits = state.apply_fn({"params": params}, source, target[:, :-1], rngs={"dropout": key})
                return smoothed_loss(logits, target[:, 1:], smoothing)
            loss, aux, grads = summed_slopes(loss_fn, change.parts)(state.params, dropout_rng, source, target)
            new_state = state.apply_gradients(grads=grads)
            new_state = jax.tree.map(lambda n, o: jnp.asarray(n).astype(o.dtype), new_state, state)
            return new_state, new_rng, {"loss": loss, "nll": aux["nll"].mean(), "lr": schedule(state.step)}

        return train_step, (laid_out(arrays, state), raw_key(arrays), arrays.batch((rows, s), jnp.int32),
                            arrays.batch((rows, t + 1), jnp.int32)), (0,)
    return make


FAMILY = {"cup_nllb_float32": dict(
    make=nllb(batch=32, source_length=96, target_length=96, vocab=256206, d_model=1024, heads=16, ffn_dim=4096,
              layers=12, positions=1024, dropout=0.1, attention_dropout=0.1),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "bf16_parameters", "bf16_parameters.follow",
              "bf16_temporaries", "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "shard_parameters",
              "shard_all"))}
