import { EventEmitter } from "node:events";
import { runCli } from "../cli.ts";
import type { Host, Input, Output } from "../host.ts";
import { Interrupts } from "../interrupts.ts";
import { FakeDaemon } from "./fake-daemon.ts";

/** What arrives at one stream. */
export class FakeOutput implements Output {
  readonly isTTY: boolean;
  text = "";
  #awaited: ReadonlyArray<readonly [text: string, found: () => void]> = [];

  constructor(isTTY = false) {
    this.isTTY = isTTY;
  }

  write(text: string, done: () => void): boolean {
    this.text += text;
    done();
    for (const [wanted, found] of this.#awaited) if (this.text.includes(wanted)) found();
    return true;
  }

  /** Resolves once the text is there. */
  async shows(wanted: string): Promise<void> {
    if (this.text.includes(wanted)) return;
    await new Promise<void>((found) => {
      this.#awaited = [...this.#awaited, [wanted, found]];
    });
  }
}

/** A terminal to type at, or a pipe with its whole content. */
export class FakeInput extends EventEmitter implements Input {
  readonly isTTY: boolean;
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

export interface Run {
  readonly out: string;
  readonly err: string;
  readonly code: number;
  readonly daemon: FakeDaemon;
}

export interface Machine {
  readonly host: Host;
  readonly stdin: FakeInput;
  readonly stdout: FakeOutput;
  readonly stderr: FakeOutput;
  /** Presses Ctrl-C. */
  interrupt(): void;
}

interface Parts {
  daemon?: FakeDaemon;
  env?: Record<string, string>;
  /** Content of stdin; left out: stdin is a terminal. */
  stdin?: string;
  /** stdout and stderr are terminals. */
  isTerminal?: boolean;
}

export function aMachine({
  daemon = new FakeDaemon(),
  env = {},
  stdin: content,
  isTerminal,
}: Parts = {}): Machine {
  const signals = new EventEmitter();
  const interrupts = new Interrupts(signals);
  const [stdin, stdout, stderr] = [
    new FakeInput(content),
    new FakeOutput(isTerminal),
    new FakeOutput(isTerminal),
  ];
  const host = { version: "0.1.0", env, cwd: "/home/me/project", stdin, stdout, stderr, interrupts, daemon };
  return { host, stdin, stdout, stderr, interrupt: () => signals.emit("SIGINT") };
}

/** Runs `crux <line>`, split at blanks, or the words given. */
export async function crux(line: string | readonly string[], parts: Parts = {}): Promise<Run> {
  const daemon = parts.daemon ?? new FakeDaemon();
  const { host, stdout, stderr } = aMachine({ ...parts, daemon });
  const argv = typeof line === "string" ? line.split(" ").filter((word) => word !== "") : line;
  const code = await runCli(argv, host);
  return { out: stdout.text, err: stderr.text, code, daemon };
}

/** The eight ways to set the three mode flags, and the mode that holds. */
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
