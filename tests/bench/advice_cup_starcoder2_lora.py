"""StarCoder2 of three billion weights, tuned to one company's code by low-rank adapters, in equinox.

The base model stays as it is in bfloat16; adapters of rank 16 stand beside every projection of attention and of the
MLP, in float32. Blocks are made under filter_vmap and run in a scan. Only the adapters have gradients and moments.
"""
import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, updated
from advice_board_training import BF16, F32, cast, checkpoint_policy, compute_dtype, value_and_mean_grad


class LoraLinear(eqx.Module):
    weight: jax.Array
    bias: jax.Array
    lora_a: jax.Array
    lora_b: jax.Array
    scale: float = eqx.field(static=True)

    def __init__(self, n_in, n_out, rank, alpha, key):
        k1, k2 = jax.random.split(key)
        self.weight = jax.random.normal(k1, (n_in, n_out)) * 0.018
        self.bias = jnp.zeros(n_out)
        self.lora_a = jax.random.normal(k2, (n_in, rank)) / n_in ** 0.5
        self.lora_b = jnp.zeros((rank, n_out))
        self.scale = alpha / rank

    def __call__(self, x):
        base = x @ self.weight.astype(x.dtype) + self.bias.astype(x.dtype)
        return base + self.scale * ((x @ self.lora_a.astype(x.dtype)) @ self.lora_b.astype(x.dtype))


class LayerNorm(eqx.Module):
    weight: jax.Array
    bias: jax.Array

    def __init__(self, size):
        self.weight, self.bias = jnp.ones(size), jnp.zeros(size)

    def __call__(self, x):
        h = x.astype(F32)
        h = (h - h.mean(-1, keepdims=True)) * jax.lax.rsqrt(h.var(-1, keepdims=True) + 1e-5)
        return (h * self.weight.astype(F32) + self.bias.astype(F32)).astype(x.dtype)


def apply_rope(x, cos, sin):
    x1, x2 = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([x1 * cos - x2 * sin, x2 * cos + x1 * sin], axis=-1)


class Block(eqx.Module):
    input_layernorm: LayerNorm
    post_attention_layernorm: LayerNorm
    q_proj: LoraLinear
    k_proj: LoraLinear
    v_proj: LoraLinear
    o_proj: LoraLinear
    c_fc: LoraLinear
    c_proj: LoraLinear
    head_dim: int = eqx.field(static=True)

    def __init__(self, cfg, key):
        d, hd, ff, r, al = cfg["d"], cfg["d"] // cfg["heads"], cfg["ff"], cfg["rank"], cfg["alpha"]
        ks = jax.random.split(key, 6)
        self.head_dim = hd
        self.input_layernorm, self.post_attention_layernorm = LayerNorm(d), LayerNorm(d)
        self.q_proj = LoraLinear(d, cfg["heads"] * hd, r, al, ks[0])
        self.k_proj = LoraLinear(d, cfg["kv_heads"] * hd, r, al, ks[1])
        self.v_proj = LoraLinear(d, cfg["kv_heads"] * hd, r, al, ks[2])
        self.o_proj = LoraLinear(cfg["heads"] * hd, d, r, al, ks[3])
        self.c_fc, self.c_proj = LoraLinear(d, ff, r, al, ks[4]), LoraLinear(ff, d, r, al, ks[5])

    def __call__(self, x, cos, sin, mask):
        B, T, _ = x.shape
        h = self.input_layernorm(x)
        q = apply_rope(self.q_proj(h).reshape(B, T, -1, self.head_dim), cos, sin)
        k = apply_rope(self.k_proj(h).reshape(B, T, -1, self.head_dim), cos, sin)
        v = self.v_proj(h).reshape(B, T, -1, self.head_dim)
        q = q.reshape(B, T, k.shape[2], -1, self.head_dim)
        att = jnp.einsum("btkgd,bskd->bkgts", q, k).astype(F32) * self.head_dim ** -0.5
        att = jax.nn.softmax(jnp.where(mask, att, -1e30), axis=-1).astype(x.dtype)
        y = jnp.einsum("bkgts,bskd->btkgd", att, v).reshape(B, T, -1)
        x = x + self.o_proj(y)
        return x + self.c_proj(jax.nn.gelu(self.c_fc(self.post_attention_layernorm(x)), approximate=True))


class StarCoder2(eqx.Module):
    embed_tokens: jax.Array
    blocks: Block
    norm: LayerNorm

    def __init__(self, cfg, key):
        k1, k2 = jax.random.split(key)
        self.embed_tokens = jax.random.normal(k1, (cfg["vocab"], cfg["d"])) * 0.018
        self.blocks = eqx.filter_vmap(lambda k: Block(cfg, k))(jax.random.split(k2, cfg["layers"]))
        self.norm = LayerNorm(cfg["d"])

    def __call__(self, tokens, dtype, change):
        T, hd = tokens.shape[1], self.blocks.head_dim
        inv = 1.0 / 1e5 ** (jnp.arange(0, hd, 2) / hd)
        ang = jnp.outer(jnp.arange(T), inv)[None, :, None, :]
        cos, sin = jnp.cos(ang).astype(dtype), jnp.sin(ang).astype(dtype)
        mask = jnp.tril(jnp.ones((T, T), bool))

        def body(x, block):
            return block(x, cos, sin, mask), None
        if change.rematerialize:
            body = jax.checkpoint(body, policy=checkpoint_policy(change), prevent_cse=False)
        x = self.embed_tokens[tokens].astype(dtype)
        x, _ = jax.lax.scan(body, x, self.blocks)
        return self.norm(x) @ self.embed_tokens.astype(dtype).T


def is_adapter(path, _):
    return any(getattr(k, "name", "") in ("lora_a", "lora_b") for k in path)


def starcoder2_lora(batch, length, **cfg):
    def make(arrays, change):
        B, T = batch // change.batch_divisor, length // change.length_divisor
        dtype = compute_dtype(change, BF16)
        model = eqx.filter_eval_shape(StarCoder2, cfg, jax.random.key(0))
        spec = jax.tree_util.tree_map_with_path(is_adapter, model)
        lora = cast(jax.tree.map(lambda a, s: a if s else None, model, spec), change.stored)
        frozen = cast(jax.tree.map(lambda a, s: None if s else a, model, spec), BF16)
        tx = optax.chain(optax.clip_by_global_norm(1.0),
                         optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 2e-4, 100, 4000), weight_decay=0.01))
        opt_state = jax.eval_shape(tx.init, lora)

        def step(lora, opt_state, frozen, tokens, loss_mask):
            def loss_fn(lora, tokens, loss_mask):
                logits = eqx.combine(lora, frozen)(tokens[:, :-1], dtype, change).astype(F32)
                ce = optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:])
                m = loss_mask[:, 1:].astype(F32)
                return (ce * m).sum() / jnp.maximum(m.sum(), 1.0)
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(lora, tokens, loss_mask)
            lora, opt_state = updated(tx, grads, opt_state, lora)
            return lora, opt_state, {"loss": loss, "grad_norm": optax.global_norm(grads)}

        stacks = {"blocks": 0}
        return step, (laid_out(arrays, lora, stacks), laid_out(arrays, opt_state, stacks),
                      laid_out(arrays, frozen, stacks), arrays.batch((B, T + 1), jnp.int32),
                      arrays.batch((B, T + 1), jnp.bool_)), (0, 1)
    return make


FAMILY = {"cup_starcoder2_lora": dict(
    make=starcoder2_lora(batch=4, length=1024, layers=30, d=3072, heads=24, kv_heads=2, ff=12288, vocab=49152, rank=16,
                         alpha=32.0),
    is_donated=True,
    variants=("bf16_parameters", "halve_batch", "halve_sequence", "micro_batch", "rematerialize",
              "rematerialize+halve_batch", "rematerialize_dots", "shard_parameters", "shard_all"))}
