/**
 * For tests only: a handle that behaves like /dev/fs, /dev/shell, /proc and /var/out, refuses undeclared effects
 * as the gate does, and records its requests.
 */
import { readFileSync } from "node:fs";
import type { FileStat, OpenFlag } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import { asFd, asPid, type Fd } from "../../abi/ids.ts";
import type { FsRequest, PdfAnswer, ShellAnswer, ShellRequest } from "../../abi/ops/fs.ts";
import type { Syscalls } from "../../abi/sys.ts";
import { fault, filesOf, grepOf, json, listOf, statOf, writeOf } from "./host-files.ts";

/** A request to a device. */
export interface Asked {
  path: string;
  op: string;
  effect: Effect;
}

/** The state behind the handle; the test may change it. */
export interface World {
  readonly root: string;
  /** Files below /proc, /var/out and /mnt/mcp. */
  readonly crux: Map<string, Buffer>;
  asked: Asked[];
  /** Answers /dev/shell. */
  shell: (request: ShellRequest, signal: AbortSignal | undefined) => Promise<Partial<ShellAnswer>>;
  /** Answers any other device: /dev/web, /dev/llm. */
  other: (path: string, request: unknown) => unknown;
  /** Answers requests for the content of a PDF. */
  pdf: (path: string, request: Extract<FsRequest, { op: "pdf" }>) => PdfAnswer;
  /** Called before each operation: lets a test change the world during a call. */
  before: (op: string) => void;
}

interface OpenEntry {
  path: string;
  flags: OpenFlag;
  answer: Buffer | undefined;
  at: number;
}

const refuse = async (): Promise<never> => {
  throw new Error("not for tools");
};

/** A handle narrowed to `effects`, as the gate passes it to a permitted call. */
export class BenchSys implements Syscalls {
  readonly #world: World;
  readonly #effects: readonly Effect[];
  readonly #open = new Map<Fd, OpenEntry>();
  #next = 3;

  constructor(world: World, effects: readonly Effect[]) {
    this.#world = world;
    this.#effects = effects;
  }

  async open(path: string, flags: OpenFlag, signal?: AbortSignal): Promise<Fd> {
    throwIfAborted(signal);
    const entry: OpenEntry = { path, flags, answer: undefined, at: 0 };
    if (/^\/(proc|var\/out|mnt\/mcp)/.test(path)) this.#openCrux(entry);
    const fd = asFd(this.#next++);
    this.#open.set(fd, entry);
    return fd;
  }

  #openCrux(entry: OpenEntry): void {
    this.#check({ path: entry.path, op: "open", effect: { kind: "state", path: entry.path } });
    if (entry.flags !== 0) return;
    entry.answer = this.#world.crux.get(entry.path);
    if (entry.answer === undefined) throw fault("NOT_FOUND", `no such file: ${entry.path}`);
  }

  async write(fd: Fd, data: Uint8Array, signal?: AbortSignal): Promise<void> {
    throwIfAborted(signal);
    const entry = this.#entry(fd);
    entry.at = 0;
    const { path } = entry;
    if (path.startsWith("/var/out/")) {
      const before = this.#world.crux.get(path) ?? Buffer.alloc(0);
      this.#world.crux.set(path, Buffer.concat([before, data]));
    } else if (path === "/dev/shell") {
      entry.answer = await this.#shell(JSON.parse(Buffer.from(data).toString("utf8")), signal);
    } else if (!path.startsWith("/dev/fs")) {
      const answer = this.#world.other(path, JSON.parse(Buffer.from(data).toString("utf8")));
      entry.answer = Buffer.isBuffer(answer) ? answer : json(answer);
    } else {
      const host = path.slice("/dev/fs".length) || "/";
      entry.answer = await this.#fs(host, JSON.parse(Buffer.from(data).toString("utf8")));
    }
  }

  async read(fd: Fd, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal);
    const entry = this.#entry(fd);
    if (entry.answer === undefined) throw fault("INVALID", "read before write");
    const chunk = entry.answer.subarray(entry.at, entry.at + length);
    entry.at += chunk.byteLength;
    return chunk;
  }

  async close(fd: Fd): Promise<void> {
    this.#entry(fd);
    this.#open.delete(fd);
  }

  #entry(fd: Fd): OpenEntry {
    const entry = this.#open.get(fd);
    if (entry === undefined) throw fault("NOT_FOUND", `fd is not open: ${fd}`);
    return entry;
  }

  #check(asked: Asked): void {
    this.#world.asked.push(asked);
    if (this.#effects.some((granted) => covers(granted, asked.effect))) return;
    // the caller's own outputs need no permission
    if (asked.effect.kind === "state") return;
    throw fault("PERMISSION", `undeclared: ${asked.op} ${asked.path}`);
  }

  async #shell(request: ShellRequest, signal: AbortSignal | undefined): Promise<Buffer> {
    const argv = ["bash", "-c", request.command];
    const cwd = request.cwd ?? this.#world.root;
    const effect: Effect = { kind: "exec", argv, cwd, certain: false, shell: request.command };
    this.#check({ path: "/dev/shell", op: "run", effect });
    const answer: ShellAnswer = {
      exit_code: 0,
      signal: null,
      timed_out: false,
      interrupted: false,
      stdout: "",
      stderr: "",
      output: "",
      truncated: false,
      total_bytes: 0,
      output_path: null,
      duration_ms: 5,
      job: null,
      ...(await this.#world.shell(request, signal)),
    };
    return Buffer.from(JSON.stringify(answer));
  }

  async #fs(path: string, request: FsRequest): Promise<Buffer> {
    this.#world.before(request.op);
    this.#check({ path, op: request.op, effect: effectOf(path, request) });
    switch (request.op) {
      case "read": {
        const { offset = 0, length = 16 * 1024 * 1024 } = request;
        return readFileSync(path).subarray(offset, offset + length);
      }
      case "write":
        return json(writeOf(path, request));
      case "pdf":
        return json(this.#world.pdf(path, request));
      case "list":
        return json(listOf(path, request));
      case "grep":
        return json(await grepOf(path, request));
      case "files":
        return json(await filesOf(path, request));
      default:
        throw fault("INVALID", `not emulated: ${request.op}`);
    }
  }

  async stat(path: string, signal?: AbortSignal): Promise<FileStat> {
    throwIfAborted(signal);
    const host = path.slice("/dev/fs".length) || "/";
    this.#world.before("stat");
    this.#check({ path: host, op: "stat", effect: { kind: "read", path: host } });
    return statOf(host);
  }

  getPid() {
    return asPid(1);
  }
  spawn = refuse;
  kill = refuse;
  wait = refuse;
  ended = refuse;
  detach = refuse;
  listProcs = refuse;
  exit = refuse;
  reap = refuse;
  ctxAlloc = refuse;
  ctxRead = refuse;
  ctxWrite = refuse;
  ctxFree = refuse;
  setSystemPrompt = refuse;
  ctxView = refuse;
  ctxMove = refuse;
  ctxUndo = refuse;
  ctxPin = refuse;
  ctxUnpin = refuse;
  appendMessage = refuse;
  appendToolResult = refuse;
  buildPrompt = refuse;
  surroundings = refuse;
  nearby = refuse;
  signal = refuse;
  sigBlock = refuse;
  sigUnblock = refuse;
  sigHandle = refuse;
  joinGroup = refuse;
  leaveGroup = refuse;
  getProcGroup = refuse;
  signalGroup = refuse;
  send = refuse;
  recv = refuse;
  sleep: Syscalls["sleep"] = refuse;
  pipe = refuse;
  spawnThread = refuse;
  joinThread = refuse;
  cancelThread = refuse;
  listThreads = refuse;
  spawnCoroutine = refuse;
  resumeCoroutine = refuse;
  cancelCoroutine = refuse;
  spawnSupervisor = refuse;
  mount = refuse;
  unmount = refuse;
  unmountAll = refuse;
}

function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw fault("CANCELLED", "cancelled");
}

function covers(granted: Effect, wanted: Effect): boolean {
  if (wanted.kind === "read" && granted.kind === "read") {
    if (granted.path === wanted.path) return granted.subtree === true || wanted.subtree !== true;
    return granted.subtree === true && wanted.path.startsWith(`${granted.path}/`);
  }
  if (wanted.kind === "write" && granted.kind === "write") return granted.path === wanted.path;
  if (wanted.kind === "exec" && granted.kind === "exec")
    return granted.cwd === wanted.cwd && granted.argv.join("\0") === wanted.argv.join("\0");
  return wanted.kind === "state" && granted.kind === "state" && granted.path === wanted.path;
}

function effectOf(path: string, request: FsRequest): Effect {
  if (request.op === "write") return { kind: "write", path, change: "modify" };
  const isSubtree =
    request.op === "grep" || request.op === "files" || (request.op === "list" && request.depth !== 1);
  return isSubtree ? { kind: "read", path, subtree: true } : { kind: "read", path };
}
