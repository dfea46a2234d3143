"""The families of advice_panel_*.py, of the kinds that the advice is judged by (docs/advice.md), two or three of each.

Written by four authors who had seen neither the rules nor any figure of the advice; the changes are all that make sense
for a program, not a choice of them. Two thirds of the families were judged first, and rules were changed with those in
view; then the last third, of each author the second, fifth and eighth, put aside before, was judged once. It is kept
aside no longer.
"""
import advice_panel_adapters as adapters
import advice_panel_full as full
import advice_panel_libraries as libraries
import advice_panel_models as models
import advice_panel_modules as modules
import advice_panel_numbers as numbers
import advice_panel_pictures as pictures
import advice_panel_serving as serving
import advice_panel_steps as steps
import advice_panel_tables as tables
import advice_panel_time_graphs as time_graphs
import advice_panel_towers as towers
from advice_jury_families import (ALWAYS, CUT, DONATED, FLOAT32, IN_BYTES, MOLECULES, NARROW, NO_LENGTH, ONE_GRAPH,
                                  STAGES, TRAINED)
from advice_unseen_families import Listed, for_a_gpu

SERVED = DONATED + CUT
BYTES = ("int8_weights",)
EFFICIENT = ((True, 1, 24, 1, 1), (True, 4, 48, 3, 2), (True, 4, 72, 3, 2), (False, 4, 136, 4, 2),
             (False, 6, 176, 5, 1), (False, 6, 288, 7, 2))

TPU = {
    # Served, frozen weights, tables.
    "panel_qwen2_decode_1536_28": Listed(
        serving.qwen2_decode(28, 1536, 12, 2, 8960, 151936, 20, 6144), False, SERVED + BYTES),
    "panel_olmo2_decode_2048_16": Listed(
        serving.olmo2_decode(16, 2048, 16, 8192, 100352, 8, 3072), False, SERVED + NARROW + BYTES),
    "panel_llama_prefill_2048_16": Listed(
        serving.llama_prefill(16, 2048, 32, 8, 8192, 128256, 8, 8192, 1024, 128), False, SERVED + NARROW),
    "panel_gemma2_verify_2304_26": Listed(
        serving.gemma2_verify(13, 2304, 8, 4, 256, 9216, 256000, 4096, 128, 4, 8, 8192), False, IN_BYTES, True),
    "panel_phi_lora_2560_32": Listed(adapters.phi_lora(32, 2560, 32, 10240, 51200, 16, 4, 384), False, TRAINED),
    "panel_xlmr_adapters_1024_24": Listed(
        adapters.xlmr_adapters(24, 1024, 16, 4096, 250002, 514, 64, 3, 20, 192), False, TRAINED + FLOAT32),
    "panel_dcn_criteo_32": Listed(
        tables.deep_and_cross(tables.CRITEO, 32, 13, 3, 64, (1024, 512, 256), 16384), False, NO_LENGTH + FLOAT32),
    "panel_sasrec_3700000_128": Listed(tables.next_items(3700000, 128, 4, 3, 256, 256, 200), False, TRAINED),
    # Language models that are trained.
    "panel_accumulated_smol_30": Listed(
        steps.accumulated_smol(30, 576, 9, 3, 1536, 49152, 8, 4, 768), False, TRAINED),
    "panel_accumulated_pythia_12": Listed(
        steps.accumulated_pythia(12, 768, 12, 50304, 4, 4, 640), False, TRAINED + FLOAT32),
    "panel_equal_experts_8": Listed(numbers.mixed_experts(8, 768, 8, 1536, 8, 32000, 8, 512), False, TRAINED),
    "panel_equal_retention_8": Listed(
        numbers.retention_network(8, 1024, 16, 2048, 32768, 16, 8, 1024), False, TRAINED),
    "panel_full_qwen_24": Listed(full.tuned_qwen(24, 896, 14, 2, 4864, 151936, 4, 512), False, ALWAYS, True),
    "panel_full_bert_22": Listed(full.masked_bert(22, 768, 12, 1152, 50368, 128, 16, 512), False, TRAINED + FLOAT32),
    "panel_wide_logits_6": Listed(full.wide_logits(6, 768, 12, 50257, 8, 1024), False, TRAINED),
    "panel_joined_towers_12": Listed(
        numbers.joined_towers(12, (960, 2560), (640, 1536), 15, 5, 64, 49152, 1152, 256, 8, 384), False, TRAINED),
    # Pictures, time, graphs.
    "panel_resnext_3473": Listed(pictures.resnext((3, 4, 7, 3), 64, 128, 32, 4, 208, 1000, 112), False, STAGES),
    "panel_retinanet_3463": Listed(
        pictures.retinanet((3, 4, 6, 3), 64, 256, 4, 9, 80, 512, 640, 8), False, STAGES + FLOAT32),
    "panel_efficientnet_v2_23": Listed(
        modules.trained_efficientnet(EFFICIENT, 24, 1280, 1000, 240, 160), False, STAGES),
    "panel_word_lstm_1280": Listed(time_graphs.word_lstm(4, 1280, 40000, 64, 128), False, TRAINED + FLOAT32),
    "panel_deep_speech_5": Listed(time_graphs.deep_speech(5, 1024, 161, 32, 1024, 1200, 120, 48), False, TRAINED),
    "panel_citations_gat_3": Listed(
        time_graphs.citations_gat(3, 3, 64, 128, 40, 120000, 800000), False, ONE_GRAPH + FLOAT32),
    "panel_molecules_gn_24": Listed(time_graphs.molecules_gn(24, 256, 640, 1024, 16, 36), False, MOLECULES),
    "panel_dit_12": Listed(modules.trained_dit(12, 768, 12, 4, 2, 32, 4, 1000, 32), False, NO_LENGTH + FLOAT32),
    # Models of libraries, near the capacity, of mixed precision, beside a frozen one.
    "panel_whisper_4": Listed(libraries.whisper_tuning(4, 384, 6, 51864, 1500, 32, 112), False, TRAINED),
    "panel_opt_24": Listed(libraries.opt_decoding(24, 2048, 32, 8192, 50272, 12, 1536), False, SERVED + NARROW),
    "panel_nfnet_1263": Listed(libraries.normalizer_free(
        (1, 2, 6, 3), (256, 512, 1536, 1536), (16, 32, 64, 128), 128, 1000, 192, 96), False, STAGES),
    "panel_proteins_30": Listed(libraries.protein_masking(30, 640, 2560, 20, 33, 8, 448), False, TRAINED),
    "panel_scanned_llama_32": Listed(
        models.small_llama(32, 960, 15, 5, 2560, 49152, 4, 608), False, ALWAYS, True),
    "panel_phi_26": Listed(
        models.phi_decoding(26, 2304, 24, 9216, 51200, 32, 4, 1536), False, SERVED + NARROW + BYTES),
    "panel_conformer_17": Listed(
        models.conformer_ctc(17, 512, 8, 2048, 31, 80, 1024, 12, 1440, 80), False, TRAINED + FLOAT32),
    "panel_locked_image_12": Listed(
        towers.locked_image((24, 1024, 16), (12, 768, 12), 14, 224, 32000, 192, 64), False, TRAINED),
}

# Of the parts of one program's weights XLA:GPU writes no module.
GPU = {name: for_a_gpu(listed, ("shard_parameters",) if name == "panel_nfnet_1263" else ())
       for name, listed in TPU.items()}
