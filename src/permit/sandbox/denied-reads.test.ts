import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { ALL_RIGHTS } from "../../abi/rights.ts";
import type { RuleText } from "../../abi/rules.ts";
import { DeniedReads, fixedPlaces } from "./denied-reads.ts";

let work = "";
beforeEach(() => {
  work = realpathSync(mkdtempSync("/var/tmp/crux-denied-"));
  onTestFinished(() => rmSync(work, { recursive: true, force: true }));
  for (const dir of ["private", "notes"]) {
    mkdirSync(join(work, dir));
    writeFileSync(join(work, dir, "k"), "");
  }
});

const rule = (text: string, source: RuleText["source"] = "cliArg"): RuleText => ({
  source,
  behavior: "deny",
  text,
});
const who = (...denied: readonly string[]) => ({
  rights: { ...ALL_RIGHTS, deny: denied.map((text) => rule(text)) },
});
const reads = (...settings: readonly string[]) =>
  new DeniedReads({
    rules: settings.map((text) => rule(text, "userSettings")),
    settings: {},
    protections: [],
    home: "/home/u",
  });
const namesIn = ({ finder }: ReturnType<DeniedReads["of"]>) =>
  finder.find(work).map(({ path }) => path.slice(work.length + 1));

describe("DeniedReads.of", () => {
  test("finds what the process's own rules refuse, in addition to those of the settings", () => {
    const all = reads("view(notes/**)");
    expect(namesIn(all.of({}))).toEqual(["notes"]);
    for (const text of ["view(private/**)", "Read(/private/**)", `grep(/${work}/private/**)`, "ls(private)"])
      expect([text, namesIn(all.of(who(text))).sort()]).toEqual([text, ["notes", "private"]]);
    expect(namesIn(all.of({}))).toEqual(["notes"]);
  });

  test("takes fixed places from them", () => {
    const { rules } = reads("view(//srv/keys)").of(
      who("view(~/x \\(old\\)/**)", "glob(//srv/more)", "bash(rm:*)"),
    );
    const bases = { home: "/home/u", cwd: work };
    expect(fixedPlaces(rules, bases, (path) => path)).toEqual(["/srv/keys", "/home/u/x (old)", "/srv/more"]);
  });

  test("searches once for all processes with the same rules, for a bounded number of sets", () => {
    const all = reads();
    const first = all.of(who("view(a)", "bash(rm:*)"));
    expect(all.of(who("view(a)"))).toBe(first);
    expect(all.of(who("view(b)"))).not.toBe(first);
    for (let n = 0; n < 8; n++) all.of(who(`view(x${n})`));
    expect(all.of(who("view(a)"))).not.toBe(first);
  });
});
