"""ELECTRA, pretrained in haiku: a small generator fills in words that were masked, the encoder says which are its.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Both towers are haiku's layer_stack, with
the norms after the sums and dropout, and share one table of embeddings.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import cast, computing, matrices_only, policy_of, raw_key, summed_slopes, updated
from advice_board_training import F32, cross_entropy, on_chips
from advice_exam_libraries import warmed_up

DROPPED = 0.1


def electra_modules(change):
    import haiku as hk
    weights = hk.initializers.TruncatedNormal(0.02)

    def dense(size, name):
        return hk.Linear(size, w_init=weights, name=name)

    def norm(name):
        return hk.LayerNorm(axis=-1, create_scale=True, create_offset=True, eps=1e-12, name=name)

    def dropped(x):
        return hk.dropout(hk.next_rng_key(), DROPPED, x)

    class Layer(hk.Module):
        def __init__(self, width, heads, hidden, name="layer"):
            super().__init__(name=name)
            self.width, self.heads, self.hidden = width, heads, hidden

        def attention(self, x, mask):
            def split(name):
                return dense(self.width, name)(x).reshape(*x.shape[:2], self.heads, -1)
            q, k, v = split("query"), split("key"), split("value")
            scores = jnp.einsum("bthd,bshd->bhts", q, k) / q.shape[-1] ** 0.5
            scores = jnp.where(mask[:, None, None], scores, jnp.asarray(-1e9, scores.dtype))
            mixed = jnp.einsum("bhts,bshd->bthd", dropped(jax.nn.softmax(scores, axis=-1)), v)
            return dense(self.width, "attention_output")(mixed.reshape(x.shape))

        def __call__(self, x, mask):
            x = norm("attention_norm")(x + dropped(self.attention(x, mask)))
            h = jax.nn.gelu(dense(self.hidden, "intermediate")(x), approximate=False)
            return norm("output_norm")(x + dropped(dense(self.width, "output")(h)))

    class Tower(hk.Module):
        def __init__(self, layers, width, heads, hidden, name):
            super().__init__(name=name)
            self.layers, self.width, self.heads, self.hidden = layers, width, heads, hidden

        def __call__(self, embedded, mask):
            def layer(x):
                return Layer(self.width, self.heads, self.hidden)(x, mask)
            if change.rematerialize:
                layer = hk.remat(layer, policy=policy_of(change))
            if embedded.shape[-1] != self.width:
                embedded = dense(self.width, "embeddings_project")(embedded)
            return hk.experimental.layer_stack(self.layers)(layer)(embedded)

    class Electra(hk.Module):
        def __init__(self, vocab, places, size, generator, encoder):
            super().__init__(name="electra")
            self.words = hk.Embed(vocab, size, w_init=weights, name="word_embeddings")
            self.places = hk.Embed(places, size, w_init=weights, name="position_embeddings")
            self.norm, self.vocab, self.size = norm("embeddings_norm"), vocab, size
            self.generator, self.encoder = Tower(*generator, "generator"), Tower(*encoder, "discriminator")

        def embedded(self, ids):
            return dropped(self.norm(self.words(ids) + self.places(jnp.arange(ids.shape[1]))))

        def __call__(self, ids, mask, places, originals):
            """ids [b, t], mask [b, t] of real words, places and originals [b, m] of those that are masked."""
            lines = jnp.arange(ids.shape[0])[:, None]
            masked = self.generator(self.embedded(ids.at[lines, places].set(103)), mask)
            masked = jnp.take_along_axis(masked, places[..., None], axis=1)
            masked = norm("predictions_norm")(jax.nn.gelu(dense(self.size, "predictions_dense")(masked)))
            logits = masked @ self.words.embeddings.T
            logits = logits + hk.get_parameter("predictions_bias", (self.vocab,), logits.dtype, jnp.zeros)
            drawn = jax.random.categorical(hk.next_rng_key(), jax.lax.stop_gradient(logits).astype(F32))
            filled = ids.at[lines, places].set(drawn.astype(ids.dtype))
            x = self.encoder(self.embedded(filled), mask)
            x = jax.nn.gelu(dense(x.shape[-1], "discriminator_dense")(x))
            return logits, dense(1, "discriminator_prediction")(x)[..., 0], filled != ids
    return hk.transform(lambda sizes, *batch: Electra(*sizes)(*batch))


def electra(vocab, size, generator, encoder, batch, length, kind=F32):
    """generator and encoder: layers, width, heads, hidden."""
    def make(arrays, change):
        import optax
        rows, seen, now = batch // change.batch_divisor, length // change.length_divisor, computing(change, kind)
        masked, sizes = seen * 15 // 100, (vocab, length, size, generator, encoder)
        model = electra_modules(change)
        line = arrays.batch((rows, seen), jnp.int32)
        picked = arrays.batch((rows, masked), jnp.int32)
        few, fewer = jnp.zeros((1, seen), jnp.int32), jnp.zeros((1, masked), jnp.int32)
        shapes = jax.eval_shape(lambda key: model.init(key, sizes, few, few, fewer, fewer), jax.random.key(0))
        stacks = {name: 0 for name in shapes if "layer_stack" in name}

        def loss_of(params, key, ids, mask, places, originals):
            logits, replaced, is_replaced = model.apply(cast(params, now), key, sizes, ids, mask > 0, places, originals)
            told = optax.sigmoid_binary_cross_entropy(replaced.astype(F32), is_replaced.astype(F32))
            real = (mask > 0).astype(F32)
            told = (told * real).sum() / jnp.maximum(real.sum(), 1.0)
            filled = cross_entropy(logits, originals, originals > 0)
            return filled + 50.0 * told, {"generator": filled, "discriminator": told}
        optimizer = optax.adamw(warmed_up(2e-4), eps=1e-6, weight_decay=0.01, mask=matrices_only)
        params = cast(shapes, change.stored)
        state = jax.eval_shape(optimizer.init, params)

        def train_step(params, state, key, *batch):
            key, now_key = jax.random.split(key)
            loss, metrics, slopes = summed_slopes(loss_of, change.parts)(params, now_key, *batch)
            params, state = updated(optimizer, slopes, state, params)
            return params, state, key, loss, metrics
        return train_step, (on_chips(arrays, params, stacks), on_chips(arrays, state, stacks), raw_key(arrays), line,
                            line, picked, picked), (0, 1)
    return make
