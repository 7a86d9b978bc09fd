import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Settings } from "../../../abi/settings/settings.ts";
import { runCli } from "../../cli.ts";
import { aMachine } from "../../testing/run-command.ts";
import { KINDS } from "./init-templates.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "crux-init-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function init(...words: string[]) {
  const { host, stdout, stderr } = aMachine();
  const code = await runCli(["init", ...words], { ...host, cwd: dir });
  return { code, out: stdout.text, err: stderr.text };
}
const text = (path: string) => readFileSync(join(dir, path), "utf8");

test("init writes AGENTS.md and settings that are valid, and says what is next", async () => {
  const { code, out } = await init();
  expect(code).toBe(0);
  expect(out).toBe(
    "wrote AGENTS.md\nwrote .crux/settings.json\n  → next: fill in AGENTS.md\n" +
      "  → next: crux trust lets what this folder brings act, once you have seen it\n" +
      "  → next: crux config list shows what holds here, and from where\n",
  );
  expect(Settings.parse(JSON.parse(text(".crux/settings.json"))).permissions?.ask).toEqual([
    "bash(git push:*)",
  ]);
});

test("init never writes over what is there, and makes what is missing beside it", async () => {
  writeFileSync(join(dir, "AGENTS.md"), "mine");
  const { out } = await init();
  expect(out).toContain("wrote .crux/settings.json\nis there already, left as it is: AGENTS.md\n");
  expect(text("AGENTS.md")).toBe("mine");
  const again = await init("--json");
  expect(JSON.parse(again.out).data).toEqual({
    wrote: [],
    kept: ["AGENTS.md", ".crux/settings.json"],
    next: [],
  });
});

test.each(Object.keys(KINDS))("init %s writes its files, with a name where it takes one", async (what) => {
  const isNamed = KINDS[what]?.defaultName !== undefined;
  const { out, code } = await init(what, ...(isNamed ? ["release-notes"] : []), "-q");
  expect(code).toBe(0);
  for (const path of out.trim().split("\n")) expect(text(path)).not.toContain("NAME");
  if (isNamed && what !== "compose") expect(out).toContain("/release-notes/");
});

test("init refuses a name that leads elsewhere, a word that is none, and what lies behind a link", async () => {
  for (const words of [["agent", "../x"], ["agent", "A"], ["bogus"], ["settings", "x"], ["agent", "a", "b"]])
    expect((await init(...words)).code).toBe(1);
  const outside = mkdtempSync(join(tmpdir(), "crux-init-"));
  try {
    symlinkSync(outside, join(dir, ".crux"));
    expect((await init("settings")).err).toContain("is a link; nothing is written through it");
    expect(existsSync(join(outside, "settings.json"))).toBe(false);
    symlinkSync(join(outside, "target"), join(dir, "AGENTS.md"));
    expect((await init("agents")).out).toContain("is there already");
    expect(existsSync(join(outside, "target"))).toBe(false);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
  mkdirSync(join(dir, "crux.compose.yaml"));
  expect((await init("compose")).out).toContain("is there already");
});
