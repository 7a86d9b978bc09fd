import { expect, test } from "vitest";
import { COMMANDS } from "./commands.ts";
import { findHelp } from "./help/main.ts";
import { crux } from "./testing/run-command.ts";

test("a flag that a command has not: its own help is named", async () => {
  expect((await crux("compose up -f x.yaml")).err).toBe(
    "✗ [INVALID] unknown flag: -f\n  → hint: see crux help compose\n",
  );
  expect((await crux("fix it --bogus")).err).toContain("hint: crux help lists commands and flags");
});

test.each([
  ["-m", "-m needs a value", "-m <name>, as in: crux -m opus --budget 50000 fix the failing test"],
  ["journal 3 -n", "-n needs a value", "-n <n>, as in: crux journal 3 -n 20; see crux help journal"],
  ["compose logs --tail", "--tail needs a value", "--tail <n>; see crux help compose"],
])("crux %s says which flag lacks a value, and how it is given one", async (line, message, hint) => {
  expect((await crux(line)).err).toBe(`✗ [INVALID] ${message}\n  → hint: ${hint}\n`);
});

test("--version and -V are crux version, wherever they stand", async () => {
  for (const line of ["-V -q", "--version -q", "ps -q --version", "-qV", "some words -V -q"])
    expect(await crux(line)).toMatchObject({ out: "0.1.0\n", err: "", code: 0 });
});

test.each(Object.keys(COMMANDS))("%s --help prints its help and starts nothing", async (name) => {
  const { out, code, daemon } = await crux(`${name} --help`);
  expect(out).toBe(`${findHelp(name)}\n`);
  expect((await crux(`-h ${name}`)).out).toBe(out);
  expect((await crux(`help ${name}`)).out).toBe(out);
  expect({ code, reached: daemon.reached }).toEqual({ code: 0, reached: [] });
});

test.each([
  ["attach 7", 1],
  ["astrace 7", 1],
  ["logs 7 -f", 1],
  ["logs 7", 0],
  ["journal 7 --follow", 1],
  ["journal 7", 0],
  ["jobs 7 1 -f", 1],
  ["jobs 7 1", 0],
  ["compose up", 1],
  ["compose up -d", 0],
  ["compose logs -f", 1],
  ["compose logs", 0],
  ["ps", 0],
])("crux %s watches whether its output is read: %i", async (line, watched) => {
  expect((await crux(line)).watched).toBe(watched);
});

test("help on an intent is that of Crux, and on nothing known INVALID", async () => {
  expect((await crux("fix the test -h")).out).toBe(`${findHelp("")}\n`);
  expect((await crux("help")).out).toBe(`${findHelp("")}\n`);
  expect((await crux("help bogus")).err).toBe(
    "✗ [INVALID] no help on: bogus\n  → hint: crux help lists the commands\n",
  );
  expect((await crux("help klil")).err).toContain("hint: crux help kill; crux help lists the commands\n");
  expect((await crux("help up")).err).toContain("hint: crux help compose; crux help lists the commands\n");
  expect((await crux("ps --bogus --help")).code).toBe(1);
});

test("arguments that a command refuses without a hint get the help of the command", async () => {
  expect((await crux("top --sort nothing")).err).toMatch(/hint: /);
  expect((await crux("-p --output-format xml look")).err).toContain(
    "hint: crux help lists commands and flags",
  );
  expect((await crux("wait")).err).toMatch(/hint: /);
});
