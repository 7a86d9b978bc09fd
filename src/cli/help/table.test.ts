import { describe, expect, test } from "vitest";
import { type FlagTable, PRINT_FLAGS, RUN_FLAGS } from "../args.ts";
import { parseComposeArgs } from "../command/project/compose.ts";
import { COMMANDS } from "../commands.ts";
import { GLOBAL_OPTIONS, RUN_OPTIONS } from "./flags.ts";
import { findHelp } from "./main.ts";
import { ROOT } from "./root.ts";
import type { OptionRow } from "./row.ts";
import { GROUPS, ROWS } from "./rows.ts";

const flagsOf = (options: readonly OptionRow[]): FlagTable =>
  Object.fromEntries(
    options.map(({ flag, short, value }) => [
      flag,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );

test("every command has one row, and every row a command", () => {
  expect(ROWS.map(({ name }) => name).sort()).toEqual(Object.keys(COMMANDS).sort());
});

describe.each(ROWS.map((row) => [row.name, row] as const))("crux %s", (name, row) => {
  test("takes the flags that its row lists, and no others", async () => {
    const command = await COMMANDS[name]?.();
    const listed = flagsOf([...(row.hasRunFlags === true ? RUN_OPTIONS : []), ...(row.options ?? [])]);
    // those of compose differ by verb
    if (command?.parse === undefined) expect(command?.flags).toEqual(listed);
    // loading a command is not what is timed
  });

  test("begins each form of its use with its name, and its examples are lines of a shell", () => {
    for (const form of row.usage) {
      const line = typeof form === "string" ? form : form[0];
      expect(line.startsWith(name) || line.startsWith("<command>")).toBe(true);
    }
    for (const line of row.examples ?? []) expect(line).toMatch(/crux/);
    if (row.hidden !== true) expect(row.head.split(" ")[0]).toBe(name);
  });
});

test("a run takes the flags that its row lists, and no others", () => {
  expect({ ...RUN_FLAGS, ...PRINT_FLAGS }).toEqual(flagsOf(ROOT.options ?? []));
});

test("each verb of compose takes the flags that its row lists", () => {
  const row = ROWS.find(({ name }) => name === "compose");
  for (const { name, options = [] } of row?.verbs ?? [])
    for (const { flag, short, value } of options) {
      const given = value === undefined ? [] : ["7"];
      for (const spelling of [`--${flag}`, ...(short === undefined ? [] : [`-${short}`])])
        expect(parseComposeArgs([name, spelling, ...given]).flags.has(flag)).toBe(true);
    }
  for (const { flag } of row?.options ?? [])
    expect(parseComposeArgs([`--${flag}`, "x", "ps"]).flags.get(flag)).toBe("x");
});

test("crux help lists each command once", () => {
  const lines = findHelp("")?.split("\n") ?? [];
  for (const { name, head, hidden } of ROWS) {
    const found = lines.filter((line) => line === `  ${head}` || line.startsWith(`  ${head} `));
    expect([name, found.length]).toEqual([name, hidden === true ? 0 : 1]);
  }
  expect(new Set(GROUPS.map(({ title }) => title)).size).toBe(GROUPS.length);
});

test("no flag is listed twice, and none hides one of every command", () => {
  const global = new Set(GLOBAL_OPTIONS.map(({ flag }) => flag));
  for (const { options = [], verbs = [] } of [ROOT, ...ROWS])
    for (const list of [options, ...verbs.map((verb) => verb.options ?? [])]) {
      expect(new Set(list.map(({ flag }) => flag)).size).toBe(list.length);
      expect(list.filter(({ flag }) => global.has(flag))).toEqual([]);
    }
});

// what is to be copied, or is one word, is not broken
test.each([40, 80, 100, 120, 300])(
  "help fits a terminal of %i columns, and ends without blanks",
  (columns) => {
    for (const row of [ROOT, ...ROWS])
      for (const line of findHelp(row.name, columns)?.split("\n") ?? []) {
        if (row.examples?.includes(line.trim()) !== true && /\S \S/.test(line))
          expect(line.length, line).toBeLessThanOrEqual(Math.min(columns, 119));
        expect(line).toBe(line.trimEnd());
      }
  },
);

test("help says the same at any width", () => {
  const words = (name: string, columns: number) => findHelp(name, columns)?.split(/\s+/);
  for (const { name } of [ROOT, ...ROWS]) expect(words(name, 40)).toEqual(words(name, 120));
});

test("in a narrow terminal a meaning stands below its flag, further in", () => {
  expect(findHelp("logs", 40)).toContain(`
  -f, --follow
      follow until it ends
`);
});
