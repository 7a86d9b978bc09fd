/** What who follows a process is told of its calls of tools: one note each, when it is over. Secrets are marked in it. */
import { type CallEnd, type CallNote, firstLine, shortened } from "../../abi/call-note.ts";
import type { WritePlan } from "../../abi/device.ts";
import { messageOf, SyscallError } from "../../abi/errors.ts";
import type { KernelPorts } from "../ports/kernel-ports.ts";
import type { Process } from "../process/process.ts";
import { redactedValue } from "../redact/redacted-journal.ts";
import type { FdEntry } from "../vfs/fd-table.ts";

/** What telling takes of the kernel. */
interface Telling {
  readonly ports: Pick<KernelPorts, "redactor" | "clock">;
}

/** One call, made by a write. */
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

  /** A person may change the arguments: the last plan is what happens. */
  planned({ tool = this.#tool, about = "" }: WritePlan): void {
    this.#tool = tool;
    this.#about = about;
  }

  over(): void {
    this.#tell(this.#entry.file.ending?.() ?? {});
  }

  failed(error: unknown): void {
    // of a file that may not be read it is a VfsError
    this.#tell({ error: messageOf(error) }, error instanceof SyscallError && error.code === "PERMISSION");
  }

  #tell(end: CallEnd, isRefused = false): void {
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
