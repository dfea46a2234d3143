"""The families of advice_typical.py and its neighbours: the kinds of advice_kinds_families.py, as they are met most.

In sizes as published models have them, by two more authors who had seen neither the rules nor any figure of the advice,
judged once after rules were changed for the programs of advice_kinds_families.py: docs/advice.md.
"""
import advice_typical as typical
import advice_typical_decoders as decoders
import advice_typical_scenes as scenes
import advice_typical_tables as tables
import advice_typical_words as words
from advice_unseen_families import FOLLOWED, INFERENCE, LONG, USUAL, Listed

SERVED = (*INFERENCE, "halve_sequence")
READ = SERVED[1:]
MBCONV = ((1, 16, 1, 3, 1), (2, 24, 6, 3, 2), (2, 40, 6, 5, 2), (3, 80, 6, 3, 2), (3, 112, 6, 5, 1),
          (4, 192, 6, 5, 2), (1, 320, 6, 3, 1))
TPU = {
    "ring_caches_16": Listed(typical.ring_caches(16, 2048, 16, 4, 7168, 32000, 32, 2048), variants=SERVED),
    "fori_caches_24": Listed(typical.fori_caches(24, 1024, 16, 4096, 50304, 16, 1024), variants=SERVED),
    "microstep_modules_6": Listed(typical.microstep_modules(6, 12, 768, 3072, 50304, 8, 8, 512), variants=LONG),
    "multi_steps_8": Listed(typical.multi_steps(8, 896, 14, 3584, 30720, 16, 512), variants=FOLLOWED),
    "looked_back_1024": Listed(scenes.looked_back(32000, 512, 1024, 128, 64, 64), variants=(
        *FOLLOWED, "halve_sequence")),
    "hawk_texts_4": Listed(scenes.hawk_texts(4, 1536, 2048, 4608, 32768, 4, 1024), variants=(
        *FOLLOWED, "halve_sequence")),
    "even_experts_8": Listed(typical.even_experts(4, 8, 1024, 2816, 32000, 1024), variants=(
        *LONG, "micro_batch")),
    "dozen_768": Listed(typical.dozen(12, 768, 50304, 512), variants=(*LONG, "rematerialize_dots")),
    "efficient_pictures_224": Listed(scenes.efficient_pictures(MBCONV, 32, 1280, 224, 64), variants=FOLLOWED),
    "segmented_pictures_256": Listed(scenes.segmented_pictures((1, 2, 3, 2), (64, 128, 256, 512), 256, 16), variants=(
        *USUAL, "micro_batch")),
    "learnt_prefixes_24": Listed(scenes.learnt_prefixes(24, 1024, 16, 50304, 32, 512, 4, 512), variants=FOLLOWED),
    "lora_everywhere_16": Listed(scenes.lora_everywhere(16, 2048, 32, 8, 8192, 65536, 16, 4, 512), variants=(
        *LONG, "rematerialize_dots")),
    "brimming_modules_8": Listed(typical.brimming_modules(8, 1536, 16, 4096, 50304, 8, 512), variants=(
        *LONG, "micro_batch")),
    "brimming_scan_20": Listed(typical.brimming_scan(20, 1152, 18, 4608, 50304, 4, 512), variants=LONG),
    "crossed_clicks_10": Listed(tables.crossed_clicks((
        1000000, 800000, 500000, 250000, 100000, 40000, 10000, 2000, 500, 100), 64, 4, 13, 3, 256, (1024, 512, 256),
        16384), variants=(*FOLLOWED, "micro_batch")),
    "self_attentive_items_2": Listed(tables.self_attentive_items(2000000, 128, 2, 2, 256, 200, 4), variants=(
        *FOLLOWED, "halve_sequence")),
    "neural_translation_6": Listed(words.neural_translation(6, 1024, 16, 4096, 32768, 32, 256, 256), variants=LONG),
    "banded_single_key_8": Listed(words.banded_single_key(8, 1536, 12, 6144, 32000, 4, 1024, 256), variants=(
        *LONG, "micro_batch", "rematerialize_dots")),
    "parallel_pythia_8": Listed(words.parallel_pythia(8, 1280, 20, 50304, 8, 512), variants=(
        *LONG, "micro_batch", "rematerialize_dots")),
    "equinox_lm_6": Listed(words.equinox_lm(6, 1024, 16, 32000, 4, 1024), variants=(*FOLLOWED, "halve_sequence")),
    "gatv2_nodes_3": Listed(tables.gatv2_nodes(3, 89252, 480000, 500, 4, 64, 7), variants=tuple(
        one for one in FOLLOWED if one != "halve_batch")),
    "graph_networks_5": Listed(tables.graph_networks(5, 256, 26, 56, 120, 16, 128, 2048), variants=FOLLOWED),
    "flax_bert_6": Listed(words.bert_pretraining({
        "num_hidden_layers": 6, "hidden_size": 1024, "num_attention_heads": 16, "intermediate_size": 4096}, 12, 512,
        76), variants=FOLLOWED),
    "flax_pegasus_3": Listed(words.pegasus_summaries({
        "encoder_layers": 3, "decoder_layers": 3, "d_model": 1024, "encoder_attention_heads": 16,
        "decoder_attention_heads": 16, "encoder_ffn_dim": 4096, "decoder_ffn_dim": 4096, "vocab_size": 96103,
        "max_position_embeddings": 512}, 12, 512, 128), variants=LONG),
    "maxtext_like_4": Listed(decoders.maxtext_like(4, 2048, 16, 8, 128, 5632, 32000, 4, 1024), variants=(
        *LONG, "rematerialize_dots")),
    "haiku_gpt_6": Listed(decoders.haiku_gpt(6, 1600, 25, 50304, 4, 1024), variants=(*LONG, "micro_batch")),
    "gemma_like_prefill_18": Listed(decoders.gemma_like_prefill(18, 1152, 4, 256, 6912, 65536, 8, 2048), variants=READ),
    "qwen_like_prefill_24": Listed(decoders.qwen_like_prefill(24, 896, 14, 2, 4864, 65536, 16, 2048), variants=READ),
}
