/** What the user has granted to a process, and which grants a decision depended on. Pure. */
import type { Grant } from "../../../abi/grants.ts";
import type { RuleText } from "../../../abi/rules.ts";

/** The grants that apply to a process now. */
export interface Granted {
  /** Rule texts, oldest first. */
  readonly allow: readonly string[];
  readonly deny: readonly RuleText[];
  readonly ask: readonly RuleText[];
}

/** Whether the call would be allowed with these grants. */
export type Allows = (granted: Granted) => boolean;

/** The grants of `counted` without which the call is not allowed; all, if each can be spared but not all together. */
export function necessary(counted: readonly Grant[], granted: Granted, allows: Allows): readonly Grant[] {
  if (!allows(granted) || allows(without(granted, counted))) return [];
  const needed = counted.filter((grant) => !allows(without(granted, [grant])));
  return needed.length === 0 ? counted : needed;
}

/** Removes one copy of the rule per grant: a rule given by several grants stays when one of them is removed. */
function without(granted: Granted, taken: readonly Grant[]): Granted {
  const left = [...granted.allow];
  for (const { rule } of taken) {
    const at = left.indexOf(rule);
    if (at >= 0) left.splice(at, 1);
  }
  return { ...granted, allow: left };
}
