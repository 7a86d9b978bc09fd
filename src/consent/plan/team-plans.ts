/**
 * The plan of a member of a team, which its lead approves. The request waits as a value of the member, so it outlives a restart;
 * an answer counts from its lead alone, and only under the number of the request.
 */
import { Fault } from "../../abi/errors.ts";
import type { Pid } from "../../abi/ids.ts";
import type { PlanLeft, PlanVerdict } from "../../abi/permit/plan.ts";
import { type Office, post } from "../../kernel/ipc/post.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import { keptOf, keptValues, type ValueKeeping } from "../../kernel/process/kept-values.ts";
import type { Process } from "../../kernel/process/process.ts";
import { type ModeKernel, setMode } from "../../kernel/process/rights/set-mode.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { type Redacting, redactedBytes } from "../../kernel/redact/model-bound.ts";

export interface TeamPlanning
  extends ModeKernel,
    ValueKeeping,
    Omit<Office, "ports">,
    Omit<Redacting, "ports"> {
  readonly ports: ModeKernel["ports"] & Office["ports"] & Redacting["ports"] & Pick<KernelPorts, "nonce">;
  readonly table: ModeKernel["table"] & Pick<ProcessTable, "get" | "sees">;
}

/** The value of a member: the number of its request. */
const REQUEST = "plan/request";

export function plansFirst({ seed: { child } }: Process): boolean {
  return child?.team !== undefined && child.plansFirst === true;
}

/** Sends the plan to the lead and returns at once: the answer comes as a message. UNAVAILABLE: its mailbox is full. */
export async function askLead(
  core: TeamPlanning,
  proc: Process,
  plan: string,
  path: string,
): Promise<PlanLeft> {
  const lead = core.table.get(proc.ppid);
  if (lead === undefined) throw new Fault({ code: "UNAVAILABLE", message: "the lead of the team has ended" });
  const requestId = `plan-${core.ports.nonce()}`;
  keptValues(core, proc).set(REQUEST, requestId);
  const told = { type: "plan_approval_request", request_id: requestId, plan, plan_file_path: path };
  await tell(core, proc, lead, told);
  return { kind: "asked", requestId };
}

/**
 * INVALID: the one that answers does not lead the team. NOT_FOUND: it sees no such member, or the plan of that needs no approval.
 * CONFLICT: no request with this number waits. The log of a member that plans says so, and nothing changes.
 */
export async function answerPlan(
  core: TeamPlanning,
  by: Pid,
  answer: PlanVerdict & { mode(of: Process): Parameters<typeof setMode>[2]["mode"] },
): Promise<void> {
  const { pid, requestId, approve, feedback = "" } = answer;
  const [lead, proc] = [core.table.get(by), core.table.get(pid)];
  const drop = (code: "INVALID" | "NOT_FOUND" | "CONFLICT", message: string): never => {
    if (proc !== undefined && plansFirst(proc))
      proc.log("warn", `${message}: the answer was dropped`, core.ports.clock.mono());
    throw new Fault({ code, message });
  };
  if (proc !== undefined && plansFirst(proc) && proc.ppid !== by && core.table.sees(by, pid))
    return drop("INVALID", `process ${by} does not lead the team of process ${pid}`);
  if (lead === undefined || proc === undefined || proc.ppid !== by || !plansFirst(proc))
    return drop("NOT_FOUND", `process ${pid} has no plan that process ${by} approves`);
  if (keptOf(proc).get(REQUEST) !== requestId)
    return drop("CONFLICT", `no plan of process ${pid} waits under ${requestId}`);
  const mode = answer.mode(proc);
  const who = { principal: "lead", client: "", uid: null, isPerson: false };
  // made again after a crash in between it changes nothing more
  if (approve && proc.mode === "plan") await setMode(core, proc, { mode, by: who });
  keptValues(core, proc).set(REQUEST, null);
  const words = feedback === "" ? {} : { feedback };
  const more = approve ? { mode } : {};
  await tell(core, lead, proc, {
    type: "plan_approval_response",
    request_id: requestId,
    approve,
    ...words,
    ...more,
  });
}

async function tell(core: TeamPlanning, from: Process, to: Process, told: object): Promise<void> {
  const labels = from.labels.length === 0 ? undefined : from.labels;
  const data = redactedBytes(core, to, new TextEncoder().encode(JSON.stringify(told)));
  await post(core, to, { from: from.pid, data, labels });
}
