"""The families of advice_verdict_*.py: of each kind that advice was known to misread, two at least.

By two authors more who had seen neither the rules nor any figure of the advice (the first wrote pictures, sequences and
tables). Judged once before any rule was changed with them in view: docs/advice.md.
"""
import advice_verdict_decoders as decoders
import advice_verdict_pictures as pictures
import advice_verdict_scenes as scenes
import advice_verdict_sequences as sequences
import advice_verdict_serving as serving
import advice_verdict_tables as tables
from advice_unseen_families import FOLLOWED, INFERENCE, KEPT, LONG, USUAL, Listed, for_a_gpu

FOR_BOTH = "donate_inputs+rematerialize"
ONE_GRAPH = tuple(one for one in FOLLOWED if one != "halve_batch")
ROWS = (1240000, 683000, 412000, 305000, 201000, 142572, 93145, 72655, 41200, 26890, 14992, 12335, 9700, 5652, 3200,
        2173, 1460, 1040, 633, 584, 305, 105, 58, 27, 24, 18, 10, 4)

TPU = {
    "merged_branches_2_4_14_1": Listed(pictures.merged_branches(
        (2, 4, 14, 1), (96, 192, 384, 1408), 64, 224, 256), False, (
            *USUAL, FOR_BOTH, "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "separable_pictures_8": Listed(pictures.separable_pictures(
        (128, 256, 728), 8, (1024, 1536, 2048), 299, 112), False, (
            *USUAL, FOR_BOTH, "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "boxes_on_levels_5": Listed(pictures.boxes_on_levels(
        (64, 80, 96, 112), (128, 256, 384, 512), 5, 128, 640, 24), False, (
            *USUAL, "micro_batch", FOR_BOTH, "donate_inputs+halve_batch")),
    "talking_heads_24": Listed(pictures.talking_heads(24, 2, 384, 8, 16, 224, 48), False, (
        *USUAL, "micro_batch", "rematerialize_dots", "donate_inputs+halve_batch")),
    "masked_clicks_28": Listed(tables.masked_clicks(ROWS, 96, 13, 4, 512, 256, (512, 256), 6144), False, (
        *FOLLOWED, "micro_batch", "bf16_temporaries", "donate_inputs+halve_batch")),
    "parts_of_words_300": Listed(tables.parts_of_words(400000, 1500000, 300, 20, 5, 32768), False, (
        *USUAL, "micro_batch", FOR_BOTH, "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "shown_labels_3": Listed(tables.shown_labels(3, 169344, 1166244, 128, 8, 2, 64, 40), False, (
        *ONE_GRAPH, "bf16_temporaries", FOR_BOTH)),
    "angled_molecules_4": Listed(tables.angled_molecules(4, 128, 64, 256, 6, 7, 95, 18, 280, 2400, 192), False, (
        *FOLLOWED, "bf16_temporaries", FOR_BOTH)),
    "mogrified_words_2": Listed(sequences.mogrified_words(2, 1024, 5, 96, 33278, 128, 120), False, (
        *FOLLOWED, "halve_sequence", "micro_batch", "bf16_temporaries")),
    "chatty_answers_2_12": Listed(sequences.chatty_answers({
        "encoder_layers": 2, "decoder_layers": 12, "d_model": 1280, "encoder_attention_heads": 32,
        "decoder_attention_heads": 32, "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "vocab_size": 8008,
        "max_position_embeddings": 128}, 48, 128, 128), False, (
            *LONG, FOR_BOTH, "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "followed_relations_12_6": Listed(sequences.followed_relations(
        (12, 768, 12), (6, 384, 12), 48, 30522, 32, 256), False, (
            *FOLLOWED, "halve_sequence", "bf16_temporaries", FOR_BOTH)),
    "tracks_of_bases_11": Listed(sequences.tracks_of_bases(
        (288, 339, 399, 470, 554, 652, 768), 384, (1, 2, 2, 3, 5, 8, 11, 17, 26, 38, 58), 64, 1536, 5313, 4, 131072),
        False, (*FOLLOWED, "halve_sequence", "bf16_temporaries", FOR_BOTH)),
    "kept_once_24": Listed(serving.kept_once(24, 2048, 16, 8, 5632, 32000, 1024, 24, 8192), False, (
        *INFERENCE, "halve_sequence", "int8_weights", "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "nibble_drafts_28": Listed(serving.nibble_drafts(28, 1024, 16, 8, 128, 3072, 151936, 4, 16, 4096), False, (
        *INFERENCE[1:], "halve_sequence", "int8_weights", "bf16_parameters+halve_batch",
        "halve_batch+halve_sequence"), True),
    "looped_depth_242": Listed(decoders.looped_depth(2, 4, 2, 6, 1024, 16, 4096, 50304, 8, 4, 512), False, (
        *LONG, "rematerialize_dots", FOR_BOTH, "donate_inputs+halve_batch")),
    "forgetting_lines_10": Listed(decoders.forgetting_lines(10, 1024, 16, 2816, 32000, 4, 1024), False, (
        *LONG, "micro_batch", "rematerialize_dots", FOR_BOTH)),
    "talking_heads_6": Listed(decoders.talking_heads(6, 768, 12, 3072, 32000, 4, 1536), False, (
        *FOLLOWED, "halve_sequence", "micro_batch", FOR_BOTH)),
    "full_blanks_18": Listed(decoders.full_blanks(18, 1024, 16, 2736, 50304, 8, 1024), False, (
        *KEPT, "halve_sequence", "micro_batch", "rematerialize_dots", "bf16_parameters+halve_batch"), True),
    "masks_as_noise_14": Listed(decoders.masks_as_noise(14, 1024, 16, 2816, 50368, 8, 512), False, (
        *LONG, "rematerialize_dots", FOR_BOTH, "bf16_parameters+halve_batch")),
    "teachers_tops_151936": Listed(decoders.teachers_tops(4, 896, 14, 2, 4864, 151936, 64, 4, 512), False, (
        *LONG, "micro_batch", "bf16_parameters+halve_batch")),
    "step_rewards_32": Listed(scenes.step_rewards(32, 960, 15, 5, 2560, 49152, 8, 32, 512), False, (
        *LONG, "rematerialize_dots", FOR_BOTH, "donate_inputs+halve_batch")),
    "chosen_by_experts_12": Listed(scenes.chosen_by_experts(12, 768, 1536, 30522, 76, 512), False, (
        *FOLLOWED, "halve_sequence", "micro_batch", "bf16_parameters+halve_batch")),
    "turned_bytes_28": Listed(scenes.turned_bytes(28, 1536, 12, 2, 8960, 151936, 32, 4, 256), False, (
        *LONG, "rematerialize_dots", FOR_BOTH, "donate_inputs+halve_batch")),
    "pictured_prefix_12_8": Listed(scenes.pictured_prefix(
        (12, 768, 12), (8, 1536), 8, 256, 6144, 64000, 224, 16, 16, 64), False, (
            *FOLLOWED, "rematerialize_dots", FOR_BOTH, "donate_inputs+halve_batch")),
}

SLOW = "chatty_answers_2_12"  # two minutes a module
GPU = {name: for_a_gpu(listed) for name, listed in TPU.items() if name != SLOW}
