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

/** The note for files that were found later; "": none. */
export function nestedText(files: readonly InstructionText[]): string {
  return files.length === 0 ? "" : reminder(framed(files));
}

/** A text of Crux among the words of the user. */
export function reminder(text: string): string {
  return `${OPEN}\n${text}\n</system-reminder>`;
}

export function isReminder(content: string): boolean {
  return content.startsWith(OPEN);
}

const OPEN = "<system-reminder>";

/** How the frame of a file begins. */
export function pathMark(path: string): string {
  return `<instructions path="${quoted(path)}"`;
}

function framed(files: readonly InstructionText[]): string {
  return files
    .map(
      ({ path, scope, text }) =>
        `${pathMark(path)} of="${SCOPES[scope]}">\n${escaped(text)}\n</instructions>`,
    )
    .join("\n\n");
}

/** No text can close its frame, or the reminder that it is in. */
export function escaped(text: string): string {
  return text.replace(/<(?=\s*\/?\s*(?:instructions|system-reminder|crux-note)\b)/gi, "&lt;");
}

function quoted(path: string): string {
  return path.replace(/[\p{Cc}"<>]/gu, "?");
}
