/**
 * Reports the tool calls of a process to its followers: one note per call, when it is over. Secrets are redacted in it.
 */
import { type CallEnd, type CallNote, firstLine, shortened } from "../../abi/call-note.ts";
import type { WritePlan } from "../../abi/device.ts";
import { messageOf, SyscallError } from "../../abi/errors.ts";
import { LIMITS } from "../limits.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "../process/process.ts";
import { callBegins, callIsOver } from "../process/running-calls.ts";
import { redactedValue } from "../redact/redacted-journal.ts";
import type { FdEntry } from "../vfs/fd-table.ts";

/** The parts of the kernel that reporting uses. */
export interface Telling {
  readonly ports: Pick<KernelPorts, "redactor" | "clock">;
}

/** One tool call, made by a write. */
export class CallTold {
  readonly #core: Telling;
  readonly #self: Process;
  readonly #entry: FdEntry;
  #tool: string;
  #about = "";

  constructor(core: Telling, self: Process, entry: FdEntry) {
    this.#core = core;
    this.#self = self;
    this.#entry = entry;
    this.#tool = entry.path.slice(entry.path.lastIndexOf("/") + 1);
  }

  get tool(): string {
    return this.#tool;
  }

  /** The user may change the arguments: the last plan is the one that runs. */
  planned({ tool = this.#tool, about = "" }: WritePlan): void {
    this.#tool = tool;
    this.#about = about;
  }

  /** It was permitted and runs; the function tells those who follow closely what it has printed. */
  begins(): (output: string) => void {
    const { watchers, pid } = this.#self;
    const { redactor, clock } = this.#core.ports;
    const begunMono = clock.mono();
    callBegins(this.#self, this);
    return (printed) => {
      if (!watchers.follows("deltas")) return;
      const said = { call: { tool: this.#tool, about: shortened(this.#about) }, output: printed };
      const clean = redactor === undefined ? said : (redactedValue(redactor, said) as typeof said);
      const mono = clock.mono();
      // a secret that the first of the given characters cut in two is left out with them
      const output = clean.output.slice(-LIMITS.printedChars).toWellFormed();
      this.#self.tell({ event: "output", pid, ...clean, output, elapsedMs: mono - begunMono }, mono);
    };
  }

  over(): void {
    this.#tell(this.#entry.file.ending?.() ?? {});
  }

  failed(error: unknown): void {
    // a file that may not be read throws a VfsError
    this.#tell({ error: messageOf(error) }, error instanceof SyscallError && error.code === "PERMISSION");
  }

  #tell(end: CallEnd, isRefused = false): void {
    callIsOver(this.#self, this);
    const refused = isRefused ? { refused: true as const } : {};
    tellCall(this.#core, this.#self, { tool: this.#tool, about: this.#about, ...end, ...refused });
  }
}

export function tellCall(core: Telling, self: Process, note: CallNote): void {
  const { redactor, clock } = core.ports;
  const clean = redactor === undefined ? note : (redactedValue(redactor, note) as CallNote);
  const { about, error } = clean;
  const why = error === undefined ? {} : { error: firstLine(error) };
  self.tell(
    { event: "call", pid: self.pid, call: { ...clean, about: shortened(about), ...why } },
    clock.mono(),
  );
}
