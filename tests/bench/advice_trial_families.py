"""The families of advice_trial_*.py: of each kind that advice was known to misread, two at least.

In sizes that published models have or that people pick, by two authors who had seen neither the rules nor any figure of
the advice (the first wrote decoders, serving and words). Judged once before any rule was changed with them in view:
docs/advice.md.
"""
import advice_trial_decoders as decoders
import advice_trial_scenes as scenes
import advice_trial_sequences as sequences
import advice_trial_serving as serving
import advice_trial_tables as tables
import advice_trial_views as views
import advice_trial_words as words
from advice_unseen_families import FOLLOWED, INFERENCE, KEPT, LONG, USUAL, Listed, for_a_gpu

FOR_BOTH = "donate_inputs+rematerialize"
ROWS = (1000000, 800000, 520000, 330000, 210000, 140000, 93144, 61000, 40790, 28000, 12516, 10000, 5652, 3194, 2172,
        1458, 632, 583, 305, 104, 27, 24, 18, 15, 10, 4)

TPU = {
    "ringed_and_whole_12": Listed(serving.ringed_and_whole(
        12, 2304, 8, 4, 256, 9216, 256000, 8, 8192, 4096), False, (
            *INFERENCE, "halve_sequence", "donate_inputs+halve_batch", "bf16_parameters+halve_batch",
            "donate_inputs+halve_sequence")),
    "judged_trees_28": Listed(serving.judged_trees(28, 1536, 12, 2, 8960, 151936, 24, 24, 8192), False, (
        *INFERENCE[1:], "halve_sequence", "int8_weights", "bf16_parameters+halve_batch",
        "halve_batch+halve_sequence"), True),
    "later_norms_12": Listed(decoders.later_norms(12, 1024, 16, 2816, 50280, 4, 4, 1024), False, (
        *LONG, "rematerialize_dots", FOR_BOTH, "donate_inputs+halve_batch")),
    "hashed_sixteens_16": Listed(decoders.hashed_sixteens(512, 1024, 32000, 384), False, (
        *LONG, "micro_batch", "donate_inputs+halve_batch")),
    "full_command_11": Listed(decoders.full_command(11, 1536, 24, 6, 4096, 64000, 12, 1024), False, (
        *KEPT, "halve_sequence", "micro_batch", "rematerialize_dots", "bf16_parameters+halve_batch"), True),
    "nnx_deep_28": Listed(decoders.nnx_deep(28, 768, 12, 1920, 73448, 4, 768), False, (
        *LONG, "micro_batch", "rematerialize_dots", FOR_BOTH)),
    "difference_of_maps_4": Listed(decoders.difference_of_maps(4, 1024, 8, 2816, 32000, 4, 2048), False, (
        *LONG, "micro_batch", "rematerialize_dots")),
    "private_examples_6": Listed(words.private_examples(6, 768, 12, 50257, 8, 64, 256), False, (
        *LONG, "bf16_parameters.follow", "donate_inputs+halve_batch", FOR_BOTH)),
    "four_bit_llama_26": Listed(words.four_bit_llama(26, 3200, 32, 8640, 32000, 16, 4, 384), False, (
        *LONG, "rematerialize_dots", FOR_BOTH)),
    "short_convolutions_250880": Listed(words.short_convolutions(
        "ccaccaca", 512, 8, 2, 1536, 250880, 8, 384), False, (
            *LONG, "micro_batch", "bf16_parameters+halve_batch")),
    "fused_passages_8": Listed(words.fused_passages(8, 768, 12, 2048, 32128, 8, 8, 224, 32), False, (
        *LONG, "micro_batch", FOR_BOTH, "donate_inputs+halve_batch")),
    "steepest_direction_12": Listed(words.steepest_direction(12, 768, 12, 50257, 8, 384), False, (
        *USUAL, "halve_sequence", "bf16_parameters.follow", "bf16_parameters+halve_batch")),
    "light_letters_8": Listed(sequences.light_letters(8, 1024, 27, 64, 256), False, (
        *FOLLOWED, "halve_sequence", "micro_batch", "bf16_temporaries")),
    "dilated_sessions_96": Listed(sequences.dilated_sessions(1200000, 96, (1, 2, 4, 8, 1, 2, 4, 8), 256, 100, 16),
                                  False, (*LONG, "micro_batch", "donate_inputs+halve_batch")),
    "voices_apart_3": Listed(sequences.voices_apart(3, (1, 2, 4, 8, 16, 32, 64, 128), 512, 128, 512, 16000, 8), False, (
        *FOLLOWED, "halve_sequence", "micro_batch")),
    "translated_by_mbart_4": Listed(sequences.translated_by_mbart({
        "encoder_layers": 4, "decoder_layers": 4, "d_model": 768, "encoder_attention_heads": 12,
        "decoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_ffn_dim": 3072, "vocab_size": 250027,
        "max_position_embeddings": 512}, 16, 256, 64), False, (
            *LONG, "bf16_parameters.follow", "donate_inputs+rematerialize")),
    "compressed_crosses_26": Listed(tables.compressed_crosses(ROWS, 64, 13, (100, 100), (400, 400), 2048), False, (
        *FOLLOWED, "micro_batch", "bf16_temporaries")),
    "payments_4": Listed(tables.payments(4, 203768, 468712, 166, 24, 4, 32), False, (
        *(one for one in FOLLOWED if one != "halve_batch"), "bf16_temporaries", "donate_inputs+rematerialize",
        "donate_inputs+bf16_temporaries")),
    "joined_meshes_15": Listed(tables.joined_meshes(15, 128, 1885, 10848, 8), False, (
        *FOLLOWED, "bf16_temporaries", "donate_inputs+rematerialize")),
    "normless_pictures_1263": Listed(scenes.normless_pictures((1, 2, 6, 3), (256, 512, 1536, 1536), 128, 192, 128),
                                     False, (*USUAL, "micro_batch", "donate_inputs+rematerialize",
                                            "donate_inputs+halve_batch")),
    "larger_pictures_24": Listed(scenes.larger_pictures(24, 256, 48, 2, 128), False, (
        *FOLLOWED, "micro_batch", "bf16_temporaries")),
    "nested_parts_5": Listed(scenes.nested_parts((32, 64, 128, 256, 512), 192, 4, 4, 16), False, (
        *FOLLOWED, "micro_batch", "bf16_temporaries", "donate_inputs+halve_batch")),
    "crossed_channels_12": Listed(views.crossed_channels(12, 384, 8, 8, 224, 32), False, (
        *USUAL, "rematerialize_dots", "micro_batch", "bf16_parameters+halve_batch")),
    "locked_pictures_24": Listed(views.locked_pictures((24, 1024, 16), (12, 768, 12), 16, 224, 32000, 64, 192), False, (
        *LONG, "rematerialize_dots", "donate_inputs+rematerialize")),
}

# The others had not been compiled for one when the set was judged.
FOR_GPUS = ("compressed_crosses_26", "difference_of_maps_4", "dilated_sessions_96", "four_bit_llama_26",
            "full_command_11", "fused_passages_8", "hashed_sixteens_16", "joined_meshes_15", "judged_trees_28",
            "later_norms_12", "light_letters_8", "nnx_deep_28", "payments_4", "private_examples_6",
            "ringed_and_whole_12", "short_convolutions_250880", "steepest_direction_12", "translated_by_mbart_4",
            "voices_apart_3")
GPU = {name: for_a_gpu(TPU[name]) for name in FOR_GPUS}
