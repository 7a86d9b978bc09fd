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
          include: ["src/**/*.test.ts", "scripts/**/*.test.ts"],
          // one module graph per worker: several times faster; a test must undo what it does to globals
          isolate: false,
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
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
