// @ts-check
/**
 * What devices have: by the names that people give them, as the server's one table says (GET /api/v1/devices), and of a
 * session's own, as its profile says (GET /api/v1/session).
 * @typedef {{name: string, other_name: string | null, capacity: string, source: "compiler" | "vendor"}} Device
 * @typedef {{host: string, plane: string, name: string | null, capacity_bytes: number | null,
 *            capacity_from: "memory_size" | "device_type" | null}} ProfiledDevice
 */

const SAID = {
  compiler: "as the compiler says",
  vendor: "as sold; driver and runtime keep some",
};

export const aboutDevice = ({ capacity, source }) => `${capacity}, ${SAID[source]}`;

/**
 * "v5e", "tpu V5E" and "A100-80GB" find theirs; a name that several begin with finds none. As the program's flags do
 * (analysis/base/device_kinds.h).
 * @param {Device[]} devices @param {string} text @returns {Device | null}
 */
export function deviceNamed(devices, text) {
  const wanted = plain(text);
  if (wanted === "") return null;
  const exact = devices.find((device) => plain(device.name) === wanted);
  const begun = devices.filter((device) => plain(device.name).startsWith(wanted));
  if (exact || begun.length > 0) return exact ?? (begun.length === 1 ? begun[0] : null);
  return devices.find((device) => device.other_name && plain(device.other_name) === wanted) ?? null;
}

const plain = (text) => text.toLowerCase().replace(/[\s_-]/g, "").replace(/^nvidia/, "").replace(/^(tesla|tpu)/, "");

/** The device of a host of which the profile tells what it has. @returns {ProfiledDevice | null} */
export function profiledDevice(contents, host) {
  const telling = (contents?.devices ?? []).filter((device) => device.capacity_bytes !== null);
  return telling.find((device) => device.host === host) ?? telling[0] ?? null;
}

const GIB = 2 ** 30;

/** What the address calls it: never more than there is. @param {ProfiledDevice} device */
export function capacityOfDevice({ capacity_bytes: bytes }) {
  return `${(Math.floor((100 * Number(bytes)) / GIB) / 100).toFixed(2)}GiB`;
}

/** @param {ProfiledDevice} device */
export function whereCapacityIsFrom({ plane, name, capacity_from: from }) {
  return from === "memory_size"
    ? `the memory_size of ${plane} in the profile`
    : `the profile names a ${name} in ${plane}; that much a program may use there`;
}
