/** What a model learns and decides of its own view: its largest messages, and what it has pinned itself. */
import type { ViewState } from "../../abi/context.ts";
import { Fault } from "../../abi/errors.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import { targetOf } from "../deferred/target.ts";
import { callsOf } from "../model/blocks.ts";
import { type Unit, unitsOf } from "./units.ts";

/** Pins of a model, and their estimated tokens together. */
const MOST_PINS = 8;
const PIN_TOKENS = 4_000;
const MOST_SHOWN = 50;
const WORDS_CHARS = 60;

interface InView {
  readonly state: ViewState;
  /** As `buildPrompt` has them. */
  readonly messages: readonly ContextMessage[];
}

/** Which pins are the model's own: those of the user stay. */
export class OwnPins {
  readonly #own: Set<number>;

  constructor(numbers: readonly number[] = []) {
    this.#own = new Set(numbers);
  }

  get numbers(): readonly number[] {
    return [...this.#own];
  }

  add(n: number): void {
    this.#own.add(n);
  }

  delete(n: number): void {
    this.#own.delete(n);
  }

  /** What of these is not pinned yet, with the content of a new message. BUDGET: too many or too large. */
  wanted(
    { state, messages }: InView,
    asked: readonly number[],
    content: string | undefined,
  ): readonly (number | string)[] {
    const pins = new Set(state.pins);
    const at = (n: number): ContextMessage | undefined => messages[state.numbers.indexOf(n)];
    const own = [...this.#own].filter((n) => pins.has(n));
    const isThere = own.some((n) => at(n)?.content === content);
    const wanted = [
      ...new Set(asked.filter((n) => !pins.has(n))),
      ...(content === undefined || isThere ? [] : [content]),
    ];
    const all: readonly (number | string)[] = [...own, ...wanted];
    const tokens = all.reduce<number>((sum, each) => {
      const message = typeof each === "string" ? { content: each } : at(each);
      return sum + (message === undefined ? 0 : messageTokens(message));
    }, 0);
    if (all.length > MOST_PINS) throw refused("BUDGET", `you have ${own.length} pins; at most ${MOST_PINS}`);
    if (tokens > PIN_TOKENS)
      throw refused("BUDGET", `your pins would have about ${tokens} tokens together; at most ${PIN_TOKENS}`);
    return wanted;
  }

  checkOff({ pins }: ViewState, messages: readonly number[]): void {
    for (const n of messages) {
      if (!pins.includes(n)) throw refused("NOT_FOUND", `message ${n} is not pinned`);
      if (!this.#own.has(n)) throw refused("PERMISSION", `message ${n} was not pinned by you`);
    }
  }
}

function refused(code: "BUDGET" | "NOT_FOUND" | "PERMISSION", message: string): Fault {
  return new Fault({ code, message });
}

interface Fill {
  readonly used: number;
  readonly effective: number;
  readonly warn: number;
  /** null: never. */
  readonly auto: number | null;
}

export function segmentsText({ state, messages }: InView, { used, effective, warn, auto }: Fill): string {
  const units = unitsOf(messages, state);
  const later = (unit: Unit): number =>
    units.slice(units.indexOf(unit) + 1).filter(({ kind }) => kind === "step").length;
  const rows = units.flatMap((unit) =>
    unit.parts.map(({ n, message, tokens }) => ({
      ...{ n, tokens },
      kind: state.pins.includes(n) ? "pinned" : kindOf(unit, message),
      age: later(unit),
      words: wordsOf(message),
    })),
  );
  const largest = rows.toSorted((a, b) => b.tokens - a.tokens || a.n - b.n).slice(0, MOST_SHOWN);
  const when =
    auto === null
      ? ""
      : ` Old results are cleared from ${warn} on, and a summary is written from ${auto} on.`;
  return [
    `About ${used} of ${effective} tokens of the window are used.${when}`,
    "number, kind, tokens, steps ago, beginning:",
    ...largest.map(({ n, kind, tokens, age, words }) => `${n}  ${kind}  ${tokens}  ${age}  ${words}`),
  ].join("\n");
}

function kindOf({ kind, parts: [head] }: Unit, { role, tool_call_id: id }: ContextMessage): string {
  if (kind !== "step") return kind === "words" ? "user" : kind;
  if (role !== "tool") return "reply";
  const call = callsOf(head?.message.blocks ?? []).find((each) => each.id === id);
  return call === undefined ? "result" : `result of ${targetOf(call).name}`;
}

function wordsOf({ content, blocks = [] }: ContextMessage): string {
  const begin = content
    .slice(0, 4 * WORDS_CHARS)
    .replaceAll(/\s+/g, " ")
    .trim();
  if (begin !== "") return begin.slice(0, WORDS_CHARS).toWellFormed();
  return callsOf(blocks)
    .map((call) => targetOf(call).name)
    .join(", ")
    .slice(0, WORDS_CHARS);
}
