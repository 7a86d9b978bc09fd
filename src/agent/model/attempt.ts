/**
 * Calls the model. Each attempt is one gated write, then reads; a retry is another write, so that all spending is
 * accounted for.
 */
import type { LlmErrorKind, LlmRequest, Reply } from "../../abi/llm.ts";
import { findLlmError } from "../../abi/llm-error.ts";
import type { Sys } from "../../abi/sys.ts";
import { readLines } from "../read.ts";
import type { ModelInUse } from "./in-use.ts";
import { isMessageStop, parseReply } from "./reply.ts";
import { encodedRequest } from "./request.ts";
import { decideRetry, malformedWords } from "./retry.ts";

const MODEL_READ_BYTES = 65_536;

interface Asked {
  readonly request: LlmRequest;
  readonly maxRetries: number;
  /** Whether any request of this process was answered before. */
  readonly hasSucceeded: boolean;
  /** Whether another model may answer in its place. */
  readonly hasFallback: boolean;
}

export type Answer =
  | { readonly kind: "reply"; readonly reply: Reply }
  | { readonly kind: "fallback"; readonly error: unknown; readonly cause: LlmErrorKind };

/**
 * Retries as `decideRetry` decides; each wait is logged. Rejects with the last failure, as the system call threw it.
 */
export async function askModel(sys: Sys, model: ModelInUse, asked: Asked): Promise<Answer> {
  const { request, ...given } = asked;
  let [alike, words, overloads] = [0, "", 0];
  for (let failures = 1; ; failures++) {
    sys.ending.throwIfAborted();
    try {
      return { kind: "reply", reply: await attempt(sys, model, request) };
    } catch (error) {
      sys.ending.throwIfAborted();
      const wrong = malformedWords(error);
      alike = wrong === undefined ? 0 : wrong === words ? alike + 1 : 1;
      words = wrong ?? "";
      overloads = findLlmError(error)?.kind === "overloaded" ? overloads + 1 : 0;
      const state = { ...given, failures, alike, overloads, random: sys.random() };
      const decision = decideRetry(error, state);
      if (decision.kind === "fail") throw decision.error;
      if (decision.kind === "fallback") return decision;
      sys.retries(decision.retry);
      await sys.delay(decision.retry.delayMs, sys.ending);
      await sys.waitIfPaused();
    }
  }
}

async function attempt(sys: Sys, { fd, device }: ModelInUse, request: LlmRequest): Promise<Reply> {
  await sys.write(fd, encodedRequest(request), sys.ending);
  const lines = await readLines(sys, fd, MODEL_READ_BYTES, isMessageStop, sys.ending);
  return parseReply(lines, device);
}
