/**
 * /dev/shell: runs one command at a time; write the command, then read its result. Below it are the jobs of the
 * caller.
 */
import {
  type Act,
  type Caller,
  type Device,
  type FileStat,
  O_RDONLY,
  O_RDWR,
  type OpenFile,
  type WritePlan,
} from "../../abi/device.ts";
import { ABORTED, linkSignals } from "../../lib/abort.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { Answer, jsonBytes } from "../answer.ts";
import { cancelled, driverError, type FileOp, throwIfAborted } from "../driver-error.ts";
import { snapshotFile } from "../snapshot.ts";
import { JobFile } from "./job-file.ts";
import { ProgressReader } from "./progress.ts";
import { checkCwd, parseRun, planOf, withoutJobs } from "./request.ts";
import { runShell, type ShellDeps, shellText } from "./run.ts";

const stat: FileStat = { name: "shell", size: 0, isDevice: true, devicePath: "/dev/shell" };
const JOBS = "/jobs";

export function shellDevice(deps: ShellDeps): Device {
  return {
    name: "shell",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (subpath === JOBS) return openList(deps, flags, caller);
      const isJob = subpath.startsWith(`${JOBS}/`);
      if (subpath !== "" && (!isJob || deps.jobs === undefined)) throw notThere("Open", subpath);
      if (flags !== O_RDWR) {
        const what = isJob ? "a job" : "/dev/shell";
        throw driverError("Open", "INVALID", `open ${what} for reading and writing (flags 2)`);
      }
      if (isJob) return openJob(deps, subpath.slice(JOBS.length + 1), caller);
      return new ShellFile(deps, caller);
    },
    async stat(subpath) {
      if (subpath !== "" && subpath !== JOBS) throw notThere("Stat", subpath);
      return stat;
    },
  };
}

function notThere(op: FileOp, subpath: string): Error {
  return driverError(op, "NOT_FOUND", `file not found: /dev/shell${subpath}`);
}

function openList({ jobs }: ShellDeps, flags: number, caller: Caller): OpenFile {
  if (flags !== O_RDONLY) throw driverError("Open", "INVALID", "the list of jobs can only be read");
  const bytes = jsonBytes(jobs?.of(caller).list() ?? []);
  return snapshotFile(bytes, { ...stat, name: "jobs", size: bytes.byteLength });
}

function openJob({ jobs, clock = systemClock }: ShellDeps, id: string, caller: Caller): OpenFile {
  if (jobs === undefined) throw notThere("Open", `${JOBS}/${id}`);
  const own = jobs.of(caller);
  own.find(id);
  return new JobFile(id, own, clock);
}

class ShellFile implements OpenFile {
  readonly #deps: ShellDeps;
  readonly #caller: Caller;
  readonly #answer = new Answer("shell");
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;
  #progress: ProgressReader | undefined;

  constructor(deps: ShellDeps, caller: Caller) {
    this.#deps = deps;
    this.#caller = caller;
  }

  plan(bytes: Uint8Array): WritePlan {
    return planOf(parseRun(bytes, this.#caller.cwd));
  }

  async write(
    bytes: Uint8Array,
    act: Pick<Act, "signal" | "callId" | "sandbox" | "env" | "showsSecrets" | "attend">,
  ): Promise<void> {
    if (this.#running !== undefined)
      throw driverError("Write", "CONFLICT", "shell: a command is still running");
    this.#answer.expectRequest();
    this.#running = this.#run(bytes, act);
    try {
      await this.#running;
    } finally {
      this.#running = undefined;
      this.#progress = undefined;
    }
  }

  /** Waits for the end of the running command, or for its next progress line. */
  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    if (this.#running !== undefined) {
      const line = await this.#untilTold(this.#running, signal);
      if (line !== undefined) return line.subarray(0, length);
    }
    return this.#answer.take(length);
  }

  /** Ends the running command; resolves when it has ended. */
  async close(): Promise<void> {
    this.#closed.abort(ABORTED);
    await this.#running?.catch(() => {});
    this.#answer.clear();
  }

  stat(): Promise<FileStat> {
    return Promise.resolve(stat);
  }

  /** The next progress line; undefined: the command has ended. A line is always far shorter than a read. */
  async #untilTold(running: Promise<void>, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const progress = this.#progress;
    if (progress === undefined) {
      await settled(running, signal);
      return undefined;
    }
    const over = new AbortController();
    using linked = linkSignals(signal, over.signal);
    const told = progress
      .next(linked.signal)
      .then((frame) => Buffer.from(`${JSON.stringify({ progress: frame })}\n`));
    told.catch(() => {});
    try {
      return await Promise.race([told, settled(running, signal).then(() => undefined)]);
    } finally {
      over.abort(ABORTED);
    }
  }

  /** CANCELLED: the command was interrupted; its output until then may still be read. */
  async #run(
    bytes: Uint8Array,
    act: Pick<Act, "signal" | "callId" | "sandbox" | "env" | "showsSecrets" | "attend">,
  ): Promise<void> {
    const parsed = parseRun(bytes, this.#caller.cwd);
    checkCwd(parsed.cwd);
    const { clock = systemClock, jobs, mayBackground } = this.#deps;
    const hasJobs = jobs !== undefined && (mayBackground?.(this.#caller.env) ?? true);
    const run = hasJobs ? parsed : withoutJobs(parsed);
    const ofCall = [act.signal, this.#closed.signal];
    for (const signal of [...ofCall, this.#caller.signal]) throwIfAborted(signal, "Write");
    const answer = await runShell(this.#deps, run, {
      caller: this.#caller,
      act,
      ofCall,
      onStart: (command) => {
        if (run.tellsProgress) this.#progress = new ProgressReader(command, clock);
      },
    });
    this.#answer.set(run.form === "json" ? jsonBytes(answer) : Buffer.from(shellText(answer, run), "utf8"));
    if (answer.interrupted) throw cancelled("Write");
  }
}

/** Resolves when `work` has settled, even if it rejected; CANCELLED if `signal` fires first. */
function settled(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(cancelled("Read"));
    signal.addEventListener("abort", onAbort, { once: true });
    const done = () => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    };
    work.then(done, done);
  });
}
