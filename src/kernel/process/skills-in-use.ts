/**
 * The skills that a process uses in its present run, and the rules that the user granted with them. Both end with the
 * run; after a restart the user is asked again. Nothing of them passes to another process.
 */
import type { Effect } from "../../abi/effects.ts";
import { LateSet } from "../../lib/maps/late.ts";
import { slashLine } from "../../lib/slash.ts";
import type { Process } from "./process.ts";

type Speaking = Pick<Process["seed"], "intent" | "line">;

interface SkillsInUse {
  /** The run they belong to, by its start; null: a process with one run. */
  readonly run: number | null;
  readonly names: LateSet<string>;
  readonly rules: LateSet<string>;
}

const known = new WeakMap<Process, SkillsInUse>();

export function skillsInUse(self: Process): SkillsInUse {
  const run = self.conversation?.run?.startedMono ?? null;
  const now = known.get(self);
  if (now?.run === run) return now;
  const made = { run, names: new LateSet<string>(), rules: new LateSet<string>() };
  known.set(self, made);
  return made;
}

/**
 * Called when a call may begin. `byUser`: the user has just answered a question that shows the rules. What the user has
 * typed is an answer, too, unless a workspace brought the skill.
 */
export function beginSkills(self: Process, effects: readonly Effect[], byUser: boolean): void {
  for (const effect of effects) {
    if (effect.kind !== "spawn" || effect.skill === undefined) continue;
    const { names, rules } = skillsInUse(self);
    const { isTyped, isOwn, rules: wished } = effect.skill;
    names.add(effect.program);
    if (byUser || (isTyped && isOwn)) for (const rule of wished) rules.add(rule);
  }
}

/** Whether the user has typed `/name` in what the process works on. Text of other processes and files does not count. */
export function hasTyped(
  { conversation, seed }: { readonly conversation: Process["conversation"]; readonly seed: Speaking },
  name: string,
): boolean {
  const words = conversation === null ? seed.intent : (conversation.run?.words ?? "");
  // an agent that starts another one speaks for itself
  return seed.line.length === 0 && slashLine(words)?.name.toLowerCase() === name.toLowerCase();
}
