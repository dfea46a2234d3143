"""Longformer (base) continued on long documents: masked words in 4096 tokens, windows of 256 to each side.

haiku, all in float32: BERT's layers with norms after, keys in chunks of three neighbours, the first token is seen by
all and sees all. Positions masked are gathered before the head, whose table is the embedding's. AdamW, not donated.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import computing, laid_out, matrices_only, policy_of, raw_key, summed_slopes, updated
from advice_board_training import F32, cast

PAD, SIDE = 1, 256
NORMAL = hk.initializers.TruncatedNormal(0.02)


def linear(size, name):
    return hk.Linear(size, w_init=NORMAL, name=name)


def layer_norm(x, name):
    return hk.LayerNorm(-1, True, True, name=name)(x)


def dropout(x, rate=0.1):
    return hk.dropout(hk.next_rng_key(), rate, x)


def neighbours(x, value=0):
    """[b, chunks, side, ...] -> [b, chunks, 3 side, ...]"""
    width = [(0, 0)] * x.ndim
    width[1] = (1, 1)
    padded = jnp.pad(x, width, constant_values=value)
    return jnp.concatenate([padded[:, :-2], padded[:, 1:-1], padded[:, 2:]], axis=2)


class WindowAttention(hk.Module):
    def __init__(self, heads, name=None):
        super().__init__(name=name)
        self.heads = heads

    def __call__(self, x, mask):
        b, length, width = x.shape
        side = min(SIDE, length)
        q, k, v = (linear(width, n)(x).reshape(b, length, self.heads, -1) for n in ("query", "key", "value"))
        q = q * q.shape[-1] ** -0.5
        chunk = (b, length // side, side)
        qc, kc, vc = (a.reshape(*chunk, *a.shape[2:]) for a in (q, k, v))
        kc, vc = neighbours(kc), neighbours(vc)
        seen = neighbours(mask.reshape(chunk), False)
        gap = jnp.arange(3 * side)[None, :] - side - jnp.arange(side)[:, None]
        allowed = (jnp.abs(gap) <= side)[None, None] & seen[:, :, None]
        local = jnp.einsum("bcqhd,bckhd->bchqk", qc, kc)
        local = jnp.where(allowed[:, :, None], local, -1e9)
        first = jnp.einsum("bcqhd,bhd->bchq", qc, k[:, 0])[..., None]
        probs = dropout(jax.nn.softmax(jnp.concatenate([first, local], axis=-1), axis=-1))
        out = jnp.einsum("bchqk,bckhd->bcqhd", probs[..., 1:], vc)
        out = out + probs[..., 0].swapaxes(2, 3)[..., None] * v[:, 0][:, None, None]
        out = out.reshape(b, length, width)
        qg, kg, vg = (linear(width, n)(a).reshape(b, -1, self.heads, width // self.heads) for n, a in (
            ("query_global", x[:, :1]), ("key_global", x), ("value_global", x)))
        scores = jnp.einsum("bqhd,bkhd->bhqk", qg, kg) * qg.shape[-1] ** -0.5
        probs = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -1e9), axis=-1)
        out = out.at[:, :1].set(jnp.einsum("bhqk,bkhd->bqhd", probs, vg).reshape(b, 1, width))
        return linear(width, "output")(out)


class Block(hk.Module):
    def __init__(self, heads, name=None):
        super().__init__(name=name)
        self.heads = heads

    def __call__(self, x, mask):
        y = WindowAttention(self.heads, name="attention")(x, mask)
        x = layer_norm(x + dropout(y), "attention_norm")
        y = jax.nn.gelu(linear(4 * x.shape[-1], "intermediate")(x), approximate=False)
        return layer_norm(x + dropout(linear(x.shape[-1], "output")(y)), "output_norm")


def longformer(vocab, layers, width, heads, batch, length, share=0.15):
    def make(arrays, change):
        rows, now, n = batch // change.batch_divisor, computing(change, F32), length // change.length_divisor
        masked = int(share * n) // 8 * 8

        @hk.transform
        def model(ids, where):
            words = hk.Embed(vocab, width, w_init=NORMAL, name="words")
            places = hk.get_parameter("places", (length + 2, width), init=NORMAL)
            mask = ids != PAD
            x = words(ids) + places[2:ids.shape[1] + 2]
            x = dropout(layer_norm(x, "embeddings_norm"))
            for i in range(layers):
                block = Block(heads, name=f"layer_{i}")
                x = (hk.remat(block, policy=policy_of(change)) if change.rematerialize else block)(x, mask)
            x = jnp.take_along_axis(x, where[..., None], axis=1)
            x = layer_norm(jax.nn.gelu(linear(width, "head")(x), approximate=False), "head_norm")
            return x @ words.embeddings.T + hk.get_parameter("bias", (vocab,), init=jnp.zeros)
        params = cast(jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, SIDE), jnp.int32),
                                     jnp.zeros((1, 8), jnp.int32)), change.stored)
        optimizer = optax.adamw(optax.linear_schedule(3e-5, 0.0, 65_000, 500), b2=0.98, eps=1e-6, weight_decay=0.01,
                                mask=matrices_only)
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, key, ids, where, words):
            logits = model.apply(jax.tree.map(lambda w: w.astype(now), params), key, ids, where).astype(F32)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, words)
            return losses.mean(), jnp.mean(logits.argmax(-1) == words)

        def update(params, opt_state, key, ids, where, words):
            key, now_key = jax.random.split(key)
            loss, accuracy, grads = summed_slopes(loss_fn, change.parts)(params, now_key, ids, where, words)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"bpc": loss / jnp.log(2.0), "accuracy": accuracy.mean()}
        return update, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays),
                        arrays.batch((rows, n), jnp.int32), arrays.batch((rows, masked), jnp.int32),
                        arrays.batch((rows, masked), jnp.int32)), (0, 1)
    return make


FAMILY = {"medal_longformer_mlm": dict(
    make=longformer(vocab=50265, layers=12, width=768, heads=12, batch=4, length=4096), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters.follow", "bf16_temporaries", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
