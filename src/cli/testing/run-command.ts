import { EventEmitter } from "node:events";
import { runCli } from "../cli.ts";
import type { Host } from "../host/host.ts";
import type { StreamKind } from "../host/stream-kind.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import type { Input, Lifecycle, Output } from "../terminal/streams.ts";
import { FakeDaemon } from "./fake-daemon.ts";
import { intentArgv } from "./intent-argv.ts";

/** The text written to one stream. */
export class FakeOutput extends EventEmitter implements Output {
  readonly isTTY: boolean;
  columns = 80;
  rows = 24;
  readonly #chunks: Buffer[] = [];
  #awaited: ReadonlyArray<readonly [text: string, found: () => void]> = [];

  constructor(isTTY = false) {
    super();
    this.isTTY = isTTY;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  get text(): string {
    return this.bytes.toString("utf8");
  }

  /** From now on `text` holds only new output. */
  clear(): void {
    this.#chunks.length = 0;
  }

  write(text: string | Uint8Array, done: () => void): boolean {
    this.#chunks.push(Buffer.from(text as string));
    done();
    for (const [wanted, found] of this.#awaited) if (this.text.includes(wanted)) found();
    return true;
  }

  /** Resolves once the output contains the text. */
  async shows(wanted: string): Promise<void> {
    if (this.text.includes(wanted)) return;
    await new Promise<void>((found) => {
      this.#awaited = [...this.#awaited, [wanted, found]];
    });
  }
}

/** The registered undo functions, and how often the process was suspended. */
class FakeLifecycle implements Lifecycle {
  readonly undos = new Set<() => void>();
  suspended = 0;

  onEnd(undo: () => void): () => void {
    this.undos.add(undo);
    return () => this.undos.delete(undo);
  }

  /** How often the reader of stdout was watched. */
  watched = 0;

  async endWithReader(): Promise<Disposable> {
    this.watched++;
    return { [Symbol.dispose]: () => {} };
  }

  readonly terminating = new Set<() => void>();
  onStop(): () => void {
    return () => {};
  }

  onTerminate(stop: () => void): () => void {
    this.terminating.add(stop);
    return () => this.terminating.delete(stop);
  }

  readonly leaving = new Set<() => void>();
  async onReaderGone(gone: () => void): Promise<() => void> {
    this.leaving.add(gone);
    return () => this.leaving.delete(gone);
  }

  async suspend(): Promise<void> {
    this.suspended++;
  }
}

/** A terminal to type at, or a pipe with its whole content. */
export class FakeInput extends EventEmitter implements Input {
  readonly isTTY: boolean;
  /** A test types when it has seen the question. */
  settlingMs = 0;
  isRaw = false;
  isFlowing = false;
  readonly #content: string | undefined;

  constructor(content?: string) {
    super();
    this.isTTY = content === undefined;
    this.#content = content;
  }

  resume(): void {
    this.isFlowing = true;
    if (this.#content === undefined) return;
    if (this.#content !== "") this.emit("data", Buffer.from(this.#content));
    this.emit("end");
  }

  pause(): void {
    this.isFlowing = false;
  }

  setRawMode(on: boolean): void {
    this.isRaw = on;
  }

  type(keys: string): void {
    this.emit("data", Buffer.from(keys));
  }
}

export interface Run extends Pick<FakeLifecycle, "watched"> {
  readonly out: string;
  /** stdout, byte for byte. */
  readonly bytes: Buffer;
  readonly err: string;
  readonly code: number;
  readonly daemon: FakeDaemon;
}

export interface Machine {
  readonly host: Host;
  readonly stdin: FakeInput;
  readonly stdout: FakeOutput;
  readonly stderr: FakeOutput;
  readonly lifecycle: FakeLifecycle;
  /** Presses Ctrl-C. */
  interrupt(): void;
}

interface Parts {
  daemon?: FakeDaemon;
  env?: Record<string, string>;
  /** Content of stdin; absent: stdin is a terminal. */
  stdin?: string;
  /** stdout and stderr are terminals. */
  isTerminal?: boolean;
  /** What a shell has connected; the default is neither a pipe nor a file. */
  stdinKind?: StreamKind;
  stdoutKind?: StreamKind;
  /** Keeps the line as typed: a lone word is not moved behind `--` (`intentArgv`). */
  asTyped?: true;
}

export function aMachine({
  daemon = new FakeDaemon(),
  env = {},
  stdin: content,
  isTerminal,
  stdinKind = "device",
  stdoutKind = "device",
}: Parts = {}): Machine {
  const signals = new EventEmitter();
  const interrupts = new Interrupts(signals);
  const [stdin, stdout, stderr] = [
    new FakeInput(content),
    new FakeOutput(isTerminal),
    new FakeOutput(isTerminal),
  ];
  const lifecycle = new FakeLifecycle();
  const host = {
    version: "0.1.0",
    env,
    cwd: "/home/me/project",
    stdin,
    stdout,
    stderr,
    stdinKind,
    stdoutKind,
    interrupts,
    lifecycle,
    daemon,
    command: runCli,
  };
  return { host, stdin, stdout, stderr, lifecycle, interrupt: () => signals.emit("SIGINT") };
}

/** Runs `crux <line>`, split at blanks, or the given words. */
export async function crux(line: string | readonly string[], parts: Parts = {}): Promise<Run> {
  const daemon = parts.daemon ?? new FakeDaemon();
  const { host, stdout, stderr, lifecycle } = aMachine({ ...parts, daemon });
  const argv = typeof line === "string" ? line.split(" ").filter((word) => word !== "") : line;
  const code = await runCli(parts.asTyped === true ? argv : intentArgv(argv), host);
  return {
    out: stdout.text,
    bytes: stdout.bytes,
    err: stderr.text,
    code,
    daemon,
    watched: lifecycle.watched,
  };
}

/** The eight ways to set the three mode flags, and the resulting mode. */
export const MODE_FLAGS: ReadonlyArray<
  readonly [flags: string, mode: "json" | "quiet" | "verbose" | "default"]
> = [
  ["", "default"],
  ["--verbose", "verbose"],
  ["--quiet", "quiet"],
  ["--quiet --verbose", "quiet"],
  ["--json", "json"],
  ["--json --verbose", "json"],
  ["--json --quiet", "json"],
  ["-q -v --json", "json"],
];
