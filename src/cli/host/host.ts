import type { DaemonAccess } from "../daemon/client.ts";
import type { Phrases } from "../screen/words/en.ts";
import type { Interrupts } from "../terminal/interrupts.ts";
import type { Input, Lifecycle, Output } from "../terminal/streams.ts";
import type { StreamKind } from "./stream-kind.ts";

/** What a command uses of its environment; tests provide their own. */
export interface Host {
  /** The version of the package. */
  readonly version: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdinKind: StreamKind;
  readonly stdoutKind: StreamKind;
  readonly interrupts: Interrupts;
  readonly lifecycle: Lifecycle;
  readonly daemon: DaemonAccess;
  /** Of the terminal inside of which commands run; absent: theirs is English. */
  readonly catalogue?: Phrases;
  /** Runs another command line, with surroundings of its own; returns its exit code. */
  command(argv: readonly string[], host: Host): Promise<number>;
}
