/**
 * The short state of a repository, for the system prompt of an agent: branch, changed files, last commits. Asked only
 * for a workspace that the user has trusted; the caller has checked that.
 */

import { RecentMap } from "../../lib/maps/recent-map.ts";
import { fittingLines } from "../../lib/text/fitting-lines.ts";
import { type GitDeps, type GitOutputs, gitOutputs } from "./status.ts";

/** The first request of an agent has at most 9,000 bytes, with this in it. */
const MAX_STATUS_CHARS = 200;
/** Of a path, or of a commit with its subject. */
const MAX_LINE = 72;
const COMMITS = 2;
/** Agents that start together in one folder share an answer. */
const FRESH_MS = 2_000;
const MAX_KNOWN = 32;

interface SummaryDeps extends GitDeps {
  readonly mono: () => number;
  /** A slower git is given up. */
  readonly maxMs: number;
}

interface Known {
  readonly at: number;
  readonly text: Promise<string>;
}

export class GitSummaries {
  readonly #deps: SummaryDeps;
  readonly #known = new RecentMap<string, Known>(MAX_KNOWN);

  constructor(deps: SummaryDeps) {
    this.#deps = deps;
  }

  /** "": no repository, no git, or it took too long. */
  of(cwd: string, owner: string): Promise<string> {
    const now = this.#deps.mono();
    const known = this.#known.use(cwd);
    if (known !== undefined && now - known.at < FRESH_MS) return known.text;
    const text = this.#ask(cwd, owner);
    this.#known.set(cwd, { at: now, text });
    return text;
  }

  /** Not ended with the process that asked first: others may wait for the same answer. */
  async #ask(cwd: string, owner: string): Promise<string> {
    const { maxMs: ms } = this.#deps;
    const run = { cwd, owner, sandbox: null, killed: undefined, ms, commits: COMMITS };
    try {
      return summaryText(await gitOutputs(this.#deps, run, new AbortController().signal));
    } catch {
      return "";
    }
  }
}

export function summaryText({ status, log, user }: GitOutputs): string {
  const { branch, upstream, changes } = readStatus(status);
  const head = [`Git when you started: ${branch === "" ? "no branch" : `branch ${branch}`}`];
  if (upstream !== "") head.push(upstream);
  if (user !== "") head.push(`user ${line(user)}`);
  const commits = log
    .split("\n")
    .filter((each) => each !== "")
    .map((each) => `  ${line(each)}`);
  return [
    head.join(", "),
    changes.length === 0 ? "Nothing has changed." : `Changed files:\n${cut(changes)}`,
    ...(commits.length === 0 ? [] : [`Last commits:\n${commits.join("\n")}`]),
  ].join("\n");
}

function cut(changes: readonly string[]): string {
  const text = changes.join("\n");
  if (text.length <= MAX_STATUS_CHARS) return text;
  const kept = changes.slice(0, fittingLines(changes, MAX_STATUS_CHARS));
  return [...kept, `  (${changes.length - kept.length} more: git status)`].join("\n");
}

/** Of the output of `git status --porcelain=v2 --branch -z`. */
function readStatus(status: string) {
  const found = { branch: "", upstream: "", changes: [] as string[] };
  const records = status.split("\0");
  for (let at = 0; at < records.length; at++) {
    const record = records[at] ?? "";
    if (record.startsWith("# branch.head ")) found.branch = line(record.slice("# branch.head ".length));
    else if (record.startsWith("# branch.upstream ")) found.upstream = line(record.slice(18));
    else if (record.startsWith("# branch.ab ")) found.upstream += distance(record);
    else if (record.startsWith("? ")) found.changes.push(`  ?? ${line(record.slice(2))}`);
    else if (/^[12u] /.test(record)) found.changes.push(changeOf(record));
    // a renamed file is followed by its old name
    if (record.startsWith("2 ")) at++;
  }
  return found;
}

/** `# branch.ab +1 -2` */
function distance(record: string): string {
  const [, ahead = "0", behind = "0"] = /\+(\d+) -(\d+)$/.exec(record) ?? [];
  const parts = [
    ...(ahead === "0" ? [] : [`${ahead} ahead`]),
    ...(behind === "0" ? [] : [`${behind} behind`]),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

/** The path follows 8 fields, 9 for a rename, 10 for a conflict. */
function changeOf(record: string): string {
  const fields = record.startsWith("1") ? 8 : record.startsWith("2") ? 9 : 10;
  const path = record.split(" ").slice(fields).join(" ");
  return `  ${record.slice(2, 4).replaceAll(".", " ")} ${line(path)}`;
}

/** Names and subjects are the repository's: one line each, and no markup that could pass for the kernel's. */
function line(text: string): string {
  const plain = text.replace(/[\p{Cc}]/gu, "?").replaceAll("<", "&lt;");
  return plain.length <= MAX_LINE ? plain : `${plain.slice(0, MAX_LINE).toWellFormed()}…`;
}
