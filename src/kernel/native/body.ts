/**
 * A program of the host as a process, with its own process group and namespace. Its output is stored on disk, and it
 * ends with its owner. TERM ends it like any process, with a shorter grace, but a program that handles TERM keeps its
 * own exit code; INT, PAUSE and RESUME are passed to the program.
 */

import { constants } from "node:os";
import { basename } from "node:path/posix";
import { SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL } from "../../abi/ids.ts";
import type { NativeOptions } from "../../abi/native.ts";
import { EXIT, type ExitStatus, SIGNALS, type Signal } from "../../abi/process.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { ABORTED } from "../../lib/abort.ts";
import { maskedCommand } from "../../lib/redact/server-label.ts";
import { LIMITS } from "../limits.ts";
import type { EventLog } from "../ports/events.ts";
import type { ExecChild } from "../ports/host.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import { outputName } from "../ports/spools.ts";
import type { Body, Making } from "../process/body.ts";
import { type Finishing, forceAfter } from "../process/end/finish.ts";
import type { Process } from "../process/process.ts";
import { STDIN } from "../process/spawn/stdio.ts";
import { type Granting, sandboxOf } from "../process/subject.ts";
import type { ProcessTable } from "../process/table.ts";
import { checkCommand, EXEC_TOOL } from "./command.ts";
import { holdLimits } from "./limits.ts";
import { NativeControl, type NativeTable } from "./native-control.ts";
import { feed, NativeOutput, type Streaming } from "./stdio.ts";

/** What programs of the host need of the kernel. */
export type NativeHost = Streaming &
  Granting &
  Finishing & {
    readonly ports: Pick<KernelPorts, "commandEnv" | "exec" | "spools" | "tokenFor" | "clock">;
    readonly natives: NativeTable;
    readonly events: EventLog;
    readonly table: Pick<ProcessTable, "childrenOf">;
  };

/** Makes the terminal at its stdin the controlling one of a session of its own, so that `^C` and job control work. */
const ON_TERMINAL = ["setsid", "--ctty", "--wait"];

/** A spool of this size has what a log that is written later needs. */
const LATE_LOG_BYTES = 8 * 1024 * 1024;

interface NativeCommand {
  readonly argv: readonly string[];
  readonly options: NativeOptions;
  /** It runs without a sandbox, by decision of the gate. */
  readonly isOutside: boolean;
}

/** Errors: INVALID argv, at once; NOT_FOUND program or working directory, when the spawn prepares the process. */
export function nativeBody(core: NativeHost, command: NativeCommand): Body {
  checkCommand(command.argv);
  return new NativeBody(core, command);
}

class NativeBody implements Body {
  readonly kind = "native";
  readonly agent = null;
  readonly isActive = true;
  readonly termGraceMs = LIMITS.nativeGraceMs;
  readonly name: string;
  readonly #core: NativeHost;
  readonly #argv: readonly string[];
  readonly #options: NativeOptions;
  readonly #isOutside: boolean;
  #env: Readonly<Record<string, string>> = {};
  /** Set at the start. */
  #child: ExecChild | undefined;
  /** Absent: it has no name. */
  #control: NativeControl | undefined;

  constructor(core: NativeHost, { argv, options, isOutside }: NativeCommand) {
    this.#core = core;
    this.#argv = [...argv];
    this.#options = options;
    this.#isOutside = isOutside;
    this.name = basename(argv[0] ?? "");
  }

  async prepare({ parent, proc, undo }: Making): Promise<void> {
    const core = this.#core;
    checkCount(core.table, parent, proc);
    const { pid, uuid, env, cwd } = proc.seed;
    const { pty, id, scopes = [] } = this.#options;
    const asked = { ...this.#options.env, ...(pty === undefined ? {} : { TERM: pty.term }) };
    this.#env = core.ports.commandEnv({ pid, uuid, env }, asked, this.#argv);
    core.ports.exec.find({ argv: this.#argv, cwd, env: this.#env });
    if (id === undefined) return;
    core.natives.check(id, parent.pid);
    const token = core.ports.tokenFor?.({ pid, uuid }, ["self", "observe", "control", ...scopes]);
    if (token !== undefined) this.#env = { ...this.#env, CRUX_IPC_TOKEN: token };
    const control = new NativeControl(core, proc, { command: this.#argv, options: this.#options });
    core.natives.add(control);
    this.#control = control;
    undo.push(() => {
      control.endStreams();
      core.natives.remove(control);
    });
  }

  async run(proc: Process): Promise<ExitStatus> {
    const core = this.#core;
    const spool = core.ports.spools.open(outputName(proc.seed.uuid), "drop", { owner: String(proc.ppid) });
    const output = new NativeOutput(core, proc, spool, () => this.#endUnread(proc));
    const control = this.#control;
    if (control !== undefined) {
      control.log = spool;
      // who has started it may read its log from any position; the user reads the end of it
      const isEnough = proc.ppid === PID_KERNEL && (this.#options.spoolBytes ?? Infinity) >= LATE_LOG_BYTES;
      output.alsoTo(control.output, isEnough);
      const end = (): void => core.natives.end(control);
      proc.done.promise.then(end, end);
    }
    const stop = new AbortController();
    try {
      const child = this.#start(proc, output);
      control?.started(child);
      if (control !== undefined)
        void holdLimits(core, { proc, child, control, options: this.#options }, stop.signal);
      const feeding = proc.fds.has(STDIN) ? feed(core, proc, child, stop.signal) : Promise.resolve();
      const end = await child.exited;
      stop.abort(ABORTED);
      await feeding;
      proc.conclude(output.result());
      const exit = exitOfNative(end);
      if (end.error === undefined) proc.ending.heed(exit);
      return exit;
    } finally {
      stop.abort(ABORTED);
      output.end();
      control?.endStreams();
    }
  }

  onSignal(_proc: Process, signal: Signal): boolean {
    const child = this.#child;
    if (child === undefined) return false;
    switch (signal) {
      case SIGNALS.SIGINT:
        child.signal("SIGINT");
        return true;
      case SIGNALS.SIGPAUSE:
        child.signal("SIGSTOP");
        this.#control?.changed("paused");
        return true;
      case SIGNALS.SIGRESUME:
        child.signal("SIGCONT");
        this.#control?.changed(null);
        return true;
      case SIGNALS.SIGTERM:
      case SIGNALS.SIGKILL:
        return false;
    }
  }

  record(): Record<string, unknown> {
    const { id } = this.#options;
    return { command: maskedCommand(this.#argv), ...(id === undefined ? {} : { id }) };
  }

  /** `graceMs` is infinite because the kernel sends KILL: a caller that ends the process may choose another grace. */
  #start(proc: Process, output: NativeOutput): ExecChild {
    const hasInput = proc.fds.has(STDIN) || this.#options.stdin === "pipe";
    this.#child = this.#core.ports.exec.run(
      {
        argv: this.#options.pty === undefined ? this.#argv : [...ON_TERMINAL, ...this.#argv],
        cwd: proc.seed.cwd,
        env: this.#env,
        pty: this.#options.pty,
        stdin: hasInput ? "pipe" : "ignore",
        graceMs: Infinity,
        killed: proc.killed.signal,
        owner: `pid ${proc.pid} ${this.name}`,
        sandbox: this.#sandbox(proc),
        isBorrowed: true,
        onOutput: (stream, chunk) => output.take(stream, chunk),
      },
      proc.abort.signal,
    );
    return this.#child;
  }

  /** The sandbox by its own rights, computed at the start: its parent may have ended. */
  #sandbox(proc: Process): SandboxProfile | null {
    if (proc.seed.confined !== true || (this.#isOutside && this.#options.confined !== true)) return null;
    const { cwd } = proc.seed;
    const effect = { kind: "exec", argv: this.#argv, cwd, certain: true } as const;
    const sandbox = sandboxOf(this.#core, proc, { tool: EXEC_TOOL, effects: [effect] });
    const { CRUX_IPC_SOCKET: socket } = this.#env;
    if (sandbox === null || socket === undefined) return sandbox;
    return { ...sandbox, show: [...sandbox.show, socket] };
  }

  #endUnread(proc: Process): void {
    this.#child?.signal("SIGPIPE");
    void this.#child?.kill();
    forceAfter(this.#core, proc, LIMITS.nativeGraceMs);
  }
}

/**
 * BUDGET: the parent, an agent or a native, runs too many natives. Those of the user or a supervisor are not counted
 * here.
 */
function checkCount(table: Pick<ProcessTable, "childrenOf">, parent: Process, proc: Process): void {
  if (parent.seed.kind !== "agent" && parent.seed.kind !== "native") return;
  const isOther = (each: Process): boolean => each.seed.kind === "native" && each.isLive && each !== proc;
  const count = table.childrenOf(parent.pid).filter(isOther).length;
  if (count < LIMITS.natives) return;
  const message = `too many programs run at once: ${count}; wait for some to end`;
  throw new SyscallError({ syscall: "Spawn", pid: proc.pid, code: "BUDGET", message });
}

/** Its exit status: its own exit code; after signal n, or with the code that stands for it: 128 + n and `killed: <NAME>`. */
function exitOfNative({ code, signal, error }: Awaited<ExecChild["exited"]>): ExitStatus {
  if (error !== undefined) return { code: 1, reason: error.message, kind: "fault", err: error };
  const name = signal ?? signalOf(code ?? 0);
  if (name !== undefined) return { code: 128 + numberOf(name), reason: `killed: ${name}`, kind: "killed" };
  return code === 0 ? EXIT.completed : { code: code ?? 1, reason: `exit ${code ?? 1}`, kind: "fault" };
}

/** Shells and namespace wrappers report a death by signal n as code 128 + n. */
function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

function numberOf(name: string): number {
  return Object.entries(constants.signals).find(([known]) => known === name)?.[1] ?? 0;
}
