/** A disk that fails: strace answers the system calls of a process in the place of the system, for as long as it is attached. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/** Why no process can be traced here; undefined: one can. */
export function noStrace(): string | undefined {
  const { error, status, stderr } = spawnSync("strace", ["-o", "/dev/null", "-e", "trace=none", "true"], {
    encoding: "utf8",
  });
  if (error !== undefined) return `strace: ${error.message}`;
  return status === 0 ? undefined : stderr.trim();
}

export class Injection {
  readonly #strace: ChildProcess;

  private constructor(strace: ChildProcess) {
    this.#strace = strace;
  }

  /** From now on these calls of all threads of `pid` fail. `path`: only those on this file. */
  static async start(pid: number, calls: string, error: string, path?: string): Promise<Injection> {
    const args = ["-f", "-p", String(pid), "-e", `trace=${calls}`, "-e", `inject=${calls}:error=${error}`];
    if (path !== undefined) args.push("-P", path);
    for (;;) {
      const strace = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
      // it says so once it is attached, and then tells each call on the same stream
      await once(strace.stderr, "data");
      strace.stderr.resume();
      const injection = new Injection(strace);
      // a thread that began while strace attached to the others is not among those it has
      if (hasAllThreads(strace.pid, pid)) return injection;
      await injection.end();
    }
  }

  /** The calls reach the system again. */
  async end(): Promise<void> {
    if (this.#strace.exitCode !== null || this.#strace.signalCode !== null) return;
    const gone = once(this.#strace, "exit");
    this.#strace.kill("SIGINT");
    await gone;
  }
}

function hasAllThreads(tracer: number | undefined, pid: number): boolean {
  return readdirSync(`/proc/${pid}/task`).every((thread) => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/status`, "utf8").includes(`TracerPid:\t${tracer}\n`);
    } catch {
      // it has ended meanwhile
      return true;
    }
  });
}
