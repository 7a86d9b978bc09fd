/**
 * Reads the rights in the record of a spawn. A missing or unreadable part counts as empty, so that an unreadable record
 * never gives a process more rights. If the deny or ask rules, or the walls, cannot be read, no rights remain.
 */
import type { PermissionMode } from "../../../abi/process.ts";
import { ALL_RIGHTS, NO_RIGHTS, type OwnNotes, type Rights, type Wall } from "../../../abi/rights.ts";
import { RULE_SOURCES, type RuleText } from "../../../abi/rules.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { readMode } from "./mode-facet.ts";
import { lowest } from "./narrow.ts";

/** The part of the body of `process.spawned` that concerns rights. */
export interface KeptRights {
  /** The mode at the spawn. */
  readonly mode: PermissionMode;
  /** Absent: written by an older version without rights. */
  readonly rights?: Rights;
  readonly line?: readonly number[];
  /** Written by that older version only; null: no restriction. */
  readonly allowedDevices?: readonly string[] | null;
}

export function rightsOf(body: Partial<KeptRights>): Rights {
  if (body.rights !== undefined) return readRights(body.rights);
  // in that version only the mode and the devices limited a process, and nothing raised the mode
  if (body.allowedDevices === undefined) return NO_RIGHTS;
  return { ...ALL_RIGHTS, allow: [], mode: readMode(body.mode), devices: list(body.allowedDevices) };
}

/** The mode under the present policy: one that may no longer be entered becomes `default`. */
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
  const walls = wallsIn(part.walls);
  if (deny === null || ask === null || walls === null) return NO_RIGHTS;
  return {
    mode: readMode(part.mode),
    devices: list(part.devices),
    tools: list(part.tools),
    hosts: list(part.hosts),
    roots: list(part.roots),
    deny,
    ask,
    allow: part.allow === null ? null : (rules(part.allow) ?? []),
    ...(walls.length === 0 ? {} : { walls }),
    ...(part.noMemory === true ? { noMemory: true } : {}),
    ...notesIn(part.notes),
  };
}

function notesIn(kept: unknown): Pick<Rights, "notes"> {
  const { scope, folder, tools } = (kept ?? {}) as Partial<OwnNotes>;
  const isOne = (scope === "local" || scope === "user") && typeof folder === "string" && FOLDER.test(folder);
  return isOne ? { notes: { scope, folder, tools: list(tools) ?? [] } } : {};
}

const FOLDER = /^[a-z0-9_-]+$/;

/** null: one is not valid. */
function wallsIn(kept: unknown = []): readonly Wall[] | null {
  const isWall = (wall: Partial<Wall> | null) =>
    [wall?.dir, wall?.open, wall?.gitDir].every((path) => typeof path === "string");
  return Array.isArray(kept) && kept.every(isWall) ? kept : null;
}

function list(kept: unknown): readonly string[] | null {
  if (kept === null) return null;
  return Array.isArray(kept) ? kept.filter((entry) => typeof entry === "string") : [];
}

/** null: a rule is not valid. */
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
