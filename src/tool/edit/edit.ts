/** edit: replaces text in a file that was viewed before; nothing else in the file changes, not a byte. */

import * as z from "zod";
import { plain } from "../../abi/sentence.ts";
import { contentFields, makePatch, numberedDiff, type Patch, partDiff, patchFacts } from "../patch.ts";
import { readEffect, writablePath } from "../path.ts";
import { bytesOf, openTextFile, putText, type TextFile } from "../text-file.ts";
import { type Dialog, defineTool, type LookContext, type Outcome, type RunContext } from "../tool.ts";
import { type Changed, changeText, checkEdit } from "./change.ts";
import text from "./edit.md";

const Args = z.object({
  file_path: z.string().min(1),
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().default(false),
});
type Args = z.output<typeof Args>;

/** Contents over 64 KiB are given by their digest. */
export const EditMeta = z.strictObject({
  file_path: z.string(),
  additions: z.int(),
  removals: z.int(),
  patch: z.string(),
  old_content: z.string().exactOptional(),
  old_ref: z.string().exactOptional(),
  new_content: z.string().exactOptional(),
  new_ref: z.string().exactOptional(),
});

export const edit = defineTool({
  name: "edit",
  hint: "replace text in a file",
  text,
  args: Args,
  meta: EditMeta,
  listed: "core",
  compactable: true,
  interrupt: "block",
  effectClass: "probe",
  effects: (args, scope) => {
    const path = writablePath(args.file_path, scope.cwd);
    return [readEffect(path), { kind: "write", path, change: "modify" }];
  },
  destructive: () => false,
  prepare: async (args, look) => {
    const { file, changed } = await work(args, look);
    return seenView(view(args), numberedDiff(args.file_path, file.text, changed.text));
  },
  view,
  activity: (args) => `Editing ${args.file_path}`,
  paths: (args) => [args.file_path],
  run,
});

function view({ file_path, old_string, new_string, replace_all }: Args): Dialog {
  // parts of lines are shown as whole lines: the line ends do not matter for the decision
  const diff = partDiff(file_path, `${old_string}\n`, `${new_string}\n`);
  return {
    operation: `edit file: ${file_path}`,
    // without a diff, as between long texts, both texts are shown in full
    params: { file_path, replace_all, ...(diff === "" && { old_string, new_string }) },
    diff,
    ...(replace_all && { warnings: [plain("replaces_all")] }),
  };
}

/** The dialog with numbered lines of the file and their context; unchanged if there is no diff. */
export function seenView(shown: Dialog, diff: string): Dialog {
  return diff === "" ? shown : { ...shown, diff };
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const { file, changed } = await work(args, context);
  await putText(file, changed.text, context);
  const patch = makePatch(args.file_path, file.text, changed.text);
  const { count } = changed;
  const times = count === 1 ? "1 replacement" : `${count} replacements`;
  return {
    text: editReport(args.file_path, times, patch),
    meta: editMeta(file, changed.text, patch),
    facts: patchFacts(patch),
  };
}

/** All steps but the write. */
async function work(args: Args, look: LookContext): Promise<{ file: TextFile; changed: Changed }> {
  checkEdit(args);
  const file = await openTextFile(args.file_path, look);
  const changed = changeText(file.text, args);
  bytesOf(file, changed.text);
  return { file, changed };
}

export function editReport(shown: string, times: string, { additions, removals }: Patch): string {
  return `Edited ${shown}: ${times}, +${additions} -${removals} lines`;
}

export function editMeta(file: TextFile, after: string, patch: Patch): Record<string, unknown> {
  const { additions, removals, text: patchText } = patch;
  return {
    file_path: file.shown,
    additions,
    removals,
    patch: patchText,
    ...contentFields("old", file.text, file.bytes),
    ...contentFields("new", after, bytesOf(file, after)),
  };
}
