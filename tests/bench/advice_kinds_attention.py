"""Transformers whose attention is written in less usual ways, which a partitioner has to split: as their users do.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, trained, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Query, key and value in one product ---

def half_turned(x):
    low, high = jnp.split(x, 2, -1)
    return jnp.concatenate([-high, low], -1)


def rotary(length, side):
    angles = jnp.outer(jnp.arange(length), 1e4 ** -(jnp.arange(0, side, 2) / side))
    angles = jnp.concatenate([angles, angles], -1)[None, None]
    return jnp.cos(angles), jnp.sin(angles)


def turned_halves(layers, width, heads, groups, hidden, vocabulary, batch, length, kind=BF16):
    """One product for queries, keys and values, cut afterwards; half of each head is turned; keys are repeated."""
    side = width // heads
    cut = [width, width + groups * side]

    def make(arrays, change):
        layer = {"attn_norm": (width,), "wqkv": (width, width + 2 * groups * side), "wo": (width, width),
                 "ffn_norm": (width,), "w13": (width, 2 * hidden), "w2": (hidden, width)}
        shapes = shaped(tok_embeddings=(vocabulary, width), norm=(width,), output=(width, vocabulary),
                        **{f"layers.{i}": layer for i in range(layers)})
        rows = batch // change.batch_divisor, length // change.length_divisor

        def by_heads(x, count):
            return x.reshape(*x.shape[:2], count, side).transpose(0, 2, 1, 3)

        def turned(x, cosine, sine):
            part, rest = x[..., :side // 2], x[..., side // 2:]
            part = part * cosine.astype(x.dtype) + half_turned(part) * sine.astype(x.dtype)
            return jnp.concatenate([part, rest], -1)

        def block(p, x, places):
            query, key, value = jnp.split(root_normed(x, p["attn_norm"]) @ p["wqkv"], cut, -1)
            query, key = turned(by_heads(query, heads), *places), turned(by_heads(key, groups), *places)
            key, value = (jnp.repeat(one, heads // groups, 1) for one in (key, by_heads(value, groups)))
            scores = jnp.einsum("bhqd,bhkd->bhqk", query, key).astype(F32) * side ** -0.5
            unseen = jnp.triu(jnp.full((x.shape[1],) * 2, -1e9, F32), 1)
            weights = jax.nn.softmax(scores + unseen).astype(x.dtype)
            mixed = jnp.einsum("bhqk,bhkd->bhqd", weights, value)
            x = x + mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ p["wo"]
            gate, up = jnp.split(root_normed(x, p["ffn_norm"]) @ p["w13"], 2, -1)
            return x + (jax.nn.silu(gate) * up) @ p["w2"]

        def loss_of(params, tokens, targets):
            p = as_kind(params, computed(change, kind))
            x, places = p["tok_embeddings"][tokens], rotary(tokens.shape[1], side // 2)
            for i in range(layers):
                x = maybe_checkpointed(change, block)(p[f"layers.{i}"], x, places)
            logits = (root_normed(x, p["norm"]) @ p["output"]).astype(F32)
            said = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
            return jnp.mean(jax.nn.logsumexp(logits, -1) - said)
        ids = arrays.batch(rows, jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(), ids, ids)
    return make


# --- Pictures before words ---

def seen_before(layers, width, heads, hidden, every, patches, patch_width, vocabulary, batch, length, kind=BF16):
    """Captions in linen: places of a picture come before the words, attention and units lie side by side, keys have
    learned prefixes, and each `every`th layer looks across at the picture again, behind a gate; Lion."""
    side, learned = width // heads, 20

    def make(arrays, change):
        import optax
        from flax import linen as nn
        now = computed(change, kind)

        def dense(size, name):
            return nn.Dense(size, use_bias=False, dtype=now, name=name)

        def looked(query, key, value, mask):
            query, key, value = (one.reshape(*one.shape[:2], heads, side) for one in (query, key, value))
            mixed = nn.dot_product_attention(query, key, value, mask=mask, dtype=now)
            return mixed.reshape(*mixed.shape[:2], width)

        class Across(nn.Module):
            @nn.compact
            def __call__(self, x, picture):
                key, value = jnp.split(dense(2 * width, "kv")(picture), 2, -1)
                mixed = looked(dense(width, "q")(nn.LayerNorm(dtype=now)(x)), key, value, None)
                gate = self.param("gate", nn.initializers.zeros, (width,)).astype(now)
                return x + jnp.tanh(gate) * dense(width, "out")(mixed)

        class Layer(nn.Module):
            looks: bool

            @nn.compact
            def __call__(self, x, picture, mask):
                if self.looks:
                    x = Across(name="across")(x, picture)
                fused = dense(3 * width + hidden, "fused")(nn.LayerNorm(dtype=now)(x))
                query, key, value, inner = jnp.split(fused, [width, 2 * width, 3 * width], -1)
                prefix = self.param("prefix", nn.initializers.normal(0.02), (2, learned, width)).astype(now)
                wide = jnp.broadcast_to(prefix[:, None], (2, x.shape[0], learned, width))
                key, value = (jnp.concatenate(pair, 1) for pair in zip(wide, (key, value)))
                mixed = looked(query, key, value, mask)
                return x + dense(width, "out")(jnp.concatenate([mixed, nn.gelu(inner)], -1))

        class Captions(nn.Module):
            @nn.compact
            def __call__(self, features, ids):
                picture = nn.Dense(width, dtype=now, name="project")(features.astype(now))
                x = jnp.concatenate([picture, nn.Embed(vocabulary, width, dtype=now, name="words")(ids)], 1)
                places = jnp.arange(x.shape[1])
                seen = (places[:, None] >= places) | (places < patches)
                mask = jnp.concatenate([jnp.ones((x.shape[1], learned), bool), seen], 1)[None, None]
                one = nn.remat(Layer, policy=getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
                               ) if change.rematerialize else Layer
                for i in range(layers):
                    x = one(i % every == 1, name=f"layer_{i}")(x, picture, mask)
                return dense(vocabulary, "head")(nn.LayerNorm(dtype=now)(x[:, patches:]))

        model, size = Captions(), batch // change.batch_divisor
        few = jnp.zeros((1, patches, patch_width)), jnp.zeros((1, 8), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), *few)["params"]

        def loss_of(params, features, ids):
            logits = model.apply({"params": params}, features, ids)
            return word_loss(logits[:, :-1], ids[:, 1:], (ids[:, 1:] > 0).astype(F32))
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(warmed_up(1e-4), weight_decay=0.05))
        return trained(arrays, change, shapes, loss_of, optimizer, arrays.batch((size, patches, patch_width), F32),
                       arrays.batch((size, length), jnp.int32))
    return make
