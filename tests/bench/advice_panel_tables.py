"""Large tables: clicks told from many of them (a deep and cross network), and what is bought next (SASRec).

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_panel_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import computed
from advice_fresh import maybe_checkpointed, trained_in_parts
from advice_structures import BF16, F32

# Of the 26 columns of Criteo's week, rare values left out, rows in whole groups of eight.
CRITEO = (1464, 584, 1984000, 1342400, 312, 24, 12520, 640, 8, 93152, 5688, 1728800, 3200, 32, 14992, 1461312, 16, 5656,
          2176, 8, 1646552, 24, 16, 286184, 112, 142576)


# --- A deep and cross network in haiku ---

def deep_and_cross(rows, width, dense_count, crosses, rank, tower, batch, kind=F32):
    """DCN v2: a table a column, low-rank crosses beside a tower; Adagrad for all of it, as is usual for tables."""
    def make(arrays, change):
        import haiku as hk
        import optax
        b = batch // change.batch_divisor
        now = change.computed or computed(change, kind)

        def looked_up(ids):
            columns = []
            for i, count in enumerate(rows):
                init = hk.initializers.RandomUniform(-count ** -0.5, count ** -0.5)
                table = hk.get_parameter(f"table_c{i + 1}", (count, width), init=init)
                columns.append(table[ids[:, i]].astype(now))
            return columns

        def narrow(name, *shape):
            init = hk.initializers.VarianceScaling() if len(shape) > 1 else jnp.zeros
            return hk.get_parameter(name, shape, init=init).astype(now)

        def run(dense, ids):
            x0 = jnp.concatenate([jnp.log1p(dense).astype(now), *looked_up(ids)], -1)
            size = x0.shape[-1]

            def cross(x0, x, u, v, bias):
                return x0 * ((x @ u) @ v + bias) + x
            one, x = maybe_checkpointed(change, cross), x0
            for i in range(crosses):
                x = one(x0, x, narrow(f"cross_{i}_u", size, rank), narrow(f"cross_{i}_v", rank, size),
                        narrow(f"cross_{i}_b", size))
            deep = x0
            for i, units in enumerate(tower):
                deep = deep @ narrow(f"deep_{i}_w", deep.shape[-1], units) + narrow(f"deep_{i}_b", units)
                deep = jax.nn.relu(deep)
            both = jnp.concatenate([x, deep], -1)
            return (both @ narrow("logit_w", both.shape[-1], 1))[:, 0] + narrow("logit_b", 1)
        model = hk.without_apply_rng(hk.transform(run))
        dense, ids = arrays.batch((b, dense_count), F32), arrays.batch((b, len(rows)), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), dense, ids)

        def loss_of(params, dense, ids, clicked):
            logits = model.apply(params, dense, ids).astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, clicked.astype(F32)).mean()
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adagrad(0.02), dense, ids,
                                arrays.batch((b,), jnp.int32))
    return make


# --- SASRec in nnx ---

def sasrec_module(items, width, heads, blocks, places, now, change):
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs):
            kinds = {"dtype": now, "rngs": rngs}
            self.attn_norm, self.ff_norm = nnx.LayerNorm(width, **kinds), nnx.LayerNorm(width, **kinds)
            self.attn = nnx.MultiHeadAttention(heads, width, decode=False, **kinds)
            self.linear1, self.linear2 = nnx.Linear(width, 4 * width, **kinds), nnx.Linear(4 * width, width, **kinds)

        def __call__(self, x, mask):
            x = x + self.attn(self.attn_norm(x), mask=mask)
            return x + self.linear2(nnx.gelu(self.linear1(self.ff_norm(x))))

    def run(block, x, mask):
        return block(x, mask)
    if change.rematerialize:
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
        run = nnx.remat(run, policy=policy)

    class SASRec(nnx.Module):
        def __init__(self, rngs):
            init = nnx.initializers.normal(0.02)
            self.items = nnx.Param(init(rngs.params(), (items, width), F32))
            self.positions = nnx.Param(init(rngs.params(), (places, width), F32))
            self.blocks = nnx.List([Block(rngs) for _ in range(blocks)])
            self.norm = nnx.LayerNorm(width, dtype=now, rngs=rngs)

        def look_up(self, ids):
            return self.items[...][ids].astype(now)

        def __call__(self, ids):
            time = ids.shape[1]
            x = self.look_up(ids) * width ** 0.5 + self.positions[...][:time].astype(now)
            mask = jnp.tril(jnp.ones((time, time), bool)) & (ids > 0)[:, None, None]
            for block in self.blocks:
                x = run(block, x, mask)
            return self.norm(x)
    return SASRec


def next_items(items, width, heads, blocks, negatives, batch, length, kind=BF16):
    """Each place is told its next item from some drawn for the row; the loss of gSASRec, with a calibration."""
    def make(arrays, change):
        import optax
        from flax import nnx
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)
        module = sasrec_module(items, width, heads, blocks, time, now, change)
        graph, shapes = nnx.split(nnx.eval_shape(lambda: module(nnx.Rngs(0))), nnx.Param)
        sampled = negatives / (items - 1)
        power = sampled * (0.75 * (1 - 1 / sampled) + 1 / sampled)

        def loss_of(params, ids, targets, drawn):
            model = nnx.merge(graph, params)
            x = model(ids)
            good = jnp.einsum("btd,btd->bt", x, model.look_up(targets)).astype(F32)
            bad = jnp.einsum("btd,bnd->btn", x, model.look_up(drawn)).astype(F32)
            losses = -power * jax.nn.log_sigmoid(good) - jax.nn.log_sigmoid(-bad).sum(-1)
            counted = (targets > 0).astype(F32)
            return (losses * counted).sum() / jnp.maximum(counted.sum(), 1)
        rows = arrays.batch((b, time), jnp.int32)
        optimizer = optax.adamw(1e-3, b2=0.98, weight_decay=1e-4)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, rows, rows,
                                arrays.batch((b, negatives), jnp.int32))
    return make
