/** Google's errors (https://google.aip.dev/193). Its words for a rate limit and for a spent quota are the same: the details tell. */
import type { LlmErrorKind } from "../../abi/llm.ts";
import type { ErrorWords } from "../http/codec.ts";
import { type Json, numberOf, objectOf, objectsOf, stringOf } from "../json.ts";

/** The words of a refusal, whose status the answer has. */
export function refusalWords(error: unknown, fallback: string): ErrorWords {
  const { message, status, details } = objectOf(error);
  const all = objectsOf(details);
  const text = stringOf(message) || fallback;
  const delay = all.map(({ retryDelay }) => stringOf(retryDelay)).find((each) => each !== "");
  return {
    type: stringOf(status),
    code: stringOf(all.find(({ reason }) => reason !== undefined)?.reason),
    message: text,
    kind: kindOf(stringOf(status), all, text),
    retryAfterMs: delay === undefined ? undefined : Math.ceil(Number.parseFloat(delay) * 1000),
  };
}

/** The words of an error within a stream. */
export function eventWords(error: Json): ErrorWords {
  return { ...refusalWords(error, ""), status: numberOf(error.code) || 500 };
}

function kindOf(status: string, details: readonly Json[], text: string): LlmErrorKind | undefined {
  if (details.some(({ reason }) => /^API_KEY_(INVALID|EXPIRED)$/.test(stringOf(reason)))) return "auth";
  if (status !== "RESOURCE_EXHAUSTED") return undefined;
  const quotas = details
    .flatMap(({ violations }) => objectsOf(violations))
    .map(({ quotaId }) => stringOf(quotaId));
  const isSpent = quotas.some((id) => /PerDay/.test(id)) || /prepay|credits|spend/i.test(text);
  return isSpent ? "quota" : "rate_limit";
}
