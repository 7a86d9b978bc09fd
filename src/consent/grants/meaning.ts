/** An approval that the user gave in words, with a plan: a grant whose rule is `meaning(bash: run the tests)`. */
import type { Grant } from "../../abi/grants.ts";

const RULE = /^meaning\(bash: ([\s\S]*)\)$/;

export function ruleOfMeaning(words: string): string {
  return `meaning(bash: ${words})`;
}

export function meaningOf({ rule, behavior }: Pick<Grant, "rule" | "behavior">): string | undefined {
  return behavior === "allow" ? RULE.exec(rule)?.[1] : undefined;
}
