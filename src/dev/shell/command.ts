/**
 * One command from start to end. It ends with the call that started it, unless it becomes a job: then it ends only
 * with its process. It stays the same OS process.
 */
import type { Act } from "../../abi/device.ts";
import type { SandboxKind, SandboxProfile } from "../../abi/sandbox.ts";
import type { ExecChild } from "../../kernel/ports/host.ts";
import { ABORTED } from "../../lib/abort.ts";
import { isExecutable } from "../../lib/program-file.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { Capture } from "./capture.ts";
import { commandEnvironment } from "./environment.ts";
import type { ShellRun } from "./request.ts";
import type { Calling, ShellDeps } from "./run.ts";

export interface CommandEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The error if it did not start. */
  readonly error?: Error;
  /** Violations that its sandbox observed. */
  readonly violations?: readonly string[];
}

const bashPlaces = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

export class Command {
  readonly run: ShellRun;
  readonly capture: Capture;
  /** Resolves when nothing of the command is left. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Start time on the monotonic clock, in ms. */
  readonly begunMs: number;
  /** True if its timeout ended it. */
  isLate = false;
  /** True if its call, its process or a kill request ended it. */
  isStopped = false;
  hasEnded = false;
  readonly sandbox: SandboxProfile | null;
  /** What confines it, if that is known. */
  readonly sandboxKind: SandboxKind | undefined;
  readonly #attend: Act["attend"];
  readonly #deps: ShellDeps;
  readonly #child: ExecChild;
  readonly #stop = new AbortController();
  readonly #deadline = new AbortController();
  readonly #ofCall: readonly AbortSignal[];
  readonly #listeners = new Set<() => void>();

  constructor(deps: ShellDeps, run: ShellRun, { caller, act, ofCall }: Omit<Calling, "onStart">) {
    this.#deps = deps;
    this.run = run;
    const openOutput = () => deps.outputs.openOutput(caller.uuid, act.callId);
    this.capture = new Capture(
      run.isMerged,
      openOutput,
      act.showsSecrets === true ? undefined : deps.redacted,
    );
    this.#ofCall = ofCall;
    for (const signal of [...ofCall, caller.signal]) signal.addEventListener("abort", this.#end);
    const clock = deps.clock ?? systemClock;
    this.begunMs = clock.mono();
    const socketPath = deps.socketOf(caller.uuid);
    const sandbox = act.sandbox ?? null;
    this.sandbox = sandbox;
    this.sandboxKind = deps.exec.sandbox?.available === true ? deps.exec.sandbox.kind : undefined;
    this.#attend = act.attend;
    this.#child = deps.exec.run(
      {
        argv: argvOf(run),
        isMerged: run.isMerged,
        cwd: run.cwd,
        env: {
          ...commandEnvironment(caller, run.env, socketPath, deps.passes?.(run.command, run.cwd)),
          ...act.env,
        },
        owner: `pid ${caller.pid} bash`,
        killed: caller.killed,
        process: { id: caller.uuid, until: caller.signal },
        sandbox: sandbox === null ? null : { ...sandbox, show: [...sandbox.show, socketPath] },
        onOutput: (stream, chunk) => {
          this.capture.take(stream, chunk);
          this.#tell();
        },
      },
      this.#stop.signal,
    );
    this.ended = this.#child.exited.then((end) => {
      this.hasEnded = true;
      this.#deadline.abort(ABORTED);
      for (const signal of [...ofCall, caller.signal]) signal.removeEventListener("abort", this.#end);
      this.#tell();
      return end;
    });
    if (run.endsAtTimeout) this.#endAfter(run.timeoutMs);
  }

  /** Time since its start, in ms. */
  get ageMs(): number {
    return (this.#deps.clock ?? systemClock).mono() - this.begunMs;
  }

  /**
   * From now on the command outlives its call. It also ends if the user revokes its permission and wants it ended.
   */
  becomeJob(): void {
    const release = this.#attend?.(this.#end);
    if (release !== undefined) void this.ended.then(release);
    for (const signal of this.#ofCall) signal.removeEventListener("abort", this.#end);
    this.capture.keepWhole();
  }

  /** Sends TERM to all of its processes, then KILL. Resolves when they have ended. */
  async kill(): Promise<void> {
    this.#end();
    await this.ended;
  }

  /** `told` is called when the command printed something, and when it ended. Returns a function that stops this. */
  listen(told: () => void): () => void {
    this.#listeners.add(told);
    return () => void this.#listeners.delete(told);
  }

  readonly #end = (): void => {
    this.isStopped = true;
    this.#stop.abort(ABORTED);
  };

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #endAfter(timeoutMs: number): void {
    (this.#deps.clock ?? systemClock).sleep(timeoutMs, this.#deadline.signal).then(
      () => {
        this.isLate = true;
        void this.#child.kill();
      },
      () => {},
    );
  }
}

/** The last word becomes `$0`, which bash puts before its own messages. */
function argvOf({ command }: ShellRun): string[] {
  const bash = bashPlaces.find(isExecutable) ?? "bash";
  return [bash, "--noprofile", "--norc", "-c", command, "bash"];
}
