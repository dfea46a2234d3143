"""Cerebras-GPT, trained with gradients summed over the micro-batches of one step; plain functions and a dictionary.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Tokens are [steps, batch, length]; layers
are stacked and scanned; embeddings, attention and logits are scaled as the maximal update parametrization asks.
"""
import jax
import jax.numpy as jnp

from advice_board_training import BF16, F32, abstract, cast, compute_dtype, maybe_checkpoint, on_chips

STACKS = {"layers": 0}


def cerebras_shapes(layers, width, hidden, vocab, positions):
    layer = {
        "ln_1": {"g": (width,), "b": (width,)}, "ln_2": {"g": (width,), "b": (width,)},
        "c_attn": {"w": (width, 3 * width), "b": (3 * width,)}, "attn_proj": {"w": (width, width), "b": (width,)},
        "c_fc": {"w": (width, hidden), "b": (hidden,)}, "mlp_proj": {"w": (hidden, width), "b": (width,)},
    }
    stacked = jax.tree.map(lambda shape: (layers, *shape), layer, is_leaf=lambda node: isinstance(node, tuple))
    return {"wte": (vocab, width), "wpe": (positions, width), "layers": stacked,
            "ln_f": {"g": (width,), "b": (width,)}}


def layer_norm(p, x):
    y = x.astype(F32)
    y = y - y.mean(-1, keepdims=True)
    y = y * jax.lax.rsqrt(jnp.square(y).mean(-1, keepdims=True) + 1e-5)
    return y.astype(x.dtype) * p["g"] + p["b"]


def linear(p, x):
    return x @ p["w"] + p["b"]


def block(p, x, heads):
    batch, length, width = x.shape
    q, k, v = jnp.split(linear(p["c_attn"], layer_norm(p["ln_1"], x)), 3, axis=-1)
    q, k, v = (t.reshape(batch, length, heads, width // heads) for t in (q, k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (8.0 * heads / width)
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, jnp.finfo(scores.dtype).min)
    probs = jax.nn.softmax(scores.astype(F32), axis=-1).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", probs, v).reshape(batch, length, width)
    x = x + linear(p["attn_proj"], mixed)
    return x + linear(p["mlp_proj"], jax.nn.gelu(linear(p["c_fc"], layer_norm(p["ln_2"], x))))


def hidden_states(params, ids, heads, change):
    one = maybe_checkpoint(change, lambda p, x: block(p, x, heads))
    x = 10.0 * params["wte"][ids] + params["wpe"][:ids.shape[1]]
    x, _ = jax.lax.scan(lambda x, p: (one(p, x), None), x, params["layers"])
    return layer_norm(params["ln_f"], x)


def summed_cerebras(layers, width, heads, hidden, vocab, steps, batch, length, positions=2048, kind=BF16):
    def make(arrays, change):
        import optax
        now = compute_dtype(change, kind)
        params = cast(abstract(cerebras_shapes(layers, width, hidden, vocab, positions)), change.stored)
        schedule = optax.warmup_cosine_decay_schedule(0.0, 6e-3, 1000, 100000)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, b2=0.95, weight_decay=0.1))
        opt_state = jax.eval_shape(optimizer.init, params)

        def loss_of(params, ids):
            p = cast(params, now)
            x = hidden_states(p, ids, heads, change)[:, :-1]
            logits = (x @ p["wte"].T).astype(F32) * (256 / width)
            picked = jnp.take_along_axis(logits, ids[:, 1:, None], axis=-1)[..., 0]
            return (jax.nn.logsumexp(logits, axis=-1) - picked).mean()

        def train_step(params, opt_state, tokens):
            def one(carry, ids):
                total, grads = carry
                loss, more = jax.value_and_grad(loss_of)(params, ids)
                return (total + loss, jax.tree.map(jnp.add, grads, more)), None
            start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            (loss, grads), _ = jax.lax.scan(one, start, tokens)
            grads = jax.tree.map(lambda g: g / tokens.shape[0], grads)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss / tokens.shape[0]
        rows = batch // change.batch_divisor // change.parts
        shape = steps * change.parts, rows, length // change.length_divisor
        tokens = arrays.array(shape, jnp.int32, 1 if change.shard == "all" else None)
        return train_step, (on_chips(arrays, params, STACKS), on_chips(arrays, opt_state, STACKS), tokens), (0, 1)
    return make
