"""The families of advice_practice_*.py: of each kind that programs are at work, one or two.

In sizes that published models have or that people pick, by two authors who had seen neither the rules nor any figure of
the advice (the first wrote decoders, scenes, serving and tables). Judged once before any rule was changed with them in
view: docs/advice.md.
"""
import advice_practice_decoders as decoders
import advice_practice_fields as fields
import advice_practice_items as items
import advice_practice_prompts as prompts
import advice_practice_scenes as scenes
import advice_practice_serving as serving
import advice_practice_tables as tables
import advice_practice_words as words
from advice_unseen_families import FOLLOWED, INFERENCE, KEPT, LONG, USUAL, Listed

TPU = {
    "olmo_slots_16": Listed(serving.slots_of_olmo(16, 2048, 16, 8192, 50304, 16, 1024), False, (
        *INFERENCE, "halve_sequence", "int8_weights")),
    "whisper_words_32": Listed(serving.words_of_whisper(32, 1280, 20, 51866, 1500, 448, 16), False, (
        *INFERENCE, "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "smol_steps_30": Listed(decoders.smol_in_steps(30, 576, 9, 3, 1536, 49152, 16, 8, 512), False, (
        *LONG, "rematerialize_dots")),
    "mixtral_eights_8": Listed(decoders.mixtral_of_eights(768, 1536, 32000, 512), False, (
        *LONG, "donate_inputs+rematerialize")),
    "xlstm_words_6": Listed(scenes.words_of_xlstm(6, 1024, 4, 50257, 32, 256), False, (*FOLLOWED, "halve_sequence")),
    "darknet_pictures_12421": Listed(scenes.darknet_pictures((1, 2, 4, 2, 1), 32, 256, 96), False, (
        *USUAL, "donate_inputs+halve_batch")),
    "dora_llama_16": Listed(decoders.dora_of_llama(16, 2048, 32, 8, 8192, 128256, 16, 4, 384), False, (
        *LONG, "rematerialize_dots")),
    "full_mpt_10": Listed(decoders.full_mpt(10, 1536, 12, 50432, 12, 1024), False, (
        *KEPT, "halve_sequence", "micro_batch"), True),
    "deep_factors_14": Listed(tables.deep_factors((
        8000000, 4000000, 2500000, 1200000, 600000, 300000, 140000, 90000, 12000, 5600, 2000, 300, 48, 24), 16, 13,
        (1024, 512, 256), 32768), False, (*FOLLOWED, "micro_batch")),
    "nnx_words_8": Listed(decoders.nnx_words(8, 1024, 16, 4096, 32128, 8, 1024), False, LONG),
    "flow_latents_12": Listed(scenes.flow_of_latents(12, 768, 12, 32, 16, 2, 77, 2048, 16), False, (
        *USUAL, "donate_inputs+rematerialize")),
    "masked_bases_4096": Listed(scenes.masked_bases(4, 256, 4, 4104, 4, 4096), False, (
        *FOLLOWED, "halve_sequence", "micro_batch")),
    "small_gemma_262144": Listed(decoders.small_gemma(12, 640, 4, 256, 2048, 262144, 4, 512), False, (
        *LONG, "micro_batch")),
    "sparse_dictionary_32768": Listed(tables.sparse_dictionary(2304, 32768, 8192), False, FOLLOWED),
    "mastered_smol_32": Listed(words.mastered_decoder(32, 960, 15, 5, 2560, 49152, 4, 640), False, (
        "donate_inputs", "halve_batch", "rematerialize", "shard_parameters", "shard_all", "micro_batch",
        "rematerialize_dots", "donate_inputs+rematerialize")),  # its parameters are of bf16 from the start
    "retentive_shampoo_6": Listed(words.retentive_shampoo(6, 1024, 4, 50257, 4, 2048, 128), False, (
        *LONG, "bf16_parameters+halve_batch")),
    "updates_in_backward_24": Listed(words.updates_in_backward(24, 2048, 32, 51200, 4, 1024), False, (
        "donate_inputs", "bf16_parameters", "halve_batch", "halve_sequence", "shard_parameters", "shard_all",
        "donate_inputs+halve_batch")),
    "flax_roformer_6": Listed(words.turned_encoder({
        "num_hidden_layers": 6, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
        "vocab_size": 50000, "max_position_embeddings": 1536, "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0}, 8, 1024), False, (*FOLLOWED, "halve_sequence")),
    "alibi_long_prefill_24": Listed(prompts.alibi_long_prefill(24, 2048, 16, 8192, 49152, 4, 8192, 512, 9216), False, (
        *INFERENCE, "halve_sequence", "int8_weights")),
    "guessed_ahead_16": Listed(prompts.guessed_ahead(16, 2048, 32, 8, 8192, 128256, 3, 16, 2048, 24), False, (
        *INFERENCE, "halve_sequence", "donate_inputs+halve_batch")),
    "composed_relations_2": Listed(items.composed_relations(93773, 51, 256, 2, 600000, 1024), False, FOLLOWED),
    "turning_molecules_7": Listed(items.turning_molecules(7, 128, 29, 10, 192), False, FOLLOWED),
    "silu_sequences_8": Listed(items.silu_sequences(2500000, 128, 8, 4, 1024, 128, 200), False, (
        *FOLLOWED, "halve_sequence")),
    "coded_sounds_32": Listed(fields.coded_sounds(32, (2, 4, 5, 8), 1024, 8, 64, 24000), False, FOLLOWED),
    "distilled_views_12": Listed(fields.distilled_views((24, 1024, 16), (12, 384, 6), 16, 224, 1000, 128), False, (
        *USUAL, "donate_inputs+rematerialize")),
    "many_games_10": Listed(fields.many_games(10, 1280, 20, 4, 18, 120, 4, 48), False, (*USUAL, "micro_batch")),
    "fourier_operator_4": Listed(fields.fourier_operator(4, 32, 12, 64, 40, 8), False, FOLLOWED),
    "rolled_weather_9": Listed(fields.rolled_weather(9, 512, 13, 5, 180, 360, 2, 4), False, (
        *USUAL, "donate_inputs+rematerialize")),
}
