"""H2O-Danube 3, tuned to preferred answers (DPO) against a frozen copy of itself, of transformers' flax modules.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Each of the model's parts is applied by
itself, so that a layer can be checkpointed; chosen and rejected answers go through as one batch; RMSProp trains.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (BF16, F32, cast, compute_dtype, maybe_checkpoint, on_chips,
                                   value_and_mean_grad)


def mistral_config(layers, width, heads, groups, hidden, vocab):
    from transformers import MistralConfig
    return MistralConfig(vocab_size=vocab, hidden_size=width, intermediate_size=hidden, num_hidden_layers=layers,
                         num_attention_heads=heads, num_key_value_heads=groups, max_position_embeddings=1024,
                         sliding_window=None, tie_word_embeddings=False)


def answer_log_probs(config, now, change):
    """The function (params, ids, attention mask, mask of the answer) -> the answers' log probabilities."""
    import flax.linen as nn
    from transformers.models.mistral import modeling_flax_mistral as mistral
    layer = mistral.FlaxMistralDecoderLayer(config, dtype=now)
    norm = mistral.FlaxMistralRMSNorm(config, dtype=now)
    embed = nn.Embed(config.vocab_size, config.hidden_size, dtype=now)
    head = nn.Dense(config.vocab_size, use_bias=False, dtype=now)

    def run(p, x, mask, positions):
        return layer.apply({"params": p}, x, attention_mask=mask, position_ids=positions)[0]
    run = maybe_checkpoint(change, run)

    def log_probs(params, ids, mask, answer):
        model = params["model"]
        positions = jnp.maximum(mask.cumsum(-1) - 1, 0)
        x = embed.apply({"params": model["embed_tokens"]}, ids)
        for number in range(config.num_hidden_layers):
            x = run(model["layers"][str(number)], x, mask, positions)
        x = norm.apply({"params": model["norm"]}, x)
        logits = head.apply({"params": params["lm_head"]}, x)[:, :-1].astype(F32)
        each = jnp.take_along_axis(jax.nn.log_softmax(logits), ids[:, 1:, None], axis=-1)[..., 0]
        return (each * answer[:, 1:]).sum(-1)
    return log_probs


def preferring_danube(layers, width, heads, groups, hidden, vocab, batch, length, beta=0.1, smoothing=0.05, kind=BF16):
    def make(arrays, change):
        import optax
        from transformers.models.mistral.modeling_flax_mistral import FlaxMistralForCausalLMModule
        rows, said = batch // change.batch_divisor, length // change.length_divisor
        config = mistral_config(layers, width, heads, groups, hidden, vocab)
        one = jnp.ones((1, 8), jnp.int32)
        shapes = jax.eval_shape(FlaxMistralForCausalLMModule(config).init, jax.random.key(0), one, one, one)["params"]
        params = cast(shapes, change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.rmsprop(5e-7, decay=0.99))
        opt_state = jax.eval_shape(optimizer.init, params)
        log_probs = answer_log_probs(config, compute_dtype(change, kind), change)

        def train_step(params, opt_state, reference, *pairs):
            def loss_of(params, chosen, rejected):
                ids, mask, answer = (jnp.concatenate([good, bad]) for good, bad in zip(chosen, rejected))
                answer = answer.astype(F32)
                ours = log_probs(params, ids, mask, answer)
                theirs = jax.lax.stop_gradient(log_probs(reference, ids, mask, answer))
                good, bad = jnp.split(beta * (ours - theirs), 2)
                margin = good - bad
                return -((1 - smoothing) * jax.nn.log_sigmoid(margin) + smoothing * jax.nn.log_sigmoid(-margin)).mean()
            loss, grads = value_and_mean_grad(loss_of, change.parts)(params, *pairs)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss
        words = arrays.batch((rows, said), jnp.int32)
        answers = words, words, arrays.batch((rows, said), jnp.bool_)
        weights = on_chips(arrays, params)
        return train_step, (weights, on_chips(arrays, opt_state), weights, answers, answers), (0, 1)
    return make
