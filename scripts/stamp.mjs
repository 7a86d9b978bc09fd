// Tells whether node_modules and dist still match what they were made from. Runs on plain Node 20.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/**
 * What the dependencies were installed from.
 * @param {string} root
 */
export function installStamp(root) {
  const hash = createHash("sha256");
  for (const name of ["package.json", "package-lock.json"])
    hash.update(readText(join(root, name))).update("\0");
  return hash.digest("hex");
}

/**
 * What the build was made from, by path, time and size. Tests are not part of the build.
 * @param {string} root
 */
export function sourceStamp(root) {
  const hash = createHash("sha256");
  const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".test.ts"))
    // Node 20.0 to 20.11 call it `path`
    .map((entry) => join(entry.parentPath ?? Reflect.get(entry, "path"), entry.name));
  const others = ["package.json", "scripts/build.mjs", "scripts/commonjs.mjs"].map((name) =>
    join(root, name),
  );
  const inputs = [...others, ...sources].sort();
  for (const file of inputs) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${file.slice(root.length)}\0${mtimeMs}\0${size}\n`);
  }
  return hash.digest("hex");
}

/**
 * The text of a file, or "" where there is none.
 * @param {string} path
 */
export function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
