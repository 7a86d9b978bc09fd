/**
 * Environments of clients for processes that were brought back and have not gone on yet: the one that each had was kept in
 * memory only. What it has now, the daemon's own or a client's, serves until another client's takes its place.
 */
import { secretValues } from "../../lib/secret-values.ts";
import type { Redacting } from "../redact/model-bound.ts";
import type { Process } from "./process.ts";

type Env = Readonly<Record<string, string>>;

const LENDERS = new WeakMap<Process, (env: Env) => void>();
const IN_WANT = new WeakSet<Process>();

/** From its return on, until it goes on. */
export function mayBorrow({ ports }: Redacting, proc: Process): void {
  const { env, scratch } = proc.seed as { env: Record<string, string>; scratch: string };
  LENDERS.set(proc, (lent) => {
    ports.redactor?.learn(secretValues(lent));
    for (const name of Object.keys(env)) delete env[name];
    Object.assign(env, lent, { CRUX_SCRATCH: scratch });
  });
}

export function lendEnv(proc: Process | undefined, env: Env): void {
  if (proc !== undefined) LENDERS.get(proc)?.(env);
}

/** It goes on with what it has. */
export function stopLending(proc: Process): void {
  LENDERS.delete(proc);
}

/** It paused itself, for want of what it needs to go on: no person did. */
export function isInWant(proc: Process): boolean {
  return IN_WANT.has(proc);
}

export function want(proc: Process, is: boolean): void {
  if (is) IN_WANT.add(proc);
  else IN_WANT.delete(proc);
}
