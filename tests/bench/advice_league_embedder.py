"""A text embedding model as E5 (base): queries of 32 pieces against passages of 256, each with a hard negative.

haiku, BERT's layers with norms after, in a loop, all in float32. One encoder for both sides with their own prefixes
and lengths; means over the tokens that are there, unit vectors, and a softmax over all passages of the batch at a
temperature of 0.01. AdamW with a linear schedule, no decay of norms and biases.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, matrices_only, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

PAD, PLACES = 0, 512
INIT = hk.initializers.TruncatedNormal(0.02)


def norm(name):
    return hk.LayerNorm(-1, create_scale=True, create_offset=True, eps=1e-12, name=name)


def drop(rate, x):
    return hk.dropout(hk.next_rng_key(), rate, x)


class SelfAttention(hk.Module):
    def __init__(self, heads, rate, name=None):
        super().__init__(name=name)
        self.heads, self.rate = heads, rate

    def __call__(self, x, bias):
        rows, length, width = x.shape

        def project(name):
            return hk.Linear(width, w_init=INIT, name=name)(x).reshape(rows, length, self.heads, -1)
        q, k, v = project("query"), project("key"), project("value")
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (width // self.heads) ** -0.5 + bias
        weights = drop(self.rate, jax.nn.softmax(scores, axis=-1))
        mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape)
        return hk.Linear(width, w_init=INIT, name="output")(mixed)


class Layer(hk.Module):
    def __init__(self, heads, hidden, rate, name=None):
        super().__init__(name=name)
        self.heads, self.hidden, self.rate = heads, hidden, rate

    def __call__(self, x, bias):
        y = SelfAttention(self.heads, self.rate, name="attention")(x, bias)
        x = norm("attention_norm")(x + drop(self.rate, y))
        y = jax.nn.gelu(hk.Linear(self.hidden, w_init=INIT, name="intermediate")(x), approximate=False)
        y = hk.Linear(x.shape[-1], w_init=INIT, name="output")(y)
        return norm("output_norm")(x + drop(self.rate, y))


class Encoder(hk.Module):
    def __init__(self, vocab, layers, width, heads, hidden, rate, change, name="bert"):
        super().__init__(name=name)
        self.rate, self.change = rate, change
        self.words = hk.Embed(vocab, width, w_init=INIT, name="word_embeddings")
        self.places = hk.Embed(PLACES, width, w_init=INIT, name="position_embeddings")
        self.kinds = hk.Embed(2, width, w_init=INIT, name="token_type_embeddings")
        self.norm = norm("embeddings_norm")
        self.layers = [Layer(heads, hidden, rate, name=f"layer_{i}") for i in range(layers)]

    def __call__(self, tokens):
        """[rows, length] -> unit vectors in float32 [rows, width]."""
        present = tokens != PAD
        x = self.words(tokens) + self.places(jnp.arange(tokens.shape[1])) + self.kinds(jnp.zeros_like(tokens))
        x = drop(self.rate, self.norm(x))
        bias = jnp.where(present, 0.0, -1e9)[:, None, None, :].astype(x.dtype)
        for layer in self.layers:
            run = hk.remat(layer, policy=checkpoint_policy(self.change)) if self.change.rematerialize else layer
            x = run(x, bias)
        weights = present[..., None].astype(F32)
        mean = (x.astype(F32) * weights).sum(1) / jnp.maximum(weights.sum(1), 1.0)
        return mean / jnp.maximum(jnp.linalg.norm(mean, axis=-1, keepdims=True), 1e-9)


def embedder(vocab, layers, width, heads, hidden, batch, query_length, passage_length, passages=2, rate=0.1,
             temperature=0.01, kind=F32):
    def make(arrays, change):
        rows, now = batch // change.batch_divisor, compute_dtype(change, kind)
        short, long = query_length // change.length_divisor, passage_length // change.length_divisor

        @hk.transform
        def embed_both(queries, documents):
            encoder = Encoder(vocab, layers, width, heads, hidden, rate, change)
            return encoder(queries), encoder(documents.reshape(-1, documents.shape[-1]))
        tokens = jnp.zeros((1, 8), jnp.int32)
        params = jax.eval_shape(embed_both.init, jax.random.key(0), tokens, tokens[:, None])
        params = cast(params, change.stored)
        optimizer = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 2e-5, 400, 40_000), weight_decay=0.01,
                        mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, queries, documents):
            params = jax.tree.map(lambda w: w.astype(now), params)
            asked, found = embed_both.apply(params, key, queries, documents)
            scores = asked @ found.T / temperature
            labels = jnp.arange(queries.shape[0]) * passages
            forth = optax.softmax_cross_entropy_with_integer_labels(scores, labels)
            positives = scores[:, ::passages]
            back = optax.softmax_cross_entropy_with_integer_labels(positives.T, jnp.arange(queries.shape[0]))
            loss = (forth.mean() + back.mean()) / 2
            right = jnp.take_along_axis(scores, labels[:, None], 1)
            rank = (scores > right).sum(-1) + 1
            return loss, {"accuracy": (rank == 1).mean(), "mrr": (1 / rank).mean()}

        def train_step(params, opt_state, key, queries, documents):
            key, dropout_key = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_fn, change.parts)(params, dropout_key, queries, documents)
            metrics = {"loss": loss, "grad_norm": optax.global_norm(grads), **jax.tree.map(jnp.mean, metrics)}
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, metrics
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                            arrays.batch((rows, short), jnp.int32),
                            arrays.batch((rows, passages, long), jnp.int32)), (0, 1)
    return make


FAMILY = {"league_embedder": dict(
    make=embedder(vocab=30522, layers=12, width=768, heads=12, hidden=3072, batch=64, query_length=32,
                  passage_length=256),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
