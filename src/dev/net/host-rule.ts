/** Which hosts a sandbox may reach: `h`, `*.h` (below h, not h itself), each with `:port`; without, port 443. */
import { isIP } from "node:net";
import type { SandboxNetwork } from "../../abi/sandbox.ts";

/** A name as it is compared: lower case, without the dot at its end; undefined: no name, or an address. */
export function hostName(text: string): string | undefined {
  const name = text.toLowerCase().replace(/\.$/, "");
  if (name.length > 253 || isIP(name) !== 0) return undefined;
  const labels = name.split(".");
  // what ends in a number is read as an address by many: 2130706433, 0x7f.1
  if (/^(?:\d+|0x[\da-f]*)$/.test(labels.at(-1) ?? "")) return undefined;
  return labels.every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? name : undefined;
}

/** A deny without a port is for every port. Both arguments are compared as they are. */
export function mayReach({ allow, deny }: SandboxNetwork, host: string, port: number): boolean {
  const isOf = (rule: string, usual: number | undefined) => matches(rule, host, port, usual);
  return allow.some((rule) => isOf(rule, 443)) && !deny.some((rule) => isOf(rule, undefined));
}

function matches(rule: string, host: string, port: number, usual: number | undefined): boolean {
  const at = rule.lastIndexOf(":");
  const named = at < 0 ? usual : Number(rule.slice(at + 1));
  if (named !== undefined && named !== port) return false;
  const pattern = (at < 0 ? rule : rule.slice(0, at)).toLowerCase().replace(/\.$/, "");
  if (!pattern.startsWith("*.")) return pattern === host;
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}
