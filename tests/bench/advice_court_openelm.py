"""OpenELM, whose layers grow with depth in heads and in hidden units, in mixed precision in flax linen.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Layers are unrolled, kernels are
[width, heads, side]; norms (of the stream, of queries and of keys) and softmax are in float32, products are not.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, checkpoint_policy, compute_dtype, cross_entropy, decayed,
                                   optax_step)


def divisible(value, divisor):
    """The nearest multiple, though never less than nine tenths of the value."""
    near = max(divisor, int(value + divisor / 2) // divisor * divisor)
    return near + divisor if near < 0.9 * value else near


def layer_sizes(layers, width, side, sharing):
    """(heads, heads of keys, hidden units) of each layer."""
    sizes = []
    for number in range(layers):
        share = number / (layers - 1)
        heads = divisible((0.5 + 0.5 * share) * width, side * sharing) // side
        sizes.append((heads, heads // sharing, divisible(round(0.5 + 3.5 * share, 2) * width, 256)))
    return sizes


def rotary(x, base=10000.0):
    side = x.shape[-1]
    angles = jnp.outer(jnp.arange(x.shape[1], dtype=F32), base ** (-jnp.arange(0, side, 2, dtype=F32) / side))
    angles = jnp.concatenate([angles, angles], -1)[:, None]
    half = jnp.concatenate([-x[..., side // 2:], x[..., :side // 2]], -1)
    return x * jnp.cos(angles) + half * jnp.sin(angles)


def openelm(change, now, layers, width, side, sharing, vocab):
    import flax.linen as nn

    def norm(x, name):
        return nn.RMSNorm(epsilon=1e-6, dtype=F32, name=name)(x)

    def dense(features, name, axis=-1):
        return nn.DenseGeneral(features, axis=axis, use_bias=False, dtype=now, name=name)

    class Attention(nn.Module):
        heads: int
        groups: int

        @nn.compact
        def __call__(self, x):
            batch, length, _ = x.shape
            q = dense((self.heads, side), "query")(x)
            k, v = dense((self.groups, side), "key")(x), dense((self.groups, side), "value")(x)
            q = rotary(norm(q, "query_norm")).astype(now)
            k = rotary(norm(k, "key_norm")).astype(now)
            k, v = (jnp.repeat(t, self.heads // self.groups, axis=2) for t in (k, v))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q * side ** -0.5, k).astype(F32)
            causal = jnp.arange(length)[:, None] >= jnp.arange(length)
            probs = nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
            return dense(width, "out", (-2, -1))(jnp.einsum("bhqk,bkhd->bqhd", probs.astype(now), v))

    class Layer(nn.Module):
        heads: int
        groups: int
        hidden: int

        @nn.compact
        def __call__(self, x):
            h = norm(x, "attn_norm").astype(now)
            x = x + Attention(self.heads, self.groups, name="attn")(h)
            h = dense((2, self.hidden), "proj_1")(norm(x, "ffn_norm").astype(now))
            return x + dense(width, "proj_2")(nn.silu(h[..., 0, :]) * h[..., 1, :])

    class OpenELM(nn.Module):
        @nn.compact
        def __call__(self, ids):
            embed = nn.Embed(vocab, width, dtype=now, name="token_embeddings")
            layer = nn.remat(Layer, policy=checkpoint_policy(change)) if change.rematerialize else Layer
            x = embed(ids)
            for number, sizes in enumerate(layer_sizes(layers, width, side, sharing)):
                x = layer(*sizes, name=f"layer_{number}")(x)
            return embed.attend(norm(x, "norm").astype(now))
    return OpenELM()


def trained_openelm(layers, width, vocab, batch, length, side=64, sharing=4, kind=BF16):
    def make(arrays, change):
        import optax
        rows, said = batch // change.batch_divisor, length // change.length_divisor
        model = openelm(change, compute_dtype(change, kind), layers, width, side, sharing, vocab)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, said), jnp.int32))["params"]

        def loss_of(params, ids, labels):
            logits = model.apply({"params": params}, ids).astype(F32)
            penalty = 1e-4 * jnp.square(jax.nn.logsumexp(logits, axis=-1)).mean()
            return cross_entropy(logits, labels) + penalty
        words = arrays.batch((rows, said), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(5.3e-3, b2=0.95, mask=decayed))
        return optax_step(arrays, change, shapes, loss_of, optimizer, words, words)
    return make
