"""The families of advice_jury_*.py, by four authors more who had seen neither the rules nor any figure of the advice.

The changes are all that make sense for a program, not a choice of them. Two thirds of the families were judged first,
and rules were changed with those in view; then the last third was judged once: docs/advice.md. It is kept aside no
longer.
"""
import advice_jury_accumulated as accumulated
import advice_jury_attention as attention
import advice_jury_decoders as decoders
import advice_jury_decoding as decoding
import advice_jury_frozen as frozen
import advice_jury_graphs as graphs
import advice_jury_modules as modules
import advice_jury_pictures as pictures
import advice_jury_science as science
import advice_jury_served as served
import advice_jury_tables as tables
import advice_jury_time as over_time
from advice_unseen_families import Listed, for_a_gpu

# Of what is trained: all where the base donates already, and where it does not.
ALWAYS = ("bf16_parameters", "halve_batch", "halve_sequence", "micro_batch", "rematerialize", "rematerialize_dots",
          "shard_parameters", "shard_all", "host_offload_optimizer", "bf16_parameters+halve_batch")
TRAINED = ("donate_inputs", *ALWAYS, "donate_inputs+rematerialize", "donate_inputs+halve_batch")
NO_LENGTH = tuple(name for name in TRAINED if name != "halve_sequence")
STAGES = tuple(name for name in NO_LENGTH if name != "rematerialize_dots")
MOLECULES = tuple(name for name in NO_LENGTH if name != "micro_batch")
ONE_GRAPH = tuple(name for name in MOLECULES if "halve_batch" not in name)
FLOAT32 = "bf16_parameters.follow", "bf16_temporaries"
# Of what is served.
DONATED = "donate_inputs", "donate_inputs+halve_batch"
NARROW = "bf16_parameters", "bf16_parameters+halve_batch"
CUT = "halve_batch", "halve_sequence", "shard_parameters", "shard_all"
IN_BYTES = ("int8_weights", *CUT)

CLICKS = ((400000, 3), (39060, 2), (17296, 1), (7424, 2), (20268, 6), (4, 1), (7124, 1), (1544, 1), (64, 1),
          (400000, 7), (300000, 3), (200000, 8), (12, 1), (2216, 6), (11940, 9), (156, 5), (4, 1), (976, 1), (16, 1),
          (400000, 12), (400000, 10), (400000, 7), (180000, 3), (12976, 1), (108, 1), (36, 1))

TPU = {
    # Served, and frozen weights.
    "jury_qwen3_decode_28": Listed(decoding.qwen3_decode(28, 2048, 16, 8, 128, 6144, 151936, 8, 4096), False,
                                   DONATED + IN_BYTES),
    "jury_neox_decode_24": Listed(decoding.neox_decode(24, 2048, 16, 8192, 50304, 50, 12, 1536), False,
                                  NARROW + IN_BYTES, True),
    "jury_gemma2_prefill_26": Listed(decoding.gemma2_prefill(
        26, 2304, 8, 4, 256, 9216, 256000, 4096, 512, 4, 6144, 512), False, DONATED + IN_BYTES),
    "jury_siglip_encode_27": Listed(served.siglip_encode(27, 1152, 16, 4304, 14, 378, 192), False, (
        *NARROW, "halve_batch", "shard_parameters", "shard_all")),
    "jury_whisper_beam_24": Listed(served.whisper_beam(24, 1024, 16, 4096, 51865, 5, 1500, 16, 448), False,
                                   DONATED + NARROW + IN_BYTES),
    "jury_llama_lora_22": Listed(frozen.llama_lora(22, 2048, 32, 4, 5632, 32000, 16, 4, 512), False, TRAINED),
    "jury_roberta_adapters_12": Listed(frozen.roberta_adapters(
        12, 768, 12, 3072, 48, 50265, 514, 3, 40, 256), False, TRAINED + FLOAT32),
    "jury_byte_llama_decode_32": Listed(served.byte_llama_decode(32, 4096, 32, 32, 11008, 32000, 12, 1024), False,
                                        DONATED + CUT),
    # Language models that are trained.
    "neox_accumulated_896": Listed(accumulated.accumulated_neox(16, 896, 14, 50304, 8, 4, 1024), False, TRAINED),
    "gpt2_multi_steps_768": Listed(accumulated.multi_steps_gpt2(12, 768, 12, 50257, 1024, 8, 8, 1024), False, TRAINED),
    "equal_experts_12": Listed(accumulated.equal_experts(12, 768, 1536, 32128, 384), False, TRAINED + FLOAT32),
    "near_qwen_1024": Listed(decoders.near_qwen(20, 1024, 16, 8, 128, 3072, 151936, 4, 512), False, ALWAYS, True),
    "near_roberta_768": Listed(decoders.near_roberta(12, 768, 12, 3072, 50265, 514, 24, 512), False,
                               TRAINED + FLOAT32),
    "vocabulary_gemma_640": Listed(decoders.vocabulary_gemma(18, 640, 4, 256, 2048, 262144, 512, 4, 1024), False,
                                   TRAINED),
    "nnx_opt_768": Listed(modules.nnx_opt(10, 768, 12, 3072, 50272, 2050, 8, 640), False, TRAINED + FLOAT32),
    "preferred_llama_576": Listed(modules.preferred_llama(24, 576, 9, 3, 1536, 49152, 4, 512), False, TRAINED),
    # Pictures, sound and time.
    "squeezed_residual_3463": Listed(pictures.squeezed_residual(
        (3, 4, 6, 3), (64, 128, 256, 512), 64, 224, 1000, 256), False, STAGES),
    "segmenting_unet_6": Listed(pictures.segmenting_unet((32, 64, 128, 256, 320, 320), 3, 19, 512, 448, 12), False,
                                STAGES + FLOAT32),
    "diffusion_transformer_10": Listed(attention.diffusion_transformer(10, 1152, 16, 4608, 32, 2, 4, 1000, 32), False,
                                       NO_LENGTH),
    "sigmoid_pairs_14_10": Listed(attention.sigmoid_pairs(
        (14, 1024, 16), (10, 768, 12), 256, 16, 32000, 64, 96), False, ALWAYS, True),
    "tied_lstm_1536": Listed(over_time.tied_lstm(3, 1536, 33278, 80, 160), False, TRAINED + FLOAT32),
    "selective_states_8": Listed(over_time.selective_states(8, 768, 1536, 16, 48, 50280, 8, 512), False, TRAINED),
    "speech_to_words_12_12": Listed(over_time.speech_to_words(12, 12, 768, 12, 80, 3000, 51865, 448, 8), False,
                                    TRAINED),
    "divided_attention_10": Listed(attention.divided_attention(10, 768, 12, 3072, 8, 224, 16, 400, 8), False,
                                   TRAINED + FLOAT32),
    # Tables, graphs, science and the rest.
    "click_tables_26": Listed(tables.click_tables(
        CLICKS, 128, 13, (512, 256), 3, 512, (1024, 1024, 512, 256), 16384), False, NO_LENGTH + FLOAT32),
    "next_items_4": Listed(tables.next_items(4, 256, 4, 420000, 256, 64, 200), False, TRAINED),
    "nearest_items_1500": Listed(tables.nearest_items(1500000, 192, (1536, 768), 6, 60000, 64, 200, 640), False,
                                 NARROW + IN_BYTES),
    "record_tokens_4": Listed(tables.record_tokens(4, 192, 8, 256, 84, 11, 64, 1536), False, NO_LENGTH + FLOAT32),
    "cited_papers_4": Listed(graphs.cited_papers(4, 128, 128, 40, 169344, 1335592), False, ONE_GRAPH + FLOAT32),
    "joined_molecules_3": Listed(graphs.joined_molecules(3, 128, 20, 100, 5.0, 48, 28, 108), False,
                                 MOLECULES + FLOAT32),
    "residue_pairs_4": Listed(science.residue_pairs(4, 128, 128, 4, 32, 32, 64, 1280, 8, 128), False, TRAINED),
    "frame_player_3": Listed(science.frame_player((32, 64, 64), 512, 15, 84, 4, 4096), False, STAGES + FLOAT32),
    "equal_cells_4": Listed(science.equal_cells(4, 1024, 16000, 96, 256), False, ALWAYS, True),
}

# The third that was kept aside.
FOR_GPUS = ("next_items_4", "cited_papers_4", "frame_player_3", "jury_neox_decode_24", "jury_whisper_beam_24",
            "jury_byte_llama_decode_32", "gpt2_multi_steps_768", "near_roberta_768", "preferred_llama_576",
            "segmenting_unet_6", "tied_lstm_1536", "divided_attention_10")
GPU = {name: for_a_gpu(TPU[name]) for name in FOR_GPUS}
