"""Kinds of language models that other lists have few of: caches, accumulation, equal numbers, LoRA, nearly full chips.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
advice_kinds_scenes.py has loops over time, pictures and adapters; advice_kinds_families.py the sizes of all. They were
written without a look at the advice, its rules or any figure of it.
"""
import functools
import math

import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, clipped_adamw, computed, matrices_only, next_word_loss, placed, random_key,
                                   trained, warmed_up)
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- What they share ---

def rmsnorm(x, weight, eps=1e-5):
    y = x.astype(F32)
    y = y * jax.lax.rsqrt((y ** 2).mean(-1, keepdims=True) + eps)
    return y.astype(x.dtype) * weight


def layernorm(x, g, b):
    y = x.astype(F32)
    y = (y - y.mean(-1, keepdims=True)) / jnp.sqrt(y.var(-1, keepdims=True) + 1e-5)
    return y.astype(x.dtype) * g + b


def rope(x, positions):
    """[..., heads, side], turned by positions that broadcast to what is before the heads."""
    half = x.shape[-1] // 2
    freqs = 10000.0 ** (-jnp.arange(half) / half)
    angles = jnp.asarray(positions)[..., None, None] * freqs
    sin, cos = jnp.sin(angles).astype(x.dtype), jnp.cos(angles).astype(x.dtype)
    x1, x2 = x[..., :half], x[..., half:]
    return jnp.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1)


def causal_attention(q, k, v):
    """[batch, length, heads, side]."""
    seq = q.shape[1]
    logits = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(q.shape[-1])
    logits = jnp.where(jnp.tril(jnp.ones((seq, seq), bool)), logits.astype(F32), -jnp.inf)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(logits, axis=-1).astype(v.dtype), v)


def accumulated(arrays, change, shapes, loss_of, optimizer, tokens, *rest):
    """tokens [steps, batch, length]: gradients of the steps are summed in float32 before anything moves."""
    import optax
    params = as_kind(shapes, change.stored)
    opt_state = jax.eval_shape(optimizer.init, params)

    def train_step(params, opt_state, tokens, *rest):
        def micro_step(grads_sum, ids):
            loss, grads = jax.value_and_grad(loss_of)(params, ids, *rest)
            return jax.tree.map(lambda a, g: a + g.astype(F32), grads_sum, grads), loss
        zeros = jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params)
        grads, losses = jax.lax.scan(micro_step, zeros, tokens)
        grads = jax.tree.map(lambda g, p: (g / tokens.shape[0]).astype(p.dtype), grads, params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, losses.mean()
    return train_step, (placed(arrays, params), placed(arrays, opt_state), tokens, *rest), (0, 1)


def tokens_in_steps(arrays, change, steps, batch, length):
    shape = steps, batch // change.batch_divisor, length // change.length_divisor
    return arrays.array(shape, jnp.int32, 1 if change.shard == "all" else None)


# --- Steps of decoding ---

def cached_lists(n_layers, dim, n_heads, n_kv_heads, ffn_dim, vocab_size, batch, max_seq_len, kind=BF16):
    """Llama's step: a list with the keys and values of each layer, fewer heads of keys than of queries."""
    head_dim = dim // n_heads

    def layer(arrays):
        shapes = {"wq": (dim, dim), "wk": (dim, n_kv_heads * head_dim), "wv": (dim, n_kv_heads * head_dim),
                  "wo": (dim, dim), "w1": (dim, ffn_dim), "w2": (ffn_dim, dim), "w3": (dim, ffn_dim)}
        made = {name: arrays.parameter(shape) for name, shape in shapes.items()}
        return made | {"attn_norm": arrays.parameter((dim,), None), "ffn_norm": arrays.parameter((dim,), None)}

    def attention(p, x, cache, pos):
        bsz = x.shape[0]
        q = rope((x @ p["wq"]).reshape(bsz, n_heads, head_dim), pos)
        k = rope((x @ p["wk"]).reshape(bsz, n_kv_heads, head_dim), pos)
        v = (x @ p["wv"]).reshape(bsz, n_kv_heads, head_dim)
        keys = jax.lax.dynamic_update_slice_in_dim(cache[0], k[:, None].astype(cache[0].dtype), pos, axis=1)
        values = jax.lax.dynamic_update_slice_in_dim(cache[1], v[:, None].astype(cache[1].dtype), pos, axis=1)
        q = q.reshape(bsz, n_kv_heads, n_heads // n_kv_heads, head_dim)
        scores = jnp.einsum("bgqd,bsgd->bgqs", q, keys.astype(x.dtype)) / math.sqrt(head_dim)
        scores = jnp.where(jnp.arange(keys.shape[1]) <= pos, scores.astype(F32), -jnp.inf)
        out = jnp.einsum("bgqs,bsgd->bgqd", jax.nn.softmax(scores, axis=-1).astype(x.dtype), values.astype(x.dtype))
        return out.reshape(bsz, dim) @ p["wo"], (keys, values)

    def make(arrays, change):
        bsz, room = batch // change.batch_divisor, max_seq_len // change.length_divisor
        params = {"tok_embeddings": arrays.parameter((vocab_size, dim)),
                  "layers": [layer(arrays) for _ in range(n_layers)],
                  "norm": arrays.parameter((dim,), None), "output": arrays.parameter((dim, vocab_size))}
        kv = arrays.array((bsz, room, n_kv_heads, head_dim), BF16, 0 if change.shard == "all" else None)

        def decode_step(params, caches, token, pos):
            params = as_kind(params, computed(change, kind))
            x, new_caches = params["tok_embeddings"][token], []
            for p, cache in zip(params["layers"], caches):
                h, cache = attention(p, rmsnorm(x, p["attn_norm"]), cache, pos)
                x = x + h
                h = rmsnorm(x, p["ffn_norm"])
                x = x + (jax.nn.silu(h @ p["w1"]) * (h @ p["w3"])) @ p["w2"]
                new_caches.append(cache)
            logits = (rmsnorm(x, params["norm"]) @ params["output"]).astype(F32)
            return jnp.argmax(logits, -1), new_caches
        arguments = params, [(kv, kv)] * n_layers, arrays.batch((bsz,), jnp.int32), arrays.array((), jnp.int32)
        return decode_step, arguments, (1,)
    return make


def decoding_modules(n_layer, n_embd, n_head, n_inner, vocab):
    """A GPT of equinox for one sequence of a batch, its layers in one stacked module."""
    import equinox as eqx

    class Layer(eqx.Module):
        ln_1: eqx.nn.LayerNorm
        ln_2: eqx.nn.LayerNorm
        qkv: eqx.nn.Linear
        proj: eqx.nn.Linear
        fc_in: eqx.nn.Linear
        fc_out: eqx.nn.Linear

        def __init__(self, key):
            keys = jax.random.split(key, 4)
            self.ln_1, self.ln_2 = eqx.nn.LayerNorm(n_embd), eqx.nn.LayerNorm(n_embd)
            self.qkv = eqx.nn.Linear(n_embd, 3 * n_embd, key=keys[0])
            self.proj = eqx.nn.Linear(n_embd, n_embd, key=keys[1])
            self.fc_in = eqx.nn.Linear(n_embd, n_inner, key=keys[2])
            self.fc_out = eqx.nn.Linear(n_inner, n_embd, key=keys[3])

        def __call__(self, x, cache, index):
            q, k, v = self.qkv(self.ln_1(x)).reshape(3, n_head, -1)
            cache = cache.at[:, :, index].set(jnp.stack([k, v]).astype(cache.dtype))
            keys, values = cache.astype(x.dtype)
            logits = jnp.einsum("hd,htd->ht", q, keys).astype(F32) / math.sqrt(q.shape[-1])
            logits = jnp.where(jnp.arange(keys.shape[1]) <= index, logits, -1e9)
            x = x + self.proj(jnp.einsum("ht,htd->hd", jax.nn.softmax(logits).astype(x.dtype), values).reshape(-1))
            return x + self.fc_out(jax.nn.gelu(self.fc_in(self.ln_2(x)))), cache

    class Decoder(eqx.Module):
        wte: jax.Array
        wpe: jax.Array
        scanned: Layer
        ln_f: eqx.nn.LayerNorm

        def __init__(self, room, key):
            self.wte, self.wpe = jax.random.normal(key, (vocab, n_embd)), jax.random.normal(key, (room, n_embd))
            self.scanned = eqx.filter_vmap(Layer)(jax.random.split(key, n_layer))
            self.ln_f = eqx.nn.LayerNorm(n_embd)
    return Decoder


def scanned_caches(n_layer, n_embd, n_head, n_inner, vocab, batch, window, kind=BF16):
    """A scan over layers and their caches, [layers, batch, 2, heads, window, side], whose outputs are the new ones."""
    def make(arrays, change):
        import equinox as eqx
        size, room = batch // change.batch_divisor, window // change.length_divisor
        decoder = decoding_modules(n_layer, n_embd, n_head, n_inner, vocab)
        whole = eqx.filter_eval_shape(decoder, room, jax.random.key(0))
        shapes, static = eqx.partition(whole, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        caches = arrays.array((n_layer, size, 2, n_head, room, n_embd // n_head), BF16,
                              1 if change.shard == "all" else None)

        def generate_one(params, caches, token, index):
            model = eqx.combine(as_kind(params, computed(change, kind)), static)
            weights, rest = eqx.partition(model.scanned, eqx.is_array)

            def body(x, both):
                return jax.vmap(eqx.combine(both[0], rest), (0, 0, None))(x, both[1], index)
            x, caches = jax.lax.scan(body, model.wte[token] + model.wpe[index], (weights, caches))
            return (jax.vmap(model.ln_f)(x) @ model.wte.T).astype(F32), caches
        params = placed(arrays, as_kind(shapes, change.stored))
        return generate_one, (params, caches, arrays.batch((size,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


# --- Gradients of several steps ---

def stacked_shapes(layers, emb, heads, side, mlp):
    """Of layers in one scan, with a dimension of their own for heads."""
    one = {"query": (emb, heads, side), "key": (emb, heads, side), "value": (emb, heads, side),
           "out": (heads, side, emb), "wi_0": (emb, mlp), "wi_1": (emb, mlp), "wo": (mlp, emb),
           "pre_attention": (emb,), "pre_mlp": (emb,)}
    return {name: (layers, *shape) for name, shape in one.items()}


def scanned_body(p, x):
    y = rmsnorm(x, p["pre_attention"])
    q, k, v = (jnp.einsum("bld,dhk->blhk", y, p[name]) for name in ("query", "key", "value"))
    positions = jnp.arange(x.shape[1])
    x = x + jnp.einsum("blhk,hkd->bld", causal_attention(rope(q, positions), rope(k, positions), v), p["out"])
    y = rmsnorm(x, p["pre_mlp"])
    y = jax.nn.gelu(jnp.einsum("bld,df->blf", y, p["wi_0"])) * jnp.einsum("bld,df->blf", y, p["wi_1"])
    return x + jnp.einsum("blf,fd->bld", y, p["wo"])


def scanned_loss(change, kind, params, ids):
    p = as_kind(params, computed(change, kind))
    body = maybe_checkpointed(change, scanned_body)
    x, _ = jax.lax.scan(lambda x, layer: (body(layer, x), None), p["token_embedder"][ids], p["scanned"])
    return next_word_loss(jnp.einsum("bld,vd->blv", rmsnorm(x, p["decoder_norm"]), p["token_embedder"]), ids)


def summed_in_scans(layers, emb, heads, mlp, vocab, steps, batch, length, kind=BF16):
    """Steps of accumulation in an outer scan, layers in an inner one, as T5's and MaxText's names have them."""
    def make(arrays, change):
        shapes = shaped(token_embedder=(vocab, emb), decoder_norm=(emb,),
                        scanned=stacked_shapes(layers, emb, heads, emb // heads, mlp))
        return accumulated(arrays, change, shapes, functools.partial(scanned_loss, change, kind), clipped_adamw(),
                           tokens_in_steps(arrays, change, steps, batch, length))
    return make


def summed_haiku(layers, d_model, num_heads, widening, vocab, steps, batch, length, kind=BF16):
    """Steps in a scan around a haiku transformer whose layers are written out; dropout; Lion."""
    def make(arrays, change):
        import haiku as hk
        import optax
        seq = length // change.length_divisor

        def norm(x):
            return hk.LayerNorm(-1, create_scale=True, create_offset=True)(x)

        def block(x):
            h = norm(x)
            q, k, v = (hk.Linear(d_model, name=name)(h).reshape(*h.shape[:2], num_heads, -1) for name in "qkv")
            h = hk.Linear(d_model, name="attn_out")(causal_attention(q, k, v).reshape(x.shape))
            x = x + hk.dropout(hk.next_rng_key(), 0.1, h)
            return x + hk.Linear(d_model)(jax.nn.gelu(hk.Linear(widening * d_model)(norm(x))))

        def forward(ids):
            embeddings = hk.Embed(vocab, d_model)
            x = embeddings(ids)
            x = x + hk.get_parameter("pos_embs", (seq, d_model), x.dtype, init=jnp.zeros)
            for _ in range(layers):
                x = (hk.remat(block) if change.rematerialize else block)(x)
            return hk.Linear(vocab, with_bias=False, name="lm_head")(norm(x))

        net = hk.transform(forward)
        shapes = jax.eval_shape(net.init, jax.random.key(0), jnp.zeros((1, seq), jnp.int32))

        def loss_of(params, ids, key):
            return next_word_loss(net.apply(as_kind(params, computed(change, kind)), key, ids), ids)
        return accumulated(arrays, change, shapes, loss_of, optax.lion(warmed_up(1e-4), weight_decay=0.3),
                           tokens_in_steps(arrays, change, steps, batch, length), random_key(arrays))
    return make


# --- Equal numbers ---

def choosing_experts(change, layers, number, features, hidden, vocab, kind):
    """A decoder of linen whose experts choose their tokens; as many heads as experts."""
    from flax import linen as nn
    kinds = {"dtype": computed(change, kind)}

    class Experts(nn.Module):
        @nn.compact
        def __call__(self, x):
            init = nn.initializers.lecun_normal()
            up = self.param("w_up", init, (number, features, hidden)).astype(x.dtype)
            down = self.param("w_down", init, (number, hidden, features)).astype(x.dtype)
            gates = nn.softmax(nn.Dense(number, use_bias=False, name="router", **kinds)(x).astype(F32))
            weights, chosen = jax.lax.top_k(gates.swapaxes(1, 2), 2 * x.shape[1] // number)
            sent = jax.nn.one_hot(chosen, x.shape[1], dtype=x.dtype)
            inside = jnp.einsum("becs,bsd->becd", sent, x)
            inside = nn.gelu(jnp.einsum("becd,edf->becf", inside, up))
            outside = jnp.einsum("becf,efd->becd", inside, down) * weights[..., None].astype(x.dtype)
            return jnp.einsum("becs,becd->bsd", sent, outside)

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.LayerNorm(**kinds)(x)
            mask = nn.make_causal_mask(x[..., 0])
            x = x + nn.MultiHeadDotProductAttention(number, name="attn", **kinds)(h, mask=mask)
            return x + Experts(name="moe")(nn.LayerNorm(**kinds)(x))

    class Decoder(nn.Module):
        @nn.compact
        def __call__(self, ids):
            policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
            block = nn.remat(Block, policy=policy) if change.rematerialize else Block
            x = nn.Embed(vocab, features, name="embed", **kinds)(ids)
            for i in range(layers):
                x = block(name=f"block_{i}")(x)
            return nn.Dense(vocab, use_bias=False, name="lm_head", **kinds)(nn.LayerNorm(**kinds)(x))
    return Decoder()


def same_numbers(layers, number, features, hidden, vocab, length, kind=BF16):
    """As many examples as heads as experts."""
    def make(arrays, change):
        import optax
        model = choosing_experts(change, layers, number, features, hidden, vocab, kind)
        ids = arrays.batch((number // change.batch_divisor, length // change.length_divisor), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, length), jnp.int32))["params"]

        def loss_of(params, ids):
            return next_word_loss(model.apply({"params": params}, ids), ids)
        optimizer = optax.adamw(warmed_up(2e-4), mask=matrices_only)
        return trained(arrays, change, shapes, loss_of, optimizer, ids)
    return make


def same_everywhere(number, side, mlp, vocab, length, kind=BF16):
    """As many layers as heads as steps of accumulation as examples in each."""
    return summed_in_scans(number, number * side, number, mlp, vocab, number, number, length, kind)


# --- Low rank ---

def lora_layer(p, a, x, n_heads, scale):
    """One layer whose queries and values have a product of two thin matrices added; p is frozen."""
    def adapted(h, name):
        return h @ p[name] + (h @ a[name]["a"]) @ a[name]["b"] * scale
    h = rmsnorm(x, p["input_norm"])
    q, k, v = (t.reshape(*x.shape[:2], n_heads, -1)
               for t in (adapted(h, "q_proj"), h @ p["k_proj"], adapted(h, "v_proj")))
    positions = jnp.arange(x.shape[1])
    x = x + causal_attention(rope(q, positions), rope(k, positions), v).reshape(x.shape) @ p["o_proj"]
    h = rmsnorm(x, p["post_norm"])
    return x + (jax.nn.silu(h @ p["gate_proj"]) * (h @ p["up_proj"])) @ p["down_proj"]


def thin_and_frozen(n_layers, hidden, n_heads, inner, vocab, rank, batch, length, kind=BF16):
    """LoRA beside weights that are frozen in bf16 whatever the thin ones are stored in."""
    base = {"q_proj": (hidden, hidden), "k_proj": (hidden, hidden), "v_proj": (hidden, hidden),
            "o_proj": (hidden, hidden), "gate_proj": (hidden, inner), "up_proj": (hidden, inner),
            "down_proj": (inner, hidden), "input_norm": (hidden,), "post_norm": (hidden,)}
    thin = {name: {"a": (hidden, rank), "b": (rank, hidden)} for name in ("q_proj", "v_proj")}

    def make(arrays, change):
        import optax
        frozen = as_kind(shaped(embed=(vocab, hidden), norm=(hidden,), lm_head=(hidden, vocab),
                                **{f"layer_{i}": base for i in range(n_layers)}), BF16)
        adapters = shaped(**{f"layer_{i}": thin for i in range(n_layers)})
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        layer = maybe_checkpointed(change, functools.partial(lora_layer, n_heads=n_heads, scale=16 / rank))

        def loss_of(adapters, frozen, ids):
            adapters = as_kind(adapters, computed(change, kind))
            x = frozen["embed"][ids].astype(computed(change, kind))
            for i in range(n_layers):
                x = layer(frozen[f"layer_{i}"], adapters[f"layer_{i}"], x)
            return next_word_loss(rmsnorm(x, frozen["norm"]) @ frozen["lm_head"], ids)
        return trained(arrays, change, adapters, loss_of, optax.adamw(warmed_up(2e-4), weight_decay=0.0),
                       placed(arrays, frozen), ids)
    return make


# --- Nearly as much as the chip has ---

def gpt_layer(p, x, n_head):
    qkv = layernorm(x, p["ln1_g"], p["ln1_b"]) @ p["c_attn"] + p["c_attn_b"]
    q, k, v = (t.reshape(*x.shape[:2], n_head, -1) for t in jnp.split(qkv, 3, axis=-1))
    x = x + causal_attention(q, k, v).reshape(x.shape) @ p["c_proj"] + p["c_proj_b"]
    h = jax.nn.gelu(layernorm(x, p["ln2_g"], p["ln2_b"]) @ p["c_fc"] + p["c_fc_b"])
    return x + h @ p["mlp_proj"] + p["mlp_proj_b"]


def gpt_shapes(d, ff):
    vectors = {name: (d,) for name in ("ln1_g", "ln1_b", "ln2_g", "ln2_b", "c_proj_b", "mlp_proj_b")}
    return vectors | {"c_attn": (d, 3 * d), "c_attn_b": (3 * d,), "c_proj": (d, d), "c_fc": (d, ff), "c_fc_b": (ff,),
                      "mlp_proj": (ff, d)}


def nearly_full(n_layer, n_embd, n_head, n_ff, vocab, batch, block_size, scanned=False, kind=BF16):
    """nanoGPT in functions, its layers written out or in a scan."""
    def make(arrays, change):
        one, seq = gpt_shapes(n_embd, n_ff), block_size // change.length_divisor
        if scanned:
            layers = {"scanned": {name: (n_layer, *shape) for name, shape in one.items()}}
        else:
            layers = {f"h{i}": one for i in range(n_layer)}
        shapes = shaped(wte=(vocab, n_embd), wpe=(seq, n_embd), lnf_g=(n_embd,), lnf_b=(n_embd,), **layers)
        layer = maybe_checkpointed(change, functools.partial(gpt_layer, n_head=n_head))

        def loss_fn(params, tokens):
            p = as_kind(params, computed(change, kind))
            x = p["wte"][tokens[:, :-1]] + p["wpe"]
            if scanned:
                x = jax.lax.scan(lambda x, one: (layer(one, x), None), x, p["scanned"])[0]
            for i in range(0 if scanned else n_layer):
                x = layer(p[f"h{i}"], x)
            logits = (layernorm(x, p["lnf_g"], p["lnf_b"]) @ p["wte"].T).astype(F32)
            logp = jax.nn.log_softmax(logits, axis=-1)
            return -jnp.take_along_axis(logp, tokens[:, 1:, None], axis=-1).mean()
        tokens = arrays.batch((batch // change.batch_divisor, seq + 1), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, clipped_adamw(6e-4), tokens)
    return make
