/**
 * What kind of failure an answer tells of, for all vendors: by its status, by the names that they give their errors, and by
 * their words. Only what may succeed when asked again has a kind that is retried.
 */
import type { LlmErrorKind } from "../../abi/llm.ts";
import type { ErrorAnswer } from "./failure.ts";

const BY_STATUS: ReadonlyMap<number, LlmErrorKind> = new Map([
  [401, "auth"],
  [402, "quota"],
  [403, "forbidden"],
  [404, "model_not_found"],
  [408, "timeout"],
  [409, "server"],
  [413, "prompt_too_long"],
  [429, "rate_limit"],
  [529, "overloaded"],
]);

/** Codes and types of errors: they tell where there is no status, as within a stream, and what a 400 is about. */
const BY_NAME: ReadonlyMap<string, LlmErrorKind> = new Map([
  ["overloaded_error", "overloaded"],
  ["server_is_overloaded", "overloaded"],
  ["slow_down", "overloaded"],
  ["rate_limit_error", "rate_limit"],
  ["rate_limit_exceeded", "rate_limit"],
  ["authentication_error", "auth"],
  ["invalid_api_key", "auth"],
  ["permission_error", "forbidden"],
  ["not_found_error", "model_not_found"],
  ["model_not_found", "model_not_found"],
  ["request_too_large", "prompt_too_long"],
  ["context_length_exceeded", "prompt_too_long"],
  ["exceed_context_size_error", "prompt_too_long"],
  ["billing_error", "quota"],
  ["insufficient_quota", "quota"],
  ["exceeded_current_quota_error", "quota"],
  ["billing_hard_limit_reached", "quota"],
  ["usage_limit_reached", "quota"],
  ["usage_not_included", "quota"],
  ["timeout_error", "timeout"],
  ["invalid_request_error", "invalid"],
  ["invalid_prompt", "invalid"],
  ["policy_violation", "refusal"],
  ["content_policy_violation", "refusal"],
  ["content_filter", "refusal"],
]);

const TOO_LONG =
  /prompt (is )?too long|context[_ ](length|window|size)|maximum context|input (is )?too (long|large)|exceeds? (the )?context limit|input token count|payload size exceeds|too many (input )?tokens(?! per)|request too large|maximum prompt length|exceeded model token limit|reduce the length of the (messages|prompt|input)|prompt exceeds max length|range of input length|prompt token count of \d+ exceeds|inputs?` tokens \+ `max_new_tokens/i;
/** A limit of the rate that no single request of this size is within, however long it waits. */
const NEVER_WITHIN = /request too large for|extra usage is required for long context/i;
const OUT_OF_MONEY =
  /insufficient_quota|credit balance|billing|spend(ing)? limit|usage limit|exceeded your current quota|insufficient (account )?balance|available credits|please recharge|余额不足|欠费|too many tokens per day|free-models-per-day/i;
const NO_MODEL =
  /\bmodel identifier is invalid\b|\bissue with the selected model\b|\bmodel not exist\b|\bunknown model\b|\bmodel [`'"]?[\w.:/-]+[`'"]? (does not exist|(is )?not found)\b/i;
/** Some servers refuse a key with 400. */
const BAD_KEY =
  /\b(incorrect|invalid|missing) api[ _]key\b|\bapi[ _]key (is )?(not valid|invalid|expired)\b/i;
const BAD_MEDIA = /\b(image|document|pdf|media)\b/i;
const BUSY = /overloaded|at capacity|server busy/i;

export function kindOf(answer: ErrorAnswer): LlmErrorKind {
  const { status, type, code, message } = answer;
  const text = `${type} ${code} ${message}`;
  const told = toldBy(answer);
  if (told === "rate_limit") return limitOf(text);
  if (told !== undefined && told !== "invalid" && told !== "server") return told;
  const isOwnFault = status !== undefined && told === "server";
  const kind = isOwnFault ? undefined : inWords(text, message);
  if (kind !== undefined) return kind;
  if (told === "invalid") return BAD_MEDIA.test(message) ? "media" : "invalid";
  return BUSY.test(text) && status !== 409 ? "overloaded" : "server";
}

/** undefined: it has no status, and a name that means nothing here. */
function toldBy({ status, type, code }: ErrorAnswer): LlmErrorKind | undefined {
  const named = BY_NAME.get(code) ?? BY_NAME.get(type);
  if (status === undefined) return named;
  return BY_STATUS.get(status) ?? (status >= 500 ? "server" : (named ?? "invalid"));
}

function limitOf(text: string): LlmErrorKind {
  if (OUT_OF_MONEY.test(text)) return "quota";
  return NEVER_WITHIN.test(text) ? "prompt_too_long" : "rate_limit";
}

/** What a refusal is about, where neither its status nor its name tells. */
function inWords(text: string, message: string): LlmErrorKind | undefined {
  if (TOO_LONG.test(text)) return "prompt_too_long";
  if (OUT_OF_MONEY.test(text)) return "quota";
  if (NO_MODEL.test(message)) return "model_not_found";
  return BAD_KEY.test(text) ? "auth" : undefined;
}
