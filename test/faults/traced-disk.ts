/**
 * What a power cut would leave of a folder: strace records every call that changes a file, with its bytes, and every sync.
 * From that the folder is made again as it was on the disk at any moment. Strictly: a write counts once a sync of its file
 * that began after it has ended, a name once its folder was synced. Or with any of what was not synced, as real disks do.
 * Folders themselves count as soon as they are made. The memory-mapped index of SQLite's log is left out: it is made again.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const CALLS = "openat,write,writev,pwrite64,pwritev,sendto,sendmsg,fsync,fdatasync,ftruncate,rename,unlink";
/** Larger writes would be cut short, and a call that cannot be read back ends the test. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The command and all it starts, recorded in the file `log`. */
export function traced(log: string, argv: readonly string[], options: SpawnOptions): ChildProcess {
  const how = ["-f", "--seccomp-bpf", "-y", "-xx", "-s", `${MAX_BYTES}`, "-e", `trace=${CALLS}`];
  return spawn("strace", [...how, "-e", "signal=none", "-o", log, "--", ...argv], options);
}

/** A call that succeeded. `from`, `to`: where it began and ended, in the order of everything that was recorded. */
export interface TracedCall {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** The file of its descriptor, or the first path that it names. */
  readonly path: string;
  readonly flags: string;
  /** All texts among its arguments. */
  readonly bytes: readonly Buffer[];
  readonly result: number;
  /** Its last number: the offset of a pwrite64, the length of an ftruncate. */
  readonly last: number;
}

export function callsIn(log: string): readonly TracedCall[] {
  const begun = new Map<string, { readonly text: string; readonly from: number }>();
  return readFileSync(log, "latin1")
    .split("\n")
    .flatMap((line, at): TracedCall | [] => {
      const [, thread = "", text = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
      const cut = text.indexOf(" <unfinished ...>");
      if (cut >= 0) {
        begun.set(thread, { text: text.slice(0, cut), from: at });
        return [];
      }
      const resumed = /^<\.\.\. \w+ resumed>/.exec(text);
      const before = resumed === null ? undefined : begun.get(thread);
      if (resumed !== null && before === undefined) return [];
      const whole = before === undefined ? text : before.text + text.slice(resumed?.[0].length);
      return callOf(whole, { from: before?.from ?? at, to: at });
    });
}

function callOf(text: string, when: { from: number; to: number }): TracedCall | [] {
  const [, name, args, given] = /^(\w+)\((.*)\) += (\d+)/.exec(text) ?? [];
  if (name === undefined || args === undefined) return [];
  if (args.includes('"...')) throw new Error(`a call was recorded in part: ${text.slice(0, 80)}`);
  const bytes = [...args.matchAll(/"([^"]*)"/g)].map(([, hex = ""]) => decoded(hex));
  const ofFd = /^\d+<([^>]*)>/.exec(args)?.[1];
  const path = (ofFd === undefined ? (bytes[0] ?? Buffer.alloc(0)) : decoded(ofFd)).toString();
  const last = Number(/(\d+)$/.exec(args)?.[1] ?? 0);
  return { ...when, name, path, flags: args.replace(/"[^"]*"/g, ""), bytes, result: Number(given), last };
}

function decoded(hex: string): Buffer {
  return Buffer.from(hex.replaceAll("\\x", ""), "hex");
}

interface Change {
  readonly to: number;
  /** Bytes at an offset; or a new length. */
  readonly bytes?: Buffer;
  readonly at: number;
}

class TracedFile {
  #synced = Buffer.alloc(0);
  #later: Change[] = [];
  /** Where the next write without an offset goes. */
  end = 0;

  change(change: Change): void {
    this.#later.push(change);
    this.end = change.bytes === undefined ? change.at : Math.max(this.end, change.at + change.bytes.length);
  }

  sync(from: number): void {
    this.#synced = this.#later.filter(({ to }) => to < from).reduce(changed, this.#synced);
    this.#later = this.#later.filter(({ to }) => to >= from);
  }

  content(isKept: () => boolean): Buffer {
    return this.#later.filter(isKept).reduce(changed, this.#synced);
  }
}

function changed(content: Buffer, { bytes, at }: Change): Buffer<ArrayBuffer> {
  const length = bytes === undefined ? at : Math.max(content.length, at + bytes.length);
  const next = Buffer.alloc(length);
  content.copy(next, 0, 0, length);
  bytes?.copy(next, at);
  return next;
}

export class TracedDisk {
  readonly #root: string;
  readonly #names = new Map<string, TracedFile>();
  #synced = new Map<string, TracedFile>();

  /** `root`: the folder that is made again. Files in it that no recorded call made are left out. */
  constructor(root: string) {
    this.#root = `${root}/`;
  }

  /** In the order in which they ended. */
  take(call: TracedCall): void {
    const { name, path, bytes, result, last, from, to } = call;
    if (name.endsWith("sync")) this.#sync(path, from);
    if (!path.startsWith(this.#root) || path.endsWith("-shm")) return;
    const file = this.#names.get(path);
    const text = Buffer.concat(bytes).subarray(0, result);
    if (name === "openat") this.#open(call);
    else if (name === "unlink") this.#names.delete(path);
    else if (name === "rename" && file !== undefined) this.#rename(path, String(bytes[1]), file);
    else if (name === "ftruncate") file?.change({ to, at: last });
    else if (name === "pwrite64") file?.change({ to, bytes: text, at: last });
    else if (name === "write" || name === "writev") file?.change({ to, bytes: text, at: file.end });
  }

  /** Writes the folder as it is on the disk now. `isKept`: whether one more of the changes that were not synced is on it. */
  writeTo(dir: string, isKept: () => boolean): void {
    const names = new Map(this.#synced);
    for (const [path, file] of this.#names) if (isKept()) names.set(path, file);
    for (const [path, file] of names) {
      const copy = join(dir, path.slice(this.#root.length));
      mkdirSync(dirname(copy), { recursive: true });
      writeFileSync(copy, file.content(isKept), { mode: 0o600 });
    }
  }

  #open({ path, flags, to }: TracedCall): void {
    const file = this.#names.get(path);
    if (file === undefined && flags.includes("O_CREAT")) this.#names.set(path, new TracedFile());
    if (flags.includes("O_TRUNC")) file?.change({ to, at: 0 });
  }

  #rename(from: string, to: string, file: TracedFile): void {
    this.#names.delete(from);
    this.#names.set(to, file);
  }

  /** Of a file, or of the names in a folder. */
  #sync(path: string, from: number): void {
    this.#names.get(path)?.sync(from);
    const isIn = (name: string) => dirname(name) === path;
    if (`${path}/`.startsWith(this.#root))
      this.#synced = new Map([
        ...[...this.#synced].filter(([name]) => !isIn(name)),
        ...[...this.#names].filter(([name]) => isIn(name)),
      ]);
  }
}
