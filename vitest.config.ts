import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Compiled code of what the tests start: the workers, programs in TypeScript and their threads. Each strips and compiles the same
 * files, which is most of what many of them cost.
 */
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/code", import.meta.url));

/** `.md` files are imported as text, as the build does (scripts/build.mjs); for the unit tests test/harness/markdown-as-text.ts. */
const markdownAsText: Plugin = {
  name: "markdown-as-text",
  enforce: "pre",
  async load(id) {
    if (!id.endsWith(".md")) return undefined;
    return `export default ${JSON.stringify(await readFile(id, "utf8"))};`;
  },
};

/** What takes longest. Vitest goes by size where it has no results of an earlier run, and would end with some of these alone. */
const LONGEST = [
  ...["corpus/fuzz", "process/rights-model", "sqlite/open-journal", "ipc/signal-races", "sandbox/as-bash"],
  ...[
    "host/namespace",
    "mcp/host",
    "host/exec",
    "corpus/options",
    "sqlite/journal-damage",
    "host/many-commands",
  ],
  ...["sqlite/journal-process", "sandbox/sandbox", "shell/oracle", "mcp/real-servers", "corpus/precedence"],
  ...["journal-crashes", "attacks/attacks", "soak", "daemon-faults", "crash-points", "early-start", "leaks"],
  ...[
    "print",
    "faults/read-only",
    "context-rights",
    "fork",
    "pause",
    "file-crashes",
    "trust",
    "lifecycles",
    "files",
  ],
  ...[
    "faults/safe-mode",
    "terminal",
    "supervisors-recovery",
    "job-control",
    "crash",
    "recovery",
    "start-race",
  ],
  ...["sessions", "run", "faults/full-disk", "acp", "signals", "ownership"],
].map((name) => `/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
      return at === -1 ? LONGEST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** In both projects: one that fails by chance says why, though it passes then. */
const setupFiles = ["test/harness/tries.ts"];
/** What a test waits for may take long on a machine that has other things to do; by itself vitest gives it a second. */
const expected = { poll: { timeout: 60_000 } };

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    reporters: ["default"],
    projects: [
      {
        test: {
          name: "unit",
          // Node loads the modules: nothing is transformed, and no call of an import goes through a getter
          experimental: { viteModuleRunner: false, nodeLoader: false },
          setupFiles,
          expect: expected,
          environment: "node",
          // ends what hangs, on a machine that has other things to do too; nothing here waits for time to pass
          testTimeout: 180_000,
          hookTimeout: 180_000,
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts"],
          // one module graph per worker: several times faster; a test must undo what it does to globals
          isolate: false,
          // on a machine of CI one that fails is looked at twice more, and the report says so: a delivery must not fail by
          // chance; anywhere else it fails, so that whoever made it depend on chance sees it first
          retry: process.env.CI ? 2 : 0,
          // vitest leaves one core free, which would be every second one of a small machine; and a third of their time the tests
          // wait for a disk or a program
          maxWorkers: Math.ceil(availableParallelism() * 1.5),
          // what a terminal can do is the tests' to say, not that of whoever runs them
          env: { TERM: "xterm-256color" },
        },
      },
      {
        plugins: [markdownAsText],
        test: {
          // boots the built system: few at a time, each with its own daemon, which wait for one another half of the time
          name: "system",
          setupFiles,
          expect: expected,
          environment: "node",
          include: ["test/**/*.test.ts"],
          // what a test waits for says its own limit; this one ends what hangs, on the slowest machine too
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // as above: to start a worker and to load the harness again costs a third of a second of CPU for each of 114 files
          isolate: false,
          // whole systems in real time on machines that do other things too: one that fails is looked at once more, of
          // CI twice, and the report says so
          retry: process.env.CI ? 2 : 1,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
