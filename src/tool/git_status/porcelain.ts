/**
 * Parses the output of `git status --porcelain=v2 --branch -z`. Pure. Records end with NUL, so any name is exact; a
 * rename has its old name in a record of its own. A path that is both staged and modified is in both lists.
 */
export interface GitStatus {
  /** null: detached HEAD. */
  readonly branch: string | null;
  readonly upstream: string | null;
  readonly ahead: number;
  readonly behind: number;
  readonly modified: readonly string[];
  readonly staged: readonly string[];
  readonly untracked: readonly string[];
  readonly renamed: readonly { readonly from: string; readonly to: string }[];
  readonly conflicted: readonly string[];
}

type Lists = {
  -readonly [K in keyof GitStatus]: GitStatus[K] extends readonly (infer T)[] ? T[] : GitStatus[K];
};

export function parseStatus(output: string): GitStatus {
  const status: Lists = {
    branch: null,
    upstream: null,
    ahead: 0,
    behind: 0,
    modified: [],
    staged: [],
    untracked: [],
    renamed: [],
    conflicted: [],
  };
  const records = output.split("\0");
  for (let i = 0; i < records.length; i++) {
    const record = records[i] ?? "";
    if (record.startsWith("2 ")) takeRename(status, record, records[++i] ?? "");
    else takeRecord(status, record);
  }
  return status;
}

function takeRecord(status: Lists, record: string): void {
  switch (record.slice(0, 2)) {
    case "# ":
      takeHeader(status, record);
      break;
    case "1 ":
      takeStates(status, record.slice(2, 4), fieldsAfter(record, 8));
      break;
    case "u ":
      status.conflicted.push(fieldsAfter(record, 10));
      break;
    case "? ":
      status.untracked.push(record.slice(2));
      break;
  }
}

/** `2 XY sub mH mI mW hH hI X<score> path`, then the old path. A copy keeps its origin, and counts only as staged. */
function takeRename(status: Lists, record: string, from: string): void {
  const to = fieldsAfter(record, 9);
  const states = record.slice(2, 4);
  if (states.includes("R")) status.renamed.push({ from, to });
  takeStates(status, states, to);
}

function takeStates(status: Lists, [index = ".", worktree = "."]: string, path: string): void {
  if (index !== ".") status.staged.push(path);
  if (worktree !== ".") status.modified.push(path);
}

/** The rest after `count` fields: a name may contain blanks. */
function fieldsAfter(record: string, count: number): string {
  let at = 0;
  for (let i = 0; i < count; i++) at = record.indexOf(" ", at) + 1;
  return record.slice(at);
}

function takeHeader(status: Lists, record: string): void {
  const [, name = "", value = ""] = /^# (branch\.\w+) (.*)$/s.exec(record) ?? [];
  if (name === "branch.head") status.branch = value === "(detached)" ? null : value;
  if (name === "branch.upstream") status.upstream = value;
  const [, ahead, behind] = name === "branch.ab" ? (/^\+(\d+) -(\d+)$/.exec(value) ?? []) : [];
  if (ahead !== undefined) status.ahead = Number(ahead);
  if (behind !== undefined) status.behind = Number(behind);
}
