"""MPNet-base learns to embed sentences: of the passages in a batch, which one belongs to a query.

In haiku, all in float32: norms come after the sums, a bias of relative places is shared by the layers, tokens are
averaged, and cosines of a batch are scaled and read as logits in both directions.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, decayed

PAD = 1


def bucket_of(distance, buckets=32, furthest=128):
    """T5's buckets, in both directions."""
    half = buckets // 2
    side = (distance > 0) * half
    distance = np.abs(distance)
    exact = half // 2
    ratio = np.log(np.maximum(distance, 1) / exact) / np.log(furthest / exact)
    far = np.minimum(exact + (ratio * (half - exact)).astype(np.int32), half - 1)
    return side + np.where(distance < exact, distance, far)


def norm(name):
    return hk.LayerNorm(-1, create_scale=True, create_offset=True, eps=1e-5, name=name)


def dropped(x, rate):
    return hk.dropout(hk.next_rng_key(), rate, x)


class MPNetLayer(hk.Module):
    def __init__(self, heads, hidden, rate, name=None):
        super().__init__(name=name)
        self.heads, self.hidden, self.rate = heads, hidden, rate

    def attention(self, x, bias):
        rows, length, width = x.shape
        size = width // self.heads

        def projected(name):
            return hk.Linear(width, name=name)(x).reshape(rows, length, self.heads, size).transpose(0, 2, 1, 3)
        q, k, v = projected("q"), projected("k"), projected("v")
        scores = q @ k.swapaxes(-1, -2) * size ** -0.5 + bias
        probabilities = dropped(jax.nn.softmax(scores, axis=-1), self.rate)
        mixed = (probabilities @ v).transpose(0, 2, 1, 3).reshape(rows, length, width)
        return hk.Linear(width, name="o")(mixed)

    def __call__(self, x, bias):
        x = norm("attention_norm")(x + dropped(self.attention(x, bias), self.rate))
        h = jax.nn.gelu(hk.Linear(self.hidden, name="intermediate")(x), approximate=False)
        h = hk.Linear(x.shape[-1], name="output")(h)
        return norm("output_norm")(x + dropped(h, self.rate))


class MPNetEmbedder(hk.Module):
    """Token ids [rows, length] to unit vectors [rows, width]."""

    def __init__(self, layers, width, heads, hidden, vocab, places, rate, remat, policy, name="mpnet"):
        super().__init__(name=name)
        self.layers, self.width, self.heads, self.hidden, self.rate = layers, width, heads, hidden, rate
        self.vocab, self.places, self.remat, self.policy = vocab, places, remat, policy

    def __call__(self, tokens):
        length = tokens.shape[1]
        real = tokens != PAD
        normal = hk.initializers.TruncatedNormal(0.02)
        x = hk.Embed(self.vocab, self.width, w_init=normal, name="word_embeddings")(tokens)
        x += hk.Embed(self.places, self.width, w_init=normal, name="position_embeddings")(jnp.arange(length) + PAD + 1)
        x = dropped(norm("embeddings_norm")(x), self.rate)
        steps = np.arange(length)
        relative = hk.Embed(32, self.heads, w_init=normal, name="relative_attention_bias")(
            jnp.asarray(bucket_of(steps[None, :] - steps[:, None])))
        bias = relative.transpose(2, 0, 1)[None] + jnp.where(real, 0.0, -1e9)[:, None, None, :].astype(x.dtype)
        for i in range(self.layers):
            layer = MPNetLayer(self.heads, self.hidden, self.rate, name=f"layer_{i}")
            x = (hk.remat(layer, policy=self.policy) if self.remat else layer)(x, bias)
        weights = real[..., None].astype(F32)
        mean = (x.astype(F32) * weights).sum(1) / jnp.maximum(weights.sum(1), 1.0)
        return mean / jnp.maximum(jnp.linalg.norm(mean, axis=-1, keepdims=True), 1e-6)


def mpnet_pairs(layers, width, heads, hidden, vocab, batch, length, places=514, rate=0.1, scale=20.0, kind=F32):
    def make(arrays, change):
        import optax
        rows, words = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        embed = hk.transform(lambda tokens: MPNetEmbedder(
            layers, width, heads, hidden, vocab, places, rate, change.rematerialize, checkpoint_policy(change))(tokens))
        params = cast(jax.eval_shape(embed.init, jax.random.PRNGKey(0), jnp.zeros((1, 8), jnp.int32)), change.stored)
        optimizer = optax.adamw(optax.warmup_constant_schedule(0.0, 2e-5, 500), weight_decay=0.01, mask=decayed)
        opt_state = jax.eval_shape(optimizer.init, params)

        def contrastive(params, key, pairs):
            """pairs: [batch, 2, length], a query and its passage."""
            count = pairs.shape[0]
            vectors = embed.apply(cast(params, now), key, pairs.reshape(2 * count, -1)).reshape(count, 2, -1)
            similarity = scale * vectors[:, 0] @ vectors[:, 1].T
            labels = jnp.arange(count)
            there = optax.softmax_cross_entropy_with_integer_labels(similarity, labels)
            back = optax.softmax_cross_entropy_with_integer_labels(similarity.T, labels)
            return (there.mean() + back.mean()) / 2, (similarity.argmax(-1) == labels).mean()

        def train_step(params, opt_state, key, pairs):
            key, drop_key = jax.random.split(key)
            loss, accuracy, grads = summed_slopes(contrastive, change.parts)(params, drop_key, pairs)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, "accuracy": accuracy.mean()}
        pairs = arrays.batch((rows, 2, words), jnp.int32)
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), pairs), (0, 1)
    return make


FAMILY = {"round_mpnet": dict(
    make=mpnet_pairs(12, 768, 12, 3072, 30527, batch=128, length=128), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
