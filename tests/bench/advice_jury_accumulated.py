"""Language models whose gradients are summed over micro-batches, and one of experts with equal numbers.

GPT-NeoX in plain pytrees, GPT-2 of haiku under optax.MultiSteps, GShard's two experts of each word.
As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, placed, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, root_normed, shaped, trained_in_parts
from advice_structures import BF16, F32


def layer_normed(x, p):
    wide = x.astype(F32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * jax.lax.rsqrt(jnp.mean(jnp.square(wide), -1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * p["scale"] + p["bias"]


def causal(scores):
    """Scores [..., queries, keys] in float32, of what comes later minus infinity."""
    length = scores.shape[-1]
    return jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores.astype(F32), jnp.finfo(F32).min)


def rotated(x, dims, base=10000.0):
    """The first `dims` of each head turned by position; x [batch, time, heads, side]."""
    angles = jnp.arange(x.shape[1])[:, None] * base ** (-jnp.arange(0, dims, 2) / dims)
    cos, sin = (jnp.tile(f(angles), 2)[:, None].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    turned, rest = x[..., :dims], x[..., dims:]
    left, right = jnp.split(turned, 2, -1)
    turned = turned * cos + jnp.concatenate([-right, left], -1) * sin
    return jnp.concatenate([turned, rest], -1)


# --- GPT-NeoX: micro-batches in the step, layers in an inner scan ---

def neox_layer(p, x, dims):
    """Attention and MLP side by side."""
    h = layer_normed(x, p["input_norm"])
    qkv = jnp.einsum("btd,dhk->bthk", h, p["attention"]["qkv"]) + p["attention"]["qkv_bias"]
    q, k, v = jnp.split(qkv, 3, -1)
    q, k = rotated(q, dims), rotated(k, dims)
    scores = jnp.einsum("bthk,bshk->bhts", q, k) * q.shape[-1] ** -0.5
    probs = jax.nn.softmax(causal(scores), -1).astype(x.dtype)
    mixed = jnp.einsum("bhts,bshk->bthk", probs, v)
    attended = jnp.einsum("bthk,hkd->btd", mixed, p["attention"]["dense"]) + p["attention"]["dense_bias"]
    h = layer_normed(x, p["post_norm"])
    h = jax.nn.gelu(h @ p["mlp"]["up"] + p["mlp"]["up_bias"])
    return x + attended + h @ p["mlp"]["down"] + p["mlp"]["down_bias"]


def neox_shapes(layers, width, heads, vocab):
    side, norm = width // heads, {"scale": (layers, width), "bias": (layers, width)}
    attention = {"qkv": (layers, width, heads, 3 * side), "qkv_bias": (layers, heads, 3 * side),
                 "dense": (layers, heads, side, width), "dense_bias": (layers, width)}
    mlp = {"up": (layers, width, 4 * width), "up_bias": (layers, 4 * width), "down": (layers, 4 * width, width),
           "down_bias": (layers, width)}
    return shaped(embed_in=(vocab, width), embed_out=(width, vocab),
                  final_norm={"scale": (width,), "bias": (width,)},
                  layer_stack={"attention": attention, "mlp": mlp, "input_norm": norm, "post_norm": norm})


def accumulated_neox(layers, width, heads, vocab, micros, rows, length, kind=BF16):
    """The batch comes as [micro-batches, rows, time]; more micro-batches mean fewer rows in each."""
    def make(arrays, change):
        import optax
        count, time = micros * change.parts, length // change.length_divisor
        b, now = rows // change.batch_divisor // change.parts, computed(change, kind)
        dims = width // heads // 4
        optimizer = clipped_adamw(6e-4)
        params = as_kind(neox_shapes(layers, width, heads, vocab), change.stored)
        state = jax.eval_shape(optimizer.init, params)
        block = maybe_checkpointed(change, lambda p, x: neox_layer(p, x, dims))

        def loss_fn(params, ids, labels):
            p = as_kind(params, now)
            x = p["embed_in"][ids]
            x, _ = jax.lax.scan(lambda x, layer: (block(layer, x), None), x, p["layer_stack"])
            return word_loss(layer_normed(x, p["final_norm"]) @ p["embed_out"], labels)

        def train_step(params, state, ids, labels):
            def micro_step(carry, micro):
                total, grads = carry
                loss, new = jax.value_and_grad(loss_fn)(params, *micro)
                return (total + loss, jax.tree.map(jnp.add, grads, new)), None
            start = jnp.zeros((), F32), jax.tree.map(jnp.zeros_like, params)
            (total, grads), _ = jax.lax.scan(micro_step, start, (ids, labels))
            grads = jax.tree.map(lambda g: g / count, grads)
            updates, state = optimizer.update(grads, state, params)
            metrics = {"loss": total / count, "grad_norm": optax.global_norm(grads)}
            return optax.apply_updates(params, updates), state, metrics
        words = arrays.array((count, b, time), jnp.int32, 1 if change.shard == "all" else None)
        return train_step, (placed(arrays, params), placed(arrays, state), words, words), (0, 1)
    return make


# --- GPT-2 of haiku, under optax.MultiSteps ---

def multi_steps_gpt2(layers, width, heads, vocab, places, every, batch, length, kind=BF16):
    """Each call takes one micro-batch; every so many calls the mean of the gradients is applied."""
    def make(arrays, change):
        import haiku as hk
        import optax
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        init = hk.initializers.TruncatedNormal(0.02)
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None

        def norm(x, name):
            return hk.LayerNorm(-1, True, True, name=name)(x)

        def run(ids):
            mask = jnp.tril(jnp.ones((1, 1, ids.shape[1], ids.shape[1])))
            wte = hk.get_parameter("wte", (vocab, width), init=init)
            wpe = hk.get_parameter("wpe", (places, width), init=init)
            x = wte[ids] + wpe[None, :ids.shape[1]]
            for i in range(layers):
                def block(x, i=i):
                    attention = hk.MultiHeadAttention(heads, width // heads, model_size=width, w_init=init,
                                                      name=f"h{i}_attn")
                    h = norm(x, f"h{i}_ln_1")
                    x = x + attention(h, h, h, mask=mask)
                    h = hk.Linear(4 * width, w_init=init, name=f"h{i}_mlp_fc")(norm(x, f"h{i}_ln_2"))
                    return x + hk.Linear(width, w_init=init, name=f"h{i}_mlp_proj")(jax.nn.gelu(h))
                x = (hk.remat(block, policy=policy) if change.rematerialize else block)(x)
            return norm(x, "ln_f") @ wte.T
        model = hk.without_apply_rng(hk.transform(run))
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((b, time), jnp.int32))

        def loss_of(params, ids, labels):
            return word_loss(model.apply(as_kind(params, now), ids), labels)
        inner = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(6e-4, b2=0.95, weight_decay=0.1))
        optimizer = optax.MultiSteps(inner, every_k_schedule=every)
        words = arrays.batch((b, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, words, words)
    return make


# --- A mixture of experts: two of them for each word, with a room ---

def sent_to_two(gates, room):
    """Where words go [batch, time, experts, room], with what weight, and the loss that balances; gates in float32."""
    experts = gates.shape[-1]
    first = jax.nn.one_hot(jnp.argmax(gates, -1), experts)
    second = jax.nn.one_hot(jnp.argmax(gates * (1 - first), -1), experts)
    balance = experts * jnp.mean(jnp.mean(gates, 1) * jnp.mean(first, 1)) * experts
    place_1 = jnp.cumsum(first, 1) * first
    place_2 = (jnp.cumsum(second, 1) + first.sum(1, keepdims=True)) * second
    weight_1, weight_2 = (gates * first).sum(-1), (gates * second).sum(-1)
    total = weight_1 + weight_2 + 1e-9
    combine = sum((weight / total)[..., None, None] * chosen[..., None] *
                  jax.nn.one_hot(place.astype(jnp.int32) - 1, room)
                  for weight, chosen, place in ((weight_1, first, place_1), (weight_2, second, place_2)))
    return combine > 0, combine, balance


def equal_experts(number, width, hidden, vocab, length, factor=1.25, kind=F32):
    """As many rows as heads as experts as layers; layers in a scan; adafactor."""
    def make(arrays, change):
        import optax
        b, time = number // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)
        room, side = int(2 * factor * time / number), width // number
        stack = {"wq": (number, width, number, side), "wk": (number, width, number, side),
                 "wv": (number, width, number, side), "wo": (number, number, side, width),
                 "norm_1": (number, width), "norm_2": (number, width), "router": (number, width, number),
                 "wi": (number, number, width, hidden), "wo_mlp": (number, number, hidden, width)}
        shapes = shaped(embedding=(vocab, width), final_norm=(width,), logits=(width, vocab), layer_stack=stack)

        def layer(p, x):
            h = root_normed(x, p["norm_1"])
            q, k, v = (jnp.einsum("btd,dhk->bthk", h, p[name]) for name in ("wq", "wk", "wv"))
            q, k = rotated(q, side), rotated(k, side)
            scores = causal(jnp.einsum("bqhk,bshk->bhqs", q * side ** -0.5, k))
            mixed = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(scores).astype(x.dtype), v)
            x = x + jnp.einsum("bqhk,hkd->bqd", mixed, p["wo"])
            h = root_normed(x, p["norm_2"])
            gates = jax.nn.softmax(jnp.einsum("btd,de->bte", h, p["router"]).astype(F32))
            dispatch, combine, balance = sent_to_two(gates, room)
            inbox = jnp.einsum("btec,btd->ebcd", dispatch.astype(x.dtype), h)
            grown = jax.nn.gelu(jnp.einsum("ebcd,edf->ebcf", inbox, p["wi"]))
            outbox = jnp.einsum("ebcf,efd->ebcd", grown, p["wo_mlp"])
            return x + jnp.einsum("btec,ebcd->btd", combine.astype(x.dtype), outbox), balance
        block = maybe_checkpointed(change, layer)

        def loss_of(params, ids, labels):
            p = as_kind(params, now)
            x, balance = jax.lax.scan(lambda x, one: block(one, x), p["embedding"][ids], p["layer_stack"])
            logits = (root_normed(x, p["final_norm"]) @ p["logits"]).astype(F32)
            spread = jnp.square(jax.nn.logsumexp(logits, -1)).mean()
            return word_loss(logits, labels) + 0.01 * balance.mean() + 1e-4 * spread
        optimizer = optax.adafactor(warmed_up(1e-3), decay_rate=0.8, weight_decay_rate=1e-5)
        words = arrays.batch((b, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, words, words)
    return make
