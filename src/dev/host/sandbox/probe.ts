/** Can programs be confined on this machine? Found once, by confining one and letting it look around. */
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
/** What the program of the probe ends with if it is as it should be. */
const WORKS = 42;
const WORDS_CHARS = 300;

/**
 * The host and its kernel's settings are read-only, the filter is at work, no right can be gained, and there is no network but a
 * loopback; else it says what is not so. All of it is built into the shell, whatever the PATH.
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
  /** It did not start, or was too slow. */
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

  /** The first to ask waits for the probe, unless `lookAhead` is over by then. */
  get(owner?: string): SandboxState {
    this.#found ??= isMac
      ? onMac(this.#probeMs)
      : (this.#cannot() ?? this.#with((call) => spawnSync(...call), owner));
    return this.#found;
  }

  /** Probes without holding up anybody. Resolves when the answer is known. */
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

/** Quick, and so at once. */
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

/** What bubblewrap says where the host lets it make no namespaces. */
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
