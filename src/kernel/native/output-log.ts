/**
 * The log of a program: both streams in order of arrival, without secrets. To write it as the program prints costs as much as all
 * else that is done with its output. So where the streams are kept by themselves, a program that prints much has its log
 * written from these: when somebody reads it, after a second, and at the end. Of what has come meanwhile only the last part is
 * written then, which is all that a reader of an earlier log is given.
 */
import type { Clock } from "../../abi/program.ts";
import { ABORTED } from "../../lib/abort.ts";
import { RedactedBytes } from "../../lib/redact/bytes.ts";
import type { Redactor } from "../../lib/redact/redact.ts";
import { LIMITS } from "../limits.ts";
import type { Native, StreamName } from "../ports/natives.ts";
import type { Spool } from "../ports/spools.ts";
import { encodeNote, leftOut } from "./log-note.ts";

const LATE_MS = 1_000;
/** Changes between the streams that are noted; beyond, the log is written. */
const MAX_RUNS = 1_000;
/** A secret that began in what is left out is seen, if so much before its end is looked at. */
export const LEAD_BYTES = 64 * 1024;
/** All bytes are read into it and written at once. */
const part = Buffer.allocUnsafeSlow(64 * 1024);

/** Bytes of one stream that wait, by their positions in its spool. */
interface Run {
  readonly stream: StreamName;
  readonly from: number;
  to: number;
}

interface Logging {
  readonly log: Spool;
  readonly redactor: Redactor | undefined;
  readonly clock: Pick<Clock, "sleep">;
}

export class OutputLog {
  readonly #log: Spool;
  readonly #clock: Logging["clock"];
  readonly #redactor: Redactor | undefined;
  readonly #redacted = new Map<StreamName, RedactedBytes>();
  /** Where it may be written later: the streams by themselves. */
  #kept: Native["output"] = {};
  /** The position in each stream up to which it was looked at. */
  readonly #seen: Record<StreamName, number> = { stdout: 0, stderr: 0 };
  #runs: Run[] = [];
  #waiting = 0;
  /** So much more is written at once. */
  #atOnce = LIMITS.logTailBytes;
  #timer: AbortController | undefined;
  /** A later daemon is told where to go on. */
  #isNoted = false;

  constructor({ log, redactor, clock }: Logging) {
    this.#log = log;
    this.#redactor = redactor;
    this.#clock = clock;
    log.beforeRead = () => this.#writeWaiting();
  }

  /** From now on it may be written later, from these. */
  mayWait(kept: Native["output"]): void {
    this.#kept = kept;
  }

  /** `from`: where the chunk begins in the spool of its stream, which has it already. */
  take(stream: StreamName, chunk: Buffer, from: number): void {
    const kept = this.#kept[stream];
    const isLittle = this.#waiting === 0 && chunk.length <= this.#atOnce;
    if (kept === undefined || isLittle || this.#log.isRead) {
      this.#writeWaiting();
      this.#atOnce = Math.max(0, this.#atOnce - chunk.length);
      this.#write(stream, chunk);
      this.#seen[stream] = kept?.bytes ?? 0;
      return;
    }
    if (this.#waiting === 0) this.#note();
    const last = this.#runs.at(-1);
    if (last?.stream === stream && last.to === from) last.to = kept.bytes;
    else this.#runs.push({ stream, from, to: kept.bytes });
    this.#waiting += kept.bytes - from;
    if (this.#runs.length > MAX_RUNS) this.#writeWaiting();
    this.#timer ??= this.#writeSoon();
  }

  end(): void {
    this.#timer?.abort(ABORTED);
    this.#writeWaiting();
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = this.#redacted.get(stream)?.end();
      if (rest !== undefined && rest.byteLength > 0) this.#log.write(Buffer.from(rest));
    }
    this.#log.end();
  }

  #writeSoon(): AbortController {
    const timer = new AbortController();
    this.#clock.sleep(LATE_MS, timer.signal).then(
      () => {
        this.#timer = undefined;
        if (this.#waiting < LIMITS.logTailBytes) this.#atOnce = LIMITS.logTailBytes;
        this.#writeWaiting();
      },
      () => {},
    );
    return timer;
  }

  #writeWaiting(): void {
    const runs = this.#runs;
    let skipped = Math.max(0, this.#waiting - LIMITS.logTailBytes);
    this.#runs = [];
    this.#waiting = 0;
    for (const { stream, from, to } of runs) {
      const start = Math.min(to, from + skipped);
      skipped -= start - from;
      if (start < to) this.#copy(stream, start, to);
    }
    if (this.#isNoted) this.#log.note(null);
    this.#isNoted = false;
  }

  /** What waits is lost with this daemon, but for its streams (late-log.ts). */
  #note(): void {
    const seen = (stream: StreamName) => ({
      to: this.#seen[stream],
      held: this.#redacted.get(stream)?.held ?? 0,
    });
    const knows = this.#redactor?.knownMarks() ?? [];
    this.#log.note(encodeNote({ stdout: seen("stdout"), stderr: seen("stderr"), knows }));
    this.#isNoted = true;
  }

  #copy(stream: StreamName, from: number, to: number): void {
    const kept = this.#kept[stream];
    if (kept === undefined) return;
    let at = Math.max(from, kept.oldest);
    if (at !== this.#seen[stream]) this.#restart(stream, kept, at);
    while (at < to) {
      const bytes = kept.recent(at, part.subarray(0, Math.min(part.length, to - at)));
      if (bytes === 0) break;
      this.#write(stream, part.subarray(0, bytes));
      at += bytes;
    }
    this.#seen[stream] = at;
  }

  /** What lies before `at` is left out, but its end is looked at: a spool that is enough has it still. */
  #restart(stream: StreamName, kept: Spool, at: number): void {
    this.#redacted.delete(stream);
    for (let led = Math.max(kept.oldest, at - LEAD_BYTES); led < at; ) {
      const bytes = kept.recent(led, part.subarray(0, Math.min(part.length, at - led)));
      if (bytes === 0) break;
      this.#redact(stream, part.subarray(0, bytes));
      led += bytes;
    }
    this.#log.write(leftOut(at - this.#seen[stream], stream));
  }

  #write(stream: StreamName, chunk: Buffer): void {
    for (const each of this.#redact(stream, chunk)) this.#log.write(each);
  }

  #redact(stream: StreamName, chunk: Buffer): readonly Uint8Array[] {
    if (this.#redactor === undefined) return [chunk];
    const redacted = this.#redacted.get(stream) ?? new RedactedBytes(this.#redactor);
    this.#redacted.set(stream, redacted);
    return redacted.parts(chunk);
  }
}
