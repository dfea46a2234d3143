"""Models that are served, not trained, that nobody tunes the advice for: neighbours of advice_blind.py."""
import jax
import jax.numpy as jnp

from advice_blind import by_root_mean, rotate
from advice_structures import BF16, F32


def one_key_prefill(layers, width, heads, side, hidden, vocabulary, batch, prompt, room):
    """Prompts read at once by stacked layers with one key for all heads, and written to the caches of a loop."""
    def make(arrays, change):
        size = batch // change.batch_divisor

        def stacked(*shape):
            return arrays.parameter((layers, *shape), 1)
        params = {"embedder": arrays.parameter((vocabulary, width)), "layers": {
            "q_einsum": arrays.parameter((layers, heads, width, side), 2), "kv_einsum": arrays.parameter(
                (layers, 2, width, side), 2), "attn_vec": arrays.parameter((layers, heads, side, width), 3),
            "gating": arrays.parameter((layers, 2, width, hidden), 2), "linear": stacked(hidden, width),
            "scales": arrays.parameter((layers, 2, width), None)}}
        cache = {name: arrays.array((layers, size, room, side), BF16, 1 if change.shard == "all" else None)
                 for name in "kv"}

        def layer(x, both):
            p, old = both
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            h, places = by_root_mean(x, 1 + p["scales"][0]), jnp.arange(prompt)
            q = rotate(jnp.einsum("btd,ndh->btnh", h, p["q_einsum"]), places)
            k, v = jnp.einsum("btd,sdh->sbth", h, p["kv_einsum"])
            k = rotate(k, places)
            logits = jnp.einsum("btnh,bsh->bnts", q * side ** -0.5, k).astype(F32)
            weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((prompt, prompt), bool)), logits, -2e38), -1)
            mixed = jnp.einsum("bnts,bsh->btnh", weights.astype(BF16), v)
            x = x + jnp.einsum("btnh,nhd->btd", mixed, p["attn_vec"])
            gate, up = jnp.einsum("btd,sdf->sbtf", by_root_mean(x, 1 + p["scales"][1]), p["gating"])
            new = {"k": jax.lax.dynamic_update_slice(old["k"], k, (0, 0, 0)),
                   "v": jax.lax.dynamic_update_slice(old["v"], v, (0, 0, 0))}
            return x + (jax.nn.gelu(gate) * up) @ p["linear"], new

        def prefill(params, cache, prompts, lengths):
            table = params["embedder"].astype(BF16)
            x, cache = jax.lax.scan(layer, table[prompts] * width ** 0.5, (params["layers"], cache))
            last = jnp.take_along_axis(x, lengths[:, None, None] - 1, 1)[:, 0]
            return 30 * jnp.tanh((last @ table.T).astype(F32) / 30), cache
        return prefill, (params, cache, arrays.batch((size, prompt), jnp.int32),
                         arrays.batch((size,), jnp.int32)), (1,)
    return make


def paged_step(layers, width, heads, groups, hidden, vocabulary, batch, pages, page):
    """One word for each sequence, whose keys and values lie in pages anywhere in a pool; a list of layers."""
    side = width // heads

    def make(arrays, change):
        size = batch // change.batch_divisor
        params = {"embed": arrays.parameter((vocabulary, width)), "lm_head": arrays.parameter((width, vocabulary)),
                  "layers": [{"qkv": arrays.parameter((width, (heads + 2 * groups) * side)),
                              "o": arrays.parameter((heads * side, width)),
                              "gate_up": arrays.parameter((width, 2 * hidden)),
                              "down": arrays.parameter((hidden, width)),
                              "norms": arrays.parameter((2, width), None)} for _ in range(layers)]}
        pool = arrays.array((size * pages, page, 2 * groups, side), BF16, 0 if change.shard == "all" else None)
        pools = [pool] * layers

        def attend(p, x, pool, tables, lengths):
            q, kv = jnp.split(by_root_mean(x, p["norms"][0]) @ p["qkv"], [heads * side], -1)
            at = jnp.take_along_axis(tables, lengths[:, None] // page, 1)[:, 0], lengths % page
            pool = pool.at[at].set(kv.reshape(size, 2 * groups, side))
            k, v = jnp.split(pool[tables].reshape(size, pages * page, 2 * groups, side), 2, 2)
            q = q.reshape(size, groups, heads // groups, side)
            seen = jnp.einsum("bgrd,bsgd->bgrs", q, k, preferred_element_type=F32) * side ** -0.5
            seen = jnp.where((jnp.arange(pages * page) <= lengths[:, None])[:, None, None], seen, -1e30)
            mixed = jnp.einsum("bgrs,bsgd->bgrd", jax.nn.softmax(seen, -1).astype(BF16), v)
            return mixed.reshape(size, heads * side) @ p["o"], pool

        def serve_step(params, pools, words, tables, lengths):
            x, written = params["embed"].astype(BF16)[words], []
            for p, pool in zip(params["layers"], pools):
                p = jax.tree.map(lambda w: w.astype(BF16), p)
                mixed, pool = attend(p, x, pool, tables, lengths)
                x = x + mixed
                gate, up = jnp.split(by_root_mean(x, p["norms"][1]) @ p["gate_up"], 2, -1)
                x = x + (jax.nn.silu(gate) * up) @ p["down"]
                written.append(pool)
            logits = (x @ params["lm_head"].astype(BF16)).astype(F32)
            return jnp.argmax(logits, -1).astype(jnp.int32), jnp.max(jax.nn.log_softmax(logits), -1), written
        rows = arrays.batch((size,), jnp.int32)
        return serve_step, (params, pools, rows, arrays.batch((size, pages), jnp.int32), rows), (1,)
    return make


def beam_search(layers, width, heads, hidden, vocabulary, beams, batch, source, room, steps):
    """Steps of a search that keeps the best few of each sentence: caches follow their parents, memories stay."""
    side = width // heads

    def make(arrays, change):
        size, split = batch // change.batch_divisor, 0 if change.shard == "all" else None

        def attention():
            return {n: arrays.parameter((width, width)) for n in ("q", "k", "v", "out")}
        params = {"shared": arrays.parameter((vocabulary, width)), "layers": {
            f"layer_{i}": {"self": attention(), "cross": attention(), "wi": arrays.parameter((width, hidden)),
                           "wo": arrays.parameter((hidden, width))} for i in range(layers)}}
        one = arrays.array((size, beams, heads, room, side), BF16, split)
        seen = arrays.array((size, heads, source, side), BF16, split)
        state = {"caches": {name: {"k": one, "v": one} for name in params["layers"]},
                 "scores": arrays.array((size, beams), F32, split),
                 "said": arrays.array((size, beams, room), jnp.int32, split)}
        memories = {name: (seen, seen) for name in params["layers"]}

        def heads_of(x, weight):
            return (x @ weight).reshape(size, beams, heads, side)

        def layer(p, x, cache, memory, step):
            p = jax.tree.map(lambda w: w.astype(BF16), p)
            h = by_root_mean(x, jnp.ones(()))
            cache = {n: jax.lax.dynamic_update_slice_in_dim(cache[n], heads_of(h, p["self"][n])[:, :, :, None], step, 3)
                     for n in "kv"}
            near = jnp.einsum("nbhd,nbhtd->nbht", heads_of(h, p["self"]["q"]), cache["k"]).astype(F32) / side ** 0.5
            near = jax.nn.softmax(jnp.where(jnp.arange(room) <= step, near, -1e9)).astype(BF16)
            x = x + jnp.einsum("nbht,nbhtd->nbhd", near, cache["v"]).reshape(x.shape) @ p["self"]["out"]
            q = heads_of(by_root_mean(x, jnp.ones(())), p["cross"]["q"])
            near = jax.nn.softmax(jnp.einsum("nbhd,nhsd->nbhs", q, memory[0]).astype(F32) / side ** 0.5).astype(BF16)
            x = x + jnp.einsum("nbhs,nhsd->nbhd", near, memory[1]).reshape(x.shape) @ p["cross"]["out"]
            return x + jax.nn.relu(by_root_mean(x, jnp.ones(())) @ p["wi"]) @ p["wo"], cache

        def search(params, state, memories, begin):
            table = params["shared"].astype(BF16)

            def advance(i, state):
                step = begin + i
                x, caches = table[jax.lax.dynamic_index_in_dim(state["said"], step - 1, 2, False)], {}
                for name, p in params["layers"].items():
                    x, caches[name] = layer(p, x, state["caches"][name], memories[name], step)
                scores = state["scores"][..., None] + jax.nn.log_softmax((x @ table.T).astype(F32))
                best, chosen = jax.lax.top_k(scores.reshape(size, -1), beams)
                parents, words = chosen // vocabulary, chosen % vocabulary

                def follow(a):
                    return jnp.take_along_axis(a, parents.reshape(size, beams, *(1,) * (a.ndim - 2)), 1)
                said = jax.lax.dynamic_update_slice_in_dim(follow(state["said"]), words[..., None], step, 2)
                return {"caches": jax.tree.map(follow, caches), "scores": best, "said": said}
            return jax.lax.fori_loop(0, steps, advance, state)
        return search, (params, state, memories, arrays.array((), jnp.int32)), (1,)
    return make
