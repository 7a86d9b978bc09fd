/**
 * Session notes: a summary that is kept up while the model works, so that none has to be written once the window is full. They
 * are asked for beside a request, with its prefix; when the view has to be shortened, they take the place of what they are
 * about, and what came after them stays as it is. Pure but for its own state.
 */
import type { ContextMessage } from "../../abi/sys.ts";
import { sizeOf, tokensOf as tokensIn } from "../../lib/tokens.ts";
import { callsOf } from "../model/blocks.ts";
import { summaryIn } from "./texts.ts";
import type { Unit } from "./units.ts";

/** Estimated tokens of the conversation at which they are begun, and then how much more of it, with so many calls. */
const FIRST = 10_000;
const MORE = 5_000;
const MORE_CALLS = 3;
export const NOTES_TOKENS = 12_000;
/** What stays as it is behind them, in a window of the usual size: both of the first two, up to the last. */
const LEAST_TAIL = 10_000;
const LEAST_TEXTS = 5;
const MOST_TAIL = 40_000;
const MOST_FAILURES = 3;

export interface NotesState {
  readonly text: string;
  /** The last message that they are about. */
  readonly upTo: number;
  /** In a row. */
  readonly failures: number;
}

interface Usable {
  readonly text: string;
  /** Estimated tokens of what stays behind them. */
  readonly tail: number;
  /** The first message that they say nothing of. */
  readonly from: number;
}

const NONE: NotesState = { text: "", upTo: 0, failures: 0 };

export class SessionNotes {
  #state: NotesState;

  constructor(state: NotesState = NONE) {
    this.#state = state;
  }

  /** undefined: as at first. */
  get state(): NotesState | undefined {
    return this.#state.upTo === 0 && this.#state.failures === 0 ? undefined : this.#state;
  }

  /** Enough has come that they should be written anew. `used`: of all messages, in a window of the usual size. */
  isDue(units: readonly Unit[]): boolean {
    const { upTo, failures } = this.#state;
    if (failures >= MOST_FAILURES) return false;
    const fresh = after(units, upTo);
    const tokens = fresh.reduce((sum, unit) => sum + unit.tokens, 0);
    if (upTo === 0) return tokens >= FIRST;
    const calls = fresh.flatMap(({ parts: [head] }) => callsOf(head?.message.blocks ?? []));
    return tokens >= MORE && calls.length >= MORE_CALLS;
  }

  /** The answer to their request, which was about the messages up to this one. A text: why it is not used. */
  take(answer: string, upTo: number): string | undefined {
    const text = summaryIn(answer);
    const tokens = tokensIn(sizeOf(text));
    const wrong =
      text === "" || !text.includes("## ")
        ? "they have none of the headings"
        : tokens > NOTES_TOKENS
          ? `they have about ${tokens} tokens, at most ${NOTES_TOKENS} are of use`
          : undefined;
    this.#state = wrong === undefined ? { text, upTo, failures: 0 } : this.#failed();
    return wrong;
  }

  failed(): void {
    this.#state = this.#failed();
  }

  /** The view is no longer the one that they are about. */
  reset(): void {
    this.#state = NONE;
  }

  /** What can take the place of a summary, with the tokens of the tail behind it; undefined: nothing. */
  summary(units: readonly Unit[], scale: number): Usable | undefined {
    const { text, upTo } = this.#state;
    if (text === "") return undefined;
    const fresh = after(units, upTo);
    let tail = fresh.reduce((sum, { tokens }) => sum + tokens, 0);
    let texts = fresh.filter(isText).length;
    for (const unit of units.slice(0, units.length - fresh.length).reverse()) {
      const isEnough = tail >= LEAST_TAIL * scale && texts >= LEAST_TEXTS;
      if (isEnough || unit.kind === "summary" || tail + unit.tokens > MOST_TAIL * scale) break;
      tail += unit.tokens;
      if (isText(unit)) texts++;
    }
    return { text, tail, from: fresh[0]?.parts[0]?.n ?? Number.POSITIVE_INFINITY };
  }

  #failed(): NotesState {
    return { ...this.#state, failures: this.#state.failures + 1 };
  }
}

/** What they say nothing of. */
function after(units: readonly Unit[], upTo: number): readonly Unit[] {
  const at = units.findIndex(({ kind, parts: [head] }) => kind !== "summary" && (head?.n ?? 0) > upTo);
  return at < 0 ? [] : units.slice(at);
}

function isText({ kind, parts: [head] }: Unit): boolean {
  const { content = "" }: Partial<ContextMessage> = head?.message ?? {};
  return kind === "words" || (kind === "step" && content.trim() !== "");
}
