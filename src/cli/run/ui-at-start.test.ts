import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { uiAtStart } from "./ui-at-start.ts";

test("uiAtStart() is what the user's file says, or the environment; what cannot be read says nothing", () => {
  const dir = mkdtempSync(join(tmpdir(), "crux-ui-"));
  try {
    mkdirSync(join(dir, "crux"));
    const read = (text: string, env = {}) => {
      writeFileSync(join(dir, "crux/settings.json"), text);
      return Object.values(uiAtStart({ XDG_CONFIG_HOME: dir, ...env }));
    };
    expect(read('{"ui":{"accessible":true,"screen":"full"}}')).toEqual([true, true]);
    expect(read('{"ui":{"accessible":false,"screen":"inline"}}')).toEqual([false, false]);
    expect(read("{}", { CRUX_ACCESSIBLE: "1" })).toEqual([true, false]);
    for (const text of ["{", '{"ui":null}', "null"]) expect(read(text)).toEqual([false, false]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
