/** Is an effect within what was permitted? Declared effects are an upper bound; exceeding them is a bug of the tool. */
import type { Effect } from "../../abi/effects.ts";
import { SyscallError } from "../../abi/errors.ts";
import { isWithin } from "../../lib/path.ts";
import type { Process } from "../process/process.ts";
import type { Scope } from "./scope.ts";

export function covers(granted: readonly Effect[], wanted: Effect): boolean {
  if (wanted.kind === "state") return true;
  return granted.some((grant) => coversOne(grant, wanted));
}

function coversOne(grant: Effect, wanted: Effect): boolean {
  switch (wanted.kind) {
    case "read":
      if (grant.kind === "write") return grant.real === wanted.real && wanted.subtree !== true;
      if (grant.kind !== "read") return false;
      if (grant.real === wanted.real) return grant.subtree === true || wanted.subtree !== true;
      return grant.subtree === true && isWithin(grant.real ?? grant.path, wanted.real ?? wanted.path);
    case "write":
      return (
        grant.kind === "write" &&
        grant.real === wanted.real &&
        (grant.change === wanted.change || wanted.change !== "delete")
      );
    case "exec":
      return (
        grant.kind === "exec" &&
        sameArgv(grant.argv, wanted.argv) &&
        grant.cwd === wanted.cwd &&
        (grant.unconfined === true || wanted.unconfined !== true)
      );
    case "network":
      return grant.kind === "network" && grant.host === wanted.host && grant.port === wanted.port;
    case "spawn":
      return (
        grant.kind === "spawn" &&
        grant.program === wanted.program &&
        (grant.skill === undefined) === (wanted.skill === undefined)
      );
    case "mcp":
      // who may read the lists of a server may read what they name: those URIs are the server's own words
      return (
        grant.kind === "mcp" &&
        grant.server === wanted.server &&
        grant.tool === wanted.tool &&
        (grant.uri === undefined || grant.uri === wanted.uri)
      );
    case "message":
      return grant.kind === "message" && grant.to === wanted.to && grant.signal === wanted.signal;
    case "mode":
      return grant.kind === "mode" && grant.to === wanted.to;
    case "person":
      return grant.kind === "person";
    case "llm":
      return grant.kind === "llm" && grant.device === wanted.device;
    default:
      return false;
  }
}

function sameArgv(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, i) => word === b[i]);
}

/** The call whose effects are checked. */
interface At {
  readonly self: Pick<Process, "pid">;
  readonly syscall: string;
  readonly device: string;
}

/** PERMISSION: an undeclared effect; CONFLICT: a permitted path leads elsewhere by now. */
export function checkCovered(scope: Scope, effects: readonly Effect[], at: At): void {
  for (const effect of effects) {
    if (covers(scope.effects, effect)) continue;
    const { self, syscall, device } = at;
    if (movedSince(scope.effects, effect)) {
      const message = "the path leads elsewhere than when it was permitted";
      throw new SyscallError({ syscall, pid: self.pid, device, code: "CONFLICT", message });
    }
    const message = `tool ${scope.tool} did not declare this effect: ${effect.kind}`;
    throw new SyscallError({ syscall, pid: self.pid, device, code: "PERMISSION", message });
  }
}

function movedSince(granted: readonly Effect[], wanted: Effect): boolean {
  if (wanted.kind !== "read" && wanted.kind !== "write") return false;
  return granted.some((g) => g.kind === wanted.kind && g.path === wanted.path && g.real !== wanted.real);
}

/** A part of the state of a process, as an effect names it. */
const OWN_STATE = {
  contexts: "/proc/self/contexts",
  coroutines: "/proc/self/coroutines",
  pipes: "/proc/self/fd",
  signals: "/proc/self/signals",
  threads: "/proc/self/threads",
} as const;

/**
 * PERMISSION: a program under /bin that did not declare this change of the process. The change outlasts its call, so a
 * read of the state does not cover it.
 */
export function checkLasting(
  scope: Scope | null,
  part: keyof typeof OWN_STATE,
  at: Omit<At, "device">,
): void {
  const device = OWN_STATE[part];
  if (scope === null) return;
  if (scope.effects.some((effect) => effect.kind === "state" && effect.path === device)) return;
  const message = `tool ${scope.tool} did not declare this effect: state ${device}`;
  throw new SyscallError({ syscall: at.syscall, pid: at.self.pid, device, code: "PERMISSION", message });
}
