/** /dev/git/<absolute host path>: what git says of a directory. Written `{"op":"status"}`, it answers what git prints. */
import {
  type Act,
  type Caller,
  type Device,
  type FileStat,
  O_RDWR,
  type OpenFile,
  type WritePlan,
} from "../../abi/device.ts";
import { linkSignals } from "../../lib/abort.ts";
import { Answer } from "../answer.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { isDirectory } from "../host/program.ts";
import { type GitDeps, gitStatus } from "./status.ts";

const MOUNT = "/dev/git";

export function gitDevice(deps: GitDeps): Device {
  return {
    name: "git",
    traffic: "message",
    async open(subpath, flags, caller) {
      if (flags !== O_RDWR)
        throw driverError("Open", "INVALID", `open ${MOUNT} for reading and writing (flags 2)`);
      return new GitFile(deps, subpath === "" ? "/" : subpath, caller);
    },
    stat: async () => statOf(),
  };
}

class GitFile implements OpenFile {
  readonly #deps: GitDeps;
  readonly #path: string;
  readonly #caller: Caller;
  readonly #answer = new Answer("git");
  readonly #closed = new AbortController();

  constructor(deps: GitDeps, path: string, caller: Caller) {
    this.#deps = deps;
    this.#path = path;
    this.#caller = caller;
  }

  plan(bytes: Uint8Array): WritePlan {
    checkRequest(bytes);
    return { effects: [{ kind: "read", path: this.#path, subtree: true }], effectClass: "none" };
  }

  async write(bytes: Uint8Array, act: Pick<Act, "signal" | "sandbox">): Promise<void> {
    this.#answer.expectRequest();
    checkRequest(bytes);
    if (!isDirectory(this.#path))
      throw driverError("Write", "NOT_FOUND", `directory not found: ${this.#path}`);
    const { pid, signal, killed } = this.#caller;
    using linked = linkSignals(act.signal, this.#closed.signal, signal);
    throwIfAborted(linked.signal, "Write");
    const run = { cwd: this.#path, owner: `pid ${pid} git`, sandbox: act.sandbox ?? null, killed };
    this.#answer.set(Buffer.from(await gitStatus(this.#deps, run, linked.signal)));
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#answer.clear();
  }

  async stat(): Promise<FileStat> {
    return statOf();
  }
}

function checkRequest(bytes: Uint8Array): void {
  if (Buffer.from(bytes).toString("utf8").replaceAll(/\s/g, "") !== '{"op":"status"}')
    throw driverError("Write", "INVALID", 'git: not a request: {"op":"status"} is the only one');
}

function statOf(): FileStat {
  return { name: "git", size: 0, isDevice: true, devicePath: MOUNT };
}
