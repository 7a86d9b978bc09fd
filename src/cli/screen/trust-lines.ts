/** The files a workspace brings, for the user. All of this text is untrusted. */
import type { WireBrought, WireWorkspace } from "../../abi/methods/trust.ts";
import { shellWord } from "../../lib/shell-word.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";
import { en, type Phrases } from "./words/en.ts";

type TrustWords = Phrases["trust"];

/** The most items shown in detail; the rest is only counted. */
const MAX_SHOWN = 40;

const MARKS: Partial<Record<WireBrought["state"], (words: TrustWords) => string>> = {
  changed: ({ changed }) => `, ${changed}`,
  holds: ({ holds }) => `, ${holds}`,
};

/** One item, with its effects below it. */
function itemLines({ path, kind, state, acts, diff }: WireBrought, words: TrustWords): readonly string[] {
  const head = `  ${safeLine(path)} (${words.kinds[kind]}${MARKS[state]?.(words) ?? ""})`;
  const lines = diff === undefined ? [] : safeLines(diff).split("\n");
  return [head, ...acts.map((act) => `      ${safeLine(act)}`), ...lines.map((line) => `      ${line}`)];
}

export function itemsLines(items: readonly WireBrought[], words: TrustWords = en.trust): readonly string[] {
  const rest = items.length - MAX_SHOWN;
  return [
    ...items.slice(0, MAX_SHOWN).flatMap((item) => itemLines(item, words)),
    ...(rest > 0 ? [words.andMore(rest, kindsOf(items.slice(MAX_SHOWN), words))] : []),
  ];
}

/** `2 skills, 1 MCP server`, in order of first appearance. */
function kindsOf(items: readonly Pick<WireBrought, "kind">[], words: TrustWords): string {
  const counts = new Map<WireBrought["kind"], number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => words.counted(count, kind)).join(", ");
}

/** `isForHour`: that is what the user has just chosen. */
export function workspaceLines(workspace: WireWorkspace, isForHour = false): readonly string[] {
  const { root, trusted, session_only, main, items, refused } = workspace;
  const until = isForHour ? ", for an hour" : session_only ? ", until the last process there has ended" : "";
  const of = main === null ? "" : `, a worktree of ${safeLine(main)}`;
  return [
    `${safeLine(root)}: ${trusted ? `trusted${until}` : "not trusted"}${of}`,
    ...(items.length === 0 ? ["  nothing in it would act"] : itemsLines(items)),
    ...refused.map(({ path, why }) => `  ${safeLine(path)}: stays off: ${safeLine(why)}`),
  ];
}

/** One line for a user who is not asked. */
export function leftOutLine({ root, items: all }: WireWorkspace, words: TrustWords = en.trust): string {
  const items = all.filter(({ state }) => state !== "holds");
  const changed = items.filter(({ state }) => state === "changed").length;
  const names = items.slice(0, 5).map(({ path }) => safeLine(path));
  const more = items.length > names.length ? ", …" : "";
  const what = `${kindsOf(items, words)} (${names.join(", ")}${more})`;
  return `! ${words.leftOut(changed === items.length, what, shellWord(safeLine(root)))}`;
}
