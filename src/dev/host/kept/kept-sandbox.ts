/**
 * A sandbox kept for the commands of one process that are confined alike: made once, by bubblewrap, with a keeper
 * (keeper-in-perl.ts) as its first process. Each command has namespaces of its own inside, so none reaches another or the
 * keeper; what they have in common are the mounts, the /tmp and the network that all commands of that process have.
 */
import { closeSync } from "node:fs";
import type { ExecSpec } from "../../../kernel/ports/host.ts";
import type { JobSignal } from "../job.ts";
import { type Launched, type LeaderEnd, leaderEnd, withStdio } from "../launch.ts";
import type { Libc } from "../libc.ts";
import { NamespaceJob } from "../namespace.ts";
import type { Pipes } from "../pipes.ts";
import type { Prepared, PreparedChild } from "../prepared-child.ts";
import { childrenOf, innerPidOf } from "../procfs.ts";
import type { Confinement } from "../sandbox/sandbox.ts";
import { withStreams } from "../streams.ts";
import { MESSAGE_BYTES } from "./keeper-in-perl.ts";

type Sender = Pick<Libc, "sendFds" | "socketPair">;

export interface KeptOptions {
  readonly libc: Sender;
  readonly pipes: Pipes | undefined;
  readonly confinement: Confinement;
  /** Starts the keeper with this fd of its own, told of what it reports. */
  readonly start: (fd: number, onReport: (piece: string) => void) => PreparedChild;
}

/** A command, as its keeper is to start it. */
export interface Command {
  readonly spec: Pick<ExecSpec, "argv" | "cwd" | "stdin" | "isMerged">;
  /** The absolute path of the program. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** `NAME=value`, an entry of `env` that only this command has. */
  readonly mark: string;
}

const SIGKILLED: LeaderEnd = { code: null, signal: "SIGKILL" };
/** A keeper that works starts a command within this time. */
const STUCK_MS = 2_000;
/** In place of a leader that the keeper starts. */
const NONE = { pid: undefined, ended: Promise.resolve(SIGKILLED) };

export class KeptSandbox {
  readonly confinement: Confinement;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<void>;
  readonly #libc: Sender;
  readonly #pipes: Pipes | undefined;
  readonly #keeper: PreparedChild;
  readonly #commands: number;
  readonly #running = new Map<string, KeptChild>();
  #heard = "";
  #last = 0;
  #lastAsked = 0;
  #isOver = false;
  #hasFailed = false;

  /** Throws what starting the keeper throws. */
  constructor({ libc, pipes, confinement, start }: KeptOptions) {
    this.confinement = confinement;
    this.#libc = libc;
    this.#pipes = pipes;
    const [ours, theirs] = libc.socketPair(true);
    this.#commands = ours;
    try {
      this.#keeper = start(theirs, (piece) => this.#hear(piece));
    } catch (error) {
      closeSync(ours);
      throw error;
    } finally {
      closeSync(theirs);
    }
    this.#keeper.begin();
    const { leader } = this.#keeper.launched;
    // what it reported last is read after it has ended
    this.ended = Promise.all([leader.ended, this.#keeper.heardAll()]).then(() => this.#end());
  }

  /** Of the process that was started here. */
  get osPid(): number | undefined {
    return this.#keeper.launched.leader.pid;
  }

  /** It takes no further command. */
  get isOver(): boolean {
    return this.#isOver;
  }

  get isReady(): boolean {
    return this.#keeper.hasBegun && !this.#isOver;
  }

  /** It ended by itself before it could take a command. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Whether commands run in it. */
  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether a command runs in it, or has since this was last asked. */
  wasUsed(): boolean {
    const was = this.isBusy || this.#last > this.#lastAsked;
    this.#lastAsked = this.#last;
    return was;
  }

  /** Starts the command; undefined: the keeper does not take it. Throws the host's error when no fds are left. */
  run(command: Command): Prepared | undefined {
    const { spec, program } = command;
    const { env: inside } = this.confinement;
    const env = Object.entries({ ...command.env, TMPDIR: inside.TMPDIR ?? "" });
    const words = [program, ...spec.argv.slice(1)];
    const id = String(++this.#last);
    const fields = [
      id,
      spec.cwd,
      String(words.length),
      ...words,
      ...env.map(([name, value]) => `${name}=${value}`),
    ];
    const message = Buffer.from(fields.join("\0"));
    if (!this.isReady || message.length > MESSAGE_BYTES || fields.some((field) => field.includes("\0")))
      return undefined;
    const child = new KeptChild({
      command,
      pipes: this.#pipes,
      confinement: { isFixed: true, end: this.confinement.use() },
      innerOf: (pid) => this.#innerOf(pid),
      onKill: () => this.#seeToIt(id),
      send: (fds) => this.#libc.sendFds(this.#commands, message, fds),
      libc: this.#libc,
    });
    if (!child.isSent) {
      child.drop();
      return undefined;
    }
    this.#running.set(id, child);
    return child;
  }

  /** Takes no further command; ends when none runs in it any more. */
  drop(): void {
    this.#isOver = true;
    if (!this.isBusy) this.#keeper.drop();
  }

  /** One that is killed before it has begun: a keeper that does not start it, so that there is nothing to kill, is ended. */
  #seeToIt(id: string): void {
    setTimeout(() => {
      // what it has reported of others is yet read: a command that has begun must not begin anew
      if (this.#running.get(id)?.isComing === true) this.#keeper.job?.kill();
    }, STUCK_MS).unref();
  }

  #innerOf(pid: number): number | undefined {
    const { pid: outer } = this.#keeper.launched.leader;
    const [keeper] = outer === undefined ? [] : childrenOf(outer);
    return keeper === undefined ? undefined : innerPidOf(keeper, pid);
  }

  #hear(piece: string): void {
    const lines = (this.#heard + piece).split("\n");
    this.#heard = lines.pop() ?? "";
    for (const line of lines) {
      const [what, id = "", number] = line.split(" ");
      const child = this.#running.get(id);
      if (what === "s") child?.taken(Number(number));
      else if (what === "b") child?.begun();
      else if (what === "c") child?.tell(Number(number));
      else if (what === "e") this.#ended(id, leaderEnd(Number(number)));
      else this.#retire();
    }
  }

  #ended(id: string, end: LeaderEnd): void {
    const child = this.#running.get(id);
    this.#running.delete(id);
    child?.ended(end);
    if (this.#isOver && !this.isBusy) this.#keeper.drop();
  }

  #retire(): void {
    this.#isOver = true;
    for (const [id, child] of [...this.#running]) if (child.isComing) this.#ended(id, SIGKILLED);
  }

  #end(): void {
    this.#hasFailed = !this.#isOver && !this.#keeper.hasBegun;
    this.#isOver = true;
    for (const id of [...this.#running.keys()]) this.#ended(id, SIGKILLED);
    this.#keeper.close();
    this.confinement.end();
    closeSync(this.#commands);
  }
}

interface KeptChildOptions {
  readonly command: Command;
  readonly pipes: Pipes | undefined;
  readonly libc: Sender;
  readonly confinement: Prepared["confinement"];
  /** Called when it is killed, and its first process is not there yet. */
  readonly onKill: () => void;
  /** The pid here of a process that has this pid to the keeper. */
  readonly innerOf: (pid: number) => number | undefined;
  /** Its streams. False: not sent. */
  readonly send: (fds: readonly number[]) => boolean;
}

class KeptChild implements Prepared {
  readonly launched: Pick<Launched, "leader" | "inputLink">;
  readonly streams: Prepared["streams"];
  readonly confinement: Prepared["confinement"];
  readonly told: Promise<number>;
  readonly job: NamespaceJob;
  readonly hasAsked = true;
  readonly isSent: boolean;
  hasBegun = false;
  readonly #innerOf: KeptChildOptions["innerOf"];
  readonly #onKill: KeptChildOptions["onKill"];
  readonly #early: (JobSignal | "SIGKILL")[] = [];
  readonly #tell: (code: number) => void;
  #resolve: ((end: LeaderEnd) => void) | undefined;
  /** The pid of its first process, as the keeper sees it, and as we do. */
  #inner: number | undefined;
  #pid: number | undefined;

  constructor({ command, pipes, confinement, libc, innerOf, onKill, send }: KeptChildOptions) {
    const { spec, mark } = command;
    this.confinement = confinement;
    this.#innerOf = innerOf;
    this.#onKill = onKill;
    this.job = new NamespaceJob({ first: () => this.#first(), later: (name) => this.#later(name) }, mark);
    const end = Promise.withResolvers<LeaderEnd>();
    const told = Promise.withResolvers<number>();
    this.#resolve = end.resolve;
    this.told = told.promise;
    this.#tell = told.resolve;
    let isSent = false;
    const { child, streams } = withStreams(spec, pipes, (stdio) => {
      const { started, ...ends } = withStdio({ libc, stdio }, send);
      isSent = started;
      return { leader: NONE, ...ends };
    });
    const first = () => this.#first();
    const leader = {
      get pid() {
        return first();
      },
      ended: end.promise,
    };
    this.launched = { inputLink: child.inputLink, leader };
    this.streams = streams;
    this.isSent = isSent;
  }

  /** Its end is told after all that was reported. */
  heardAll(): Promise<void> {
    return Promise.resolve();
  }

  words(): Promise<string> {
    return Promise.resolve("");
  }

  begin(): void {}

  drop(): void {
    if (this.isSent) this.job.kill();
    for (const { stream } of this.streams.outputs) stream.destroy();
    this.close();
    this.confinement?.end();
  }

  close(): void {
    this.streams.stdin?.destroy();
  }

  /** Its first process is not there yet. */
  get isComing(): boolean {
    return this.#inner === undefined && this.#resolve !== undefined;
  }

  /** By this first process. */
  taken(pid: number): void {
    this.#inner = pid;
    for (const name of this.#early.splice(0)) name === "SIGKILL" ? this.job.kill() : this.job.signal(name);
  }

  /** Its program may have run. */
  begun(): void {
    this.hasBegun = true;
  }

  /** The program's exit status: only the first process is left. */
  tell(code: number): void {
    this.#tell(code);
  }

  /** Nothing of it is left. */
  ended(end: LeaderEnd): void {
    this.#pid ??= 0;
    this.#resolve?.(end);
    this.#resolve = undefined;
  }

  #first(): number | undefined {
    if (this.#pid === undefined && this.#inner !== undefined) this.#pid = this.#innerOf(this.#inner);
    return this.#pid || undefined;
  }

  #later(name: JobSignal | "SIGKILL"): boolean {
    if (!this.isComing) return false;
    this.#early.push(name);
    if (name === "SIGKILL") this.#onKill();
    return true;
  }
}
