/** Models as lines name them. */
import type { Result } from "../../abi/methods/methods.ts";
import { safeLine } from "./text/safe-text.ts";

export function nameOf({ driver, model }: { readonly driver: string; readonly model: string }): string {
  return safeLine(model === "" ? driver : `${driver}/${model}`);
}

/** `openai/model-large answers from the next run on`; with a warning below it where no table has the model. */
export function chosenWords(found: Result<"process.model">): string {
  const note = found.note === undefined ? "" : `\n! ${safeLine(found.note)}`;
  return `${nameOf(found)} answers from the next ${found.from} on${note}`;
}
