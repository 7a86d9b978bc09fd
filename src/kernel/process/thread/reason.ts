/** One task given to a further loop of a process, from the user message to the answer. */
import { agentMessage } from "../../../abi/child.ts";
import type { CtxId, Fd } from "../../../abi/ids.ts";
import type { ExitStatus } from "../../../abi/process.ts";
import type { Begun, Program } from "../../../abi/program.ts";
import type { Process } from "../process.ts";

/** What a thread, or the loop of a coroutine, has of its own within its process. */
export interface ThreadSeat {
  readonly intent: string;
  readonly modelFd: Fd;
  readonly maxSteps: number;
  readonly signal: AbortSignal;
  /** Absent: the conversation of the process. */
  readonly ctxId?: CtxId;
  setResult(text: string): void;
}

/** The parts of the kernel by which a loop runs. */
export interface LoopRunner {
  readonly ports: { readonly program: Program };
  program(proc: Process, seat: ThreadSeat): Begun;
}

/** Runs the loop in the conversation of its seat. `exit`: how the program ended; a thread's exit ends no process. */
export async function reason(
  core: LoopRunner,
  proc: Process,
  seat: ThreadSeat,
): Promise<ExitStatus | undefined> {
  const { sys, start } = core.program(proc, seat);
  const ctxId: CtxId = start.ctxId;
  // among the words of the user, those of a model are marked as such
  const task = seat.ctxId === undefined ? agentMessage(proc.pid, seat.intent) : seat.intent;
  await sys.unit(async () => {
    seat.signal.throwIfAborted();
    await sys.appendMessage(ctxId, "user", task);
  });
  return core.ports.program(sys, start);
}
