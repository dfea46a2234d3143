// @ts-check
// What Compare says when there is nothing to compare.
import { code, copyable, message, paragraph } from "../../../shell/messages.js";

export function noProgram(session, name) {
  return message(
    name ? `There is no module "${name}" in ${session}.` : `${session} holds no compiled program.`,
    paragraph(
      "Choose another one at the left. A comparison is of two compiled programs, of any two sessions under the log " +
        "directory.",
    ),
    paragraph("For two files anywhere:"),
    copyable("hbmview diff BEFORE AFTER", "copy the command"),
    paragraph("BEFORE and AFTER are what ", code("hbmview report"), " takes."),
  );
}
