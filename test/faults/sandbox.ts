/**
 * A machine within the machine: namespaces of its own for users, processes and mounts, in which the daemon and its clients run,
 * with a file system of its own for the state. Nothing outside can be filled or taken away by what a test does to it. The
 * work folder and the network are those of outside. All of it is gone with `close()`.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { intentArgv } from "../../src/cli/testing/intent-argv.ts";
import { CODE_CACHE, CRUX, type Run } from "../harness/world.ts";

const INSIDE = fileURLToPath(new URL("./inside.ts", import.meta.url));
const APART = [
  "--dev-bind",
  "/",
  "/",
  "--unshare-user",
  "--unshare-pid",
  "--proc",
  "/proc",
  "--die-with-parent",
  // over its own file systems alone
  "--cap-add",
  "CAP_SYS_ADMIN",
];

/** Why there can be no sandbox here; undefined: there can. */
export function noSandbox(): string | undefined {
  const { error, status, stderr } = spawnSync(
    "bwrap",
    [...APART, "--size", "4096", "--tmpfs", tmpdir(), "true"],
    {
      encoding: "utf8",
    },
  );
  if (error !== undefined) return `bwrap: ${error.message}`;
  return status === 0 ? undefined : stderr.trim();
}

export class Sandbox {
  readonly dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-fault-")));
  readonly work = join(this.dir, "work");
  /** The file system of its own: only inside is there anything in it. */
  readonly state = join(this.dir, "state");
  readonly env: Readonly<Record<string, string>>;
  readonly #child: ChildProcess;
  readonly #open = new Map<number, PromiseWithResolvers<Run>>();
  #orders = 0;

  /** `bytes`: of the file system for the state. */
  constructor(bytes: number, env: Readonly<Record<string, string>> = {}) {
    for (const name of ["home", "work", "run", "state"]) mkdirSync(join(this.dir, name), { mode: 0o700 });
    // within one, no other can be made: there is no second /proc
    mkdirSync(join(this.dir, "config/crux"), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.dir, "config/crux/settings.json"), JSON.stringify({ sandbox: { mode: "off" } }));
    this.env = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: join(this.dir, "home"),
      XDG_RUNTIME_DIR: join(this.dir, "run"),
      XDG_STATE_HOME: this.state,
      XDG_CONFIG_HOME: join(this.dir, "config"),
      XDG_CACHE_HOME: CODE_CACHE,
      LANG: "C.UTF-8",
      CRUX_SAFE_MODE_AFTER: "0",
      ...env,
    };
    const place = ["--size", String(bytes), "--tmpfs", this.state, "--", process.execPath, INSIDE];
    this.#child = spawn("bwrap", [...APART, ...place], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      const { id, ...run } = JSON.parse(line) as Run & { id: number };
      this.#open.get(id)?.resolve(run);
      this.#open.delete(id);
    });
    this.#child.once("close", () => {
      for (const { reject } of this.#open.values()) reject(new Error("the sandbox is gone"));
    });
  }

  run(...argv: readonly string[]): Promise<Run> {
    const id = ++this.#orders;
    const ended = Promise.withResolvers<Run>();
    // one that is cut off by close() may be nobody's any more
    ended.promise.catch(() => {});
    this.#open.set(id, ended);
    this.#child.stdin!.write(`${JSON.stringify({ id, argv, cwd: this.work, env: this.env })}\n`);
    return ended.promise;
  }

  crux(...args: readonly string[]): Promise<Run> {
    return this.run(CRUX, ...intentArgv(args));
  }

  /** What a shell prints. */
  async sh(script: string): Promise<string> {
    return (await this.run("sh", "-c", script)).stdout;
  }

  /** Takes all space that is left, to the last byte. */
  async fill(): Promise<void> {
    await this.sh(`cat /dev/zero > ${this.state}/filler`);
  }

  /** The file system of the state takes writes, or none. What holds it open for writing keeps it from becoming read-only. */
  async remount(how: "ro" | "rw"): Promise<Run> {
    return this.run("mount", "-o", `remount,${how}`, this.state);
  }

  /** CPU time of the daemon so far, in clock ticks of 10 ms. */
  async daemonTicks(): Promise<number> {
    const stat = await this.sh(`cat /proc/$(cat ${this.dir}/run/crux/crux.pid)/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.kill("SIGKILL");
    await gone;
    rmSync(this.dir, { recursive: true, force: true });
  }
}
