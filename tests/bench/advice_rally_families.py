"""The families of advice_rally_*.py, of the kinds that the advice is judged by (docs/advice.md).

Written by three authors more who had seen neither the rules nor any figure of the advice; the changes are all that make
sense for a program, not a choice of them. Judged once, for a GPU. Kept aside is of each author the second and the
fifth.
"""
import advice_rally_conformer as conformer
import advice_rally_convnext as convnext
import advice_rally_dcn as dcn
import advice_rally_dreamer as dreamer
import advice_rally_evoformer as evoformer
import advice_rally_graphcast as graphcast
import advice_rally_mask2former as mask2former
import advice_rally_mmdit as mmdit
import advice_rally_ngp as ngp
import advice_rally_patchtst as patchtst
import advice_rally_sam as sam
import advice_rally_sasrec as sasrec
import advice_rally_stylegan2 as stylegan2
import advice_rally_videomae as videomae
from advice_court_families import DONATED, FLOAT32, LONG, MIXED, SERVED
from advice_rally_bart import bart_denoising
from advice_rally_gemma2 import gemma2_lora
from advice_rally_grpo import grpo_update
from advice_rally_mamba2 import mamba2_language
from advice_rally_mixtral import mixtral_prefill
from advice_rally_modernbert import modernbert_masked
from advice_rally_phi3 import phi3_decode
from advice_summit_families import WITHOUT_A_BATCH
from advice_unseen_families import Listed, for_a_gpu

TPU = {
    # Language, served and trained.
    "rally_phi3_1": Listed(phi3_decode(32, 3072, 32, 8, 96, 8192, 32064, batch=64, length=4096), False,
                           (*SERVED, "donate_inputs", "donate_inputs+halve_batch")),
    "rally_mamba2_2": Listed(mamba2_language(48, 2048, 128, 64, 50288, batch=8, length=1024), True, MIXED + LONG,
                             True),
    "rally_modernbert_3": Listed(modernbert_masked(22, 768, 12, 1152, 50368, batch=24, length=1024), False,
                                 DONATED + MIXED + LONG),
    "rally_bart_4": Listed(bart_denoising(12, 1024, 16, 4096, 50265, batch=8, length=512), False,
                           DONATED + FLOAT32 + LONG),
    "rally_gemma2_5": Listed(gemma2_lora(13, 2304, 8, 4, 256, 9216, 256000, batch=8, length=512), True, MIXED + LONG,
                             True),
    "rally_grpo_6": Listed(grpo_update(28, 1536, 12, 2, 128, 8960, 151936, batch=8, prompt=128, answer=384), False,
                           MIXED + LONG, True),
    "rally_mixtral_7": Listed(mixtral_prefill(16, 4096, 32, 8, 128, 14336, 8, 32000, batch=8, length=2048, room=4096),
                              False, SERVED, True),
    # Pictures, video and generation.
    "rally_convnext_1": Listed(convnext.convnext_v2((3, 3, 27, 3), (128, 256, 512, 1024), 128), False,
                               DONATED + FLOAT32),
    "rally_mmdit_2": Listed(mmdit.mmdit(24, 1536, 24, 16), True, MIXED, True),
    "rally_mask2former_3": Listed(mask2former.mask2former_scenes(16), False, DONATED + MIXED),
    "rally_stylegan2_4": Listed(stylegan2.stylegan2(16), False, FLOAT32, True),
    "rally_videomae_5": Listed(videomae.video_mae(64), True, MIXED + LONG, True),
    "rally_sam_6": Listed(sam.sam_encoder(1024, 24, 16, (5, 11, 17, 23), 16), False,
                          tuple(one for one in SERVED if one != "halve_sequence")),
    "rally_ngp_7": Listed(ngp.ngp(2 ** 16), False, DONATED + FLOAT32),
    # Tables, a graph, speech, weather, control and science.
    "rally_dcn_26": Listed(dcn.dcn_v2_clicks(10000000, 32768), False, FLOAT32, True),
    "rally_conformer_17": Listed(conformer.conformer_speech(17, 512, 8, 24, 1600, 100), True, DONATED + MIXED + LONG),
    "rally_graphcast_16": Listed(graphcast.graphcast_weather(181, 360, 5, 101604, 512, 16, 183, 83), False,
                                 WITHOUT_A_BATCH),
    "rally_sasrec_2": Listed(sasrec.sasrec_items(4000000, 256, 4, 2, 64, 200, 256), False, FLOAT32 + LONG, True),
    "rally_dreamer_8192": Listed(dreamer.dreamer_world(48, 64), True, DONATED + MIXED + LONG),
    "rally_evoformer_12": Listed(evoformer.evoformer_training(12, 8, 96, 96), False, MIXED + LONG, True),
    "rally_patchtst_3": Listed(patchtst.patchtst_traffic(3, 128, 16, 256, 862, 16, 336, 96), False,
                               DONATED + FLOAT32 + LONG),
}
GPU = {name: for_a_gpu(listed) for name, listed in TPU.items()}
