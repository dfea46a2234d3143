"""The families of advice_board_*.py, of the kinds that the advice is judged by (docs/advice.md).

Written by three authors more who had seen neither the rules nor any figure of the advice; the changes are all that make
sense for a program, not a choice of them. Judged once, for a GPU and for a TPU, before rules were made with them
in view; kept aside no longer.
"""
import advice_board_bloom as bloom
import advice_board_control as control
import advice_board_decoders as decoders
import advice_board_decoding as decoding
import advice_board_distilled as distilled
import advice_board_encoders as encoders
import advice_board_experts as experts
import advice_board_graphs as graphs
import advice_board_items as items
import advice_board_masked as masked
import advice_board_parts as parts
import advice_board_pictures as pictures
import advice_board_prompts as prompts
import advice_board_time as over_time
import advice_board_translation as translation
import advice_board_tuning as tuning
from advice_unseen_families import Listed, for_a_gpu

SHARED = "shard_parameters", "shard_all"
CUT = "halve_batch", "halve_sequence", *SHARED
STORED = "bf16_parameters", "bf16_parameters+halve_batch"
FLOAT32 = "bf16_parameters.follow", "bf16_temporaries"
BYTES = ("int8_weights",)
PARTS = ("micro_batch",)
SERVED = "donate_inputs", "donate_inputs+halve_batch"
DONATED = *SERVED, "donate_inputs+rematerialize"
DOTS, LONG = ("rematerialize_dots",), ("halve_sequence",)
PICTURES = *STORED, "halve_batch", "rematerialize", *SHARED
KEPT = *PICTURES, *DOTS, *LONG

TPU = {
    # Served, beside frozen weights, tables.
    "board_smollm3_decode_36": Listed(
        decoding.smollm3_decode(36, 2048, 16, 4, 128, 11008, 128256, 8, 4096), False, SERVED + CUT + BYTES),
    "board_stablelm_decode_24": Listed(
        decoding.stablelm_decode(24, 2048, 32, 5632, 100352, 8, 1536), False, STORED + CUT + BYTES, True),
    "board_qwen3_prefill_28": Listed(prompts.qwen3_prefill(
        28, 1024, 16, 8, 128, 3072, 151936, 4, 8192, 9216, 256), False, SERVED + CUT + BYTES),
    "board_mbart_beams_12": Listed(
        prompts.mbart_beams(12, 1024, 16, 4096, 250054, 32, 5, 512, 256), False, SERVED + STORED + CUT),
    "board_granite_lora_40": Listed(
        tuning.granite_lora(40, 2048, 32, 8, 8192, 49155, 16, 4, 192), False, DONATED + KEPT + PARTS),
    "board_bloom_dora_24": Listed(
        tuning.bloom_dora(24, 1024, 16, 250880, 16, 4, 384), False, DONATED + KEPT + PARTS + FLOAT32),
    "board_dlrm_kaggle_64": Listed(items.dlrm(
        items.KAGGLE, 2000000, 64, 13, (512, 256), (512, 256), 32768), False,
        DONATED + PICTURES + DOTS + PARTS + FLOAT32),
    "board_gru4rec_1855608": Listed(
        items.session_items(1855608, 128, 512, 2, 4096, 512, 64), False, KEPT + PARTS + FLOAT32, True),
    # Language models that are trained.
    "board_summed_gemma3_18": Listed(
        decoders.summed_gemma(18, 640, 4, 1, 256, 2048, 262144, 512, 4, 4, 512), False, DONATED + KEPT + PARTS),
    "board_neo_parts_12": Listed(
        parts.neo_in_parts(12, 768, 12, 50257, 2048, 256, 4, 16, 512), False, DONATED + KEPT + FLOAT32),
    "board_as_many_experts_12": Listed(
        experts.as_many_experts(12, 768, 384, 32000, 768), False, DONATED + KEPT + PARTS),
    "board_full_qwen3_28": Listed(
        decoders.full_qwen3(28, 1024, 16, 8, 128, 3072, 151936, 4, 320), False, KEPT + PARTS, True),
    "board_full_bert_12": Listed(encoders.pretrained_bert(
        12, 768, 12, 3072, 30522, 512, 20, 512, 76), False, DONATED + KEPT + PARTS + FLOAT32),
    "board_mixed_bloom_24": Listed(bloom.mixed_bloom(24, 1024, 16, 250880, 4, 256), False, KEPT + PARTS, True),
    "board_m2m100_12": Listed(
        translation.tuned_m2m100(12, 1024, 16, 4096, 128112, 16, 128, 128), False, DONATED + KEPT + PARTS),
    "board_distilled_gpt2_6": Listed(distilled.distilled_gpt2(
        6, 12, 768, 12, 50257, 1024, 8, 512), False, DONATED + KEPT + PARTS + FLOAT32),
    # Pictures, time, graphs, and others.
    "board_resnet_d_101": Listed(pictures.resnet_d((3, 4, 23, 3), 1000, 224, 96), False, DONATED + PICTURES + PARTS),
    "board_score_unet_64": Listed(pictures.score_unet(
        128, (1, 2, 2, 4), 2, (16, 8), 64, 48), False, PICTURES + DOTS + PARTS + FLOAT32, True),
    "board_mae_large_16": Listed(masked.masked_autoencoder(
        (24, 1024, 16), (8, 512, 16), 224, 16, 64), False, DONATED + PICTURES + DOTS + PARTS),
    "board_tied_lstm_1536": Listed(
        over_time.tied_lstm(3, 1536, 33280, 128, 96), False, DONATED + KEPT + PARTS + FLOAT32),
    "board_hubert_12": Listed(
        over_time.hubert(12, 768, 12, 3072, 512, 504, 256, 160000, 16), False, KEPT + PARTS, True),
    "board_gcn2_arxiv_12": Listed(graphs.gcn2(12, 256, 128, 40, 169344, 2501888), False, (
        "donate_inputs", "donate_inputs+rematerialize", "bf16_parameters", "rematerialize", *SHARED, *DOTS, *FLOAT32)),
    "board_schnet_forces_5": Listed(
        graphs.schnet_forces(5, 1024, 256, 200, 24, 80, 48), False, DONATED + PICTURES + DOTS + FLOAT32),
    "board_ppo_impala_64": Listed(control.ppo_frames(
        (32, 64, 64), 64, 256, 15, 64, 256, 8, 3), False, DONATED + PICTURES + LONG + PARTS + FLOAT32),
}
GPU = {name: for_a_gpu(listed) for name, listed in TPU.items()}
