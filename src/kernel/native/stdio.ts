/**
 * The streams of a native. Its output is stored in its spool, both streams in order of arrival; stdout also goes to its
 * fd 1 and stderr to its fd 2, if open, no faster than these accept it. Its fd 0 is its stdin.
 *
 * A missing reader is signalled to the program as on the host, by SIGPIPE; a program that does not end then gets TERM,
 * and KILL after a grace.
 */

import { messageOf, printed } from "../../abi/errors.ts";
import { asCallId, asFd, type Fd } from "../../abi/ids.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { abortable } from "../../lib/abort.ts";
import type { ExecChild } from "../ports/host.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Native } from "../ports/natives.ts";
import type { Spool } from "../ports/spools.ts";
import type { Process } from "../process/process.ts";
import { STDIN, STDOUT } from "../process/spawn/stdio.ts";
import { OutputLog } from "./output-log.ts";

/** What the streams of a native need of the kernel. */
export interface Streaming {
  readonly ports: Pick<KernelPorts, "clock" | "redactor">;
  handle(self: Process, scope: null): Syscalls;
}

const STDERR = asFd(2);
/** How much of a native's stdout `ps` shows, in bytes. */
const resultBytes = 4_096;
/** How much input is read for the program at once. */
const inputBytes = 64 * 1024;

export class NativeOutput {
  readonly #core: Streaming;
  readonly #proc: Process;
  /** Has what is stored without secrets; readers of its fds get the output unchanged. */
  readonly #log: OutputLog;
  readonly #onBroken: () => void;
  readonly #broken = new Set<Fd>();
  #also: Native["output"] = {};
  #tail = Buffer.alloc(0);
  #isTailCut = false;

  /** `onBroken` is called when the reader of its stdout or stderr has gone. */
  constructor(core: Streaming, proc: Process, log: Spool, onBroken: () => void) {
    this.#core = core;
    this.#proc = proc;
    this.#log = new OutputLog({ ...core.ports, log, redactor: core.ports.redactor });
    this.#onBroken = onBroken;
  }

  /** The unchanged output of each stream is stored here too. `isEnough`: its log may be written later. */
  alsoTo(spools: Native["output"], isEnough: boolean): void {
    this.#also = spools;
    if (isEnough) this.#log.mayWait(spools);
  }

  /** Returns a promise if the stream must wait for a reader. The chunk is borrowed. */
  take(stream: "stdout" | "stderr", chunk: Buffer): Promise<void> | undefined {
    const also = this.#also[stream];
    const from = also?.bytes ?? 0;
    also?.write(chunk);
    this.#log.take(stream, chunk, from);
    if (stream === "stdout") this.#remember(chunk);
    const fd = stream === "stdout" ? STDOUT : STDERR;
    const room = also?.room();
    const passed =
      this.#proc.fds.has(fd) && !this.#broken.has(fd) ? this.#pass(fd, Buffer.from(chunk)) : undefined;
    if (room === undefined) return passed;
    // one that is killed waits for nobody
    const had = abortable(room, this.#proc.killed.signal).catch(() => {});
    return Promise.all([passed, had]).then(() => {});
  }

  /** The end of its stdout, without trailing whitespace. */
  result(): string {
    const text = this.#tail.toString("utf8");
    return (this.#isTailCut ? text.replace(/^\uFFFD+/, "") : text).trimEnd();
  }

  end(): void {
    this.#log.end();
  }

  #remember(chunk: Buffer): void {
    const kept = chunk.byteLength >= resultBytes ? chunk : Buffer.concat([this.#tail, chunk]);
    this.#isTailCut ||= kept.byteLength > resultBytes;
    const end = kept.subarray(-resultBytes);
    if (end.byteLength === this.#tail.byteLength) end.copy(this.#tail);
    else this.#tail = Buffer.from(end);
  }

  async #pass(fd: Fd, chunk: Buffer): Promise<void> {
    const { killed } = this.#proc;
    try {
      await this.#write(fd, chunk, killed.signal);
    } catch (error) {
      this.#broken.add(fd);
      if (killed.signal.aborted) return;
      this.#proc.log("warn", `its output was not taken: ${printed(error)}`, this.#core.ports.clock.mono());
      this.#onBroken();
    }
  }

  /**
   * A file that acts on what is written to it is called through the gate. A file that only stores bytes, such as a
   * pipe, is written directly, so that it also gets what a program prints while it ends.
   */
  #write(fd: Fd, chunk: Buffer, signal: AbortSignal): Promise<void> {
    const { file, calls } = this.#proc.fds.find(fd, "Write");
    const sys = this.#core.handle(this.#proc, null);
    if (file.plan !== undefined) return sys.write(fd, chunk, signal);
    return calls.write.run(() => file.write(chunk, { signal, callId: asCallId(""), sys }), signal);
  }
}

/**
 * Feeds fd 0 to the program until fd 0 or the program ends, or `signal` fires. Then closes fd 0: its writer is
 * notified.
 */
export async function feed(
  core: Streaming,
  proc: Process,
  child: ExecChild,
  signal: AbortSignal,
): Promise<void> {
  try {
    const entry = proc.fds.find(STDIN, "Read");
    for (;;) {
      const reading = entry.calls.read.run(() => entry.file.read(inputBytes, signal), signal);
      const bytes = await abortable(reading, signal);
      if (bytes.byteLength === 0) break;
      if (!(await isTaken(child, bytes))) break;
    }
  } catch (error) {
    if (!signal.aborted)
      proc.log("warn", `its input ended early: ${messageOf(error)}`, core.ports.clock.mono());
  }
  child.endInput();
  if (proc.fds.has(STDIN)) await proc.fds.close(STDIN).catch(() => {});
}

/** False: the program has closed its stdin, as it may when it has read enough. */
function isTaken(child: ExecChild, bytes: Uint8Array): Promise<boolean> {
  return child.write(bytes).then(
    () => true,
    () => false,
  );
}
