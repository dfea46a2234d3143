"""MPT-1B (RedPajama) is tuned whole near the capacity of an 80 GB card: ALiBi, norms of queries and keys, tied head.

Plain JAX: the 24 blocks are stacked and scanned, float32 weights, bfloat16 compute, no biases. optax's AdamW with
clipping, weight decay on matrices; nothing is donated.
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax

from advice_board_changes import checkpointed, computing, laid_out, matrices_only, specs, summed_slopes, updated
from advice_board_training import BF16, F32, cast

LAYERS, WIDTH, HEADS, VOCAB = 24, 2048, 16, 50432


def shapes():
    return {"wte": (VOCAB, WIDTH), "norm_f": (WIDTH,),
            "blocks": {"norm_1": (LAYERS, WIDTH), "norm_2": (LAYERS, WIDTH),
                       "q_ln": (LAYERS, WIDTH), "k_ln": (LAYERS, WIDTH),
                       "Wqkv": (LAYERS, WIDTH, 3 * WIDTH), "out_proj": (LAYERS, WIDTH, WIDTH),
                       "up_proj": (LAYERS, WIDTH, 4 * WIDTH), "down_proj": (LAYERS, 4 * WIDTH, WIDTH)}}


def layer_norm(x, scale):
    """In the low precision of the activations, but for its moments."""
    x32 = x.astype(F32)
    mean = x32.mean(-1, keepdims=True)
    var = jnp.square(x32 - mean).mean(-1, keepdims=True)
    return ((x32 - mean) * jax.lax.rsqrt(var + 1e-5)).astype(x.dtype) * scale.astype(x.dtype)


def alibi(length, bias_max=8):
    slopes = 2.0 ** (-bias_max * np.arange(1, HEADS + 1) / HEADS)
    gap = jnp.arange(length)[None, :] - jnp.arange(length)[:, None]
    bias = jnp.asarray(slopes, F32)[:, None, None] * gap.astype(F32)
    return jnp.where(gap <= 0, bias, jnp.finfo(F32).min)


def attention(p, x, bias):
    rows, length, _ = x.shape
    q, k, v = jnp.split(x @ p["Wqkv"].astype(x.dtype), 3, -1)
    q, k = layer_norm(q, p["q_ln"]), layer_norm(k, p["k_ln"])
    q, k, v = (t.reshape(rows, length, HEADS, WIDTH // HEADS) for t in (q, k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * (WIDTH // HEADS) ** -0.5
    weights = jax.nn.softmax(scores + bias, -1).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape)
    return mixed @ p["out_proj"].astype(x.dtype)


def mpt_block(p, x, bias):
    x = x + attention(p, layer_norm(x, p["norm_1"]), bias)
    h = layer_norm(x, p["norm_2"]) @ p["up_proj"].astype(x.dtype)
    return x + jax.nn.gelu(h, approximate=False) @ p["down_proj"].astype(x.dtype)


def mpt(batch, length):
    def make(arrays, change):
        rows, n, now = batch // change.batch_divisor, length // change.length_divisor, computing(change, BF16)
        params = cast(specs(shapes()), change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-5, 100, 5_000, 2e-6)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=0.1, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)
        block = checkpointed(change, mpt_block)

        def forward(params, tokens):
            x = params["wte"][tokens].astype(now)
            bias = alibi(tokens.shape[1])
            x, _ = jax.lax.scan(lambda x, p: (block(p, x, bias), None), x, params["blocks"])
            return layer_norm(x, params["norm_f"]) @ params["wte"].astype(now).T

        def loss_fn(params, _, tokens, mask):
            logits = forward(params, tokens)[:, :-1].astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
            weights = mask[:, 1:].astype(F32)
            loss = (losses * weights).sum() / jnp.maximum(weights.sum(), 1.0)
            return loss, {"perplexity": jnp.exp(loss)}

        def train_step(params, opt_state, tokens, mask):
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, None, tokens, mask)
            metrics = {**jax.tree.map(jnp.mean, metrics), "grad_norm": optax.global_norm(grads)}
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, **metrics}
        stacks = {"blocks": 0}
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks),
                            arrays.batch((rows, n), jnp.int32), arrays.batch((rows, n), jnp.int8)), (0, 1)
    return make


FAMILY = {"crown_mpt_1b": dict(
    make=mpt(batch=8, length=1024), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
