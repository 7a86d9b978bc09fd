/** One requested change of a text, and the errors when it fails. */
import { failure } from "../failure.ts";
import { replaceText } from "./replace.ts";

export interface Edit {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all: boolean;
}

export interface Changed {
  readonly text: string;
  readonly count: number;
}

/** The checks that do not need the file. `place`: `edit 3 of 5: `, or "". */
export function checkEdit({ old_string, new_string }: Edit, place = ""): void {
  if (old_string === "")
    throw failure("INVALID", `${place}old_string is empty`, "To make a file or replace all of it, use write");
  if (old_string === new_string) throw failure("INVALID", `${place}old_string and new_string are equal`);
}

export function changeText(text: string, edit: Edit, place = ""): Changed {
  const { old_string: oldString, new_string: newString, replace_all: replaceAll } = edit;
  const made = replaceText(text, { oldString, newString, replaceAll });
  switch (made.kind) {
    case "replaced":
      return { text: made.text, count: made.count };
    case "none":
      throw failure(
        "INVALID",
        `${place}old_string not found in file. Make sure it matches exactly, including whitespace and line breaks.`,
      );
    case "many":
      throw failure(
        "INVALID",
        `${place}old_string appears multiple times. Provide more context for unique match, or set replace_all to true`,
        `It begins on lines ${made.lines.join(", ")}, counted from 1`,
      );
  }
}
