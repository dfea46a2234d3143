"""Rows of tables: clicks told from many tables, the next item of a buyer, the items nearest to one, wide records.

As in advice_structures.py, each maker takes its Arrays and Change, and gives (step, arguments, donated). It was
written without a look at the advice, its rules or any figure of it; advice_jury_families.py has the sizes.
"""
import jax
import jax.numpy as jnp

from advice_exam_libraries import as_kind, computed, matrices_only, warmed_up
from advice_fresh import maybe_checkpointed, shaped, trained_in_parts
from advice_structures import BF16, F32


# --- Clicks ---

def layers_of(name, sizes):
    return {f"{name}_{i}": {"w": (size, following), "b": (following,)}
            for i, (size, following) in enumerate(zip(sizes, sizes[1:]))}


def perceptron(params, name, count, x, is_last_linear=False):
    for i in range(count):
        layer = params[f"{name}_{i}"]
        x = x @ layer["w"] + layer["b"]
        x = x if is_last_linear and i == count - 1 else jax.nn.relu(x)
    return x


def cross_layer(w, x0, x):
    return x0 * ((x @ w["v"]) @ w["u"] + w["b"]) + x


def click_tables(tables, width, dense, bottom, crosses, rank, top, batch, kind=F32):
    """DLRM with DCN-v2: tables is a list of (rows, ids of each example); bags of ids are summed. Adagrad."""
    joined = (len(tables) + 1) * width
    bottom, top = (dense, *bottom, width), (joined, *top, 1)

    def make(arrays, change):
        import optax
        b, now = batch // change.batch_divisor, change.computed or computed(change, kind)
        shapes = shaped(tables={f"cat_{i}": (rows, width) for i, (rows, _) in enumerate(tables)},
                        mlp=layers_of("bottom", bottom) | layers_of("top", top),
                        cross={f"layer_{i}": {"v": (joined, rank), "u": (rank, joined), "b": (joined,)}
                               for i in range(crosses)})
        cross = maybe_checkpointed(change, cross_layer)

        def loss_of(params, numbers, bags, clicked):
            mlp, crossed = as_kind(params["mlp"], now), as_kind(params["cross"], now)
            read = perceptron(mlp, "bottom", len(bottom) - 1, numbers.astype(now))
            looked = [params["tables"][name][ids].astype(now).sum(1) for name, ids in bags.items()]
            x = x0 = jnp.concatenate([read, *looked], -1)
            for i in range(crosses):
                x = cross(crossed[f"layer_{i}"], x0, x)
            logits = perceptron(mlp, "top", len(top) - 1, x, True)[:, 0].astype(F32)
            return optax.sigmoid_binary_cross_entropy(logits, clicked.astype(F32)).mean()
        bags = {f"cat_{i}": arrays.batch((b, count), jnp.int32) for i, (_, count) in enumerate(tables)}
        return trained_in_parts(arrays, change, shapes, loss_of, optax.adagrad(0.02),
                                arrays.batch((b, dense), F32), bags, arrays.batch((b,), F32))
    return make


# --- The next item ---

def next_items(layers, width, heads, items, negatives, batch, length, kind=BF16):
    """gSASRec, in flax: each place has one right item and many wrong ones, drawn by the loader; adamw."""
    def make(arrays, change):
        import flax.linen as nn
        import optax
        b, time, now = batch // change.batch_divisor, length // change.length_divisor, computed(change, kind)

        class Block(nn.Module):
            @nn.compact
            def __call__(self, x, mask):
                h = nn.LayerNorm(dtype=now, name="attention_norm")(x)
                x = x + nn.MultiHeadDotProductAttention(heads, dtype=now, name="attention")(h, mask=mask)
                h = nn.LayerNorm(dtype=now, name="mlp_norm")(x)
                h = nn.gelu(nn.Dense(4 * width, dtype=now, name="up")(h))
                return x + nn.Dense(width, dtype=now, name="down")(h)

        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
        layer = nn.remat(Block, policy=policy) if change.rematerialize else Block

        class History(nn.Module):
            def setup(self):
                self.items = nn.Embed(items, width, dtype=now)
                self.positions = self.param("positions", nn.initializers.normal(0.02), (length, width))
                self.blocks = [layer(name=f"block_{i}") for i in range(layers)]
                self.norm = nn.LayerNorm(dtype=now)

            def __call__(self, bought, right, wrong):
                x = self.items(bought) * width ** 0.5 + self.positions[:time].astype(now)
                mask = nn.combine_masks(nn.make_causal_mask(bought), nn.make_attention_mask(bought > 0, bought > 0))
                for block in self.blocks:
                    x = block(x, mask)
                x = self.norm(x)
                of_right = jnp.einsum("btd,btd->bt", x, self.items(right))
                return of_right.astype(F32), jnp.einsum("btd,btnd->btn", x, self.items(wrong)).astype(F32)
        model = History()
        ids, drawn = arrays.batch((b, time), jnp.int32), arrays.batch((b, time, negatives), jnp.int32)
        shapes = jax.eval_shape(model.init, jax.random.key(0), ids, ids, drawn)["params"]
        rate = negatives / (items - 1)
        beta = rate * (0.75 * (1 - 1 / rate) + 1 / rate)

        def loss_of(params, bought, right, wrong):
            positive, negative = model.apply({"params": params}, bought, right, wrong)
            losses = jax.nn.softplus(-positive) * beta + jax.nn.softplus(negative).sum(-1)
            counted = (right > 0).astype(F32)
            return (losses * counted).sum() / counted.sum()
        optimizer = optax.adamw(1e-3, b2=0.98, weight_decay=0.01, mask=matrices_only)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, ids, ids, drawn)
    return make


# --- The nearest items ---

def nearest_items(items, width, hidden, fields, rows, history, wanted, batch, kind=BF16):
    """The query tower of a two-tower model, served: all items' vectors, made before, are scored, and the best given."""
    def make(arrays, change):
        b, past, now = batch // change.batch_divisor, history // change.length_divisor, computed(change, kind)
        sizes = ((fields + 1) * width, *hidden, width)
        params = {"items": arrays.parameter((items, width)), "index": arrays.parameter((width, items), 1),
                  "fields": [arrays.parameter((rows, width)) for _ in range(fields)],
                  "scale": arrays.parameter((), None),
                  "tower": [{"kernel": arrays.parameter((size, following)),
                             "bias": arrays.parameter((following,), None)}
                            for size, following in zip(sizes, sizes[1:])]}

        def unit(x):
            wide = x.astype(F32)
            return (wide * jax.lax.rsqrt(jnp.sum(wide * wide, -1, keepdims=True) + 1e-6)).astype(x.dtype)

        def retrieve(params, users, bought):
            p = as_kind(params, now)
            seen = (bought > 0).astype(now)[..., None]
            mean = (p["items"][bought] * seen).sum(1) / jnp.maximum(seen.sum(1), 1)
            x = jnp.concatenate([mean, *(table[users[:, i]] for i, table in enumerate(p["fields"]))], -1)
            for layer in p["tower"][:-1]:
                x = jax.nn.relu(x @ layer["kernel"] + layer["bias"])
            x = unit(x @ p["tower"][-1]["kernel"] + p["tower"][-1]["bias"])
            scores = (x @ p["index"] * p["scale"]).astype(F32)
            scores = scores.at[jnp.arange(b)[:, None], bought].set(-jnp.inf)
            return jax.lax.top_k(scores, wanted)
        return retrieve, (params, arrays.batch((b, fields), jnp.int32), arrays.batch((b, past), jnp.int32)), ()
    return make


# --- Wide records ---

def record_tokens(layers, width, heads, hidden, numbers, kinds, values, batch, kind=F32):
    """FT-Transformer, in nnx: each column of a record is a token; a token of its own gathers the answer."""
    def make(arrays, change):
        import optax
        from flax import nnx
        b, now = batch // change.batch_divisor, change.computed or computed(change, kind)
        policy = getattr(jax.checkpoint_policies, change.keeps) if change.keeps else None
        normal = nnx.initializers.normal(0.02)

        class Block(nnx.Module):
            def __init__(self, rngs):
                self.norm_1 = nnx.LayerNorm(width, dtype=now, rngs=rngs)
                self.norm_2 = nnx.LayerNorm(width, dtype=now, rngs=rngs)
                self.qkv = nnx.Linear(width, 3 * width, dtype=now, rngs=rngs)
                self.out = nnx.Linear(width, width, dtype=now, rngs=rngs)
                self.gated = nnx.Linear(width, 2 * hidden, dtype=now, rngs=rngs)
                self.down = nnx.Linear(hidden, width, dtype=now, rngs=rngs)

            def __call__(self, x):
                q, k, v = (part.reshape(*x.shape[:2], heads, -1) for part in jnp.split(self.qkv(self.norm_1(x)), 3, -1))
                x = x + self.out(jax.nn.dot_product_attention(q, k, v).reshape(x.shape))
                value, gate = jnp.split(self.gated(self.norm_2(x)), 2, -1)
                return x + self.down(value * nnx.relu(gate))

        class Records(nnx.Module):
            def __init__(self, rngs):
                self.weight = nnx.Param(normal(rngs.params(), (numbers, width)))
                self.bias = nnx.Param(normal(rngs.params(), (numbers + kinds, width)))
                self.cls = nnx.Param(normal(rngs.params(), (1, 1, width)))
                self.values = nnx.Embed(kinds * values, width, dtype=now, rngs=rngs)
                self.blocks = nnx.List([Block(rngs) for _ in range(layers)])
                self.norm = nnx.LayerNorm(width, dtype=now, rngs=rngs)
                self.head = nnx.Linear(width, 1, dtype=now, rngs=rngs)

            def __call__(self, columns, codes):
                x = columns.astype(now)[..., None] * self.weight[...].astype(now)
                x = jnp.concatenate([x, self.values(codes + jnp.arange(kinds) * values)], 1)
                x = x + self.bias[...].astype(now)
                x = jnp.concatenate([jnp.broadcast_to(self.cls[...].astype(now), (len(x), 1, width)), x], 1)
                for block in self.blocks:
                    apply = nnx.remat(Block.__call__, policy=policy) if change.rematerialize else Block.__call__
                    x = apply(block, x)
                return self.head(nnx.relu(self.norm(x[:, 0])))[:, 0]
        graph, shapes = nnx.split(nnx.eval_shape(lambda: Records(nnx.Rngs(0))))

        def loss_of(params, columns, codes, answers):
            made = nnx.merge(graph, params)(columns, codes)
            return jnp.mean(jnp.square(made.astype(F32) - answers.astype(F32)))
        optimizer = optax.adamw(warmed_up(1e-4), weight_decay=1e-5, mask=matrices_only)
        return trained_in_parts(arrays, change, shapes, loss_of, optimizer, arrays.batch((b, numbers), F32),
                                arrays.batch((b, kinds), jnp.int32), arrays.batch((b,), F32))
    return make
