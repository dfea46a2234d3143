"""Larger models, near a chip's capacity or of mixed precision: a scanned decoder in linen, a Phi served, a Conformer
whose norms and loss stay in float32.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); a library is imported where it is used.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, next_word_loss, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


def policy_of(change):
    return getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None


def rotated(x, positions, turned, base=10000.0):
    """The first `turned` of each head's numbers, as halves; x [..., time, heads, side], positions [..., time]."""
    rates = base ** (-jnp.arange(0, turned, 2, dtype=F32) / turned)
    angles = positions[..., None, None].astype(F32) * rates
    sin, cos = jnp.sin(angles), jnp.cos(angles)
    first, second, rest = x[..., :turned // 2], x[..., turned // 2:turned], x[..., turned:]
    both = [first * cos - second * sin, second * cos + first * sin]
    return jnp.concatenate([*(t.astype(x.dtype) for t in both), rest], -1)


# --- linen: a small Llama, its layers by nn.scan ---

def decoder_parts():
    from flax import linen as nn

    class DecoderLayer(nn.Module):
        width: int
        heads: int
        kv_heads: int
        hidden: int
        dtype: object

        @nn.compact
        def __call__(self, x, positions):
            side = self.width // self.heads

            def dense(*features, axis=-1, name=None):
                return nn.DenseGeneral(features, axis=axis, use_bias=False, dtype=self.dtype, name=name)
            h = nn.RMSNorm(dtype=self.dtype, name="input_norm")(x)
            q = rotated(dense(self.heads, side, name="q_proj")(h), positions, side)
            k = rotated(dense(self.kv_heads, side, name="k_proj")(h), positions, side)
            v = dense(self.kv_heads, side, name="v_proj")(h)
            h = jax.nn.dot_product_attention(q, k, v, is_causal=True)
            x = x + dense(self.width, axis=(-2, -1), name="o_proj")(h)
            h = nn.RMSNorm(dtype=self.dtype, name="post_norm")(x)
            h = nn.silu(dense(self.hidden, name="gate_proj")(h)) * dense(self.hidden, name="up_proj")(h)
            return x + dense(self.width, name="down_proj")(h), None

    class Decoder(nn.Module):
        layers: int
        width: int
        heads: int
        kv_heads: int
        hidden: int
        vocab: int
        dtype: object
        is_remat: bool = False
        policy: object = None

        @nn.compact
        def __call__(self, ids):
            embed = nn.Embed(self.vocab, self.width, dtype=self.dtype, name="embed_tokens")
            layer = nn.remat(DecoderLayer, prevent_cse=False, policy=self.policy) if self.is_remat else DecoderLayer
            stack = nn.scan(layer, variable_axes={"params": 0}, split_rngs={"params": True}, in_axes=nn.broadcast,
                            length=self.layers)
            x, _ = stack(self.width, self.heads, self.kv_heads, self.hidden, self.dtype, name="scanned_layers")(
                embed(ids), jnp.arange(ids.shape[1]))
            return embed.attend(nn.RMSNorm(dtype=self.dtype, name="norm")(x))
    return Decoder


def small_llama(layers, width, heads, kv_heads, hidden, vocab, batch, length, kind=BF16):
    """SmolLM's sizes and their like, pretrained: nn.scan over layers, nn.remat when asked, a tied head."""
    def make(arrays, change):
        b, time = batch // change.batch_divisor, length // change.length_divisor
        model = decoder_parts()(layers, width, heads, kv_heads, hidden, vocab, computed(change, kind),
                                change.rematerialize, policy_of(change))
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, time), jnp.int32))["params"]

        def loss_of(params, ids):
            return next_word_loss(model.apply({"params": params}, ids), ids)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(), arrays.batch((b, time), jnp.int32))
    return make


# --- A Phi, served ---

def layer_normed(x, scale, bias):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * scale.astype(x.dtype) + bias.astype(x.dtype)


def phi_decoding(layers, width, heads, hidden, vocab, turned, batch, room, kind=BF16):
    """Attention and MLP side by side behind one norm; rows are at places of their own; caches are the scan's carry."""
    side = width // heads

    def make(arrays, change):
        b, slots, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        split = 1 if change.shard == "all" else None

        def linear(rows, columns, cut):
            return {"kernel": arrays.parameter((layers, rows, columns), cut),
                    "bias": arrays.parameter((layers, columns), None)}
        blocks = {"ln": {"scale": arrays.parameter((layers, width), None),
                         "bias": arrays.parameter((layers, width), None)},
                  "q_proj": linear(width, width, 1), "k_proj": linear(width, width, 1),
                  "v_proj": linear(width, width, 1), "dense": linear(width, width, 1),
                  "fc1": linear(width, hidden, 1), "fc2": linear(hidden, width, 1)}
        params = {"embed_tokens": arrays.parameter((vocab, width)), "layers": blocks,
                  "final_layernorm": {"scale": arrays.parameter((width,), None),
                                      "bias": arrays.parameter((width,), None)},
                  "lm_head": {"kernel": arrays.parameter((width, vocab)), "bias": arrays.parameter((vocab,), None)}}
        rows = jnp.arange(b)

        def apply(p, x):
            return x @ p["kernel"].astype(now) + p["bias"].astype(now)

        def decode(params, cache, tokens, places):
            seen = jnp.arange(slots)[None] <= places[:, None]

            def layer(carry, given):
                x, keys, values = carry
                p, i = given
                h = layer_normed(x, p["ln"]["scale"], p["ln"]["bias"])
                q, k, v = (apply(p[name], h).reshape(b, heads, side) for name in ("q_proj", "k_proj", "v_proj"))
                q, k = (rotated(t[:, None], places[:, None], turned)[:, 0] for t in (q, k))
                keys = keys.at[i, rows, places].set(k.astype(keys.dtype))
                values = values.at[i, rows, places].set(v.astype(values.dtype))
                scores = jnp.einsum("bhd,bshd->bhs", q * side ** -0.5, keys[i].astype(now))
                chances = jax.nn.softmax(jnp.where(seen[:, None], scores.astype(F32), -1e30)).astype(now)
                mixed = jnp.einsum("bhs,bshd->bhd", chances, values[i].astype(now)).reshape(b, width)
                x = x + apply(p["dense"], mixed) + apply(p["fc2"], jax.nn.gelu(apply(p["fc1"], h)))
                return (x, keys, values), None
            start = params["embed_tokens"][tokens].astype(now), cache["k"], cache["v"]
            (x, keys, values), _ = jax.lax.scan(layer, start, (params["layers"], jnp.arange(layers)))
            final = params["final_layernorm"]
            logits = apply(params["lm_head"], layer_normed(x, final["scale"], final["bias"])).astype(F32)
            return jnp.argmax(logits, -1).astype(jnp.int32), {"k": keys, "v": values}, places + 1
        cache = {name: arrays.array((layers, b, slots, heads, side), BF16, split) for name in "kv"}
        ids = arrays.batch((b,), jnp.int32)
        return decode, (params, cache, ids, ids), (1,)
    return make


# --- A Conformer, told by CTC ---

def conformer_shapes(layers, width, hidden, kernel, mels, vocab):
    def norm():
        return {"scale": (layers, width), "bias": (layers, width)}

    def half():
        return {"norm": norm(), "up": (layers, width, hidden), "down": (layers, hidden, width)}
    attention = {"norm": norm(), "query": (layers, width, width), "key": (layers, width, width),
                 "value": (layers, width, width), "out": (layers, width, width), "place": (layers, width, width),
                 "bias_u": (layers, width), "bias_v": (layers, width)}
    convolution = {"norm": norm(), "point_in": (layers, width, 2 * width), "conv_depth": (layers, kernel, 1, width),
                   "inner_norm": norm(), "point_out": (layers, width, width)}
    return shaped(conv_1=(3, 3, 1, width), conv_2=(3, 3, width, width), project=(mels // 4 * width, width),
                  layer_stack={"ff_1": half(), "mhsa": attention, "cnn": convolution, "ff_2": half(), "norm": norm()},
                  head=(width, vocab), head_bias=(vocab,))


def normed(x, p):
    return layer_normed(x, p["scale"], p["bias"])


def relative_attention(p, x, places, mask, heads):
    """Transformer-XL's: scores by content and by distance, the second shifted into line."""
    b, time, width = x.shape
    h = normed(x, p["norm"])
    q, k, v = ((h @ p[name]).reshape(b, time, heads, -1) for name in ("query", "key", "value"))
    far = (places @ p["place"]).reshape(2 * time - 1, heads, -1)
    u, w = (p[name].reshape(heads, -1) for name in ("bias_u", "bias_v"))
    near = jnp.einsum("bqhd,bkhd->bhqk", q + u, k)
    shifted = jnp.pad(jnp.einsum("bqhd,phd->bhqp", q + w, far), ((0, 0), (0, 0), (0, 0), (1, 0)))
    shifted = shifted.reshape(b, heads, 2 * time, time)[:, :, 1:].reshape(b, heads, time, -1)[..., :time]
    scores = (near + shifted).astype(F32) * (width // heads) ** -0.5
    chances = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -1e30)).astype(x.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", chances, v).reshape(x.shape) @ p["out"]


def convolved(p, x, mask):
    h = jax.nn.glu(normed(x, p["norm"]) @ p["point_in"]) * mask[..., None]
    h = jax.lax.conv_general_dilated(h, p["conv_depth"], (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"),
                                     feature_group_count=h.shape[-1])
    return jax.nn.swish(normed(h, p["inner_norm"])) @ p["point_out"]


def distances(time, width):
    far = jnp.arange(time - 1, -time, -1, dtype=F32)[:, None]
    angles = far * jnp.exp(-jnp.arange(0, width, 2, dtype=F32) / width * jnp.log(10000.0))
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)


def conformer_ctc(layers, width, heads, hidden, kernel, mels, vocab, batch, frames, words, kind=F32):
    """In float32; in bfloat16 norms, softmaxes and the sums of CTC stay as they are."""
    def make(arrays, change):
        import optax
        b, heard, said = batch // change.batch_divisor, frames // change.length_divisor, words // change.length_divisor
        now = change.computed or computed(change, kind)

        def block(x, p, mask):
            places = distances(x.shape[1], width).astype(x.dtype)
            for name in ("ff_1", "mhsa", "cnn", "ff_2"):
                if name == "mhsa":
                    x = x + relative_attention(p[name], x, places, mask, heads)
                elif name == "cnn":
                    x = x + convolved(p[name], x, mask)
                else:
                    x = x + 0.5 * (jax.nn.swish(normed(x, p[name]["norm"]) @ p[name]["up"]) @ p[name]["down"])
            return normed(x, p["norm"])

        def loss_of(params, features, lengths, labels, label_lengths):
            p, x = as_kind(params, now), features.astype(now)[..., None]
            for name in ("conv_1", "conv_2"):
                x = jax.nn.relu(jax.lax.conv_general_dilated(x, p[name], (2, 2), "SAME",
                                                             dimension_numbers=("NHWC", "HWIO", "NHWC")))
            x = x.reshape(b // change.parts, heard // 4, -1) @ p["project"]
            mask = jnp.arange(heard // 4)[None] < (lengths // 4)[:, None]
            layer = maybe_checkpointed(change, lambda x, w: block(x, w, mask))
            x, _ = jax.lax.scan(lambda x, w: (layer(x, w), None), x, p["layer_stack"])
            logits = (x @ p["head"] + p["head_bias"]).astype(F32)
            missing = jnp.arange(said)[None] >= label_lengths[:, None]
            losses = optax.ctc_loss(logits, 1.0 - mask.astype(F32), labels, missing.astype(F32))
            return (losses / jnp.maximum(label_lengths, 1)).mean()
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.adamw(warmed_up(2e-3), b2=0.98, eps=1e-9,
                                                                           weight_decay=1e-3, mask=matrices_only))
        count = arrays.batch((b,), jnp.int32)
        return trained_in_parts(arrays, change, conformer_shapes(layers, width, hidden, kernel, mels, vocab), loss_of,
                                optimizer, arrays.batch((b, heard, mels), F32), count,
                                arrays.batch((b, said), jnp.int32), count)
    return make
