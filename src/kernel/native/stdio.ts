/**
 * The streams of a native. What it prints is kept in its spool, both streams in order of arrival; stdout also goes to its
 * fd 1 and stderr to its fd 2, where it has them, no faster than they take it. Its fd 0 is its stdin.
 *
 * A reader that is gone is told as the host tells it, by SIGPIPE; a program that does not heed that is ended by TERM.
 */

import { messageOf, printed } from "../../abi/errors.ts";
import { asCallId, asFd, type Fd } from "../../abi/ids.ts";
import { abortable } from "../../lib/abort.ts";
import { RedactedBytes } from "../../lib/redact-bytes.ts";
import type { Core } from "../core.ts";
import type { ExecChild } from "../ports/host.ts";
import type { Spool } from "../ports/spools.ts";
import type { Process } from "../process/process.ts";
import { STDIN, STDOUT } from "../process/spawn/stdio.ts";
import { type FdEntry, inLane } from "../vfs/fd-table.ts";

const STDERR = asFd(2);
/** What `ps` shows of a native's stdout. */
const resultBytes = 4_096;
/** Read for the program at once. */
const inputBytes = 64 * 1024;

export class NativeOutput {
  readonly #core: Core;
  readonly #proc: Process;
  readonly #spool: Spool;
  readonly #onBroken: () => void;
  readonly #broken = new Set<Fd>();
  /** For what is kept; who is given its output gets it as it is. */
  readonly #redacted: { readonly stdout: RedactedBytes; readonly stderr: RedactedBytes } | undefined;
  #tail = Buffer.alloc(0);
  #isTailCut = false;

  /** `onBroken`: who read its stdout or stderr is gone. */
  constructor(core: Core, proc: Process, spool: Spool, onBroken: () => void) {
    this.#core = core;
    this.#proc = proc;
    this.#spool = spool;
    const { redactor } = core.ports;
    if (redactor !== undefined)
      this.#redacted = { stdout: new RedactedBytes(redactor), stderr: new RedactedBytes(redactor) };
    this.#onBroken = onBroken;
  }

  /** A promise: the stream waits for its reader. */
  take(stream: "stdout" | "stderr", chunk: Buffer): Promise<void> | undefined {
    this.#spool.write(Buffer.from(this.#redacted?.[stream].push(chunk) ?? chunk));
    if (stream === "stdout") this.#remember(chunk);
    const fd = stream === "stdout" ? STDOUT : STDERR;
    return this.#proc.fds.has(fd) && !this.#broken.has(fd) ? this.#pass(fd, chunk) : undefined;
  }

  /** The last of its stdout, without the blanks at its end. */
  result(): string {
    const text = this.#tail.toString("utf8");
    return (this.#isTailCut ? text.replace(/^\uFFFD+/, "") : text).trimEnd();
  }

  end(): void {
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = this.#redacted?.[stream].end();
      if (rest !== undefined && rest.byteLength > 0) this.#spool.write(Buffer.from(rest));
    }
    this.#spool.end();
  }

  #remember(chunk: Buffer): void {
    const kept = chunk.byteLength >= resultBytes ? chunk : Buffer.concat([this.#tail, chunk]);
    this.#isTailCut ||= kept.byteLength > resultBytes;
    // a copy: the chunk is part of something larger
    this.#tail = Buffer.from(kept.subarray(-resultBytes));
  }

  async #pass(fd: Fd, chunk: Buffer): Promise<void> {
    const { killed } = this.#proc;
    try {
      const entry = this.#proc.fds.find(fd, "Write");
      await writeTo(this.#core, this.#proc, entry, chunk, killed.signal);
    } catch (error) {
      this.#broken.add(fd);
      if (killed.signal.aborted) return;
      this.#proc.log("warn", `its output was not taken: ${printed(error)}`, this.#core.ports.clock.mono());
      this.#onBroken();
    }
  }
}

/**
 * A file that acts on what it is given is asked through the gate. One that only takes it, as a pipe does, also takes what a
 * program says while it ends.
 */
function writeTo(
  core: Core,
  proc: Process,
  entry: FdEntry,
  chunk: Buffer,
  signal: AbortSignal,
): Promise<void> {
  const sys = core.handle(proc, null);
  if (entry.file.plan !== undefined) return sys.write(entry.fd, chunk, signal);
  return inLane(entry, "write", signal, () => entry.file.write(chunk, { signal, callId: asCallId(""), sys }));
}

/** Until the end of its fd 0, of the program, or `signal`. Then the other end of fd 0 hears that nobody reads. */
export async function feed(core: Core, proc: Process, child: ExecChild, signal: AbortSignal): Promise<void> {
  try {
    const entry = proc.fds.find(STDIN, "Read");
    for (;;) {
      const reading = inLane(entry, "read", signal, () => entry.file.read(inputBytes, signal));
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

/** A program may end its input when it has read enough. */
function isTaken(child: ExecChild, bytes: Uint8Array): Promise<boolean> {
  return child.write(bytes).then(
    () => true,
    () => false,
  );
}
