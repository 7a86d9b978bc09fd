/**
 * Pipes for what children print. Node's own are sockets: a program cannot open them a second time (`> /dev/stderr`), and two
 * streams do not share one. A named pipe whose name is gone is a pipe like any other, cheaper and twice as fast; the names
 * are made many at a time, by one `mkfifo`.
 */
import { execFile, execFileSync } from "node:child_process";
import { closeSync, constants, mkdirSync, openSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { findSystemProgram } from "../program.ts";

/** Of a pipe, by fd. Both wait when there is nothing to read, or no room. */
export interface PipeEnds {
  readonly reader: number;
  readonly writer: number;
}

/** Made at once; more are made when fewer than this are left. */
const batch = 64;
const fewLeft = 16;

export class Pipes {
  readonly #dir: string;
  readonly #mkfifo: string;
  readonly #ready: string[] = [];
  #named = 0;
  #making: Promise<void> | undefined;
  /** The host, or the file system, makes none. */
  #isRefused = false;

  /** `dir`: for these alone; made here, and gone with close(). */
  constructor(dir: string, mkfifo = findSystemProgram("mkfifo") ?? "mkfifo") {
    this.#dir = dir;
    this.#mkfifo = mkfifo;
  }

  /** undefined: there are no pipes to be had here. Throws what the host says when it has no fds left. */
  open(): PipeEnds | undefined {
    if (this.#ready.length === 0 && !this.#isRefused) this.#makeNow();
    const path = this.#ready.pop();
    if (path === undefined) return undefined;
    if (this.#ready.length < fewLeft) void this.makeMore();
    return openEnds(path);
  }

  /** Without holding up anybody. Never rejects. */
  makeMore(): Promise<void> {
    if (this.#isRefused || this.#ready.length >= batch) return Promise.resolve();
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

/** An end waits for the other to be opened, unless one is open that is both. */
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
