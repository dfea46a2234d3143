"""Decoders whose layers are scanned: Gemma 3 with gradients summed over micro-batches, Qwen 3 nearly filling a chip.

Each maker takes its Arrays and Change, and gives (step, arguments, donated). Gemma is plain functions of stacked
parameters, with the names and einsums of google-deepmind/gemma; Qwen is in flax linen, with MaxText's names and its
way to stack layers on the second axis.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, abstract, cast, checkpoint_policy, compute_dtype, cross_entropy, decayed,
                                   maybe_checkpoint, on_chips, optax_step)


def apply_rope(x, positions, base):
    """x [batch, time, heads, side]; base is a number or a traced scalar."""
    fraction = 2 * jnp.arange(x.shape[-1] // 2) / x.shape[-1]
    timescale = base ** fraction
    sinusoid = positions[:, None, None] / timescale
    sin, cos = jnp.sin(sinusoid), jnp.cos(sinusoid)
    first, second = jnp.split(x.astype(F32), 2, axis=-1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1).astype(x.dtype)


# --- Gemma 3, tokens [steps, batch, length] ---

def gemma_norm(x, scale):
    var = jnp.mean(jnp.square(x.astype(F32)), axis=-1, keepdims=True)
    return (x * jax.lax.rsqrt(var + 1e-6) * (1 + scale.astype(F32))).astype(x.dtype)


def gemma_shapes(layers, width, heads, kv_heads, side, hidden, vocab):
    norms = ("pre_attention_norm", "post_attention_norm", "pre_ffw_norm", "post_ffw_norm")
    stack = {"q_einsum": (layers, heads, width, side), "kv_einsum": (layers, 2, kv_heads, width, side),
             "attn_vec_einsum": (layers, heads, side, width), "query_norm": (layers, side), "key_norm": (layers, side),
             "gating_einsum": (layers, 2, hidden, width), "linear": (layers, hidden, width)}
    return abstract({"input_embedding": (vocab, width), "final_norm": (width,),
                     "blocks": stack | {name: (layers, width) for name in norms}})


def gemma_attention(p, x, is_global, window):
    length, side = x.shape[1], p["query_norm"].shape[-1]
    at = jnp.arange(length)
    q = jnp.einsum("BTD,NDH->BTNH", x, p["q_einsum"])
    k, v = jnp.einsum("BSD,CKDH->CBSKH", x, p["kv_einsum"])
    base = jnp.where(is_global, 1_000_000.0, 10_000.0)
    q = apply_rope(gemma_norm(q, p["query_norm"]), at, base) * side ** -0.5
    k = apply_rope(gemma_norm(k, p["key_norm"]), at, base)
    q = q.reshape(*q.shape[:2], k.shape[2], -1, side)
    logits = jnp.einsum("BTKGH,BSKH->BKGTS", q, k).astype(F32)
    far = at[:, None] - at[None]
    mask = (far >= 0) & (is_global | (far < window))
    probs = jax.nn.softmax(jnp.where(mask, logits, -2.3819763e38), axis=-1).astype(x.dtype)
    encoded = jnp.einsum("BKGTS,BSKH->BTKGH", probs, v)
    return jnp.einsum("BTNH,NHD->BTD", encoded.reshape(*x.shape[:2], -1, side), p["attn_vec_einsum"])


def gemma_block(x, p, is_global, window):
    h = gemma_attention(p, gemma_norm(x, p["pre_attention_norm"]), is_global, window)
    x = x + gemma_norm(h, p["post_attention_norm"])
    gate, up = jnp.einsum("BTD,CFD->CBTF", gemma_norm(x, p["pre_ffw_norm"]), p["gating_einsum"])
    h = jnp.einsum("BTF,FD->BTD", jax.nn.gelu(gate) * up, p["linear"])
    return x + gemma_norm(h, p["post_ffw_norm"])


def summed_gemma(layers, width, heads, kv_heads, side, hidden, vocab, window, steps, batch, length, every=6, kind=BF16):
    """Gemma 3 270M, tuned whole: each step's gradients are summed over `steps` micro-batches."""
    def make(arrays, change):
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        is_global = jnp.arange(1, layers + 1) % every == 0
        block = maybe_checkpoint(change, lambda x, p, wide: gemma_block(x, p, wide, window))
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
            optax.warmup_cosine_decay_schedule(0.0, 5e-5, 200, 10_000), weight_decay=0.01, mask=decayed))

        def loss_of(params, inputs, targets):
            p = cast(params, now)
            x = p["input_embedding"][inputs] * jnp.sqrt(width).astype(now)
            x, _ = jax.lax.scan(lambda x, given: (block(x, *given), None), x, (p["blocks"], is_global))
            logits = jnp.einsum("BTD,VD->BTV", gemma_norm(x, p["final_norm"]), p["input_embedding"])
            return cross_entropy(logits, jnp.maximum(targets, 0), targets > 0)

        def train_step(params, opt_state, batch):
            count = steps * change.parts
            batch = jax.tree.map(lambda one: one.reshape(count, rows // change.parts, time), batch)

            def accumulate(carry, some):
                new = jax.value_and_grad(loss_of)(params, some["inputs"], some["targets"])
                return jax.tree.map(jnp.add, carry, new), None
            zeros = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            (loss, grads), _ = jax.lax.scan(accumulate, zeros, batch)
            grads = jax.tree.map(lambda g: g / count, grads)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss / count
        params = cast(gemma_shapes(layers, width, heads, kv_heads, side, hidden, vocab), change.stored)
        opt_state = jax.eval_shape(optimizer.init, params)
        tokens = arrays.array((steps, rows, time), jnp.int32, 1 if change.shard == "all" else None)
        params, opt_state = (on_chips(arrays, one, stacks={"blocks": 0}) for one in (params, opt_state))
        return train_step, (params, opt_state, {"inputs": tokens, "targets": tokens}), (0, 1)
    return make


# --- Qwen 3, in nn.scan ---

def qwen3(change, now, layers, width, heads, kv_heads, side, hidden, vocab):
    import flax.linen as nn

    def dense(features, name, axis=-1):
        return nn.DenseGeneral(features, axis=axis, use_bias=False, dtype=now, name=name)

    def norm(name):
        return nn.RMSNorm(epsilon=1e-6, dtype=now, name=name)

    class Attention(nn.Module):
        @nn.compact
        def __call__(self, x, positions):
            q = apply_rope(norm("query_norm")(dense((heads, side), "query")(x)), positions, 1e6)
            k = apply_rope(norm("key_norm")(dense((kv_heads, side), "key")(x)), positions, 1e6)
            v = dense((kv_heads, side), "value")(x)
            q = q.reshape(*q.shape[:2], kv_heads, heads // kv_heads, side)
            scores = jnp.einsum("btkgd,bskd->bkgts", q, k) * side ** -0.5
            mask = positions[:, None] >= positions[None]
            probs = jax.nn.softmax(jnp.where(mask, scores.astype(F32), -1e30)).astype(now)
            mixed = jnp.einsum("bkgts,bskd->btkgd", probs, v).reshape(*x.shape[:2], heads, side)
            return dense(width, "out", (-2, -1))(mixed)

    class Mlp(nn.Module):
        @nn.compact
        def __call__(self, x):
            return dense(width, "wo")(nn.silu(dense(hidden, "wi_0")(x)) * dense(hidden, "wi_1")(x))

    class DecoderLayer(nn.Module):
        @nn.compact
        def __call__(self, x, positions):
            x = x + Attention(name="self_attention")(norm("pre_self_attention_layer_norm")(x), positions)
            return x + Mlp(name="mlp")(norm("post_self_attention_layer_norm")(x)), None
    Layer = nn.remat(DecoderLayer, prevent_cse=False, policy=checkpoint_policy(change)) if change.rematerialize \
        else DecoderLayer

    class Transformer(nn.Module):
        @nn.compact
        def __call__(self, inputs):
            embedder = nn.Embed(vocab, width, dtype=now, name="token_embedder")
            stack = nn.scan(Layer, variable_axes={"params": 1}, split_rngs={"params": True}, in_axes=nn.broadcast,
                            length=layers)
            x, _ = stack(name="layers")(embedder(inputs), jnp.arange(inputs.shape[1]))
            return embedder.attend(norm("decoder_norm")(x)).astype(F32)
    return Transformer()


def full_qwen3(layers, width, heads, kv_heads, side, hidden, vocab, batch, length, kind=BF16):
    """Qwen 3 0.6B, pretrained further on packed text, with a z-loss; the state is donated."""
    def make(arrays, change):
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        model = qwen3(change, now, layers, width, heads, kv_heads, side, hidden, vocab)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, time), jnp.int32))["params"]

        def loss_of(params, inputs, targets):
            logits = model.apply({"params": params}, inputs)
            total = jax.nn.logsumexp(logits, axis=-1)
            said = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
            return jnp.mean(total - said + 1e-4 * jnp.square(total))
        ids = arrays.batch((rows, time), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
            optax.warmup_cosine_decay_schedule(0.0, 3e-4, 1000, 100_000), b2=0.95, weight_decay=0.1))
        return optax_step(arrays, change, shapes, loss_of, optimizer, ids, ids, stacks={"layers": 1})
    return make
