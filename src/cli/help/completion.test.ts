import { expect, test } from "vitest";
import { proposalsFor } from "./completion.ts";
import { ROWS } from "./rows.ts";

const values = (...words: string[]) => proposalsFor(words).candidates.map(({ value }) => value);
const sources = (...words: string[]) => proposalsFor(words).sources;

test("the first word is a command", () => {
  expect(values("")).toEqual(ROWS.filter(({ hidden }) => hidden !== true).map(({ name }) => name));
  expect(values("se")).toEqual(["sessions", "send"]);
  expect(values("-q", "-m", "opus", "jo")).toEqual(["jobs", "journal"]);
});

test("behind a command stand its words, and what has to be looked up", () => {
  expect(values("daemon", "st")).toEqual(["start", "status", "stop"]);
  expect(values("compose", "-f", "x.yaml", "")).toEqual(["up", "down", "ps", "logs", "config"]);
  expect(sources("kill", "")).toEqual(["<pid>"]);
  expect(sources("mode", "3", "")).toEqual(["<mode>"]);
  expect(sources("kill", "3", "")).toEqual([]);
  expect(sources("fsck", "3", "4", "")).toEqual(["<pid>"]);
  expect([values("trust", "s"), sources("trust", "s")]).toEqual([["show"], ["<directory>"]]);
  expect(values("help", "ps")).toEqual(["ps"]);
});

test("flags are those of the command, of its verb, and of every command", () => {
  expect(values("ps", "--")).toEqual([
    ...["--all", "--tree"],
    ...["--json", "--verbose", "--quiet", "--no-color", "--help", "--version"],
  ]);
  expect(values("compose", "up", "--d")).toEqual(["--detach"]);
  expect(values("compose", "down", "--d")).toEqual([]);
  expect(values("chat", "--mod")).toEqual(["--model"]);
  expect(values("--max")).toEqual([
    "--max-steps",
    "--max-usd",
    "--max-time",
    "--max-turns",
    "--max-budget-usd",
  ]);
});

test("the value of a flag is completed, in each spelling", () => {
  expect(sources("-m", "")).toEqual(["<model>"]);
  expect(sources("-qm", "")).toEqual(["<model>"]);
  expect(sources("--permission-mode", "pl")).toEqual(["<mode>"]);
  expect(proposalsFor(["--agent=no"])).toMatchObject({
    candidates: [{ value: "none" }],
    sources: ["<agent>"],
    before: "--agent=",
    prefix: "no",
  });
  // as bash splits it
  expect(proposalsFor(["--agent", "=", "no"])).toMatchObject({
    candidates: [{ value: "none" }],
    before: "",
    prefix: "no",
  });
  expect(sources("--agent", "=")).toEqual(["<agent>"]);
  expect(values("top", "--sort", "to")).toEqual(["tokens"]);
  expect(sources("top", "--sort", "tokens", "--delay", "")).toEqual([]);
});

test("an intent is nobody's to complete", () => {
  for (const words of [
    ["fix", ""],
    ["fix", "--mo"],
    ["--", "ps", ""],
    ["-q", "what", "p"],
  ])
    expect([values(...words), sources(...words)]).toEqual([[], []]);
});
