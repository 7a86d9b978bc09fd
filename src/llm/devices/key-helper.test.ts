import { describe, expect, it } from "vitest";
import { LlmError } from "../../abi/llm-error.ts";
import type { ExecSpec, HostExec } from "../../kernel/ports/host.ts";
import { VirtualClock } from "../../kernel/testing/virtual-clock.ts";
import { contractRequest } from "../contract.ts";
import { fold } from "../fold.ts";
import { TestDriver, testCaller, textReply } from "../testing/callers.ts";
import { HelpedDriver, helperOf } from "./key-helper.ts";
import { createModelResolver } from "./resolve.ts";

const none = new AbortController().signal;

/** The program prints each of these in turn, the last one ever after; a server takes the keys in `valid`. */
function rig(
  printed: readonly string[],
  valid: readonly string[],
  end: { code?: number; said?: string } = {},
) {
  const clock = new VirtualClock();
  const runs: ExecSpec[] = [];
  const learnt: string[] = [];
  const used: string[] = [];
  const exec = {
    run: (spec: ExecSpec) => {
      runs.push(spec);
      spec.onOutput("stdout", Buffer.from(printed[Math.min(runs.length, printed.length) - 1] ?? ""));
      spec.onOutput("stderr", Buffer.from(end.said ?? ""));
      return { exited: Promise.resolve({ code: end.code ?? 0, signal: null }) };
    },
  } as unknown as Pick<HostExec, "run">;
  const make = (env: Readonly<Record<string, string>>) => {
    const key = env.ANTHROPIC_API_KEY ?? env.ANTHROPIC_AUTH_TOKEN ?? "";
    const scene = new TestDriver(() => {
      used.push(key);
      if (valid.includes(key)) return textReply("ok");
      throw new LlmError({ kind: "auth", message: "Vendor refused the API key in ANTHROPIC_API_KEY (401)" });
    });
    return Object.assign(scene, { name: "anthropic" });
  };
  const settings = { apiKeyHelper: "print-key" };
  const driver = new HelpedDriver({ HOME: "/home/me" }, make, {
    ...{ exec, clock, learn: (keys: readonly string[]) => void learnt.push(...keys) },
    command: () => helperOf(settings, "anthropic"),
  });
  const ask = () =>
    fold(driver.stream(contractRequest(), none)).then(
      () => undefined,
      (error: unknown) => error,
    );
  return { ask, clock, runs, learnt, used };
}

describe("HelpedDriver", () => {
  it("asks the program once for requests at the same time, in the home folder, and again after five minutes", async () => {
    const { ask, clock, runs, learnt, used } = rig(["one\n", "two\n"], ["one", "two"]);
    expect(await Promise.all([ask(), ask()])).toEqual([undefined, undefined]);
    expect(runs).toMatchObject([{ argv: ["/bin/sh", "-c", "print-key"], cwd: "/home/me" }]);
    await clock.advance(4 * 60_000);
    await ask();
    await clock.advance(60_000);
    await ask();
    expect([used, learnt, runs.length]).toEqual([["one", "one", "one", "two"], ["one", "two"], 2]);
  });

  it("asks it again after a refusal, once; a key that is refused as well ends it", async () => {
    const { ask, used } = rig(["old", "new"], ["new"]);
    expect(await ask()).toMatchObject({ kind: "auth", shouldRetry: true });
    expect(await ask()).toBeUndefined();
    expect(used).toEqual(["old", "new"]);
    const bad = rig(["bad"], []);
    expect(await bad.ask()).toMatchObject({ shouldRetry: true });
    expect(await bad.ask()).toMatchObject({
      shouldRetry: undefined,
      message: expect.stringContaining("refused the API key that apiKeyHelper printed"),
    });
  });

  it.each([
    [["k"], { code: 3, said: "not logged in" }, "failed (3): not logged in"],
    [[" \n"], {}, "printed no key"],
    [["k".repeat(17_000)], {}, "printed more than"],
  ] as const)("says why there is no key, and asks anew the next time", async (printed, end, words) => {
    const { ask, runs, used } = rig(printed, ["k"], end);
    const failure = await ask();
    expect(failure).toMatchObject({ kind: "auth", message: expect.stringContaining(words) });
    expect(failure).toHaveProperty("hint", expect.stringContaining("Run it yourself"));
    await ask();
    expect([runs.length, used]).toEqual([2, []]);
  });
});

describe("apiKeyHelper", () => {
  it("is for one driver each, and makes it one that is set up", async () => {
    expect(helperOf({ apiKeyHelper: "a" }, "openai")).toBeUndefined();
    expect(helperOf({ apiKeyHelper: { openai: "a" } }, "openai")).toBe("a");
    const settings = () => ({ apiKeyHelper: { openai: "a" } });
    const resolver = createModelResolver({ settings, probeOllama: async () => false });
    const wish = { model: "", provider: "", preferred: "", env: testCaller().env };
    expect((await resolver.resolve(wish, none)).device).toBe("/dev/llm/openai");
  });
});
