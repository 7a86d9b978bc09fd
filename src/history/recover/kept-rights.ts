/**
 * Rights as the record of a spawn has them. A part that is missing or not understood is the empty one: nobody's rights grow
 * by a record that cannot be read. Where denies cannot be read, nothing is left at all.
 */
import type { PermissionMode } from "../../abi/process.ts";
import { ALL_RIGHTS, NO_RIGHTS, type Rights } from "../../abi/rights.ts";
import { RULE_SOURCES, type RuleText } from "../../abi/rules.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { readMode } from "../../kernel/process/rights/mode-facet.ts";
import { lowest } from "../../kernel/process/rights/narrow.ts";

/** Keys of the record of a spawn. */
export interface KeptRights {
  /** In which it began. */
  readonly mode: PermissionMode;
  /** Absent: of a version that had none. */
  readonly rights?: Rights;
  readonly line?: readonly number[];
  /** Of that version; null: no restriction. */
  readonly allowedDevices?: readonly string[] | null;
}

export function rightsOf(body: Partial<KeptRights>): Rights {
  if (body.rights !== undefined) return readRights(body.rights);
  // its mode was all that bound it, besides its devices, and nothing raised it
  if (body.allowedDevices === undefined) return NO_RIGHTS;
  return { ...ALL_RIGHTS, allow: [], mode: readMode(body.mode), devices: list(body.allowedDevices) };
}

/** As the policy is now: what may not be entered any more is `default`. */
export function presentMode(
  { permitFor }: Pick<KernelPorts, "permitFor">,
  mode: PermissionMode,
  cwd: string,
): PermissionMode {
  return permitFor(cwd).mayEnter?.(mode) === false ? lowest(mode, "default") : mode;
}

function readRights(kept: unknown): Rights {
  const part = (typeof kept === "object" && kept !== null ? kept : {}) as Record<string, unknown>;
  const [deny, ask] = [rules(part.deny), rules(part.ask)];
  if (deny === null || ask === null) return NO_RIGHTS;
  return {
    mode: readMode(part.mode),
    devices: list(part.devices),
    tools: list(part.tools),
    hosts: list(part.hosts),
    roots: list(part.roots),
    deny,
    ask,
    allow: part.allow === null ? null : (rules(part.allow) ?? []),
  };
}

function list(kept: unknown): readonly string[] | null {
  if (kept === null) return null;
  return Array.isArray(kept) ? kept.filter((entry) => typeof entry === "string") : [];
}

/** null: one of them is not understood. */
function rules(kept: unknown): readonly RuleText[] | null {
  return Array.isArray(kept) && kept.every(isRule) ? kept : null;
}

function isRule(rule: unknown): rule is RuleText {
  const { source, behavior, text } = (rule ?? {}) as Partial<RuleText>;
  return (
    typeof text === "string" &&
    RULE_SOURCES.some((known) => known === source) &&
    (behavior === "allow" || behavior === "ask" || behavior === "deny")
  );
}
