/**
 * The tour's own folder and daemon: the user's daemon, journal and settings are not touched, and everything is removed
 * afterwards.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const LOOK_MS = 50;
const WAKE_TRIES = 20;

interface FinishedCommand {
  readonly code: number | null;
  readonly stdout: string;
}

export class DemoSandbox {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "crux-demo-")));
  readonly work = join(this.root, "work");
  readonly #env: Record<string, string | undefined>;
  readonly #children = new Set<ChildProcess>();

  constructor(env: Readonly<Record<string, string | undefined>>) {
    for (const name of ["work", "run", "home"]) mkdirSync(join(this.root, name), { mode: 0o700 });
    const scenario = join(this.root, "demo.yaml");
    writeFileSync(scenario, SCENARIO);
    const kept = Object.entries(env).filter(
      ([name]) => !/^(CRUX_|KAIRO_)/.test(name) || name === "CRUX_LANG",
    );
    this.#env = {
      ...Object.fromEntries(kept),
      HOME: join(this.root, "home"),
      XDG_RUNTIME_DIR: join(this.root, "run"),
      XDG_STATE_HOME: join(this.root, "state"),
      XDG_CONFIG_HOME: join(this.root, "config"),
      XDG_CACHE_HOME: join(this.root, "cache"),
      CRUX_SCENARIO: scenario,
    };
  }

  /** The OS pid of the tour's daemon; undefined: none runs. */
  get daemonPid(): number | undefined {
    try {
      return Number(readFileSync(join(this.root, "run/crux/crux.pid"), "utf8")) || undefined;
    } catch {
      return undefined;
    }
  }

  start(args: readonly string[], stdio: SpawnOptions["stdio"]): ChildProcess {
    const [, entry = ""] = process.argv;
    const child = spawn(process.execPath, [entry, ...args], { cwd: this.work, env: this.#env, stdio });
    this.#children.add(child);
    child.once("close", () => this.#children.delete(child));
    return child;
  }

  /** Runs a command on the real screen; it gets `stdin` only if it may ask. */
  async show(args: readonly string[], stdin: "inherit" | "ignore"): Promise<number | null> {
    const [code] = (await once(this.start(args, [stdin, "inherit", "inherit"]), "close")) as [number | null];
    return code;
  }

  async read(args: readonly string[]): Promise<FinishedCommand> {
    const child = this.start(args, ["ignore", "pipe", "inherit"]);
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stdout: Buffer.concat(chunks).toString("utf8") };
  }

  /** Retries: a busy machine may need more time than one command allows for starting its daemon. */
  async wake(signal: AbortSignal): Promise<void> {
    for (let tries = 1; tries <= WAKE_TRIES; tries++) {
      signal.throwIfAborted();
      const [code] = await once(this.start(["daemon", "start"], "ignore"), "close");
      if (code === 0) return;
    }
  }

  /** Resolves when the file exists. */
  async until(name: string, signal: AbortSignal): Promise<void> {
    while (!existsSync(join(this.work, name))) await pause(LOOK_MS, undefined, { signal });
  }

  /**
   * Also called on a signal: kills everything at once, without waiting. A daemon that is still starting has not written
   * its pid yet.
   */
  close(): void {
    for (const child of this.#children) child.kill("SIGKILL");
    for (const pid of this.#ownPids()) killQuietly(pid);
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  }

  /** Processes started for this folder, found by the mark in their environment. */
  #ownPids(): readonly number[] {
    const mark = `XDG_STATE_HOME=${join(this.root, "state")}\0`;
    const named = this.daemonPid;
    const marked = namesIn("/proc").filter(
      (name) => /^\d+$/.test(name) && environmentOf(name).includes(mark),
    );
    return [...(named === undefined ? [] : [named]), ...marked.map(Number)];
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, "utf8");
  } catch {
    return "";
  }
}

export function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // already gone
  }
}

/** The script of the tour's model driver: it provides only the model's words; the calls are real. */

const write = (file_path: string, content: string) => ({ tool: "write", args: { file_path, content } });
const turn = (user: string, at: number, play: object) => ({
  when: { user, turn: at },
  forever: true,
  ...play,
});
/** Slow enough for a kill to arrive in the middle. */
const slowly = { pace: { chunk: 1, delayMs: 120 } };

const SCENARIO = JSON.stringify({
  scenario: "demo",
  turns: [
    turn("greet", 1, {
      say: "A file with a greeting.",
      call: [write("hello.txt", "Hello from process one.\n")],
    }),
    {
      when: { user: "greet", result: { error: true } },
      forever: true,
      say: "The gate refused it: nothing was written.",
    },
    turn("greet", 2, { say: "hello.txt is written." }),
    turn("chapters", 1, { say: "The first chapter.", call: [write("one.txt", "Chapter one\n")] }),
    turn("chapters", 2, {
      say: "Thinking slowly about the second chapter.",
      ...slowly,
      call: [write("two.txt", "Chapter two\n")],
    }),
    turn("chapters", 3, { say: "Two chapters are written." }),
    turn("name three rivers", 1, { say: "Nile\nRhine\nAmazon" }),
    turn("sort them", 1, { say: "Amazon\nNile\nRhine" }),
    turn("make one line", 1, { say: "Amazon, Nile, Rhine" }),
  ],
});
