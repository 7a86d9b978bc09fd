/**
 * A daemon of a measurement, of the usual build or of another, in folders of its own: without a client before it, and ended by
 * its own `shutdown`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HEAP_FLAGS } from "../../src/wire/client/daemon.ts";
import { NATIVE_HEAP } from "../../src/wire/client/launch.ts";
import { Wire } from "../../test/harness/wire.ts";
import { statusBytes } from "./os-process.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const NODE = join(ROOT, "node_modules/node/bin/node");
/** How long a daemon may take to answer at all. */
const START_MS = 120_000;
/** Sleep between two tries to connect: the resolution of a start. */
const TRY_MS = 2;

export class Place {
  readonly dir = mkdtempSync(join(tmpdir(), "crux-bench-"));
  readonly work = join(this.dir, "work");
  readonly state = join(this.dir, "state/crux");
  readonly env: Record<string, string>;
  readonly #dist: string;
  #daemon: ChildProcess | undefined;

  /** `dist`: of another build. */
  constructor(dist = join(ROOT, "dist")) {
    this.#dist = dist;
    for (const name of ["home", "work", "run"]) mkdirSync(join(this.dir, name), { mode: 0o700 });
    this.env = {
      PATH: "/usr/local/bin:/usr/bin:/bin",
      HOME: join(this.dir, "home"),
      XDG_RUNTIME_DIR: join(this.dir, "run"),
      XDG_STATE_HOME: join(this.dir, "state"),
      XDG_CONFIG_HOME: join(this.dir, "config"),
      LANG: "C.UTF-8",
    };
  }

  /** Starts the daemon; milliseconds until it has answered a `ping`, and the connection it answered on. */
  async start(): Promise<{ ms: number; wire: Wire }> {
    const began = performance.now();
    this.#daemon = spawn(NODE, [...HEAP_FLAGS, join(this.#dist, "main.cjs"), "daemon", "--internal"], {
      cwd: "/",
      env: { ...NATIVE_HEAP, ...this.env },
      stdio: "ignore",
    });
    const wire = await this.connect();
    await ask(wire, "ping", {});
    return { ms: performance.now() - began, wire };
  }

  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  /** As after `kill -9`. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const daemon = this.#daemon;
    if (daemon === undefined) return;
    this.#daemon = undefined;
    const ended = once(daemon, "exit");
    if (daemon.kill(signal)) await ended;
  }

  async close(): Promise<void> {
    await this.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  get daemonPid(): number {
    return this.#daemon?.pid ?? 0;
  }

  /** Bytes, as the system counts them now. */
  get residentBytes(): number {
    return statusBytes(this.daemonPid, "VmRSS");
  }

  /** Another client. */
  async connect(): Promise<Wire> {
    const socket = join(this.dir, "run/crux/crux.sock");
    const end = performance.now() + START_MS;
    for (;;) {
      try {
        if (existsSync(socket)) return await Wire.open(socket);
      } catch {
        // not yet
      }
      if (performance.now() > end || this.#daemon?.exitCode !== null)
        throw new Error(
          `the daemon does not answer: ${readFileSync(join(this.state, "daemon.log"), "utf8")}`,
        );
      await new Promise((resolve) => setTimeout(resolve, TRY_MS));
    }
  }
}

export async function ask(wire: Wire, method: string, payload: unknown): Promise<Record<string, unknown>> {
  const reply = await wire.ask(method, payload);
  if (reply?.ok !== true) throw new Error(`${method}: ${JSON.stringify(reply)}`);
  return reply.payload ?? {};
}
