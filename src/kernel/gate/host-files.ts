/** Reads, writes and removes host files by system calls. The owner of the handle is responsible for its rights. */
import { createHash, type Hash } from "node:crypto";
import { type HostStat, O_RDONLY, O_RDWR, O_WRONLY } from "../../abi/device.ts";
import { codeOf } from "../../abi/errors.ts";
import type { FsRequest } from "../../abi/ops/fs.ts";
import type { Syscalls } from "../../abi/sys.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "../process/process.ts";
import type { Scope } from "./scope.ts";

/**
 * The state of a path in one comparable word. `unsaved`: a file too large to hash. `other`: neither file nor directory.
 */
export type EntryWord = "absent" | "directory" | "other" | "unsaved" | `sha256:${string}`;

const CHUNK_BYTES = 1024 * 1024;

export interface Look {
  readonly word: EntryWord;
  /** Permission bits of a file; 0 for anything else. */
  readonly mode: number;
  /** The content of a file of at most `textBytes`; null: too large, or not a file. */
  readonly content: Buffer | null;
}

/** What looking at files in the name of the kernel needs. */
export interface FileAccess {
  readonly ports: Pick<KernelPorts, "realPath">;
  readonly root: Process;
  handle(self: Process, scope: Scope, signal?: AbortSignal): Syscalls;
}

/** Files as the kernel sees them, limited to the effects of the scope. */
export function filesOf(core: FileAccess, scope: Scope, signal?: AbortSignal): HostFiles {
  return new HostFiles(core.ports, core.handle(core.root, scope, signal));
}

export class HostFiles {
  readonly #realPath: KernelPorts["realPath"];
  readonly #sys: Syscalls;

  constructor({ realPath }: Pick<KernelPorts, "realPath">, sys: Syscalls) {
    this.#realPath = realPath;
    this.#sys = sys;
  }

  /**
   * Also `other` if the path is or crosses a symlink: it leads elsewhere now. Includes contents of up to `textBytes`.
   */
  async look(path: string, textBytes = 0): Promise<Look> {
    const none = { mode: 0, content: null };
    if (this.#realPath(path) !== path) return { ...none, word: "other" };
    const stat = await this.#find(path);
    if (stat === undefined) return { ...none, word: "absent" };
    if (stat.kind === "directory") return { ...none, word: "directory" };
    if (stat.kind !== "file") return { ...none, word: "other" };
    const hash = createHash("sha256");
    const content = await this.#contentOf(path, hash, textBytes);
    return { word: `sha256:${hash.digest("hex")}`, mode: stat.mode, content };
  }

  /** Replaces the whole file atomically: after a crash either the old or the new content is there. */
  async put(path: string, bytes: Uint8Array): Promise<void> {
    const fd = await this.#sys.open(`/dev/fs${path}`, O_WRONLY);
    try {
      for (let at = 0; at < bytes.byteLength; at += CHUNK_BYTES)
        await this.#sys.write(fd, bytes.subarray(at, at + CHUNK_BYTES));
    } catch (error) {
      await this.#sys.close(fd).catch(() => {});
      throw error;
    }
    await this.#sys.close(fd);
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#ask(path, { op: "mkdir" });
  }

  /** Removes a file or an empty directory. CONFLICT: the directory is not empty. */
  async remove(path: string): Promise<void> {
    await this.#ask(path, { op: "remove" });
  }

  async #find(path: string): Promise<HostStat | undefined> {
    try {
      return (await this.#sys.stat(`/dev/fs${path}`)).host;
    } catch (error) {
      if (codeOf(error) === "NOT_FOUND") return undefined;
      throw error;
    }
  }

  async #contentOf(path: string, hash: Hash, textBytes: number): Promise<Buffer | null> {
    const fd = await this.#sys.open(`/dev/fs${path}`, O_RDONLY);
    const kept: Buffer[] = [];
    let size = 0;
    try {
      for (;;) {
        const chunk = await this.#sys.read(fd, CHUNK_BYTES);
        if (chunk.byteLength === 0) return size <= textBytes ? Buffer.concat(kept) : null;
        hash.update(chunk);
        size += chunk.byteLength;
        if (size <= textBytes) kept.push(Buffer.from(chunk));
      }
    } finally {
      await this.#sys.close(fd);
    }
  }

  async #ask(path: string, request: FsRequest): Promise<void> {
    const fd = await this.#sys.open(`/dev/fs${path}`, O_RDWR);
    try {
      await this.#sys.write(fd, Buffer.from(JSON.stringify(request)));
    } finally {
      await this.#sys.close(fd);
    }
  }
}
