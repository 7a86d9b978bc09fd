/**
 * One started program, from spawn until nothing of it is left. The order of its end: the leader exits; its output runs dry;
 * what it left behind is ended; the pipes are let go; then `exited` resolves and no output follows.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExecChild, ExecSpec } from "../../kernel/ports/host.ts";
import { driverError, hostError } from "../driver-error.ts";
import { Family } from "./family.ts";
import { sendSignal } from "./procfs.ts";

export type ExecEnd = Awaited<ExecChild["exited"]>;

/** TERM to KILL when the spec says nothing. */
const defaultGraceMs = 5_000;
/** What a program left behind has done its work: it gets less time than the program itself. */
const leftoverGraceMs = 500;
/** A grandchild may hold the pipes open: silence this long after the exit counts as their end … */
const quietMs = 100;
/** … and no chatter is listened to for longer than this. */
const drainMs = 1_000;
/** After KILL; a process that outlives it hangs in the host's kernel, and nobody can end it. */
const killedMs = 5_000;

export interface Start {
  readonly spec: ExecSpec;
  /** The whole argv, with an absolute program. */
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  /** `NAME=value` of `env` that only this child has. */
  readonly mark: string;
}

export class HostChild implements ExecChild {
  readonly exited: Promise<ExecEnd>;
  readonly spec: ExecSpec;
  readonly #child: ChildProcess;
  readonly #family: Family | undefined;
  readonly #closed: Promise<unknown>;
  #onChunk = (): void => {};
  #isLeaderGone = false;
  #isOver = false;
  /** When KILL comes; undefined: nobody wants its end yet. */
  #killAtMs: number | undefined;
  #killTimer: NodeJS.Timeout | undefined;

  /** Throws what spawn throws: an argument list the host cannot take. */
  constructor({ spec, argv, env, mark }: Start) {
    const [program, ...args] = argv;
    this.spec = spec;
    const stdin = spec.stdin ?? "ignore";
    this.#child = spawn(program, args, {
      cwd: spec.cwd,
      env,
      detached: true,
      stdio: [stdin, "pipe", "pipe"],
    });
    this.#closed = new Promise((resolve) => this.#child.once("close", resolve));
    const leader = this.#child.pid;
    this.#family = leader === undefined ? undefined : new Family(leader, mark);
    this.#child.stdout?.on("data", (chunk: Buffer) => this.#output("stdout", chunk));
    this.#child.stderr?.on("data", (chunk: Buffer) => this.#output("stderr", chunk));
    // a reader that went away is told by write(); unheard, these would end the daemon
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr])
      pipe?.on("error", () => {});
    this.exited = this.#supervise();
  }

  get osPid(): number | undefined {
    return this.#child.pid;
  }

  write(data: Uint8Array | string): Promise<void> {
    const stdin = this.#child.stdin;
    return new Promise((resolve, reject) => {
      const gone = () => reject(driverError("Write", "DRIVER", `${this.spec.owner}: its input is closed`));
      if (stdin === null || !stdin.writable) return gone();
      // an error of the pipe and its destruction both reach the callback
      stdin.write(data, (error) => (error ? gone() : resolve()));
    });
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  signal(name: Parameters<ExecChild["signal"]>[0]): boolean {
    const leader = this.#child.pid;
    return !this.#isLeaderGone && leader !== undefined && sendSignal(-leader, name);
  }

  /** A later call may shorten the grace, never lengthen it. */
  async kill(graceMs = this.spec.graceMs ?? defaultGraceMs): Promise<void> {
    const leader = this.#child.pid;
    if (!this.#isOver && leader !== undefined) this.#end(leader, graceMs);
    await this.exited;
  }

  #end(leader: number, graceMs: number): void {
    const nowMs = performance.now();
    const isFirst = this.#killAtMs === undefined;
    if (this.#killAtMs !== undefined && this.#killAtMs <= nowMs + graceMs) return;
    this.#killAtMs = nowMs + graceMs;
    if (isFirst) this.#family?.learn();
    if (this.#isLeaderGone) return;
    clearTimeout(this.#killTimer);
    if (graceMs === 0) sendSignal(-leader, "SIGKILL");
    else {
      if (isFirst) sendSignal(-leader, "SIGTERM");
      this.#killTimer = setTimeout(() => sendSignal(-leader, "SIGKILL"), graceMs);
    }
  }

  #output(stream: "stdout" | "stderr", chunk: Buffer): void {
    if (this.#isOver) return;
    this.#onChunk();
    this.spec.onOutput(stream, chunk);
  }

  async #supervise(): Promise<ExecEnd> {
    const end = await this.#leaderEnd();
    this.#isLeaderGone = true;
    clearTimeout(this.#killTimer);
    await this.#quiet();
    await this.#endLeftovers();
    await this.#quiet();
    this.#isOver = true;
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) pipe?.destroy();
    return end;
  }

  #leaderEnd(): Promise<ExecEnd> {
    return new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => resolve({ code, signal }));
      // also emitted when a signal cannot be sent; then the program did start, and its exit comes
      this.#child.on("error", (error) => {
        if (this.#child.pid === undefined) resolve(notStarted(this.spec, error));
      });
    });
  }

  /** Resolves when the pipes are closed, silent for a while, or have been listened to long enough. */
  #quiet(): Promise<void> {
    if (this.#child.pid === undefined) return Promise.resolve();
    const untilMs = performance.now() + drainMs;
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = () => {
        clearTimeout(timer);
        this.#onChunk = () => {};
        resolve();
      };
      this.#onChunk = () => {
        clearTimeout(timer);
        timer = setTimeout(done, Math.max(0, Math.min(quietMs, untilMs - performance.now())));
      };
      this.#onChunk();
      void this.#closed.then(done);
    });
  }

  /** TERM, then KILL, to each of them alone: the group's number may be somebody else's by now. */
  async #endLeftovers(): Promise<void> {
    const family = this.#family;
    if (family === undefined) return;
    const warned = new Set<number>();
    const begunMs = performance.now();
    for (let waitMs = 2; ; waitMs = Math.min(waitMs * 2, 50)) {
      const left = family.members();
      if (left.length === 0) return;
      const killAtMs =
        this.#killAtMs ?? begunMs + Math.min(leftoverGraceMs, this.spec.graceMs ?? defaultGraceMs);
      const nowMs = performance.now();
      if (nowMs > Math.max(killAtMs, begunMs) + killedMs) return;
      for (const pid of left) {
        if (nowMs >= killAtMs) sendSignal(pid, "SIGKILL");
        else if (!warned.has(pid)) sendSignal(pid, "SIGTERM");
        warned.add(pid);
      }
      await sleep(waitMs);
    }
  }
}

export function notStarted(spec: ExecSpec, error: unknown): ExecEnd {
  const known = hostError("Open", spec.argv[0] ?? "", error);
  return { code: null, signal: null, error: known instanceof Error ? known : new Error(String(known)) };
}
