/** Starting a daemon. Loaded only where none runs: `node:child_process` alone takes a command a millisecond. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import type { Environment } from "../../lib/paths.ts";
import { logPath } from "./log-tail.ts";

export interface LaunchSpec {
  /** How this program is run: `[node, main.js]`. */
  readonly command: readonly string[];
  readonly env: Environment;
  readonly stateDir: string;
}

export interface Launched {
  /** The launched process has ended: it found the lock held, or it failed. */
  readonly ended: boolean;
  /** It could not be started at all. */
  readonly error: Error | undefined;
}

export type Launch = (spec: LaunchSpec) => Launched;

/**
 * Starts `crux daemon --internal` in its own session, without a terminal, in `/`, its output to daemon.log. The daemon
 * belongs to nobody: it outlives this command.
 */
export const launchDaemon: Launch = (spec) => {
  const state: { ended: boolean; error: Error | undefined } = { ended: false, error: undefined };
  try {
    const child = start(spec);
    child.once("error", (error) => Object.assign(state, { ended: true, error }));
    child.once("exit", () => Object.assign(state, { ended: true }));
    child.unref();
  } catch (error) {
    Object.assign(state, { ended: true, error });
  }
  return state;
};

function start({ command, env, stateDir }: LaunchSpec): ChildProcess {
  const [file = "", ...args] = command;
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const log = openSync(logPath(stateDir), "a", 0o600);
  try {
    return spawn(file, [...args, "daemon", "--internal"], {
      cwd: "/",
      detached: true,
      env: withoutIpc(env),
      stdio: ["ignore", log, log],
    });
  } finally {
    closeSync(log);
  }
}

/** What names the process a client runs in must not reach the daemon that outlives it. */
function withoutIpc(env: Environment): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("CRUX_IPC_") && !name.startsWith("KAIRO_IPC_")),
  );
}
