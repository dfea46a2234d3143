"""Language models that nearly fill a chip, and one whose temporaries are mostly float32 logits and scores.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated): Qwen 2.5
tuned in flax linen (nn.scan), ModernBERT in flax nnx (unrolled), a small GPT-2 in equinox.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, trained_in_parts
from advice_structures import BF16, F32


def policy_of(change):
    return getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None


def turned(x, theta):
    """Rotary positions of [batch, time, heads, side], in float32."""
    rates = theta ** (-jnp.arange(0, x.shape[-1], 2, dtype=F32) / x.shape[-1])
    angles = jnp.einsum("t,d->td", jnp.arange(x.shape[1], dtype=F32), rates)[None, :, None]
    first, second = jnp.split(x.astype(F32), 2, -1)
    both = [first * jnp.cos(angles) - second * jnp.sin(angles), second * jnp.cos(angles) + first * jnp.sin(angles)]
    return jnp.concatenate(both, -1).astype(x.dtype)


# --- A decoder in nn.scan ---

def qwen(change, now, layers, width, heads, kv_heads, hidden, vocab):
    import flax.linen as nn
    side = width // heads

    def dense(size, name, bias=False):
        return nn.Dense(size, use_bias=bias, dtype=now, name=name)

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, mask):
            batch, time, _ = x.shape
            h = nn.RMSNorm(dtype=now, name="input_layernorm")(x)
            q = dense(width, "q_proj", True)(h).reshape(batch, time, heads, side)
            k, v = (dense(kv_heads * side, name, True)(h).reshape(batch, time, kv_heads, side)
                    for name in ("k_proj", "v_proj"))
            q, k = turned(q, 1e6), turned(k, 1e6)
            k, v = (jnp.repeat(one, heads // kv_heads, axis=2) for one in (k, v))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * side ** -0.5
            scores = jnp.where(mask, scores, jnp.finfo(now).min)
            probs = jax.nn.softmax(scores.astype(F32), -1).astype(now)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", probs, v).reshape(batch, time, width)
            x = x + dense(width, "o_proj")(mixed)
            h = nn.RMSNorm(dtype=now, name="post_attention_layernorm")(x)
            h = nn.silu(dense(hidden, "gate_proj")(h)) * dense(hidden, "up_proj")(h)
            return x + dense(width, "down_proj")(h), None

    Block = nn.remat(Layer, policy=policy_of(change), prevent_cse=False) if change.rematerialize else Layer

    class Model(nn.Module):
        @nn.compact
        def __call__(self, ids, attention_mask):
            embed = nn.Embed(vocab, width, dtype=now, name="embed_tokens")
            time = ids.shape[1]
            mask = jnp.tril(jnp.ones((time, time), bool)) & (attention_mask[:, None, None, :] > 0)
            scan = nn.scan(Block, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast,
                           length=layers)
            x, _ = scan(name="scanned_layers")(embed(ids), mask)
            return embed.attend(nn.RMSNorm(dtype=now, name="norm")(x))
    return Model()


def tuned_qwen(layers, width, heads, kv_heads, hidden, vocab, batch, length, kind=BF16):
    """Qwen 2.5 0.5B tuned on instructions, whole; the first moment is kept in bfloat16."""
    def make(arrays, change):
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        model = qwen(change, now, layers, width, heads, kv_heads, hidden, vocab)
        ones = jnp.ones((1, time), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), ones, ones)["params"]

        def loss_of(params, ids, attention_mask, labels):
            logits = model.apply({"params": params}, ids, attention_mask)[:, :-1]
            wanted = labels[:, 1:]
            return word_loss(logits, jnp.maximum(wanted, 0), (wanted >= 0).astype(F32))
        ids = arrays.batch((rows, time), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(warmed_up(1e-5), weight_decay=0.01, mu_dtype=BF16, mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids, ids, ids)
    return make


# --- An encoder, unrolled ---

def modern_bert(now, layers, width, heads, hidden, vocab, window, every):
    """Gated units, rotary positions; every third layer looks at all, the others at a window."""
    from flax import nnx
    side = width // heads

    class Layer(nnx.Module):
        def __init__(self, is_global, rngs):
            self.is_global = is_global

            def linear(rows, columns):
                return nnx.Linear(rows, columns, use_bias=False, dtype=now, rngs=rngs)
            self.attn_norm, self.mlp_norm = (nnx.LayerNorm(width, use_bias=False, dtype=now, rngs=rngs)
                                             for _ in range(2))
            self.wqkv, self.wo = linear(width, 3 * width), linear(width, width)
            self.wi, self.mlp_wo = linear(width, 2 * hidden), linear(hidden, width)

        def __call__(self, x, near, padding):
            batch, time, _ = x.shape
            qkv = self.wqkv(self.attn_norm(x)).reshape(batch, time, 3, heads, side)
            q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
            theta = 160000.0 if self.is_global else 10000.0
            scores = jnp.einsum("bqhd,bkhd->bhqk", turned(q, theta), turned(k, theta)) * side ** -0.5
            seen = padding if self.is_global else padding & near
            probs = jax.nn.softmax(jnp.where(seen, scores, jnp.finfo(now).min), -1)
            x = x + self.wo(jnp.einsum("bhqk,bkhd->bqhd", probs, v).reshape(batch, time, width))
            up, gate = jnp.split(self.wi(self.mlp_norm(x)), 2, -1)
            return x + self.mlp_wo(nnx.gelu(up) * gate)

    class Model(nnx.Module):
        def __init__(self, rngs):
            self.embed = nnx.Embed(vocab, width, dtype=now, rngs=rngs)
            self.embed_norm, self.final_norm, self.head_norm = (
                nnx.LayerNorm(width, use_bias=False, dtype=now, rngs=rngs) for _ in range(3))
            self.layers = nnx.List([Layer(i % every == 0, rngs) for i in range(layers)])
            self.head = nnx.Linear(width, width, dtype=now, rngs=rngs)
            self.bias = nnx.Param(jnp.zeros((vocab,)))

        def __call__(self, ids, attention_mask, run):
            at = jnp.arange(ids.shape[1])
            near = jnp.abs(at[:, None] - at[None]) <= window // 2
            padding = attention_mask[:, None, None, :] > 0
            x = self.embed_norm(self.embed(ids))
            for layer in self.layers:
                x = run(layer, x, near, padding)
            x = self.head_norm(nnx.gelu(self.head(self.final_norm(x))))
            return self.embed.attend(x) + self.bias[...].astype(now)
    return Model


def masked_bert(layers, width, heads, hidden, vocab, window, batch, length, every=3, kind=F32):
    def make(arrays, change):
        from flax import nnx
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)
        build = modern_bert(now, layers, width, heads, hidden, vocab, window, every)
        graph, shapes = nnx.split(nnx.eval_shape(lambda: build(nnx.Rngs(0))))

        def run(layer, x, near, padding):
            return layer(x, near, padding)
        block = nnx.remat(run, policy=policy_of(change)) if change.rematerialize else run

        def loss_of(params, ids, attention_mask, labels):
            logits = nnx.merge(graph, params)(ids, attention_mask, block)
            return word_loss(logits, jnp.maximum(labels, 0), (labels >= 0).astype(F32))
        ids = arrays.batch((rows, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(8e-4), ids, ids, ids)
    return make


# --- Logits and scores in float32 ---

def small_gpt(layers, width, heads, vocab, places):
    """Of equinox's layers, whose weights are [out, in]."""
    import equinox as eqx

    def each(layer, x):
        return jax.vmap(jax.vmap(layer))(x)

    class Block(eqx.Module):
        ln_1: eqx.nn.LayerNorm
        attn: eqx.nn.Linear
        proj: eqx.nn.Linear
        ln_2: eqx.nn.LayerNorm
        fc: eqx.nn.Linear
        out: eqx.nn.Linear

        def __init__(self, key):
            keys = jax.random.split(key, 4)
            self.ln_1, self.ln_2 = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)
            self.attn = eqx.nn.Linear(width, 3 * width, key=keys[0])
            self.proj = eqx.nn.Linear(width, width, key=keys[1])
            self.fc = eqx.nn.Linear(width, 4 * width, key=keys[2])
            self.out = eqx.nn.Linear(4 * width, width, key=keys[3])

        def __call__(self, x):
            batch, time, _ = x.shape
            q, k, v = (one.reshape(batch, time, heads, -1).transpose(0, 2, 1, 3)
                       for one in jnp.split(each(self.attn, each(self.ln_1, x)), 3, -1))
            scores = jnp.matmul(q, k.swapaxes(-1, -2), preferred_element_type=F32) / jnp.sqrt(width / heads)
            scores = jnp.where(jnp.tril(jnp.ones((time, time), bool)), scores, -1e9)
            mixed = jax.nn.softmax(scores, -1).astype(x.dtype) @ v
            x = x + each(self.proj, mixed.transpose(0, 2, 1, 3).reshape(x.shape))
            return x + each(self.out, jax.nn.gelu(each(self.fc, each(self.ln_2, x))))

    class Model(eqx.Module):
        wte: jax.Array
        wpe: jax.Array
        blocks: list
        ln_f: eqx.nn.LayerNorm

        def __init__(self, key):
            keys = jax.random.split(key, layers + 2)
            self.wte = 0.02 * jax.random.normal(keys[0], (vocab, width))
            self.wpe = 0.01 * jax.random.normal(keys[1], (places, width))
            self.blocks = [Block(one) for one in keys[2:]]
            self.ln_f = eqx.nn.LayerNorm(width)

        def __call__(self, ids, block):
            x = self.wte[ids] + self.wpe[:ids.shape[1]]
            for one in self.blocks:
                x = block(one, x)
            return jnp.einsum("btd,vd->btv", each(self.ln_f, x), self.wte, preferred_element_type=F32)
    return Model


def wide_logits(layers, width, heads, vocab, batch, length, kind=BF16):
    """GPT-2's small sister; loss with a penalty on the logarithm of the sum (z-loss), inputs and targets apart."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        model = eqx.filter_eval_shape(small_gpt(layers, width, heads, vocab, length), jax.random.key(0))
        shapes, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        block = maybe_checkpointed(change, lambda one, x: one(x))

        def loss_of(params, inputs, targets):
            logits = eqx.combine(as_kind(params, now), static)(inputs, block)
            norm = jax.nn.logsumexp(logits, axis=-1)
            said = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
            return jnp.mean(norm - said) + 1e-4 * jnp.mean(jnp.square(norm))
        ids = arrays.batch((rows, time), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
            warmed_up(6e-4), b2=0.95, weight_decay=0.1, mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids, ids)
    return make
