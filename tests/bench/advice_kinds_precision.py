"""Decoders of mixed precision, each mixed by hand: programs as their users write them.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, placed, warmed_up
from advice_fresh import graded, maybe_checkpointed, shaped
from advice_structures import BF16, F32


# --- Scores and logits in float32 ---

def adam_in_float32(params, moments, count, grads, rate):
    """Own AdamW, whose numbers are all float32 within."""
    def one(p, m, v, g):
        m32, v32, g = m.astype(F32), v.astype(F32), g.astype(F32)
        m32, v32 = 0.9 * m32 + 0.1 * g, 0.95 * v32 + 0.05 * jnp.square(g)
        step = m32 / (1 - 0.9 ** count) / (jnp.sqrt(v32 / (1 - 0.95 ** count)) + 1e-8)
        decayed = p.astype(F32) * (1 - 0.1 * rate if p.ndim > 1 else 1.0)
        return (decayed - rate * step).astype(p.dtype), m32.astype(m.dtype), v32.astype(v.dtype)
    made = jax.tree.map(one, params, moments["m"], moments["v"], grads)
    new, first, second = jax.tree.transpose(jax.tree.structure(params), jax.tree.structure((0, 0, 0)), made)
    return new, {"m": first, "v": second}


def wide_scores(layers, width, heads, hidden, vocabulary, batch, length, kind=BF16):
    """A decoder whose products are of bf16, while scores, norms, logits and its own AdamW are of float32."""
    def make(arrays, change):
        side, now = width // heads, computed(change, kind)
        layer = {"q": (width, heads, side), "k": (width, heads, side), "v": (width, heads, side),
                 "o": (heads, side, width), "wi": (width, hidden), "wo": (hidden, width), "scale1": (width,),
                 "scale2": (width,)}
        params = shaped(embed=(vocabulary, width), places=(length, width), scale=(width,), unembed=(width, vocabulary))
        params = as_kind(params | {"layers": [shaped(**layer) for _ in range(layers)]}, change.stored)

        def norm(x, scale):
            wide = x.astype(F32)
            wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6)
            return (wide * (1.0 + scale.astype(F32))).astype(now)

        def block(p, x):
            h = norm(x, p["scale1"])
            query, key, value = (jnp.einsum("btd,dhk->bthk", h, p[name].astype(now)) for name in "qkv")
            scores = jnp.einsum("bqhk,bshk->bhqs", query, key, preferred_element_type=F32) / side ** 0.5
            seen = jax.lax.broadcasted_iota(jnp.int32, scores.shape, 2) >= jax.lax.broadcasted_iota(
                jnp.int32, scores.shape, 3)
            weights = jax.nn.softmax(jnp.where(seen, scores, -2e38), axis=-1)
            mixed = jnp.einsum("bhqs,bshk->bqhk", weights.astype(now), value)
            x = x + jnp.einsum("bqhk,hkd->bqd", mixed, p["o"].astype(now))
            h = jax.nn.gelu(jnp.einsum("btd,df->btf", norm(x, p["scale2"]), p["wi"].astype(now)))
            return x + jnp.einsum("btf,fd->btd", h, p["wo"].astype(now))

        def loss_of(params, ids):
            inputs, targets = ids[:, :-1], ids[:, 1:]
            x = (params["embed"][inputs] + params["places"]).astype(now)
            for p in params["layers"]:
                x = maybe_checkpointed(change, block)(p, x)
            logits = jnp.einsum("btd,dv->btv", norm(x, params["scale"]), params["unembed"].astype(now),
                                preferred_element_type=F32)
            total = jax.nn.logsumexp(logits, -1)
            said = jnp.sum(jnp.where(jnp.arange(vocabulary) == targets[..., None], logits, 0.0), -1)
            return jnp.mean(total - said + 1e-4 * jnp.square(total))

        def update(params, moments, count, ids):
            loss, grads = graded(loss_of, change.parts)(params, ids)
            norm = jnp.sqrt(sum(jnp.sum(jnp.square(g.astype(F32))) for g in jax.tree.leaves(grads)))
            grads = jax.tree.map(lambda g: g * jnp.minimum(1.0, 1.0 / norm).astype(g.dtype), grads)
            params, moments = adam_in_float32(params, moments, count + 1.0, grads, 2e-4)
            return params, moments, count + 1, {"loss": loss, "norm": norm}
        params = placed(arrays, params)
        ids = arrays.batch((batch // change.batch_divisor, length + 1), jnp.int32)
        return update, (params, {"m": params, "v": params}, arrays.array((), jnp.int32), ids), (0, 1, 2)
    return make


# --- Only products in bfloat16 ---

def narrow_products(layers, width, heads, hidden, vocabulary, batch, length, kind=F32):
    """A decoder of float32 with ALiBi, layers scanned, in which what is multiplied is cast to bf16 for that alone."""
    def make(arrays, change):
        import optax
        stack = {"qkv": (layers, width, 3 * width), "out": (layers, width, width), "up": (layers, width, hidden),
                 "down": (layers, hidden, width), **{name: (layers, width) for name in ("g1", "b1", "g2", "b2")}}
        shapes = shaped(scanned=stack, table=(vocabulary, width), gain=(width,), bias=(width,))
        now = computed(change, kind)
        slopes = 2.0 ** (-8.0 * (jnp.arange(heads) + 1) / heads)

        def product(spec, left, right):
            return jnp.einsum(spec, left.astype(BF16), right.astype(BF16), preferred_element_type=now)

        def norm(x, gain, bias):
            x = x - x.mean(-1, keepdims=True)
            return x * jax.lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * gain + bias

        def block(x, p):
            p = as_kind(p, now)
            qkv = product("btd,de->bte", norm(x, p["g1"], p["b1"]), p["qkv"])
            query, key, value = jnp.moveaxis(qkv.reshape(*x.shape[:2], 3, heads, -1), 2, 0)
            places = jnp.arange(x.shape[1])
            apart = places[:, None] - places
            bias = jnp.where(apart >= 0, -slopes[:, None, None] * apart, -1e9).astype(now)
            scores = product("bqhd,bkhd->bhqk", query, key) * (width // heads) ** -0.5 + bias
            mixed = product("bhqk,bkhd->bqhd", jax.nn.softmax(scores), value).reshape(x.shape)
            x = x + product("btd,de->bte", mixed, p["out"])
            h = jax.nn.gelu(product("btd,df->btf", norm(x, p["g2"], p["b2"]), p["up"]))
            return x + product("btf,fd->btd", h, p["down"]), None

        def loss_of(params, ids):
            x = params["table"][ids].astype(now)
            x, _ = jax.lax.scan(maybe_checkpointed(change, block), x, params["scanned"])
            x = norm(x, params["gain"].astype(now), params["bias"].astype(now))
            logits = product("btd,vd->btv", x[:, :-1], params["table"])
            return optax.softmax_cross_entropy_with_integer_labels(logits, ids[:, 1:]).mean().astype(F32)

        def train_step(state, ids):
            params, opt_state = state
            loss, grads = jax.value_and_grad(loss_of)(params, ids)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return (optax.apply_updates(params, updates), opt_state), loss
        optimizer = optax.adamw(warmed_up(4e-4), weight_decay=0.01)
        params = as_kind(shapes, change.stored)
        state = placed(arrays, params), placed(arrays, jax.eval_shape(optimizer.init, params))
        ids = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)
        return train_step, (state, ids), (0,)
    return make
