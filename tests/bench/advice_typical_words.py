"""Programs of words, in usual sizes: unusual attention, mixed precision, models of transformers.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). Written by
somebody who had seen neither the rules nor any figure of the advice.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import (as_kind, computed, matrices_only, model_of, placed, random_key, trained,
                                   warmed_up)
from advice_fresh import graded, maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


def rms(x, weight, eps=1e-5):
    y = x.astype(jnp.float32)
    y = y / jnp.sqrt((y ** 2).mean(-1, keepdims=True) + eps)
    return weight * y.astype(x.dtype)


def rope(x, positions, theta=10000.0):
    """Interleaved pairs, as the paper has them; x is [..., time, heads, side]."""
    side = x.shape[-1]
    freqs = 1.0 / theta ** (jnp.arange(0, side, 2) / side)
    angle = positions[:, None, None] * freqs
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    even, odd = x[..., ::2], x[..., 1::2]
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


def cross_entropy(logits, labels):
    logp = jax.nn.log_softmax(logits.astype(jnp.float32), axis=-1)
    return -jnp.take_along_axis(logp, labels[..., None], axis=-1).mean()


# --- An encoder and a decoder, in linen ---

def nmt_modules(change, now, d_model, heads, d_ff):
    """Encoder and decoder layers, post-norm; keys and values of one DenseGeneral; biases by distance."""
    from flax import linen as nn
    side = d_model // heads

    class Attend(nn.Module):
        @nn.compact
        def __call__(self, x, memory, bias):
            q = nn.DenseGeneral((heads, side), dtype=now, name="query")(x)
            kv = nn.DenseGeneral((2, heads, side), dtype=now, name="key_value")(memory)
            logits = jnp.einsum("...qhd,...khd->...hqk", q * side ** -0.5, kv[..., 0, :, :])
            probs = nn.softmax((logits + bias).astype(F32), axis=-1).astype(now)
            out = jnp.einsum("...hqk,...khd->...qhd", probs, kv[..., 1, :, :])
            return nn.DenseGeneral(d_model, axis=(-2, -1), dtype=now, name="output")(out)

    class Ffn(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(d_model, dtype=now)(nn.relu(nn.Dense(d_ff, dtype=now)(x)))

    class EncoderLayer(nn.Module):
        @nn.compact
        def __call__(self, x, bias):
            x = nn.LayerNorm(dtype=now)(x + Attend(name="self_attention")(x, x, bias))
            return nn.LayerNorm(dtype=now)(x + Ffn(name="ffn")(x))

    class DecoderLayer(nn.Module):
        @nn.compact
        def __call__(self, x, memory, causal, padding):
            x = nn.LayerNorm(dtype=now)(x + Attend(name="self_attention")(x, x, causal))
            x = nn.LayerNorm(dtype=now)(x + Attend(name="cross_attention")(x, memory, padding))
            return nn.LayerNorm(dtype=now)(x + Ffn(name="ffn")(x))
    return (nn.remat(EncoderLayer), nn.remat(DecoderLayer)) if change.rematerialize else (EncoderLayer, DecoderLayer)


def neural_translation(layers, d_model, heads, d_ff, vocab, batch, src_len, tgt_len, kind=BF16):
    """Translation, one table for both languages and the head; biases by distance are shared by the layers."""
    def make(arrays, change):
        import optax
        from flax import linen as nn
        now = computed(change, kind)
        encoder_layer, decoder_layer = nmt_modules(change, now, d_model, heads, d_ff)

        class Translator(nn.Module):
            @nn.compact
            def __call__(self, src, tgt):
                embed = nn.Embed(vocab, d_model, dtype=now, name="shared_embedding")
                far = self.param("far", nn.initializers.normal(0.02), (2, heads, 64)).astype(now)

                def by_distance(table, length):
                    at = jnp.arange(length)
                    return table[:, jnp.clip(jnp.abs(at[:, None] - at[None]), 0, 63)]
                padding = jnp.where(src > 0, 0.0, -1e9).astype(now)[:, None, None, :]
                memory = embed(src)
                for i in range(layers):
                    memory = encoder_layer(name=f"encoder_{i}")(memory, by_distance(far[0], src.shape[1]) + padding)
                hidden = nn.make_causal_mask(tgt, dtype=bool)
                causal = jnp.where(hidden, by_distance(far[1], tgt.shape[1]), jnp.asarray(-1e9, now))
                y = embed(tgt)
                for i in range(layers):
                    y = decoder_layer(name=f"decoder_{i}")(y, memory, causal, padding)
                return embed.attend(y).astype(F32)

        model, size = Translator(), batch // change.batch_divisor
        src = arrays.batch((size, src_len // change.length_divisor), jnp.int32)
        tgt = arrays.batch((size, tgt_len // change.length_divisor), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), *(jnp.zeros((1, 8), jnp.int32),) * 2)["params"]

        def loss_fn(params, src, tgt):
            logits = model.apply({"params": params}, src, jnp.pad(tgt, ((0, 0), (1, 0)))[:, :-1])
            soft = optax.smooth_labels(jax.nn.one_hot(tgt, vocab, dtype=now), 0.1)
            losses = optax.softmax_cross_entropy(logits, soft)
            return (losses * (tgt > 0)).sum() / (tgt > 0).sum()
        return trained(arrays, change, shapes, loss_fn, optax.adam(1e-3, b2=0.98, eps=1e-9), src, tgt)
    return make


# --- Windows and one key head, in one scan ---

def banded_single_key(layers, dim, n_heads, ffn, vocab, batch, seq, window, kind=BF16):
    """Multi-query attention within a window: queries by chunks, each looks at its own chunk and the one before."""
    head_dim = dim // n_heads

    def chunked(x):
        return x.reshape(x.shape[0], -1, window, *x.shape[2:])

    def with_previous(x):
        return jnp.concatenate([jnp.pad(x, ((0, 0), (1, 0)) + ((0, 0),) * (x.ndim - 2))[:, :-1], x], 2)

    def make(arrays, change):
        b, t = batch // change.batch_divisor, seq // change.length_divisor
        stack = {"ln": (layers, dim), "wqkv": (layers, dim, dim + 2 * head_dim), "wo": (layers, dim, dim),
                 "ln2": (layers, dim), "w_in": (layers, dim, ffn), "w_out": (layers, ffn, dim)}
        shapes = shaped(embed=(vocab, dim), final_ln=(dim,), layer_stack=stack)

        def attention(w, x):
            qkv = x @ w["wqkv"]
            q = qkv[..., :dim].reshape(*x.shape[:2], n_heads, head_dim)
            k, v = qkv[..., dim:dim + head_dim], qkv[..., dim + head_dim:]
            pos = jnp.arange(x.shape[1], dtype=F32)
            q, k = rope(q, pos), rope(k[:, :, None], pos)[:, :, 0]
            q, k, v = chunked(q), with_previous(chunked(k)), with_previous(chunked(v))
            s = jnp.einsum("bcqhd,bckd->bchqk", q, k) * head_dim ** -0.5
            i, j = jnp.arange(window)[:, None] + window, jnp.arange(2 * window)[None]
            ok = (j <= i) & (i - j < window)
            first = ok & (j >= window)
            ok = jnp.where((jnp.arange(s.shape[1]) == 0)[:, None, None], first, ok)[:, None]
            p = jax.nn.softmax(jnp.where(ok, s.astype(F32), -jnp.inf), -1).astype(x.dtype)
            return jnp.einsum("bchqk,bckd->bcqhd", p, v).reshape(x.shape) @ w["wo"]

        def layer(w, x):
            x = x + attention(w, rms(x, w["ln"]))
            return x + jax.nn.gelu(rms(x, w["ln2"]) @ w["w_in"], approximate=True) @ w["w_out"]

        def loss_fn(params, tokens, labels):
            params = as_kind(params, computed(change, kind))
            x = params["embed"][tokens] * dim ** 0.5
            body = maybe_checkpointed(change, layer)
            x, _ = jax.lax.scan(lambda x, w: (body(w, x), None), x, params["layer_stack"])
            return cross_entropy(rms(x, params["final_ln"]) @ params["embed"].T, labels)
        tokens = arrays.batch((b, t), jnp.int32)
        import optax
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(2e-4, b2=0.95, weight_decay=0.1))
        return trained_in_parts(arrays, change, shapes, loss_fn, optimizer, tokens, tokens)
    return make


# --- Scores and logits in float32, the rest in bfloat16 ---

def parallel_pythia(layers, dim, n_heads, vocab, batch, seq, kind=BF16):
    """Like GPT-NeoX: attention and MLP side by side, a quarter of each head is turned; own Adam of float32 moments."""
    hd = dim // n_heads
    turn = hd // 4

    def ln(p, x):
        y = x.astype(F32)
        y = jax.nn.standardize(y, axis=-1, epsilon=1e-5)
        return (y * p["scale"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)

    def make(arrays, change):
        norm = {"scale": (dim,), "bias": (dim,)}
        layer = {"input_ln": norm, "post_ln": norm, "qkv": (dim, 3 * dim), "qkv_b": (3 * dim,), "proj": (dim, dim),
                 "proj_b": (dim,), "fc": (dim, 4 * dim), "fc_b": (4 * dim,), "out": (4 * dim, dim), "out_b": (dim,)}
        shapes = shaped(embed_in=(vocab, dim), embed_out=(dim, vocab), final_ln=norm)
        shapes["layers"] = [shaped(**layer) for _ in range(layers)]
        t = seq // change.length_divisor

        def block(p, x):
            h = ln(p["input_ln"], x)
            qkv = (h @ p["qkv"] + p["qkv_b"]).reshape(*x.shape[:2], n_heads, 3 * hd)
            q, k, v = jnp.split(qkv, 3, axis=-1)
            pos = jnp.arange(x.shape[1], dtype=F32)
            q, k = (jnp.concatenate([rope(y[..., :turn], pos), y[..., turn:]], -1) for y in (q, k))
            scores = jnp.einsum("bthd,bshd->bhts", q, k, preferred_element_type=F32) / hd ** 0.5
            mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
            probs = jax.nn.softmax(jnp.where(mask, scores, jnp.finfo(F32).min), axis=-1)
            mixed = jnp.einsum("bhts,bshd->bthd", probs.astype(x.dtype), v).reshape(x.shape)
            wide = jax.nn.gelu(ln(p["post_ln"], x) @ p["fc"] + p["fc_b"])
            return x + (mixed @ p["proj"] + p["proj_b"]) + (wide @ p["out"] + p["out_b"])

        def loss_fn(params, ids):
            p = as_kind(params, computed(change, kind))
            x = p["embed_in"][ids[:, :-1]]
            for one in p["layers"]:
                x = maybe_checkpointed(change, block)(one, x)
            logits = jnp.einsum("btd,dv->btv", ln(p["final_ln"], x), p["embed_out"], preferred_element_type=F32)
            z = jax.nn.logsumexp(logits, -1)
            gold = jnp.take_along_axis(logits, ids[:, 1:, None], -1)[..., 0]
            return jnp.mean(z - gold) + 1e-4 * jnp.mean(z ** 2)
        ids = arrays.batch((batch // change.batch_divisor, t + 1), jnp.int32)
        return own_adam(arrays, change, shapes, loss_fn, ids)
    return make


def own_adam(arrays, change, shapes, loss_fn, *batch):
    """Adam by hand: moments are float32 whatever the parameters are, a counter, decoupled decay."""
    params = as_kind(shapes, change.stored)
    moments = {"mu": as_kind(shapes, F32), "nu": as_kind(shapes, F32)}

    def update(params, moments, count, *batch):
        loss, grads = graded(loss_fn, change.parts)(params, *batch)
        count = count + 1
        mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g.astype(F32), moments["mu"], grads)
        nu = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * jnp.square(g.astype(F32)), moments["nu"], grads)
        c1, c2 = 1 - 0.9 ** count.astype(F32), 1 - 0.95 ** count.astype(F32)

        def apply(p, m, v):
            p32 = p.astype(F32)
            return (p32 - 3e-4 * ((m / c1) / (jnp.sqrt(v / c2) + 1e-8) + 0.1 * p32)).astype(p.dtype)
        return jax.tree.map(apply, params, mu, nu), {"mu": mu, "nu": nu}, count, loss
    arguments = placed(arrays, params), placed(arrays, moments), arrays.array((), jnp.int32), *batch
    return update, arguments, (0, 1, 2)


# --- All of it in float32, in equinox ---

def equinox_lm(layers, dim, n_heads, vocab, batch, seq, kind=F32):
    """A small language model of equinox: a vmap over rows, MultiheadAttention, learned places."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        t = seq // change.length_divisor
        wrap = eqx.filter_checkpoint if change.rematerialize else lambda f: f

        class Block(eqx.Module):
            norm1: eqx.nn.LayerNorm
            attention: eqx.nn.MultiheadAttention
            norm2: eqx.nn.LayerNorm
            up: eqx.nn.Linear
            down: eqx.nn.Linear

            def __init__(self, key):
                a, b, c = jax.random.split(key, 3)
                self.norm1, self.norm2 = eqx.nn.LayerNorm(dim), eqx.nn.LayerNorm(dim)
                self.attention = eqx.nn.MultiheadAttention(n_heads, dim, key=a)
                self.up, self.down = eqx.nn.Linear(dim, 4 * dim, key=b), eqx.nn.Linear(4 * dim, dim, key=c)

            def __call__(self, x, mask):
                h = jax.vmap(self.norm1)(x)
                x = x + self.attention(h, h, h, mask)
                return x + jax.vmap(lambda r: self.down(jax.nn.gelu(self.up(self.norm2(r)))))(x)

        class Model(eqx.Module):
            wte: eqx.nn.Embedding
            wpe: eqx.nn.Embedding
            blocks: list
            norm: eqx.nn.LayerNorm
            head: eqx.nn.Linear

            def __init__(self, key):
                a, b, c, d = jax.random.split(key, 4)
                self.wte, self.wpe = eqx.nn.Embedding(vocab, dim, key=a), eqx.nn.Embedding(seq, dim, key=b)
                self.blocks = [Block(k) for k in jax.random.split(c, layers)]
                self.norm, self.head = eqx.nn.LayerNorm(dim), eqx.nn.Linear(dim, vocab, use_bias=False, key=d)

            def __call__(self, ids):
                x = jax.vmap(self.wte)(ids) + self.wpe.weight[:ids.shape[0]]
                mask = jnp.tril(jnp.ones((ids.shape[0],) * 2, bool))
                for block in self.blocks:
                    x = wrap(block)(x, mask)
                return jax.vmap(lambda r: self.head(self.norm(r)))(x)

        shapes, static = eqx.partition(eqx.filter_eval_shape(Model, jax.random.key(0)),
                                       lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

        def loss_fn(params, x, y):
            model = eqx.combine(as_kind(params, computed(change, kind)), static)
            return cross_entropy(jax.vmap(model)(x), y)
        ids = arrays.batch((batch // change.batch_divisor, t), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_fn, optax.adamw(3e-4), ids, ids)
    return make


# --- Models of transformers ---

def bert_pretraining(config, batch, seq, predictions, kind=F32):
    """BERT with both of its heads: words at masked places, which sentence is next; LAMB."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxBertForPreTraining", kind, config)
        b = batch // change.batch_divisor
        rows, masked = (arrays.batch((b, n), jnp.int32) for n in (seq, predictions))

        def loss_fn(params, ids, segments, mask, places, words, follows, key):
            out = model(ids, mask, segments, params=params, dropout_rng=key, train=True)
            logits = jnp.take_along_axis(out.prediction_logits, places[..., None], axis=1)
            losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), words)
            known = (words > 0).astype(F32)
            order = optax.softmax_cross_entropy_with_integer_labels(out.seq_relationship_logits.astype(F32), follows)
            return (losses * known).sum() / (known.sum() + 1e-5) + order.mean()
        optimizer = optax.lamb(warmed_up(1.75e-3), weight_decay=0.01, mask=matrices_only)
        return trained(arrays, change, model.params_shape_tree, loss_fn, optimizer, rows, rows, rows, masked, masked,
                       arrays.batch((b,), jnp.int32), random_key(arrays))
    return make


def pegasus_summaries(config, batch, src, tgt, kind=BF16):
    """Pegasus, from articles to summaries, by Adafactor with momentum."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxPegasusForConditionalGeneration", kind, config, "FlaxPegasusEncoderLayer",
                         "FlaxPegasusDecoderLayer")
        b, div = batch // change.batch_divisor, change.length_divisor
        sources, targets = (arrays.batch((b, n // div), jnp.int32) for n in (src, tgt))

        def loss_fn(params, ids, mask, targets, key):
            before = jnp.concatenate([jnp.zeros_like(targets[:, :1]), targets[:, :-1]], 1)
            logits = model(ids, mask, before, params=params, dropout_rng=key, train=True).logits
            losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), targets)
            return (losses * (targets != 0)).sum() / (targets != 0).sum()
        optimizer = optax.adafactor(1e-3, momentum=0.9, multiply_by_parameter_scale=True)
        return trained(arrays, change, model.params_shape_tree, loss_fn, optimizer, sources, sources, targets,
                       random_key(arrays))
    return make
