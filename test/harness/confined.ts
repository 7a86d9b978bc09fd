/**
 * Can commands be confined here? Looked at without the probe of the product, so that a fault of that one fails tests instead of
 * skipping them.
 */
import { spawnSync } from "node:child_process";
import { beforeEach } from "vitest";
import { BWRAP } from "../../src/dev/host/wrapper.ts";
import { isExecutable } from "../../src/lib/program-file.ts";

const APART = ["--dev-bind", "/", "/", "--unshare-user", "--unshare-pid", "--proc", "/proc", "true"];
const WITHOUT = "--user --map-root-user --mount --pid --fork --mount-proc perl -e 1".split(" ");

/** Why not; undefined: they can. */
export const unconfined = lookAround();
/** What the status of a daemon ends with here. */
export const statusEnd = unconfined === undefined ? "" : " | sandbox: off (sandbox.mode is off)";

/** The tests of this file, or of the `describe` it is called in, are of what confines commands: without, they are skipped. */
export function needsConfinement(): void {
  if (unconfined !== undefined) console.log(`skipped, for no command can be confined here: ${unconfined}`);
  beforeEach(({ skip }) => skip(unconfined !== undefined, unconfined));
}

function lookAround(): string | undefined {
  if (process.platform !== "linux") return `no namespaces on ${process.platform}`;
  const bwrap = BWRAP.find(isExecutable);
  const [program, args] = bwrap === undefined ? ["unshare", WITHOUT] : [bwrap, APART];
  const { error, status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  return error?.message ?? (status === 0 ? undefined : stderr.trim());
}
