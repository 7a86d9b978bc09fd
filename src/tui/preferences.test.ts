import { expect, test } from "vitest";
import type { WireSetting } from "../abi/methods/settings.ts";
import { preferencesOf } from "./preferences.ts";

const rows = (
  values: Record<string, unknown>,
  ignored?: string,
  source: WireSetting["source"] = "user",
): WireSetting[] =>
  Object.entries(values).map(([key, value]) => ({
    ...{ key, value, source },
    ...(ignored === undefined ? {} : { ignored }),
  }));

test("preferencesOf() has the status line that counts, at most once a second, and knows of one that is not trusted", () => {
  const brought = rows({ "statusLine.command": "theirs" }, "this folder is not trusted");
  const mine = rows({ "statusLine.command": "mine", "statusLine.padding": 2 });
  const every = (seconds: number) => rows({ "statusLine.refreshInterval": seconds });
  expect(preferencesOf(every(5)).statusLine).toBeUndefined();
  expect(preferencesOf(brought).statusLine).toBe("untrusted");
  expect(preferencesOf([...mine, ...brought, ...every(0.1)]).statusLine).toEqual({
    ...{ command: "mine", isBrought: false, padding: 2, refreshMs: 1_000 },
  });
  const trusted = rows({ "statusLine.command": "theirs" }, undefined, "project");
  expect(preferencesOf([...mine, ...trusted]).statusLine).toMatchObject({
    command: "theirs",
    isBrought: true,
  });
  expect(preferencesOf([...mine, ...every(-1)]).statusLine).toMatchObject({ refreshMs: undefined });
});
