"""A Llama 3.2 of 1B taught to half its layers: the teacher frozen in bfloat16, the student in float32 with Lion.

Flax nnx: the student has each second layer of the teacher. Its loss is the divergence from the teacher's words at a
temperature of 2, the usual loss of the next word, and the cosine of hidden states at each layer the two share.
"""
import jax
import jax.numpy as jnp
import optax
from flax import nnx

from advice_board_changes import checkpointed, computing, laid_out, matrices_only, summed_slopes, updated
from advice_board_training import BF16, F32, cast

VOCAB, EMBED, HEADS, KV_HEADS, HEAD_DIM, MLP = 128256, 2048, 32, 8, 64, 8192


class LlamaBlock(nnx.Module):
    def __init__(self, dtype, rngs):
        def project(inputs, outputs):
            return nnx.Linear(inputs, outputs, use_bias=False, dtype=dtype, rngs=rngs)
        self.input_norm, self.post_norm = (nnx.RMSNorm(EMBED, epsilon=1e-5, dtype=dtype, rngs=rngs) for _ in range(2))
        self.wq, self.wo = project(EMBED, HEADS * HEAD_DIM), project(HEADS * HEAD_DIM, EMBED)
        self.wk, self.wv = project(EMBED, KV_HEADS * HEAD_DIM), project(EMBED, KV_HEADS * HEAD_DIM)
        self.gate_proj, self.up_proj, self.down_proj = project(EMBED, MLP), project(EMBED, MLP), project(MLP, EMBED)

    def rotate(self, x):
        half = HEAD_DIM // 2
        inverse = 500_000.0 ** (-jnp.arange(half, dtype=F32) / half)
        angles = (jnp.arange(x.shape[1], dtype=F32)[:, None] * inverse)[None, :, None]
        first, second = jnp.split(x.astype(F32), 2, axis=-1)
        cos, sin = jnp.cos(angles), jnp.sin(angles)
        return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1).astype(x.dtype)

    def attend(self, x):
        batch, length, _ = x.shape
        q = self.rotate(self.wq(x).reshape(batch, length, HEADS, HEAD_DIM))
        k = self.rotate(self.wk(x).reshape(batch, length, KV_HEADS, HEAD_DIM))
        v = self.wv(x).reshape(batch, length, KV_HEADS, HEAD_DIM)
        return self.wo(jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(batch, length, -1))

    def __call__(self, x):
        x = x + self.attend(self.input_norm(x))
        y = self.post_norm(x)
        return x + self.down_proj(nnx.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama(nnx.Module):
    def __init__(self, depth, dtype, change, rngs):
        self.embedder = nnx.Embed(VOCAB, EMBED, dtype=dtype, rngs=rngs)
        self.blocks = nnx.List([LlamaBlock(dtype, rngs) for _ in range(depth)])
        self.final_norm = nnx.RMSNorm(EMBED, epsilon=1e-5, dtype=dtype, rngs=rngs)
        self.change = change

    def __call__(self, ids, every=1):
        """Logits, and the hidden states after each `every` blocks."""
        x, hidden = self.embedder(ids), []
        for i, block in enumerate(self.blocks):
            if self.change is None:
                x = block(x)
            else:
                graph, state = nnx.split(block)
                x = checkpointed(self.change, lambda state, x, graph=graph: nnx.merge(graph, state)(x))(state, x)
            if (i + 1) % every == 0:
                hidden.append(x)
        return self.embedder.attend(self.final_norm(x)), hidden


def soft_divergence(student, teacher, temperature):
    student = jax.nn.log_softmax(student.astype(F32) / temperature)
    teacher = jax.nn.log_softmax(teacher.astype(F32) / temperature)
    return temperature ** 2 * jnp.sum(jnp.exp(teacher) * (teacher - student), axis=-1)


def distilled(teacher_depth, depth, batch, length, temperature=2.0, soft=0.7, alike=0.5):
    def make(arrays, change):
        rows, n = batch // change.batch_divisor, length // change.length_divisor
        student = nnx.eval_shape(lambda: Llama(depth, computing(change, BF16), change, nnx.Rngs(0)))
        teacher = nnx.eval_shape(lambda: Llama(teacher_depth, BF16, None, nnx.Rngs(0)))
        graph, params = nnx.split(student, nnx.Param)
        teacher_graph, frozen = nnx.split(teacher, nnx.Param)
        params, frozen = cast(params, change.stored), cast(frozen, BF16)
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.lion(
            optax.warmup_cosine_decay_schedule(0.0, 3e-5, 1_000, 100_000), weight_decay=0.3, mask=matrices_only))
        opt_state = jax.eval_shape(optimizer.init, params)

        def train_step(params, opt_state, frozen, ids, mask):
            def loss_of(params, _, ids, mask):
                given, wanted, mask = ids[:, :-1], ids[:, 1:], mask[:, 1:].astype(F32)
                target, target_hidden = nnx.merge(teacher_graph, frozen)(given, teacher_depth // depth)
                target, target_hidden = jax.lax.stop_gradient((target, target_hidden))
                logits, hidden = nnx.merge(graph, params)(given)

                def mean(x):
                    return jnp.sum(x * mask) / jnp.maximum(jnp.sum(mask), 1.0)
                kl = mean(soft_divergence(logits, target, temperature))
                ce = mean(optax.softmax_cross_entropy_with_integer_labels(logits.astype(F32), wanted))
                apart = sum(mean(optax.cosine_distance(a.astype(F32), b.astype(F32), epsilon=1e-6))
                            for a, b in zip(hidden, target_hidden)) / depth
                return soft * kl + (1 - soft) * ce + alike * apart, {"kl": kl, "ce": ce, "cosine": apart}
            loss, metrics, grads = summed_slopes(loss_of, change.parts)(params, None, ids, mask)
            params, opt_state = updated(optimizer, grads, opt_state, params)
            return params, opt_state, {"loss": loss, **jax.tree.map(jnp.mean, metrics)}
        return train_step, (laid_out(arrays, params), laid_out(arrays, opt_state), laid_out(arrays, frozen),
                            arrays.batch((rows, n + 1), jnp.int32), arrays.batch((rows, n + 1), jnp.int32)), (0, 1)
    return make


FAMILY = {"medal_distil_llama": dict(
    make=distilled(teacher_depth=16, depth=8, batch=8, length=768), is_donated=True,
    variants=("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "halve_sequence", "micro_batch",
              "rematerialize", "rematerialize_dots", "rematerialize+halve_batch", "shard_parameters", "shard_all"))}
