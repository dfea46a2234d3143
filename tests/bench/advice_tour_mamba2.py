"""Mamba-2 learns language: state space duality in chunks, float32 weights and bfloat16 activations, scanned layers.

Plain pytrees: the weights of all layers are stacked, and one lax.scan runs over them. Decays and states are in float32;
the states of the chunks are passed on by another scan. The embedding serves as the head.
"""
import jax
import jax.numpy as jnp
import optax

from advice_board_changes import laid_out, specs, updated
from advice_board_training import BF16, F32, cast, compute_dtype, decayed, maybe_checkpoint, value_and_mean_grad
from advice_tour_c_parts import SEQUENCE, TRAINED

STACKS = {"layers": 0}


def mamba_shapes(layers, width, inner, heads, state, vocab, conv):
    mixed = inner + 2 * state
    block = {"norm": (width,), "in_proj": (width, inner + mixed + heads), "conv": {"kernel": (conv, mixed),
             "bias": (mixed,)}, "dt_bias": (heads,), "a_log": (heads,), "d": (heads,), "gate_norm": (inner,),
             "out_proj": (inner, width)}
    return {"embedding": (vocab, width),
            "layers": jax.tree.map(lambda s: (layers, *s), block, is_leaf=lambda x: isinstance(x, tuple)),
            "final_norm": (width,)}


def rms_norm(x, scale, eps=1e-5):
    x32 = x.astype(F32)
    x32 = x32 * jax.lax.rsqrt(jnp.mean(x32 * x32, axis=-1, keepdims=True) + eps)
    return (x32 * scale.astype(F32)).astype(x.dtype)


def causal_conv(x, kernel, bias):
    """Depthwise, over time; x is [batch, time, channels]."""
    taps, channels = kernel.shape
    out = jax.lax.conv_general_dilated(x, kernel[:, None].astype(x.dtype), (1,), [(taps - 1, 0)],
                                       dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=channels)
    return out + bias.astype(x.dtype)


def ssd(x, log_decay, b, c, chunk):
    """x [B,T,H,P], log_decay [B,T,H], b and c [B,T,N] (one group) -> [B,T,H,P]."""
    batch, time, heads, head_dim = x.shape
    def chunked(y):
        return y.reshape(batch, time // chunk, chunk, *y.shape[2:])
    x, log_decay, b, c = map(chunked, (x, log_decay, b, c))
    total = jnp.cumsum(log_decay, axis=2)                                        # [B,C,L,H], float32
    with jax.named_scope("within_chunks"):
        steps = jnp.moveaxis(total, -1, 2)                                       # [B,C,H,L]
        between = steps[..., :, None] - steps[..., None, :]
        decay = jnp.exp(jnp.where(jnp.tril(jnp.ones((chunk, chunk), bool)), between, -jnp.inf))
        scores = jnp.einsum("bcln,bcsn->bcls", c, b)
        weights = scores[:, :, None] * decay.astype(x.dtype)
        inside = jnp.einsum("bchls,bcshp->bclhp", weights, x)
    with jax.named_scope("chunk_states"):
        to_end = jnp.exp(total[:, :, -1:] - total).astype(x.dtype)
        states = jnp.einsum("bcsn,bcshp->bchpn", b, x * to_end[..., None], preferred_element_type=F32)
        through = jnp.exp(total[:, :, -1])                                       # [B,C,H]

        def pass_on(carry, one):
            state, factor = one
            return carry * factor[..., None, None] + state, carry
        start = jnp.zeros_like(states[:, 0])
        _, before = jax.lax.scan(pass_on, start, (states.swapaxes(0, 1), through.swapaxes(0, 1)))
        before = before.swapaxes(0, 1).astype(x.dtype)
    with jax.named_scope("from_before"):
        outside = jnp.einsum("bcln,bchpn->bclhp", c, before) * jnp.exp(total).astype(x.dtype)[..., None]
    return (inside + outside).reshape(batch, time, heads, head_dim)


def mixer(p, x, inner, heads, state, chunk):
    batch, time, _ = x.shape
    z, xbc, dt = jnp.split(x @ p["in_proj"].astype(x.dtype), (inner, 2 * inner + 2 * state), axis=-1)
    xbc = jax.nn.silu(causal_conv(xbc, p["conv"]["kernel"], p["conv"]["bias"]))
    values, b, c = jnp.split(xbc, (inner, inner + state), axis=-1)
    values = values.reshape(batch, time, heads, inner // heads)
    dt = jax.nn.softplus(dt.astype(F32) + p["dt_bias"].astype(F32))
    log_decay = -jnp.exp(p["a_log"].astype(F32)) * dt
    y = ssd(values * dt[..., None].astype(x.dtype), log_decay, b, c, chunk)
    y = y + values * p["d"].astype(x.dtype)[:, None]
    y = rms_norm(y.reshape(batch, time, inner) * jax.nn.silu(z), p["gate_norm"])
    return y @ p["out_proj"].astype(x.dtype)


def mamba2(layers, width, heads, state, vocab, batch, length, chunk, expand=2, conv=4, kind=BF16):
    inner = expand * width

    def make(arrays, change):
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        now = compute_dtype(change, kind)
        params = cast(specs(mamba_shapes(layers, width, inner, heads, state, vocab, conv)), change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 6e-4, 2_000, 100_000, 6e-5)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=0.1, mask=decayed))
        opt_state = jax.eval_shape(optimizer.init, params)

        def block(x, p):
            return x + mixer(p, rms_norm(x, p["norm"]), inner, heads, state, chunk), None

        def forward(params, tokens):
            x = params["embedding"][tokens].astype(now)
            x, _ = jax.lax.scan(maybe_checkpoint(change, block), x, params["layers"])
            x = rms_norm(x, params["final_norm"])
            return jnp.einsum("btd,vd->btv", x, params["embedding"].astype(now), preferred_element_type=F32)

        def loss_fn(params, tokens):
            logits = forward(params, tokens[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

        def train_step(params, opt_state, tokens):
            loss, grads = value_and_mean_grad(loss_fn, change.parts)(params, tokens)
            norm = optax.global_norm(grads)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, "grad_norm": norm}

        tokens = arrays.batch((rows, time + 1), jnp.int32)
        return (train_step, (laid_out(arrays, params, STACKS), laid_out(arrays, opt_state, STACKS), tokens), (0, 1))
    return make


FAMILY = {"tour_mamba2": dict(make=mamba2(24, 768, 24, 128, 50_288, 16, 1024, 128), is_donated=True,
                              variants=TRAINED + SEQUENCE)}
