// @ts-check
// What the Device Memory tool says when there is nothing to draw.
import { code, copyable, headed, linkList, message, paragraph } from "../../../shell/messages.js";

const SNIPPET = `import jax

jax.profiler.save_device_memory_profile("memory.prof")   # what is held at this moment`;

export function noFiles(session) {
  return message(
    "This session has no device memory profile.",
    paragraph(
      "A device memory profile tells which Python code holds the arrays and executables that are alive at one " +
        "moment. Looked for one in the folder of ",
      code(session),
      ": a file such as ",
      code("memory.prof"),
      " that jax wrote.",
    ),
    headed("To make one with JAX, where the memory is full", copyable(SNIPPET, "copy the program")),
    paragraph(
      "Such a file in the session's folder shows up here; anywhere else in the log directory it becomes a session " +
        "of its own at the left. Or open it directly: ",
      code("hbmview --logdir=memory.prof"),
      ".",
    ),
  );
}

export function unknownFile(name, files, onOpen) {
  return message(
    `This session has no device memory profile "${name}".`,
    paragraph("There are:"),
    linkList(
      files,
      (file) => file.name,
      (file) => onOpen(file.name),
    ),
  );
}

export function nothingHeld(reply) {
  return message(
    "Nothing was held.",
    paragraph(
      code(reply.file),
      " is a device memory profile without a single array or executable: none was alive when it was saved.",
    ),
  );
}
