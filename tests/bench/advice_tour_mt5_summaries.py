"""mT5-small of transformers (flax) learns to write summaries: float32, Adafactor, dropouts, as the examples train it.

Eight layers of an encoder over the article and eight of a decoder over the summary, one after the other; a vocabulary
of 250112 and a head of its own. Padding is not counted, labels are smoothed. The library's own switch checkpoints the
blocks; it takes no policy, so one is put in where it calls remat. It also names an argument of jnp.clip as jax no more
does.
"""
import contextlib
import functools
import unittest.mock

import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

PAD, START = 0, 0


def clip(x, min=None, max=None, real=jnp.clip, **old):
    return real(x, old.get("a_min", min), old.get("a_max", max))


@contextlib.contextmanager
def patched(library, policy):
    remat = functools.partial(library.remat, policy=policy)
    with unittest.mock.patch.object(jnp, "clip", clip), unittest.mock.patch.object(library, "remat", remat):
        yield


def shift_right(labels):
    return jnp.zeros_like(labels).at[:, 1:].set(labels[:, :-1]).at[:, 0].set(START)


def smoothed_loss(logits, labels, is_counted, smoothing=0.1):
    import optax
    vocab = logits.shape[-1]
    confidence, low = 1.0 - smoothing, smoothing / (vocab - 1)
    constant = -(confidence * jnp.log(confidence) + (vocab - 1) * low * jnp.log(low + 1e-20))
    soft = jax.nn.one_hot(labels, vocab) * (confidence - low) + low
    losses = (optax.softmax_cross_entropy(logits, soft) - constant) * is_counted
    return losses.sum() / jnp.maximum(is_counted.sum(), 1)


def mt5_summaries(layers, width, heads, head_dim, hidden, vocab, batch, source, target, kind=F32):
    def make(arrays, change):
        import optax
        from transformers import MT5Config
        from transformers.models.t5 import modeling_flax_t5 as library
        rows = batch // change.batch_divisor
        words, answer = source // change.length_divisor, target // change.length_divisor
        config = MT5Config(vocab_size=vocab, d_model=width, d_kv=head_dim, d_ff=hidden, num_layers=layers,
                           num_decoder_layers=layers, num_heads=heads, feed_forward_proj="gated-gelu",
                           tie_word_embeddings=False, dropout_rate=0.1)
        module = library.FlaxT5ForConditionalGenerationModule(config, dtype=compute_dtype(change, kind),
                                                              gradient_checkpointing=change.rematerialize)
        some = jnp.ones((1, 8), jnp.int32)
        with patched(library, checkpoint_policy(change)):
            made = jax.eval_shape(module.init, jax.random.key(0), some, some, some, some)
        params = cast(made["params"], change.stored)
        optimizer = optax.adafactor(optax.linear_schedule(1e-3, 0.0, 50_000))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, input_ids, attention_mask, labels, decoder_mask):
            with patched(library, checkpoint_policy(change)):
                logits = module.apply({"params": params}, input_ids, attention_mask, shift_right(labels), decoder_mask,
                                      deterministic=False, rngs={"dropout": key}).logits
            return smoothed_loss(logits.astype(F32), labels, decoder_mask), ()

        def train_step(params, opt_state, dropout_rng, batch):
            dropout_rng, key = jax.random.split(dropout_rng)
            given = [batch[name] for name in ("input_ids", "attention_mask", "labels", "decoder_attention_mask")]
            loss, _, grads = summed_slopes(loss_of, change.parts)(params, key, *given)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, dropout_rng, {"loss": loss}

        article, summary = arrays.batch((rows, words), jnp.int32), arrays.batch((rows, answer), jnp.int32)
        batch_of = {"input_ids": article, "attention_mask": article, "labels": summary,
                    "decoder_attention_mask": summary}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), batch_of), (0, 1)
    return make


FAMILY = {"tour_mt5_summaries": dict(
    make=mt5_summaries(layers=8, width=512, heads=6, head_dim=64, hidden=1024, vocab=250_112, batch=64, source=512,
                       target=128),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
