"""RoBERTa-base learns to fill in masked words: haiku, float32, twelve layers one after the other, Adam as in the paper.

Norms after the sums, three dropouts, learned places, a head of a dense layer and a norm whose last matrix is the
embedding. The loss is over the words that were masked, but logits are made of all.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import jmp

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, decayed

INIT = hk.initializers.TruncatedNormal(0.02)


def layer_norm(x, name):
    return hk.LayerNorm(-1, True, True, eps=1e-5, name=name)(x)


def dropout(rate, x):
    return hk.dropout(hk.next_rng_key(), rate, x)


class SelfAttention(hk.Module):
    def __init__(self, heads, rate, name="attention"):
        super().__init__(name=name)
        self.heads, self.rate = heads, rate

    def __call__(self, x, is_word):
        *lead, width = x.shape
        size = width // self.heads

        def project(name):
            return hk.Linear(width, w_init=INIT, name=name)(x).reshape(*lead, self.heads, size)
        query, key, value = project("query"), project("key"), project("value")
        logits = jnp.einsum("bthd,bThd->bhtT", query, key) / jnp.sqrt(size).astype(x.dtype)
        logits = jnp.where(is_word[:, None, None, :], logits, jnp.finfo(logits.dtype).min)
        weights = dropout(self.rate, jax.nn.softmax(logits))
        mixed = jnp.einsum("bhtT,bThd->bthd", weights, value).reshape(*lead, width)
        return hk.Linear(width, w_init=INIT, name="output")(mixed)


class EncoderLayer(hk.Module):
    def __init__(self, heads, hidden, rate, name):
        super().__init__(name=name)
        self.heads, self.hidden, self.rate = heads, hidden, rate

    def __call__(self, x, is_word):
        mixed = SelfAttention(self.heads, self.rate)(x, is_word)
        x = layer_norm(x + dropout(self.rate, mixed), "attention_norm")
        h = jax.nn.gelu(hk.Linear(self.hidden, w_init=INIT, name="intermediate")(x), approximate=False)
        h = hk.Linear(x.shape[-1], w_init=INIT, name="output")(h)
        return layer_norm(x + dropout(self.rate, h), "output_norm")


def roberta_mlm(layers, width, heads, hidden, vocab, batch, length, places=514, rate=0.1, pad=1, kind=F32):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor
        precision = jmp.Policy(compute_dtype=compute_dtype(change, kind), param_dtype=change.stored, output_dtype=F32)

        def network(tokens):
            is_word = tokens != pad
            embed = hk.Embed(vocab, width, w_init=INIT, name="word_embeddings")
            position_ids = jnp.cumsum(is_word, axis=1) * is_word + pad
            x = embed(tokens) + hk.Embed(places, width, w_init=INIT, name="position_embeddings")(position_ids)
            x = dropout(rate, layer_norm(x, "embeddings_norm"))
            for i in range(layers):
                layer = EncoderLayer(heads, hidden, rate, name=f"layer_{i}")
                if change.rematerialize:
                    layer = hk.remat(layer, policy=checkpoint_policy(change))
                x = layer(x, is_word)
            x = jax.nn.gelu(hk.Linear(width, w_init=INIT, name="lm_head_dense")(x), approximate=False)
            x = layer_norm(x, "lm_head_norm")
            bias = hk.get_parameter("lm_head_bias", (vocab,), x.dtype, init=jnp.zeros)
            return x @ embed.embeddings.T + bias

        net = hk.transform(network)
        params = cast(jax.eval_shape(net.init, jax.random.PRNGKey(0), jnp.zeros((1, 8), jnp.int32)), change.stored)
        optimizer = optax.adamw(optax.linear_schedule(6e-4, 0.0, 500_000, 24_000), b1=0.9, b2=0.98, eps=1e-6,
                                weight_decay=0.01, mask=decayed)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, tokens, labels):
            logits = precision.cast_to_output(net.apply(precision.cast_to_compute(params), key, tokens))
            is_masked = labels >= 0
            wanted = jax.nn.one_hot(labels, vocab, dtype=logits.dtype)
            losses = -jnp.sum(wanted * jax.nn.log_softmax(logits), axis=-1)
            count = jnp.maximum(is_masked.sum(), 1)
            right = jnp.where(is_masked, logits.argmax(-1) == labels, False).sum() / count
            return jnp.where(is_masked, losses, 0.0).sum() / count, right

        def update(params, opt_state, key, tokens, labels):
            key, used = jax.random.split(key)
            loss, accuracy, grads = summed_slopes(loss_of, change.parts)(params, used, tokens, labels)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, "accuracy": accuracy.mean()}

        text = arrays.batch((rows, words), jnp.int32)
        return update, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), text, text), (0, 1)
    return make


FAMILY = {"tour_roberta_mlm": dict(
    make=roberta_mlm(layers=12, width=768, heads=12, hidden=3072, vocab=50265, batch=160, length=512),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
