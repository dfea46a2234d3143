"""GPT-J, reduced to 1B: attention and MLP in parallel from one norm, rotary places on half a head, vocabulary of 50400.

Plain JAX in the manner of mesh-transformer-jax: a list of dictionaries, layers in a loop, float32 weights cast to
bfloat16, gradients accumulated over 8 micro-batches by a scan inside the step, z-loss, Adam with a clip.
"""
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import checkpointed, computing, laid_out, specs, updated
from advice_board_training import BF16, F32, cast

WIDTH, HEADS, ROTARY, VOCAB, DEPTH = 2048, 16, 64, 50400, 16


def shapes():
    def block():
        return {"ln": {"g": (WIDTH,), "b": (WIDTH,)},
                "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "o": (WIDTH, WIDTH),
                "fc1": {"w": (WIDTH, 4 * WIDTH), "b": (4 * WIDTH,)}, "fc2": {"w": (4 * WIDTH, WIDTH), "b": (WIDTH,)}}
    return specs({"wte": (VOCAB, WIDTH), "h": [block() for _ in range(DEPTH)],
                  "ln_f": {"g": (WIDTH,), "b": (WIDTH,)}, "head": {"w": (WIDTH, VOCAB), "b": (VOCAB,)}})


def layer_norm(p, x):
    y = x.astype(F32)
    y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
    return (y * p["g"].astype(F32) + p["b"].astype(F32)).astype(x.dtype)


def rotate_every_two(x):
    return jnp.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)


def rotary(x, sin, cos):
    turned, rest = x[..., :ROTARY], x[..., ROTARY:]
    return jnp.concatenate([turned * cos + rotate_every_two(turned) * sin, rest], axis=-1)


def block(p, x, sin, cos):
    b, t, _ = x.shape
    y = layer_norm(p["ln"], x)
    q, k, v = ((y @ p[n].astype(x.dtype)).reshape(b, t, HEADS, -1) for n in "qkv")
    q, k = rotary(q, sin, cos), rotary(k, sin, cos)
    scores = jnp.einsum("bthd,bThd->bhtT", q, k).astype(F32) * q.shape[-1] ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e10)
    probs = jax.nn.softmax(scores, axis=-1).astype(x.dtype)
    attended = jnp.einsum("bhtT,bThd->bthd", probs, v).reshape(b, t, WIDTH) @ p["o"].astype(x.dtype)
    hidden = jax.nn.gelu(y @ p["fc1"]["w"].astype(x.dtype) + p["fc1"]["b"].astype(x.dtype))
    return x + attended + hidden @ p["fc2"]["w"].astype(x.dtype) + p["fc2"]["b"].astype(x.dtype)


def forward(params, ids, kind, change):
    angles = jnp.arange(ids.shape[1])[:, None] / 10000 ** (jnp.arange(0, ROTARY, 2) / ROTARY)
    sin, cos = (jnp.repeat(f(angles), 2, axis=-1)[None, :, None].astype(kind) for f in (jnp.sin, jnp.cos))
    x = params["wte"][ids].astype(kind)
    run = checkpointed(change, block)
    for p in params["h"]:
        x = run(p, x, sin, cos)
    x = layer_norm(params["ln_f"], x)
    return (x @ params["head"]["w"].astype(kind)).astype(F32) + params["head"]["b"].astype(F32)


def gptj(accumulate, rows, length):
    def make(arrays, change):
        kind = computing(change, BF16)
        steps, each = accumulate * change.parts, rows // change.batch_divisor // change.parts
        params = cast(shapes(), change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 1.2e-4, 3000, 300_000, 1.2e-5)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(b2=0.95),
                                optax.add_decayed_weights(0.1), optax.scale_by_schedule(lambda i: -schedule(i)))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, ids):
            logits = forward(params, ids[:, :-1], kind, change)
            z = jax.nn.logsumexp(logits, axis=-1)
            right = jnp.take_along_axis(logits, ids[:, 1:, None], axis=-1)[..., 0]
            return jnp.mean(z - right) + 1e-4 * jnp.mean(z ** 2)

        def train_step(params, opt_state, ids):
            def micro(carry, ids):
                total, grads = carry
                loss, new = jax.value_and_grad(loss_fn)(params, ids)
                return (total + loss, jax.tree.map(jnp.add, grads, new)), None
            start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            ids = ids.reshape(steps, each, ids.shape[-1])
            (loss, grads), _ = jax.lax.scan(micro, start, ids)
            grads = jax.tree.map(lambda g: g / steps, grads)
            norm = optax.global_norm(grads)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss / steps, "grad_norm": norm}
        ids = arrays.array((accumulate, each * change.parts, length // change.length_divisor + 1), jnp.int32,
                           1 if change.shard == "all" else None)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), ids), (0, 1)
    return make


FAMILY = {"medal_gptj_accumulate": dict(
    make=gptj(accumulate=8, rows=8, length=1024), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "rematerialize+halve_batch", "shard_parameters", "shard_all"))}
