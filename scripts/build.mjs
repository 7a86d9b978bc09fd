// Bundles src/ into dist/: one small entry, and a chunk for each part that is loaded when it is needed.
import { linkSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { sourceStamp } from "./stamp.mjs";

/** A running daemon may yet import a chunk of the build it was started from; chunk names carry a hash. */
const keepChunksMs = 24 * 60 * 60 * 1000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
const fresh = join(root, `dist.tmp-${process.pid}`);
const old = join(root, `dist.old-${process.pid}`);
process.on("exit", () => {
  for (const directory of [fresh, old]) rmSync(directory, { recursive: true, force: true });
});

// taken first: a source that changes meanwhile makes the build stale, not wrong
const stamp = sourceStamp(root);
await bundle();
keepRecentChunks();
writeFileSync(join(fresh, ".stamp"), stamp);
swap();

async function bundle() {
  try {
    await build({
      absWorkingDir: root,
      entryPoints: ["src/main.ts"],
      outdir: fresh,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node24",
      sourcemap: "linked",
      chunkNames: "[name]-[hash]",
      legalComments: "none",
      loader: { ".md": "text" },
      // these read their own files or bring native code, or are large and rarely loaded
      external: ["@anthropic-ai/sdk", "openai", "@vscode/ripgrep", "koffi", "*.node", "*.wasm"],
      // CommonJS packages inside the bundle ask for Node's own modules
      banner: {
        js: 'import { createRequire as cruxRequire } from "node:module"; const require = cruxRequire(import.meta.url);',
      },
    });
  } catch {
    process.exit(1); // esbuild has printed why
  }
}

function keepRecentChunks() {
  const made = new Set(readdirSync(fresh));
  for (const name of listOrNone(dist)) {
    const path = join(dist, name);
    if (made.has(name) || !/-[0-9A-Z]{8}\.js$/.test(name)) continue;
    if (Date.now() - statSync(path).mtimeMs < keepChunksMs) linkSync(path, join(fresh, name));
  }
}

/** @param {string} directory */
function listOrNone(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Two renames: nobody sees half a build. Another build may swap at the same moment, so it is tried again. */
function swap() {
  for (let triesLeft = 5; ; triesLeft--) {
    try {
      if (listOrNone(dist).length > 0) renameSync(dist, old);
      return renameSync(fresh, dist);
    } catch (error) {
      if (triesLeft === 0) throw error;
      rmSync(old, { recursive: true, force: true });
    }
  }
}
