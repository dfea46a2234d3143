"""HSTU recommends the next item out of two million: pointwise aggregated attention, relative biases of place and time.

In haiku: unrolled layers, item vectors in float32 of which only those taken are cast, the rest computed in bfloat16;
a sampled softmax over cosines against negatives that the batch shares.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import laid_out, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

BUCKETS = 128
STD = hk.initializers.TruncatedNormal(0.02)


class RelativeBias(hk.Module):
    """By distance in places and by the logarithm of the time between; alike for all heads."""

    def __call__(self, time_buckets):
        length = time_buckets.shape[-1]
        by_place = hk.get_parameter("place", (2 * length - 1,), init=STD)
        by_time = hk.get_parameter("time", (BUCKETS + 1,), init=STD)
        distance = np.arange(length)[:, None] - np.arange(length)[None] + length - 1
        return by_place[distance][None] + by_time[time_buckets]


class HstuLayer(hk.Module):
    def __init__(self, heads, qk_width, v_width, dropout, name=None):
        super().__init__(name=name)
        self.heads, self.qk_width, self.v_width, self.dropout = heads, qk_width, v_width, dropout

    def __call__(self, x, time_buckets, allowed):
        rows, length, width = x.shape
        heads, qk, v = self.heads, self.qk_width, self.v_width
        y = hk.LayerNorm(-1, True, True, eps=1e-6, name="input_norm")(x)
        y = jax.nn.silu(hk.Linear(2 * heads * (qk + v), with_bias=False, w_init=STD, name="uvqk")(y))
        gate, values, queries, keys = jnp.split(
            y, np.cumsum([heads * v, heads * v, heads * qk]), axis=-1)
        scores = jnp.einsum("bqhd,bkhd->bhqk", queries.reshape(rows, length, heads, qk),
                            keys.reshape(rows, length, heads, qk))
        scores = scores + RelativeBias(name="bias")(time_buckets)[:, None]
        weights = jax.nn.silu(scores) / length * allowed[:, None].astype(x.dtype)
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, values.reshape(rows, length, heads, v))
        mixed = mixed.reshape(rows, length, heads * v)
        mixed = hk.LayerNorm(-1, False, False, eps=1e-6, name="output_norm")(mixed) * gate
        mixed = hk.dropout(hk.next_rng_key(), self.dropout, mixed)
        return x + hk.Linear(width, w_init=STD, name="output")(mixed)


def bucketed(times):
    """From the time of the event to be predicted back to that of each: [rows, length, length]."""
    following = jnp.concatenate([times[:, 1:], times[:, -1:]], axis=1)
    apart = jnp.maximum(jnp.abs(following[:, :, None] - times[:, None, :]), 1).astype(F32)
    return jnp.clip((jnp.log(apart) / 0.301).astype(jnp.int32), 0, BUCKETS)


def unit(x):
    x = x.astype(F32)
    return x * jax.lax.rsqrt(jnp.maximum(jnp.square(x).sum(-1, keepdims=True), 1e-12))


def hstu(items, actions, layers, width, heads, qk_width, v_width, batch, length, negatives, dropout=0.2,
         temperature=0.05, kind=BF16):
    def make(arrays, change):
        rows, events = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)

        def narrow(next_getter, value, context):
            value = next_getter(value)
            return value if context.name == "items" else value.astype(now)

        def forward(ids, kinds, times):
            """Loss of the next items and how often the true one is above all negatives."""
            with hk.custom_getter(narrow):
                table = hk.get_parameter("items", (items, width), init=STD)
                by_action = hk.get_parameter("actions", (actions, width), init=STD)
                places = hk.get_parameter("places", (events, width), init=STD)
                past, targets = ids[:, :-1], ids[:, 1:]
                present = past > 0
                x = table[past].astype(now) * width ** 0.5 + by_action[kinds[:, :-1]] + places
                x = hk.dropout(hk.next_rng_key(), dropout, x) * present[..., None].astype(now)
                allowed = jnp.tril(jnp.ones((events, events), bool))[None] & present[:, None, :]
                time_buckets = bucketed(times[:, :-1])
                for i in range(layers):
                    layer = HstuLayer(heads, qk_width, v_width, dropout, name=f"layer_{i}")
                    run = hk.remat(layer, policy=checkpoint_policy(change)) if change.rematerialize else layer
                    x = run(x, time_buckets, allowed) * present[..., None].astype(now)
                x = unit(x)
                others = jax.random.randint(hk.next_rng_key(), (negatives,), 1, items)
                true_logits = (x * unit(table[targets])).sum(-1) / temperature
                x, against = x.astype(now), unit(table[others]).astype(now)
                logits = jnp.einsum("bld,nd->bln", x, against, preferred_element_type=F32) / temperature
                logits = jnp.where(others == targets[..., None], -5e4, logits)
                losses = jax.nn.logsumexp(
                    jnp.concatenate([true_logits[..., None], logits], axis=-1), axis=-1) - true_logits
                weights = (present & (targets > 0)).astype(F32)
                total = jnp.maximum(weights.sum(), 1.0)
                is_first = true_logits > jax.lax.stop_gradient(logits).max(-1)
                return (losses * weights).sum() / total, (is_first * weights).sum() / total

        model = hk.transform(forward)
        whole = jax.ShapeDtypeStruct((8, events + 1), jnp.int32)
        params = jax.eval_shape(model.init, jax.ShapeDtypeStruct((2,), jnp.uint32), whole, whole, whole)
        params = cast(params, change.stored)
        optimizer = optax.adamw(optax.warmup_constant_schedule(0.0, 1e-3, 1_000), b1=0.9, b2=0.98,
                                weight_decay=1e-3, mask=matrices_only)
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, key, ids, kinds, times):
            key, step_key = jax.random.split(key)
            loss, hits, grads = summed_slopes(model.apply, change.parts)(params, step_key, ids, kinds, times)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, "hit_rate@1": hits.mean(),
                                            "grad_norm": optax.global_norm(grads)}

        def given():
            return arrays.batch((rows, events + 1), jnp.int32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                            given(), given(), given()), (0, 1)
    return make


FAMILY = {"league_hstu": dict(
    make=hstu(items=2_000_000, actions=16, layers=8, width=512, heads=8, qk_width=64, v_width=64, batch=128,
              length=512, negatives=4_096),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
