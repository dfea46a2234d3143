"""Models as other authors write them: parameters in named dictionaries, einsum, vmap, loops in loops.

advice_programs.py makes families of them; each maker takes its Arrays and Change, and gives (step, arguments, donated).
The kinds are those that advice has misread: steps of accumulation, caches, loops over time, one number for several
quantities, weights that nobody trains, stages of several sizes, tables, graphs.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np

F32, BF16 = jnp.float32, jnp.bfloat16


# --- What they share ---

def adam_state(arrays, params):
    return {"count": arrays.array((), jnp.int32), "mu": params, "nu": params}


def update_with_adam(params, state, grads):
    def moment(decay, old, new):
        return (decay * old + (1 - decay) * new).astype(old.dtype)
    mu = jax.tree.map(lambda m, g: moment(0.9, m, g), state["mu"], grads)
    nu = jax.tree.map(lambda n, g: moment(0.999, n, g * g), state["nu"], grads)
    params = jax.tree.map(lambda p, m, n: (p - 3e-4 * m / (jnp.sqrt(n) + 1e-6)).astype(p.dtype), params, mu, nu)
    return params, {"count": state["count"] + 1, "mu": mu, "nu": nu}


def trained(arrays, params, loss_fn, batch):
    def train_step(params, opt_state, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        params, opt_state = update_with_adam(params, opt_state, grads)
        return params, opt_state, {"loss": loss}
    return train_step, (params, adam_state(arrays, params), batch), (0, 1)


def checkpointed(change, block):
    return jax.checkpoint(block) if change.rematerialize else block


def in_float32(params):
    return jax.tree.map(lambda p: p.astype(F32), params)


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), -1, keepdims=True) + 1e-5) * scale.astype(x.dtype)


def token_loss(logits, targets):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits.astype(F32)), targets[..., None], -1))


def self_attention(p, x):
    query, key, value = (jnp.einsum("btd,dhk->bthk", x, p[name]["kernel"].astype(x.dtype))
                         for name in ("query", "key", "value"))
    logits = jnp.einsum("bqhk,bshk->bhqs", query, key).astype(F32) / np.sqrt(query.shape[-1])
    seen = jnp.arange(x.shape[1])
    logits = jnp.where(seen[:, None] >= seen[None, :], logits, -1e30)
    mixed = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(logits).astype(x.dtype), value)
    return jnp.einsum("bqhk,hkd->bqd", mixed, p["out"]["kernel"].astype(x.dtype))


def attention_params(make, width, heads):
    split = {name: {"kernel": make((width, heads, width // heads))} for name in ("query", "key", "value")}
    return split | {"out": {"kernel": make((heads, width // heads, width))}}


# --- Language models ---

def accumulation(layers, width, hidden, heads, vocabulary, steps, batch, length):
    """Micro-batches in an outer scan, layers in an inner one; inputs and targets apart, the embedding used twice."""
    def make(arrays, change):
        def stack(shape):
            return arrays.parameter((layers, *shape), 1)

        params = {"embed": {"embedding": arrays.parameter((vocabulary, width))},
                  "blocks": {"attention": attention_params(stack, width, heads),
                             "mlp": {"wi": {"kernel": stack((width, hidden))},
                                     "wo": {"kernel": stack((hidden, width))}},
                             "norm": {"scale": arrays.parameter((layers, width), None)}}}
        tokens = arrays.array((steps, batch // change.batch_divisor, length), jnp.int32,
                              1 if change.shard == "all" else None)

        def block(x, p):
            x = x + self_attention(p["attention"], rms_norm(x, p["norm"]["scale"]))
            h = jax.nn.relu(jnp.einsum("btd,df->btf", x, p["mlp"]["wi"]["kernel"].astype(x.dtype)))
            return x + jnp.einsum("btf,fd->btd", h, p["mlp"]["wo"]["kernel"].astype(x.dtype)), None

        def loss_fn(params, micro):
            table = params["embed"]["embedding"].astype(BF16)
            x, _ = jax.lax.scan(checkpointed(change, block), table[micro["inputs"]], params["blocks"])
            return token_loss(jnp.einsum("btd,vd->btv", x, table), micro["targets"])

        def train_step(params, opt_state, batch):
            def micro_step(sums, micro):
                loss, grads = jax.value_and_grad(loss_fn)(params, micro)
                return (sums[0] + loss, jax.tree.map(lambda s, g: s + g.astype(F32), sums[1], grads)), None
            zeros = (jnp.zeros((), F32), jax.tree.map(lambda p: jnp.zeros(p.shape, F32), params))
            (loss, grads), _ = jax.lax.scan(micro_step, zeros, batch)
            params, opt_state = update_with_adam(params, opt_state, grads)
            return params, opt_state, {"loss": loss / steps}

        return train_step, (params, adam_state(arrays, params), {"inputs": tokens, "targets": tokens}), (0, 1)
    return make


def eights(layers, width, hidden, vocabulary, length):
    """Eight examples, eight heads, eight experts: nothing can be told by its size."""
    count = 8

    def make(arrays, change):
        def layer():
            return {"attention": attention_params(arrays.parameter, width, count),
                    "router": {"kernel": arrays.parameter((width, count))},
                    "experts": {"wi": arrays.parameter((count, width, hidden)),
                                "wo": arrays.parameter((count, hidden, width))},
                    "norm": {"scale": arrays.parameter((width,), None)}}

        params = {"embedding": arrays.parameter((vocabulary, width)),
                  **{f"layer_{i}": layer() for i in range(layers)}}
        tokens = arrays.batch((count // change.batch_divisor, length), jnp.int32)

        def experts(p, x, chosen):
            """Of one example: each expert takes its share of the tokens."""
            room = length // count
            gate = jax.nn.softmax(chosen.astype(F32))
            _, picked = jax.lax.top_k(gate.T, room)
            taken = jnp.einsum("ect,td->ecd", jax.nn.one_hot(picked, length, dtype=x.dtype), x)
            h = jax.nn.gelu(jnp.einsum("ecd,edf->ecf", taken, p["wi"].astype(x.dtype)))
            given = jnp.einsum("ecf,efd->ecd", h, p["wo"].astype(x.dtype))
            return jnp.einsum("ect,ecd->td", jax.nn.one_hot(picked, length, dtype=x.dtype), given)

        def block(x, p):
            h = rms_norm(x, p["norm"]["scale"])
            x = x + self_attention(p["attention"], h)
            chosen = jnp.einsum("btd,de->bte", x, p["router"]["kernel"].astype(x.dtype))
            return x + jax.vmap(functools.partial(experts, p["experts"]))(x, chosen)

        def loss_fn(params, tokens):
            x = params["embedding"].astype(BF16)[tokens]
            for i in range(layers):
                x = checkpointed(change, block)(x, params[f"layer_{i}"])
            logits = jnp.einsum("btd,vd->btv", x, params["embedding"].astype(x.dtype))
            return token_loss(logits[:, :-1], tokens[:, 1:])

        return trained(arrays, params, loss_fn, tokens)
    return make


def low_rank(layers, width, hidden, heads, vocabulary, rank, batch, length):
    """LoRA: large weights that nobody trains, in bfloat16, and small ones beside them that are trained."""
    shapes = {"query": (width, width), "value": (width, width), "up": (width, hidden), "down": (hidden, width)}

    def make(arrays, change):
        def frozen(shape):
            return arrays.array(shape, BF16, 0)

        base = {"embedding": frozen((vocabulary, width)), "head": frozen((width, vocabulary)),
                "layers": [{**{name: frozen(shape) for name, shape in shapes.items()}, "key": frozen((width, width)),
                            "out": frozen((width, width))} for _ in range(layers)]}
        lora = [{name: {"a": arrays.parameter((rows, rank)), "b": arrays.parameter((rank, columns))}
                 for name, (rows, columns) in shapes.items()} for _ in range(layers)]
        size = batch // change.batch_divisor
        tokens = arrays.batch((size, length), jnp.int32)

        def block(x, base, lora):
            def project(name, x):
                y = x @ base[name]
                return y + (x @ lora[name]["a"].astype(x.dtype)) @ lora[name]["b"].astype(x.dtype) \
                    if name in lora else y
            h = rms_norm(x, jnp.ones((width,), x.dtype))
            q, k, v = (project(name, h).reshape(size, length, heads, -1) for name in ("query", "key", "value"))
            seen = jnp.tril(jnp.ones((length, length), bool))
            logits = jnp.where(seen, jnp.einsum("bqhk,bshk->bhqs", q, k).astype(F32), -1e30)
            mixed = jnp.einsum("bhqs,bshk->bqhk", jax.nn.softmax(logits).astype(x.dtype), v)
            x = x + project("out", mixed.reshape(x.shape))
            return x + project("down", jax.nn.silu(project("up", rms_norm(x, jnp.ones((width,), x.dtype)))))

        def train_step(lora, opt_state, base, tokens):
            def loss_fn(lora):
                x = base["embedding"][tokens]
                for one, frozen_layer in zip(lora, base["layers"]):
                    x = checkpointed(change, block)(x, frozen_layer, one)
                return token_loss((x @ base["head"])[:, :-1], tokens[:, 1:])
            loss, grads = jax.value_and_grad(loss_fn)(lora)
            lora, opt_state = update_with_adam(lora, opt_state, grads)
            return lora, opt_state, loss

        return train_step, (lora, adam_state(arrays, lora), base, tokens), (0, 1)
    return make


# --- Caches ---

def cache_in_dict(layers, width, hidden, heads, key_heads, vocabulary, batch, room):
    """One token for each sequence, with fewer heads of keys than of queries; caches in a dictionary by layer."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor
        split = 0 if change.shard == "all" else None
        params = {"embed": arrays.parameter((vocabulary, width)), "head": arrays.parameter((width, vocabulary))}
        cache = {}
        for i in range(layers):
            params[f"layer_{i}"] = {"q": arrays.parameter((width, heads, side)),
                                    "k": arrays.parameter((width, key_heads, side)),
                                    "v": arrays.parameter((width, key_heads, side)),
                                    "o": arrays.parameter((heads, side, width)),
                                    "wi": arrays.parameter((width, hidden)), "wo": arrays.parameter((hidden, width))}
            one = arrays.array((size, room, key_heads, side), BF16, split)
            cache[f"layer_{i}"] = {"cached_key": one, "cached_value": one}

        def attend(p, cache, x, index):
            q = jnp.einsum("bd,dhk->bhk", x, p["q"].astype(x.dtype)).reshape(size, key_heads, -1, side)
            new = {"cached_key": jnp.einsum("bd,dhk->bhk", x, p["k"].astype(x.dtype)),
                   "cached_value": jnp.einsum("bd,dhk->bhk", x, p["v"].astype(x.dtype))}
            cache = {name: jax.lax.dynamic_update_slice(cache[name], new[name][:, None], (0, index, 0, 0))
                     for name in cache}
            logits = jnp.einsum("bgqk,btgk->bgqt", q, cache["cached_key"]).astype(F32) / np.sqrt(side)
            weights = jax.nn.softmax(jnp.where(jnp.arange(room) <= index, logits, -1e30)).astype(x.dtype)
            mixed = jnp.einsum("bgqt,btgk->bgqk", weights, cache["cached_value"]).reshape(size, heads, side)
            return jnp.einsum("bhk,hkd->bd", mixed, p["o"].astype(x.dtype)), cache

        def generate(params, cache, token, index):
            x, grown = params["embed"].astype(BF16)[token], {}
            for name, one in cache.items():
                mixed, grown[name] = attend(params[name], one, rms_norm(x, jnp.ones((width,), x.dtype)), index)
                x = x + mixed
                x = x + jax.nn.silu(x @ params[name]["wi"].astype(x.dtype)) @ params[name]["wo"].astype(x.dtype)
            return (x @ params["head"].astype(x.dtype)).astype(F32), grown

        return generate, (params, cache, arrays.batch((size,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


def cache_in_one_array(layers, width, heads, vocabulary, batch, room):
    """Keys and values of all layers in one array, [layers, 2, batch, heads, room, side], carried through a loop."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"wte": arrays.parameter((vocabulary, width)),
                  "h": {"qkv": arrays.parameter((layers, width, 3, heads, side), 1),
                        "proj": arrays.parameter((layers, heads, side, width), 1),
                        "fc": arrays.parameter((layers, width, 4 * width), 1),
                        "out": arrays.parameter((layers, 4 * width, width), 1)}}
        cache = arrays.array((layers, 2, size, heads, room, side), BF16, 2 if change.shard == "all" else None)

        def generate(params, cache, token, index):
            def layer(i, carry):
                x, cache = carry
                p = jax.tree.map(lambda w: jax.lax.dynamic_index_in_dim(w, i, keepdims=False).astype(BF16), params["h"])
                q, k, v = jnp.moveaxis(jnp.einsum("bd,dshk->bshk", x, p["qkv"]), 1, 0)
                new = jnp.stack([k, v])[None, :, :, :, None]
                cache = jax.lax.dynamic_update_slice(cache, new, (i, 0, 0, 0, index, 0))
                keys, values = jax.lax.dynamic_index_in_dim(cache, i, keepdims=False)
                logits = jnp.einsum("bhk,bhtk->bht", q, keys).astype(F32) / np.sqrt(side)
                weights = jax.nn.softmax(jnp.where(jnp.arange(room) <= index, logits, -1e30)).astype(BF16)
                x = x + jnp.einsum("bht,bhtk,hkd->bd", weights, values, p["proj"])
                return x + jax.nn.gelu(x @ p["fc"]) @ p["out"], cache

            x, cache = jax.lax.fori_loop(0, layers, layer, (params["wte"].astype(BF16)[token], cache))
            return jnp.argmax(x @ params["wte"].astype(x.dtype).T, -1), cache

        return generate, (params, cache, arrays.batch((size,), jnp.int32), arrays.array((), jnp.int32)), (1,)
    return make


# --- Loops over time ---

def gated_recurrent(width, batch, length):
    """Two GRUs, forwards and backwards in time, as wide as what they read; examples first, time second."""
    def make(arrays, change):
        params = {name: {"wx": arrays.parameter((width, 3 * width)), "wh": arrays.parameter((width, 3 * width)),
                         "b": arrays.parameter((3 * width,), None)} for name in ("gru/forward", "gru/backward")}
        params["linear"] = {"w": arrays.parameter((2 * width, width))}
        x = arrays.batch((batch // change.batch_divisor, length, width), F32)

        def unroll(p, x, is_reverse):
            def core(h, x):
                zr, n = jnp.split(x @ p["wx"] + p["b"], [2 * width], -1)
                hzr, hn = jnp.split(h @ p["wh"], [2 * width], -1)
                z, r = jnp.split(jax.nn.sigmoid(zr + hzr), 2, -1)
                h = (1 - z) * h + z * jnp.tanh(n + r * hn)
                return h, h
            first = jnp.zeros(x.shape[::2], x.dtype)
            return jax.lax.scan(checkpointed(change, core), first, jnp.swapaxes(x, 0, 1), reverse=is_reverse)[1]

        def loss_fn(params, x):
            params, x = in_float32(params), x.astype(F32)
            both = [unroll(params["gru/forward"], x, False), unroll(params["gru/backward"], x, True)]
            both = jnp.concatenate(both, -1)
            return jnp.mean(jnp.square(jnp.einsum("tbd,df->btf", both, params["linear"]["w"]) - x))

        return trained(arrays, params, loss_fn, x)
    return make


# --- Images ---

def conv(x, kernel, stride=1):
    return jax.lax.conv_general_dilated(x, kernel.astype(x.dtype), (stride, stride), "SAME",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))


def batch_norm(x, scale):
    mean = jnp.mean(x.astype(F32), (0, 1, 2))
    spread = jnp.mean(jnp.square(x.astype(F32)), (0, 1, 2)) - jnp.square(mean)
    return (x - mean.astype(x.dtype)) * (jax.lax.rsqrt(spread + 1e-5) * scale).astype(x.dtype)


def bottlenecks(counts, width, side, batch, classes=1000):
    """A residual network of unequal stages: 1x1, 3x3, 1x1, with a projection where a stage begins."""
    def make(arrays, change):
        def unit(enter, inner):
            shapes = {"conv1": (1, 1, enter, inner), "conv2": (3, 3, inner, inner), "conv3": (1, 1, inner, 4 * inner)}
            return {name: {"kernel": arrays.parameter(shape, 3), "scale": arrays.parameter(shape[3:], None)}
                    for name, shape in shapes.items()}

        params, enter = {"stem": arrays.parameter((7, 7, 3, width), 3)}, width
        for s, count in enumerate(counts):
            inner = width << s
            for i in range(count):
                params[f"stage{s}_block{i}"] = unit(enter, inner)
                if i == 0:
                    params[f"stage{s}_block{i}"]["shortcut"] = {"kernel": arrays.parameter((1, 1, enter, 4 * inner), 3)}
                enter = 4 * inner
        params["classifier"] = arrays.parameter((enter, classes))
        size = batch // change.batch_divisor
        data = {"image": arrays.batch((size, side, side, 3), F32), "label": arrays.batch((size,), jnp.int32)}

        def block(x, p, stride):
            h = jax.nn.relu(batch_norm(conv(x, p["conv1"]["kernel"]), p["conv1"]["scale"]))
            h = jax.nn.relu(batch_norm(conv(h, p["conv2"]["kernel"], stride), p["conv2"]["scale"]))
            h = batch_norm(conv(h, p["conv3"]["kernel"]), p["conv3"]["scale"])
            return jax.nn.relu(h + (conv(x, p["shortcut"]["kernel"], stride) if "shortcut" in p else x))

        repeated = jax.checkpoint(block, static_argnums=2) if change.rematerialize else block

        def loss_fn(params, data):
            x = conv(data["image"].astype(BF16), params["stem"], 2)
            for s, count in enumerate(counts):
                for i in range(count):
                    x = repeated(x, params[f"stage{s}_block{i}"], 2 if i == 0 and s else 1)
            return token_loss(jnp.mean(x, (1, 2)) @ params["classifier"].astype(x.dtype), data["label"])

        return trained(arrays, params, loss_fn, data)
    return make


def u_net(widths, side, batch):
    """Down and up again, with what each level made on the way down joined on the way up."""
    def make(arrays, change):
        def pair(enter, width):
            return {"conv0": arrays.parameter((3, 3, enter, width), 3),
                    "conv1": arrays.parameter((3, 3, width, width), 3)}

        params = {"down": [pair(*two) for two in zip((3, *widths), widths)],
                  "up": [pair(low + high, high) for high, low in zip(widths, widths[1:])],
                  "last": arrays.parameter((1, 1, widths[0], 4), 3)}
        images = arrays.batch((batch // change.batch_divisor, side, side, 3), F32)

        @functools.partial(checkpointed, change)
        def level(x, p):
            return jax.nn.silu(conv(jax.nn.silu(conv(x, p["conv0"])), p["conv1"]))

        def loss_fn(params, images):
            x, params = images.astype(F32), in_float32(params)
            skips = []
            for i, p in enumerate(params["down"]):
                if i:
                    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
                x = level(x, p)
                skips.append(x)
            for p, skip in zip(reversed(params["up"]), skips[-2::-1]):
                x = jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
                x = level(jnp.concatenate([x, skip], -1), p)
            return jnp.mean(jnp.square(conv(x, params["last"])[..., :3] - images))

        return trained(arrays, params, loss_fn, images)
    return make


# --- Tables and graphs ---

def two_towers(tables, rows, width, bag, hidden, batch):
    """Bags of ids looked up in large tables, joined, and two dense towers: nearly all of it is tables."""
    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {f"table_{i}": arrays.parameter((rows, width)) for i in range(tables)}
        for tower in ("query", "item"):
            enter = tables // 2 * width
            params[tower] = {"dense_0": arrays.parameter((enter, hidden)),
                             "dense_1": arrays.parameter((hidden, hidden))}
        ids = arrays.batch((size, tables, bag), jnp.int32)

        def tower(p, features):
            h = jnp.concatenate(features, -1)
            return jnp.tanh(jax.nn.relu(h @ p["dense_0"]) @ p["dense_1"])

        def loss_fn(params, ids):
            params = in_float32(params)
            bags = [jnp.mean(params[f"table_{i}"][ids[:, i]], 1) for i in range(tables)]
            query = tower(params["query"], bags[:tables // 2])
            item = tower(params["item"], bags[tables // 2:])
            return token_loss(jnp.einsum("id,jd->ij", query, item), jnp.arange(size))

        return trained(arrays, params, loss_fn, ids)
    return make


def message_passing(layers, nodes, edges, width):
    """One graph: messages along edges, summed at nodes with segment_sum. Half of it would be another graph."""
    def make(arrays, change):
        params = {f"mp_{i}": {name: arrays.parameter((2 * width, width)) for name in ("edge", "node")}
                  for i in range(layers)}
        graph = {"nodes": arrays.array((nodes, width), F32), "senders": arrays.array((edges,), jnp.int32),
                 "receivers": arrays.array((edges,), jnp.int32)}

        def step(h, p, senders, receivers):
            messages = jax.nn.relu(jnp.concatenate([h[senders], h[receivers]], -1) @ p["edge"])
            sums = jax.ops.segment_sum(messages, receivers, nodes)
            return h + jax.nn.relu(jnp.concatenate([h, sums], -1) @ p["node"])

        def loss_fn(params, graph):
            h, params = graph["nodes"].astype(F32), in_float32(params)
            for i in range(layers):
                h = checkpointed(change, step)(h, params[f"mp_{i}"], graph["senders"], graph["receivers"])
            return jnp.mean(jnp.square(h - graph["nodes"]))

        return trained(arrays, params, loss_fn, graph)
    return make


def shared_edges(layers, nodes, edges, width, batch):
    """One graph for all examples: what is known of its nodes differs, its edges do not."""
    def make(arrays, change):
        size = batch // change.batch_divisor
        params = [{name: arrays.parameter((2 * width, width)) for name in ("edge", "node")} for _ in range(layers)]
        data = {"ends": arrays.array((2, edges), jnp.int32), "now": arrays.batch((size, nodes, width), F32),
                "then": arrays.batch((size, nodes, width), F32)}

        def step(p, h, ends):
            messages = jax.nn.relu(jnp.concatenate([h[ends[0]], h[ends[1]]], -1) @ p["edge"])
            sums = jax.ops.segment_sum(messages, ends[1], nodes)
            return h + jax.nn.relu(jnp.concatenate([h, sums], -1) @ p["node"])

        def loss_fn(params, data):
            h = data["now"]
            for p in in_float32(params):
                h = jax.vmap(checkpointed(change, step), (None, 0, None))(p, h, data["ends"])
            return jnp.mean(jnp.square(h - data["then"]))

        return trained(arrays, params, loss_fn, data)
    return make


def gated_pairs(layers, single, width, hidden, batch, length, classes):
    """Pairs of places, made of two sums over one array, and refined by gated layers."""
    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"left": arrays.parameter((single, width)), "right": arrays.parameter((single, width)),
                  "layers": [{"gate": arrays.parameter((width, hidden)), "up": arrays.parameter((width, hidden)),
                              "down": arrays.parameter((hidden, width))} for _ in range(layers)],
                  "head": arrays.parameter((width, classes))}
        data = {"places": arrays.batch((size, length, single), F32),
                "wanted": arrays.batch((size, length, length), jnp.int32)}

        def layer(p, z):
            h = rms_norm(z, jnp.ones(()))
            return z + (jax.nn.gelu(h @ p["gate"]) * jax.nn.sigmoid(h @ p["up"])) @ p["down"]

        def loss_fn(params, data):
            params = jax.tree.map(lambda p: p.astype(BF16), params)
            places = data["places"].astype(BF16)
            z = (places @ params["left"])[:, :, None] + (places @ params["right"])[:, None]
            for p in params["layers"]:
                z = checkpointed(change, layer)(p, z)
            return token_loss(z @ params["head"], data["wanted"])

        return trained(arrays, params, loss_fn, data)
    return make
