/**
 * Capability tokens: what a program may do in the name of its process. Only their SHA-256 is kept. A token ends with its
 * process, at its time, or when it or the one it was derived from is revoked; a derived one never holds more.
 */
import { hash, randomBytes } from "node:crypto";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import { until } from "../../lib/time/until.ts";

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
  /** How long it still holds. */
  readonly left: () => number;
}

export class Tokens {
  readonly #held = new Map<string, Held>();
  /** What is done once a token is revoked, by its digest. */
  readonly #watched = new Map<() => void, string>();
  readonly #clock: Pick<Clock, "now" | "mono">;

  constructor(clock: Pick<Clock, "now" | "mono">) {
    this.#clock = clock;
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

  /** How long what find() gave still holds, as far as its time goes; ms. */
  left(capability: Capability): number {
    return this.isLive(capability) ? (capability as Held).left() : 0;
  }

  /** Calls `act` when it, or one that it was derived from, is revoked. Returns how to stop that. */
  whenRevoked(capability: Capability, act: () => void): () => void {
    this.#watched.set(act, (capability as Held).digest);
    return () => void this.#watched.delete(act);
  }

  /** Ends a token of this process. False: it is none, or has ended. */
  revoke(token: string, uuid: string): boolean {
    const digest = digestOf(token);
    if (this.#live(digest)?.uuid !== uuid) return false;
    this.#end(digest);
    return true;
  }

  /** The process has ended, and what it began ends with it. */
  drop(uuid: string): void {
    for (const [digest, held] of this.#held) if (held.uuid === uuid) this.#held.delete(digest);
  }

  #make(given: Omit<Held, "digest" | "left">): string {
    const token = `cap_${given.pid}_${randomBytes(SECRET_BYTES).toString("base64url")}`;
    const digest = digestOf(token);
    const { expiresAt } = given;
    const left = expiresAt === null ? () => Number.POSITIVE_INFINITY : until(expiresAt, this.#clock);
    this.#held.set(digest, { ...given, digest, left });
    const [oldest] = this.#held.keys();
    if (this.#held.size > MAX_TOKENS && oldest !== undefined) this.#end(oldest);
    return token;
  }

  #end(digest: string): void {
    const ended = [...this.#watched].filter(([, watched]) => this.#comesFrom(watched, digest));
    this.#held.delete(digest);
    for (const [act] of ended) act();
  }

  #comesFrom(digest: string | null, from: string): boolean {
    if (digest === null || digest === from) return digest === from;
    return this.#comesFrom(this.#held.get(digest)?.parent ?? null, from);
  }

  #live(digest: string): Held | undefined {
    const held = this.#held.get(digest);
    if (held === undefined || held.left() <= 0) return undefined;
    return held.parent === null || this.#live(held.parent) !== undefined ? held : undefined;
  }
}

function digestOf(token: string): string {
  return hash("sha256", token);
}
