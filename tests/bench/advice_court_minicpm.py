"""MiniCPM, pretrained in flax linen with layers lifted by nn.scan, so large that it nearly fills one chip.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Embeddings, branches and logits have the
scales that came from the search at a small width; the table is shared with the logits.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, checkpoint_policy, compute_dtype, cross_entropy, decayed,
                                   optax_step)

STACKS = {"layers": 0}


def rotated(x, positions, base=10000.0):
    side = x.shape[-1]
    rates = base ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    angles = positions[..., None, None].astype(F32) * rates
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    first, second = jnp.split(x.astype(F32), 2, axis=-1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1).astype(x.dtype)


def minicpm(change, now, layers, width, heads, hidden, vocab, depth):
    import flax.linen as nn
    branch, side = 1.4 / depth ** 0.5, width // heads

    class Attention(nn.Module):
        @nn.compact
        def __call__(self, x, positions):
            def heads_of(name):
                return nn.Dense(width, use_bias=False, dtype=now, name=name)(x).reshape(*x.shape[:2], heads, side)
            q, k = (rotated(heads_of(name), positions) for name in ("q_proj", "k_proj"))
            mixed = nn.dot_product_attention(q, k, heads_of("v_proj"), mask=nn.make_causal_mask(positions), dtype=now)
            return nn.Dense(width, use_bias=False, dtype=now, name="o_proj")(mixed.reshape(x.shape))

    class MLP(nn.Module):
        @nn.compact
        def __call__(self, x):
            gate = nn.Dense(hidden, use_bias=False, dtype=now, name="gate_proj")(x)
            up = nn.Dense(hidden, use_bias=False, dtype=now, name="up_proj")(x)
            return nn.Dense(width, use_bias=False, dtype=now, name="down_proj")(nn.silu(gate) * up)

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, positions):
            h = nn.RMSNorm(epsilon=1e-5, dtype=now, name="input_layernorm")(x)
            x = x + branch * Attention(name="self_attn")(h, positions)
            h = nn.RMSNorm(epsilon=1e-5, dtype=now, name="post_attention_layernorm")(x)
            return x + branch * MLP(name="mlp")(h), None

    class MiniCPM(nn.Module):
        @nn.compact
        def __call__(self, ids, positions):
            embed = nn.Embed(vocab, width, dtype=now, name="embed_tokens")
            layer = Layer
            if change.rematerialize:
                layer = nn.remat(Layer, policy=checkpoint_policy(change), prevent_cse=False)
            stack = nn.scan(layer, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast,
                            length=layers)
            x, _ = stack(name="layers")(12 * embed(ids), positions)
            return embed.attend(nn.RMSNorm(epsilon=1e-5, dtype=now, name="norm")(x) / (width / 256))
    return MiniCPM()


def scanned_minicpm(layers, width, heads, hidden, vocab, batch, length, depth=40, kind=BF16):
    def make(arrays, change):
        import optax
        rows, said = batch // change.batch_divisor, length // change.length_divisor
        model = minicpm(change, compute_dtype(change, kind), layers, width, heads, hidden, vocab, depth)
        one = jnp.zeros((1, said), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), one, one)["params"]

        def loss_of(params, ids, positions, labels):
            return cross_entropy(model.apply({"params": params}, ids, positions), labels, labels >= 0)
        words = arrays.batch((rows, said), jnp.int32)
        optimizer = optax.adamw(1e-2, b2=0.95, weight_decay=0.1, mask=decayed)
        return optax_step(arrays, change, shapes, loss_of, optimizer, words, words, words, stacks=STACKS)
    return make
