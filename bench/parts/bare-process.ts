/** The bare loop as a process of its own: plain JavaScript on the project's Node, without the memory of a type stripper. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { NODE } from "./place.ts";

const SOURCE = fileURLToPath(new URL("../bare-loop.ts", import.meta.url));

/** The program, written below `dir`. */
export function bareProgram(dir: string): string {
  const path = join(dir, "bare-loop.mjs");
  writeFileSync(path, transformSync(readFileSync(SOURCE, "utf8"), { loader: "ts", format: "esm" }).code);
  return path;
}

/** One that stays, warm as a daemon is. */
export class BareProcess {
  readonly #child: ChildProcess;

  constructor(program: string) {
    this.#child = spawn(NODE, [program], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async run(baseUrl: string, calls: number): Promise<number> {
    this.#child.send({ baseUrl, calls });
    const [ms] = (await once(this.#child, "message")) as [number];
    return ms;
  }

  async close(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }
}
