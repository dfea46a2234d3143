"""ALBERT (xxlarge, v2) tuned on SQuAD 2.0: FlaxAlbertForQuestionAnswering of `transformers`, as its run_qa.py does.

Twelve passes of one layer of 4096 and 64 heads, without dropout as published; float32 throughout, AdamW with a linear
schedule and gradients clipped. The script donates its state, so the parameters and the optimizer's are donated here.
"""
import contextlib
from unittest import mock

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from transformers import AlbertConfig, FlaxAlbertForQuestionAnswering
from transformers.models.albert import modeling_flax_albert as modeling

from advice_board_changes import computing, laid_out, policy_of, summed_slopes, updated
from advice_board_training import F32, cast

CONFIG = AlbertConfig(
    vocab_size=30000, embedding_size=128, hidden_size=4096, num_hidden_layers=12, num_hidden_groups=1,
    inner_group_num=1, num_attention_heads=64, intermediate_size=16384, hidden_act="gelu_new", hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0, max_position_embeddings=512, type_vocab_size=2)


def rematerialized(policy):
    """The library's layer under a checkpoint; this model has no option of its own for it."""
    class RematerializedAlbertLayer(modeling.FlaxAlbertLayer):
        def __call__(self, hidden_states, attention_mask, deterministic=True, output_attentions=False):
            def run(layer, hidden_states, attention_mask):
                return super(RematerializedAlbertLayer, layer).__call__(
                    hidden_states, attention_mask, deterministic, output_attentions)
            return nn.remat(run, policy=policy)(self, hidden_states, attention_mask)
    return RematerializedAlbertLayer


def layers_of(change):
    if not change.rematerialize:
        return contextlib.nullcontext()
    return mock.patch.object(modeling, "FlaxAlbertLayer", rematerialized(policy_of(change)))


def no_decay_on_norms_and_biases(params):
    def one(path, _):
        names = [key.key for key in path]
        return names[-1] != "bias" and "LayerNorm" not in names and "full_layer_layer_norm" not in names
    return jax.tree_util.tree_map_with_path(one, params)


def linear_schedule(steps, warmup, rate):
    up = optax.linear_schedule(0.0, rate, warmup)
    return optax.join_schedules([up, optax.linear_schedule(rate, 0.0, steps - warmup)], [warmup])


def exact_match(start_logits, end_logits, starts, ends):
    """How many answers are exactly right."""
    is_right = (start_logits.argmax(-1) == starts) & (end_logits.argmax(-1) == ends)
    return is_right.astype(F32).mean()


def cross_entropy(logits, positions):
    """Answers that lie outside of the window point at its end, and do not count."""
    length = logits.shape[-1]
    is_inside = ((positions >= 0) & (positions < length)).astype(F32)
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, jnp.clip(positions, 0, length - 1))
    return jnp.sum(losses * is_inside) / jnp.maximum(is_inside.sum(), 1.0)


def question_answering(batch, length):
    def make(arrays, change):
        rows, n = batch // change.batch_divisor, length // change.length_divisor
        model = FlaxAlbertForQuestionAnswering(CONFIG, dtype=computing(change, F32), _do_init=False)
        shapes = jax.eval_shape(lambda key: model.init_weights(key, (1, 8)), jax.random.key(0))
        params = cast(shapes, change.stored)
        schedule = linear_schedule(steps=8_144, warmup=814, rate=3e-5)
        optimizer = optax.chain(
            optax.clip_by_global_norm(1.0),
            optax.adamw(schedule, b1=0.9, b2=0.999, eps=1e-6, weight_decay=0.01, mask=no_decay_on_norms_and_biases))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, _, inputs, starts, ends):
            with layers_of(change):
                outputs = model(**inputs, params=params, train=True)
            start_logits, end_logits = outputs.start_logits.astype(F32), outputs.end_logits.astype(F32)
            loss = (cross_entropy(start_logits, starts) + cross_entropy(end_logits, ends)) / 2
            return loss, {"exact": exact_match(start_logits, end_logits, starts, ends)}

        def train_step(params, opt_state, step, inputs, starts, ends):
            loss, aux, grads = summed_slopes(loss_fn, change.parts)(params, None, inputs, starts, ends)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            metrics = {"loss": loss, "learning_rate": schedule(step), "exact": aux["exact"].mean()}
            return params, opt_state, step + 1, metrics

        inputs = {name: arrays.batch((rows, n), jnp.int32)
                  for name in ("input_ids", "attention_mask", "token_type_ids")}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), arrays.array((), jnp.int32), inputs,
                            arrays.batch((rows,), jnp.int32), arrays.batch((rows,), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"crown_albert_xxlarge": dict(
    make=question_answering(batch=8, length=384), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "bf16_parameters.follow", "bf16_temporaries",
              "bf16_temporaries+halve_batch", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize_dots", "shard_parameters", "shard_all"))}
