// Bundles src/ into dist/: the client in one file, the daemon with a chunk for each part that is loaded when it is needed.
import { execFile } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { buildAsCommonJs, DAEMON } from "./commonjs.mjs";
import { keepCode } from "./kept-code.mjs";
import { removeLeftovers } from "./leftovers.mjs";
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
removeLeftovers(root);

/** What is bundled of CommonJS packages asks for Node's own modules. */
const requireBanner = {
  js: 'import { createRequire as cruxRequire } from "node:module"; const require = cruxRequire(import.meta.url);',
};

/**
 * The messages of zod in fifty languages: Crux words its own, and they were half of what each start reads of it.
 * @type {import("esbuild").Plugin}
 */
const oneLanguage = {
  name: "one-language",
  setup(build) {
    build.onLoad({ filter: /zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/**
 * Our own schemas are made when they are first used.
 * @type {import("esbuild").Plugin}
 */
const deferredSchemas = {
  name: "deferred-schemas",
  setup(build) {
    const place = join(root, "src/boot/deferred-zod.ts");
    build.onResolve({ filter: /^zod$/ }, ({ importer }) =>
      importer === place || importer.includes("node_modules") ? undefined : { path: place },
    );
  },
};

/** @type {import("esbuild").BuildOptions} */
const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node24",
  sourcemap: "linked",
  legalComments: "none",
  loader: { ".md": "text" },
  plugins: [oneLanguage, deferredSchemas],
};

/**
 * The client is CommonJS, which Node starts several milliseconds sooner than modules in pieces: a tiny entry that turns on
 * the compile cache, and one file that is then read from it.
 * @type {import("esbuild").BuildOptions}
 */
const client = { ...common, format: "cjs", supported: { "dynamic-import": false } };

/** @type {import("esbuild").BuildOptions} */
const entry = {
  ...client,
  entryPoints: ["src/main.ts"],
  outfile: join(fresh, "main.cjs"),
  plugins: [
    {
      name: "parts-apart",
      setup(build) {
        for (const [source, output] of Object.entries({
          "cli/main": "cli.cjs",
          "cli/command/itself/version-alone": "version.cjs",
          "cli/command/process/ps-alone": "ps.cjs",
          "lib/code-cache": "code-cache.cjs",
        })) {
          build.onResolve({ filter: new RegExp(`^\\./${source}\\.ts$`) }, () => ({
            path: `./${output}`,
            external: true,
          }));
        }
      },
    },
  ],
};

/**
 * What few commands need and is large lies beside the client, loaded with the first use.
 * @type {import("esbuild").BuildOptions}
 */
const yaml = {
  ...client,
  entryPoints: [fileURLToPath(import.meta.resolve("yaml"))],
  outfile: join(fresh, "yaml.cjs"),
};

/** @type {import("esbuild").BuildOptions} */
const zod = {
  ...client,
  entryPoints: [fileURLToPath(import.meta.resolve("zod"))],
  outfile: join(fresh, "zod.cjs"),
};

/**
 * The protocol of editors, for `crux acp`.
 * @type {import("esbuild").BuildOptions}
 */
const acp = {
  ...client,
  entryPoints: [fileURLToPath(import.meta.resolve("@agentclientprotocol/sdk"))],
  outfile: join(fresh, "acp-sdk.cjs"),
  plugins: [
    {
      name: "zod-apart",
      setup(build) {
        build.onResolve({ filter: /^zod\/v4$/ }, () => ({ path: "./zod.cjs", external: true }));
      },
    },
  ],
};

/** @type {import("esbuild").BuildOptions} */
const marked = {
  ...client,
  entryPoints: [fileURLToPath(import.meta.resolve("marked"))],
  outfile: join(fresh, "marked.cjs"),
};

/**
 * The colours of code in the terminal: highlight.js with its languages.
 * @type {import("esbuild").BuildOptions}
 */
const languages = {
  ...client,
  entryPoints: ["src/tui/text/languages.ts"],
  outfile: join(fresh, "languages.cjs"),
};

/**
 * What the terminal says, in Chinese.
 * @type {import("esbuild").BuildOptions}
 */
const chinese = { ...client, entryPoints: ["src/cli/screen/words/zh.ts"], outfile: join(fresh, "zh.cjs") };

/**
 * The table of commands: help, completion and the man page.
 * @type {import("esbuild").BuildOptions}
 */
const table = { ...client, entryPoints: ["src/cli/help/main.ts"], outfile: join(fresh, "table.cjs") };

/**
 * `crux version` and `crux ps`, without what other commands need.
 * @type {import("esbuild").BuildOptions}
 */
const version = {
  ...client,
  entryPoints: ["src/cli/command/itself/version-alone.ts"],
  outfile: join(fresh, "version.cjs"),
};
/** @type {import("esbuild").BuildOptions} */
const ps = {
  ...client,
  entryPoints: ["src/cli/command/process/ps-alone.ts"],
  outfile: join(fresh, "ps.cjs"),
  external: ["koffi"],
};

/** @type {import("esbuild").BuildOptions} */
const cli = {
  ...client,
  entryPoints: ["src/cli/main.ts"],
  outfile: join(fresh, "cli.cjs"),
  // native code, and only for who follows through a pipe; a server, for `crux acp-link`
  external: ["koffi", "ws"],
  plugins: [
    {
      name: "rarely-used-apart",
      setup(build) {
        /** @type {readonly [pattern: RegExp, file: string][]} */
        const parts = [
          [/^yaml$/, "yaml"],
          [/^marked$/, "marked"],
          [/^zod$/, "zod"],
          [/^@agentclientprotocol\/sdk$/, "acp-sdk"],
          [/\/text\/languages\.ts$/, "languages"],
          [/\/zh\.ts$/, "zh"],
          [/\/help\/main\.ts$/, "table"],
        ];
        // one that was moved would be in the client, and be read by each command
        const missing = new Set(parts.map(([, file]) => file));
        for (const [filter, file] of parts)
          build.onResolve({ filter }, () => {
            missing.delete(file);
            return { path: `./${file}.cjs`, external: true };
          });
        build.onEnd(() => {
          if (missing.size > 0) throw new Error(`apart, but imported by nothing: ${[...missing].join(", ")}`);
        });
      },
    },
  ],
};

/**
 * Loads the files of the daemon.
 * @type {import("esbuild").BuildOptions}
 */
const codeCache = {
  ...client,
  entryPoints: ["src/lib/code-cache.ts"],
  outfile: join(fresh, "code-cache.cjs"),
};

/** @type {import("esbuild").BuildOptions} */
const daemon = { ...common, ...DAEMON, outdir: fresh };

/**
 * What other programs import as `crux/client`, for any Node that is still maintained.
 * @type {import("esbuild").BuildOptions}
 */
const published = {
  ...common,
  target: "node20",
  entryPoints: ["src/wire/client/kernel.ts"],
  outfile: join(fresh, "client.js"),
  format: "esm",
};

/**
 * The thread that writes the journal, in one file: it is started beside the rest of boot and shares nothing with it.
 * @type {import("esbuild").BuildOptions}
 */
const writerThread = {
  ...common,
  entryPoints: ["src/store/sqlite/writer-thread.ts"],
  outfile: join(fresh, "writer-thread.js"),
  format: "esm",
};

/**
 * The thread that takes the text out of a PDF, started when one is read.
 * @type {import("esbuild").BuildOptions}
 */
const pdfThread = {
  ...common,
  entryPoints: ["src/dev/fs/pdf-thread.ts"],
  outfile: join(fresh, "pdf-thread.js"),
  format: "esm",
  sourcemap: false,
};

/**
 * The thread that reads HTML, started for a page of the web.
 * @type {import("esbuild").BuildOptions}
 */
const htmlThread = {
  ...common,
  entryPoints: ["src/dev/web/html-thread.ts"],
  outfile: join(fresh, "html-thread.js"),
  format: "esm",
  sourcemap: false,
  banner: requireBanner,
};

// taken first: a source that changes meanwhile makes the build stale, not wrong
const stamp = sourceStamp(root);
await bundle();
escapeAll();
copyGrammar();
// without it they only begin later
await keepCode(nodeOfCrux(), fresh).catch((error) =>
  console.error(`crux: no code of ps and version is kept: ${error.message}`),
);
keepRecentChunks();
writeFileSync(join(fresh, ".stamp"), stamp);
swap();

async function bundle() {
  try {
    await Promise.all([
      build(entry),
      build(cli),
      build(version),
      build(ps),
      build(yaml),
      build(zod),
      build(marked),
      build(languages),
      build(chinese),
      build(acp),
      build(table),
      build(codeCache),
      buildAsCommonJs(daemon),
      build(published),
      declarations(),
      build(writerThread),
      build(pdfThread),
      build(htmlThread),
    ]);
  } catch {
    process.exit(1); // esbuild has printed why
  }
}

/** The types of `crux/client`. They come also where a type is wrong: that is for the check to say. */
async function declarations() {
  const compiler = fileURLToPath(import.meta.resolve("typescript/package.json"));
  const tsc = join(dirname(compiler), "bin/tsc");
  const args = [tsc, "-p", join(root, "scripts/client-types.json"), "--outDir", join(fresh, "types")];
  await promisify(execFile)(process.execPath, args).catch(() => {});
}

/**
 * Writes what is not ASCII in comments and regular expressions as escapes too, as esbuild does in strings: one such character
 * and V8 keeps the whole file in two bytes for each, for as long as it runs.
 */
function escapeAll() {
  for (const name of readdirSync(fresh)) {
    if (!/\.c?js$/.test(name)) continue;
    const path = join(fresh, name);
    const text = readFileSync(path, "utf8");
    if (/\.raw`[^`]*[^\0-\x7f]/.test(text)) throw new Error(`${name}: a raw text with more than ASCII`);
    const escaped = text.replace(
      /[^\0-\x7f]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    if (escaped !== text) writeFileSync(path, escaped);
  }
}

/** The policy reads bash with them; it looks for them beside itself. */
function copyGrammar() {
  for (const name of ["web-tree-sitter/web-tree-sitter.wasm", "tree-sitter-bash/tree-sitter-bash.wasm"])
    copyFileSync(join(root, "node_modules", name), join(fresh, basename(name)));
}

/** As bin/crux finds it. */
function nodeOfCrux() {
  const own = join(root, "node_modules/node/bin/node");
  return existsSync(own) ? own : process.execPath;
}

function keepRecentChunks() {
  const made = new Set(readdirSync(fresh));
  for (const name of listOrNone(dist)) {
    const path = join(dist, name);
    if (made.has(name) || !/-[0-9A-Z]{8}\.c?js$/.test(name)) continue;
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
