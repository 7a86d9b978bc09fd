/**
 * Turns a profile into seatbelt's language, which macOS includes (`sandbox-exec`): text, a pure function of the
 * profile. Anything not named is refused; the last matching rule counts, so a deeper path overrides a higher one.
 *
 * For hosts, seatbelt knows only addresses, and it has no private network to put a proxy into: a profile with allowed
 * hosts gets no network either. Rules go by path, so a protected path is protected even while it does not exist.
 */
import { dirname } from "node:path/posix";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import { isWithin } from "../../../lib/path.ts";
import { driverError } from "../../driver-error.ts";

export const SANDBOX_EXEC = "/usr/bin/sandbox-exec";

/** The rules that every program needs to start; sysctl reads machine information and changes nothing. */
const BASE = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow iokit-get-properties)
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.bsd.dirhelper"))
(allow pseudo-tty)
(allow file-ioctl (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys"))
(allow file-read*)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/ptmx") (regex #"^/dev/ttys")
  (regex #"^/dev/fd/"))`;

type Wish = "write" | "protect" | "hide" | "show";

/** `tmp`: the program's own folder for temporary files. UNAVAILABLE: a path that cannot be expressed in a rule. */
export function seatbeltProfile(profile: SandboxProfile, tmp: string): string {
  const { write, protect, hide, show, network } = profile;
  const wishes: readonly (readonly [string, Wish])[] = [
    ...write.map((path) => [bare(path), "write"] as const),
    ...protect.map((path) => [bare(path), "protect"] as const),
    ...hide.map((path) => [bare(path), "hide"] as const),
    ...show.map((path) => [bare(path), "show"] as const),
    [tmp, "write"],
  ];
  const steps = protect.flatMap((path) => stepsTo(bare(path), write.map(bare)));
  return [
    BASE,
    ...[...wishes].sort(([a], [b]) => depth(a) - depth(b)).map(([path, wish]) => ruleOf(path, wish)),
    // the parents of a protected path cannot be moved away with it
    ...[...new Set(steps)].map((path) => `(deny file-write-unlink (literal ${quoted(path)}))`),
    ...(network === "host" ? ["(allow network*)", "(allow system-socket)"] : show.map(socketRule)),
  ].join("\n");
}

function ruleOf(path: string, wish: Wish): string {
  const place = `(subpath ${quoted(path)})`;
  switch (wish) {
    case "write":
      return `(allow file-read* file-write* ${place})`;
    case "protect":
      return `(deny file-write* ${place})`;
    case "hide":
      return `(deny file-read* file-write* ${place})`;
    case "show":
      return `(allow file-read* ${place})`;
  }
}

function socketRule(path: string): string {
  return `(allow network-outbound (remote unix-socket (path-literal ${quoted(bare(path))})))`;
}

/** The folders between a writable root (excluded) and `path` (included); empty if no root contains it. */
function stepsTo(path: string, roots: readonly string[]): readonly string[] {
  const root = roots.find((each) => each !== path && isWithin(each, path));
  const steps: string[] = [];
  for (let dir = path; root !== undefined && dir !== root; dir = dirname(dir)) steps.push(dir);
  return steps;
}

const depth = (path: string): number => (path === "/" ? 0 : path.split("/").length);

function bare(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

function quoted(path: string): string {
  for (const char of path)
    if (char < " " || char === "\x7f")
      throw driverError("Open", "UNAVAILABLE", `the sandbox cannot name ${JSON.stringify(path)}`);
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** The program exits with `status` if it can read the host and write to `tmp`, but not to `canary`. */
export function seatbeltProbe(canary: string, tmp: string, status: number): readonly [string, ...string[]] {
  const profile = seatbeltProfile({ write: [], protect: [], hide: [], show: [], network: "off" }, tmp);
  const look = `[ -r /etc/hosts ] && ! (: > "$1") 2>/dev/null && (: > "$2/x") && exit ${status}`;
  return [SANDBOX_EXEC, "-p", profile, "/bin/sh", "-c", look, "sh", canary, tmp];
}
