"""StableLM 2 of 1.6 billion weights, pretrained on one large card, in plain jax: nearly all its memory is used.

Parameters are a dictionary whose layers are stacked along the first axis and scanned. Rotary places on a quarter of
each head, LayerNorm without offsets, gated SiLU. Float32 weights are cast to bfloat16 in each product; AdamW with a
mask for weight decay, z-loss, gradients clipped. The state is donated.
"""
import functools

import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, updated
from advice_board_training import BF16, F32, abstract, cast, checkpoint_policy, compute_dtype, value_and_mean_grad


def param_shapes(n_layers, d_model, d_ff, vocab_size):
    block = {
        "attn_norm": (n_layers, d_model), "mlp_norm": (n_layers, d_model),
        "wq": (n_layers, d_model, d_model), "wk": (n_layers, d_model, d_model), "wv": (n_layers, d_model, d_model),
        "bq": (n_layers, d_model), "bk": (n_layers, d_model), "bv": (n_layers, d_model),
        "wo": (n_layers, d_model, d_model),
        "w_gate": (n_layers, d_model, d_ff), "w_up": (n_layers, d_model, d_ff), "w_down": (n_layers, d_ff, d_model),
    }
    return {"tok_embed": (vocab_size, d_model), "blocks": block, "out_norm": (d_model,),
            "unembed": (d_model, vocab_size)}


def norm(x, gain):
    h = x.astype(F32)
    mu = h.mean(-1, keepdims=True)
    var = jnp.square(h - mu).mean(-1, keepdims=True)
    return ((h - mu) * jax.lax.rsqrt(var + 1e-5) * gain.astype(F32)).astype(x.dtype)


def partial_rope(x, rot):
    t = x.shape[1]
    inv = 10_000.0 ** (-jnp.arange(0, rot, 2, dtype=F32) / rot)
    ang = jnp.einsum("t,f->tf", jnp.arange(t, dtype=F32), inv)
    ang = jnp.concatenate([ang, ang], -1)[None, :, None]
    r, rest = x[..., :rot], x[..., rot:]
    flipped = jnp.concatenate([-r[..., rot // 2:], r[..., :rot // 2]], -1)
    r = r * jnp.cos(ang).astype(x.dtype) + flipped * jnp.sin(ang).astype(x.dtype)
    return jnp.concatenate([r, rest], -1)


def attention(h, p, n_heads):
    b, t, d = h.shape
    dt = h.dtype

    def heads(w, bias):
        return (h @ w.astype(dt) + bias.astype(dt)).reshape(b, t, n_heads, d // n_heads)
    q, k, v = heads(p["wq"], p["bq"]), heads(p["wk"], p["bk"]), heads(p["wv"], p["bv"])
    rot = d // n_heads // 4
    q, k = partial_rope(q, rot), partial_rope(k, rot)
    scores = jnp.einsum("bqnh,bknh->bnqk", q, k, preferred_element_type=F32) / (d // n_heads) ** 0.5
    rows, cols = jnp.arange(t)[:, None], jnp.arange(t)[None]
    probs = jax.nn.softmax(jnp.where(cols <= rows, scores, -1e9), axis=-1)
    o = jnp.einsum("bnqk,bknh->bqnh", probs.astype(dt), v)
    return o.reshape(b, t, d) @ p["wo"].astype(dt)


def block(x, p, n_heads):
    x = x + attention(norm(x, p["attn_norm"]), p, n_heads)
    h = norm(x, p["mlp_norm"])
    gated = jax.nn.silu(h @ p["w_gate"].astype(h.dtype)) * (h @ p["w_up"].astype(h.dtype))
    return x + gated @ p["w_down"].astype(h.dtype), None


def forward(params, tokens, n_heads, dtype, change):
    x = params["tok_embed"][tokens].astype(dtype)
    body = functools.partial(block, n_heads=n_heads)
    if change.rematerialize:
        body = jax.checkpoint(body, policy=checkpoint_policy(change), prevent_cse=False)
    x, _ = jax.lax.scan(body, x, params["blocks"])
    return norm(x, params["out_norm"]) @ params["unembed"].astype(dtype)


def decay_mask(params):
    """The large matrices; layers are stacked, so that their gains have two axes."""
    return {"tok_embed": False, "blocks": {k: k.startswith("w") for k in params["blocks"]}, "out_norm": False,
            "unembed": True}


def stablelm(n_layers, d_model, d_ff, n_heads, vocab_size, batch, seq_len, z_coef=1e-4):
    def make(arrays, change):
        b, t = batch // change.batch_divisor, seq_len // change.length_divisor
        dtype = compute_dtype(change, BF16)
        params = cast(abstract(param_shapes(n_layers, d_model, d_ff, vocab_size)), change.stored)
        lr = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 2_000, 200_000, 1e-4)
        opt = optax.chain(optax.clip_by_global_norm(1.0),
                          optax.adamw(lr, b1=0.9, b2=0.95, eps=1e-8, weight_decay=0.1, mask=decay_mask))
        opt_state = jax.eval_shape(opt.init, params)

        def loss_fn(params, inputs, targets):
            logits = forward(params, inputs, n_heads, dtype, change).astype(F32)
            lse = jax.scipy.special.logsumexp(logits, axis=-1)
            picked = jnp.take_along_axis(logits, targets[..., None], axis=-1).squeeze(-1)
            return (lse - picked).mean() + z_coef * jnp.square(lse).mean()

        def train_step(params, opt_state, inputs, targets):
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(params, inputs, targets)
            gnorm = optax.global_norm(grads)
            params, opt_state = updated(opt, grads, opt_state, params)
            return params, opt_state, {"loss": loss, "gnorm": gnorm}

        stacks = {"blocks": 0}
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks),
                            arrays.batch((b, t), jnp.int32), arrays.batch((b, t), jnp.int32)), (0, 1)
    return make


FAMILY = {"cup_stablelm": dict(
    make=stablelm(n_layers=24, d_model=2048, d_ff=5632, n_heads=32, vocab_size=100_352, batch=4, seq_len=1024),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "rematerialize+micro_batch", "shard_parameters", "shard_all"))}
