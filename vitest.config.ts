import { readFile } from "node:fs/promises";
import { defineConfig, type Plugin } from "vitest/config";

/** `.md` files are imported as text, as the build does (scripts/build.mjs). */
const markdownAsText: Plugin = {
  name: "markdown-as-text",
  enforce: "pre",
  async load(id) {
    if (!id.endsWith(".md")) return undefined;
    return `export default ${JSON.stringify(await readFile(id, "utf8"))};`;
  },
};

export default defineConfig({
  test: {
    reporters: ["default"],
    projects: [
      {
        plugins: [markdownAsText],
        test: {
          name: "unit",
          environment: "node",
          // as long as a machine takes that has other things to do; nothing here waits for time to pass
          testTimeout: 30_000,
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts"],
          // one module graph per worker: several times faster; a test must undo what it does to globals
          isolate: false,
          // vitest leaves one core free, which would be every second one of a small machine
          maxWorkers: "100%",
          // what a terminal can do is the tests' to say, not that of whoever runs them
          env: { TERM: "xterm-256color" },
        },
      },
      {
        plugins: [markdownAsText],
        test: {
          // boots the built system: few at a time, each with its own daemon
          name: "system",
          environment: "node",
          include: ["test/**/*.test.ts"],
          // what a test waits for says its own limit; this one ends what hangs, on the slowest machine too
          testTimeout: 180_000,
          hookTimeout: 180_000,
          // whole systems in real time on machines that do other things too: one that fails is looked at once more, and the
          // report says so
          retry: 1,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
