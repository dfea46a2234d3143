"""The families of advice_kinds.py and its neighbours: of each kind that the advice once misread, two or more.

Steps that decode, gradients summed over parts, loops over time, equal numbers, residual networks of unequal stages,
adapters, programs near the capacity; tables, attention as it is written elsewhere, mixed precision, graphs, models of
libraries, decoders, prompts. Written by two who had seen neither the rules nor any figure of the advice, and judged
once before any rule was changed with them in view: docs/advice.md has what was said at first sight.
"""
import advice_kinds as kinds
import advice_kinds_attention as attention
import advice_kinds_decoders as decoders
import advice_kinds_graphs as graphs
import advice_kinds_libraries as libraries
import advice_kinds_precision as precision
import advice_kinds_prefill as prefill
import advice_kinds_scenes as scenes
import advice_kinds_tables as tables
from advice_unseen_families import FOLLOWED, INFERENCE, LONG, USUAL, Listed

SERVED = (*INFERENCE, "halve_sequence")
TPU = {
    "cached_lists_9": Listed(kinds.cached_lists(9, 1664, 16, 4, 4480, 37888, 40, 1472), variants=SERVED),
    "scanned_caches_13": Listed(kinds.scanned_caches(13, 1248, 12, 4992, 29600, 28, 1120), variants=SERVED),
    "summed_in_scans_7": Listed(kinds.summed_in_scans(7, 944, 8, 2584, 33600, 6, 12, 416), variants=LONG),
    "summed_haiku_5": Listed(kinds.summed_haiku(5, 840, 15, 4, 26400, 10, 16, 304)),
    "cells_over_time_2": Listed(scenes.cells_over_time(1040, 9200, 2, 176, 144), variants=(
        *FOLLOWED, "halve_sequence")),
    "receptance_6": Listed(scenes.receptance(6, 992, 18800, 8, 432), variants=(*FOLLOWED, "halve_sequence")),
    "same_numbers_12": Listed(kinds.same_numbers(5, 12, 912, 1720, 31200, 448), variants=(
        *LONG, "rematerialize_dots")),
    "same_everywhere_16": Listed(kinds.same_everywhere(16, 56, 2376, 27200, 272), variants=LONG),
    "smoothed_pictures_3252": Listed(scenes.smoothed_pictures((3, 2, 5, 2), 72, 208, 104), variants=FOLLOWED),
    "averaged_pictures_2362": Listed(scenes.averaged_pictures((2, 3, 6, 2), (88, 176, 352, 704), 192, 52),
                                     variants=FOLLOWED),
    "thin_and_frozen_14": Listed(kinds.thin_and_frozen(14, 2304, 24, 6080, 32400, 8, 4, 640), variants=(
        *LONG, "rematerialize_dots")),
    "narrow_adapters_10": Listed(scenes.narrow_adapters(10, 832, 13, 2912, 30520, 232, 48, 36), variants=FOLLOWED),
    "nearly_full_18": Listed(kinds.nearly_full(18, 1216, 16, 4864, 49664, 8, 752), variants=(
        *USUAL, "micro_batch", "rematerialize_dots")),
    "nearly_full_scan_12": Listed(kinds.nearly_full(12, 1088, 16, 4352, 40448, 8, 704, True), variants=(
        *LONG, "micro_batch", "rematerialize_dots")),
    "ranked_visits_8": Listed(tables.ranked_visits((
        1340000, 612000, 236000, 84400, 21600, 5240, 908, 156), 88, 14, (464, 232), (936, 472, 116), 18432), variants=(
        *FOLLOWED, "micro_batch")),
    "asked_and_sold_4": Listed(tables.asked_and_sold(1180000, 226000, 764000, 3320, 84, 12, 36, 616, 104, 6176),
                               variants=FOLLOWED),
    "turned_halves_9": Listed(attention.turned_halves(9, 1392, 12, 4, 3712, 37888, 4, 1104), variants=(
        *USUAL, "halve_sequence")),
    "seen_before_10": Listed(attention.seen_before(10, 1176, 8, 3040, 3, 212, 856, 30720, 12, 396), variants=(
        *USUAL, "rematerialize_dots")),
    "wide_scores_7": Listed(precision.wide_scores(7, 1072, 16, 4224, 51200, 8, 760), variants=(*USUAL, "micro_batch")),
    "narrow_products_6": Listed(precision.narrow_products(6, 884, 13, 3280, 29500, 8, 712), variants=(
        *FOLLOWED, "halve_sequence")),
    "gated_stack_9": Listed(decoders.gated_stack(9, 1472, 16, 4, 3904, 25600, 8, 472), variants=(
        *USUAL, "halve_sequence", "rematerialize_dots")),
    "tied_lines_8": Listed(decoders.tied_lines(8, 912, 12, 50432, 8, 776), variants=(
        *USUAL, "micro_batch", "rematerialize_dots")),
    "cited_papers_3": Listed(graphs.cited_papers(3, 152000, 616000, 148, 232, 44), variants=tuple(
        one for one in FOLLOWED if one != "halve_batch")),
    "joined_crystals_5": Listed(graphs.joined_crystals(5, 184, 52, 94, 34, 428, 344), variants=FOLLOWED),
    "flax_bloom_14": Listed(libraries.many_languages({
        "n_layer": 14, "hidden_size": 1216, "n_head": 16, "vocab_size": 110800}, 4, 868)),
    "flax_vit_8": Listed(libraries.pictures_in_classes({
        "num_hidden_layers": 8, "hidden_size": 636, "num_attention_heads": 12, "intermediate_size": 2480,
        "image_size": 304, "patch_size": 16}, 84, 1012), variants=FOLLOWED),
    "read_prompt_16": Listed(prefill.read_prompt(16, 1696, 16, 4, 4736, 46080, 8, 1856), variants=(
        *INFERENCE[1:], "halve_sequence", "int8_weights")),
    "filled_caches_18": Listed(prefill.filled_caches(18, 1700, 25, 6384, 50272, 12, 968, 2136), variants=INFERENCE),
}
GPU = {
    "cached_lists_14": Listed(kinds.cached_lists(14, 2816, 32, 8, 7552, 44800, 48, 2624), variants=SERVED),
    "summed_in_scans_10": Listed(kinds.summed_in_scans(10, 1376, 16, 3784, 41600, 6, 20, 624), variants=LONG),
    "cells_over_time_3": Listed(scenes.cells_over_time(1456, 15200, 3, 320, 208), variants=FOLLOWED),
    "same_numbers_16": Listed(kinds.same_numbers(6, 16, 1232, 2600, 38400, 608), variants=LONG),
    "averaged_pictures_3392": Listed(scenes.averaged_pictures((3, 3, 9, 2), (104, 208, 416, 832), 224, 120),
                                     variants=FOLLOWED),
    "nearly_full_scan_14": Listed(kinds.nearly_full(14, 1536, 24, 6144, 46720, 8, 832, True), variants=(
        *LONG, "micro_batch")),
    "ranked_visits_9": Listed(tables.ranked_visits((
        4120000, 1860000, 744000, 318000, 92800, 21200, 4700, 716, 84), 136, 18, (712, 356), (1416, 708, 188), 45056),
        variants=(*FOLLOWED, "micro_batch")),
    "turned_halves_11": Listed(attention.turned_halves(11, 2016, 24, 8, 5248, 62000, 4, 1240), variants=(
        *USUAL, "halve_sequence")),
    "wide_scores_10": Listed(precision.wide_scores(10, 1744, 16, 6720, 56320, 12, 776), variants=(
        *USUAL, "micro_batch")),
    "joined_crystals_6": Listed(graphs.joined_crystals(6, 296, 68, 98, 42, 556, 776), variants=FOLLOWED),
    "gated_stack_12": Listed(decoders.gated_stack(12, 2208, 24, 8, 5896, 40400, 8, 744), variants=(
        *USUAL, "halve_sequence", "rematerialize_dots")),
    "filled_caches_26": Listed(prefill.filled_caches(26, 2632, 28, 10624, 65200, 12, 1648, 2900), variants=INFERENCE),
}
