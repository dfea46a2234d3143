"""XGLM (564M), a multilingual decoder with a vocabulary of 256008 and sinusoidal places, goes on pretraining.

Plain JAX: dictionaries of float32 arrays, layers stacked and run by a scan, bfloat16 compute. Tokens come as [steps,
batch, length]; the step scans over the micro-batches and sums gradients, then AdamW with a clip. Nothing is donated.
"""
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import checkpointed, computing, laid_out, matrices_only, specs, updated
from advice_board_training import BF16, F32, cast

VOCAB, WIDTH, HIDDEN, HEADS, LAYERS, PAD = 256008, 1024, 4096, 16, 24, 1
STACKS = {"layers": 0}


def shapes():
    def linear(a, b):
        return {"w": (LAYERS, a, b), "b": (LAYERS, b)}

    def norm(*stacked):
        return {"scale": (*stacked, WIDTH), "bias": (*stacked, WIDTH)}
    layers = {"attn_norm": norm(LAYERS), "mlp_norm": norm(LAYERS), "fc1": linear(WIDTH, HIDDEN),
              "fc2": linear(HIDDEN, WIDTH), **{name: linear(WIDTH, WIDTH) for name in ("q", "k", "v", "out")}}
    return specs({"embed": (VOCAB, WIDTH), "layers": layers, "final_norm": norm()})


def sinusoids(length, offset=2):
    half = WIDTH // 2
    rates = jnp.exp(-jnp.log(10000.0) / (half - 1) * jnp.arange(half, dtype=F32))
    angle = (jnp.arange(length) + offset)[:, None] * rates
    return jnp.concatenate([jnp.sin(angle), jnp.cos(angle)], -1)


def layer_norm(p, x):
    y = x.astype(F32)
    y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(jnp.var(y, -1, keepdims=True) + 1e-5)
    return (y * p["scale"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def linear(p, x):
    return x @ p["w"].astype(x.dtype) + p["b"].astype(x.dtype)


def attention(p, x, mask):
    rows, length, _ = x.shape
    q, k, v = (linear(p[name], x).reshape(rows, length, HEADS, WIDTH // HEADS) for name in "qkv")
    scores = jnp.einsum("bqhd,bkhd->bhqk", q * (WIDTH // HEADS) ** -0.5, k).astype(F32)
    weights = jax.nn.softmax(jnp.where(mask, scores, jnp.finfo(F32).min), axis=-1).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(rows, length, WIDTH)
    return linear(p["out"], mixed)


def layer(p, x, mask):
    x = x + attention(p, layer_norm(p["attn_norm"], x), mask)
    return x + linear(p["fc2"], jax.nn.gelu(linear(p["fc1"], layer_norm(p["mlp_norm"], x)), approximate=False))


def forward(params, tokens, kind, change):
    length = tokens.shape[1]
    x = params["embed"][tokens].astype(kind) * WIDTH ** 0.5
    x = x + sinusoids(length).astype(kind)
    causal = jnp.tril(jnp.ones((length, length), bool))
    mask = causal & (tokens != PAD)[:, None, None, :]
    run = checkpointed(change, layer)
    x, _ = jax.lax.scan(lambda x, p: (run(p, x, mask), None), x, params["layers"])
    x = layer_norm(params["final_norm"], x)
    return x @ params["embed"].astype(kind).T


def xglm(steps, batch, length, rate=1e-4):
    def make(arrays, change):
        rows, n = batch // change.batch_divisor, length // change.length_divisor
        kind = computing(change, BF16)
        params = cast(shapes(), change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, rate, 1000, 50_000, 0.1 * rate)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, b1=0.9, b2=0.98, weight_decay=0.01, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, tokens):
            logits = forward(params, tokens, kind, change)[:, :-1].astype(F32)
            labels = tokens[:, 1:]
            weights = (labels != PAD).astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
            return (losses * weights).sum() / jnp.maximum(weights.sum(), 1.0)

        def train_step(params, opt_state, tokens):
            def micro_step(carry, tokens):
                grads, loss = carry
                loss_now, grads_now = jax.value_and_grad(loss_fn)(params, tokens)
                return (jax.tree.map(jnp.add, grads, grads_now), loss + loss_now), None

            start = jax.tree.map(jnp.zeros_like, params), jnp.zeros((), F32)
            (grads, loss), _ = jax.lax.scan(micro_step, start, tokens)
            grads = jax.tree.map(lambda g: g / tokens.shape[0], grads)
            metrics = {"loss": loss / tokens.shape[0], "grad_norm": optax.global_norm(grads)}
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, metrics

        # the rows of each micro-batch are what is dealt to the chips
        tokens = arrays.array((steps, rows, n), jnp.int32, 1 if change.shard == "all" else None)
        return train_step, (laid_out(arrays, params, STACKS), laid_out(arrays, opt_state, STACKS), tokens), (0, 1)
    return make


FAMILY = {"crown_xglm_accumulate": dict(
    make=xglm(steps=8, batch=8, length=1024), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
