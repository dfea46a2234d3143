"""DALL-E Mini writes the 256 VQGAN tokens of a picture from its caption: a micro-batch of training by optax.MultiSteps.

Flax nnx; BART's encoder and decoder of 12 layers, each in an nnx.scan, with NormFormer's norms and gated MLPs. Float32
weights, bfloat16 compute; Adafactor moves them at each eighth call, gradients add up in its state. Nothing is donated.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import computing, laid_out, policy_of, updated
from advice_board_training import BF16, F32, cast

TEXT_VOCAB, IMAGE_VOCAB, TEXT, IMAGE = 50264, 16384, 64, 256
DIM, HEADS, D_FF, DEPTH, START = 1024, 16, 2730, 12, 16384


def dense(inputs, outputs, kind, rngs):
    return nnx.Linear(inputs, outputs, use_bias=False, dtype=kind, kernel_init=nnx.initializers.normal(0.02), rngs=rngs)


def norm(width, kind, rngs, use_scale=True):
    return nnx.LayerNorm(width, epsilon=1e-5, use_scale=use_scale, dtype=kind, rngs=rngs)


class Attention(nnx.Module):
    def __init__(self, kind, rngs):
        self.q, self.k, self.v, self.out = (dense(DIM, DIM, kind, rngs) for _ in range(4))

    def __call__(self, x, memory, mask):
        q, k, v = (layer(given).reshape(*given.shape[:2], HEADS, DIM // HEADS)
                   for layer, given in ((self.q, x), (self.k, memory), (self.v, memory)))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q * (DIM // HEADS) ** -0.5, k).astype(F32)
        weights = jax.nn.softmax(jnp.where(mask, scores, jnp.finfo(F32).min), -1).astype(v.dtype)
        return self.out(jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(x.shape))


class GLU(nnx.Module):
    def __init__(self, kind, rngs):
        self.before, self.middle = norm(DIM, kind, rngs, use_scale=False), norm(D_FF, kind, rngs, use_scale=False)
        self.gate, self.up = dense(DIM, D_FF, kind, rngs), dense(DIM, D_FF, kind, rngs)
        self.down = dense(D_FF, DIM, kind, rngs)

    def __call__(self, x):
        x = self.before(x)
        return self.down(self.middle(jax.nn.gelu(self.gate(x)) * self.up(x)))


class Layer(nnx.Module):
    def __init__(self, crosses, kind, rngs):
        self.crosses = crosses
        self.before, self.after = norm(DIM, kind, rngs, use_scale=False), norm(DIM, kind, rngs)
        self.attention, self.mlp = Attention(kind, rngs), GLU(kind, rngs)
        if crosses:
            self.cross_before, self.cross_after = norm(DIM, kind, rngs, use_scale=False), norm(DIM, kind, rngs)
            self.cross = Attention(kind, rngs)

    def __call__(self, x, mask, memory, memory_mask):
        y = self.before(x)
        x = x + self.after(self.attention(y, y, mask))
        if self.crosses:
            x = x + self.cross_after(self.cross(self.cross_before(x), memory, memory_mask))
        return x + self.mlp(x)


class Stack(nnx.Module):
    def __init__(self, vocab, places, crosses, kind, rngs):
        init = nnx.initializers.normal(0.02)
        self.tokens = nnx.Embed(vocab, DIM, dtype=kind, embedding_init=init, rngs=rngs)
        self.positions = nnx.Embed(places, DIM, dtype=kind, embedding_init=init, rngs=rngs)
        self.first, self.last = norm(DIM, kind, rngs), norm(DIM, kind, rngs)
        self.layers = nnx.vmap(lambda rngs: Layer(crosses, kind, rngs))(rngs.fork(split=DEPTH))

    def __call__(self, ids, mask, memory, memory_mask, run):
        x = self.first(self.tokens(ids) + self.positions(jnp.arange(ids.shape[1])[None]))

        def body(x, layer):
            return run(layer, x, mask, memory, memory_mask)
        return self.last(nnx.scan(body, in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)(x, self.layers))


class DalleMini(nnx.Module):
    def __init__(self, kind, rngs):
        self.encoder = Stack(TEXT_VOCAB, TEXT, False, kind, rngs)
        self.decoder = Stack(IMAGE_VOCAB + 1, IMAGE, True, kind, rngs)
        self.lm_head = dense(DIM, IMAGE_VOCAB, kind, rngs)

    def __call__(self, text, text_mask, codes, run):
        seen = text_mask[:, None, None].astype(bool)
        memory = self.encoder(text, seen, None, None, run)
        inputs = jnp.pad(codes[:, :-1], ((0, 0), (1, 0)), constant_values=START)
        causal = jnp.tril(jnp.ones((codes.shape[1],) * 2, bool))[None, None]
        return self.lm_head(self.decoder(inputs, causal, memory, seen, run))


def accumulating(batch, every):
    def make(arrays, change):
        rows, kind = batch // change.batch_divisor, computing(change, BF16)
        text, image = TEXT // change.length_divisor, IMAGE // change.length_divisor
        graph, shapes = nnx.split(nnx.eval_shape(lambda: DalleMini(kind, nnx.Rngs(0))), nnx.Param)
        params = cast(shapes, change.stored)
        schedule = optax.warmup_constant_schedule(0.0, 5e-3, 2_000)
        adafactor = optax.adafactor(schedule, clipping_threshold=1.0)
        optimizer = optax.MultiSteps(adafactor, every_k_schedule=every).gradient_transformation()
        opt_state = jax.eval_shape(optimizer.init, params)

        def run(layer, *given):
            return layer(*given)
        if change.rematerialize:
            run = nnx.remat(run, policy=policy_of(change))

        def loss_fn(params, text, text_mask, codes):
            logits = nnx.merge(graph, params)(text, text_mask, codes, run).astype(F32)
            return optax.softmax_cross_entropy_with_integer_labels(logits, codes).mean()

        def train_step(params, opt_state, text, text_mask, codes):
            loss, grads = jax.value_and_grad(loss_fn)(params, text, text_mask, codes)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, "step": opt_state.gradient_step, "part": opt_state.mini_step}

        batch_of = [arrays.batch((rows, n), jnp.int32) for n in (text, text, image)]
        stacks = {"layers": 0}
        return train_step, (laid_out(arrays, params, stacks), laid_out(arrays, opt_state, stacks), *batch_of), (0, 1)
    return make


FAMILY = {"crown_dalle_mini_multisteps": dict(
    make=accumulating(batch=64, every=8), is_donated=False,
    variants=("donate_inputs", "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters",
              "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "rematerialize", "rematerialize_dots",
              "shard_parameters", "shard_all"))}
