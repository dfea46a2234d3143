"""Little is trained beside much that is frozen: LoRA on Granite 3.0 2B in a scan, DoRA on BLOOM-560m in equinox.

Each maker has its sizes as arguments and gives make(arrays, change), which gives (step, arguments, donated).
"""
import math

import jax
import jax.numpy as jnp

from advice_board_blocks import (BF16, F32, cast, checkpointed, compute_type, layer_norm, optimized, place, rms_norm,
                                   rotate, stored_as, token_loss)


def struct(*shape, kind=F32):
    return jax.ShapeDtypeStruct(shape, kind)


# --- LoRA on Granite: stacked layers, frozen in bfloat16 ---

def granite_kernels(width, heads, kv_heads, side, hidden):
    """Of one layer: the shape, and by which letters it is contracted."""
    return {"q_proj": ((width, heads, side), "btd,dnh->btnh"), "k_proj": ((width, kv_heads, side), "btd,dnh->btnh"),
            "v_proj": ((width, kv_heads, side), "btd,dnh->btnh"), "o_proj": ((heads, side, width), "btnh,nhd->btd"),
            "gate_proj": ((width, hidden), "btd,df->btf"), "up_proj": ((width, hidden), "btd,df->btf"),
            "down_proj": ((hidden, width), "btf,fd->btd")}


def low_rank_pair(layers, shape, equation, rank):
    """A takes what the kernel takes, B gives what the kernel gives."""
    into = len(equation.split(",")[0]) - 2
    return {"A": struct(layers, *shape[:into], rank), "B": struct(layers, rank, *shape[into:])}


def granite_lora(layers, width, heads, kv_heads, hidden, vocab, rank, batch, length, alpha=32, usual=BF16):
    """Instructions with their answers; all seven matrices of a layer have a pair, in float32 as is their AdamW."""
    side, groups = width // heads, heads // kv_heads
    kernels = granite_kernels(width, heads, kv_heads, side, hidden)

    def make(arrays, change):
        import optax
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        now = compute_type(change, usual)
        blocks = {name: struct(layers, *shape) for name, (shape, _) in kernels.items()}
        blocks |= {"input_layernorm": struct(layers, width), "post_attention_layernorm": struct(layers, width)}
        frozen = stored_as({"embed": struct(vocab, width), "norm": struct(width), "blocks": blocks}, BF16)
        lora = {name: low_rank_pair(layers, *kernel, rank) for name, kernel in kernels.items()}

        def project(p, pairs, name, x):
            equation = kernels[name][1]
            given, out = equation.split(",")[0], equation.split("->")[1]
            low = jnp.einsum(f"{given},{given[2:]}r->btr", x, pairs[name]["A"].astype(now))
            added = jnp.einsum(f"btr,r{out[2:]}->{out}", low, pairs[name]["B"].astype(now))
            return jnp.einsum(equation, x, p[name].astype(now)) + added * (alpha / rank)

        def layer(x, p, pairs):
            places = jnp.arange(x.shape[1])
            h = rms_norm(x, p["input_layernorm"])
            q, k, v = (project(p, pairs, name, h) for name in ("q_proj", "k_proj", "v_proj"))
            q, k = rotate(q, places, 1e4), rotate(k, places, 1e4)
            q = q.reshape(*q.shape[:2], kv_heads, groups, side)
            scores = jnp.einsum("bqkgh,bskh->bkgqs", q, k).astype(F32) * 0.015625
            scores = jnp.where(places[None] <= places[:, None], scores, jnp.finfo(F32).min)
            mixed = jnp.einsum("bkgqs,bskh->bqkgh", jax.nn.softmax(scores).astype(now), v)
            x = x + 0.22 * project(p, pairs, "o_proj", mixed.reshape(*mixed.shape[:2], heads, side))
            h = rms_norm(x, p["post_attention_layernorm"])
            h = jax.nn.silu(project(p, pairs, "gate_proj", h)) * project(p, pairs, "up_proj", h)
            return x + 0.22 * project(p, pairs, "down_proj", h)
        block = checkpointed(change, layer)

        def loss_of(lora, frozen, tokens, is_answer):
            x = 12.0 * frozen["embed"][tokens].astype(now)
            x, _ = jax.lax.scan(lambda x, both: (block(x, *both), None), x, (frozen["blocks"], lora))
            logits = jnp.einsum("btd,vd->btv", rms_norm(x, frozen["norm"]), frozen["embed"].astype(now)) / 8.0
            return token_loss(logits[:, :-1], tokens[:, 1:], is_answer[:, 1:].astype(F32))
        rate = optax.warmup_cosine_decay_schedule(0.0, 2e-4, 100, 3000)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=0.01))
        ids = arrays.batch((rows, time), jnp.int32)
        return optimized(arrays, change, lora, optimizer, loss_of, (ids, ids), (place(arrays, frozen, 1),), 1)
    return make


# --- DoRA on BLOOM: equinox, layers in a list ---

TRAINED = "lora_a", "lora_b", "magnitude"


def alibi(heads, time):
    slopes = 2.0 ** (-8.0 / heads * jnp.arange(1, heads + 1))
    places = jnp.arange(time)
    away = (places[None] - places[:, None]).astype(F32)
    return jnp.where(away <= 0, slopes[:, None, None] * away, -1e9)


def bloom_parts():
    """The modules, made here as equinox is imported late."""
    import equinox as eqx

    class DoraLinear(eqx.Module):
        """A frozen matrix [out, in] whose direction has a low-rank change and whose rows have learnt lengths."""
        weight: jax.Array
        bias: jax.Array
        lora_a: jax.Array
        lora_b: jax.Array
        magnitude: jax.Array
        scale: float = eqx.field(static=True)

        def __init__(self, into, out, rank, alpha, key):
            first, second = jax.random.split(key)
            self.weight = jax.random.normal(first, (out, into)) * 0.02
            self.lora_a = jax.random.normal(second, (rank, into)) / math.sqrt(into)
            self.lora_b, self.bias = jnp.zeros((out, rank)), jnp.zeros((out,))
            self.magnitude, self.scale = jnp.linalg.norm(self.weight, axis=1), alpha / rank

        def __call__(self, x):
            merged = self.weight + self.scale * self.lora_b @ self.lora_a
            length = jax.lax.stop_gradient(jnp.linalg.norm(merged, axis=1))
            out = x @ self.weight.T + self.scale * (x @ self.lora_a.T) @ self.lora_b.T
            return self.magnitude / length * out + self.bias

    class Norm(eqx.Module):
        weight: jax.Array
        bias: jax.Array

        def __init__(self, width):
            self.weight, self.bias = jnp.ones((width,)), jnp.zeros((width,))

        def __call__(self, x):
            return layer_norm(x, self.weight, self.bias)

    class Block(eqx.Module):
        """Of one text [time, width]."""
        input_norm: Norm
        query_key_value: DoraLinear
        dense: eqx.nn.Linear
        post_norm: Norm
        h_to_4h: DoraLinear
        four_h_to_h: DoraLinear
        heads: int = eqx.field(static=True)

        def __init__(self, width, heads, rank, alpha, key):
            keys = jax.random.split(key, 4)
            self.input_norm, self.post_norm, self.heads = Norm(width), Norm(width), heads
            self.query_key_value = DoraLinear(width, 3 * width, rank, alpha, keys[0])
            self.dense = eqx.nn.Linear(width, width, key=keys[1])
            self.h_to_4h = DoraLinear(width, 4 * width, rank, alpha, keys[2])
            self.four_h_to_h = DoraLinear(4 * width, width, rank, alpha, keys[3])

        def __call__(self, x, bias):
            time, width = x.shape
            fused = self.query_key_value(self.input_norm(x)).reshape(time, self.heads, 3, width // self.heads)
            q, k, v = (fused[:, :, i] for i in range(3))
            scores = jnp.einsum("qnh,knh->nqk", q, k).astype(F32) * (width // self.heads) ** -0.5 + bias
            mixed = jnp.einsum("nqk,knh->qnh", jax.nn.softmax(scores).astype(x.dtype), v)
            x = x + jax.vmap(self.dense)(mixed.reshape(time, width))
            return x + self.four_h_to_h(jax.nn.gelu(self.h_to_4h(self.post_norm(x))))

    class Bloom(eqx.Module):
        word_embeddings: jax.Array
        embeddings_norm: Norm
        blocks: list
        final_norm: Norm

        def __init__(self, layers, width, heads, vocab, rank, alpha, key):
            first, *keys = jax.random.split(key, layers + 1)
            self.word_embeddings = jax.random.normal(first, (vocab, width)) * 0.02
            self.blocks = [Block(width, heads, rank, alpha, k) for k in keys]
            self.embeddings_norm, self.final_norm = Norm(width), Norm(width)
    return Bloom


def bloom_dora(layers, width, heads, vocab, rank, batch, length, alpha=16, usual=F32):
    """All in float32; only the pairs and lengths are partitioned off, have gradients and AdamW's state."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        now = compute_type(change, usual)
        model = eqx.filter_eval_shape(bloom_parts(), layers, width, heads, vocab, rank, alpha, jax.random.PRNGKey(0))
        shapes, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        is_trained = jax.tree_util.tree_map_with_path(lambda path, _: path[-1].name in TRAINED, shapes)
        trained, frozen = eqx.partition(shapes, is_trained)
        block = checkpointed(change, lambda p, rest, x, bias: jax.vmap(eqx.combine(cast(p, now), rest),
                                                                      (0, None))(x, bias))

        def loss_of(trained, frozen, tokens, counted):
            model = eqx.combine(trained, frozen)
            bias = alibi(heads, time)
            x = cast(model.embeddings_norm, now)(model.word_embeddings[tokens].astype(now))
            for p, rest in zip(model.blocks, static.blocks):
                x = block(p, rest, x, bias)
            logits = cast(model.final_norm, now)(x) @ model.word_embeddings.astype(now).T
            return token_loss(logits[:, :-1], tokens[:, 1:], counted[:, 1:].astype(F32))
        ids = arrays.batch((rows, time), jnp.int32)
        optimizer = optax.adamw(optax.linear_schedule(2e-4, 0.0, 2000), weight_decay=0.0)
        held = place(arrays, stored_as(frozen, change.stored))
        return optimized(arrays, change, trained, optimizer, loss_of, (ids, ids), (held,))
    return make
