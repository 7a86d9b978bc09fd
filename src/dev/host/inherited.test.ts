import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { hasProcfs } from "./procfs.ts";

const MODULE = fileURLToPath(new URL("./inherited.ts", import.meta.url));
/** Of a process that was given a folder: what its own children have of it. */
const SCRIPT = `
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { closeInherited } from ${JSON.stringify(MODULE)};
const given = () => spawnSync("sh", ["-c", "ls /proc/self/fd/40 2>/dev/null"], { encoding: "utf8" }).stdout.trim();
const before = given();
console.log(JSON.stringify([before, closeInherited(), given(), closeInherited(), readdirSync("/").length > 0]));
`;

test.skipIf(!hasProcfs)("closeInherited leaves no child what was open in the caller from its start", () => {
  const folder = openSync("/", "r");
  onTestFinished(() => closeSync(folder));
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", SCRIPT];
  const none = Array.from({ length: 36 }, () => "ignore" as const);
  const { stdout } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit", "ignore", ...none, folder],
  });
  const [before, closed, after, again, works] = JSON.parse(stdout);
  expect([before === "", closed > 0, after, again, works]).toEqual([false, true, "", 0, true]);
});
