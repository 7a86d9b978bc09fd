/**
 * One replica of a service: its state and its output. The output of an agent comes from its events, that of a program
 * from fds 1 and 2; both are published line by line, in order, and before the exit.
 */

import type { ComposeService, ProjectEvent } from "../../abi/compose/compose.ts";
import type { Pid } from "../../abi/ids.ts";
import type { Clock } from "../../abi/program.ts";
import { LIMITS } from "../../kernel/limits.ts";
import { logLine } from "../../kernel/log/log-line.ts";
import type { Process } from "../../kernel/process/process.ts";
import type { StdFile } from "../../kernel/process/spawn/stdio.ts";
import { ABORTED } from "../../lib/abort.ts";
import type { Attendance } from "../child-runs.ts";
import type { KeptChild } from "../record/kept-supervisor.ts";
import type { ReplicaFacts } from "./conditions.ts";
import { type Inlet, outputFile } from "./inlet.ts";
import { LineSplitter, linesOf } from "./line-splitter.ts";

/** The part of the project that a replica needs. */
export interface ReplicaHost {
  readonly clock: Clock;
  publish(event: ProjectEvent): void;
  /** Called when the facts of a replica have changed. */
  changed(): void;
  ready(replica: Replica): void;
  /** Called when a replica was not ready in time. */
  late(replica: Replica): void;
  /** The pipe that a service reads from. */
  inletOf(service: string): Inlet | undefined;
  /** The pipes that a stream of a service writes to. */
  outletsOf(service: string, stream: "stdout" | "stderr" | "result"): readonly Inlet[];
}

export class Replica implements ReplicaFacts {
  readonly id: string;
  readonly service: ComposeService;
  /** The number of the replica within its service, from 1. */
  readonly n: number;
  readonly #host: ReplicaHost;
  /** Ends the wait until it is ready. */
  #patience = new AbortController();
  readonly #pattern: RegExp | null;
  #isWaitedFor = false;
  hasStarted = false;
  isReady = false;
  isLate = false;
  hasCompleted = false;
  isOver = false;
  isSkipped = false;
  /** Its newest run wrote more than its pipes could hold. */
  hasOverflown = false;
  /** It was released for its start. */
  isReleased = false;
  /** The dependency named in its last `waiting` event. */
  waitsOn = "";
  /** The pid of its newest run. */
  pid: Pid | null = null;
  /** The reason why it does not run, for the user; "": none. */
  note = "";

  constructor(service: ComposeService, n: number, host: ReplicaHost) {
    this.id = `${service.name}-${n}`;
    this.service = service;
    this.n = n;
    this.#host = host;
    this.#pattern = service.ready?.kind === "stdout" ? new RegExp(service.ready.pattern) : null;
  }

  /** Restores its recorded state. `heldFor`: the reason why it is not started. */
  restore(kept: KeptChild | undefined, heldFor: string | undefined): void {
    if (kept === undefined) return;
    const { run, state } = kept;
    this.pid = run?.pid ?? null;
    this.isReleased = state !== "waiting" && state !== "skipped";
    this.isSkipped = state === "skipped";
    this.isOver = state === "done";
    this.hasStarted = run !== null && !this.isSkipped;
    this.hasCompleted = kept.hasCompleted;
    this.isReady = this.hasStarted && (kept.isReady || this.service.ready === undefined);
    if (this.isSkipped && heldFor !== undefined) this.note = `not started: ${heldFor}`;
    if (this.note !== "") this.#say(this.note);
  }

  /** Resets it for a new start after its dependencies; `hasCompleted` stays true. */
  comeBack(): void {
    this.isReleased = false;
    this.isOver = false;
    this.hasStarted = false;
    this.isReady = false;
    this.isLate = false;
    this.note = "";
    this.#isWaitedFor = false;
    this.#say("brought back by a new daemon: its log and its pipes begin anew");
  }

  /** What one run needs: files and callbacks. */
  attend(): Attendance {
    return this.service.program.kind === "agent" ? this.#attendAgent() : this.#attendNative();
  }

  exited(code: number): void {
    if (code !== 0) return;
    this.hasCompleted = true;
    // an agent may complete within its first step
    if (this.service.ready?.kind !== "stdout") this.#ready();
  }

  /** Cancels the wait until it is ready. */
  close(): void {
    this.#patience.abort(ABORTED);
  }

  #attendAgent(): Attendance {
    const told = Promise.withResolvers<void>();
    const { name } = this.service;
    const result = {
      inlets: () => this.#host.outletsOf(name, "result"),
      overflow: () => this.#overflow(),
    };
    return {
      files: [
        ...this.#input(),
        ...(result.inlets().length === 0 ? [] : [{ fd: 1, file: outputFile("stdout", result) } as const]),
      ],
      onMade: (proc) => {
        this.#started(proc.pid);
        this.#follow(proc).then(told.resolve, told.reject);
      },
      told: () => told.promise,
    };
  }

  async #follow(proc: Process): Promise<void> {
    const events = proc.watchers.watch();
    try {
      for await (const event of events) {
        const line = logLine(event);
        const texts = line === undefined ? [] : linesOf(line.message);
        for (const text of texts) this.#say(`[agent/${proc.pid}] ${text}`);
        // ready after the first step, which is when the second begins
        if (event.event === "step" && event.step > 1) this.#ready();
      }
    } finally {
      events.close();
    }
  }

  #attendNative(): Attendance {
    return {
      files: [
        ...this.#input(),
        { fd: 1, file: this.#output("stdout") },
        { fd: 2, file: this.#output("stderr") },
      ],
      onMade: (proc) => this.#started(proc.pid),
    };
  }

  #output(stream: "stdout" | "stderr") {
    const lines = new LineSplitter((heard) => {
      this.#sayAll(heard);
      if (stream === "stdout" && heard.some((line) => this.#pattern?.test(line) === true)) this.#ready();
    });
    return outputFile(stream, {
      chunk: (data) => lines.push(data),
      end: () => lines.flush(),
      inlets: () => this.#host.outletsOf(this.service.name, stream),
      labels: () => this.#host.inletOf(this.service.name)?.carried.labels ?? [],
      overflow: () => this.#overflow(),
    });
  }

  #input(): readonly StdFile[] {
    const inlet = this.#host.inletOf(this.service.name);
    return inlet === undefined ? [] : [{ fd: 0, file: inlet.reader() }];
  }

  /**
   * Publishes at most `LIMITS.projectLines` of the lines of one chunk, so that a flood does not keep the daemon busy.
   */
  #sayAll(lines: readonly string[]): void {
    const told = lines.length <= LIMITS.projectLines ? lines : lines.slice(1 - LIMITS.projectLines);
    if (told.length < lines.length) this.#say(`(${lines.length - told.length} lines left out)`);
    for (const line of told) this.#say(line);
  }

  #say(text: string): void {
    this.#host.publish({ event: "log", child: this.id, text });
  }

  #overflow(): void {
    if (!this.hasOverflown) this.#say("pipe spool full: nobody has read what it wrote");
    this.hasOverflown = true;
  }

  #started(pid: Pid): void {
    this.pid = pid;
    this.note = "";
    this.hasOverflown = false;
    this.isOver = false;
    this.isSkipped = false;
    this.hasStarted = true;
    this.#host.publish({ event: "started", child: this.id, pid });
    const { ready } = this.service;
    if (ready === undefined) this.isReady = true;
    else if (!this.#isWaitedFor) this.#awaitReady(ready.timeoutMs);
    this.#host.changed();
  }

  /** The time counts from the first start, so that a replica that restarts repeatedly is late, too. */
  #awaitReady(timeoutMs: number): void {
    this.#isWaitedFor = true;
    if (this.#patience.signal.aborted) this.#patience = new AbortController();
    this.#host.clock.sleep(timeoutMs, this.#patience.signal).then(
      () => {
        this.isLate = true;
        this.note = `not ready after ${timeoutMs / 1000}s`;
        this.#say(this.note);
        this.#host.late(this);
      },
      () => {},
    );
  }

  #ready(): void {
    if (this.isReady) return;
    this.isReady = true;
    this.#patience.abort(ABORTED);
    this.#host.ready(this);
    this.#host.changed();
  }
}
