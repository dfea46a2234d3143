"""Models of sequences, games and pairs that nobody tunes the advice for: neighbours of advice_blind.py."""
import jax
import jax.numpy as jnp

from advice_blind import by_root_mean, clipped
from advice_structures import BF16, F32, checkpointed, conv, in_float32, token_loss
from advice_unseen_optimizers import adagrad, adamw, adamw_state, clipped_sgd, nesterov, trained


# --- Loops over time ---

def selected_states(layers, width, rank, states, vocabulary, batch, length):
    """A scan over time whose decay the words choose themselves, of [batch, states, inner]; unrolled layers."""
    inner = 2 * width

    def make(arrays, change):
        size = batch // change.batch_divisor

        def mixer():
            return {"in_proj": arrays.parameter((width, 2 * inner)), "conv": arrays.parameter((4, 1, inner), 2),
                    "x_proj": arrays.parameter((inner, rank + 2 * states)), "dt_proj": arrays.parameter((rank, inner)),
                    "dt_bias": arrays.parameter((inner,), None), "a_log": arrays.parameter((states, inner), 1),
                    "d": arrays.parameter((inner,), None), "out_proj": arrays.parameter((inner, width)),
                    "norm": arrays.parameter((width,), None)}
        params = {"embedding": arrays.parameter((vocabulary, width)), "mixers": [mixer() for _ in range(layers)],
                  "norm_f": arrays.parameter((width,), None)}

        def remembered(p, x, dt, b, c):
            a = -jnp.exp(p["a_log"].astype(F32))

            def tick(h, now):
                x, dt, b, c = now
                h = jnp.exp(dt[:, None] * a) * h + (dt * x)[:, None] * b[:, :, None]
                return h, jnp.einsum("bsi,bs->bi", h, c)
            now = jax.tree.map(lambda t: t.swapaxes(0, 1).astype(F32), (x, dt, b, c))
            return jax.lax.scan(tick, jnp.zeros((size, states, inner)), now)[1].swapaxes(0, 1)

        def mix(p, x):
            w = {name: p[name].astype(BF16) for name in ("in_proj", "conv", "x_proj", "dt_proj", "out_proj")}
            u, gate = jnp.split(by_root_mean(x, p["norm"]) @ w["in_proj"], 2, -1)
            u = jax.nn.silu(jax.lax.conv_general_dilated(u, w["conv"], (1,), [(3, 0)], feature_group_count=inner,
                                                         dimension_numbers=("NWC", "WIO", "NWC")))
            dt, b, c = jnp.split(u @ w["x_proj"], [rank, rank + states], -1)
            dt = jax.nn.softplus((dt @ w["dt_proj"]).astype(F32) + p["dt_bias"].astype(F32))
            y = remembered(p, u, dt, b, c) + p["d"].astype(F32) * u.astype(F32)
            return x + (y.astype(BF16) * jax.nn.silu(gate)) @ w["out_proj"]

        def loss_fn(params, ids):
            x = params["embedding"][ids[:, :-1]].astype(BF16)
            for p in params["mixers"]:
                x = checkpointed(change, mix)(p, x)
            return token_loss(by_root_mean(x, params["norm_f"]) @ params["embedding"].astype(BF16).T, ids[:, 1:])
        return trained(loss_fn, clipped(adamw), params, adamw_state(arrays, params),
                       arrays.batch((size, length + 1), jnp.int32))
    return make


def carried_states(sizes, vocabulary, batch, length):
    """An LSTM of words whose table is used at both ends; states carried from step to step, weights dropped; float32."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def unit(enter, leave):
            return {"w_ih": arrays.parameter((4 * leave, enter)), "w_hh": arrays.parameter((4 * leave, leave)),
                    "b": arrays.parameter((4 * leave,), None)}
        params = {"encoder": arrays.parameter((vocabulary, sizes[0])), "decoder_bias": arrays.parameter(
            (vocabulary,), None), "rnns": [unit(*two) for two in zip(sizes, sizes[1:])]}
        split = 0 if change.shard == "all" else None
        hidden = [(arrays.array((size, n), F32, split),) * 2 for n in sizes[1:]]
        words = arrays.array((length + 1, size), jnp.int32, 1 if change.shard == "all" else None)

        def unroll(p, key, begin, x):
            w_hh = p["w_hh"] * jax.random.bernoulli(key, 0.5, p["w_hh"].shape) * 2

            def cell(carry, x):
                h, c = carry
                i, f, g, o = jnp.split(x + h @ w_hh.T, 4, 1)
                c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h
            return jax.lax.scan(checkpointed(change, cell), begin, x @ p["w_ih"].T + p["b"])

        def loss_fn(params, hidden, key, words):
            params, ends = in_float32(params), []
            x = params["encoder"][words[:-1]]
            for i, (p, begin) in enumerate(zip(params["rnns"], hidden)):
                one, two = jax.random.split(jax.random.fold_in(key, i))
                x = x * jax.random.bernoulli(one, 0.7, x.shape[1:]) / 0.7
                end, x = unroll(p, two, begin, x)
                ends.append(end)
            return token_loss(x @ params["encoder"].T + params["decoder_bias"], words[1:]), ends

        def train_step(params, count, hidden, key, words):
            (loss, hidden), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, hidden, key, words)
            return *clipped_sgd(params, count, grads), hidden, loss
        return train_step, (params, arrays.array((), jnp.int32), hidden, arrays.array((2,), jnp.uint32),
                            words), (0, 1, 2)
    return make


def tagged_words(width, hidden, vocabulary, letters, spelt, tags, batch, length, word):
    """Letters convolved, words looked up, LSTMs both ways, and a chain of tags whose paths are summed; float32."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def lstm(enter):
            return arrays.parameter((enter + hidden, 4 * hidden)), arrays.parameter((4 * hidden,), None)
        params = {"words": arrays.parameter((vocabulary, width)), "letters": arrays.parameter((letters, spelt), None),
                  "filters": arrays.parameter((3, spelt, 2 * spelt), 2), "ahead": lstm(width + 2 * spelt),
                  "back": lstm(width + 2 * spelt), "tags": arrays.parameter((2 * hidden, tags)),
                  "moves": arrays.parameter((tags, tags), None)}

        def run(weights, x, is_back):
            def cell(carry, x):
                h, c = carry
                i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ weights[0] + weights[1], 4, -1)
                c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), h
            zeros = jnp.zeros((size, hidden))
            return jax.lax.scan(checkpointed(change, cell), (zeros, zeros), x, reverse=is_back)[1]

        def all_paths(scores, moves):
            def onwards(total, now):
                return jax.nn.logsumexp(total[:, :, None] + moves, 1) + now, None
            return jax.nn.logsumexp(jax.lax.scan(checkpointed(change, onwards), scores[0], scores[1:])[0], -1)

        def one_path(scores, moves, wanted):
            stays = jnp.take_along_axis(scores, wanted[..., None], -1)[..., 0]
            return jnp.sum(stays, 0) + jnp.sum(moves[wanted[:-1], wanted[1:]], 0)

        def loss_fn(params, words, spellings, wanted):
            params = in_float32(params)
            spelt_out = params["letters"][spellings].reshape(size * length, word, spelt)
            spelt_out = jax.lax.conv_general_dilated(spelt_out, params["filters"], (1,), "SAME",
                                                     dimension_numbers=("NWC", "WIO", "NWC"))
            spelt_out = jnp.max(spelt_out, 1).reshape(size, length, -1)
            x = jnp.concatenate([params["words"][words], spelt_out], -1).swapaxes(0, 1)
            x = jnp.concatenate([run(params["ahead"], x, False), run(params["back"], x, True)], -1)
            scores, wanted = x @ params["tags"], wanted.swapaxes(0, 1)
            return jnp.mean(all_paths(scores, params["moves"]) - one_path(scores, params["moves"], wanted))
        ids = arrays.batch((size, length), jnp.int32)
        spellings = arrays.batch((size, length, word), jnp.int32)
        return trained(loss_fn, nesterov, params, params, ids, spellings, ids)
    return make


# --- Pairs ---

def triangles(layers, single, pair, heads, batch, residues, bins):
    """Pairs of residues refined by the third one, multiplied and looked at; for one protein, mapped."""
    side = pair // heads

    def make(arrays, change):
        size = batch // change.batch_divisor

        def multiply():
            return {"ab": arrays.parameter((pair, 4 * pair)), "out": arrays.parameter((pair, pair)),
                    "gate": arrays.parameter((pair, pair))}

        def layer():
            return {"outgoing": multiply(), "incoming": multiply(),
                    "look": {"qkvg": arrays.parameter((pair, 4, heads, side)), "bias": arrays.parameter((pair, heads)),
                             "out": arrays.parameter((heads, side, pair))},
                    "grow": (arrays.parameter((pair, 4 * pair)), arrays.parameter((4 * pair, pair)))}
        params = {"left": arrays.parameter((single, pair)), "right": arrays.parameter((single, pair)),
                  "layers": [layer() for _ in range(layers)], "distogram": arrays.parameter((pair, bins))}

        def norm(z):
            return by_root_mean(z, jnp.ones(()))

        def multiplied(p, z, equation):
            h = norm(z)
            a, b, ga, gb = jnp.split(h @ p["ab"], 4, -1)
            mixed = jnp.einsum(equation, a * jax.nn.sigmoid(ga), b * jax.nn.sigmoid(gb))
            return z + (norm(mixed) @ p["out"]) * jax.nn.sigmoid(h @ p["gate"])

        def looked(p, z):
            h = norm(z)
            q, k, v, g = jnp.einsum("ijc,cshd->sijhd", h, p["qkvg"])
            near = jnp.einsum("iqhd,ikhd->ihqk", q, k).astype(F32) * side ** -0.5
            near = jax.nn.softmax(near + jnp.moveaxis(h @ p["bias"], -1, 0), -1).astype(BF16)
            mixed = jnp.einsum("ihqk,ikhd->iqhd", near, v) * jax.nn.sigmoid(g)
            return z + jnp.einsum("iqhd,hdc->iqc", mixed, p["out"])

        def block(p, z):
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            z = multiplied(p["outgoing"], z, "ikc,jkc->ijc")
            z = multiplied(p["incoming"], z, "kic,kjc->ijc")
            z = looked(p["look"], z)
            return z + jax.nn.relu(norm(z) @ p["grow"][0]) @ p["grow"][1]

        def logits_of(params, s):
            s = s.astype(BF16)
            z = (s @ params["left"].astype(BF16))[:, None] + (s @ params["right"].astype(BF16))[None]
            for p in params["layers"]:
                z = checkpointed(change, block)(p, z)
            return (z + z.swapaxes(0, 1)) @ params["distogram"].astype(BF16)

        def loss_fn(params, singles, wanted):
            return token_loss(jax.vmap(logits_of, (None, 0))(params, singles), wanted)
        return trained(loss_fn, clipped(adamw, 0.1), params, adamw_state(arrays, params),
                       arrays.batch((size, residues, single), F32), arrays.batch((size, residues, residues), jnp.int32))
    return make


# --- Games and goods ---

def near_policy(widths, hidden, actions, epochs, parts, side, batch, length):
    """Advantages back in time, then epochs of parts of what was played, in a scan in a scan; bytes as pictures."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def stage(enter, width):
            return {"enter": arrays.parameter((3, 3, enter, width), 3), "res": [
                [arrays.parameter((3, 3, width, width), 3) for _ in range(2)] for _ in range(2)]}
        flat = (-(-side // 2 ** len(widths))) ** 2 * widths[-1]
        params = {"torso": [stage(*two) for two in zip((4, *widths), widths)],
                  "dense": arrays.parameter((flat, hidden)), "actor": arrays.parameter((hidden, actions), None),
                  "critic": arrays.parameter((hidden, 1), None)}

        def seen(x, p):
            x = conv(x, p["enter"])
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
            for first, second in p["res"]:
                x = x + conv(jax.nn.relu(conv(jax.nn.relu(x), first)), second)
            return x

        def play(params, frames):
            params, x = in_float32(params), frames.astype(F32) / 255
            for p in params["torso"]:
                x = checkpointed(change, seen)(x, p)
            h = jax.nn.relu(jax.nn.relu(x).reshape(x.shape[0], -1) @ params["dense"])
            return jax.nn.log_softmax(h @ params["actor"]), (h @ params["critic"])[:, 0]

        def loss_fn(params, part):
            frames, moves, old, gains, returns = (a.reshape(-1, *a.shape[2:]) for a in part)
            logs, value = play(params, frames)
            ratio = jnp.exp(jnp.take_along_axis(logs, moves[:, None], 1)[:, 0] - old)
            gains = (gains - jnp.mean(gains)) / (jnp.std(gains) + 1e-8)
            policy = -jnp.mean(jnp.minimum(ratio * gains, jnp.clip(ratio, 0.8, 1.2) * gains))
            entropy = -jnp.mean(jnp.sum(jnp.exp(logs) * logs, -1))
            return policy + 0.5 * jnp.mean(jnp.square(value - returns)) - 0.01 * entropy

        def advantages(rewards, values, ends):
            def back(gain, now):
                reward, value, after, end = now
                gain = reward + 0.99 * after * (1 - end) - value + 0.95 * 0.99 * (1 - end) * gain
                return gain, gain
            after = jnp.concatenate([values[:, 1:], values[:, -1:]], 1)
            now = jax.tree.map(lambda a: a.T, (rewards, values, after, ends))
            return jax.lax.scan(back, jnp.zeros(size), now, reverse=True)[1].T

        def learn(params, state, key, frames, moves, old, rewards, values, ends):
            gains = advantages(*in_float32((rewards, values, ends)))
            data = frames, moves, old.astype(F32), gains, gains + values

            def one_part(carry, part):
                loss, grads = jax.value_and_grad(loss_fn)(carry[0], part)
                return clipped(adamw, 0.5)(*carry, grads), loss

            def one_epoch(carry, key):
                order = jax.random.permutation(key, size)
                dealt = jax.tree.map(lambda a: a[order].reshape(parts, size // parts, *a.shape[1:]), data)
                return jax.lax.scan(one_part, carry, dealt)
            (params, state), losses = jax.lax.scan(one_epoch, (params, state), jax.random.split(key, epochs))
            return params, state, jnp.mean(losses)
        number = arrays.batch((size, length), F32)
        return learn, (params, adamw_state(arrays, params), arrays.array((2,), jnp.uint32),
                       arrays.batch((size, length, side, side, 4), jnp.uint8), arrays.batch((size, length), jnp.int32),
                       number, number, number, number), (0, 1)
    return make


def next_goods(layers, width, heads, goods, wrong, batch, length):
    """What is bought next, of a large table: scores of the right one and of some wrong ones at each place; float32."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"goods": arrays.parameter((goods, width)), "places": arrays.parameter((length, width)),
                  "blocks": [{"qkv": arrays.parameter((3, width, width), 1), "out": arrays.parameter((width, width)),
                              "ff": (arrays.parameter((width, width)), arrays.parameter((width, width))),
                              "norms": arrays.parameter((2, width), None)} for _ in range(layers)]}

        def block(p, x):
            q, k, v = (jnp.reshape(by_root_mean(x, p["norms"][0]) @ w, (size, length, heads, side)) for w in p["qkv"])
            near = jnp.einsum("bqhd,bkhd->bhqk", q, k) / side ** 0.5
            near = jax.nn.softmax(near + jnp.triu(jnp.full((length, length), -1e9), 1))
            x = x + jnp.einsum("bhqk,bkhd->bqhd", near, v).reshape(x.shape) @ p["out"]
            return x + jax.nn.relu(by_root_mean(x, p["norms"][1]) @ p["ff"][0]) @ p["ff"][1]

        def loss_fn(params, bought, others):
            params = in_float32(params)
            x = params["goods"][bought[:, :-1]] * width ** 0.5 + params["places"]
            for p in params["blocks"]:
                x = checkpointed(change, block)(p, x)
            right = jnp.sum(x * params["goods"][bought[:, 1:]], -1)
            false = jnp.einsum("btd,btnd->btn", x, params["goods"][others])
            losses = jax.nn.softplus(-right) + jnp.sum(jax.nn.softplus(false), -1)
            return jnp.sum(losses * (bought[:, 1:] > 0)) / size
        return trained(loss_fn, adagrad, params, params, arrays.batch((size, length + 1), jnp.int32),
                       arrays.batch((size, length, wrong), jnp.int32))
    return make
