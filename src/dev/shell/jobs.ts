/**
 * The jobs of each process: commands that outlive the call that started them and end with the process. A record of
 * each is kept with the process (abi/jobs.ts), so that its id is never reused and a job interrupted by a crash is
 * known as lost. At most 50 may run in one process; of those that ended, the last 100 are kept.
 */
import { open } from "node:fs/promises";
import type { Caller, KeptValues } from "../../abi/device.ts";
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import { findJobs, type JobRecord, jobName } from "../../abi/ops/jobs.ts";
import type { JobDesk } from "../../kernel/ports/jobs.ts";
import { abortable } from "../../lib/abort.ts";
import { driverError } from "../driver-error.ts";
import { keptInMemory } from "../kept-in-memory.ts";
import type { OutputStore } from "../out/output-store.ts";
import type { Command, CommandEnd } from "./command.ts";
import { tellViolation, violationWords } from "./violation.ts";

const MAX_LIVE = 50;
const MAX_ENDED = 100;
const MAX_COMMAND_CHARS = 500;

interface JobsDeps {
  readonly outputs: OutputStore;
  /** Wall clock, ms. */
  now(): number;
  /** Sends the process a note that one of its jobs has ended. False: the note was not delivered. */
  notify(pid: Pid, text: string): Promise<boolean>;
  /** Called when a job has ended completely: its process may have no work left. */
  onEnd(pid: Pid): void;
}

interface OutputPart {
  readonly from?: number | undefined;
  readonly maxBytes: number;
}

interface Live {
  readonly command: Command;
  /** The number of callers that wait for its end and report it themselves. */
  waiters: number;
}

export class Jobs implements JobDesk {
  readonly #deps: JobsDeps;
  readonly #byProcess = new Map<ProcUuid, OwnJobs>();

  constructor(deps: JobsDeps) {
    this.#deps = deps;
  }

  /** The jobs of the caller, kept until its process ends. */
  of(caller: Caller): OwnJobs {
    const known = this.#byProcess.get(caller.uuid);
    if (known !== undefined) return known;
    const own = new OwnJobs(this.#deps, caller);
    if (caller.signal.aborted) return own;
    this.#byProcess.set(caller.uuid, own);
    caller.signal.addEventListener("abort", () => void this.#leave(caller.uuid, own), { once: true });
    return own;
  }

  live(uuid: ProcUuid): ReadonlyMap<string, number> {
    return this.#byProcess.get(uuid)?.live ?? new Map();
  }

  async read(uuid: ProcUuid, job: JobRecord, from: number, maxBytes: number): Promise<Uint8Array> {
    this.#byProcess.get(uuid)?.flush(job.id);
    return readPart(outputPath(this.#deps.outputs, uuid, job), from, maxBytes);
  }

  async changed(uuid: ProcUuid, id: string, bytes: number, signal: AbortSignal): Promise<void> {
    await this.#byProcess.get(uuid)?.changed(id, bytes, signal);
  }

  async endAll(uuid: ProcUuid): Promise<void> {
    const own = this.#byProcess.get(uuid);
    // one that has ended meanwhile needs no more
    await Promise.allSettled([...(own?.live.keys() ?? [])].map((id) => own?.kill(id)));
  }

  async #leave(uuid: ProcUuid, own: OwnJobs): Promise<void> {
    await own.over();
    this.#byProcess.delete(uuid);
  }
}

export class OwnJobs {
  readonly #deps: JobsDeps;
  readonly caller: Caller;
  readonly #kept: KeptValues;
  readonly #live = new Map<string, Live>();
  readonly #endings = new Set<Promise<void>>();
  /** By job id, how far its output was read, in bytes. */
  readonly #readTo = new Map<string, number>();
  #last: number;

  constructor(deps: JobsDeps, caller: Caller) {
    this.#deps = deps;
    this.caller = caller;
    this.#kept = caller.kept ?? keptInMemory();
    const jobs = this.list();
    this.#last = Math.max(0, ...jobs.map(({ id }) => numberOf(id)));
    // started by an earlier daemon, or by the process that this one was forked from
    for (const job of jobs.filter(({ state }) => state === "running"))
      this.#keep({ ...job, state: "lost", ended_at: deps.now(), is_told: true });
  }

  get live(): ReadonlyMap<string, number> {
    return new Map([...this.#live].map(([id, { command }]) => [id, command.capture.totalBytes]));
  }

  list(): readonly JobRecord[] {
    return findJobs(this.#kept.entries());
  }

  /** NOT_FOUND: its message names the existing jobs. */
  find(id: string): JobRecord {
    const jobs = this.list();
    const job = jobs.find((each) => each.id === id);
    if (job !== undefined)
      return { ...job, total_bytes: this.#live.get(id)?.command.capture.totalBytes ?? job.total_bytes };
    const known = jobs.slice(-10).map((each) => each.id);
    const hint = known.length === 0 ? "this process has started none" : `jobs: ${known.join(", ")}`;
    throw driverError("Write", "NOT_FOUND", `job not found: ${id.slice(0, 64)} (${hint})`);
  }

  checkRoom(): void {
    if (this.#live.size < MAX_LIVE) return;
    const message = `${MAX_LIVE} jobs of this process are running; end one with job_kill, or wait for one`;
    throw driverError("Write", "BUDGET", message);
  }

  /** Makes a running command a job and returns its id. BUDGET: too many jobs; the command is ended. */
  async adopt(command: Command): Promise<string> {
    try {
      this.checkRoom();
    } catch (error) {
      await command.kill();
      throw error;
    }
    command.becomeJob();
    const id = `job-${++this.#last}`;
    const { run, capture } = command;
    this.#live.set(id, { command, waiters: 0 });
    this.#keep({
      id,
      command: run.command.slice(0, MAX_COMMAND_CHARS).toWellFormed(),
      cwd: run.cwd,
      state: "running",
      exit_code: null,
      signal: null,
      started_at: Math.round(this.#deps.now() - command.ageMs),
      ended_at: null,
      output_path: capture.path ?? "",
      total_bytes: 0,
      is_told: false,
    });
    const ending = command.ended
      .then((end) => this.#ended(id, command, end))
      .finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return id;
  }

  /** Waits for the end, at most until `signal` fires; an end during the wait counts as reported. */
  async untilEnd(id: string, signal: AbortSignal): Promise<void> {
    const live = this.#live.get(id);
    if (live === undefined) return;
    live.waiters++;
    try {
      await abortable(live.command.ended, signal);
    } catch {
      // the job continues
    } finally {
      live.waiters--;
    }
  }

  /** Marks the end as reported to the owner, so that no note is sent. */
  told(id: string): void {
    const job = this.find(id);
    if (job.state !== "running" && !job.is_told) this.#keep({ ...job, is_told: true });
  }

  /** Writes the line in progress to the output file too. */
  flush(id: string): void {
    this.#live.get(id)?.command.capture.flush();
  }

  /** Absent `from`: the output since the last read. */
  async read(
    id: string,
    { from = this.#readTo.get(id) ?? 0, maxBytes }: OutputPart,
    decode: (bytes: Uint8Array) => { text: string; bytes: number },
  ): Promise<{ text: string; next: number }> {
    this.flush(id);
    const path = outputPath(this.#deps.outputs, this.caller.uuid, this.find(id));
    const read = decode(await readPart(path, from, maxBytes));
    const next = from + read.bytes;
    this.#readTo.set(id, next);
    return { text: read.text, next };
  }

  /** CONFLICT: the job has already ended. */
  async kill(id: string): Promise<void> {
    const live = this.#live.get(id);
    const job = this.find(id);
    if (live === undefined) throw driverError("Write", "CONFLICT", `${id} has already ended (${endOf(job)})`);
    live.waiters++;
    try {
      await live.command.kill();
    } finally {
      live.waiters--;
    }
  }

  async changed(id: string, bytes: number, signal: AbortSignal): Promise<void> {
    const live = this.#live.get(id);
    if (live === undefined || live.command.capture.totalBytes > bytes) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const unlisten = live.command.listen(resolve);
    try {
      await abortable(promise, signal);
    } finally {
      unlisten();
    }
  }

  /** Resolves when all jobs have ended. */
  async over(): Promise<void> {
    await Promise.all(this.#endings);
  }

  async #ended(id: string, command: Command, end: CommandEnd): Promise<void> {
    const { code, signal } = end;
    const { capture, isStopped, isLate } = command;
    capture.close();
    const refused = refusalOf(command, end);
    if (refused !== null) tellViolation(this.caller, refused);
    const waiters = this.#live.get(id)?.waiters ?? 0;
    this.#live.delete(id);
    const isKilled = isStopped || isLate;
    const job: JobRecord = {
      ...this.find(id),
      state: isKilled ? "killed" : "exited",
      exit_code: isKilled ? null : code,
      signal: isKilled ? (signal ?? "SIGTERM") : signal,
      ended_at: this.#deps.now(),
      total_bytes: capture.totalBytes,
      is_told: waiters > 0,
    };
    this.#keep(job);
    this.#forgetOld();
    if (this.caller.signal.aborted) return;
    const late = isLate ? ` after its timeout of ${command.run.timeoutMs} ms` : "";
    if (waiters === 0 && (await this.#deps.notify(this.caller.pid, noteOf(job, late, refused))))
      this.told(id);
    this.#deps.onEnd(this.caller.pid);
  }

  #keep(job: JobRecord): void {
    this.#kept.set(jobName(job.id), job);
  }

  #forgetOld(): void {
    const ended = this.list().filter(({ state }) => state !== "running");
    for (const { id } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) {
      this.#kept.set(jobName(id), null);
      this.#readTo.delete(id);
    }
  }
}

/** `exit 0`, `ended by SIGSEGV`, `killed`, `lost`. */
function endOf({ state, exit_code: code, signal }: JobRecord): string {
  if (state !== "exited") return state;
  return code === null ? `ended by ${signal ?? "a signal"}` : `exit ${code}`;
}

function noteOf(job: JobRecord, late: string, refused: string | null): string {
  const way = job.output_path === "" ? "" : `, output: ${job.output_path}`;
  const more = refused === null ? "" : `\n${refused}`;
  return `${job.id} ended: ${endOf(job)}${late}, ${job.total_bytes} bytes${way}. Command: ${job.command}${more}`;
}

function refusalOf(command: Command, { code, violations = [] }: CommandEnd): string | null {
  const { sandbox, sandboxKind: kind, capture } = command;
  const { output, stderr } = capture.captured();
  return violationWords({ sandbox, kind, violations, exitCode: code, output: `${output}${stderr}` });
}

function numberOf(id: string): number {
  return Number(id.slice("job-".length));
}

/** The host path of the job's output file. */
function outputPath(outputs: OutputStore, uuid: ProcUuid, { id, output_path: path }: JobRecord): string {
  if (path === "") throw driverError("Read", "NOT_FOUND", `the output of ${id} could not be kept`);
  return outputs.hostPath(uuid, path.slice(path.lastIndexOf("/") + 1), "Read");
}

async function readPart(path: string, from: number, maxBytes: number): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(maxBytes), 0, maxBytes, from);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
