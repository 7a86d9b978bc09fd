/** Many commands of one process, in each kind of sandbox, leave this process and the machine as they were. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import type { ExecSpec } from "../../kernel/ports/host.ts";
import { until } from "../testing.ts";
import { HostProcesses } from "./exec.ts";
import { childrenOf } from "./procfs.ts";
import { Sandboxes } from "./sandbox/sandbox.ts";
import { bashSpec, confinersHere, newTag, openDescriptors, running } from "./testing.ts";

/** More of them make a soak of it. */
const MANY = Number(process.env.CRUX_SOAK_COMMANDS ?? 98);

const own = realpathSync(mkdtempSync("/var/tmp/crux-many-"));
afterAll(() => rmSync(own, { recursive: true, force: true }));

/** What each does, with the code that it ends with; `TAG` names what it may leave behind. */
const SCRIPTS: readonly (readonly [code: number, script: string])[] = [
  [0, "echo on"],
  [7, "cat <<< x > /dev/null; exit 7"],
  [0, '(exec -a TAG setsid sleep 60 > /dev/null 2>&1 &) ; echo x > "$TMPDIR/x"; rm "$TMPDIR/x"'],
  [0, "mkdir -p .crux/x .vscode 2>/dev/null; echo x > .npmrc; echo x > made && rm made"],
  [137, "kill -KILL $$"],
  [0, "echo x >> .git/config 2>/dev/null; exec 9> file; for i in 1 2 3 4; do sleep 0 & done; wait"],
  [1, "echo x > /etc/crux-canary"],
];

/** What there is of it on the machine and in this process. */
function standing(dir: string) {
  return {
    mounts: readFileSync("/proc/self/mountinfo", "utf8").split("\n").length,
    files: readdirSync(dir, { recursive: true })
      .map(String)
      .filter((path) => !path.startsWith("pipes/"))
      .sort(),
    descriptors: openDescriptors().length,
    children: childrenOf(process.pid).length,
  };
}

describe.each(confinersHere())("many commands, by $kind", ({ kind, by }) => {
  const dir = join(own, kind);
  const [work, tmp] = [join(dir, "work"), join(dir, "tmp")];
  const sandbox = {
    ...{ write: [work], hide: ["/run"], show: [], tmp, network: "off" as const },
    protect: [".crux/", ".vscode/", ".npmrc", ".git/config"].map((name) => join(work, name)),
  };

  async function run(count: number): Promise<void> {
    const exec = new HostProcesses({
      ...{ kernelId: "k-many", epoch: 1, pipesDir: join(dir, "pipes"), ...by },
      sandboxes: new Sandboxes({ dir: join(dir, "sb"), ledgerDir: join(dir, "ledger") }),
    });
    const over = new AbortController();
    const [tag, process] = [newTag(), { id: kind, until: over.signal }];
    const more: Partial<ExecSpec> = { cwd: work, sandbox, isMerged: true, process };
    for (let i = 0; i < count; i++) {
      const [code, script = ""] = SCRIPTS[i % SCRIPTS.length] ?? [];
      const { spec } = bashSpec(script.replaceAll("TAG", tag), more);
      const end = await exec.run(spec, new AbortController().signal).exited;
      expect([i, script, end.error, end.code]).toEqual([i, script, undefined, code]);
      for (const folder of [work, join(work, ".git")]) removeAsides(folder);
    }
    expect([running(tag), readFileSync(join(work, ".git/config"), "utf8")]).toEqual([[], "[core]"]);
    over.abort();
    await exec.close();
  }

  it(
    "leave no mount, descriptor, process, folder or placeholder",
    async () => {
      for (const each of [work, tmp, join(work, ".git")]) mkdirSync(each, { recursive: true });
      writeFileSync(join(work, ".git/config"), "[core]");
      // what is made once, and kept
      await run(SCRIPTS.length);
      const before = standing(dir);
      await run(MANY);
      // one of the first run, or of another test of this worker, may have been open still
      const now = () => {
        const { descriptors, ...rest } = standing(dir);
        return { ...rest, descriptors: Math.max(descriptors, before.descriptors) };
      };
      const isOver = () => isDeepStrictEqual(now(), before);
      await until(isOver, "all is as it was").catch(() => expect(now()).toEqual(before));
    },
    30_000 + 400 * MANY,
  );
});

/** What was moved aside is told, and left to the user. */
function removeAsides(folder: string): void {
  for (const name of readdirSync(folder))
    if (name.includes(".crux-quarantine-")) rmSync(join(folder, name), { recursive: true });
}
