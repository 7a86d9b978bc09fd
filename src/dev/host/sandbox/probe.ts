/**
 * Finds out, once, whether programs can be confined on this machine: confines one and lets it inspect its sandbox.
 */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SandboxState } from "../../../abi/sandbox.ts";
import { makeScratchFolder } from "../../../lib/scratch-folder.ts";
import { isExecutable } from "../../program.ts";
import { BWRAP, probeEnv } from "../isolation.ts";
import { namespaceIsolation } from "../namespace.ts";
import { hasChildren } from "../procfs.ts";
import { sandboxArguments } from "./arguments.ts";
import { seatbeltProbe } from "./macos.ts";
import { FILTER_FD } from "./sandbox.ts";
import { MACHINES, SeccompFile } from "./seccomp.ts";

const isMac = process.platform === "darwin";
/** The exit code of the probe's program if everything is as expected. */
const WORKS = 42;
const WORDS_CHARS = 300;

/**
 * Checks that the host and its kernel settings are read-only, the filter is active, no rights can be gained, and the
 * only network is a loopback; otherwise prints what is wrong. Uses shell builtins only, so PATH does not matter.
 */
const LOOK = `links=0
fails() { echo "$1" >&2; exit 1; }
while read -r key value _; do
  case $key in NoNewPrivs:) held=$value ;; Seccomp:) filter=$value ;; esac
done < /proc/self/status
while read -r line; do case $line in *:*) links=$((links + 1)) ;; esac; done < /proc/net/dev
[ "$held" = 1 ] || fails 'rights can be gained in it'
[ "$filter" = 2 ] || fails 'no filter of system calls is at work in it'
[ ! -w / ] || fails 'the files of the host can be written in it'
for path in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/kernel/uevent_helper; do
  [ ! -w $path ] || fails "$path can be written in it"
done
[ $links = 1 ] || fails 'it has a network'
exit ${WORKS}`;

interface Probed {
  readonly status: number | null;
  readonly stderr: string;
  /** The error if the probe did not start, or timed out. */
  readonly error?: Error | undefined;
}

export class SandboxFinder {
  readonly #bwrap: string | undefined;
  readonly #probeMs: number;
  #found: SandboxState | undefined;

  constructor({ places = BWRAP, probeMs = 2_000 }: { places?: readonly string[]; probeMs?: number } = {}) {
    this.#bwrap = places.find(isExecutable);
    this.#probeMs = probeMs;
  }

  /** The first caller waits for the probe, unless `lookAhead` has finished by then. */
  get(owner?: string): SandboxState {
    this.#found ??= isMac
      ? onMac(this.#probeMs)
      : (this.#cannot() ?? this.#with((call) => spawnSync(...call), owner));
    return this.#found;
  }

  /** Probes in the background. Resolves when the answer is known. */
  async lookAhead(owner?: string): Promise<void> {
    if (isMac) this.get();
    if (this.#found !== undefined || this.#cannot() !== undefined) return;
    const filter = new SeccompFile(machineHere());
    const fd = filter.open();
    try {
      const probed = await run(this.#call(fd, owner));
      this.#found ??= stateOf(probed);
    } finally {
      closeSync(fd);
      filter.close();
    }
  }

  #cannot(): SandboxState | undefined {
    if (process.platform === "linux" && this.#bwrap === undefined) return NOT_THERE;
    if (process.platform !== "linux" || !hasChildren || MACHINES[process.arch] === undefined)
      return {
        available: false,
        why: `commands cannot be confined on ${process.platform} ${process.arch}`,
        fix: OFF,
      };
    return undefined;
  }

  #with(
    probe: (call: Call) => Omit<Probed, "stderr"> & { stderr: Buffer | string | null },
    owner?: string,
  ): SandboxState {
    const filter = new SeccompFile(machineHere());
    const fd = filter.open();
    try {
      const { status, stderr, error } = probe(this.#call(fd, owner));
      return stateOf({ status, stderr: String(stderr ?? ""), error });
    } finally {
      closeSync(fd);
      filter.close();
    }
  }

  #call(fd: number, owner: string | undefined): Call {
    const confined = sandboxArguments({
      mounts: [{ op: "empty", path: "/tmp", isOpen: true }],
      hasNetwork: false,
      filterFd: FILTER_FD,
      lent: [],
    });
    const launch = { program: "/bin/sh", args: ["-c", LOOK], cwd: "/", confined };
    const [program, ...args] = namespaceIsolation(this.#bwrap ?? "").wrap(launch);
    const options = { env: probeEnv(owner), timeout: this.#probeMs, killSignal: "SIGKILL" } as const;
    return [program, args, { ...options, stdio: ["ignore", "ignore", "pipe", "ignore", fd] }];
  }
}

type Call = [
  program: string,
  args: string[],
  options: {
    env: NodeJS.ProcessEnv;
    timeout: number;
    killSignal: "SIGKILL";
    stdio: ["ignore", "ignore", "pipe", "ignore", number];
  },
];

const OFF = 'or set "sandbox": { "mode": "off" } in settings.json, and commands run with the whole account';
const NOT_THERE: SandboxState = {
  available: false,
  why: "bubblewrap is not installed",
  fix: `apt-get install bubblewrap; ${OFF}`,
};

/** Fast enough to run synchronously. */
function onMac(probeMs: number): SandboxState {
  const dir = realpathSync(makeScratchFolder("crux-probe-"));
  try {
    const tmp = join(dir, "own");
    mkdirSync(tmp);
    const [program, ...args] = seatbeltProbe(join(dir, "canary"), tmp, WORKS);
    const { status, stderr } = spawnSync(program, args, { timeout: probeMs, killSignal: "SIGKILL" });
    if (status === WORKS) return { available: true, kind: "seatbelt" };
    const said = String(stderr ?? "")
      .trim()
      .replace(/\s+/g, " ")
      .slice(0, WORDS_CHARS);
    return {
      available: false,
      why: `sandbox-exec does not work here${said === "" ? "" : `: ${said}`}`,
      fix: OFF,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function machineHere() {
  const machine = MACHINES[process.arch];
  if (machine === undefined) throw new Error(`no filter of system calls for ${process.arch}`);
  return machine;
}

function run([program, args, options]: Call): Promise<Probed> {
  return new Promise((resolve) => {
    const child = spawn(program, args, options);
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString("utf8")).slice(0, WORDS_CHARS);
    });
    child.once("error", (error) => resolve({ status: null, stderr, error }));
    child.once("close", (status, signal) =>
      resolve({ status, stderr, ...(signal === null ? {} : { error: new Error(`ended by ${signal}`) }) }),
    );
  });
}

/** bubblewrap's messages when the host does not let it make namespaces. */
const FORBIDDEN = /namespace|uid map|loopback|Operation not permitted|Permission denied/i;

function stateOf({ status, stderr, error }: Probed): SandboxState {
  if (status === WORKS) return { available: true, kind: "bubblewrap" };
  const said = stderr.trim().replace(/\s+/g, " ").slice(0, WORDS_CHARS) || error?.message;
  const why = `bubblewrap does not work here: ${said ?? `exit code ${status}, without a word`}`;
  const isForbidden = stderr.startsWith("bwrap:") && FORBIDDEN.test(stderr);
  return { available: false, why, fix: isForbidden ? `${NAMESPACES}; ${OFF}` : `repair that, ${OFF}` };
}

const NAMESPACES =
  "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0)";

const host = new SandboxFinder();

export function hostSandbox(owner?: string): SandboxState {
  return host.get(owner);
}

export function lookAheadSandbox(owner: string): Promise<void> {
  return host.lookAhead(owner);
}
