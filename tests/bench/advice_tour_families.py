"""The families of advice_tour_*.py, advice_round_*.py, advice_league_*.py, advice_cup_*.py, advice_medal_*.py and
advice_crown_*.py, by which the advice is judged (docs/advice.md).

Each set by three authors more, medal by four and crown by five, who had seen neither the rules nor any figure of the
advice: programs as most people train and serve them, crown of the kinds that were once misread. Each module says what
its program takes (FAMILY); the changes are all that make sense for it. Judged once, for a GPU: round after rules had
been made with tour in view, league after rules had been made with both, and so on. Kept aside is of each author the
second and the fifth.
"""
import importlib

from advice_unseen_families import Listed, for_a_gpu

TOUR = ("llama_decode", "gpt_accumulate", "qwen_lora", "roberta_mlm", "gemma_prefill", "moe_sixteen", "mt5_summaries",
        "resnet", "vit", "unet", "dit", "clip", "segformer", "conformer",
        "lstm_lm", "dcn_ctr", "mesh_graph", "sasrec", "mamba2", "ppo", "patchtst")
ROUND = ("pythia", "granite", "smollm", "mpnet", "tinyllama", "phi", "blenderbot",
         "regnet", "dino", "latent", "swin", "video", "retina", "wav2vec",
         "deepspeech", "din", "painn", "esm", "fno", "dreamer", "fttransformer")
LEAGUE = ("olmoe", "gemma3_sft", "rwkv", "t5_prefix", "reward", "speculative", "embedder",
          "efficientnet", "siglip", "hourglass", "sdxl_lora", "maskgit", "pointnet", "vit_serving",
          "dlrm_v2", "hstu", "temporal_fusion", "graph_attention", "sac_pixels", "hifigan", "weather")
CUP = ("starcoder2_lora", "opt_accumulate", "qwen_moe", "nllb_float32", "stablelm", "santacoder_decode", "glm4_prefill",
       "vovnet", "pvt_v2", "latte_video", "deeplab", "demucs", "moco_vit", "musicgen_decode",
       "ple", "deepar", "gated_gcn", "muzero", "afno", "itransformer", "chronos_t5")
MEDAL = ("gptj_accumulate", "switch_base", "longformer_mlm", "orpo_qwen", "distil_llama", "dora_mistral",
         "mobilenet_v3", "maxvit", "edm2_unet", "unet3d", "wavenet_vocoder", "data2vec_vision",
         "fibinet_ctr", "convlstm_nowcast", "gin_virtual_node", "iqn_atari", "transolver_airfoil",
         "codegen_decode", "internlm2_scoring", "vae_decoder", "ast_audio", "nafnet")
CROWN = ("mobilellm", "pix2struct_decode", "albert_xxlarge", "cait", "prott5_lora", "dalle_mini_multisteps",
         "solar_decode", "bonito_lstm", "wide_resnet", "ncf", "cgcnn_oc20", "galactica",
         "persimmon_decode", "xglm_accumulate", "phi_tiny_moe",
         "jais_decode", "mogrifier_lstm", "darknet53",
         "autoint_avazu", "track_graph", "mpt_1b")
ASIDE = {author * 7 + place for author in range(3) for place in (1, 4)}
ASIDE_OF_MEDAL = {1, 4, 7, 10, 13, 16, 18, 21}
ASIDE_OF_CROWN = {1, 4, 7, 10, 13, 16, 19}


def listed(kind, names, aside=frozenset(ASIDE)):
    for place, name in enumerate(names):
        for called, one in importlib.import_module(f"advice_{kind}_{name}").FAMILY.items():
            yield called, Listed(one["make"], place in aside, tuple(one["variants"]), one["is_donated"])


TPU = (dict(listed("tour", TOUR)) | dict(listed("round", ROUND)) | dict(listed("league", LEAGUE)) |
       dict(listed("cup", CUP)) | dict(listed("medal", MEDAL, ASIDE_OF_MEDAL)) |
       dict(listed("crown", CROWN, ASIDE_OF_CROWN)))
GPU = {name: for_a_gpu(one) for name, one in TPU.items()}
