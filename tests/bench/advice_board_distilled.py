"""DistilGPT-2: a small GPT-2 learns from a frozen one, in flax nnx and float32.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Three losses are mixed as huggingface's
recipe of distillation has them: divergence of softened chances, the words themselves, and the last hidden states'
cosine.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (F32, cast, checkpoint_policy, compute_dtype, cross_entropy, decayed, on_chips,
                                   value_and_mean_grad)


def gpt2(now, layers, width, heads, vocab, places):
    """The class, to be made with nnx.Rngs."""
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.ln_1, self.ln_2 = (nnx.LayerNorm(width, epsilon=1e-5, dtype=now, rngs=rngs) for _ in range(2))
            self.c_attn = nnx.Linear(width, 3 * width, dtype=now, rngs=rngs)
            self.attn_proj = nnx.Linear(width, width, dtype=now, rngs=rngs)
            self.c_fc = nnx.Linear(width, 4 * width, dtype=now, rngs=rngs)
            self.mlp_proj = nnx.Linear(4 * width, width, dtype=now, rngs=rngs)

        def __call__(self, x, mask):
            batch, time, _ = x.shape
            q, k, v = (one.reshape(batch, time, heads, width // heads)
                       for one in jnp.split(self.c_attn(self.ln_1(x)), 3, axis=-1))
            mixed = nnx.dot_product_attention(q, k, v, mask=mask, dtype=now)
            x = x + self.attn_proj(mixed.reshape(x.shape))
            return x + self.mlp_proj(nnx.gelu(self.c_fc(self.ln_2(x))))

    class GPT2(nnx.Module):
        def __init__(self, rngs):
            self.wte = nnx.Embed(vocab, width, dtype=now, rngs=rngs)
            self.wpe = nnx.Embed(places, width, dtype=now, rngs=rngs)
            self.h = nnx.List([Block(rngs) for _ in range(layers)])
            self.ln_f = nnx.LayerNorm(width, epsilon=1e-5, dtype=now, rngs=rngs)

        def __call__(self, ids, attention_mask, run):
            at = jnp.arange(ids.shape[1])
            mask = (at[:, None] >= at) & (attention_mask[:, None, None] > 0)
            x = self.wte(ids) + self.wpe(at)
            for block in self.h:
                x = run(block, x, mask)
            x = self.ln_f(x)
            return self.wte.attend(x), x
    return GPT2


def plain_run(block, x, mask):
    return block(x, mask)


def masked_mean(values, weights):
    return jnp.sum(values * weights) / jnp.maximum(jnp.sum(weights), 1.0)


def softened_divergence(student, teacher, weights, heat):
    told = jax.nn.log_softmax(teacher.astype(F32) / heat)
    said = jax.nn.log_softmax(student.astype(F32) / heat)
    return heat ** 2 * masked_mean(jnp.sum(jnp.exp(told) * (told - said), -1), weights)


def cosine_distance(student, teacher, weights):
    def unit(x):
        wide = x.astype(F32)
        return wide * jax.lax.rsqrt(jnp.square(wide).sum(-1, keepdims=True) + 1e-8)
    return masked_mean(1 - jnp.sum(unit(student) * unit(teacher), -1), weights)


def distilled_gpt2(layers, teacher_layers, width, heads, vocab, places, batch, length, heat=2.0, kind=F32):
    def make(arrays, change):
        import optax
        from flax import nnx
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)

        def parts_of(depth):
            build = gpt2(now, depth, width, heads, vocab, places)
            graph, params = nnx.split(nnx.eval_shape(lambda: build(nnx.Rngs(0))))
            return graph, cast(params, change.stored)
        graph, params = parts_of(layers)
        teacher_graph, teacher = parts_of(teacher_layers)
        run = nnx.remat(plain_run, policy=checkpoint_policy(change)) if change.rematerialize else plain_run
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adamw(
            optax.linear_schedule(2.5e-4, 0.0, 50_000), b2=0.98, eps=1e-6, mask=decayed))

        def loss_of(params, teacher, ids, attention_mask):
            told, shown = nnx.merge(teacher_graph, teacher)(ids, attention_mask, plain_run)
            logits, hidden = nnx.merge(graph, params)(ids, attention_mask, run)
            weights = attention_mask.astype(F32)
            words = cross_entropy(logits[:, :-1], ids[:, 1:], weights[:, 1:])
            return (5.0 * softened_divergence(logits, told, weights, heat) + 2.0 * words +
                    cosine_distance(hidden, shown, weights))

        def train_step(params, opt_state, teacher, ids, attention_mask):
            loss, grads = value_and_mean_grad(lambda params, *some: loss_of(params, teacher, *some), change.parts)(
                params, ids, attention_mask)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss
        opt_state = jax.eval_shape(optimizer.init, params)
        ids = arrays.batch((rows, time), jnp.int32)
        arguments = on_chips(arrays, params), on_chips(arrays, opt_state), on_chips(arrays, teacher), ids, ids
        return train_step, arguments, (0, 1)
    return make
