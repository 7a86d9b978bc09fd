/** Can programs be confined on this machine? Found once, by confining one and letting it look around. */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SandboxState } from "../../abi/sandbox.ts";
import { BWRAP } from "./isolation.ts";
import { namespaceIsolation } from "./namespace.ts";
import { hasChildren } from "./procfs.ts";
import { isExecutable } from "./program.ts";
import { FILTER_FD } from "./sandbox.ts";
import { sandboxArguments } from "./sandbox-arguments.ts";
import { seatbeltProbe } from "./sandbox-macos.ts";
import { MACHINES, SeccompFile } from "./sandbox-seccomp.ts";

const isMac = process.platform === "darwin";
/** What the program of the probe ends with if it is as it should be. */
const WORKS = 42;
const WORDS_CHARS = 300;

/** The host is read-only, the filter is at work, no right can be gained, and there is no network but a loopback. */
const LOOK = `set -- $(while read -r key value _; do
  case $key in NoNewPrivs: | Seccomp:) echo $value ;; esac
done < /proc/self/status)
[ "$1 $2" = "1 2" ] && [ ! -w / ] && [ "$(grep -c : /proc/net/dev)" = 1 ] && exit ${WORKS}`;

interface Probed {
  readonly status: number | null;
  readonly stderr: string;
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
  get(): SandboxState {
    this.#found ??= isMac
      ? onMac(this.#probeMs)
      : (this.#cannot() ?? this.#with((call) => spawnSync(...call)));
    return this.#found;
  }

  /** Probes without holding up anybody. Resolves when the answer is known. */
  async lookAhead(): Promise<void> {
    if (isMac) this.get();
    if (this.#found !== undefined || this.#cannot() !== undefined) return;
    const filter = new SeccompFile(machineHere());
    const fd = filter.open();
    try {
      const probed = await run(this.#call(fd));
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

  #with(probe: (call: Call) => { status: number | null; stderr: Buffer | string | null }): SandboxState {
    const filter = new SeccompFile(machineHere());
    const fd = filter.open();
    try {
      const { status, stderr } = probe(this.#call(fd));
      return stateOf({ status, stderr: String(stderr ?? "") });
    } finally {
      closeSync(fd);
      filter.close();
    }
  }

  #call(fd: number): Call {
    const confined = sandboxArguments({
      mounts: [{ op: "empty", path: "/tmp", isOpen: true }],
      hasNetwork: false,
      filterFd: FILTER_FD,
      lent: [],
    });
    const launch = { program: "/bin/sh", args: ["-c", LOOK], cwd: "/", confined };
    const [program, ...args] = namespaceIsolation(this.#bwrap ?? "").wrap(launch);
    const options = { timeout: this.#probeMs, killSignal: "SIGKILL" } as const;
    return [program, args, { ...options, stdio: ["ignore", "ignore", "pipe", "ignore", fd] }];
  }
}

type Call = [
  program: string,
  args: string[],
  options: {
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
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-probe-")));
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
    child.once("error", (error) => resolve({ status: null, stderr: error.message }));
    child.once("close", (status) => resolve({ status, stderr }));
  });
}

function stateOf({ status, stderr }: Probed): SandboxState {
  if (status === WORKS) return { available: true, kind: "bubblewrap" };
  const said = stderr.trim().replace(/\s+/g, " ").slice(0, WORDS_CHARS);
  const why = said === "" ? "bubblewrap does not work here" : `bubblewrap does not work here: ${said}`;
  const fix = `allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0); ${OFF}`;
  return { available: false, why, fix };
}

const host = new SandboxFinder();

export function hostSandbox(): SandboxState {
  return host.get();
}

export function lookAheadSandbox(): Promise<void> {
  return host.lookAhead();
}
