"""Words over time, long rows, passages that are found, and latents told by captions, as other authors write them.

Each maker takes its Arrays and Change, and gives (step, arguments, donated); libraries are imported where a model is
made. Written without a look at the advice, its rules or any figure of it.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import matrices_only, model_of, random_key, trained, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32
from advice_trial_sequences import cast, kind_of


def layers_of(depth, **sizes):
    return shaped(**{name: (depth, *size) for name, size in sizes.items()})


def centred(x):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(jnp.square(wide).mean(-1, keepdims=True) + 1e-6)).astype(x.dtype)


# --- A recurrent net ---

def highway_ticks(ticks, width, vocabulary, batch, length, kind=F32):
    """A recurrent highway network: several small steps between two words, each of which carries or changes its state.

    The table of words is the head; what is lost at each word is told.
    """
    def make(arrays, change):
        import optax
        now = kind_of(change, kind)
        rows, time = batch // change.batch_divisor, length // change.length_divisor
        shapes = {"words": shaped(table=(vocabulary, width), bias=(vocabulary,)),
                  "enter": shaped(kernel=(width, 2 * width)),
                  "ticks": [shaped(kernel=(width, 2 * width), bias=(2 * width,)) for _ in range(ticks)]}

        def loss_of(params, ids):
            p = cast(params, now)
            entered = p["words"]["table"][ids[:, :-1].T] @ p["enter"]["kernel"]

            def word(state, told):
                for i, one in enumerate(p["ticks"]):
                    h = state @ one["kernel"] + one["bias"]
                    made, gate = jnp.split(h + told if i == 0 else h, 2, -1)
                    gate = jax.nn.sigmoid(gate - 2)
                    state = jnp.tanh(made) * gate + state * (1 - gate)
                return state, state
            start = jnp.zeros((ids.shape[0], width), now)
            _, states = jax.lax.scan(maybe_checkpointed(change, word), start, entered)
            return word_loss(states @ p["words"]["table"].T + p["words"]["bias"], ids[:, 1:].T)
        optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.add_decayed_weights(1e-7, matrices_only),
                                optax.sgd(0.2, momentum=0.9))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer,
                                arrays.batch((rows, time + 1), jnp.int32))
    return make


# --- transformers' BigBird ---

def sparse_blocks(config, batch, length, kind=BF16):
    """BigBird on long rows: blocks of words look at the first, the last, their neighbours and some drawn by chance;
    masked words are said. Rows of some lengths are planned otherwise, so that half of one is another program."""
    def make(arrays, change):
        import optax
        model = model_of(change, "FlaxBigBirdForMaskedLM", kind, config)
        rows = arrays.batch((batch // change.batch_divisor, length), jnp.int32)

        def loss_of(params, ids, mask, labels, key):
            dropped, drawn = jax.random.split(key)
            logits = model(ids, mask, params=params, dropout_rng=dropped, indices_rng=drawn, train=True).logits
            return word_loss(logits, jnp.maximum(labels, 0), (labels >= 0).astype(F32))
        optimizer = optax.adamw(warmed_up(1e-4), b2=0.98, weight_decay=0.01, mask=matrices_only)
        return trained(arrays, change, model.params_shape_tree, loss_of, optimizer, rows, rows, rows,
                       random_key(arrays))
    return make


# --- Passages that are found ---

def late_meetings(depth, width, heads, narrow, vocabulary, batch, asked, told, kind=BF16):
    """ColBERT: each word of a question finds its best word in each passage of the batch; two passages a question,
    whose scores by a larger model, that are given, are followed too."""
    def make(arrays, change):
        import optax
        now, rows = kind_of(change, kind), batch // change.batch_divisor
        shapes = {"words": shaped(table=(vocabulary, width), places=(512, width), gain=(width,), shift=(width,)),
                  "scanned": layers_of(depth, query=(width, width), key=(width, width), value=(width, width),
                                       out=(width, width), up=(width, 4 * width), up_bias=(4 * width,),
                                       down=(4 * width, width), down_bias=(width,), gain=(2, width), shift=(2, width)),
                  "narrow": shaped(kernel=(width, narrow))}

        def block(p, x, mask):
            size, length, _ = x.shape
            query, key, value = ((x @ p[name]).reshape(size, length, heads, width // heads)
                                 for name in ("query", "key", "value"))
            scores = jnp.einsum("bqhd,bkhd->bhqk", query, key).astype(F32) * (width // heads) ** -0.5
            weights = jax.nn.softmax(jnp.where(mask[:, None, None], scores, -1e9), -1).astype(now)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", weights, value).reshape(x.shape)
            x = centred(x + mixed @ p["out"]) * p["gain"][0] + p["shift"][0]
            h = jax.nn.gelu(x @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]
            return centred(x + h) * p["gain"][1] + p["shift"][1]

        def vectors(p, ids):
            """[..., words] -> [..., words, narrow], each of length one; nothing where there is no word."""
            mask, words = ids > 0, p["words"]
            x = centred(words["table"][ids] + words["places"][:ids.shape[-1]]) * words["gain"] + words["shift"]
            x, _ = jax.lax.scan(lambda x, one: (maybe_checkpointed(change, block)(one, x, mask), None), x, p["scanned"])
            x = (x @ p["narrow"]["kernel"]).astype(F32)
            x = x * jax.lax.rsqrt(jnp.square(x).sum(-1, keepdims=True) + 1e-9)
            return jnp.where(mask[..., None], x, 0).astype(now)

        def loss_of(params, questions, passages, judged):
            p = cast(params, now)
            asked = vectors(p, questions)
            told = vectors(p, passages.reshape(-1, passages.shape[-1]))
            meets = jnp.einsum("qid,pjd->qpij", asked, told).astype(F32)
            scores = 20.0 * meets.max(-1).sum(-1)
            size = questions.shape[0]
            own = scores.reshape(size, size, 2)[jnp.arange(size), jnp.arange(size)]
            follow = optax.kl_divergence(jax.nn.log_softmax(own), jax.nn.softmax(judged.astype(F32)))
            return word_loss(scores, 2 * jnp.arange(size)) + follow.mean()
        optimizer = optax.chain(optax.clip_by_global_norm(2.0), optax.adamw(warmed_up(1e-5), mask=matrices_only))
        return trained(arrays, change, shapes, loss_of, optimizer,
                       arrays.batch((rows, asked // change.length_divisor), jnp.int32),
                       arrays.batch((rows, 2, told // change.length_divisor), jnp.int32), arrays.batch((rows, 2), F32))
    return make


# --- Latents and captions ---

def captioned_latents(depth, width, heads, side, patch, channels, words, told, batch, kind=BF16):
    """PixArt: one projection of time serves all layers, each adds a table of its own; patches look across at captions
    that T5 has read before; the noise is told."""
    across, head = side // patch, width // heads

    def make(arrays, change):
        import optax
        now, rows = kind_of(change, kind), batch // change.batch_divisor
        shapes = {"patches": shaped(kernel=(patch * patch * channels, width), bias=(width,)),
                  "places": shaped(table=(across * across, width)),
                  "time": shaped(first=(256, width), second=(width, width), shared=(width, 6 * width)),
                  "caption": shaped(first=(told, width), second=(width, width)),
                  "scanned": layers_of(depth, table=(6, width), qkv=(width, 3 * width), qkv_bias=(3 * width,),
                                       out=(width, width), look=(width, width), read=(width, 2 * width),
                                       back=(width, width), up=(width, 4 * width), up_bias=(4 * width,),
                                       down=(4 * width, width), down_bias=(width,)),
                  "last": shaped(table=(2, width), kernel=(width, patch * patch * channels))}

        def split_heads(x):
            return x.reshape(*x.shape[:2], heads, head)

        def attended(query, key, value, mask=None):
            scores = jnp.einsum("bqhd,bkhd->bhqk", split_heads(query), split_heads(key)).astype(F32) * head ** -0.5
            scores = scores if mask is None else jnp.where(mask[:, None, None], scores, -1e9)
            weights = jax.nn.softmax(scores, -1).astype(now)
            return jnp.einsum("bhqk,bkhd->bqhd", weights, split_heads(value)).reshape(query.shape)

        def block(p, x, moved, caption, mask):
            moved = p["table"] + moved
            shift_0, scale_0, gate_0, shift_1, scale_1, gate_1 = (moved[:, i:i + 1] for i in range(6))
            h = centred(x) * (1 + scale_0) + shift_0
            x = x + gate_0 * (attended(*jnp.split(h @ p["qkv"] + p["qkv_bias"], 3, -1)) @ p["out"])
            x = x + attended(x @ p["look"], *jnp.split(caption @ p["read"], 2, -1), mask) @ p["back"]
            h = centred(x) * (1 + scale_1) + shift_1
            return x + gate_1 * (jax.nn.gelu(h @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"])

        def in_patches(x):
            x = x.reshape(-1, across, patch, across, patch, channels).transpose(0, 1, 3, 2, 4, 5)
            return x.reshape(x.shape[0], across * across, patch * patch * channels)

        def loss_of(params, latents, noise, when, caption, mask):
            p, noise = cast(params, now), noise.astype(F32)
            kept = jnp.cumprod(1 - jnp.linspace(1e-4, 0.02, 1000))[when][:, None, None, None]
            mixed = jnp.sqrt(kept) * latents.astype(F32) + jnp.sqrt(1 - kept) * noise
            x = in_patches(mixed).astype(now) @ p["patches"]["kernel"] + p["patches"]["bias"] + p["places"]["table"]
            angles = when[:, None] * jnp.exp(-9.21 * jnp.arange(128) / 128)
            waves = jnp.concatenate([jnp.cos(angles), jnp.sin(angles)], -1).astype(now)
            time = jax.nn.silu(waves @ p["time"]["first"]) @ p["time"]["second"]
            moved = (jax.nn.silu(time) @ p["time"]["shared"]).reshape(-1, 6, width)
            read = jax.nn.gelu(caption.astype(now) @ p["caption"]["first"]) @ p["caption"]["second"]

            def run(x, one):
                return maybe_checkpointed(change, block)(one, x, moved, read, mask > 0), None
            x, _ = jax.lax.scan(run, x, p["scanned"])
            ends = p["last"]["table"] + time[:, None]
            made = (centred(x) * (1 + ends[:, 1:]) + ends[:, :1]) @ p["last"]["kernel"]
            return jnp.mean(jnp.square(made.astype(F32) - in_patches(noise)))
        optimizer = optax.chain(optax.clip_by_global_norm(0.01),
                                optax.adamw(2e-5, weight_decay=0.03, mask=matrices_only))
        pictures = arrays.batch((rows, side, side, channels), F32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, pictures, pictures,
                                arrays.batch((rows,), jnp.int32), arrays.batch((rows, words, told), BF16),
                                arrays.batch((rows, words), jnp.int32))
    return make
