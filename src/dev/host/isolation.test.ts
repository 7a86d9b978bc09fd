import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../testing.ts";
import { HostProcesses } from "./exec.ts";
import { hostIsolation, IsolationFinder, parentDeathPrefix } from "./isolation.ts";
import { ownerMark } from "./orphans.ts";
import { SandboxFinder } from "./sandbox/probe.ts";
import { bashSpec, bwrapAt } from "./testing.ts";

const fallback = parentDeathPrefix().length > 0 ? "pdeathsig" : "group";

function bwrapThat(does: string): string {
  const file = join(tempFolder(), "bwrap");
  writeFileSync(file, `#!/bin/sh\n${does}\n`, { mode: 0o755 });
  return file;
}

/** Asked at once, and after a look ahead. */
async function ownershipWith(place: string, probeMs = 10_000): Promise<string[]> {
  const [asked, ahead] = [
    new IsolationFinder({ wrappers: bwrapAt(place), probeMs }),
    new IsolationFinder({ wrappers: bwrapAt(place), probeMs }),
  ];
  await ahead.lookAhead();
  return [asked.get().ownership, ahead.get().ownership];
}

describe("IsolationFinder", () => {
  it("falls back where bubblewrap is not there, fails, does nothing of it, or hangs", async () => {
    expect(await ownershipWith("/no/such/bwrap")).toEqual([fallback, fallback]);
    const denied = bwrapThat('echo "No permissions to create new namespace" >&2; exit 1');
    expect(await ownershipWith(denied)).toEqual([fallback, fallback]);
    const pretends = bwrapThat('while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
    expect(await ownershipWith(pretends)).toEqual([fallback, fallback]);
    expect(await ownershipWith(bwrapThat("exec sleep 60"), 50)).toEqual([fallback, fallback]);
  });

  it("probes once", async () => {
    const count = join(tempFolder(), "count");
    const finder = new IsolationFinder({ wrappers: bwrapAt(bwrapThat(`echo >> ${count}; exit 1`)) });
    const found = finder.get();
    await finder.lookAhead();
    expect(finder.get()).toBe(found);
    expect(readFileSync(count, "utf8")).toBe("\n");
    expect(new HostProcesses({ kernelId: "k", epoch: 1 }).ownership).toBe(hostIsolation().ownership);
  });

  it("marks what it starts with its owner: the next daemon ends what hung when this one was killed", async () => {
    const [seen, place] = [join(tempFolder(), "seen"), tempFolder()];
    const bwrap = bwrapThat(`echo "$CRUX_OWNER" >> ${seen}; exit 1`);
    for (const Finder of [IsolationFinder, SandboxFinder]) {
      new Finder({ wrappers: bwrapAt(bwrap) }).get("k-probe:4");
      await new Finder({ wrappers: bwrapAt(bwrap) }).lookAhead("k-probe:4");
    }
    const [isolation, sandbox] = [
      new IsolationFinder({ wrappers: bwrapAt(bwrap) }),
      new SandboxFinder({ wrappers: bwrapAt(bwrap) }),
    ];
    const owner = { kernelId: "k-daemon", epoch: 7 };
    const made = new HostProcesses({
      ...{ ...owner, pipesDir: place },
      isolation: (mark) => isolation.get(mark),
      sandbox: (mark) => sandbox.get(mark),
    });
    expect([made.ownership, made.sandbox.available]).toEqual([fallback, false]);
    await made.close();
    expect(readFileSync(seen, "utf8")).toBe(`${"k-probe:4\n".repeat(4)}${`${ownerMark(owner)}\n`.repeat(2)}`);
  });

  it("a machine without namespaces runs programs all the same", async () => {
    const finder = new IsolationFinder({ wrappers: [] });
    const made = new HostProcesses({ kernelId: "k-plain", epoch: 1, isolation: () => finder.get() });
    const { spec, out } = bashSpec("echo runs");
    expect(await made.run(spec, new AbortController().signal).exited).toEqual({ code: 0, signal: null });
    expect([out(), made.ownership]).toEqual(["runs\n", fallback]);
    await made.close();
  });
});
