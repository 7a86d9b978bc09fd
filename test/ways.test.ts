/**
 * A run for every way to go on and every way to end. Each table has a row for each case of its union: a case without its row,
 * and a row without its case, do not compile.
 */
import { describe, expect, test } from "vitest";
import { SyscallError } from "../src/abi/errors.ts";
import { asPid } from "../src/abi/ids.ts";
import { LlmError } from "../src/abi/llm-error.ts";
import { CONTINUES, type Continue, ENDS, exitOf, type Terminal } from "../src/abi/loop.ts";
import { refusalDetails } from "../src/abi/refusal.ts";
import { type FakeOptions, FakeProcess, StreamedReply } from "../src/agent/testing/fake-process.ts";
import { call, reply, says } from "../src/agent/testing/replies.ts";
import { endingOf } from "../src/cli/print/ending.ts";

const failure = (kind: LlmError["kind"]) => new LlmError({ kind, message: `it is ${kind}` });
const cut = (said: string) => reply(said, { stopReason: "max_tokens" });
const paused = reply("so far", { stopReason: "pause_turn" });
const broken = (n: number) =>
  new StreamedReply([call("view", { n }, `${n}`)], async () => {
    // the call begins once all that can run has run
    await new Promise((resolve) => setImmediate(resolve));
    return failure("stream_malformed");
  });
const tools = {
  view: says("content"),
  bash: {
    run: () => {
      const what = { tool: "bash", what: "rm", reason: "why" };
      const details = refusalDetails(what, true);
      throw new SyscallError({ syscall: "Write", pid: asPid(1), code: "PERMISSION", message: "no", details });
    },
  },
};
const step = reply([call("view")]);
const done = reply("done");
const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

interface End {
  readonly code: number;
  readonly reason: string;
  readonly kind: string;
  readonly outcome: string;
  readonly subtype: string;
}

/** Who decides it where the loop does not; such a row compares only what the end is called. */
type Elsewhere = "the kernel" | "print mode" | "nothing yet";

interface Ending extends End {
  readonly run: FakeOptions | Elsewhere;
  /** When the process is ended. */
  readonly during?: "the request" | "the call";
}

const done1 = { code: 1, kind: "done", outcome: "failed", subtype: "error_during_execution" } as const;
const killed = { code: 143, reason: "killed: SIGTERM", kind: "killed", outcome: "interrupted" } as const;

const ENDINGS: { readonly [Reason in Terminal["reason"]]: Ending } = {
  completed: {
    run: { answers: [done] },
    ...{ code: 0, reason: "completed", kind: "done", outcome: "completed", subtype: "success" },
  },
  model_error: { run: { answers: [failure("auth")] }, ...done1, reason: "it is auth", kind: "fault" },
  image_error: { run: { answers: [failure("media")] }, ...done1, reason: "it is media" },
  max_turns: {
    run: { answers: [step], maxSteps: 1 },
    ...{ ...done1, reason: "max steps exceeded", outcome: "limit", subtype: "error_max_turns" },
  },
  budget_exhausted: {
    run: { answers: [done], budget: 100 },
    ...{ ...done1, code: 2, reason: "budget_exceeded", outcome: "limit", subtype: "error_max_budget_usd" },
  },
  blocking_limit: { run: "nothing yet", ...done1, reason: "blocking_limit", outcome: "limit" },
  prompt_too_long: { run: { answers: [failure("prompt_too_long")] }, ...done1, reason: "prompt_too_long" },
  stop_hook_prevented: { run: "nothing yet", ...done1, reason: "stop_hook_prevented" },
  hook_stopped: { run: "nothing yet", ...done1, reason: "hook_stopped" },
  structured_output_failed: {
    run: "print mode",
    ...{ ...done1, reason: "structured_output_failed", subtype: "error_max_structured_output_retries" },
  },
  denied: {
    run: { answers: times(3, () => reply([call("bash")])) },
    ...done1,
    reason: "every call of 3 replies in a row was refused, and nobody is attached to allow any: bash: rm",
  },
  deadline: { run: "the kernel", ...done1, reason: "timeout", outcome: "interrupted" },
  aborted_streaming: {
    run: { answers: [done] },
    during: "the request",
    ...{ ...killed, subtype: "error_during_execution" },
  },
  aborted_tools: {
    run: { answers: [step, done] },
    during: "the call",
    ...{ ...killed, subtype: "error_during_execution" },
  },
};

function started({ run, during }: Ending): FakeProcess {
  const end =
    <T>(then: T) =>
    (): T => {
      made.end();
      return then;
    };
  const given = run as FakeOptions;
  const answers = during === "the request" ? [end(done)] : given.answers;
  const view = during === "the call" ? { view: { run: end({ ok: true, content: [] }) } } : {};
  const made: FakeProcess = new FakeProcess({ tools: { ...tools, ...view }, ...given, answers });
  return made;
}

describe("an end", () => {
  test.each(Object.entries(ENDINGS) as [Terminal["reason"], Ending][])("%s", async (reason, ending) => {
    const { run, during: _, outcome, subtype, ...expected } = ending;
    const isRun = typeof run !== "string";
    const exit = isRun ? await started(ending).run() : exitOf({ reason, error: new Error("x") } as Terminal);
    expect(exit).toMatchObject(expected);
    expect(ENDS[reason].outcome).toBe(outcome);
    const event = { event: "complete", pid: 1, exit_code: exit.code, exit_reason: exit.reason, result: "" };
    const shown = endingOf({ ...event, tokens_used: 0 } as unknown as Parameters<typeof endingOf>[0], {
      isCalling: reason === "aborted_tools",
      error: undefined,
    });
    expect(shown.subtype).toBe(subtype);
    // an end that is told by the words of its error cannot be told from another such end
    if (ENDS[reason].reason !== null && reason !== "deadline") expect(shown.terminalReason).toBe(reason);
    // nothing was achieved, so nobody is told that it was
    expect(exit.code === 0).toBe(reason === "completed");
  });
});

interface Way {
  /** A run that goes on so many times in this way, if it may. */
  readonly run: ((times: number) => FakeOptions) | "the window" | "nothing yet";
  /** How often it may; and how the run ends that would have to once more. null: it is bounded elsewhere. */
  readonly most: number | null;
  readonly beyond?: Partial<End>;
}

const fault = { code: 1, kind: "fault" } as const;

const WAYS: { readonly [Reason in Continue["reason"]]: Way } = {
  next_turn: {
    run: (n) => ({ answers: [...times(n, () => step), done], maxSteps: 12 }),
    most: null,
  },
  mail: { run: () => ({ answers: [done, done] }), most: null },
  max_output_tokens_escalate: {
    run: (n) => ({ answers: [...times(n, () => cut("so far")), done] }),
    most: 1,
    // with no more room to be had, it is resumed in pieces
    beyond: { code: 0 },
  },
  max_output_tokens_recovery: {
    run: (n) => ({ answers: [cut("dropped"), ...times(n, (i) => cut(`${i}`)), done] }),
    most: 3,
    beyond: { ...fault, reason: "the reply was cut off at 64000 output tokens" },
  },
  collapse_drain_retry: { run: "nothing yet", most: 1 },
  reactive_compact_retry: { run: "the window", most: 1 },
  reply_salvaged: {
    run: (n) => ({ answers: [...times(n, broken), done] }),
    most: 3,
    beyond: { ...fault, reason: "the reply broke off 4 times in a row: it is stream_malformed" },
  },
  fallback_retry: {
    run: (n) => ({
      answers: [failure("model_not_found")],
      fallbacks: Object.fromEntries(
        times(2, (i) => [`/dev/llm/${i}`, i < n - 1 ? [failure("model_not_found")] : [done]]),
      ),
    }),
    most: 2,
    beyond: { ...fault, reason: "it is model_not_found" },
  },
  stop_hook_blocking: { run: "nothing yet", most: 8 },
  token_budget_continuation: { run: "nothing yet", most: null },
  pause_turn: {
    run: (n) => ({ answers: [...times(n, () => paused), done] }),
    most: 8,
    beyond: { ...fault, reason: "the provider paused the reply 9 times in a row" },
  },
  empty_reply_retry: {
    run: (n) => ({ answers: [...times(n, () => reply([])), done] }),
    most: 1,
    beyond: { ...fault, reason: "the model answered twice in a row without a word and without a call" },
  },
};

describe("a way to go on", () => {
  test.each(Object.entries(WAYS) as [Continue["reason"], Way][])(
    "%s",
    async (reason, { run, most, beyond }) => {
      // the models that are listed bound the fallbacks
      if (reason !== "fallback_retry") expect(CONTINUES[reason]?.most ?? null).toBe(most);
      if (typeof run === "string") return;
      const within = new FakeProcess({ tools, ...run(most ?? 3) });
      if (reason === "mail") within.receive(0, "and this?");
      expect(await within.run()).toMatchObject({ code: 0, reason: "completed", kind: "done" });
      expect(within.result).toContain("done");
      if (most === null || beyond === undefined) return;
      const past = await new FakeProcess({ tools, ...run(most + 1) }).run();
      expect(past).toMatchObject(beyond);
      if (reason !== "max_output_tokens_escalate") expect(past.code).not.toBe(0);
    },
  );
});
