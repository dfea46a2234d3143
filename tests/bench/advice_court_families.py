"""The families of advice_court_*.py, of the kinds that the advice is judged by (docs/advice.md).

Written by two authors more who had seen neither the rules nor any figure of the advice; the changes are all that make
sense for a program, not a choice of them. Judged once, for a GPU, before two rules were set anew (docs/advice.md). Kept
aside is of each author the second and the fifth.
"""
from advice_court_based import trained_based
from advice_court_cerebras import summed_cerebras
from advice_court_danube import preferring_danube
from advice_court_danube_served import danube_lora
from advice_court_deberta import masked_deberta
from advice_court_depth import frozen_dinov2_depth
from advice_court_intervals import next_goods_by_time
from advice_court_minicpm import scanned_minicpm
from advice_court_nucleotides import nucleotide_transformer
from advice_court_openelm import trained_openelm
from advice_court_short_videos import ranked_short_videos
from advice_court_sinkhorn import sinkhorn_lm
from advice_court_text_to_text import flan_t5_decode
from advice_court_yi import yi_decode
from advice_unseen_families import Listed, for_a_gpu

DONATED = ("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize")
SERVED = ("halve_batch", "halve_sequence", "shard_parameters", "shard_all", "int8_weights")
READ = (*SERVED, "bf16_parameters", "bf16_parameters.follow", "bf16_parameters+halve_batch", "bf16_temporaries")
MIXED = ("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
         "rematerialize_dots", "shard_parameters", "shard_all")
FLOAT32 = (*MIXED, "bf16_parameters.follow", "bf16_temporaries")
LONG = ("halve_sequence",)

# KuaiRand-27K: ids of its columns, and lists of what a user has watched, liked and followed
TABLES = {"user": 27288, "video": 32038726, "author": 8839736, "music": 3367144, "tag": 76, "upload_type": 28,
          "tab": 16, "active_degree": 12, "hour": 24}
LISTS = {"watched": ("video", 100), "watched_authors": ("author", 100), "liked": ("video", 30),
         "followed": ("author", 50), "tags": ("tag", 6)}

TPU = {
    # Served, beside frozen weights, tables.
    "court_flan_t5_decode_24": Listed(
        flan_t5_decode(24, 2048, 32, 64, 5120, 32128, batch=32, source=1024, target=512), False,
        ("donate_inputs", "donate_inputs+halve_batch", *SERVED)),
    "court_yi_decode_32": Listed(
        yi_decode(32, 4096, 32, 4, 128, 11008, 64000, batch=48, length=4096), True, SERVED, True),
    "court_nucleotides_encode_32": Listed(
        nucleotide_transformer(32, 2560, 20, 10240, 4105, batch=16, length=1000, saved=20), False, READ),
    "court_danube3_lora_16": Listed(
        danube_lora(16, 1536, 16, 8, 4096, 32000, rank=16, batch=32, length=640), False, MIXED + LONG, True),
    "court_frozen_dinov2_depth_24": Listed(
        frozen_dinov2_depth(24, 1024, 16, (4, 11, 17, 23), (256, 512, 1024, 1024), 256, batch=32, pixels=518), True,
        DONATED + FLOAT32),
    "court_short_videos_32038726": Listed(
        ranked_short_videos(TABLES, 32, tuple(TABLES), LISTS, dense=38, experts=8, expert_sizes=(512, 256, 128),
                            tasks=("click", "long_view", "like", "follow", "comment"), tower_sizes=(128, 64),
                            batch=49152), False, FLOAT32 + LONG, True),
    "court_intervals_4448184": Listed(
        next_goods_by_time(4448184, 64, 2, 2, spans=256, batch=256, length=50), False, DONATED + FLOAT32 + LONG),
    # Language models that are trained.
    "court_summed_cerebras_14": Listed(
        summed_cerebras(layers=14, width=1088, heads=17, hidden=4352, vocab=50257, steps=4, batch=32, length=512),
        False, DONATED + MIXED + LONG),
    "court_sinkhorn_experts_12": Listed(
        sinkhorn_lm(layers=12, width=1024, vocab=49155, batch=32, length=512, heads=16, groups=8, hidden=512,
                    experts=32, each=8, slack=1.25), True, DONATED + MIXED + LONG),
    "court_full_minicpm_24": Listed(
        scanned_minicpm(layers=24, width=2304, heads=36, hidden=5760, vocab=122753, batch=16, length=512), False,
        MIXED + LONG, True),
    "court_masked_deberta_12": Listed(
        masked_deberta(layers=12, width=768, heads=12, hidden=3072, vocab=128100, batch=32, length=256, masked=40),
        False, DONATED + FLOAT32 + LONG),
    "court_openelm_16": Listed(
        trained_openelm(layers=16, width=1280, vocab=32000, batch=32, length=512), True, MIXED + LONG, True),
    "court_based_12": Listed(
        trained_based("ctcwctcwctcw", width=1024, vocab=50280, batch=32, length=512, heads=16, hidden=2816,
                      features=16, window=64), False, DONATED + FLOAT32 + LONG),
    "court_preferring_danube_16": Listed(
        preferring_danube(layers=16, width=1536, heads=16, groups=8, hidden=4096, vocab=32000, batch=32, length=256),
        False, DONATED + MIXED + LONG),
}
GPU = {name: for_a_gpu(listed) for name, listed in TPU.items()}
