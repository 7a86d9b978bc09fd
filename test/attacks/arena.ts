/**
 * A throw-away machine for attacks that are really tried: namespaces of its own for users, processes, mounts and network, as an
 * ordinary user. The system and this repository are there to be read; home, `/tmp`, `/run` and the arena itself are in memory
 * and go with it. Its only network is its own loopback.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  mkdtempSync,
  openSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const INSIDE = fileURLToPath(new URL("./inside.ts", import.meta.url));

/** Of the machine, what programs need: all of it read-only. */
const SYSTEM = ["bin", "etc", "lib", "lib32", "lib64", "libx32", "nix", "opt", "sbin", "usr"];
/** In memory, and with it lost. */
const OWN = ["/arena/tmp", "/home/u", "/outside", "/run/user/1000", "/tmp", "/var/tmp"];
/** root is no ordinary user: it keeps rights over files of root even without capabilities. */
const NOBODY = 65_534;

/** Names that attacks use lead to the arena's own loopback. */
const HOSTS = "127.0.0.1 localhost h a.rebound.io good.com evil.io\n";

function binds(): string[] {
  const system = SYSTEM.filter((name) => lstatSync(`/${name}`, { throwIfNoEntry: false }) !== undefined);
  return system.flatMap((name) =>
    lstatSync(`/${name}`).isSymbolicLink()
      ? ["--symlink", readlinkSync(`/${name}`), `/${name}`]
      : ["--ro-bind", `/${name}`, `/${name}`],
  );
}

interface Machine {
  /** Programs that are not installed there. */
  readonly closed?: readonly string[];
  /** True: nobody there can make a namespace, as in most containers. */
  readonly isFlat?: boolean;
}

/** `hosts`: the number of a descriptor with the arena's own /etc/hosts. */
function argumentsOf(hosts: number | undefined, { closed = [], isFlat = false }: Machine = {}): string[] {
  const node = dirname(process.execPath);
  return [
    ...binds(),
    ...closed.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...OWN.flatMap((dir) => ["--dir", dir]),
    // soon full
    ...["--size", "4194304", "--tmpfs", "/small"],
    ...["--ro-bind", node, node, "--ro-bind", ROOT, ROOT],
    ...(hosts === undefined ? [] : ["--perms", "0644", "--bind-data", String(hosts), "/etc/hosts"]),
    ...["--dev", "/dev", "--proc", "/proc"],
    ..."--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts".split(" "),
    ...(isFlat ? ["--disable-userns"] : []),
    ...["--die-with-parent", "--new-session", "--clearenv"],
    ...["--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "LANG", "C.UTF-8"],
    ...["--setenv", "HOME", "/home/u", "--setenv", "TMPDIR", "/arena/tmp", "--chdir", "/arena"],
  ];
}

const asNobody = () => (process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {});

/** Why there can be no arena here; undefined: there can. */
export function noArena(): string | undefined {
  const look = [process.execPath, "-e", `require("fs").accessSync(${JSON.stringify(INSIDE)})`];
  // what an agent starts is confined by the same means within
  const nested = ["bwrap", ...binds(), "--ro-bind", "/", "/", "--unshare-all", "--proc", "/proc", "true"];
  for (const program of [look, nested]) {
    const argv = [...argumentsOf(undefined), "--", ...program];
    const { error, status, stderr } = spawnSync("bwrap", argv, { encoding: "utf8", ...asNobody() });
    if (error !== undefined) return `bwrap: ${error.message}`;
    if (status !== 0) return `no throw-away machine: ${stderr.trim().slice(0, 300)}`;
  }
  return undefined;
}

/** Runs one part inside. What it tells, a value a line; rejects when it fails or takes too long. */
export async function inArena<T>(
  part: string,
  options: Machine & { readonly [name: string]: unknown } = {},
  timeoutMs = 110_000,
): Promise<T[]> {
  const dir = mkdtempSync(join(tmpdir(), "crux-arena-"));
  const file = join(dir, "hosts");
  writeFileSync(file, HOSTS);
  accessSync(file, constants.R_OK);
  const hosts = openSync(file, "r");
  try {
    const argv = [...argumentsOf(3, options), "--", process.execPath, INSIDE, part, JSON.stringify(options)];
    const child = spawn("bwrap", argv, { stdio: ["ignore", "pipe", "pipe", hosts], ...asNobody() });
    const killer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
    const [told, words]: [T[], Buffer[]] = [[], []];
    createInterface({ input: child.stdout! }).on("line", (line) => told.push(JSON.parse(line) as T));
    child.stderr!.on("data", (chunk: Buffer) => words.push(chunk));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    clearTimeout(killer);
    if (code !== 0) throw new Error(`${part} ended with ${code}: ${Buffer.concat(words).toString("utf8")}`);
    return told;
  } finally {
    closeSync(hosts);
    rmSync(dir, { recursive: true, force: true });
  }
}
