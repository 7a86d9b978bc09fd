/** For tests only: the operations of /dev/fs on the real host, as abi/ops/fs.ts describes them. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import type { FileStat } from "../../abi/device.ts";
import type { ErrorCode } from "../../abi/errno.ts";
import { VfsError } from "../../abi/errors.ts";
import { asPid } from "../../abi/ids.ts";
import type { FilesAnswer, FsListing, FsRequest, GrepAnswer } from "../../abi/ops/fs.ts";

export function fault(code: ErrorCode, message: string): VfsError {
  return new VfsError({ op: "Write", pid: asPid(1), code, message });
}

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

export function statOf(path: string): FileStat {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) throw fault("NOT_FOUND", `no such file: ${path}`);
  const kind = stat.isDirectory() ? "directory" : stat.isFIFO() ? "fifo" : stat.isFile() ? "file" : "device";
  const mode = Number(stat.mode & 0o7777n);
  const host = { kind, mtimeNs: `${stat.mtimeNs}`, inode: `${stat.ino}`, mode } as const;
  return { name: basename(path), size: Number(stat.size), isDevice: false, devicePath: "/dev/fs", host };
}

export function writeOf(path: string, request: Extract<FsRequest, { op: "write" }>) {
  const sha = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
  const created = statSync(path, { throwIfNoEntry: false }) === undefined;
  const now = created ? null : sha(readFileSync(path));
  if (request.expect !== undefined && request.expect !== now) throw fault("CONFLICT", `changed: ${path}`);
  if (request.mkdirs) mkdirSync(dirname(path), { recursive: true });
  const content = created
    ? Buffer.from(request.content, request.encoding)
    : putIn(readFileSync(path), request);
  writeFileSync(path, content);
  return { ok: true, created, sha256: sha(content) };
}

function putIn(old: Buffer, request: Extract<FsRequest, { op: "write" }>): Buffer {
  const { part } = request;
  const content = Buffer.from(request.content, request.encoding);
  return part === undefined
    ? content
    : Buffer.concat([old.subarray(0, part.at), content, old.subarray(part.at + part.length)]);
}

export function listOf(path: string, request: Extract<FsRequest, { op: "list" }>): FsListing {
  const all: FsListing["entries"] = [];
  const walk = (directory: string, depth: number): void => {
    const entries = readdirSync(join(path, directory), { withFileTypes: true })
      .filter((entry) => request.hidden || !entry.name.startsWith("."))
      .filter((entry) => !request.ignore?.some((glob) => posix.matchesGlob(entry.name, glob)))
      .sort((a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      const below = posix.join(directory, entry.name);
      all.push({ path: below, kind: entry.isDirectory() ? "directory" : "file", size: 0, depth });
      if (entry.isDirectory() && depth < (request.depth ?? 3)) walk(below, depth + 1);
    }
  };
  walk("", 1);
  const limit = request.limit ?? 1000;
  return { entries: all.slice(0, limit), more: Math.max(0, all.length - limit) };
}

export async function grepOf(path: string, request: Extract<FsRequest, { op: "grep" }>): Promise<GrepAnswer> {
  const output = { content: ["-n", `--context=${request.context ?? 2}`], files: ["-l"], count: ["-c"] };
  const flags = [
    [
      "--no-config",
      "--null",
      "--with-filename",
      "--no-heading",
      "--color=never",
      "--hidden",
      "--glob",
      "!.git",
    ],
    output[request.output],
    request.include === undefined ? [] : ["--glob", request.include],
    request.literal ? ["-F"] : [],
    request.case_insensitive ? ["-i"] : [],
    request.type === undefined ? [] : ["--type", request.type],
  ].flat();
  const isDirectory = statSync(path).isDirectory();
  const [cwd, target] = isDirectory ? [path, []] : [dirname(path), [path]];
  const { code, stdout, stderr } = await rg([...flags, "-e", request.pattern, "--", ...target], cwd);
  return { exit_code: code, stdout, stderr, partial: false };
}

export async function filesOf(
  path: string,
  request: Extract<FsRequest, { op: "files" }>,
): Promise<FilesAnswer> {
  const glob = request.glob === undefined ? [] : ["--glob", request.glob];
  const { stdout } = await rg(["--files", "--null", ...glob], path);
  const files = stdout
    .split("\0")
    .filter((name) => name !== "")
    .map((name) => ({ path: name, mtime_ms: statSync(join(path, name)).mtimeMs, size: 0 }))
    .sort((a, b) => b.mtime_ms - a.mtime_ms || (a.path < b.path ? -1 : 1));
  const { offset = 0, limit = 100 } = request;
  return { files: files.slice(offset, offset + limit), total: files.length, partial: false };
}

function rg(argv: string[], cwd: string): Promise<{ code: number; stdout: string; stderr: string }> {
  // with any other stdin, ripgrep would search that instead
  const child = spawn(rgPath, argv, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err]: Buffer[][] = [[], []];
  child.stdout.on("data", (chunk: Buffer) => out?.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err?.push(chunk));
  const text = (chunks: Buffer[] = []) => Buffer.concat(chunks).toString("utf8");
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 2, stdout: text(out), stderr: text(err) }));
  });
}
