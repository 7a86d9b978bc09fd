/** Programs of the host that have a name: what a client steers over the binary wire. */
import type { Pid, ProcUuid } from "../../abi/ids.ts";
import type { EventIds, WindowSize } from "../../abi/native.ts";
import type { ExitStatus } from "../../abi/process.ts";
import type { NativeUsage } from "./host.ts";
import type { KeptSpool, Spool } from "./spools.ts";

export type StreamName = "stdout" | "stderr";

export type PastOutput = Readonly<Partial<Record<StreamName, KeptSpool>>>;

export interface Native {
  readonly id: string;
  readonly pid: Pid;
  readonly uuid: ProcUuid;
  /** Who started it; 0: the user. */
  readonly ppid: Pid;
  readonly command: readonly string[];
  readonly cwd: string;
  /** ms since the epoch. */
  readonly startedAt: number;
  readonly isPty: boolean;
  /** The story that it belongs to; the cause is the request that has started it. */
  readonly ids: EventIds;
  /** undefined: it has not started, or could not. */
  readonly osPid: number | undefined;
  /** Everything that it has written, unchanged. With a terminal there is no stderr. */
  readonly output: Readonly<Partial<Record<StreamName, Spool>>>;
  /** Both streams in order of arrival, without secrets: what its log shows. Absent before it runs. */
  readonly log: Spool | undefined;
  /** Resolves when the program runs, or could not be started. */
  readonly begun: Promise<void>;
  /** The seq of its end among the events; 0: it could not be recorded. Never rejects. */
  readonly told: Promise<number>;
  /** null: it has not ended. */
  readonly end: { readonly exit: ExitStatus; readonly endedAt: number; readonly elapsedMs: number } | null;
  readonly usage: (NativeUsage & { readonly peakRssBytes: number }) | null;
  readonly input: { readonly bytes: number; readonly queuedBytes: number; readonly isOpen: boolean };
  /** Resolves when the program's pipe has taken it. DRIVER: broken pipe. INVALID: it has no stdin. */
  write(data: Uint8Array): Promise<void>;
  endInput(): void;
  resize(size: WindowSize): void;
}

export interface Natives {
  /** Live ones, and the last 1,000 that have ended. */
  list(): readonly Native[];
  of(pid: Pid): Native | undefined;
  /** What is kept of the output of one that `of` does not know any more. `written`: its bytes, where they are known. */
  past(pid: Pid, written?: Partial<Record<StreamName, number>>): Promise<PastOutput>;
}
