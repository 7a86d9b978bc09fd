/**
 * Finds out, once, whether programs can be confined on this machine: confines one and lets it inspect its sandbox.
 */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SandboxState } from "../../../abi/sandbox.ts";
import { makeScratchFolder } from "../../../lib/scratch-folder.ts";
import { probeEnv } from "../isolation.ts";
import { namespaceIsolation } from "../namespace.ts";
import { hasChildren } from "../procfs.ts";
import { type Wrapper, wrappersHere } from "../wrapper.ts";
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

type Unavailable = Extract<SandboxState, { available: false }>;

interface FinderOptions {
  readonly wrappers?: readonly Wrapper[];
  readonly probeMs?: number;
}

export class SandboxFinder {
  readonly #wrappers: readonly Wrapper[];
  readonly #probeMs: number;
  #found: SandboxState | undefined;

  /** The wrappers are tried in this order. */
  constructor({ wrappers = wrappersHere(), probeMs = 2_000 }: FinderOptions = {}) {
    this.#wrappers = wrappers;
    this.#probeMs = probeMs;
  }

  /** The first caller waits for the probe, unless `lookAhead` has finished by then. */
  get(owner?: string): SandboxState {
    this.#found ??= isMac ? onMac(this.#probeMs) : (this.#cannot() ?? this.#probe(owner));
    return this.#found;
  }

  /** Probes in the background. Resolves when the answer is known. */
  async lookAhead(owner?: string): Promise<void> {
    if (isMac) this.get();
    if (this.#found !== undefined || this.#cannot() !== undefined) return;
    const filter = new SeccompFile(machineHere());
    const failed: Unavailable[] = [];
    for (const wrapper of this.#wrappers) {
      const fd = filter.open();
      const state = stateOf(wrapper, await run(this.#call(wrapper, fd, owner)));
      closeSync(fd);
      if (state.available) this.#found ??= state;
      else failed.push(state);
      if (this.#found !== undefined) break;
    }
    filter.close();
    this.#found ??= allFailed(failed);
  }

  #cannot(): SandboxState | undefined {
    if (process.platform === "linux" && this.#wrappers.length === 0) return NOT_THERE;
    if (process.platform !== "linux" || !hasChildren || MACHINES[process.arch] === undefined)
      return {
        available: false,
        why: `commands cannot be confined on ${process.platform} ${process.arch}`,
        fix: OFF,
      };
    return undefined;
  }

  #probe(owner?: string): SandboxState {
    const filter = new SeccompFile(machineHere());
    const failed: Unavailable[] = [];
    try {
      for (const wrapper of this.#wrappers) {
        const fd = filter.open();
        const { status, stderr, error } = spawnSync(...this.#call(wrapper, fd, owner));
        closeSync(fd);
        const state = stateOf(wrapper, { status, stderr: String(stderr ?? ""), error });
        if (state.available) return state;
        failed.push(state);
      }
      return allFailed(failed);
    } finally {
      filter.close();
    }
  }

  #call(wrapper: Wrapper, fd: number, owner: string | undefined): Call {
    const confined = sandboxArguments({
      mounts: [{ op: "empty", path: "/tmp", isOpen: true }],
      hasNetwork: false,
      filterFd: FILTER_FD,
      lent: [],
    });
    const launch = { program: "/bin/sh", args: ["-c", LOOK], cwd: "/", confined };
    const [program, ...args] = namespaceIsolation(wrapper).wrap(launch);
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
const INSTALL = "apt-get install bubblewrap";
const NOT_THERE: Unavailable = {
  available: false,
  why: "neither bubblewrap nor perl is installed",
  fix: `${INSTALL}; ${OFF}`,
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

/** A wrapper's messages when the host does not let it make namespaces. */
const FORBIDDEN = /^(bwrap|sandbox):.*(namespace|uid map|uid_map|loopback|not permitted|Permission denied)/is;

function stateOf({ kind }: Wrapper, { status, stderr, error }: Probed): SandboxState {
  if (status === WORKS) return { available: true, kind };
  const said = stderr.trim().replace(/\s+/g, " ").slice(0, WORDS_CHARS) || error?.message;
  const name = kind === "bubblewrap" ? "bubblewrap does" : "namespaces made without bubblewrap do";
  const why = `${name} not work here: ${said ?? `exit code ${status}, without a word`}`;
  // some systems permit bubblewrap what they forbid other programs
  const [repair, allow] =
    kind === "bubblewrap" ? ["repair that", NAMESPACES] : [INSTALL, `${INSTALL}, or ${NAMESPACES}`];
  return { available: false, why, fix: `${FORBIDDEN.test(stderr) ? allow : repair}; ${OFF}` };
}

/** The remedy is that of the first, which is the best wrapper that is installed. */
function allFailed([first, ...others]: readonly Unavailable[]): Unavailable {
  if (first === undefined) return NOT_THERE;
  return { ...first, why: [first, ...others].map(({ why }) => why).join("; ") };
}

const NAMESPACES =
  "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0; " +
  "for a container of Docker, --security-opt systempaths=unconfined and a seccomp profile that permits them)";

const host = new SandboxFinder();

export function hostSandbox(owner?: string): SandboxState {
  return host.get(owner);
}

export function lookAheadSandbox(owner: string): Promise<void> {
  return host.lookAhead(owner);
}
