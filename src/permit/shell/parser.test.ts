import { execFileSync } from "node:child_process";
import { describe, expect, it, vi } from "vitest";
import { loadParser, withTree } from "./parser.ts";

/** In a process of its own, where what would be compiled beside the work is compiled within it. */
const FIVE_HUNDRED_PARSES = `
  import { readFileSync } from "node:fs";
  import { loadParser, withTree } from ${JSON.stringify(new URL("./parser.ts", import.meta.url))};
  await loadParser();
  const texts = ["echo hi", "for f in *.ts; do grep -n 'x' \\"$f\\" | sed 's/a/b/'; done", "a=$(date +%s); echo $((a+1)) >> log"];
  for (let n = 0; n < 500; n++) withTree(texts[n % texts.length], (root) => root.descendantCount);
  // not getrusage(): its peak begins with that of the process that forked this one
  console.log(/VmHWM:\\s*(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
`;

describe("withTree()", () => {
  it.runIf(process.platform === "linux")("never has the grammar compiled by what takes 500 MB for it", () => {
    const argv = ["--wasm-sync-tier-up", "--input-type=module", "--eval", FIVE_HUNDRED_PARSES];
    const kilobytes = Number(execFileSync(process.execPath, argv, { encoding: "utf8" }));
    expect(kilobytes).toBeGreaterThan(0);
    expect(kilobytes).toBeLessThan(250_000);
  });

  it("gives up by the processor time of its thread, and not because the machine has other things to do", async () => {
    await loadParser();
    const text = "echo hi; ".repeat(2_000);
    const parts = (): number | string => withTree(text, (root) => root.descendantCount);
    try {
      const wall = vi.spyOn(performance, "now").mockReturnValueOnce(0).mockReturnValue(1_000);
      expect(parts()).toBeTypeOf("number");
      wall.mockRestore();
      vi.spyOn(process, "threadCpuUsage").mockReturnValue({ user: 51_000, system: 0 });
      expect(parts()).toBe("it takes more than 50 ms to read");
    } finally {
      vi.restoreAllMocks();
    }
    expect(parts()).toBeTypeOf("number");
  });
});
