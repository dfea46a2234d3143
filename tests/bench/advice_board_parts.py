"""GPT-Neo in haiku, layers unrolled, with gradients summed over parts of the batch in a plain loop of Python.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Layers turn from global to local attention
and back, and scores are not scaled, as EleutherAI's are.
"""
import jax
import jax.numpy as jnp

from advice_board_training import F32, cast, checkpoint_policy, compute_dtype, cross_entropy, decayed, on_chips


def gpt_neo(change, layers, width, heads, vocab, places, window):
    """The function that haiku transforms; it computes in the type of its parameters."""
    import haiku as hk
    small = hk.initializers.RandomNormal(0.02)

    def linear(size, name, with_bias=True):
        return hk.Linear(size, with_bias, w_init=small, name=name)

    def norm(name):
        return hk.LayerNorm(-1, True, True, eps=1e-5, name=name)

    class Block(hk.Module):
        def __init__(self, is_local, name):
            super().__init__(name=name)
            self.is_local = is_local

        def __call__(self, h):
            batch, time, _ = h.shape
            x = norm("ln_1")(h)
            q, k, v = (linear(width, name, False)(x).reshape(batch, time, heads, -1).swapaxes(1, 2)
                       for name in ("q_proj", "k_proj", "v_proj"))
            far = jnp.arange(time)[:, None] - jnp.arange(time)
            mask = (far >= 0) & (far < window) if self.is_local else far >= 0
            scores = (q @ k.swapaxes(-1, -2)).astype(F32)
            probs = jax.nn.softmax(jnp.where(mask, scores, jnp.finfo(F32).min)).astype(v.dtype)
            h = h + linear(width, "out_proj")((probs @ v).swapaxes(1, 2).reshape(h.shape))
            x = linear(4 * width, "c_fc")(norm("ln_2")(h))
            return h + linear(width, "c_proj")(jax.nn.gelu(x))

    def forward(tokens):
        wte = hk.get_parameter("wte", (vocab, width), init=small)
        wpe = hk.get_parameter("wpe", (places, width), init=small)
        h = wte[tokens] + wpe[:tokens.shape[1]]
        for i in range(layers):
            layer = Block(i % 2 == 1, name=f"h_{i}")
            h = hk.remat(layer, policy=checkpoint_policy(change))(h) if change.rematerialize else layer(h)
        return norm("ln_f")(h) @ wte.T
    return hk.without_apply_rng(hk.transform(forward))


def neo_in_parts(layers, width, heads, vocab, places, window, parts, batch, length, kind=F32):
    """`parts` forward and backward passes, one written after the other, then one step of Adam."""
    def make(arrays, change):
        import optax
        rows, time, now = batch // change.batch_divisor, length // change.length_divisor, compute_dtype(change, kind)
        model = gpt_neo(change, layers, width, heads, vocab, places, window)
        params = cast(jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, time), jnp.int32)), change.stored)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam(b2=0.95),
                                optax.add_decayed_weights(0.1, decayed), optax.scale(-6e-4))

        def loss_of(params, tokens):
            logits = model.apply(cast(params, now), tokens)
            return cross_entropy(logits[:, :-1], tokens[:, 1:])

        def update(params, opt_state, tokens):
            tokens = tokens.reshape(rows // parts, parts, time)
            loss, grads = jax.value_and_grad(loss_of)(params, tokens[:, 0])
            for i in range(1, parts):
                more, slopes = jax.value_and_grad(loss_of)(params, tokens[:, i])
                loss, grads = loss + more, jax.tree.map(jnp.add, grads, slopes)
            grads = jax.tree.map(lambda g: g / parts, grads)
            updates, opt_state = optimizer.update(grads, opt_state, params)
            return optax.apply_updates(params, updates), opt_state, loss / parts
        opt_state = jax.eval_shape(optimizer.init, params)
        tokens = arrays.batch((rows, time), jnp.int32)
        return update, (on_chips(arrays, params), on_chips(arrays, opt_state), tokens), (0, 1)
    return make
