"""A Temporal Fusion Transformer forecasts store sales: quantiles of the coming weeks from a half-year of days.

Flax linen in float32: gated residual networks choose among the variables of each day, an LSTM goes over past and
future, one interpretable attention (heads share their values) looks back, pinball losses on three quantiles.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, compute_dtype

QUANTILES = (0.1, 0.5, 0.9)
STATIC = (4_100, 54, 33, 22)     # item, store, family, city
CALENDAR = (7, 31, 12, 8)        # day of the week and month, month, kind of holiday
OBSERVED, KNOWN = 3, 2           # log sales, transactions, oil; promotion, open


class Gate(nn.Module):
    """Dropout, a gated linear unit, the residual, a norm."""
    width: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x, residual):
        x = nn.Dropout(self.dropout, deterministic=False)(x)
        value, gate = jnp.split(nn.Dense(2 * self.width, dtype=self.dtype)(x), 2, axis=-1)
        return nn.LayerNorm(dtype=self.dtype)(value * nn.sigmoid(gate) + residual)


class Grn(nn.Module):
    width: int
    dropout: float
    dtype: object
    outputs: int | None = None

    @nn.compact
    def __call__(self, x, context=None):
        outputs = self.outputs or self.width
        residual = x if x.shape[-1] == outputs else nn.Dense(outputs, dtype=self.dtype, name="skip")(x)
        h = nn.Dense(self.width, dtype=self.dtype)(x)
        if context is not None:
            h = h + nn.Dense(self.width, use_bias=False, dtype=self.dtype, name="context")(context)
        h = nn.Dense(self.width, dtype=self.dtype)(nn.elu(h))
        return Gate(outputs, self.dropout, self.dtype)(h, residual)


class VariableSelection(nn.Module):
    width: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, variables, context=None):
        flat = jnp.concatenate(variables, axis=-1)
        scores = Grn(self.width, self.dropout, self.dtype, len(variables), name="weights")(flat, context)
        weights = nn.softmax(scores, axis=-1)
        changed = [Grn(self.width, self.dropout, self.dtype, name=f"variable_{i}")(one)
                   for i, one in enumerate(variables)]
        return jnp.einsum("...dv,...v->...d", jnp.stack(changed, axis=-1), weights), weights


class InterpretableAttention(nn.Module):
    heads: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x, horizon):
        width, length = x.shape[-1], x.shape[1]
        head = width // self.heads
        q = nn.DenseGeneral((self.heads, head), dtype=self.dtype, name="query")(x[:, -horizon:])
        k = nn.DenseGeneral((self.heads, head), dtype=self.dtype, name="key")(x)
        v = nn.Dense(head, dtype=self.dtype, name="value")(x)
        visible = jnp.arange(length)[None] <= jnp.arange(length - horizon, length)[:, None]
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * head ** -0.5
        weights = nn.softmax(jnp.where(visible, scores, -1e9), axis=-1)
        weights = nn.Dropout(self.dropout, deterministic=False)(weights)
        mixed = jnp.einsum("bhqk,bkd->bhqd", weights, v).mean(1)
        return nn.Dense(width, use_bias=False, dtype=self.dtype, name="out")(mixed)


class TemporalFusion(nn.Module):
    width: int
    heads: int
    horizon: int
    dropout: float
    dtype: object

    def embedded(self, ids, sizes, name):
        return [nn.Embed(size, self.width, dtype=self.dtype, name=f"{name}_{i}")(ids[..., i])
                for i, size in enumerate(sizes)]

    def projected(self, reals, name):
        return [nn.Dense(self.width, dtype=self.dtype, name=f"{name}_{i}")(reals[..., i:i + 1])
                for i in range(reals.shape[-1])]

    @nn.compact
    def __call__(self, static, observed, known, calendar):
        def grn(name):
            return Grn(self.width, self.dropout, self.dtype, name=name)
        past = observed.shape[1]
        observed, known = observed.astype(self.dtype), known.astype(self.dtype)

        static, _ = VariableSelection(self.width, self.dropout, self.dtype, name="static")(
            self.embedded(static, STATIC, "static_id"))
        for_choice, for_enrichment = grn("for_choice")(static), grn("for_enrichment")(static)
        carry = grn("for_cell")(static), grn("for_hidden")(static)

        ahead = self.projected(known, "known") + self.embedded(calendar, CALENDAR, "calendar")
        before = self.projected(observed, "observed") + [one[:, :past] for one in ahead]
        history, _ = VariableSelection(self.width, self.dropout, self.dtype, name="history")(
            before, for_choice[:, None])
        future, _ = VariableSelection(self.width, self.dropout, self.dtype, name="future")(
            [one[:, past:] for one in ahead], for_choice[:, None])

        def lstm(name):
            return nn.RNN(nn.OptimizedLSTMCell(self.width, dtype=self.dtype), return_carry=True, name=name)
        carry, encoded = lstm("encoder")(history, initial_carry=carry)
        _, decoded = lstm("decoder")(future, initial_carry=carry)
        both = jnp.concatenate([history, future], axis=1)
        x = Gate(self.width, self.dropout, self.dtype, name="after_lstm")(
            jnp.concatenate([encoded, decoded], axis=1), both)

        enriched = grn("enrichment")(x, for_enrichment[:, None])
        attended = InterpretableAttention(self.heads, self.dropout, self.dtype, name="attention")(
            enriched, self.horizon)
        y = Gate(self.width, self.dropout, self.dtype, name="after_attention")(attended, enriched[:, past:])
        y = Gate(self.width, self.dropout, self.dtype, name="after_all")(grn("positionwise")(y), x[:, past:])
        return nn.Dense(len(QUANTILES), dtype=self.dtype, name="quantiles")(y).astype(F32)


def temporal_fusion(past, horizon, width, heads, batch, dropout=0.1, kind=F32):
    def make(arrays, change):
        rows, days = batch // change.batch_divisor, past // change.length_divisor
        model = TemporalFusion(width, heads, horizon, dropout, compute_dtype(change, kind))
        params = cast(jax.eval_shape(lambda: model.init(
            {"params": jax.random.key(0), "dropout": jax.random.key(1)}, jnp.zeros((1, len(STATIC)), jnp.int32),
            jnp.zeros((1, days, OBSERVED)), jnp.zeros((1, days + horizon, KNOWN)),
            jnp.zeros((1, days + horizon, len(CALENDAR)), jnp.int32))["params"]), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(100.0), optax.adam(1e-3))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, static, observed, known, calendar, target, weight):
            forecast = model.apply({"params": params}, static, observed, known, calendar, rngs={"dropout": key})
            missed = target.astype(F32)[..., None] - forecast
            quantiles = jnp.array(QUANTILES)
            pinball = jnp.maximum(quantiles * missed, (quantiles - 1) * missed).sum(-1)
            weight = weight.astype(F32)[:, None]
            loss = (pinball * weight).sum() / jnp.maximum(weight.sum() * horizon, 1e-6)
            covered = ((missed[..., 0] > 0) & (missed[..., 2] < 0)).mean()
            return loss, {"mae": jnp.abs(missed[..., 1]).mean(), "coverage_80": covered}

        def train_step(params, opt_state, key, *batch):
            key, dropout_key = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_of, change.parts)(params, dropout_key, *batch)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}

        return train_step, (
            laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
            arrays.batch((rows, len(STATIC)), jnp.int32), arrays.batch((rows, days, OBSERVED), F32),
            arrays.batch((rows, days + horizon, KNOWN), F32),
            arrays.batch((rows, days + horizon, len(CALENDAR)), jnp.int32),
            arrays.batch((rows, horizon), F32), arrays.batch((rows,), F32)), (0, 1)
    return make


FAMILY = {"league_temporal_fusion": dict(
    make=temporal_fusion(past=180, horizon=28, width=240, heads=4, batch=1024),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "halve_sequence", "micro_batch", "shard_parameters", "shard_all"))}
