/**
 * /dev/plan: enters plan mode, and leaves it with the plan stored on disk. A request is written, its outcome is read.
 */
import { randomBytes } from "node:crypto";
import * as z from "zod";
import type { Act, Caller, Device, FileStat, WritePlan } from "../../abi/device.ts";
import { Fault } from "../../abi/errors.ts";
import { asPid } from "../../abi/ids.ts";
import type { PlanAnswer, PlanRequest } from "../../abi/permit/plan.ts";
import type { Plans } from "../../kernel/ports/plans.ts";
import { jsonBytes } from "../answer.ts";
import { driverError } from "../driver-error.ts";
import { type Exchange, openExchange } from "../exchange-file.ts";
import { readPlan, writePlan } from "../plan-file.ts";

const MOUNT = "/dev/plan";
const stat: FileStat = { name: "plan", size: 0, isDevice: true, devicePath: MOUNT };

const REQUEST = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("enter"), reason: z.string().max(2_000) }),
  z.strictObject({
    op: z.literal("exit"),
    prompts: z.array(z.strictObject({ tool: z.literal("bash"), prompt: z.string().min(1).max(500) })).max(20),
  }),
  z.strictObject({
    op: z.literal("answer"),
    pid: z.int().positive().transform(asPid),
    requestId: z.string().max(80),
    approve: z.boolean(),
    feedback: z.exactOptional(z.string().max(10_000)),
  }),
]);

export function planDevice(plans: () => Plans): Device {
  return {
    name: "plan",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (subpath !== "") throw driverError("Open", "NOT_FOUND", `file not found: ${MOUNT}${subpath}`);
      return openExchange(new PlanExchange(plans(), caller), flags, caller);
    },
    stat: async () => stat,
  };
}

class PlanExchange implements Exchange {
  readonly stat = stat;
  readonly #plans: Plans;
  readonly #caller: Caller;

  constructor(plans: Plans, caller: Caller) {
    this.#plans = plans;
    this.#caller = caller;
  }

  /** The user is asked, and decides about the mode. */
  plan(data: Uint8Array): WritePlan {
    const { op } = parse(data);
    if (op === "answer") return { effects: [{ kind: "state", path: MOUNT }], effectClass: "once" };
    const question = op === "enter" ? "plan first?" : "approve the plan?";
    return { effects: [{ kind: "person", question }], effectClass: "repeat" };
  }

  async answer(data: Uint8Array, _act: Act, signal: AbortSignal): Promise<Uint8Array> {
    try {
      return jsonBytes(await this.#do(parse(data), signal));
    } catch (error) {
      if (error instanceof Fault) throw driverError("Write", error.code, error.message, error);
      throw error;
    }
  }

  async #do(request: PlanRequest, signal: AbortSignal): Promise<PlanAnswer> {
    const { pid } = this.#caller;
    if (request.op === "enter") return this.#plans.enter(pid, request.reason, signal);
    if (request.op === "answer") {
      await this.#plans.answer(pid, request);
      return { kind: "answered" };
    }
    const path = this.#plans.pathOf(pid);
    const plan = path === null ? "" : await readPlan(path);
    const left = await this.#plans.leave(pid, { plan, prompts: request.prompts }, signal);
    if (left.kind === "approved" && left.wasEdited && path !== null)
      await keepEdited(this.#caller, path, left.plan);
    return { ...left, path: path ?? "" };
  }
}

/** The model gets the approved plan even if it cannot be stored. */
async function keepEdited(caller: Caller, path: string, plan: string): Promise<void> {
  try {
    await writePlan(path, plan, randomBytes(6).toString("hex"));
  } catch (error) {
    caller.log("warn", `the plan could not be kept as you changed it: ${String(error)}`);
  }
}

function parse(bytes: Uint8Array): PlanRequest {
  try {
    return REQUEST.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (cause) {
    const issue = cause instanceof z.ZodError ? cause.issues[0] : undefined;
    const where = (issue?.path ?? []).map(String).join(".");
    throw driverError("Write", "INVALID", `plan: ${where} ${issue?.message ?? "not JSON"}`, cause);
  }
}
