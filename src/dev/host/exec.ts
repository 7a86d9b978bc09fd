/**
 * OS children of the daemon. Each has its own process group and, where namespaces can be made, a pid namespace that dies
 * with the daemon. The second line of defence is two marks in its environment: CRUX_OWNER names the daemon
 * (orphans.ts finds what a dead daemon left), CRUX_EXEC_ID names the child and its descendants (family.ts). A child
 * that starts a new daemon must drop both marks from its environment.
 */
import { randomBytes } from "node:crypto";
import type { DriverError } from "../../abi/errors.ts";
import type { Clock } from "../../abi/program.ts";
import type { SandboxState } from "../../abi/sandbox.ts";
import type { ExecChild, ExecSpec, HostExec } from "../../kernel/ports/host.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { cancelled, driverError } from "../driver-error.ts";
import { findProgram, isDirectory } from "../program.ts";
import { type Begun, defaultGraceMs, HostChild, notStarted } from "./child.ts";
import { hostIsolation, lookAhead } from "./isolation.ts";
import type { ExecEnd, Isolation } from "./job.ts";
import { Ahead } from "./kept/ahead.ts";
import { keeperEnv, keeperWords } from "./kept/keeper-in-perl.ts";
import { type KeptOptions, KeptSandbox } from "./kept/kept-sandbox.ts";
import { landlockIsolation, landlockKeeper } from "./landlock.ts";
import { hostLaunch, type Launcher } from "./launch.ts";
import { findLibc } from "./libc.ts";
import { namespaceIsolation } from "./namespace.ts";
import { type Owner, ownerMark } from "./orphans.ts";
import { Pipes } from "./pipes.ts";
import { PreparedChild } from "./prepared-child.ts";
import { Loopbacks } from "./sandbox/loopback.ts";
import { hostSandbox, lookAheadSandbox } from "./sandbox/probe.ts";
import { type Confine, type Confinement, Sandboxes } from "./sandbox/sandbox.ts";
import { wrappersHere } from "./wrapper.ts";

interface HostProcessesOptions extends Owner {
  /**
   * A directory used only for pipes, created here and removed at the end. Absent: streams are sockets, which programs
   * cannot open by name.
   */
  readonly pipesDir?: string;
  /** Called for each child, with the owner's mark for any process that it starts as a probe. */
  readonly isolation?: (owner: string) => Isolation;
  readonly launch?: () => Launcher;
  /** Whether children can be confined; called for each child that must be. */
  readonly sandbox?: (owner: string) => SandboxState;
  /** False: a sandbox serves one command, as where no keeper can be had. */
  readonly isKeeping?: boolean;
  /** Makes the sandboxes, in directories of its own; closed after the children. */
  readonly sandboxes?: Sandboxes;
  /** The clock for grace periods; default: the machine's clock. */
  readonly clock?: Pick<Clock, "mono" | "sleep">;
}

interface Preparing {
  /** Of the children that run now, those that can move nothing that it is made of. */
  readonly known: number;
  /** The children that come at once: it may be one itself. */
  readonly adopts?: number;
  readonly isAhead?: boolean;
}

interface Wanted {
  readonly spec: ExecSpec;
  readonly program: string;
  /** True: before its command is known. */
  readonly isAhead: boolean;
  readonly isKept?: boolean;
}

type MarkedEnv = ExecSpec["env"] & { readonly CRUX_EXEC_ID: string };

export class HostProcesses implements HostExec {
  readonly #owner: string;
  readonly #isolation: (owner: string) => Isolation;
  readonly #launch: () => Launcher;
  readonly #clock: Pick<Clock, "mono" | "sleep">;
  readonly #pipes: Pipes | undefined;
  readonly #sandbox: (owner: string) => SandboxState;
  readonly #sandboxes: Sandboxes;
  readonly #children = new Set<HostChild>();
  /** How many there were. */
  #adopted = 0;
  readonly #ahead: Ahead;
  readonly #loopbacks: Loopbacks;
  /** Children that have exited, but whose namespace or sandbox has not ended yet. */
  readonly #ending = new Set<Promise<unknown>>();
  readonly #isKeeping: boolean;
  /** Of keepers, before any has taken a command. */
  #failures = 0;
  #againAtMs = 0;
  #isClosed = false;

  constructor({
    kernelId,
    epoch,
    stateDir,
    pipesDir,
    isolation = hostIsolation,
    launch = hostLaunch,
    sandbox = hostSandbox,
    sandboxes = new Sandboxes(),
    isKeeping = true,
    clock = systemClock,
  }: HostProcessesOptions) {
    this.#clock = clock;
    this.#ahead = new Ahead(
      {
        prepare: (spec, program, known) =>
          this.#keep(spec, program, known) ?? this.#prepare(spec, program, { known, isAhead: true }),
        dressed: (spec, program) => {
          this.#failures = 0;
          return this.#dressed(spec, program);
        },
        wantedOf: (spec, program) => this.#wantedOf(spec, program),
      },
      clock,
    );
    this.#sandbox = sandbox;
    this.#sandboxes = sandboxes;
    this.#isKeeping = isKeeping;
    this.#owner = ownerMark({ kernelId, epoch, stateDir });
    this.#loopbacks = new Loopbacks(this.#owner, () => this.#confining().wrapper);
    this.#isolation = isolation;
    this.#launch = launch;
    this.#pipes = pipesDir === undefined ? undefined : new Pipes(pipesDir);
  }

  get ownership(): HostExec["ownership"] {
    return this.#isolation(this.#owner).ownership;
  }

  get sandbox(): SandboxState {
    return this.#sandbox(this.#owner);
  }

  get live(): number {
    return this.#children.size;
  }

  /** The number of sandboxes that wait for their commands. */
  get spares(): number {
    return this.#ahead.size;
  }

  /**
   * The owner of an OS process that was started here: the CRUX_SESSION_ID it was given, or null without one.
   * undefined: not a process of ours.
   */
  ownerOf(osPid: number): string | null | undefined {
    for (const child of this.#children)
      if (child.osPid === osPid) return child.spec.env.CRUX_SESSION_ID ?? null;
    return this.#ahead.ownerOf(osPid);
  }

  /** Does the probing and preparation that the first child would otherwise wait for. */
  async lookAhead(): Promise<void> {
    this.#launch();
    await lookAhead(this.#owner);
    await lookAheadSandbox(this.#owner);
    if (this.sandbox.available) await this.#loopbacks.lookAhead();
    await this.#pipes?.makeMore();
  }

  run(spec: ExecSpec, signal: AbortSignal): ExecChild {
    const program = this.#check(spec, signal);
    if (typeof program !== "string") return new DeadChild({ code: null, signal: null, error: program });
    try {
      const child = this.#start(spec, program);
      this.#adopt(child, signal);
      void this.#followUp(child, program);
      return child;
    } catch (error) {
      return new DeadChild(notStarted(spec, error));
    }
  }

  find({ argv, cwd, env }: Parameters<HostExec["find"]>[0]): string {
    const found = findStart(argv, cwd, env);
    if (typeof found === "string") return found;
    throw found;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const end = (child: HostChild) =>
      child.kill(Math.min(child.spec.graceMs ?? defaultGraceMs, defaultGraceMs));
    await Promise.all([...this.#children].map(end));
    await Promise.all([...this.#ending, this.#ahead.close()]);
    this.#loopbacks.close();
    this.#sandboxes.close();
    await this.#pipes?.close();
  }

  #check(spec: ExecSpec, signal: AbortSignal): string | DriverError {
    if (this.#isClosed) return driverError("Open", "UNAVAILABLE", "the daemon is shutting down");
    if (signal.aborted) return cancelled("Open");
    return findStart(spec.argv, spec.cwd, spec.env);
  }

  #start(spec: ExecSpec, program: string): HostChild {
    const ready = spec.pty === undefined ? this.#ahead.take(spec, program) : undefined;
    const again = () => {
      const prepared = this.#prepare(spec, program, { known: 1 });
      prepared.begin();
      return prepared;
    };
    if (ready === undefined) {
      const prepared = this.#prepare(spec, program, { known: 0, adopts: 1 });
      // files may come and go while its mounts are made
      const isRenewable = prepared.confinement !== undefined && spec.pty === undefined;
      return this.#begin({ spec, prepared, ...(isRenewable ? { again } : {}) });
    }
    const child = this.#begin({ spec, prepared: ready, again }, [program, ...spec.argv.slice(1)]);
    // while it runs, unless it could move a hidden file away until the mounts are made, and put it back then
    if (ready.confinement?.isFixed === true) void this.#ahead.follow(spec, program, 1);
    return child;
  }

  #begin(child: Omit<Begun, "clock">, argv: readonly string[] = []): HostChild {
    try {
      child.prepared.begin(argv);
      return new HostChild({ ...child, clock: this.#clock });
    } catch (error) {
      child.prepared.drop();
      throw error;
    }
  }

  /** Where none was made while it ran, or that one is gone. Never rejects. */
  async #followUp({ spec, exited }: HostChild, program: string): Promise<void> {
    if ((await exited).error === undefined && spec.pty === undefined)
      await this.#ahead.follow(spec, program, 0);
  }

  #prepare(
    spec: ExecSpec,
    program: string,
    { known, adopts = 0, isAhead = false }: Preparing,
  ): PreparedChild {
    const { env, mark } = this.#dressed(spec, program);
    const isAlone = this.#alone(known, adopts);
    const launch = this.#launch();
    const confinement = this.#confine({ spec, program, isAhead }, env);
    const isolation = confinement === undefined ? this.#isolation(this.#owner) : this.#confining();
    const child = { spec, program, env, mark, isolation, launch, isAlone, isAhead, confinement };
    return new PreparedChild({ ...child, pipes: this.#pipes });
  }

  #dressed(spec: ExecSpec, program: string) {
    const id = randomBytes(12).toString("hex");
    const env = { ...shellDepth(spec), CRUX_OWNER: this.#owner, CRUX_EXEC_ID: id };
    return { spec, program, env, mark: `CRUX_EXEC_ID=${id}` };
  }

  #alone(known: number, adopts: number): () => boolean {
    const wasAlone = this.#children.size <= known;
    const adopted = this.#adopted + adopts;
    return () => wasAlone && this.#adopted === adopted;
  }

  /** A sandbox for all that the process runs like this; undefined: none can be made here. */
  #keep(spec: ExecSpec, program: string, known: number): KeptSandbox | undefined {
    const words = this.#isKeeping ? keeperWords() : undefined;
    const libc = findLibc();
    const isolation = this.#confining();
    if (libc === undefined || words === undefined || isolation.wrapper?.kind !== "bubblewrap")
      return undefined;
    if (this.#failures >= maxFailures && this.#clock.mono() < this.#againAtMs) return undefined;
    const { env, mark } = this.#dressed(spec, program);
    const confinement = this.#confine({ spec, program, isAhead: true, isKept: true }, env);
    if (confinement?.isKept !== true) {
      confinement?.end();
      return undefined;
    }
    const { CRUX_OWNER, CRUX_EXEC_ID } = env;
    const own = { ...confinement, env: { CRUX_OWNER, CRUX_EXEC_ID, ...keeperEnv() }, begin: () => {} };
    const child = { spec: KEEPER, program, env: own.env, mark, isolation, isAhead: true, pipes: undefined };
    const preparing = { ...child, launch: this.#launch(), isAlone: this.#alone(known, 0), confinement: own };
    const start: KeptOptions["start"] = (fd, onReport) =>
      new PreparedChild({ ...preparing, keeper: { words, fd, onReport } });
    const kept = new KeptSandbox({ libc, pipes: this.#pipes, confinement, start });
    void kept.ended.then(() => {
      if (!kept.hasFailed) return;
      this.#failures++;
      this.#againAtMs = this.#clock.mono() + againMs;
    });
    return kept;
  }

  /** UNAVAILABLE: the child cannot be confined, and so must not start. */
  #confine({ spec, program, ...kind }: Wanted, env: MarkedEnv): Confinement | undefined {
    const wanted = this.#wantedOf(spec, program);
    if (wanted === undefined) return undefined;
    const state = this.#sandbox(this.#owner);
    if (!state.available)
      throw driverError("Open", "UNAVAILABLE", `the sandbox is not available: ${state.why}; ${state.fix}`);
    if (isByNamespaces(state.kind) && this.#confining().ownership !== "namespace")
      throw driverError("Open", "UNAVAILABLE", "the sandbox is not available: no pid namespaces here");
    return this.#sandboxes.confine({ ...wanted, id: env.CRUX_EXEC_ID, env, ...kind, kind: state.kind });
  }

  /** The isolation of confined children: another wrapper may be able to confine than the one for all others. */
  #confining(): Isolation {
    const isolation = this.#isolation(this.#owner);
    const state = this.#sandbox(this.#owner);
    const keeper = state.available && state.kind === "landlock" ? landlockKeeper() : undefined;
    if (keeper !== undefined) return landlockIsolation(keeper);
    const wrapper = state.available ? wrappersHere().find(({ kind }) => kind === state.kind) : undefined;
    if (wrapper === undefined || isolation.wrapper?.kind === wrapper.kind) return isolation;
    return isolation.ownership === "namespace" ? namespaceIsolation(wrapper) : isolation;
  }

  #wantedOf({ argv, cwd, env, sandbox, process }: ExecSpec, program: string): Confine | undefined {
    if (sandbox == null) return undefined;
    const isAlone = sandbox.network !== "off" || process === undefined;
    const loopback = isAlone ? undefined : this.#loopbacks.of(process);
    return { id: "", profile: sandbox, argv: [program, ...argv.slice(1)], cwd, env, loopback };
  }

  #adopt(child: HostChild, signal: AbortSignal): void {
    const onAbort = () => void child.kill();
    const onKilled = () => void child.kill(0);
    const { killed } = child.spec;
    signal.addEventListener("abort", onAbort, { once: true });
    killed?.addEventListener("abort", onKilled, { once: true });
    if (killed?.aborted) onKilled();
    this.#children.add(child);
    this.#adopted++;
    void child.exited.then(() => {
      signal.removeEventListener("abort", onAbort);
      killed?.removeEventListener("abort", onKilled);
      this.#children.delete(child);
    });
    const gone = child.gone.finally(() => this.#ending.delete(gone));
    this.#ending.add(gone);
  }
}

/** After so many in a row no other is tried for a while: something here does not let them be, or files come and go. */
const maxFailures = 3;
const againMs = 60_000;
const KEEPER = { argv: ["keeper"], cwd: "/" } as const;

const isByNamespaces = (kind: string): boolean => kind === "bubblewrap" || kind === "namespaces";

/**
 * stdin is a socket, which bash takes for a remote login; it would then read ~/.bashrc unless SHLVL says that it is
 * an inner shell.
 */
function shellDepth({ env, stdin }: ExecSpec): ExecSpec["env"] {
  return stdin !== "pipe" || Number(env.SHLVL) >= 1 ? env : { ...env, SHLVL: "1" };
}

function findStart(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): string | DriverError {
  if (!isDirectory(cwd)) return driverError("Open", "NOT_FOUND", `working directory not found: ${cwd}`);
  return findProgram(argv[0] ?? "", cwd, env);
}

/** A program that did not start. */
class DeadChild implements ExecChild {
  readonly osPid = undefined;
  readonly exited: Promise<ExecEnd>;
  readonly #error: Error | undefined;

  constructor(end: ExecEnd) {
    this.exited = Promise.resolve(end);
    this.#error = end.error;
  }

  async write(): Promise<void> {
    throw this.#error;
  }

  endInput(): void {}

  signal(): boolean {
    return false;
  }

  async kill(): Promise<void> {}
}
