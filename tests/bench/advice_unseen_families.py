"""The families of advice_unseen.py and its neighbours, for TPUs and GPUs.

They were written by people who had seen neither the rules nor any figure of the advice: TPU and GPU first, then those
of advice_last.py, then BLIND_TPU and BLIND_GPU, then EXAM_TPU and EXAM_GPU, then LIBRARY_TPU and LIBRARY_GPU, whose
models are those of libraries, then REPOS_TPU and REPOS_GPU, in the manner of public repositories, then FRESH_TPU and
FRESH_GPU. Each set was judged once as the rules were then, and rules were changed with it in view after that.
docs/advice.md has what each said at first sight. Those after them are in advice_kinds_families.py,
advice_typical_families.py, advice_practice_families.py, advice_field_families.py, advice_trial_families.py,
advice_proof_families.py, advice_verdict_families.py, advice_aside_families.py, advice_jury_families.py and
advice_panel_families.py, of which some of the last are told apart as kept aside.
"""
import dataclasses

import jax.numpy as jnp

from advice_structures import BF16, F32
import advice_blind as blind
import advice_blind_scenes as scenes
import advice_blind_serving as serving
import advice_blind_time as over_time
import advice_exam as exam
import advice_exam_libraries as libraries
import advice_exam_nets as nets
import advice_exam_repos as repos
import advice_exam_repos_scenes as repos_scenes
import advice_exam_repos_time as repos_time
import advice_exam_scenes as exam_scenes
import advice_fresh as fresh
import advice_fresh_other as fresh_other
import advice_fresh_scenes as fresh_scenes
import advice_fresh_serving as fresh_serving
import advice_fresh_text as fresh_text
import advice_last as last
import advice_unseen as unseen
import advice_unseen_other as other
import advice_unseen_vision as vision

USUAL = ("donate_inputs", "bf16_parameters", "halve_batch", "rematerialize", "shard_parameters", "shard_all")
KEPT = USUAL[1:]
INFERENCE = ("donate_inputs", "bf16_parameters", "halve_batch", "shard_parameters", "shard_all")
FOLLOWED = (*USUAL, "bf16_parameters.follow")


@dataclasses.dataclass(frozen=True)
class Listed:
    make: object
    is_held_out: bool = False
    variants: tuple = USUAL
    is_donated: bool = False


def for_a_gpu(listed, but=()):
    """What can be compiled for a GPU that is not there, where jax lets go of an argument's place."""
    kept = tuple(one for one in listed.variants if one not in ("host_offload_optimizer", *but))
    return dataclasses.replace(listed, variants=kept)


TPU = {
    "masked_encoder_5": Listed(unseen.masked_encoder(5, 720, 12, 30524, 60, 32, 384)),
    "shared_9": Listed(unseen.shared_layers(9, 896, 128, 14, 28000, 12, 320)),
    "text_to_text_4": Listed(unseen.text_to_text(4, 640, 9, 80, 1664, 32128, 24, 448, 160)),
    "attentive_units_640": Listed(unseen.attentive_units(640, 18000, 160, 96, 72)),
    "two_experts_5": Listed(unseen.two_experts(5, 768, 6, 12, 1280, 26000, 12, 512)),
    "key_blocks_too_big": Listed(unseen.key_blocks(12, 864, 9, 2592, 20480, 8, 4096, 512), variants=KEPT,
                                 is_donated=True),
    "window_cache_10": Listed(unseen.window_cache(10, 1536, 12, 3, 3840, 36000, 48, 1280, 6), variants=INFERENCE),
    "linear_recurrence_4": Listed(unseen.linear_recurrence(4, 448, 608, 20, 1536)),
    "image_transformer_7": Listed(vision.image_transformer(7, 672, 7, 14, 224, 108)),
    "image_text_5_3": Listed(vision.image_text((5, 640, 10), (3, 448, 7), 384, 16, 192, 30000, 128, 76)),
    "plain_residual_2342": Listed(vision.plain_residual((2, 3, 4, 2), (48, 96, 192, 384), 144, 176, F32)),
    "plain_residual_3352": Listed(vision.plain_residual((3, 3, 5, 2), (64, 160, 256, 512), 224, 576, BF16),
                                  variants=KEPT, is_donated=True),
    "depthwise_2241": Listed(vision.depthwise_stages((2, 2, 4, 1), (80, 160, 320, 640), 224, 48)),
    "noise_predictor_3": Listed(vision.noise_predictor((96, 160, 288), 64, 88, 2)),
    # Of shard_all libtpu says "INTERNAL: Value ... overlaps with another chunk".
    "sampled_code_8": Listed(vision.sampled_code(9408, (2200, 1100), 64, 8, 1536), variants=USUAL[:-1]),
    "interactions_26": Listed(other.interactions(26, 286000, 128, 13, 512, 8192)),
    "graph_attention_3": Listed(other.graph_attention(3, 48000, 360000, 192, 6), variants=(
        "donate_inputs", "bf16_parameters", "rematerialize", "shard_parameters")),
    "wave_equation_5": Listed(other.wave_equation(5, 272, 49152, 4096)),
}
GPU = {
    "masked_encoder_4": Listed(unseen.masked_encoder(4, 816, 12, 29000, 48, 40, 320)),
    "text_to_text_3": Listed(unseen.text_to_text(3, 560, 7, 96, 1408, 20000, 32, 384, 256)),
    "key_blocks_7": Listed(unseen.key_blocks(7, 720, 10, 2880, 22000, 4, 3072, 384)),
    "linear_recurrence_5": Listed(unseen.linear_recurrence(5, 384, 736, 16, 1024)),
    "noise_predictor_2": Listed(vision.noise_predictor((64, 144), 96, 48, 3)),
    "interactions_18": Listed(other.interactions(18, 500000, 96, 16, 640, 12288)),
    "two_experts_4": Listed(unseen.two_experts(4, 896, 7, 16, 1024, 30000, 16, 448)),
    "window_cache_8": Listed(unseen.window_cache(8, 1792, 14, 2, 4608, 28000, 64, 1536, 4), variants=INFERENCE),
    "wave_equation_4": Listed(other.wave_equation(4, 320, 65536, 8192)),
}

# Of advice_last.py.
LAST_TPU = {
    "rotary_decoder_8": Listed(last.rotary_decoder(8, 960, 15, 3, 2560, 32000, 8, 1024)),
    "adapters_in_parts_14": Listed(last.adapters_in_parts(14, 1280, 10, 4480, 50260, 24, 6, 8, 640)),
    "sentence_classifier_6": Listed(last.sentence_classifier(6, 576, 9, 2304, 31000, 20, 64, 208)),
    "few_latents_4": Listed(last.few_latents(4, 5, 320, 640, 8, 88, 1000, 16, 9216)),
    "token_shift_10": Listed(last.token_shift(10, 768, 2688, 24000, 12, 448)),
    # Many short waves: of 4 long ones (half of 8) libtpu fails a check of its own in space_to_batch_converter.cc.
    "dilated_waves_18": Listed(last.dilated_waves(3, 6, 112, 240, 256, 72, 48, 2048)),
    "spoken_frames_7": Listed(last.spoken_frames(7, 544, 8, 72, 80, 4400, 64, 32, 1440)),
}
LAST_GPU = {
    "rotary_decoder_6": Listed(last.rotary_decoder(6, 1152, 18, 6, 3072, 26000, 12, 896)),
    "adapters_in_parts_10": Listed(last.adapters_in_parts(10, 1536, 12, 5376, 36000, 40, 4, 12, 768)),
    "spoken_frames_5": Listed(last.spoken_frames(5, 704, 11, 56, 64, 3600, 48, 48, 1600)),
}

# Of advice_blind.py and its neighbours.
BLIND_TPU = {
    "normed_heads_12": Listed(blind.normed_heads(12, 1024, 4, 4, 64, 2816, 32000, 8, 512)),
    "parallel_units_8": Listed(blind.parallel_units(8, 1024, 8, 128, 4096, 32768, 4, 4, 768)),
    "sorted_experts_4": Listed(blind.sorted_experts(4, 1024, 16, 32, 4, 384, 32000, 8, 512)),
    "taught_6": Listed(blind.taught((16, 1280, 20), (6, 640, 10), 50257, 2.0, 8, 384)),
    "matched_texts_8": Listed(blind.matched_texts(8, 768, 12, 1152, 50368, 48, 48, 192)),
    "one_key_prefill_16": Listed(serving.one_key_prefill(16, 1536, 6, 256, 6144, 100000, 8, 2048, 4096),
                                 variants=INFERENCE),
    "paged_step_10": Listed(serving.paged_step(10, 2048, 16, 4, 5632, 32000, 32, 64, 32), variants=INFERENCE),
    "beam_search_6": Listed(serving.beam_search(6, 1024, 16, 4096, 50265, 4, 48, 512, 256, 16), variants=INFERENCE),
    "adaptive_norms_12": Listed(scenes.adaptive_norms(12, 768, 12, 32, 2, 4, 1000, 32)),
    "windowed_stages_226": Listed(scenes.windowed_stages((2, 2, 6), (96, 192, 384), (3, 6, 12), 7, 224, 48)),
    "forged_pictures_128": Listed(scenes.forged_pictures(128, (512, 256, 128, 64), 128, 64)),
    "rays_8": Listed(scenes.rays(8, 256, 10, 192, 2048)),
    "selected_states_5": Listed(over_time.selected_states(5, 768, 48, 16, 50280, 8, 512)),
    "carried_states_3": Listed(over_time.carried_states((400, 1152, 1152, 400), 33280, 80, 70)),
    "tagged_words_512": Listed(over_time.tagged_words(300, 512, 400000, 100, 32, 48, 256, 120, 16)),
    "triangles_4": Listed(over_time.triangles(4, 384, 128, 4, 4, 160, 64)),
    "near_policy_32": Listed(over_time.near_policy((32, 64, 64), 256, 18, 2, 4, 84, 32, 128)),
    "next_goods_2": Listed(over_time.next_goods(2, 128, 2, 1000000, 24, 128, 200)),
}
BLIND_GPU = {
    "normed_heads_16": Listed(blind.normed_heads(16, 1536, 4, 6, 64, 4096, 48000, 8, 768)),
    "taught_5": Listed(blind.taught((20, 1536, 16), (5, 768, 12), 50257, 4.0, 12, 512)),
    "paged_step_14": Listed(serving.paged_step(14, 2560, 20, 5, 6912, 50000, 64, 48, 64), variants=INFERENCE),
    "adaptive_norms_10": Listed(scenes.adaptive_norms(10, 1024, 16, 32, 2, 4, 1000, 48)),
    "windowed_stages_224": Listed(scenes.windowed_stages((2, 2, 4), (128, 256, 512), (4, 8, 16), 7, 224, 96)),
    "triangles_5": Listed(over_time.triangles(5, 256, 128, 4, 8, 192, 64)),
    "near_policy_16": Listed(over_time.near_policy((16, 32, 32), 256, 15, 3, 4, 84, 64, 128)),
    "selected_states_4": Listed(over_time.selected_states(4, 1024, 64, 16, 50280, 8, 1024)),
}

# Of advice_exam.py and advice_exam_scenes.py.
EXAM_TPU = {
    "latent_keys_9": Listed(exam.latent_keys(9, 1152, 12, 96, 32, 576, 320, 3072, 36000, 8, 896)),
    "paired_windows_4": Listed(exam.paired_windows(4, 960, 4, 2, 128, 3328, 320, 50000, 4, 1280)),
    "preferred_answers_8": Listed(exam.preferred_answers(8, 1024, 16, 4, 2736, 32000, 4, 768)),
    "delta_chunks_6": Listed(exam.delta_chunks(6, 896, 7, 96, 160, 2432, 64, 27000, 8, 1152)),
    "byte_patches_8": Listed(exam.byte_patches((8, 1080, 12), (3, 320, 5), 6, 8, 640)),
    "checked_drafts_18": Listed(exam.checked_drafts((18, 2048, 16, 4, 5504), (4, 768, 12, 2, 2048), 32000, 5, 24, 1536),
                                     variants=INFERENCE),
    "many_crops_7": Listed(exam_scenes.many_crops(7, 528, 8, 4, 14, (224, 98), 6, (2048, 256), 49152, 40)),
    "worded_latents_3": Listed(exam_scenes.worded_latents((144, 288, 528), 48, 77, 768, 64, 4, 24)),
    "past_clicks_8": Listed(exam_scenes.past_clicks((1600000, 420000, 180000, 52000, 9600, 1200, 364, 28), 56, 80, 13,
                                                    (80, 40), (512, 256), (768, 384, 96), 8192)),
    "earth_mesh_9": Listed(exam_scenes.earth_mesh(9, 288, (72, 144), 78, 2562, {"into": 16704, "among": 20460,
                                                                               "out": 31104}, 8)),
    "rolled_flow_4": Listed(exam_scenes.rolled_flow(4, 48, 20, 120, 3, 5, 12)),
    "residue_contacts_18": Listed(exam_scenes.residue_contacts(18, 600, 15, 16, 384), variants=INFERENCE),
}
EXAM_GPU = {
    "latent_keys_12": Listed(exam.latent_keys(12, 1536, 16, 96, 48, 768, 384, 4096, 50000, 8, 1024)),
    "delta_chunks_9": Listed(exam.delta_chunks(9, 1280, 10, 96, 192, 3456, 64, 40000, 8, 1728)),
    "checked_drafts_24": Listed(exam.checked_drafts((24, 2560, 20, 5, 6912), (5, 1024, 16, 4, 2816), 50000, 6, 48,
                                                    2048), variants=INFERENCE),
    "many_crops_9": Listed(exam_scenes.many_crops(9, 768, 12, 5, 16, (224, 96), 8, (2048, 384), 65536, 72)),
    "earth_mesh_12": Listed(exam_scenes.earth_mesh(12, 352, (91, 180), 83, 10242, {"into": 26800, "among": 81900,
                                                                                  "out": 49140}, 4)),
    "rolled_flow_5": Listed(exam_scenes.rolled_flow(5, 56, 24, 128, 4, 6, 24)),
    "past_clicks_10": Listed(exam_scenes.past_clicks((2800000, 900000, 640000, 128000, 40000, 8800, 2400, 640, 96, 20),
                                                     72, 128, 17, (96, 36), (640, 320), (896, 448, 112), 16384)),
    "residue_contacts_24": Listed(exam_scenes.residue_contacts(24, 640, 20, 24, 448), variants=INFERENCE),
}

# Of advice_exam_libraries.py and advice_exam_nets.py.
GPT2 = "FlaxGPT2LMHeadModel", "FlaxGPT2Block"
LLAMA = "FlaxLlamaForCausalLM", "FlaxLlamaDecoderLayer"
GEMMA = "FlaxGemmaForCausalLM", "FlaxGemmaDecoderLayer"
LIBRARY_TPU = {
    "flax_gpt2_5": Listed(libraries.causal(*GPT2, {"n_layer": 5, "n_embd": 816, "n_head": 12, "n_positions": 640}, 8,
                                           640)),
    "flax_llama_7": Listed(libraries.causal(*LLAMA, {
        "num_hidden_layers": 7, "hidden_size": 1152, "num_attention_heads": 18, "num_key_value_heads": 6,
        "intermediate_size": 3072, "max_position_embeddings": 1024}, 4, 1024)),
    "flax_roberta_6": Listed(libraries.masked("FlaxRobertaForMaskedLM", {
        "num_hidden_layers": 6, "hidden_size": 704, "num_attention_heads": 11, "intermediate_size": 2816,
        "vocab_size": 50265}, 24, 256), variants=FOLLOWED),
    "flax_bart_4": Listed(libraries.text_to_text({
        "encoder_layers": 4, "decoder_layers": 4, "d_model": 640, "encoder_attention_heads": 10,
        "decoder_attention_heads": 10, "encoder_ffn_dim": 2560, "decoder_ffn_dim": 2560}, 24, 384, 128)),
    "flax_whisper_4": Listed(libraries.spoken_words({
        "encoder_layers": 4, "decoder_layers": 4, "d_model": 576, "encoder_attention_heads": 9,
        "decoder_attention_heads": 9, "encoder_ffn_dim": 2304, "decoder_ffn_dim": 2304, "num_mel_bins": 80,
        "max_source_positions": 1500, "max_target_positions": 448}, 8, 160)),
    "flax_clip_5_4": Listed(libraries.images_and_texts(
        {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 2048},
        {"hidden_size": 768, "num_hidden_layers": 5, "num_attention_heads": 12, "intermediate_size": 3072,
         "image_size": 224, "patch_size": 32}, 512, 256, 77), variants=FOLLOWED),
    "flax_resnet_2342": Listed(libraries.residual_images({
        "layer_type": "bottleneck", "depths": [2, 3, 4, 2], "num_labels": 1000}, 72, 224), variants=FOLLOWED),
    "flax_gptj_lora_8": Listed(libraries.low_rank("FlaxGPTJForCausalLM", "FlaxGPTJBlock", {
        "n_layer": 8, "n_embd": 1536, "n_head": 12, "rotary_dim": 64, "n_positions": 768}, 12, 4, 768)),
    "flax_gpt2_decode_8": Listed(libraries.next_word(GPT2[0], {
        "n_layer": 8, "n_embd": 1280, "n_head": 20, "n_positions": 1024}, 48, 1024), variants=INFERENCE),
    "flax_scanned_10": Listed(nets.scanned_decoder(10, 896, 14, 2432, 50304, 8, 512)),
    "flax_lstm_2": Listed(nets.words_over_time(2, 960, 33278, 32, 256), variants=FOLLOWED),
    "nnx_u_net_3": Listed(nets.noise_of_pictures((64, 128, 256), 64, 64), variants=FOLLOWED),
    "haiku_decoder_5": Listed(nets.plain_decoder(5, 768, 12, 3072, 24000, 12, 384), variants=FOLLOWED),
    "equinox_images_6": Listed(nets.patched_images(6, 640, 10, 2560, 192, 16, 64), variants=FOLLOWED),
    "jraph_molecules_4": Listed(nets.molecules(4, 192, 24, 56, 2048), variants=FOLLOWED),
}
LIBRARY_GPU = {
    "flax_gemma_6": Listed(libraries.causal(*GEMMA, {
        "num_hidden_layers": 6, "hidden_size": 1536, "num_attention_heads": 8, "num_key_value_heads": 1,
        "head_dim": 192, "intermediate_size": 8192, "vocab_size": 128000, "max_position_embeddings": 1024}, 8, 1024)),
    "flax_bart_5": Listed(libraries.text_to_text({
        "encoder_layers": 5, "decoder_layers": 5, "d_model": 832, "encoder_attention_heads": 13,
        "decoder_attention_heads": 13, "encoder_ffn_dim": 3328, "decoder_ffn_dim": 3328}, 48, 512, 192)),
    "flax_resnet_2352": Listed(libraries.residual_images({
        "layer_type": "bottleneck", "depths": [2, 3, 5, 2], "num_labels": 1000}, 192, 224, BF16)),
    "flax_mistral_decode_10": Listed(libraries.next_word("FlaxMistralForCausalLM", {
        "num_hidden_layers": 10, "hidden_size": 2304, "num_attention_heads": 18, "num_key_value_heads": 6,
        "intermediate_size": 6144, "max_position_embeddings": 3072, "sliding_window": 3072}, 64, 3072),
        variants=INFERENCE),
    "flax_scanned_14": Listed(nets.scanned_decoder(14, 1280, 20, 3456, 50304, 12, 768)),
    "haiku_stacked_9": Listed(nets.plain_decoder(9, 960, 15, 3840, 32000, 16, 512, stacked=True), variants=FOLLOWED),
    "equinox_images_8": Listed(nets.patched_images(8, 896, 14, 3584, 224, 16, 96), variants=FOLLOWED),
}

# Of advice_exam_repos.py and its neighbours.
REPOS_TPU = {
    "flax_electra_7": Listed(repos.named_entities({
        "num_hidden_layers": 7, "hidden_size": 624, "num_attention_heads": 13, "intermediate_size": 2496,
        "embedding_size": 128, "num_labels": 19}, 28, 352), variants=FOLLOWED),
    "flax_dinov2_6": Listed(repos.dropped_paths({
        "num_hidden_layers": 6, "hidden_size": 720, "num_attention_heads": 12, "image_size": 266, "patch_size": 14,
        "use_swiglu_ffn": True, "drop_path_rate": 0.1, "num_labels": 1000}, 44)),
    "flax_gpt_neo_6": Listed(repos.near_and_far({
        "num_layers": 6, "hidden_size": 1040, "num_heads": 13, "attention_types": [[["global", "local"], 3]],
        "window_size": 256, "vocab_size": 46000, "max_position_embeddings": 736}, 8, 736)),
    "flax_wav2vec2_5": Listed(repos.letters_of_sound({
        "num_hidden_layers": 5, "hidden_size": 528, "num_attention_heads": 11, "intermediate_size": 2112,
        "do_stable_layer_norm": True, "feat_extract_norm": "layer"}, 12, 160000, 96)),
    "flax_xglm_3": Listed(repos.many_tongues({
        "num_layers": 3, "d_model": 576, "attention_heads": 12, "ffn_dim": 2304, "vocab_size": 256008,
        "max_position_embeddings": 480}, 8, 336)),
    "flax_opt_decode_9": Listed(libraries.next_word("FlaxOPTForCausalLM", {
        "num_hidden_layers": 9, "hidden_size": 1344, "word_embed_proj_dim": 1344, "ffn_dim": 5376,
        "num_attention_heads": 21, "max_position_embeddings": 1200}, 40, 1200), variants=INFERENCE),
    "second_axis_decoder_11": Listed(repos.second_axis_decoder(11, 1088, 18, 3, 64, 2944, 38400, 4, 960)),
    "side_by_side_5": Listed(repos.side_by_side(5, 928, 11, 64, 27200, 8, 832)),
    "switched_decoder_6": Listed(repos.switched_decoder(6, 608, 8, 1824, 12, 28800, 12, 576, 120)),
    "two_views_2342": Listed(repos_scenes.two_views((2, 3, 4, 2), (192, 384, 640, 1152), 2304, 256, 176, 48),
                             variants=FOLLOWED),
    "quantized_pictures_5": Listed(repos_scenes.quantized_pictures(208, 5, 96, 1536, 88, 112, 76), variants=FOLLOWED),
    "diagonal_states_5": Listed(repos_time.diagonal_states(5, 328, 168, 40, 35, 20, 1984), variants=FOLLOWED),
    "flowing_density_3": Listed(repos_time.flowing_density(3, 848, 63, 14, 2048), variants=FOLLOWED),
    "replayed_games_84": Listed(repos_time.replayed_games(72, 4000, 84, 528, 6, 640)),
}
REPOS_GPU = {
    "second_axis_decoder_13": Listed(repos.second_axis_decoder(13, 1280, 15, 5, 64, 3392, 44800, 4, 768)),
    "switched_decoder_8": Listed(repos.switched_decoder(8, 1024, 8, 2560, 20, 36864, 16, 640, 80)),
    "flax_gpt_neo_decode_12": Listed(libraries.next_word("FlaxGPTNeoForCausalLM", {
        "num_layers": 12, "hidden_size": 1920, "num_heads": 15, "attention_types": [[["global", "local"], 6]],
        "window_size": 512, "max_position_embeddings": 2400}, 24, 2400), variants=INFERENCE),
    "diagonal_states_7": Listed(repos_time.diagonal_states(7, 576, 288, 72, 35, 16, 2720), variants=FOLLOWED),
    "hashed_corners_15": Listed(repos_scenes.hashed_corners(15, 2 ** 20, 16, 1600, 80, 72, 20480)),
}

# Of advice_fresh.py and its neighbours.
LONG = (*USUAL, "halve_sequence")
FRESH_TPU = {
    "mapped_blocks_7": Listed(fresh.mapped_blocks(7, 960, 15, 3840, 50304, 4, 4096, 512, 8), variants=(
        *LONG, "micro_batch", "rematerialize_dots")),
    "state_chunks_6": Listed(fresh.state_chunks(6, 768, 24, 64, 128, 50280, 8, 1024, 128)),
    "turned_matrices_5": Listed(fresh.turned_matrices(5, 1152, 9, 50304, 4, 1280)),
    "grouped_answers_6": Listed(fresh_text.grouped_answers(6, 1024, 16, 4, 2816, 32000, 4, 4, 512), variants=LONG),
    "byte_weights_20": Listed(fresh_text.byte_weights(20, 2048, 16, 5504, 32000, 16, 64, 4, 512), variants=(
        *USUAL, "rematerialize_dots")),
    "masked_patches_4": Listed(fresh_scenes.masked_patches((4, 816, 12), (2, 512, 8), 224, 16, 0.75, 180)),
    "sharpness_aware_4": Listed(fresh_scenes.sharpness_aware(4, 640, 320, 2560, 224, 16, 88), variants=FOLLOWED),
    "sound_and_words_3": Listed(fresh_scenes.sound_and_words((64, 128, 256, 512), (3, 512, 8), 512, 1008, 64, 30000,
                                                             48, 77)),
    "scaled_volumes_4": Listed(fresh_scenes.scaled_volumes((32, 64, 128, 256), 4, 80, 4)),
    "films_3": Listed(fresh_scenes.films(2, 1, 576, 9, 16, 224, 16, 400, 24)),
    "chunked_prompts_10": Listed(fresh_serving.chunked_prompts(10, 1792, 14, 7168, 48000, 8, 4096, 512, 5120),
                                 variants=(*INFERENCE, "halve_sequence", "int8_weights")),
    "steered_noise_10": Listed(fresh_serving.steered_noise(10, 1024, 16, 32, 2, 4, 1000, 30, 48), variants=INFERENCE),
    "latents_to_pictures_4": Listed(fresh_serving.latents_to_pictures((512, 384, 256, 128), 2, 4, 64, 12),
                                    variants=INFERENCE),
    "paired_atoms_4": Listed(fresh_other.paired_atoms(4, 512, 16, 1024, 128, 120, 56), variants=FOLLOWED),
    "crossed_features_7": Listed(fresh_other.crossed_features((900000, 300000, 120000, 48000, 16000, 2000, 360), 96, 6,
                                                              13, 3, 128, 4, (1024, 512, 256), 16384), variants=(
        *USUAL, "micro_batch")),
    "imagined_worlds_512": Listed(fresh_other.imagined_worlds(512, 512, 32, 32, 48, 64, 15, 24, 48)),
}
FRESH_GPU = {
    "mapped_blocks_4": Listed(fresh.mapped_blocks(4, 1280, 20, 5120, 50304, 8, 6144, 512, 6), variants=(
        *LONG, "rematerialize_dots")),
    "state_chunks_7": Listed(fresh.state_chunks(7, 1024, 32, 64, 128, 50280, 12, 2048, 256)),
    "grouped_answers_5": Listed(fresh_text.grouped_answers(5, 1536, 12, 4, 4096, 65536, 8, 6, 640)),
    "chunked_prompts_12": Listed(fresh_serving.chunked_prompts(12, 2560, 20, 10240, 64000, 12, 8192, 1024, 9216),
                                 variants=INFERENCE),
    "crossed_features_9": Listed(fresh_other.crossed_features((
        2600000, 1200000, 700000, 260000, 96000, 30000, 8000, 1200, 180), 120, 10, 16, 4, 192, 4, (1536, 768, 256),
        40960)),
    "paired_atoms_5": Listed(fresh_other.paired_atoms(5, 768, 24, 1536, 160, 120, 96), variants=FOLLOWED),
    "scaled_volumes_5": Listed(fresh_scenes.scaled_volumes((32, 64, 128, 256, 320), 3, 128, 4, jnp.float16)),
}
