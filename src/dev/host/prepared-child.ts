/**
 * An OS child up to the point where its program begins: its namespaces and its sandbox are in place, and its first
 * process waits for us. So a child can be prepared before the program's arguments are known.
 *
 * The first process and the daemon talk over a socket at its fd 3. It sends a request when it is running, receives
 * the arguments of the program (none: those it was started with), reports that it has them, starts the program, and
 * reports its exit status when nothing else is left. The program never gets that socket, and a socket cannot be opened
 * through /proc.
 */
import type { Duplex } from "node:stream";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import type { Isolation, Job } from "./job.ts";
import type { Launched, Launcher, StdioWish } from "./launch.ts";
import type { Pipes } from "./pipes.ts";
import { childrenOf } from "./procfs.ts";
import { type Confinement, closeFilter } from "./sandbox/sandbox.ts";
import { type Started, type Streams, withStreams } from "./streams.ts";

interface Preparation {
  readonly spec: Pick<ExecSpec, "argv" | "cwd" | "stdin" | "isMerged" | "pty">;
  /** The absolute path of the program. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** `NAME=value`, an entry of `env` that only this child has. */
  readonly mark: string;
  readonly isolation: Isolation;
  readonly pipes: Pipes | undefined;
  readonly launch: Launcher;
  /** Whether no other program runs that could move what its sandbox is made of. Asked once that is in place. */
  readonly isAlone: () => boolean;
  /** Made before its command is known. */
  readonly isAhead?: boolean;
  /** Absent: the child runs unconfined. Released when nothing of the child is left, or when it did not start. */
  readonly confinement?: Confinement | undefined;
  /** It is the keeper of a sandbox, which starts programs later, and has no streams. */
  readonly keeper?: Keeper;
}

interface Keeper {
  readonly words: readonly string[];
  /** The child's fd 5. */
  readonly fd: number;
  /** Called with what it reports after it has begun, in pieces as they come. */
  onReport(piece: string): void;
}

/** A child whose program has not begun, or has. */
export interface Prepared {
  readonly launched: Pick<Launched, "leader" | "inputLink">;
  readonly streams: Streams;
  readonly confinement: Pick<Confinement, "isFixed" | "end"> | undefined;
  /** The program's exit status, reported when only the first process is left. Never settles if it is not reported. */
  readonly told: Promise<number>;
  /** undefined: the child did not start, or has not yet. */
  readonly job: Job | undefined;
  /** True once the first process has sent its request: all that confines the child is in place. */
  readonly hasAsked: boolean;
  /** True once the first process has its arguments: from then on the program may have run. */
  readonly hasBegun: boolean;
  heardAll(): Promise<void>;
  /** The setup's own error output (bubblewrap's), complete once that has ended. */
  words(): Promise<string>;
  begin(argv?: readonly string[]): void;
  /** Discards a child that is not needed: ends it and releases its confinement at once. */
  drop(): void;
  /** Closes all connections to the child, except its output. */
  close(): void;
}

/** What the first process has said by then: its request, and that it has its arguments. */
const BEGUN = "\n.\n";
const maxWordsChars = 4_096;
const MOVED = "a program that still runs moved a folder of it while it was made";

export class PreparedChild implements Prepared {
  readonly launched: Launched;
  readonly streams: Streams;
  readonly confinement: Confinement | undefined;
  readonly told: Promise<number>;
  readonly #channel: Duplex | null;
  #answer: string | undefined;
  #hasAsked: boolean;
  #hasBegun: boolean;
  readonly #heardAll: Promise<void>;
  readonly #said: Promise<string>;
  readonly #saying: Duplex | null;
  readonly #isAlone: () => boolean;
  readonly #jobOf: (leader: number) => Job;
  #job: Job | undefined;
  #isMoved = false;

  /** Throws what spawn throws, for an argument list that the host cannot take; everything is released then. */
  constructor(preparation: Preparation) {
    const { isolation, confinement } = preparation;
    this.confinement = confinement;
    this.#isAlone = preparation.isAlone;
    this.#jobOf = (leader) => isolation.job(leader, preparation.mark);
    this.#hasAsked = !isolation.asksAtStart;
    this.#hasBegun = this.#hasAsked;
    try {
      const { child, streams, channel, words } = spawnPrepared(preparation);
      this.launched = child;
      this.streams = streams;
      this.#channel = channel;
      this.#saying = words;
      this.#said = allOf(words);
    } catch (error) {
      confinement?.end();
      throw error;
    } finally {
      if (confinement !== undefined) closeFilter(confinement);
    }
    this.told = this.#hear(preparation.keeper);
    this.#heardAll = closed(this.#channel);
  }

  get job(): Job | undefined {
    const { pid } = this.launched.leader;
    if (pid !== undefined) this.#job ??= this.#jobOf(pid);
    return this.#job;
  }

  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  heardAll(): Promise<void> {
    return this.#heardAll;
  }

  words(): Promise<string> {
    return this.#isMoved ? Promise.resolve(MOVED) : this.#said;
  }

  begin(argv: readonly string[] = []): void {
    this.confinement?.begin();
    this.#answer = argv.length === 0 ? "\n" : [`${argv.length}\n`, ...argv.map(lines)].join("");
    if (this.#hasAsked) this.#send();
  }

  drop(): void {
    const { leader } = this.launched;
    leader.settle?.();
    if (leader.pid !== undefined || leader.started === undefined) this.#end();
    else void leader.started.then(() => this.#end());
    for (const { stream } of this.streams.outputs) stream.destroy();
    this.close();
  }

  #end(): void {
    this.job?.kill();
    this.confinement?.end();
  }

  close(): void {
    this.streams.stdin?.destroy();
    this.#channel?.destroy();
    this.#saying?.destroy();
  }

  /**
   * An answer proves to the first process that this daemon was alive when everything that ends with it was tied to
   * it.
   */
  #send(): void {
    this.#channel?.end(this.#answer);
  }

  #asked(): void {
    this.#hasAsked = true;
    if (this.#answer !== undefined) this.#send();
  }

  /** Ends it before its program begins if something was moved. */
  async #look(): Promise<void> {
    const { leader } = this.launched;
    await leader.started;
    const { pid } = leader;
    const [first] = pid === undefined ? [] : childrenOf(pid);
    this.#isMoved = first !== undefined && (await this.confinement?.isInPlace?.(first)) === false;
    if (this.#isMoved) this.job?.kill();
    else this.#asked();
  }

  #hear(keeper: Keeper | undefined): Promise<number> {
    const channel = this.#channel;
    return new Promise((resolve) => {
      let heard = "";
      // the asking process may have ended
      channel?.on("error", () => {});
      channel?.on("data", (chunk: Buffer) => {
        heard += chunk.toString("latin1");
        if (!this.#hasAsked) {
          if (this.#isAlone()) this.#asked();
          else void this.#look();
        }
        if (heard.startsWith(BEGUN)) this.#hasBegun = true;
        if (keeper !== undefined && this.#hasBegun) {
          keeper.onReport(heard.slice(BEGUN.length));
          heard = BEGUN;
        }
        const [, status] = /^\n\.\n(\d{1,3})\n/.exec(heard) ?? [];
        if (status !== undefined) resolve(Number(status));
      });
    });
  }
}

function closed(stream: Duplex | null): Promise<void> {
  return new Promise((resolve) => {
    if (stream === null) resolve();
    else stream.once("close", () => resolve());
  });
}

/** The beginning of what the stream delivers, once it has ended. Never rejects. */
function allOf(stream: Duplex | null): Promise<string> {
  if (stream === null) return Promise.resolve("");
  let words = "";
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString("utf8")).slice(0, maxWordsChars);
  });
  return new Promise((resolve) => stream.once("close", () => resolve(words)));
}

/** Encodes an argument as its number of lines, followed by these lines. */
function lines(word: string): string {
  return `${word.split("\n").length}\n${word}\n`;
}

interface Spawned extends Started {
  readonly channel: Duplex | null;
  /** The setup's own error output (bubblewrap's). */
  readonly words: Duplex | null;
}

function spawnPrepared(preparation: Preparation): Spawned {
  const {
    spec,
    program,
    env: own,
    isolation,
    pipes,
    launch,
    confinement,
    keeper,
    isAhead = false,
  } = preparation;
  const { cwd } = spec;
  const [first, ...args] = confinement?.argv ?? [program, ...spec.argv.slice(1)];
  const { options: confined, loopback } = confinement ?? {};
  const argv = isolation.wrap({
    program: first,
    args,
    cwd,
    ...(confined && { confined }),
    ...(loopback && { enter: loopback.enter }),
    ...(keeper && { first: keeper.words }),
  });
  const env = confinement?.env ?? own;
  let channel: Duplex | null = null;
  let words: Duplex | null = null;
  const spawn = (streams: readonly StdioWish[]) => {
    if (!isolation.asksAtStart) return launch({ argv, cwd, env, stdio: streams, isAhead });
    const [input = "ignore", out = "ignore", err = "ignore"] = streams;
    const filter = confinement?.filterFd ?? "ignore";
    // the program's output pipes are passed on as fds 5 and 6: nothing but the program holds them open
    const stdio = [input, "ignore", "pipe", "pipe", filter, out, err, ...(loopback?.fds ?? [])] as const;
    const child = launch({ argv, cwd, env, stdio, isAhead });
    const [stdin = null, , said = null, asked = null, , stdout = null, stderr = null] = child.pipes;
    channel = asked;
    words = said;
    return { ...child, pipes: [stdin, stdout, stderr] };
  };
  const started =
    keeper === undefined
      ? withStreams(spec, pipes, spawn)
      : { child: spawn(["ignore", keeper.fd]), streams: { stdin: null, outputs: [] } };
  return { ...started, channel, words };
}
