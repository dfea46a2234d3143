"""Language models in usual sizes: steps with caches, gradients in parts, equal numbers, programs near the capacity.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
advice_typical_scenes.py has loops over time, pictures and adapters; advice_typical_families.py the sizes of all. They
were written without a look at the advice, its rules or any figure of it.
"""
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, placed, trained,
                                   warmed_up, word_loss)
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- What they share ---

def rms(x, scale):
    var = jnp.mean(jnp.square(x.astype(F32)), axis=-1, keepdims=True)
    return (x * jax.lax.rsqrt(var + 1e-6).astype(x.dtype)) * scale


def standardized(x, p):
    mean = x.astype(F32).mean(-1, keepdims=True)
    var = jnp.square(x.astype(F32) - mean).mean(-1, keepdims=True)
    return ((x.astype(F32) - mean) * jax.lax.rsqrt(var + 1e-5)).astype(x.dtype) * p["scale"] + p["bias"]


def sinusoids(positions, side):
    """Sines and cosines, [positions, side / 2]."""
    angles = jnp.asarray(positions, F32)[..., None] / 10000 ** (jnp.arange(0, side, 2) / side)
    return jnp.sin(angles), jnp.cos(angles)


def rotated(x, table):
    """[batch, heads, length, side]: neighbours are turned as pairs."""
    sin, cos = (t.astype(x.dtype) for t in table)
    even, odd = x[..., ::2], x[..., 1::2]
    return jnp.stack([even * cos - odd * sin, odd * cos + even * sin], axis=-1).reshape(x.shape)


def split_heads(x, count):
    """[batch, length, width] -> [batch, heads, length, side]."""
    return x.reshape(*x.shape[:2], count, -1).swapaxes(1, 2)


def merge_heads(x):
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def masked_attention(q, k, v):
    """[batch, heads, length, side]; a bias rather than a choice hides what comes later."""
    length = q.shape[2]
    bias = jnp.triu(jnp.full((length, length), -1e9, F32), 1)
    scores = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    return jax.nn.softmax(scores.astype(F32) + bias).astype(v.dtype) @ v


# --- Steps of decoding ---

def ring_attention(p, cache, x, t, n_heads, n_kv):
    """The oldest place of the ring is overwritten: keys are kept as they were turned."""
    window, side = cache["v"].shape[2:]
    table = sinusoids(t, side)
    q = rotated((x @ p["q"]).reshape(-1, n_kv, n_heads // n_kv, side), table)
    k = rotated((x @ p["k"]).reshape(-1, n_kv, 1, side), table)
    v = (x @ p["v"]).reshape(-1, n_kv, 1, side)
    slot = t % window
    keys = jax.lax.dynamic_update_slice(cache["k"], k.astype(cache["k"].dtype), (0, 0, slot, 0))
    values = jax.lax.dynamic_update_slice(cache["v"], v.astype(cache["v"].dtype), (0, 0, slot, 0))
    scores = (q @ keys.swapaxes(-1, -2).astype(q.dtype)).astype(F32) * side ** -0.5
    scores = jnp.where(jnp.arange(window) <= t, scores, -1e30)  # all of them once the ring is full
    mixed = jax.nn.softmax(scores).astype(x.dtype) @ values.astype(x.dtype)
    return mixed.reshape(x.shape[0], -1) @ p["o"], {"k": keys, "v": values}


def ring_caches(depth, width, n_heads, n_kv, hidden, vocab, batch, window, kind=BF16):
    """Mistral's step: a dictionary of caches by layer, each a ring as long as the window."""
    side = width // n_heads
    matrices = {"q": (width, width), "k": (width, n_kv * side), "v": (width, n_kv * side), "o": (width, width),
                "gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}

    def make(arrays, change):
        names = [f"layer_{i:02d}" for i in range(depth)]
        rows = batch // change.batch_divisor
        shape = rows, n_kv, window // change.length_divisor, side
        params = {name: {m: arrays.parameter(s) for m, s in matrices.items()} for name in names}
        for name in names:
            params[name] |= {norm: arrays.parameter((width,), None) for norm in ("norm_in", "norm_mlp")}
        params |= {"embed": arrays.parameter((vocab, width)), "norm": arrays.parameter((width,), None),
                   "unembed": arrays.parameter((width, vocab))}
        one = arrays.array(shape, BF16, 0 if change.shard == "all" else None)

        def step(params, cache, tokens, t):
            p, new = as_kind(params, computed(change, kind)), {}
            x = p["embed"][tokens]
            for name in names:
                layer = p[name]
                y, new[name] = ring_attention(layer, cache[name], rms(x, layer["norm_in"]), t, n_heads, n_kv)
                x = x + y
                y = rms(x, layer["norm_mlp"])
                x = x + (jax.nn.silu(y @ layer["gate"]) * (y @ layer["up"])) @ layer["down"]
            logits = (rms(x, p["norm"]) @ p["unembed"]).astype(F32)
            return logits.argmax(-1).astype(jnp.int32), new
        caches = {name: {"k": one, "v": one} for name in names}
        return step, (params, caches, arrays.batch((rows,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


class Weights(NamedTuple):
    wte: Any
    wpe: Any
    scanned: Any
    ln_f: Any


class Caches(NamedTuple):
    keys: Any
    values: Any


def fori_block(p, x, caches, layer, pos):
    """One layer whose caches lie within those of all: [layers, batch, heads, time, side]."""
    h = standardized(x, p["ln"])
    q, k, v = jnp.einsum("be,ehcd->cbhd", h, p["qkv"])
    at = layer, 0, 0, pos, 0
    caches = Caches(*(jax.lax.dynamic_update_slice(whole, new[None, :, :, None].astype(whole.dtype), at)
                      for whole, new in zip(caches, (k, v))))
    keys, values = (jax.lax.dynamic_index_in_dim(whole, layer, keepdims=False).astype(x.dtype) for whole in caches)
    att = jnp.einsum("bhd,bhtd->bht", q, keys).astype(F32) / np.sqrt(q.shape[-1])
    att = jax.nn.softmax(jnp.where(jnp.arange(keys.shape[2]) <= pos, att, -jnp.inf)).astype(x.dtype)
    y = jnp.einsum("bht,bhtd,hde->be", att, values, p["out"])
    return x + y + jnp.einsum("bf,fe->be", jax.nn.gelu(jnp.einsum("be,ef->bf", h, p["fc"])), p["proj"]), caches


def fori_caches(n_layer, emb, heads, ff, vocab, batch, max_len, kind=BF16):
    """A fori_loop over layers that carries the stacked caches; attention and what follows it are side by side."""
    def make(arrays, change):
        side, rows, room = emb // heads, batch // change.batch_divisor, max_len // change.length_divisor
        stack = {"qkv": (n_layer, emb, heads, 3, side), "out": (n_layer, heads, side, emb), "fc": (n_layer, emb, ff),
                 "proj": (n_layer, ff, emb), "ln": {"scale": (n_layer, emb), "bias": (n_layer, emb)}}
        shapes = shaped(wte=(vocab, emb), wpe=(room, emb), scanned=stack, ln_f={"scale": (emb,), "bias": (emb,)})
        cache = arrays.array((n_layer, rows, heads, room, side), BF16, 1 if change.shard == "all" else None)

        def sample_step(weights, caches, token, pos):
            w = as_kind(weights, computed(change, kind))

            def body(i, carry):
                layer = jax.tree.map(lambda stacked: jax.lax.dynamic_index_in_dim(stacked, i, keepdims=False),
                                     w.scanned)
                return fori_block(layer, *carry, i, pos)
            x, caches = jax.lax.fori_loop(0, n_layer, body, (w.wte[token] + w.wpe[pos], caches))
            logits = jnp.einsum("be,ve->bv", standardized(x, w.ln_f), w.wte).astype(F32)
            return jax.lax.top_k(logits, 40), caches
        weights = placed(arrays, Weights(**as_kind(shapes, change.stored)))
        arguments = weights, Caches(cache, cache), arrays.batch((rows,), jnp.int32), arrays.array((), jnp.int32)
        return sample_step, arguments, (1,)
    return make


# --- Gradients in parts ---

def listed_modules(n_layers, n_heads, dim, mlp_dim, vocab_size, context):
    """A GPT of equinox for one sequence, its blocks in a list."""
    import equinox as eqx

    class Block(eqx.Module):
        norms: list
        attn: eqx.nn.MultiheadAttention
        mlp: list

        def __init__(self, key):
            a, b, c = jax.random.split(key, 3)
            self.norms = [eqx.nn.LayerNorm(dim), eqx.nn.LayerNorm(dim)]
            self.attn = eqx.nn.MultiheadAttention(n_heads, dim, key=a)
            self.mlp = [eqx.nn.Linear(dim, mlp_dim, key=b), eqx.nn.Linear(mlp_dim, dim, key=c)]

        def __call__(self, x):
            h = jax.vmap(self.norms[0])(x)
            x = x + self.attn(h, h, h, mask=jnp.tril(jnp.ones((x.shape[0], x.shape[0]), bool)))
            h = jax.vmap(self.mlp[0])(jax.vmap(self.norms[1])(x))
            return x + jax.vmap(self.mlp[1])(jax.nn.gelu(h))

    class GPT(eqx.Module):
        token: eqx.nn.Embedding
        position: eqx.nn.Embedding
        blocks: list
        norm: eqx.nn.LayerNorm
        head: eqx.nn.Linear

        def __init__(self, key):
            a, b, c, *keys = jax.random.split(key, n_layers + 3)
            self.token, self.position = eqx.nn.Embedding(vocab_size, dim, key=a), eqx.nn.Embedding(context, dim, key=b)
            self.blocks = [Block(one) for one in keys]
            self.norm = eqx.nn.LayerNorm(dim)
            self.head = eqx.nn.Linear(dim, vocab_size, use_bias=False, key=c)
    return GPT


def module_logits(model, ids, change):
    import equinox as eqx
    def mapped(block, x):
        return jax.vmap(block)(x)
    x = model.token.weight[ids] + model.position.weight[:ids.shape[1]]
    for block in model.blocks:
        x = eqx.filter_checkpoint(mapped)(block, x) if change.rematerialize else mapped(block, x)
    return jax.vmap(jax.vmap(lambda one: model.head(model.norm(one))))(x)


def microstep_modules(n_layers, n_heads, dim, mlp_dim, vocab_size, steps, batch, length, kind=BF16):
    """A scan over tokens [steps, batch, length] carries gradients and loss; the model is one of equinox."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        context = length // change.length_divisor
        whole = eqx.filter_eval_shape(listed_modules(n_layers, n_heads, dim, mlp_dim, vocab_size, context),
                                      jax.random.key(0))
        shapes, static = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        params = as_kind(shapes, change.stored)
        optim = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-4, weight_decay=0.01))

        @jax.value_and_grad
        def loss_and_grad(params, ids):
            model = eqx.combine(as_kind(params, computed(change, kind)), static)
            return next_word_loss(module_logits(model, ids, change), ids)

        def update(params, opt_state, tokens):
            def microstep(carry, ids):
                return jax.tree.map(jnp.add, carry, loss_and_grad(params, ids)), None
            start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            (loss, grads), _ = jax.lax.scan(microstep, start, tokens)
            grads = jax.tree.map(lambda g: g / steps, grads)
            updates, opt_state = optim.update(grads, opt_state, params)
            return eqx.apply_updates(params, updates), opt_state, loss / steps
        state = jax.eval_shape(optim.init, params)
        tokens = arrays.array((steps, batch // change.batch_divisor, context), jnp.int32,
                              1 if change.shard == "all" else None)
        return update, (placed(arrays, params), placed(arrays, state), tokens), (0, 1)
    return make


def masked_words(change, layers, features, heads, hidden, vocab, length, kind):
    """An encoder of linen whose norms come first; what it says is scored by its own embedding."""
    from flax import linen as nn
    options = {"dtype": computed(change, kind)}

    class EncoderLayer(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            h = nn.LayerNorm(name="ln_attention", **options)(x)
            x = x + nn.MultiHeadDotProductAttention(heads, name="attention", **options)(h, mask=mask)
            h = nn.Dense(hidden, name="wi", **options)(nn.LayerNorm(name="ln_mlp", **options)(x))
            return x + nn.Dense(features, name="wo", **options)(nn.gelu(h))

    class Encoder(nn.Module):
        @nn.compact
        def __call__(self, ids, valid):
            table = nn.Embed(vocab, features, name="word_embeddings", **options)
            positions = self.param("position_embeddings", nn.initializers.normal(0.02), (length, features))
            x = table(ids) + positions.astype(options["dtype"])
            mask = nn.make_attention_mask(valid, valid)
            layer = nn.remat(EncoderLayer) if change.rematerialize else EncoderLayer
            for i in range(layers):
                x = layer(name=f"encoder_{i}")(x, mask)
            x = nn.gelu(nn.Dense(features, name="transform", **options)(x))
            return table.attend(nn.LayerNorm(name="ln_final", **options)(x))
    return Encoder()


def multi_steps(layers, features, heads, hidden, vocab, batch, length, every=4, kind=F32):
    """optax.MultiSteps: each call adds to the gradients in its state, and one in so many moves the parameters."""
    def make(arrays, change):
        import optax
        seq = length // change.length_divisor
        model = masked_words(change, layers, features, heads, hidden, vocab, seq, kind)
        rows = jnp.zeros((1, seq), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), rows, rows)["params"]

        def loss_of(params, ids, valid, labels):
            logits = model.apply({"params": params}, ids, valid)
            return word_loss(logits, jnp.maximum(labels, 0), (labels >= 0).astype(F32))
        optimizer = optax.MultiSteps(optax.adamw(warmed_up(1e-4), weight_decay=0.01, mask=matrices_only), every)
        ids = arrays.batch((batch // change.batch_divisor, seq), jnp.int32)
        return trained(arrays, change, shapes, loss_of, optimizer, ids, ids, ids)
    return make


# --- Equal numbers ---

def pair_of_experts(p, x, experts, capacity):
    """Top 2 of GShard: a token's second choice finds room behind all first ones."""
    gates = jax.nn.softmax(jnp.einsum("gsm,me->gse", x, p["router"]).astype(F32))
    values, chosen = jax.lax.top_k(gates, 2)
    values = values / values.sum(-1, keepdims=True)
    masks = jax.nn.one_hot(chosen, experts)
    combine, before = 0.0, 0.0
    for i in range(2):
        mask = masks[:, :, i]
        place = jnp.cumsum(mask, axis=1) - 1 + before
        before = before + mask.sum(1, keepdims=True)
        kept = mask * (place < capacity)
        at = jax.nn.one_hot((place * kept).sum(-1).astype(jnp.int32), capacity)
        combine = combine + jnp.einsum("gs,gse,gsc->gsec", values[..., i], kept, at)
    dispatch = (combine > 0).astype(x.dtype)
    h = jax.nn.relu(jnp.einsum("egcm,emf->egcf", jnp.einsum("gsec,gsm->egcm", dispatch, x), p["wi"]))
    out = jnp.einsum("egcf,efm->egcm", h, p["wo"])
    aux = experts * jnp.mean(gates.mean(1) * masks[:, :, 0].mean(1))
    return jnp.einsum("gsec,egcm->gsm", combine.astype(x.dtype), out), aux


def even_experts(depth, count, model, hidden, vocab, length, kind=BF16):
    """As many sequences as heads as experts; every layer has experts, and their balance is in the loss."""
    layer = {"attn": {name: (model, model) for name in ("query", "key", "value", "out")}, "norm1": (model,),
             "norm2": (model,),
             "moe": {"router": (model, count), "wi": (count, model, hidden), "wo": (count, hidden, model)}}

    def block(p, x):
        h = rms(x, p["norm1"])
        q, k, v = (split_heads(h @ p["attn"][name], count) for name in ("query", "key", "value"))
        table = sinusoids(jnp.arange(x.shape[1]), model // count)
        x = x + merge_heads(masked_attention(rotated(q, table), rotated(k, table), v)) @ p["attn"]["out"]
        y, aux = pair_of_experts(p["moe"], rms(x, p["norm2"]), count, 5 * x.shape[1] // (2 * count))
        return x + y, aux

    def make(arrays, change):
        shapes = shaped(embedding=(vocab, model), final_norm=(model,),
                        **{f"block{i}": layer for i in range(depth)})

        def loss_fn(params, inputs):
            p, total = as_kind(params, computed(change, kind)), 0.0
            x = p["embedding"][inputs]
            for i in range(depth):
                x, aux = maybe_checkpointed(change, block)(p[f"block{i}"], x)
                total += aux
            return next_word_loss(rms(x, p["final_norm"]) @ p["embedding"].T, inputs) + 0.01 * total
        inputs = arrays.batch((count // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, clipped_adamw(2e-4), inputs)
    return make


def dozen_shapes(n, emb):
    return {"c_attn": (n, emb, 3 * emb), "c_proj": (n, emb, emb), "c_fc": (n, emb, 4 * emb),
            "mlp_proj": (n, 4 * emb, emb), "ln_1": {"scale": (n, emb), "bias": (n, emb)},
            "ln_2": {"scale": (n, emb), "bias": (n, emb)}}


def dozen(n, emb, vocab, length, kind=BF16):
    """GPT-2 whose layers, heads and sequences are as many as each other, in one scan."""
    def layer(x, p):
        q, k, v = (split_heads(t, n) for t in jnp.split(standardized(x, p["ln_1"]) @ p["c_attn"], 3, -1))
        x = x + merge_heads(masked_attention(q, k, v)) @ p["c_proj"]
        return x + jax.nn.gelu(standardized(x, p["ln_2"]) @ p["c_fc"]) @ p["mlp_proj"], None

    def make(arrays, change):
        seq = length // change.length_divisor
        shapes = shaped(wte=(vocab, emb), wpe=(seq, emb), scanned=dozen_shapes(n, emb),
                        ln_f={"scale": (emb,), "bias": (emb,)})

        def loss_of(params, x, y):
            p = as_kind(params, computed(change, kind))
            h, _ = jax.lax.scan(maybe_checkpointed(change, layer), p["wte"][x] + p["wpe"], p["scanned"])
            return word_loss(standardized(h, p["ln_f"]) @ p["wte"].T, y)
        x = arrays.batch((n // change.batch_divisor, seq), jnp.int32)
        return trained(arrays, change, shapes, loss_of, clipped_adamw(6e-4), x, x)
    return make


# --- Nearly as much as the chip has ---

def full_modules(change, layers, width, heads, hidden, vocab, kind):
    """A decoder of linen without biases, its gate and its other half in one matrix."""
    from flax import linen as nn
    options = {"dtype": computed(change, kind)}
    dense = functools.partial(nn.Dense, use_bias=False, **options)

    class DecoderLayer(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.RMSNorm(name="input_layernorm", **options)(x)
            q, k, v = (split_heads(dense(width, name=f"{name}_proj")(h), heads) for name in "qkv")
            table = sinusoids(jnp.arange(x.shape[1]), width // heads)
            h = merge_heads(masked_attention(rotated(q, table), rotated(k, table), v))
            x = x + dense(width, name="o_proj")(h)
            h = nn.RMSNorm(name="post_attention_layernorm", **options)(x)
            gate, up = jnp.split(dense(2 * hidden, name="gate_up_proj")(h), 2, axis=-1)
            return x + dense(width, name="down_proj")(nn.silu(gate) * up)

    class Decoder(nn.Module):
        @nn.compact
        def __call__(self, ids):
            x = nn.Embed(vocab, width, name="embed_tokens", **options)(ids)
            layer = nn.remat(DecoderLayer) if change.rematerialize else DecoderLayer
            for i in range(layers):
                x = layer(name=f"layers_{i}")(x)
            return dense(vocab, name="lm_head")(nn.RMSNorm(name="norm", **options)(x))
    return Decoder()


def brimming_modules(layers, width, heads, hidden, vocab, batch, length, kind=BF16):
    """Layers written out."""
    def make(arrays, change):
        import optax
        model = full_modules(change, layers, width, heads, hidden, vocab, kind)
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, 16), jnp.int32))["params"]

        def loss_of(params, ids):
            return next_word_loss(model.apply({"params": params}, ids), ids)
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adamw(warmed_up(4e-4), b2=0.98))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids)
    return make


def brimming_scan(num_layers, d, h, f, v, b, s, kind=BF16):
    """Layers in one scan, with a dimension of their own for heads and for the three of them; momentum alone."""
    stack = {"wqkv": (num_layers, d, 3, h, d // h), "wo": (num_layers, h, d // h, d), "w1": (num_layers, d, f),
             "w2": (num_layers, f, d), "b1": (num_layers, f), "g1": (num_layers, d), "g2": (num_layers, d)}

    def body(x, w):
        q, k, val = jnp.einsum("bsd,dthk->tbhsk", rms(x, w["g1"]), w["wqkv"])
        x = x + jnp.einsum("bhsk,hkd->bsd", masked_attention(q, k, val), w["wo"])
        inner = jax.nn.relu(jnp.einsum("bsd,df->bsf", rms(x, w["g2"]), w["w1"]) + w["b1"])
        return x + jnp.einsum("bsf,fd->bsd", inner * inner, w["w2"]), None

    def make(arrays, change):
        import optax
        seq = s // change.length_divisor
        shapes = shaped(E=(v, d), P=(seq, d), U=(d, v), scanned=stack, G=(d,))

        def loss_of(w, toks):
            w = as_kind(w, computed(change, kind))
            x, _ = jax.lax.scan(maybe_checkpointed(change, body), w["E"][toks] + w["P"], w["scanned"])
            return next_word_loss(jnp.einsum("bsd,dv->bsv", rms(x, w["G"]), w["U"]), toks)
        toks = arrays.batch((b // change.batch_divisor, seq), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(warmed_up(1e-4), weight_decay=0.1))
        return trained(arrays, change, shapes, loss_of, optimizer, toks)
    return make
