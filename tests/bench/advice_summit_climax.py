"""ClimaX: the weather of a later hour, from many variables on a grid, in equinox.

Each variable has its own patches; a learned query gathers what all of them say of a place, and a transformer, whose
blocks are stacked and scanned over, does the rest. The error is weighted by latitude.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import BF16, cast, checkpointed, computing
from advice_board_training import F32, optax_step

STACKS = {"blocks": 0}


def climax(variables, grid, patch, width, depth, heads, head_depth):
    """(the model, made from a key; what it forecasts; a grid as patches)"""
    import equinox as eqx
    places = grid[0] // patch * (grid[1] // patch)

    def everywhere(linear, x):
        return x @ linear.weight.T + linear.bias

    def normed(norm, x):
        y = x.astype(F32)
        y = (y - y.mean(-1, keepdims=True)) * jax.lax.rsqrt(y.var(-1, keepdims=True) + norm.eps)
        return (y * norm.weight.astype(F32) + norm.bias.astype(F32)).astype(x.dtype)

    def split(x):
        return x.reshape(*x.shape[:-1], heads, -1)

    class Block(eqx.Module):
        norm1: eqx.nn.LayerNorm
        qkv: eqx.nn.Linear
        proj: eqx.nn.Linear
        norm2: eqx.nn.LayerNorm
        fc1: eqx.nn.Linear
        fc2: eqx.nn.Linear

        def __init__(self, key):
            a, b, c, d = jax.random.split(key, 4)
            self.norm1, self.norm2 = eqx.nn.LayerNorm(width), eqx.nn.LayerNorm(width)
            self.qkv, self.proj = eqx.nn.Linear(width, 3 * width, key=a), eqx.nn.Linear(width, width, key=b)
            self.fc1, self.fc2 = eqx.nn.Linear(width, 4 * width, key=c), eqx.nn.Linear(4 * width, width, key=d)

        def __call__(self, x):
            q, k, v = jnp.split(everywhere(self.qkv, normed(self.norm1, x)), 3, -1)
            out = jax.nn.dot_product_attention(split(q), split(k), split(v))
            x = x + everywhere(self.proj, out.reshape(x.shape))
            return x + everywhere(self.fc2, jax.nn.gelu(everywhere(self.fc1, normed(self.norm2, x))))

    class Gathering(eqx.Module):
        query: jax.Array
        q: eqx.nn.Linear
        k: eqx.nn.Linear
        v: eqx.nn.Linear
        out: eqx.nn.Linear

        def __init__(self, key):
            self.query = jnp.zeros((1, width))
            self.q, self.k, self.v, self.out = (
                eqx.nn.Linear(width, width, key=one) for one in jax.random.split(key, 4))

        def __call__(self, x):
            """[b, places, variables, width] to [b, places, width]"""
            q = split(everywhere(self.q, self.query))[0]
            k, v = split(everywhere(self.k, x)), split(everywhere(self.v, x))
            scores = jnp.einsum("hd,bnvhd->bnhv", q, k).astype(F32) * q.shape[-1] ** -0.5
            gathered = jnp.einsum("bnhv,bnvhd->bnhd", jax.nn.softmax(scores, -1).astype(x.dtype), v)
            return everywhere(self.out, gathered.reshape(*gathered.shape[:2], width))

    class ClimaX(eqx.Module):
        token_embeds: jax.Array
        token_biases: jax.Array
        var_embed: jax.Array
        pos_embed: jax.Array
        lead_time_embed: eqx.nn.Linear
        gathering: Gathering
        blocks: Block
        norm: eqx.nn.LayerNorm
        head: list

        def __init__(self, key):
            first, second, third, fourth, fifth, last = jax.random.split(key, 6)
            self.token_embeds = jax.random.normal(first, (variables, patch * patch, width)) * 0.02
            self.token_biases, self.var_embed = jnp.zeros((variables, width)), jnp.zeros((variables, width))
            self.pos_embed = jnp.zeros((places, width))
            self.lead_time_embed = eqx.nn.Linear(1, width, key=second)
            self.gathering = Gathering(third)
            self.blocks = eqx.filter_vmap(Block)(jax.random.split(fourth, depth))
            self.norm = eqx.nn.LayerNorm(width)
            self.head = [eqx.nn.Linear(width, width, key=one) for one in jax.random.split(fifth, head_depth)]
            self.head.append(eqx.nn.Linear(width, variables * patch * patch, key=last))

    def patched(x):
        """[b, v, h, w] to [b, places, v, patch * patch]"""
        b, v, h, w = x.shape
        x = x.reshape(b, v, h // patch, patch, w // patch, patch).transpose(0, 2, 4, 1, 3, 5)
        return x.reshape(b, places, v, patch * patch)

    def forecast(change, now, model, x, lead):
        x = jnp.einsum("bnvp,vpd->bnvd", patched(x), model.token_embeds) + model.token_biases + model.var_embed
        x = model.gathering(x) + model.pos_embed + everywhere(model.lead_time_embed, lead[:, None])[:, None]

        def body(x, block):
            return checkpointed(change, lambda block, x: block(x))(block, x), None
        x, _ = jax.lax.scan(body, x, model.blocks)
        x = normed(model.norm, x)
        for linear in model.head[:-1]:
            x = jax.nn.gelu(everywhere(linear, x))
        return everywhere(model.head[-1], x)

    return ClimaX, forecast, patched


def pretrained_climax(variables, grid, patch, width, depth, heads, batch, head_depth=2, kind=BF16):
    def make(arrays, change):
        import equinox as eqx
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        model, forecast, patched = climax(variables, grid, patch, width, depth, heads, head_depth)
        shapes = eqx.filter_eval_shape(model, jax.random.key(0))

        def loss_of(params, before, after, lead):
            said = forecast(change, now, cast(params, now), before.astype(now), lead.astype(now)).astype(F32)
            latitudes = (jnp.arange(grid[0]) + 0.5) / grid[0] * jnp.pi - jnp.pi / 2
            weights = jnp.cos(latitudes) / jnp.cos(latitudes).mean()
            weights = patched(jnp.broadcast_to(weights[:, None], (1, variables, *grid)))
            wanted = patched(after).astype(F32)
            return ((said.reshape(wanted.shape) - wanted) ** 2 * weights).mean()
        state = arrays.batch((rows, variables, *grid), F32)
        schedule = optax.warmup_cosine_decay_schedule(1e-8, 5e-4, 10000, 200000, 1e-8)
        optimizer = optax.adamw(schedule, b1=0.9, b2=0.95, weight_decay=1e-5)
        return optax_step(arrays, change, shapes, loss_of, optimizer, state, state, arrays.batch((rows,), F32),
                          stacks=STACKS)
    return make
