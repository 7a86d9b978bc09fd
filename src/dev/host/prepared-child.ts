/**
 * An OS child up to where its program begins: all that holds and confines it stands, and its first process waits for us. So one
 * can be made before it is known which words its program will have.
 *
 * Its first process and we talk over a socket at its fd 3: it asks when it is there, is answered with the words of the program
 * (none: those it was started with), and tells the status of the program when nothing else is left. The program never has that
 * socket, and a socket cannot be opened by way of /proc.
 */
import type { Duplex } from "node:stream";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import type { Isolation, Job } from "./job.ts";
import type { Launched, Launcher } from "./launch.ts";
import type { Pipes } from "./pipes.ts";
import { type Confinement, closeFilter } from "./sandbox/sandbox.ts";
import { type Started, type Streams, withStreams } from "./streams.ts";

export interface Preparation {
  readonly spec: Pick<ExecSpec, "argv" | "cwd" | "stdin" | "isMerged">;
  /** Absolute. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** `NAME=value` of `env` that only this child has. */
  readonly mark: string;
  readonly isolation: Isolation;
  readonly pipes: Pipes | undefined;
  readonly launch: Launcher;
  /** Absent: it is as the host is. Taken back when nothing of it is left, or it did not start. */
  readonly confinement?: Confinement | undefined;
}

const maxWordsChars = 4_096;

export class PreparedChild {
  readonly launched: Launched;
  readonly streams: Streams;
  /** undefined: it did not start. */
  readonly job: Job | undefined;
  readonly confinement: Confinement | undefined;
  /** The program's status, when nothing but the first process is left. Never settles where that was not told. */
  readonly told: Promise<number>;
  readonly #channel: Duplex | null;
  #answer: string | undefined;
  #hasAsked: boolean;
  readonly #said: Promise<string>;
  readonly #saying: Duplex | null;

  /** Throws what spawn throws: an argument list the host cannot take. Nothing is left then. */
  constructor(preparation: Preparation) {
    const { isolation, confinement } = preparation;
    this.confinement = confinement;
    this.#hasAsked = !isolation.asksAtStart;
    try {
      const { child, streams, channel, words } = spawnPrepared(preparation);
      this.launched = child;
      this.streams = streams;
      this.#channel = channel;
      this.#saying = words;
      this.#said = allOf(words);
      this.job = child.pid === undefined ? undefined : isolation.job(child.pid, preparation.mark);
    } catch (error) {
      confinement?.end();
      throw error;
    } finally {
      if (confinement !== undefined) closeFilter(confinement);
    }
    this.told = this.#hear();
  }

  /** Its first process was there: all that confines it stands. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  /** What was printed by what sets it up, which has ended. */
  words(): Promise<string> {
    return this.#said;
  }

  /** Absent `argv`: what it was made with. */
  begin(argv: readonly string[] = []): void {
    this.confinement?.begin();
    this.#answer = argv.length === 0 ? "\n" : [`${argv.length}\n`, ...argv.map(lines)].join("");
    if (this.#hasAsked) this.#send();
  }

  /** It is not needed: it is ended, and what confined it taken back at once. */
  drop(): void {
    this.job?.kill();
    this.confinement?.end();
    for (const { stream } of this.streams.outputs) stream.destroy();
    this.close();
  }

  /** Nothing more is said to it, or heard of it but its output. */
  close(): void {
    this.streams.stdin?.destroy();
    this.#channel?.destroy();
    this.#saying?.destroy();
  }

  /** Whoever is answered knows that this daemon lived when all that ends with it was tied to it. */
  #send(): void {
    this.#channel?.end(this.#answer);
  }

  #hear(): Promise<number> {
    const channel = this.#channel;
    return new Promise((resolve) => {
      let heard = "";
      // who asked may be gone
      channel?.on("error", () => {});
      channel?.on("data", (chunk: Buffer) => {
        heard += chunk.toString("latin1");
        if (!this.#hasAsked) {
          this.#hasAsked = true;
          if (this.#answer !== undefined) this.#send();
        }
        const [, status] = /^\n(\d{1,3})\n/.exec(heard) ?? [];
        if (status !== undefined) resolve(Number(status));
      });
    });
  }
}

/** The beginning of what comes, up to its end. Never rejects. */
function allOf(stream: Duplex | null): Promise<string> {
  if (stream === null) return Promise.resolve("");
  let words = "";
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString("utf8")).slice(0, maxWordsChars);
  });
  return new Promise((resolve) => stream.once("close", () => resolve(words)));
}

/** A word as how many lines it has, and these. */
function lines(word: string): string {
  return `${word.split("\n").length}\n${word}\n`;
}

interface Spawned extends Started {
  readonly channel: Duplex | null;
  /** From what sets it up. */
  readonly words: Duplex | null;
}

function spawnPrepared(preparation: Preparation): Spawned {
  const { spec, program, env: own, isolation, pipes, launch, confinement } = preparation;
  const { cwd } = spec;
  const [first, ...args] = confinement?.argv ?? [program, ...spec.argv.slice(1)];
  const { options: confined, loopback } = confinement ?? {};
  const argv = isolation.wrap({
    program: first,
    args,
    cwd,
    ...(confined && { confined }),
    ...(loopback && { enter: loopback.enter }),
  });
  const env = confinement?.env ?? own;
  let channel: Duplex | null = null;
  let words: Duplex | null = null;
  const started = withStreams(spec, pipes, (streams) => {
    if (!isolation.asksAtStart) return launch({ argv, cwd, env, stdio: streams });
    const [input = "ignore", out = "ignore", err = "ignore"] = streams;
    const filter = confinement?.filterFd ?? "ignore";
    // what the program prints to is handed through: nothing but the program holds it open
    const stdio = [input, "ignore", "pipe", "pipe", filter, out, err, ...(loopback?.fds ?? [])] as const;
    const child = launch({ argv, cwd, env, stdio });
    const [stdin = null, , said = null, asked = null, , stdout = null, stderr = null] = child.pipes;
    channel = asked;
    words = said;
    return { ...child, pipes: [stdin, stdout, stderr] };
  });
  return { ...started, channel, words };
}
