/** Without any model a script answers, and says so; what it tells of the folder is true. */
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Run, World } from "./harness/world.ts";

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

const NOTICE = "No model is configured: a script answers, not a model.";
/** The last lines: one way to a real model each. */
const WAYS = [
  /^ {2}→ .*ANTHROPIC_API_KEY/,
  /^ {2}→ .*OPENAI_API_KEY.*OPENAI_BASE_URL/,
  /^ {2}→ .*claude-code/,
];

function expectWays(lines: readonly string[]): void {
  expect(lines).toHaveLength(WAYS.length);
  for (const [at, way] of WAYS.entries()) expect(lines[at]).toMatch(way);
}

interface Figures {
  readonly files: number;
  readonly lines: number;
  readonly marks: number;
  readonly marked: number;
}

/** Writes files of 1 to 9 lines, every fifth of them with a mark of work to do. */
function fill(count: number): Figures {
  let [lines, marks] = [0, 0];
  for (let i = 0; i < count; i++) {
    const own = 1 + (i % 9);
    const mark = i % 5 === 0 ? "// TODO: mend\n" : "";
    world.write(`src/part${i % 10}/file${i}.ts`, "export {};\n".repeat(own) + mark);
    lines += own + (mark === "" ? 0 : 1);
    marks += mark === "" ? 0 : 1;
  }
  return { files: count, lines, marks, marked: marks };
}

function expectFigures(text: string, { files, lines, marks, marked }: Figures): void {
  expect(text).toContain(`- files: ${files}\n`);
  expect(text).toContain(`- lines: ${lines} (text files: ${files})\n`);
  expect(text).toContain(`- lines marked TODO, FIXME, XXX or HACK: ${marks} (files: ${marked})\n`);
}

/** The report that the result names. */
function reportOf({ stdout }: Run): string {
  const [, path = ""] = /The report: (\/\S+)/.exec(stdout)!;
  return readFileSync(path, "utf8");
}

describe.each([
  ["an empty folder", 0],
  ["a small folder", 7],
  ["a folder of 500 files", 500],
])("crux without a model in %s", (_name, count) => {
  it("says first that a script answers, reports true figures, and last how to get a model", async () => {
    const figures = fill(count);
    const run = await world.crux(["what", "is", "here?"]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    const lines = run.stdout.trimEnd().split("\n");
    expect(lines[0]).toBe(NOTICE);
    expectWays(lines.slice(-3));
    expectFigures(run.stdout, figures);
    const report = reportOf(run);
    expectFigures(report, figures);
    expect(report).toContain("The request was: what is here?");
    expect(report).toContain("Written by a script, not by a model.");
    expect(report.slice(report.indexOf("## What did not work"))).toBe("## What did not work\n\n(nothing)\n");
    if (count > 0)
      expect(report).toMatch(/## The longest files \(path:lines\)\n\n- src\/part\d\/file\d+\.ts:\d+\n/);
  });
});

describe("crux without a model", () => {
  it("--json: stdout is one object, the notice and the ways are on stderr", async () => {
    const figures = fill(3);
    const { code, stdout, stderr } = await world.crux(["--json", "what is here?"]);
    expect(code).toBe(0);
    const { ok, data } = JSON.parse(stdout) as { ok: boolean; data: { result: string; exit_code: number } };
    expect([ok, data.exit_code]).toEqual([true, 0]);
    expect(stdout.trimEnd()).not.toContain("\n");
    expectFigures(data.result, figures);
    const [notice, ...ways] = stderr.trimEnd().split("\n");
    expect(notice).toBe(NOTICE);
    expectWays(ways);
  });

  it("-q: stdout is the result alone, which says by itself that it is a script's", async () => {
    fill(1);
    const { code, stdout, stderr } = await world.crux(["-q", "what is here?"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^A script answered, not a model: /);
    expect(stderr.startsWith(`${NOTICE}\n`)).toBe(true);
  });

  it("changes nothing in the folder, whatever was asked", async () => {
    world.write("a.txt", "one\n");
    const run = await world.crux(["--permission-mode", "bypass", "delete", "everything"]);
    expect(run.code).toBe(0);
    expect(world.file("a.txt")).toBe("one\n");
    expect(reportOf(run)).toContain("- files: 1\n");
  });

  it("with requireModel in the settings is refused instead", async () => {
    world.settings({ requireModel: true });
    const { code, stdout, stderr } = await world.crux(["what is here?"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^✗ \[UNAVAILABLE\] .*no model is configured.*\n {2}→ hint: .*ANTHROPIC_API_KEY/);
  });

  it("-d tells at once that a script answers: nobody follows who could be told later", async () => {
    const { code, stdout } = await world.crux(["-d", "survey this"]);
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toMatch(/script answers, not a model/);
    expect(stdout).toMatch(/\[kernel\] spawning PID \d+\.\.\.\n {2}→ export ANTHROPIC_API_KEY/);
  });
});
