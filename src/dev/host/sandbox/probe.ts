/**
 * Finds out, once, whether programs can be confined on this machine: confines one and lets it inspect its sandbox.
 */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SandboxKind, SandboxState } from "../../../abi/sandbox.ts";
import { makeScratchFolder } from "../../../lib/scratch-folder.ts";
import { probeEnv } from "../isolation.ts";
import type { Isolation } from "../job.ts";
import { landlockIsolation, landlockKeeper } from "../landlock.ts";
import { namespaceIsolation } from "../namespace.ts";
import { hasChildren } from "../procfs.ts";
import { type Wrapper, wrappersHere } from "../wrapper.ts";
import { sandboxArguments } from "./arguments.ts";
import { seatbeltProbe } from "./macos.ts";
import { entriesOf, ruleArguments, rulesOf } from "./rules.ts";
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
const HELD = `fails() { echo "$1" >&2; exit 1; }
while read -r key value _; do
  case $key in NoNewPrivs:) held=$value ;; Seccomp:) filter=$value ;; esac
done < /proc/self/status
[ "$held" = 1 ] || fails 'rights can be gained in it'
[ "$filter" = 2 ] || fails 'no filter of system calls is at work in it'`;

const LOOK = `${HELD}
links=0
while read -r line; do case $line in *:*) links=$((links + 1)) ;; esac; done < /proc/net/dev
[ ! -w / ] || fails 'the files of the host can be written in it'
for path in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/kernel/uevent_helper; do
  [ ! -w $path ] || fails "$path can be written in it"
done
[ $links = 1 ] || fails 'it has a network'
exit ${WORKS}`;

/** The same for rules: its arguments are a folder that it may write, a file that is hidden and one that is not to be. */
const RULED_LOOK = `${HELD}
(: > "$1/x") 2>/dev/null || fails 'it cannot write where it may'
! (: > "$3") 2>/dev/null || fails 'the files of the host can be written in it'
! (: < "$2") 2>/dev/null || fails 'hidden files can be read in it'
! kill -0 "$PPID" 2>/dev/null || fails 'other processes can be signalled in it'
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
  /** The keeper of programs that Landlock confines; undefined: there is none. */
  readonly keeper?: Keeper | undefined;
  readonly probeMs?: number;
}

type Keeper = ReturnType<typeof landlockKeeper>;

/** One way to try. */
interface Candidate {
  readonly kind: SandboxKind;
  readonly isolation: Isolation;
}

export class SandboxFinder {
  readonly #candidates: readonly Candidate[];
  readonly #probeMs: number;
  #found: SandboxState | undefined;

  /** The wrappers are tried in this order, and the keeper last. Named wrappers are tried without a keeper. */
  constructor(options: FinderOptions = {}) {
    const { wrappers = wrappersHere(), probeMs = 2_000 } = options;
    const keeper = "keeper" in options || "wrappers" in options ? options.keeper : landlockKeeper();
    this.#candidates = [
      ...wrappers.map((wrapper) => ({ kind: wrapper.kind, isolation: namespaceIsolation(wrapper) })),
      ...(keeper === undefined ? [] : [{ kind: "landlock" as const, isolation: landlockIsolation(keeper) }]),
    ];
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
    const failed: Unavailable[] = [];
    for (const candidate of this.#candidates) {
      const trial = this.#trial(candidate, owner);
      const probed = await run(trial.call).finally(trial.end);
      this.#found ??= foundBy(candidate, probed, failed);
      if (this.#found !== undefined) return;
    }
    this.#found ??= allFailed(failed);
  }

  #cannot(): SandboxState | undefined {
    if (process.platform === "linux" && this.#candidates.length === 0) return NOT_THERE;
    if (process.platform !== "linux" || !hasChildren || MACHINES[process.arch] === undefined)
      return {
        available: false,
        why: `commands cannot be confined on ${process.platform} ${process.arch}`,
        fix: OFF,
      };
    return undefined;
  }

  #probe(owner?: string): SandboxState {
    const failed: Unavailable[] = [];
    for (const candidate of this.#candidates) {
      const { call, end } = this.#trial(candidate, owner);
      try {
        const { status, stderr, error } = spawnSync(...call);
        const found = foundBy(candidate, { status, stderr: String(stderr ?? ""), error }, failed);
        if (found !== undefined) return found;
      } finally {
        end();
      }
    }
    return allFailed(failed);
  }

  #trial({ kind, isolation }: Candidate, owner: string | undefined): { readonly call: Call; end(): void } {
    const dir = realpathSync(makeScratchFolder("crux-probe-"));
    const filter = new SeccompFile(machineHere(), kind === "landlock" ? "none" : undefined);
    const fd = filter.open();
    const launch = kind === "landlock" ? ruledLook(dir) : mountedLook();
    const [program, ...args] = isolation.wrap({ program: "/bin/sh", cwd: "/", ...launch });
    const options = { env: probeEnv(owner), timeout: this.#probeMs, killSignal: "SIGKILL" } as const;
    return {
      call: [program, args, { ...options, stdio: ["ignore", "ignore", "pipe", "ignore", fd] }],
      end: () => {
        closeSync(fd);
        filter.close();
        rmSync(dir, { recursive: true, force: true });
      },
    };
  }
}

interface Look {
  readonly args: readonly string[];
  readonly confined: readonly string[];
}

function mountedLook(): Look {
  const confined = sandboxArguments({
    mounts: [{ op: "empty", path: "/tmp", isOpen: true }],
    hasNetwork: false,
    filterFd: FILTER_FD,
    lent: [],
  });
  return { args: ["-c", LOOK], confined };
}

/** `dir`: an empty folder of ours. */
function ruledLook(dir: string): Look {
  const own = join(dir, "own");
  const hidden = join(dir, "hidden");
  mkdirSync(own);
  writeFileSync(hidden, "hidden\n");
  const { rules } = rulesOf(
    [
      { op: "blank", path: hidden, kind: "file" },
      { op: "write", path: own },
    ],
    entriesOf,
  );
  return {
    args: ["-c", RULED_LOOK, "sh", own, hidden, join(dir, "canary")],
    confined: ruleArguments(rules, { isOnHost: false, filterFd: FILTER_FD }),
  };
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

const NAMES = {
  bubblewrap: "bubblewrap does",
  namespaces: "namespaces made without bubblewrap do",
  landlock: "Landlock does",
  seatbelt: "sandbox-exec does",
} as const;

/** undefined: it does not confine, and `failed` has got the reason. */
function foundBy(
  { kind }: Candidate,
  { status, stderr, error }: Probed,
  failed: Unavailable[],
): SandboxState | undefined {
  const [best] = failed;
  // namespaces promise what bubblewrap does: why that is not used matters to nobody
  if (status === WORKS) {
    if (kind !== "landlock") return { available: true, kind };
    const { why, fix } = best === undefined ? NOT_THERE : allFailed(failed);
    return { available: true, kind, why, fix: fix.replace(`; ${OFF}`, "") };
  }
  const said = stderr.trim().replace(/\s+/g, " ").slice(0, WORDS_CHARS) || error?.message;
  const why = `${NAMES[kind]} not work here: ${said ?? `exit code ${status}, without a word`}`;
  // some systems permit bubblewrap what they forbid other programs
  const [repair, allow] =
    kind === "bubblewrap" ? ["repair that", NAMESPACES] : [INSTALL, `${INSTALL}, or ${NAMESPACES}`];
  failed.push({ available: false, why, fix: `${FORBIDDEN.test(stderr) ? allow : repair}; ${OFF}` });
  return undefined;
}

/** The remedy is that of the first, which is the best that is installed. */
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
