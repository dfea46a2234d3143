"""Plain modern decoders: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, next_word_loss, trained, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


def rotated(x, base=10000.0):
    """Rotary embeddings of [batch, time, heads, side], first half against second."""
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1], dtype=F32)[:, None] * base ** (-jnp.arange(half, dtype=F32) / half)
    sine, cosine = jnp.sin(angles)[:, None].astype(x.dtype), jnp.cos(angles)[:, None].astype(x.dtype)
    low, high = x[..., :half], x[..., half:]
    return jnp.concatenate([low * cosine - high * sine, high * cosine + low * sine], -1)


# --- Like Llama, scanned ---

def gated_stack(layers, width, heads, groups, hidden, vocabulary, batch, length, kind=BF16):
    """Llama in linen with nn.scan: queries in groups, gated units, rotary embeddings, a head of its own."""
    side = width // heads

    def make(arrays, change):
        from flax import linen as nn
        kinds = {"dtype": computed(change, kind), "use_bias": False}
        size, now = batch // change.batch_divisor, length // change.length_divisor

        class Attention(nn.Module):
            @nn.compact
            def __call__(self, x):
                query = rotated(nn.DenseGeneral((heads, side), name="q_proj", **kinds)(x))
                key = rotated(nn.DenseGeneral((groups, side), name="k_proj", **kinds)(x))
                value = nn.DenseGeneral((groups, side), name="v_proj", **kinds)(x)
                query = query.reshape(*x.shape[:2], groups, heads // groups, side)
                scores = jnp.einsum("btghd,bsgd->bghts", query, key).astype(F32) * side ** -0.5
                scores = jnp.where(jnp.tril(jnp.ones((x.shape[1],) * 2, bool)), scores, jnp.finfo(F32).min)
                weights = nn.softmax(scores).astype(x.dtype)
                mixed = jnp.einsum("bghts,bsgd->btghd", weights, value).reshape(*x.shape[:2], width)
                return nn.Dense(width, name="o_proj", **kinds)(mixed)

        class Block(nn.Module):
            @nn.compact
            def __call__(self, x, _):
                x = x + Attention(name="attn")(nn.RMSNorm(dtype=kinds["dtype"], name="ln1")(x))
                h = nn.RMSNorm(dtype=kinds["dtype"], name="ln2")(x)
                gate, up = (nn.Dense(hidden, name=name, **kinds)(h) for name in ("gate_proj", "up_proj"))
                return x + nn.Dense(width, name="down_proj", **kinds)(nn.silu(gate) * up), None

        class Llama(nn.Module):
            @nn.compact
            def __call__(self, ids):
                x = nn.Embed(vocabulary, width, dtype=kinds["dtype"], name="embed_tokens")(ids)
                policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
                block = nn.remat(Block, prevent_cse=False, policy=policy) if change.rematerialize else Block
                x, _ = nn.scan(block, variable_axes={"params": 0}, split_rngs={"params": True}, length=layers,
                               in_axes=nn.broadcast)(name="scanned_layers")(x, None)
                x = nn.RMSNorm(dtype=kinds["dtype"], name="norm")(x)
                return nn.Dense(vocabulary, name="lm_head", **kinds)(x)

        model, ids = Llama(), arrays.batch((size, now), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 8), jnp.int32))["params"]

        def loss_of(params, ids):
            return next_word_loss(model.apply({"params": params}, ids), ids)
        return trained(arrays, change, shapes, loss_of, clipped_adamw(), ids)
    return make


# --- Like GPT-2, unrolled ---

def layer_norm(x, p):
    wide = x.astype(F32)
    mean, spread = wide.mean(-1, keepdims=True), wide.var(-1, keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(spread + 1e-5)).astype(x.dtype) * p["g"] + p["b"]


def tied_lines(layers, width, heads, vocabulary, batch, length, kind=BF16):
    """GPT-2 as picoGPT writes it, trained: biases everywhere, learned places, the table of words is the head too."""
    def make(arrays, change):
        import optax
        norm = {"g": (width,), "b": (width,)}
        layer = {"ln_1": norm, "ln_2": norm, "attn": {"c_attn": {"w": (width, 3 * width), "b": (3 * width,)},
                                                      "c_proj": {"w": (width, width), "b": (width,)}},
                 "mlp": {"c_fc": {"w": (width, 4 * width), "b": (4 * width,)},
                         "c_proj": {"w": (4 * width, width), "b": (width,)}}}
        shapes = shaped(wte=(vocabulary, width), wpe=(length, width), ln_f=norm)
        shapes["blocks"] = [shaped(**layer) for _ in range(layers)]

        def linear(x, p):
            return x @ p["w"] + p["b"]

        def attention(x, p):
            query, key, value = (part.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)
                                 for part in jnp.split(linear(x, p["c_attn"]), 3, -1))
            scores = query @ key.swapaxes(-1, -2) / jnp.sqrt(width / heads).astype(x.dtype)
            scores = jnp.where(jnp.tri(x.shape[1], dtype=bool), scores, jnp.asarray(-1e10, x.dtype))
            mixed = jax.nn.softmax(scores, -1) @ value
            return linear(mixed.transpose(0, 2, 1, 3).reshape(x.shape), p["c_proj"])

        def block(p, x):
            x = x + attention(layer_norm(x, p["ln_1"]), p["attn"])
            h = jax.nn.gelu(linear(layer_norm(x, p["ln_2"]), p["mlp"]["c_fc"]))
            return x + linear(h, p["mlp"]["c_proj"])

        def loss_of(params, ids):
            p = as_kind(params, computed(change, kind))
            inputs, targets = ids[:, :-1], ids[:, 1:]
            x = p["wte"][inputs] + p["wpe"][:inputs.shape[1]]
            for one in p["blocks"]:
                x = maybe_checkpointed(change, block)(one, x)
            logits = layer_norm(x, p["ln_f"]) @ p["wte"].T
            return optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), targets).mean()
        optimizer = optax.adamw(warmed_up(6e-4), b2=0.95, weight_decay=0.1, mask=matrices_only)
        ids = arrays.batch((batch // change.batch_divisor, length + 1), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids)
    return make
