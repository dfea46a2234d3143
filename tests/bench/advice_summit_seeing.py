"""Qwen2-VL reads a picture and a question: the prefill of a server, in plain jax, all weights in bfloat16.

The maker takes its Arrays and Change, and gives (step, arguments, donated). The tower of vision is a scan over stacked
blocks, the decoder a list of layers; what they are to remember is written into caches that come with the call.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import BF16, F32, specs
from advice_board_training import cast, on_chips

STACKS = {"blocks": 0}
SECTIONS = (16, 24, 24)  # of rotations: by time, height and width


def linear_shapes(rows, columns, *lead, has_bias=True):
    return {"w": (*lead, rows, columns), **({"b": (*lead, columns)} if has_bias else {})}


def layer_norm_shapes(width, *lead):
    return {"scale": (*lead, width), "bias": (*lead, width)}


def qwen2_vl_shapes(depth, seen, layers, width, heads, groups, side, hidden, vocab, patch):
    block = {"norm1": layer_norm_shapes(seen, depth), "qkv": linear_shapes(seen, 3 * seen, depth),
             "proj": linear_shapes(seen, seen, depth), "norm2": layer_norm_shapes(seen, depth),
             "fc1": linear_shapes(seen, 4 * seen, depth), "fc2": linear_shapes(4 * seen, seen, depth)}

    def layer():
        return {"input_norm": (width,), "q": linear_shapes(width, heads * side),
                "k": linear_shapes(width, groups * side), "v": linear_shapes(width, groups * side),
                "o": linear_shapes(heads * side, width, has_bias=False), "post_norm": (width,),
                "gate": linear_shapes(width, hidden, has_bias=False),
                "up": linear_shapes(width, hidden, has_bias=False),
                "down": linear_shapes(hidden, width, has_bias=False)}
    visual = {"patch_embed": linear_shapes(patch, seen, has_bias=False), "blocks": block,
              "merger": {"norm": layer_norm_shapes(seen), "fc1": linear_shapes(4 * seen, 4 * seen),
                         "fc2": linear_shapes(4 * seen, width)}}
    return specs({"visual": visual, "embed": (vocab, width), "layers": [layer() for _ in range(layers)],
                  "norm": (width,), "lm_head": linear_shapes(width, vocab, has_bias=False)})


def as_int8(tree, stacks):
    """Every matrix as one of int8 with a scale for each column, but for those that lie in no product."""
    from advice_programs import Int8

    def one(path, leaf):
        lead = any(getattr(key, "key", None) in stacks for key in path)
        if len(leaf.shape) - lead < 2:
            return leaf
        return Int8(jax.ShapeDtypeStruct(leaf.shape, jnp.int8),
                    jax.ShapeDtypeStruct((*leaf.shape[:-2], leaf.shape[-1]), F32))
    return jax.tree_util.tree_map_with_path(one, tree)


def linear(p, x):
    y = x @ p["w"].astype(x.dtype)
    return y + p["b"].astype(x.dtype) if "b" in p else y


def layer_norm(p, x):
    y = x.astype(F32)
    y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + 1e-6)
    return y.astype(x.dtype) * p["scale"] + p["bias"]


def rms_norm(scale, x):
    y = x.astype(F32)
    return (y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype) * scale


def rotated(x, angles):
    """x [b, t, h, d] by angles [t, d / 2]."""
    sin, cos = jnp.sin(angles)[:, None], jnp.cos(angles)[:, None]
    first, second = jnp.split(x.astype(F32), 2, -1)
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1).astype(x.dtype)


def attention(q, k, v, mask=None):
    groups = k.shape[2]
    q = q.reshape(*q.shape[:2], groups, -1, q.shape[-1])
    scores = jnp.einsum("bqghd,bkgd->bghqk", q, k).astype(F32) * q.shape[-1] ** -0.5
    if mask is not None:
        scores = jnp.where(mask, scores, -1e30)
    weights = jax.nn.softmax(scores, -1).astype(v.dtype)
    return jnp.einsum("bghqk,bkgd->bqghd", weights, v).reshape(*q.shape[:2], -1)


def saw(p, patches, grid, heads):
    """patches [b, p, n] of a picture, four neighbours after each other, as tokens of the decoder [b, p / 4, width]."""
    high, wide = grid
    x = linear(p["patch_embed"], patches)
    places = jnp.stack(jnp.meshgrid(jnp.arange(high), jnp.arange(wide), indexing="ij"), -1)
    places = places.reshape(high // 2, 2, wide // 2, 2, 2).transpose(0, 2, 1, 3, 4).reshape(-1, 2)
    side = x.shape[-1] // heads
    rates = 10000.0 ** (-jnp.arange(0, side // 2, 2, dtype=F32) / (side // 2))
    angles = (places[..., None] * rates).reshape(-1, side // 2)

    def body(x, block):
        h = linear(block["qkv"], layer_norm(block["norm1"], x))
        q, k, v = (a.reshape(*x.shape[:2], heads, side) for a in jnp.split(h, 3, -1))
        x = x + linear(block["proj"], attention(rotated(q, angles), rotated(k, angles), v))
        h = linear(block["fc1"], layer_norm(block["norm2"], x))
        return x + linear(block["fc2"], h * jax.nn.sigmoid(1.702 * h)), None
    x, _ = jax.lax.scan(body, x, p["blocks"])
    x = layer_norm(p["merger"]["norm"], x).reshape(x.shape[0], -1, 4 * x.shape[-1])
    return linear(p["merger"]["fc2"], jax.nn.gelu(linear(p["merger"]["fc1"], x), approximate=False))


def angles_of(grid, said, side, base=1e6):
    """Of the picture's tokens, then of words, whose three positions are the same."""
    high, wide = grid[0] // 2, grid[1] // 2
    down, over = jnp.meshgrid(jnp.arange(high), jnp.arange(wide), indexing="ij")
    picture = jnp.stack([jnp.zeros(high * wide, jnp.int32), down.reshape(-1), over.reshape(-1)])
    words = jnp.tile(max(high, wide) + jnp.arange(said), (3, 1))
    positions = jnp.concatenate([picture, words], 1)
    rates = base ** (-jnp.arange(0, side, 2, dtype=F32) / side)
    which = jnp.repeat(jnp.arange(3), jnp.array(SECTIONS), total_repeat_length=side // 2)
    return positions[which].T * rates


def qwen2_vl_prefill(depth, seen, vision_heads, layers, width, heads, groups, side, hidden, vocab, batch, pixels,
                     length, more=512, kind=BF16):
    def make(arrays, change):
        rows, said = batch // change.batch_divisor, length // change.length_divisor
        grid, patch = (pixels // 14, pixels // 14), 3 * 2 * 14 * 14
        tokens = grid[0] * grid[1] // 4
        room = tokens + said + more
        shapes = cast(qwen2_vl_shapes(depth, seen, layers, width, heads, groups, side, hidden, vocab, patch), kind)
        if change.quantized:
            shapes = as_int8(shapes, STACKS)

        def step(params, caches, patches, words, ends):
            angles = angles_of(grid, said, side)
            x = jnp.concatenate([saw(params["visual"], patches.astype(kind), grid, vision_heads),
                                 params["embed"].astype(kind)[words]], 1)
            mask, made = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool)), []
            for p, cache in zip(params["layers"], caches):
                h = rms_norm(p["input_norm"], x)
                q, k, v = (linear(p[name], h).reshape(*h.shape[:2], -1, side) for name in ("q", "k", "v"))
                q, k = rotated(q, angles), rotated(k, angles)
                made.append({"k": jax.lax.dynamic_update_slice(cache["k"], k, (0, 0, 0, 0)),
                             "v": jax.lax.dynamic_update_slice(cache["v"], v, (0, 0, 0, 0))})
                x = x + linear(p["o"], attention(q, k, v, mask))
                h = rms_norm(p["post_norm"], x)
                x = x + linear(p["down"], jax.nn.silu(linear(p["gate"], h)) * linear(p["up"], h))
            last = jnp.take_along_axis(x, (tokens + ends)[:, None, None], 1)[:, 0]
            logits = linear(params["lm_head"], rms_norm(params["norm"], last)).astype(F32)
            return logits.argmax(-1), made
        caches = [{name: arrays.batch((rows, room, groups, side), kind) for name in ("k", "v")} for _ in range(layers)]
        arguments = (on_chips(arrays, shapes, STACKS), caches,
                     arrays.batch((rows, grid[0] * grid[1], patch), F32), arrays.batch((rows, said), jnp.int32),
                     arrays.batch((rows,), jnp.int32))
        return step, arguments, (1,)
    return make
