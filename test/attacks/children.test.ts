/** A hostile program that runs as the child of an agent: none of its deeds is done, though on this machine they can be. */
import { beforeAll, describe, expect, test } from "vitest";
import { confinersHere } from "../../src/dev/host/testing.ts";
import { BWRAP } from "../../src/dev/host/wrapper.ts";
import { isExecutable } from "../../src/lib/program-file.ts";
import { inArena, noArena } from "./arena.ts";
import type { Hostile } from "./children.ts";
import { DEEDS } from "./deeds.ts";

const reason = noArena();
/** In every way in which commands can be confined there: what the better ones need is not installed. */
const ways = confinersHere().map(({ kind }) => ({
  kind,
  closed: kind === "bubblewrap" ? [] : BWRAP.filter(isExecutable),
  isFlat: kind === "landlock",
}));

/** What docs/sandbox.md says of a machine without namespaces. */
const BY_RULES = {
  done: ["sees programs of others", "writes a hook", "writes the configuration of git"],
  /** With the content that they had, but of another time. */
  putBack: [".git/config", ".git/hooks", ".git/hooks/pre-commit.crux-quarantine-1"],
};

describe.skipIf(reason !== undefined).each(ways)(
  `a hostile child of an agent${reason === undefined ? "" : ` (skipped: ${reason})`}, by $kind`,
  ({ kind, ...machine }) => {
    let confined: Hostile;
    let free: Hostile;
    beforeAll(async () => {
      const told = await inArena<Hostile>("children", machine);
      [confined, free] = told as [Hostile, Hostile];
    });

    test.runIf(kind === "bubblewrap")("does what it wants where nothing holds it: the deeds are real", () => {
      const works = DEEDS.filter(({ neverWorks }) => neverWorks === undefined);
      expect(works.length).toBeGreaterThan(25);
      for (const { name } of works) expect(free.said).toContain(`done: ${name}`);
      expect(free.isVictimAlive).toBe(false);
    });

    test("does none of it, as the child of an agent whose rules allow every command", () => {
      const isDone = (name: string) => kind === "landlock" && BY_RULES.done.includes(name);
      const told = DEEDS.map(({ name }) => `${isDone(name) ? "done" : "held"}: ${name}`);
      // rules let it connect to no socket, its own included
      const own = kind === "landlock" ? [] : ["refused: PERMISSION"];
      expect(confined.said).toEqual([...told, ...own, "the end"]);
    });

    test("leaves no trace: not in protected files, not on the machine, not with others", () => {
      const traces = confined.traces.map((path) => path.replace(/^.*\/workspace\//, ""));
      expect(traces).toEqual(kind === "landlock" ? BY_RULES.putBack : []);
      expect(confined.isVictimAlive).toBe(true);
      expect(confined.isDaemonAlive).toBe(true);
    });

    test("answers no question of another agent: the person is still the first to answer", () => {
      expect(confined.isQuestionOpen).toBe(true);
    });
  },
);
