/** The files a workspace brings, for the user. All of this text is untrusted. */
import type { WireBrought, WireWorkspace } from "../../abi/methods/trust.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";

/** The most items shown in detail; the rest is only counted. */
const MAX_SHOWN = 40;

const KINDS: Readonly<Record<WireBrought["kind"], string>> = {
  settings: "settings",
  server: "MCP server",
  agent: "agent",
  skill: "skill",
  command: "command",
  hook: "hook",
  instructions: "instructions",
  environment: "environment",
};

/** One item, with its effects below it. */
function itemLines({ path, kind, state, acts, diff }: WireBrought): readonly string[] {
  const head = `  ${safeLine(path)} (${KINDS[kind]}${state === "new" ? "" : `, ${state}`})`;
  const lines = diff === undefined ? [] : safeLines(diff).split("\n");
  return [head, ...acts.map((act) => `      ${safeLine(act)}`), ...lines.map((line) => `      ${line}`)];
}

export function itemsLines(items: readonly WireBrought[]): readonly string[] {
  const rest = items.length - MAX_SHOWN;
  return [
    ...items.slice(0, MAX_SHOWN).flatMap(itemLines),
    ...(rest > 0 ? [`  and ${rest} more: ${kindsOf(items.slice(MAX_SHOWN))}`] : []),
  ];
}

/** `2 skills, 1 MCP server`, in order of first appearance. */
function kindsOf(items: readonly Pick<WireBrought, "kind">[]): string {
  const counts = new Map<WireBrought["kind"], number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${wordFor(kind, count)}`).join(", ");
}

function wordFor(kind: WireBrought["kind"], count: number): string {
  if (kind === "settings") return "settings";
  if (kind === "instructions") return count === 1 ? "file of instructions" : "files of instructions";
  return count === 1 ? KINDS[kind] : `${KINDS[kind]}s`;
}

export function workspaceLines(workspace: WireWorkspace): readonly string[] {
  const { root, trusted, session_only, main, items, refused } = workspace;
  const until = session_only ? ", until the last process there has ended" : "";
  const of = main === null ? "" : `, a worktree of ${safeLine(main)}`;
  return [
    `${safeLine(root)}: ${trusted ? `trusted${until}` : "not trusted"}${of}`,
    ...(items.length === 0 ? ["  nothing in it would act"] : itemsLines(items)),
    ...refused.map(({ path, why }) => `  ${safeLine(path)}: stays off: ${safeLine(why)}`),
  ];
}

/** One line for a user who is not asked. */
export function leftOutLine({ root, items }: WireWorkspace): string {
  const changed = items.filter(({ state }) => state === "changed").length;
  const what = changed === items.length ? "changed since you trusted it" : "not trusted";
  const names = items.slice(0, 5).map(({ path }) => safeLine(path));
  const more = items.length > names.length ? ", …" : "";
  return `! left out, ${what}: ${kindsOf(items)} (${names.join(", ")}${more}). To look and to trust: crux trust ${shellWord(safeLine(root))}`;
}
