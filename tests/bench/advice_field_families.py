"""The families of advice_field_*.py: of each kind that programs are at work, one or two, near the capacity among them.

In sizes that published models have or that people pick, by two authors who had seen neither the rules nor any figure of
the advice (the first wrote decoders, scenes, serving and tables, of the kinds that advice was known to misread). Judged
once before any rule was changed with them in view: docs/advice.md.
"""
import advice_field_answers as answers
import advice_field_decoders as decoders
import advice_field_scenes as scenes
import advice_field_serving as serving
import advice_field_tables as tables
import advice_field_views as views
import advice_field_waves as waves
import advice_field_words as words
from advice_unseen_families import FOLLOWED, INFERENCE, KEPT, LONG, USUAL, Listed

FIELDS = ((3000000, 64), (1500000, 64), (640000, 48), (350000, 48), (200000, 32), (120000, 32), (90000, 32),
          (52000, 24), (30000, 24), (18000, 16), (9000, 16), (5200, 16), (2400, 16), (1000, 8), (600, 8), (365, 8),
          (96, 8), (48, 8), (24, 8), (12, 4), (7, 4), (3, 4))
READ = (*INFERENCE[1:], "halve_sequence")

TPU = {
    "latent_decode_16": Listed(serving.latent_decode(16, 2048, 16, 128, 64, 512, 6144, 102400, 16, 4096), False, (
        *INFERENCE, "halve_sequence", "donate_inputs+halve_batch")),
    "qwen_bytes_28": Listed(serving.qwen_bytes(28, 1024, 16, 8, 128, 3072, 151936, 16, 4096), False, (
        *INFERENCE[1:], "halve_sequence", "int8_weights", "bf16_parameters+halve_batch"), True),
    "masked_steps_21": Listed(tables.masked_in_steps(7, 768, 12, 1152, 50368, 128, 8, 4, 1024), False, (
        *LONG, "rematerialize_dots")),
    "paired_parts_12": Listed(tables.pairs_in_parts(12, 768, 12, 2048, 30522, 16, 1024, 32, 128), False, (
        *USUAL, "donate_inputs+halve_batch")),
    "twelves_768": Listed(decoders.twelves(768, 512, 1024, 32000, 512), False, (
        *LONG, "donate_inputs+rematerialize")),
    "heard_frames_4": Listed(tables.heard_frames(4, 1024, 40, 1944, 32, 640), False, (*FOLLOWED, "halve_sequence")),
    "branched_pictures_2481": Listed(scenes.branched_pictures((2, 4, 8, 1), (64, 128, 256, 1280), 64, 224, 256), False,
                                     FOLLOWED),
    "scaled_falcon_16": Listed(decoders.scaled_falcon(16, 2048, 8192, 65024, 256), False, (
        *LONG, "rematerialize_dots")),
    "noise_by_skips_13": Listed(scenes.noise_by_skips(13, 768, 12, 32, 2, 128), False, (
        *USUAL, "donate_inputs+rematerialize", "donate_inputs+halve_batch")),
    "nnx_sphere_12": Listed(decoders.nnx_sphere(12, 1024, 16, 4096, 50304, 8, 1024), False, (
        *LONG, "micro_batch", "donate_inputs+rematerialize")),
    "many_tasks_22": Listed(tables.many_tasks(FIELDS, 16, 8, (512, 256), (128, 64), 3, 16384), False, (
        *FOLLOWED, "micro_batch")),
    "flamingo_16": Listed(scenes.flamingo(4, 4, 1536, 12, 50280, 64, 2, 1024, 256, 2, 12, 256), False, (
        *LONG, "donate_inputs+halve_batch")),
    "played_notes_2048": Listed(scenes.played_notes(6, 512, 8, 2048, 388, 4, 2048), False, (
        *FOLLOWED, "halve_sequence", "micro_batch")),
    "gated_words_256000": Listed(decoders.gated_words(8, 512, 1024, 128, 256000, 16, 512, 8), False, (
        *LONG, "micro_batch", "bf16_parameters+halve_batch")),
    "aggregated_proteins_4": Listed(waves.aggregated_proteins(4, 13256, 480000, 8, 80, 112), False, tuple(
        one for one in FOLLOWED if one != "halve_batch")),
    "bonds_of_molecules_300": Listed(waves.bonds_of_molecules(5, 300, 133, 14, 25, 54, 12, 4096), False, FOLLOWED),
    "deep_potential_100": Listed(waves.deep_potential((25, 50, 100), 16, (240, 240, 240), 2, 768, 96, 8), False,
                                 FOLLOWED),
    "heard_waves_512": Listed(waves.heard_waves(384, 512, 600, 25, 256, 8), False, (
        "donate_inputs", "halve_batch", "rematerialize", "shard_all", "halve_sequence", "micro_batch",
        "bf16_parameters.follow")),
    "eight_bit_minitron_12": Listed(words.eight_bit_minitron(12, 2048, 16, 8, 128, 8192, 49152, 4, 1024), False, (
        *KEPT, "halve_sequence", "micro_batch", "rematerialize_dots"), True),
    "gated_linear_words_12": Listed(words.gated_linear_words(12, 1024, 4, 2816, 16, 32000, 4, 1024, 64), False, (
        *LONG, "rematerialize_dots", "donate_inputs+halve_batch")),
    "sinks_and_windows_24": Listed(answers.sinks_and_windows(12, 1440, 32, 4, 64, 4320, 100352, 4, 8192, 128, 256),
                                   False, (*READ, "int8_weights", "bf16_parameters+halve_batch")),
    "answers_that_share_28": Listed(answers.answers_that_share(
        28, 1024, 16, 8, 128, 3072, 151936, 8, 24, 1536, 512, 16), False, (
            *READ, "bf16_parameters+halve_batch"), True),
    "embedded_by_albert_4096": Listed(answers.embedded_by_albert({
        "hidden_size": 4096, "num_hidden_layers": 12, "num_attention_heads": 64, "intermediate_size": 16384,
        "vocab_size": 30000, "embedding_size": 128}, 64, 384), False, (
            *READ, "bf16_parameters+halve_batch")),
    "codes_of_patches_8": Listed(views.codes_of_patches({
        "hidden_size": 768, "num_hidden_layers": 8, "num_attention_heads": 12, "intermediate_size": 3072,
        "image_size": 224, "patch_size": 16, "vocab_size": 8192, "use_mask_token": True,
        "use_relative_position_bias": True, "use_absolute_position_embeddings": False,
        "layer_scale_init_value": 0.1}, 96), False, (*USUAL, "donate_inputs+rematerialize")),
    "actions_to_pins_4": Listed(views.actions_to_pins(1500000, 64, 4, 512, 8, 12, 256, 16, 256, 128), False, (
        *FOLLOWED, "halve_sequence")),
    "spoken_spectra_256": Listed(views.spoken_spectra(4, 6, 256, 2, 1024, 78, 80, 128, 768, 48), False, (
        *FOLLOWED, "halve_sequence")),
    "redundant_views_8192": Listed(views.redundant_views(12, 384, 6, 16, 224, 8192, 64), False, (
        *USUAL, "donate_inputs+rematerialize")),
    "many_critics_10": Listed(views.many_critics(10, 1024, 3, 223, 38, 4, 8192), False, (
        *FOLLOWED, "donate_inputs+halve_batch")),
}
