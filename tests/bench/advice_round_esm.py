"""ESM-2 (650M) fills in masked residues of proteins.

Plain pytrees, layers stacked and scanned, einsum, rotary places, norms before. Masking (15 %, of which 80/10/10) is
done in the step with a key; embeddings are scaled for the masked share, as ESM does. Weights and AdamW in float32,
computation in bfloat16, softmax and losses in float32.
"""
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, raw_key, summed_slopes, updated
from advice_board_training import BF16, F32, abstract, cast, compute_dtype, cross_entropy, maybe_checkpoint

VOCAB, PAD, MASK, FIRST, LAST = 33, 1, 32, 4, 24
STACKED = {"layers": 0}


def shapes_of(layers, width, heads, hidden):
    head = width // heads

    def stacked(*shape):
        return (layers, *shape)

    def norm():
        return {"scale": stacked(width), "bias": stacked(width)}
    return {
        "embed": (VOCAB, width),
        "layers": {
            "attn_norm": norm(),
            "qkv": {"w": stacked(width, 3, heads, head), "b": stacked(3, heads, head)},
            "out": {"w": stacked(heads, head, width), "b": stacked(width)},
            "mlp_norm": norm(),
            "up": {"w": stacked(width, hidden), "b": stacked(hidden)},
            "down": {"w": stacked(hidden, width), "b": stacked(width)},
        },
        "final_norm": {"scale": (width,), "bias": (width,)},
        "lm_head": {"dense": {"w": (width, width), "b": (width,)},
                    "norm": {"scale": (width,), "bias": (width,)}, "bias": (VOCAB,)},
    }


def layer_norm(p, x, eps=1e-5):
    x32 = x.astype(F32)
    mean = x32.mean(-1, keepdims=True)
    var = jnp.square(x32 - mean).mean(-1, keepdims=True)
    y = (x32 - mean) * jax.lax.rsqrt(var + eps)
    return (y * p["scale"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def rotary_tables(length, head):
    frequencies = 1.0 / 10_000 ** (jnp.arange(0, head, 2) / head)
    angles = jnp.outer(jnp.arange(length), frequencies)
    angles = jnp.concatenate([angles, angles], axis=-1)[None, :, None, :]
    return jnp.cos(angles), jnp.sin(angles)


def rotate(x, cos, sin):
    a, b = jnp.split(x, 2, axis=-1)
    return x * cos.astype(x.dtype) + jnp.concatenate([-b, a], axis=-1) * sin.astype(x.dtype)


def encoder_layer(p, x, bias, cos, sin):
    with jax.named_scope("attention"):
        y = layer_norm(p["attn_norm"], x)
        qkv = jnp.einsum("bld,dchk->cblhk", y, p["qkv"]["w"]) + p["qkv"]["b"][:, None, None]
        q, k, v = qkv[0], qkv[1], qkv[2]
        q, k = rotate(q * q.shape[-1] ** -0.5, cos, sin), rotate(k, cos, sin)
        logits = jnp.einsum("bqhk,bshk->bhqs", q, k).astype(F32) + bias
        probs = jax.nn.softmax(logits, axis=-1).astype(x.dtype)
        mixed = jnp.einsum("bhqs,bshk->bqhk", probs, v)
        x = x + jnp.einsum("bqhk,hkd->bqd", mixed, p["out"]["w"]) + p["out"]["b"]
    with jax.named_scope("mlp"):
        y = layer_norm(p["mlp_norm"], x)
        y = jax.nn.gelu(y @ p["up"]["w"] + p["up"]["b"], approximate=False)
        return x + y @ p["down"]["w"] + p["down"]["b"]


def esm_logits(params, tokens, head, now, change):
    p = jax.tree.map(lambda w: w.astype(now), params)
    present = tokens != PAD
    masked = tokens == MASK
    x = jnp.where(masked[..., None], 0, p["embed"][tokens])
    seen_share = 1.0 - masked.sum(-1) / present.sum(-1)
    x = x * ((1 - 0.15 * 0.8) / seen_share)[:, None, None].astype(now)
    x = x * present[..., None].astype(now)
    bias = jnp.where(present, 0.0, -1e9)[:, None, None, :]
    cos, sin = rotary_tables(tokens.shape[1], head)
    block = maybe_checkpoint(change, encoder_layer)
    x, _ = jax.lax.scan(lambda x, layer: (block(layer, x, bias, cos, sin), None), x, p["layers"])
    x = layer_norm(p["final_norm"], x)
    h = p["lm_head"]
    x = layer_norm(h["norm"], jax.nn.gelu(x @ h["dense"]["w"] + h["dense"]["b"], approximate=False))
    return jnp.einsum("bld,vd->blv", x, p["embed"]) + h["bias"]


def corrupted(key, tokens):
    choose, how, which = jax.random.split(key, 3)
    residue = (tokens >= FIRST) & (tokens < LAST)
    chosen = residue & (jax.random.uniform(choose, tokens.shape) < 0.15)
    dice = jax.random.uniform(how, tokens.shape)
    other = jax.random.randint(which, tokens.shape, FIRST, LAST)
    noisy = jnp.where(dice < 0.8, MASK, jnp.where(dice < 0.9, other, tokens))
    return jnp.where(chosen, noisy, tokens), chosen


def esm_masked(layers, width, heads, batch, length, kind=BF16):
    def make(arrays, change):
        rows, residues = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        params = cast(abstract(shapes_of(layers, width, heads, 4 * width)), change.stored)
        schedule = optax.warmup_constant_schedule(0.0, 4e-4, 2_000)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, b1=0.9, b2=0.98, eps=1e-8, weight_decay=0.01))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, key, tokens):
            noisy, chosen = corrupted(key, tokens)
            logits = esm_logits(params, noisy, width // heads, now, change)
            loss = cross_entropy(logits, tokens, chosen)
            return loss, {"perplexity": jnp.exp(loss), "masked": chosen.mean()}

        def train_step(params, opt_state, key, tokens):
            key, mask_key = jax.random.split(key)
            loss, metrics, grads = summed_slopes(loss_of, change.parts)(params, mask_key, tokens)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, key, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        arguments = (laid_out(arrays, params, STACKED), laid_out(arrays, opt_state, STACKED), raw_key(arrays),
                     arrays.batch((rows, residues), jnp.int32))
        return train_step, arguments, (0, 1)
    return make


FAMILY = {"round_esm": dict(
    make=esm_masked(layers=33, width=1280, heads=20, batch=16, length=512),
    is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "shard_parameters", "shard_all"))}
