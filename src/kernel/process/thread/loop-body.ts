/**
 * The body of a coroutine that reasons: a loop with a conversation of its own, which answers each value it is resumed
 * with. It has the rights, fds and account of its process. Its first message is its task with the first value.
 */
import { O_RDWR } from "../../../abi/device.ts";
import { Fault } from "../../../abi/errors.ts";
import type { Fd } from "../../../abi/ids.ts";
import { EXIT, type ExitStatus } from "../../../abi/process.ts";
import type { CoroutineLoop, Syscalls } from "../../../abi/sys.ts";
import type { ContextSpaces } from "../../context/spaces.ts";
import { LIMITS } from "../../limits.ts";
import type { KernelPorts } from "../../ports/kernel-ports.ts";
import { codeOfExit } from "../end/finish.ts";
import type { Process } from "../process.ts";
import type { CoroutineBody } from "./coroutine.ts";
import { type LoopRunner, reason } from "./reason.ts";

/** What a loop in a coroutine needs of the kernel. */
export interface LoopHost extends LoopRunner {
  readonly ports: Pick<KernelPorts, "program" | "log">;
  readonly contexts: ContextSpaces;
  handle(proc: Process, scope: null, ofThread: AbortSignal): Syscalls;
}

export function loopBody(
  core: LoopHost,
  proc: Process,
  { intent, maxTurns = 0 }: CoroutineLoop,
): CoroutineBody {
  return async (co, first) => {
    const { signal } = co;
    const sys = core.handle(proc, null, signal);
    const { systemPrompt } = core.contexts.prompt(proc.ctxId);
    const modelFd = await sys.open(proc.model.device, O_RDWR, signal);
    const ctxId = await sys.ctxAlloc(LIMITS.contextMessages).catch(async (error: unknown) => {
      await closed(core, proc, modelFd);
      throw error;
    });
    try {
      await sys.setSystemPrompt(ctxId, systemPrompt);
      const maxSteps = maxTurns === 0 ? proc.seed.maxSteps : maxTurns;
      for (let value = `${intent}\n\n${String(first)}`; ; ) {
        let result = "";
        const setResult = (text: string): void => {
          result = text;
        };
        const seat = { intent: value, modelFd, maxSteps, signal, setResult, ctxId };
        const exit: ExitStatus = (await reason(core, proc, seat)) ?? EXIT.unexpected;
        if (exit.code !== 0) throw exit.err ?? new Fault({ code: codeOfExit(exit), message: exit.reason });
        value = String(await co.yield(result));
      }
    } finally {
      // directly and not by calls, since the handle may be revoked
      if (core.contexts.has(ctxId)) proc.contexts.free(core.contexts, ctxId);
      await closed(core, proc, modelFd);
    }
  };
}

async function closed({ ports }: LoopHost, { fds, pid }: Process, fd: Fd): Promise<void> {
  if (!fds.has(fd)) return;
  await fds.close(fd).catch((error: Error) => {
    ports.log("warn", `pid ${pid}: a coroutine: close: ${error.message}`);
  });
}
