/** /dev/worktree: moves the caller to a worktree, and back. A request is written, its outcome is read. */
import * as z from "zod";
import type { Act, Caller, Device, FileStat, WritePlan } from "../../abi/device.ts";
import { Fault } from "../../abi/errors.ts";
import { enterEffect, leaveEffect } from "../../abi/worktree.ts";
import type { Trees } from "../../kernel/ports/worktrees.ts";
import { jsonBytes } from "../answer.ts";
import { driverError } from "../driver-error.ts";
import { openExchange } from "../exchange-file.ts";

const MOUNT = "/dev/worktree";
const stat: FileStat = { name: "worktree", size: 0, isDevice: true, devicePath: MOUNT };

const REQUEST = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("enter"), name: z.string().max(200) }),
  z.strictObject({ op: z.literal("exit"), removes: z.boolean(), discards: z.boolean() }),
]);
type Request = z.output<typeof REQUEST>;

export function worktreeDevice(trees: () => Trees): Device {
  return {
    name: "worktree",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (subpath !== "") throw driverError("Open", "NOT_FOUND", `file not found: ${MOUNT}${subpath}`);
      const plan = (data: Uint8Array) => planOf(parse(data), caller);
      const answer = (data: Uint8Array, _act: Act, signal: AbortSignal) =>
        answered(trees(), caller, { request: parse(data), signal });
      return openExchange({ stat, plan, answer }, flags, caller);
    },
    stat: async () => stat,
  };
}

function planOf(request: Request, { cwd }: Caller): WritePlan {
  const effect = request.op === "enter" ? enterEffect(cwd) : leaveEffect(cwd, request.discards);
  return { effects: [effect], effectClass: "once" };
}

async function answered(
  trees: Trees,
  { pid }: Caller,
  { request, signal }: { readonly request: Request; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  try {
    if (request.op === "enter") return jsonBytes(await trees.enter(pid, request.name, signal));
    return jsonBytes(await trees.leave(pid, request, signal));
  } catch (error) {
    if (error instanceof Fault) throw driverError("Write", error.code, error.message, error);
    throw error;
  }
}

function parse(bytes: Uint8Array): Request {
  try {
    return REQUEST.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (cause) {
    throw driverError("Write", "INVALID", "worktree: not a request", cause);
  }
}
