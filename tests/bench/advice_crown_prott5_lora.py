"""ProtT5 (XL, U50: the encoder alone) learns secondary structure by LoRA: rank 4 on q, k, v and o, and a head.

Haiku; 24 layers in a layer_stack, T5's relative positions, dropout. The frozen weights are float32 as they were loaded
and bfloat16 in use; only the adapters, the head and their Adam change. Nothing is donated.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import computing, laid_out, policy_of, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast

VOCAB, DIM, DEPTH, HEADS, D_KV, D_FF, STATES = 128, 1024, 24, 32, 128, 16384, 3
RANK, ALPHA, RATE = 4, 1.0, 0.1


def buckets(length, count=32, far=128):
    """Bidirectional buckets of how far a key is from a query."""
    gap = np.arange(length)[None, :] - np.arange(length)[:, None]
    half, distance = count // 2, np.abs(gap)
    exact = half // 2
    large = exact + (np.log(np.maximum(distance, 1) / exact) / np.log(far / exact) * (half - exact)).astype(int)
    return (gap > 0) * half + np.where(distance < exact, distance, np.minimum(large, half - 1))


class RMSNorm(hk.Module):
    def __call__(self, x):
        scale = hk.get_parameter("scale", (x.shape[-1],), init=jnp.ones)
        x32 = x.astype(F32)
        x32 = x32 * jax.lax.rsqrt(jnp.square(x32).mean(-1, keepdims=True) + 1e-6)
        return x32.astype(x.dtype) * scale.astype(x.dtype)


class Linear(hk.Module):
    """Without a bias, as in all of T5; the weight is cast where it is used."""

    def __init__(self, width, name):
        super().__init__(name=name)
        self.width = width

    def __call__(self, x):
        shape = (x.shape[-1], self.width)
        w = hk.get_parameter("w", shape, init=hk.initializers.VarianceScaling())
        return x @ w.astype(x.dtype)


class LoRALinear(Linear):
    def __call__(self, x):
        y = super().__call__(x)
        a = hk.get_parameter("lora_a", (x.shape[-1], RANK), init=hk.initializers.RandomNormal(0.01))
        b = hk.get_parameter("lora_b", (RANK, self.width), init=jnp.zeros)
        return y + (ALPHA / RANK) * ((x @ a.astype(x.dtype)) @ b.astype(x.dtype))


def drop(x):
    return hk.dropout(hk.next_rng_key(), RATE, x)


def attention(x, bias):
    q, k, v = (LoRALinear(HEADS * D_KV, name)(x).reshape(*x.shape[:2], HEADS, D_KV) for name in "qkv")
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) + bias
    weights = drop(jax.nn.softmax(scores, -1).astype(x.dtype))
    out = jnp.einsum("bhqk,bkhd->bqhd", weights, v)
    return LoRALinear(DIM, "o")(out.reshape(*x.shape[:2], HEADS * D_KV))


def feed_forward(x):
    return Linear(DIM, "wo")(drop(jax.nn.relu(Linear(D_FF, "wi")(x))))


def layer(x, bias):
    x = x + drop(attention(RMSNorm("attention_norm")(x), bias))
    return x + drop(feed_forward(RMSNorm("mlp_norm")(x)))


def encoder(change, kind):
    def forward(tokens):
        n = tokens.shape[1]
        table = hk.get_parameter("shared", (VOCAB, DIM), init=hk.initializers.RandomNormal(1.0))
        relative = hk.get_parameter("relative", (32, HEADS), init=hk.initializers.RandomNormal(0.1))
        bias = relative.astype(F32)[buckets(n)].transpose(2, 0, 1)[None]
        bias = bias + jnp.where(tokens > 0, 0.0, -1e9)[:, None, None, :]

        def body(x):
            run = hk.remat(layer, policy=policy_of(change)) if change.rematerialize else layer
            return run(x, bias)
        x = drop(table[tokens].astype(kind))
        x = hk.experimental.layer_stack(DEPTH, name="layers")(body)(x)
        x = drop(RMSNorm("last_norm")(x))
        return hk.Linear(STATES, name="head")(x.astype(F32))
    return hk.transform(forward)


def is_trained(module, name, _):
    return name.startswith("lora_") or module.startswith("head")


def tuned(batch, length):
    def make(arrays, change):
        rows, n = batch // change.batch_divisor, length // change.length_divisor
        net = encoder(change, computing(change, BF16))
        shapes = jax.eval_shape(net.init, jax.random.key(0), jax.ShapeDtypeStruct((1, 16), jnp.int32))
        trained, frozen = hk.data_structures.partition(is_trained, cast(shapes, change.stored))
        optimizer = optax.adam(optax.linear_schedule(3e-4, 0.0, 20_000))
        opt_state = jax.eval_shape(optimizer.init, trained)

        def train_step(trained, opt_state, frozen, key, tokens, labels):
            def loss_fn(trained, key, tokens, labels):
                params = hk.data_structures.merge(trained, frozen)
                logits = net.apply(params, key, tokens).astype(F32)
                weights = (labels >= 0).astype(F32)
                losses = optax.softmax_cross_entropy_with_integer_labels(logits, jnp.maximum(labels, 0))
                total = jnp.maximum(weights.sum(), 1.0)
                right = (logits.argmax(-1) == labels) * weights
                return (losses * weights).sum() / total, right.sum() / total
            key, now = jax.random.split(key)
            loss, q3, grads = summed_slopes(loss_fn, change.parts)(trained, now, tokens, labels)
            trained, opt_state = updated(optimizer, grads, opt_state, trained)
            return trained, opt_state, key, {"loss": loss, "q3": q3.mean()}

        stacks = {module: 0 for module in shapes if "layers" in module}  # haiku names modules by their whole path
        return train_step, (laid_out(arrays, trained, stacks), laid_out(arrays, opt_state, stacks),
                            laid_out(arrays, frozen, stacks), raw_key(arrays),
                            arrays.batch((rows, n), jnp.int32), arrays.batch((rows, n), jnp.int32)), (0, 1)
    return make


FAMILY = {"crown_prott5_lora": dict(
    make=tuned(batch=16, length=512), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
