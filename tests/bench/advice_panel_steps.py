"""Language models whose step sums gradients over micro-batches before the optimizer moves anything.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). One scans
its layers inside the scan of micro-batches (SmolLM, plain pytrees), one has its layers unrolled (Pythia, flax linen).
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, placed, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped
from advice_structures import BF16, F32


# --- Layers in a scan, in a scan of micro-batches ---

def rotated(x, theta=10000.0):
    """Rotary positions of [batch, time, heads, side], halves of the side paired."""
    side = x.shape[-1]
    rates = theta ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    angles = jnp.arange(x.shape[1], dtype=F32)[:, None] * rates
    cos, sin = jnp.cos(angles)[:, None].astype(x.dtype), jnp.sin(angles)[:, None].astype(x.dtype)
    first, second = jnp.split(x, 2, -1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def grouped_attention(q, k, v):
    """Causal; q [batch, time, heads, side], k and v with fewer heads."""
    batch, time, heads, side = q.shape
    q = q.reshape(batch, time, k.shape[2], -1, side)
    scores = jnp.einsum("btkgd,bskd->bkgts", q, k).astype(F32) * side ** -0.5
    scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, -1e30)
    probs = jax.nn.softmax(scores, axis=-1).astype(v.dtype)
    return jnp.einsum("bkgts,bskd->btkgd", probs, v).reshape(batch, time, heads * side)


def accumulated_smol(layers, width, heads, kv_heads, hidden, vocab, steps, batch, length, kind=BF16):
    """SmolLM, pretrained: tokens [steps, batch, length]; the table is the head too."""
    side = width // heads
    stack = {"q_proj": (layers, width, width), "k_proj": (layers, width, kv_heads * side),
             "v_proj": (layers, width, kv_heads * side), "o_proj": (layers, width, width),
             "gate_proj": (layers, width, hidden), "up_proj": (layers, width, hidden),
             "down_proj": (layers, hidden, width), "input_norm": (layers, width), "post_norm": (layers, width)}

    def make(arrays, change):
        import optax
        micro, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        shapes = shaped(embed_tokens=(vocab, width), norm=(width,), scanned_layers=stack)
        optimizer = clipped_adamw(3e-3)

        def layer(x, w):
            h = root_normed(x, w["input_norm"])
            q, k, v = ((h @ w[name]).reshape(*h.shape[:2], -1, side) for name in ("q_proj", "k_proj", "v_proj"))
            x = x + grouped_attention(rotated(q), rotated(k), v) @ w["o_proj"]
            h = root_normed(x, w["post_norm"])
            return x + (jax.nn.silu(h @ w["gate_proj"]) * (h @ w["up_proj"])) @ w["down_proj"], None
        block = maybe_checkpointed(change, layer)

        def loss_of(params, tokens):
            p = as_kind(params, now)
            x, _ = jax.lax.scan(block, p["embed_tokens"][tokens], p["scanned_layers"])
            logits = root_normed(x, p["norm"]) @ p["embed_tokens"].T
            return word_loss(logits[:, :-1], tokens[:, 1:])

        def train_step(params, opt_state, tokens):
            count = steps * change.parts
            tokens = tokens.reshape(count, micro // change.parts, time)

            def micro_step(total, some):
                loss, grads = jax.value_and_grad(loss_of)(params, some)
                return jax.tree.map(jnp.add, total, grads), loss
            zeros = jax.tree.map(jnp.zeros_like, params)
            grads, losses = jax.lax.scan(micro_step, zeros, tokens)
            grads = jax.tree.map(lambda g: g / count, grads)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            metrics = {"loss": losses.mean(), "grad_norm": optax.global_norm(grads)}
            return optax.apply_updates(params, updates), opt_state, metrics
        params = as_kind(shapes, change.stored)
        state = jax.eval_shape(optimizer.init, params)
        tokens = arrays.array((steps, micro, time), jnp.int32, 1 if change.shard == "all" else None)
        return train_step, (placed(arrays, params), placed(arrays, state), tokens), (0, 1)
    return make


# --- Unrolled layers ---

def pythia(change, now, layers, width, heads, vocab):
    """GPT-NeoX: attention and units side by side, a quarter of each head is rotated, head and table apart."""
    import flax.linen as nn
    side = width // heads
    turned = side // 4

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x):
            batch, time, _ = x.shape
            h = nn.LayerNorm(dtype=now, name="input_layernorm")(x)
            qkv = nn.Dense(3 * width, dtype=now, name="query_key_value")(h).reshape(batch, time, heads, 3 * side)
            q, k, v = jnp.split(qkv, 3, axis=-1)
            q, k = (jnp.concatenate([rotated(one[..., :turned]), one[..., turned:]], -1) for one in (q, k))
            mask = nn.make_causal_mask(jnp.ones((batch, time), jnp.int32))
            mixed = nn.dot_product_attention(q, k, v, mask=mask, dtype=now).reshape(batch, time, width)
            said = nn.Dense(width, dtype=now, name="dense")(mixed)
            h = nn.LayerNorm(dtype=now, name="post_attention_layernorm")(x)
            h = nn.gelu(nn.Dense(4 * width, dtype=now, name="dense_h_to_4h")(h))
            return x + said + nn.Dense(width, dtype=now, name="dense_4h_to_h")(h)

    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
    Block = nn.remat(Layer, policy=policy) if change.rematerialize else Layer

    class Model(nn.Module):
        @nn.compact
        def __call__(self, input_ids):
            x = nn.Embed(vocab, width, dtype=now, name="embed_in")(input_ids)
            for i in range(layers):
                x = Block(name=f"layers_{i}")(x)
            x = nn.LayerNorm(dtype=now, name="final_layer_norm")(x)
            return nn.Dense(vocab, use_bias=False, dtype=now, name="embed_out")(x)
    return Model()


def accumulated_pythia(layers, width, heads, vocab, steps, batch, length, kind=F32):
    """Fine-tuned on the answers only; rows [steps * batch, length] are dealt out to the micro-batches."""
    def make(arrays, change):
        import optax
        rows, time = steps * batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)
        model = pythia(change, now, layers, width, heads, vocab)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, time), jnp.int32))["params"]
        params = as_kind(shapes, change.stored)
        schedule = optax.linear_schedule(2e-5, 0.0, 5000)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, mask=matrices_only))

        def loss_of(params, batch):
            logits = model.apply({"params": params}, batch["input_ids"])
            return word_loss(logits[:, :-1], batch["input_ids"][:, 1:], batch["loss_mask"][:, 1:].astype(F32))

        def train_step(params, opt_state, batch):
            count = steps * change.parts
            # row r goes to micro-batch r % count, so that rows stay on their chips
            dealt = jax.tree.map(lambda one: one.reshape(-1, count, time).swapaxes(0, 1), batch)

            def accumulate(carry, some):
                grads, loss = carry
                new_loss, new = jax.value_and_grad(loss_of)(params, some)
                return (jax.tree.map(lambda a, g: a + g.astype(F32), grads, new), loss + new_loss), None
            zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params)
            (grads, loss), _ = jax.lax.scan(accumulate, (zeros, jnp.zeros((), F32)), dealt)
            grads = jax.tree.map(lambda g, p: (g / count).astype(p.dtype), grads, params)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss / count
        ids = arrays.batch((rows, time), jnp.int32)
        state = jax.eval_shape(optimizer.init, params)
        return train_step, (placed(arrays, params), placed(arrays, state), {"input_ids": ids, "loss_mask": ids}), (0, 1)
    return make
