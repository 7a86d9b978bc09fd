import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { VfsError } from "../../abi/errors.ts";
import { asPid } from "../../abi/ids.ts";
import { LLM_ERROR_KINDS, type LlmErrorKind } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import { backoffMs, decideRetry } from "./retry.ts";

const state = {
  failures: 1,
  alike: 0,
  overloads: 0,
  maxRetries: 10,
  hasFallback: false,
  hasSucceeded: true,
  random: 0.5,
};
const failed = (kind: LlmErrorKind, more: Partial<ConstructorParameters<typeof LlmError>[0]> = {}) =>
  new LlmError({ kind, message: "it failed", ...more });

describe("decideRetry()", () => {
  const passing = ["rate_limit", "overloaded", "server", "timeout", "connection", "stream_stalled"];
  test.each(Object.keys(LLM_ERROR_KINDS) as LlmErrorKind[])("%s is retried if it may pass", (kind) => {
    const may = [...passing, "stream_malformed"].includes(kind);
    expect(decideRetry(failed(kind), state).kind).toBe(may ? "wait" : "fail");
  });

  test("gives the facts of the wait", () => {
    const error = failed("overloaded", { status: 529 });
    expect(decideRetry(error, { ...state, failures: 2 })).toEqual({
      kind: "wait",
      retry: { attempt: 2, maxRetries: 10, delayMs: 1_000, errorKind: "overloaded", status: 529 },
    });
    expect(decideRetry(failed("timeout"), state)).toMatchObject({
      retry: { attempt: 1, maxRetries: 10, delayMs: 500, errorKind: "timeout" },
    });
  });

  test("another model answers after the third overload in a row, or at once for one that does not exist", () => {
    const at = (kind: LlmErrorKind, overloads: number, hasFallback: boolean) =>
      decideRetry(failed(kind), { ...state, failures: 3, overloads, hasFallback }).kind;
    expect([2, 3].map((overloads) => at("overloaded", overloads, true))).toEqual(["wait", "fallback"]);
    expect(at("overloaded", 3, false)).toBe("wait");
    expect([true, false].map((has) => at("model_not_found", 0, has))).toEqual(["fallback", "fail"]);
    expect(at("server", 0, true)).toBe("wait");
    expect(at("auth", 0, true)).toBe("fail");
  });

  test("ends after the tenth retry with the error as it came", () => {
    const inner = failed("server");
    const error = new VfsError({
      op: "Write",
      pid: asPid(1),
      code: "DRIVER",
      message: "it failed",
      cause: inner,
    });
    expect(decideRetry(error, { ...state, failures: 10 }).kind).toBe("wait");
    expect(decideRetry(error, { ...state, failures: 11 })).toEqual({ kind: "fail", error });
  });

  test("a reply malformed in the same way is asked for again three times, and the facts say what is wrong", () => {
    const error = failed("stream_malformed", { message: "an event of the reply is not JSON" });
    expect(decideRetry(error, { ...state, failures: 5, alike: 3 })).toMatchObject({
      kind: "wait",
      retry: { attempt: 3, maxRetries: 3, delayMs: 8_000, message: "an event of the reply is not JSON" },
    });
    expect(decideRetry(error, { ...state, failures: 4, alike: 4 })).toMatchObject({
      kind: "fail",
      error: {
        kind: "stream_malformed",
        message: "the model's reply was malformed 4 times in a row: an event of the reply is not JSON",
      },
    });
  });

  test("waits as long as the server says", () => {
    expect(decideRetry(failed("rate_limit", { retryAfterMs: 7_000 }), state)).toMatchObject({
      retry: { delayMs: 7_000 },
    });
    expect(decideRetry(failed("rate_limit", { retryAfterMs: 300_000 }), state).kind).toBe("wait");
  });

  test("fails, naming the time, where the server wants more than 300 s", () => {
    const decision = decideRetry(
      failed("rate_limit", { retryAfterMs: 720_000, device: "/dev/llm/x" }),
      state,
    );
    expect(decision).toMatchObject({
      kind: "fail",
      error: { kind: "rate_limit", code: "UNAVAILABLE", device: "/dev/llm/x" },
    });
    expect((decision as { error: Error }).error.message).toContain("12 min");
  });

  test("x-should-retry outranks the table, but not a person or the account", () => {
    expect(decideRetry(failed("server", { shouldRetry: false }), state).kind).toBe("fail");
    expect(decideRetry(failed("invalid", { shouldRetry: true }), state).kind).toBe("wait");
    expect(decideRetry(failed("cancelled", { shouldRetry: true }), state).kind).toBe("fail");
    expect(decideRetry(failed("budget", { shouldRetry: true }), state).kind).toBe("fail");
  });

  test("what is no model error is not retried", () => {
    expect(decideRetry(new Error("bug"), state).kind).toBe("fail");
  });

  test("a server that is not there gets three tries within two seconds", () => {
    const cause = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    for (const error of [
      failed("connection", { cause }),
      failed("connection", { message: "connection refused" }),
    ]) {
      const fresh = { ...state, hasSucceeded: false, random: 1 };
      const waits = [1, 2].map((failures) => decideRetry(error, { ...fresh, failures }));
      expect(waits).toMatchObject([
        { kind: "wait", retry: { attempt: 1, maxRetries: 2, delayMs: 625 } },
        { kind: "wait", retry: { attempt: 2, maxRetries: 2, delayMs: 1_250 } },
      ]);
      expect(decideRetry(error, { ...fresh, failures: 3 }).kind).toBe("fail");
      expect(decideRetry(error, { ...state, failures: 3 }).kind).toBe("wait");
    }
  });

  test("a connection that broke gets all its retries even at first", () => {
    const reset = failed("connection", { message: "socket hang up" });
    expect(decideRetry(reset, { ...state, hasSucceeded: false, failures: 5 }).kind).toBe("wait");
  });
});

test("backoffMs() doubles from 500 ms to 32 s, 25 % either way", () => {
  expect([1, 2, 3, 7, 8, 50].map((n) => backoffMs(n, 0.5))).toEqual([
    500, 1_000, 2_000, 32_000, 32_000, 32_000,
  ]);
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (failures, random) => {
        const middle = backoffMs(failures, 0.5);
        const delay = backoffMs(failures, random);
        expect(delay).toBeGreaterThanOrEqual(middle * 0.75 - 1);
        expect(delay).toBeLessThanOrEqual(middle * 1.25 + 1);
      },
    ),
  );
});
