/** What persons have granted a process, and which of it brought a decision about. Pure. */
import type { Grant } from "../../../abi/grants.ts";
import type { RuleText } from "../../../abi/rules.ts";

/** What counts for a process now. */
export interface Granted {
  /** Rule texts, oldest first. */
  readonly allow: readonly string[];
  readonly deny: readonly RuleText[];
  readonly ask: readonly RuleText[];
}

/** Would it be allowed with these? */
export type Allows = (granted: Granted) => boolean;

/** Of `counted`, those without which it is not allowed; where each alone can be spared but not all, all of them. */
export function necessary(counted: readonly Grant[], granted: Granted, allows: Allows): readonly Grant[] {
  if (!allows(granted) || allows(without(granted, counted))) return [];
  const needed = counted.filter((grant) => !allows(without(granted, [grant])));
  return needed.length === 0 ? counted : needed;
}

/** A rule that several gave is still there when one of them goes. */
function without(granted: Granted, taken: readonly Grant[]): Granted {
  const left = [...granted.allow];
  for (const { rule } of taken) {
    const at = left.indexOf(rule);
    if (at >= 0) left.splice(at, 1);
  }
  return { ...granted, allow: left };
}
