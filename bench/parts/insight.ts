/** What a daemon that has parts/inside.ts in it tells of itself: its memory, and where its time goes. */
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import type { InsideMemory, InsideProfile } from "./inside.ts";
import type { Profile } from "./profile.ts";

const SOURCE = fileURLToPath(new URL("./inside.ts", import.meta.url));

export class Insight {
  readonly #socket: string;
  /** For the environment of a daemon. */
  readonly env: Record<string, string>;

  /** Its files lie below `dir`. As plain JavaScript: a stripper of types would be in the memory that is looked at. */
  constructor(dir: string) {
    const program = join(dir, "inside.cjs");
    writeFileSync(program, transformSync(readFileSync(SOURCE, "utf8"), { loader: "ts", format: "cjs" }).code);
    this.#socket = join(dir, "inside.sock");
    this.env = { NODE_OPTIONS: `--require ${program}`, CRUX_BENCH_INSIDE: this.#socket };
  }

  memory(): Promise<InsideMemory> {
    return this.#ask("memory");
  }

  /** Of its main thread while `act` runs. */
  async profiled(act: () => Promise<unknown>): Promise<Profile> {
    await this.#ask("profile");
    await act();
    return (await this.#ask<InsideProfile>("profiled")).profile;
  }

  async #ask<T>(what: string): Promise<T> {
    const connection = connect(this.#socket);
    connection.write(`${what}\n`);
    return JSON.parse(await text(connection)) as T;
  }
}
