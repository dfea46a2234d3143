"""The Nucleotide Transformer that reads DNA, six letters a token, in haiku: embeddings of one layer and the logits.

An encoder of float32 with norms first, learnt places and no gates; its layers are unrolled.
"""
import jax
import jax.numpy as jnp

from advice_board_training import F32, cast, compute_dtype, on_chips


def nucleotide_encoder(quantized, now, layers, width, heads, hidden, vocab, longest, saved, pad=1):
    import haiku as hk

    def matrix(name, shape):
        """A weight in what is computed in, and the scale of its last axis where it is in eight bits."""
        if not quantized:
            return hk.get_parameter(name, shape, F32, init=hk.initializers.TruncatedNormal(0.02)).astype(now), 1
        kernel = hk.get_parameter(name, shape, jnp.int8, init=jnp.zeros)
        return kernel.astype(now), hk.get_parameter(name + "_scale", shape[-1:], F32, init=jnp.ones).astype(now)

    def rows_of(name, shape, ids):
        if not quantized:
            return hk.get_parameter(name, shape, F32, init=hk.initializers.TruncatedNormal(0.02))[ids].astype(now)
        table = hk.get_parameter(name, shape, jnp.int8, init=jnp.zeros)
        return table[ids].astype(now) * hk.get_parameter(name + "_scale", shape[-1:], F32, init=jnp.ones).astype(now)

    class Linear(hk.Module):
        def __init__(self, outputs, name=None):
            super().__init__(name=name)
            self.outputs = outputs

        def __call__(self, x):
            w, scale = matrix("w", (x.shape[-1], self.outputs))
            b = hk.get_parameter("b", (self.outputs,), F32, init=jnp.zeros)
            return jnp.dot(x, w) * scale + b.astype(now)

    class LayerNorm(hk.Module):
        def __call__(self, x):
            scale = hk.get_parameter("scale", x.shape[-1:], F32, init=jnp.ones)
            offset = hk.get_parameter("offset", x.shape[-1:], F32, init=jnp.zeros)
            y = x.astype(F32)
            y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-5)
            return (y * scale.astype(F32) + offset.astype(F32)).astype(now)

    class SelfAttention(hk.Module):
        def __call__(self, x, mask):
            rows, length, _ = x.shape
            q, k, v = (Linear(width, name)(x).reshape(rows, length, heads, width // heads)
                       for name in ("query", "key", "value"))
            logits = jnp.einsum("bthd,bshd->bhts", q, k) / (width // heads) ** 0.5
            weights = jax.nn.softmax(jnp.where(mask, logits.astype(F32), -1e30)).astype(now)
            return Linear(width, "mha_output")(jnp.einsum("bhts,bshd->bthd", weights, v).reshape(x.shape))

    class AttentionLayer(hk.Module):
        def __call__(self, x, mask):
            x = x + SelfAttention("self_attention")(LayerNorm("self_attention_layer_norm")(x), mask)
            h = jax.nn.gelu(Linear(hidden, "fc1")(LayerNorm("final_layer_norm")(x)), approximate=False)
            return x + Linear(width, "fc2")(h)

    class RobertaLMHead(hk.Module):
        def __call__(self, x):
            x = LayerNorm("emb_layer_norm_after")(x)
            h = jax.nn.gelu(Linear(width, "lm_head_fc_1")(x), approximate=False)
            return Linear(vocab, "lm_final_fc")(LayerNorm("lm_head_layer_norm")(h))

    def forward(tokens):
        real = tokens != pad
        x = rows_of("embed", (vocab, width), tokens)
        x = x + rows_of("positions", (longest, width), jnp.cumsum(real, -1) * real)
        mask, outs = real[:, None, None], {}
        for layer in range(layers):
            x = AttentionLayer(f"attention_layer_{layer}")(x, mask)
            if layer + 1 == saved:
                outs["embeddings"] = x
        weights = real.astype(F32)[..., None]
        mean = (outs["embeddings"].astype(F32) * weights).sum(1) / jnp.maximum(weights.sum(1), 1)
        return {**outs, "mean": mean, "logits": RobertaLMHead("roberta_lm_head")(x).astype(F32)}
    return hk.without_apply_rng(hk.transform(forward))


def nucleotide_transformer(layers, width, heads, hidden, vocab, batch, length, saved, kind=F32):
    def make(arrays, change):
        rows, read = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        model = nucleotide_encoder(change.quantized, now, layers, width, heads, hidden, vocab, length + 2, saved)
        shapes = jax.eval_shape(model.init, jax.random.PRNGKey(0), jax.ShapeDtypeStruct((1, read), jnp.int32))
        if not change.quantized:
            shapes = cast(shapes, change.stored)
        return model.apply, (on_chips(arrays, shapes), arrays.batch((rows, read), jnp.int32)), ()
    return make
