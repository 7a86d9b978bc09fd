/** send: a message to another process, a member of the caller's compose project, or all members of a group. */
import * as z from "zod";
import { codeOf, messageOf } from "../../abi/errors.ts";
import { asPid, type Pgid, type Pid } from "../../abi/ids.ts";
import { findPid, type Member, memberName, membersNamed } from "../../abi/member.ts";
import type { ProcInfo } from "../../abi/process.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { endOf, findTarget, hasStarted, outputFile } from "../child-process.ts";
import { failure } from "../failure.ts";
import { defineTool, type LookContext, type Outcome, type RunContext } from "../tool.ts";
import text from "./send.md";
import { sendInTeam, TeamMessage } from "./team-message.ts";

/** As much as the kernel takes as one message. */
const MAX_BYTES = 256 * 1024;

const Args = z.object({
  to: z.string().min(1).max(64).describe("name, agent-…, pid, main, service, group, or * for the own groups"),
  message: z.union([
    z
      .string()
      .min(1)
      .refine(
        (words) => Buffer.byteLength(words) <= MAX_BYTES,
        "over 256 KiB: write a file and send its path",
      ),
    TeamMessage,
  ]),
  summary: z.string().max(120).optional().describe("in a few words"),
});
type Args = z.output<typeof Args>;

const Meta = z.strictObject({
  to: z.array(z.int()),
  status: z.enum(["async_launched", "leaving"]).optional(),
  output_file: z.string().optional(),
  can_read_output_file: z.boolean().optional(),
});

export const send = defineTool({
  name: "send",
  hint: "message to another agent or group",
  text,
  args: Args,
  meta: Meta,
  effects: ({ to, message }) => [
    { kind: "message", to },
    ...(typeof message === "string" ? [] : [{ kind: "state", path: "/dev/plan" } as const]),
  ],
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
  if (typeof message !== "string") return sendInTeam(message, pids, context);
  const data = new TextEncoder().encode(message);
  const live = new Set((await sys.listProcs()).flatMap(({ pid, exit }) => (exit === null ? [pid] : [])));
  const resumed = pids.find((pid) => !live.has(pid));
  const ended = resumed === undefined ? null : await endOf(sys, resumed);
  const reached: Pid[] = [];
  for (const pid of pids) {
    await sys.send(pid, data, signal);
    reached.push(pid);
  }
  if (resumed === undefined)
    return { text: `Sent to ${reached.map((pid) => `pid ${pid}`).join(", ")}.`, meta: { to: reached } };
  const { told = "", ...output } = ended === null ? {} : await outputFile(sys, ended.agentId, signal);
  return {
    text: `pid ${resumed} had ended. It goes on in the background with this message; you are told when it ends.${told}`,
    // the run waits for it as for one that was started
    meta: { to: reached, status: "async_launched", ...output },
  };
}

/**
 * A member of the caller's compose project, otherwise a pid or an agent, otherwise a group: neither takes over a service's
 * name.
 */
async function receivers(to: string, context: LookContext): Promise<readonly Pid[]> {
  const { sys } = context;
  const own = sys.getPid();
  const procs = await sys.listProcs();
  const self = procs.find(({ pid }) => pid === own);
  const others = procs.filter(({ pid }) => pid !== own);
  const fellows = others.flatMap(({ member }) => (member === undefined ? [] : [member]));
  const [member, ...more] = membersNamed(fellows, to);
  const hint = (): string | undefined => hintOf(self?.member, fellows);
  if (more.length > 0) throw ambiguous(to, [member, ...more] as Member[]);
  if (member !== undefined) return [member.pid];
  if (findPid(to) === Number(own)) throw failure("INVALID", "send: a process does not write to itself");
  const pid = to === "main" ? topmost(procs, own) : await findTarget(context, to);
  if (pid !== undefined) {
    // an agent below the caller that has ended reads the message all the same
    if (others.some((proc) => proc.pid === pid) || (await endOf(sys, asPid(pid))) !== null)
      return [asPid(pid)];
    if (hasStarted(context.kept, pid))
      throw failure("NOT_FOUND", `${to} has ended, and its history was removed`, "start a new agent");
    throw failure("NOT_FOUND", `process not found: ${to}`, hint());
  }
  const pids = (await inGroups(to, sys, self?.groups ?? [], hint)).filter((each) => each !== own);
  if (pids.length === 0) throw failure("NOT_FOUND", `nobody to send to: ${to}`, hint());
  return pids;
}

/** The agent that the user has started, above the caller. undefined: it is the caller itself. */
function topmost(procs: readonly ProcInfo[], own: Pid): Pid | undefined {
  let at = own;
  for (let proc = byPid(procs, own); proc !== undefined; proc = byPid(procs, proc.ppid)) at = proc.pid;
  return at === own ? undefined : at;
}

function byPid(procs: readonly ProcInfo[], wanted: Pid | undefined): ProcInfo | undefined {
  return procs.find(({ pid }) => pid === wanted);
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
  const inOrder = members.toSorted((a, b) => a.replica - b.replica);
  const names = inOrder.map((member) => `${memberName(member)} (pid ${member.pid})`).join(", ");
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
