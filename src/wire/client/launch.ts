/** Starts a daemon. Loaded only if none runs: `node:child_process` alone costs a command a millisecond. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs";
import { type Environment, parent } from "../../lib/paths.ts";
import { lastLogLines, logPath } from "./log-tail.ts";

/** Less is left for a line of the log. */
const PAGE_BYTES = 4_096;

export interface LaunchSpec {
  /** The command that runs this program: `[node, main.js]`. */
  readonly command: readonly string[];
  readonly env: Environment;
  readonly stateDir: string;
  /** The place of its log if the state directory is not writable. */
  readonly runtimeDir: string;
}

export interface Launched {
  /** The launched process has ended: it found the lock held, or it failed with `error`. */
  readonly ended: boolean;
  /** It could not be started, or it gave up, with the last line of its log. */
  readonly error: Error | undefined;
  readonly pid?: number | undefined;
  /** Its exit code, if it gave up. */
  readonly code?: number;
}

/**
 * The C library of Linux keeps heaps for its threads, of which V8's helpers leave up to 60 MB unused for good. One heap for
 * all has been measured to be as fast. What is larger than a read of a socket (64 KiB and a head) gets pages of its own, and
 * these are given back: by default the library learns to keep such pieces in its heap, where holes of long conversations stay.
 * The daemon takes this out of its own environment when it starts.
 */
export const NATIVE_HEAP = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "69632" };

export type DaemonLauncher = (spec: LaunchSpec) => Launched;

/**
 * Starts `crux daemon --internal` in its own session, without a terminal, in `/`, its output to daemon.log. The daemon
 * is detached: it outlives this command.
 */
export const launchDaemon: DaemonLauncher = (spec) => {
  const state: { ended: boolean; error: Error | undefined; pid?: number | undefined; code?: number } = {
    ended: false,
    error: undefined,
  };
  try {
    makeFolder(spec.stateDir);
    const path = logPath(spec.stateDir, spec.runtimeDir);
    const logged = logSize(path);
    const child = start(spec, path);
    state.pid = child.pid;
    child.once("error", (error) => Object.assign(state, { ended: true, error }));
    child.once("exit", (code) => {
      // an end by a signal predicts nothing about the next attempt
      const gaveUp = code !== null && code !== 0;
      Object.assign(state, {
        ended: true,
        ...(gaveUp ? { error: lastWords(path, logged, code), code } : {}),
      });
    });
    child.unref();
  } catch (error) {
    Object.assign(state, { ended: true, error });
  }
  return state;
};

/** Part by part: Node's own recursion names another error than that of the disk, and below /proc it never ends. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(parent(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** What the new last line of the log says; on a full disk it is missing. */
function lastWords(path: string, logged: number, code: number): Error {
  const [line = ""] = logSize(path) > logged ? lastLogLines(path, 1) : [];
  if (line !== "") return new Error(line.replace(LOG_HEAD, ""));
  return new Error(isFull(path) ? `no space is left on the disk of ${parent(path)}` : `exit code ${code}`);
}

/** The time and the level of a line, which help nobody at the terminal. */
const LOG_HEAD = /^\d{4}-\S+Z \w+ daemon: /;

function isFull(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(parent(path));
    return bavail * bsize < PAGE_BYTES;
  } catch {
    // the folder has gone meanwhile
    return false;
  }
}

function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function start({ command, env }: LaunchSpec, path: string): ChildProcess {
  const [file = "", ...args] = command;
  makeFolder(parent(path));
  const log = openSync(path, "a", 0o600);
  try {
    return spawn(file, [...args, "daemon", "--internal"], {
      cwd: "/",
      detached: true,
      env: { ...NATIVE_HEAP, ...withoutIpc(env) },
      stdio: ["ignore", log, log],
    });
  } finally {
    closeSync(log);
  }
}

/** Removes the variables that identify the client's own process: they must not reach the daemon, which outlives it. */
function withoutIpc(env: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("CRUX_IPC_") && !name.startsWith("KAIRO_IPC_")),
  );
}
