"""Language models whose sizes are told apart by no number, and one whose attention joins two towers.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated): a mixture of
experts (one number for rows, heads, experts and layers), retention by chunks (rows = layers, length = width, heads =
chunk), and a mixture of transformers over pictures and text.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- One number for rows, heads, experts and layers ---

def two_of(probs, room):
    """GShard's: each word goes to its two best experts while they have room; what is sent and with which weight."""
    experts = probs.shape[-1]
    first = jax.nn.one_hot(jnp.argmax(probs, -1), experts, dtype=F32)
    second = jax.nn.one_hot(jnp.argmax(probs * (1 - first), -1), experts, dtype=F32)
    place_1 = (jnp.cumsum(first, 1) - 1) * first
    place_2 = (jnp.cumsum(second, 1) - 1 + first.sum(1, keepdims=True)) * second
    gate_1, gate_2 = (probs * first).sum(-1), (probs * second).sum(-1)
    total = gate_1 + gate_2 + 1e-9

    def sent(chosen, place, gate):
        fits = chosen * (place < room)
        slots = jax.nn.one_hot(place.sum(-1).astype(jnp.int32), room, dtype=F32)
        return jnp.einsum("gs,gse,gsc->gsec", gate / total, fits, slots)
    combine = sent(first, place_1, gate_1) + sent(second, place_2, gate_2)
    balance = experts ** 2 * jnp.mean(first.mean(1) * probs.mean(1))
    return combine, balance


def mixed_experts(layers, width, heads, hidden, experts, vocab, batch, length, kind=BF16):
    """All in einsum, [d, h, k] kernels, layers in a scan, with adafactor."""
    side = width // heads
    stack = {"query": (layers, width, heads, side), "key": (layers, width, heads, side),
             "value": (layers, width, heads, side), "out": (layers, heads, side, width),
             "router": (layers, width, experts), "wi": (layers, experts, width, hidden),
             "wo": (layers, experts, hidden, width), "ln_attn": (layers, width), "ln_moe": (layers, width)}

    def make(arrays, change):
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        room = int(1.25 * 2 * time / experts)
        shapes = shaped(embedding=(vocab, width), position=(length, width), ln_final=(width,), scanned=stack)

        def attention(w, x):
            q = jnp.einsum("gsd,dhk->gshk", x, w["query"]) * side ** -0.5
            k, v = jnp.einsum("gsd,dhk->gshk", x, w["key"]), jnp.einsum("gsd,dhk->gshk", x, w["value"])
            logits = jnp.einsum("gqhk,gshk->ghqs", q, k).astype(F32)
            logits = jnp.where(jnp.tril(jnp.ones((time, time), bool)), logits, -1e30)
            mixed = jnp.einsum("ghqs,gshk->gqhk", jax.nn.softmax(logits).astype(now), v)
            return jnp.einsum("gqhk,hkd->gqd", mixed, w["out"])

        def moe(w, x):
            probs = jax.nn.softmax(jnp.einsum("gsd,de->gse", x.astype(F32), w["router"].astype(F32)))
            combine, balance = two_of(probs, room)
            inputs = jnp.einsum("gsec,gsd->egcd", (combine > 0).astype(now), x)
            h = jax.nn.gelu(jnp.einsum("egcd,edf->egcf", inputs, w["wi"]))
            outputs = jnp.einsum("egcf,efd->egcd", h, w["wo"])
            return jnp.einsum("gsec,egcd->gsd", combine.astype(now), outputs), balance

        def layer(x, w):
            x = x + attention(w, root_normed(x, w["ln_attn"]))
            said, balance = moe(w, root_normed(x, w["ln_moe"]))
            return x + said, balance
        block = maybe_checkpointed(change, layer)

        def loss_of(params, tokens, targets):
            p = as_kind(params, now)
            x = p["embedding"][tokens] + p["position"][:time]
            x, balance = jax.lax.scan(block, x, p["scanned"])
            logits = jnp.einsum("gsd,vd->gsv", root_normed(x, p["ln_final"]), p["embedding"])
            return word_loss(logits, targets) + 0.01 * balance.mean()
        ids = arrays.batch((rows, time), jnp.int32)
        optimizer = optax.adafactor(warmed_up(1e-2), decay_rate=0.8, clipping_threshold=1.0)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids, ids)
    return make


# --- Rows as layers, length as width, heads as a chunk ---

def retained(q, k, v, chunk):
    """RetNet's retention by chunks, of [batch, time, heads, side]; a state goes from chunk to chunk in float32."""
    batch, time, heads, side = q.shape
    q, k, v = (one.reshape(batch, time // chunk, chunk, heads, side) for one in (q * side ** -0.5, k, v))
    decay = jnp.log(1 - 2.0 ** (-5 - jnp.arange(heads, dtype=F32) * 3 / heads))
    at = jnp.arange(chunk, dtype=F32)
    far = at[:, None] - at[None]
    mask = jnp.where(far >= 0, jnp.exp(decay[:, None, None] * jnp.maximum(far, 0)), 0).astype(q.dtype)
    inner = jnp.einsum("bnhqk,bnkhe->bnqhe", jnp.einsum("bnqhd,bnkhd->bnhqk", q, k) * mask, v)
    left = jnp.exp(decay[None] * (chunk - 1 - at)[:, None]).astype(q.dtype)
    made = jnp.einsum("bnkhd,bnkhe->bnhde", k * left[..., None], v).astype(F32)
    step = jnp.exp(decay * chunk)[:, None, None]
    _, before = jax.lax.scan(lambda state, new: (state * step + new, state), jnp.zeros_like(made[:, 0]),
                             made.swapaxes(0, 1))
    grown = jnp.exp(decay[None] * (at + 1)[:, None]).astype(q.dtype)
    cross = jnp.einsum("bnqhd,nbhde->bnqhe", q * grown[..., None], before.astype(q.dtype))
    return (inner + cross).reshape(batch, time, heads, side)


def retention_network(layers, width, heads, hidden, vocab, chunk, batch, length, kind=BF16):
    """RetNet in haiku, its layers in a layer_stack."""
    side = width // heads

    def make(arrays, change):
        import haiku as hk
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None

        def linear(size, name):
            return hk.Linear(size, with_bias=False, name=name)

        def normed(name):
            return hk.RMSNorm(-1, name=name)

        def layer(x):
            h = normed("retention_norm")(x)
            q, k, v = (linear(width, name)(h).reshape(*h.shape[:2], heads, side) for name in "qkv")
            mixed = retained(q, k, v, chunk)
            mixed = hk.LayerNorm(-1, False, False, name="group_norm")(mixed).reshape(h.shape)
            x = x + linear(width, "o")(jax.nn.silu(linear(width, "g")(h)) * mixed)
            h = normed("ffn_norm")(x)
            return x + linear(width, "fc2")(jax.nn.silu(linear(hidden, "gate")(h)) * linear(hidden, "fc1")(h))

        def forward(ids):
            table = hk.get_parameter("embed", (vocab, width), init=hk.initializers.TruncatedNormal(0.02))
            block = hk.remat(layer, policy=policy) if change.rematerialize else layer
            x = hk.experimental.layer_stack(layers, name="layer_stack")(block)(table[ids])
            return linear(vocab, "lm_head")(normed("final_norm")(x))
        model = hk.without_apply_rng(hk.transform(forward))
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, time), jnp.int32))

        def loss_of(params, tokens):
            logits = model.apply(as_kind(params, now), tokens)
            return word_loss(logits[:, :-1], tokens[:, 1:])
        optimizer = optax.chain(optax.clip_by_global_norm(2.0),
                                optax.adamw(warmed_up(6e-4), b2=0.98, weight_decay=0.05, mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((rows, time), jnp.int32))
    return make


# --- Two towers that attend as one ---

def joined_towers(layers, text, picture, heads, kv_heads, side, vocab, features, patches, batch, length, kind=BF16):
    """A mixture of transformers: patches and words have weights (and widths) of their own, and attend joined.

    text and picture are (width, hidden); words see all patches and the words before, patches see patches.
    """
    cuts = (heads * side, (heads + kv_heads) * side)
    joined = (heads + 2 * kv_heads) * side

    def tower(width, hidden):
        return {"qkv": (width, joined), "proj": (heads * side, width), "gate_up": (width, 2 * hidden),
                "down": (hidden, width), "norm_1": (width,), "norm_2": (width,)}

    def make(arrays, change):
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        shapes = shaped(tokens=(vocab, text[0]), connector=(features, picture[0]), places=(patches + length, text[0]),
                        patch_places=(patches, picture[0]), norm=(text[0],))
        shapes["layers"] = [shaped(text=tower(*text), picture=tower(*picture)) for _ in range(layers)]
        total = patches + time
        at = jnp.arange(total)
        seen = (at[None] < patches) | ((at[:, None] >= patches) & (at[None] <= at[:, None]))

        def heads_of(w, x):
            q, k, v = jnp.split(root_normed(x, w["norm_1"]) @ w["qkv"], cuts, -1)
            return [one.reshape(*x.shape[:2], -1, side) for one in (q, k, v)]

        def fed(w, x):
            gate, up = jnp.split(root_normed(x, w["norm_2"]) @ w["gate_up"], 2, -1)
            return x + (jax.nn.gelu(gate) * up) @ w["down"]

        def layer(w, image, words):
            q, k, v = (jnp.concatenate(both, 1) for both in
                       zip(heads_of(w["picture"], image), heads_of(w["text"], words)))
            k, v = (jnp.repeat(one, heads // kv_heads, 2) for one in (k, v))
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * side ** -0.5
            probs = jax.nn.softmax(jnp.where(seen, scores, -1e30)).astype(v.dtype)
            mixed = jnp.einsum("bhqk,bkhd->bqhd", probs, v).reshape(q.shape[0], total, -1)
            of_image, of_words = jnp.split(mixed, [patches], 1)
            return (fed(w["picture"], image + of_image @ w["picture"]["proj"]),
                    fed(w["text"], words + of_words @ w["text"]["proj"]))
        block = maybe_checkpointed(change, layer)

        def loss_of(params, images, ids, mask):
            p = as_kind(params, now)
            image = images.astype(now) @ p["connector"] + p["patch_places"]
            words = p["tokens"][ids] + p["places"][patches:total]
            for w in p["layers"]:
                image, words = block(w, image, words)
            logits = root_normed(words, p["norm"]) @ p["tokens"].T
            return word_loss(logits[:, :-1], ids[:, 1:], mask[:, 1:].astype(F32))
        ids = arrays.batch((rows, time), jnp.int32)
        images = arrays.batch((rows, patches, features), F32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.lion(warmed_up(1e-4), b1=0.95, b2=0.98, weight_decay=0.1, mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, images, ids, ids)
    return make
