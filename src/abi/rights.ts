/**
 * What a process may beside what the settings say: made at its spawn from its parent's and its definition, journalled with it,
 * and from then on only narrowed. A person's grant is the one thing that widens it.
 */
import type { PermissionMode } from "./process.ts";
import type { RuleText } from "./rules.ts";

export interface Rights {
  /** The highest mode it may be in. */
  readonly mode: PermissionMode;
  /** Device paths it may open, with all below them; null: no restriction. */
  readonly devices: readonly string[] | null;
  /** Tools it may call, by canonical name; null: no restriction. */
  readonly tools: readonly string[] | null;
  /** Hosts it may reach, as in `fetch(domain:…)` without `domain:`; null: no restriction beside the rules. */
  readonly hosts: readonly string[] | null;
  /** Real paths it may work in; null: no restriction. */
  readonly roots: readonly string[] | null;
  /** Of those above it and its own definition, united. */
  readonly deny: readonly RuleText[];
  readonly ask: readonly RuleText[];
  /** Allow rules beside those of the settings: of the command line, a running skill. null: whatever it is given. */
  readonly allow: readonly RuleText[] | null;
}

/** The largest set: what nobody narrowed. */
export const ALL_RIGHTS: Rights = {
  mode: "bypass",
  devices: null,
  tools: null,
  hosts: null,
  roots: null,
  deny: [],
  ask: [],
  allow: null,
};
