/**
 * The places to go back to, newest first, with what would change: before a message of the user, by Tab after any step. Then what of
 * it is to go back.
 */
import { readNotice } from "../../abi/child.ts";
import type { Params, Result } from "../../abi/methods/methods.ts";
import type { ChatClient } from "../../cli/chat/client.ts";
import { rewindLines } from "../../cli/screen/rewind-lines.ts";
import { age } from "../../cli/screen/table/session-table.ts";
import { safeLine } from "../../cli/screen/text/safe-text.ts";
import { cutToWidth } from "../../cli/screen/text/width.ts";
import type { Phrases } from "../../cli/screen/words/en.ts";
import { entriesOf } from "../state/catch-up.ts";
import type { MessagePlace } from "../view/pages.ts";
import type { Pickable, PickerWish } from "./picker.ts";

type Step = Result<"process.steps">["steps"][number];
type Request = Params<"process.rewind">;

/** Of a message in the title of the list that follows. */
const TITLE_COLUMNS = 40;

export interface RewindWish {
  readonly words: Phrases;
  readonly pid: number;
  readonly cwd: string;
  readonly now: number;
  readonly client: Pick<ChatClient, "request">;
  /** Shows the list that follows. */
  open(next: PickerWish<Extent>): void;
  /** The user has decided. `again`: the message before which it goes back, to be said anew. */
  decided(request: Request, again?: string): void;
  changed(): void;
}

export interface Extent {
  readonly text: string;
  readonly request: Request;
}

/** A message of the user, and the step before it. */
interface Prompt {
  readonly step: number;
  readonly at: string;
  readonly text: string;
  /** What was changed until the next one. */
  readonly files: ReadonlySet<string>;
  readonly commands: number;
}

type Place = Step | Prompt;

/** The messages where there are any; an agent that another one started has none. */
export function rewindWish(steps: readonly Step[], wish: RewindWish): PickerWish<Place> {
  const prompts = promptsOf(steps, wish);
  const words = wish.words.view;
  const every: PickerWish<Place> = {
    title: words.rewind,
    hint: prompts.length === 0 ? words.rewindKeys : words.stepKeys,
    emptyText: steps.length === 0 ? words.noStep : words.noStepFits,
    items: steps.toReversed().map((step) => item(step, wish)),
    preview: ({ step }) => changes({ pid: wish.pid, at: { step } }, wish),
    chosen: ({ step }) => wish.open(extentWish(step, wish)),
    changed: () => wish.changed(),
  };
  if (prompts.length === 0) return every;
  const asked: PickerWish<Place> = {
    ...every,
    title: words.rewindBefore,
    hint: words.promptKeys,
    emptyText: words.noPromptFits,
    items: prompts.toReversed().map((prompt) => promptItem(prompt, wish)),
    chosen: (place) => {
      // the first one stays: step 0 is before its answer
      const text = "text" in place && place.step > 0 ? place.text : undefined;
      wish.open(extentWish(place.step, wish, text));
    },
    tab: () => ({ ...every, tab: () => asked }),
  };
  return asked;
}

/** Each is answered by the step that names it. */
function promptsOf(steps: readonly Step[], { words }: RewindWish): readonly Prompt[] {
  const found = steps.flatMap((step, n) => {
    const before = steps[n - 1];
    const text = step.asked.flatMap((said) => typedText(said, words)).join("\n");
    return before === undefined || text === "" ? [] : [{ n, before, text, at: step.at }];
  });
  return found.map(({ n, before, ...prompt }, which) => {
    const answers = steps.slice(n, found[which + 1]?.n);
    const files = new Set(answers.flatMap((step) => step.files));
    const commands = answers.reduce((sum, step) => sum + step.commands, 0);
    return { ...prompt, step: before.step, files, commands };
  });
}

/** None of it where the user did not type it. */
function typedText(text: string, words: Phrases): readonly string[] {
  if (readNotice(text) !== undefined || text.startsWith("<shell_line ") || text.startsWith("<crux-note>"))
    return [];
  const entries = entriesOf({ role: "user", text, calls: [], at: "", seq: 0 }, words);
  return entries.flatMap((entry) => (entry.kind === "user" ? [entry.text] : []));
}

function promptItem({ step, at, text, files, commands }: Prompt, wish: RewindWish): Pickable<Place> {
  const touched = touchedText(files.size, commands, wish.words);
  const { beforeFirst } = wish.words.view;
  const cells = [
    age(at, wish.now).padStart(4),
    safeLine(text.trim()),
    step === 0 ? beforeFirst : "",
    touched,
  ];
  return {
    value: { step, at, text, files, commands },
    words: [text, ...files].join(" "),
    text: cells.filter((cell) => cell !== "").join("  "),
  };
}

function touchedText(files: number, commands: number, { view }: Phrases): string {
  const touched = [
    ...(files > 0 ? [view.files(files)] : []),
    ...(commands > 0 ? [view.commands(commands)] : []),
  ];
  return touched.length === 0 ? "" : `(${touched.join(", ")})`;
}

function item(step: Step, { now, words }: RewindWish): Pickable<Step> {
  const said = step.step === 0 ? words.view.beforeFirst : safeLine(step.words);
  const touched = touchedText(step.file_count, step.commands, words);
  const cells = [String(step.step).padStart(4), age(step.at, now).padStart(4), said];
  const text = [...cells, ...(touched === "" ? [] : [touched])].join("  ");
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

/** What is asked once a step is known. `prompt`: the message that follows it. */
export function extentWish(step: number, wish: RewindWish, prompt?: string): PickerWish<Extent> {
  const words = wish.words.view;
  const at: Request = { pid: wish.pid, at: { step } };
  const extents: readonly Extent[] = [
    { text: words.extents.talk, request: at },
    { text: words.extents.both, request: { ...at, files: true } },
    { text: words.extents.files, request: { ...at, files: true, fork: false } },
  ];
  return {
    title:
      prompt === undefined
        ? words.extent(step)
        : words.extentBefore(cutToWidth(safeLine(prompt.trim()), TITLE_COLUMNS)),
    hint: words.extentKeys,
    emptyText: words.nothingFits,
    items: extents.map((value) => ({ value, words: value.text, text: value.text })),
    preview: async ({ request }) => (request.files === true ? changes(at, wish) : [words.filesStay]),
    chosen: ({ request }) => wish.decided(request, prompt),
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
