// A small program whose temporary buffers lie in three allocations, as no program among the fixtures has it.
//
//     KiB from the ground
//     12 to 12.5   allocation 5  out       the output
//     10 to 12     allocation 4  p         the parameter
//      9 to 10     allocation 3            temporary, told by no trace
//      8 to  9     allocation 2  c         at 8.25, 0.5 KiB, step 0
//      0 to  8     allocation 1  a, b      a at 0, 4 KiB, steps 2 to 5; b at 6, 2 KiB, steps 3 to 4
//
// Encoded by hand; the numbers of fields are those of proto/hlo_fields.h.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

const ALLOC = 0;
const FREE = 1;
const U8 = 6;

const ALLOCATIONS = [
  { index: 1, size: 8192 },
  { index: 2, size: 1024 },
  { index: 3, size: 1024 },
  { index: 4, size: 2048, isParameter: true },
  { index: 5, size: 512, isOutput: true },
];

const BUFFERS = [
  { id: 1, name: "a", allocation: 1, offset: 0, size: 4096 },
  { id: 2, name: "b", allocation: 1, offset: 6144, size: 2048 },
  { id: 3, name: "c", allocation: 2, offset: 256, size: 512 },
  { id: 4, name: "p", allocation: 4, offset: 0, size: 2048 },
  { id: 5, name: "out", allocation: 5, offset: 0, size: 512 },
];

const TRACES = [
  {
    allocation: 1,
    events: [
      [ALLOC, 1],
      [ALLOC, 2],
      [FREE, 2],
      [FREE, 1],
    ],
  },
  {
    allocation: 2,
    events: [
      [ALLOC, 3],
      [FREE, 3],
    ],
  },
];

function varint(number) {
  const out = [];
  for (let rest = number; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...out, rest]);
    out.push((rest % 128) | 128);
  }
}

const field = (number, wire) => varint(number * 8 + wire);
const count = (number, value) => (value ? Buffer.concat([field(number, 0), varint(value)]) : Buffer.alloc(0));
const part = (number, ...values) => {
  const body = Buffer.concat(values.map((value) => (typeof value === "string" ? Buffer.from(value) : value)));
  return Buffer.concat([field(number, 2), varint(body.length), body]);
};

const nameOf = (id) => BUFFERS.find((one) => one.id === id)?.name ?? "";
const shape = (size) => [count(2, U8), part(3, varint(size)), part(5, part(1, varint(0)))];

function instruction({ id, name, size }) {
  const opcode = name === "p" ? "parameter" : "fusion";
  return part(2, part(1, name), part(2, opcode), part(3, ...shape(size)), count(35, id));
}

function module() {
  const body = [part(1, "main"), ...BUFFERS.map(instruction), count(5, 1), count(6, 5)];
  return [part(1, "jit_several"), part(2, "main"), part(3, ...body), count(5, 1), count(6, 1)];
}

const logicalBuffer = ({ id, size }) => part(1, count(1, id), count(2, size), part(3, count(4, id)));

function allocation({ index, size, isParameter, isOutput }) {
  const assigned = BUFFERS.filter((one) => one.allocation === index).map((one) =>
    part(9, count(1, one.id), count(2, one.offset), count(3, one.size)),
  );
  const use = [count(5, isParameter ? 1 : 0), count(7, isOutput ? 1 : 0)];
  return part(3, count(1, index), count(2, size), ...use, ...assigned);
}

function trace({ allocation: index, events }) {
  const told = events.map(([kind, id]) => part(1, count(1, kind), count(2, id), part(4, nameOf(id))));
  return part(4, ...told, count(3, index));
}

/** Puts it into a session of its own below a log directory. */
export function writeSession(logdir, session) {
  const folder = path.join(logdir, "plugins/profile", session);
  mkdirSync(folder, { recursive: true });
  const assignment = [...BUFFERS.map(logicalBuffer), ...ALLOCATIONS.map(allocation), ...TRACES.map(trace)];
  const bytes = Buffer.concat([part(1, ...module()), part(3, ...assignment)]);
  writeFileSync(path.join(folder, "jit_several.hlo_proto.pb"), bytes);
}
