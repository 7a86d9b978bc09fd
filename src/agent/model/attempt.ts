/**
 * Calls the model. Each attempt is one gated write, then reads; a retry is another write, so that all spending is
 * accounted for.
 */
import type { LlmRequest, Reply } from "../../abi/llm.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Sys } from "../../abi/sys.ts";
import { readLines } from "../read.ts";
import { isMessageStop, parseReply } from "./reply.ts";
import { encodedRequest } from "./request.ts";
import { decideRetry, malformedWords } from "./retry.ts";

const MODEL_READ_BYTES = 65_536;

/** The open model device. */
type Model = Pick<ProgramStart, "modelFd" | "modelDevice">;

interface Asked {
  readonly request: LlmRequest;
  readonly maxRetries: number;
  /** Whether any request of this process was answered before. */
  readonly hasSucceeded: boolean;
}

/**
 * Retries as `decideRetry` decides; each wait is logged. Rejects with the last failure, as the system call threw it.
 */
export async function askModel(sys: Sys, model: Model, asked: Asked): Promise<Reply> {
  const { request, maxRetries, hasSucceeded } = asked;
  let [alike, words] = [0, ""];
  for (let failures = 1; ; failures++) {
    sys.ending.throwIfAborted();
    try {
      return await attempt(sys, model, request);
    } catch (error) {
      sys.ending.throwIfAborted();
      const wrong = malformedWords(error);
      alike = wrong === undefined ? 0 : wrong === words ? alike + 1 : 1;
      words = wrong ?? "";
      const state = { failures, alike, maxRetries, hasSucceeded, random: sys.random() };
      const decision = decideRetry(error, state);
      if (decision.kind === "fail") throw decision.error;
      sys.log("warn", decision.notice);
      await sys.delay(decision.delayMs, sys.ending);
      await sys.waitIfPaused();
    }
  }
}

async function attempt(sys: Sys, { modelFd, modelDevice }: Model, request: LlmRequest): Promise<Reply> {
  await sys.write(modelFd, encodedRequest(request), sys.ending);
  const lines = await readLines(sys, modelFd, MODEL_READ_BYTES, isMessageStop, sys.ending);
  return parseReply(lines, modelDevice);
}
