"""BLOOM in mixed precision: products in bfloat16; norms, scores, logits and their losses in float32; many words.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Its layers are scanned, and attention
knows places by slopes (ALiBi) alone. The names are those of bigscience/bloom-560m.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_training import BF16, F32, abstract, cast, compute_dtype, decayed, maybe_checkpoint, optax_step


def bloom_shapes(layers, width, vocab):
    def norm(*lead):
        return {"weight": (*lead, width), "bias": (*lead, width)}

    def linear(rows, columns):
        return {"weight": (layers, columns, rows), "bias": (layers, columns)}
    return abstract({
        "word_embeddings": {"weight": (vocab, width)}, "word_embeddings_layernorm": norm(), "ln_f": norm(),
        "h": {"input_layernorm": norm(layers), "post_attention_layernorm": norm(layers),
              "self_attention": {"query_key_value": linear(width, 3 * width), "dense": linear(width, width)},
              "mlp": {"dense_h_to_4h": linear(width, 4 * width), "dense_4h_to_h": linear(4 * width, width)}}})


def wide_norm(p, x):
    """All of it in float32, weights too; what is given back is in the type of what was given."""
    wide = x.astype(F32)
    centred = wide - jnp.mean(wide, -1, keepdims=True)
    spread = jnp.mean(jnp.square(centred), -1, keepdims=True)
    return (centred * jax.lax.rsqrt(spread + 1e-5) * p["weight"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def linear(p, x):
    return jax.lax.dot_general(x, p["weight"].astype(x.dtype), (((x.ndim - 1,), (1,)), ((), ()))) \
        + p["bias"].astype(x.dtype)


def slopes_of(heads):
    return jnp.asarray(2.0 ** (-8.0 * np.arange(1, heads + 1) / heads), F32)


def self_attention(p, x, bias, heads):
    batch, length, width = x.shape
    fused = linear(p["query_key_value"], x).reshape(batch, length, heads, 3, width // heads)
    query, key, value = fused[..., 0, :], fused[..., 1, :], fused[..., 2, :]
    scores = jnp.einsum("bqnd,bknd->bnqk", query, key, preferred_element_type=F32)
    weights = jax.nn.softmax(scores * (width // heads) ** -0.5 + bias, axis=-1)
    context = jnp.einsum("bnqk,bknd->bqnd", weights.astype(x.dtype), value)
    return linear(p["dense"], context.reshape(x.shape))


def bloom_block(p, x, bias, heads):
    x = x + self_attention(p["self_attention"], wide_norm(p["input_layernorm"], x), bias, heads)
    h = jax.nn.gelu(linear(p["mlp"]["dense_h_to_4h"], wide_norm(p["post_attention_layernorm"], x)))
    return x + linear(p["mlp"]["dense_4h_to_h"], h)


def mixed_bloom(layers, width, heads, vocab, batch, length, kind=BF16):
    """Tuned whole on many languages; the state is donated, and Adam's first moment is in bfloat16."""
    def make(arrays, change):
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        block = maybe_checkpoint(change, lambda p, x, bias: bloom_block(p, x, bias, heads))

        def logits_of(params, input_ids, attention_mask):
            at = jnp.arange(time)
            seen = (at[None] <= at[:, None]) & (attention_mask[:, None, None] > 0)
            bias = jnp.where(seen, slopes_of(heads)[:, None, None] * at.astype(F32), -1e9)
            x = cast(params["word_embeddings"]["weight"], now)[input_ids]
            x = wide_norm(params["word_embeddings_layernorm"], x)
            x, _ = jax.lax.scan(lambda x, p: (block(p, x, bias), None), x, params["h"])
            return jnp.einsum("btd,vd->btv", wide_norm(params["ln_f"], x),
                              cast(params["word_embeddings"]["weight"], now), preferred_element_type=F32)

        def loss_of(params, input_ids, attention_mask):
            logits = logits_of(params, input_ids, attention_mask)
            logp = jax.nn.log_softmax(logits[:, :-1], axis=-1)
            said = jnp.take_along_axis(logp, input_ids[:, 1:, None], axis=-1)[..., 0]
            real = attention_mask[:, 1:].astype(F32)
            return -jnp.sum(said * real) / jnp.maximum(jnp.sum(real), 1.0)
        ids = arrays.batch((rows, time), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
            optax.linear_schedule(2e-5, 0.0, 20_000), weight_decay=0.01, mu_dtype=BF16, mask=decayed))
        return optax_step(arrays, change, bloom_shapes(layers, width, vocab), loss_of, optimizer, ids, ids,
                          stacks={"h": 0})
    return make
