/** A daemon of a world that is killed at a chosen moment of its journal (kill-point.cjs), and the moments that were met. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HEAP_FLAGS } from "../../src/wire/client/daemon.ts";
import { Wire } from "./wire.ts";
import type { World } from "./world.ts";

const MAIN = fileURLToPath(new URL("../../dist/main.cjs", import.meta.url));
const PRELOAD = fileURLToPath(new URL("./kill-point.cjs", import.meta.url));
const LOOK_EVERY_MS = 10;

export class DoomedDaemon {
  readonly #child: ChildProcess;
  readonly #world: World;
  /** Resolves when it is dead. */
  readonly over: Promise<unknown>;

  /** `moment` 0: it lives on. Counted from its start, or from `arm()` on. */
  constructor(world: World, moment: number, env: Record<string, string>, isArmed = true) {
    this.#world = world;
    rmSync(counterOf(world), { force: true });
    rmSync(armedOf(world), { force: true });
    if (isArmed) this.arm();
    const traps = {
      // as Node reads it: in quotes, with a backslash before what would end them
      NODE_OPTIONS: `--require ${JSON.stringify(PRELOAD)}`,
      CRUX_TEST_KILL_AT: String(moment),
      CRUX_TEST_KILL_LOG: momentsOf(world),
      CRUX_TEST_KILL_COUNTER: counterOf(world),
      CRUX_TEST_KILL_FROM: armedOf(world),
    };
    // started as clients do: with other flags Node would compile all of it again, and one that is killed keeps nothing of that
    this.#child = spawn(process.execPath, [...HEAP_FLAGS, MAIN, "daemon", "--internal"], {
      cwd: "/",
      // it is no fault of the daemon's that it dies so often
      env: { ...world.env, ...env, CRUX_SAFE_MODE_AFTER: "0", ...(moment === 0 ? {} : traps) },
      stdio: "ignore",
      detached: true,
    });
    this.over = once(this.#child, "exit");
  }

  arm(): void {
    writeFileSync(armedOf(this.#world), "");
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get end(): string {
    return this.#child.signalCode ?? String(this.#child.exitCode);
  }

  /** A connection once it serves; undefined: it died before. */
  async connect(): Promise<Wire | undefined> {
    while (!this.isOver) {
      if (existsSync(this.#world.socket)) {
        try {
          return await Wire.open(this.#world.socket);
        } catch {
          // the socket of the one before
        }
      }
      await Promise.race([this.over, new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))]);
    }
    return undefined;
  }

  async kill(): Promise<void> {
    if (!this.isOver) this.#child.kill("SIGKILL");
    await this.over;
  }
}

/** What each kill met: `before commit`, `after sync`, … */
export function momentsMet(world: World): readonly string[] {
  const path = momentsOf(world);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

const momentsOf = (world: World): string => join(world.dir, "moments");
const armedOf = (world: World): string => join(world.dir, "armed");
const counterOf = (world: World): string => join(world.dir, "counter");
