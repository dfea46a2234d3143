"""Models that were compiled after the rules were made and their ranges set: kept aside, and judged once as they were.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated).
"""
import functools

import jax
import jax.numpy as jnp

from advice_structures import BF16, F32, checkpointed, rms_norm, token_loss, trained


def in_bf16(params):
    return jax.tree.map(lambda p: p.astype(BF16), params)


def mixer(layers, tokens, width, inner, patch, batch):
    """Patches mixed over tokens, then over channels."""
    def make(arrays, change):
        def one():
            return {"tok_in": arrays.parameter((tokens, inner)), "tok_out": arrays.parameter((inner, tokens)),
                    "ch_in": arrays.parameter((width, 4 * width)), "ch_out": arrays.parameter((4 * width, width)),
                    "n0": arrays.parameter((width,), None), "n1": arrays.parameter((width,), None)}
        pixels, size = patch * patch * 3, batch // change.batch_divisor
        params = {"stem": arrays.parameter((pixels, width)), "head": arrays.parameter((width, 1000)),
                  "blocks": {f"block_{i}": one() for i in range(layers)}}
        data = {"x": arrays.batch((size, tokens, pixels), F32), "y": arrays.batch((size,), jnp.int32)}

        @functools.partial(checkpointed, change)
        def block(x, p):
            p = in_bf16(p)
            h = jnp.einsum("btc,ti->bic", rms_norm(x, p["n0"]), p["tok_in"])
            x = x + jnp.einsum("bic,it->btc", jax.nn.gelu(h), p["tok_out"])
            return x + jax.nn.gelu(rms_norm(x, p["n1"]) @ p["ch_in"]) @ p["ch_out"]

        def loss_fn(params, data):
            x = data["x"].astype(BF16) @ params["stem"].astype(BF16)
            for p in params["blocks"].values():
                x = block(x, p)
            return token_loss(jnp.mean(x, 1) @ params["head"].astype(BF16), data["y"])
        return trained(arrays, params, loss_fn, data)
    return make


def grouped_heads(layers, width, hidden, groups, heads, vocabulary, batch, length):
    """A decoder whose heads share keys and values in groups; stacked layers, one table for both ends."""
    def make(arrays, change):
        size, depth = batch // change.batch_divisor, width // heads

        def stacked(*shape):
            return arrays.parameter((layers, *shape), 1)
        params = {"table": arrays.parameter((vocabulary, width)), "layers": {
            "q": stacked(width, width), "kv": stacked(width, 2 * groups * depth), "o": stacked(width, width),
            "gate": stacked(width, hidden), "up": stacked(width, hidden), "down": stacked(hidden, width)}}
        tokens = arrays.batch((size, length + 1), jnp.int32)

        @functools.partial(checkpointed, change)
        def layer(x, p):
            p = in_bf16(p)
            q = (x @ p["q"]).reshape(size, length, groups, heads // groups, depth)
            k, v = jnp.split((x @ p["kv"]).reshape(size, length, groups, 2 * depth), 2, -1)
            a = jnp.einsum("btghd,bsgd->bghts", q, k).astype(F32) / depth ** 0.5
            a = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), a, -1e30), -1).astype(BF16)
            x = x + jnp.einsum("bghts,bsgd->btghd", a, v).reshape(x.shape) @ p["o"]
            return x + (jax.nn.silu(x @ p["gate"]) * (x @ p["up"])) @ p["down"]

        def loss_fn(params, tokens):
            x = params["table"][tokens[:, :-1]].astype(BF16)
            x = jax.lax.scan(lambda x, p: (layer(x, p), None), x, params["layers"])[0]
            return token_loss(x @ params["table"].T.astype(BF16), tokens[:, 1:])
        return trained(arrays, params, loss_fn, tokens)
    return make


def denoiser(widths, side, batch):
    """Convolutions down and up again in bfloat16, with an embedding of the time added between."""
    def make(arrays, change):
        def pair(enter, width):
            return {"a": arrays.parameter((3, 3, enter, width), 3), "b": arrays.parameter((3, 3, width, width), 3)}
        steps = list(zip(widths, widths[1:]))
        params = {"time": arrays.parameter((256, widths[-1])), "in": arrays.parameter((3, 3, 4, widths[0]), 3),
                  "out": arrays.parameter((3, 3, widths[0], 4), 3), "down": [pair(*two) for two in steps],
                  "up": [pair(b, a) for a, b in steps]}
        size = batch // change.batch_divisor
        data = {"x": arrays.batch((size, side, side, 4), F32), "t": arrays.batch((size, 256), F32)}

        def conv(x, kernel, stride=1):
            return jax.lax.conv_general_dilated(x, kernel.astype(x.dtype), (stride, stride), "SAME",
                                                dimension_numbers=("NHWC", "HWIO", "NHWC"))

        def loss_fn(params, data):
            x = conv(data["x"].astype(BF16), params["in"])
            for p in params["down"]:
                x = jax.nn.silu(conv(jax.nn.silu(conv(x, p["a"], 2)), p["b"]))
            x = x + (data["t"].astype(BF16) @ params["time"].astype(BF16))[:, None, None]
            for p in reversed(params["up"]):
                x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
                x = jax.nn.silu(conv(jax.nn.silu(conv(x, p["a"])), p["b"]))
            return jnp.mean(jnp.square(conv(x, params["out"]).astype(F32) - data["x"]))
        return trained(arrays, params, loss_fn, data)
    return make
