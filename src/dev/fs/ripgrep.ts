/** The search engine: finds the ripgrep program, and runs it within bounds. */
import { join, relative } from "node:path";
import type { Clock } from "../../abi/program.ts";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import type { ExecSpec, HostExec } from "../../kernel/ports/host.ts";
import { ABORTED } from "../../lib/abort.ts";
import { isWithin } from "../../lib/path.ts";
import { isExecutable } from "../../lib/program-file.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { cancelled, driverError, errnoOf } from "../driver-error.ts";
import { pathDirectories } from "../program.ts";
import { LongLines } from "./long-lines.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** After this time the output so far is the answer. */
const deadlineMs = 20_000;
const maxBytes = 20_000_000;
const maxErrorBytes = 64 * 1024;
/** Variables that ripgrep needs to find the global ignore files of git; no others are passed. */
const kept = ["PATH", "HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL"];

interface Search {
  /** What is searched, as it was permitted. */
  readonly real: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly owner: string;
  /** True if the output has lines with columns; long lines are cut around their matches. */
  readonly cutsLines?: boolean;
}

export interface RipgrepOutput {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** True if the output was cut by the deadline or the size limit; the last, incomplete piece is still included. */
  readonly partial: boolean;
}

interface Options {
  /** The time limit of a search; default: 20 s by the machine's clock. */
  readonly deadlineMs?: number;
  readonly clock?: Pick<Clock, "sleep"> | undefined;
  /** Places that no search is shown, whatever links a program puts in its way: secrets, the files of Crux. */
  readonly closed?: (() => readonly string[]) | undefined;
}

export class Ripgrep {
  readonly #exec: HostExec;
  readonly #env: Env;
  readonly #deadlineMs: number;
  readonly #clock: Pick<Clock, "sleep">;
  readonly #closed: () => readonly string[];
  #packaged: Promise<string | undefined> | undefined;

  /** `env`: the daemon's environment. */
  constructor(exec: HostExec, env: Env, options: Options = {}) {
    this.#exec = exec;
    this.#env = env;
    this.#deadlineMs = options.deadlineMs ?? deadlineMs;
    this.#clock = options.clock ?? systemClock;
    this.#closed = options.closed ?? (() => []);
  }

  /**
   * `roots`: directories that are not trusted to contain the program. UNAVAILABLE: no ripgrep found. TIMEOUT: no
   * output within the time limit.
   */
  async run(search: Search, roots: readonly string[], signal: AbortSignal): Promise<RipgrepOutput> {
    const program = await this.#find(roots);
    const sandbox = this.#sandbox(search.real, roots);
    const first = await this.#once(program, { ...search, sandbox }, signal);
    if (!first.lacksThreads) return first;
    return this.#once(program, { ...search, sandbox, args: ["-j", "1", ...search.args] }, signal);
  }

  async #find(roots: readonly string[]): Promise<string> {
    this.#packaged ??= import("@vscode/ripgrep").then(
      ({ rgPath }) => (isExecutable(rgPath) ? rgPath : undefined),
      () => undefined,
    );
    const isOwnWanted = this.#env.CRUX_BUILTIN_RIPGREP !== "false";
    const found = (isOwnWanted ? await this.#packaged : undefined) ?? this.#onPath(roots);
    if (found !== undefined) return found;
    throw driverError(
      "Write",
      "UNAVAILABLE",
      "ripgrep (rg) not found: install it, or unset CRUX_BUILTIN_RIPGREP",
    );
  }

  #onPath(roots: readonly string[]): string | undefined {
    const isTrusted = (dir: string) => !roots.some((root) => dir === root || dir.startsWith(`${root}/`));
    return pathDirectories(this.#env.PATH)
      .filter(isTrusted)
      .map((directory) => join(directory, "rg"))
      .find(isExecutable);
  }

  /** It writes nothing, reaches nothing, and sees no secret but one that it was sent to. null: there is none here. */
  #sandbox(real: string, roots: readonly string[]): SandboxProfile | null {
    if (this.#exec.sandbox?.available !== true) return null;
    const hide = this.#closed();
    return { write: [], protect: [], hide, show: shownOf(real, hide, roots), network: "off" };
  }

  async #once(
    program: string,
    search: Search & { readonly sandbox: SandboxProfile | null },
    signal: AbortSignal,
  ): Promise<RipgrepOutput & { lacksThreads: boolean }> {
    const collected = new Collected(search.cutsLines === true);
    const spec: ExecSpec = {
      argv: [program, ...search.args],
      cwd: search.cwd,
      env: Object.fromEntries(kept.flatMap((name) => entry(name, this.#env[name]))),
      owner: search.owner,
      sandbox: search.sandbox,
      onOutput(stream, chunk) {
        if (collected.take(stream, chunk)) void child.kill();
      },
    };
    let isLate = false;
    const child = this.#exec.run(spec, signal);
    const over = new AbortController();
    this.#clock.sleep(this.#deadlineMs, over.signal).then(
      () => {
        isLate = true;
        void child.kill();
      },
      () => {},
    );
    const end = await child.exited;
    over.abort(ABORTED);
    if (signal.aborted) throw cancelled("Write");
    const lacksThreads = isAgain(end.error) || (end.code === 2 && /os error 11\b/.test(collected.stderr()));
    if (end.error !== undefined && !lacksThreads) throw end.error;
    const partial = isLate || collected.isFull;
    const stdout = collected.stdout();
    if (partial && stdout.byteLength === 0)
      throw driverError("Write", "TIMEOUT", `the search found nothing within ${this.#deadlineMs / 1000} s`);
    // a search that was stopped has no exit code
    const exitCode = end.code ?? (stdout.byteLength > 0 ? 0 : 1);
    return { exitCode, stdout, stderr: collected.stderr(), partial, lacksThreads };
  }
}

/** What is searched in a closed place, from a folder on that no program of an agent can put a link in the place of. */
function shownOf(real: string, hide: readonly string[], roots: readonly string[]): readonly string[] {
  const [closed] = hide.filter((place) => isWithin(place, real)).sort((a, b) => b.length - a.length);
  if (closed === undefined) return ["/tmp"];
  const root = roots.find((each) => isWithin(each, real) && isWithin(closed, each));
  // <state>/scratch/<process>, the work of one agent, lies in what is Crux's own
  const own = [closed, ...relative(closed, real).split("/").filter(Boolean).slice(0, 2)].join("/");
  return ["/tmp", root ?? own];
}

class Collected {
  readonly #chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  readonly #room = { stdout: maxBytes, stderr: maxErrorBytes };
  readonly #lines: LongLines | null;

  constructor(cutsLines: boolean) {
    this.#lines = cutsLines ? new LongLines() : null;
  }

  get isFull(): boolean {
    return this.#room.stdout === 0;
  }

  /** Returns true if stdout is full; further output is dropped. */
  take(stream: "stdout" | "stderr", printed: Buffer): boolean {
    const chunk = stream === "stdout" && this.#lines !== null ? this.#lines.push(printed) : printed;
    return this.#keep(stream, chunk);
  }

  #keep(stream: "stdout" | "stderr", chunk: Buffer): boolean {
    const part = chunk.subarray(0, this.#room[stream]);
    this.#room[stream] -= part.byteLength;
    if (part.byteLength > 0) this.#chunks[stream].push(part);
    return this.isFull;
  }

  /** Call when no more output comes. */
  stdout(): Buffer {
    if (this.#lines !== null) this.#keep("stdout", this.#lines.end());
    return Buffer.concat(this.#chunks.stdout);
  }

  stderr(): string {
    return Buffer.concat(this.#chunks.stderr).toString("utf8");
  }
}

function isAgain(error: Error | undefined): boolean {
  return errnoOf(error?.cause) === "EAGAIN";
}

function entry(name: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[name, value]];
}
