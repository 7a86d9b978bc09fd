/** Starts an OS process: by posix_spawn if the C library can be loaded, otherwise through Node. */
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Duplex } from "node:stream";
import type { Libc, SpawnCall } from "./libc.ts";
import { findLibc } from "./libc.ts";
import { linkOf } from "./procfs.ts";

/** One fd of the program: /dev/null, a socket whose other end is ours, or an fd of ours. */
export type StdioWish = "ignore" | "pipe" | number;

export interface LaunchCall {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: readonly StdioWish[];
  /** Nobody waits for it: it may be started on another thread, and have no pid when this returns. */
  readonly isAhead?: boolean;
}

export interface LeaderEnd {
  readonly code: number | null;
  readonly signal: string | null;
  /** The error if it did not start. */
  readonly error?: unknown;
}

interface Leader {
  /** undefined: it did not start, or has not yet. */
  readonly pid: number | undefined;
  /** Resolves when it has its pid, or did not start; absent: that was so at once. Never rejects. */
  readonly started?: Promise<void>;
  /** Waits for that, and all else with it, as what is done about it now must not be left until later; not for long. */
  settle?(): void;
  /** Never rejects. */
  readonly ended: Promise<LeaderEnd>;
}

export interface Launched {
  readonly leader: Leader;
  /** Our end of each fd that is a "pipe", by the position of the fd; null for the others. */
  readonly pipes: readonly (Duplex | null)[];
  /** Its end of fd 0 if that is a "pipe", as /proc shows it; undefined: not known. */
  readonly inputLink: string | undefined;
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
  return { leader: { pid, ended }, pipes: child.stdio.map((stream) => stream as Duplex | null), inputLink };
}

export function posixLaunch(libc: Libc): Launcher {
  const children = new Children(libc);
  return ({ argv, cwd, env, stdio, isAhead = false }) => {
    const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const { started, ...ends } = withStdio({ libc, stdio }, (fds) => {
      const call = { path: argv[0], argv, env: words, cwd, fds };
      return isAhead ? children.startBeside(call) : children.start(call);
    });
    return { leader: started, ...ends };
  };
}

let nothing: number | undefined;

/** Starts something with fds as they are wished; those that were opened for it are closed then, and it must have its own. */
export function withStdio<T>(
  { libc, stdio }: { readonly libc: Pick<Libc, "socketPair">; readonly stdio: LaunchCall["stdio"] },
  start: (fds: readonly number[]) => T,
): Pick<Launched, "pipes" | "inputLink"> & { readonly started: T } {
  nothing ??= openSync("/dev/null", "r+");
  const empty = nothing;
  const ours: (number | undefined)[] = [];
  const theirs: number[] = [];
  try {
    const fds = stdio.map((wish) => {
      if (wish !== "pipe") {
        ours.push(undefined);
        return wish === "ignore" ? empty : wish;
      }
      const [own, other] = libc.socketPair();
      ours.push(own);
      theirs.push(other);
      return other;
    });
    const started = start(fds);
    // a wrapper may close its own at once, so this cannot be read from /proc
    const [input = empty] = fds;
    const inputLink = stdio[0] === "pipe" ? `socket:[${fstatSync(input).ino}]` : undefined;
    return { started, pipes: ours.map(socketOf), inputLink };
  } catch (error) {
    for (const fd of ours) if (fd !== undefined) closeSync(fd);
    throw error;
  } finally {
    for (const fd of theirs) closeSync(fd);
  }
}

function socketOf(fd: number | undefined): Duplex | null {
  return fd === undefined ? null : new Socket({ fd, readable: true, writable: true });
}

/** Decodes a raw status of wait(2). */
export function leaderEnd(status: number): LeaderEnd {
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

/** Of a millisecond: a program that is not there never has a pid, and one may wait long for a thread. */
const SETTLE_ROUNDS = 100;
const PAUSE = new Int32Array(new SharedArrayBuffer(4));

/** The children that Node does not know; all are checked on each SIGCHLD. */
export class Children {
  readonly #libc: Pick<Libc, "spawn" | "spawnBeside" | "copyOf" | "waitNow">;
  readonly #live = new Map<number, (end: LeaderEnd) => void>();
  /** Those that are yet being started. */
  #coming = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(libc: Pick<Libc, "spawn" | "spawnBeside" | "copyOf" | "waitNow">) {
    this.#libc = libc;
  }

  /** Throws what `spawn` throws. */
  start(call: SpawnCall): Leader {
    this.#listen();
    try {
      const pid = this.#libc.spawn(call);
      return { pid, ended: this.#endOf(pid) };
    } finally {
      this.#leave();
    }
  }

  /** On another thread. The fds may be closed as soon as it returns. */
  startBeside(call: SpawnCall): Leader {
    const fds: number[] = [];
    const closeAll = () => {
      for (const fd of fds) closeSync(fd);
    };
    try {
      for (const fd of call.fds) fds.push(this.#libc.copyOf(fd));
    } catch (error) {
      closeAll();
      throw error;
    }
    this.#listen();
    this.#coming++;
    const { pid: told, pidNow } = this.#libc.spawnBeside({ ...call, fds });
    let pid: number | undefined;
    const born = told.then(
      (known) => {
        pid = known;
        return () => this.#endOf(known);
      },
      (error: unknown) => () => Promise.resolve({ code: null, signal: null, error }),
    );
    const ended = born.then((end) => {
      closeAll();
      this.#coming--;
      const ending = end();
      // its SIGCHLD may have come before its pid
      this.#reap();
      return ending;
    });
    return {
      get pid() {
        return pid;
      },
      started: born.then(() => {}),
      settle: () => {
        for (let n = 0; n < SETTLE_ROUNDS && pid === undefined; n++) {
          pid = pidNow() || undefined;
          if (pid === undefined) Atomics.wait(PAUSE, 0, 0, 1);
        }
      },
      ended,
    };
  }

  #endOf(pid: number): Promise<LeaderEnd> {
    return new Promise((resolve) => this.#live.set(pid, resolve));
  }

  /** Listens while there are children, with one listener for all of them. */
  #listen(): void {
    if (this.#timer !== undefined) return;
    process.on("SIGCHLD", this.#reap);
    this.#timer = setInterval(this.#reap, LOOK_MS);
  }

  #leave(): void {
    if (this.#live.size + this.#coming > 0) return;
    process.off("SIGCHLD", this.#reap);
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #reap = (): void => {
    for (const [pid, resolve] of this.#live) {
      const status = this.#libc.waitNow(pid);
      if (status === undefined) continue;
      this.#live.delete(pid);
      resolve(leaderEnd(status));
    }
    this.#leave();
  };
}
