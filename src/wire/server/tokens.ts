/**
 * Capability tokens: what a program may do in the name of its process. Only their SHA-256 is kept. A token ends with its
 * process, at its time, or when it or the one it was derived from is revoked; a derived one never holds more.
 */
import { hash, randomBytes } from "node:crypto";
import type { Pid, ProcUuid } from "../../abi/ids.ts";

const SECRET_BYTES = 32;
/** Beyond this the oldest token is revoked. */
const MAX_TOKENS = 10_000;

export interface Capability {
  readonly pid: Pid;
  readonly uuid: string;
  readonly scopes: readonly string[];
  /** ms since the epoch; null: when the process ends. */
  readonly expiresAt: number | null;
}

interface Held extends Capability {
  readonly parent: string | null;
  readonly digest: string;
}

export class Tokens {
  readonly #held = new Map<string, Held>();
  readonly #now: () => number;

  /** `now`: the wall clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  issue(pid: Pid, uuid: ProcUuid, scopes: readonly string[]): string {
    return this.#make({ pid, uuid, scopes, expiresAt: null, parent: null });
  }

  /** `of`: a token of the caller, or null where the process is known without one. */
  derive(of: string | null, capability: Capability): string {
    return this.#make({ ...capability, parent: of === null ? null : digestOf(of) });
  }

  /** undefined: not a token, ended, or expired. */
  find(token: string): Capability | undefined {
    return this.#live(digestOf(token));
  }

  /** Whether what find() gave still holds. */
  isLive(capability: Capability): boolean {
    return this.#live((capability as Held).digest) === capability;
  }

  /** Ends a token of this process. False: it is none, or has ended. */
  revoke(token: string, uuid: string): boolean {
    const digest = digestOf(token);
    return this.#live(digest)?.uuid === uuid && this.#held.delete(digest);
  }

  /** The process has ended. */
  drop(uuid: string): void {
    for (const [digest, held] of this.#held) if (held.uuid === uuid) this.#held.delete(digest);
  }

  #make(given: Omit<Held, "digest">): string {
    const token = `cap_${given.pid}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
    const digest = digestOf(token);
    this.#held.set(digest, { ...given, digest });
    const [oldest] = this.#held.keys();
    if (this.#held.size > MAX_TOKENS && oldest !== undefined) this.#held.delete(oldest);
    return token;
  }

  #live(digest: string): Held | undefined {
    const held = this.#held.get(digest);
    if (held === undefined || (held.expiresAt !== null && held.expiresAt <= this.#now())) return undefined;
    return held.parent === null || this.#live(held.parent) !== undefined ? held : undefined;
  }
}

function digestOf(token: string): string {
  return hash("sha256", token);
}
