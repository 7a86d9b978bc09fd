// The daemon as files of CommonJS, with a chunk for each part that is loaded when it is needed: esbuild splits modules alone.
import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { build, transform } from "esbuild";

/** @satisfies {import("esbuild").BuildOptions} */
export const DAEMON = {
  entryPoints: { daemon: "src/daemon/main.ts", boot: "src/boot/boot.ts" },
  bundle: true,
  splitting: true,
  platform: "node",
  target: "node24",
  format: "esm",
  loader: { ".md": /** @type {const} */ ("text") },
  chunkNames: "[name]-[hash]",
  // these read their own files or bring native code, or are large and rarely loaded
  external: ["@anthropic-ai/sdk", "openai", "@vscode/ripgrep", "koffi", "*.node", "*.wasm"],
};

const HERE = "__fileUrl";

/**
 * What a module knows of its place is there under other names.
 * @type {import("esbuild").TransformOptions}
 */
const options = {
  format: "cjs",
  platform: "node",
  target: "node24",
  legalComments: "none",
  define: {
    "import.meta.url": HERE,
    "import.meta.dirname": "__dirname",
    "import.meta.filename": "__filename",
  },
  banner: `const ${HERE} = require("node:url").pathToFileURL(__filename).href;`,
};

/**
 * Builds modules, and writes each as a file of CommonJS of the same name.
 * @param {import("esbuild").BuildOptions} modules
 */
export async function buildAsCommonJs(modules) {
  const { outputFiles = [] } = await build({ ...modules, write: false, sourcemap: "inline" });
  const names = new Set(outputFiles.map(({ path }) => basename(path, ".js")));
  await Promise.all(
    outputFiles.map(async ({ path, text }) => {
      const target = path.replace(/\.js$/, ".cjs");
      const { code, map } = await transform(withConstants(text, path), {
        ...options,
        sourcemap: "external",
        sourcefile: path,
      });
      await Promise.all([
        writeFile(target, `${linked(code, names)}//# sourceMappingURL=${basename(target)}.map\n`),
        writeFile(`${target}.map`, map),
      ]);
    }),
  );
}

/**
 * A chunk gives what it exports as values, and whoever imports it takes them as constants: esbuild would look up each at every use, by
 * a function. The lines stay as they are, for the source map.
 * @param {string} text
 * @param {string} path
 */
function withConstants(text, path) {
  const taken = text.replace(
    /^import (\{[^}]*\}) from ("\.\/[\w-]+\.js");$/gm,
    (_, names, from) => `const ${names.replaceAll(" as ", ": ")} = require(${from});`,
  );
  if (!basename(path).startsWith("chunk-")) return taken;
  return taken.replace(/^export \{([^}]*)\};$/m, (_, list) => {
    const pairs = list.split(",").map((/** @type {string} */ pair) => pair.trim().split(" as "));
    for (const [name] of pairs) if (isSetLater(taken, name)) throw new Error(`${path}: ${name} is set later`);
    return `module.exports = {${list.replace(/(\S+) as (\S+?)(?=,|\s)/g, "$2: $1")}};`;
  });
}

/**
 * Whether a variable gets another value than that of its declaration, or of an enum.
 * @param {string} text
 * @param {string} name
 */
function isSetLater(text, name) {
  const set = `(?<![\\w$.#])${RegExp.escape(name)}\\s*(?:[-+*/|&?]*=(?![=>])|\\+\\+|--)`;
  return new RegExp(`(?<!\\b(?:var|let|const) |\\|\\| \\()${set}`).test(text);
}

/**
 * With the chunks by their new names. Packages and modules of Node stay as they were asked for.
 * @param {string} code
 * @param {ReadonlySet<string>} names
 */
function linked(code, names) {
  return code
    .replace(/\brequire\("\.\/([\w-]+)\.js"\)/g, (as, name) =>
      names.has(name) ? `require("./${name}.cjs")` : as,
    )
    .replace(/\bimport\("\.\/([\w-]+)\.js"\)/g, (as, name) =>
      names.has(name) ? `Promise.resolve().then(() => require("./${name}.cjs"))` : as,
    );
}
