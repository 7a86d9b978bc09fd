/** Asking the model. One attempt is one gated write, then reads; another attempt is another write, so nothing is spent unseen. */
import type { LlmRequest, Reply } from "../../abi/llm.ts";
import type { ProgramContext } from "../../abi/program.ts";
import { readLines } from "../read.ts";
import { isMessageStop, parseReply } from "./reply.ts";
import { decideRetry, malformedWords } from "./retry.ts";

const MODEL_READ_BYTES = 65_536;

interface RetryPolicy {
  readonly maxRetries: number;
  /** Has any attempt of this process been answered? */
  readonly hasSucceeded: boolean;
  /** 0 … 1, for the jitter. */
  random(): number;
}

/** Retries as retry.ts says; each wait is logged. Rejects with the last failure, as the system call gave it. */
export async function askModel(
  context: ProgramContext,
  request: LlmRequest,
  policy: RetryPolicy,
): Promise<Reply> {
  let [alike, words] = [0, ""];
  for (let failures = 1; ; failures++) {
    context.signal.throwIfAborted();
    try {
      return await attempt(context, request);
    } catch (error) {
      context.signal.throwIfAborted();
      const { maxRetries, hasSucceeded } = policy;
      const wrong = malformedWords(error);
      alike = wrong === undefined ? 0 : wrong === words ? alike + 1 : 1;
      words = wrong ?? "";
      const state = { failures, alike, maxRetries, hasSucceeded, random: policy.random() };
      const decision = decideRetry(error, state);
      if (decision.kind === "fail") throw decision.error;
      context.sys.log("warn", decision.notice);
      await context.sys.delay(decision.delayMs, context.signal);
      await context.sys.waitIfPaused();
    }
  }
}

async function attempt(context: ProgramContext, request: LlmRequest): Promise<Reply> {
  const { sys, modelFd, modelDevice, signal } = context;
  await sys.write(modelFd, new TextEncoder().encode(JSON.stringify(request)), signal);
  const lines = await readLines(sys, modelFd, MODEL_READ_BYTES, isMessageStop, signal);
  return parseReply(lines, modelDevice);
}
