/**
 * OS children of the daemon. Each has its own process group and two marks in its environment: CRUX_OWNER names the daemon
 * (orphans.ts finds what a dead one left), CRUX_EXEC_ID the child and its descendants (family.ts).
 * Whoever starts a new daemon from within a child must drop both marks from its environment.
 */
import { randomBytes } from "node:crypto";
import type { DriverError } from "../../abi/errors.ts";
import type { ExecChild, ExecSpec, HostExec } from "../../kernel/ports/host.ts";
import { cancelled, driverError } from "../driver-error.ts";
import { type ExecEnd, HostChild, notStarted } from "./child.ts";
import { parentDeathPrefix } from "./parent-death.ts";
import { findProgram, isDirectory } from "./program.ts";

export class HostProcesses implements HostExec {
  readonly ownership = "pdeathsig";
  readonly #owner: string;
  readonly #children = new Set<HostChild>();
  #isClosed = false;

  constructor(owner: { kernelId: string; epoch: number }) {
    this.#owner = `${owner.kernelId}:${owner.epoch}`;
  }

  get live(): number {
    return this.#children.size;
  }

  run(spec: ExecSpec, signal: AbortSignal): ExecChild {
    const program = this.#check(spec, signal);
    if (typeof program !== "string") return new DeadChild({ code: null, signal: null, error: program });
    try {
      const child = this.#start(spec, program);
      this.#adopt(child, signal);
      return child;
    } catch (error) {
      return new DeadChild(notStarted(spec, error));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#children].map((child) => child.kill()));
  }

  #check(spec: ExecSpec, signal: AbortSignal): string | DriverError {
    if (this.#isClosed) return driverError("Open", "UNAVAILABLE", "the daemon is shutting down");
    if (signal.aborted) return cancelled("Open");
    if (!isDirectory(spec.cwd))
      return driverError("Open", "NOT_FOUND", `working directory not found: ${spec.cwd}`);
    return findProgram(spec.argv[0] ?? "", spec.cwd, spec.env);
  }

  #start(spec: ExecSpec, program: string): HostChild {
    const id = randomBytes(12).toString("hex");
    const env = { ...spec.env, CRUX_OWNER: this.#owner, CRUX_EXEC_ID: id };
    const [first = program, ...rest] = [...parentDeathPrefix(), program, ...spec.argv.slice(1)];
    return new HostChild({ spec, argv: [first, ...rest], env, mark: `CRUX_EXEC_ID=${id}` });
  }

  #adopt(child: HostChild, signal: AbortSignal): void {
    const onAbort = () => void child.kill();
    const onKilled = () => void child.kill(0);
    const { killed } = child.spec;
    signal.addEventListener("abort", onAbort, { once: true });
    killed?.addEventListener("abort", onKilled, { once: true });
    if (killed?.aborted) onKilled();
    this.#children.add(child);
    void child.exited.then(() => {
      signal.removeEventListener("abort", onAbort);
      killed?.removeEventListener("abort", onKilled);
      this.#children.delete(child);
    });
  }
}

/** A program that did not start. */
class DeadChild implements ExecChild {
  readonly osPid = undefined;
  readonly exited: Promise<ExecEnd>;
  readonly #error: Error | undefined;

  constructor(end: ExecEnd) {
    this.exited = Promise.resolve(end);
    this.#error = end.error;
  }

  async write(): Promise<void> {
    throw this.#error;
  }

  endInput(): void {}

  signal(): boolean {
    return false;
  }

  async kill(): Promise<void> {}
}
