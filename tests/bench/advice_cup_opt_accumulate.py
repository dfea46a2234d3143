"""OPT of 1.3 billion weights goes on with its pretraining; one step sums the gradients of several micro-batches.

haiku, 24 pre-norm layers in a loop, ReLU, learned places, a tied embedding. Weights in float32 are cast to bfloat16
for each micro-batch; tokens come as [steps, batch, length] and a scan goes over the steps, each with its own key for
dropout. AdamW, clipped by the global norm, a linear schedule.
"""
import haiku as hk
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, matrices_only, raw_key, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype

OFFSET = 2


def layer_norm(x, name):
    return hk.LayerNorm(axis=-1, create_scale=True, create_offset=True, name=name)(x)


def linear(size, name, layers):
    std = 0.006 if layers is None else 0.006 / (2 * layers) ** 0.5
    return hk.Linear(size, w_init=hk.initializers.RandomNormal(std), name=name)


class OPTDecoderLayer(hk.Module):
    def __init__(self, heads, ffn_dim, layers, dropout, name):
        super().__init__(name=name)
        self.heads, self.ffn_dim, self.layers, self.dropout = heads, ffn_dim, layers, dropout

    def attention(self, x):
        b, t, d = x.shape
        q, k, v = (linear(d, name, None)(x).reshape(b, t, self.heads, -1) for name in ("q_proj", "k_proj", "v_proj"))
        logits = jnp.einsum("bthd,bshd->bhts", q * (d // self.heads) ** -0.5, k)
        causal = jnp.tril(jnp.ones((1, 1, t, t), dtype=bool))
        logits = jnp.where(causal, logits.astype(F32), jnp.finfo(F32).min)
        probs = jax.nn.softmax(logits).astype(x.dtype)
        out = jnp.einsum("bhts,bshd->bthd", probs, v).reshape(b, t, d)
        return linear(d, "out_proj", self.layers)(out)

    def __call__(self, x):
        h = self.attention(layer_norm(x, "self_attn_layer_norm"))
        x = x + hk.dropout(hk.next_rng_key(), self.dropout, h)
        h = jax.nn.relu(linear(self.ffn_dim, "fc1", None)(layer_norm(x, "final_layer_norm")))
        h = linear(x.shape[-1], "fc2", self.layers)(h)
        return x + hk.dropout(hk.next_rng_key(), self.dropout, h)


def opt_model(tokens, *, vocab, width, heads, ffn_dim, layers, positions, dropout, change):
    init = hk.initializers.RandomNormal(0.006)
    wte = hk.get_parameter("embed_tokens", (vocab, width), init=init)
    wpe = hk.get_parameter("embed_positions", (positions + OFFSET, width), init=init)
    x = wte[tokens] + wpe[OFFSET:OFFSET + tokens.shape[1]]
    x = hk.dropout(hk.next_rng_key(), dropout, x)
    for i in range(layers):
        layer = OPTDecoderLayer(heads, ffn_dim, layers, dropout, name=f"layer_{i}")
        if change.rematerialize:
            x = hk.remat(layer, policy=checkpoint_policy(change))(x)
        else:
            x = layer(x)
    return layer_norm(x, "final_layer_norm") @ wte.T


def opt_accumulate(steps, batch, length, dropout=0.1, kind=BF16, **sizes):
    def make(arrays, change):
        micro_steps = steps * change.parts
        shape = (micro_steps, batch // change.batch_divisor // change.parts, length // change.length_divisor + 1)
        compute = compute_dtype(change, kind)
        model = hk.transform(lambda tokens: opt_model(tokens, dropout=dropout, change=change, **sizes))
        params = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 8), jnp.int32))
        params = cast(params, change.stored)
        schedule = optax.linear_schedule(2e-4, 2e-5, 50_000)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=0.1, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_fn(params, rng, tokens):
            params = jax.tree.map(lambda p: p.astype(compute), params)
            logits = model.apply(params, rng, tokens[:, :-1]).astype(F32)
            log_probs = jax.nn.log_softmax(logits)
            return -jnp.take_along_axis(log_probs, tokens[:, 1:, None], axis=-1).mean()

        def update(params, opt_state, rng, tokens):
            rng, sub = jax.random.split(rng)

            def accumulate(acc, inputs):
                loss, grads = jax.value_and_grad(loss_fn)(params, *inputs)
                return jax.tree.map(jnp.add, acc, (loss, grads)), None
            zeros = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, params))
            (loss, grads), _ = jax.lax.scan(accumulate, zeros, (jax.random.split(sub, micro_steps), tokens))
            loss, grads = jax.tree.map(lambda a: a / micro_steps, (loss, grads))
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, rng, {"loss": loss, "perplexity": jnp.exp(loss)}

        tokens = arrays.array(shape, jnp.int32, 1 if change.shard == "all" else None)
        return update, (laid_out(arrays, params), laid_out(arrays, opt_state), raw_key(arrays), tokens), (0, 1)
    return make


FAMILY = {"cup_opt_accumulate": dict(
    make=opt_accumulate(steps=8, batch=8, length=512, vocab=50272, width=2048, heads=32, ffn_dim=8192, layers=24,
                        positions=2048),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch",
              "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
