/**
 * /dev/shell/jobs/<id>: a job of the caller. It answers requests for the job's output from a byte offset on,
 * optionally after waiting for its end, and for ending it.
 */
import * as z from "zod";
import type { Act, FileStat, OpenFile, WritePlan } from "../../abi/device.ts";
import type { JobAnswer, JobRequest } from "../../abi/ops/fs.ts";
import type { Clock } from "../../abi/program.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";
import { Answer, jsonBytes } from "../answer.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { wholeCharacters } from "../pages.ts";
import type { OwnJobs } from "./jobs.ts";

const MAX_OUTPUT_BYTES = 256 * 1024;
const MAX_WAIT_MS = 600_000;
const DEFAULT_WAIT_MS = 30_000;

const { exactOptional: may } = z;
const maxBytes = may(z.int().min(0).max(MAX_OUTPUT_BYTES));
const REQUEST = z.discriminatedUnion("op", [
  z.strictObject({
    op: z.literal("output"),
    block: may(z.boolean()),
    timeout_ms: may(z.int().min(0).max(MAX_WAIT_MS)),
    offset: may(z.int().min(0)),
    max_bytes: maxBytes,
  }),
  z.strictObject({ op: z.literal("kill"), max_bytes: maxBytes }),
]);

export class JobFile implements OpenFile {
  readonly #id: string;
  readonly #jobs: OwnJobs;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #answer = new Answer("job");
  readonly #closed = new AbortController();

  constructor(id: string, jobs: OwnJobs, clock: Pick<Clock, "sleep">) {
    this.#id = id;
    this.#jobs = jobs;
    this.#clock = clock;
  }

  plan(bytes: Uint8Array): WritePlan {
    parse(bytes);
    const effects = [{ kind: "state", path: `/dev/shell/jobs/${this.#id}` }] as const;
    return { effects, effectClass: "repeat" };
  }

  async write(bytes: Uint8Array, act: Pick<Act, "signal">): Promise<void> {
    this.#answer.expectRequest();
    const request = parse(bytes);
    using linked = linkSignals(act.signal, this.#closed.signal, this.#jobs.caller.signal);
    throwIfAborted(linked.signal, "Write");
    this.#jobs.find(this.#id);
    if (request.op === "kill") await this.#jobs.kill(this.#id);
    else if (request.block !== false) await this.#wait(request.timeout_ms ?? DEFAULT_WAIT_MS, linked.signal);
    throwIfAborted(linked.signal, "Write");
    this.#answer.set(jsonBytes(await this.#told(request)));
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#closed.abort(ABORTED);
    this.#answer.clear();
  }

  async stat(): Promise<FileStat> {
    return { name: this.#id, size: 0, isDevice: true, devicePath: "/dev/shell" };
  }

  async #wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    using linked = linkSignals(signal, over.signal);
    this.#clock.sleep(timeoutMs, linked.signal).then(
      () => over.abort(ABORTED),
      () => {},
    );
    await this.#jobs.untilEnd(this.#id, linked.signal);
    over.abort(ABORTED);
  }

  async #told(request: JobRequest): Promise<JobAnswer> {
    const from = request.op === "output" ? request.offset : undefined;
    const part = { from, maxBytes: request.max_bytes ?? MAX_OUTPUT_BYTES };
    // checked before the output is read, so that the last output is included
    const isOver = this.#jobs.find(this.#id).state !== "running";
    const { text, next } = await this.#jobs.read(this.#id, part, (bytes) => wholeCharacters(bytes, isOver));
    if (isOver) this.#jobs.told(this.#id);
    const job = this.#jobs.find(this.#id);
    return { job, output: text, next_offset: next, total_bytes: job.total_bytes };
  }
}

function parse(bytes: Uint8Array): JobRequest {
  try {
    return REQUEST.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
  } catch (cause) {
    const message = cause instanceof z.ZodError ? (cause.issues[0]?.message ?? "") : "not JSON";
    throw driverError("Write", "INVALID", `job: ${message}`, cause);
  }
}
