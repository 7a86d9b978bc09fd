/** The steps to go back to, newest first, with what would change; then what of it is to go back. */
import type { Params, Result } from "../../abi/methods/methods.ts";
import type { ChatClient } from "../../cli/chat/client.ts";
import { rewindLines } from "../../cli/screen/rewind-lines.ts";
import { age } from "../../cli/screen/table/session-table.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import type { Phrases } from "../../cli/screen/words/en.ts";
import type { MessagePlace } from "../view/pages.ts";
import type { Pickable, PickerWish } from "./picker.ts";

type Step = Result<"process.steps">["steps"][number];
type Request = Params<"process.rewind">;

export interface RewindWish {
  readonly words: Phrases;
  readonly pid: number;
  readonly cwd: string;
  readonly now: number;
  readonly client: Pick<ChatClient, "request">;
  /** Shows the list that follows. */
  open(next: PickerWish<Extent>): void;
  /** The user has decided. */
  decided(request: Request): void;
  changed(): void;
}

export interface Extent {
  readonly text: string;
  readonly request: Request;
}

export function rewindWish(steps: readonly Step[], wish: RewindWish): PickerWish<Step> {
  const words = wish.words.view;
  return {
    title: words.rewind,
    hint: words.rewindKeys,
    emptyText: steps.length === 0 ? words.noStep : words.noStepFits,
    items: steps.toReversed().map((step) => item(step, wish)),
    preview: ({ step }) => changes({ pid: wish.pid, at: { step } }, wish),
    chosen: ({ step }) => wish.open(extentWish(step, wish)),
    changed: () => wish.changed(),
  };
}

function item(step: Step, { now, words: { view } }: RewindWish): Pickable<Step> {
  const words = step.step === 0 ? view.beforeFirst : safeLine(step.words);
  const touched = [
    ...(step.file_count > 0 ? [view.files(step.file_count)] : []),
    ...(step.commands > 0 ? [view.commands(step.commands)] : []),
  ];
  const cells = [String(step.step).padStart(4), age(step.at, now).padStart(4), words];
  const text = [...cells, ...(touched.length > 0 ? [`(${touched.join(", ")})`] : [])].join("  ");
  return { value: step, words: `${step.step} ${step.words} ${step.files.join(" ")}`, text };
}

/** The step that ends with a reply, or before a message; undefined: none does. */
export function stepAt(
  steps: readonly Step[],
  { uuid, seq, role }: MessagePlace,
  what: "fork" | "rewind",
): number | undefined {
  const isBefore = what === "rewind" || role === "user";
  // steps of one process stand together, oldest first
  const own = steps.filter((step) => step.uuid === uuid);
  if (!isBefore) return own.find((step) => step.seq >= seq)?.step;
  const first = own[0];
  return (
    own.findLast((step) => step.seq < seq)?.step ??
    (first === undefined ? undefined : Math.max(0, first.step - 1))
  );
}

/** What is asked once a step is known. */
export function extentWish(step: number, wish: RewindWish): PickerWish<Extent> {
  const words = wish.words.view;
  const at: Request = { pid: wish.pid, at: { step } };
  const extents: readonly Extent[] = [
    { text: words.extents.talk, request: at },
    { text: words.extents.both, request: { ...at, files: true } },
    { text: words.extents.files, request: { ...at, files: true, fork: false } },
  ];
  return {
    title: words.extent(step),
    hint: words.extentKeys,
    emptyText: words.nothingFits,
    items: extents.map((value) => ({ value, words: value.text, text: value.text })),
    preview: async ({ request }) => (request.files === true ? changes(at, wish) : [words.filesStay]),
    chosen: ({ request }) => wish.decided(request),
    changed: () => wish.changed(),
  };
}

/** What would become of the files; why it cannot be told, where it cannot. */
async function changes(at: Request, { client, cwd, words }: RewindWish): Promise<readonly string[]> {
  try {
    const plan = await client.request("process.rewind", { ...at, files: true, dry_run: true });
    const lines = rewindLines(plan, cwd, words.rewind);
    const refusal = plan.refused ? [words.view.refused] : [];
    return [...(lines.length === 0 ? [words.view.noChange] : lines), ...refusal].map(safeLine);
  } catch (error) {
    return [safeLine(error instanceof Error ? error.message : String(error))];
  }
}
