"""H2O-Danube tuned with LoRA in flax nnx: what is trained is a Param of its own kind, split off the frozen rest.

Weights lie in float32 and are used in bfloat16. Attention sees the last `window` tokens of what a row has.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, cast, checkpoint_policy, compute_dtype, cross_entropy, on_chips,
                                   value_and_mean_grad)


def rotary(x, base=10000.0):
    half = x.shape[-1] // 2
    rates = base ** (-jnp.arange(half, dtype=F32) / half)
    angles = jnp.arange(x.shape[1], dtype=F32)[:, None, None] * rates
    turned = jnp.concatenate([-x[..., half:], x[..., :half]], -1)
    cos, sin = (jnp.tile(f(angles), 2).astype(x.dtype) for f in (jnp.cos, jnp.sin))
    return x * cos + turned * sin


def danube_module(change, now, layers, width, heads, groups, hidden, vocab, rank, alpha, window):
    from flax import nnx

    per_head = width // heads
    normal = nnx.initializers.normal(0.02)

    class LoRALinear(nnx.Module):
        def __init__(self, inputs, outputs, rngs):
            self.kernel = nnx.Param(normal(rngs.params(), (inputs, outputs), F32))
            self.lora_a = nnx.LoRAParam(normal(rngs.params(), (inputs, rank), F32))
            self.lora_b = nnx.LoRAParam(jnp.zeros((rank, outputs), F32))

        def __call__(self, x):
            down = x @ self.lora_a[...].astype(now)
            return x @ self.kernel[...].astype(now) + (down @ self.lora_b[...].astype(now)) * (alpha / rank)

    class Attention(nnx.Module):
        def __init__(self, rngs):
            self.q = LoRALinear(width, heads * per_head, rngs)
            self.k = LoRALinear(width, groups * per_head, rngs)
            self.v = LoRALinear(width, groups * per_head, rngs)
            self.o = LoRALinear(heads * per_head, width, rngs)

        def __call__(self, x, mask):
            rows, length, _ = x.shape
            q = rotary(self.q(x).reshape(rows, length, heads, per_head))
            k = rotary(self.k(x).reshape(rows, length, groups, per_head))
            v = self.v(x).reshape(rows, length, groups, per_head)
            out = jax.nn.dot_product_attention(q, k, v, mask=mask, implementation="xla")
            return self.o(out.reshape(rows, length, -1))

    class MLP(nnx.Module):
        def __init__(self, rngs):
            self.gate, self.up = (nnx.Linear(width, hidden, use_bias=False, dtype=now, rngs=rngs) for _ in range(2))
            self.down = nnx.Linear(hidden, width, use_bias=False, dtype=now, rngs=rngs)

        def __call__(self, x):
            return self.down(nnx.silu(self.gate(x)) * self.up(x))

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.input_norm, self.post_norm = (nnx.RMSNorm(width, epsilon=1e-5, dtype=now, rngs=rngs) for _ in "ab")
            self.attention, self.mlp = Attention(rngs), MLP(rngs)

        def __call__(self, x, mask):
            x = x + self.attention(self.input_norm(x), mask)
            return x + self.mlp(self.post_norm(x))

    def run(block, x, mask):
        return block(x, mask)
    if change.rematerialize:
        run = nnx.remat(run, policy=checkpoint_policy(change))

    class Danube(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(vocab, width, dtype=now, rngs=rngs)
            self.blocks = nnx.List([Block(rngs) for _ in range(layers)])
            self.norm = nnx.RMSNorm(width, epsilon=1e-5, dtype=now, rngs=rngs)
            self.head = nnx.Linear(width, vocab, use_bias=False, dtype=now, rngs=rngs)

        def __call__(self, tokens, real):
            x, places = self.embed(tokens), jnp.arange(tokens.shape[1])
            behind = places[:, None] - places
            mask = ((behind >= 0) & (behind < window))[None, None] & real[:, None, None, :]
            for block in self.blocks:
                x = run(block, x, mask)
            return self.head(self.norm(x))
    return Danube


def danube_lora(layers, width, heads, groups, hidden, vocab, rank, batch, length, alpha=32, window=4096, kind=BF16):
    def make(arrays, change):
        import optax
        from flax import nnx

        rows, read, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        build = danube_module(change, now, layers, width, heads, groups, hidden, vocab, rank, alpha, window)
        model = nnx.eval_shape(lambda: build(nnx.Rngs(0)))
        graph, adapters, frozen = nnx.split(model, nnx.LoRAParam, ...)
        adapters, frozen = cast(adapters, change.stored), cast(frozen, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(2e-4, weight_decay=0.0))
        opt_state = jax.eval_shape(optimizer.init, adapters)

        def train_step(adapters, opt_state, frozen, tokens, real):
            def loss_of(adapters, tokens, real):
                logits = nnx.merge(graph, adapters, frozen, copy=True)(tokens, real)
                return cross_entropy(logits[:, :-1], tokens[:, 1:], real[:, 1:])
            loss, grads = value_and_mean_grad(loss_of, change.parts)(adapters, tokens, real)
            updates, opt_state = optimizer.update(grads, opt_state, adapters)
            return optax.apply_updates(adapters, updates), opt_state, loss
        return train_step, (on_chips(arrays, adapters), on_chips(arrays, opt_state), on_chips(arrays, frozen),
                            arrays.batch((rows, read), jnp.int32), arrays.batch((rows, read), jnp.bool_)), (0, 1)
    return make
