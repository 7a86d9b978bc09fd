/**
 * Which methods a connection may call. A user may look, start and control; answering, granting and administering need
 * the cookie. A program started by an agent may see what its process sees and, if it is a process of its own, send and
 * start in that process's name, through the gate. It can never answer questions, whatever cookie it shows.
 */
import { Fault } from "../../abi/errors.ts";
import { METHODS, type MethodName } from "../../abi/methods/methods.ts";
import type { Principal } from "./principal.ts";

type Right = (typeof METHODS)[MethodName]["right"];

const UNPROVEN: ReadonlySet<Right> = new Set(["self", "observe", "control", "spawn"]);

/** `sees`: only for a process that it sees. `acts`: only if the program is a process of its own. */
export const OF_A_PROCESS: Partial<Record<MethodName, "always" | "sees" | "acts">> = {
  ping: "always",
  auth: "always",
  list_procs: "always",
  "process.list": "always",
  "kernel.status": "always",
  "kernel.metrics": "always",
  "process.logs": "sees",
  "process.steps": "sees",
  "mail.send": "acts",
  spawn: "acts",
};

/** The methods open to a guest. */
const OF_ANYBODY: ReadonlySet<MethodName> = new Set(["ping", "auth"]);

/**
 * PERMISSION, naming what is required; NOT_FOUND for a process that the caller does not see. `cookie`: whether this
 * daemon has a cookie.
 */
export function authorize(principal: Principal, method: MethodName, params: unknown, cookie: boolean): void {
  const { right } = METHODS[method];
  switch (principal.kind) {
    case "user":
      if (UNPROVEN.has(right) || principal.isProven || !cookie) return;
      throw refused(`${method} needs the cookie of the runtime directory`, COOKIE_HINT);
    case "guest":
      if (OF_ANYBODY.has(method)) return;
      throw refused(`${method}: this connection belongs to no process that is known`);
    case "process":
      checkProcess(principal, method, params);
  }
}

/** Whether any request of this method could be allowed. */
export function mayCall(principal: Principal, method: MethodName): boolean {
  if (principal.kind === "user") return true;
  if (principal.kind === "guest") return OF_ANYBODY.has(method);
  const rule = OF_A_PROCESS[method];
  return rule !== undefined && (rule !== "acts" || principal.client.sys !== null);
}

const COOKIE_HINT = "send auth {cookie} first, with the content of crux.cookie beside the socket";

function checkProcess(
  { client }: Extract<Principal, { kind: "process" }>,
  method: MethodName,
  params: unknown,
): void {
  const rule = OF_A_PROCESS[method];
  if (rule === undefined || (rule === "acts" && client.sys === null))
    throw refused(`${method}: not for a program that process ${client.pid} has started`);
  const { pid, client: name } = params as { pid?: number; client?: string };
  if (name !== undefined) throw refused(`${method}: process ${client.pid} names no client`);
  if (rule !== "sees" || (pid !== undefined && client.sees(pid))) return;
  throw new Fault({
    code: "NOT_FOUND",
    message: `process not found: ${pid}`,
    fact: { kind: "no_process", pid: pid ?? 0 },
  });
}

function refused(message: string, hint?: string): Fault {
  return new Fault({ code: "PERMISSION", message, ...(hint === undefined ? {} : { hint }) });
}
