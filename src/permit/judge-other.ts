/** Judges the effects that are neither paths nor commands. */
import type { Effect } from "../abi/effects.ts";
import type { Case } from "./case.ts";
import { shown } from "./paths.ts";
import { describeRule, type Rule } from "./rule.ts";
import { allow, ask, deny, hardAsk, type Verdict } from "./verdict.ts";

type Network = Extract<Effect, { kind: "network" }>;
type Spawn = Extract<Effect, { kind: "spawn" }>;
type Unknown = Extract<Effect, { kind: "unknown" }>;

export function judgeNetwork(c: Case, effect: Network): Verdict {
  const host = effect.host.toLowerCase().replace(/\.$/, "");
  const always = /^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(host) ? `fetch(domain:${host})` : null;
  const what = `${effect.method} ${shown(host)}:${effect.port}`;
  return byRules(c, (rule) => namesHost(rule, host), what, always);
}

/** `*.h` on label borders, without `h` itself. */
function namesHost({ match }: Rule, host: string): boolean {
  if (match.kind !== "host") return false;
  return match.subdomains ? host.endsWith(`.${match.host}`) : host === match.host;
}

export function judgeSpawn(c: Case, { program }: Spawn): Verdict {
  const always = /^[\w.-]+$/.test(program) ? `agent(${program})` : null;
  const isNamed = ({ match }: Rule) => match.kind === "program" && match.name === program;
  return byRules(c, isNamed, `start ${shown(program)}`, always);
}

export function judgeUnknown(c: Case, { what }: Unknown): Verdict {
  return byRules(c, () => false, shown(what), null);
}

function byRules(c: Case, matches: (rule: Rule) => boolean, what: string, always: string | null): Verdict {
  const denied = c.rules.deny.find(matches);
  if (denied !== undefined) return deny("rule", `${describeRule(denied)} refuses ${what}`);
  const asked = c.rules.ask.find(matches);
  if (asked !== undefined) return hardAsk("rule", describeRule(asked), `${describeRule(asked)}: ${what}`);
  const allowed = c.allow.find(matches) ?? c.callRule;
  if (allowed !== undefined) return allow("rule", describeRule(allowed));
  const { mode } = c.subject;
  if (mode === "bypass") return allow("mode", "mode bypass");
  return ask("mode", `mode ${mode}`, `${what}: no rule allows it (mode ${mode})`, always);
}
