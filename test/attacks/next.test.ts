/** What one command of a process does to the next, in each way in which commands can be confined: nothing. */
import { beforeAll, describe, expect, test } from "vitest";
import { confinersHere } from "../../src/dev/host/testing.ts";
import { BWRAP } from "../../src/dev/host/wrapper.ts";
import { isExecutable } from "../../src/lib/program-file.ts";
import { inArena, noArena } from "./arena.ts";
import { SABOTAGE, type Sabotaged } from "./next.ts";

const reason = noArena();
const ways = confinersHere().map(({ kind }) => ({
  kind,
  closed: kind === "bubblewrap" ? [] : BWRAP.filter(isExecutable),
  isFlat: kind === "landlock",
}));

describe.skipIf(reason !== undefined).each(ways)(
  `the next command${reason === undefined ? "" : ` (skipped: ${reason})`}, by $kind`,
  ({ kind, ...machine }) => {
    let told: Sabotaged[] = [];
    beforeAll(async () => {
      told = await inArena<Sabotaged>("next", machine);
    });

    test.each([...SABOTAGE.map(({ name }) => name), "the end"])("is as ever after one that %s", (name) => {
      const found = told.find((each) => each.name === name);
      expect(found?.kind).toBe(kind);
      expect(found?.found).toBe(found?.expected);
      expect(found?.left).toEqual([]);
    });
  },
);
