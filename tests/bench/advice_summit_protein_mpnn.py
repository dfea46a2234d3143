"""ProteinMPNN: the sequence that folds to a backbone, in haiku: residues, each with edges to its nearest neighbours.

Three layers that encode residues and edges, three that decode amino acids in an order drawn anew each time.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import F32, cast, computing, on_chips, policy_of, raw_key, summed_slopes, updated

LETTERS = 21


def gathered(nodes, nearest):
    """nodes [b, l, c] at nearest [b, l, k]: [b, l, k, c]"""
    return jax.vmap(lambda one, at: one[at])(nodes, nearest)


def radial(distances, count=16, low=2.0, high=22.0):
    centers = jnp.linspace(low, high, count)
    return jnp.exp(-((distances[..., None] - centers) * (count / (high - low))) ** 2)


def protein_mpnn(change, now, width, neighbours, encoders, decoders, rate, noise):
    import haiku as hk

    def norm(name):
        return hk.LayerNorm(-1, True, True, name=name)

    def dropped(x):
        return hk.dropout(hk.next_rng_key(), rate, x)

    def message(name, x):
        for i in (1, 2):
            x = jax.nn.gelu(hk.Linear(width, name=f"{name}{i}")(x))
        return hk.Linear(width, name=f"{name}3")(x)

    def feed_forward(x):
        return hk.Linear(width, name="ff_out")(jax.nn.gelu(hk.Linear(4 * width, name="ff_in")(x)))

    def beside(nodes, edges):
        return jnp.concatenate([jnp.broadcast_to(nodes[:, :, None], (*edges.shape[:3], nodes.shape[-1])), edges], -1)

    def features(atoms, mask, places, chains):
        """atoms [b, l, 4, 3] of N, CA, C, O to edges and the residues that they come from."""
        n, ca, c, o = (atoms[:, :, i] for i in range(4))
        b, a = ca - n, c - ca
        cb = -0.58273431 * jnp.cross(b, a) + 0.56802827 * b - 0.54067466 * a + ca
        apart = jnp.sqrt(((ca[:, :, None] - ca[:, None]) ** 2).sum(-1) + 1e-6)
        both = mask[:, :, None] * mask[:, None]
        _, nearest = jax.lax.top_k(-jnp.where(both > 0, apart, 1e6), neighbours)
        made = []
        for one in (n, ca, c, o, cb):
            for other in (n, ca, c, o, cb):
                far = jnp.sqrt(((one[:, :, None] - gathered(other, nearest)) ** 2).sum(-1) + 1e-6)
                made.append(radial(far).astype(now))
        offsets = jnp.clip(gathered(places[..., None], nearest)[..., 0] - places[..., None] + 32, 0, 64)
        is_same = gathered(chains[..., None], nearest)[..., 0] == chains[..., None]
        positions = jax.nn.one_hot(jnp.where(is_same, offsets, 65), 66, dtype=now)
        made.append(hk.Linear(16, name="positions")(positions))
        edges = hk.Linear(width, with_bias=False, name="edge_embedding")(jnp.concatenate(made, -1))
        return norm("norm_edges")(edges), nearest

    def encoder(nodes, edges, nearest, mask, pairs):
        given = beside(nodes, jnp.concatenate([edges, gathered(nodes, nearest)], -1))
        said = (message("W", given) * pairs[..., None]).sum(-2) / 30
        nodes = norm("norm1")(nodes + dropped(said))
        nodes = norm("norm2")(nodes + dropped(feed_forward(nodes))) * mask[..., None]
        given = beside(nodes, jnp.concatenate([edges, gathered(nodes, nearest)], -1))
        return nodes, norm("norm3")(edges + dropped(message("W1", given)))

    def decoder(nodes, edges, mask):
        said = message("W", beside(nodes, edges)).sum(-2) / 30
        nodes = norm("norm1")(nodes + dropped(said))
        return norm("norm2")(nodes + dropped(feed_forward(nodes))) * mask[..., None]

    def repeated(layer):
        return hk.remat(layer, policy=policy_of(change)) if change.rematerialize else layer

    def forward(atoms, letters, mask, places, chains):
        atoms = atoms.astype(F32) + noise * jax.random.normal(hk.next_rng_key(), atoms.shape)
        edges, nearest = features(atoms, mask, places, chains)
        mask = mask.astype(now)
        edges = hk.Linear(width, name="W_e")(edges)
        nodes = jnp.zeros((*letters.shape, width), now)
        pairs = gathered(mask[..., None], nearest)[..., 0] * mask[..., None]
        for i in range(encoders):
            with hk.experimental.name_scope(f"encoder_{i}"):
                nodes, edges = repeated(encoder)(nodes, edges, nearest, mask, pairs)
        words = hk.Embed(LETTERS, width, name="W_s")(letters)
        drawn = jnp.abs(jax.random.normal(hk.next_rng_key(), letters.shape))
        turn = jnp.argsort(jnp.argsort(drawn, -1), -1)
        is_before = (gathered(turn[..., None], nearest)[..., 0] < turn[..., None]).astype(now)[..., None]
        known = is_before * mask[:, :, None, None]
        unknown = (1 - is_before) * mask[:, :, None, None]
        said = gathered(words, nearest)
        without = jnp.concatenate([edges, jnp.zeros_like(said), gathered(nodes, nearest)], -1) * unknown
        for i in range(decoders):
            with hk.experimental.name_scope(f"decoder_{i}"):
                given = known * jnp.concatenate([edges, said, gathered(nodes, nearest)], -1) + without
                nodes = repeated(decoder)(nodes, given, mask)
        return hk.Linear(LETTERS, name="W_out")(nodes)
    return hk.transform(forward)


def noam(width, warm=4000, factor=2.0):
    def rate(step):
        step = jnp.maximum(step, 1).astype(F32)
        return factor * width ** -0.5 * jnp.minimum(step ** -0.5, step * warm ** -1.5)
    return rate


def designed_proteins(width, neighbours, encoders, decoders, batch, length, rate=0.1, noise=0.2, kind=F32):
    def make(arrays, change):
        import optax
        rows, residues, now = batch // change.batch_divisor, length // change.length_divisor, computing(change, kind)
        model = protein_mpnn(change, now, width, neighbours, encoders, decoders, rate, noise)

        def loss_of(params, key, atoms, letters, mask, places, chains):
            logits = model.apply(cast(params, now), key, atoms, letters, mask, places, chains).astype(F32)
            wanted = optax.smooth_labels(jax.nn.one_hot(letters, LETTERS), 0.1)
            losses = optax.softmax_cross_entropy(logits, wanted)
            right = (logits.argmax(-1) == letters) * mask
            return (losses * mask.astype(F32)).sum() / 2000.0, right.sum().astype(F32)
        ints = arrays.batch((rows, residues), jnp.int32)
        given = (arrays.batch((rows, residues, 4, 3), F32), ints, arrays.batch((rows, residues), F32), ints, ints)
        plain = [jax.ShapeDtypeStruct((1, *a.shape[1:]), a.dtype) for a in given]
        params = cast(jax.eval_shape(model.init, jax.random.key(0), *plain), change.stored)
        optimizer = optax.adam(noam(width), b2=0.98, eps=1e-9)
        state = jax.eval_shape(optimizer.init, params)

        def train_step(params, state, key, *batch):
            loss, right, slopes = summed_slopes(loss_of, change.parts)(params, key, *batch)
            params, state = updated(optimizer, slopes, state, params)
            return params, state, loss, right.sum()
        return train_step, (on_chips(arrays, params), on_chips(arrays, state), raw_key(arrays), *given), (0, 1)
    return make
