"""Pairs of a protein's residues, a player's policy over a batch of frames, and words read one after the other.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Pairs ---

def normed(x, w):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * w["scale"] + w["offset"]


def triangle_product(w, z, equation):
    z = normed(z, w["norm"])
    a = jax.nn.sigmoid(z @ w["a_gate"]) * (z @ w["a"])
    b = jax.nn.sigmoid(z @ w["b_gate"]) * (z @ w["b"])
    return jax.nn.sigmoid(z @ w["gate"]) * (normed(jnp.einsum(equation, a, b), w["out_norm"]) @ w["out"])


def triangle_attention(w, z, mask):
    """Along the rows of a batch of pairs [batch, i, j, channel]."""
    z = normed(z, w["norm"])
    q, k, v = (jnp.einsum("bijc,chd->bijhd", z, w[name]) for name in "qkv")
    bias = jnp.einsum("bjkc,ch->bhjk", z, w["bias"])[:, None].astype(F32)
    scores = jnp.einsum("bijhd,bikhd->bihjk", q * q.shape[-1] ** -0.5, k).astype(F32) + bias
    scores = scores + jnp.where(mask, 0.0, -1e9)[:, None, None, None, :]
    mixed = jnp.einsum("bihjk,bikhd->bijhd", jax.nn.softmax(scores).astype(z.dtype), v)
    gate = jax.nn.sigmoid(jnp.einsum("bijc,chd->bijhd", z, w["gate"]))
    return jnp.einsum("bijhd,hdc->bijc", mixed * gate, w["out"])


def residue_pairs(layers, width, inner, heads, side, relative, bins, embedded, batch, crop, kind=BF16):
    """A pairformer over the residues of a protein language model, trained on distances; layers in a scan."""
    def make(arrays, change):
        import optax
        b, n, now = batch // change.batch_divisor, crop // change.length_divisor, computed(change, kind)

        def norm(size):
            return {"scale": (layers, size), "offset": (layers, size)}
        wide = (layers, width, inner)
        product = {"norm": norm(width), "a": wide, "b": wide, "a_gate": wide, "b_gate": wide,
                   "gate": (layers, width, width), "out_norm": norm(inner), "out": (layers, inner, width)}
        attention = {"norm": norm(width), "bias": (layers, width, heads), "out": (layers, heads, side, width)}
        attention |= {name: (layers, width, heads, side) for name in ("q", "k", "v", "gate")}
        transition = {"norm": norm(width), "gate": (layers, width, 4 * width), "up": (layers, width, 4 * width),
                      "down": (layers, 4 * width, width)}
        shapes = shaped(left={"w": (embedded, width)}, right={"w": (embedded, width)},
                        relative={"w": (2 * relative + 1, width)}, distances={"w": (width, bins), "b": (bins,)},
                        pair_layer_stack={"outgoing": product, "incoming": product, "starting": attention,
                                          "ending": attention, "transition": transition})

        def layer(z, w, mask):
            z = z + triangle_product(w["outgoing"], z, "bikc,bjkc->bijc")
            z = z + triangle_product(w["incoming"], z, "bkic,bkjc->bijc")
            z = z + triangle_attention(w["starting"], z, mask)
            z = z + triangle_attention(w["ending"], z.swapaxes(1, 2), mask).swapaxes(1, 2)
            h, t = normed(z, w["transition"]["norm"]), w["transition"]
            return z + (jax.nn.silu(h @ t["gate"]) * (h @ t["up"])) @ t["down"]
        block = maybe_checkpointed(change, layer)

        def loss_of(params, residues, places, mask, distances):
            p, x = as_kind(params, now), residues.astype(now)
            z = (x @ p["left"]["w"])[:, :, None] + (x @ p["right"]["w"])[:, None]
            far = jnp.clip(places[:, :, None] - places[:, None], -relative, relative) + relative
            z = z + p["relative"]["w"][far]
            z, _ = jax.lax.scan(lambda z, w: (block(z, w, mask), None), z, p["pair_layer_stack"])
            logits = (z + z.swapaxes(1, 2)) @ p["distances"]["w"] + p["distances"]["b"]
            return word_loss(logits, distances, (mask[:, :, None] & mask[:, None]).astype(F32))
        optimizer = optax.chain(optax.clip_by_global_norm(0.1), optax.adam(1e-3, b2=0.999, eps=1e-6))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((b, n, embedded), F32),
                                arrays.batch((b, n), jnp.int32), arrays.batch((b, n), jnp.bool_),
                                arrays.batch((b, n, n), jnp.int32))
    return make


# --- A player ---

def frame_player(channels, hidden, actions, side, frames, batch, kind=F32):
    """PPO with IMPALA's residual net, in haiku: one minibatch of frames in bytes, clipped policy and values."""
    def make(arrays, change):
        import haiku as hk
        import optax
        b, now = batch // change.batch_divisor, change.computed or computed(change, kind)

        def residual(count, name):
            first, second = (hk.Conv2D(count, 3, name=f"conv_{name}_{i}") for i in range(2))
            return lambda x: x + second(jax.nn.relu(first(jax.nn.relu(x))))

        def play(seen):
            x = seen.astype(now) / 255
            for i, count in enumerate(channels):
                x = hk.Conv2D(count, 3, name=f"conv_{i}")(x)
                x = hk.max_pool(x, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
                for j in range(2):
                    block = residual(count, f"{i}_{j}")
                    x = (hk.remat(block) if change.rematerialize else block)(x)
            x = jax.nn.relu(hk.Linear(hidden, name="torso")(jax.nn.relu(hk.Flatten()(x))))
            small = hk.initializers.Orthogonal(0.01)
            return (hk.Linear(actions, w_init=small, name="policy")(x).astype(F32),
                    hk.Linear(1, w_init=hk.initializers.Orthogonal(1.0), name="value")(x)[:, 0].astype(F32))
        model = hk.without_apply_rng(hk.transform(play))
        seen = arrays.batch((b, side, side, frames), jnp.uint8)
        shapes = jax.eval_shape(model.init, jax.random.key(0), seen)

        def loss_of(params, seen, done, old_chance, old_value, advantage, target):
            logits, value = model.apply(as_kind(params, now), seen)
            old_chance, old_value, advantage, target = as_kind((old_chance, old_value, advantage, target), F32)
            logs = jax.nn.log_softmax(logits)
            ratio = jnp.exp(jnp.take_along_axis(logs, done[:, None], 1)[:, 0] - old_chance)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            gain = jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage).mean()
            near = old_value + jnp.clip(value - old_value, -0.2, 0.2)
            missed = 0.5 * jnp.maximum(jnp.square(value - target), jnp.square(near - target)).mean()
            entropy = -jnp.sum(jnp.exp(logs) * logs, -1).mean()
            return -gain + 0.5 * missed - 0.01 * entropy
        optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(2.5e-4, eps=1e-5))
        number = arrays.batch((b,), F32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, seen, arrays.batch((b,), jnp.int32),
                                number, number, number, number)
    return make


# --- Words one after the other ---

def normed_cell(w, hidden, cell, x):
    """An LSTM with a norm of its gates; weights [out, in]."""
    gates = jnp.concatenate([x, hidden], -1) @ w["weight"].T
    gates = normed(gates, w["norm"]) + w["bias"]
    i, f, g, o = jnp.split(gates, 4, -1)
    cell = jax.nn.sigmoid(f + 1) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(cell), cell


def equal_cells(layers, width, vocab, batch, length, kind=BF16):
    """A language model of LSTMs, all as wide as the words, one time step of all layers after another; lion."""
    def make(arrays, change):
        import optax
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        one = {"weight": (4 * width, 2 * width), "bias": (4 * width,),
               "norm": {"scale": (4 * width,), "offset": (4 * width,)}}
        shapes = shaped(words={"weight": (vocab, width)}, **{f"cell_{i}": one for i in range(layers)},
                        project={"weight": (width, width), "bias": (width,)})

        def step(p, state, x):
            made = []
            for i, (hidden, cell) in enumerate(state):
                hidden, cell = normed_cell(p[f"cell_{i}"], hidden, cell, x)
                x = x + hidden
                made.append((hidden, cell))
            return made, x
        block = maybe_checkpointed(change, step)

        def loss_of(params, ids, targets):
            p = as_kind(params, now)
            x = p["words"]["weight"][ids].swapaxes(0, 1)
            zeros = jnp.zeros((ids.shape[0], width), now)
            _, x = jax.lax.scan(lambda state, x: block(p, state, x), [(zeros, zeros)] * layers, x)
            x = jnp.tanh(x @ p["project"]["weight"].T + p["project"]["bias"])
            return word_loss(x @ p["words"]["weight"].T, targets.T)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(1e-4, weight_decay=0.1))
        ids = arrays.batch((b, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids, ids)
    return make
