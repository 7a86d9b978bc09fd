/** /dev/shell: one command at a time; write it, then read how it went. */
import {
  type Caller,
  type Device,
  type FileStat,
  O_RDWR,
  type OpenFile,
  type WritePlan,
} from "../../abi/device.ts";
import type { CallId } from "../../abi/ids.ts";
import { Answer, jsonBytes } from "../answer.ts";
import { cancelled, driverError, throwIfAborted } from "../driver-error.ts";
import { checkCwd, parseRun, planOf } from "./request.ts";
import { runShell, type ShellDeps, shellText } from "./run.ts";

const stat: FileStat = { name: "shell", size: 0, isDevice: true, devicePath: "/dev/shell" };

export function shellDevice(deps: ShellDeps): Device {
  return {
    name: "shell",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (subpath !== "") throw driverError("Open", "NOT_FOUND", `file not found: /dev/shell${subpath}`);
      if (flags !== O_RDWR)
        throw driverError("Open", "INVALID", "open /dev/shell for reading and writing (flags 2)");
      return new ShellFile(deps, caller);
    },
    async stat(subpath) {
      if (subpath !== "") throw driverError("Stat", "NOT_FOUND", `file not found: /dev/shell${subpath}`);
      return stat;
    },
  };
}

class ShellFile implements OpenFile {
  readonly #deps: ShellDeps;
  readonly #caller: Caller;
  readonly #answer = new Answer("shell");
  readonly #closed = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: ShellDeps, caller: Caller) {
    this.#deps = deps;
    this.#caller = caller;
  }

  plan(bytes: Uint8Array): WritePlan {
    return planOf(parseRun(bytes, this.#caller.cwd));
  }

  async write(bytes: Uint8Array, act: { signal: AbortSignal; callId: CallId }): Promise<void> {
    if (this.#running !== undefined)
      throw driverError("Write", "CONFLICT", "shell: a command is still running");
    this.#answer.expectRequest();
    this.#running = this.#run(bytes, act);
    try {
      await this.#running;
    } finally {
      this.#running = undefined;
    }
  }

  /** Waits for the command that is running. */
  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    if (this.#running !== undefined) await settled(this.#running, signal);
    return this.#answer.take(length);
  }

  /** Ends what runs; resolves when it is gone. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#running?.catch(() => {});
    this.#answer.clear();
  }

  stat(): Promise<FileStat> {
    return Promise.resolve(stat);
  }

  /** Interrupted, it is CANCELLED; what was printed until then may still be read. */
  async #run(bytes: Uint8Array, act: { signal: AbortSignal; callId: CallId }): Promise<void> {
    const run = parseRun(bytes, this.#caller.cwd);
    checkCwd(run.cwd);
    const signal = AbortSignal.any([act.signal, this.#closed.signal, this.#caller.signal]);
    throwIfAborted(signal, "Write");
    const answer = await runShell(this.#deps, this.#caller, run, act.callId, signal);
    this.#answer.set(run.form === "json" ? jsonBytes(answer) : Buffer.from(shellText(answer, run), "utf8"));
    if (answer.interrupted) throw cancelled("Write");
  }
}

/** Resolves when `work` is over, however it went; CANCELLED if `signal` fires first. */
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
