/**
 * The lines of a repository's configuration by which git runs something, see git-config(1). The configuration is closed to
 * commands by a mount on its file, and a mount goes with its file: once the user's own git has replaced that, as `git push -u`
 * does, a command that still runs can write to it.
 */

/** The ends of such keys, and of those that name more configuration or a way to run something. */
const RUNS = new RegExp(
  `(?:${`cmd command program pager editor helper hook hookspath fsmonitor askpass proxy external textconv driver clean smudge
  process filter pack path update tunnel server browser httpd allow insteadof uploadpack receivepack`.replaceAll(
    /\s+/g,
    "|",
  )})$`,
  "i",
);

interface Line {
  readonly line: string;
  /** With its section; null: it runs nothing. */
  readonly runs: string | null;
}

function linesOf(text: string): readonly Line[] {
  let section = "";
  let isContinued = false;
  return text.split("\n").map((line) => {
    const isValue = isContinued;
    isContinued = line.trimEnd().endsWith("\\");
    const [, head, rest = line] = /^\s*(\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\])(.*)$/.exec(line) ?? [];
    if (head !== undefined && !isValue) section = head.toLowerCase();
    const isPlain = !isValue && !isContinued && isHarmless(section, head === undefined ? line : rest);
    return { line, runs: isPlain ? null : `${section} ${line.trim()}` };
  });
}

function isHarmless(section: string, text: string): boolean {
  const [, key, value = ""] = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*?))?\s*$/.exec(text) ?? [];
  if (key === undefined) return /^\s*(?:[#;].*)?$/.test(text);
  if (RUNS.test(key) || /^\[(?:pager|alias|include|includeif)\b/.test(section)) return false;
  return !/!|::/.test(value);
}

export function configThatRuns(text: string): readonly string[] {
  return linesOf(text).flatMap(({ runs }) => runs ?? []);
}

export function configWithout(text: string, gone: ReadonlySet<string>): string {
  return linesOf(text)
    .filter(({ runs }) => runs === null || !gone.has(runs))
    .map(({ line }) => line)
    .join("\n");
}
