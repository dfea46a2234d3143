"""The families of advice_aside_*.py: of a dozen of the kinds that advice was known to misread, one each.

By two authors more who had seen neither the rules nor any figure of the advice (the first wrote sounds, tables and
views). Kept aside and judged last; no longer, as rules were changed with them in view since: docs/advice.md.
"""
import advice_aside_serving as serving
import advice_aside_sounds as sounds
import advice_aside_tables as tables
import advice_aside_tasks as tasks
import advice_aside_views as views
import advice_aside_words as words
from advice_unseen_families import FOLLOWED, INFERENCE, LONG, USUAL, Listed, for_a_gpu

FOR_BOTH, HALF = "donate_inputs+rematerialize", "donate_inputs+halve_batch"
ROWS = (2200000, 1300000, 720000, 410000, 286000, 150000, 93000, 61000, 38500, 20400, 12800, 10200, 7424, 5600, 3100,
        1980, 1480, 980, 633, 304, 148, 104, 62, 26, 18, 12)

TPU = {
    "transduced_speech_6": Listed(sounds.transduced_speech(6, 1024, 240, 640, 1024, 32, 256, 48), False, (
        *FOLLOWED, "halve_sequence", "micro_batch")),
    "clip_tags_2048": Listed(sounds.clip_tags((64, 128, 256, 512, 1024, 2048), 64, 1000, 2048, 527, 384), False, (
        *USUAL, FOR_BOTH, HALF, "bf16_parameters+halve_batch")),
    "stacked_products_26": Listed(tables.stacked_products(ROWS, 96, 4, 13, 5, 24, 24, 24, 2048, 8192), False, (
        *FOLLOWED, "micro_batch", HALF)),
    "gated_roads_10": Listed(tables.gated_roads(10, 72, 64000, 400000, 2, 6, 14), False, (
        *(one for one in FOLLOWED if one != "halve_batch"), "bf16_temporaries", FOR_BOTH)),
    "foreseen_parts_12_6": Listed(views.foreseen_parts((12, 768, 12), (6, 384, 12), 224, 16, 96, 4, 32, 48), False, (
        *USUAL, "micro_batch", "rematerialize_dots", HALF)),
    "distilled_reader_3_6": Listed(views.distilled_reader(
        {"n_layers": 3, "dim": 768, "n_heads": 12, "hidden_dim": 3072, "vocab_size": 30522},
        {"num_hidden_layers": 6, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
         "vocab_size": 30522}, 2.0, 48, 256), False, (*LONG, FOR_BOTH, HALF)),
    "heavy_hitters_12": Listed(serving.heavy_hitters(12, 2048, 16, 8192, 50260, 2048, 128, 48, 512), False, (
        *INFERENCE, "halve_sequence", "int8_weights", "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "aged_bytes_18": Listed(serving.aged_bytes(18, 2048, 8, 4, 8192, 131072, 32, 20, 4096), False, (
        *INFERENCE[1:], "halve_sequence", "int8_weights", "bf16_parameters+halve_batch",
        "halve_batch+halve_sequence"), True),
    "skipped_layers_6": Listed(words.skipped_layers(6, 1280, 20, 5120, 32768, 8, 8, 4, 1024), False, (
        *LONG, "rematerialize_dots", FOR_BOTH)),
    "rows_before_10": Listed(words.rows_before(10, 1024, 8, 3072, 204, 8, 768), False, (
        *LONG, "bf16_parameters.follow", FOR_BOTH)),
    "three_vectors_24": Listed(tasks.three_vectors(24, 1024, 16, 2816, 32128, 4, 4, 512, 32), False, (
        *LONG, "rematerialize_dots", FOR_BOTH)),
    "many_softmaxes_15": Listed(tasks.many_softmaxes(3, 300, 1150, 650, 33278, 15, 40, 70), False, (
        *FOLLOWED, "halve_sequence", "bf16_temporaries")),
}

GPU = {name: for_a_gpu(listed) for name, listed in TPU.items()}
