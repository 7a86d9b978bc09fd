/**
 * Controls where labelled data goes: once a process has read untrusted or secret data, calls that could send it out or
 * act on it ask even if a mode or rule allows them. The question shows the user where the data came from.
 */
import { posix } from "node:path";
import type { Effect } from "../../abi/effects.ts";
import { type Label, outwardRule } from "../../abi/labels.ts";
import { isInsideAny, shown } from "../rules/paths.ts";
import { findProtection } from "../rules/protected.ts";
import type { Rule } from "../rules/rule.ts";
import { type Case, formsOf } from "./case.ts";
import { deny, hardAsk, type Verdict } from "./verdict.ts";

type LabelAnswer = "ask" | "deny" | "off";

/** How the settings answer when labelled data reaches a sink. */
export interface LabelPolicy {
  readonly outward: LabelAnswer;
  readonly exec: LabelAnswer;
}

export const DEFAULT_LABEL_POLICY: LabelPolicy = { outward: "ask", exec: "ask" };

/** Names of files that instruct agents, whoever wrote them. */
const INSTRUCTIONS = new Set(["agents.md", "claude.md", "agents.local.md", "claude.local.md", "skill.md"]);
/** Words of commands that send data out. An incomplete check: the sandbox covers what it misses. */
const CARRIES_OUT =
  /\b(?:push|publish|upload|deploy|scp|sftp|rsync|ssh|ftp|curl|wget|nc|ncat|socat|telnet|mail|sendmail|gh|glab|aws|gcloud|az|s3cmd|rclone|twine)\b|\/dev\/(?:tcp|udp)\//;

/** Facts about a command that its text alone does not give. */
export interface ExecFacts {
  /** Every command in the text is known to change nothing. */
  readonly isReadOnly: boolean;
  /** The text can be read with certainty. */
  readonly isCertain: boolean;
  /** The command will run without network. */
  readonly isOffline: boolean;
}

/** null: no label forbids the effect. `facts` is called for commands only. */
export function judgeLabels(c: Case, effect: Effect, facts: () => ExecFacts): Verdict | null {
  const { labels = [] } = c.subject;
  if (labels.length === 0) return null;
  switch (effect.kind) {
    case "network":
      return isQuoted(effect) ? null : judgeOutward(c, labels, `${effect.method} ${effect.host}`);
    case "mcp":
      return judgeServer(c, labels, effect);
    case "message":
      // its ancestors get what it says last, with its labels, without a question
      if (effect.isAbove === true) return null;
      return effect.signal === undefined ? judgeOutward(c, labels, `a message to ${effect.to}`) : null;
    case "exec":
      return judgeCommand(c, effect, facts());
    case "write":
      return judgeWrite(c, labels, effect);
    default:
      return null;
  }
}

/** A GET or HEAD of an address quoted from the user or from a page sends out nothing that was read. */
function isQuoted({ method, isQuoted }: Extract<Effect, { kind: "network" }>): boolean {
  return isQuoted === true && (method === "GET" || method === "HEAD");
}

function judgeOutward(c: Case, labels: readonly Label[], what: string): Verdict | null {
  const policy = c.labelPolicy.outward;
  const held = policy === "ask" ? labels.filter((label) => !isOpened(c, label)) : labels;
  if (held.length === 0) return null;
  const verdict = answer(policy, held, `${what} would carry data out`);
  return verdict?.behavior === "ask" ? { ...verdict, choices: choicesOf(held) } : verdict;
}

/** Whether a rule lets untrusted data of this source leave. For secrets, only the user's settings can. */
function isOpened({ allow, rules }: Case, { kind, source }: Label): boolean {
  const concerns = ({ tool, match }: Rule): boolean =>
    tool === "outward" && (match.kind === "all" || (match.kind === "program" && match.name === source));
  return kind === "untrusted" && allow.some(concerns) && ![...rules.deny, ...rules.ask].some(concerns);
}

/** The settings and rules that answer the question once, for runs in which nobody can be asked each time. */
function choicesOf(labels: readonly Label[]): string {
  if (labels.some(({ kind }) => kind === "secret"))
    return 'labels.outward asks; a secret leaves only when asked, or with "labels": {"outward": "off"} in your own settings';
  const sources = [...new Set(labels.map(({ source }) => source))];
  const rules = sources.map(outwardRule).join(" and ");
  const list = JSON.stringify(sources);
  return `labels.outward asks. To answer it once: allow ${rules} for a run, outward: ${list} in an agent file, "labels": {"outward": ${list}} in your settings or those of a trusted project`;
}

/** Data that came from a server may go back to that server. The URI of a resource is sent as the arguments of a tool are. */
function judgeServer(
  c: Case,
  labels: readonly Label[],
  { server, tool, uri }: Extract<Effect, { kind: "mcp" }>,
): Verdict | null {
  if (tool === "" && uri === undefined) return null;
  const what = tool === "" ? `reading ${uri} from ${server}` : `a call of ${server}`;
  const foreign = labels.filter(
    ({ kind, source, detail }) => kind === "secret" || source !== "mcp" || detail !== server,
  );
  return foreign.length === 0 ? null : judgeOutward(c, foreign, what);
}

function judgeCommand(
  c: Case,
  { shell, argv }: Extract<Effect, { kind: "exec" }>,
  facts: ExecFacts,
): Verdict | null {
  if (facts.isReadOnly) return null;
  const { labels = [] } = c.subject;
  const text = shell ?? argv.join(" ");
  const carried = CARRIES_OUT.test(text) ? judgeOutward(c, labels, `the command ${text}`) : null;
  if (carried !== null) return carried;
  const untrusted = labels.filter(({ kind }) => kind === "untrusted");
  if (untrusted.length === 0 || (facts.isCertain && facts.isOffline)) return null;
  return answer(c.labelPolicy.exec, untrusted, `the command ${text} runs`);
}

function judgeWrite(
  c: Case,
  labels: readonly Label[],
  { path, real = path }: Extract<Effect, { kind: "write" }>,
): Verdict | null {
  const forms = formsOf(path, real);
  if (forms.some((form) => isInsideAny(c.places.memory, form))) return judgeMemory(labels, path);
  const isInstruction = forms.some(
    (form) =>
      INSTRUCTIONS.has(posix.basename(form).toLowerCase()) ||
      findProtection(c.places.protections, "write", form)?.kind === "authority",
  );
  return isInstruction ? answer("ask", labels, `${path} instructs agents`) : null;
}

/** Memory comes back in every later session, where nobody sees which source it came from. */
function judgeMemory(labels: readonly Label[], path: string): Verdict {
  const secrets = labels.filter(({ kind }) => kind === "secret");
  if (secrets.length > 0) return refused(secrets, `${path} is memory`);
  return asked(labels, `${path} is memory`);
}

function answer(policy: LabelAnswer, labels: readonly Label[], what: string): Verdict | null {
  if (policy === "off") return null;
  return policy === "deny" ? refused(labels, what) : asked(labels, what);
}

function asked(labels: readonly Label[], what: string): Verdict {
  const detail = originOf(labels);
  return hardAsk("label", detail, { kind: "has_read", what: shown(what), origin: detail });
}

function refused(labels: readonly Label[], what: string): Verdict {
  const detail = originOf(labels);
  return deny("label", detail, `Permission denied: ${shown(what)}; the process has read ${detail}`);
}

const MAX_NAMED = 3;

/** The origin in words: `untrusted data (web: https://a.io/x) and a secret (file: /ws/.env)`. */
function originOf(labels: readonly Label[]): string {
  const named = (kind: Label["kind"], words: string): readonly string[] => {
    const own = labels.filter((label) => label.kind === kind);
    if (own.length === 0) return [];
    const places = own.slice(0, MAX_NAMED).map(({ source, detail }) => `${source}: ${shown(detail)}`);
    const more = own.length > MAX_NAMED ? [`${own.length - MAX_NAMED} more`] : [];
    return [`${words} (${[...places, ...more].join(", ")})`];
  };
  return [...named("untrusted", "untrusted data"), ...named("secret", "a secret")].join(" and ");
}
