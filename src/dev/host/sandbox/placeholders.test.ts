import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Sandboxes } from "./sandbox.ts";

const own = realpathSync(mkdtempSync("/var/tmp/crux-placeholders-"));
afterAll(() => rmSync(own, { recursive: true, force: true }));

test("confine() holds a placeholder that stands for another program, whichever ends first", () => {
  const sandboxes = new Sandboxes({ dir: join(own, "sb"), ledgerDir: join(own, "ledger") });
  const absent = join(own, ".husky");
  const profile = { write: [own], protect: [`${absent}/`], hide: [], show: [], network: "off" } as const;
  const confine = (id: string) => sandboxes.confine({ id, profile, argv: ["/bin/true"], cwd: own, env: {} });
  const first = confine("a");
  const second = confine("b");
  first.end();
  expect(existsSync(absent)).toBe(true);
  second.end();
  expect(existsSync(absent)).toBe(false);
  sandboxes.close();
});
