"""DINOv2 ViT-g/14 with registers as a service of features: pictures of 896 pixels come in as bytes, out go the normed
class token, the mean of the patches, and the patches after each quarter of the blocks, for heads of depth and masks.

Plain pytrees, blocks stacked and scanned in four groups; frozen weights in float32, computation in bfloat16.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import laid_out
from advice_board_training import BF16, F32, abstract, cast, compute_dtype
from advice_round_d_parts import quantized, times

STACKED = {"blocks": 0}
REGISTERS, TRAINED_GRID, GROUPS = 4, 37, 4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def shapes_of(depth, width, hidden, patch):
    def stacked(*shape):
        return (depth, *shape)

    def norm():
        return {"scale": stacked(width), "bias": stacked(width)}
    return {
        "patch": {"w": (patch * patch * 3, width), "b": (width,)},
        "cls": (width,), "registers": (REGISTERS, width), "cls_place": (width,),
        "places": (TRAINED_GRID, TRAINED_GRID, width),
        "blocks": {
            "norm1": norm(),
            "qkv": {"w": stacked(width, 3 * width), "b": stacked(3 * width)},
            "proj": {"w": stacked(width, width), "b": stacked(width)},
            "scale1": stacked(width),
            "norm2": norm(),
            "w12": {"w": stacked(width, 2 * hidden), "b": stacked(2 * hidden)},
            "w3": {"w": stacked(hidden, width), "b": stacked(width)},
            "scale2": stacked(width),
        },
        "norm": {"scale": (width,), "bias": (width,)},
    }


def layer_norm(p, x, eps=1e-6):
    x32 = x.astype(F32)
    mean = x32.mean(-1, keepdims=True)
    var = x32.var(-1, keepdims=True)
    y = (x32 - mean) * jax.lax.rsqrt(var + eps)
    return (y * p["scale"].astype(F32) + p["bias"].astype(F32)).astype(x.dtype)


def dense(p, x):
    return times(x, p["w"]) + p["b"].astype(x.dtype)


def attention(p, x, heads):
    rows, length, width = x.shape
    q, k, v = jnp.split(dense(p["qkv"], x).reshape(rows, length, 3 * heads, width // heads), 3, axis=2)
    logits = jnp.einsum("bqhd,bkhd->bhqk", q * (width // heads) ** -0.5, k, preferred_element_type=F32)
    weights = jax.nn.softmax(logits, axis=-1).astype(x.dtype)
    return dense(p["proj"], jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape))


def swiglu(p, x):
    gate, value = jnp.split(dense(p["w12"], x), 2, axis=-1)
    return dense(p["w3"], jax.nn.silu(gate) * value)


def block(p, x, heads):
    with jax.named_scope("attn"):
        x = x + attention(p, layer_norm(p["norm1"], x), heads) * p["scale1"].astype(x.dtype)
    with jax.named_scope("mlp"):
        return x + swiglu(p, layer_norm(p["norm2"], x)) * p["scale2"].astype(x.dtype)


def patchified(pictures, patch, now):
    rows, height, width, _ = pictures.shape
    x = (pictures.astype(F32) / 255.0 - jnp.asarray(MEAN)) / jnp.asarray(STD)
    x = x.astype(now).reshape(rows, height // patch, patch, width // patch, patch, 3)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(rows, -1, patch * patch * 3)


def places_of(params, grid, now):
    """Learned on 37 x 37, interpolated to the grid that is served."""
    places = jax.image.resize(params["places"].astype(F32), (grid, grid, params["places"].shape[-1]), "bicubic")
    return places.reshape(grid * grid, -1).astype(now)


def features_of(params, pictures, heads, patch, now):
    rows, size = pictures.shape[:2]
    x = dense(params["patch"], patchified(pictures, patch, now)) + places_of(params, size // patch, now)
    cls = (params["cls"].astype(F32) + params["cls_place"].astype(F32)).astype(now)
    prefix = jnp.concatenate([cls[None], params["registers"].astype(now)])
    x = jnp.concatenate([jnp.broadcast_to(prefix, (rows, *prefix.shape)), x], axis=1)

    def one_layer(x, layer):
        return block(layer, x, heads), None

    def one_group(x, layers):
        x, _ = jax.lax.scan(one_layer, x, layers)
        return x, layer_norm(params["norm"], x)[:, 1 + REGISTERS:]
    grouped = jax.tree.map(lambda w: w.reshape(GROUPS, -1, *w.shape[1:]), params["blocks"])
    x, levels = jax.lax.scan(one_group, x, grouped)
    x = layer_norm(params["norm"], x)
    return {"cls": x[:, 0].astype(F32), "mean": x[:, 1 + REGISTERS:].astype(F32).mean(1), "patches": levels}


def vit_serving(depth, width, heads, hidden, patch, size, batch, kind=BF16):
    def make(arrays, change):
        rows = batch // change.batch_divisor
        now = compute_dtype(change, kind)
        params = cast(abstract(shapes_of(depth, width, hidden, patch)), change.stored)
        for name in ("patch", "blocks"):
            params |= quantized(change, {name: params[name]}, tuple(STACKED))

        def extract(params, pictures):
            features = features_of(params, pictures, heads, patch, now)
            lengths = jnp.linalg.norm(features["cls"], axis=-1, keepdims=True)
            return {**features, "embedding": features["cls"] / jnp.maximum(lengths, 1e-6)}
        return extract, (laid_out(arrays, params, STACKED), arrays.batch((rows, size, size, 3), jnp.uint8)), (1,)
    return make


FAMILY = {"league_vit_serving": dict(
    make=vit_serving(depth=40, width=1536, heads=24, hidden=4096, patch=14, size=896, batch=8),
    is_donated=False,
    variants=("donate_inputs", "bf16_parameters", "halve_batch", "int8_weights", "shard_parameters", "shard_all"))}
