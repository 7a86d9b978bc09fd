/** Which hosts commands may reach: what the settings allow, within what the process may, without what is denied. */
import type { Rights } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";

export interface NetworkSettings {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
}

export function sandboxNetwork(
  { allow = [], deny = [] }: NetworkSettings,
  rules: readonly RuleText[],
  rights: Rights | undefined,
): SandboxProfile["network"] {
  const hosts = rights?.hosts ?? null;
  const reached = hosts === null ? allow : allow.flatMap((rule) => within(rule, hosts));
  if (reached.length === 0) return "off";
  const refused = [...rules, ...(rights?.deny ?? [])].flatMap(hostOfDeny);
  return refused.includes("*") ? "off" : { allow: [...new Set(reached)], deny: [...deny, ...refused] };
}

/** The part of a rule that lies within the hosts; a port stays with it. */
function within(rule: string, hosts: readonly string[]): readonly string[] {
  const [, name = rule, port = ""] = /^(.*?)(:\d+)?$/.exec(rule) ?? [];
  return hosts.flatMap((host) => {
    if (covers(host, name)) return [rule];
    return covers(name, host) ? [host + port] : [];
  });
}

/** `*.h` takes what is below h, also `*.x.h`. */
function covers(pattern: string, name: string): boolean {
  if (pattern === name) return true;
  return pattern.startsWith("*.") && name.endsWith(pattern.slice(1)) && name.length >= pattern.length;
}

/** `*`: a rule that refuses every host. */
function hostOfDeny({ behavior, text }: RuleText): readonly string[] {
  if (behavior !== "deny") return [];
  if (/^fetch$/i.test(text)) return ["*"];
  const [, host] = /^(?:fetch|webfetch)\(domain:([^)]+)\)$/i.exec(text) ?? [];
  return host === undefined ? [] : [host];
}
