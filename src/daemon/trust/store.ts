/**
 * The user's decisions on workspaces: `trust.json` in the state directory, 0600, replaced as a whole. The texts that
 * the user has seen are stored beside it by digest, so that a change can be shown. Only one daemon writes; a file that
 * is invalid or not private is put aside, and one that cannot be read is left alone and tried again.
 */
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, type Stats } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { Fault, messageOf } from "../../abi/errors.ts";
import { isNotGiven, writeAtomically } from "../atomic-file.ts";

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const TrustRecord = z.strictObject({
  root: z.string().startsWith("/"),
  /** ms since the epoch. */
  at: z.int(),
  by: z.string(),
  digests: z.record(z.string(), digest),
});
export type TrustRecord = z.infer<typeof TrustRecord>;

const TrustFile = z.strictObject({
  v: z.literal(1),
  workspaces: z.array(TrustRecord),
  /** By root: the digest of everything that the user has seen and declined. */
  declined: z.record(z.string(), digest),
});
type TrustFile = z.infer<typeof TrustFile>;

const MAX_WORKSPACES = 2000;
/** The most declined workspaces that are remembered; the oldest are forgotten and asked about again. */
const MAX_DECLINED = 2000;
const MAX_BYTES = 64 * 1024 * 1024;
const EMPTY: TrustFile = { v: 1, workspaces: [], declined: {} };

interface TrustStoreOptions {
  readonly stateDir: string;
  /** false: the state directory cannot be written; a write is then UNAVAILABLE. */
  readonly isWritable: boolean;
  readonly warn: (line: string) => void;
  /** Absent: as the host has it. */
  readonly readText?: (path: string) => string;
}

export class TrustStore {
  readonly #options: TrustStoreOptions;
  readonly #file: string;
  readonly #texts: string;
  #last: TrustFile;
  /** Why the host did not give the file; undefined: it did. */
  #notGiven: string | undefined;
  #revision = 0;

  constructor(options: TrustStoreOptions) {
    this.#options = options;
    this.#file = join(options.stateDir, "trust.json");
    this.#texts = join(options.stateDir, "trust");
    this.#last = this.#read();
    // what is not known to be named would go
    if (options.isWritable && this.#notGiven === undefined) this.#sweep();
  }

  /** Changes with each decision of the user. */
  get revision(): number {
    return this.#revision;
  }

  get #content(): TrustFile {
    if (this.#notGiven === undefined) return this.#last;
    this.#last = this.#read();
    if (this.#notGiven === undefined) this.#revision++;
    return this.#last;
  }

  list(): readonly TrustRecord[] {
    return this.#content.workspaces;
  }

  find(root: string): TrustRecord | undefined {
    return this.#content.workspaces.find((record) => record.root === root);
  }

  declined(root: string): string | undefined {
    return Object.hasOwn(this.#content.declined, root) ? this.#content.declined[root] : undefined;
  }

  /** `texts`: what the user has seen, by digest. Durable when it returns; nothing has changed when it throws. */
  put(record: TrustRecord, texts: ReadonlyMap<string, string>): void {
    const others = this.#content.workspaces.filter(({ root }) => root !== record.root);
    if (others.length >= MAX_WORKSPACES)
      throw new Fault({
        code: "INVALID",
        message: `more than ${MAX_WORKSPACES} trusted workspaces`,
        fact: { kind: "trust_full" },
      });
    const { [record.root]: _, ...declined } = this.#content.declined;
    this.#write({ v: 1, workspaces: [...others, record], declined }, texts);
  }

  decline(root: string, seen: string): void {
    const { [root]: _, ...others } = this.#content.declined;
    const kept = Object.entries(others).slice(1 - MAX_DECLINED);
    this.#write({ ...this.#content, declined: { ...Object.fromEntries(kept), [root]: seen } });
  }

  remove(root: string): boolean {
    const workspaces = this.#content.workspaces.filter((record) => record.root !== root);
    if (workspaces.length === this.#content.workspaces.length) return false;
    this.#write({ ...this.#content, workspaces });
    return true;
  }

  /** The text as the user saw it; undefined: it was not stored, or has changed. */
  textOf(sha256: string): string | undefined {
    try {
      const text = readFileSync(join(this.#texts, sha256), "utf8");
      return createHash("sha256").update(text).digest("hex") === sha256 ? text : undefined;
    } catch {
      return undefined;
    }
  }

  /** Writes the texts first, so that everything the file names exists. */
  #write(content: TrustFile, texts: ReadonlyMap<string, string> = new Map()): void {
    if (!this.#options.isWritable)
      throw new Fault({ code: "UNAVAILABLE", message: `${this.#file} cannot be written now` });
    if (this.#notGiven !== undefined)
      throw new Fault({
        code: "UNAVAILABLE",
        message: `${this.#file} cannot be read: ${this.#notGiven}; nothing has changed`,
      });
    try {
      if (texts.size > 0) mkdirSync(this.#texts, { recursive: true, mode: 0o700 });
      for (const [sha256, text] of texts)
        if (this.textOf(sha256) === undefined) writeAtomically(join(this.#texts, sha256), text, 0o600);
      writeAtomically(this.#file, `${JSON.stringify(content, null, 2)}\n`, 0o600);
    } catch (error) {
      const message = `${this.#file} could not be written: ${messageOf(error)}; nothing has changed`;
      throw new Fault({ code: "UNAVAILABLE", message, cause: error });
    }
    this.#last = content;
    this.#revision++;
  }

  #read(): TrustFile {
    const before = this.#notGiven;
    this.#notGiven = undefined;
    try {
      const stats = lstatSync(this.#file, { throwIfNoEntry: false });
      if (stats === undefined) return EMPTY;
      const wrong = problemOf(stats);
      if (wrong !== null) throw new Error(wrong);
      const text = this.#options.readText?.(this.#file) ?? readFileSync(this.#file, "utf8");
      return TrustFile.parse(JSON.parse(text));
    } catch (error) {
      const why = messageOf(error);
      if (isNotGiven(error)) this.#notGiven = why;
      if (this.#notGiven === undefined || before === undefined)
        this.#options.warn(`no workspace is trusted: ${this.#file}: ${why}${this.#putAside()}`);
      return EMPTY;
    }
  }

  /** The words for it; "": it stays. */
  #putAside(): string {
    if (!this.#options.isWritable || this.#notGiven !== undefined) return "";
    const kept = `${this.#file}.unread`;
    renameSync(this.#file, kept);
    return `; it is ${kept} now`;
  }

  /** Removes temporary files of a killed daemon, and texts that are no longer needed. */
  #sweep(): void {
    for (const name of namesIn(this.#options.stateDir))
      if (/^\.trust\.json\.[0-9a-f]{16}$/.test(name)) rmSync(join(this.#options.stateDir, name));
    const named = new Set(this.#content.workspaces.flatMap(({ digests }) => Object.values(digests)));
    for (const name of namesIn(this.#texts))
      if (!named.has(name)) rmSync(join(this.#texts, name), { recursive: true, force: true });
  }
}

function problemOf(stats: Stats): string | null {
  if (!stats.isFile()) return "not a regular file";
  if (stats.uid !== process.getuid?.() || (stats.mode & 0o022) !== 0)
    return "it must belong to you and be writable by nobody else";
  return stats.size > MAX_BYTES ? `over ${MAX_BYTES} bytes` : null;
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
