/** `@path` in an instruction file, outside code, names another text file to be read with it. */

/** More marks than this in one file are text. */
const MAX_IMPORTS = 32;

/** The paths as written, in order, each once: `docs/rules.md`, `~/notes.md`, `/abs`. */
export function importsOf(text: string): readonly string[] {
  const paths = [...withoutCode(text).matchAll(/(?<=^|\s)@([^\s@`]+)/g)]
    .map(([, path = ""]) => path.replace(/[.,;:!?)\]'"]+$/, ""))
    .filter((path) => path !== "");
  return [...new Set(paths)].slice(0, MAX_IMPORTS);
}

/** The text with its fenced blocks and code spans left out. */
function withoutCode(text: string): string {
  const lines: string[] = [];
  let fence: string | null = null;
  for (const line of text.split("\n")) {
    const [mark] = /^\s*(?:```+|~~~+)/.exec(line) ?? [];
    const begun = mark?.trim();
    if (fence === null && begun !== undefined) fence = begun;
    else if (fence !== null && begun?.startsWith(fence) === true) fence = null;
    else if (fence === null) lines.push(line);
  }
  return lines.join("\n").replace(/(`+)[\s\S]*?\1/g, " ");
}
