"""FiBiNET for click-through rates on Criteo: 39 fields in one fused table, SENET weights, bilinear interactions.

Plain JAX, dictionaries of arrays and an Adam written out by hand, float32 throughout; nothing is donated. Numbers are
bucketed as categories are, so that each of the 39 fields is one row of the fused table; a linear part of its own.
"""
import jax
import jax.numpy as jnp
import numpy as np

from advice_board_changes import checkpointed, laid_out, like, specs, summed_slopes
from advice_board_training import F32, cast, compute_dtype

FIELDS = 39
LEFT, RIGHT = np.triu_indices(FIELDS, k=1)


def parameter_shapes(rows, dim, reduced, hidden):
    shapes = {"table": (rows, dim), "linear": (rows, 1), "bias": (1,),
              "senet": {"squeeze": (FIELDS, reduced), "excite": (reduced, FIELDS)},
              "bilinear_raw": (FIELDS, dim, dim), "bilinear_senet": (FIELDS, dim, dim)}
    widths = (2 * len(LEFT) * dim, *hidden)
    shapes["mlp"] = [{"w": (a, b), "b": (b,), "gain": (b,), "shift": (b,)} for a, b in zip(widths, widths[1:])]
    shapes["out"] = {"w": (hidden[-1], 1), "b": (1,)}
    return shapes


def senet(p, v):
    """[b, f, d]: each field weighted by what all fields say."""
    z = v.mean(-1)
    a = jax.nn.relu(jax.nn.relu(z @ p["squeeze"]) @ p["excite"])
    return v * a[..., None]


def bilinear(w, v):
    """[b, f, d] -> [b, pairs * d]; each field has its own matrix."""
    turned = jnp.einsum("bfd,fde->bfe", v, w)
    return (turned[:, LEFT] * v[:, RIGHT]).reshape(v.shape[0], -1)


def layer(p, x):
    x = x @ p["w"] + p["b"]
    mean = x.mean(-1, keepdims=True)
    x = (x - mean) * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5)
    return jax.nn.relu(x * p["gain"] + p["shift"])


def fibinet(rows, dim, reduced, hidden, batch, rate=1e-3, b1=0.9, b2=0.999, l2=1e-6, kind=F32):
    def make(arrays, change):
        samples, now = batch // change.batch_divisor, compute_dtype(change, kind)
        params = cast(specs(parameter_shapes(rows, dim, reduced, hidden)), change.stored)
        interact, dense = checkpointed(change, bilinear), checkpointed(change, layer)

        def forward(params, ids):
            v = params["table"][ids].astype(now)
            first = params["linear"][ids][..., 0].astype(now).sum(-1)
            net = {name: p for name, p in params.items() if name not in ("table", "linear")}
            net = jax.tree.map(lambda p: p.astype(now), net)
            x = jnp.concatenate([interact(net["bilinear_raw"], v),
                                 interact(net["bilinear_senet"], senet(net["senet"], v))], -1)
            for p in net["mlp"]:
                x = dense(p, x)
            deep = (x @ net["out"]["w"] + net["out"]["b"])[:, 0]
            return (first + deep + net["bias"]).astype(F32), v

        def loss_of(params, _, ids, clicks):
            logits, v = forward(params, ids)
            clicks = clicks.astype(F32)
            bce = jnp.mean(jnp.maximum(logits, 0) - logits * clicks + jnp.log1p(jnp.exp(-jnp.abs(logits))))
            decay = l2 * jnp.square(v.astype(F32)).sum() / ids.shape[0]
            return bce + decay, {"bce": bce, "ctr": jax.nn.sigmoid(logits).mean()}

        def adam(p, m, v, g, t):
            g = g.astype(F32)
            m_new = b1 * m + (1 - b1) * g
            v_new = b2 * v + (1 - b2) * g * g
            p_new = p - rate * (m_new / (1 - b1 ** t)) / (jnp.sqrt(v_new / (1 - b2 ** t)) + 1e-8)
            return p_new, m_new, v_new

        def train_step(params, m, v, t, ids, clicks):
            loss, aux, grads = summed_slopes(loss_of, change.parts)(params, None, ids, clicks)
            t = t + 1
            flat, tree = jax.tree.flatten(params)
            new = [adam(*one, t.astype(F32)) for one in zip(flat, *map(jax.tree.leaves, (m, v, grads)))]
            new_params, new_m, new_v = (like(jax.tree.unflatten(tree, list(part)), params) for part in zip(*new))
            return new_params, new_m, new_v, t, {"loss": loss, **jax.tree.map(jnp.mean, aux)}

        state = laid_out(arrays, params)
        return train_step, (state, state, state, arrays.array((), jnp.int32),
                            arrays.batch((samples, FIELDS), jnp.int32), arrays.batch((samples,), jnp.int32)), (0, 1, 2)
    return make


FAMILY = {"medal_fibinet_ctr": dict(
    make=fibinet(rows=33_762_560, dim=16, reduced=13, hidden=(400, 400, 400), batch=16_384), is_donated=False,
    variants=("donate_inputs", "donate_inputs+halve_batch", "bf16_parameters", "bf16_parameters+halve_batch",
              "bf16_parameters.follow", "bf16_temporaries", "halve_batch", "micro_batch", "rematerialize",
              "donate_inputs+rematerialize", "shard_parameters", "shard_all"))}
