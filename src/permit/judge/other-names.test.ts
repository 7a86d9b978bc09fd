import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { PERMISSION_MODES } from "../../abi/process.ts";
import { allowed, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { realPath } from "../testing/real-path.ts";

test("a lock of Crux is not read under another name, in any mode; other files with two names are", () => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "crux-names-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  for (const name of ["state/journal", "ws"]) mkdirSync(join(dir, name), { recursive: true });
  for (const name of ["state/journal/lease.db", "ws/a"]) writeFileSync(join(dir, name), "");
  linkSync(join(dir, "state/journal/lease.db"), join(dir, "ws/lock"));
  linkSync(join(dir, "ws/a"), join(dir, "ws/b"));
  const permit = makePermit({
    rules: [allowed("view")],
    isTrusted: true,
    projectRoot: join(dir, "ws"),
    defaultMode: "default",
    additionalDirectories: [],
    home: join(dir, "home"),
    kernelPaths: [join(dir, "state")],
    realPath,
  });
  const reads = (name: string) =>
    PERMISSION_MODES.map((mode) => {
      const path = join(dir, "ws", name);
      const who = subject({ mode, cwd: join(dir, "ws"), roots: [join(dir, "ws")], free: [] });
      return permit.decide(who, { tool: "view", effects: [{ kind: "read", path, real: path }] }).behavior;
    });
  expect(new Set(reads("lock"))).toEqual(new Set(["deny"]));
  expect(new Set(reads("b"))).toEqual(new Set(["allow"]));
});
