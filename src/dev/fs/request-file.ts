/** /dev/fs opened for requests: takes one JSON object, returns its answer. */
import { lstatSync } from "node:fs";
import type { Act, Caller, FileStat, OpenFile, WritePlan } from "../../abi/device.ts";
import type { Pid } from "../../abi/ids.ts";
import type { FsRequest } from "../../abi/ops/fs.ts";
import type { RealPath } from "../../kernel/ports/host.ts";
import { ABORTED } from "../../lib/abort.ts";
import { isWithin } from "../../lib/path.ts";
import { Answer, jsonBytes } from "../answer.ts";
import { driverError, hostError, throwIfAborted } from "../driver-error.ts";
import { Announcer } from "./announce.ts";
import { readBuffer, writeBuffer } from "./buffer.ts";
import type { Target } from "./byte-files.ts";
import { checkCovered } from "./covered.ts";
import type { EditorFiles } from "./editors.ts";
import { listTree } from "./list.ts";
import type { PathLocks } from "./locks.ts";
import { entryPath, makeDirectory, readPart, removeEntry, renameEntry } from "./ops.ts";
import { otherPath } from "./path.ts";
import { readPdf } from "./pdf.ts";
import { type CheckRoom, replaceFile } from "./replace.ts";
import { parseRequest, planOf } from "./request.ts";
import type { Ripgrep } from "./ripgrep.ts";
import { Search } from "./search.ts";
import { statEntry } from "./stat.ts";

export interface FsParts {
  readonly locks: PathLocks;
  readonly realPath: RealPath;
  readonly ripgrep: Ripgrep;
  readonly isSecret: (path: string) => boolean;
  /** The editor that shows the files of a process. Absent: no editors. */
  readonly editorOf?: ((pid: Pid) => EditorFiles | undefined) | undefined;
  /** BUDGET: the folder of the path may not hold what lies there now without `less`. Absent: there is no bound. */
  readonly checkRoom?: CheckRoom | undefined;
}

const done = { ok: true } as const;

const READ = { kind: "read" } as const;
const SEARCH = { kind: "read", how: "subtree" } as const;
const WRITE = { kind: "write" } as const;
const REMOVE = { kind: "write", how: "delete" } as const;
/** What each request does at its place. */
const ACTING = {
  ...{ read: READ, pdf: READ, stat: READ, list: READ, grep: SEARCH, files: SEARCH },
  ...{ write: WRITE, mkdir: WRITE, remove: REMOVE, rename: REMOVE },
} as const;
/** The path was at another place when its request was planned. */
const NOWHERE = { covers: () => false };

/** The parts of the gate's act that a write in progress needs. */
type Under = Pick<Act, "signal" | "callId" | "covers">;

/** The target that a path leads to, and the entry that it names: for a link they differ. */
interface Place {
  readonly real: string;
  readonly entry: string;
  /** Of a rename: the entry that it makes. */
  readonly to?: string;
}

export class RequestFile implements OpenFile {
  readonly #path: string;
  readonly #caller: Caller;
  readonly #parts: FsParts;
  readonly #answer = new Answer("fs");
  readonly #closed = new AbortController();
  readonly stat: () => Promise<FileStat>;
  /** The permitted request: its path must lead to the same place when it is performed. */
  #planned: ({ bytes: Uint8Array; request: FsRequest } & Place) | undefined;

  constructor({ path, stat }: Pick<Target, "path" | "stat">, caller: Caller, parts: FsParts) {
    this.#path = path;
    this.#caller = caller;
    this.#parts = parts;
    this.stat = stat;
  }

  plan(bytes: Uint8Array): WritePlan {
    const request = parseRequest(bytes);
    const place = this.#place(request);
    this.#planned = { bytes, request, ...place };
    const { realPath } = this.#parts;
    const entryOf = (path: string) => (path === this.#path ? place.entry : (place.to ?? path));
    const exists = (path: string) => isThere(path) || isThere(realPath(path));
    return planOf(request, { path: this.#path, cwd: this.#caller.cwd, exists, entryOf });
  }

  #place(request: FsRequest): Place {
    const { realPath } = this.#parts;
    const place = { real: realPath(this.#path), entry: entryPath(this.#path, realPath) };
    if (request.op !== "rename") return place;
    return { ...place, to: entryPath(otherPath(request.to, this.#caller.cwd), realPath) };
  }

  async write(bytes: Uint8Array, act: Under): Promise<void> {
    this.#answer.expectRequest();
    const planned = this.#planned?.bytes === bytes ? this.#planned : undefined;
    this.#planned = undefined;
    const signal = AbortSignal.any([act.signal, this.#closed.signal]);
    throwIfAborted(signal, "Write");
    try {
      const request = planned?.request ?? parseRequest(bytes);
      const place = this.#place(request);
      const isPlanned = planned === undefined || isSame(planned, place);
      checkCovered(
        isPlanned ? act : NOWHERE,
        { ...ACTING[request.op], path: this.#path, real: place.real },
        "Write",
      );
      if (place.to !== undefined)
        checkCovered(act, { kind: "write", path: place.to, real: place.to }, "Write");
      this.#answer.set(await this.#do(request, place, { ...act, signal }));
    } catch (error) {
      throw hostError("Write", this.#path, error);
    }
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    throwIfAborted(signal, "Read");
    return this.#answer.take(length);
  }

  async close(): Promise<void> {
    this.#closed.abort(ABORTED);
    this.#answer.clear();
  }

  async #do(request: FsRequest, at: Place, act: Under): Promise<Uint8Array> {
    const { signal } = act;
    const { real } = at;
    const { ripgrep, isSecret } = this.#parts;
    const place = { real, roots: this.#caller.roots, owner: `pid ${this.#caller.pid} rg`, isSecret };
    const search = new Search(ripgrep, place, signal);
    switch (request.op) {
      case "read":
        return this.#read(real, request, signal);
      case "pdf":
        return jsonBytes(await readPdf(real, request, signal));
      case "stat":
        return jsonBytes(await statEntry(real));
      case "list":
        return jsonBytes(await listTree(real, request, signal));
      case "grep":
        return jsonBytes(await search.grep(request));
      case "files":
        return jsonBytes(await search.files(request));
      default:
        return jsonBytes(await this.#change(request, at, act));
    }
  }

  #read(real: string, request: Extract<FsRequest, { op: "read" }>, signal: AbortSignal): Promise<Uint8Array> {
    const editor = this.#editorAt(real);
    return editor === undefined
      ? readPart(real, request, signal)
      : readBuffer(editor, { real, request }, signal);
  }

  /** An editor has a say only in the folders that the process works in. */
  #editorAt(real: string): EditorFiles | undefined {
    const { editorOf, realPath } = this.#parts;
    const editor = editorOf?.(this.#caller.pid);
    if (editor === undefined) return undefined;
    return this.#caller.roots.some((root) => isWithin(realPath(root), real)) ? editor : undefined;
  }

  #change(
    request: Extract<FsRequest, { op: "write" | "mkdir" | "remove" | "rename" }>,
    { real, entry, to }: Place,
    { signal, callId: call }: Under,
  ): Promise<unknown> {
    const { locks, checkRoom } = this.#parts;
    const { changing } = this.#caller;
    const announcer = new Announcer(changing, call);
    switch (request.op) {
      case "write": {
        const want = {
          content: contentOf(request),
          append: request.append === true,
          expect: request.expect,
          mkdirs: request.mkdirs === true,
          part: request.part,
          changing,
          call,
          checkRoom,
        };
        return locks.hold(real, signal, async () => {
          const editor = this.#editorAt(real);
          const written = editor && (await writeBuffer(editor, { real, want }, signal));
          return written ?? replaceFile(real, want, signal);
        });
      }
      case "mkdir":
        return locks.hold(real, signal, async () => {
          await checkRoom?.(real, { bytes: 0, entries: -1 });
          await announcer.made(real);
          await makeDirectory(real);
          return done;
        });
      case "remove":
        return locks.hold(entry, signal, async () => {
          await announcer.gone(entry);
          await removeEntry(entry);
          return done;
        });
      case "rename": {
        if (to === undefined) throw new Error("a rename has a place to go to");
        return locks.holdAll([entry, to], signal, async () => {
          await checkRoom?.(to, { bytes: 0, entries: -1 });
          await announcer.moved(entry, to);
          await renameEntry(entry, to);
          return done;
        });
      }
    }
  }
}

function isSame(planned: Place, now: Place): boolean {
  return planned.real === now.real && planned.entry === now.entry && planned.to === now.to;
}

function contentOf(request: Extract<FsRequest, { op: "write" }>): Uint8Array {
  if (request.encoding !== "base64") return Buffer.from(request.content, "utf8");
  const bytes = Buffer.from(request.content, "base64");
  if (bytes.toString("base64") !== request.content)
    throw driverError("Write", "INVALID", "fs: write.content: is not base64");
  return bytes;
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
