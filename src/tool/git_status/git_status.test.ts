import { describe, expect, it } from "vitest";
import { parseStatus } from "./porcelain.ts";

const z = (...records: readonly string[]) => records.map((record) => `${record}\0`).join("");
const modes = "N... 100644 100644 100644 aaaa bbbb";

describe("parseStatus()", () => {
  it("takes branch, upstream and distance", () => {
    const head = z(
      "# branch.oid abc",
      "# branch.head main",
      "# branch.upstream origin/main",
      "# branch.ab +2 -3",
    );
    expect(parseStatus(head)).toMatchObject({ branch: "main", upstream: "origin/main", ahead: 2, behind: 3 });
    expect(parseStatus(z("# branch.head (detached)"))).toMatchObject({ branch: null, upstream: null });
  });

  it("a path that is staged and modified stands in both lists, and any name is exact", () => {
    const name = 'a b\n"c" -> d';
    const status = parseStatus(
      z(`1 MM ${modes} ${name}`, `1 .M ${modes} two`, `1 A. ${modes} three`, `? ${name}?`),
    );
    expect(status.staged).toEqual([name, "three"]);
    expect(status.modified).toEqual([name, "two"]);
    expect(status.untracked).toEqual([`${name}?`]);
  });

  it("a rename has both names, and a conflict is no change", () => {
    const status = parseStatus(
      z(
        `2 RM ${modes} R100 new name`,
        "old name",
        "u UU N... 1 2 3 4 a b c both sides",
        `1 .D ${modes} gone`,
      ),
    );
    expect(status.renamed).toEqual([{ from: "old name", to: "new name" }]);
    expect(status).toMatchObject({
      staged: ["new name"],
      modified: ["new name", "gone"],
      conflicted: ["both sides"],
    });
  });
});
