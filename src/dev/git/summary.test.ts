import { describe, expect, test } from "vitest";
import type { HostExec } from "../../kernel/ports/host.ts";
import { GitSummaries, summaryText } from "./summary.ts";

const z = (...records: readonly string[]) => records.map((record) => `${record}\0`).join("");
const outputs = { status: "", log: "", user: "" };

describe("summaryText()", () => {
  test("tells branch, distance, user, changes of every kind and commits", () => {
    const status = z(
      "# branch.oid abc",
      "# branch.head main",
      "# branch.upstream origin/main",
      "# branch.ab +1 -2",
      "1 .M N... 100644 100644 100644 aaa aaa src/a b.ts",
      "2 R. N... 100644 100644 100644 aaa aaa R100 new.ts",
      "old.ts",
      "u UU N... 100644 100644 100644 100644 aaa aaa aaa both.ts",
      "? x\ny",
    );
    expect(summaryText({ status, log: "abc1 first <b>\nabc0 zero\n", user: "Ada" })).toBe(
      [
        "Git when you started: branch main, origin/main (1 ahead, 2 behind), user Ada",
        "Changed files:",
        "   M src/a b.ts",
        "  R  new.ts",
        "  UU both.ts",
        "  ?? x?y",
        "Last commits:",
        "  abc1 first &lt;b>",
        "  abc0 zero",
      ].join("\n"),
    );
  });

  test("tells of nothing changed, and cuts a long list with the way on", () => {
    expect(summaryText({ ...outputs, status: z("# branch.head main") })).toBe(
      "Git when you started: branch main\nNothing has changed.",
    );
    const many = Array.from({ length: 500 }, (_, at) => `? file-${at}`);
    const text = summaryText({ ...outputs, status: z("# branch.head main", ...many) });
    expect(text.length).toBeLessThan(350);
    const shown = text.split("\n").filter((each) => each.startsWith("  ?? ")).length;
    expect(text).toContain(`  (${500 - shown} more: git status)`);
  });
});

describe("GitSummaries", () => {
  const summaries = (run: () => object, at: { ms: number }) => {
    const exec = { run } as unknown as HostExec;
    const clock = { sleep: () => new Promise<void>(() => {}) };
    return new GitSummaries({ exec, clock, env: {}, mono: () => at.ms, maxMs: 1_000 });
  };

  test("asks once for agents that start together, and says nothing where git fails", async () => {
    let runs = 0;
    const at = { ms: 0 };
    const failing = summaries(() => {
      runs++;
      return { exited: Promise.resolve({ code: 128 }), kill: async () => {} };
    }, at);
    const texts = await Promise.all([failing.of("/w", "pid 1 git"), failing.of("/w", "pid 2 git")]);
    expect([texts, runs]).toEqual([["", ""], 1]);
    at.ms = 2_000;
    await failing.of("/w", "pid 3 git");
    expect(runs).toBe(2);
  });
});
