import { describe, expect, it } from "vitest";
import { RETRYABLE_KINDS } from "../../abi/llm.ts";
import { kindOf } from "./kinds.ts";

const answer = (status: number | undefined, message = "", type = "", code = "") => ({
  status,
  message,
  type,
  code,
});

describe("kindOf()", () => {
  it.each([
    [429, "Rate limit reached", "rate_limit"],
    [
      429,
      "Rate limit reached on tokens per day (TPD): Limit 100, Used 99. Please try again in 7m",
      "rate_limit",
    ],
    [429, "You exceeded your current quota, please check your plan and billing", "quota"],
    [429, "Your team has either used all available credits or reached its monthly limit", "quota"],
    [429, "Insufficient balance or no resource package. Please recharge.", "quota"],
    [429, "Too many tokens per day, please wait before trying again.", "quota"],
    [429, "Rate limit exceeded: free-models-per-day. Add 10 credits", "quota"],
    [
      429,
      "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 50000.",
      "prompt_too_long",
    ],
    [429, "Extra usage is required for long context requests.", "prompt_too_long"],
    [429, "Too many tokens, please wait before trying again.", "rate_limit"],
    [400, "Your credit balance is too low", "quota"],
    [400, "prompt is too long: 9 tokens > 8 maximum", "prompt_too_long"],
    [400, "This model's maximum context length is 8 tokens", "prompt_too_long"],
    [400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", "prompt_too_long"],
    [400, "This model's maximum prompt length is 8 but the request contains 9 tokens.", "prompt_too_long"],
    [400, "the request exceeds the available context size, try increasing it", "prompt_too_long"],
    [400, "Invalid request: Your request exceeded model token limit: 8192", "prompt_too_long"],
    [400, "Please reduce the length of the messages or completion.", "prompt_too_long"],
    [400, "Range of input length should be [1, 30720]", "prompt_too_long"],
    [400, "prompt token count of 70000 exceeds the limit of 64000", "prompt_too_long"],
    [400, "`inputs` tokens + `max_new_tokens` must be <= 4097", "prompt_too_long"],
    [400, "Incorrect API key provided: xa***ef.", "auth"],
    [400, "The provided model identifier is invalid.", "model_not_found"],
    [400, "Model Not Exist", "model_not_found"],
    [400, "The model `gpt-9` does not exist or you do not have access to it.", "model_not_found"],
    [400, "Could not process image", "media"],
    [400, "temperature: range: 0..1", "invalid"],
    [422, "unprocessable", "invalid"],
    [409, "conflict", "server"],
    [503, "The engine is currently overloaded", "overloaded"],
    [503, "no", "server"],
    [500, "the billing service is down", "server"],
  ] as const)("takes %i %j as %s", (status, message, kind) => {
    expect(kindOf(answer(status, message))).toBe(kind);
  });

  it("takes a 400 by its code: a filter of Azure's is a refusal", () => {
    const message = "The response was filtered due to the prompt triggering the content management policy.";
    expect(kindOf(answer(400, message, "", "content_filter"))).toBe("refusal");
  });

  it.each([
    ["overloaded_error", "", "overloaded"],
    ["rate_limit_error", "", "rate_limit"],
    ["tokens", "rate_limit_exceeded", "rate_limit"],
    ["api_error", "", "server"],
    ["", "", "server"],
    ["constructor", "toString", "server"],
  ] as const)("takes type %j, code %j within a stream as %s, which is retried", (type, code, kind) => {
    expect(kindOf(answer(undefined, "text", type, code))).toBe(kind);
    expect(RETRYABLE_KINDS.has(kind)).toBe(true);
  });

  it.each([
    ["invalid_request_error", "", "text", "invalid"],
    ["", "invalid_prompt", "text", "invalid"],
    ["insufficient_quota", "insufficient_quota", "text", "quota"],
    ["", "insufficient_quota", "text", "quota"],
    ["", "usage_limit_reached", "text", "quota"],
    ["billing_error", "", "text", "quota"],
    ["invalid_request_error", "context_length_exceeded", "text", "prompt_too_long"],
    ["", "context_length_exceeded", "text", "prompt_too_long"],
    ["api_error", "", "prompt is too long: 9 tokens > 8 maximum", "prompt_too_long"],
    ["", "", "This model's maximum context length is 8 tokens", "prompt_too_long"],
    ["", "", "Your credit balance is too low", "quota"],
    ["", "model_not_found", "text", "model_not_found"],
    ["", "", "model 'x:7b' not found", "model_not_found"],
    ["", "invalid_api_key", "text", "auth"],
    ["", "", "Incorrect API key provided", "auth"],
    ["", "content_filter", "text", "refusal"],
    ["policy_violation", "", "text", "refusal"],
  ] as const)(
    "takes type %j, code %j, words %j within a stream as %s, which is not retried",
    (type, code, message, kind) => {
      expect(kindOf(answer(undefined, message, type, code))).toBe(kind);
      expect(RETRYABLE_KINDS.has(kind)).toBe(false);
    },
  );
});
