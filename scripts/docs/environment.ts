/** docs/environment.md: every variable that Crux reads, and who reads it. */
import { readdirSync, readFileSync } from "node:fs";
import { VARIABLES } from "../../src/abi/docs/environment.ts";
import { code, MADE, table } from "./table.ts";

const SOURCE = new URL("../../src/", import.meta.url);

const TITLES = {
  places: [
    "Where things are",
    "The client and the daemon must agree on these. The first client starts the daemon with its own environment.",
  ],
  models: [
    "Models",
    "The environment of the terminal counts, for each run: a key that is exported there is used.",
  ],
  run: ["Runs", "The environment of the terminal counts, for each run."],
  daemon: ["The daemon", "Read by the daemon: the environment in which it was started counts."],
  terminal: ["The terminal", "Read by the `crux` command alone."],
  given: [
    "What commands of agents get",
    "Crux sets these for the programs it starts. A run cannot choose them.",
  ],
} as const;

export function environmentPage(): string {
  const readers = findReaders();
  const sections = (Object.keys(TITLES) as (keyof typeof TITLES)[]).map((group) => {
    const [title, text] = TITLES[group];
    const rows = Object.entries(VARIABLES[group]).map(([name, { means, otherwise = "", example = "" }]) => [
      code(name),
      means,
      otherwise,
      example === "" ? "" : code(example),
      [...(readers.get(name) ?? [])].sort().join(", "),
    ]);
    return `## ${title}\n\n${text}\n\n${table(["variable", "means", "default", "example", "read in"], rows)}`;
  });
  return `${MADE}

# Environment

The variables that Crux reads. Settings (\`settings.md\`) are the better place for what should last. An empty variable counts as not set.
*read in* names the folder of \`src/\` that reads it.

${sections.join("\n\n")}
`;
}

/** A variable by the folders of src/ that name it; what is only in tests does not count. */
export function findReaders(): ReadonlyMap<string, ReadonlySet<string>> {
  const readers = new Map<string, Set<string>>();
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" });
  for (const file of files) {
    if (!file.endsWith(".ts") || /\.test\.ts$|testing|^abi\/docs\/|^cli\/demo\//.test(file)) continue;
    const room = file.includes("/") ? (file.split("/")[0] ?? "") : file;
    for (const name of variablesIn(readFileSync(new URL(file, SOURCE), "utf8"))) {
      const rooms = readers.get(name) ?? new Set();
      readers.set(name, rooms.add(room));
    }
  }
  return readers;
}

/** Names of Crux's own and of XDG wherever they stand in code; others where they are taken from an environment. */
function variablesIn(text: string): ReadonlySet<string> {
  const source = text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const own = source.matchAll(/\b(?:CRUX|XDG|KAIRO)_[A-Z0-9_]*[A-Z0-9]\b/g);
  const members = source.matchAll(/\benv\??\.([A-Z][A-Z0-9_]*|container)\b/g);
  const taken = [...source.matchAll(/\{([^{}]*)\} = [^;\n]*\benv;/gi)].flatMap(([, names = ""]) => [
    ...names.matchAll(/\b([A-Z][A-Z0-9_]+)\b/g),
  ]);
  const listed = source.matchAll(/"(CRUX_LANG|LC_ALL|LC_MESSAGES|LANG)"/g);
  return new Set([
    ...[...own].map(([name]) => name),
    ...[...members, ...taken, ...listed].map(([, name = ""]) => name),
  ]);
}
