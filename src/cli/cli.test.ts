import { expect, test } from "vitest";
import { COMMANDS, findNearCommand } from "./commands.ts";
import { TOPICS } from "./help.ts";
import { crux } from "./testing/run-command.ts";

test("a word one edit from a command is refused, alone", async () => {
  expect(await crux("pss")).toMatchObject({
    out: "",
    err: "✗ unknown command: pss\n  → hint: crux ps, or crux -- pss to use it as an intent\n",
    code: 1,
  });
  expect(await crux("pss --json")).toMatchObject({
    out: '{"ok": false, "error": {"code": "INVALID", "message": "unknown command: pss"}}\n',
    err: "",
    code: 1,
  });
  for (const line of ["pss", "-q kil"]) expect((await crux(line)).daemon.reached).toEqual([]);
  expect((await crux("pss explained")).daemon.reached).toEqual(["ensure"]);
});

test.each([
  ["pss", "ps"],
  ["p", "ps"],
  ["sp", "ps"],
  ["klil", "kill"],
  ["kilk", "kill"],
  ["xkill", "kill"],
  ["demon", "daemon"],
  ["versoin", "version"],
  ["tre", "tree"],
  ["tpo", "top"],
  ["log", "logs"],
  ["group", "groups"],
  ["unmount", "umount"],
  ["attahc", "attach"],
])("findNearCommand(%s) is %s", (word, near) => {
  expect(findNearCommand(word)).toBe(near);
});

test.each(["ps", "hello", "pssx", "", "killers", "spx", "work", "what", "go", "hi"])(
  "findNearCommand(%j) finds none",
  (word) => {
    expect(findNearCommand(word)).toBeUndefined();
  },
);

test("a flag that a command has not: its own help is named", async () => {
  expect((await crux("compose up -f x.yaml")).err).toBe(
    "✗ [INVALID] unknown flag: -f\n  → hint: crux help compose tells how it is used\n",
  );
  expect((await crux("fix it --bogus")).err).toContain("hint: crux help lists commands and flags");
});

test("a name kept for a later command never begins an intent", async () => {
  const { err, code, daemon } = await crux("export for me");
  expect(err).toBe(
    "✗ [UNAVAILABLE] crux export is not part of this version\n  → hint: crux -- export for me to use it as an intent\n",
  );
  expect({ code, reached: daemon.reached }).toEqual({ code: 1, reached: [] });
  // one letter from top, and yet a name of its own
  expect((await crux("stop")).err).toContain("crux stop is not part of this version");
});

test("--version and -V are crux version, wherever they stand", async () => {
  for (const line of ["-V -q", "--version -q", "ps -q --version", "-qV", "some words -V -q"])
    expect(await crux(line)).toMatchObject({ out: "0.1.0\n", err: "", code: 0 });
});

test.each(Object.keys(COMMANDS))("%s --help prints its help and starts nothing", async (name) => {
  const { out, code, daemon } = await crux(`${name} --help`);
  expect(out).toBe(`${TOPICS[name]}\n`);
  expect((await crux(`-h ${name}`)).out).toBe(out);
  expect((await crux(`help ${name}`)).out).toBe(out);
  expect({ code, reached: daemon.reached }).toEqual({ code: 0, reached: [] });
});

test("help on an intent is that of Crux, and on nothing known INVALID", async () => {
  expect((await crux("fix the test -h")).out).toBe(`${TOPICS[""]}\n`);
  expect((await crux("help")).out).toBe(`${TOPICS[""]}\n`);
  expect((await crux("help bogus")).err).toBe(
    "✗ [INVALID] no help on: bogus\n  → hint: crux help lists the commands\n",
  );
  expect((await crux("ps --bogus --help")).code).toBe(1);
});

test("help fits a terminal of 120 columns", () => {
  for (const text of Object.values(TOPICS))
    for (const line of text.split("\n")) expect(line.length).toBeLessThan(120);
});
