"""PEGASUS, tuned to summarize in flax linen in the manner of flax's WMT example: adafactor, and labels smoothed.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Places are sines, the norms come before the
sums, and the table is shared by both sides and the logits.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_training import BF16, F32, checkpoint_policy, compute_dtype, optax_step


def sines(length, width):
    angles = np.arange(length)[:, None] / 10000.0 ** (2 * (np.arange(width) // 2) / width)
    return np.concatenate([np.sin(angles[:, ::2]), np.cos(angles[:, 1::2])], axis=-1)[None]


def pegasus_model(change, now, layers, width, heads, hidden, vocab):
    import flax.linen as nn

    def norm(name):
        return nn.LayerNorm(epsilon=1e-5, dtype=now, name=name)

    def attention(name):
        return nn.MultiHeadDotProductAttention(heads, dtype=now, deterministic=True, name=name)

    class FeedForward(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.relu(nn.Dense(hidden, dtype=now, name="fc1")(x))
            return nn.Dense(x.shape[-1], dtype=now, name="fc2")(h)

    class EncoderLayer(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            x = x + attention("self_attn")(norm("self_attn_layer_norm")(x), mask=mask)
            return x + FeedForward(name="mlp")(norm("final_layer_norm")(x))

    class DecoderLayer(nn.Module):
        @nn.compact
        def __call__(self, y, read, mask, read_mask):
            y = y + attention("self_attn")(norm("self_attn_layer_norm")(y), mask=mask)
            y = y + attention("encoder_attn")(norm("encoder_attn_layer_norm")(y), read, mask=read_mask)
            return y + FeedForward(name="mlp")(norm("final_layer_norm")(y))

    def kept(layer):
        return nn.remat(layer, policy=checkpoint_policy(change)) if change.rematerialize else layer

    class Pegasus(nn.Module):
        @nn.compact
        def __call__(self, source, target):
            shared = nn.Embed(vocab, width, dtype=now, name="shared")

            def embedded(ids):
                return shared(ids) * width ** 0.5 + jnp.asarray(sines(ids.shape[1], width), now)
            x, mask = embedded(source), nn.make_attention_mask(source > 0, source > 0)
            for n in range(layers):
                x = kept(EncoderLayer)(name=f"encoder_layers_{n}")(x, mask)
            x = norm("encoder_layer_norm")(x)
            shifted = jnp.pad(target, ((0, 0), (1, 0)))[:, :-1]
            y = embedded(shifted)
            mask = nn.combine_masks(nn.make_attention_mask(target > 0, target > 0), nn.make_causal_mask(target))
            read_mask = nn.make_attention_mask(target > 0, source > 0)
            for n in range(layers):
                y = kept(DecoderLayer)(name=f"decoder_layers_{n}")(y, x, mask, read_mask)
            bias = self.param("final_logits_bias", nn.initializers.zeros, (vocab,))
            return shared.attend(norm("decoder_layer_norm")(y)) + bias.astype(now)
    return Pegasus()


def smoothed_loss(logits, targets, smoothing=0.1):
    """As in flax's WMT example: against a distribution with most of its weight on the word itself."""
    vocab, weights = logits.shape[-1], (targets > 0).astype(F32)
    confidence, low = 1.0 - smoothing, smoothing / (vocab - 1)
    least = -(confidence * np.log(confidence) + (vocab - 1) * low * np.log(low + 1e-20))
    soft = jax.nn.one_hot(targets, vocab, dtype=F32) * (confidence - low) + low
    losses = -jnp.sum(soft * jax.nn.log_softmax(logits.astype(F32)), axis=-1) - least
    return (losses * weights).sum() / jnp.maximum(weights.sum(), 1.0)


def pegasus(layers, width, heads, hidden, vocab, batch, source, target, kind=BF16):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        read, said = source // change.length_divisor, target // change.length_divisor
        model = pegasus_model(change, now, layers, width, heads, hidden, vocab)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, read), jnp.int32),
                                jnp.zeros((1, said), jnp.int32))["params"]

        def loss_of(params, sources, targets):
            return smoothed_loss(model.apply({"params": params}, sources, targets), targets)
        optimizer = optax.adafactor(5e-4, decay_rate=0.8, clipping_threshold=1.0)
        return optax_step(arrays, change, shapes, loss_of, optimizer, arrays.batch((rows, read), jnp.int32),
                          arrays.batch((rows, said), jnp.int32))
    return make
