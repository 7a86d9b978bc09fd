/** A file that is replaced while a command runs is told: the mount that closed or hid it went with the old one. */
import { mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { HostProcesses } from "../exec.ts";
import { bashSpec, confinersHere } from "../testing.ts";
import { Sandboxes } from "./sandbox.ts";

const own = realpathSync(mkdtempSync("/var/tmp/crux-replaced-"));
const sandboxes = new Sandboxes({ dir: join(own, "sb"), ledgerDir: join(own, "ledger") });
const confiners = confinersHere()
  .filter(({ kind }) => kind !== "landlock")
  .map(({ kind, by }) => ({
    kind,
    exec: new HostProcesses({
      kernelId: "k-replaced",
      epoch: 1,
      pipesDir: join(own, kind),
      sandboxes,
      ...by,
    }),
  }));
afterAll(async () => {
  for (const { exec } of confiners) await exec.close();
  rmSync(own, { recursive: true, force: true });
});

describe.each(confiners)("in $kind", ({ exec }) => {
  test("a protected and a hidden file that are saved anew meanwhile are told, others are not", async () => {
    const work = mkdtempSync(join(own, "work-"));
    const [closed, hidden, same] = [".envrc", ".env", ".npmrc"].map((name) => join(work, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [closed, hidden, same]) writeFileSync(path, "old\n");
    const sandbox = {
      ...{ write: [work], protect: [closed, same], hide: [hidden], show: [], network: "off" as const },
    };
    const script = `echo > begun; until [ -e go ]; do sleep 0.02; done; echo x >> .envrc; echo x >> .npmrc; cat .env`;
    const begun = Promise.withResolvers<void>();
    const { spec, out } = bashSpec(`echo begun; ${script}`, { cwd: work, sandbox, isMerged: true });
    const run = exec.run(
      {
        ...spec,
        onOutput: (stream, chunk) => {
          spec.onOutput?.(stream, chunk);
          begun.resolve();
        },
      },
      new AbortController().signal,
    );
    await begun.promise;
    for (const path of [closed, hidden]) {
      writeFileSync(`${path}.new`, "new\n");
      renameSync(`${path}.new`, path);
    }
    writeFileSync(join(work, "go"), "");
    const { violations = [] } = await run.exited;
    // the mounts are gone: that is why it is told
    expect([readFileSync(closed, "utf8"), readFileSync(same, "utf8")]).toEqual(["new\nx\n", "old\n"]);
    expect(out()).toContain("new");
    expect([...violations].sort()).toEqual([
      expect.stringContaining(
        `${hidden} was replaced while the command ran, and was no longer hidden from it`,
      ),
      expect.stringContaining(`${closed} was replaced while the command ran, and was no longer closed to it`),
    ]);
  });
});
