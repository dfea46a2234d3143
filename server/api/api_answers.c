#include "server/api/api_answers.h"

// Forms that stand in several answers.
#define BUFFER                                                                                                         \
    "{logical_buffer_id: i, instruction: s, opcode: s, computation: s, memory_space: i, size_bytes: i, "               \
    "unpadded_bytes: i, padding_bytes: i, expansion: n?, category: s, allocation: {index: i, size_bytes: i, "          \
    "offset: i, parameter_number: i?}, shape: s, element_type: s, element_bits: i, dimensions: [{dimension: i, "       \
    "size: i, padded: i, tile: i}], op_name: s, source: s, stack: [s], reader_frame: i?, source_from: {way: s, "       \
    "instruction: s, links: i}?, line: s, argument: s?, phase: {name: s, rule: s, evidence: s}, start_step: i, "       \
    "start_instruction: s, end_step: i, end_instruction: s, shares_with: [{logical_buffer_id: i, instruction: "        \
    "s}]}"
#define SET                                                                                                            \
    "interventions: [s], predicted_total_bytes: i, low_bytes: i, high_bytes: i, kept_low_bytes?: i, fit: s?, names: "  \
    "[s], ways: i?, cost: "                                                                                            \
    "{numerics: i, speed: i, work: i, chips: i}, steps: [{id: s, name: s, parts?: i, predicted_total_bytes: i, "       \
    "low_bytes: i, high_bytes: i, saves_bytes: i, code: s?}]"
#define PLAN "{is_needed: b, fits: b, " SET "}?"
#define NEAREST                                                                                                        \
    "{is_needed: b, fits: b, " SET ", over_bytes: i, held_by: [s]?}?, least_ways?: {ways: i, predicted_total_bytes: "  \
    "i, basis: s}?"
#define ALTERNATIVES "[{kind: s, is_needed: b, fits: b, " SET "}]"

const char ANSWER_ADVISE[] =
    "{session: s, host: s, module: s, capacity_bytes: i?, total_bytes: i, peak_bytes: i, batch: i?, "
    "sequence: i?, is_training: b, held_by: [s]?, held_by_part: n?, not_counted: [s], interventions: [{id: s, applies: "
    "b, "
    "predicted_total_bytes: i?, "
    "predicted_peak_bytes: i, "
    "saves_bytes: i, low_bytes: i?, high_bytes: i?, changes_numerics: b, understood: n, evidence: [s], how: s?, name: "
    "s, code: s?,"
    " fit: s?, ways?: i, parts?: i, other_parts?: [{parts: i, predicted_total_bytes: i, low_bytes: i, high_bytes: i, "
    "fit: s?}], followed_total_bytes?: i, followed_high_bytes?: i, kept_low_bytes?: i, "
    "dimension?: {shape: s, op_name: s, dimension: i, from: i, to: i, padded: i}, from?: i, "
    "to?: i}], chains: [{" SET "}], plan?: " PLAN ", plan_without_sharding?: " PLAN ", alternatives?: " ALTERNATIVES
    ", nearest?: " NEAREST "}";

const char ANSWER_BUFFER[] = BUFFER;

const char ANSWER_BUFFER_HLO[] =
    "{session: s, host: s, module: s, logical_buffer_id: i, instruction: s, computation: s, operands: [s], "
    "operands_left_out: i, users: [s], users_left_out: i, computation_operations: i, computation_left_out: i, "
    "text: s, note: s}";

const char ANSWER_BUFFERS[] = "{session: s, host: s, module: s, memory_space: i, left_out: i, buffers: <" BUFFER ">}";

#define CHECK                                                                                                          \
    "state: s, asked: s, target: s?, compiler: s?, total: i, compiled: i, compiling: s?, reason: s?, rows: [{id: s, "  \
    "name: s, predicted_total_bytes: i?, low_bytes: i?, high_bytes: i?, compiled_total_bytes: i?, is_inside: b?, "     \
    "status: s, reason: s?, seconds: n}]}"

const char ANSWER_CHECK[] = "{session: s, module: s, check: {age_ms: i, " CHECK "?}";

const char ANSWER_CHECK_PROGRESS[] = "{session: s, module: s, rows: i}";

const char CHECK_PROGRESS[] = "{" CHECK;

const char ANSWER_DEVICE_MEMORY[] =
    "{session: s, files: [{name: s, size_bytes: i, modified_s: i, error: {code: s, message: s, file: s?, offset: "
    "i?}?, bytes: i, count: i, groups: [{kind: s, device: s, bytes: i, count: i}]}]}";

const char ANSWER_DEVICE_MEMORY_PROFILE[] =
    "{session: s, file: s, size_bytes: i, modified_s: i, frames_shown: s, bytes: i, count: i, groups: {kind: [i],"
    " device: [i], bytes: [i], count: [i]}, functions: {name: [i], file: [i], is_library: [b]}, frames: "
    "{function: [i], line: [i]}, nodes: {parent: [i], frame: [i], self_bytes: [i], self_count: [i], total_bytes: "
    "[i], total_count: [i]}, parts: {node: [i], group: [i], self_bytes: [i], self_count: [i], total_bytes: [i], "
    "total_count: [i]}, top: {function: [i], self_bytes: [i], self_count: [i], total_bytes: [i], total_count: "
    "[i]}, strings: [s]}";

const char ANSWER_DEVICES[] = "{devices: [{name: s, other_name: s?, capacity: s, capacity_bytes: i, source: s}]}";

const char ANSWER_DIFF[] =
    "{a: {session: s, host: s, module: s, peak_bytes: i, total_allocation_bytes: i, fragmentation_bytes: i}, b: "
    "{session: s, host: s, module: s, peak_bytes: i, total_allocation_bytes: i, fragmentation_bytes: i}, "
    "memory_space: i, peak_delta_bytes: i, total_delta_bytes: i, fragmentation_delta_bytes: i, categories: {rows:"
    " [{key: s, a_bytes: i, b_bytes: i, delta_bytes: i}]}, groups: {by: s, rule: s, rows: [*], left_out: i, "
    "left_out_delta_bytes: i, unchanged: i, unchanged_bytes: i}, buffers: {rows: [*], left_out: i, "
    "left_out_delta_bytes: i, unchanged: i, unchanged_bytes: i}, findings: [*]}";

const char ANSWER_EXPLAIN[] =
    "{messages: [{kind: s, error_code: s?, memory_space: s?, module: s?, needed_bytes: i?, capacity_bytes: i?, "
    "exceeded_bytes: i?, requested_bytes: i?, free_bytes: i?, reservable_bytes: i?, tensorcore_bytes: i?, "
    "sparsecore_bytes: i?, breakdown: <i>, largest: [{size_bytes: i, unpadded_bytes: i?, op_name: s?, source: s?,"
    " shape: s, label: s?, allocation_type: s?, link: s?}], largest_from: s?, scenario: s?, scenario_reason: s?, "
    "cause: s?, causes: [s], fixes: [{id: s, text: s, how: s?, changes_numerics: b, saves_bytes: i?, name: s, "
    "ways: i?, predicted_total_bytes: i?, low_bytes: i?, high_bytes: i?, fit: s?, evidence: [s], understood: n?}], "
    "excluded: "
    "[{id: s, name: s, why: s}], joined: {session: s, host: s, module: s, link: s, is_same_size: b, totals: "
    "{total_allocation_bytes: i, peak_bytes: i, padding_bytes: i, argument_bytes: i, output_bytes: i, "
    "constant_bytes: i, temporary_bytes: i}, replicated_arguments: [{name: s, shape: s, size_bytes: i, "
    "sharded_bytes: i?, partitions: i?}], disagreements: [s]}?, plan: " PLAN
    ", allocator: s?, requested_by: s?, largest_left_out: i, count: i, line: i, last_line: i, over_bytes: i?, "
    "who_holds: {from: s?, by: s?, rows: [{key: s, about: s?, size_bytes: i, share: n?, buffers: i, alike: i, "
    "alike_bytes: i}], left_out: i, left_out_bytes: i}, search: {sessions: i, session_count: i, programs: i, "
    "is_cut_short: b, nearest: {session: s, module: s, total_allocation_bytes: i, "
    "compared_bytes: i}?}?, "
    "loaded_together: {session: s, host: s, basis: s, programs: [{module: s, size_bytes: i, constant_bytes: i, "
    "temporary_bytes: i, is_failing: b}], left_out: i, left_out_bytes: i, unread: i, evicting_low_bytes: i, "
    "evicting_high_bytes: i, merging_high_bytes: i, notes: [s]}?, held_by: [s]?, held_by_part: n?, "
    "plan_without_sharding?: " PLAN ", alternatives?: " ALTERNATIVES ", nearest?: " NEAREST
    "}], messages_left_out: i, log_problem: s?, "
    "unreadable: [{path: s, reason: s}]}";

const char ANSWER_MEMORY_PROFILE[] =
    "{session: s, complete: b, hosts: [{host: s, error: {code: s, message: s, file: s?, offset: i?}?, state: s, "
    "events: i, other_events: i, left_out_events: i, steps: i, module_runs: i, begin_ps: i, end_ps: i, reason: s,"
    " memories: [{memory_id: s, events: i, allocations: i, frees: i, begin_ps: i, end_ps: i, tells_usage: b, "
    "tells_free: b, capacity_bytes: i?, peak_bytes: i, peak_ps: i, peak_row: i, peak_step: i, "
    "lifetime_peak_bytes: i, at_peak: {stack_bytes: i, heap_bytes: i, free_bytes: i, fragmentation: n?, "
    "largest_free_bytes: i?}, requested_bytes: i, allocated_bytes: i, held_at_begin_bytes: i, held_at_end_bytes: "
    "i, held_allocations: i, heap_at_end_bytes: i, unreplayed_events: i, silences: {begin_ps: [i], end_ps: [i]}, "
    "xprof: {allocations: i, frees: i, sampled: b, lifetime_peak_bytes: i, peak_ps: i}, notes: [s]}], advice: "
    "s}], notes: [s]}";

const char ANSWER_MEMORY_PROFILE_ACROSS[] =
    "{session: s, hosts: i, read: i, complete: b, unreadable: [{host: s, error: {code: s, message: s, file: s?, "
    "offset: i?}}], kinds: [{kind: s, memories: i, differing: i, median_host: s, median_memory_id: s, "
    "median_bytes: i, lowest_bytes: i, highest_bytes: i, lowest_host: s, highest_host: s, text: s}], memories: "
    "{host: [i], memory_id: [i], kind: [i], is_told: [b], peak_bytes: [i], peak_ps: [i], step: [i], more_bytes: "
    "[i], differs: [b]}, strings: [s], differing: [{row: i, cause: s, name: s, bytes: i, median_bytes: i, "
    "first_step: i?, text: s}], differing_left_out: i}";

const char ANSWER_MEMORY_PROFILE_BREAKDOWN[] =
    "{session: s, host: s, memory_id: s, row: i, time_ps: i, step: i, is_peak: b, heap_is_told: b, heap_bytes: i,"
    " stack_bytes: i?, free_bytes: i?, fragmentation: n?, largest_free_bytes: i?, explained_bytes: i, "
    "unexplained_bytes: i, strings: [s], rows: {op: [i], region_type: [i], data_type: [i], shape: [i], "
    "occurrences: [i], requested_bytes: [i], allocated_bytes: [i], total_bytes: [i], first_row: [i], first_step: "
    "[i], last_step: [i]}, xprof: {rows: i, note: s}}";

const char ANSWER_MEMORY_PROFILE_EVENTS[] =
    "{session: s, host: s, memory_id: s, total: i, offset: i, row: [i], time_ps: [i], is_free: [b], "
    "requested_bytes: [i], allocated_bytes: [i], heap_bytes: [i], stack_bytes: [i], free_bytes: [i], "
    "fragmentation: [n?], peak_bytes: [i], address: [s], step: [i], step_is_completed: [b], partner_row: [i], "
    "has_state: [b], unexplained_bytes: [i], unexplained_stack_bytes: [i], op: [i], region_type: [i], data_type: "
    "[i], shape: [i], thread: [i], strings: [s]}";

const char ANSWER_MEMORY_PROFILE_FINDINGS[] =
    "{session: s, host: s, memory_id: s, findings: [{kind: s, text: s, row: i, time_ps: i, step: i, from_ps: i?, "
    "to_ps: i?, op: s?, bytes: i?, count: i?, share: n?}]}";

const char ANSWER_MEMORY_PROFILE_HELD[] =
    "{session: s, host: s, memory_id: s, asked_op: s?, total: i, total_bytes: i, offset: i, row: [i], time_ps: "
    "[i], is_free: [b], requested_bytes: [i], allocated_bytes: [i], heap_bytes: [i], stack_bytes: [i], "
    "free_bytes: [i], fragmentation: [n?], peak_bytes: [i], address: [s], step: [i], step_is_completed: [b], "
    "partner_row: [i], has_state: [b], unexplained_bytes: [i], unexplained_stack_bytes: [i], op: [i], "
    "region_type: [i], data_type: [i], shape: [i], thread: [i], strings: [s]}";

const char ANSWER_MEMORY_PROFILE_MODULES[] =
    "{session: s, host: s, strings: [s], devices: [s], runs: {name: [i], device: [i], begin_ps: [i], end_ps: "
    "[i]}}";

const char ANSWER_MEMORY_PROFILE_OPS[] =
    "{session: s, host: s, memory_id: s, allocations: i, frees: i, frees_of_unseen: i, requested_bytes: i, "
    "allocated_bytes: i, over_allocation: n?, strings: [s], ops: {op: [i], allocations: [i], frees: [i], "
    "requested_bytes: [i], allocated_bytes: [i], held_bytes: [i], largest_bytes: [i], median_lifetime_ps: [i]}, "
    "sizes: {from_bytes: [i], to_bytes: [i], count: [i], bytes: [i]}, lifetimes: {from_ps: [i], to_ps: [i], "
    "count: [i], bytes: [i]}, never_freed: {count: i, bytes: i}}";

const char ANSWER_MEMORY_PROFILE_PRESSURE[] =
    "{session: s, host: s, memory_id: s, state: s, tightest: {row: i, time_ps: i, free_bytes: i, "
    "largest_free_bytes: i?, fragmentation: n?}?, largest_request: {row: i, time_ps: i, allocated_bytes: i, op: "
    "s}?, tight_events: i, moments: [{row: i, time_ps: i, free_bytes: i, largest_free_bytes: i?, fragmentation: "
    "n?, until_ps: i, kind: s, request_bytes: i, request_is_known: b, step: i, step_name: s, text: s}], left_out:"
    " i, text: s}";

const char ANSWER_MEMORY_PROFILE_STEPS[] =
    "{session: s, host: s, memory_id: s, steps: {name: [s], step: [i], begin_ps: [i], end_ps: [i], allocations: "
    "[i], frees: [i], heap_at_end_bytes: [i], peak_bytes: [i], held_bytes: [i]}, all_steps: i, steps_per_entry: "
    "i, strings: [s], growth: {op: [i], first_step: [i], last_step: [i], steps_growing: [i], held_at_end_bytes: "
    "[i], held_at_end_count: [i], slope_bytes: [n], is_leak: [b], held_bytes: [[i]], left_out: i}, verdict: "
    "{leaks: b, op: s?, slope_bytes: n?, leaking_ops: i, text: s}}";

const char ANSWER_MEMORY_PROFILE_TIMELINE[] =
    "{session: s, host: s, memory_id: s, from_ps: i, to_ps: i, buckets: i, events: i, is_exact: b, tells_usage: "
    "b, tells_free: b, before: *, bucket: [i], count: [i], first_row: [i], time_ps: [i], last_time_ps: [i], "
    "peak_row: [i], heap_min: [i], heap_max: [i], stack_min: [i], stack_max: [i], free_min: [i], free_max: [i], "
    "used_min: [i], used_max: [i], heap_last: [i], stack_last: [i], free_last: [i], fragmentation_min: [n?], "
    "fragmentation_max: [n?], fragmentation_last: [n?], largest_free_min: [i?]}";

const char ANSWER_MEMORY_VIEW[] =
    "{session: s, host: s, module: s, module_name: s, entry_computation: s, memory_space: i, memory_space_name: "
    "s, memory_spaces: [{space: i, name: s, peak_bytes: i, total_allocation_bytes: i, thread_local_bytes: i}], "
    "totals: {peak_bytes: i, peak_position: i, total_allocation_bytes: i, indefinite_bytes: i, parameter_bytes: "
    "i, output_bytes: i, aliased_bytes: i, constant_bytes: i, thread_local_bytes: i, temporary_bytes: i, "
    "fragmentation_bytes: i, padding_bytes: i, peak_unpadded_bytes: i, peak_instruction: s, scoped_vmem_bytes: i,"
    " scoped_vmem_instruction: s}, compiler_report: {total_bytes: i, agrees: b, difference_bytes: i}?, xprof: "
    "{peak_bytes: i, peak_unpadded_bytes: i, entry_parameter_bytes: i, total_allocation_bytes: i, "
    "indefinite_bytes: i}?, notes: [s], program: {steps: i, heap_bytes: [i], unpadded_bytes: [i], instruction: "
    "[i]}, buffers: {logical_buffer_id: [i], allocation: [i], offset: [i], size_bytes: [i], unpadded_bytes: [i], "
    "start_step: [i], end_step: [i], category: [i], instruction: [i], opcode: [i], shape: [i], op_name: [i], "
    "source: [i]}, at_peak: [i], allocations: {index: [i], size_bytes: [i], category: [i], buffer_count: [i]}, "
    "strings: [s], delta?: {program: [s], buffers: [s]}}";

const char ANSWER_MEMORY_VIEW_GROUPS[] =
    "{session: s, host: s, module: s, memory_space: i, by: s, rule: s?, line_share: n?, step: i, weight: s, "
    "live_bytes: i, unknown_bytes: i, rows: {key: [s], size_bytes: [i], padding_bytes: [i], buffers: [i], share: "
    "[n], first_member: [i], about: [s], place: [s], size_x_lifetime: [i], phase_rule?: [s], phase_evidence?: "
    "[s]}, members: [i]}";

const char ANSWER_MEMORY_VIEW_GROUPS_ROWS[] =
    "{session: s, host: s, module: s, memory_space: i, by: s, rule: s?, line_share: n?, key_of_row: [i], strings:"
    " [s]}";

const char ANSWER_MEMORY_VIEW_OVERVIEW[] =
    "{session: s, host: s, module: s, module_name: s, entry_computation: s, memory_space: i, memory_space_name: "
    "s, memory_spaces: [{space: i, name: s, peak_bytes: i, total_allocation_bytes: i, thread_local_bytes: i}], "
    "totals: {peak_bytes: i, peak_position: i, total_allocation_bytes: i, indefinite_bytes: i, parameter_bytes: "
    "i, output_bytes: i, aliased_bytes: i, constant_bytes: i, thread_local_bytes: i, temporary_bytes: i, "
    "fragmentation_bytes: i, padding_bytes: i, peak_unpadded_bytes: i, peak_instruction: s, scoped_vmem_bytes: i,"
    " scoped_vmem_instruction: s}, compiler_report: {total_bytes: i, agrees: b, difference_bytes: i}?, xprof: "
    "{peak_bytes: i, peak_unpadded_bytes: i, entry_parameter_bytes: i, total_allocation_bytes: i, "
    "indefinite_bytes: i}?, notes: [s], program: {steps: i, step: [i], heap_bytes: [i], unpadded_bytes: [i]}, "
    "categories: [{name: s, allocated_bytes: i, buffers_at_peak: i, bytes_at_peak: i, padding_at_peak: i}], rows:"
    " i, at_peak: {buffers: i, size_bytes: i, padding_bytes: i}, largest_at_peak: {row: [i], logical_buffer_id: "
    "[i], allocation: [i], offset: [i], size_bytes: [i], unpadded_bytes: [i], start_step: [i], end_step: [i], "
    "category: [i], instruction: [i], opcode: [i], shape: [i], op_name: [i], source: [i]}, left_out: {buffers: i,"
    " size_bytes: i, padding_bytes: i}, strings: [s]}";

const char ANSWER_MODULES[] =
    "{session: s, hosts?: [{name: s, file: s, size_bytes: i, modules: i, error: {code: s, message: s, file: s?, "
    "offset: i?}?}], since?: s, version: s, complete: b, modules: [{name: s, module_name: s, program_id: i?, "
    "host: s, file: s, hosts: [s], family?: i, hlo_bytes: i, state: s, error: {code: s, message: s, file: s?, "
    "offset: i?}?, memory_spaces: [{space: i, name: s, peak_bytes: i, total_allocation_bytes: i}]}]}";

const char ANSWER_SERVER[] =
    "{version: s, logdir: s, sample: b, shared: b, urls: [s], cache: {entries: i, used_bytes: i, loads: i, "
    "evictions: i}, loads: {running: i, slow: i, waiting: i}, memory: {resident_bytes: i, own_bytes: i, "
    "counted_bytes: i, cache_limit_bytes: i, limit_bytes: i?}}";

const char ANSWER_SESSION[] =
    "{session: s, files: i, unreadable_files: i, size_bytes: i?, programs: i, devices: [{host: s, plane: s, count:"
    " i, type: s?, name: s?, capacity_bytes: i?, capacity_from: s?}], tools: [s]}";

const char ANSWER_SESSIONS[] =
    "{logdir: s, sample: b, version: s, sessions: [{name: s, modified_s: i, version: s}], device_memory: [{name: "
    "s, modified_s: i, version: s}], pending: [{path: s, reason: s}], left_out: [{path: s, reason: s}]}";

const char ANSWER_TREND[] =
    "{tool: s, subject: s?, memory_space: i?, memory_space_name: s?, by: s?, complete: b, sessions: i, ready: i, "
    "pending: i, left_out: i, points: {session: [s], file: [s?], time_s: [i], time_from: [s], state: [s], reason:"
    " [s?], reason_file: [s?], host: [s?], name: [s?], of: [i], peak_bytes: [i?], peak_delta_bytes: [i?], "
    "total_allocation_bytes: [i?], total_delta_bytes: [i?]}, lines: {key: [s], bytes: [[i?]], rest_bytes: [i?]}, "
    "jump: {before: {point: i, session: s, file: s?, host: s, name: s}, after: {point: i, session: s, file: s?, "
    "host: s, name: s}, peak_delta_bytes: i, total_delta_bytes: i?, groups: {rows: [{key: s, a_key: s, a_bytes: "
    "i, b_bytes: i, delta_bytes: i, a_buffers: i, b_buffers: i}], left_out: i, left_out_delta_bytes: i}, error: "
    "{code: s, message: s, file: s?, offset: i?}?, text: s}?, names: [{name: s, sessions: i}], has_more_names: b, "
    "unlisted: [{path: s, reason: s}]}";

const char ANSWER_WORK[] =
    "{requests: [{path: s, request: s, waited_ms: i, read_bytes: i, wanted_bytes: i, listed_names: i, files: i}]}";
