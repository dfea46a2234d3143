// @ts-check
/** The programs of a session that may be loaded together with one that found no room (0101), in words. Pure. */
import { column } from "../../../base/column.js";

/** @param {{session: string}} loaded */
export function loadedTitle({ session }) {
  return `The programs of ${session}, which may be loaded together`;
}

export const LOADED_COLUMNS = [
  column("module", "Program", "text", "module", { csv: "Program" }),
  column("size", "Keeps", "size", "size_bytes", { csv: "SizeBytes" }),
  column("constants", "Constants", "size", "constant_bytes", { csv: "ConstantBytes" }),
  column("temporaries", "Temporaries", "size", "temporary_bytes", { csv: "TemporaryBytes" }),
  column("failing", "Found no room", "text", "is_failing", { csv: "FoundNoRoom" }),
];
