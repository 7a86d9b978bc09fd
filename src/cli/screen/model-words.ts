/** Models as lines name them. */
import type { Result } from "../../abi/methods/methods.ts";
import { safeLine } from "./text/safe-text.ts";

export function nameOf({ driver, model }: { readonly driver: string; readonly model: string }): string {
  return safeLine(model === "" ? driver : `${driver}/${model}`);
}

/** `openai/model-large answers from the next run on` */
export function chosenWords(found: Result<"process.model">): string {
  return `${nameOf(found)} answers from the next ${found.from} on`;
}
