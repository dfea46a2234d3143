"""Yi that answers, in flax linen: nn.scan over its layers, whose weights and caches are stacked variables.

Each row of the batch is at a place of its own, as where answers start and end at different times. The cache is a
collection of linen's, handed in and given back.
"""
import jax
import jax.numpy as jnp

from advice_board_training import BF16, F32, on_chips


def rotated(x, places, base):
    """Llama's rotary embedding of [b, heads, d], one place a row."""
    half = x.shape[-1] // 2
    rates = base ** (-jnp.arange(half, dtype=F32) / half)
    angles = places.astype(F32)[:, None, None] * rates
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    a, b = x[..., :half].astype(F32), x[..., half:].astype(F32)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def llama_stack(quantized, width, heads, groups, per_head, hidden, vocab, layers, length, base):
    import flax.linen as nn

    normal, zeros, ones = nn.initializers.normal(0.02), nn.initializers.zeros, nn.initializers.ones

    class Projection(nn.Module):
        outputs: int

        @nn.compact
        def __call__(self, x):
            shape = x.shape[-1], self.outputs
            if not quantized:
                return x @ self.param("kernel", normal, shape, BF16)
            kernel = self.param("kernel", zeros, shape, jnp.int8)
            return (x @ kernel.astype(x.dtype)) * self.param("scale", ones, shape[-1:], F32).astype(x.dtype)

    class Table(nn.Module):
        @nn.compact
        def __call__(self, ids):
            if not quantized:
                return self.param("embedding", normal, (vocab, width), BF16)[ids]
            table = self.param("embedding", zeros, (vocab, width), jnp.int8)
            return table[ids].astype(BF16) * self.param("scale", ones, (width,), F32).astype(BF16)

    class DecoderLayer(nn.Module):
        def cached(self, name, new, places):
            """The layer's cache [b, groups, t, d] with the new row [b, groups, d] where each of the batch is."""
            variable = self.variable("cache", name, jnp.zeros, (new.shape[0], groups, length, per_head), BF16)
            variable.value = jax.vmap(lambda old, row, place: jax.lax.dynamic_update_slice_in_dim(
                old, row[:, None], place, axis=1))(variable.value, new, places)
            return variable.value

        @nn.compact
        def __call__(self, x, places):
            rows = x.shape[0]
            h = nn.RMSNorm(epsilon=1e-5, dtype=BF16, param_dtype=BF16, name="input_layernorm")(x)
            q = Projection(heads * per_head, name="q_proj")(h).reshape(rows, heads, per_head)
            k = Projection(groups * per_head, name="k_proj")(h).reshape(rows, groups, per_head)
            v = Projection(groups * per_head, name="v_proj")(h).reshape(rows, groups, per_head)
            keys = self.cached("key", rotated(k, places, base), places)
            values = self.cached("value", v, places)
            q = rotated(q, places, base).reshape(rows, groups, heads // groups, per_head)
            scores = jnp.einsum("bgqd,bgtd->bgqt", q, keys).astype(F32) * per_head ** -0.5
            seen = jnp.arange(length) <= places[:, None, None, None]
            weights = jax.nn.softmax(jnp.where(seen, scores, jnp.finfo(F32).min), axis=-1).astype(BF16)
            out = jnp.einsum("bgqt,bgtd->bgqd", weights, values).reshape(rows, heads * per_head)
            x = x + Projection(width, name="o_proj")(out)
            h = nn.RMSNorm(epsilon=1e-5, dtype=BF16, param_dtype=BF16, name="post_attention_layernorm")(x)
            h = nn.silu(Projection(hidden, name="gate_proj")(h)) * Projection(hidden, name="up_proj")(h)
            return x + Projection(width, name="down_proj")(h), None

    class Llama(nn.Module):
        @nn.compact
        def __call__(self, tokens, places):
            x = Table(name="embed_tokens")(tokens)
            stack = nn.scan(DecoderLayer, variable_axes={"params": 0, "cache": 0}, split_rngs={"params": True},
                            in_axes=nn.broadcast, length=layers)
            x, _ = stack(name="layers")(x, places)
            x = nn.RMSNorm(epsilon=1e-5, dtype=BF16, param_dtype=BF16, name="norm")(x)
            return Projection(vocab, name="lm_head")(x)
    return Llama()


def yi_decode(layers, width, heads, groups, per_head, hidden, vocab, batch, length, base=5e6, temperature=0.7):
    def make(arrays, change):
        rows, kept = batch // change.batch_divisor, length // change.length_divisor
        model = llama_stack(change.quantized, width, heads, groups, per_head, hidden, vocab, layers, kept, base)
        line = jax.ShapeDtypeStruct((rows,), jnp.int32)
        variables = jax.eval_shape(model.init, jax.random.key(0), line, line)

        def decode_step(params, cache, tokens, places, rng):
            logits, new = model.apply({"params": params, "cache": cache}, tokens, places, mutable=["cache"])
            tokens = jax.random.categorical(jax.random.wrap_key_data(rng), logits.astype(F32) / temperature)
            return tokens.astype(jnp.int32), new["cache"], places + 1
        cache = jax.tree.map(lambda leaf: arrays.array(leaf.shape, leaf.dtype, 1 if change.shard == "all" else None),
                             variables["cache"])
        params = on_chips(arrays, variables["params"], {"layers": 0})
        return decode_step, (params, cache, arrays.batch((rows,), jnp.int32), arrays.batch((rows,), jnp.int32),
                             arrays.array((2,), jnp.uint32, None)), (1, 3)
    return make
