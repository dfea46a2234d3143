"""Mamba-2 of 1.3 billion weights, trained on text by the chunked form of state-space duality (SSD).

Plain jax: layers are stacked and scanned, the residual stream stays in float32, matrices are multiplied in bfloat16 and
decays are in float32. As in the published fused kernel, all between the two projections (convolution, SSD, norm) is
computed again in the backward pass. AdamW is written by hand.
"""
import jax
import jax.numpy as jnp

from advice_board_training import (
    BF16, F32, abstract, cast, compute_dtype, cross_entropy, maybe_checkpoint, on_chips, value_and_mean_grad)

UNDECAYED = {"norm", "gated_norm", "dt_bias", "a_log", "skip", "conv_bias", "final_norm"}


def mamba2_shapes(layers, width, inner, heads, states, kernel, vocab):
    mixed = inner + 2 * states                                   # x, B and C pass the convolution together
    layer = {"norm": (width,), "in_proj": (width, inner + mixed + heads), "conv_weight": (kernel, mixed),
             "conv_bias": (mixed,), "dt_bias": (heads,), "a_log": (heads,), "skip": (heads,),
             "gated_norm": (inner,), "out_proj": (inner, width)}
    return {"embedding": (vocab, width), "final_norm": (width,),
            "layers": {name: (layers, *shape) for name, shape in layer.items()}}


def rms_norm(x, scale, kind, eps=1e-5):
    x = x.astype(F32)
    return (x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * scale.astype(F32)).astype(kind)


def causal_conv(x, weight, bias):
    taps = weight.shape[0]
    padded = jnp.pad(x, ((0, 0), (taps - 1, 0), (0, 0)))
    return sum(padded[:, i:i + x.shape[1]] * weight[i] for i in range(taps)) + bias


def segment_sums(a):
    """[..., l] to [..., l, l]: sums of a over (j, i], minus infinity above the diagonal."""
    size = a.shape[-1]
    total = jnp.cumsum(a, -1)
    return jnp.where(jnp.tril(jnp.ones((size, size), bool)), total[..., :, None] - total[..., None, :], -jnp.inf)


def ssd(x, dt, a, b, c, chunk):
    """x [b, t, h, p], dt [b, t, h] in float32, a [h], b and c [b, t, n] that all heads share; to y [b, t, h, p]."""
    rows, length, heads, side = x.shape
    kind, count = x.dtype, length // chunk
    x = (x * dt[..., None].astype(kind)).reshape(rows, count, chunk, heads, side)
    b, c = (one.reshape(rows, count, chunk, -1) for one in (b, c))
    decay = (dt * a).reshape(rows, count, chunk, heads).transpose(0, 3, 1, 2)          # [b, h, c, l]
    total = jnp.cumsum(decay, -1)
    # within chunks: attention whose mask is a decay
    likeness = jnp.einsum("bcln,bcsn->bcls", c, b, preferred_element_type=F32)
    weights = (likeness[:, None] * jnp.exp(segment_sums(decay))).astype(kind)          # [b, h, c, l, s]
    inside = jnp.einsum("bhcls,bcshp->bclhp", weights, x)
    # what each chunk leaves behind, and what the next ones start with
    to_end = jnp.exp(total[..., -1:] - total).astype(kind)
    left = jnp.einsum("bcln,bclhp->bchpn", b, x * to_end.transpose(0, 2, 3, 1)[..., None], preferred_element_type=F32)

    def pass_on(state, given):
        kept, new = given
        return state * kept[..., None, None] + new, state
    start = jnp.zeros((rows, heads, side, b.shape[-1]), F32)
    over = jnp.exp(total[..., -1]).transpose(2, 0, 1), left.swapaxes(0, 1)
    _, states = jax.lax.scan(pass_on, start, over)                                      # [c, b, h, p, n]
    outside = jnp.einsum("bcln,cbhpn->bclhp", c, states.astype(kind))
    outside = outside * jnp.exp(total).astype(kind).transpose(0, 2, 3, 1)[..., None]
    return (inside + outside).reshape(rows, length, heads, side)


def mamba2_language(layers, width, states, side, vocab, batch, length, chunk=256, kernel=4, expand=2, kind=BF16,
                    rate=2e-4, clip=1.0, decay=0.1):
    inner = expand * width
    heads = inner // side

    def make(arrays, change):
        rows, steps, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)

        @jax.checkpoint
        def fused(layer, projected):
            z, xbc, dt = jnp.split(projected, [inner, 2 * inner + 2 * states], axis=-1)
            xbc = jax.nn.silu(causal_conv(xbc, layer["conv_weight"].astype(now), layer["conv_bias"].astype(now)))
            u, b, c = jnp.split(xbc, [inner, inner + states], axis=-1)
            u = u.reshape(*u.shape[:2], heads, side)
            dt = jax.nn.softplus(dt.astype(F32) + layer["dt_bias"].astype(F32))
            y = ssd(u, dt, -jnp.exp(layer["a_log"].astype(F32)), b, c, chunk) + layer["skip"].astype(now)[:, None] * u
            y = y.reshape(*y.shape[:2], inner) * jax.nn.silu(z)
            return rms_norm(y, layer["gated_norm"], now)

        def mixer(layer, x):
            small = {name: layer[name] for name in layer if name not in ("norm", "in_proj", "out_proj")}
            return fused(small, x @ layer["in_proj"].astype(now)) @ layer["out_proj"].astype(now)

        def block(residual, layer):
            return residual + mixer(layer, rms_norm(residual, layer["norm"], now)).astype(F32), None

        def loss_of(params, tokens, labels):
            x = params["embedding"][tokens].astype(F32)
            x, _ = jax.lax.scan(maybe_checkpoint(change, block), x, params["layers"])
            logits = rms_norm(x, params["final_norm"], now) @ params["embedding"].T.astype(now)
            return cross_entropy(logits, labels)

        def adamw(state, grads):
            count = state["count"] + 1
            size = jnp.sqrt(sum(jnp.sum(jnp.square(g.astype(F32))) for g in jax.tree.leaves(grads)))
            shrink = jnp.minimum(1.0, clip / (size + 1e-6))
            lr = rate * jnp.minimum(1.0, count / 2000)

            def one(path, p, g, m, v):
                g, wide = g.astype(F32) * shrink, p.astype(F32)
                m_new = 0.9 * m.astype(F32) + 0.1 * g
                v_new = 0.95 * v.astype(F32) + 0.05 * g * g
                move = m_new / (1 - 0.9 ** count) / (jnp.sqrt(v_new / (1 - 0.95 ** count)) + 1e-8)
                if path[-1].key not in UNDECAYED:
                    move = move + decay * wide
                return (wide - lr * move).astype(p.dtype), m_new.astype(m.dtype), v_new.astype(v.dtype)
            new = jax.tree_util.tree_map_with_path(one, state["params"], grads, state["m"], state["v"])
            params, m, v = jax.tree.transpose(jax.tree.structure(grads), jax.tree.structure((0, 0, 0)), new)
            return {"params": params, "m": m, "v": v, "count": count}, size

        def train_step(state, tokens, labels):
            loss, grads = value_and_mean_grad(loss_of, change.parts)(state["params"], tokens, labels)
            state, size = adamw(state, grads)
            return state, {"loss": loss, "grad_norm": size}

        params = cast(abstract(mamba2_shapes(layers, width, inner, heads, states, kernel, vocab)), change.stored)
        state = {"params": params, "m": params, "v": params, "count": jax.ShapeDtypeStruct((), jnp.int32)}
        text = arrays.batch((rows, steps), jnp.int32)
        return train_step, (on_chips(arrays, state, {"layers": 0}), text, text), (0,)
    return make
