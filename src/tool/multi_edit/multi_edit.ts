/**
 * multi_edit: several replacements in one file, each applied to the result of the previous one; all or none, one write.
 */
import * as z from "zod";
import { changeText, checkEdit } from "../edit/change.ts";
import { EditMeta, editMeta, editReport, seenView } from "../edit/edit.ts";
import { failure } from "../failure.ts";
import { makePatch, numberedDiff, partDiff, patchFacts } from "../patch.ts";
import { readEffect, writablePath } from "../path.ts";
import { bytesOf, openTextFile, putText, type TextFile } from "../text-file.ts";
import { type Dialog, defineTool, type LookContext, type Outcome, type RunContext } from "../tool.ts";
import text from "./multi_edit.md";

const MAX_EDITS = 100;

const Args = z.object({
  file_path: z.string().min(1),
  edits: z
    .array(
      z.strictObject({
        old_string: z.string(),
        new_string: z.string(),
        replace_all: z.boolean().default(false),
      }),
    )
    .min(1)
    .max(MAX_EDITS),
});
type Args = z.output<typeof Args>;

export const multiEdit = defineTool({
  name: "multi_edit",
  hint: "several replacements in one file at once",
  text,
  args: Args,
  meta: EditMeta,
  interrupt: "block",
  effectClass: "probe",
  effects: (args, scope) => {
    const path = writablePath(args.file_path, scope.cwd);
    return [readEffect(path), { kind: "write", path, change: "modify" }];
  },
  destructive: () => false,
  prepare: async (args, look) => {
    const { file, after } = await work(args, look);
    return seenView(view(args), numberedDiff(args.file_path, file.text, after));
  },
  view,
  activity: (args) => `Editing ${args.file_path}`,
  paths: (args) => [args.file_path],
  run,
});

function view({ file_path, edits }: Args): Dialog {
  const diffs = edits.map(({ old_string, new_string }) =>
    partDiff(file_path, `${old_string}\n`, `${new_string}\n`),
  );
  const isWhole = diffs.every((diff) => diff !== "");
  const everywhere = edits.filter(({ replace_all }) => replace_all).length;
  return {
    operation: `edit file: ${file_path} (${edits.length} edits)`,
    // without a diff, as between long texts, all texts are shown in full
    params: { file_path, ...(!isWhole && { edits: JSON.stringify(edits, null, 1) }) },
    ...(isWhole && { diff: diffs.join("") }),
    ...(everywhere > 0 && { warnings: [{ kind: "replaces_some", count: everywhere }] }),
  };
}

async function run(args: Args, context: RunContext): Promise<Outcome> {
  const { file, after, count } = await work(args, context);
  await putText(file, after, context);
  const patch = makePatch(args.file_path, file.text, after);
  const times = `${args.edits.length} edits, ${count} replacements`;
  return {
    text: editReport(args.file_path, times, patch),
    meta: editMeta(file, after, patch),
    facts: patchFacts(patch),
  };
}

/** All steps but the write. */
async function work(
  { file_path, edits }: Args,
  look: LookContext,
): Promise<{ file: TextFile; after: string; count: number }> {
  const placeOf = (index: number) => `edit ${index + 1} of ${edits.length}: `;
  for (const [index, edit] of edits.entries()) checkEdit(edit, placeOf(index));
  const file = await openTextFile(file_path, look);
  let [after, count] = [file.text, 0];
  for (const [index, edit] of edits.entries()) {
    const changed = changeText(after, edit, placeOf(index));
    after = changed.text;
    count += changed.count;
  }
  if (after === file.text) throw failure("INVALID", "the edits together change nothing");
  bytesOf(file, after);
  return { file, after, count };
}
