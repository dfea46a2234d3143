"""AlphaFold 2's Evoformer: crops of proteins with their aligned sequences, blocks stacked in a scan.

Plain jax and einsum for one protein, which vmap makes a batch of; float32 weights, bfloat16 activations. It learns the
masked sequences and the distances of residues, with dropout of whole rows and columns, by Adam.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import checkpointed, laid_out, raw_key, specs, summed_slopes, updated
from advice_board_training import BF16, F32, cast, compute_dtype


def norm_shape(size):
    return {"scale": (size,), "offset": (size,)}


def linear_shape(a, b):
    return {"w": (a, b), "b": (b,)}


def attention_shape(c, heads, side):
    return {"norm": norm_shape(c), "q": (c, heads, side), "k": (c, heads, side), "v": (c, heads, side),
            "gate": (c, heads, side), "gate_b": (heads, side), "out": (heads, side, c), "out_b": (c,)}


def triangle_shape(c):
    return {"norm": norm_shape(c), "left": linear_shape(c, c), "right": linear_shape(c, c),
            "left_gate": linear_shape(c, c), "right_gate": linear_shape(c, c), "center": norm_shape(c),
            "out": linear_shape(c, c), "gate": linear_shape(c, c)}


def transition_shape(c):
    return {"norm": norm_shape(c), "up": linear_shape(c, 4 * c), "down": linear_shape(4 * c, c)}


def block_shape(m, z, heads, outer):
    return {
        "row": {**attention_shape(m, heads, m // heads), "pair_norm": norm_shape(z), "pair": (z, heads)},
        "column": attention_shape(m, heads, m // heads), "msa_transition": transition_shape(m),
        "outer": {"norm": norm_shape(m), "left": linear_shape(m, outer), "right": linear_shape(m, outer),
                  "w": (outer, outer, z), "b": (z,)},
        "outgoing": triangle_shape(z), "incoming": triangle_shape(z),
        "starting": {**attention_shape(z, 4, z // 4), "pair": (z, 4)},
        "ending": {**attention_shape(z, 4, z // 4), "pair": (z, 4)}, "pair_transition": transition_shape(z)}


def norm(p, x):
    y = x.astype(F32)
    y = y - y.mean(-1, keepdims=True)
    y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-5)
    return (y * p["scale"].astype(F32) + p["offset"].astype(F32)).astype(x.dtype)


def linear(p, x):
    return x @ p["w"].astype(x.dtype) + p["b"].astype(x.dtype)


def attention(p, x, mask, bias=None):
    """Gated, within each row of x [rows, n, c]; mask [rows, n]; bias [heads, n, n]."""
    q, k, v, gate = (jnp.einsum("rnc,chd->rnhd", x, p[name].astype(x.dtype)) for name in ("q", "k", "v", "gate"))
    logits = jnp.einsum("rqhd,rkhd->rhqk", q * q.shape[-1] ** -0.5, k)
    logits = logits + (1e9 * (mask.astype(F32) - 1))[:, None, None, :].astype(x.dtype)
    if bias is not None:
        logits = logits + bias
    weights = jax.nn.softmax(logits.astype(F32)).astype(x.dtype)
    mixed = jnp.einsum("rhqk,rkhd->rqhd", weights, v) * jax.nn.sigmoid(gate + p["gate_b"].astype(x.dtype))
    return jnp.einsum("rqhd,hdc->rqc", mixed, p["out"].astype(x.dtype)) + p["out_b"].astype(x.dtype)


def pair_bias(w, pair):
    return jnp.einsum("qkc,ch->hqk", pair, w.astype(pair.dtype))


def row_attention(p, msa, mask, pair):
    return attention(p, norm(p["norm"], msa), mask, pair_bias(p["pair"], norm(p["pair_norm"], pair)))


def column_attention(p, msa, mask):
    return attention(p, norm(p["norm"], msa).swapaxes(0, 1), mask.T).swapaxes(0, 1)


def triangle_attention(p, pair, mask):
    x = norm(p["norm"], pair)
    return attention(p, x, mask, pair_bias(p["pair"], x))


def transition(p, x):
    return linear(p["down"], jax.nn.relu(linear(p["up"], norm(p["norm"], x))))


def outer_product_mean(p, msa, mask):
    x, seen = norm(p["norm"], msa), mask.astype(msa.dtype)
    left, right = linear(p["left"], x) * seen[..., None], linear(p["right"], x) * seen[..., None]
    products = jnp.einsum("sic,sjd->ijcd", left, right)
    made = jnp.einsum("ijcd,cdz->ijz", products, p["w"].astype(x.dtype)) + p["b"].astype(x.dtype)
    return made / (1e-3 + jnp.einsum("si,sj->ij", seen, seen)[..., None])


def triangle_product(p, pair, mask, equation):
    x, seen = norm(p["norm"], pair), mask[..., None].astype(pair.dtype)
    left = seen * linear(p["left"], x) * jax.nn.sigmoid(linear(p["left_gate"], x))
    right = seen * linear(p["right"], x) * jax.nn.sigmoid(linear(p["right_gate"], x))
    made = norm(p["center"], jnp.einsum(equation, left, right))
    return linear(p["out"], made) * jax.nn.sigmoid(linear(p["gate"], x))


def dropped(key, x, rate, shared=0):
    """Of whole lines along the axis that is shared."""
    shape = [1 if axis == shared else size for axis, size in enumerate(x.shape)]
    return x * (jax.random.bernoulli(key, 1 - rate, shape) / (1 - rate)).astype(x.dtype)


def evoformer_block(p, msa, pair, msa_mask, pair_mask, key):
    keys = jax.random.split(key, 5)
    msa = msa + dropped(keys[0], row_attention(p["row"], msa, msa_mask, pair), 0.15)
    msa = msa + column_attention(p["column"], msa, msa_mask)
    msa = msa + transition(p["msa_transition"], msa)
    pair = pair + outer_product_mean(p["outer"], msa, msa_mask)
    pair = pair + dropped(keys[1], triangle_product(p["outgoing"], pair, pair_mask, "ikc,jkc->ijc"), 0.25)
    pair = pair + dropped(keys[2], triangle_product(p["incoming"], pair, pair_mask, "kjc,kic->ijc"), 0.25)
    pair = pair + dropped(keys[3], triangle_attention(p["starting"], pair, pair_mask), 0.25)
    turned = triangle_attention(p["ending"], pair.swapaxes(0, 1), pair_mask.T).swapaxes(0, 1)
    pair = pair + dropped(keys[4], turned, 0.25, shared=1)
    return msa, pair + transition(p["pair_transition"], pair)


def evoformer_training(blocks, batch, residues, sequences, m=256, z=128, heads=8, outer=32, bins=64, kind=BF16):
    def make(arrays, change):
        import optax
        rows, n, now = batch // change.batch_divisor, residues // change.length_divisor, compute_dtype(change, kind)
        stacked = jax.tree.map(lambda shape: (blocks, *shape), block_shape(m, z, heads, outer),
                               is_leaf=lambda node: isinstance(node, tuple))
        params = cast(specs({
            "msa": linear_shape(49, m), "target_msa": linear_shape(22, m), "left": linear_shape(22, z),
            "right": linear_shape(22, z), "places": linear_shape(65, z), "blocks": stacked,
            "masked": linear_shape(m, 23), "distances": linear_shape(z, bins)}), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(0.1), optax.adam(
            optax.warmup_constant_schedule(0.0, 1e-3, 1000), eps=1e-6))
        opt_state = jax.eval_shape(optimizer.init, params)
        block = checkpointed(change, jax.vmap(evoformer_block, in_axes=(None, 0, 0, 0, 0, 0)))

        def loss_of(params, key, target, places, msa, msa_mask, residue_mask, true_msa, hidden, bins_of):
            target = jax.nn.one_hot(target, 22, dtype=now)
            places = jnp.clip(places[:, :, None] - places[:, None], -32, 32)
            pair = linear(params["left"], target)[:, :, None] + linear(params["right"], target)[:, None]
            pair = pair + linear(params["places"], jax.nn.one_hot(places + 32, 65, dtype=now))
            msa = linear(params["msa"], msa.astype(now)) + linear(params["target_msa"], target)[:, None]
            pair_mask = residue_mask[:, :, None] & residue_mask[:, None]

            def one(state, given):
                layer, key = given
                keys = jax.random.split(key, msa.shape[0])
                return block(layer, *state, msa_mask, pair_mask, keys), None
            (msa, pair), _ = jax.lax.scan(one, (msa, pair), (params["blocks"], jax.random.split(key, blocks)))
            masked = optax.softmax_cross_entropy_with_integer_labels(
                linear(params["masked"], msa).astype(F32), true_msa)
            halves = linear(params["distances"], pair).astype(F32)
            apart = optax.softmax_cross_entropy_with_integer_labels(halves + halves.swapaxes(1, 2), bins_of)
            masked = (masked * hidden).sum() / (1e-6 + hidden.sum())
            return 2.0 * masked + 0.3 * (apart * pair_mask).sum() / (1e-6 + pair_mask.sum()), ()

        def train_step(params, opt_state, key, *batch):
            key, here = jax.random.split(key)
            loss, _, slopes = summed_slopes(loss_of, change.parts)(params, here, *batch)
            params, opt_state = updated(optimizer, slopes, opt_state, params)
            return params, opt_state, key, loss

        def of(shape, kind):
            return arrays.batch((rows, *shape), kind)
        stacks = {"blocks": 0}
        return train_step, (
            laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), raw_key(arrays), of((n,), jnp.int32),
            of((n,), jnp.int32), of((sequences, n, 49), F32), of((sequences, n), jnp.bool_), of((n,), jnp.bool_),
            of((sequences, n), jnp.int32), of((sequences, n), jnp.bool_), of((n, n), jnp.int32)), (0, 1)
    return make
