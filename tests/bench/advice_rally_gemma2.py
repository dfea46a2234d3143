"""Gemma-2 of 2 billion weights, frozen in bfloat16, learns instructions through low-rank adapters in float32.

In haiku. A pair of layers, one that looks back over a window and one over all, is stacked thirteen times. Each sublayer
has a norm before it and one after it, scores and logits are capped by tanh, and adapters of all projections have a
dropout. Only answers are counted.
"""
import haiku as hk
import jax
import jax.numpy as jnp

from advice_board_changes import raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, cross_entropy, on_chips


class LoraLinear(hk.Module):
    def __init__(self, size, lora, now, name):
        super().__init__(name=name)
        self.size, self.lora, self.now = size, lora, now

    def __call__(self, x):
        rank, alpha, dropout = self.lora
        weight = hk.get_parameter("w", (x.shape[-1], self.size), BF16, hk.initializers.VarianceScaling())
        down = hk.get_parameter("lora_a", (x.shape[-1], rank), F32, hk.initializers.VarianceScaling())
        up = hk.get_parameter("lora_b", (rank, self.size), F32, jnp.zeros)
        given = hk.dropout(hk.next_rng_key(), dropout, x)
        return x @ weight.astype(self.now) + given @ down.astype(self.now) @ up.astype(self.now) * (alpha / rank)


class RMSNorm(hk.Module):
    def __call__(self, x):
        scale = hk.get_parameter("scale", x.shape[-1:], BF16, jnp.zeros)
        y = x.astype(F32)
        y = y * jax.lax.rsqrt(jnp.mean(jnp.square(y), -1, keepdims=True) + 1e-6)
        return (y * (1 + scale.astype(F32))).astype(x.dtype)


def soft_cap(x, cap):
    return jnp.tanh(x / cap) * cap


def rope(x):
    """x [b, t, h, d]"""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1], dtype=F32)[:, None] / 10_000 ** (jnp.arange(half, dtype=F32) / half)
    sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    first, second = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1).astype(x.dtype)


class Attention(hk.Module):
    def __init__(self, heads, groups, side, cap, lora, now, name):
        super().__init__(name=name)
        self.heads, self.groups, self.side, self.cap, self.lora, self.now = heads, groups, side, cap, lora, now

    def __call__(self, x, mask):
        rows, length, width = x.shape

        def project(count, name):
            made = LoraLinear(count * self.side, self.lora, self.now, name)(x)
            return made.reshape(rows, length, count, self.side)
        q = rope(project(self.heads, "q_proj")) * self.side ** -0.5
        k, v = rope(project(self.groups, "k_proj")), project(self.groups, "v_proj")
        q = q.reshape(rows, length, self.groups, self.heads // self.groups, self.side)
        scores = soft_cap(jnp.einsum("btgrd,bsgd->bgrts", q, k, preferred_element_type=F32), self.cap)
        probs = jax.nn.softmax(jnp.where(mask, scores, -2.3819763e38), axis=-1).astype(x.dtype)
        mixed = jnp.einsum("bgrts,bsgd->btgrd", probs, v).reshape(rows, length, -1)
        return LoraLinear(width, self.lora, self.now, "o_proj")(mixed)


class FeedForward(hk.Module):
    def __init__(self, hidden, lora, now, name):
        super().__init__(name=name)
        self.hidden, self.lora, self.now = hidden, lora, now

    def __call__(self, x):
        gate = jax.nn.gelu(LoraLinear(self.hidden, self.lora, self.now, "gate_proj")(x), approximate=True)
        up = LoraLinear(self.hidden, self.lora, self.now, "up_proj")(x)
        return LoraLinear(x.shape[-1], self.lora, self.now, "down_proj")(gate * up)


def gemma2(change, now, pairs, width, heads, groups, side, hidden, vocab, window, lora, attention_cap, final_cap):
    def block(x, mask, name):
        mixed = Attention(heads, groups, side, attention_cap, lora, now, f"{name}_attn")(
            RMSNorm(f"{name}_pre_attn_norm")(x), mask)
        x = x + RMSNorm(f"{name}_post_attn_norm")(mixed)
        thought = FeedForward(hidden, lora, now, f"{name}_mlp")(RMSNorm(f"{name}_pre_ffw_norm")(x))
        return x + RMSNorm(f"{name}_post_ffw_norm")(thought)

    def forward(tokens):
        places = jnp.arange(tokens.shape[1])
        causal = places <= places[:, None]
        near = causal & (places > places[:, None] - window)
        run = hk.remat(block, policy=checkpoint_policy(change), static_argnums=(2,)) if change.rematerialize else block

        def pair(x):
            return run(run(x, near, "local"), causal, "full")
        table = hk.get_parameter("embedding", (vocab, width), BF16, hk.initializers.RandomNormal(0.02)).astype(now)
        x = table[tokens] * jnp.asarray(width ** 0.5, now)
        x = hk.layer_stack(pairs, name="pairs")(pair)(x)
        logits = RMSNorm("final_norm")(x) @ table.T
        return soft_cap(logits.astype(F32), final_cap)
    return hk.transform(forward)


def gemma2_lora(pairs, width, heads, groups, side, hidden, vocab, batch, length, window=4096, lora=(16, 32.0, 0.05),
                attention_cap=50.0, final_cap=30.0, kind=BF16):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor
        model = gemma2(change, compute_dtype(change, kind), pairs, width, heads, groups, side, hidden, vocab, window,
                       lora, attention_cap, final_cap)
        made = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 8), jnp.int32))
        adapters, frozen = hk.data_structures.partition(lambda module, name, leaf: name.startswith("lora_"), made)
        adapters = cast(adapters, change.stored)
        stacks = {module: 0 for module in made if "pairs" in module}
        schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-4, 100, 3000)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=0.0))
        opt_state = jax.eval_shape(optimizer.init, adapters)

        def train_step(adapters, opt_state, frozen, key, tokens, targets, answers):
            def loss_of(adapters, key, tokens, targets, answers):
                logits = model.apply(hk.data_structures.merge(frozen, adapters), key, tokens)
                return cross_entropy(logits, targets, answers), ()
            key, drop_key = jax.random.split(key)
            loss, _, grads = summed_slopes(loss_of, change.parts)(adapters, drop_key, tokens, targets, answers)
            adapters, opt_state = updated(optimizer, grads, opt_state, adapters)
            return adapters, opt_state, key, {"loss": loss, "grad_norm": optax.global_norm(grads)}
        text = arrays.batch((rows, words), jnp.int32)
        return train_step, (on_chips(arrays, adapters, stacks), on_chips(arrays, opt_state, stacks),
                            on_chips(arrays, frozen, stacks), raw_key(arrays), text, text,
                            arrays.batch((rows, words), jnp.bool_)), (0, 1)
    return make
