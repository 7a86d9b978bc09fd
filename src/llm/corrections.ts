/**
 * What the refusals of a server teach: its next request is one that it takes. Without this each request of a conversation
 * would be refused alike, whatever the user says next.
 */
import type { Block, ModelCard, WireMessage } from "../abi/llm.ts";
import { LlmError } from "../abi/llm-error.ts";
import { LateSet } from "../lib/maps/late.ts";
import type { AttemptRequest, Driver } from "./driver.ts";
import type { OwnModel } from "./own-models.ts";

/** Models of one server whose limits were learnt; of more, all are learnt again. */
const MAX_MODELS = 100;

/** The longest reply of a model, by its id, as its server named it; for all files of a driver. */
const learnt = new WeakMap<Driver, Map<string, number>>();

export class Corrections {
  readonly #driver: Driver;
  /** The seals of thinking that the server did not accept. */
  readonly #refused = new LateSet<string>();

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  /** The card with what was learnt. */
  card(card: ModelCard): ModelCard {
    const most = learnt.get(this.#driver)?.get(card.id);
    return most === undefined || most >= card.maxOutputTokens ? card : { ...card, maxOutputTokens: most };
  }

  /** What a driver is told of the model, where something was learnt of it. */
  own(card: ModelCard, own: OwnModel | undefined): OwnModel | undefined {
    const most = learnt.get(this.#driver)?.get(card.id);
    return most === undefined || most > card.maxOutputTokens ? own : { ...own, maxOutputTokens: most };
  }

  /** The messages without thinking that the server refuses. */
  messages(messages: WireMessage[]): WireMessage[] {
    if (this.#refused.size === 0) return messages;
    const isRefused = (block: Block): boolean => this.#refused.has(sealOf(block) ?? "");
    return messages.map((message) =>
      message.content.some(isRefused)
        ? { ...message, content: message.content.filter((block) => !isRefused(block)) }
        : message,
    );
  }

  /** The failure to report: where something was learnt from it, one after which the request is sent again. */
  learn(failure: unknown, { messages, maxOutputTokens }: AttemptRequest, card: ModelCard): unknown {
    if (!(failure instanceof LlmError) || failure.kind !== "invalid") return failure;
    const asked = Math.min(maxOutputTokens, card.maxOutputTokens);
    const most = outputLimitIn(failure.message);
    if (most !== undefined && most < asked) {
      const limits = learnt.get(this.#driver) ?? new Map<string, number>();
      if (limits.size >= MAX_MODELS) limits.clear();
      learnt.set(this.#driver, limits.set(card.id, most));
      return again(failure);
    }
    if (!isAboutSeals(failure.message)) return failure;
    const seals = messages.flatMap(({ content }) => content.flatMap((block) => sealOf(block) ?? []));
    const fresh = seals.filter((seal) => !this.#refused.has(seal));
    for (const seal of fresh) this.#refused.add(seal);
    return fresh.length === 0 ? failure : again(failure);
  }
}

/** What proves to the server that thinking is its own. undefined: the block has nothing of the kind. */
function sealOf(block: Block): string | undefined {
  if (block.type === "thinking") return block.signature || undefined;
  return block.type === "redacted_thinking" ? block.data : undefined;
}

function again({ kind, device, status, message, hint, cause }: LlmError): LlmError {
  return new LlmError({ kind, device, status, message, hint, cause, shouldRetry: true, retryAfterMs: 0 });
}

const OUTPUT = /\bmax[_ -]?(?:completion|output|new)?[_ -]?tokens\b|\bmaximum tokens\b/i;
/** Before the number, as servers have it. */
const MOST = [
  /> (\d+), which is the maximum/i,
  /supports at most (\d+)/i,
  /less than or equal to [`'"]?(\d+)/i,
  /\[\s*1\s*,\s*(\d+)\s*\]/,
  /(?:model|output|token) limit of (\d+)/i,
  /(?:must be|should be|at) (?:at most|no more than|<=|≤|most) [`'"]?(\d+)/i,
  /(?:not|cannot) exceed (\d+)/i,
];
/** The number itself is not taken. */
const BELOW = [/\bto (\d+) \(exclusive\)/i, /(?:must be|should be) (?:less than|lower than|<) [`'"]?(\d+)/i];

/** The longest reply that a refusal names. undefined: it is about something else. */
function outputLimitIn(words: string): number | undefined {
  if (!OUTPUT.test(words)) return undefined;
  const most = firstOf(MOST, words) ?? (firstOf(BELOW, words) ?? 0) - 1;
  return Number.isSafeInteger(most) && most >= 1 ? most : undefined;
}

function firstOf(forms: readonly RegExp[], words: string): number | undefined {
  for (const form of forms) {
    const found = form.exec(words)?.[1];
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

/** Thinking that another server, account or model sealed: after a change of the base URL or the key, for example. */
function isAboutSeals(words: string): boolean {
  return /signature/i.test(words)
    ? /thinking|thought/i.test(words)
    : /encrypted[_ ]content/i.test(words) && /verif|invalid|decrypt|not be/i.test(words);
}
