"""More models of language that nobody tunes the advice for: written without a look at its rules or its figures.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import jax
import jax.numpy as jnp

from advice_structures import BF16, F32, checkpointed, in_float32, token_loss
from advice_unseen_optimizers import adamw, adamw_state, each, trained


def normed(x, gain):
    wide = x.astype(F32)
    wide = wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + 1e-6)
    return (wide * (1 + gain.astype(F32))).astype(x.dtype)


def turned(x, places, base=500000.0):
    """Of [batch, time, heads, side], by [batch, time]: the first half of each head with the second."""
    half = x.shape[-1] // 2
    angle = places[..., None, None].astype(F32) * base ** (-jnp.arange(half) / half)
    one, two = x[..., :half].astype(F32), x[..., half:].astype(F32)
    both = one * jnp.cos(angle) - two * jnp.sin(angle), two * jnp.cos(angle) + one * jnp.sin(angle)
    return jnp.concatenate(both, -1).astype(x.dtype)


def half_precision(params):
    return jax.tree.map(lambda p: p.astype(BF16), params)


def weights_of(scores, mask):
    return jax.nn.softmax(jnp.where(mask, scores.astype(F32), -1e30), -1).astype(BF16)


def gated_units(p, x):
    return (jax.nn.silu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]


def stack_of(arrays, lead, shapes):
    """Weights by name, split on their first dimension after the lead, of four on the largest; vectors are not split."""
    def one(shape):
        first = shape.index(max(shape)) if len(shape) == 4 else 0
        return arrays.parameter((*lead, *shape), len(lead) + first if len(shape) > 1 else None)
    return {name: one(shape) for name, shape in shapes.items()}


def gated_shapes(width, hidden):
    return {"gate": (width, hidden), "up": (width, hidden), "down": (hidden, width)}


# --- Optimizers ---

def clipped(update, most=1.0):
    """The update of slopes that are clipped by the norm of them all."""
    def clip_and_update(params, state, grads):
        total = sum(jnp.vdot(g, g, preferred_element_type=F32) for g in jax.tree.leaves(grads))
        scale = jnp.where(total > most ** 2, most * jax.lax.rsqrt(total), 1.0)
        return update(params, state, jax.tree.map(lambda g: g * scale.astype(g.dtype), grads))
    return clip_and_update


def slim(params):
    """As large as the parameters, in bfloat16."""
    return jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, BF16, sharding=p.sharding), params)


def root_mean_squares(params, squares, grads):
    squares = each(lambda s, g: 0.99 * s + 0.01 * g * g, squares, grads)
    return each(lambda p, s, g: p - 5e-7 * g / (jnp.sqrt(s) + 1e-8), params, squares, grads), squares


def averaged(update, decay=0.9995):
    """The update, and a running average of what it makes."""
    def update_and_average(params, state, grads):
        params, inner = update(params, state["inner"], grads)
        average = each(lambda a, p: decay * a + (1 - decay) * p, state["average"], params)
        return params, {"inner": inner, "average": average}
    return update_and_average


def orthogonal(matrix, rounds=5):
    """Of [..., rows, columns]: the nearest with all singular values near one, by Newton and Schulz."""
    is_tall = matrix.shape[-2] > matrix.shape[-1]
    x = jnp.swapaxes(matrix, -1, -2) if is_tall else matrix
    x = (x / (jnp.linalg.norm(x, axis=(-2, -1), keepdims=True) + 1e-7)).astype(BF16)
    for _ in range(rounds):
        square = x @ jnp.swapaxes(x, -1, -2)
        x = 3.4445 * x + (-4.775 * square + 2.0315 * square @ square) @ x
    return jnp.swapaxes(x, -1, -2) if is_tall else x


def muon_state(arrays, params):
    return {"matrices": params["matrices"], "others": adamw_state(arrays, params["others"])}


def muon(params, state, grads):
    """Matrices move by their momentum made orthogonal, the others as AdamW has it."""
    momentum = each(lambda m, g: 0.95 * m + g, state["matrices"], grads["matrices"])

    def moved(p, m, g):
        rows, columns = p.shape[-2:]
        step = orthogonal((g + 0.95 * m).astype(F32)).astype(F32) * max(1, rows / columns) ** 0.5
        return (p.astype(F32) * (1 - 2e-4) - 0.02 * step).astype(p.dtype)
    matrices = jax.tree.map(moved, params["matrices"], momentum, grads["matrices"])
    others, moments = adamw(params["others"], state["others"], grads["others"])
    return {"matrices": matrices, "others": others}, {"matrices": momentum, "others": moments}


# --- Decoders ---

def latent_shapes(width, heads, side, turning, query_rank, rank, hidden):
    return {"q_down": (width, query_rank), "q_norm": (query_rank,), "q_up": (query_rank, heads, side + turning),
            "kv_down": (width, rank + turning), "kv_norm": (rank,), "kv_up": (rank, heads, 2 * side),
            "out": (heads, side, width), "norm1": (width,), "norm2": (width,), **gated_shapes(width, hidden)}


def latent_keys(layers, width, heads, side, turning, query_rank, rank, hidden, vocabulary, batch, length):
    """Scanned; keys and values of all heads made of few latents; one more layer says the word after the next."""
    shapes = latent_shapes(width, heads, side, turning, query_rank, rank, hidden)

    def attention(p, h):
        places = jnp.arange(length)[None]
        q = jnp.einsum("btr,rhk->bthk", normed(h @ p["q_down"], p["q_norm"]), p["q_up"])
        q, q_turning = jnp.split(q, [side], -1)
        latent, k_turning = jnp.split(h @ p["kv_down"], [rank], -1)
        k, v = jnp.split(jnp.einsum("btr,rhk->bthk", normed(latent, p["kv_norm"]), p["kv_up"]), 2, -1)
        shared = jnp.broadcast_to(turned(k_turning[:, :, None], places), (*k.shape[:3], turning))
        q, k = jnp.concatenate([q, turned(q_turning, places)], -1), jnp.concatenate([k, shared], -1)
        scores = jnp.einsum("bthk,bshk->bhts", q, k) * (side + turning) ** -0.5
        mixed = jnp.einsum("bhts,bshk->bthk", weights_of(scores, jnp.tri(length, dtype=bool)), v)
        return jnp.einsum("bthk,hkd->btd", mixed, p["out"])

    def block(x, p):
        p = half_precision(p)
        x = x + attention(p, normed(x, p["norm1"]))
        return x + gated_units(p, normed(x, p["norm2"])), None

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"embed": arrays.parameter((vocabulary, width)), "head": arrays.parameter((width, vocabulary)),
                  "norm": arrays.parameter((width,), None), "layers": stack_of(arrays, (layers,), shapes),
                  "ahead": {"join": arrays.parameter((2 * width, width)), "norms": arrays.parameter((2, width), None),
                            "layer": stack_of(arrays, (), shapes)}}
        layer = checkpointed(change, block)

        def said(params, x, targets):
            return token_loss(normed(x, params["norm"]) @ params["head"].astype(BF16), targets)

        def loss_fn(params, ids):
            table, ahead = params["embed"].astype(BF16), params["ahead"]
            x, _ = jax.lax.scan(layer, table[ids[:, :-2]], params["layers"])
            both = normed(x, ahead["norms"][0]), normed(table[ids[:, 1:-1]], ahead["norms"][1])
            y, _ = layer(jnp.concatenate(both, -1) @ ahead["join"].astype(BF16), ahead["layer"])
            return said(params, x, ids[:, 1:-1]) + 0.3 * said(params, y, ids[:, 2:])
        return trained(loss_fn, clipped(adamw), params, adamw_state(arrays, params),
                       arrays.batch((size, length + 2), jnp.int32))
    return make


def held(scores, most):
    return most * jnp.tanh(scores / most)


def with_the_one_before(x, fill):
    """Of [batch, windows, window, ...]: each window after the one before it."""
    before = jnp.concatenate([jnp.full_like(x[:, :1], fill), x[:, :-1]], 1)
    return jnp.concatenate([before, x], 2)


def near_attention(q, k, v, segments, window):
    """Of [batch, time, groups, (share,) side]: the last words only, as many as a window has, of the same text."""
    def cut(x):
        return x.reshape(x.shape[0], -1, window, *x.shape[2:])
    keys, values = with_the_one_before(cut(k), 0), with_the_one_before(cut(v), 0)
    texts = with_the_one_before(cut(segments), -1)
    apart = jnp.arange(window)[:, None] + window - jnp.arange(2 * window)
    mask = (apart >= 0) & (apart < window) & (cut(segments)[..., None] == texts[:, :, None])
    scores = held(jnp.einsum("bntgrk,bnsgk->bngrts", cut(q), keys).astype(F32), 50.0)
    return jnp.einsum("bngrts,bnsgk->bntgrk", weights_of(scores, mask[:, :, None, None]), values).reshape(q.shape)


def far_attention(q, k, v, segments):
    time = q.shape[1]
    mask = jnp.tri(time, dtype=bool) & (segments[:, :, None] == segments[:, None])
    scores = held(jnp.einsum("btgrk,bsgk->bgrts", q, k).astype(F32), 50.0)
    return jnp.einsum("bgrts,bsgk->btgrk", weights_of(scores, mask[:, None, None]), v)


def paired_windows(pairs, width, groups, share, side, hidden, window, vocabulary, batch, length):
    """Layers that see a window and layers that see all, scanned two at a time; several texts in each row."""
    shapes = {"q": (width, groups, share, side), "kv": (width, 2, groups, side), "out": (groups, share, side, width),
              "norms": (4 * width,), **gated_shapes(width, hidden)}

    def layer(p, x, segments, places, attend):
        p = half_precision(p)
        norms = jnp.split(p["norms"], 4)
        h = normed(x, norms[0])
        q, (k, v) = jnp.einsum("btd,dgrk->btgrk", h, p["q"]), jnp.einsum("btd,dsgk->sbtgk", h, p["kv"])
        flat = turned(q.reshape(*q.shape[:2], -1, side), places) * side ** -0.5
        mixed = attend(flat.reshape(q.shape), turned(k, places), v, segments)
        x = x + normed(jnp.einsum("btgrk,grkd->btd", mixed, p["out"]), norms[1])
        return x + normed(gated_units(p, normed(x, norms[2])), norms[3])

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"embedder": arrays.parameter((vocabulary, width)), "final": arrays.parameter((width,), None),
                  "local": stack_of(arrays, (pairs,), shapes), "global": stack_of(arrays, (pairs,), shapes)}

        def loss_fn(params, data):
            segments, places = data["segments"], data["places"]

            def near(*what):
                return near_attention(*what, window)

            def pair(x, p):
                x = layer(p[0], x, segments, places, near)
                return layer(p[1], x, segments, places, far_attention), None
            table = params["embedder"].astype(BF16)
            x, _ = jax.lax.scan(checkpointed(change, pair), table[data["words"]] * width ** 0.5,
                                (params["local"], params["global"]))
            logits = held((normed(x, params["final"]) @ table.T).astype(F32), 30.0)[:, :-1]
            says = jax.nn.log_softmax(logits)
            right = jnp.take_along_axis(says, data["words"][:, 1:, None], -1)[..., 0]
            counted = (segments[:, 1:] == segments[:, :-1]) & (segments[:, 1:] > 0)
            return -jnp.sum(right * counted) / jnp.maximum(1, jnp.sum(counted))
        ids = arrays.batch((size, length), jnp.int32)
        state = arrays.array((), jnp.int32), slim(params), params
        return trained(loss_fn, clipped(adamw), params, state, {"words": ids, "segments": ids, "places": ids})
    return make


# --- Preferences ---

def dotted(layers, width, heads, key_heads, hidden, vocabulary):
    """Name -> shape of each weight, [out, in], as files of such models have them."""
    side = width // heads
    of_layer = {"self_attn.q_proj": (width, width), "self_attn.k_proj": (key_heads * side, width),
                "self_attn.v_proj": (key_heads * side, width), "self_attn.o_proj": (width, width),
                "mlp.gate_proj": (hidden, width), "mlp.up_proj": (hidden, width), "mlp.down_proj": (width, hidden),
                "input_layernorm": (width,), "post_attention_layernorm": (width,)}
    return {"model.embed_tokens": (vocabulary, width), "model.norm": (width,), "lm_head": (vocabulary, width),
            **{f"model.layers.{i}.{name}": shape for i in range(layers) for name, shape in of_layer.items()}}


def preferred_answers(layers, width, heads, key_heads, hidden, vocabulary, batch, length, beta=0.1):
    """Answers that people liked and others that they did not: a model against itself as it was, which is frozen."""
    shapes, side = dotted(layers, width, heads, key_heads, hidden, vocabulary), width // heads

    def linear(x, weight):
        return jnp.einsum("...i,oi->...o", x, weight.astype(x.dtype))

    def layer(p, x):
        h, places = normed(x, p["input_layernorm"]), jnp.arange(x.shape[1])[None]
        q, k, v = (linear(h, p[f"self_attn.{n}_proj"]).reshape(*x.shape[:2], -1, side) for n in "qkv")
        mixed = jax.nn.dot_product_attention(turned(q, places), turned(k, places), v, is_causal=True)
        x = x + linear(mixed.reshape(x.shape), p["self_attn.o_proj"])
        h = normed(x, p["post_attention_layernorm"])
        units = jax.nn.silu(linear(h, p["mlp.gate_proj"])) * linear(h, p["mlp.up_proj"])
        return x + linear(units, p["mlp.down_proj"])

    def likelihood(params, ids, mask, block):
        """Of the answer in each row."""
        x = params["model.embed_tokens"].astype(BF16)[ids]
        for i in range(layers):
            start = f"model.layers.{i}."
            x = block({n.removeprefix(start): p for n, p in params.items() if n.startswith(start)}, x)
        logits = linear(normed(x, params["model.norm"]), params["lm_head"])[:, :-1].astype(F32)
        words = jnp.take_along_axis(logits, ids[:, 1:, None], -1)[..., 0] - jax.nn.logsumexp(logits, -1)
        return jnp.sum(words * mask[:, 1:], -1)

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {n: arrays.parameter(shape, 0 if len(shape) > 1 else None) for n, shape in shapes.items()}
        frozen = {n: arrays.array(shape, BF16, 0 if len(shape) > 1 else None) for n, shape in shapes.items()}

        def loss_fn(params, frozen, data):
            ids = jnp.concatenate([data["chosen"], data["rejected"]])
            mask = jnp.concatenate([data["chosen_mask"], data["rejected_mask"]]).astype(F32)
            before = jax.lax.stop_gradient(likelihood(frozen, ids, mask, layer))
            gains = likelihood(params, ids, mask, checkpointed(change, layer)) - before
            better, worse = jnp.split(beta * gains, 2)
            return -jnp.mean(jax.nn.log_sigmoid(better - worse))
        ids = arrays.batch((size, length), jnp.int32)
        data = {n: ids for n in ("chosen", "rejected", "chosen_mask", "rejected_mask")}
        return trained(loss_fn, clipped(root_mean_squares, 10.0), params, params, frozen, data)
    return make


# --- States instead of keys ---

def delta_rule(q, k, v, beta, decay, chunk):
    """Of [batch, heads, time, side]: a state that forgets and is corrected, a chunk of words at a time, in float32."""
    def cut(x):
        x = x.reshape(*x.shape[:2], -1, chunk, *x.shape[3:])
        return jnp.moveaxis(x, 2, 0)
    q, k, v, beta, decay = (cut(x.astype(F32)) for x in (q, k, v, beta, decay))
    far = jnp.cumsum(decay, -1)
    fading = jnp.exp(jnp.where(jnp.tri(chunk, dtype=bool), far[..., :, None] - far[..., None, :], -jnp.inf))
    one_another = jnp.tril(jnp.einsum("nbhik,nbhjk->nbhij", k * beta[..., None], k) * fading, -1)
    asked = jnp.concatenate([v * beta[..., None], k * (beta * jnp.exp(far))[..., None]], -1)
    solved = jax.scipy.linalg.solve_triangular(one_another + jnp.eye(chunk), asked, lower=True, unit_diagonal=True)
    values, erased = jnp.split(solved, [v.shape[-1]], -1)
    scores = jnp.einsum("nbhik,nbhjk->nbhij", q, k) * fading

    def step(state, each_of):
        q, k, values, erased, scores, far = each_of
        new = values - erased @ state
        out = (q * jnp.exp(far)[..., None]) @ state + scores @ new
        last = far[..., -1:]
        kept = jnp.exp(last)[..., None] * state
        return kept + jnp.swapaxes(k * jnp.exp(last - far)[..., None], -1, -2) @ new, out
    start = jnp.zeros((*q.shape[1:3], q.shape[-1], v.shape[-1]), F32)
    _, out = jax.lax.scan(step, start, (q, k, values, erased, scores, far))
    return jnp.moveaxis(out, 0, 2).reshape(*q.shape[1:3], -1, v.shape[-1])


def short_filter(x, taps):
    """Of [batch, time, channels], each for itself: the last few."""
    count = taps.shape[0]
    padded = jnp.pad(x, ((0, 0), (count - 1, 0), (0, 0)))
    return jax.nn.silu(sum(padded[:, i:i + x.shape[1]] * taps[i] for i in range(count)))


def unit_length(x):
    return x * jax.lax.rsqrt(jnp.sum(jnp.square(x.astype(F32)), -1, keepdims=True) + 1e-6).astype(x.dtype)


def delta_chunks(layers, width, heads, key_side, value_side, hidden, chunk, vocabulary, batch, length):
    """No attention but states corrected in chunks; scanned; matrices are moved by Muon."""
    keys, values = heads * key_side, heads * value_side
    matrices = {"mix": (width, 2 * keys + 2 * values), "rates": (width, 2 * heads), "out": (values, width),
                **gated_shapes(width, hidden)}
    others = {"taps": (4 * (2 * keys + values),), "norm1": (width,), "norm2": (width,), "out_norm": (value_side,),
              "slow": (heads,)}

    def mixer(p, h):
        def in_heads(x):
            return jnp.swapaxes(x.reshape(*x.shape[:2], heads, -1), 1, 2)
        mixed, gate = jnp.split(h @ p["mix"], [2 * keys + values], -1)
        mixed = short_filter(mixed, p["taps"].reshape(4, -1))
        q, k, v = (in_heads(x) for x in jnp.split(mixed, [keys, 2 * keys], -1))
        beta, rate = jnp.split(jnp.swapaxes((h @ p["rates"]).astype(F32), 1, 2), 2, 1)
        decay = -jnp.exp(p["slow"].astype(F32))[:, None] * jax.nn.softplus(rate)
        out = delta_rule(unit_length(q) * key_side ** -0.5, unit_length(k), v, jax.nn.sigmoid(beta), decay, chunk)
        out = normed(jnp.swapaxes(out, 1, 2).astype(BF16), p["out_norm"]).reshape(*h.shape[:2], -1)
        return (out * jax.nn.silu(gate)) @ p["out"]

    def block(x, both):
        p = half_precision(both[0] | both[1])
        x = x + mixer(p, normed(x, p["norm1"]))
        return x + gated_units(p, normed(x, p["norm2"])), None

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"matrices": stack_of(arrays, (layers,), matrices),
                  "others": {"layers": stack_of(arrays, (layers,), others), "table": arrays.parameter(
                      (vocabulary, width)), "head": arrays.parameter((width, vocabulary))}}

        def loss_fn(params, ids):
            others = params["others"]
            x = others["table"].astype(BF16)[ids[:, :-1]]
            x, _ = jax.lax.scan(checkpointed(change, block), x, (params["matrices"], others["layers"]))
            return token_loss(normed(x, jnp.zeros(())) @ others["head"].astype(BF16), ids[:, 1:])
        return trained(loss_fn, muon, params, muon_state(arrays, params),
                       arrays.batch((size, length + 1), jnp.int32))
    return make


# --- Bytes ---

def plain_shapes(width):
    return {"qkv": (width, 3 * width), "proj": (width, width), "fc1": (width, 4 * width), "fc2": (4 * width, width),
            "qkv_bias": (3 * width,), "fc1_bias": (4 * width,), "fc2_bias": (width,), "ln1": (width,), "ln2": (width,)}


def centred(x, scale):
    x = x - jnp.mean(x, -1, keepdims=True)
    return x * jax.lax.rsqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * scale


def plain_block(p, x, heads):
    rows, time, width = x.shape
    qkv = centred(x, p["ln1"]) @ p["qkv"] + p["qkv_bias"]
    q, k, v = qkv.reshape(rows, time, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
    scores = jnp.matmul(q, k.swapaxes(-1, -2)) * (width // heads) ** -0.5
    scores = jax.nn.softmax(jnp.where(jnp.tri(time, dtype=bool), scores, -1e9))
    x = x + jnp.matmul(scores, v).swapaxes(1, 2).reshape(x.shape) @ p["proj"]
    h = jax.nn.gelu(centred(x, p["ln2"]) @ p["fc1"] + p["fc1_bias"])
    return x + h @ p["fc2"] + p["fc2_bias"]


def byte_patches(whole, parts, patch, batch, count):
    """A model of patches over a model of the bytes in each: either (layers, width, heads); float32, averaged."""
    (layers, width, heads), (part_layers, part_width, part_heads) = whole, parts

    def shifted(x, start):
        start = jnp.broadcast_to(start, (x.shape[0], 1, x.shape[2]))
        return jnp.concatenate([start, x[:, :-1]], 1)

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"whole": {"bytes": arrays.parameter((256, width // patch)), "start": arrays.parameter((width,), None),
                            "places": arrays.parameter((count, width)),
                            "blocks": [stack_of(arrays, (), plain_shapes(width)) for _ in range(layers)]},
                  "down": arrays.parameter((width // patch, part_width)),
                  "parts": {"bytes": arrays.parameter((256, part_width)),
                            "start": arrays.parameter((part_width,), None),
                            "places": arrays.parameter((patch, part_width), None),
                            "blocks": stack_of(arrays, (part_layers,), plain_shapes(part_width))},
                  "head": arrays.parameter((part_width, 256))}

        def patches_of(p, ids):
            x = shifted(p["bytes"][ids].reshape(size, count, width), p["start"]) + p["places"]
            block = checkpointed(change, lambda p, x: plain_block(p, x, heads))
            for one in p["blocks"]:
                x = block(one, x)
            return x

        def bytes_of(p, seen, ids):
            def block(x, one):
                return plain_block(one, x, part_heads), None
            x = shifted(p["bytes"][ids.reshape(-1, patch)], p["start"]) + p["places"] + seen
            return jax.lax.scan(checkpointed(change, block), x, p["blocks"])[0]

        def loss_fn(params, ids):
            params, ids = in_float32(params), ids.astype(jnp.int32)
            seen = patches_of(params["whole"], ids).reshape(size * count, patch, -1) @ params["down"]
            logits = bytes_of(params["parts"], seen, ids) @ params["head"]
            return token_loss(logits, ids.reshape(-1, patch)) / jnp.log(2.0)
        state = {"inner": adamw_state(arrays, params), "average": params}
        return trained(loss_fn, averaged(adamw), params, state, arrays.batch((size, count * patch), jnp.uint8))
    return make


# --- Served ---

def in_bytes(x):
    """Of keys or values: int8, and the scale of each head."""
    scale = jnp.max(jnp.abs(x.astype(F32)), -1, keepdims=True) / 127 + 1e-9
    return jnp.round(x / scale).astype(jnp.int8), scale.astype(BF16)


def written(cache, new, places):
    """Of [batch, room, ...]: some words of each sequence at its own place."""
    def one(cache, new, place):
        return jax.lax.dynamic_update_slice(cache, new, (place, 0, 0))
    return jax.vmap(one)(cache, new.astype(cache.dtype), places)


def seen_until(q, k, v, places):
    """Of q [batch, words, groups, share, side] against the whole room: what is not later than each word."""
    scores = jnp.einsum("bwgrk,btgk->bgrwt", q, k).astype(F32) * q.shape[-1] ** -0.5
    mask = jnp.arange(k.shape[1]) <= places[:, :, None]
    return jnp.einsum("bgrwt,btgk->bwgrk", weights_of(scores, mask[:, None, None]), v)


def served_shapes(width, heads, groups, hidden):
    side = width // heads
    return {"q": (width, groups, heads // groups, side), "k": (width, groups, side), "v": (width, groups, side),
            "out": (groups, heads // groups, side, width), "norm1": (width,), "norm2": (width,),
            **gated_shapes(width, hidden)}


def served_layer(p, x, places, remember):
    """One layer over some words of each sequence; remember(k, v) writes them, and gives all there are and the cache."""
    p = half_precision(p)
    h = normed(x, p["norm1"])
    q = jnp.einsum("bwd,dgrk->bwgrk", h, p["q"])
    q = turned(q.reshape(*q.shape[:2], -1, q.shape[-1]), places).reshape(q.shape)
    k, v = (jnp.einsum("bwd,dgk->bwgk", h, p[name]) for name in "kv")
    k, v, cache = remember(turned(k, places), v)
    x = x + jnp.einsum("bwgrk,grkd->bwd", seen_until(q, k, v, places), p["out"])
    return x + gated_units(p, normed(x, p["norm2"])), cache


def large_model(params, caches, words, lengths):
    """Scores of all words given; the caches are in int8, of all layers together."""
    places = lengths[:, None] + jnp.arange(words.shape[1])

    def layer(x, both):
        def remember(k, v):
            cache = {n: written(both[1][n], new, lengths)
                     for n, new in zip(("k", "k_scale", "v", "v_scale"), (*in_bytes(k), *in_bytes(v)))}
            k, v = (cache[n].astype(BF16) * cache[f"{n}_scale"] for n in "kv")
            return k, v, cache
        return served_layer(both[0], x, places, remember)
    x, caches = jax.lax.scan(layer, params["embed"].astype(BF16)[words], (params["layers"], caches))
    return (normed(x, params["norm"]) @ params["head"].astype(BF16)).astype(F32), caches


def small_model(params, caches, words, lengths):
    """Scores of the one word given; a cache in bfloat16 for each layer."""
    x, grown = params["embed"].astype(BF16)[words[:, None]], []
    for p, cache in zip(params["layers"], caches):
        def remember(k, v, cache=cache):
            k, v = written(cache[0], k, lengths), written(cache[1], v, lengths)
            return k, v, (k, v)
        x, cache = served_layer(p, x, lengths[:, None], remember)
        grown.append(cache)
    return (normed(x, params["norm"])[:, 0] @ params["embed"].astype(BF16).T).astype(F32), grown


def checked(key, drafted, guesses, scores):
    """How many guesses of each sequence are taken, and the word that follows them."""
    wanted, steps = jax.nn.softmax(scores), drafted.shape[1]
    likely, was = (jnp.take_along_axis(p, drafted[..., None], -1)[..., 0] for p in (wanted[:, :-1], guesses))
    luck, other = jax.random.split(key)
    taken = jnp.cumprod(jax.random.uniform(luck, was.shape) * was < likely, 1).sum(1)
    left = jnp.maximum(wanted - jnp.pad(guesses, ((0, 0), (0, 1), (0, 0))), 0)
    left = jnp.take_along_axis(left, taken[:, None, None], 1)[:, 0]
    follows = jax.random.categorical(other, jnp.log(left + 1e-12)).astype(jnp.int32)
    said = jnp.pad(drafted, ((0, 0), (0, 1)))
    return taken, jnp.where(jnp.arange(steps + 1) == taken[:, None], follows[:, None], said), follows


def checked_drafts(large, small, vocabulary, steps, batch, room):
    """A small model guesses some words, a large one checks them all at once; (layers, width, heads, groups, hidden)."""
    def make(arrays, change):
        size, split = batch // change.batch_divisor, change.shard == "all"
        shapes = [served_shapes(*sizes[1:]) for sizes in (large, small)]
        target = {"embed": arrays.parameter((vocabulary, large[1])), "head": arrays.parameter((large[1], vocabulary)),
                  "norm": arrays.parameter((large[1],), None), "layers": stack_of(arrays, large[:1], shapes[0])}
        draft = {"embed": arrays.parameter((vocabulary, small[1])), "norm": arrays.parameter((small[1],), None),
                 "layers": [stack_of(arrays, (), shapes[1]) for _ in range(small[0])]}
        one = arrays.array((size, room, small[3], small[1] // small[2]), BF16, 0 if split else None)
        lead, at = (large[0], size, room, large[3]), 1 if split else None
        caches = {"draft": [(one, one)] * small[0],
                  "target": {n: arrays.array((*lead, large[1] // large[2]), jnp.int8, at) for n in "kv"}
                  | {f"{n}_scale": arrays.array((*lead, 1), BF16, at) for n in "kv"}}

        def speculate(target, draft, caches, words, lengths, key):
            def guess(carry, i):
                word, caches = carry
                logits, caches = small_model(draft, caches, word, lengths + i)
                word = jax.random.categorical(jax.random.fold_in(key, i), logits).astype(jnp.int32)
                return (word, caches), (word, jax.nn.softmax(logits))
            (_, grown), (drafted, guesses) = jax.lax.scan(guess, (words, caches["draft"]), jnp.arange(steps))
            drafted, guesses = drafted.T, jnp.swapaxes(guesses, 0, 1)
            asked = jnp.concatenate([words[:, None], drafted], 1)
            scores, kept = large_model(target, caches["target"], asked, lengths)
            taken, said, follows = checked(key, drafted, guesses, scores)
            return {"draft": grown, "target": kept}, said, follows, lengths + taken + 1
        rows = arrays.batch((size,), jnp.int32)
        return speculate, (target, draft, caches, rows, rows, arrays.array((2,), jnp.uint32)), (2,)
    return make
