/**
 * The grammar of bash, loaded with the first command to be judged so that the daemon starts without it. One parser
 * serves all callers; parsing is synchronous. No tree outlives the call that reads it, since its memory is not garbage
 * collected.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Node, Parser } from "web-tree-sitter";
import { setFlag } from "../../lib/v8-flags.ts";

/**
 * V8's optimising compiler needs 500 MB for the grammar's one large function, and the result is no faster than baseline
 * code. Both flags are needed, and affect only modules compiled after they are set.
 */
const BASELINE_CODE_ONLY = ["wasm-tier-up", "wasm-dynamic-tiering"] as const;
/** Of this thread's processor time: on a busy machine the same text is read. */
const MAX_PARSE_MS = 50;
const MAX_NODES = 20_000;

let loading: Promise<void> | undefined;
let parser: Parser | undefined;
let failure = "the grammar of bash is not loaded";

/** Loads the parser; null: it is already loaded. Never rejects: without a parser every command is uncertain. */
export function loadParser(): Promise<void> | null {
  if (parser !== undefined) return null;
  loading ??= load().catch((error: unknown) => {
    failure = `the grammar of bash could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
    loading = undefined;
  });
  return loading;
}

async function load(): Promise<void> {
  const [{ Language, Parser: Made }, runtime, grammar] = await Promise.all([
    import("web-tree-sitter"),
    readWasm("web-tree-sitter", "web-tree-sitter.wasm"),
    readWasm("tree-sitter-bash", "tree-sitter-bash.wasm"),
  ]);
  for (const flag of BASELINE_CODE_ONLY) setFlag(`--no-${flag}`, `--${flag}`);
  await Made.init({ wasmBinary: runtime });
  const made = new Made();
  made.setLanguage(await Language.load(grammar));
  parser = made;
}

/** Reads the file beside the bundle, or else from its package. */
async function readWasm(packageName: string, file: string): Promise<Uint8Array> {
  const beside = fileURLToPath(new URL(`./${file}`, import.meta.url));
  const path = existsSync(beside) ? beside : createRequire(import.meta.url).resolve(`${packageName}/${file}`);
  return readFile(path);
}

/** Runs `use` on the tree and frees it; a returned text says why the text could not be parsed. */
export function withTree<T>(text: string, use: (root: Node) => T): T | string {
  if (parser === undefined) return failure;
  const began = process.threadCpuUsage();
  const isLate = () => {
    const { user, system } = process.threadCpuUsage(began);
    return user + system > MAX_PARSE_MS * 1000;
  };
  const tree = parser.parse(text, null, { progressCallback: isLate });
  if (tree === null) {
    parser.reset();
    return `it takes more than ${MAX_PARSE_MS} ms to read`;
  }
  try {
    const { rootNode } = tree;
    if (rootNode.hasError) return "it is not the bash that Crux reads";
    if (rootNode.descendantCount > MAX_NODES) return `more than ${MAX_NODES} parts`;
    return use(rootNode);
  } finally {
    tree.delete();
  }
}
