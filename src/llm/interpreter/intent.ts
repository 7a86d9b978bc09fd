/** Parses what an intent asks for: a handful of verbs, in English and Chinese. */
export type Unit = "lines" | "words" | "characters" | "files";
export type FileScope = Readonly<{ path: string; glob: string }>;
type Task =
  | (Readonly<{ kind: "count"; unit: Unit }> & FileScope)
  | (Readonly<{ kind: "list" }> & FileScope)
  | Readonly<{ kind: "show"; path: string }>
  | Readonly<{ kind: "search"; text: string; path: string }>
  | Readonly<{ kind: "note"; text: string }>
  /** Processes the text that came in at stdin. */
  | Readonly<{ kind: "data"; edit: Edit }>;
export type Edit = "sum" | "number" | "sort" | Exclude<Unit, "files">;
/** `into`: the file to write the result to. */
export type Intent = Readonly<{ task: Task; into?: string }>;

const PATH = /("[^"]+"|'[^']+'|`[^`]+`|“[^”]+”|[^\s，。；]+)/.source;
const REST = /("[^"]+"|'[^']+'|`[^`]+`|“[^”]+”|.+)/.source;
const A_FILE = "(?:the |a |an )?(?:new |text )?(?:file |note )?(?:called |named )?";
const IT = "(?:(?:it|them|that|this|these|all|everything|the \\w+|a \\w+) )?(?:down )?";
const forms = (...texts: readonly string[]): readonly RegExp[] =>
  texts.map((text) => new RegExp(`^${text.replaceAll("PATH", PATH).replaceAll("REST", REST)}$`, "is"));

const INTO = forms(
  `(.+?)[,;]? (?:and then|and|then) (?:write|save|put|store|record) ${IT}(?:in|to|into|as) ${A_FILE}PATH`,
  `(?:write|save|put|store|record) (?:the |a )?(.+?) (?:in|to|into) ${A_FILE}PATH`,
  "(.+?)[，,；;。]? ?(?:并且?|然后|再)? ?[把将]?(?:结果|它们?|其)?(?:并)?(?:写入|写到|写进|保存到|存到|存入) ?PATH",
);
const NOTES = forms(
  `(?:write|create|make|add) ${A_FILE}PATH,? (?:with the (?:text|contents?|words|lines?)|saying|that says|containing):? REST`,
  `(?:write|create|make|add) ${A_FILE}PATH,? with (["'“\`].+)`,
  "(?:写|新建|创建)(?:一个)?(?:文件|笔记)? ?PATH[，,：: ]*(?:内容(?:为|是)?|写上)[：: ]*REST",
);
const COUNT = forms(
  "(?:count|how many|the number of|number of|tally)\\b(.*)",
  "((?:line|word|character|file) counts?\\b.*)",
  "(?:统计|数一?数?|计算)(?:一下)?(.*)",
);
const LIST = forms(
  "(?:list|name|show|give|find|search|look|ls)(?: me)?(?: for)?((?: (?:a list of|all|the|every))*(?: \\*?\\.\\w+)? files\\b.*)",
  "(?:ls|list|what(?: files?| folders?)?(?:'s| is| are)?)((?: all| the| files?)*(?: are| is)?(?: here| there| in .+|))",
  "(?:列出|有哪些|显示)(.*(?:文件|目录|文件夹))",
);
const SHOW = forms(
  "(?:show|print|display|read|cat|open|view) (?:me )?(?:the )?(?:contents? of )?(?:the )?(?:file )?REST",
  "(?:显示|查看|打开|读取?|看看?)(?:一下)?(?:文件)? ?PATH ?(?:的内容)?",
);
const SEARCH = forms(
  "(?:find|search|grep|look)(?: for)? (?:the )?(?:text |word |lines? (?:with|containing) )?(\".+?\"|'.+?'|“.+?”|\\S+)(?: (?:in|under|below|inside) REST)?",
  "(?:搜索|查找|寻找|找)(?:一下)?(?:文字|文本)? ?PATH",
);
const WITHIN = new RegExp(`^.*? (?:in|under|below|inside) ${REST}$`, "i");
const OF =
  / (?:of|for|are|has|does|do) (?!every|each|all|any|(?:the )?files?\b)(.+?)(?: (?:have|has|contain))?$/i;
const CHINESE = /\p{Script=Han}/u;
const A_PLACE = /^(?:the )?(?:(?:file|folder|directory) )?(.+?)(?: folder| directory)?$/i;
const HERE =
  /^(?:(?:the|this|current|every|all|each|folder|directory|project|here|there|files?)\b ?)*$|^\.$/i;
/** Files by their names, one beside the other. */
const A_NAME = String.raw`(?:[\w/-]*\.\w+|[\w/-]*\b[A-Z][\w-]*)`;
const NAMES = new RegExp(
  `(?: (?:in|of) (?:the files? )?|^ ?)(${A_NAME}(?:(?:, | and |, and | ?[和与、] ?)${A_NAME})+) ?(?:$|的|里|中)`,
);
/** Signs of a further request, which the interpreter cannot handle. */
const MORE = / (?:and|then) |[,;，；]/i;
const UNITS = {
  lines: /\blines?\b|行/i,
  words: /\bwords?\b/i,
  characters: /\b(?:characters?|letters?)\b|字/i,
  files: /\bfiles?\b|文件/i,
};
const EDITS = {
  sum: /^(?:sum|add|total)\b|求和|总和/i,
  number: /^number\b(?! of)|编号/i,
  sort: /^sort\b|排序/i,
};

/** Words that an intent without quotes would have written, and where; undefined: it is none of that kind. */
export function unquotedNote(said: string): { readonly text: string; readonly path: string } | undefined {
  const [, text = "", path = ""] =
    /^(?:please )?(?:write|save|put) (.+?) (?:in|to|into) (\S+\.\w+)[.!]?$/i.exec(said.trim()) ?? [];
  return text === "" ? undefined : { text, path };
}

/** undefined: the intent is not understood. */
export function parseIntent(said: string, hasData: boolean): Intent | undefined {
  const words = said.replace(/\s+/g, " ").replace(/^ ?(?:(?:please|can you) |请)?|[ .!?。！？]+$/gi, "");
  const [, path, content] = match(NOTES, words);
  if (path !== undefined) return { task: { kind: "note", text: unquoted(content) }, into: unquoted(path) };
  const [, inner, into] = match(INTO, words);
  const text = unquoted(inner);
  const isQuoted = inner !== undefined && text !== inner;
  const found = isQuoted ? ({ kind: "note", text } as const) : parseTask(inner ?? "", hasData);
  if (found !== undefined) return { task: found, into: unquoted(into) };
  const task = parseTask(words, hasData);
  return task === undefined ? undefined : { task };
}

function parseTask(words: string, hasData: boolean): Task | undefined {
  const [, counted] = match(COUNT, words);
  const unit = nameOf(UNITS, counted ?? "");
  const isOfFiles = /\bfiles?\b|\bin \S|文件/i.test(counted ?? "");
  const edit = hasData ? nameOf(EDITS, words) : undefined;
  if (hasData && unit !== undefined && unit !== "files" && !isOfFiles) return { kind: "data", edit: unit };
  if (edit !== undefined) return { kind: "data", edit };
  const [, names] = NAMES.exec(counted ?? "") ?? [];
  if (names !== undefined && unit !== undefined && unit !== "files")
    return {
      kind: "count",
      unit,
      path: "",
      glob: `{${names.split(/, and |, | and | ?[和与、] ?/).join(",")}}`,
    };
  const [, listed] = match(LIST, words);
  if (MORE.test(counted ?? listed ?? "")) return undefined;
  if (counted !== undefined && unit !== undefined) return { kind: "count", unit, ...placeOf(counted) };
  if (listed !== undefined) return { kind: "list", ...placeOf(listed) };
  const [, path] = match(SHOW, words);
  if (path !== undefined) return { kind: "show", path: unquoted(path) };
  const [, text, where = ""] = match(SEARCH, words);
  if (text === undefined) return undefined;
  return { kind: "search", text: unquoted(text), path: placeOf(` in ${where}`).path };
}

/** The path and glob of a phrase such as ` every .ts file in "my folder"`. */
function placeOf(words: string): FileScope {
  const ending = / \*?\.(\w+) files?\b/i.exec(words)?.[1];
  const named = / (?:named|called|matching) (\S+)/i.exec(words)?.[1];
  const place = WITHIN.exec(words)?.[1] ?? OF.exec(words)?.[1] ?? (CHINESE.test(words) ? words : "");
  const path = unquoted(CHINESE.test(place) ? /[!-~]+/.exec(place)?.[0] : place);
  const glob = named ?? (ending === undefined ? "" : `*.${ending}`);
  return { path: HERE.test(path) ? "" : path.replace(A_PLACE, "$1"), glob: unquoted(glob) };
}

function match(all: readonly RegExp[], words: string): readonly (string | undefined)[] {
  return all.find((form) => form.test(words))?.exec(words) ?? [];
}

function nameOf<K extends string>(table: Readonly<Record<K, RegExp>>, words: string): K | undefined {
  return (Object.keys(table) as K[]).find((name) => table[name].test(words));
}

function unquoted(text = ""): string {
  return text.trim().replace(/^(["'`“])(.*)["'`”]$/s, "$2");
}
