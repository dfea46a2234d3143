"""Blenderbot-400M is trained to answer in dialogues: the Flax class of transformers, all in float32.

Labels are smoothed and padding does not count, as in the library's example of summaries. The class knows no
rematerialization, so its layers are replaced by ones that do, where it is asked for.
"""
import contextlib
from unittest import mock

import flax.linen as nn
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import F32, cast, checkpoint_policy, compute_dtype

PAD, START, END = 0, 1, 2


def rematerialized(layer, policy):
    """The layer of transformers, whose flags are no arrays, under nn.remat."""
    class Rematerialized(layer):
        def __call__(self, hidden_states, attention_mask, encoder_hidden_states=None, encoder_attention_mask=None,
                     **flags):
            def run(module, *arrays):
                return super(Rematerialized, module).__call__(*arrays, **flags)
            arrays = hidden_states, attention_mask, encoder_hidden_states, encoder_attention_mask
            return nn.remat(run, policy=policy)(self, *arrays)

    class RematerializedEncoder(layer):
        def __call__(self, hidden_states, attention_mask, output_attentions=False, deterministic=True):
            def run(module, *arrays):
                return super(RematerializedEncoder, module).__call__(*arrays, output_attentions, deterministic)
            return nn.remat(run, policy=policy)(self, hidden_states, attention_mask)
    return RematerializedEncoder if "Encoder" in layer.__name__ else Rematerialized


@contextlib.contextmanager
def rematerializing(policy):
    from transformers.models.blenderbot import modeling_flax_blenderbot as library
    names = "FlaxBlenderbotEncoderLayer", "FlaxBlenderbotDecoderLayer"
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(mock.patch.object(library, name, rematerialized(getattr(library, name), policy)))
        yield


def shifted(labels):
    moved = jnp.roll(labels, 1, axis=-1).at[:, 0].set(START)
    return jnp.where(moved == -100, PAD, moved)


def smoothed_loss(logits, labels, mask, smoothing):
    import optax
    vocab = logits.shape[-1]
    high, low = 1.0 - smoothing, smoothing / (vocab - 1)
    constant = -(high * jnp.log(high) + (vocab - 1) * low * jnp.log(low + 1e-20))
    soft = jax.nn.one_hot(labels, vocab) * (high - low) + low
    losses = (optax.softmax_cross_entropy(logits, soft) - constant) * mask
    return losses.sum() / jnp.maximum(mask.sum(), 1.0)


def weights_only(params):
    """No decay for biases and norms."""
    def one(path, _):
        names = [key.key for key in path]
        return names[-1] != "bias" and not any("layer_norm" in name for name in names)
    return jax.tree_util.tree_map_with_path(one, params)


def blenderbot_dialogues(encoder_layers, decoder_layers, width, heads, hidden, vocab, batch, source, target,
                         places=128, smoothing=0.1, kind=F32):
    def make(arrays, change):
        import optax
        from transformers import BlenderbotConfig, FlaxBlenderbotForConditionalGeneration
        rows = batch // change.batch_divisor
        config = BlenderbotConfig(
            vocab_size=vocab, max_position_embeddings=places, d_model=width, encoder_layers=encoder_layers,
            decoder_layers=decoder_layers, encoder_attention_heads=heads, decoder_attention_heads=heads,
            encoder_ffn_dim=hidden, decoder_ffn_dim=hidden, dropout=0.1, attention_dropout=0.0, scale_embedding=True,
            encoder_layerdrop=0.0, decoder_layerdrop=0.0, pad_token_id=PAD, bos_token_id=START, eos_token_id=END)
        model = FlaxBlenderbotForConditionalGeneration(config, dtype=compute_dtype(change, kind), _do_init=False)
        params = cast(model.params_shape_tree, change.stored)
        warmup, decay = optax.linear_schedule(0.0, 1e-4, 500), optax.linear_schedule(1e-4, 0.0, 20_000)
        schedule = optax.join_schedules([warmup, decay], [500])
        tx = optax.adamw(schedule, b1=0.9, b2=0.999, eps=1e-8, weight_decay=0.01, mask=weights_only)
        opt_state = jax.eval_shape(tx.init, params)

        def loss_fn(params, key, batch):
            labels = batch["labels"]
            mask = (labels != -100).astype(F32)
            patched = rematerializing(checkpoint_policy(change)) if change.rematerialize else contextlib.nullcontext()
            with patched:
                logits = model(batch["input_ids"], batch["attention_mask"], shifted(labels), params=params,
                               dropout_rng=key, train=True).logits
            return smoothed_loss(logits, labels, mask, smoothing), mask.sum()

        def train_step(params, opt_state, dropout_rng, batch):
            dropout_rng, key = jax.random.split(dropout_rng)
            loss, counts, grads = summed_slopes(loss_fn, change.parts)(params, key, batch)
            step = optax.tree.get(opt_state, "count", filtering=lambda path, _: "ScaleByAdam" in str(path))
            params, opt_state = updated(tx, grads, opt_state, params)
            metrics = {"loss": loss, "tokens": counts.sum(), "learning_rate": schedule(step)}
            return params, opt_state, dropout_rng, metrics
        questions = arrays.batch((rows, source // change.length_divisor), jnp.int32)
        answers = arrays.batch((rows, target // change.length_divisor), jnp.int32)
        batch_of = {"input_ids": questions, "attention_mask": questions, "labels": answers}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), batch_of), (0, 1)
    return make


FAMILY = {"round_blenderbot": dict(
    make=blenderbot_dialogues(2, 12, 1280, 32, 5120, 8008, batch=64, source=128, target=128), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize", "bf16_parameters",
              "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters",
              "shard_all"))}
