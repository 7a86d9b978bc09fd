/**
 * Crux's own tree (/proc, /var/out, /mnt/mcp) as tools show it. Its directories read as JSON lists; the gate knows the
 * effects of reading each file.
 */
import { codeOf, messageOf } from "../abi/errors.ts";
import { failure } from "./failure.ts";
import { type Io, readCruxFile } from "./files.ts";

const SERVERS = "/mnt/mcp";
const LIST_BYTES = 16 * 1024 * 1024;
/** JSON on a longer line is pretty-printed, so that pages and searches have lines. */
const LINE_CHARS = 2_000;

/** The list of a server's tools can also be read as a file: it contains the full description of each. */
export function isCruxDirectory(path: string): boolean {
  return /^\/(proc|var\/out|mnt\/mcp)$|^\/proc\/[^/]+$|^\/mnt\/mcp\/[^/]+(\/(tools|resources))?$/.test(path);
}

/** Names of a directory, as used in paths. INVALID: not a directory. */
export async function cruxNames(io: Io, path: string): Promise<readonly string[]> {
  const isOfServers = path === SERVERS;
  const bytes = isCruxDirectory(path)
    ? await read(io, isOfServers ? "/proc/self/servers" : path, LIST_BYTES)
    : Buffer.alloc(0);
  const list = parsed(bytes);
  if (!Array.isArray(list)) throw failure("INVALID", `not a directory: ${path}`, "Use view to read it");
  if (isOfServers) return list.map(({ path: at }: { path: string }) => at.slice(SERVERS.length + 1));
  return list.map((item: unknown) => nameOf(item, path.endsWith("/resources")));
}

/** The content of a file, at most `maxBytes`; for a server's tool, its entry in the server's list. */
export async function cruxFile(io: Io, path: string, maxBytes: number): Promise<Buffer> {
  const [, tools, tool] = /^(\/mnt\/mcp\/[^/]+\/tools)\/([^/]+)$/.exec(path) ?? [];
  if (path === SERVERS) throw failure("INVALID", `is a directory: ${path}. Use ls`);
  if (tools === undefined || tool === undefined) return laidOut(await read(io, path, maxBytes));
  const all = parsed(await read(io, tools, LIST_BYTES));
  const found = Array.isArray(all) ? all.find((each: unknown) => nameOf(each, false) === tool) : undefined;
  if (found === undefined)
    throw failure("NOT_FOUND", `tool not found: ${path}`, `ls ${tools} has their names`);
  return Buffer.from(`${JSON.stringify(found, null, 2)}\n`);
}

async function read(io: Io, path: string, maxBytes: number): Promise<Buffer> {
  try {
    return await readCruxFile(io, path, maxBytes);
  } catch (error) {
    const isOfHost = /^\/proc\/(?!(\d+|self)(\/|$))/.test(path);
    if (codeOf(error) !== "NOT_FOUND" || !isOfHost) throw error;
    const way = `/proc is Crux's own; the host's is read in bash: cat ${path}`;
    throw failure("NOT_FOUND", messageOf(error), way, error);
  }
}

/** Resources are named by their URI, which may contain slashes. */
function nameOf(item: unknown, isResource: boolean): string {
  if (typeof item !== "object" || item === null) return String(item);
  const { name, uri } = item as { name?: unknown; uri?: unknown };
  return isResource ? encodeURIComponent(String(uri)) : String(name);
}

function laidOut(bytes: Buffer): Buffer {
  const newline = bytes.indexOf(10);
  if (bytes.byteLength <= LINE_CHARS || (newline !== -1 && newline < bytes.byteLength - 1)) return bytes;
  const value = parsed(bytes);
  return typeof value === "object" && value !== null
    ? Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
    : bytes;
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
