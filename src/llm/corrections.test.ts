/** After a refusal that says what is wrong the same file sends what the server takes, on the next attempt. */
import { describe, expect, it } from "vitest";
import type { Block } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import { VirtualClock } from "../kernel/testing/virtual-clock.ts";
import { contractRequest } from "./contract.ts";
import { llmDevice } from "./devices/devices.ts";
import type { AttemptRequest } from "./driver.ts";
import { TestDriver, testAct, testCaller, textReply } from "./testing/callers.ts";

const none = new AbortController().signal;

/** A file of a server that takes only some requests, and refuses the others in these words. */
async function fileOf(words: string, takes: (request: AttemptRequest) => boolean) {
  const driver = new TestDriver((request) => {
    if (takes(request)) return textReply("ok");
    throw new LlmError({ kind: "invalid", message: `Vendor answered 400: ${words}`, status: 400 });
  });
  const device = llmDevice({ name: "test", envKeys: [], clock: new VirtualClock(), make: () => driver });
  const open = () => device.open("", 2, testCaller({}));
  const file = await open();
  const ask = async (part: Partial<AttemptRequest> = {}, on = file): Promise<unknown> => {
    const data = new TextEncoder().encode(JSON.stringify(contractRequest(part)));
    const failure = await on.write(data, testAct()).then(
      () => undefined,
      (error: unknown) => error,
    );
    for (let rest = failure === undefined; rest; ) rest = (await on.read(65_536, none)).byteLength > 0;
    return failure;
  };
  return { ask, open };
}

describe("a refusal that names the longest reply of the model", () => {
  it.each([
    "max_tokens: 500 > 400, which is the maximum allowed number of output tokens for model-4",
    "max_tokens is too large: 500. This model supports at most 400 completion tokens, whereas you gave 500.",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 400]",
    "`max_tokens` must be less than or equal to `400`, the maximum value for `max_tokens` of this model",
    "The maximum tokens you requested exceeds the model limit of 400. Try again with a lower value.",
    "it has a maxOutputTokens value of 500 but the supported range is from 1 (inclusive) to 401 (exclusive)",
    "max_completion_tokens cannot exceed 400",
    "max_new_tokens must be <= 400",
  ])("is followed: %s", async (words) => {
    const { ask, open } = await fileOf(words, ({ own }) => (own?.maxOutputTokens ?? 500) <= 400);
    expect(await ask()).toMatchObject({ kind: "invalid", shouldRetry: true, retryAfterMs: 0 });
    expect(await ask()).toBeUndefined();
    expect(await ask({}, await open())).toBeUndefined();
  });

  it("is the end where no less was asked for, or no limit is named", async () => {
    const never = () => false;
    for (const words of [
      "max_tokens: 900 > 800, which is the maximum",
      "max_tokens must be above budget_tokens",
    ])
      expect(await (await fileOf(words, never)).ask()).toMatchObject({ shouldRetry: undefined });
    const same = await fileOf("max_tokens cannot exceed 400", never);
    expect(await same.ask()).toMatchObject({ shouldRetry: true });
    expect(await same.ask()).toMatchObject({ shouldRetry: undefined });
  });
});

describe("a refusal of the seal of earlier thinking", () => {
  const thought: Block = { type: "thinking", thinking: "hm", signature: "of-another-server" };
  const messages: AttemptRequest["messages"] = [
    { role: "user", content: [{ type: "text", text: "Go." }] },
    { role: "assistant", content: [thought, { type: "text", text: "Gone." }] },
    { role: "user", content: [{ type: "text", text: "On." }] },
  ];
  const isFree = (request: AttemptRequest): boolean =>
    !request.messages.some(({ content }) => content.some(({ type }) => type === "thinking"));

  it.each([
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "Thought signature is not valid",
    "The encrypted content for item rs_1 could not be verified",
  ])("takes that thinking out, and nothing else: %s", async (words) => {
    const { ask } = await fileOf(words, isFree);
    expect(await ask({ messages })).toMatchObject({ shouldRetry: true });
    expect(await ask({ messages })).toBeUndefined();
    const own: Block = { type: "thinking", thinking: "so", signature: "its-own" };
    const later = [...messages, { role: "assistant" as const, content: [own] }, messages[0] as never];
    expect(await ask({ messages: later })).toMatchObject({ kind: "invalid" });
  });

  it("is the end where nothing of the kind was sent", async () => {
    const { ask } = await fileOf("the signature of the thinking block is wrong", () => false);
    expect(await ask()).toMatchObject({ shouldRetry: undefined });
  });
});
