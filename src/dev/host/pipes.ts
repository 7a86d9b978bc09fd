/**
 * Pipes for the output of children. Node's own "pipes" are sockets: a program cannot open them again (`>
 * /dev/stderr`), and two streams cannot share one. A pipe is cheaper and twice as fast as a socket. Where the C library
 * cannot be loaded, named pipes whose names were removed take its place; they are made in batches, by one `mkfifo`.
 */
import { execFile, execFileSync } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { findSystemProgram } from "../program.ts";
import { findLibc, type Libc } from "./libc.ts";

/** The fds of a pipe. Both ends block: a read without data, a write without room. */
export interface PipeEnds {
  readonly reader: number;
  readonly writer: number;
}

/** Pipes made per batch; a new batch is made when fewer than `fewLeft` remain. */
const batch = 64;
const fewLeft = 16;

interface PipesOptions {
  /** undefined: only named pipes can be had. */
  readonly findLibc: () => Pick<Libc, "pipe"> | undefined;
  readonly mkfifo: string;
}

export class Pipes {
  readonly #dir: string;
  readonly #findLibc: PipesOptions["findLibc"];
  readonly #mkfifo: string;
  readonly #ready: string[] = [];
  #named = 0;
  #making: Promise<void> | undefined;
  /** True if the host or the file system cannot make named pipes, or after close(). */
  #isRefused = false;

  /** `dir`: a directory for named pipes only; created here when they are needed, removed by close(). */
  constructor(dir: string, options: Partial<PipesOptions> = {}) {
    this.#dir = dir;
    this.#findLibc = options.findLibc ?? findLibc;
    this.#mkfifo = options.mkfifo ?? findSystemProgram("mkfifo") ?? "mkfifo";
  }

  /** undefined: pipes cannot be made here. Throws the host's error when no fds are left. */
  open(): PipeEnds | undefined {
    const libc = this.#findLibc();
    if (libc !== undefined) return this.#isRefused ? undefined : libc.pipe();
    if (this.#ready.length === 0 && !this.#isRefused) this.#makeNow();
    const path = this.#ready.pop();
    if (path === undefined) return undefined;
    if (this.#ready.length < fewLeft) void this.makeMore();
    return openEnds(path);
  }

  /** Makes a batch in the background. Never rejects. */
  makeMore(): Promise<void> {
    const isEnough = this.#findLibc() !== undefined || this.#ready.length >= batch;
    if (this.#isRefused || isEnough) return Promise.resolve();
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async close(): Promise<void> {
    this.#isRefused = true;
    await this.#making;
    this.#ready.length = 0;
    rmSync(this.#dir, { recursive: true, force: true });
  }

  async #make(): Promise<void> {
    const names = this.#names();
    const error = await new Promise<unknown>((resolve) => {
      execFile(this.#mkfifo, ["-m", "600", ...names], (failure) => resolve(failure));
    });
    if (error === null) this.#ready.push(...names);
  }

  #makeNow(): void {
    const names = this.#names();
    try {
      execFileSync(this.#mkfifo, ["-m", "600", ...names], { stdio: "ignore" });
      this.#ready.push(...names);
    } catch {
      this.#isRefused = true;
    }
  }

  #names(): string[] {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    return Array.from({ length: batch }, () => join(this.#dir, String(this.#named++)));
  }
}

/** Opening one end blocks until the other is opened, unless an fd is open that is both. */
function openEnds(path: string): PipeEnds {
  const fds: number[] = [];
  try {
    for (const flags of [constants.O_RDWR, constants.O_RDONLY, constants.O_WRONLY])
      fds.push(openSync(path, flags));
    const [both = -1, reader = -1, writer = -1] = fds;
    closeSync(both);
    return { reader, writer };
  } catch (error) {
    for (const fd of fds) closeSync(fd);
    throw error;
  } finally {
    unlinkSync(path);
  }
}
