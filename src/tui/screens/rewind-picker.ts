/** The steps to go back to, newest first, with what would change; then what of it is to go back. */
import type { Params, Result } from "../../abi/methods/methods.ts";
import type { ChatClient } from "../../cli/chat/client.ts";
import { rewindLines } from "../../cli/screen/rewind-lines.ts";
import { age } from "../../cli/screen/table/session-table.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { counted } from "../../lib/text/counted.ts";
import type { MessagePlace } from "../view/pages.ts";
import type { Pickable, PickerWish } from "./picker.ts";

type Step = Result<"process.steps">["steps"][number];
type Request = Params<"process.rewind">;

export interface RewindWish {
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
  return {
    title: "Go back to a step: what came after it stays in the session that you leave",
    hint: "↑ ↓ choose · Enter go on · Esc leave",
    emptyText: steps.length === 0 ? "no step is complete: there is nothing to go back to" : "no step fits",
    items: steps.toReversed().map((step) => item(step, wish.now)),
    preview: ({ step }) => changes({ pid: wish.pid, at: { step } }, wish),
    chosen: ({ step }) => wish.open(extentWish(step, wish)),
    changed: () => wish.changed(),
  };
}

function item(step: Step, now: number): Pickable<Step> {
  const words = step.step === 0 ? "(before the first reply)" : safeLine(step.words);
  const touched = [
    ...(step.file_count > 0 ? [counted(step.file_count, "file")] : []),
    ...(step.commands > 0 ? [counted(step.commands, "command")] : []),
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
  const at: Request = { pid: wish.pid, at: { step } };
  const extents: readonly Extent[] = [
    { text: "the conversation", request: at },
    { text: "the conversation and the files", request: { ...at, files: true } },
    { text: "the files alone", request: { ...at, files: true, fork: false } },
  ];
  return {
    title: `What goes back to step ${step}?`,
    hint: "↑ ↓ choose · Enter goes back · Esc leave",
    emptyText: "nothing fits",
    items: extents.map((value) => ({ value, words: value.text, text: value.text })),
    preview: async ({ request }) =>
      request.files === true
        ? changes(at, wish)
        : ["The files stay as they are. A new session begins there; this one stays as it is."],
    chosen: ({ request }) => wish.decided(request),
    changed: () => wish.changed(),
  };
}

/** What would become of the files; why it cannot be told, where it cannot. */
async function changes(at: Request, { client, cwd }: RewindWish): Promise<readonly string[]> {
  try {
    const plan = await client.request("process.rewind", { ...at, files: true, dry_run: true });
    const lines = rewindLines(plan, cwd);
    const refusal = plan.refused
      ? ["Others have changed some of them since: the files do not go back without crux rewind --force."]
      : [];
    return [...(lines.length === 0 ? ["No file would change."] : lines), ...refusal].map(safeLine);
  } catch (error) {
    return [safeLine(error instanceof Error ? error.message : String(error))];
  }
}
