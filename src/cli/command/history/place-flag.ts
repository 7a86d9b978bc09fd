/** Parses `--at <step>`, or `--at seq:<n>` for a record of the process's own history. */
import type { Params } from "../../../abi/methods/methods.ts";
import { type Args, textFlag } from "../../args.ts";
import { invalid } from "../../screen/errors.ts";

type Place = NonNullable<Params<"process.fork">["at"]>;

export function placeFlag(args: Args, usage: string): { at?: Place } {
  const text = textFlag(args, "at");
  if (text === undefined) {
    if (args.flags.has("at")) throw invalid("--at needs a step", usage);
    return {};
  }
  const [, isSeq, digits] = /^(seq:)?(\d{1,15})$/.exec(text) ?? [];
  if (digits === undefined) throw invalid(`--at needs a step or seq:<n>, not ${JSON.stringify(text)}`, usage);
  return { at: isSeq === undefined ? { step: Number(digits) } : { seq: Number(digits) } };
}
