/**
 * Replays from this kernel's journal, or from records of another. One runs at a time, as each takes much processor
 * time.
 */

import { ContextError, codeOf, Fault, SyscallError } from "../../abi/errors.ts";
import { PID_KERNEL, type Pid, type ProcUuid } from "../../abi/ids.ts";
import type { JournalRecord } from "../../kernel/ports/journal.ts";
import type { KernelPorts } from "../../kernel/ports/kernel-ports.ts";
import type { ReplayReport, Replays, ReplayWish } from "../../kernel/ports/replays.ts";
import type { ProcessTable } from "../../kernel/process/table.ts";
import { Serial } from "../../lib/serial.ts";
import { recordsOfLineage } from "../fork/lineage.ts";
import { replayRecords } from "./replayer.ts";
import type { MakeCore } from "./stage.ts";

/** What replays need of the kernel. */
interface Replaying {
  readonly ports: KernelPorts;
  readonly table: Pick<ProcessTable, "get">;
}

export function makeReplays(core: () => Replaying, make: MakeCore): Replays {
  const turn = new Serial();
  const run = async (
    records: AsyncIterable<JournalRecord>,
    of: Pick<JournalRecord, "pid" | "proc">,
    wish: ReplayWish = {},
  ): Promise<ReplayReport> => {
    const { ports } = core();
    return await turn.run(() => replayRecords(records, { ...of, make, ports }, wish), wish.signal);
  };
  const find = async (pid: Pid): Promise<ProcUuid> => {
    const { journal } = core().ports;
    const proc = await journal.processOf(pid);
    if (proc === undefined) throw unknown(pid);
    // includes the newest records of a live process; if the disk refuses, what is there can still be read
    core().table.get(pid)?.tape?.flush();
    await journal.sync().catch(() => {});
    return proc;
  };
  return {
    replay: async (pid, wish) => {
      const proc = await find(pid);
      return run(recordsOfLineage(core().ports.journal, proc), { pid, proc }, wish);
    },
    records: async (pid) => recordsOfLineage(core().ports.journal, await find(pid)),
    replayRecords: async (open, wish) => {
      let last: Pick<JournalRecord, "pid" | "proc"> | undefined;
      for await (const { pid, proc } of open()) {
        wish?.signal?.throwIfAborted();
        last = { pid, proc };
      }
      if (last === undefined) throw new Fault({ code: "INVALID", message: "there are no records" });
      try {
        return await run(open(), last, wish);
      } catch (error) {
        throw isMisshapen(error) ? misshapen(error) : error;
      }
    },
  };
}

/** Records from elsewhere may have any form: errors caused by their form are not bugs of the replay. */
function isMisshapen(error: unknown): error is Error {
  const isShape = error instanceof TypeError || error instanceof RangeError || error instanceof ContextError;
  return isShape || codeOf(error) === "INTERNAL";
}

function misshapen(cause: Error): Fault {
  const message = `a record is not of the form that crux writes: ${cause.message}`;
  return new Fault({ code: "INVALID", message, cause });
}

function unknown(pid: Pid): SyscallError {
  const message = `process not found: ${pid}`;
  return new SyscallError({
    syscall: "Replay",
    pid: PID_KERNEL,
    code: "NOT_FOUND",
    message,
    fact: { kind: "no_history", pid },
  });
}
