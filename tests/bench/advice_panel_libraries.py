"""Models of libraries as their users train and serve them: Whisper and OPT of transformers, an NFNet, a protein model.

Whisper is tuned on transcripts, OPT decodes a word a step, the NFNet is haiku's and the protein model equinox's. Each
maker takes its Arrays and Change, and gives (step, arguments, donated); a library is imported where it is used.
"""
import functools
from unittest import mock

import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, clipped_adamw, computed, matrices_only, placed, warmed_up, word_loss
from advice_fresh import maybe_checkpointed, trained_in_parts
from advice_structures import BF16, F32


def policy_of(change):
    return getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None


# --- transformers: Whisper, tuned on pairs of sound and transcript ---

def whisper_tuning(layers, width, heads, vocab, frames, batch, labels, kind=BF16):
    """FlaxWhisperForConditionalGeneration; frames of the encoder are half of the spectrogram's."""
    def make(arrays, change):
        from transformers import FlaxWhisperForConditionalGeneration, WhisperConfig
        from transformers.models.whisper import modeling_flax_whisper
        b, heard, said = batch // change.batch_divisor, frames // change.length_divisor, labels // change.length_divisor
        config = WhisperConfig(vocab_size=vocab, num_mel_bins=80, d_model=width, encoder_layers=layers,
                               decoder_layers=layers, encoder_attention_heads=heads, decoder_attention_heads=heads,
                               encoder_ffn_dim=4 * width, decoder_ffn_dim=4 * width, max_source_positions=heard,
                               max_target_positions=448)
        remat = functools.partial(modeling_flax_whisper.remat, policy=policy_of(change))
        model = FlaxWhisperForConditionalGeneration(config, dtype=computed(change, kind), _do_init=False,
                                                    gradient_checkpointing=change.rematerialize)
        shapes = jax.eval_shape(lambda: model.init_weights(jax.random.PRNGKey(0), (1, 80, 2 * heard)))

        def loss_of(params, features, decoder_ids, targets):
            with mock.patch.object(modeling_flax_whisper, "remat", remat):
                logits = model(features, decoder_ids, params=params, train=False).logits
            return word_loss(logits, jnp.maximum(targets, 0), (targets >= 0).astype(F32))
        ids = arrays.batch((b, said), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, clipped_adamw(1e-5),
                                arrays.batch((b, 80, 2 * heard), F32), ids, ids)
    return make


# --- transformers: OPT, decoding ---

def opt_decoding(layers, width, heads, hidden, vocab, batch, room, kind=BF16):
    """One sampled word for each row, with the caches of FlaxOPTForCausalLM."""
    def make(arrays, change):
        from transformers import FlaxOPTForCausalLM, OPTConfig
        b, slots, now = batch // change.batch_divisor, room // change.length_divisor, computed(change, kind)
        config = OPTConfig(vocab_size=vocab, hidden_size=width, num_hidden_layers=layers, ffn_dim=hidden,
                           num_attention_heads=heads, max_position_embeddings=2048, word_embed_proj_dim=width)
        model = FlaxOPTForCausalLM(config, dtype=now, _do_init=False)
        shapes = jax.eval_shape(lambda: model.init_weights(jax.random.PRNGKey(0), (1, 1)))
        cache = jax.eval_shape(lambda: model.init_cache(b, slots))

        def cached(leaf):
            return arrays.array(leaf.shape, leaf.dtype, 0 if leaf.ndim and change.shard == "all" else None)

        def decode_step(params, cache, tokens, mask, positions, key):
            out = model(tokens[:, None], mask, positions[:, None], params=params, past_key_values=cache)
            logits = out.logits[:, -1].astype(F32) / 0.8
            least = jax.lax.top_k(logits, 50)[0][:, -1:]
            logits = jnp.where(logits < least, -jnp.inf, logits)
            words = jax.random.categorical(jax.random.wrap_key_data(key), logits).astype(jnp.int32)
            return words, out.past_key_values, positions + 1
        rows = arrays.batch((b,), jnp.int32)
        arguments = (placed(arrays, as_kind(shapes, change.stored)), jax.tree.map(cached, cache), rows,
                     arrays.batch((b, slots), jnp.int32), rows, arrays.array((2,), jnp.uint32))
        return decode_step, arguments, (1,)
    return make


# --- haiku: a net without a norm ---

def nf_parts():
    """The modules of an NFNet, made here as haiku is imported late."""
    import haiku as hk

    class WSConv2D(hk.Conv2D):
        """A convolution whose weights are standardized by output channel, with a gain."""

        def __call__(self, x):
            shape = (*self.kernel_shape, x.shape[-1] // self.feature_group_count, self.output_channels)
            w = hk.get_parameter("w", shape, x.dtype, hk.initializers.VarianceScaling(1.0, "fan_in", "normal"))
            gain = hk.get_parameter("gain", (self.output_channels,), x.dtype, jnp.ones)
            wide, fan = w.astype(F32), w.size // w.shape[-1]
            mean, spread = wide.mean((0, 1, 2)), wide.var((0, 1, 2))
            scale = jax.lax.rsqrt(jnp.maximum(spread * fan, 1e-4)) * gain.astype(F32)
            out = jax.lax.conv_general_dilated(x, ((wide - mean) * scale).astype(x.dtype), self.stride, self.padding,
                                               dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                               feature_group_count=self.feature_group_count)
            return out + hk.get_parameter("b", (self.output_channels,), x.dtype, jnp.zeros)

    class NFBlock(hk.Module):
        def __init__(self, channels, stride, beta, alpha, group, name=None):
            super().__init__(name=name)
            self.channels, self.stride, self.beta, self.alpha, self.group = channels, stride, beta, alpha, group

        def __call__(self, x):
            half = self.channels // 2
            groups = half // self.group
            out = scaled_gelu(x) * self.beta
            short = x
            if self.stride > 1 or x.shape[-1] != self.channels:
                short = hk.avg_pool(out, (1, 2, 2, 1), (1, 2, 2, 1), "SAME") if self.stride > 1 else out
                short = WSConv2D(self.channels, 1, name="conv_shortcut")(short)
            out = WSConv2D(half, 1, name="conv0")(out)
            out = WSConv2D(half, 3, self.stride, feature_group_count=groups, name="conv1")(scaled_gelu(out))
            out = WSConv2D(half, 3, feature_group_count=groups, name="conv1b")(scaled_gelu(out))
            out = WSConv2D(self.channels, 1, name="conv2")(scaled_gelu(out))
            squeezed = jax.nn.relu(hk.Linear(self.channels // 2, name="squeeze")(out.mean((1, 2))))
            out = 2 * jax.nn.sigmoid(hk.Linear(self.channels, name="excite")(squeezed))[:, None, None] * out
            gain = hk.get_parameter("skip_gain", (), out.dtype, jnp.zeros)
            return out * gain * self.alpha + short
    return WSConv2D, NFBlock


def scaled_gelu(x):
    return jax.nn.gelu(x) * 1.7015043497085571


def normalizer_free(depths, widths, stem, group, classes, side, batch, kind=BF16):
    """NFNet in haiku, with gradients clipped by the norms of the weights' units."""
    def make(arrays, change):
        import haiku as hk
        import optax
        b, now = batch // change.batch_divisor, computed(change, kind)
        conv, block_of = nf_parts()

        def forward(images):
            x = images
            for i, (channels, stride) in enumerate(zip(stem, (2, 1, 1, 2))):
                x = conv(channels, 3, stride, name=f"stem_conv{i}")(x)
                x = scaled_gelu(x) if i < len(stem) - 1 else x
            spread, alpha = 1.0, 0.2
            for i, (depth, width) in enumerate(zip(depths, widths)):
                for j in range(depth):
                    stride, beta = 2 if i and not j else 1, spread ** -0.5
                    block = block_of(width, stride, beta, alpha, group, name=f"block_{i}_{j}")
                    x = hk.remat(block, policy=policy_of(change))(x) if change.rematerialize else block(x)
                    spread = (1.0 if j == 0 else spread) + alpha ** 2
            x = scaled_gelu(conv(2 * widths[-1], 1, name="final_conv")(x)).mean((1, 2))
            return hk.Linear(classes, w_init=hk.initializers.RandomNormal(0.01), name="logits")(x)
        net = hk.without_apply_rng(hk.transform(forward))
        shapes = jax.eval_shape(net.init, jax.random.PRNGKey(0), jax.ShapeDtypeStruct((1, side, side, 3), F32))

        def loss_of(params, images, labels):
            logits = net.apply(as_kind(params, now), images.astype(now)).astype(F32)
            hot = optax.smooth_labels(jax.nn.one_hot(labels, classes), 0.1)
            return optax.softmax_cross_entropy(logits, hot).mean()
        optimizer = optax.chain(optax.adaptive_grad_clip(0.01), optax.add_decayed_weights(2e-5, matrices_only),
                                optax.sgd(warmed_up(1.6), momentum=0.9, nesterov=True))
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((b, side, side, 3), F32),
                                arrays.batch((b,), jnp.int32))
    return make


# --- equinox: masked residues ---

def protein_parts():
    import equinox as eqx

    class Layer(eqx.Module):
        """Of one protein [length, width]."""
        attention_norm: eqx.nn.LayerNorm
        qkv: eqx.nn.Linear
        out: eqx.nn.Linear
        mlp_norm: eqx.nn.LayerNorm
        up: eqx.nn.Linear
        down: eqx.nn.Linear
        rope: eqx.nn.RotaryPositionalEmbedding
        heads: int = eqx.field(static=True)

        def __init__(self, width, hidden, heads, key):
            keys = jax.random.split(key, 4)
            self.attention_norm, self.mlp_norm = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)
            self.qkv = eqx.nn.Linear(width, 3 * width, key=keys[0])
            self.out = eqx.nn.Linear(width, width, key=keys[1])
            self.up = eqx.nn.Linear(width, hidden, key=keys[2])
            self.down = eqx.nn.Linear(hidden, width, key=keys[3])
            self.rope, self.heads = eqx.nn.RotaryPositionalEmbedding(width // heads), heads

        def __call__(self, x, mask):
            h = jax.vmap(self.qkv)(jax.vmap(self.attention_norm)(x))
            q, k, v = (t.reshape(x.shape[0], self.heads, -1) for t in jnp.split(h, 3, -1))
            turn = jax.vmap(self.rope, in_axes=1, out_axes=1)
            scores = jnp.einsum("qhd,khd->hqk", turn(q), turn(k)) * q.shape[-1] ** -0.5
            chances = jax.nn.softmax(jnp.where(mask, scores.astype(F32), -1e9)).astype(x.dtype)
            x = x + jax.vmap(self.out)(jnp.einsum("hqk,khd->qhd", chances, v).reshape(x.shape))
            h = jax.nn.gelu(jax.vmap(self.up)(jax.vmap(self.mlp_norm)(x)))
            return x + jax.vmap(self.down)(h)

    class Protein(eqx.Module):
        embed: eqx.nn.Embedding
        layer_stack: Layer
        norm: eqx.nn.LayerNorm
        dense: eqx.nn.Linear
        head: eqx.nn.Linear

        def __init__(self, layers, width, hidden, heads, vocab, key):
            first, second, third, fourth = jax.random.split(key, 4)
            self.embed = eqx.nn.Embedding(vocab, width, key=first)
            self.layer_stack = eqx.filter_vmap(lambda k: Layer(width, hidden, heads, k))(
                jax.random.split(second, layers))
            self.norm = eqx.nn.LayerNorm(width)
            self.dense = eqx.nn.Linear(width, width, key=third)
            self.head = eqx.nn.Linear(width, vocab, key=fourth)

        def __call__(self, ids, mask, checkpointed):
            arrays, rest = eqx.partition(self.layer_stack, eqx.is_array)

            def body(x, layer):
                return checkpointed(lambda layer, x: eqx.combine(layer, rest)(x, mask))(layer, x), None
            x, _ = jax.lax.scan(body, jax.vmap(self.embed)(ids), arrays)
            x = jax.vmap(self.norm)(x)
            return jax.vmap(self.head)(jax.nn.gelu(jax.vmap(self.dense)(x)))
    return Protein


def protein_masking(layers, width, hidden, heads, vocab, batch, length, kind=BF16):
    """ESM-2 in equinox: the model is of one protein and is mapped over the batch; layers are a scan; Lion."""
    def make(arrays, change):
        import equinox as eqx
        import optax
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        model = eqx.filter_eval_shape(protein_parts(), layers, width, hidden, heads, vocab, jax.random.PRNGKey(0))
        shapes, static = eqx.partition(model, lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

        def loss_of(params, ids, targets):
            net = eqx.combine(as_kind(params, now), static)
            mask = ids != 1
            logits = jax.vmap(lambda i, m: net(i, m, functools.partial(maybe_checkpointed, change)))(ids, mask)
            return word_loss(logits, jnp.maximum(targets, 0), (targets >= 0).astype(F32))
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(warmed_up(1e-4), weight_decay=0.1,
                                                                          mask=matrices_only))
        rows = arrays.batch((b, time), jnp.int32)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, rows, rows)
    return make
