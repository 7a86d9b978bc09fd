/** Judges the effects that are neither paths nor commands. */
import type { Effect } from "../../abi/effects.ts";
import { canonicalHost, isPrivateHost, matchesHost } from "../rules/host-name.ts";
import { isHigher } from "../rules/mode.ts";
import { shown } from "../rules/paths.ts";
import { describeRule, type Rule, ruleSaid } from "../rules/rule.ts";
import type { Case } from "./case.ts";
import { beyondHosts } from "./ceiling.ts";
import { allow, ask, because, deny, hardAsk, invalid, type Verdict } from "./verdict.ts";

type Network = Extract<Effect, { kind: "network" }>;
type Spawn = Extract<Effect, { kind: "spawn" }>;
type Mcp = Extract<Effect, { kind: "mcp" }>;
type Message = Extract<Effect, { kind: "message" }>;
type Mode = Extract<Effect, { kind: "mode" }>;
type Unknown = Extract<Effect, { kind: "unknown" }>;

/** The topic of a question: its description, and which rules name it. */
interface Topic {
  readonly what: string;
  readonly isNamed: (rule: Rule) => boolean;
}

export function judgeNetwork(c: Case, effect: Network): Verdict {
  const host = canonicalHost(effect.host);
  if (host === null) return invalid(`not a host: ${shown(effect.host)}`);
  const ceiling = beyondHosts(c.subject.rights, host);
  if (ceiling !== null) return ceiling;
  const what = `${effect.method} ${shown(host)}:${effect.port}`;
  const isNamed = ({ match }: Rule) => match.kind === "host" && matchesHost(match, host);
  if (isPrivateHost(host)) return judgePrivate(c, host, what);
  return byRules(c, { what, isNamed }, /:/.test(host) ? null : `fetch(domain:${host})`);
}

/** Addresses of this machine and its own network: refused unless an allow rule names exactly this host. */
function judgePrivate(c: Case, host: string, what: string): Verdict {
  const isNamed = ({ match }: Rule) => match.kind === "host" && !match.subdomains && match.host === host;
  const forbidden = restricted(c, {
    what,
    isNamed: ({ match }) => match.kind === "host" && matchesHost(match, host),
  });
  const allowed = c.allow.find(isNamed);
  if (forbidden !== null || allowed === undefined)
    return forbidden ?? deny("default", `${what} is an address of this machine or its own network`);
  return allow("rule", ruleSaid(allowed));
}

const STARTERS = new Set(["agent", "spawn"]);

/** A rule on a skill may match its name together with its arguments; other programs are matched by name. */
export function judgeSpawn(c: Case, { program, skill }: Spawn): Verdict {
  const isSkill = c.tool === "skill" && skill !== undefined;
  const always = /^[\w.:-]+$/.test(program) ? `${isSkill ? "skill" : "agent"}(${program})` : null;
  // agents are found whatever the case of their names
  const name = (text: string) => (isSkill ? text : text.toLowerCase());
  // an agent that is to follow a skill: rules on skills count for it, too, and one on all of `agent`, which is not called here
  const isFollower = c.tool === "skill" && !isSkill;
  const isNamed = ({ match, tool }: Rule) =>
    ((c.tool === "skill" && tool === "skill") || (!isSkill && STARTERS.has(tool))) &&
    (match.kind === "program"
      ? isCalled({ ...match, name: name(match.name) }, name(program))
      : isFollower && match.kind === "all");
  const topic = { what: `${isSkill ? "use the skill" : "start"} ${shown(program)}`, isNamed };
  // what the agent then does is judged call by call, with no more rights than the caller has
  if (c.tool === "agent" || isFollower)
    return restricted(c, topic) ?? allow("default", "an agent with a part of the caller's rights");
  if (!isSkill) return byRules(c, topic, always);
  const forbidden = restricted(c, topic);
  if (forbidden !== null) return forbidden;
  if (skill.isPlain) return allow("default", "a skill that only instructs");
  if (skill.isTyped && skill.isOwn) return allow("default", "the user has called it");
  return byRules(c, topic, always);
}

function isCalled(
  { name, rest }: { readonly name: string; readonly rest: boolean },
  program: string,
): boolean {
  return program === name || (rest && (program.startsWith(`${name}:`) || program.startsWith(`${name} `)));
}

/**
 * Members of one compose project, of one group and of one tree may message each other without a question, unless a deny or
 * ask rule names the receiver by any of its names. No rule and no mode lets one write to a stranger.
 */
export function judgeMessage(c: Case, effect: Message): Verdict {
  const { to, signal, member, names: near = member } = effect;
  if (effect.isStranger === true)
    return deny("default", `${shown(to)} is not above or below this process, and not in a group with it`);
  const always = signal === undefined && /^[\w.*-]+$/.test(to) ? `send(${to})` : null;
  const isNear = signal === undefined && near !== undefined;
  const names = isNear ? [to, ...near] : [to];
  const isNamed = ({ match, tool }: Rule) =>
    tool === "send" && match.kind === "program" && names.includes(match.name);
  const topic = { what: `${signal ?? "a message"} to ${shown(to)}`, isNamed };
  if (!isNear) return byRules(c, topic, always);
  const whose = member === undefined ? "one tree or group" : "one compose project";
  return restricted(c, topic) ?? allow("default", `members of ${whose}`);
}

/**
 * A change to a mode that is not higher is allowed; a change to a higher mode asks the user, whatever the rules say.
 */
export function judgeMode({ subject }: Case, { to }: Mode): Verdict {
  if (!isHigher(to, subject.mode))
    return allow("mode", `${to} mode allows no more than ${subject.mode} mode`);
  return hardAsk("mode", `${to} mode`, `from ${subject.mode} mode to ${to} mode`);
}

const ALL_SERVERS = "mcp__*";

/**
 * A call of a server's tool or, with an empty `tool`, a read of the server's resources, which is allowed unless a rule
 * on the server forbids it. What a server declares about its own tools never avoids a question.
 */
export function judgeMcp(c: Case, { server, tool, host }: Mcp): Verdict {
  const ceiling = host === "local" ? null : beyondHosts(c.subject.rights, canonicalHost(host) ?? host);
  if (ceiling !== null) return ceiling;
  const wholeServer = `mcp__${server}`;
  // long tool names are cut after 55 characters; a name of another server does not count here
  const own = tool !== "" && c.tool.startsWith(`${wholeServer}__`.slice(0, 55)) ? c.tool : null;
  const isNamed = ({ match, tool: named }: Rule) =>
    match.kind === "all" && (named === ALL_SERVERS || named === wholeServer || named === own);
  // a rule that allows a tool which calls servers does not allow the calls to those servers
  if (tool !== "")
    return byRules(
      { ...c, callRule: undefined },
      { what: `${shown(server)}: ${shown(tool)}`, isNamed },
      suggestTool(own),
    );
  return (
    restricted(c, { what: `reading from ${shown(server)}`, isNamed }) ??
    allow("default", "reading what the server offers")
  );
}

function suggestTool(name: string | null): string | null {
  return name !== null && /^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : null;
}

export function judgeUnknown(c: Case, { what }: Unknown): Verdict {
  return byRules(c, { what: shown(what), isNamed: () => false }, null);
}

/** The verdict of deny and ask rules; null: no such rule matches. */
function restricted(c: Case, { what, isNamed }: Topic): Verdict | null {
  const denied = c.rules.deny.find(isNamed);
  if (denied !== undefined) return deny("rule", `${describeRule(denied)} refuses ${what}`);
  const asked = c.rules.ask.find(isNamed);
  return asked === undefined ? null : hardAsk("rule", describeRule(asked), `${describeRule(asked)}: ${what}`);
}

function byRules(c: Case, topic: Topic, always: string | null): Verdict {
  const forbidden = restricted(c, topic);
  if (forbidden !== null) return forbidden;
  const allowed = c.allow.find(topic.isNamed) ?? c.callRule;
  if (allowed !== undefined) return allow("rule", ruleSaid(allowed));
  const { mode } = c.subject;
  if (mode === "bypass") return allow("mode", { kind: "mode", mode });
  return ask(because("mode", { kind: "mode", mode }), { kind: "no_rule", what: topic.what, mode }, always);
}
