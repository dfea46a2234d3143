"""M2M-100, which translates between a hundred languages, tuned in flax linen with Adafactor.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Layers are unrolled, norms come first, one
table is shared by both sides and the logits, and attention is linen's own module.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_training import BF16, F32, checkpoint_policy, compute_dtype, optax_step


def sinusoids(length, width):
    rates = np.exp(-np.log(10000.0) * np.arange(width // 2) / (width // 2 - 1))
    angles = np.arange(2, length + 2)[:, None] * rates
    return np.concatenate([np.sin(angles), np.cos(angles)], -1).astype(np.float32)


def m2m_parts(now, width, heads, hidden):
    """The layers of the encoder and of the decoder."""
    import flax.linen as nn

    def norm(name):
        return nn.LayerNorm(epsilon=1e-5, dtype=now, name=name)

    def attention(name):
        return nn.MultiHeadDotProductAttention(heads, dtype=now, qkv_features=width, deterministic=True,
                                               force_fp32_for_softmax=True, name=name)

    class FeedForward(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = norm("final_layer_norm")(x)
            h = nn.relu(nn.Dense(hidden, dtype=now, name="fc1")(h))
            return x + nn.Dense(width, dtype=now, name="fc2")(h)

    class EncoderLayer(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            h = norm("self_attn_layer_norm")(x)
            x = x + attention("self_attn")(h, mask=mask)
            return FeedForward(name="ffn")(x)

    class DecoderLayer(nn.Module):
        @nn.compact
        def __call__(self, y, x, causal, mask):
            h = norm("self_attn_layer_norm")(y)
            y = y + attention("self_attn")(h, mask=causal)
            h = norm("encoder_attn_layer_norm")(y)
            y = y + attention("encoder_attn")(h, x, mask=mask)
            return FeedForward(name="ffn")(y)
    return EncoderLayer, DecoderLayer


def m2m100(change, now, layers, width, heads, hidden, vocab, pad=1):
    import flax.linen as nn

    parts = m2m_parts(now, width, heads, hidden)
    if change.rematerialize:
        parts = [nn.remat(part, policy=checkpoint_policy(change)) for part in parts]
    EncoderLayer, DecoderLayer = parts

    class M2M100(nn.Module):
        def setup(self):
            self.shared = nn.Embed(vocab, width, dtype=now, embedding_init=nn.initializers.normal(width ** -0.5))
            self.encoder = [EncoderLayer() for _ in range(layers)]
            self.decoder = [DecoderLayer() for _ in range(layers)]
            self.encoder_norm = nn.LayerNorm(epsilon=1e-5, dtype=now)
            self.decoder_norm = nn.LayerNorm(epsilon=1e-5, dtype=now)

        def embed(self, ids):
            return self.shared(ids) * width ** 0.5 + jnp.asarray(sinusoids(ids.shape[1], width), now)

        def encode(self, source):
            x, mask = self.embed(source), nn.make_attention_mask(source != pad, source != pad)
            for layer in self.encoder:
                x = layer(x, mask)
            return self.encoder_norm(x)

        def __call__(self, source, target):
            x, y = self.encode(source), self.embed(target)
            causal = nn.make_causal_mask(target)
            mask = nn.make_attention_mask(jnp.ones_like(target), source != pad)
            for layer in self.decoder:
                y = layer(y, x, causal, mask)
            return self.shared.attend(self.decoder_norm(y))
    return M2M100()


def smoothed_loss(logits, labels, weights, smoothing):
    """fairseq's label_smoothed_cross_entropy."""
    logp = jax.nn.log_softmax(logits.astype(F32), axis=-1)
    nll = -jnp.take_along_axis(logp, labels[..., None], axis=-1)[..., 0]
    smooth = -logp.mean(axis=-1)
    losses = (1 - smoothing) * nll + smoothing * smooth
    return jnp.sum(losses * weights) / jnp.maximum(jnp.sum(weights), 1.0)


def tuned_m2m100(layers, width, heads, hidden, vocab, batch, source, target, pad=1, kind=BF16):
    def make(arrays, change):
        import optax
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        heard, said = source // change.length_divisor, target // change.length_divisor
        model = m2m100(change, now, layers, width, heads, hidden, vocab, pad)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, heard), jnp.int32),
                                jnp.zeros((1, said), jnp.int32))["params"]

        def loss_of(params, input_ids, decoder_input_ids, labels):
            logits = model.apply({"params": params}, input_ids, decoder_input_ids)
            return smoothed_loss(logits, labels, (labels != pad).astype(F32), 0.1)
        words = arrays.batch((rows, said), jnp.int32)
        optimizer = optax.adafactor(3e-5, multiply_by_parameter_scale=False, weight_decay_rate=None)
        return optax_step(arrays, change, shapes, loss_of, optimizer, arrays.batch((rows, heard), jnp.int32), words,
                          words)
    return make
