/** Denials are counted once a reply, told to the model, and asked at the limit. */
import { describe, expect, test } from "vitest";
import type { Decision } from "../ports/permit.ts";
import { type GuardedBench, guardedBench } from "../testing/guarded.ts";
import { ALLOW, askWith, DENY } from "../testing/scripted-permit.ts";
import { bytes } from "../testing/test-kernel.ts";
import { settle } from "../testing/virtual-clock.ts";

const BY_MODE: Decision = {
  behavior: "deny",
  message: "Permission denied: mode dont_ask",
  reason: { kind: "mode", detail: "dont_ask" },
};

async function denied(bench: GuardedBench, times: number): Promise<string[]> {
  const said: string[] = [];
  for (let n = 0; n < times; n++)
    said.push(String(await bench.call().catch((error: Error) => error.message)));
  return said;
}

const denialsOf = ({ t }: GuardedBench) => t.journal.bodies("permit.denials");

describe("denials", () => {
  test("the third in a row tells the model to change its approach", async () => {
    const bench = await guardedBench({ interactive: true });
    bench.t.permit.answer = () => DENY;
    const said = await denied(bench, 3);
    expect(said[1]).toBe("Permission denied: rule test");
    expect(said[2]).toBe(
      "Permission denied: rule test (edit was denied 3 times in a row, 3 calls in all: do not try again, change your approach)",
    );
    expect(denialsOf(bench).at(-1)).toEqual({ inARow: { edit: 3 }, total: 3 });
  });

  test("then what the mode denies is asked, and an answer clears both counts", async () => {
    const bench = await guardedBench({ interactive: true });
    bench.t.permit.answer = () => BY_MODE;
    await denied(bench, 3);
    const call = bench.call();
    await settle();
    const [ask] = bench.t.journal.bodies("permit.ask") as { requestId: string; options: string[] }[];
    expect(ask).toMatchObject({
      options: ["yes", "no"],
      reason: expect.stringContaining("3 denials of edit in a row"),
    });
    await bench.t.kernel.answer(ask!.requestId, "yes");
    await call;
    expect(bench.tool.written).toEqual(["{}"]);
    expect(denialsOf(bench).at(-1)).toEqual({ inARow: {}, total: 0 });
  });

  test("what a rule denies stays denied, however often", async () => {
    const bench = await guardedBench({ interactive: true });
    bench.t.permit.answer = () => DENY;
    await denied(bench, 25);
    expect(bench.t.journal.kinds()).not.toContain("permit.ask");
    expect(bench.tool.written).toEqual([]);
  });

  test("a success clears the count in a row, not that of all", async () => {
    const bench = await guardedBench({ interactive: true });
    bench.t.permit.answer = () => BY_MODE;
    await denied(bench, 2);
    bench.t.permit.answer = () => ALLOW;
    await bench.call();
    expect(denialsOf(bench).at(-1)).toEqual({ inARow: {}, total: 2 });
    for (let round = 0; round < 9; round++) {
      bench.t.permit.answer = () => BY_MODE;
      await denied(bench, 2);
      bench.t.permit.answer = () => ALLOW;
      await bench.call();
    }
    bench.t.permit.answer = () => BY_MODE;
    const call = bench.call();
    await settle();
    expect(bench.t.journal.bodies("permit.ask")).toHaveLength(1);
    const [ask] = bench.t.journal.bodies("permit.ask") as { requestId: string }[];
    await bench.t.kernel.answer(ask!.requestId, "no");
    await expect(call).rejects.toMatchObject({ code: "PERMISSION" });
  });

  test("of one reply count once for each tool; the next reply counts again", async () => {
    const bench = await guardedBench({ interactive: true });
    bench.t.permit.answer = (_subject, { effects }) =>
      effects.some(({ kind }) => kind === "llm") ? ALLOW : BY_MODE;
    const fd = await bench.sys.open("/dev/fs", 2);
    bench.files.script.effects = [{ kind: "llm", device: "/dev/llm/x", maxTokens: 1 }];
    for (let reply = 1; reply <= 2; reply++) {
      await bench.sys.write(fd, bytes("ask"));
      await denied(bench, 5);
      expect(denialsOf(bench).at(-1)).toEqual({ inARow: { edit: reply }, total: reply });
    }
    expect(bench.t.journal.kinds()).not.toContain("permit.ask");
  });

  test("headless, no count ends a run: each is an answer to the model", async () => {
    const bench = await guardedBench();
    bench.t.permit.answer = (_subject, { effects }) =>
      effects.some(({ kind }) => kind === "llm") ? ALLOW : askWith(null);
    await denied(bench, 30);
    bench.files.script.effects = [{ kind: "llm", device: "/dev/llm/x", maxTokens: 1 }];
    const fd = await bench.sys.open("/dev/fs", 2);
    await bench.sys.write(fd, bytes("ask"));
    expect(bench.files.written).toEqual(["ask"]);
  });

  test("a child counts with its session", async () => {
    const bench = await guardedBench({ interactive: true });
    bench.t.permit.answer = () => BY_MODE;
    await denied(bench, 2);
    const child = await bench.t.start({ parentPid: bench.pid });
    const fd = await child.sys.open("/bin/edit", 2);
    await expect(child.sys.write(fd, bytes("x"))).rejects.toThrow("3 times in a row");
  });
});
