/** Judges a call as a whole, before its effects: rules that name the tool, and the ceiling of devices. */
import type { Effect } from "../abi/effects.ts";
import type { Subject } from "../kernel/ports/permit.ts";
import { isInsideAny } from "./paths.ts";
import { describeRule, type Rule } from "./rule.ts";
import type { RuleSet } from "./rule-set.ts";
import { deny, hardAsk, type Verdict } from "./verdict.ts";

const DEVICES = { read: "/dev/fs", write: "/dev/fs", exec: "/dev/shell" } as const;

/** What rules on the tool itself say; null: nothing. */
export function judgeCall(rules: RuleSet, tool: string, effects: readonly Effect[]): Verdict | null {
  const broken = rules.brokenPolicy;
  const isOwnState = effects.length > 0 && effects.every((effect) => effect.kind === "state");
  if (broken !== undefined && !isOwnState)
    return deny("rule", `${describeRule(broken)} cannot be understood, so policy refuses everything`);
  const denied = rules.deny.find((rule) => rule.match.kind === "all" && concerns(rule, tool, effects));
  if (denied !== undefined) return deny("rule", `${describeRule(denied)} refuses the tool`);
  const asked = [
    ...rules.ask.filter((rule) => rule.match.kind === "all"),
    ...[...rules.deny, ...rules.ask].filter(
      ({ match }) => match.kind === "malformed" || match.kind === "untold",
    ),
  ].find((rule) => concerns(rule, tool, effects));
  if (asked === undefined) return null;
  const why =
    asked.match.kind === "malformed" ? `${describeRule(asked)} cannot be understood` : describeRule(asked);
  return hardAsk("rule", describeRule(asked), `${tool}: ${why}`);
}

export function judgeCeiling({ allowedDevices }: Subject, effects: readonly Effect[]): Verdict | null {
  if (allowedDevices === null) return null;
  for (const { kind } of effects) {
    const device = kind === "read" || kind === "write" || kind === "exec" ? DEVICES[kind] : undefined;
    if (device === undefined || isInsideAny(allowedDevices, device)) continue;
    const message = `device not allowed: ${device}`;
    return deny("ceiling", message, message);
  }
  return null;
}

/** For an allow rule: the tool by name, a server by its prefix; the bare shell device runs what `bash` runs. */
export function namesTool(rule: Rule, tool: string): boolean {
  if (rule.tool === tool || (rule.tool === "bash" && tool === "shell")) return true;
  return rule.tool.startsWith("mcp__") && tool.startsWith(`${rule.tool}__`);
}

/** For deny and ask: also the bare devices that do the same, and for a rule without a name every tool. */
function concerns(rule: Rule, tool: string, effects: readonly Effect[]): boolean {
  if (rule.tool === "" || namesTool(rule, tool)) return true;
  const has = (kind: Effect["kind"]) => effects.some((effect) => effect.kind === kind);
  if (rule.tool === "bash") return has("exec");
  const isPathRule = tool === "fs" || rule.match.kind === "malformed";
  if (rule.tool === "view") return isPathRule && has("read");
  return (rule.tool === "edit" || rule.tool === "write") && isPathRule && has("write");
}
