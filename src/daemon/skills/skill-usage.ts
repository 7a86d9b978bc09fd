/** How often each skill was used, and when last: for the order of the list. Kept in the state directory. */
import { existsSync, readFileSync } from "node:fs";
import * as z from "zod";
import { messageOf } from "../../abi/errors.ts";
import { isNotGiven, writeAtomically } from "../atomic-file.ts";

/** Beyond these, those of the lowest score are dropped. */
const MAX_NAMES = 1_000;
/** A skill counts at most once in this time. */
const ONCE_MS = 60_000;
const DAY_MS = 86_400_000;
const HALF_LIFE_DAYS = 7;

const Usage = z.record(z.string().max(256), z.strictObject({ count: z.int().min(1), at: z.number() }));
type Usage = z.infer<typeof Usage>;

interface UsageOptions {
  readonly file: string;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly warn: (line: string) => void;
}

export class SkillUsage {
  readonly #options: UsageOptions;
  #usage: Usage | null = null;

  constructor(options: UsageOptions) {
    this.#options = options;
  }

  used(name: string): void {
    const usage = this.#load();
    if (usage === null) return;
    const now = this.#options.now();
    const { count = 0, at = -Infinity } = usage[name] ?? {};
    if (now - at < ONCE_MS) return;
    usage[name] = { count: count + 1, at: now };
    this.#keep(usage);
  }

  /** 0: it was never used. A use counts half after a week, and never less than a tenth. */
  score(name: string): number {
    const { count, at } = this.#load()?.[name] ?? { count: 0, at: 0 };
    const days = Math.max(0, this.#options.now() - at) / DAY_MS;
    return count * Math.max(0.5 ** (days / HALF_LIFE_DAYS), 0.1);
  }

  /** null: the host does not give the file now. */
  #load(): Usage | null {
    this.#usage ??= read(this.#options.file);
    return this.#usage;
  }

  #keep(usage: Usage): void {
    const names = Object.keys(usage);
    if (names.length > MAX_NAMES) {
      const order = names.sort((a, b) => this.score(b) - this.score(a));
      for (const name of order.slice(MAX_NAMES)) delete usage[name];
    }
    try {
      writeAtomically(this.#options.file, `${JSON.stringify(usage)}\n`, 0o600);
    } catch (error) {
      this.#options.warn(`skills: their use was not kept: ${messageOf(error)}`);
    }
  }
}

/** A file that is missing or broken counts as empty: only an order depends on it. null: it could not be read. */
function read(file: string): Usage | null {
  try {
    return Usage.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    return isNotGiven(error) && existsSync(file) ? null : {};
  }
}
