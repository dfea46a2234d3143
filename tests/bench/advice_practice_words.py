"""Decoders and other models of words, trained in ways of people who count bytes: master weights, roots, no gradients.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_practice_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, model_of, placed, trained, warmed_up
from advice_fresh import graded, maybe_checkpointed, shaped
from advice_structures import BF16, F32


# --- What they share ---

def rms(x, gain, eps=1e-6):
    wide = x.astype(F32)
    return (wide * jax.lax.rsqrt(jnp.mean(wide ** 2, -1, keepdims=True) + eps)).astype(x.dtype) * gain


def rotate_halves(x, base=10000.0):
    """[batch, time, heads, side]: the first half of a head is turned against the second."""
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1], dtype=F32)[:, None, None] * base ** (-jnp.arange(half, dtype=F32) / half)
    cos, sin = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)


def mean_nll(logits, targets):
    logits = logits.astype(F32)
    picked = jnp.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)


# --- Trained in bfloat16, with master weights in float32 ---

def mastered_decoder(n_layers, d, n_heads, n_kv, d_ff, vocab, batch, seq):
    """SmolLM in one scan: bf16 weights do the work, Adam moves their float32 twins and rounds those into them."""
    side = d // n_heads
    stack = {"norm_attn": (n_layers, d), "norm_mlp": (n_layers, d), "q": (n_layers, d, d),
             "kv": (n_layers, d, 2 * n_kv * side), "o": (n_layers, d, d), "gate": (n_layers, d, d_ff),
             "up": (n_layers, d, d_ff), "down": (n_layers, d_ff, d)}

    def layer(x, w):
        b, t, _ = x.shape
        h = rms(x, w["norm_attn"])
        q = rotate_halves((h @ w["q"]).reshape(b, t, n_heads, side), 1e5)
        k, v = jnp.split((h @ w["kv"]).reshape(b, t, 2 * n_kv, side), 2, axis=2)
        att = jax.nn.dot_product_attention(q, rotate_halves(k, 1e5), v, is_causal=True)
        x = x + att.reshape(b, t, d) @ w["o"]
        h = rms(x, w["norm_mlp"])
        return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"], None

    def make(arrays, change):
        shapes = shaped(embed=(vocab, d), norm=(d,), layer_stack=stack)

        def loss_fn(weights, tokens):
            x, _ = jax.lax.scan(maybe_checkpointed(change, layer), weights["embed"][tokens[:, :-1]],
                                weights["layer_stack"])
            return mean_nll(rms(x, weights["norm"]) @ weights["embed"].T, tokens[:, 1:])

        def train_step(state, tokens):
            loss, grads = graded(loss_fn, change.parts)(state["weights"], tokens)
            count = state["count"] + 1
            grads = jax.tree.map(lambda g: g.astype(F32), grads)
            norm = jnp.sqrt(sum(jnp.sum(g * g) for g in jax.tree.leaves(grads)))
            clip = jnp.minimum(1.0, 1.0 / (norm + 1e-6))
            m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * clip * g, state["m"], grads)
            v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * jnp.square(clip * g), state["v"], grads)
            fix_m, fix_v = 1 - 0.9 ** count.astype(F32), 1 - 0.95 ** count.astype(F32)
            master = jax.tree.map(
                lambda w, m, v: w - 3e-4 * (m / fix_m / (jnp.sqrt(v / fix_v) + 1e-8) + 0.1 * w),
                state["master"], m, v)
            return {"weights": as_kind(master, BF16), "master": master, "m": m, "v": v, "count": count}, loss
        wide = placed(arrays, shapes)
        state = {"weights": placed(arrays, as_kind(shapes, BF16)), "master": wide, "m": wide, "v": wide,
                 "count": arrays.array((), jnp.int32)}
        tokens = arrays.batch((batch // change.batch_divisor, seq // change.length_divisor + 1), jnp.int32)
        return train_step, (state, tokens), (0,)
    return make


# --- Retention by chunks, moved by Shampoo ---

MOST_ROWS = 2048  # of a side that has a factor


def inverse_root(matrix, rounds=8):
    """The inverse fourth root of each of [..., n, n], by coupled Newton steps: products alone."""
    size = matrix.shape[-1]
    eye = jnp.eye(size, dtype=F32)
    matrix = matrix.astype(F32) + 1e-6 * eye
    scale = jnp.sqrt(jnp.sum(matrix * matrix, (-1, -2), keepdims=True))

    def refine(_, pair):
        root, rest = pair
        step = (5.0 * eye - rest) / 4.0
        square = step @ step
        return root @ step, square @ square @ rest
    start = jnp.broadcast_to(eye, matrix.shape), matrix / scale
    return jax.lax.fori_loop(0, rounds, refine, start)[0] * scale ** -0.25


def factors_of(p):
    """Which of the last two dimensions have factors; a table of words, and vectors, have none."""
    if len(p.shape) < 3:
        return ()
    return tuple(axis for axis in (-2, -1) if p.shape[axis] <= MOST_ROWS)


def shampoo_state(params):
    def one(p):
        sides = {str(axis): jax.ShapeDtypeStruct((p.shape[0], p.shape[axis], p.shape[axis]), p.dtype)
                 for axis in factors_of(p)}
        return {"momentum": p, "statistics": sides, "roots": sides} if sides else {"momentum": p, "squares": p}
    return jax.tree.map(one, params)


def shampoo_moved(p, state, g, is_due):
    """A parameter and its state after a step; roots are taken anew in one step of twenty."""
    kind, g = p.dtype, g.astype(F32)
    if "squares" in state:
        squares = state["squares"].astype(F32) + g * g
        moved, rest = g * jax.lax.rsqrt(squares + 1e-10), {"squares": squares.astype(kind)}
    else:
        seen = {"-2": lambda: g @ g.swapaxes(-1, -2), "-1": lambda: g.swapaxes(-1, -2) @ g}
        statistics = {side: (0.95 * old.astype(F32) + 0.05 * seen[side]()).astype(kind)
                      for side, old in state["statistics"].items()}
        roots = jax.lax.cond(is_due, lambda s, r: jax.tree.map(lambda a: inverse_root(a).astype(kind), s),
                             lambda s, r: r, statistics, state["roots"])
        moved = roots["-2"].astype(F32) @ g if "-2" in roots else g
        moved = moved @ roots["-1"].astype(F32) if "-1" in roots else moved
        rest = {"statistics": statistics, "roots": roots}
    momentum = 0.9 * state["momentum"].astype(F32) + moved
    return (p.astype(F32) - 1e-3 * momentum).astype(kind), {"momentum": momentum.astype(kind), **rest}


def retention(w, x, heads, chunk):
    """Within a chunk by scores that fade, across chunks by a state that fades: a scan over chunks."""
    b, t, d = x.shape
    n, now = t // chunk, x.dtype
    q, k = (rotate_halves((x @ w[name]).reshape(b, t, heads, -1)) for name in ("wq", "wk"))
    k = k * k.shape[-1] ** -0.5
    fade = jnp.log1p(-2.0 ** (-5.0 - jnp.arange(heads, dtype=F32)))
    place = jnp.arange(chunk, dtype=F32)
    apart = place[:, None] - place
    inner = jnp.where(apart >= 0, jnp.exp(fade[:, None, None] * jnp.maximum(apart, 0)), 0).astype(now)
    reach = jnp.exp(fade[:, None] * (place + 1)).astype(now)             # of the state, by place
    left = jnp.exp(fade[:, None] * (chunk - 1 - place)).astype(now)      # of a key at the chunk's end
    whole = jnp.exp(fade * chunk)[:, None, None]

    def by_chunk(y):
        return y.reshape(b, n, chunk, heads, -1).transpose(1, 0, 3, 2, 4)

    def look(state, qkv):
        q, k, v = qkv
        near = (q @ k.swapaxes(-1, -2) * inner) @ v
        far = (q @ state.astype(now)) * reach[..., None]
        state = state * whole + ((k * left[..., None]).swapaxes(-1, -2) @ v).astype(F32)
        return state, near + far
    v = (x @ w["wv"]).reshape(b, t, heads, -1)
    zeros = jnp.zeros((b, heads, d // heads, v.shape[-1]), F32)
    _, out = jax.lax.scan(look, zeros, (by_chunk(q), by_chunk(k), by_chunk(v)))
    out = out.transpose(1, 0, 3, 2, 4).reshape(b, t, heads, -1)
    out = rms(out, jnp.ones((), now)).reshape(b, t, -1)
    return (jax.nn.silu(x @ w["wg"]) * out) @ w["wo"]


def retentive_shampoo(n_layers, d, heads, vocab, batch, seq, chunk, kind=BF16):
    """RetNet: values twice as wide as keys, layers in a scan around the scan of chunks; Shampoo's factors by layer."""
    stack = {"ln1": (n_layers, d), "ln2": (n_layers, d), "wq": (n_layers, d, d), "wk": (n_layers, d, d),
             "wv": (n_layers, d, 2 * d), "wg": (n_layers, d, 2 * d), "wo": (n_layers, 2 * d, d),
             "fc1": (n_layers, d, 2 * d), "fc2": (n_layers, 2 * d, d)}

    def body(x, w):
        x = x + retention(w, rms(x, w["ln1"]), heads, chunk)
        return x + jax.nn.gelu(rms(x, w["ln2"]) @ w["fc1"]) @ w["fc2"], None

    def make(arrays, change):
        params = as_kind(shaped(wte=(vocab, d), ln_f=(d,), out=(d, vocab), scanned=stack), change.stored)

        def loss_fn(params, inputs, targets):
            p = as_kind(params, computed(change, kind))
            x, _ = jax.lax.scan(maybe_checkpointed(change, body), p["wte"][inputs] * d ** 0.5, p["scanned"])
            return mean_nll(rms(x, p["ln_f"]) @ p["out"], targets)

        def train_step(params, state, count, inputs, targets):
            loss, grads = graded(loss_fn, change.parts)(params, inputs, targets)
            leaves, tree = jax.tree.flatten(params)
            made = [shampoo_moved(p, s, g, count % 20 == 0) for p, s, g in zip(
                leaves, tree.flatten_up_to(state), tree.flatten_up_to(grads))]
            return tree.unflatten([p for p, _ in made]), tree.unflatten([s for _, s in made]), count + 1, loss
        rows = arrays.batch((batch // change.batch_divisor, seq // change.length_divisor), jnp.int32)
        return train_step, (placed(arrays, params), placed(arrays, shampoo_state(params)),
                            arrays.array((), jnp.int32), rows, rows), (0, 1, 2)
    return make


# --- No gradient outlives its layer ---

def row_column_moved(p, moments, g):
    """AdaLomo's rule for one layer: second moments by rows and columns of matrices, nothing for vectors."""
    g = g.astype(F32)
    if not moments:
        return (p.astype(F32) - 1e-3 * g / (jnp.sqrt(jnp.mean(g * g)) + 1e-8)).astype(p.dtype), moments
    rows = 0.99 * moments["rows"].astype(F32) + 0.01 * jnp.mean(g * g, -1)
    columns = 0.99 * moments["columns"].astype(F32) + 0.01 * jnp.mean(g * g, -2)
    guess = rows[:, None] * columns[None] / (jnp.mean(rows) + 1e-30)
    moved = g * jax.lax.rsqrt(guess + 1e-16)
    moved = moved / jnp.maximum(1.0, jnp.sqrt(jnp.mean(moved * moved)))
    kept = {"rows": rows.astype(moments["rows"].dtype), "columns": columns.astype(moments["columns"].dtype)}
    return (p.astype(F32) - 5e-4 * moved).astype(p.dtype), kept


def all_moved(params, moments, grads):
    leaves, tree = jax.tree.flatten(params)
    made = [row_column_moved(*each) for each in zip(leaves, tree.flatten_up_to(moments), tree.flatten_up_to(grads))]
    return tree.unflatten([p for p, _ in made]), tree.unflatten([m for _, m in made])


def updates_in_backward(n_layers, d, n_heads, vocab, batch, seq, kind=BF16):
    """Phi's parallel blocks; the backward pass, a scan by hand, runs a layer again, takes its slopes and moves it."""
    side, turned = d // n_heads, d // n_heads // 2
    stack = {"ln": (n_layers, d), "ln_b": (n_layers, d), "qkv": (n_layers, d, 3 * d), "dense": (n_layers, d, d),
             "fc1": (n_layers, d, 4 * d), "b1": (n_layers, 4 * d), "fc2": (n_layers, 4 * d, d), "b2": (n_layers, d)}

    def norm(x, gain, bias):
        return (jax.nn.standardize(x.astype(F32), epsilon=1e-5)).astype(x.dtype) * gain + bias

    def make(arrays, change):
        now = computed(change, kind)

        def block(w, x):
            w = as_kind(w, now)
            b, t, _ = x.shape
            h = norm(x, w["ln"], w["ln_b"])
            q, k, v = jnp.split((h @ w["qkv"]).reshape(b, t, 3 * n_heads, side), 3, axis=2)
            q, k = (jnp.concatenate([rotate_halves(y[..., :turned]), y[..., turned:]], -1) for y in (q, k))
            scores = jnp.einsum("bthd,bshd->bhts", q, k).astype(F32) * side ** -0.5
            scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e30)
            att = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores).astype(now), v).reshape(b, t, d)
            return x + att @ w["dense"] + w["b2"] + jax.nn.gelu(h @ w["fc1"] + w["b1"]) @ w["fc2"]

        def top(w, x, targets):
            w = as_kind(w, now)
            return mean_nll(norm(x, w["ln"], w["ln_b"]) @ w["out"], targets)

        def bottom(w, ids):
            return w["wte"].astype(now)[ids]

        def train_step(params, moments, tokens):
            ids, targets = tokens[:, :-1], tokens[:, 1:]
            x, of_bottom = jax.vjp(lambda w: bottom(w, ids), params["bottom"])
            x, inputs = jax.lax.scan(lambda x, w: (block(w, x), x), x, params["layer_stack"])
            loss, of_top = jax.vjp(lambda w, x: top(w, x, targets), params["top"], x)
            slopes, back = of_top(jnp.ones((), F32))
            new_top = all_moved(params["top"], moments["top"], slopes)

            def undo(back, layer):
                w, kept, x = layer
                _, of_block = jax.vjp(block, w, x)
                slopes, back = of_block(back)
                return back, all_moved(w, kept, slopes)
            back, new_stack = jax.lax.scan(undo, back, (params["layer_stack"], moments["layer_stack"], inputs),
                                           reverse=True)
            new_bottom = all_moved(params["bottom"], moments["bottom"], of_bottom(back)[0])
            made = {"bottom": new_bottom, "layer_stack": new_stack, "top": new_top}
            return {name: p for name, (p, _) in made.items()}, {name: m for name, (_, m) in made.items()}, loss

        shapes = as_kind(shaped(bottom={"wte": (vocab, d)}, layer_stack=stack,
                                top={"ln": (d,), "ln_b": (d,), "out": (d, vocab)}), change.stored)

        def moments_of(p, lead):
            if len(p.shape) < 2 + lead:
                return {}
            return {"rows": jax.ShapeDtypeStruct(p.shape[:-1], p.dtype),
                    "columns": jax.ShapeDtypeStruct(p.shape[:-2] + p.shape[-1:], p.dtype)}
        moments = {name: jax.tree.map(lambda p, lead=int(name == "layer_stack"): moments_of(p, lead), part)
                   for name, part in shapes.items()}
        tokens = arrays.batch((batch // change.batch_divisor, seq // change.length_divisor + 1), jnp.int32)
        return train_step, (placed(arrays, shapes), placed(arrays, moments), tokens), (0, 1)
    return make


# --- RoFormer of transformers ---

def turned_encoder(config, batch, length, kind=F32):
    """RoFormer on long texts, without dropout: words at masked places, rows with padding; Adafactor."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxRoFormerForMaskedLM", kind, config, "FlaxRoFormerLayer")
        rows = arrays.batch((batch // change.batch_divisor, length // change.length_divisor), jnp.int32)

        def loss_fn(params, ids, mask, labels):
            logits = model(ids, mask, params=params).logits
            losses = optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), jnp.maximum(labels, 0))
            chosen = labels >= 0
            return jnp.where(chosen, losses, 0).sum() / jnp.maximum(chosen.sum(), 1)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adafactor(warmed_up(5e-4)))
        return trained(arrays, change, model.params_shape_tree, loss_fn, optimizer, rows, rows, rows)
    return make
