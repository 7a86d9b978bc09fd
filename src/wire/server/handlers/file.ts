/** The kernel's own tree for the user: read with the handle of pid 0, through the gate like everything else. */
import { posix } from "node:path";
import { O_RDONLY } from "../../../abi/device.ts";
import { codeOf, Fault } from "../../../abi/errors.ts";
import type { Result } from "../../../abi/methods/methods.ts";
import type { Syscalls } from "../../../abi/sys.ts";
import type { KernelApi } from "../../../kernel/ports/kernel-api.ts";
import type { Handler } from "../handler.ts";

type Entry = Result<"file.list">["entries"][number];

const MAX_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const MAX_ENTRIES = 1_000;
/** Paths below these have content; devices elsewhere only answer writes. */
const READABLE = ["/proc", "/mnt", "/bin", "/var", "/dev/null"];
/** The one file of a driver. */
const QUEUE = /^\/dev\/llm\/[^/]+\/queue$/;

export const fileRead: Handler<"file.read"> = async ({ path: given }, { kernel, deps, ended }) => {
  const path = posix.normalize(given);
  if (!isReadable(path)) throw notAFile(path);
  const tool = await findTool(kernel.init, path);
  const { bytes, truncated } =
    tool === undefined ? await readFile(kernel.init, path, ended) : { bytes: tool, truncated: false };
  const shown = deps.redacted?.(bytes) ?? bytes;
  return { payload: { path, base64: Buffer.from(shown).toString("base64"), truncated } };
};

export const fileList: Handler<"file.list"> = async ({ path: given, sizes = false }, call) => {
  const { kernel, ended } = call;
  const path = posix.normalize(given).replace(/(?<=.)\/$/, "");
  const names = mountedBelow(kernel, path) ?? (await namesIn(kernel.init, path, ended));
  const shown = names.slice(0, MAX_ENTRIES);
  const entries: Entry[] = [];
  for (const name of shown) {
    ended.throwIfAborted();
    entries.push({ name, ...(await kindOf(kernel, path === "/" ? `/${name}` : `${path}/${name}`, sizes)) });
  }
  return { payload: { path, entries, more: names.length - shown.length } };
};

/** The description of a program, which cannot be read but only called. */
async function findTool(sys: Syscalls, path: string): Promise<Uint8Array | undefined> {
  const { tool } = await sys.stat(path);
  return tool === undefined ? undefined : Buffer.from(`${JSON.stringify(tool, null, 2)}\n`);
}

async function readFile(sys: Syscalls, path: string, signal: AbortSignal) {
  const fd = await sys.open(path, O_RDONLY, signal);
  try {
    const chunks: Uint8Array[] = [];
    for (let left = MAX_BYTES + 1; left > 0; ) {
      const chunk = await sys.read(fd, Math.min(CHUNK_BYTES, left), signal);
      if (chunk.byteLength === 0) break;
      chunks.push(chunk);
      left -= chunk.byteLength;
    }
    const bytes = Buffer.concat(chunks);
    return { bytes: bytes.subarray(0, MAX_BYTES), truncated: bytes.byteLength > MAX_BYTES };
  } finally {
    await sys.close(fd);
  }
}

/**
 * The names below a path that come from mounts; undefined: nothing is mounted below it, or it is itself a device with
 * files.
 */
function mountedBelow(kernel: KernelApi, path: string): readonly string[] | undefined {
  const mounts = [...kernel.listDevices(), ...kernel.listMounts().map((mount) => mount.path)];
  if (mounts.includes(path)) return undefined;
  const prefix = path === "/" ? "/" : `${path}/`;
  const below = mounts.filter((mount) => mount.startsWith(prefix));
  const isKept = path === "/mnt" || path === "/mnt/mcp";
  if (below.length === 0 && !isKept) return undefined;
  const names = below.map((mount) => mount.slice(prefix.length).split("/")[0] ?? "");
  return [...new Set([...names, ...(path === "/mnt" ? ["mcp"] : path === "/" ? ["mnt"] : [])])].sort();
}

/** A directory of the kernel reads as a JSON list: of names, of pids, or of objects with a name. */
async function namesIn(sys: Syscalls, path: string, signal: AbortSignal): Promise<readonly string[]> {
  if (!isReadable(path)) throw notAFile(path);
  const { bytes } = await readFile(sys, path, signal);
  const value = parsed(bytes);
  if (!Array.isArray(value))
    throw new Fault({
      code: "INVALID",
      message: `not a directory: ${path}`,
      fact: { kind: "tree_file", path },
    });
  return value.map((item: unknown) =>
    typeof item === "object" && item !== null && "name" in item ? String(item.name) : String(item),
  );
}

async function kindOf(kernel: KernelApi, path: string, isSized: boolean): Promise<Omit<Entry, "name">> {
  if (mountedBelow(kernel, path) !== undefined || isDirectory(path)) return { kind: "directory" };
  if (kernel.listMounts().some((mount) => mount.path === path)) return { kind: "directory" };
  if (!isReadable(path)) return { kind: "device" };
  if (!isSized) return { kind: "file" };
  try {
    const { size, isDevice } = await kernel.init.stat(path);
    return isDevice ? { kind: "device" } : { kind: "file", size };
  } catch (error) {
    // it disappeared while the others were examined
    if (codeOf(error) === "NOT_FOUND") return { kind: "file" };
    throw error;
  }
}

function isDirectory(path: string): boolean {
  return (
    ["/proc", "/bin", "/var/out", "/var/tasks"].includes(path) ||
    /^\/proc\/(?:\d+|self)$|^\/mnt\/mcp\/[^/]+\/(?:tools|resources)$/.test(path)
  );
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}

function isReadable(path: string): boolean {
  return READABLE.some((root) => isWithin(path, root)) || QUEUE.test(path);
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}

function notAFile(path: string): Fault {
  const isHost = path.startsWith("/dev/fs/");
  return new Fault({
    code: "INVALID",
    message: path.startsWith("/dev/")
      ? `${path} is a device: it answers what an agent writes to it`
      : `not a path of the kernel's tree: ${path}`,
    fact: isHost ? { kind: "host_file", path: path.slice("/dev/fs".length) } : { kind: "no_tree_path" },
  });
}
