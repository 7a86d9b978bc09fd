/** Judges shell text and argument vectors, one simple command at a time; the strictest counts for the whole. */
import { posix } from "node:path";
import type { Effect } from "../abi/effects.ts";
import type { Case } from "./case.ts";
import {
  allowsCommand,
  hasSystemWrappers,
  isDynamic,
  mayRun,
  restrictsCommand,
  unquoted,
} from "./command-match.ts";
import { createdPaths } from "./creation.ts";
import { type Command, type Expansion, expandArgv, expandText } from "./expand.ts";
import { judgePath, restrictPath } from "./judge-path.ts";
import { findMention } from "./mention.ts";
import { restrictOperands } from "./operand.ts";
import { isMentioned } from "./path-pattern.ts";
import { climbsBack, isInsideAny, operandPath, shown } from "./paths.ts";
import { readOnlyOperands } from "./read-only.ts";
import { findRepository } from "./repository.ts";
import { describeRule, type Rule } from "./rule.ts";
import { shippedRefusal } from "./shipped.ts";
import { suggestCommand } from "./suggest.ts";
import { allow, ask, deny, hardAsk, strictest, type Verdict } from "./verdict.ts";

type Exec = Extract<Effect, { kind: "exec" }>;

export function judgeExec(c: Case, effect: Exec): Verdict {
  const inKernel = restrictPath(c, { access: "read", path: effect.cwd });
  const text = effect.shell ?? effect.argv.join(" ");
  const expansion = expand(effect);
  const verdict = expansion.certain
    ? judgeCommands(c, expansion.commands, c.places.realPath(effect.cwd))
    : strictest([judgeUncertain(c, text, expansion.why, effect.cwd), ...refusals(c, expansion.commands)]);
  return inKernel?.reason.kind === "protected" ? strictest([inKernel, verdict]) : verdict;
}

function expand(effect: Exec): Expansion {
  if (effect.shell !== undefined) return expandText(effect.shell);
  return effect.certain
    ? expandArgv(effect.argv)
    : { certain: false, why: "arguments that are not known", commands: [] };
}

/** What deny rules refuse of the commands that could be read beside one that could not. */
function refusals(c: Case, commands: readonly Command[]): readonly Verdict[] {
  const verdicts = commands.map((command) => restrictByRule(c, command));
  return verdicts.filter((verdict) => verdict !== null && verdict.behavior === "deny");
}

/** Deny and ask rules that may match do; no allow rule with content does. */
function judgeUncertain(c: Case, text: string, why: string, cwd: string): Verdict {
  const detail = `the command cannot be read with certainty: ${why}`;
  const kernel = kernelMention(c, text);
  if (kernel !== undefined)
    return deny("protected", `${kernel} belongs to crux itself; no mode or rule opens it`);
  const mayMatch = (rule: Rule) => mayRun(rule, text) || mayTouch(rule, text);
  const denied = c.rules.deny.filter(mayMatch);
  const policy = denied.find((rule) => rule.source === "policySettings");
  if (policy !== undefined) return deny("rule", `${detail}; ${describeRule(policy)} may forbid it`);
  const asked = c.rules.ask.filter((rule) => rule.match.kind === "command" || mayMatch(rule));
  const hard = [...denied, ...asked].find((rule) => rule.source !== "shipped");
  if (hard !== undefined)
    return hardAsk("rule", describeRule(hard), `${detail}; ${describeRule(hard)} may match`);
  const mention = findMention(c, text, cwd);
  if (mention !== undefined) {
    const named = `a protected path (${mention.kind})`;
    return hardAsk("protected", named, `${detail}; it names ${shown(mention.word)}, ${named}`);
  }
  if (c.subject.mode === "bypass") return allow("mode", "mode bypass");
  const shipped = [...denied, ...asked.filter(mayMatch)][0];
  if (shipped !== undefined) return ask("rule", describeRule(shipped), `${shown(text)}: ${detail}`, null);
  if (c.callRule !== undefined) return allow("rule", describeRule(c.callRule));
  return ask("parse", detail, `${shown(text)}: ${detail}`, null);
}

/** A path that only bash can work out may be any. */
function mayTouch({ match }: Rule, text: string): boolean {
  return match.kind === "path" && (isDynamic(text) || isMentioned(match.pattern, unquoted(text)));
}

/** A kernel path named in the text, also by way of the home directory. */
function kernelMention({ places, free }: Case, text: string): string | undefined {
  const bare = unquoted(text);
  const readable = bare.includes("..") ? [] : free.flatMap((path) => spellings(path, places.home));
  const rest = readable.reduce(withoutPath, bare);
  return places.kernel.find((path) => spellings(path, places.home).some((each) => rest.includes(each)));
}

/** By whole segments: `/s/1` is not in `/s/12`, nor in the glob `/s/1*`. */
function withoutPath(text: string, path: string): string {
  const [first = "", ...rest] = text.split(path);
  return first + rest.map((part) => (/^(?:$|[\s/;&|()<>])/.test(part) ? `\0${part}` : path + part)).join("");
}

function spellings(path: string, home: string): readonly string[] {
  if (!path.startsWith(`${home}/`)) return [path];
  const below = path.slice(home.length);
  return [path, `~${below}`, `$HOME${below}`, `\${HOME}${below}`];
}

function judgeCommands(c: Case, commands: readonly Command[], cwd: string): Verdict {
  const verdicts: Verdict[] = [];
  /** null: a `cd` may have led elsewhere. */
  let here: string | null = cwd;
  commands.forEach((command, i) => {
    verdicts.push(judgeCommand(c, command, here, cwd));
    const argv = command.levels.at(-1) ?? [];
    if (argv[0] === "cd") here = directoryAfter(c, commands, i, here);
  });
  return strictest(verdicts);
}

/** A `cd` is followed where all that comes after it runs only if it succeeded, in the same shell. */
function directoryAfter(
  c: Case,
  commands: readonly Command[],
  at: number,
  here: string | null,
): string | null {
  const [command, next] = [commands[at], commands[at + 1]];
  const [, target, extra] = command?.levels[0] ?? [];
  if (here === null || command?.levels.length !== 1 || target === undefined || extra !== undefined)
    return null;
  if (target.startsWith("-") || climbsBack(target) || command.joiner === "|" || next?.joiner === "|")
    return null;
  const isChain = commands.every(({ joiner }) => joiner !== "||" && joiner !== ";");
  return isChain ? c.places.realPath(operandPath(here, target)) : null;
}

function judgeCommand(c: Case, command: Command, here: string | null, cwd: string): Verdict {
  const restricted = restrictByRule(c, command);
  if (restricted?.behavior === "deny") return restricted;
  const known = readVerdict(c, command, here) ?? creationVerdict(c, command, here);
  const operands = known ?? restrictOperands(c, command.levels.at(-1) ?? [], here ?? cwd);
  // what denies an operand outranks a question about the command
  if (operands?.behavior === "deny") return operands;
  if (restricted?.isHard === true) return restricted;
  if (operands?.behavior === "ask" && operands.isHard) return operands;
  const rule = c.allow.find((each) => allowsCommand(each, command));
  if (rule !== undefined) return allow("rule", describeRule(rule));
  if (c.subject.mode === "bypass") return allow("mode", "mode bypass");
  if (restricted !== null) return restricted;
  if (c.callRule !== undefined) return allow("rule", describeRule(c.callRule));
  if (known !== null) return known;
  const line = shown((command.levels[0] ?? []).join(" "));
  const message = `${line}: no rule allows it (mode ${c.subject.mode})`;
  return ask("mode", `mode ${c.subject.mode}`, message, suggestCommand(command));
}

type Restriction = Exclude<Verdict, { behavior: "allow" }>;

function restrictByRule(c: Case, command: Command): Restriction | null {
  const denies = c.rules.deny.map((rule) => ({ rule, match: restrictsCommand(rule, command) }));
  const denied = denies.find(({ match }) => match === "yes")?.rule;
  if (denied !== undefined) return refuse(denied, command);
  const asks = c.rules.ask.map((rule) => ({ rule, match: restrictsCommand(rule, command) }));
  const found = [...denies, ...asks].filter(({ match }) => match !== "no").map(({ rule }) => rule);
  const policy = found.find((rule) => rule.behavior === "deny" && rule.source === "policySettings");
  if (policy !== undefined) return refuse(policy, command);
  const line = shown((command.levels[0] ?? []).join(" "));
  const rule = found.find(({ source }) => source !== "shipped") ?? found[0];
  if (rule === undefined) return null;
  const name = posix.basename(command.levels.at(-1)?.[0] ?? "");
  const warning = name === "rm" ? "warning: rm deletes for good" : describeRule(rule);
  const message = `${line}: ${warning}`;
  // a shipped ask is a default: the user's own rule for the command, or bypass, answers it
  return rule.source === "shipped"
    ? { behavior: "ask", isHard: false, message, always: null, reason: reasonOf(rule) }
    : { behavior: "ask", isHard: true, message, always: null, reason: reasonOf(rule) };
}

function refuse(rule: Rule, command: Command): Restriction {
  const program = rule.match.kind === "command" ? rule.match.name : "";
  const line = shown((command.levels[0] ?? []).join(" "));
  const message =
    rule.source === "shipped"
      ? shippedRefusal(program)
      : `Permission denied: ${describeRule(rule)} refuses ${line}`;
  return { behavior: "deny", message, reason: reasonOf(rule) };
}

function reasonOf(rule: Rule) {
  return { kind: "rule", detail: describeRule(rule) } as const;
}

/** The reads of a read-only command, judged as reads; null: it is not one. */
function readVerdict(c: Case, command: Command, here: string | null): Verdict | null {
  const argv = command.levels.at(-1) ?? [];
  if (command.isOpen || !hasSystemWrappers(command)) return null;
  if (argv[0] === "cd") return cdVerdict(c, argv, here);
  const reads = readOnlyOperands(argv);
  if (reads === null || reads.some(({ path }) => climbsBack(path))) return null;
  if (here === null && reads.some(({ path }) => !path.startsWith("/"))) return null;
  const verdicts = reads.map(({ path, subtree }) =>
    judgePath(c, { access: "read", path: operandPath(here ?? "/", path), subtree }),
  );
  const isGit = posix.basename(argv[0] ?? "") === "git";
  const foreign = isGit ? foreignVerdict(c, command, here ?? "/") : null;
  if (foreign !== null) return strictest([...verdicts, foreign]);
  if (verdicts.length === 0) return allow("default", "a command that changes nothing");
  return strictest(verdicts);
}

/** Every git command starts programs that the repository's configuration names; in the roots that file is protected. */
function foreignVerdict(c: Case, command: Command, here: string): Verdict | null {
  const repository = findRepository(here, c.places.exists);
  if (repository === null || (!repository.isBare && isInsideAny(c.roots, repository.root))) return null;
  const line = shown((command.levels[0] ?? []).join(" "));
  const why = repository.isBare ? "is not protected" : "lies outside the working directories";
  const message = `${line}: the repository ${shown(repository.root)} ${why}; its configuration can start programs`;
  return ask("default", "a repository that is not trusted", message, suggestCommand(command));
}

/** Folders and empty files are writes like any other; null: it is no such command, or the mode asks for it as a command. */
function creationVerdict(c: Case, command: Command, here: string | null): Verdict | null {
  if (command.isOpen || !hasSystemWrappers(command)) return null;
  const made = createdPaths(command.levels.at(-1) ?? []);
  if (made === null || made.some(climbsBack)) return null;
  if (here === null && made.some((path) => !path.startsWith("/"))) return null;
  const verdict = strictest(
    made.map((path) => judgePath(c, { access: "write", path: operandPath(here ?? "/", path) })),
  );
  return verdict.behavior === "ask" && !verdict.isHard ? null : verdict;
}

function cdVerdict(c: Case, argv: readonly string[], here: string | null): Verdict | null {
  const [, target, extra] = argv;
  if (here === null || target === undefined || extra !== undefined || target.startsWith("-")) return null;
  return judgePath(c, { access: "read", path: operandPath(here, target) });
}
