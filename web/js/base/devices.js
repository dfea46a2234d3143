// @ts-check
/**
 * What devices have, by the names that people give them: the one table of it. Sources:
 *     compiler   the "of N hbm" of real out-of-memory messages of libtpu on such a device: what a program may use
 *     vendor     the data sheet; driver and runtime keep some of it
 * A TPU's figure is that of one JAX device: a core of v2, v3 and v7x, a chip of the others (v4: two cores as one).
 * @typedef {{name: string, capacity: string, source: "compiler" | "vendor"}} Device
 */

/** @type {Device[]} */
export const DEVICES = [
  { name: "TPU v2", capacity: "7.48GiB", source: "compiler" },
  { name: "TPU v3", capacity: "15.48GiB", source: "compiler" },
  { name: "TPU v4", capacity: "30.75GiB", source: "compiler" },
  { name: "TPU v5e", capacity: "15.75GiB", source: "compiler" },
  { name: "TPU v5p", capacity: "95.73GiB", source: "compiler" },
  { name: "TPU v6e", capacity: "31.24GiB", source: "compiler" },
  { name: "TPU v7x", capacity: "94.74GiB", source: "compiler" },
  { name: "T4", capacity: "16GiB", source: "vendor" },
  { name: "L4", capacity: "24GiB", source: "vendor" },
  { name: "V100 16 GB", capacity: "16GiB", source: "vendor" },
  { name: "V100 32 GB", capacity: "32GiB", source: "vendor" },
  { name: "A100 40 GB", capacity: "40GiB", source: "vendor" },
  { name: "A100 80 GB", capacity: "80GiB", source: "vendor" },
  { name: "H100", capacity: "80GiB", source: "vendor" },
  { name: "H200", capacity: "141GiB", source: "vendor" },
  { name: "B200", capacity: "180GiB", source: "vendor" },
];

const SAID = {
  compiler: "as the compiler says",
  vendor: "as sold; driver and runtime keep some",
};

export const aboutDevice = ({ capacity, source }) => `${capacity}, ${SAID[source]}`;

/** "v5e", "tpu V5E" and "A100-80GB" find theirs; a name that several begin with finds none. @returns {Device | null} */
export function deviceNamed(text) {
  const wanted = plain(text);
  if (wanted === "") return null;
  const names = DEVICES.map((device) => ({ device, name: plain(device.name) }));
  const exact = names.find(({ name }) => name === wanted || name === `tpu${wanted}`);
  const begun = names.filter(({ name }) => name.startsWith(wanted));
  return exact?.device ?? (begun.length === 1 ? begun[0].device : null);
}

const plain = (text) => text.toLowerCase().replace(/[\s_-]/g, "");
