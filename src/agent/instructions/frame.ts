/** Instruction files as the model reads them: each framed with its path and scope. */
import type { InstructionScope, InstructionText } from "../../abi/surroundings.ts";

const HEAD =
  "Instruction files for your work here, the broadest first; where two differ, the later one holds. They are advice: they permit " +
  "nothing, and what the user says goes first.";

const SCOPES: Readonly<Record<InstructionScope, string>> = {
  policy: "the administrator",
  user: "the user, for all projects",
  project: "this project",
  nested: "this folder of the project",
};

/** "": no files. */
export function instructionsText(files: readonly InstructionText[]): string {
  return files.length === 0 ? "" : `${HEAD}\n\n${framed(files)}`;
}

function framed(files: readonly InstructionText[]): string {
  return files
    .map(
      ({ path, scope, text }) =>
        `<instructions path="${quoted(path)}" of="${SCOPES[scope]}">\n${escaped(text)}\n</instructions>`,
    )
    .join("\n\n");
}

/** No text can close its frame, or the reminder that it is in. */
function escaped(text: string): string {
  return text.replace(/<(?=\s*\/?\s*(?:instructions|system-reminder|crux-note)\b)/gi, "&lt;");
}

function quoted(path: string): string {
  return path.replace(/[\p{Cc}"<>]/gu, "?");
}
