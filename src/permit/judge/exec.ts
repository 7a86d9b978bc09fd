/** Judges shell text and argument vectors, one simple command at a time; the strictest verdict counts for the whole. */

import type { Effect } from "../../abi/effects.ts";
import { english, plain } from "../../abi/sentence.ts";
import type { JudgedPart } from "../../kernel/ports/permit.ts";
import { RecentMap } from "../../lib/maps/recent-map.ts";
import { shown } from "../rules/paths.ts";
import { type Analysis, analyseArgv, analyseText } from "../shell/analysis.ts";
import { CAREFUL_GIT, QUIET_GIT } from "../shell/read/git.ts";
import { invalidText } from "../shell/text.ts";
import type { Part } from "../shell/unfold.ts";
import { programOf, shownArgv } from "../shell/word.ts";
import type { Case, Places } from "./case.ts";
import { judgePart, type WholeText } from "./part.ts";
import { restrictPath } from "./path.ts";
import { judgeUnread, mentionVerdict } from "./unread.ts";
import { invalid, strictest, type Verdict } from "./verdict.ts";

type Exec = Extract<Effect, { kind: "exec" }>;

/** Further parts are only counted in what the user sees. */
const MAX_SHOWN_PARTS = 50;

export function judgeExec(c: Case, effect: Exec): Verdict {
  const text = effect.shell ?? effect.argv.join(" ");
  const problem = invalidText(text);
  if (problem !== null) return invalid(problem);
  const inKernel = restrictPath(c, { access: "read", path: effect.cwd });
  const verdict = judgeAnalysis(c, analysisOf(c.places, effect), { text, cwd: effect.cwd });
  return inKernel?.reason.kind === "protected" ? strictest([inKernel, verdict]) : verdict;
}

/** Whether every command in the text is known, to the last word. */
export function isCertain(c: Case, effect: Exec): boolean {
  return isCertainText(analysisOf(c.places, effect));
}

export function isCertainText({ parts, unread }: Analysis): boolean {
  return unread === null && parts.every(({ unsure, isOpaque }) => unsure === null && !isOpaque);
}

/** The commands in the text, as far as they can be read. */
export function partsOf(c: Case, effect: Exec): readonly Part[] {
  return analysisOf(c.places, effect).parts;
}

export function analysisOf(
  { home, realPath }: Pick<Places, "home" | "realPath">,
  { shell, argv, certain, cwd }: Exec,
): Analysis {
  const real = realPath(cwd);
  if (shell === undefined && !certain) return { parts: [], unread: "arguments that are not known" };
  const key = JSON.stringify([shell ?? argv, real, home]);
  const known = latest.use(key);
  if (known !== undefined) return known;
  const analysis = shell === undefined ? analyseArgv(argv, real, home) : analyseText(shell, real, home);
  if (analysis.unread === null) latest.set(key, analysis);
  return analysis;
}

/** The latest analyses: a call is judged several times, with those of others between, and its text does not change. */
const latest = new RecentMap<string, Analysis>(8);

function judgeAnalysis(c: Case, { parts, unread }: Analysis, whole: WholeText): Verdict {
  if (unread !== null) return judgeUnread(c, { ...whole, why: unread });
  const judged = parts.map((part) => ({ part, ...judgePart(c, part, whole) }));
  const net = parts.some(hasUnknown) ? mentionVerdict(c, whole.text, whole.cwd) : null;
  const verdict = strictest([...judged.map((each) => each.verdict), ...(net === null ? [] : [net])]);
  if (verdict.behavior === "deny") return verdict;
  const told = { ...verdict, parts: shownParts(judged) };
  if (!parts.some(usesGit)) return told;
  if (judged.every(({ isReadOnly }) => isReadOnly)) return { ...told, env: QUIET_GIT };
  return verdict.behavior === "allow" ? { ...told, env: CAREFUL_GIT } : told;
}

/** Whether a word is known only to bash at run time; if so, the text as a whole is searched for protected paths. */
function hasUnknown({ levels, redirects, evaluates }: Part): boolean {
  if (evaluates !== null) return true;
  const targets = redirects.flatMap(({ target }) => (target === undefined ? [] : [target]));
  return [...levels.flat(), ...targets].some(({ text }) => text === null);
}

function usesGit({ levels }: Part): boolean {
  return /(?:^|\/)git$/.test(programOf(levels.at(-1) ?? []) ?? "");
}

function shownParts(judged: readonly { part: Part; verdict: Verdict }[]): readonly JudgedPart[] {
  const told = judged.slice(0, MAX_SHOWN_PARTS).map(({ part, verdict }) => ({
    text: shown(textOf(part)),
    behavior: verdict.behavior,
    why: verdict.reason.detail,
    ...(verdict.reason.fact === undefined ? {} : { fact: verdict.reason.fact }),
  }));
  const more = judged.length - told.length;
  const rest = plain("whole_command");
  return more === 0
    ? told
    : [...told, { text: `… and ${more} more`, behavior: "ask", why: english(rest), fact: rest }];
}

/** The innermost command as it will run, with its assignments and redirections. */
function textOf({ levels, isOpen, redirects, assignments, source }: Part): string {
  const argv = levels.at(-1);
  if (argv === undefined && redirects.length === 0 && assignments.length === 0) return source;
  const set = assignments.map(({ name, value }) => `${name}=${value.shown}`);
  const files = redirects.flatMap(({ operator, target }) =>
    target === undefined ? [] : [`${operator} ${target.shown}`],
  );
  return [...set, ...(argv === undefined ? [] : [shownArgv(argv)]), ...(isOpen ? ["…"] : []), ...files].join(
    " ",
  );
}
