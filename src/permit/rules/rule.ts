/** Rules of the form `tool` or `tool(content)`: their sources and the meaning of their content. */
import { posix } from "node:path";
import { LABEL_SOURCES } from "../../abi/labels.ts";
import type { RuleSource, RuleText } from "../../abi/rules.ts";
import { english, type Sentence } from "../../abi/sentence.ts";
import { canonicalToolName } from "../../abi/tool.ts";
import { escapeGlob, type Glob, parseGlob } from "./glob.ts";
import { parseHostName } from "./host-name.ts";
import { type PathPattern, parsePathPattern } from "./path-pattern.ts";
import { foldName } from "./paths.ts";

export type RuleMatch =
  /** Every call of the tool. */
  | { readonly kind: "all" }
  /** Argument vectors that begin with these words; `rest`: further arguments may follow. */
  | {
      readonly kind: "command";
      readonly words: readonly Glob[];
      /** The first word as written, and the glob of its base name; "*" for any program. */
      readonly name: string;
      readonly base: Glob;
      readonly rest: boolean;
    }
  /** `folded`: the pattern for volumes that ignore case in names. */
  | {
      readonly kind: "path";
      readonly access: "read" | "write";
      readonly pattern: PathPattern;
      readonly folded: PathPattern;
    }
  | { readonly kind: "host"; readonly host: string; readonly subdomains: boolean }
  /** An agent, a receiver or a skill, by name; `rest`: arguments may follow. */
  | { readonly kind: "program"; readonly name: string; readonly rest: boolean }
  /**
   * Content that the effects of the tool do not reveal: an allow rule never matches, deny and ask rules ask for every
   * call.
   */
  | { readonly kind: "untold" }
  | { readonly kind: "malformed" };

export interface Rule {
  readonly source: RuleSource;
  readonly behavior: "allow" | "ask" | "deny";
  readonly text: string;
  /** Canonical name; "" where the text has none. */
  readonly tool: string;
  readonly match: RuleMatch;
  /** The words of the argument vector as written, for flags that an allow rule must spell. */
  readonly spelled: readonly string[];
}

const MAX_CHARS = 1024;
const READS = new Set(["view", "grep", "glob", "ls"]);
/** The tools that change files: a path in a rule for one of them is a path for all. */
export const WRITES: ReadonlySet<string> = new Set(["edit", "write", "multi_edit", "notebook_edit"]);
const NAMED = new Set(["agent", "spawn", "send", "skill", "outward"]);
export function parseRule(written: RuleText & { behavior: Rule["behavior"] }): Rule {
  const { source, behavior, text } = written;
  const parts = text.length > MAX_CHARS ? null : splitRule(text);
  if (parts === null) {
    const tool = canonicalToolName(/^[\w./*-]*/.exec(text.trim())?.[0] ?? "");
    return { source, behavior, text, tool, match: { kind: "malformed" }, spelled: [] };
  }
  const tool = toolName(parts.tool);
  const match = parseMatch(tool, parts.content);
  const spelled = match.kind === "command" ? (parts.content ?? "").replace(/:\*$/, "").split(/\s+/) : [];
  return { source, behavior, text, tool, match, spelled };
}

/** Why the text is not a valid rule; null: it is valid. An allow rule that could never match is reported too. */
export function notRule({ source, behavior, text }: RuleText): string | null {
  if (behavior === "drop") return null;
  const { tool, match } = parseRule({ source, behavior, text });
  if (match.kind === "malformed" && tool === "tool_call") return "name the tool that tool_call calls";
  if (match.kind === "malformed")
    return "write tool or tool(content), as in bash(npm test:*), edit(src/**) or fetch(domain:h.io)";
  if (match.kind === "untold" && behavior === "allow") return `rules for ${tool} take no content`;
  return null;
}

/** The rule in words: `rule bash(curl:*) of the shipped defaults`. */
export function describeRule(rule: Rule): string {
  return english(ruleSaid(rule));
}

export function ruleSaid({ text, source }: Rule): Sentence {
  return { kind: "rule", rule: text, source };
}

/** The canonical tool name; `/mnt/mcp/s` and `mcp__s__*` both name the server `mcp__s`. */
function toolName(written: string): string {
  const server = /^\/mnt\/mcp\/([\w.-]+)$/.exec(written)?.[1];
  if (server !== undefined) return `mcp__${server}`;
  return canonicalToolName(written.replace(/^(mcp__[\w.-]+?)__\*$/, "$1"));
}

/** null: not a rule. Parentheses in the content are escaped. */
function splitRule(text: string): { tool: string; content: string | null } | null {
  const found = /^([A-Za-z_][\w.-]*(?:__\*)?|\/mnt\/mcp\/[\w.-]+)(?:\(((?:[^()\\]|\\[\s\S])+)\))?$/u.exec(
    text.trim(),
  );
  if (found === null || /\p{Cc}/u.test(text)) return null;
  const content = found[2]?.replace(/\\([()])/g, "$1");
  return { tool: found[1] ?? "", content: content ?? null };
}

function parseMatch(tool: string, content: string | null): RuleMatch {
  // tool_call is judged as the tool that it calls: a rule on it would match nothing
  if (tool === "tool_call") return { kind: "malformed" };
  return content === null ? { kind: "all" } : parseContent(tool, content);
}

function parseContent(tool: string, content: string): RuleMatch {
  if (tool === "bash" || tool === "shell") return parseCommand(content);
  if (READS.has(tool)) return parsePath("read", content);
  if (WRITES.has(tool)) return parsePath("write", content);
  if (tool === "fetch") return parseHost(content);
  if (NAMED.has(tool)) return parseName(tool, content.trim());
  return { kind: "untold" };
}

/** Parses the name of an agent, a receiver, a skill or a label source; only skills take arguments. */
function parseName(tool: string, content: string): RuleMatch {
  const rest = tool === "skill" && content.endsWith(":*");
  const name = rest ? content.slice(0, -2) : content;
  const isSource = tool !== "outward" || LABEL_SOURCES.some((source) => source === name);
  return name === "" || !isSource ? { kind: "malformed" } : { kind: "program", name, rest };
}

function parsePath(access: "read" | "write", content: string): RuleMatch {
  const pattern = parsePathPattern(content.trim());
  const folded = parsePathPattern(foldName(content.trim()));
  if (pattern === null || folded === null) return { kind: "malformed" };
  return { kind: "path", access, pattern, folded };
}

function parseHost(content: string): RuleMatch {
  const written = /^domain:(.+)$/i.exec(content.trim())?.[1];
  const pattern = written === undefined ? null : parseHostName(written);
  return pattern === null ? { kind: "malformed" } : { kind: "host", ...pattern };
}

/** Parses `git *`, `python:*` or `npm test`; quotes as in the shell. */
function parseCommand(content: string): RuleMatch {
  const trimmed = content.trim();
  const isPrefix = trimmed.endsWith(":*");
  const text = isPrefix ? trimmed.slice(0, -2) : trimmed;
  const split = splitWords(text);
  if (split === null) return { kind: "malformed" };
  const rest = isPrefix || split.at(-1) === "*";
  const written = !isPrefix && rest ? split.slice(0, -1) : split;
  const words = written.map(parseGlob);
  if (words.some((word) => word === null)) return { kind: "malformed" };
  const name = written[0] ?? "*";
  const base = parseGlob(posix.basename(name));
  if (base === null || base.length === 0) return { kind: "malformed" };
  return { kind: "command", words: words as Glob[], name, base, rest };
}

const WORD = /(?:'[^']*'|"(?:\\[\s\S]|[^"\\])*"|\\[\s\S]|[^\s'"\\])+/gu;
const PIECE = /'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|(\\[\s\S])|([^\s'"\\]+)/gu;

/** Words as the shell splits them, as globs: quoted characters stand for themselves. null: an unclosed quote. */
function splitWords(text: string): readonly string[] | null {
  if (!/['"]/.test(text)) return text.split(/\s+/).filter((word) => word !== "");
  if (text.replace(WORD, "").trim() !== "") return null;
  return [...text.matchAll(WORD)].map(([word]) => word.replace(PIECE, unquotedPiece));
}

function unquotedPiece(piece: string, single?: string, double?: string): string {
  if (single !== undefined) return escapeGlob(single);
  return double === undefined ? piece : escapeGlob(double.replace(/\\([$`"\\])/g, "$1"));
}
