// @ts-check
/**
 * The textual overview in XProf's words. Each line: a label, a figure in bytes, and, where XProf shows another number
 * for the same label, that number and why.
 * @typedef {{id: string, label: string, bytes: number, tail?: string, xprofBytes?: number, why?: string}} Line
 */
import { groupDigits } from "../../../base/format.js";

const WHY = {
  peak: "XProf replays the trace of one temporary allocation; here every temporary allocation of the space counts.",
  padding:
    "XProf counts the padding of temporary buffers only; here the padding of parameters and outputs is counted too.",
  arguments: "XProf adds up the entry computation's parameters; here it is the size of all parameter allocations.",
  total: "XProf leaves some allocations out of its total.",
};

const LIFETIME = "HLO lifetime temporary variables with fragmentation";

/** @returns {Line[]} */
export function overviewLines(view) {
  const own = figuresOf(view.totals, view.totals.scoped_vmem_bytes);
  const theirs = xprofFigures(view);
  return [
    line("peak", "Peak memory allocation", "peak", own, theirs, WHY.peak),
    line("with-fragmentation", "(with fragmentation)", "total", own, theirs, WHY.total),
    line("padding", "total padding overhead", "padding", own, theirs, WHY.padding),
    line("arguments", "total argument size", "arguments", own, theirs, WHY.arguments),
    line("temporaries", "stack simulated HLO temporary variables", "temporaries", own, theirs, WHY.peak),
    {
      ...line("lifetime", LIFETIME, "lifetime", own, theirs, WHY.total),
      tail: `(fragmentation ${(100 * own.fragmentation).toFixed(2)}%)`,
    },
    ...scopedLine(view.totals),
    ...compilerLine(view.compiler_report),
  ];
}

function figuresOf(t, scoped) {
  const peak = t.peak_bytes,
    total = t.total_allocation_bytes,
    indefinite = t.indefinite_bytes;
  const temporaries = peak - indefinite;
  const lifetime = total - indefinite;
  return {
    peak: scoped ? temporaries + scoped : peak,
    total: scoped ? lifetime + scoped : total,
    padding: peak - t.peak_unpadded_bytes,
    arguments: t.parameter_bytes + t.aliased_bytes,
    temporaries,
    lifetime,
    fragmentation: lifetime ? (total - peak) / lifetime : 0,
  };
}

function xprofFigures({ totals, xprof }) {
  if (!xprof) return null;
  const known = Object.fromEntries(Object.entries(xprof).filter(([, value]) => typeof value === "number"));
  const merged = { ...totals, ...known };
  if (typeof xprof.entry_parameter_bytes === "number") {
    Object.assign(merged, { parameter_bytes: xprof.entry_parameter_bytes, aliased_bytes: 0 });
  }
  return figuresOf(merged, totals.scoped_vmem_bytes);
}

function line(id, label, key, own, theirs, why) {
  const out = { id, label, bytes: own[key] };
  return theirs && theirs[key] !== own[key] ? { ...out, xprofBytes: theirs[key], why } : out;
}

function scopedLine(t) {
  if (!t.scoped_vmem_bytes) return [];
  const tail = `(${t.scoped_vmem_instruction})`;
  return [{ id: "scoped", label: "max scoped VMEM allocation", bytes: t.scoped_vmem_bytes, tail }];
}

// What a dump's memory-usage report counts: all allocations of the space, thread-local ones too.
function compilerLine(report) {
  if (!report) return [];
  const off = Math.abs(report.difference_bytes);
  const tail = report.agrees ? "(agrees)" : `(differs by ${groupDigits(off)} bytes)`;
  return [{ id: "compiler", label: "compiler's own count", bytes: report.total_bytes, tail }];
}
