/**
 * What a client steers a named program by: its input, the spools of its streams, its size and its use. The process
 * itself is in the process table, as any other.
 */
import { Fault } from "../../abi/errors.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { EventIds, NativeOptions, WindowSize } from "../../abi/native.ts";
import { exitReport } from "../../lib/exit-report.ts";
import { maskedCommand } from "../../lib/redact/server-label.ts";
import { LIMITS } from "../limits.ts";
import type { EventLog } from "../ports/events.ts";
import type { ExecChild, NativeUsage } from "../ports/host.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Native, Natives, PastOutput, StreamName } from "../ports/natives.ts";
import type { Spool } from "../ports/spools.ts";
import type { Process } from "../process/process.ts";

export class NativeControl implements Native {
  readonly id: string;
  readonly command: readonly string[];
  readonly isPty: boolean;
  readonly ids: EventIds;
  readonly output: Readonly<Partial<Record<StreamName, Spool>>>;
  /** Set before it is started. */
  log: Spool | undefined;
  readonly #ports: Pick<KernelPorts, "clock">;
  readonly #proc: Process;
  readonly #hasInput: boolean;
  readonly #begun = Promise.withResolvers<void>();
  readonly #told = Promise.withResolvers<number>();
  /** The seq of its start among the events. */
  #startedAs: Promise<number> | undefined;
  readonly #events: EventLog;
  #child: ExecChild | undefined;
  #isInputOpen = false;
  #inputBytes = 0;
  #queuedBytes = 0;
  #usage: Native["usage"] = null;
  #end: Native["end"] = null;

  constructor(
    { ports, events }: { ports: Pick<KernelPorts, "clock" | "spools">; events: EventLog },
    proc: Process,
    { command, options }: { command: readonly string[]; options: NativeOptions },
  ) {
    this.#ports = ports;
    this.#events = events;
    this.#proc = proc;
    this.id = options.id ?? "";
    this.command = command;
    this.isPty = options.pty !== undefined;
    this.ids = options.ids ?? {};
    this.#hasInput = options.stdin === "pipe" || this.isPty;
    const open = (stream: StreamName) =>
      ports.spools.open(spoolOf(proc.seed.uuid, stream), options.onSpoolFull ?? "drop", {
        maxBytes: options.spoolBytes,
        owner: String(proc.ppid),
      });
    this.output = { stdout: open("stdout"), ...(this.isPty ? {} : { stderr: open("stderr") }) };
  }

  get pid(): Pid {
    return this.#proc.pid;
  }

  get uuid() {
    return this.#proc.seed.uuid;
  }

  get ppid(): Pid {
    return this.#proc.ppid;
  }

  get cwd(): string {
    return this.#proc.seed.cwd;
  }

  get startedAt(): number {
    return this.#proc.seed.createdAt.getTime();
  }

  get osPid(): number | undefined {
    return this.#child?.osPid;
  }

  get begun(): Promise<void> {
    return this.#begun.promise;
  }

  get told(): Promise<number> {
    return this.#told.promise;
  }

  get end(): Native["end"] {
    return this.#end;
  }

  /** While it runs as of now; afterwards as it was seen last. */
  get usage(): Native["usage"] {
    this.measure();
    return this.#usage;
  }

  get input(): Native["input"] {
    return { bytes: this.#inputBytes, queuedBytes: this.#queuedBytes, isOpen: this.#isInputOpen };
  }

  started(child: ExecChild): void {
    this.#child = child;
    this.#isInputOpen = this.#hasInput;
    this.measure();
    const { pid, ppid, id, osPid = null, command } = this;
    this.#startedAs = this.#tell("process.started", {
      id,
      pid,
      ppid,
      osPid,
      command: maskedCommand(command),
      cwd: this.cwd,
      pty: this.isPty,
    });
    // whoever is told that it runs finds its start among the events, whatever happens to the daemon
    void this.#startedAs.then(() => this.#begun.resolve());
  }

  /** PAUSE or RESUME has taken effect. */
  changed(activity: "paused" | null): void {
    const { pid, id } = this;
    const previous = { state: "running", activity: activity === null ? "paused" : null };
    void this.#tell("process.state", { id, pid, state: "running", activity, previous });
  }

  /** Resolves with the seq; 0: the disk refuses, and nobody is told. */
  async #tell(event: string, data: object): Promise<number> {
    const { pid, id, ids } = this;
    const started = (await this.#startedAs) ?? 0;
    const cause = started === 0 ? {} : { causationId: `e_${started}` };
    return this.#events.publish({ event, pid, id, ...ids, ...cause, data }).catch(() => 0);
  }

  measure(): NativeUsage | undefined {
    const now = this.#end === null ? this.#child?.usage?.() : undefined;
    if (now === undefined) return undefined;
    const peakRssBytes = Math.max(now.rssBytes, this.#usage?.peakRssBytes ?? 0);
    const cpuMs = Math.max(now.cpuMs, this.#usage?.cpuMs ?? 0);
    this.#usage = { ...now, cpuMs, peakRssBytes };
    return now;
  }

  /** Its streams are complete. */
  endStreams(): void {
    this.#isInputOpen = false;
    for (const spool of Object.values(this.output)) spool.end();
    this.#begun.resolve();
  }

  /** Its exit is recorded. */
  ended(): void {
    const { exit } = this.#proc;
    const { clock } = this.#ports;
    if (exit === null) return;
    const elapsedMs = Math.floor(this.#proc.elapsedMs(clock.mono()));
    this.#end = { exit, endedAt: Math.floor(clock.now()), elapsedMs };
    this.#child = undefined;
    const { stdout, stderr } = this.output;
    const streams = { stdout: stdout?.bytes ?? 0, stderr: stderr?.bytes ?? 0 };
    void this.#tell("process.exited", { ...exitReport(this, this.#end), streams }).then(this.#told.resolve);
  }

  async write(data: Uint8Array): Promise<void> {
    if (!this.#hasInput)
      throw new Fault({ code: "INVALID", message: `process ${this.pid} was started without stdin` });
    const child = this.#child;
    if (!this.#isInputOpen || child === undefined) throw brokenPipe();
    this.#queuedBytes += data.byteLength;
    try {
      await child.write(data);
      this.#inputBytes += data.byteLength;
    } catch (cause) {
      this.#isInputOpen = false;
      throw brokenPipe(cause);
    } finally {
      this.#queuedBytes -= data.byteLength;
    }
  }

  endInput(): void {
    // a terminal stays open: what ends is the text before it
    if (!this.isPty) this.#isInputOpen = false;
    this.#child?.endInput();
  }

  resize(size: WindowSize): void {
    this.#child?.resize?.(size);
  }
}

function spoolOf(uuid: ProcUuid, stream: StreamName): string {
  return `${uuid}.${stream === "stdout" ? "out" : "err"}`;
}

function brokenPipe(cause?: unknown): Fault {
  return new Fault({ code: "DRIVER", message: "broken pipe", cause });
}

/** Handles of named programs, by pid: of the live ones, and of the last that have ended. */
export class NativeTable implements Natives {
  readonly #known = new Map<Pid, NativeControl>();
  readonly #ports: () => Pick<KernelPorts, "journal" | "spools">;
  #ended: Pid[] = [];

  constructor(ports: () => Pick<KernelPorts, "journal" | "spools">) {
    this.#ports = ports;
  }

  list(): readonly NativeControl[] {
    return [...this.#known.values()];
  }

  of(pid: Pid): NativeControl | undefined {
    return this.#known.get(pid);
  }

  async past(pid: Pid, written: Partial<Record<StreamName, number>> = {}): Promise<PastOutput> {
    const { journal, spools } = this.#ports();
    const uuid = await journal.processOf(pid);
    if (uuid === undefined) return {};
    const stdout = spools.past(spoolOf(uuid, "stdout"), written.stdout);
    const stderr = spools.past(spoolOf(uuid, "stderr"), written.stderr);
    return { ...(stdout && { stdout }), ...(stderr && { stderr }) };
  }

  /** CONFLICT: the spawner has a live program of this name. */
  check(id: string, spawner: Pid): void {
    for (const each of this.#known.values())
      if (each.id === id && each.ppid === spawner && each.end === null)
        throw new Fault({ code: "CONFLICT", message: `id in use: ${id} is process ${each.pid}` });
  }

  add(control: NativeControl): void {
    this.#known.set(control.pid, control);
  }

  remove({ pid }: NativeControl): void {
    this.#known.delete(pid);
  }

  end(control: NativeControl): void {
    control.ended();
    this.#ended.push(control.pid);
    if (this.#ended.length <= LIMITS.nativesEnded) return;
    for (const pid of this.#ended.splice(0, this.#ended.length - LIMITS.nativesEnded))
      this.#known.delete(pid);
  }
}
