/** write: creates a file, or replaces the content of one that was viewed before. */

import { createHash } from "node:crypto";
import * as z from "zod";
import { codeOf } from "../../abi/errors.ts";
import { plain } from "../../abi/sentence.ts";
import { failure } from "../failure.ts";
import { findStat, readWholeFile, writeHostFile } from "../files.ts";
import { inlineContent, makePatch, numberedDiff, numberedText, type Patch, patchFacts } from "../patch.ts";
import { readEffect, writablePath } from "../path.ts";
import { countLines, decodeFile } from "../text.ts";
import { bytesOf, MAX_EDITED_BYTES } from "../text-file.ts";
import {
  type Dialog,
  defineTool,
  type LookContext,
  type Outcome,
  type RunContext,
  type Scope,
} from "../tool.ts";
import { changedError, requireSeen, requireUnchanged } from "../tracker.ts";
import text from "./write.md";

const MAX_CONTENT_BYTES = 5 * 1024 * 1024;

const Args = z.object({ file_path: z.string().min(1), content: z.string().max(MAX_CONTENT_BYTES) });
type Args = z.output<typeof Args>;

/** `original_file` null: there was no file, or it is over 64 KiB. */
const Meta = z.strictObject({
  type: z.enum(["create", "update", "unchanged"]),
  file_path: z.string(),
  additions: z.int(),
  removals: z.int(),
  structured_patch: z.array(z.unknown()),
  original_file: z.string().nullable(),
});

export const write = defineTool({
  name: "write",
  hint: "create or replace a whole file",
  text,
  args: Args,
  meta: Meta,
  listed: "core",
  compactable: true,
  interrupt: "block",
  effectClass: "probe",
  // the read is for the guard: the replaced content must be what was viewed
  effects: (args, scope) => {
    const path = writablePath(args.file_path, scope.cwd);
    return [readEffect(path), { kind: "write", path, change: isKnown(args, scope) ? "modify" : "create" }];
  },
  destructive: isKnown,
  prepare: async (args, look) => {
    const before = await current(args, look);
    contentFor(args, before);
    const [shown, diff] = [view(args, look), changeOf(args, before)];
    return diff === "" ? shown : { ...shown, params: { file_path: args.file_path }, diff };
  },
  view,
  activity: (args) => `Writing ${args.file_path}`,
  paths: (args) => [args.file_path],
  run,
});

function view(args: Args, scope: Scope): Dialog {
  const { file_path, content } = args;
  return {
    operation: `write file: ${file_path}`,
    params: { file_path, content },
    ...(isKnown(args, scope) && { warnings: [plain("replaces_file")] }),
  };
}

/** The change for display; "": nothing to show beyond the content. */
function changeOf({ file_path, content }: Args, before: Buffer | null): string {
  if (before !== null) return numberedDiff(file_path, textOf(before), content.replace(/^\uFEFF/, ""));
  return content === "" ? "" : numberedText(content);
}

/** A file that was never viewed can only be created: replacing it is refused. */
function isKnown(args: Args, scope: Scope): boolean {
  return scope.tracker.has(writablePath(args.file_path, scope.cwd));
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const path = writablePath(args.file_path, context.cwd);
  const before = await current(args, context);
  const bytes = contentFor(args, before);
  if (before?.equals(bytes)) return outcome(args, "unchanged", before);
  const expect = before === null ? null : sha256(before);
  const written = await writeHostFile(context, path, { bytes, expect }).catch((error: unknown) => {
    if (codeOf(error) !== "CONFLICT") throw error;
    throw before === null ? unseenError(args, error) : changedError(args.file_path, error);
  });
  context.tracker.set(path, { sha256: written.sha256, source: "write" });
  return outcome(args, before === null ? "create" : "update", before);
}

/** The bytes that the write would replace, or null if there is no file. Throws if they may not be replaced. */
async function current(args: Args, look: LookContext): Promise<Buffer | null> {
  if (Buffer.byteLength(args.content) > MAX_CONTENT_BYTES)
    throw failure("INVALID", "content is too large (max 5MB)");
  const path = writablePath(args.file_path, look.cwd);
  const stat = await findStat(look, path);
  if (stat === undefined) return null;
  if (stat.kind === "directory") throw failure("INVALID", `is a directory: ${args.file_path}`);
  if (stat.kind !== "file") throw failure("INVALID", `not a regular file: ${args.file_path} (${stat.kind})`);
  const seen = requireSeen(look.tracker, path, args.file_path);
  if (stat.size > MAX_EDITED_BYTES) throw failure("INVALID", `too large to replace: ${args.file_path}`);
  const bytes = await readWholeFile(look, path, MAX_EDITED_BYTES);
  requireUnchanged(seen, sha256(bytes), args.file_path);
  return bytes;
}

/** A replaced file keeps its encoding and its byte-order mark. */
function contentFor({ file_path: shown, content }: Args, before: Buffer | null): Buffer {
  const old = before === null ? undefined : decodeFile(before);
  if (old?.kind !== "text") return Buffer.from(content);
  const encoding = old.encoding === "damaged UTF-8" ? "UTF-8" : old.encoding;
  const mark = old.text.startsWith("\uFEFF") && !content.startsWith("\uFEFF") ? "\uFEFF" : "";
  return bytesOf({ shown, encoding }, mark + content);
}

function textOf(bytes: Buffer | null): string {
  const decoded = bytes === null ? undefined : decodeFile(bytes);
  return decoded?.kind === "text" ? decoded.text.replace(/^\uFEFF/, "") : (bytes?.toString("utf8") ?? "");
}

/** The file was created after it was checked. */
function unseenError(args: Args, cause: unknown): Error {
  return failure("CONFLICT", `file has not been read: ${args.file_path}. View it first`, undefined, cause);
}

function sha256(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function outcome(args: Args, type: "create" | "update" | "unchanged", original: Buffer | null): Outcome {
  const before = textOf(original);
  const patch = makePatch(args.file_path, before, args.content.replace(/^\uFEFF/, ""));
  const meta = {
    type,
    file_path: args.file_path,
    additions: patch.additions,
    removals: patch.removals,
    structured_patch: patch.hunks,
    original_file: original === null ? null : inlineContent(before),
  };
  return { text: report(args, type, patch), meta, facts: patchFacts(patch) };
}

function report(args: Args, type: "create" | "update" | "unchanged", patch: Patch): string {
  if (type === "create") return `Created ${args.file_path}: ${countLines(args.content)} lines`;
  if (type === "update") return `Updated ${args.file_path}: +${patch.additions} -${patch.removals} lines`;
  return `Unchanged: ${args.file_path} already has this content`;
}
