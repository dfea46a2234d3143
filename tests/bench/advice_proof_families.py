"""The families of advice_proof_*.py: of each kind that advice was known to misread, two at least.

By two authors more who had seen neither the rules nor any figure of the advice (the first wrote scenes, sequences and
tables). Judged once before any rule was changed with them in view: docs/advice.md.
"""
import advice_proof_decoders as decoders
import advice_proof_lines as lines
import advice_proof_scenes as scenes
import advice_proof_sequences as sequences
import advice_proof_serving as serving
import advice_proof_tables as tables
import advice_proof_words as words
from advice_unseen_families import FOLLOWED, INFERENCE, KEPT, LONG, USUAL, Listed

COLUMNS = (1400000, 700000, 410000, 260000, 150000, 96000, 61000, 43000, 27500, 15200, 11900, 7400, 5600, 3200, 2100,
           1540, 980, 640, 310, 155, 96, 60, 28, 20, 16, 8)
FOR_BOTH = "donate_inputs+rematerialize"

TPU = {
    "fields_that_look_26": Listed(tables.fields_that_look(COLUMNS, 96, 13, 3, 2, 32, (512, 256), 6144), False, (
        *FOLLOWED, "micro_batch", "bf16_temporaries", "donate_inputs+halve_batch")),
    "several_interests_64": Listed(tables.several_interests(
        3000000, 2400000, 420000, 64, 4, 3, 8192, 64, 8192), False, (
        *LONG, "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "linked_proteins_6": Listed(tables.linked_proteins(6, 33136, 640000, 8, 128, 112), False, (
        *(one for one in FOLLOWED if one != "halve_batch"), "bf16_temporaries", "donate_inputs+rematerialize")),
    "turned_molecules_4": Listed(tables.turned_molecules(4, 128, 20, 100, 28, 420, 256), False, (
        *FOLLOWED, "bf16_temporaries", "donate_inputs+rematerialize")),
    "split_residues_2352": Listed(scenes.split_residues((2, 3, 5, 2), 26, 4, 224, 128), False, (
        *USUAL, "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "widening_blocks_456": Listed(scenes.widening_blocks((4, 5, 6), 16, 300, 64, 640), False, (
        *FOLLOWED, "bf16_temporaries", "donate_inputs+rematerialize", "donate_inputs+halve_batch")),
    "all_before_34": Listed(scenes.all_before((6, 8, 12, 8), 40, 224, 160), False, (
        *USUAL, "micro_batch", "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "unrolled_scans_8": Listed(scenes.unrolled_scans(8, 64, 5, 12, 320, 4), False, (
        *FOLLOWED, "micro_batch", "bf16_temporaries", "donate_inputs+rematerialize")),
    "highway_ticks_7": Listed(sequences.highway_ticks(7, 1000, 33278, 64, 200), False, (
        *FOLLOWED, "halve_sequence", "micro_batch", "bf16_temporaries")),
    "sparse_blocks_6": Listed(sequences.sparse_blocks({
        "num_hidden_layers": 6, "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
        "block_size": 64, "num_random_blocks": 3, "max_position_embeddings": 4096}, 4, 2048), False, (
            *USUAL, "donate_inputs+rematerialize", "donate_inputs+halve_batch", "bf16_parameters+halve_batch")),
    "late_meetings_6": Listed(sequences.late_meetings(6, 768, 12, 128, 30522, 64, 32, 180), False, (
        *LONG, "rematerialize_dots", "donate_inputs+rematerialize")),
    "captioned_latents_14": Listed(sequences.captioned_latents(14, 864, 12, 32, 2, 4, 120, 4096, 32), False, (
        *USUAL, "micro_batch", "rematerialize_dots", "donate_inputs+halve_batch")),
    "states_and_caches_24": Listed(serving.states_and_caches(
        "sssssasssssasssssasssssa", 2048, 32, 8, 8192, 64, 128, 65536, 32, 4096), False, (
            *INFERENCE, "halve_sequence", "donate_inputs+halve_batch", "bf16_parameters+halve_batch",
            "donate_inputs+halve_sequence")),
    "drafted_experts_24": Listed(serving.drafted_experts(
        24, 1024, 16, 8, 32, 8, 512, 49156, 4, 24, 4096), False, (
            *INFERENCE[1:], "halve_sequence", "int8_weights", "bf16_parameters+halve_batch",
            "halve_batch+halve_sequence"), True),
    "next_few_words_12": Listed(decoders.next_few_words(12, 1024, 16, 4, 2816, 32000, 4, 4, 4, 1024), False, (
        *LONG, "rematerialize_dots", FOR_BOTH, "donate_inputs+halve_batch")),
    "rooms_of_sixteen_16": Listed(decoders.rooms_of_sixteen(512, 768, 32000, 256), False, (
        *LONG, "micro_batch", "donate_inputs+halve_batch")),
    "full_race_12": Listed(decoders.full_race(12, 1024, 8, 4096, 50304, 16, 1024), False, (
        *KEPT, "halve_sequence", "micro_batch", "rematerialize_dots", "bf16_parameters+halve_batch"), True),
    "equinox_starcoder_12": Listed(decoders.equinox_starcoder(12, 1536, 12, 2, 6144, 49152, 4, 768), False, (
        *LONG, "micro_batch", "rematerialize_dots", FOR_BOTH)),
    "ranked_answers_16": Listed(words.ranked_answers(16, 1024, 512, 16, 4096, 50272, 8, 32, 4, 256), False, (
        *LONG, "rematerialize_dots", FOR_BOTH, "donate_inputs+halve_batch")),
    "shared_projections_20": Listed(words.shared_projections(20, 2560, 32, 10240, 51200, 256, 4, 384), False, (
        *LONG, "rematerialize_dots", FOR_BOTH)),
    "untangled_places_12": Listed(words.untangled_places(12, 768, 12, 128100, 80, 8, 512), False, (
        *FOLLOWED, "halve_sequence", "micro_batch", "bf16_temporaries")),
    "few_units_128256": Listed(words.few_units(6, 640, 960, 2560, 128256, 8, 384), False, (
        *LONG, "micro_batch", "bf16_parameters+halve_batch")),
    "sparse_passages_6": Listed(words.sparse_passages(6, 768, 12, 30522, 32, 32, 160), False, (
        *FOLLOWED, "halve_sequence", "micro_batch", "bf16_temporaries")),
    "read_lines_12": Listed(lines.read_lines((12, 768, 12), (6, 1024, 16), 16, 384, 384, 50265, 12, 128), False, (
        *USUAL, "micro_batch", "rematerialize_dots", FOR_BOTH)),
}
