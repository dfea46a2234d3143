"""Direct preference optimization of a Llama 3.2 (1B) by low-rank adapters over frozen weights.

Plain pytrees, layers stacked and scanned. Chosen and rejected answers go through as one batch; the reference is the
same model without its adapters. Adapters on all projections with dropout, AdamW over them alone, which are donated.
"""
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, abstract, cast, compute_dtype, maybe_checkpoint

STACKED = {"layers": 0}


def kernels_of(width, heads, kv_heads, head, hidden):
    return {"q": (width, heads * head), "k": (width, kv_heads * head), "v": (width, kv_heads * head),
            "o": (heads * head, width), "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}


def frozen_shapes(layers, width, vocab, kernels):
    stacked = {name: (layers, *shape) for name, shape in kernels.items()}
    return {"embed": (vocab, width), "final_norm": (width,),
            "layers": {**stacked, "attn_norm": (layers, width), "mlp_norm": (layers, width)}}


def adapter_shapes(layers, kernels, rank):
    return {"layers": {name: {"a": (layers, shape[0], rank), "b": (layers, rank, shape[1])}
                       for name, shape in kernels.items()}}


def rms_norm(x, scale, eps=1e-5):
    x32 = x.astype(F32)
    x32 = x32 * jax.lax.rsqrt(jnp.mean(x32 ** 2, -1, keepdims=True) + eps)
    return (x32 * scale.astype(F32)).astype(x.dtype)


def rotary(x, theta=500_000.0):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] * theta ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None].astype(x.dtype), jnp.sin(angles)[:, None].astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def projection(frozen, adapters, key, alpha, rate):
    """Of a layer: x, name -> x W + alpha / rank (dropped x) A B."""
    def project(x, name):
        y = x @ frozen[name].astype(x.dtype)
        if adapters is None:
            return y
        a, b = adapters[name]["a"].astype(x.dtype), adapters[name]["b"].astype(x.dtype)
        keep = jax.random.bernoulli(jax.random.fold_in(key, sorted(adapters).index(name)), 1 - rate, x.shape)
        return y + (jnp.where(keep, x / (1 - rate), 0) @ a) @ b * (alpha / a.shape[-1])
    return project


def decoder_layer(frozen, adapters, key, x, mask, kv_heads, head):
    batch, length, _ = x.shape
    project = projection(frozen, adapters, key, alpha=32.0, rate=0.05)
    y = rms_norm(x, frozen["attn_norm"])
    q = rotary(project(y, "q").reshape(batch, length, -1, head))
    k = rotary(project(y, "k").reshape(batch, length, kv_heads, head))
    v = project(y, "v").reshape(batch, length, kv_heads, head)
    q = q.reshape(batch, length, kv_heads, -1, head)
    scores = jnp.einsum("bqkgd,bskd->bkgqs", q, k).astype(F32) * head ** -0.5
    probs = jax.nn.softmax(jnp.where(mask, scores, -1e30), -1).astype(x.dtype)
    mixed = jnp.einsum("bkgqs,bskd->bqkgd", probs, v).reshape(batch, length, -1)
    x = x + project(mixed, "o")
    y = rms_norm(x, frozen["mlp_norm"])
    return x + project(jax.nn.silu(project(y, "gate")) * project(y, "up"), "down")


def answer_log_probs(frozen, adapters, key, tokens, is_answer, is_present, kv_heads, head, now, change):
    """Of each row, summed over the tokens of its answer."""
    length = tokens.shape[1]
    mask = jnp.tril(jnp.ones((length, length), bool))[None] & is_present[:, None, :]
    mask = mask[:, None, None]
    block = maybe_checkpoint(change, lambda *given: decoder_layer(*given, kv_heads, head))
    x = frozen["embed"][tokens].astype(now)
    layers = frozen["layers"]
    keys = jax.random.split(key, layers["q"].shape[0])

    def body(x, given):
        return block(*given, x, mask), None
    x, _ = jax.lax.scan(body, x, (layers, None if adapters is None else adapters["layers"], keys))
    x = rms_norm(x, frozen["final_norm"])
    logits = jnp.einsum("bld,vd->blv", x[:, :-1], frozen["embed"].astype(now)).astype(F32)
    chosen = -optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
    return (chosen * is_answer[:, 1:]).sum(-1)


def dpo(layers, width, heads, kv_heads, hidden, vocab, rank, pairs, length, beta=0.1, smoothing=0.0, kind=BF16):
    def make(arrays, change):
        rows, time = pairs // change.batch_divisor, length // change.length_divisor
        now, head = compute_dtype(change, kind), width // heads
        kernels = kernels_of(width, heads, kv_heads, head, hidden)
        frozen = cast(abstract(frozen_shapes(layers, width, vocab, kernels)), change.stored)
        adapters = cast(abstract(adapter_shapes(layers, kernels, rank)), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 5e-5, 150, 5_000),
                                            weight_decay=0.0))
        opt_state = jax.eval_shape(optimizer.init, adapters)

        def train_step(frozen, adapters, opt_state, key, chosen, rejected, chosen_lengths, rejected_lengths,
                       prompt_lengths):
            def loss_of(adapters, key, chosen, rejected, chosen_lengths, rejected_lengths, prompt_lengths):
                tokens = jnp.concatenate([chosen, rejected])
                place = jnp.arange(time)
                is_present = place < jnp.concatenate([chosen_lengths, rejected_lengths])[:, None]
                is_answer = is_present & (place >= jnp.tile(prompt_lengths, 2)[:, None])

                def log_probs(adapters):
                    return answer_log_probs(frozen, adapters, key, tokens, is_answer, is_present, kv_heads, head, now,
                                            change)
                with jax.named_scope("reference"):
                    reference = jax.lax.stop_gradient(log_probs(None))
                with jax.named_scope("policy"):
                    rewards = beta * (log_probs(adapters) - reference)
                good, bad = jnp.split(rewards, 2)
                losses = (-jax.nn.log_sigmoid(good - bad) * (1 - smoothing)
                          - jax.nn.log_sigmoid(bad - good) * smoothing)
                return losses.mean(), {"accuracy": (good > bad).mean(), "margin": (good - bad).mean(),
                                       "chosen_reward": good.mean(), "rejected_reward": bad.mean()}
            key, dropout_key = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_of, change.parts)(
                adapters, dropout_key, chosen, rejected, chosen_lengths, rejected_lengths, prompt_lengths)
            adapters, opt_state = updated(optimizer, grads, opt_state, adapters)
            return adapters, opt_state, key, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}

        def lengths():
            return arrays.batch((rows,), jnp.int32)
        return train_step, (laid_out(arrays, frozen, STACKED), laid_out(arrays, adapters, STACKED),
                            laid_out(arrays, opt_state, STACKED), raw_key(arrays),
                            arrays.batch((rows, time), jnp.int32), arrays.batch((rows, time), jnp.int32),
                            lengths(), lengths(), lengths()), (1, 2)
    return make


FAMILY = {"league_reward": dict(
    make=dpo(layers=16, width=2048, heads=32, kv_heads=8, hidden=8192, vocab=128256, rank=16, pairs=8, length=512),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
