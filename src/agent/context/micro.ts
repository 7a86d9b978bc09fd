/** Clears old results of tools that can be called again, so that nothing has to be summarised yet. Pure. */
import type { ClearedResult, ViewState } from "../../abi/context.ts";
import { targetOf } from "../deferred/target.ts";
import { callsOf } from "../model/blocks.ts";
import { pinnedOf } from "./fit.ts";
import type { Numbered, Unit } from "./units.ts";

/** Their results can be had again, and are large. */
const COMPACTABLE: ReadonlySet<string> = new Set([
  ...["view", "bash", "grep", "glob", "web_search", "fetch", "edit", "write"],
  ...["multi_edit", "notebook_edit", "ls", "job_output"],
]);
/** The newest results stay. */
const KEEP_RECENT = 5;
/** A run that frees less does nothing. */
const LEAST_FREED = 4_000;
/** What stands for a cleared result. */
const CLEARED_TOKENS = 16;

interface Cleared {
  readonly clears: readonly ClearedResult[];
  readonly freed: number;
}

/** undefined: too little would be freed. `scale`: of the window. */
export function clearOld(units: readonly Unit[], state: ViewState, scale: number): Cleared | undefined {
  const { view } = state;
  const pinned = pinnedOf(units, state);
  const results = units.filter((unit) => !pinned.includes(unit)).flatMap(clearable);
  const clears = new Map(view.clears.map((each) => [each.n, each]));
  let freed = 0;
  for (const { n, tokens } of results.slice(0, -KEEP_RECENT)) {
    const before = clears.get(n);
    if (tokens <= CLEARED_TOKENS || (before !== undefined && before.keep === undefined)) continue;
    clears.set(n, { n });
    freed += tokens - CLEARED_TOKENS;
  }
  if (freed < LEAST_FREED * scale) return undefined;
  return { clears: [...clears.values()].sort((a, b) => a.n - b.n), freed };
}

function clearable({ parts }: Unit): readonly Numbered[] {
  const [head, ...results] = parts;
  const names = new Map(callsOf(head?.message.blocks ?? []).map((call) => [call.id, targetOf(call).name]));
  return results.filter(({ message }) => COMPACTABLE.has(names.get(message.tool_call_id ?? "") ?? ""));
}
