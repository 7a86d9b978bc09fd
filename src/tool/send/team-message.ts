/** Messages of a team that are more than words: the lead's answer to a plan, its wish that a member ends, and the answer to that. */
import * as z from "zod";
import { TEAM, type Team } from "../../abi/child.ts";
import type { Pid } from "../../abi/ids.ts";
import { infoOf } from "../child-process.ts";
import { askDevice } from "../device-json.ts";
import { failure } from "../failure.ts";
import type { Outcome, RunContext } from "../tool.ts";

const TYPES = ["plan_approval_response", "shutdown_request", "shutdown_response"] as const;

export const TeamMessage = z.strictObject({
  type: z.enum(TYPES),
  request_id: z.string().max(80).optional(),
  approve: z.boolean().optional(),
  feedback: z.string().max(10_000).optional(),
  reason: z.string().max(10_000).optional(),
});
type TeamMessage = z.output<typeof TeamMessage>;

/** INVALID: it is for one process, from the lead to a member or from a member to its lead, as its type says. */
export async function sendInTeam(
  message: TeamMessage,
  pids: readonly Pid[],
  context: RunContext,
): Promise<Outcome> {
  const { type, reason } = message;
  const [to, ...others] = pids;
  if (to === undefined || others.length > 0) throw failure("INVALID", `${type} is for one process`);
  const isToLead = type === "shutdown_response";
  // one that plans is told in its log of each answer that does not count
  const isJudgedBelow = type === "plan_approval_response" && (await plans(to, context));
  if (!isJudgedBelow && !(await (isToLead ? isLead(to, context) : isMember(to, context))))
    throw failure(
      "INVALID",
      `${type} goes from ${isToLead ? "a member of a team to its lead" : "the lead of a team to a member"}`,
    );
  if (type === "shutdown_request") {
    const requestId = `shutdown-${context.callId}`;
    await post(to, { type, request_id: requestId, ...given({ reason }) }, context);
    return {
      text: `Asked pid ${to} to end (${requestId}). Its answer comes as a message.`,
      meta: { to: [to] },
    };
  }
  const { request_id: requestId, approve } = message;
  if (requestId === undefined || approve === undefined)
    throw failure("INVALID", `${type} needs request_id and approve`);
  if (type === "shutdown_response") {
    await post(to, { type, request_id: requestId, approve, ...given({ reason }) }, context);
    const text = approve
      ? "The lead is told. Say your last word: you end with it."
      : "The lead is told; go on.";
    return { text, meta: { to: [to], ...(approve ? { status: "leaving" } : {}) } };
  }
  const { feedback } = message;
  await askDevice(context, "/dev/plan", {
    op: "answer",
    pid: to,
    requestId,
    approve,
    ...given({ feedback }),
  });
  const text = approve ? `pid ${to} may begin.` : `pid ${to} plans on.`;
  return { text, meta: { to: [to] } };
}

async function isLead(pid: Pid, { sys }: RunContext): Promise<boolean> {
  const self = await infoOf(sys, sys.getPid());
  return self?.child?.team !== undefined && self.ppid === pid;
}

async function isMember(pid: Pid, { sys, kept }: RunContext): Promise<boolean> {
  const team = kept?.get(TEAM) as Team | undefined;
  const found = await infoOf(sys, pid);
  return team !== undefined && found?.ppid === sys.getPid() && found.child?.team === team.name;
}

async function plans(pid: Pid, { sys }: RunContext): Promise<boolean> {
  return (await infoOf(sys, pid))?.child?.plansFirst === true;
}

async function post(to: Pid, told: object, { sys, signal }: RunContext): Promise<void> {
  await sys.send(to, new TextEncoder().encode(JSON.stringify(told)), signal);
}

function given<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
