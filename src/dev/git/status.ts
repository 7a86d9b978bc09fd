/**
 * Runs `git status` in a directory and returns its output, NUL-separated. A repository is not trusted: no program
 * that it configures is started. Hooks and the file system monitor are off, and so is each filter that it configures.
 * What git starts nevertheless (a filter of a submodule, or one that was configured a moment ago) writes nothing and
 * reaches nothing: git runs in a sandbox wherever there is one.
 */
import type { Clock } from "../../abi/program.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import { linkSignals } from "../../lib/abort.ts";
import { driverError, throwIfAborted } from "../driver-error.ts";
import { findSystemProgram } from "../program.ts";

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 16 * 1024 * 1024;

export interface GitDeps {
  readonly exec: HostExec;
  readonly clock: Pick<Clock, "sleep">;
  /** The daemon's environment, used to find git and the user's own configuration. */
  readonly env: Readonly<Record<string, string>>;
  /** Secrets, sockets and the state of Crux: nothing that git starts sees them. */
  readonly closed?: () => readonly string[];
}

interface GitRun {
  readonly cwd: string;
  readonly owner: string;
  readonly sandbox: SandboxProfile | null;
  readonly killed: AbortSignal | undefined;
}

/**
 * NOT_FOUND: not a repository; TIMEOUT: after 20 s; UNAVAILABLE: git cannot be started; DRIVER: git failed, with its
 * message.
 */
export function gitStatus(deps: GitDeps, run: GitRun, signal: AbortSignal): Promise<string> {
  return within(deps, { ms: TIMEOUT_MS, cwd: run.cwd, signal }, async (linked) => {
    const git = new Git(deps, run, linked);
    const off = filtersOff(await git.output(CONFIG, QUIET));
    return git.output(STATUS, { ...QUIET, ...off });
  });
}

/** inside a submodule git would start the submodule's filters, whose names are not known here */
const STATUS = "status --porcelain=v2 --branch -z --untracked-files=normal --ignore-submodules=dirty".split(
  " ",
);
export const CONFIG = "config --list --name-only -z".split(" ");

/** The outputs from which a summary is made. */
export interface GitOutputs {
  /** As of gitStatus(). */
  readonly status: string;
  /** The last commits, a line each; "": none. */
  readonly log: string;
  readonly user: string;
}

/** Like gitStatus(), with its errors, within `ms`. */
export function gitOutputs(
  deps: GitDeps,
  run: GitRun & { readonly ms: number; readonly commits: number },
  signal: AbortSignal,
): Promise<GitOutputs> {
  const { ms, commits, ...where } = run;
  return within(deps, { ms, cwd: run.cwd, signal }, async (linked) => {
    const git = new Git(deps, where, linked);
    const values = await git.output(["config", "--list", "-z"], QUIET);
    const entries = values.split("\0").map((entry) => entry.split("\n"));
    const off = filtersOff(entries.map(([name]) => name).join("\0"));
    const config = { ...QUIET, ...off };
    const [status, log] = await Promise.all([
      git.output(STATUS, config),
      // fails where there is no commit yet
      git.output(["log", `-${commits}`, "--no-show-signature", "--format=%h %s"], config).catch(() => ""),
    ]);
    const user = entries.findLast(([name]) => name === "user.name")?.[1] ?? "";
    return { status, log, user };
  });
}

interface Bound {
  readonly ms: number;
  readonly cwd: string;
  readonly signal: AbortSignal;
}

export async function within<T>(
  { clock }: GitDeps,
  { ms, cwd, signal }: Bound,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const over = new AbortController();
  clock.sleep(ms, over.signal).then(
    () => late.abort(),
    () => {},
  );
  using linked = linkSignals(signal, late.signal);
  try {
    return await act(linked.signal);
  } catch (error) {
    if (late.signal.aborted && !signal.aborted)
      throw driverError("Write", "TIMEOUT", `git took longer than ${ms / 1000} s in ${cwd}`);
    throw error;
  } finally {
    over.abort();
  }
}

type Config = Readonly<Record<string, string>>;

export const QUIET: Config = {
  "core.fsmonitor": "false",
  "core.hooksPath": "/dev/null",
  "core.untrackedCache": "false",
};

/** Switches off the filters in the configuration; git would run each on the changed files. */
export function filtersOff(names: string): Config {
  const found = names
    .split("\0")
    .flatMap((name) => /^(filter\..+)\.(?:clean|smudge|process)$/s.exec(name)?.[1] ?? []);
  const pairs = [...new Set(found)].flatMap((filter) =>
    ["clean", "smudge", "process"].map((part) => [`${filter}.${part}`, ""] as const),
  );
  return Object.fromEntries([
    ...pairs,
    ...[...new Set(found)].map((filter) => [`${filter}.required`, "false"]),
  ]);
}

export class Git {
  readonly #deps: GitDeps;
  readonly #run: GitRun;
  readonly #signal: AbortSignal;

  constructor(deps: GitDeps, run: GitRun, signal: AbortSignal) {
    this.#deps = deps;
    this.#run = run;
    this.#signal = signal;
  }

  async output(args: readonly string[], config: Config): Promise<string> {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let bytes = 0;
    const child = this.#deps.exec.run(
      {
        ...this.#run,
        sandbox: this.#run.sandbox ?? this.#reading(),
        argv: [findSystemProgram("git") ?? "git", "--no-optional-locks", ...args],
        env: environment(this.#deps.env, config),
        onOutput: (stream, chunk) => {
          bytes += chunk.byteLength;
          if (bytes > MAX_BYTES) void child.kill();
          else (stream === "stdout" ? out : err).push(chunk);
        },
      },
      this.#signal,
    );
    const end = await child.exited;
    throwIfAborted(this.#signal, "Write");
    if (bytes > MAX_BYTES) throw driverError("Write", "DRIVER", "git printed more than 16 MiB");
    if (end.error !== undefined) throw notStarted(end.error);
    if (end.code === 0) return Buffer.concat(out).toString("utf8");
    throw refused(this.#run.cwd, Buffer.concat(err).toString("utf8").trim().slice(0, 500), end.code);
  }

  #reading(): SandboxProfile | null {
    const { exec, closed } = this.#deps;
    if (exec.sandbox?.available !== true) return null;
    // a repository may lie in a place that is otherwise closed, and its top above the directory
    const show = ["/tmp", this.#run.cwd];
    return { write: [], protect: [], hide: closed?.() ?? [], show, network: "off" };
  }
}

/** Settings in the environment override every configuration file, in submodules too, and accept any name unquoted. */
function environment(env: Config, config: Config): Record<string, string> {
  const entries = Object.entries(config);
  const set = entries.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${i}`, key],
    [`GIT_CONFIG_VALUE_${i}`, value],
  ]);
  return {
    PATH: env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: env.HOME ?? "/",
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    // an older git does not know the line above; with no protocol it fetches nothing either
    GIT_ALLOW_PROTOCOL: "",
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(set),
  };
}

function notStarted(error: Error): Error {
  const code = "code" in error && error.code === "NOT_FOUND" ? "UNAVAILABLE" : "DRIVER";
  return driverError(
    "Write",
    code,
    code === "UNAVAILABLE" ? `git cannot be started: ${error.message}` : error.message,
    error,
  );
}

function refused(cwd: string, said: string, code: number | null): Error {
  if (/not a git repository/i.test(said))
    return driverError("Write", "NOT_FOUND", `no git repository: ${cwd}`);
  return driverError("Write", "DRIVER", said === "" ? `git ended with ${code}` : said);
}
