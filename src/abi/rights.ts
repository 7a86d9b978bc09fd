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

/** What a new process is given beside its definition. Rules as in settings; only a person's `allow` goes beyond the parent's. */
export interface RightsWish {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly tools?: readonly string[];
  readonly hosts?: readonly string[];
  /** Rules of the settings that a person gave with the start. Of an agent's they only narrow. */
  readonly settings?: RuleLists;
}

export interface RuleLists {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
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

/** The smallest: what is left of a process whose rights cannot be read. */
export const NO_RIGHTS: Rights = {
  mode: "plan",
  devices: [],
  tools: [],
  hosts: [],
  roots: [],
  deny: [],
  ask: [],
  allow: [],
};
