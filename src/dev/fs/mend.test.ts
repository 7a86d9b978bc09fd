import { linkSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { tempFolder } from "../testing.ts";
import { isTorn, mendFile } from "./mend.ts";

const TEMP = ".a.crux-0123456789abcdef";

/** A file as a crash left it, of two names if nothing else is said, with the new content beside it. */
function left(now: string, next: string | null, isLinked = true): string {
  const root = tempFolder();
  writeFileSync(join(root, "a"), now);
  if (isLinked) linkSync(join(root, "a"), join(root, "b"));
  if (next !== null) writeFileSync(join(root, TEMP), next);
  return join(root, "a");
}

test("mendFile puts the old content back where old and new are mixed, under all names", async () => {
  const path = left("NEWoldold", "NEW NEW NEW");
  expect(await mendFile(path, Buffer.from("oldoldold"))).toBe(true);
  expect(readFileSync(path, "utf8")).toBe("oldoldold");
  expect(readFileSync(join(path, "../b"), "utf8")).toBe("oldoldold");
});

test("mendFile leaves alone what is whole, what somebody wrote since, and what is of one name", async () => {
  const old = Buffer.from("oldoldold");
  for (const [now, next, isLinked] of [
    ["oldoldold", "NEW NEW NEW", true],
    ["NEW NEW NEW", "NEW NEW NEW", true],
    ["mine now!", "NEW NEW NEW", true],
    ["NEWoldold", null, true],
    ["NEWoldold", "NEW NEW NEW", false],
  ] as const) {
    const path = left(now, next, isLinked);
    expect(await mendFile(path, old), `${now} ${next} ${isLinked}`).toBe(false);
    expect(readFileSync(path, "utf8")).toBe(now);
  }
});

test("isTorn holds for each state between old and new that a write in place goes through", () => {
  const bytes = fc.uint8Array({ maxLength: 30 });
  fc.assert(
    fc.property(bytes, bytes, fc.nat(30), (old, next, seed) => {
      const written = seed % (next.length + 1);
      const now = Buffer.concat([next.subarray(0, written), old.subarray(written)]);
      const isWhole = Buffer.compare(now, old) === 0 || Buffer.compare(now, next) === 0;
      expect(isTorn(now, old, next)).toBe(!isWhole);
    }),
  );
});
