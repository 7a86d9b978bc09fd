/** edit: replaces text in a file that was viewed before; nothing else in the file changes, not a byte. */
import { createHash } from "node:crypto";
import * as z from "zod";
import { codeOf } from "../../abi/errors.ts";
import { failure } from "../failure.ts";
import { findStat, MAX_READ_BYTES, readHostFile, writeHostFile } from "../files.ts";
import { inlineContent, makePatch, type Patch } from "../patch.ts";
import { readEffect, writablePath } from "../path.ts";
import { decodeFile } from "../text.ts";
import { type Dialog, defineTool, type LookContext, type Outcome, type RunContext } from "../tool.ts";
import { changedError, requireSeen, requireUnchanged } from "../tracker.ts";
import text from "./edit.md";
import { replaceText } from "./replace.ts";

const MAX_BYTES = 1024 * 1024 * 1024;

const Args = z.object({
  file_path: z.string().min(1),
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().default(false),
});
type Args = z.output<typeof Args>;

export const edit = defineTool({
  name: "edit",
  hint: "replace text in a file",
  text,
  args: Args,
  interrupt: "block",
  effectClass: "probe",
  effects: (args, scope) => {
    const path = writablePath(args.file_path, scope.cwd);
    return [readEffect(path), { kind: "write", path, change: "modify" }];
  },
  destructive: () => false,
  prepare: async (args, look) => {
    await work(args, look);
  },
  view,
  activity: (args) => `Editing ${args.file_path}`,
  run,
});

function view({ file_path, old_string, new_string, replace_all }: Args): Dialog {
  // parts of lines are shown as whole ones: where a line ends is not what the person decides on
  const diff = makePatch(file_path, `${old_string}\n`, `${new_string}\n`).text;
  return {
    operation: `edit file: ${file_path}`,
    // without a diff, as between long texts, both are shown as they are
    params: { file_path, replace_all, ...(diff === "" && { old_string, new_string }) },
    diff,
    ...(replace_all && { warnings: ["replaces every occurrence"] }),
  };
}

interface Worked {
  path: string;
  before: string;
  after: string;
  /** SHA-256 of the bytes that were read. */
  expect: string;
  count: number;
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const { path, before, after, expect, count } = await work(args, context);
  const written = await writeHostFile(context, path, after, expect).catch((error: unknown) => {
    throw codeOf(error) === "CONFLICT" ? changedError(args.file_path, error) : error;
  });
  context.tracker.set(path, { sha256: written.sha256, source: "edit" });
  const patch = makePatch(args.file_path, before, after);
  return { text: report(args, patch, count), meta: metaOf(args, patch, before, after) };
}

/** Everything but the write. The order of the checks is part of what callers rely on. */
async function work(args: Args, look: LookContext): Promise<Worked> {
  if (args.old_string === "")
    throw failure("INVALID", "old_string is empty", "To make a file or replace all of it, use write");
  if (args.old_string === args.new_string) throw failure("INVALID", "old_string and new_string are equal");
  const path = writablePath(args.file_path, look.cwd);
  await inspect(args, look, path);
  const seen = requireSeen(look.tracker, path, args.file_path);
  const bytes = await readHostFile(look, path, MAX_READ_BYTES);
  if (bytes.byteLength >= MAX_READ_BYTES)
    throw failure("INVALID", `file too large to edit: ${args.file_path}`);
  const expect = createHash("sha256").update(bytes).digest("hex");
  requireUnchanged(seen, expect, args.file_path);
  const before = decode(args, bytes);
  return { path, before, expect, ...replaced(args, before) };
}

async function inspect(args: Args, look: LookContext, path: string): Promise<void> {
  const stat = await findStat(look, path);
  if (stat === undefined) throw failure("NOT_FOUND", `file not found: ${args.file_path}`);
  if (stat.kind === "directory") throw failure("INVALID", `is a directory: ${args.file_path}`);
  if (stat.size > MAX_BYTES) throw failure("INVALID", "file too large (max 1GB)");
}

function decode(args: Args, bytes: Buffer): string {
  const decoded = decodeFile(bytes);
  if (decoded.kind === "text" && decoded.exact) return decoded.text;
  throw failure("INVALID", `not valid UTF-8: ${args.file_path}`);
}

function replaced(args: Args, before: string): { after: string; count: number } {
  const { old_string: oldString, new_string: newString, replace_all: replaceAll } = args;
  const made = replaceText(before, { oldString, newString, replaceAll });
  switch (made.kind) {
    case "replaced":
      return { after: made.text, count: made.count };
    case "none":
      throw failure(
        "INVALID",
        "old_string not found in file. Make sure it matches exactly, including whitespace and line breaks.",
      );
    case "many":
      throw failure(
        "INVALID",
        "old_string appears multiple times. Provide more context for unique match, or set replace_all to true",
        `It begins on lines ${made.lines.join(", ")}, counted from 1`,
      );
  }
}

function report(args: Args, patch: Patch, count: number): string {
  const times = count === 1 ? "1 replacement" : `${count} replacements`;
  return `Edited ${args.file_path}: ${times}, +${patch.additions} -${patch.removals} lines`;
}

function metaOf(args: Args, patch: Patch, before: string, after: string): Record<string, unknown> {
  return {
    file_path: args.file_path,
    additions: patch.additions,
    removals: patch.removals,
    patch: patch.text,
    old_content: inlineContent(before),
    new_content: inlineContent(after),
  };
}
