/** Connections that hold the input of a program for themselves. */
import { Fault } from "../../../abi/errors.ts";
import type { Native } from "../../../kernel/ports/natives.ts";
import type { Session } from "./call.ts";

const holders = new WeakMap<Native, Session>();

/** CONFLICT: another connection holds the input. */
export function checkHold(native: Native, session: Session): void {
  const holder = holders.get(native);
  if (holder === undefined || holder === session) return;
  throw new Fault({
    code: "CONFLICT",
    message: `the stdin of process ${native.pid} is held by another connection`,
    details: { holder: { pid: holder.scopes.actor } },
  });
}

export function takeHold(native: Native, session: Session): void {
  holders.set(native, session);
}

export function releaseHold(native: Native, session: Session): void {
  if (holders.get(native) === session) holders.delete(native);
}
