"""Language models of a library's modules: OPT in flax nnx, and DPO of a small Llama in equinox.

In DPO the chosen and the rejected answers go through policy and reference as one concatenated batch.
As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, placed, warmed_up, word_loss
from advice_fresh import graded, trained_in_parts
from advice_jury_accumulated import causal, rotated
from advice_structures import BF16, F32


# --- OPT of flax nnx ---

def opt_modules(change, layers, width, heads, hidden, vocab, places, now):
    """What builds the model, given its random numbers."""
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs):
            self.attention_norm = nnx.LayerNorm(width, dtype=now, rngs=rngs)
            self.attention = nnx.MultiHeadAttention(heads, width, dtype=now, decode=False, rngs=rngs)
            self.mlp_norm = nnx.LayerNorm(width, dtype=now, rngs=rngs)
            self.fc1 = nnx.Linear(width, hidden, dtype=now, rngs=rngs)
            self.fc2 = nnx.Linear(hidden, width, dtype=now, rngs=rngs)

        def __call__(self, x, mask):
            x = x + self.attention(self.attention_norm(x), mask=mask)
            return x + self.fc2(nnx.relu(self.fc1(self.mlp_norm(x))))

    class Decoder(nnx.Module):
        def __init__(self, rngs):
            self.tokens = nnx.Embed(vocab, width, dtype=now, rngs=rngs)
            self.positions = nnx.Embed(places, width, dtype=now, rngs=rngs)
            self.blocks = nnx.List([Block(rngs) for _ in range(layers)])
            self.norm = nnx.LayerNorm(width, dtype=now, rngs=rngs)

        def __call__(self, ids):
            mask = nnx.make_causal_mask(ids)
            x = self.tokens(ids) + self.positions(jnp.arange(ids.shape[1]))
            for block in self.blocks:
                if change.rematerialize:
                    policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
                    x = nnx.remat(lambda block, x, mask: block(x, mask), policy=policy)(block, x, mask)
                else:
                    x = block(x, mask)
            return self.tokens.attend(self.norm(x))
    return Decoder


def nnx_opt(layers, width, heads, hidden, vocab, places, batch, length, kind=F32):
    def make(arrays, change):
        import optax
        from flax import nnx
        b, time = batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)
        build = opt_modules(change, layers, width, heads, hidden, vocab, places, now)
        abstract = nnx.eval_shape(lambda: build(nnx.Rngs(0)))
        graph, params, rest = nnx.split(abstract, nnx.Param, ...)
        assert not jax.tree.leaves(rest)
        shapes = nnx.to_pure_dict(params)

        def loss_fn(pure, ids, labels, weights):
            state = jax.tree.map(lambda a: a, params)
            nnx.replace_by_pure_dict(state, pure)
            model = nnx.merge(graph, state, rest)
            return word_loss(model(ids), labels, weights)
        words = arrays.batch((b, time), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(
            warmed_up(2.5e-4), b2=0.95, weight_decay=0.1, mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_fn, optimizer, words, words,
                                arrays.batch((b, time), F32))
    return make


# --- DPO of a small Llama in equinox ---

def llama_layer(width, heads, kv_heads, hidden):
    """Weights are [out, in]; a module is for one word or one row, and vmap makes more of it."""
    import equinox as eqx
    side = width // heads

    class Attention(eqx.Module):
        query: eqx.nn.Linear
        key: eqx.nn.Linear
        value: eqx.nn.Linear
        output: eqx.nn.Linear

        def __init__(self, key):
            keys = jax.random.split(key, 4)
            self.query = eqx.nn.Linear(width, width, use_bias=False, key=keys[0])
            self.key = eqx.nn.Linear(width, kv_heads * side, use_bias=False, key=keys[1])
            self.value = eqx.nn.Linear(width, kv_heads * side, use_bias=False, key=keys[2])
            self.output = eqx.nn.Linear(width, width, use_bias=False, key=keys[3])

        def __call__(self, x):
            time = x.shape[0]
            q = rotated(jax.vmap(self.query)(x).reshape(1, time, heads, side), side)[0]
            k = rotated(jax.vmap(self.key)(x).reshape(1, time, kv_heads, side), side)[0]
            v = jax.vmap(self.value)(x).reshape(time, kv_heads, side)
            q = q.reshape(time, kv_heads, -1, side) / side ** 0.5
            probs = jax.nn.softmax(causal(jnp.einsum("qngd,knd->ngqk", q, k)), -1).astype(x.dtype)
            return jax.vmap(self.output)(jnp.einsum("ngqk,knd->qngd", probs, v).reshape(time, width))

    class Layer(eqx.Module):
        attention_norm: eqx.nn.RMSNorm
        attention: Attention
        mlp_norm: eqx.nn.RMSNorm
        gate: eqx.nn.Linear
        up: eqx.nn.Linear
        down: eqx.nn.Linear

        def __init__(self, key):
            keys = jax.random.split(key, 4)
            self.attention = Attention(keys[0])
            self.gate = eqx.nn.Linear(width, hidden, use_bias=False, key=keys[1])
            self.up = eqx.nn.Linear(width, hidden, use_bias=False, key=keys[2])
            self.down = eqx.nn.Linear(hidden, width, use_bias=False, key=keys[3])
            self.attention_norm = eqx.nn.RMSNorm(width, eps=1e-5, use_bias=False)
            self.mlp_norm = eqx.nn.RMSNorm(width, eps=1e-5, use_bias=False)

        def __call__(self, x):
            x = x + self.attention(jax.vmap(self.attention_norm)(x))
            h = jax.vmap(self.mlp_norm)(x)
            return x + jax.vmap(self.down)(jax.nn.silu(jax.vmap(self.gate)(h)) * jax.vmap(self.up)(h))
    return Layer


def llama_modules(change, layers, width, heads, kv_heads, hidden, vocab):
    import equinox as eqx
    block = llama_layer(width, heads, kv_heads, hidden)

    class Llama(eqx.Module):
        embedding: eqx.nn.Embedding
        layers: list
        norm: eqx.nn.RMSNorm

        def __init__(self, key):
            first, *keys = jax.random.split(key, layers + 1)
            self.embedding = eqx.nn.Embedding(vocab, width, key=first)
            self.layers = [block(one) for one in keys]
            self.norm = eqx.nn.RMSNorm(width, eps=1e-5, use_bias=False)

        def __call__(self, ids):
            """Of one row, the logits."""
            x = jax.vmap(self.embedding)(ids)
            policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
            for layer in self.layers:
                run = (lambda layer, x: layer(x))
                x = (eqx.filter_checkpoint(run, policy=policy) if change.rematerialize else run)(layer, x)
            return jax.vmap(self.norm)(x) @ self.embedding.weight.T
    return Llama


def preferred_llama(layers, width, heads, kv_heads, hidden, vocab, batch, length, beta=0.1, kind=BF16):
    """The frozen reference is an argument; the batch is of pairs."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        build = llama_modules(change, layers, width, heads, kv_heads, hidden, vocab)
        shapes = eqx.filter_eval_shape(build, jax.random.key(0))
        shapes, static = eqx.partition(shapes, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))
        optimizer = clipped_adamw(5e-7)
        params = as_kind(shapes, change.stored)
        state = jax.eval_shape(optimizer.init, params)

        def answer_chances(weights, ids, mask):
            """Of each row, the logarithm of the chance of its answer."""
            model = eqx.combine(as_kind(weights, now), static)
            logits = jax.vmap(model)(ids)[:, :-1].astype(F32)
            chances = jnp.take_along_axis(jax.nn.log_softmax(logits), ids[:, 1:, None], -1)[..., 0]
            return (chances * mask[:, 1:]).sum(-1)

        def loss_of(weights, reference, chosen, rejected, chosen_mask, rejected_mask):
            ids = jnp.concatenate([chosen, rejected])
            mask = jnp.concatenate([chosen_mask, rejected_mask]).astype(F32)
            mine = answer_chances(weights, ids, mask)
            theirs = jax.lax.stop_gradient(answer_chances(reference, ids, mask))
            won, lost = jnp.split(mine - theirs, 2)
            return -jax.nn.log_sigmoid(beta * (won - lost)).mean()

        def train_step(params, state, reference, *batch):
            loss, grads = graded(lambda p, *part: loss_of(p, reference, *part), change.parts)(params, *batch)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss
        words = arrays.batch((b, time), jnp.int32)
        arguments = placed(arrays, params), placed(arrays, state), placed(arrays, params), words, words, words, words
        return train_step, arguments, (0, 1)
    return make
