/** The rule of an "always" answer: a suggested one, or a narrower one that the user typed. Pure. */
import type { AskRule } from "../../abi/ask.ts";
import type { RuleDestination } from "../../abi/rules.ts";

const MAX_RULE_CHARS = 1_024;
const RULE = /^(?<tool>[\w./-]+)(?:\((?<content>.*)\))?$/s;
/** Wildcards at the end of a rule, for words and for paths. */
const OPEN_END = /(?::\*|\s\*|\*\*|(?<=^|\/)\*)$/;

export interface RuleChoice {
  readonly rule: string;
  readonly destination: RuleDestination;
}

/** undefined: no suggested rule covers the typed one. */
export function chooseRule(
  rules: readonly AskRule[],
  { rule, destination = "session" }: { rule?: string | undefined; destination?: RuleDestination | undefined },
): RuleChoice | undefined {
  const found = rules.find(
    (suggested) =>
      suggested.destinations.includes(destination) && isNarrower(suggested.rule, rule ?? suggested.rule),
  );
  return found === undefined ? undefined : { rule: rule ?? found.rule, destination };
}

/** Whether `typed` matches only what `suggested` matches. False where this cannot be seen from the texts. */
export function isNarrower(suggested: string, typed: string): boolean {
  if (typed === suggested) return true;
  const [wide, narrow] = [partsOf(suggested), partsOf(typed)];
  if (wide === undefined || narrow === undefined || wide.tool !== narrow.tool) return false;
  if (wide.content === undefined) return true;
  if (narrow.content === undefined || /(^|\/)\.\.(\/|$)/.test(narrow.content)) return false;
  const begin = wide.content.replace(OPEN_END, "");
  if (begin === wide.content || begin === "" || begin.includes("*")) return false;
  // `npm test:*` covers `npm test -u`, and not `npm tests`
  const rest = narrow.content.slice(begin.length);
  return narrow.content.startsWith(begin) && (/[/\s]$/.test(begin) || rest === "" || /^[\s:]/.test(rest));
}

function partsOf(rule: string): { tool: string; content: string | undefined } | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a rule is one line of plain text
  if (rule.length > MAX_RULE_CHARS || /[\x00-\x1f\x7f]/.test(rule)) return undefined;
  const groups = RULE.exec(rule)?.groups;
  return groups === undefined ? undefined : { tool: groups.tool ?? "", content: groups.content };
}
