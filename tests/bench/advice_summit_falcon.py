"""Falcon of 7 billion weights, which stay as they are in bfloat16, tuned by low ranks beside its two projections.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Plain jax: layers are stacked and scanned,
71 queries share one key and one value, attention and the rest of a block read the same norm.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, abstract, cast, compute_dtype, cross_entropy, maybe_checkpoint, on_chips,
                                   value_and_mean_grad)

STACKS = {"h": 0}
SIDE = 64


def falcon_shapes(layers, width, vocab):
    def norm(*stacked):
        return {"weight": (*stacked, width), "bias": (*stacked, width)}
    return abstract({
        "word_embeddings": (vocab, width), "ln_f": norm(),
        "h": {"input_layernorm": norm(layers), "query_key_value": (layers, width, width + 2 * SIDE),
              "dense": (layers, width, width), "dense_h_to_4h": (layers, width, 4 * width),
              "dense_4h_to_h": (layers, 4 * width, width)}}, BF16)


def adapter_shapes(layers, width, rank):
    def thin(inputs, outputs):
        return {"lora_a": (layers, inputs, rank), "lora_b": (layers, rank, outputs)}
    return abstract({"h": {"query_key_value": thin(width, width + 2 * SIDE), "dense": thin(width, width)}})


def layer_norm(norm, x):
    y = x.astype(F32)
    y = y - y.mean(-1, keepdims=True)
    y = (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype)
    return y * norm["weight"].astype(x.dtype) + norm["bias"].astype(x.dtype)


def rotated(x, sin, cos):
    """x [b, t, h, d] or [b, t, d]; sin and cos [t, d]."""
    if x.ndim == 4:
        sin, cos = sin[:, None], cos[:, None]
    first, second = jnp.split(x, 2, axis=-1)
    return x * cos + jnp.concatenate([-second, first], axis=-1) * sin


def falcon_of(change, now, scale):
    def beside(x, weight, thin):
        low = (x @ thin["lora_a"].astype(now)) @ thin["lora_b"].astype(now)
        return x @ weight.astype(now) + scale * low

    def block_of(x, layer, thin, sin, cos):
        rows, length, width = x.shape
        h = layer_norm(layer["input_layernorm"], x)
        made = beside(h, layer["query_key_value"], thin["query_key_value"])
        q, k, v = jnp.split(made, [width, width + SIDE], axis=-1)
        q, k = rotated(q.reshape(rows, length, -1, SIDE), sin, cos), rotated(k, sin, cos)
        scores = jnp.einsum("bthd,bsd->bhts", q, k) * SIDE ** -0.5
        mask = jnp.tril(jnp.ones((length, length), bool))
        scores = jnp.where(mask, scores.astype(F32), jnp.finfo(F32).min)
        mixed = jnp.einsum("bhts,bsd->bthd", jax.nn.softmax(scores, axis=-1).astype(now), v).reshape(x.shape)
        inner = jax.nn.gelu(h @ layer["dense_h_to_4h"].astype(now), approximate=False)
        return x + beside(mixed, layer["dense"], thin["dense"]) + inner @ layer["dense_4h_to_h"].astype(now)

    def logits_of(thin, frozen, ids):
        rates = 10000.0 ** (-jnp.arange(0, SIDE, 2, dtype=F32) / SIDE)
        angles = jnp.tile(jnp.arange(ids.shape[1], dtype=F32)[:, None] * rates, 2)
        sin, cos = jnp.sin(angles).astype(now), jnp.cos(angles).astype(now)
        block = maybe_checkpoint(change, block_of)
        x = frozen["word_embeddings"][ids].astype(now)
        x, _ = jax.lax.scan(lambda x, both: (block(x, *both, sin, cos), None), x, (frozen["h"], thin["h"]))
        return layer_norm(frozen["ln_f"], x) @ frozen["word_embeddings"].T.astype(now)
    return logits_of


def falcon_lora(layers, width, vocab, rank, batch, length, kind=BF16):
    def make(arrays, change):
        import optax
        rows, said, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        logits_of = falcon_of(change, now, 16 / rank)
        optimizer = optax.chain(optax.clip_by_global_norm(0.3), optax.adamw(2e-4, b2=0.999, weight_decay=0.0))
        thin = cast(adapter_shapes(layers, width, rank), change.stored)
        state = jax.eval_shape(optimizer.init, thin)

        def train_step(thin, state, frozen, *batch):
            def loss_of(thin, ids, labels):
                logits = logits_of(thin, frozen, ids)[:, :-1]
                return cross_entropy(logits, jnp.maximum(labels[:, 1:], 0), labels[:, 1:] >= 0)
            loss, slopes = value_and_mean_grad(loss_of, change.parts)(thin, *batch)
            updates, state = optimizer.update(slopes, state, thin)
            return optax.apply_updates(thin, updates), state, loss
        words = arrays.batch((rows, said), jnp.int32)
        return train_step, (on_chips(arrays, thin, STACKS), on_chips(arrays, state, STACKS),
                            on_chips(arrays, falcon_shapes(layers, width, vocab), STACKS), words, words), (0, 1)
    return make
