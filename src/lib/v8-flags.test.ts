import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** In a process of its own, whose heap is small: what the heap of the tests holds would hide what has come. */
const PROGRAM = `
  import { getHeapStatistics } from "node:v8";
  let look;
  globalThis.setInterval = (act) => ((look = act), { unref() {} });
  globalThis.clearInterval = () => (look = undefined);
  const { keepHeapSmall } = await import(${JSON.stringify(new URL("./v8-flags.ts", import.meta.url).href)});
  const used = () => getHeapStatistics().used_heap_size;
  const filled = () => {
    const made = Array.from({ length: 100_000 }, (_, n) => ({ n, text: "text " + n }));
    return used() + 0 * made.length;
  };
  const end = keepHeapSmall();
  const before = filled();
  look();
  const [collected, hasGc] = [before - used(), "gc" in globalThis];
  end();
  console.log(JSON.stringify({ collected, hasGc, isEnded: look === undefined }));
`;

test("keepHeapSmall() collects what has come, until it is ended", () => {
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", PROGRAM], {
    encoding: "utf8",
  });
  const told = JSON.parse(stdout || JSON.stringify(stderr));
  expect(told).toMatchObject({ hasGc: false, isEnded: true });
  expect(told.collected).toBeGreaterThan(2 * 2 ** 20);
});
