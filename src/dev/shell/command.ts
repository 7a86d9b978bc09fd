/**
 * One command from start to end. It ends with the call that started it, until it becomes a job: then with its process alone,
 * and it stays the same OS process.
 */
import type { Act } from "../../abi/device.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { ExecChild } from "../../kernel/ports/host.ts";
import { systemClock } from "../../lib/system-clock.ts";
import { isExecutable } from "../program.ts";
import { Capture } from "./capture.ts";
import { commandEnvironment } from "./environment.ts";
import type { ShellRun } from "./request.ts";
import type { Calling, ShellDeps } from "./run.ts";

export interface CommandEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** It did not start. */
  readonly error?: Error;
  /** What its sandbox has seen of it. */
  readonly violations?: readonly string[];
}

const bashPlaces = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

export class Command {
  readonly run: ShellRun;
  readonly capture: Capture;
  /** When nothing of it is left. Never rejects. */
  readonly ended: Promise<CommandEnd>;
  /** Monotonic, ms. */
  readonly begunMs: number;
  /** Its deadline passed and ended it. */
  isLate = false;
  /** It was ended by who it belongs to. */
  isStopped = false;
  hasEnded = false;
  readonly sandbox: SandboxProfile | null;
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
      this.#deadline.abort();
      for (const signal of [...ofCall, caller.signal]) signal.removeEventListener("abort", this.#end);
      this.#tell();
      return end;
    });
    if (run.endsAtTimeout) this.#endAfter(run.timeoutMs);
  }

  /** ms since its start. */
  get ageMs(): number {
    return (this.#deps.clock ?? systemClock).mono() - this.begunMs;
  }

  /** From now on it outlives its call, and ends with what permitted that, if a person wants it so. */
  becomeJob(): void {
    const release = this.#attend?.(this.#end);
    if (release !== undefined) void this.ended.then(release);
    for (const signal of this.#ofCall) signal.removeEventListener("abort", this.#end);
    this.capture.keepWhole();
  }

  /** TERM to all of it, then KILL. Resolves when it is gone. */
  async kill(): Promise<void> {
    this.#end();
    await this.ended;
  }

  /** Told when it printed something, and when it ended. The result ends it. */
  listen(told: () => void): () => void {
    this.#listeners.add(told);
    return () => void this.#listeners.delete(told);
  }

  readonly #end = (): void => {
    this.isStopped = true;
    this.#stop.abort();
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

/** Last word: `$0`, which bash puts before its own messages. */
function argvOf({ command }: ShellRun): string[] {
  const bash = bashPlaces.find(isExecutable) ?? "bash";
  return [bash, "--noprofile", "--norc", "-c", command, "bash"];
}
