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
    expect(read('{"ui":{"accessible":true,"screen":"full"}}')).toEqual([true, true, "en"]);
    expect(read('{"ui":{"accessible":false,"screen":"inline"}}')).toEqual([false, false, "en"]);
    expect(read("{}", { CRUX_ACCESSIBLE: "1" })).toEqual([true, false, "en"]);
    for (const text of ["{", '{"ui":null}', "null"]) expect(read(text)).toEqual([false, false, "en"]);
    // the setting over the environment; what is no language leaves it to that
    const languages = [
      '{"ui":{"language":"en"}}',
      '{"ui":{"language":"auto"}}',
      '{"ui":{"language":"de"}}',
      "{}",
    ];
    expect(languages.map((text) => read(text, { LANG: "zh_CN.UTF-8" })[2])).toEqual(["en", "zh", "zh", "zh"]);
    expect(read('{"ui":{"language":"zh"}}', { LANG: "C" })[2]).toBe("zh");
  } finally {
    rmSync(dir, { recursive: true });
  }
});
