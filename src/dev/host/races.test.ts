/** A program that still runs moves the folders which the sandbox of the next one is made of: it gets no other place for it. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { SandboxProfile } from "../../abi/sandbox.ts";
import { HostProcesses } from "./exec.ts";
import { Sandboxes } from "./sandbox/sandbox.ts";
import { bashSpec, confinersHere } from "./testing.ts";

/** Not below /tmp, which a sandboxed program has to itself. */
const own = realpathSync(mkdtempSync("/var/tmp/crux-races-"));
afterAll(() => rmSync(own, { recursive: true, force: true }));
const never = new AbortController().signal;
const TRIES = 40;

/** renameat2(2) with RENAME_EXCHANGE, as fast as it can: `sub` is a folder, and a link out of the workspace. */
const EXCHANGE = { arm64: 276, x64: 316 }[process.arch as string] ?? 0;
const FLIP = `cd work; echo begun; exec perl -e 'my ($a, $b) = ("sub", "link");
  while (1) { syscall(${EXCHANGE}, -100, $a, -100, $b, 2) }'`;

function processesIn(root: string, by: ReturnType<typeof confinersHere>[number]["by"]): HostProcesses {
  const sandboxes = new Sandboxes({ dir: join(root, "sb"), ledgerDir: join(root, "ledger") });
  return new HostProcesses({
    kernelId: "k-races",
    epoch: 1,
    pipesDir: join(root, "pipes"),
    sandboxes,
    ...by,
  });
}

describe.each(confinersHere())("with $kind", ({ kind, by }) => {
  it("a program that moves nothing keeps no sandbox from being made", async () => {
    const root = mkdtempSync(join(own, `still-${kind}-`));
    const work = join(root, "work");
    for (const dir of ["sub/.git/hooks", "secrets", "shown/inner"])
      mkdirSync(join(work, dir), { recursive: true });
    mkdirSync(join(root, "tmp"));
    for (const file of [".env", ".bashrc", "secrets/key", "shown/inner/a"])
      writeFileSync(join(work, file), "x\n");
    const exec = processesIn(root, by);
    const sandbox: SandboxProfile = {
      write: [work],
      protect: [join(work, "sub/.git/hooks"), join(work, ".bashrc"), join(work, ".vscode/")],
      hide: [join(work, ".env"), join(work, "secrets"), join(work, "shown")],
      ...{ show: [join(work, "shown/inner")], tmp: join(root, "tmp"), network: "off" },
    };
    try {
      const still = bashSpec("sleep 60", { cwd: root, sandbox });
      const sleeping = exec.run(still.spec, never);
      const { spec, out } = bashSpec(
        "cat work/shown/inner/a; echo made > work/sub/new; cat work/.env work/secrets/key",
        {
          ...{ cwd: root, sandbox },
        },
      );
      const { error } = await exec.run(spec, never).exited;
      await sleeping.kill();
      expect(error).toBeUndefined();
      expect(
        out()
          .split("\n")
          .filter((line) => line === "x"),
      ).toEqual(["x"]);
      expect(readdirSync(join(work, "sub"))).toContain("new");
    } finally {
      await exec.close();
    }
  });
});

describe.skipIf(EXCHANGE === 0).each(confinersHere())("with $kind", ({ kind, by }) => {
  it(`${TRIES} sandboxes beside a program that turns a folder of theirs into a link`, async () => {
    const root = mkdtempSync(join(own, `${kind}-`));
    const [work, outside] = [join(root, "work"), join(root, "outside")];
    mkdirSync(join(work, "sub/nested/.git/hooks"), { recursive: true });
    mkdirSync(join(outside, "nested/.git/hooks"), { recursive: true });
    writeFileSync(join(outside, "key"), "secret\n");
    writeFileSync(join(work, "sub/key"), "public\n");
    symlinkSync("../outside", join(work, "link"));
    const exec = processesIn(root, by);
    const profile = (protect: readonly string[]): SandboxProfile => ({
      ...{ write: [work], protect, hide: [outside], show: [], network: "off" },
    });
    const run = (script: string, sandbox: SandboxProfile) => {
      const { spec, out } = bashSpec(script, { cwd: root, sandbox });
      const child = exec.run(spec, never);
      return { child, text: out };
    };
    try {
      const flipping = run(FLIP, profile([]));
      while (!flipping.text().includes("begun")) await new Promise((resolve) => setTimeout(resolve, 5));
      const seen: string[] = [];
      const later = profile([join(work, "sub/nested/.git/hooks")]);
      for (let n = 0; n < TRIES; n++) {
        const { child, text } = run(
          `cat work/sub/key work/link/key; echo evil > work/sub/evil-${n}; echo evil > work/link/evil-${n}`,
          later,
        );
        const { error } = await child.exited;
        seen.push(error === undefined ? text() : `refused: ${error.message}`);
      }
      await flipping.child.kill();
      const last = run("find work -name key -exec cat {} +", profile([]));
      await last.child.exited;
      expect(last.text()).toContain("public");
      expect(seen.filter((text) => text.includes("secret"))).toEqual([]);
      expect(readdirSync(outside).sort()).toEqual(["key", "nested"]);
      expect(readdirSync(join(outside, "nested"))).toEqual([".git"]);
    } finally {
      await exec.close();
    }
  });
});
