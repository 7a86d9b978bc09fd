/** The examples of docs/permissions.md: each is read as settings, and decides what its heading says. */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { Settings } from "../../abi/settings/settings.ts";
import { bash, run } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { rulesFromSettings } from "../rules/settings-rules.ts";
import { loadParser } from "../shell/parser.ts";

beforeAll(() => loadParser());

const page = readFileSync(new URL("../../../docs/permissions.md", import.meta.url), "utf8");
const examples = [...page.matchAll(/^```json settings(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, said = "", text = ""]) => ({
    said: said.trim(),
    text,
  }),
);

test("the page has examples", () => expect(examples.length).toBeGreaterThanOrEqual(3));

test.each(examples)("the example $said holds", ({ said, text }) => {
  const settings = Settings.parse(JSON.parse(text));
  const permit = makePermit({
    rules: rulesFromSettings(settings, "userSettings"),
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: [],
    realPath: (path) => path,
    exists: () => false,
  });
  expect(permit.warnings).toEqual([]);
  for (const [, behavior, command = ""] of said.matchAll(/(allow|ask|deny)=([\w-]+)/g))
    expect(run(permit, "bash", [bash(command.replaceAll("-", " "))]).behavior, command).toBe(behavior);
});

test("every rule of the table is one", () => {
  const table = page.slice(page.indexOf("| rule | covers |"), page.indexOf("Paths are written as"));
  const rules = [...table.matchAll(/^\| (.+?) \|/gm)]
    .flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)])
    .map(([, rule = ""]) => rule);
  expect(rules.length).toBeGreaterThan(12);
  const written = rules.map((text) => ({ source: "userSettings", behavior: "deny", text }) as const);
  const options = {
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: [],
  } as const;
  expect(makePermit({ ...options, rules: written, realPath: (path) => path }).warnings).toEqual([]);
});
