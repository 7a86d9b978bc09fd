/** Starts an OS process: by posix_spawn if the C library can be loaded, otherwise through Node. */
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Duplex } from "node:stream";
import type { Libc } from "./libc.ts";
import { findLibc } from "./libc.ts";
import { linkOf } from "./procfs.ts";

/** One fd of the program: /dev/null, a socket whose other end is ours, or an fd of ours. */
export type StdioWish = "ignore" | "pipe" | number;

export interface LaunchCall {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: readonly StdioWish[];
}

interface LeaderEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The error if it did not start. */
  readonly error?: unknown;
}

export interface Launched {
  /** undefined: the program did not start. */
  readonly pid: number | undefined;
  /** Our end of each fd that is a "pipe", by the position of the fd; null for the others. */
  readonly pipes: readonly (Duplex | null)[];
  /** Its end of fd 0 if that is a "pipe", as /proc shows it; undefined: not known. */
  readonly inputLink: string | undefined;
  /** Never rejects. */
  readonly ended: Promise<LeaderEnd>;
}

/** Starts each process in a session of its own. Throws for an argument list that the host cannot take. */
export type Launcher = (call: LaunchCall) => Launched;

export function forkLaunch({ argv, cwd, env, stdio }: LaunchCall): Launched {
  const [program, ...args] = argv;
  const child = spawn(program, args, { cwd, env, detached: true, stdio: [...stdio] });
  const ended = new Promise<LeaderEnd>((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    // also emitted when a signal cannot be sent; then the program did start, and "exit" follows
    child.on("error", (error) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
  const { pid } = child;
  const inputLink = stdio[0] === "pipe" && pid !== undefined ? linkOf(pid, "0") : undefined;
  return { pid, pipes: child.stdio.map((stream) => stream as Duplex | null), inputLink, ended };
}

export function posixLaunch(libc: Libc): Launcher {
  const children = new Children(libc);
  const nothing = openSync("/dev/null", "r+");
  return ({ argv, cwd, env, stdio }) => {
    const ours: (number | undefined)[] = [];
    const theirs: number[] = [];
    try {
      const fds = stdio.map((wish) => {
        if (wish !== "pipe") {
          ours.push(undefined);
          return wish === "ignore" ? nothing : wish;
        }
        const [own, other] = libc.socketPair();
        ours.push(own);
        theirs.push(other);
        return other;
      });
      const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const { pid, ended } = children.start(() => libc.spawn({ path: argv[0], argv, env: words, cwd, fds }));
      // a wrapper may close its own at once, so this cannot be read from /proc
      const [input = nothing] = fds;
      const inputLink = stdio[0] === "pipe" ? `socket:[${fstatSync(input).ino}]` : undefined;
      return { pid, pipes: ours.map(socketOf), inputLink, ended: ended.then(leaderEnd) };
    } catch (error) {
      for (const fd of ours) if (fd !== undefined) closeSync(fd);
      throw error;
    } finally {
      for (const fd of theirs) closeSync(fd);
    }
  };
}

function socketOf(fd: number | undefined): Duplex | null {
  return fd === undefined ? null : new Socket({ fd, readable: true, writable: true });
}

/** Decodes a raw status of wait(2). */
function leaderEnd(status: number): LeaderEnd {
  const number = status & 0x7f;
  if (number === 0) return { code: (status >> 8) & 0xff, signal: null };
  const name = Object.entries(constants.signals).find(([, known]) => known === number)?.[0];
  return { code: null, signal: name ?? `SIG${number}` };
}

let found: Launcher | undefined;

/** The best launcher for this machine, found once. */
export function hostLaunch(): Launcher {
  if (found === undefined) {
    const libc = findLibc();
    found = libc === undefined ? forkLaunch : posixLaunch(libc);
  }
  return found;
}

/** Interval of polling, in case a SIGCHLD is lost; the timer also keeps the event loop alive. */
const LOOK_MS = 1_000;

/** The children that Node does not know; all are checked on each SIGCHLD. */
export class Children {
  readonly #libc: Pick<Libc, "waitNow">;
  readonly #live = new Map<number, (status: number) => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(libc: Pick<Libc, "waitNow">) {
    this.#libc = libc;
  }

  /** `spawn` returns the pid; its errors are passed on. `ended` is the raw wait status. */
  start(spawn: () => number): { readonly pid: number; readonly ended: Promise<number> } {
    this.#listen();
    try {
      const pid = spawn();
      const ended = new Promise<number>((resolve) => this.#live.set(pid, resolve));
      return { pid, ended };
    } finally {
      this.#leave();
    }
  }

  /** Listens while there are children, with one listener for all of them. */
  #listen(): void {
    if (this.#timer !== undefined) return;
    process.on("SIGCHLD", this.#reap);
    this.#timer = setInterval(this.#reap, LOOK_MS);
  }

  #leave(): void {
    if (this.#live.size > 0) return;
    process.off("SIGCHLD", this.#reap);
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #reap = (): void => {
    for (const [pid, resolve] of this.#live) {
      const status = this.#libc.waitNow(pid);
      if (status === undefined) continue;
      this.#live.delete(pid);
      resolve(status);
    }
    this.#leave();
  };
}
