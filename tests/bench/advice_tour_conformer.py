"""Conformer-L learns to transcribe speech with CTC over 1024 word pieces, in flax linen with layers under nn.scan.

Log-mel frames are masked (SpecAugment), shortened four times by two convolutions, and go through 17 layers: half a
feed-forward, attention with relative places, a gated depthwise convolution, the other half. Computing is in bfloat16.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

BLANK = 0


def relative_places(length, dim, dtype):
    distance = jnp.arange(length - 1, -length, -1, dtype=F32)
    rates = 1.0 / 10_000 ** (jnp.arange(0, dim, 2, dtype=F32) / dim)
    angles = distance[:, None] * rates
    return jnp.stack([jnp.sin(angles), jnp.cos(angles)], axis=-1).reshape(2 * length - 1, dim).astype(dtype)


def relative_shift(x):
    """[b, h, t, 2t - 1] by distance, as [b, h, t, t] by place."""
    b, h, t, n = x.shape
    x = jnp.pad(x, ((0, 0), (0, 0), (0, 0), (1, 0))).reshape(b, h, n + 1, t)
    return x[:, :, 1:].reshape(b, h, t, n)[..., :t]


class FeedForwardModule(nn.Module):
    rate: float
    dtype: object

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm(dtype=self.dtype)(x)
        h = nn.swish(nn.Dense(4 * x.shape[-1], dtype=self.dtype)(h))
        h = nn.Dropout(self.rate, deterministic=False)(h)
        h = nn.Dense(x.shape[-1], dtype=self.dtype)(h)
        return nn.Dropout(self.rate, deterministic=False)(h)


class RelativeAttention(nn.Module):
    heads: int
    rate: float
    dtype: object

    @nn.compact
    def __call__(self, x, places, valid):
        dim = x.shape[-1]
        per_head = (self.heads, dim // self.heads)
        h = nn.LayerNorm(dtype=self.dtype)(x)
        q = nn.DenseGeneral(per_head, dtype=self.dtype, name="query")(h)
        k = nn.DenseGeneral(per_head, dtype=self.dtype, name="key")(h)
        v = nn.DenseGeneral(per_head, dtype=self.dtype, name="value")(h)
        r = nn.DenseGeneral(per_head, use_bias=False, dtype=self.dtype, name="place")(places)
        content_bias = self.param("content_bias", nn.initializers.xavier_uniform(), per_head).astype(self.dtype)
        place_bias = self.param("place_bias", nn.initializers.xavier_uniform(), per_head).astype(self.dtype)
        scores = jnp.einsum("bqhd,bkhd->bhqk", q + content_bias, k)
        scores += relative_shift(jnp.einsum("bqhd,nhd->bhqn", q + place_bias, r))
        scores = scores.astype(F32) * per_head[1] ** -0.5
        scores = jnp.where(valid[:, None, None, :], scores, jnp.finfo(F32).min)
        weights = nn.softmax(scores, axis=-1).astype(self.dtype)
        weights = nn.Dropout(self.rate, deterministic=False)(weights)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
        out = nn.DenseGeneral(dim, axis=(-2, -1), dtype=self.dtype, name="out")(mixed)
        return nn.Dropout(self.rate, deterministic=False)(out)


class ConvolutionModule(nn.Module):
    kernel: int
    rate: float
    dtype: object

    @nn.compact
    def __call__(self, x, valid):
        dim = x.shape[-1]
        h = nn.Dense(2 * dim, dtype=self.dtype)(nn.LayerNorm(dtype=self.dtype)(x))
        h = nn.glu(h, axis=-1) * valid[..., None].astype(self.dtype)
        h = nn.Conv(dim, (self.kernel,), feature_group_count=dim, dtype=self.dtype, name="depthwise")(h)
        h = nn.swish(nn.LayerNorm(dtype=self.dtype)(h))
        return nn.Dropout(self.rate, deterministic=False)(nn.Dense(dim, dtype=self.dtype)(h))


class ConformerLayer(nn.Module):
    heads: int
    kernel: int
    rate: float
    dtype: object

    @nn.compact
    def __call__(self, x, places, valid):
        x = x + 0.5 * FeedForwardModule(self.rate, self.dtype, name="ffn_start")(x)
        x = x + RelativeAttention(self.heads, self.rate, self.dtype, name="attention")(x, places, valid)
        x = x + ConvolutionModule(self.kernel, self.rate, self.dtype, name="convolution")(x, valid)
        x = x + 0.5 * FeedForwardModule(self.rate, self.dtype, name="ffn_end")(x)
        return nn.LayerNorm(dtype=self.dtype, name="final_norm")(x), None


class ConformerCTC(nn.Module):
    layers: int
    dim: int
    heads: int
    kernel: int
    vocab: int
    rate: float
    dtype: object
    remat: bool
    policy: object

    @nn.compact
    def __call__(self, mel, lengths):
        x = mel[..., None].astype(self.dtype)
        for i in range(2):
            x = nn.relu(nn.Conv(self.dim, (3, 3), (2, 2), dtype=self.dtype, name=f"subsample{i}")(x))
        x = nn.Dense(self.dim, dtype=self.dtype, name="subsample_out")(x.reshape(*x.shape[:2], -1))
        x = nn.Dropout(self.rate, deterministic=False)(x)
        valid = jnp.arange(x.shape[1])[None] < ((lengths + 3) // 4)[:, None]
        places = relative_places(x.shape[1], self.dim, self.dtype)
        layer = ConformerLayer
        if self.remat:
            layer = nn.remat(layer, prevent_cse=False, policy=self.policy)
        stack = nn.scan(layer, variable_axes={"params": 0}, split_rngs={"params": True, "dropout": True},
                        in_axes=(nn.broadcast, nn.broadcast), length=self.layers)
        x, _ = stack(self.heads, self.kernel, self.rate, self.dtype, name="layers")(x, places, valid)
        return nn.Dense(self.vocab, dtype=self.dtype, name="ctc_head")(x).astype(F32), valid


def spec_augment(key, mel, masks=2, frames=0.05, bands=27):
    def kept(key, size, most):
        width_key, start_key = jax.random.split(key)
        widths = jax.random.uniform(width_key, (mel.shape[0], masks, 1)) * most
        starts = jax.random.uniform(start_key, (mel.shape[0], masks, 1)) * (size - widths)
        places = jnp.arange(size)
        return ~((places >= starts) & (places < starts + widths)).any(1)
    time_key, band_key = jax.random.split(key)
    in_time = kept(time_key, mel.shape[1], frames * mel.shape[1])
    in_bands = kept(band_key, mel.shape[2], bands)
    return jnp.where(in_time[:, :, None] & in_bands[:, None], mel, 0.0)


def conformer_ctc(layers, dim, heads, kernel, vocab, bands, frames, pieces, batch, rate=0.1, kind=BF16):
    def make(arrays, change):
        import optax
        rows = batch // change.batch_divisor
        times, labels_size = frames // change.length_divisor, pieces // change.length_divisor
        model = ConformerCTC(layers, dim, heads, kernel, vocab, rate, compute_dtype(change, kind),
                             change.rematerialize, checkpoint_policy(change))
        made = jax.eval_shape(model.init, {"params": jax.random.key(0), "dropout": jax.random.key(1)},
                              jnp.zeros((1, 64, bands)), jnp.full((1,), 64))
        params = cast(made["params"], change.stored)
        rate_of = optax.join_schedules(
            [optax.linear_schedule(0.0, 2e-3, 10_000), lambda n: 2e-3 * (n / 1e4 + 1) ** -0.5], [10_000])
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(rate_of, 0.9, 0.98, 1e-9, weight_decay=1e-3))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, mel, mel_lengths, labels, label_lengths):
            mask_key, drop_key = jax.random.split(key)
            logits, valid = model.apply({"params": params}, spec_augment(mask_key, mel), mel_lengths,
                                        rngs={"dropout": drop_key})
            label_paddings = (jnp.arange(labels.shape[1])[None] >= label_lengths[:, None]).astype(F32)
            losses = optax.ctc_loss(logits, 1.0 - valid.astype(F32), labels, label_paddings, blank_id=BLANK)
            return jnp.mean(losses / jnp.maximum(label_lengths, 1)), ()

        def train_step(params, opt_state, key, mel, mel_lengths, labels, label_lengths):
            key, now = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, now, mel, mel_lengths, labels, label_lengths)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, "grad_norm": optax.global_norm(grads)}
        counts = arrays.batch((rows,), jnp.int32)
        return train_step, (laid_out(arrays, params, {"layers": 0}), laid_out(arrays, opt_state, {"layers": 0}),
                            raw_key(arrays), arrays.batch((rows, times, bands), F32), counts,
                            arrays.batch((rows, labels_size), jnp.int32), counts), (0, 1)
    return make


FAMILY = {"tour_conformer": dict(
    make=conformer_ctc(layers=17, dim=512, heads=8, kernel=31, vocab=1024, bands=80, frames=1600, pieces=96, batch=32),
    is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
