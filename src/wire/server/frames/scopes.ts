/**
 * What a connection of the binary wire may do. A program of a process has the scopes of its token; without one it may
 * look at its own process and those below it. It never acts for the user, whoever started its process.
 */
import { Fault } from "../../../abi/errors.ts";
import { asPid, PID_KERNEL, type Pid } from "../../../abi/ids.ts";
import type { Authority } from "../../../abi/methods/ipc/kernel.ts";
import { IPC_METHODS, type IpcMethodName } from "../../../abi/methods/ipc/methods.ts";
import { METHODS, type MethodName } from "../../../abi/methods/methods.ts";
import type { Natives } from "../../../kernel/ports/natives.ts";
import type { Principal } from "../principal.ts";
import type { Capability } from "../tokens.ts";

/** Without a token. */
const LOOKING: readonly string[] = ["self", "observe"];
/** What a program may do that belongs to no known process. */
const OF_A_GUEST = /^kernel\.|^system\.get_metrics$/;

/** Methods of the text wire that need no scope. */
const OF_THE_CONNECTION: ReadonlySet<MethodName> = new Set(["ping", "auth"]);

const OF_DEVICES = "device:";
/** Processes that a connection has seen. Beyond, the oldest that has left the table is forgotten, else the oldest. */
const MAX_KNOWN = 1_000;

function isOfDevices(scope: string): boolean {
  return scope.startsWith(OF_DEVICES);
}

/** Scopes of devices are patterns, in which `*` is any text. One covers a pattern if it covers all that it matches. */
export function covers(scopes: readonly string[], wanted: string): boolean {
  if (scopes.includes(wanted)) return true;
  return isOfDevices(wanted) && scopes.some((scope) => isOfDevices(scope) && matches(scope, wanted));
}

/** In time that grows with the product of the lengths, whatever the pattern. */
function matches(pattern: string, text: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  if (rest.length === 0 || !text.startsWith(first)) return false;
  const last = rest.pop() ?? "";
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

interface ShownToken {
  readonly text: string;
  readonly capability: Capability;
  /** False: it was revoked, has expired, or its process has ended. */
  isLive(): boolean;
}

export class Scopes {
  readonly #principal: () => Principal;
  readonly #natives: () => Natives;
  #token: ShownToken | null = null;

  readonly #knew = new Set<number>();

  constructor(principal: () => Principal, natives: () => Natives) {
    this.#principal = principal;
    this.#natives = natives;
  }

  /** The process for which it acts; pid 0 for the user. */
  get actor(): Pid {
    const principal = this.#principal();
    return principal.kind === "process" ? principal.client.pid : PID_KERNEL;
  }

  /** The token that the connection has shown. */
  get token(): string | null {
    return this.#token?.text ?? null;
  }

  get authority(): Authority {
    const principal = this.#principal();
    if (principal.kind !== "process") return { kind: principal.kind };
    const { scopes = LOOKING, expiresAt = null } = this.#token?.capability ?? {};
    // an ended token leaves nothing, on connections that are open too
    if (this.#token?.isLive() === false)
      return { kind: "process", pid: principal.client.pid, scopes: [], expiresAt };
    return { kind: "process", pid: principal.client.pid, scopes: [...scopes], expiresAt };
  }

  hold(token: ShownToken): void {
    this.#token = token;
  }

  /** The scopes it may pass on; null: all, as the user may. */
  get own(): readonly string[] | null {
    const { authority } = this;
    return authority.kind === "process" ? authority.scopes : null;
  }

  mayCall(method: IpcMethodName): boolean {
    const principal = this.#principal();
    if (principal.kind === "user") return true;
    if (principal.kind === "guest") return OF_A_GUEST.test(method);
    return this.#has(IPC_METHODS[method].right);
  }

  /** PERMISSION, naming the scope that is missing. */
  check(method: IpcMethodName): void {
    if (this.mayCall(method)) return;
    this.require(IPC_METHODS[method].right, method);
  }

  /** A program needs the scope of its right for a method of the text wire, besides what that wire demands. */
  mayCallText(method: MethodName): boolean {
    const isFree = this.#principal().kind !== "process" || OF_THE_CONNECTION.has(method);
    return isFree || this.#has(METHODS[method].right);
  }

  /** PERMISSION: the caller does not have the scope. */
  require(scope: string, what: string): void {
    if (this.#principal().kind === "user" || this.#has(scope)) return;
    const message = `${what} needs the scope ${scope}`;
    throw new Fault({ code: "PERMISSION", message, details: { scope } });
  }

  /** `device`: any scope of devices. */
  #has(scope: string): boolean {
    const { own } = this;
    return (
      own !== null && (covers(own, scope) || (scope === "device" && own.some((each) => isOfDevices(each))))
    );
  }

  /** Events of no process are for the user. */
  seesEvent(pid: number | undefined): boolean {
    return pid === undefined ? this.actor === PID_KERNEL : this.#knew.has(pid) || this.#look(pid);
  }

  /** A process that it once saw: its end comes after it has left the table. */
  #look(pid: number): boolean {
    if (!this.sees(pid)) return false;
    if (this.actor !== PID_KERNEL) this.#remember(pid);
    return true;
  }

  #remember(pid: number): void {
    this.#knew.add(pid);
    for (let left = MAX_KNOWN; this.#knew.size > MAX_KNOWN; left--) {
      const [oldest = pid] = this.#knew;
      this.#knew.delete(oldest);
      if (left > 0 && this.sees(oldest)) this.#knew.add(oldest);
    }
  }

  /** Its own process and those below it, also programs that have ended; the user sees all. */
  sees(pid: number): boolean {
    const principal = this.#principal();
    if (principal.kind !== "process") return principal.kind === "user";
    return principal.client.controls(pid) || this.hasSeenEnd(pid);
  }

  /** Called before it is told of a process: its own then has the labels of that one. */
  async hears(pids: Iterable<number>): Promise<void> {
    const principal = this.#principal();
    if (principal.kind !== "process") return;
    for (const pid of pids) await principal.client.hears(pid);
  }

  /** A program below its own process that has ended, and may have left the table. */
  hasSeenEnd(pid: number): boolean {
    const natives = this.#natives();
    let at = natives.of(asPid(pid));
    if (at === undefined || at.end === null) return false;
    for (; at !== undefined; at = natives.of(at.ppid)) if (at.ppid === this.actor) return true;
    return false;
  }
}
