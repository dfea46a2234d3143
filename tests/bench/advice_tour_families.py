"""The families of advice_tour_*.py, advice_round_*.py and advice_league_*.py, by which the advice is judged
(docs/advice.md).

Each set by three authors more who had seen neither the rules nor any figure of the advice: programs as most people
train and serve them. Each module says what its program takes (FAMILY); the changes are all that make sense for it.
Judged once, for a GPU: round after rules had been made with tour in view, league after rules had been made with both.
Kept aside is of each author the second and the fifth.
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
ASIDE = {author * 7 + place for author in range(3) for place in (1, 4)}


def listed(kind, names):
    for place, name in enumerate(names):
        for called, one in importlib.import_module(f"advice_{kind}_{name}").FAMILY.items():
            yield called, Listed(one["make"], place in ASIDE, tuple(one["variants"]), one["is_donated"])


TPU = dict(listed("tour", TOUR)) | dict(listed("round", ROUND)) | dict(listed("league", LEAGUE))
GPU = {name: for_a_gpu(one) for name, one in TPU.items()}
