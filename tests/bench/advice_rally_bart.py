"""BART-large learns to undo noise: spans of a text are masked, and the decoder writes the text as it was.

In flax linen, near the published code: norms come after the sums, places are learned (and start at 2), one embedding
serves encoder, decoder and logits, and there are three dropouts. All in float32.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, cross_entropy, decayed

PAD, START, OFFSET = 1, 2, 2


def dense(size, now, name):
    return nn.Dense(size, dtype=now, kernel_init=nn.initializers.normal(0.02), name=name)


class BartAttention(nn.Module):
    heads: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x, memory, bias):
        rows, width = x.shape[0], x.shape[-1]

        def split(y):
            return y.reshape(rows, -1, self.heads, width // self.heads)
        query = split(dense(width, self.dtype, "q_proj")(x) * (width // self.heads) ** -0.5)
        key = split(dense(width, self.dtype, "k_proj")(memory))
        value = split(dense(width, self.dtype, "v_proj")(memory))
        scores = jnp.einsum("bqhd,bkhd->bhqk", query, key) + bias.astype(query.dtype)
        weights = nn.Dropout(self.dropout, deterministic=False)(nn.softmax(scores, axis=-1))
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value)
        return dense(width, self.dtype, "out_proj")(mixed.reshape(x.shape))


class FeedForward(nn.Module):
    hidden: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x):
        h = nn.gelu(dense(self.hidden, self.dtype, "fc1")(x), approximate=False)
        h = nn.Dropout(self.dropout, deterministic=False)(h)
        return dense(x.shape[-1], self.dtype, "fc2")(h)


class EncoderLayer(nn.Module):
    heads: int
    hidden: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x, bias):
        drop = nn.Dropout(self.dropout, deterministic=False)
        mixed = BartAttention(self.heads, self.dropout, self.dtype, name="self_attn")(x, x, bias)
        x = nn.LayerNorm(dtype=self.dtype, epsilon=1e-5, name="self_attn_layer_norm")(x + drop(mixed))
        thought = FeedForward(self.hidden, self.dropout, self.dtype, name="mlp")(x)
        return nn.LayerNorm(dtype=self.dtype, epsilon=1e-5, name="final_layer_norm")(x + drop(thought))


class DecoderLayer(nn.Module):
    heads: int
    hidden: int
    dropout: float
    dtype: object

    @nn.compact
    def __call__(self, x, memory, causal, memory_bias):
        drop = nn.Dropout(self.dropout, deterministic=False)
        mixed = BartAttention(self.heads, self.dropout, self.dtype, name="self_attn")(x, x, causal)
        x = nn.LayerNorm(dtype=self.dtype, epsilon=1e-5, name="self_attn_layer_norm")(x + drop(mixed))
        mixed = BartAttention(self.heads, self.dropout, self.dtype, name="encoder_attn")(x, memory, memory_bias)
        x = nn.LayerNorm(dtype=self.dtype, epsilon=1e-5, name="encoder_attn_layer_norm")(x + drop(mixed))
        thought = FeedForward(self.hidden, self.dropout, self.dtype, name="mlp")(x)
        return nn.LayerNorm(dtype=self.dtype, epsilon=1e-5, name="final_layer_norm")(x + drop(thought))


class Bart(nn.Module):
    layers: int
    width: int
    heads: int
    hidden: int
    vocab: int
    places: int
    dropout: float
    dtype: object
    remat: bool
    policy: object

    def setup(self):
        def made(layer, name):
            kind = nn.remat(layer, policy=self.policy) if self.remat else layer
            return [kind(self.heads, self.hidden, self.dropout, self.dtype, name=f"{name}_{i}")
                    for i in range(self.layers)]

        def embed(rows, name):
            return nn.Embed(rows, self.width, dtype=self.dtype, embedding_init=nn.initializers.normal(0.02), name=name)
        self.shared = embed(self.vocab, "shared")
        self.encoder_positions = embed(self.places + OFFSET, "encoder_positions")
        self.decoder_positions = embed(self.places + OFFSET, "decoder_positions")
        self.encoder_norm = nn.LayerNorm(dtype=self.dtype, epsilon=1e-5, name="encoder_layernorm_embedding")
        self.decoder_norm = nn.LayerNorm(dtype=self.dtype, epsilon=1e-5, name="decoder_layernorm_embedding")
        self.encoder_layers, self.decoder_layers = made(EncoderLayer, "encoder"), made(DecoderLayer, "decoder")
        self.drop = nn.Dropout(self.dropout, deterministic=False)

    def __call__(self, source, target):
        memory_bias = jnp.where(source == PAD, -1e9, 0.0)[:, None, None]
        x = self.shared(source) + self.encoder_positions(jnp.arange(source.shape[1]) + OFFSET)
        memory = self.drop(self.encoder_norm(x))
        for layer in self.encoder_layers:
            memory = layer(memory, memory_bias)
        size = target.shape[1]
        causal = jnp.where(jnp.tril(jnp.ones((size, size), bool)), 0.0, -1e9)[None, None]
        x = self.drop(self.decoder_norm(self.shared(target) + self.decoder_positions(jnp.arange(size) + OFFSET)))
        for layer in self.decoder_layers:
            x = layer(x, memory, causal, memory_bias)
        return self.shared.attend(x)


def shifted_right(labels):
    return jnp.concatenate([jnp.full_like(labels[:, :1], START), labels[:, :-1]], axis=1)


def bart_denoising(layers, width, heads, hidden, vocab, batch, length, places=1024, dropout=0.1, kind=F32):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor
        model = Bart(layers, width, heads, hidden, vocab, places, dropout, compute_dtype(change, kind),
                     change.rematerialize, checkpoint_policy(change))
        some = jnp.zeros((1, 8), jnp.int32)
        made = jax.eval_shape(model.init, {"params": jax.random.key(0), "dropout": jax.random.key(1)}, some, some)
        params = cast(made["params"], change.stored)
        optimizer = optax.chain(
            optax.clip_by_global_norm(0.1),
            optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 4e-4, 10_000, 500_000), 0.9, 0.98, 1e-6,
                        weight_decay=0.01, mask=decayed))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, source, labels):
            logits = model.apply({"params": params}, source, shifted_right(labels), rngs={"dropout": key})
            counted = labels != PAD
            right = (logits.argmax(-1) == labels) & counted
            return cross_entropy(logits, labels, counted), right.sum() / counted.sum()

        def train_step(params, opt_state, key, source, labels):
            key, drop_key = jax.random.split(key)
            loss, accuracy, grads = summed_slopes(loss_of, change.parts)(params, drop_key, source, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, "accuracy": accuracy.mean()}
        text = arrays.batch((rows, words), jnp.int32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), text, text), (0, 1)
    return make
