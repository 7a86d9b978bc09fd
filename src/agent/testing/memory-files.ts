/** Agent and skill files, in memory. */
import type { AgentFiles } from "../definition/files.ts";

/** `entries` maps each path to a text, or to a link. */
export function memoryFiles(entries: Readonly<Record<string, string | { link: string }>>): AgentFiles {
  const resolve = (path: string): string => {
    let real = "";
    for (const segment of path.split("/").filter((s) => s !== "" && s !== ".")) {
      real = segment === ".." ? real.replace(/\/[^/]*$/, "") : `${real}/${segment}`;
      const entry = entries[real];
      if (typeof entry === "object") real = resolve(entry.link);
    }
    return real === "" ? "/" : real;
  };
  const below = (dir: string) => {
    const prefix = `${resolve(dir)}/`;
    const paths = Object.keys(entries).filter((path) => path.startsWith(prefix));
    return [...new Set(paths.map((path) => path.slice(prefix.length).split("/")[0] ?? ""))];
  };
  const missing = (path: string) => Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
  return {
    readText: async (path) => {
      const text = entries[resolve(path)];
      if (typeof text !== "string") throw missing(path);
      return text;
    },
    list: async (dir) => {
      const names = below(dir);
      if (names.length === 0) throw missing(dir);
      return names;
    },
    realPath: async (path) => {
      const real = resolve(path);
      if (entries[real] === undefined && below(real).length === 0) throw missing(path);
      return real;
    },
  };
}
