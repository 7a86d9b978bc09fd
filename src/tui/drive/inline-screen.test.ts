import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { plain } from "../text/line.ts";
import { InlineScreen } from "./inline-screen.ts";

const { Terminal } = createRequire(import.meta.url)("@xterm/headless") as typeof import("@xterm/headless");

/** A terminal of 8 rows, and how many bytes it got. */
function aScreen(columns = 20) {
  const terminal = new Terminal({ cols: columns, rows: 8, scrollback: 1_000, allowProposedApi: true });
  const written: string[] = [];
  const screen = new InlineScreen({
    write: (text, done) => {
      written.push(String(text));
      terminal.write(String(text), done);
      return true;
    },
  });
  const draw = (above: readonly string[], live: readonly string[]): Promise<void> =>
    new Promise((done) =>
      screen.draw(
        above.map(plain),
        { lines: live.map(plain), cursor: { row: live.length - 1, column: 1 } },
        done,
      ),
    );
  const text = (): string[] => {
    const { active } = terminal.buffer;
    const rows = Array.from(
      { length: active.length },
      (_, at) => active.getLine(at)?.translateToString(true).trimEnd() ?? "",
    );
    return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
  };
  return { draw, text, written, terminal, screen };
}

test("InlineScreen writes what changed, and nothing where nothing did", async () => {
  const { draw, text, written } = aScreen();
  await draw([], ["one", "two", "three"]);
  written.length = 0;
  await draw([], ["one", "TWO", "three"]);
  expect(written.join("")).not.toMatch(/one|three/);
  expect(text()).toEqual(["one", "TWO", "three"]);
  written.length = 0;
  await draw([], ["one", "TWO", "three"]);
  expect(written).toEqual([]);
});

test("InlineScreen has in the terminal all that was finished, once and in order, above what is live", async () => {
  const lines = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { maxLength: 6 });
  const live = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1, maxLength: 7 });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(lines, live), { minLength: 1, maxLength: 8 }), async (frames) => {
      const { draw, text, terminal } = aScreen();
      for (const [above, now] of frames) await draw(above, now);
      expect(text()).toEqual([...frames.flatMap(([above]) => above), ...(frames.at(-1)?.[1] ?? [])]);
      terminal.dispose();
    }),
    { numRuns: 50 },
  );
});

test("InlineScreen takes a live part of the whole screen off it, row by row where tmux would keep it", async () => {
  for (const count of [1, 2, 8]) {
    const { draw, text, written, terminal, screen } = aScreen();
    const live = Array.from({ length: count }, (_, at) => `row ${at}`);
    await draw(["above"], live);
    written.length = 0;
    if (count === 2) screen.clear();
    else screen.resized(20);
    // as the first cell of the screen may be where it begins
    for (const home of ["\r", "A"]) expect(written.join("")).not.toContain(`${home}\x1b[J`);
    await draw([], ["after"]);
    expect(text()).toEqual(["above", "after"]);
    terminal.dispose();
  }
});
