/** The user's settings in a daemon that goes on while their file is edited. */
import { join } from "node:path";
import type { Settings } from "../../abi/settings/settings.ts";
import type { Log } from "../../wire/server/deps.ts";
import { readSettingsFile } from "./settings.ts";
import { fileStamp } from "./sources.ts";

export class OwnSettings {
  readonly #file: string;
  readonly #log: Log;
  #stamp = "";
  #settings: Settings = {};
  #problems: readonly string[] = [];

  constructor(configDir: string, log: Log) {
    this.#file = join(configDir, "settings.json");
    this.#log = log;
    this.read();
  }

  /** Without invalid values. */
  get settings(): Settings {
    return this.#settings;
  }

  /** One line per problem: file, path of the key, what is wrong. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Reads the file. What cannot be read at all, as a file that an editor is saving, leaves the settings as they are. */
  read(): void {
    // taken first: a file that changes while it is read is read again
    this.#stamp = fileStamp(this.#file);
    const { settings, problems, digest } = readSettingsFile(this.#file);
    for (const problem of problems) this.#log("warn", problem);
    this.#problems = problems;
    if (digest !== null || problems.length === 0) this.#settings = settings;
  }

  /** False: the file is the one that was read. */
  readIfChanged(): boolean {
    if (fileStamp(this.#file) === this.#stamp) return false;
    this.read();
    return true;
  }
}
