/** Everything the kernel needs from outside: no disk, no model, no clock of its own. `boot` fills it in. */

import type { ProcUuid } from "../../abi/ids.ts";
import type { Clock, Program } from "../../abi/program.ts";
import type { RealPath } from "./host.ts";
import type { Journal } from "./journal.ts";
import type { ModelResolver } from "./models.ts";
import type { Permit } from "./permit.ts";

export interface KernelPorts {
  readonly journal: Journal;
  /** The policy for a process that works in `cwd`: settings of the user and of that project. */
  readonly permitFor: (cwd: string) => Permit;
  readonly models: ModelResolver;
  /** What runs an agent. */
  readonly program: Program;
  readonly clock: Clock;
  readonly realPath: RealPath;
  /** A random UUID. */
  readonly uuid: () => ProcUuid;
  /** 64 random bits in hex: names of calls and questions. */
  readonly nonce: () => string;
  /** Makes the private folder of a process and names it. */
  readonly scratchDir: (uuid: ProcUuid) => string;
  /** The process is gone: what devices keep for it may go. */
  readonly onReaped: (uuid: ProcUuid) => Promise<void>;
  readonly home: string;
  /** The environment of processes whose client sends none. */
  readonly env: Readonly<Record<string, string>>;
  /** Directories beside cwd that every process works in (settings). */
  readonly additionalRoots: readonly string[];
  /** Step limit where nothing else says. */
  readonly defaultMaxSteps: number;
  readonly log: (level: "info" | "warn" | "error", message: string) => void;
}
