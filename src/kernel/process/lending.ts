/**
 * Environments that clients lend to restored processes that have not resumed yet: a process's own environment was held
 * in memory only. Until it resumes, each lent environment replaces the one before, at first the daemon's.
 */
import { secretValues } from "../../lib/redact/secret-values.ts";
import type { Redacting } from "../redact/model-bound.ts";
import type { Process } from "./process.ts";

type Env = Readonly<Record<string, string>>;

const LENDERS = new WeakMap<Process, (env: Env) => void>();
const IN_WANT = new WeakSet<Process>();

/** Lets clients lend an environment to a restored process, until it resumes. */
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

/** The process resumes: it keeps the environment it has now. */
export function stopLending(proc: Process): void {
  LENDERS.delete(proc);
}

/** Whether the process paused itself because something it needs is missing, and not at a request. */
export function isInWant(proc: Process): boolean {
  return IN_WANT.has(proc);
}

export function want(proc: Process, is: boolean): void {
  if (is) IN_WANT.add(proc);
  else IN_WANT.delete(proc);
}
