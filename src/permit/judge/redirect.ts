/** Judges the files that redirections read and write, and the hosts that bash would connect to. */

import { pathProblem } from "../../lib/path-form.ts";
import { shown } from "../rules/paths.ts";
import type { Redirect } from "../shell/command.ts";
import { climbsBack, operandPath } from "../shell/operand-path.ts";
import { operandsOf } from "../shell/read/grammar.ts";
import type { Spelling } from "../shell/spelling.ts";
import type { Part } from "../shell/unfold.ts";
import type { Case } from "./case.ts";
import { judgeNetwork } from "./other.ts";
import { judgePath, restrictGlob, restrictPath } from "./path.ts";
import { judgeUnknownPath } from "./unknown-path.ts";
import { ask, type Verdict } from "./verdict.ts";

/** Devices that store nothing and give nothing that the command does not already have. */
const STREAMS = /^\/dev\/(?:null|zero|stdin|stdout|stderr|tty|fd\/[0-2])$/;
const NETWORK = /^\/dev\/(tcp|udp)\/([^/]*)\/([^/]*)$/;

interface JudgedRedirects {
  readonly verdicts: readonly Verdict[];
  /** The redirections change a file or reach a host. */
  readonly writes: boolean;
}

export function judgeRedirects(c: Case, { redirects, cwds }: Part): JudgedRedirects {
  const touching = redirects.filter(({ target }) => target !== undefined && !STREAMS.test(target.text ?? ""));
  return {
    verdicts: touching.flatMap((redirect) => judgeRedirect(c, redirect, cwds)),
    writes: touching.some(
      (redirect) => accessesOf(redirect).includes("write") || NETWORK.test(redirect.target?.text ?? ""),
    ),
  };
}

function accessesOf({ operator }: Redirect): readonly ("read" | "write")[] {
  if (operator.includes("<") && operator.includes(">")) return ["read", "write"];
  return operator.startsWith("<") ? ["read"] : ["write"];
}

function judgeRedirect(c: Case, redirect: Redirect, cwds: Part["cwds"]): readonly Verdict[] {
  const path = redirect.target?.text;
  const accesses = accessesOf(redirect);
  if (path == null) {
    const spelled = (redirect.target?.among ?? [])
      .flatMap((each) => spelledPaths(each, cwds))
      .flatMap((each) => restrictSpelled(c, each, accesses));
    if (isStream(redirect, accesses)) return [];
    const read = accesses.includes("write") ? null : judgeKnownRead(c, redirect, cwds);
    if (read !== null) return [...read, ...spelled];
    return [...accesses.map((access) => judgeUnknownPath(c, access)), ...spelled];
  }
  const host = NETWORK.exec(path);
  if (host !== null) return [judgeHost(c, host)];
  if (path.startsWith("/dev/tcp/") || path.startsWith("/dev/udp/")) return [oddTarget(path)];
  if (pathProblem(path) !== null) return [oddTarget(path)];
  if (!path.startsWith("/") && cwds === null) return accesses.map((access) => judgeUnknownPath(c, access));
  const places = path.startsWith("/") ? ["/"] : (cwds ?? []);
  const verdicts = places.flatMap((cwd) =>
    accesses.map((access) => judgePath(c, { access, path: operandPath(cwd, path) })),
  );
  return climbsBack(path) ? [...verdicts, oddTarget(path)] : verdicts;
}

/** Whether the redirection reads from a process: `< <(command)`. */
function isStream({ target }: Redirect, accesses: readonly string[]): boolean {
  const { among = [] } = target ?? {};
  return among.length > 0 && among.every(({ kind }) => kind === "stream") && !accesses.includes("write");
}

/** Judges a read from a variable with known values, each like any other read. null: one value is unknown. */
function judgeKnownRead(c: Case, { target }: Redirect, cwds: Part["cwds"]): readonly Verdict[] | null {
  if (target === undefined || target.among === undefined || target.isMany) return null;
  const verdicts: Verdict[] = [];
  for (const { path, subtree, glob } of operandsOf(target, false)) {
    if (path === null || climbsBack(glob ?? path) || pathProblem(path) !== null) return null;
    if (!path.startsWith("/") && cwds === null) return null;
    for (const cwd of path.startsWith("/") ? ["/"] : (cwds ?? []))
      verdicts.push(judgePath(c, { access: "read", path: operandPath(cwd, path), subtree }));
  }
  return verdicts;
}

interface SpelledPath {
  readonly path: string;
  readonly isGlob: boolean;
}

/** The paths that the target may expand to. */
function spelledPaths({ kind, text }: Spelling, cwds: Part["cwds"]): readonly SpelledPath[] {
  if (kind === "stream" || kind === "names" || pathProblem(text) !== null) return [];
  const paths = text.startsWith("/") ? [text] : (cwds ?? []).map((cwd) => operandPath(cwd, text));
  return paths.map((path) => ({ path, isGlob: kind === "glob" }));
}

/** A restriction on one of the paths restricts the redirection. */
function restrictSpelled(
  c: Case,
  { path, isGlob }: SpelledPath,
  accesses: readonly ("read" | "write")[],
): readonly Verdict[] {
  return accesses
    .map((access) => (isGlob ? restrictGlob(c, access, path) : restrictPath(c, { access, path })))
    .filter((verdict) => verdict !== null);
}

function oddTarget(path: string): Verdict {
  const detail = "a redirection to a place that is not known";
  return ask({ kind: "parse", detail }, `${detail}: ${shown(path)}`, null);
}

/** The call rule of bash allows commands, not connections. */
function judgeHost(c: Case, [, kind = "", host = "", port = ""]: readonly string[]): Verdict {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  const judged = judgeNetwork(
    { ...c, callRule: undefined },
    { kind: "network", host, port: number, method: kind.toUpperCase() },
  );
  return judged;
}
