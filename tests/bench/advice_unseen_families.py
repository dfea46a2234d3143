"""The families of advice_unseen.py and its neighbours, for TPUs and GPUs.

They were written by somebody who had seen neither the rules nor any figure of the advice. Those of TPU and GPU were
judged as they were before rules were changed with all of them in view; those of advice_last.py after that, and are kept
aside: docs/advice.md has what they said at first sight.
"""
import dataclasses

from advice_structures import BF16, F32
import advice_last as last
import advice_unseen as unseen
import advice_unseen_other as other
import advice_unseen_vision as vision

USUAL = ("donate_inputs", "bf16_parameters", "halve_batch", "rematerialize", "shard_parameters", "shard_all")
KEPT = USUAL[1:]
INFERENCE = ("donate_inputs", "bf16_parameters", "halve_batch", "shard_parameters", "shard_all")


@dataclasses.dataclass(frozen=True)
class Listed:
    make: object
    is_held_out: bool = False
    variants: tuple = USUAL
    is_donated: bool = False


TPU = {
    "masked_encoder_5": Listed(unseen.masked_encoder(5, 720, 12, 30524, 60, 32, 384)),
    "shared_9": Listed(unseen.shared_layers(9, 896, 128, 14, 28000, 12, 320)),
    "text_to_text_4": Listed(unseen.text_to_text(4, 640, 9, 80, 1664, 32128, 24, 448, 160)),
    "attentive_units_640": Listed(unseen.attentive_units(640, 18000, 160, 96, 72)),
    "two_experts_5": Listed(unseen.two_experts(5, 768, 6, 12, 1280, 26000, 12, 512)),
    "key_blocks_too_big": Listed(unseen.key_blocks(12, 864, 9, 2592, 20480, 8, 4096, 512), variants=KEPT,
                                 is_donated=True),
    "window_cache_10": Listed(unseen.window_cache(10, 1536, 12, 3, 3840, 36000, 48, 1280, 6), variants=INFERENCE),
    "linear_recurrence_4": Listed(unseen.linear_recurrence(4, 448, 608, 20, 1536)),
    "image_transformer_7": Listed(vision.image_transformer(7, 672, 7, 14, 224, 108)),
    "image_text_5_3": Listed(vision.image_text((5, 640, 10), (3, 448, 7), 384, 16, 192, 30000, 128, 76)),
    "plain_residual_2342": Listed(vision.plain_residual((2, 3, 4, 2), (48, 96, 192, 384), 144, 176, F32)),
    "plain_residual_3352": Listed(vision.plain_residual((3, 3, 5, 2), (64, 160, 256, 512), 224, 576, BF16),
                                  variants=KEPT, is_donated=True),
    "depthwise_2241": Listed(vision.depthwise_stages((2, 2, 4, 1), (80, 160, 320, 640), 224, 48)),
    "noise_predictor_3": Listed(vision.noise_predictor((96, 160, 288), 64, 88, 2)),
    # Of shard_all libtpu says "INTERNAL: Value ... overlaps with another chunk".
    "sampled_code_8": Listed(vision.sampled_code(9408, (2200, 1100), 64, 8, 1536), variants=USUAL[:-1]),
    "interactions_26": Listed(other.interactions(26, 286000, 128, 13, 512, 8192)),
    "graph_attention_3": Listed(other.graph_attention(3, 48000, 360000, 192, 6), variants=(
        "donate_inputs", "bf16_parameters", "rematerialize", "shard_parameters")),
    "wave_equation_5": Listed(other.wave_equation(5, 272, 49152, 4096)),
}
GPU = {
    "masked_encoder_4": Listed(unseen.masked_encoder(4, 816, 12, 29000, 48, 40, 320)),
    "text_to_text_3": Listed(unseen.text_to_text(3, 560, 7, 96, 1408, 20000, 32, 384, 256)),
    "key_blocks_7": Listed(unseen.key_blocks(7, 720, 10, 2880, 22000, 4, 3072, 384)),
    "linear_recurrence_5": Listed(unseen.linear_recurrence(5, 384, 736, 16, 1024)),
    "noise_predictor_2": Listed(vision.noise_predictor((64, 144), 96, 48, 3)),
    "interactions_18": Listed(other.interactions(18, 500000, 96, 16, 640, 12288)),
    "two_experts_4": Listed(unseen.two_experts(4, 896, 7, 16, 1024, 30000, 16, 448)),
    "window_cache_8": Listed(unseen.window_cache(8, 1792, 14, 2, 4608, 28000, 64, 1536, 4), variants=INFERENCE),
    "wave_equation_4": Listed(other.wave_equation(4, 320, 65536, 8192)),
}

# Of advice_last.py.
LAST_TPU = {
    "rotary_decoder_8": Listed(last.rotary_decoder(8, 960, 15, 3, 2560, 32000, 8, 1024), True),
    "adapters_in_parts_14": Listed(last.adapters_in_parts(14, 1280, 10, 4480, 50260, 24, 6, 8, 640), True),
    "sentence_classifier_6": Listed(last.sentence_classifier(6, 576, 9, 2304, 31000, 20, 64, 208), True),
    "few_latents_4": Listed(last.few_latents(4, 5, 320, 640, 8, 88, 1000, 16, 9216), True),
    "token_shift_10": Listed(last.token_shift(10, 768, 2688, 24000, 12, 448), True),
    # Many short waves: of 4 long ones (half of 8) libtpu fails a check of its own in space_to_batch_converter.cc.
    "dilated_waves_18": Listed(last.dilated_waves(3, 6, 112, 240, 256, 72, 48, 2048), True),
    "spoken_frames_7": Listed(last.spoken_frames(7, 544, 8, 72, 80, 4400, 64, 32, 1440), True),
}
LAST_GPU = {
    "rotary_decoder_6": Listed(last.rotary_decoder(6, 1152, 18, 6, 3072, 26000, 12, 896), True),
    "adapters_in_parts_10": Listed(last.adapters_in_parts(10, 1536, 12, 5376, 36000, 40, 4, 12, 768), True),
    "spoken_frames_5": Listed(last.spoken_frames(5, 704, 11, 56, 64, 3600, 48, 48, 1600), True),
}
