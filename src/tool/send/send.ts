/** send: a message to another process, a member of the caller's compose project, or all members of a group. */
import * as z from "zod";
import { codeOf, messageOf } from "../../abi/errors.ts";
import { asPid, type Pgid, type Pid } from "../../abi/ids.ts";
import { findPid, type Member, memberName, membersNamed } from "../../abi/member.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { failure } from "../failure.ts";
import { defineTool, type LookContext, type Outcome, type RunContext } from "../tool.ts";
import text from "./send.md";

const Args = z.object({
  to: z.string().min(1).max(64).describe("pid, service, group, or * for the own groups"),
  message: z.string().min(1).max(100_000),
  summary: z.string().max(120).optional().describe("in a few words"),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({ to: z.array(z.int()) });

export const send = defineTool({
  name: "send",
  hint: "message to another agent or group",
  text,
  args: Args,
  meta: Meta,
  effects: ({ to }) => [{ kind: "message", to }],
  async prepare({ to }, look) {
    await receivers(to, look);
    return undefined;
  },
  view: ({ to, message, summary }) => ({
    operation: `message to ${to}${summary === undefined ? "" : `: ${summary}`}`,
    params: { to, message },
  }),
  about: (args) => String(args.to),
  activity: ({ to }) => `Writing to ${to}`,
  run,
});

async function run({ to, message }: Args, context: RunContext): Promise<Outcome> {
  const { sys, signal } = context;
  const pids = await receivers(to, context);
  const data = new TextEncoder().encode(message);
  const reached: number[] = [];
  for (const pid of pids) {
    await sys.send(pid, data, signal);
    reached.push(pid);
  }
  return { text: `Sent to ${reached.map((pid) => `pid ${pid}`).join(", ")}.`, meta: { to: reached } };
}

/**
 * A pid, otherwise a member of the caller's compose project, otherwise a group: a group cannot take over a service's
 * name.
 */
async function receivers(to: string, { sys }: LookContext): Promise<readonly Pid[]> {
  const own = sys.getPid();
  const procs = await sys.listProcs();
  const self = procs.find(({ pid }) => pid === own);
  const others = procs.filter(({ pid }) => pid !== own);
  const fellows = others.flatMap(({ member }) => (member === undefined ? [] : [member]));
  const [member, ...more] = membersNamed(fellows, to);
  const hint = (): string | undefined => hintOf(self?.member, fellows);
  if (more.length > 0) throw ambiguous(to, [member, ...more] as Member[]);
  if (member !== undefined) return [member.pid];
  const pid = findPid(to);
  if (pid === Number(own)) throw failure("INVALID", "send: a process does not write to itself");
  if (pid !== undefined) {
    if (others.some((proc) => proc.pid === pid)) return [asPid(pid)];
    throw failure("NOT_FOUND", `process not found: ${to}`, hint());
  }
  const pids = (await inGroups(to, sys, self?.groups ?? [], hint)).filter((each) => each !== own);
  if (pids.length === 0) throw failure("NOT_FOUND", `nobody to send to: ${to}`, hint());
  return pids;
}

async function inGroups(
  to: string,
  sys: Syscalls,
  own: readonly Pgid[],
  hint: () => string | undefined,
): Promise<readonly Pid[]> {
  if (to === "*") {
    const members = await Promise.all(own.map((group) => sys.getProcGroup(group)));
    return [...new Set(members.flat())];
  }
  try {
    return await sys.getProcGroup(to);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "NOT_FOUND" && code !== "INVALID") throw error;
    throw failure(code, messageOf(error), hint(), error);
  }
}

function ambiguous(to: string, members: readonly Member[]): Error {
  const names = members.map((member) => `${memberName(member)} (pid ${member.pid})`).join(", ");
  return failure(
    "INVALID",
    `${to} names ${members.length} members of the project: ${names}`,
    "name one of them",
  );
}

/** The names that would have worked; undefined: the caller is not in a project. */
function hintOf(self: Member | undefined, fellows: readonly Member[]): string | undefined {
  if (self === undefined) return undefined;
  const { project, mayWrite } = self;
  if (!mayWrite)
    return `the services of project ${project} may not write to one another: its compose file says messages: false`;
  const names = fellows.map(memberName).join(", ");
  return names === ""
    ? `no other agent of project ${project} is running`
    : `agents of project ${project} that are running: ${names}`;
}
