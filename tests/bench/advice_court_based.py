"""Based: linear attention by a Taylor series, narrow windows and gated short convolutions, in float32, in flax nnx.

The maker takes its Arrays and Change, and gives (step, arguments, donated). The features of the second order make each
head's state [1 + f + f^2, side], which is carried over chunks; layers are a list of three kinds in turn; Lion trains.
"""
import jax
import jax.numpy as jnp
from flax import nnx

from advice_board_training import F32, checkpoint_policy, compute_dtype, cross_entropy, optax_step


def taylor(x):
    """exp(q.k) to the second order is the product of these features."""
    x = x * x.shape[-1] ** -0.25
    squares = (x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1) * 2 ** -0.5
    return jnp.concatenate([jnp.ones_like(x[..., :1]), x, squares], -1)


def linear(width_in, width_out, dtype, rngs):
    return nnx.Linear(width_in, width_out, use_bias=False, dtype=dtype, rngs=rngs)


class ShortConvolution(nnx.Module):
    """Gated, causal, of each channel by itself."""
    def __init__(self, width, taps, dtype, rngs):
        self.in_proj, self.out_proj = linear(width, 4 * width, dtype, rngs), linear(2 * width, width, dtype, rngs)
        self.taps = nnx.Param(jax.random.normal(rngs.params(), (taps, 2 * width)) * taps ** -0.5)

    def __call__(self, x):
        u, gate = jnp.split(self.in_proj(x), 2, axis=-1)
        taps, length = self.taps[...].astype(u.dtype), u.shape[1]
        padded = jnp.pad(u, ((0, 0), (len(taps) - 1, 0), (0, 0)))
        y = sum(padded[:, number:number + length] * tap for number, tap in enumerate(taps))
        return self.out_proj(jax.nn.silu(y) * gate)


class TaylorAttention(nnx.Module):
    def __init__(self, width, heads, features, chunk, dtype, rngs):
        self.q_proj, self.k_proj = (linear(width, heads * features, dtype, rngs) for _ in range(2))
        self.v_proj, self.out_proj = (linear(width, width, dtype, rngs) for _ in range(2))
        self.heads, self.chunk = heads, chunk

    def __call__(self, x):
        batch, length, width = x.shape

        def chunks(y):
            y = y.reshape(batch, length // self.chunk, self.chunk, self.heads, -1)
            return y.transpose(1, 0, 3, 2, 4)
        causal = jnp.tril(jnp.ones((self.chunk, self.chunk), bool))

        def step(carry, one):
            state, total = carry
            q, k, v = one
            q, k = taylor(q), taylor(k)
            inner = jnp.where(causal, jnp.einsum("bhqf,bhkf->bhqk", q, k), 0)
            above = jnp.einsum("bhqk,bhkd->bhqd", inner, v) + jnp.einsum("bhqf,bhfd->bhqd", q, state)
            below = inner.sum(-1) + jnp.einsum("bhqf,bhf->bhq", q, total)
            carry = state + jnp.einsum("bhkf,bhkd->bhfd", k, v), total + k.sum(2)
            return carry, above / (below[..., None] + 1e-6)
        q, k, v = chunks(self.q_proj(x)), chunks(self.k_proj(x)), chunks(self.v_proj(x))
        size = 1 + q.shape[-1] + q.shape[-1] ** 2
        start = (jnp.zeros((batch, self.heads, size, v.shape[-1]), x.dtype),
                 jnp.zeros((batch, self.heads, size), x.dtype))
        _, y = jax.lax.scan(step, start, (q, k, v))
        return self.out_proj(y.transpose(1, 0, 3, 2, 4).reshape(x.shape))


class WindowAttention(nnx.Module):
    """Each block of a window's length looks at itself and at the one before."""
    def __init__(self, width, heads, window, dtype, rngs):
        self.qkv, self.out_proj = linear(width, 3 * width, dtype, rngs), linear(width, width, dtype, rngs)
        self.heads, self.window = heads, window

    def __call__(self, x):
        batch, length, width = x.shape
        q, k, v = (y.reshape(batch, length // self.window, self.window, self.heads, width // self.heads)
                   for y in jnp.split(self.qkv(x), 3, axis=-1))
        k, v = (jnp.concatenate([jnp.pad(y, ((0, 0), (1, 0), (0, 0), (0, 0), (0, 0)))[:, :-1], y], 2) for y in (k, v))
        scores = jnp.einsum("bnqhd,bnkhd->bnhqk", q, k) * q.shape[-1] ** -0.5
        distance = jnp.arange(self.window)[:, None] + self.window - jnp.arange(2 * self.window)
        seen = (distance >= 0) & (distance < self.window)
        first = jnp.arange(length // self.window)[:, None, None] == 0
        seen = seen & ~(first & (jnp.arange(2 * self.window) < self.window))
        probs = jax.nn.softmax(jnp.where(seen[:, None], scores, -1e9), axis=-1)
        return self.out_proj(jnp.einsum("bnhqk,bnkhd->bnqhd", probs, v).reshape(x.shape))


class Block(nnx.Module):
    def __init__(self, kind, width, heads, hidden, features, window, dtype, rngs):
        self.norm1, self.norm2 = (nnx.RMSNorm(width, dtype=dtype, rngs=rngs) for _ in range(2))
        self.mixer = (ShortConvolution(width, 3, dtype, rngs) if kind == "c" else
                      TaylorAttention(width, heads, features, window, dtype, rngs) if kind == "t" else
                      WindowAttention(width, heads, window, dtype, rngs))
        self.gate_up, self.down = linear(width, 2 * hidden, dtype, rngs), linear(hidden, width, dtype, rngs)

    def __call__(self, x):
        x = x + self.mixer(self.norm1(x))
        gate, up = jnp.split(self.gate_up(self.norm2(x)), 2, axis=-1)
        return x + self.down(jax.nn.silu(gate) * up)


class Based(nnx.Module):
    def __init__(self, kinds, width, vocab, dtype, rngs, **sizes):
        self.embed = nnx.Embed(vocab, width, dtype=dtype, rngs=rngs)
        self.blocks = nnx.List([Block(kind, width, dtype=dtype, rngs=rngs, **sizes) for kind in kinds])
        self.norm = nnx.RMSNorm(width, dtype=dtype, rngs=rngs)

    def __call__(self, ids, change):
        x = self.embed(ids)
        for block in self.blocks:
            if change.rematerialize:
                x = nnx.remat(lambda one, x: one(x), policy=checkpoint_policy(change))(block, x)
            else:
                x = block(x)
        return self.embed.attend(self.norm(x))


def trained_based(kinds, width, vocab, batch, length, kind=F32, **sizes):
    def make(arrays, change):
        import optax
        now = compute_dtype(change, kind)
        abstract_model = nnx.eval_shape(lambda: Based(kinds, width, vocab, now, nnx.Rngs(0), **sizes))
        graph, state = nnx.split(abstract_model, nnx.Param)

        def loss_of(params, ids, labels):
            return cross_entropy(nnx.merge(graph, params)(ids, change), labels)
        words = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-4, weight_decay=0.1))
        return optax_step(arrays, change, nnx.to_pure_dict(state), loss_of, optimizer, words, words)
    return make
