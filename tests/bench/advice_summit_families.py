"""The families of advice_summit_*.py, of the kinds that the advice is judged by (docs/advice.md).

Written by three authors more who had seen neither the rules nor any figure of the advice; the changes are all that make
sense for a program, not a choice of them. Judged once, for a GPU. Kept aside is of each author the second and the
fifth.
"""
from advice_court_families import DONATED, FLOAT32, LONG, MIXED, SERVED
from advice_summit_branchformer import spoken_branchformer
from advice_summit_climax import pretrained_climax
from advice_summit_command import command_verify
from advice_summit_deeper_gcn import protein_functions
from advice_summit_deepseek import deepseek
from advice_summit_detector import trained_detector
from advice_summit_electra import electra
from advice_summit_falcon import falcon_lora
from advice_summit_flow import rectified_flow
from advice_summit_griffin import trained_griffin
from advice_summit_jepa import video_jepa
from advice_summit_nemo import nemo_decode
from advice_summit_olmo import olmo
from advice_summit_pegasus import pegasus
from advice_summit_protein_mpnn import designed_proteins
from advice_summit_recurrent_ppo import recurrent_ppo
from advice_summit_registers import deit3_registers
from advice_summit_regnet import trained_regnet
from advice_summit_seeing import qwen2_vl_prefill
from advice_summit_vqgan import trained_vqgan
from advice_summit_wukong import wukong_clicks
from advice_unseen_families import Listed, for_a_gpu

# A graph has no batch that could be halved or dealt to parts.
WITHOUT_A_BATCH = tuple(one for one in DONATED + FLOAT32 if "halve_batch" not in one and one != "micro_batch")

# Criteo's display advertising: its columns, none of more rows than two million
CRITEO = (1460, 583, 2000000, 2000000, 305, 24, 12517, 633, 3, 93145, 5683, 2000000, 3194, 27, 14992, 2000000, 10,
          5652, 2173, 4, 2000000, 18, 15, 286181, 105, 142572)

TPU = {
    # Served, beside frozen weights.
    "summit_nemo_decode_40": Listed(
        nemo_decode(layers=40, width=5120, heads=32, groups=8, side=128, hidden=14336, vocab=131072, batch=16,
                    length=4096), False, ("donate_inputs", "donate_inputs+halve_batch", *SERVED)),
    "summit_command_verify_32": Listed(
        command_verify(layers=32, width=4096, heads=32, few=8, side=128, hidden=14336, vocab=256000, window=4096,
                       drafted=5, batch=16, length=16384), True, SERVED, True),
    "summit_falcon_lora_32": Listed(
        falcon_lora(layers=32, width=4544, vocab=65024, rank=64, batch=4, length=512), False,
        DONATED + MIXED + LONG),
    # Language models that are trained.
    "summit_olmo_16": Listed(
        olmo(layers=16, width=2048, heads=16, hidden=8192, vocab=50304, batch=8, length=768), False, MIXED + LONG,
        True),
    "summit_deepseek_12": Listed(
        deepseek(layers=12, width=1280, heads=16, nope=128, rope=64, rank=512, dense=6784, experts=32, each=6,
                 hidden=704, shared=2, vocab=102400, batch=16, length=512), True, DONATED + MIXED + LONG),
    "summit_electra_24": Listed(
        electra(30522, 1024, generator=(24, 256, 4, 1024), encoder=(24, 1024, 16, 4096), batch=16, length=512),
        False, DONATED + FLOAT32 + LONG),
    "summit_pegasus_16": Listed(
        pegasus(layers=16, width=1024, heads=16, hidden=4096, vocab=96103, batch=32, source=512, target=128), False,
        MIXED + LONG, True),
    # Pictures, video and generation.
    "summit_deit3_registers_24": Listed(
        deit3_registers(24, 1024, 16, 4096, batch=96, pixels=224), False, DONATED + MIXED),
    "summit_regnet_18": Listed(
        trained_regnet((2, 4, 11, 1), (224, 448, 1232, 3024), 112, batch=96, pixels=224), True, DONATED + FLOAT32),
    "summit_flow_18": Listed(rectified_flow(18, batch=32, side=32), False, MIXED, True),
    "summit_detector_12": Listed(
        trained_detector(12, 768, 12, batch=12, pixels=640), False, DONATED + FLOAT32),
    "summit_vqgan_256": Listed(
        trained_vqgan(128, (1, 1, 2, 2, 4), 2, codes=16384, latent=256, batch=16, pixels=256), True,
        DONATED + FLOAT32),
    "summit_jepa_24": Listed(
        video_jepa((24, 1024, 16), (12, 384, 12), batch=12, frames=16, pixels=224), False, MIXED + LONG, True),
    "summit_seeing_28": Listed(
        qwen2_vl_prefill(32, 1280, 16, 28, 3584, 28, 4, 128, 18944, 152064, batch=16, pixels=448,
                         length=768), False, SERVED, True),
    # Tables, a graph, speech, weather, recurrence, control, proteins.
    "summit_wukong_26": Listed(wukong_clicks(CRITEO, width=64, layers=8, batch=16384), False, FLOAT32, True),
    "summit_deeper_gcn_28": Listed(
        protein_functions(layers=28, hidden=64, nodes=13256, edges=790000), True, WITHOUT_A_BATCH),
    "summit_branchformer_17": Listed(
        spoken_branchformer(layers=17, width=512, heads=8, forward=1024, gated=3072, vocab=5000, batch=32,
                            frames=1600, said=64), False, MIXED + LONG, True),
    "summit_climax_8": Listed(
        pretrained_climax(variables=48, grid=(32, 64), patch=2, width=1024, depth=8, heads=16, batch=32), False,
        DONATED + MIXED),
    "summit_griffin_9": Listed(
        trained_griffin(groups=3, width=1280, inner=1536, heads=12, side=128, hidden=3840, vocab=32000, batch=8,
                        length=2048), True, DONATED + MIXED + LONG),
    "summit_recurrent_ppo_15": Listed(
        recurrent_ppo(channels=(32, 64, 64), hidden=512, cells=512, batch=32, steps=128), False,
        DONATED + FLOAT32 + LONG),
    "summit_protein_mpnn_6": Listed(
        designed_proteins(width=128, neighbours=48, encoders=3, decoders=3, batch=16, length=640), False,
        FLOAT32 + LONG, True),
}
GPU = {name: for_a_gpu(listed) for name, listed in TPU.items()}
