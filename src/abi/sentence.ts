/**
 * What a question of the gate says, as facts that each client words in its language. `english` words what stays text
 * everywhere: logs, JSON, what a model reads.
 */
import type { PermissionMode } from "./process.ts";
import { RULE_SOURCE_WORDS, type RuleSource } from "./rules.ts";

export type Sentence =
  | { readonly kind: "plain"; readonly id: PlainSentence }
  | { readonly kind: "mode"; readonly mode: PermissionMode }
  | ({ readonly kind: "rule" } & NamedRule)
  /** A command, a server, a host: only the mode makes it ask. */
  | { readonly kind: "no_rule"; readonly what: string; readonly mode: PermissionMode }
  | ({ readonly kind: "access"; readonly isOutside: boolean; readonly mode: PermissionMode } & Access)
  | ({ readonly kind: "command_by_rule"; readonly command: string } & NamedRule)
  | ({ readonly kind: "path_by_rule" } & Access & NamedRule)
  /** `why`: the kind of the protected place. */
  | ({ readonly kind: "protected"; readonly why: string } & Access)
  | { readonly kind: "removes"; readonly command: string }
  | { readonly kind: "unread"; readonly text: string; readonly why: string }
  | { readonly kind: "has_read"; readonly what: string; readonly origin: string }
  | { readonly kind: "no_sandbox"; readonly why: string }
  | { readonly kind: "replaces_some"; readonly count: number }
  | { readonly kind: "shown_in_part"; readonly name: string; readonly characters: number }
  | ({ readonly kind: "sandbox" } & Confined);

interface NamedRule {
  readonly rule: string;
  readonly source: RuleSource;
}

interface Access {
  readonly access: "read" | "write";
  readonly path: string;
}

interface Confined {
  /** Folders where the command may write; null: its scratch folder. */
  readonly write: readonly (string | null)[];
  readonly network: "host" | "off" | readonly string[];
}

const PLAIN = {
  starts_nothing: "it starts nothing",
  changes_nothing: "a command that changes nothing",
  own_folder: "its own folder",
  own_memory: "its memory",
  skill_file: "a file of a skill",
  read_inside: "a read inside the working directories",
  whole_command: "see the whole command",
  removes_files: "rm deletes files; what it deletes is not kept",
  replaces_file: "replaces the whole file",
  replaces_all: "replaces every occurrence",
  wants_out: "it asks to run outside the sandbox, with the whole account",
  unconfined: "none: commands run with your own rights",
} as const;
export type PlainSentence = keyof typeof PLAIN;
export const PLAIN_SENTENCES = Object.keys(PLAIN) as readonly PlainSentence[];

/** A sentence, or a text that is shown as it is. */
export type Said = string | Sentence;

export function plain(id: PlainSentence): Sentence {
  return { kind: "plain", id };
}

export function english(said: Said): string {
  if (typeof said === "string") return said;
  switch (said.kind) {
    case "plain":
      return PLAIN[said.id];
    case "mode":
      return `${said.mode} mode`;
    case "rule":
      return ruleText(said);
    case "no_rule":
      return `${said.what}: no rule allows it (${said.mode} mode)`;
    case "access":
      return `${accessText(said)}${said.isOutside ? " outside the working directories" : ""} (${said.mode} mode)`;
    case "command_by_rule":
      return `${said.command}: ${ruleText(said)}`;
    case "path_by_rule":
      return `${ruleText(said)}: ${accessText(said)}`;
    case "protected":
      return `${accessText(said)}: ${said.why}; no mode or rule answers for the user`;
    case "removes":
      return `${said.command}: warning: rm deletes for good`;
    case "unread":
      return `${said.text}: the command cannot be read with certainty: ${said.why}`;
    case "has_read":
      return `${said.what}; the process has read ${said.origin}`;
    case "no_sandbox":
      return `warning: the sandbox is not available (${said.why}), it would run with the whole account`;
    case "replaces_some":
      return `${said.count} of them replace every occurrence`;
    case "shown_in_part":
      return `${said.name} is shown in part: ${said.characters} characters`;
    case "sandbox":
      return sandboxText(said);
  }
}

function ruleText({ rule, source }: NamedRule): string {
  return `rule ${rule} of ${RULE_SOURCE_WORDS[source]}`;
}

function accessText({ access, path }: Access): string {
  return `${access} ${path}`;
}

function sandboxText({ write, network }: Confined): string {
  const places = write.map((place) => place ?? "its scratch folder");
  return `writes ${places.length === 0 ? "no files" : firstOf(places)}; network: ${networkText(network)}`;
}

function networkText(network: Confined["network"]): string {
  if (network === "host") return "as the host";
  return network === "off" || network.length === 0 ? "off" : firstOf(network);
}

const MAX_NAMED = 4;

const ENGLISH = { comma: ", ", more: (count: number) => ` and ${count} more` };

/** The first names, and how many more there are. */
export function firstOf(names: readonly string[], { comma, more }: typeof ENGLISH = ENGLISH): string {
  const left = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(comma)}${left > 0 ? more(left) : ""}`;
}
