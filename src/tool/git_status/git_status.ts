/**
 * git_status: branch and changed files of a repository, exact for any file name. The repository cannot start a program.
 */
import * as z from "zod";
import { O_RDWR } from "../../abi/device.ts";
import { readToEnd, withFile } from "../files.ts";
import { hostPath } from "../path.ts";
import { defineTool, type Outcome, type RunContext, type Scope } from "../tool.ts";
import text from "./git_status.md";
import { type GitStatus, parseStatus } from "./porcelain.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** Per state. */
const MAX_PATHS = 1_000;

const Args = z.object({ working_dir: z.string().optional() });
type Args = z.output<typeof Args>;

const paths = z.array(z.string());
const Meta = z.strictObject({
  branch: z.string().nullable(),
  upstream: z.string().nullable(),
  ahead: z.int(),
  behind: z.int(),
  modified: paths,
  staged: paths,
  untracked: paths,
  renamed: z.array(z.strictObject({ from: z.string(), to: z.string() })),
  conflicted: paths,
});

export const gitStatus = defineTool({
  name: "git_status",
  hint: "git repository branch changed files",
  text,
  args: Args,
  meta: Meta,
  readOnly: true,
  parallel: true,
  destructive: () => false,
  effects: (args, scope) => [{ kind: "read", path: placeOf(args, scope), subtree: true }],
  view: (args, scope) => ({ operation: `check git status in ${placeOf(args, scope)}`, params: {} }),
  activity: () => "Checking git status",
  run,
});

function placeOf({ working_dir: dir }: Args, scope: Pick<Scope, "cwd">): string {
  return hostPath(dir ?? "", scope.cwd);
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const output = await withFile(context, `/dev/git${placeOf(args, context)}`, O_RDWR, async (fd) => {
    await context.sys.write(fd, Buffer.from('{"op":"status"}'), context.signal);
    return (await readToEnd(context, fd, MAX_BYTES)).toString("utf8");
  });
  const status = parseStatus(output);
  return {
    text: statusText(status),
    meta: { ...shortened(status) },
    facts: { count: { n: changed(status).size, of: "changed" } },
  };
}

function changed({ modified, staged, untracked, conflicted }: GitStatus): ReadonlySet<string> {
  return new Set([...modified, ...staged, ...untracked, ...conflicted]);
}

function shortened(status: GitStatus): GitStatus {
  const { modified, staged, untracked, renamed, conflicted } = status;
  return {
    ...status,
    modified: modified.slice(0, MAX_PATHS),
    staged: staged.slice(0, MAX_PATHS),
    untracked: untracked.slice(0, MAX_PATHS),
    renamed: renamed.slice(0, MAX_PATHS),
    conflicted: conflicted.slice(0, MAX_PATHS),
  };
}

function statusText(status: GitStatus): string {
  const { branch, upstream, ahead, behind } = status;
  const distance = upstream === null ? "" : `, ${upstream}: ${ahead} ahead, ${behind} behind`;
  const renamed = status.renamed.map(({ from, to }) => `${shown(from)} -> ${shown(to)}`);
  const lists = [
    section("conflicted", status.conflicted.map(shown)),
    section("staged", status.staged.map(shown)),
    section("renamed", renamed),
    section("modified", status.modified.map(shown)),
    section("untracked", status.untracked.map(shown)),
  ].filter((text) => text !== "");
  const head = `branch ${branch ?? "(detached)"}${distance}`;
  return [head, ...(lists.length === 0 ? ["nothing has changed"] : lists)].join("\n");
}

function section(name: string, entries: readonly string[]): string {
  if (entries.length === 0) return "";
  const more = entries.length > MAX_PATHS ? [`  [… ${entries.length - MAX_PATHS} more]`] : [];
  return [`${name}:`, ...entries.slice(0, MAX_PATHS).map((entry) => `  ${entry}`), ...more].join("\n");
}

/** Always one line: a name may contain line breaks. */
function shown(path: string): string {
  return /[\p{Cc}"\\]/u.test(path) ? JSON.stringify(path) : path;
}
