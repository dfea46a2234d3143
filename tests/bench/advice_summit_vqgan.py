"""VQ-GAN in equinox, in the manner of taming-transformers: perceptual and adversarial losses, two Adams.

The maker takes its Arrays and Change, and gives (step, arguments, donated). Modules are of one picture and are mapped
over a batch. The discriminator learns in the same step from what was made; the net of the perceptual loss is frozen.
"""
import jax
import jax.numpy as jnp

from advice_board_changes import cast, computing, laid_out, policy_of, summed_slopes, updated
from advice_board_training import F32

VGG = (64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512)
TOLD = (1, 3, 6, 9, 12)  # the convolutions of VGG16 whose features are compared


def modules(change):
    import equinox as eqx

    class ResBlock(eqx.Module):
        norm1: eqx.nn.GroupNorm
        conv1: eqx.nn.Conv2d
        norm2: eqx.nn.GroupNorm
        conv2: eqx.nn.Conv2d
        shortcut: eqx.nn.Conv2d | None

        def __init__(self, given, width, key):
            keys = jax.random.split(key, 3)
            self.norm1, self.norm2 = eqx.nn.GroupNorm(32, given, 1e-6), eqx.nn.GroupNorm(32, width, 1e-6)
            self.conv1 = eqx.nn.Conv2d(given, width, 3, padding=1, key=keys[0])
            self.conv2 = eqx.nn.Conv2d(width, width, 3, padding=1, key=keys[1])
            self.shortcut = eqx.nn.Conv2d(given, width, 1, key=keys[2]) if given != width else None

        def __call__(self, x):
            h = self.conv1(jax.nn.silu(self.norm1(x)))
            h = self.conv2(jax.nn.silu(self.norm2(h)))
            return h + (x if self.shortcut is None else self.shortcut(x))

    class AttnBlock(eqx.Module):
        norm: eqx.nn.GroupNorm
        q: eqx.nn.Conv2d
        k: eqx.nn.Conv2d
        v: eqx.nn.Conv2d
        proj: eqx.nn.Conv2d

        def __init__(self, width, key):
            self.norm = eqx.nn.GroupNorm(32, width, 1e-6)
            self.q, self.k, self.v, self.proj = (eqx.nn.Conv2d(width, width, 1, key=one)
                                                 for one in jax.random.split(key, 4))

        def __call__(self, x):
            h = self.norm(x)
            q, k, v = (layer(h).reshape(x.shape[0], -1) for layer in (self.q, self.k, self.v))
            weights = jax.nn.softmax(jnp.einsum("cq,ck->qk", q, k) * x.shape[0] ** -0.5, -1)
            return x + self.proj(jnp.einsum("qk,ck->cq", weights, v).reshape(x.shape))

    class Down(eqx.Module):
        conv: eqx.nn.Conv2d

        def __init__(self, width, key):
            self.conv = eqx.nn.Conv2d(width, width, 3, 2, key=key)

        def __call__(self, x):
            return self.conv(jnp.pad(x, ((0, 0), (0, 1), (0, 1))))

    class Up(eqx.Module):
        conv: eqx.nn.Conv2d

        def __init__(self, width, key):
            self.conv = eqx.nn.Conv2d(width, width, 3, padding=1, key=key)

        def __call__(self, x):
            return self.conv(x.repeat(2, 1).repeat(2, 2))

    class Half(eqx.Module):
        """Encoder or decoder: the first convolution, blocks, and the last norm and convolution."""
        conv_in: eqx.nn.Conv2d
        blocks: list
        norm_out: eqx.nn.GroupNorm
        conv_out: eqx.nn.Conv2d

        def __init__(self, given, made, widths, depth, is_encoder, key):
            keys = iter(jax.random.split(key, 64))
            now = widths[0]
            self.conv_in = eqx.nn.Conv2d(given, now, 3, padding=1, key=next(keys))
            deep = widths[-1] if is_encoder else now
            middle = [ResBlock(deep, deep, next(keys)), AttnBlock(deep, next(keys)), ResBlock(deep, deep, next(keys))]
            blocks = [] if is_encoder else middle
            for number, width in enumerate(widths):
                for _ in range(depth):
                    blocks.append(ResBlock(now, width, next(keys)))
                    now = width
                    if number == (len(widths) - 1 if is_encoder else 0):
                        blocks.append(AttnBlock(width, next(keys)))
                if number < len(widths) - 1:
                    blocks.append((Down if is_encoder else Up)(width, next(keys)))
            self.blocks = blocks + middle if is_encoder else blocks
            self.norm_out = eqx.nn.GroupNorm(32, now, 1e-6)
            self.conv_out = eqx.nn.Conv2d(now, made, 3, padding=1, key=next(keys))

        def __call__(self, x):
            x = jax.vmap(self.conv_in)(x)
            for block in self.blocks:
                def run(block, x):
                    return jax.vmap(block)(x)
                if change.rematerialize and not isinstance(block, (Down, Up)):
                    run = eqx.filter_checkpoint(run, policy=policy_of(change))
                x = run(block, x)
            return jax.vmap(lambda one: self.conv_out(jax.nn.silu(self.norm_out(one))))(x)

    class VQModel(eqx.Module):
        encoder: Half
        decoder: Half
        quant_conv: eqx.nn.Conv2d
        post_quant_conv: eqx.nn.Conv2d
        codebook: eqx.nn.Embedding

        def __init__(self, width, factors, depth, codes, latent, key):
            keys = jax.random.split(key, 5)
            widths = [width * factor for factor in factors]
            self.encoder = Half(3, latent, widths, depth, True, keys[0])
            self.decoder = Half(latent, 3, [*widths[::-1]], depth + 1, False, keys[1])
            self.quant_conv = eqx.nn.Conv2d(latent, latent, 1, key=keys[2])
            self.post_quant_conv = eqx.nn.Conv2d(latent, latent, 1, key=keys[3])
            self.codebook = eqx.nn.Embedding(codes, latent, key=keys[4])

        def __call__(self, images):
            z = jax.vmap(self.quant_conv)(self.encoder(images))
            flat = z.transpose(0, 2, 3, 1)
            book = self.codebook.weight
            far = jnp.square(flat).sum(-1, keepdims=True) + jnp.square(book).sum(-1) - 2 * flat @ book.T
            words = far.argmin(-1)
            quantized = jax.nn.one_hot(words, book.shape[0], dtype=book.dtype) @ book
            held = jax.lax.stop_gradient
            losses = (jnp.square((held(quantized) - flat).astype(F32)).mean()
                      + 0.25 * jnp.square((quantized - held(flat)).astype(F32)).mean())
            quantized = flat + held(quantized - flat)
            made = self.decoder(jax.vmap(self.post_quant_conv)(quantized.transpose(0, 3, 1, 2)))
            return made, losses

    class Discriminator(eqx.Module):
        """Of patches, as in pix2pix."""
        convs: list
        norms: list

        def __init__(self, width, key):
            widths = (3, width, 2 * width, 4 * width, 8 * width, 1)
            self.convs = [eqx.nn.Conv2d(given, made, 4, 2 if number < 3 else 1, padding=1, key=one)
                          for number, (given, made, one) in
                          enumerate(zip(widths, widths[1:], jax.random.split(key, 5)))]
            self.norms = [eqx.nn.GroupNorm(32, each) for each in widths[2:-1]]

        def __call__(self, x):
            x = jax.nn.leaky_relu(self.convs[0](x), 0.2)
            for conv, norm in zip(self.convs[1:-1], self.norms):
                x = jax.nn.leaky_relu(norm(conv(x)), 0.2)
            return self.convs[-1](x)

    class Perceptual(eqx.Module):
        convs: list
        weights: list

        def __init__(self, key):
            widths = [3] + [width for width in VGG if width != "M"]
            self.convs = [eqx.nn.Conv2d(*pair, 3, padding=1, key=key) for pair in zip(widths, widths[1:])]
            self.weights = [jnp.ones((widths[number + 1], 1, 1)) for number in TOLD]

        def features(self, x):
            x, number, told = (x - 0.45) / 0.225, 0, []
            for layer in VGG:
                if layer == "M":
                    x = eqx.nn.MaxPool2d(2, 2)(x)
                    continue
                x, number = jax.nn.relu(self.convs[number](x)), number + 1
                if number - 1 in TOLD:
                    told.append(x / (jnp.sqrt(jnp.square(x).sum(0, keepdims=True)) + 1e-6))
            return told

        def __call__(self, one, other):
            pairs = zip(self.weights, self.features(one), self.features(other))
            return sum((jnp.square(a - b) * weight).sum(0).mean() for weight, a, b in pairs)
    return VQModel, Discriminator, Perceptual


def trained_vqgan(width, factors, depth, codes, latent, batch, pixels, judge=64, kind=F32):
    def make(arrays, change):
        import equinox as eqx
        import optax
        rows, now = batch // change.batch_divisor, computing(change, kind)
        model_kind, judge_kind, perceptual_kind = modules(change)
        key = jax.random.key(0)

        def shapes_of(made, *sizes):
            return cast(eqx.filter_eval_shape(made, *sizes, key=key), change.stored)
        model = shapes_of(model_kind, width, factors, depth, codes, latent)
        critic, frozen = shapes_of(judge_kind, judge), shapes_of(perceptual_kind)
        optimizer = optax.adam(4.5e-6 * batch, b1=0.5, b2=0.9)

        def train_step(model, critic, state, critic_state, frozen, images):
            def made_loss(model, _, images):
                images = (images.astype(F32) / 127.5 - 1).transpose(0, 3, 1, 2).astype(now)
                made, code_loss = cast(model, now)(images)
                seen = jax.vmap(cast(frozen, now))(images, made).astype(F32).mean()
                fooled = -jax.vmap(cast(critic, now))(made).astype(F32).mean()
                missed = jnp.abs((images - made).astype(F32)).mean()
                return missed + seen + code_loss + 0.8 * fooled, made

            def critic_loss(critic, _, images, made):
                images = (images.astype(F32) / 127.5 - 1).transpose(0, 3, 1, 2).astype(now)
                judged = jax.vmap(cast(critic, now))
                real, fake = judged(images).astype(F32), judged(made).astype(F32)
                return 0.5 * (jax.nn.relu(1 - real).mean() + jax.nn.relu(1 + fake).mean()), None
            loss, made, slopes = summed_slopes(made_loss, change.parts)(model, None, images)
            made = jax.lax.stop_gradient(made.reshape(-1, *made.shape[2:]))
            judging, _, critic_slopes = summed_slopes(critic_loss, change.parts)(critic, None, images, made)
            model, state = updated(optimizer, slopes, state, model)
            critic, critic_state = updated(optimizer, critic_slopes, critic_state, critic)
            return model, critic, state, critic_state, {"loss": loss, "critic_loss": judging}
        states = [laid_out(arrays, jax.eval_shape(optimizer.init, each)) for each in (model, critic)]
        arguments = (laid_out(arrays, model), laid_out(arrays, critic), *states, laid_out(arrays, frozen),
                     arrays.batch((rows, pixels, pixels, 3), jnp.uint8))
        return train_step, arguments, (0, 1, 2, 3)
    return make
