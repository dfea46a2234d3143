"""Models of pictures, of nature, and of what people click on: neighbours of advice_exam.py."""
import functools

import jax
import jax.numpy as jnp
import numpy as np

from advice_structures import BF16, F32, checkpointed, conv, in_float32
from advice_unseen_optimizers import adamw, adamw_state, each, lion, trained


def in_bfloat16(params):
    return jax.tree.map(lambda p: p.astype(BF16), params)


def layer_norm(p, x):
    wide = x.astype(F32)
    mean, spread = jnp.mean(wide, -1, keepdims=True), jnp.var(wide, -1, keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(spread + 1e-5)).astype(x.dtype) * p["scale"] + p["bias"]


def linear(p, x):
    return x @ p["kernel"] + p["bias"]


class Maker:
    """Parameters of layers, each with leading dimensions when there is a stack of them."""

    def __init__(self, arrays, *lead):
        self.arrays, self.lead = arrays, lead

    def vector(self, *shape):
        return self.arrays.parameter((*self.lead, *shape), None)

    def matrix(self, enter, leave):
        return self.arrays.parameter((*self.lead, enter, leave), len(self.lead))

    def linear(self, enter, leave):
        return {"kernel": self.matrix(enter, leave), "bias": self.vector(leave)}

    def norm(self, width):
        return {"scale": self.vector(width), "bias": self.vector(width)}


# --- Pictures ---

def many_crops(layers, width, heads, registers, patch, sides, few, head, prototypes, batch):
    """A student sees all crops of a picture and its slow mean, the teacher, the two large ones; registers beside."""
    grid = sides[0] // patch

    def make(arrays, change):
        size, maker = batch // change.batch_divisor, Maker(arrays)

        def layer():
            return {"norm1": maker.norm(width), "qkv": maker.linear(width, 3 * width), "gamma1": maker.vector(width),
                    "proj": maker.linear(width, width), "norm2": maker.norm(width), "gamma2": maker.vector(width),
                    "fc1": maker.linear(width, 4 * width), "fc2": maker.linear(4 * width, width)}
        network = {"patches": arrays.parameter((patch, patch, 3, width), 3), "cls": maker.vector(1, width),
                   "registers": maker.vector(registers, width), "places": arrays.parameter((grid, grid, width), 2),
                   "blocks": [layer() for _ in range(layers)], "norm": maker.norm(width),
                   "head": [maker.linear(width, head[0]), maker.linear(head[0], head[0]), maker.linear(*head)],
                   "prototypes": arrays.parameter((head[1], prototypes), 1)}
        crops = [arrays.batch((size, count, side, side, 3), F32) for count, side in zip((2, few), sides)]

        def block(p, x):
            p = in_bfloat16(p)
            qkv = linear(p["qkv"], layer_norm(p["norm1"], x)).reshape(*x.shape[:2], 3, heads, width // heads)
            mixed = jax.nn.dot_product_attention(*(qkv[:, :, i] for i in range(3)))
            x = x + p["gamma1"] * linear(p["proj"], mixed.reshape(x.shape))
            return x + p["gamma2"] * linear(p["fc2"], jax.nn.gelu(linear(p["fc1"], layer_norm(p["norm2"], x))))

        def backbone(params, images):
            x = conv(images.reshape(-1, *images.shape[2:]).astype(BF16), params["patches"], patch)
            edge = x.shape[1]
            places = jax.image.resize(params["places"].astype(F32), (edge, edge, width), "bicubic").astype(BF16)
            extra = jnp.concatenate([params["cls"], params["registers"]]).astype(BF16)
            extra = jnp.broadcast_to(extra, (len(x), *extra.shape))
            x = jnp.concatenate([extra, (x + places).reshape(len(x), -1, width)], 1)
            for p in params["blocks"]:
                x = checkpointed(change, block)(p, x)
            return layer_norm(in_bfloat16(params["norm"]), x[:, 0])

        def scores(params, images):
            x, (first, second, third) = backbone(params, images), in_bfloat16(params["head"])
            x = linear(third, jax.nn.gelu(linear(second, jax.nn.gelu(linear(first, x))))).astype(F32)
            x = x * jax.lax.rsqrt(jnp.sum(x * x, -1, keepdims=True) + 1e-6)
            columns = params["prototypes"].astype(F32)
            columns = columns * jax.lax.rsqrt(jnp.sum(columns * columns, 0) + 1e-6)
            made = jnp.matmul(x.astype(BF16), columns.astype(BF16), preferred_element_type=F32)
            return made.reshape(size, -1, prototypes)

        def loss_fn(student, wanted, large, small):
            said = jnp.concatenate([scores(student, large), scores(student, small)], 1)
            pairs = -jnp.einsum("btk,bsk->ts", wanted, jax.nn.log_softmax(said / 0.1)) / size
            return (jnp.sum(pairs) - jnp.trace(pairs)) / (2 * (1 + few))

        def train_step(student, teacher, centre, state, large, small):
            taught = scores(teacher, large)
            wanted = jax.nn.softmax((taught - centre.astype(F32)) / 0.04)
            loss, grads = jax.value_and_grad(loss_fn)(student, wanted, large, small)
            student, state = adamw(student, state, grads)
            teacher = each(lambda t, s: 0.996 * t + 0.004 * s, teacher, student)
            centre = each(lambda old, new: 0.9 * old + 0.1 * new, centre, jnp.mean(taught, (0, 1)))
            return student, teacher, centre, state, loss
        return train_step, (network, network, maker.vector(prototypes), adamw_state(arrays, network), *crops), (
            0, 1, 2, 3)
    return make


def group_norm(p, x, groups=16):
    wide = x.astype(F32).reshape(*x.shape[:-1], groups, -1)
    mean, spread = jnp.mean(wide, (1, 2, 4), keepdims=True), jnp.var(wide, (1, 2, 4), keepdims=True)
    return ((wide - mean) * jax.lax.rsqrt(spread + 1e-5)).reshape(x.shape).astype(x.dtype) * p["scale"] + p["bias"]


def worded_latents(widths, depth, words, word_width, side, channels, batch):
    """Noise of latents told by a network of levels; from the second level on, it looks at itself and at words."""
    last = len(widths) - 1

    def make(arrays, change):
        size, maker, told = batch // change.batch_divisor, Maker(arrays), 4 * widths[0]

        def kernel(enter, leave, edge=3):
            return arrays.parameter((edge, edge, enter, leave), 3)

        def unit(enter, leave):
            made = {"norm1": maker.norm(enter), "conv1": kernel(enter, leave), "time": maker.linear(told, leave),
                    "norm2": maker.norm(leave), "conv2": kernel(leave, leave)}
            return made | ({"skip": kernel(enter, leave, 1)} if enter != leave else {})

        def looker(width):
            return {"norm0": maker.norm(width), "norm1": maker.norm(width), "qkv": maker.matrix(width, 3 * width),
                    "out1": maker.linear(width, width), "norm2": maker.norm(width), "q": maker.matrix(width, width),
                    "kv": maker.matrix(word_width, 2 * width), "out2": maker.linear(width, width),
                    "norm3": maker.norm(width), "gated": maker.linear(width, 8 * width),
                    "last": maker.linear(4 * width, width)}

        def pair(level, enter):
            return {"unit": unit(enter, widths[level])} | ({"look": looker(widths[level])} if level else {})
        befores = (widths[0], *widths)
        params = {"time": [maker.linear(widths[0], told), maker.linear(told, told)],
                  "enter": kernel(channels, widths[0]), "down": [pair(i, befores[i]) for i in range(last + 1)],
                  "shrink": [kernel(w, w) for w in widths[:-1]], "grow": [kernel(w, w) for w in widths[1:]],
                  "middle": [pair(last, widths[-1]), {"unit": unit(widths[-1], widths[-1])}],
                  "up": [[pair(i, widths[i] + widths[min(i + 1, last)]), pair(i, widths[i] + befores[i])]
                         for i in range(last + 1)],
                  "norm": maker.norm(widths[0]), "leave": kernel(widths[0], channels)}

        @functools.partial(checkpointed, change)
        def run_unit(p, x, time):
            p = in_bfloat16(p)
            h = conv(jax.nn.silu(group_norm(p["norm1"], x)), p["conv1"])
            h = h + linear(p["time"], jax.nn.silu(time))[:, None, None]
            h = conv(jax.nn.silu(group_norm(p["norm2"], h)), p["conv2"])
            return h + (conv(x, p["skip"]) if "skip" in p else x)

        def mix(q, k, v):
            q, k, v = (t.reshape(*t.shape[:2], -1, depth) for t in (q, k, v))
            near = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k).astype(F32) * depth ** -0.5).astype(BF16)
            return jnp.einsum("bhqk,bkhd->bqhd", near, v).reshape(*q.shape[:2], -1)

        @functools.partial(checkpointed, change)
        def look(p, image, words):
            p = in_bfloat16(p)
            x = group_norm(p["norm0"], image).reshape(size, -1, image.shape[-1])
            x = x + linear(p["out1"], mix(*jnp.split(layer_norm(p["norm1"], x) @ p["qkv"], 3, -1)))
            x = x + linear(p["out2"], mix(layer_norm(p["norm2"], x) @ p["q"], *jnp.split(words @ p["kv"], 2, -1)))
            up, gate = jnp.split(linear(p["gated"], layer_norm(p["norm3"], x)), 2, -1)
            return image + linear(p["last"], up * jax.nn.gelu(gate)).reshape(image.shape)

        def run(p, x, time, words):
            x = run_unit(p["unit"], x, time)
            return look(p["look"], x, words) if "look" in p else x

        def predict(params, x, times, words):
            waves = times[:, None] * jnp.exp(-jnp.linspace(0, 9.2, widths[0] // 2))
            waves = jnp.concatenate([jnp.cos(waves), jnp.sin(waves)], -1).astype(BF16)
            first, second = in_bfloat16(params["time"])
            time = linear(second, jax.nn.silu(linear(first, waves)))
            ways = [conv(x.astype(BF16), params["enter"])]
            for i, p in enumerate(params["down"]):
                ways.append(run(p, ways[-1], time, words))
                if i < last:
                    ways.append(conv(ways[-1], params["shrink"][i], 2))
            x = ways[-1]
            for p in params["middle"]:
                x = run(p, x, time, words)
            for i in range(last, -1, -1):
                for p in params["up"][i]:
                    x = run(p, jnp.concatenate([x, ways.pop()], -1), time, words)
                if i:
                    x = conv(jnp.repeat(jnp.repeat(x, 2, 1), 2, 2), params["grow"][i - 1])
            return conv(jax.nn.silu(group_norm(in_bfloat16(params["norm"]), x)), params["leave"]).astype(F32)

        def loss_fn(params, latents, words, key):
            keys = jax.random.split(key, 3)
            angle = jax.random.uniform(keys[0], (size, 1, 1, 1)) * (np.pi / 2)
            noise, latents = jax.random.normal(keys[1], latents.shape), latents.astype(F32)
            words = words.astype(BF16) * jax.random.bernoulli(keys[2], 0.9, (size, 1, 1)).astype(BF16)
            said = predict(params, jnp.cos(angle) * latents + jnp.sin(angle) * noise, 1000 * angle[:, 0, 0, 0], words)
            return jnp.mean(jnp.square(said - (jnp.cos(angle) * noise - jnp.sin(angle) * latents)))
        return trained(loss_fn, adamw, params, adamw_state(arrays, params),
                       arrays.batch((size, side, side, channels), F32), arrays.batch((size, words, word_width), F32),
                       arrays.array((2,), jnp.uint32))
    return make


# --- Clicks ---

def past_clicks(rows, width, past, numbers, attention, bottom, top, batch):
    """Will it be clicked: products of pairs of features, one of them what was clicked before, weighed by the goods.

    For one visit, mapped; tables are trained with one sum of squares a row, all else with AdamW. In float32.
    """
    lower = np.tril_indices(len(rows) + 2, -1)

    def make(arrays, change):
        size, maker = batch // change.batch_divisor, Maker(arrays)

        def dense(*widths):
            return [maker.linear(*two) for two in zip(widths, widths[1:])]
        tables = [arrays.parameter((count, width)) for count in rows]
        params = {"attention": dense(4 * width, *attention, 1), "bottom": dense(numbers, *bottom, width),
                  "top": dense(width + len(lower[0]), *top, 1)}
        visits = {"ids": arrays.batch((size, len(rows)), jnp.int32), "past": arrays.batch((size, past), jnp.int32),
                  "known": arrays.batch((size,), jnp.int32), "numbers": arrays.batch((size, numbers), F32)}

        def run(layers, x):
            for p in layers[:-1]:
                x = jax.nn.relu(linear(p, x))
            return linear(layers[-1], x)

        @functools.partial(checkpointed, change)
        def interest(layers, goods, before, known):
            goods = jnp.broadcast_to(goods, before.shape)
            weights = run(layers, jnp.concatenate([before, goods, before - goods, before * goods], -1))[:, 0]
            return jnp.where(jnp.arange(past) < known, weights, 0) @ before

        @functools.partial(checkpointed, change)
        def joined(layers, features, dense):
            products = (features @ features.T)[lower]
            return run(layers, jnp.concatenate([dense, products]))[0]

        def score(tables, params, visit):
            found = [table[visit["ids"][i]] for i, table in enumerate(tables)]
            before = interest(params["attention"], found[0], tables[0][visit["past"]], visit["known"])
            dense = run(params["bottom"], jnp.log1p(jax.nn.relu(visit["numbers"].astype(F32))))
            return joined(params["top"], jnp.stack([dense, before, *found]), dense)

        def loss_fn(tables, params, visits, clicked):
            said = jax.vmap(score, (None, None, 0))(in_float32(tables), in_float32(params), visits)
            return jnp.mean(jax.nn.softplus(said) - said * clicked.astype(F32))

        def train_step(tables, sums, params, state, visits, clicked):
            loss, (rows, grads) = jax.value_and_grad(loss_fn, (0, 1))(tables, params, visits, clicked)
            sums = each(lambda s, g: s + jnp.mean(g * g, -1), sums, rows)
            tables = each(lambda t, s, g: t - 0.02 * g * jax.lax.rsqrt(s + 1e-8)[:, None], tables, sums, rows)
            params, state = adamw(params, state, grads)
            return tables, sums, params, state, loss
        sums = [arrays.parameter((count,)) for count in rows]
        return train_step, (tables, sums, params, adamw_state(arrays, params), visits,
                            arrays.batch((size,), F32)), (0, 1, 2, 3)
    return make


# --- Nature ---

def earth_mesh(steps, width, grid, channels, nodes, edges, batch):
    """Weather from a grid to a mesh, along the mesh many times, and back; edges are the same for all examples."""
    places = grid[0] * grid[1]

    def perceptron(maker, enter):
        return {"first": maker.linear(enter, width), "second": maker.linear(width, width), "norm": maker.norm(width)}

    def run(p, *parts):
        x = jax.nn.silu(linear(p["first"], jnp.concatenate(parts, -1)))
        return layer_norm(p["norm"], linear(p["second"], x))

    def messages(p, edge, ends, sender, receiver):
        edge = edge + run(p["edge"], edge, sender[ends[0]], receiver[ends[1]])
        sums = jax.ops.segment_sum(edge.astype(F32), ends[1], len(receiver)).astype(BF16)
        return edge, receiver + run(p["node"], receiver, sums)

    def make(arrays, change):
        size, one, many = batch // change.batch_divisor, Maker(arrays), Maker(arrays, steps)

        def passing(maker):
            return {"edge": perceptron(maker, 3 * width), "node": perceptron(maker, 2 * width)}
        params = {"grid": perceptron(one, 2 * channels + 5), "mesh": perceptron(one, 3),
                  "edges": {name: perceptron(one, 4) for name in edges}, "into": passing(one),
                  "kept": perceptron(one, width), "among": passing(many), "out": passing(one),
                  "said": {"first": one.linear(width, width), "second": one.linear(width, channels)}}
        fixed = {"grid": arrays.array((places, 5), F32), "mesh": arrays.array((nodes, 3), F32),
                 "edges": {name: arrays.array((count, 4), F32) for name, count in edges.items()},
                 "ends": {name: arrays.array((2, count), jnp.int32) for name, count in edges.items()}}

        def forecast(params, fixed, two):
            params, ends = in_bfloat16(params), fixed["ends"]
            still = in_bfloat16({name: fixed[name] for name in ("grid", "mesh", "edges")})
            edge = {name: run(params["edges"][name], still["edges"][name]) for name in edges}
            here = run(params["grid"], two.astype(BF16), still["grid"])
            mesh = run(params["mesh"], still["mesh"])
            step = checkpointed(change, messages)
            _, mesh = step(params["into"], edge["into"], ends["into"], here, mesh)
            here = here + run(params["kept"], here)

            def among(carry, p):
                edge, mesh = carry
                return step(p, edge, ends["among"], mesh, mesh), None
            (_, mesh), _ = jax.lax.scan(among, (edge["among"], mesh), params["among"])
            _, here = step(params["out"], edge["out"], ends["out"], mesh, here)
            said = linear(params["said"]["second"], jax.nn.silu(linear(params["said"]["first"], here)))
            return two[:, channels:].astype(F32) + said.astype(F32)

        def loss_fn(params, fixed, two, later):
            said = jax.vmap(forecast, (None, None, 0))(params, fixed, two).reshape(size, *grid, channels)
            weight = jnp.cos(jnp.linspace(-1.5, 1.5, grid[0]))[:, None, None]
            return jnp.mean(weight * jnp.square(said - later.astype(F32)))
        return trained(loss_fn, adamw, params, adamw_state(arrays, params), fixed,
                       arrays.batch((size, places, 2 * channels), F32), arrays.batch((size, *grid, channels), F32))
    return make


def rolled_flow(layers, width, modes, side, channels, steps, batch):
    """A flow some steps on: each step mixes the low waves of the field and adds what is found; float32, Lion."""
    def make(arrays, change):
        size, maker = batch // change.batch_divisor, Maker(arrays)
        waves = 2, modes, modes, width, width
        params = {"lift": [maker.linear(channels + 2, 2 * width), maker.linear(2 * width, width)],
                  "layers": [{"real": arrays.parameter(waves, 3), "imaginary": arrays.parameter(waves, 3),
                              "here": maker.linear(width, width)} for _ in range(layers)],
                  "project": [maker.linear(width, 3 * width), maker.linear(3 * width, channels)]}
        place = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, side, dtype=np.float32)]), -1)

        @functools.partial(checkpointed, change)
        def layer(p, x):
            found, kernel = jnp.fft.rfft2(x, axes=(1, 2)), jax.lax.complex(p["real"], p["imaginary"])
            mixed = jnp.zeros_like(found)
            for half, rows in zip(kernel, (slice(0, modes), slice(side - modes, side))):
                mixed = mixed.at[:, rows, :modes].set(jnp.einsum("bxyi,xyio->bxyo", found[:, rows, :modes], half))
            return x + jax.nn.gelu(jnp.fft.irfft2(mixed, (side, side), axes=(1, 2)) + linear(p["here"], x))

        def change_of(params, field):
            x = jnp.concatenate([field, jnp.broadcast_to(place, (size, *place.shape))], -1)
            x = linear(params["lift"][1], jax.nn.gelu(linear(params["lift"][0], x)))
            for p in params["layers"]:
                x = layer(p, x)
            return linear(params["project"][1], jax.nn.gelu(linear(params["project"][0], x)))

        def loss_fn(params, field, wanted):
            params, wanted = in_float32(params), jnp.swapaxes(wanted.astype(F32), 0, 1)

            def step(field, true):
                field = field + change_of(params, field)
                wrong = jnp.sum(jnp.square(field - true), (1, 2, 3)) / (jnp.sum(jnp.square(true), (1, 2, 3)) + 1e-6)
                return field, jnp.mean(jnp.sqrt(wrong))
            return jnp.mean(jax.lax.scan(step, field.astype(F32), wanted)[1])
        return trained(loss_fn, lion, params, params, arrays.batch((size, side, side, channels), F32),
                       arrays.batch((size, steps, side, side, channels), F32))
    return make


def residue_contacts(layers, width, heads, batch, length, letters=33):
    """Which residues of proteins touch, from what all heads of all layers look at; and what each residue may be."""
    depth = width // heads

    def turned(x, angle):
        one, two = jnp.split(x, 2, -1)
        cos, sin = jnp.cos(angle)[:, None].astype(x.dtype), jnp.sin(angle)[:, None].astype(x.dtype)
        return jnp.concatenate([one * cos - two * sin, two * cos + one * sin], -1)

    def make(arrays, change):
        size, one, many = batch // change.batch_divisor, Maker(arrays), Maker(arrays, layers)
        params = {"letters": arrays.parameter((letters, width), 1), "norm": one.norm(width),
                  "layers": {"norm1": many.norm(width), "norm2": many.norm(width),
                             **{name: many.linear(width, width) for name in ("query", "key", "value", "out")},
                             "up": many.linear(width, 4 * width), "down": many.linear(4 * width, width)},
                  "contacts": one.vector(layers, heads), "dense": one.linear(width, width), "last": one.norm(width)}

        def block(x, p, known):
            p, h = in_bfloat16(p), layer_norm(in_bfloat16(p["norm1"]), x)
            angle = jnp.arange(length)[:, None] * 10000.0 ** (-jnp.arange(depth // 2) * 2 / depth)
            q, k, v = (linear(p[name], h).reshape(size, length, heads, depth) for name in ("query", "key", "value"))
            near = jnp.einsum("bqhd,bkhd->bhqk", turned(q, angle), turned(k, angle)).astype(F32) * depth ** -0.5
            near = jax.nn.softmax(jnp.where(known[:, None, None], near, -1e9)).astype(BF16)
            x = x + linear(p["out"], jnp.einsum("bhqk,bkhd->bqhd", near, v).reshape(x.shape))
            return x + linear(p["down"], jax.nn.gelu(linear(p["up"], layer_norm(p["norm2"], x)))), near

        def touching(weights, maps, known):
            both = known[:, :, None] & known[:, None]
            maps = jnp.where(both[:, None], maps.astype(F32), 0)
            maps = maps + jnp.swapaxes(maps, -1, -2)
            mean = jnp.sum(maps, -1, keepdims=True) * jnp.sum(maps, -2, keepdims=True)
            maps = maps - mean / (jnp.sum(maps, (-1, -2), keepdims=True) + 1e-6)
            return jax.nn.sigmoid(jnp.einsum("lbhqk,lh->bqk", maps, weights.astype(F32)))

        def serve(params, tokens):
            known = tokens != 1
            x = params["letters"].astype(BF16)[tokens] * known[..., None]
            x, maps = jax.lax.scan(lambda x, p: block(x, p, known), x, params["layers"])
            x = layer_norm(in_bfloat16(params["norm"]), x)
            last = layer_norm(in_bfloat16(params["last"]), jax.nn.gelu(linear(in_bfloat16(params["dense"]), x)))
            likely = jnp.argmax(last @ params["letters"].astype(BF16).T, -1).astype(jnp.int32)
            return {"likely": likely, "contacts": touching(params["contacts"], maps, known),
                    "mean": jnp.sum(x.astype(F32) * known[..., None], 1) / jnp.sum(known, 1)[:, None]}
        return serve, (params, arrays.batch((size, length), jnp.int32)), (1,)
    return make
