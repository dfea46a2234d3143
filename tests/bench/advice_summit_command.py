"""Command R7B, which judges at once the few words that a smaller model drafted for each row.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Plain jax: a scan goes over groups of four
layers. Three look at a window that turns round in its cache, with rotated keys; the fourth looks at everything, without
places. A block is parallel, and the table is shared with the logits.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import raw_key
from advice_board_training import BF16, F32, on_chips

STACKS = {"groups": 0}
LOCAL = ("first", "second", "third")


def command_shapes(layers, width, heads, few, side, hidden, vocab):
    stacked = layers // 4

    def layer():
        return {"input_layernorm": (stacked, width), "q_proj": (stacked, width, heads * side),
                "k_proj": (stacked, width, few * side), "v_proj": (stacked, width, few * side),
                "o_proj": (stacked, heads * side, width), "gate_proj": (stacked, width, hidden),
                "up_proj": (stacked, width, hidden), "down_proj": (stacked, hidden, width)}
    return {"embed_tokens": (vocab, width), "norm": (width,),
            "groups": {name: layer() for name in (*LOCAL, "global")}}


def weights_of(change, shapes):
    """In bfloat16, or matrices in int8 with a scale for each column of each layer."""
    from advice_programs import Int8

    def one(path, shape):
        if change.quantized and "norm" not in path[-1].key:
            return Int8(jax.ShapeDtypeStruct(shape, jnp.int8),
                        jax.ShapeDtypeStruct((*shape[:-2], shape[-1]), F32))
        return jax.ShapeDtypeStruct(shape, BF16)
    return jax.tree_util.tree_map_with_path(one, shapes, is_leaf=lambda node: isinstance(node, tuple))


def dot(x, weight):
    return x @ weight.astype(x.dtype)


def attend(x, table):
    """Logits by a table of words, whose scales belong to the numbers of x."""
    if hasattr(table, "scale"):  # in int8
        return (x * table.scale.astype(x.dtype)) @ table.values.T.astype(x.dtype)
    return x @ table.T


def layer_norm(x, scale):
    y = x.astype(F32)
    y = y - y.mean(-1, keepdims=True)
    return (y * jax.lax.rsqrt((y * y).mean(-1, keepdims=True) + 1e-5)).astype(x.dtype) * scale


def rotated(x, places):
    """x [b, k, h, d] at places [b, k]."""
    side = x.shape[-1]
    angles = places[..., None, None].astype(F32) * 50000.0 ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    even, odd = x[..., ::2].astype(F32), x[..., 1::2].astype(F32)
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape).astype(x.dtype)


def judged(logits, drafted, draft_odds, key):
    """How many drafted words [b, k] are taken, and the word that comes after them."""
    odds = jax.nn.softmax(logits.astype(F32), axis=-1)                                    # [b, k + 1, v]
    luck, draw = jax.random.split(key)
    ours = jnp.take_along_axis(odds[:, :-1], drafted[..., None], axis=-1)[..., 0]
    theirs = jnp.take_along_axis(draft_odds, drafted[..., None], axis=-1)[..., 0]
    is_taken = jax.random.uniform(luck, ours.shape) < ours / jnp.maximum(theirs, 1e-10)
    taken = jnp.cumprod(is_taken.astype(jnp.int32), axis=1).sum(1)
    line = jnp.arange(taken.shape[0])
    rest = jnp.maximum(odds - jnp.pad(draft_odds.astype(F32), ((0, 0), (0, 1), (0, 0))), 0.0)[line, taken]
    return taken, jax.random.categorical(draw, jnp.log(rest / jnp.maximum(rest.sum(-1, keepdims=True), 1e-10) + 1e-20))


def command_verify(layers, width, heads, few, side, hidden, vocab, window, drafted, batch, length, kind=BF16):
    def make(arrays, change):
        rows, room = batch // change.batch_divisor, length // change.length_divisor
        turning, count = min(window, room) + drafted + 1, drafted + 1

        def attention(layer, cache, h, places, slots, seen, is_local):
            def split(name):
                return dot(h, layer[name]).reshape(*h.shape[:2], -1, side)
            q, k, v = split("q_proj"), split("k_proj"), split("v_proj")
            if is_local:
                q, k = rotated(q, places), rotated(k, places)
            line = jnp.arange(h.shape[0])[:, None]
            keys = cache["k"].at[line, :, slots].set(k)
            values = cache["v"].at[line, :, slots].set(v)
            q = q.reshape(*h.shape[:2], few, heads // few, side)
            scores = jnp.einsum("bkgqd,bgtd->bgqkt", q, keys) * side ** -0.5
            weights = jax.nn.softmax(jnp.where(seen[:, None, None], scores.astype(F32), -1e9), axis=-1).astype(h.dtype)
            mixed = jnp.einsum("bgqkt,bgtd->bkgqd", weights, values).reshape(*h.shape[:2], -1)
            return dot(mixed, layer["o_proj"]), {"k": keys, "v": values}

        def step(params, cache, words, draft_odds, start, key):
            """words [b, 1 + k]: the last that was taken, and those drafted; start [b]: its place."""
            places = start[:, None] + jnp.arange(count)
            turned = places % turning
            held = cache["places"].at[jnp.arange(words.shape[0])[:, None], turned].set(places)
            behind = places[..., None] - held[:, None]
            near = (behind >= 0) & (behind < window) & (held >= 0)[:, None]
            before = jnp.arange(room) <= places[..., None]

            def group(x, given):
                layers_of, caches = given
                written = {}
                for name in (*LOCAL, "global"):
                    layer, is_local = layers_of[name], name in LOCAL
                    h = layer_norm(x, layer["input_layernorm"])
                    mixed, written[name] = attention(layer, caches[name], h, places, turned if is_local else places,
                                                     near if is_local else before, is_local)
                    inner = jax.nn.silu(dot(h, layer["gate_proj"])) * dot(h, layer["up_proj"])
                    x = x + mixed + dot(inner, layer["down_proj"])
                return x, written
            x = params["embed_tokens"][words].astype(kind)
            x, written = jax.lax.scan(group, x, (params["groups"], cache["groups"]))
            logits = attend(layer_norm(x, params["norm"]), params["embed_tokens"]) * 0.25
            key, used = jax.random.split(key)
            taken, after = judged(logits, words[:, 1:], draft_odds, used)
            return taken, after, {"groups": written, "places": held}, start + taken + 1, key

        def cached(places):
            split = 1 if change.shard == "all" else None
            return {name: arrays.array((layers // 4, rows, few, places, side), kind, split) for name in ("k", "v")}
        params = weights_of(change, command_shapes(layers, width, heads, few, side, hidden, vocab))
        cache = {"groups": {**{name: cached(turning) for name in LOCAL}, "global": cached(room)},
                 "places": arrays.batch((rows, turning), jnp.int32)}
        return step, (on_chips(arrays, params, STACKS), cache, arrays.batch((rows, count), jnp.int32),
                      arrays.batch((rows, drafted, vocab), kind), arrays.batch((rows,), jnp.int32),
                      raw_key(arrays)), (1,)
    return make
