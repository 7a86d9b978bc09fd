/**
 * The entry point. It loads only what the command at hand needs: `crux ps` loads neither a model driver nor the kernel,
 * and `crux version -q`, which scripts call often, loads nothing at all. To load the file of all commands takes 8 ms, so
 * `version` and `ps` without flags have files of their own.
 */
import { chmodSync, mkdirSync, readFileSync, statSync, writeSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { Script } from "node:vm";
import pkg from "../package.json" with { type: "json" };
import type * as BootFile from "./boot/boot.ts";
import type * as VersionFile from "./cli/command/itself/version-alone.ts";
import type * as PsFile from "./cli/command/process/ps-alone.ts";
import type * as DaemonFile from "./daemon/main.ts";
import { codeCacheDir } from "./lib/paths.ts";
import { STDOUT_CLOSED } from "./lib/stdout-closed.ts";

/** Write errors of stdout that are reported: the reader is there, but the disk has no room. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

const argv = process.argv.slice(2);
if (isQuietVersion()) printVersion();
else if (argv[0] === "daemon" && argv[1] === "--internal") void daemon();
else if (argv[0] === "daemon" && argv[1] === "--internal-fsck") void fsck();
else void command();

function isQuietVersion(): boolean {
  const quiet = argv.filter((word) => word === "-q" || word === "--quiet").length;
  const version = argv.filter((word) => word === "version" || word === "-V" || word === "--version").length;
  return quiet === 1 && version === 1 && argv.length === 2;
}

/** Writes directly to the file descriptor: setting up the stream would take longer than everything else. */
function printVersion(): void {
  try {
    writeSync(1, `${pkg.version}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPIPE") process.exitCode = STDOUT_CLOSED;
    else process.stdout.write(`${pkg.version}\n`);
  }
}

async function daemon(): Promise<never> {
  const dir = cacheCode();
  const { CodeCache } = await import("./lib/code-cache.ts");
  const code = new CodeCache(__dirname, dir);
  const { daemonMain } = code.load("daemon.cjs") as typeof DaemonFile;
  const boot = () => (code.load("boot.cjs") as typeof BootFile).boot;
  return daemonMain(pkg.version, boot, code.keep());
}

async function fsck(): Promise<never> {
  const { CodeCache } = await import("./lib/code-cache.ts");
  const { offlineCheck } = new CodeCache(__dirname, undefined).load("daemon.cjs") as typeof DaemonFile;
  return offlineCheck(argv.slice(2));
}

async function command(): Promise<void> {
  // all output has been written; open handles must not keep the process running
  process.exit(await client());
}

async function client(): Promise<number> {
  const [name] = argv.length === 1 ? argv : [];
  const kept = name === "version" || name === "ps" ? withCode(name) : undefined;
  // what was kept has all that runs
  if (kept === undefined) cacheCode();
  if (name === "version") {
    const { versionAlone } =
      (kept as typeof VersionFile) ?? (await import("./cli/command/itself/version-alone.ts"));
    return versionAlone(pkg.version, watchedStreams);
  }
  if (name === "ps") {
    const { psAlone } = (kept as typeof PsFile) ?? (await import("./cli/command/process/ps-alone.ts"));
    return psAlone(pkg.version, watchedStreams);
  }
  watchedStreams();
  const { cliMain } = await import("./cli/main.ts");
  return cliMain(argv, pkg.version);
}

/** The file with the code that the build has kept of it (scripts/kept-code.mjs). undefined: V8 takes none, as another version does. */
function withCode(name: string): unknown {
  const filename = `${__dirname}/${name}.cjs`;
  let cachedData: Buffer;
  try {
    cachedData = readFileSync(`${__dirname}/${name}.code`);
  } catch {
    return undefined;
  }
  const source = readFileSync(filename, "latin1");
  const body = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
  const script = new Script(body, { filename, cachedData });
  if (script.cachedDataRejected !== false) return undefined;
  const module = { exports: {} };
  script.runInThisContext()(module.exports, require, module, filename, __dirname);
  return module.exports;
}

function watchedStreams(): NodeJS.Process {
  if (process.stdout.listenerCount("error") > 0) return process;
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (!NO_ROOM.has(code)) process.exit(STDOUT_CLOSED);
    writeSync(2, `✗ [DRIVER] cannot write to stdout: ${message}\n`);
    process.exit(1);
  });
  // stderr was closed by its reader: ignore errors
  process.stderr.on("error", () => {});
  return process;
}

/** Where it is. Another user could put code into a directory that is open to all, and so could an agent: policies close it. */
function cacheCode(): string | undefined {
  const { HOME: home = "" } = process.env;
  const dir = codeCacheDir(process.env, home);
  if (!dir.startsWith("/") || !isOwn(dir)) return undefined;
  enableCompileCache(dir);
  return dir;
}

/** Makes it where it is missing, and closes it to others. False: it is another user's, or cannot be made. */
function isOwn(dir: string): boolean {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const { mode, uid } = statSync(dir);
    if (uid !== process.getuid?.()) return false;
    if ((mode & 0o022) !== 0) chmodSync(dir, 0o700);
    return true;
  } catch {
    return false;
  }
}
