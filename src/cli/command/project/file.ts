/** crux.compose.yaml: finds it, parses it and fills in its variables. The daemon validates it. */
import { hash } from "node:crypto";
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { projectNameOf } from "../../../abi/compose/name.ts";
import { interpolate } from "../../../abi/compose/variables.ts";
import { parseComposeYaml } from "../../../abi/compose/yaml.ts";
import { Fault, messageOf } from "../../../abi/errors.ts";
import { type Args, textFlag } from "../../args.ts";
import type { Host } from "../../host/host.ts";
import { invalid } from "../../screen/errors.ts";

const NAMES = ["crux.compose.yaml", "crux.compose.yml"] as const;
const MAX_BYTES = 1024 * 1024;

/** The part of a request for compose.config and compose.up that concerns the file. */
interface FileRequest {
  readonly file: unknown;
  readonly dir: string;
  readonly project?: string;
}

type Surroundings = Pick<Host, "cwd" | "env">;

/**
 * The file with its variables filled in, and the SHA-256 of its bytes, in hex. NOT_FOUND: no file. INVALID: not readable as YAML, or a variable is missing.
 */
export function readComposeFile(
  args: Args,
  { cwd, env }: Surroundings,
): FileRequest & { readonly digest: string } {
  const path = pathOf(args, cwd);
  const { parsed, digest } = parseFile(path, cwd);
  const file = interpolate(parsed, env);
  const project = textFlag(args, "project");
  return { file, dir: dirname(path), digest, ...(project === undefined ? {} : { project }) };
}

/**
 * The folder of the file, and its path for a daemon that has to read it again: not that of a pipe, which is the client's alone.
 * NOT_FOUND: no file.
 */
export function composePlace(args: Args, { cwd }: Pick<Host, "cwd">): { dir: string; compose?: string } {
  const path = pathOf(args, cwd);
  const isPipe = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
  return { dir: dirname(path), ...(isPipe ? {} : { compose: path }) };
}

/** The name of the project, even if the file has become invalid meanwhile, so that the project can be stopped. */
export function findProject(args: Args, { cwd, env }: Surroundings): string {
  const given = textFlag(args, "project");
  if (given !== undefined) return given;
  const path = pathOf(args, cwd);
  const { parsed: file } = parseFile(path, cwd);
  const name = typeof file === "object" && file !== null && "name" in file ? file.name : undefined;
  const filled = interpolate(name, env, ["name"]);
  return typeof filled === "string" && filled !== "" ? filled : projectNameOf(dirname(path));
}

/**
 * Searches from the working directory up to the root of the repository; outside a repository, only the working
 * directory.
 */
function pathOf(args: Args, cwd: string): string {
  const given = textFlag(args, "file");
  if (given !== undefined) return resolve(cwd, given);
  const searched = searchedFrom(cwd);
  const found = findIn(searched);
  if (found !== undefined) return found;
  throw new Fault({
    code: "NOT_FOUND",
    message: `no ${NAMES.join(" or ")} in ${searched.join(", ")}`,
    hint: "crux compose -f FILE names one that is elsewhere",
  });
}

/** The compose file that `up` would use there. */
export function findComposeFile(dir: string): string | undefined {
  return findIn(searchedFrom(dir));
}

function findIn(folders: readonly string[]): string | undefined {
  return folders.flatMap((dir) => NAMES.map((name) => join(dir, name))).find((path) => existsSync(path));
}

function searchedFrom(cwd: string): string[] {
  const searched: string[] = [];
  for (let dir = cwd; ; dir = dirname(dir)) {
    searched.push(dir);
    if (existsSync(join(dir, ".git"))) return searched;
    if (dir === dirname(dir)) return [cwd];
  }
}

function parseFile(path: string, cwd: string): { readonly parsed: unknown; readonly digest: string } {
  const shown = relative(cwd, path) || path;
  const bytes = readBytes(path, shown);
  return { parsed: parseComposeYaml(shown, bytes.toString("utf8")), digest: hash("sha256", bytes) };
}

/** Reads anything that ends, including a pipe. */
function readBytes(path: string, shown: string): Buffer {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    const chunks: Buffer[] = [];
    for (let total = 0; total <= MAX_BYTES; ) {
      const chunk = Buffer.alloc(64 * 1024);
      const length = readSync(fd, chunk);
      if (length === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, length));
      total += length;
    }
  } catch (error) {
    throw unreadable(shown, error);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
  throw invalid(`${shown}: longer than ${MAX_BYTES} bytes`);
}

function unreadable(shown: string, cause: unknown): Fault {
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  if (code === "ENOENT")
    return new Fault({ code: "NOT_FOUND", message: `compose file not found: ${shown}`, cause });
  if (code === "EACCES")
    return new Fault({ code: "PERMISSION", message: `${shown}: may not be read`, cause });
  return new Fault({
    code: "INVALID",
    message: `${shown}: cannot be read (${code || messageOf(cause)})`,
    cause,
  });
}
