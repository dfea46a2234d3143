"""Pictures of lines that are read: a tower of patches, and a decoder of letters that looks at it.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_proof_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_proof_words import affine, affine_shapes, layer_norm, norm_shapes
from advice_structures import BF16, F32


def looking(w, prefix, x, memory, heads, mask=None):
    """From x at memory, or at x itself; memory may be of another width."""
    q = affine(x, w[f"{prefix}_q"]).reshape(*x.shape[:2], heads, -1)
    k, v = jnp.split(affine(memory, w[f"{prefix}_kv"]).reshape(*memory.shape[:2], 2 * heads, -1), 2, axis=2)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * q.shape[-1] ** -0.5
    scores = scores if mask is None else jnp.where(mask, scores, -1e30)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v)
    return affine(mixed.reshape(x.shape), w[f"{prefix}_out"])


def looking_shapes(prefix, width, seen, lead):
    return {f"{prefix}_q": affine_shapes(width, width, lead), f"{prefix}_kv": affine_shapes(seen, 2 * width, lead),
            f"{prefix}_out": affine_shapes(width, width, lead), f"{prefix}_norm": norm_shapes(width, lead)}


def unit_shapes(width, lead):
    return {"fc1": affine_shapes(width, 4 * width, lead), "fc2": affine_shapes(4 * width, width, lead),
            "fc_norm": norm_shapes(width, lead)}


def units(w, x, act):
    return affine(act(affine(x, w["fc1"])), w["fc2"])


def read_lines(tower, decoder, patch, high, wide, vocab, batch, text, kind=BF16):
    """TrOCR: either is (depth, width, heads), in a scan; norms come first in the tower, last in the decoder."""
    (depth, width, heads), (turns, inner, inner_heads) = tower, decoder
    places = (high // patch) * (wide // patch)

    def make(arrays, change):
        time, now = text // change.length_divisor, computed(change, kind)
        shapes = shaped(patches=affine_shapes(3 * patch * patch, width), places=(places, width),
                        tower_norm=norm_shapes(width), words=(vocab, inner), word_places=(text, inner),
                        words_norm=norm_shapes(inner), head=(inner, vocab),
                        tower_scanned=looking_shapes("self", width, width, depth) | unit_shapes(width, depth),
                        decoder_scanned=(looking_shapes("self", inner, inner, turns) | unit_shapes(inner, turns)
                                         | looking_shapes("cross", inner, width, turns)))

        def see(x, w):
            h = layer_norm(x, w["self_norm"])
            x = x + looking(w, "self", h, h, heads)
            return x + units(w, layer_norm(x, w["fc_norm"]), jax.nn.gelu), None

        def loss_of(params, pictures, letters):
            p = as_kind(params, now)
            x = pictures.astype(now).reshape(-1, high // patch, patch, wide // patch, patch, 3) / 255 - 0.5
            x = x.transpose(0, 1, 3, 2, 4, 5).reshape(x.shape[0], places, -1)
            x, _ = jax.lax.scan(maybe_checkpointed(change, see), affine(x, p["patches"]) + p["places"],
                                p["tower_scanned"])
            memory = layer_norm(x, p["tower_norm"])
            causal = jnp.tril(jnp.ones((time, time), bool))

            def say(x, both):
                w, memory = both[0], both[1]
                x = layer_norm(x + looking(w, "self", x, x, inner_heads, causal), w["self_norm"])
                x = layer_norm(x + looking(w, "cross", x, memory, inner_heads), w["cross_norm"])
                return layer_norm(x + units(w, x, jax.nn.relu), w["fc_norm"])
            told = maybe_checkpointed(change, say)
            x = layer_norm(p["words"][letters[:, :-1]] + p["word_places"][:time], p["words_norm"])
            x, _ = jax.lax.scan(lambda x, w: (told(x, (w, memory)), None), x, p["decoder_scanned"])
            return word_loss(x @ p["head"], letters[:, 1:])
        rows = batch // change.batch_divisor
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(1e-4),
                                arrays.batch((rows, high, wide, 3), jnp.uint8),
                                arrays.batch((rows, time + 1), jnp.int32))
    return make
