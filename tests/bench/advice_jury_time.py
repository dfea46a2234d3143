"""Loops over time and speech: stacked LSTMs with tied words, selective state spaces in equinox, Whisper in haiku.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- LSTMs ---

def tied_lstm(layers, width, vocab, batch, length, kind=F32):
    """Words' LSTM of one width throughout: weights as torch keeps them, [4 width, width]; the table is the head."""
    def make(arrays, change):
        import optax
        b, time = batch // change.batch_divisor, length // change.length_divisor
        now = change.computed or computed(change, kind)
        shapes = shaped(encoder=(vocab, width), decoder_bias=(vocab,), **{
            f"rnn_{i}": {"weight_ih": (4 * width, width), "weight_hh": (4 * width, width), "bias": (4 * width,)}
            for i in range(layers)})

        def run(p, x):
            """[time, batch, width]; the products with inputs are made for all of time at once."""
            gates_in = x @ p["weight_ih"].T + p["bias"]

            def cell(state, gates):
                h, c = state
                i, f, g, o = jnp.split(gates + h @ p["weight_hh"].T, 4, -1)
                c = jax.nn.sigmoid(f + 1.0) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h
            zero = jnp.zeros((x.shape[1], width), x.dtype)
            return jax.lax.scan(maybe_checkpointed(change, cell), (zero, zero), gates_in)[1]

        def loss_of(params, ids, targets):
            p = as_kind(params, now)
            x = p["encoder"][ids].swapaxes(0, 1)
            for i in range(layers):
                x = x + run(p[f"rnn_{i}"], x)
            logits = x @ p["encoder"].T + p["decoder_bias"]
            return word_loss(logits, targets.swapaxes(0, 1))
        ids = arrays.batch((b, time), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(0.25), optax.adam(warmed_up(1e-3)))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids, ids)
    return make


# --- Selective state spaces ---

def selective_mixer(width, inner, states, rank, taps):
    """The class of a Mamba block, in equinox; of one row [time, width]."""
    import equinox as eqx

    class Mixer(eqx.Module):
        norm: jax.Array
        in_proj: eqx.nn.Linear
        conv_taps: jax.Array
        conv_bias: jax.Array
        x_proj: eqx.nn.Linear
        dt_proj: eqx.nn.Linear
        a_log: jax.Array
        skip: jax.Array
        out_proj: eqx.nn.Linear

        def __init__(self, key):
            keys = jax.random.split(key, 4)
            self.norm = jnp.ones(width)
            self.in_proj = eqx.nn.Linear(width, 2 * inner, use_bias=False, key=keys[0])
            self.conv_taps, self.conv_bias = jnp.zeros((taps, inner)), jnp.zeros(inner)
            self.x_proj = eqx.nn.Linear(inner, rank + 2 * states, use_bias=False, key=keys[1])
            self.dt_proj = eqx.nn.Linear(rank, inner, key=keys[2])
            self.a_log = jnp.log(jnp.broadcast_to(jnp.arange(1.0, states + 1), (inner, states)))
            self.skip = jnp.ones(inner)
            self.out_proj = eqx.nn.Linear(inner, width, use_bias=False, key=keys[3])

        def __call__(self, x):
            time = x.shape[0]
            wide = x.astype(F32)
            h = (wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)).astype(x.dtype) * self.norm
            u, gate = jnp.split(jax.vmap(self.in_proj)(h), 2, -1)
            padded = jnp.pad(u, ((taps - 1, 0), (0, 0)))
            u = sum(padded[i:i + time] * self.conv_taps[i] for i in range(taps)) + self.conv_bias
            u = jax.nn.silu(u)
            low, ins, outs = jnp.split(jax.vmap(self.x_proj)(u), (rank, rank + states), -1)
            step = jax.nn.softplus(jax.vmap(self.dt_proj)(low).astype(F32))
            decay = -jnp.exp(self.a_log.astype(F32))

            def go(state, now):
                u, step, ins, outs = now
                state = jnp.exp(step[:, None] * decay) * state + (step * u)[:, None] * ins[None]
                return state, state @ outs
            _, y = jax.lax.scan(go, jnp.zeros((inner, states), F32),
                                (u.astype(F32), step, ins.astype(F32), outs.astype(F32)))
            y = y.astype(x.dtype) + u * self.skip
            return x + jax.vmap(self.out_proj)(y * jax.nn.silu(gate))
    return Mixer


def selective_states(layers, width, inner, states, rank, vocab, batch, length, kind=BF16):
    """Mamba: each layer reads its row by a scan over time, of which the state is in float32; a head of its own."""
    def make(arrays, change):
        import equinox as eqx
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        mixer = selective_mixer(width, inner, states, rank, 4)

        class Mamba(eqx.Module):
            embedding: eqx.nn.Embedding
            layers: list
            norm: eqx.nn.RMSNorm
            head: eqx.nn.Linear

            def __init__(self, key):
                keys = jax.random.split(key, layers + 2)
                self.embedding = eqx.nn.Embedding(vocab, width, key=keys[0])
                self.layers = [mixer(one) for one in keys[2:]]
                self.norm = eqx.nn.RMSNorm(width, use_bias=False)
                self.head = eqx.nn.Linear(width, vocab, use_bias=False, key=keys[1])

            def __call__(self, ids):
                x = jax.vmap(self.embedding)(ids)
                for layer in self.layers:
                    x = maybe_checkpointed(change, lambda layer, x: layer(x))(layer, x)
                return jax.vmap(self.head)(jax.vmap(self.norm)(x).astype(x.dtype))
        shapes = eqx.filter_eval_shape(Mamba, jax.random.key(0))

        def loss_of(model, ids, targets):
            return word_loss(jax.vmap(as_kind(model, now))(ids), targets)
        ids = arrays.batch((b, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(6e-4), ids, ids)
    return make


# --- Speech ---

def heard(hk, name, x, source, heads, is_causal=False):
    """Whisper's attention: no bias for keys."""
    width = x.shape[-1]
    q = hk.Linear(width, name=name + "_q")(x).reshape(*x.shape[:2], heads, -1)
    k = hk.Linear(width, with_bias=False, name=name + "_k")(source).reshape(*source.shape[:2], heads, -1)
    v = hk.Linear(width, name=name + "_v")(source).reshape(*source.shape[:2], heads, -1)
    scores = jnp.einsum("bthd,bThd->bhtT", q * q.shape[-1] ** -0.5, k).astype(F32)
    if is_causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -1e30)
    mixed = jnp.einsum("bhtT,bThd->bthd", jax.nn.softmax(scores).astype(x.dtype), v)
    return hk.Linear(width, name=name + "_o")(mixed.reshape(x.shape))


def speech_to_words(encoder, decoder, width, heads, mels, frames, vocab, words, batch, kind=BF16):
    """Whisper, tuned: two convolutions over frames, an encoder, a decoder that looks at it; tied words."""
    def make(arrays, change):
        import haiku as hk
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)
        time, said = frames // change.length_divisor, words // change.length_divisor
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None

        def block(one):
            return hk.remat(one, policy=policy) if change.rematerialize else one

        def normed(name, x):
            return hk.LayerNorm(-1, True, True, name=name)(x)

        def units(name, x):
            h = jax.nn.gelu(hk.Linear(4 * width, name=name + "_fc1")(x))
            return hk.Linear(width, name=name + "_fc2")(h)

        def run(mel, ids):
            x = mel.astype(now)
            x = jax.nn.gelu(hk.Conv1D(width, 3, name="conv_1")(x))
            x = jax.nn.gelu(hk.Conv1D(width, 3, stride=2, name="conv_2")(x))
            x = x + hk.get_parameter("audio_places", (frames // 2, width), init=jnp.zeros)[:x.shape[1]]
            for i in range(encoder):
                def listen(x, name=f"encoder_{i}"):
                    h = normed(name + "_norm_1", x)
                    x = x + heard(hk, name + "_self", h, h, heads)
                    return x + units(name, normed(name + "_norm_2", x))
                x = block(listen)(x)
            source = normed("encoder_norm", x)
            table = hk.get_parameter("words", (vocab, width), init=hk.initializers.RandomNormal(0.02))
            x = table[ids] + hk.get_parameter("word_places", (words, width), init=jnp.zeros)[:ids.shape[1]]
            for i in range(decoder):
                def say(x, source, name=f"decoder_{i}"):
                    h = normed(name + "_norm_1", x)
                    x = x + heard(hk, name + "_self", h, h, heads, is_causal=True)
                    x = x + heard(hk, name + "_cross", normed(name + "_norm_2", x), source, heads)
                    return x + units(name, normed(name + "_norm_3", x))
                x = block(say)(x, source)
            return normed("decoder_norm", x) @ table.T
        model = hk.without_apply_rng(hk.transform(run))
        shapes = jax.eval_shape(model.init, jax.random.key(0), jnp.zeros((1, time, mels)),
                                jnp.zeros((1, said), jnp.int32))

        def loss_of(params, mel, ids, targets):
            logits = model.apply(as_kind(params, now), mel, ids)
            return word_loss(logits, targets, (targets >= 0).astype(F32))
        ids = arrays.batch((b, said), jnp.int32)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0),
                                optax.adamw(warmed_up(1e-5), b2=0.98, weight_decay=0.1, mask=matrices_only))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((b, time, mels), F32), ids,
                                ids)
    return make
