import type { DaemonAccess } from "./daemon-client.ts";
import type { Interrupts } from "./interrupts.ts";

/** What a command sees of its surroundings; tests bring their own. */
export interface Host {
  /** The package's. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly interrupts: Interrupts;
  readonly daemon: DaemonAccess;
}

/** The part of a readable terminal or pipe that is used here. */
export interface Input {
  readonly isTTY?: boolean;
  on(event: "data", listener: (chunk: Buffer) => void): unknown;
  on(event: "end" | "error", listener: () => void): unknown;
  off(event: "data", listener: (chunk: Buffer) => void): unknown;
  off(event: "end" | "error", listener: () => void): unknown;
  resume(): unknown;
  pause(): unknown;
  setRawMode?(on: boolean): unknown;
}

export interface Output {
  readonly isTTY?: boolean;
  /** The callback says that the text has left; a slow reader holds it back. */
  write(text: string, done: () => void): boolean;
}
