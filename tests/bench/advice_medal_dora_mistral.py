"""DoRA on a frozen Mistral-like decoder of 3B: directions by low rank, lengths of columns learnt, answers fine-tuned.

Plain JAX with dataclasses: stacked layers under lax.scan, frozen weights in bfloat16, float32 adapters on all but the
gate, gradients accumulated over 4 micro-batches inside the step, Adam by optax. Nothing is donated.
"""
import dataclasses

import jax
import jax.numpy as jnp
import optax

from advice_board_changes import checkpointed, computing, laid_out, specs, updated
from advice_board_training import BF16, F32, cast

WIDTH, HEADS, GROUPS, SIZE, HIDDEN, VOCAB, WINDOW = 3072, 24, 8, 128, 8192, 32768, 4096
MATRICES = {"q": (WIDTH, HEADS * SIZE), "k": (WIDTH, GROUPS * SIZE), "v": (WIDTH, GROUPS * SIZE),
            "o": (HEADS * SIZE, WIDTH), "gate": (WIDTH, HIDDEN), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH)}
ADAPTED = ("q", "k", "v", "o", "up", "down")


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Dora:
    down: jax.Array
    up: jax.Array
    magnitude: jax.Array


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Frozen:
    embedding: jax.Array
    layers: dict
    last_norm: jax.Array
    unembedding: jax.Array


def adapters(depth, rank):
    return {"layers": {n: Dora((depth, MATRICES[n][0], rank), (depth, rank, MATRICES[n][1]), (depth, MATRICES[n][1]))
                       for n in ADAPTED}}


def frozen_shapes(depth):
    layers = {n: (depth, *shape) for n, shape in MATRICES.items()}
    return Frozen((VOCAB, WIDTH), {**layers, "norm_a": (depth, WIDTH), "norm_m": (depth, WIDTH)}, (WIDTH,),
                  (WIDTH, VOCAB))


def rms(x, scale):
    y = x.astype(F32)
    return (y * jax.lax.rsqrt(jnp.mean(jnp.square(y), -1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def turned(x, angles):
    a, b = jnp.split(x.astype(F32), 2, axis=-1)
    sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1).astype(x.dtype)


def project(x, weight, dora, scaling, key, rate=0.05):
    """The norm of a column is taken as a constant, as the paper does to save memory."""
    down, up = dora.down.astype(x.dtype), dora.up.astype(x.dtype)
    whole = weight.astype(F32) + scaling * (down @ up).astype(F32)
    norm = jax.lax.stop_gradient(jnp.sqrt(jnp.sum(jnp.square(whole), axis=0)))
    ratio = (dora.magnitude.astype(F32) / norm).astype(x.dtype)
    kept = jax.random.bernoulli(key, 1 - rate, x.shape)
    dropped = jnp.where(kept, x / (1 - rate), jnp.zeros_like(x))
    return ratio * (x @ weight) + ratio * scaling * ((dropped @ down) @ up)


def attention(q, k, v, mask):
    b, t = q.shape[:2]
    q = q.reshape(b, t, GROUPS, HEADS // GROUPS, SIZE)
    scores = jnp.einsum("btgrd,bsgd->bgrts", q, k, preferred_element_type=F32) * SIZE ** -0.5
    weights = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1).astype(q.dtype)
    return jnp.einsum("bgrts,bsgd->btgrd", weights, v).reshape(b, t, HEADS * SIZE)


def layer(x, weights, doras, key, angles, mask, scaling):
    keys = dict(zip(ADAPTED, jax.random.split(key, len(ADAPTED))))

    def adapted(name, x):
        return project(x, weights[name], doras[name], scaling, keys[name])
    b, t, _ = x.shape
    y = rms(x, weights["norm_a"])
    q, k, v = (adapted(n, y).reshape(b, t, -1, SIZE) for n in ("q", "k", "v"))
    x = x + adapted("o", attention(turned(q, angles), turned(k, angles), v, mask))
    y = rms(x, weights["norm_m"])
    return x + adapted("down", jax.nn.silu(y @ weights["gate"]) * adapted("up", y))


def dora(depth, rank, alpha, micro, rows, length):
    def make(arrays, change):
        kind, n = computing(change, BF16), length // change.length_divisor
        steps, each = micro * change.parts, rows // change.batch_divisor // change.parts
        trained = cast(specs(adapters(depth, rank)), change.stored)
        frozen = cast(specs(frozen_shapes(depth)), BF16)
        optimizer = optax.adam(optax.warmup_cosine_decay_schedule(0.0, 2e-4, 100, 10_000))
        opt_state = jax.eval_shape(optimizer.init, trained)

        def loss_of(trained, frozen, key, tokens, is_answer):
            t = tokens.shape[1] - 1
            angles = jnp.arange(t)[:, None] * 1e6 ** (-jnp.arange(SIZE // 2) / (SIZE // 2))
            ago = jnp.arange(t)[:, None] - jnp.arange(t)[None, :]
            mask = (ago >= 0) & (ago < WINDOW)
            run = checkpointed(change, lambda *given: layer(*given, angles, mask, alpha / rank))

            def body(x, given):
                return run(x, *given), None
            x = frozen.embedding[tokens[:, :-1]].astype(kind)
            x, _ = jax.lax.scan(body, x, (frozen.layers, trained["layers"], jax.random.split(key, depth)))
            logits = (rms(x, frozen.last_norm) @ frozen.unembedding).astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
            weight = is_answer[:, 1:].astype(F32)
            return jnp.sum(losses * weight) / jnp.maximum(jnp.sum(weight), 1.0)

        def train_step(trained, opt_state, frozen, key, tokens, is_answer):
            def accumulate(carry, given):
                return jax.tree.map(jnp.add, carry, jax.value_and_grad(loss_of)(trained, frozen, *given)), None
            key, now = jax.random.split(key)
            tokens, is_answer = (a.reshape(steps, each, a.shape[-1]) for a in (tokens, is_answer))
            start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, trained)
            (loss, grads), _ = jax.lax.scan(accumulate, start, (jax.random.split(now, steps), tokens, is_answer))
            loss, grads = jax.tree.map(lambda a: a / steps, (loss, grads))
            trained, opt_state = updated(optimizer, grads, opt_state, trained)
            return trained, opt_state, key, {"loss": loss, "grad_norm": optax.global_norm(grads)}
        split, stacks = 1 if change.shard == "all" else None, {"layers": 0}
        return train_step, (laid_out(arrays, trained, stacks), laid_out(arrays, opt_state, stacks),
                            laid_out(arrays, frozen, stacks), arrays.array((2,), jnp.uint32),
                            arrays.array((micro, each * change.parts, n + 1), jnp.int32, split),
                            arrays.array((micro, each * change.parts, n + 1), jnp.int32, split)), (0, 1)
    return make


FAMILY = {"medal_dora_mistral": dict(
    make=dora(depth=28, rank=32, alpha=64, micro=4, rows=4, length=1024), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
