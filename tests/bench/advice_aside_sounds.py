"""Speech told by a lattice of frames and pieces of words, and sounds in a clip told by plain stages of convolutions.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was written
without a look at the advice, its rules or any figure of it; advice_aside_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import trained_with_statistics, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_proof_scenes import conv, pooled, running, standardized
from advice_structures import BF16, F32
from advice_trial_scenes import convolved
from advice_trial_sequences import cast, kind_of
from advice_verdict_pictures import abstract


# --- Speech, by a transducer ---

def lstm_over_time(p, frames):
    """Frames come and go with time first; the products with all frames are made before the loop."""
    ready = frames @ p["w"] + p["b"]

    def tick(carry, now):
        h, c = carry
        i, f, g, o = jnp.split(now + h @ p["u"], 4, axis=-1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    start = jnp.zeros((frames.shape[1], p["u"].shape[0]), frames.dtype)
    return jax.lax.scan(tick, (start, start), ready)[1]


def lattice_loss(blank, emit, frame_counts, piece_counts):
    """The sum over all ways through [frames, batch, pieces + 1] that say the pieces in their order."""
    climbs = jnp.concatenate([jnp.zeros_like(emit[..., :1]), jnp.cumsum(emit, -1)], -1)

    def row(before, now):
        stay, climb = now
        alpha = climb + jax.lax.cumlogsumexp(before + stay - climb, axis=1)
        return alpha, alpha
    _, rest = jax.lax.scan(row, climbs[0], (blank[:-1], climbs[1:]))
    alphas = jnp.concatenate([climbs[:1], rest])
    which = jnp.arange(alphas.shape[1])
    ends = alphas[frame_counts - 1, which, piece_counts] + blank[frame_counts - 1, which, piece_counts]
    return -ends.mean()


def transduced_speech(layers, width, mels, joint, pieces, batch, frames, words, kind=BF16):
    """RNN-T: equal LSTMs hear, in a scan; one LSTM reads what was said; each frame meets each place of the text."""
    def make(arrays, change):
        import optax
        now, b = kind_of(change, kind), batch // change.batch_divisor
        t, u = frames // change.length_divisor, words // change.length_divisor
        hear = {"w": (layers, width, 4 * width), "u": (layers, width, 4 * width), "b": (layers, 4 * width),
                "scale": (layers, width)}
        shapes = shaped(front=(mels, width), layer_stack=hear, embed=(pieces, width),
                        predict={"w": (width, 4 * width), "u": (width, 4 * width), "b": (4 * width,)},
                        of_frames=(width, joint), of_words=(width, joint), joint_bias=(joint,), out=(joint, pieces),
                        out_bias=(pieces,))

        def heard(x, p):
            wide = x.astype(F32)
            root = jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-6)
            return x + lstm_over_time(p, (wide * root).astype(x.dtype) * p["scale"]), None

        def met(p, sound, text, said):
            """The log probabilities of a blank and of the next piece, at each frame and place."""
            h = jnp.tanh(sound[:, :, None] + text[None] + p["joint_bias"])
            logits = (h @ p["out"] + p["out_bias"]).astype(F32)
            total = jax.nn.logsumexp(logits, -1)
            ids = jnp.broadcast_to(said[None, :, :, None], (*total.shape[:2], u, 1))
            emit = jnp.take_along_axis(logits[:, :, :-1], ids, -1)[..., 0]
            return logits[..., 0] - total, emit - total[:, :, :-1]

        def loss_of(params, spectra, said, frame_counts, piece_counts):
            p = cast(params, now)
            x = spectra.astype(now).swapaxes(0, 1) @ p["front"]
            x, _ = jax.lax.scan(maybe_checkpointed(change, heard), x, p["layer_stack"])
            begun = jnp.pad(said, ((0, 0), (1, 0)))
            read = lstm_over_time(p["predict"], p["embed"][begun].swapaxes(0, 1)).swapaxes(0, 1)
            blank, emit = maybe_checkpointed(change, met)(p, x @ p["of_frames"], read @ p["of_words"], said)
            return lattice_loss(blank, emit, frame_counts, piece_counts)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(warmed_up(1e-3)))
        counts = arrays.batch((b,), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((b, t, mels), F32),
                                arrays.batch((b, u), jnp.int32), counts, counts)
    return make


# --- What is heard in a clip ---

def clip_tags(widths, mels, frames, hidden, tags, batch, kind=BF16):
    """CNN14: stages of two 3x3 convolutions on a spectrogram, a mean of 2x2 between them; clips mixed in pairs."""
    def make(arrays, change):
        import optax
        now, size = kind_of(change, kind), batch // change.batch_divisor
        tree = {"enter": {"gain": (mels,), "shift": (mels,)},
                "stages": [{"one": conv(3, before, width), "two": conv(3, width, width)}
                           for before, width in zip((1, *widths), widths)]}
        shapes = abstract(tree) | {"embed": shaped(w=(widths[-1], hidden), b=(hidden,)),
                                   "tags": shaped(w=(hidden, tags), b=(tags,))}
        kept = abstract(running(tree))

        def stage(p, kept, x):
            new = {}
            for name in ("one", "two"):
                x, new[name] = standardized(p[name], kept[name], convolved(x, p[name]["conv"].astype(now)))
                x = jax.nn.relu(x)
            return x, new

        def dense(p, x):
            return x @ p["w"].astype(now) + p["b"].astype(now)

        def loss_of(params, kept, spectra, labels, shares):
            # Each mel has a norm of its own, so mels stand as channels there.
            x, entered = standardized(params["enter"], kept["enter"], spectra.astype(now)[:, :, None])
            x, new = x[:, :, 0, :, None], []
            share = shares.astype(now)[:, None, None, None]
            x = x * share + jnp.flip(x, 0) * (1 - share)
            for i, (p, had) in enumerate(zip(params["stages"], kept["stages"])):
                x, one = maybe_checkpointed(change, stage)(p, had, x)
                new.append(one)
                if i < len(widths) - 1:
                    x = pooled(x)
            x = x.mean(2)
            x = jax.nn.relu(dense(params["embed"], x.max(1) + x.mean(1)))
            logits = dense(params["tags"], x).astype(F32)
            labels, share = labels.astype(F32), shares.astype(F32)[:, None]
            mixed = labels * share + jnp.flip(labels, 0) * (1 - share)
            return optax.sigmoid_binary_cross_entropy(logits, mixed).mean(), {"enter": entered, "stages": new}
        return trained_with_statistics(arrays, change, shapes, kept, loss_of, optax.adam(1e-3),
                                       arrays.batch((size, frames, mels), F32), arrays.batch((size, tags), F32),
                                       arrays.batch((size,), F32))
    return make
