/**
 * One passage through the layers that shorten the view, for one request: old results are cleared, a summary is written, the
 * oldest steps are left out. It proposes; the kernel checks and records each move, so nothing is lost.
 */
import type { Boundary, ContextMove, UndoBounds, ViewChange, ViewPart } from "../../abi/context.ts";
import { codeOf, Fault, messageOf } from "../../abi/errors.ts";
import { findLlmError } from "../../abi/llm-error.ts";
import type { Prompt } from "../../abi/sys.ts";
import { viewWords } from "../../lib/text/view-words.ts";
import { messageTokens } from "../../lib/tokens/message.ts";
import { textOf } from "../model/blocks.ts";
import type { TurnRequest } from "../model/request.ts";
import { askingFor, type SummaryWish } from "./asked-summary.ts";
import type { Breaker } from "./breaker.ts";
import { COMMIT, type Collapse, STAGE } from "./collapse.ts";
import { newestThatFit, pinnedOf, rangesOf, shownTokens, tokensOf, withoutPictures } from "./fit.ts";
import type { Gauge } from "./gauge.ts";
import { clearOld } from "./micro.ts";
import { partOf } from "./part.ts";
import { snipped } from "./snip.ts";
import { takenAlong } from "./taken-along.ts";
import { CLEARED_NOTE, droppedText, partWords, summaryIn, summaryText } from "./texts.ts";
import type { Turn } from "./turn.ts";
import { type Unit, unitsOf } from "./units.ts";

/** Estimated tokens of the newest steps that a full summary leaves in view, and of the user's words. */
const TAIL = 10_000;
const WORDS = 20_000;
/** A full summary must free this share of the window. */
const LEAST_FREED = 0.1;
/** How often the request for a summary is made shorter. */
const MOST_REFUSALS = 3;
/** The reply never takes the last tokens of the window. */
const SPARE = 1_000;
const LEAST_OUTPUT = 1_024;
/** Estimated tokens of one pin, and the share of the effective window that all may have. */
const PIN = 10_000;
const PINNED_SHARE = 0.25;

interface Summary {
  readonly summary: string;
  /** Of steps that it was not made of; "": none. */
  readonly dropped: string;
}

interface FromNotes extends Pick<SummaryWish, "units" | "view" | "left" | "trigger"> {
  /** Estimated tokens beside what is pinned. */
  readonly free: number;
}

/** One passage through the layers, for one request. */
export class Passage {
  readonly #turn: Turn;
  readonly #gauge: Gauge;
  readonly #breaker: Breaker;
  #prompt: Prompt;
  /** The request of this prompt, made once: it is needed to estimate its tokens, and usually sent as it is. */
  #made: TurnRequest | null = null;

  constructor(turn: Turn, gauge: Gauge, breaker: Breaker) {
    this.#turn = turn;
    this.#gauge = gauge;
    this.#breaker = breaker;
    this.#prompt = turn.prompt;
  }

  get prompt(): Prompt {
    return this.#prompt;
  }

  /** The request, whose reply fits into the window with it. */
  request(): TurnRequest {
    const made = this.#whole;
    const room = Math.max(LEAST_OUTPUT, this.#gauge.window - this.#used - SPARE);
    return made.request.maxOutputTokens <= room ? made : this.#turn.make(this.#prompt, room);
  }

  get #whole(): TurnRequest {
    this.#made ??= this.#turn.make(this.#prompt, Infinity);
    return this.#made;
  }

  /** After a refusal for its bytes: images and documents leave the view, but for the last two steps. false: there are none. */
  async shed(): Promise<boolean> {
    const { sys, start } = this.#turn;
    const state = await sys.ctxView(start.ctxId);
    const found = withoutPictures(unitsOf(this.#prompt.messages, state), state);
    if (found === undefined) return false;
    const { keep, tailFrom } = state.view;
    const before = this.#used;
    const after = before - Math.ceil(found.freed * this.#gauge.ratio);
    const boundary = { layer: "micro", trigger: "reactive", before, after } as const;
    return this.#move({ from: state.head, keep, tailFrom, clears: found.clears, boundary });
  }

  /**
   * Before a request: clears old results, folds, then summarises, as far as the next request needs it. `isIdle`: the
   * provider keeps nothing of the last request any more, so that clearing costs nothing.
   */
  async prepare({ isIdle, collapse }: { isIdle: boolean; collapse: Collapse | undefined }): Promise<void> {
    const limits = this.#gauge.limits();
    if (limits.auto === null) return;
    if (isIdle || this.#used >= limits.warn) await this.#clearOld();
    if (collapse !== undefined && this.#used >= limits.effective * COMMIT) await this.fold(collapse);
    // from there on the next reply might not fit: it lies further below `block` than a reply is long
    if (this.#used < limits.auto) return;
    if (!this.#breaker.isOpen) {
      if (typeof (await this.summarise("auto")) !== "string") this.#breaker.accepted(this.#turn.number);
      else this.#failed();
    }
    if (this.#used >= limits.block) await this.#dropped(0.5, "auto");
  }

  /** What is staged takes the place of its steps. Returns how many folds. */
  async fold(collapse: Collapse): Promise<number> {
    const { sys, start } = this.#turn;
    for (let count = 0; ; count++) {
      const view = await sys.ctxView(start.ctxId);
      const found = collapse.take(unitsOf(this.#prompt.messages, view), view);
      if (found === undefined) return count;
      const { freed, ...next } = found;
      const before = this.#used;
      const after = before - Math.ceil(freed * this.#gauge.ratio);
      const boundary = { layer: "collapse", trigger: "auto", before, after } as const;
      if (!(await this.#move({ from: view.head, ...next, boundary }))) return count;
    }
  }

  /** The steps to fold next; undefined: none. */
  async foldable(collapse: Collapse): Promise<readonly Unit[] | undefined> {
    const { sys, start } = this.#turn;
    const { auto, effective, scale } = this.#gauge.limits();
    if (auto === null) return undefined;
    const used = this.#used;
    const fill = (saved: number): number => (used - saved * this.#gauge.ratio) / effective;
    // nothing is read while the window has room
    if (fill(0) < STAGE) return undefined;
    const view = await sys.ctxView(start.ctxId);
    return collapse.next(unitsOf(this.#prompt.messages, view), view, { fill, scale });
  }

  /** After a refusal: a summary, once, then ever less of the conversation. false: there is nothing left to leave out. */
  async heal(refusals: number): Promise<boolean> {
    if (refusals === 0 && typeof (await this.summarise("reactive")) !== "string") return true;
    return this.#dropped(0.5 ** Math.max(1, refusals), "reactive");
  }

  #failed(): void {
    this.#breaker.failed();
    if (this.#breaker.isOpen)
      this.#turn.sys.log("warn", "context: automatic compaction has stopped, because it does not help");
  }

  /** A summary, if the request would be too long for another model. */
  async fitInto(other: Gauge): Promise<void> {
    const { auto, block } = other.limits();
    if (other.used(this.#whole.estimate) < (auto ?? block)) return;
    const done = await this.summarise("auto", "", other);
    if (typeof done === "string")
      this.#turn.sys.log("warn", `context: not shortened for the next model: ${done}`);
  }

  /** The next request would be refused. */
  get isFull(): boolean {
    return this.#used >= this.#gauge.limits().block;
  }

  get #used(): number {
    return this.#gauge.used(this.#whole.estimate);
  }

  /** Estimated tokens of system prompt and tools, which no view changes. */
  get #fixed(): number {
    return this.#turn.make({ ...this.#prompt, messages: [] }, Infinity).estimate;
  }

  async #clearOld(): Promise<void> {
    const { sys, start } = this.#turn;
    const view = await sys.ctxView(start.ctxId);
    const found = clearOld(unitsOf(this.#prompt.messages, view), view, this.#gauge.limits().scale);
    if (found === undefined) return;
    const { keep, tailFrom } = view.view;
    const before = this.#used;
    const freed = Math.ceil(found.freed * this.#gauge.ratio);
    const boundary = { layer: "micro", trigger: "auto", before, after: before - freed } as const;
    await this.#move({ from: view.head, keep, tailFrom, clears: found.clears, boundary });
  }

  /**
   * A summary takes the place of all but the user's words and the newest steps. A text: why not; then the view is as it was.
   * `wish`: what the user asked to pay attention to. `target`: the model that has to take what is left.
   */
  async summarise(
    trigger: Boundary["trigger"],
    wish = "",
    target: Gauge = this.#gauge,
  ): Promise<ViewChange | string> {
    const { sys, start } = this.#turn;
    const view = await sys.ctxView(start.ctxId);
    const units = unitsOf(this.#prompt.messages, view);
    const left = Math.max(0, this.#estimated(this.#mostAfter(trigger, target)) - this.#fixed);
    const free = Math.max(0, left - tokensOf(pinnedOf(units, view)));
    if (wish === "" && trigger !== "reactive" && target === this.#gauge) {
      const done = await this.#fromNotes({ units, view, left, trigger, free });
      if (done !== undefined) return done;
    }
    const room = { tail: Math.min(TAIL, Math.floor(free / 3)), words: Math.min(WORDS, Math.floor(free / 4)) };
    const next = newestThatFit(units, view, room);
    if (!next.covered.some(({ kind }) => kind === "step" || kind === "summary"))
      return "nothing would be freed: there is only the newest step, and your own words";
    const wanted = { units, view, next, left, layer: "full", trigger, of: units, wish } as const;
    return this.#summarised({ ...wanted, next: { ...next, folds: [] } });
  }

  /** The notes take the place of what they are about; undefined: there are none that do. */
  async #fromNotes({ free, ...of }: FromNotes): Promise<ViewChange | undefined> {
    const { units, view } = of;
    const found = this.#turn.notes?.summary(units, this.#gauge.limits().scale);
    if (found === undefined) return undefined;
    const words = Math.min(WORDS, Math.floor(free / 4));
    const next = newestThatFit(units, view, { tail: found.tail, words });
    const isLess = next.covered.some(({ kind }) => kind === "step" || kind === "summary");
    // nothing may leave the view that they say nothing of
    if (!isLess || next.tailFrom > found.from) return undefined;
    const wanted = { ...of, next: { ...next, folds: [] }, layer: "notes", of: units, wish: "" } as const;
    const done = await this.#replaced(wanted, { summary: found.text, dropped: "" });
    return typeof done === "string" ? undefined : done;
  }

  /** A summary takes the place of what comes before a message, or after it, but for the user's words. A text: why not. */
  async summarisePart(part: ViewPart, wish: string): Promise<ViewChange | string> {
    const { sys, start } = this.#turn;
    const view = await sys.ctxView(start.ctxId);
    const units = unitsOf(this.#prompt.messages, view);
    const left = Math.max(0, this.#estimated(this.#mostAfter("manual", this.#gauge)) - this.#fixed);
    const next = partOf(units, view, { ...part, room: Math.min(WORDS, Math.floor(left / 2)) });
    const { parts } = next.picked;
    const only = partWords(part.side, parts[0]?.message.content ?? "");
    const wanted = { units, view, next, left, layer: "partial", trigger: "manual" } as const;
    return this.#summarised({ ...wanted, of: next.before, wish, only });
  }

  async #summarised(wanted: SummaryWish): Promise<ViewChange | string> {
    const written = await this.#summaryOf(wanted);
    if (written === undefined) return "the model wrote no summary: crux logs says why";
    return this.#replaced(wanted, written);
  }

  async #replaced(wanted: SummaryWish, written: Summary): Promise<ViewChange | string> {
    const { units, view, next, left, layer, trigger } = wanted;
    const before = this.#used;
    const said = { ...written, lostWords: next.lostWords, files: "", isPart: layer === "partial" };
    const spare = left - messageTokens({ content: summaryText(said) }) - shownTokens(units, next);
    if (spare < 0) return "the summary would not have freed enough";
    const gone = next.clears.filter(({ keep }) => keep === undefined);
    const cleared = new Set([...view.view.clears, ...gone].map(({ n }) => n));
    const files = takenAlong(next, Math.floor(spare / 2), (n) => cleared.has(n));
    const put = summaryText({ ...said, files });
    const tokens = messageTokens({ content: put }) + shownTokens(units, next);
    const after = Math.ceil((this.#fixed + tokens) * this.#gauge.ratio);
    const boundary = { layer, trigger, before, after };
    const { keep, clears, tailFrom, folds, behind } = next;
    const place = { keep, clears, tailFrom, folds, ...(behind === undefined ? {} : { behind }) };
    const isMoved = await this.#move({ from: view.head, put, ...place, boundary });
    return isMoved ? { before, after } : "the view has moved meanwhile";
  }

  /** The tokens that a request may have after a summary: what frees too little is not used, unless the user asked. */
  #mostAfter(trigger: Boundary["trigger"], target: Gauge): number {
    const { warn, effective } = target.limits();
    if (trigger === "manual") return Math.min(effective, this.#used) - 1;
    return Math.min(warn, effective * (1 - LEAST_FREED), this.#used * (1 - LEAST_FREED));
  }

  #estimated(tokens: number): number {
    return Math.floor(tokens / this.#gauge.ratio);
  }

  /** An empty view, but for what is pinned. */
  async clear(): Promise<ViewChange | string> {
    const { sys, start } = this.#turn;
    const state = await sys.ctxView(start.ctxId);
    const { head: from, records, view } = state;
    const units = unitsOf(this.#prompt.messages, state);
    const pinned = pinnedOf(units, state);
    if (pinned.length === units.length) return "there is nothing to leave out";
    const numbers = pinned.flatMap(({ parts }) => parts.map(({ n }) => n));
    const clears = view.clears.filter(({ n }) => numbers.includes(n));
    const before = this.#used;
    const after = Math.ceil((this.#fixed + tokensOf(pinned)) * this.#gauge.ratio);
    const boundary = { layer: "clear", trigger: "manual", before, after } as const;
    // a conversation begins with words to the model
    const put = pinned.length === 0 ? null : CLEARED_NOTE;
    const left = { put, keep: rangesOf(numbers), clears, tailFrom: records + 1, folds: [] };
    return (await this.#move({ from, ...left, boundary }))
      ? { before, after }
      : "the view has moved meanwhile";
  }

  /** These messages leave the view. A text: why not; nothing changes if they have left it before. */
  async snip(messages: readonly number[], trigger: "manual" | "auto"): Promise<ViewChange | string> {
    const { sys, start } = this.#turn;
    const view = await sys.ctxView(start.ctxId);
    const found = snipped(unitsOf(this.#prompt.messages, view), view, messages);
    const before = this.#used;
    if (found === undefined) return { before, after: before };
    const { freed, ...next } = found;
    const after = before - Math.ceil(freed * this.#gauge.ratio);
    const boundary = { layer: "snip", trigger, before, after } as const;
    const isMoved = await this.#move({ from: view.head, ...next, boundary });
    return isMoved ? { before, after } : "the view has moved meanwhile";
  }

  /** Pins a message in view, or a new one of this content. BUDGET: it is too large, or there are too many pins. */
  async pin(message: number | string): Promise<ViewChange> {
    const { sys, start } = this.#turn;
    const before = this.#used;
    const all = this.#estimated(this.#gauge.limits().effective * PINNED_SHARE);
    const bounds = { each: PIN, all };
    if (typeof message === "number") {
      await sys.ctxPin(start.ctxId, message, bounds);
      return { before, after: before, message };
    }
    const state = await sys.ctxView(start.ctxId);
    const pinned = tokensOf(pinnedOf(unitsOf(this.#prompt.messages, state), state));
    const own = messageTokens({ content: message });
    if (own > Math.min(PIN, all - pinned))
      throw new Fault({
        code: "BUDGET",
        message: `the text has about ${own} tokens; pins may have ${all} together`,
      });
    const n = state.records + 1;
    await sys.unit(async () => {
      await sys.appendMessage(start.ctxId, "user", message);
      await sys.ctxPin(start.ctxId, n, bounds);
    });
    return { before, after: before + Math.ceil(own * this.#gauge.ratio), message: n };
  }

  /** What an undoing may not exceed. */
  get bounds(): UndoBounds {
    const { ratio } = this.#gauge;
    return { before: this.#used, beside: this.#fixed, ratio, most: this.#gauge.limits().block - 1 };
  }

  /**
   * The model's summary of these units; of their newest part, if all would be too long, or are refused as too long. undefined:
   * there is none.
   */
  async #summaryOf(wanted: SummaryWish): Promise<Summary | undefined> {
    const { sys } = this.#turn;
    for (let refusals = 0; ; refusals++) {
      const room = { gauge: this.#gauge, fixed: this.#fixed };
      const { messages, most, dropped } = askingFor(wanted, { ...room, refusals });
      const made = this.#turn.make({ ...this.#prompt, messages }, most);
      const { request, estimate } = made;
      const requestId = `${request.requestId}-compact${refusals === 0 ? "" : `-${refusals}`}`;
      try {
        const reply = await this.#turn.send({ ...request, requestId, purpose: "compact" });
        const summary = summaryIn(textOf(reply.blocks));
        if (summary !== "" && reply.stopReason !== "refusal") return { summary, dropped };
        sys.log("warn", `context: no summary was written: the reply has none (${reply.stopReason})`);
        return undefined;
      } catch (error) {
        const isFinal = sys.ending.aborted || codeOf(error) === "BUDGET" || codeOf(error) === "CANCELLED";
        if (isFinal) throw error;
        if (isTooLong(error) && refusals < MOST_REFUSALS) {
          this.#gauge.refused(estimate, request.maxOutputTokens, messageOf(error));
          continue;
        }
        sys.log("warn", `context: no summary was written: ${messageOf(error)}`);
        return undefined;
      }
    }
  }

  /** The oldest steps leave the view without a summary, until what is left has this share of the window. */
  async #dropped(share: number, trigger: Boundary["trigger"]): Promise<boolean> {
    const { sys, start } = this.#turn;
    const view = await sys.ctxView(start.ctxId);
    const units = unitsOf(this.#prompt.messages, view);
    const { effective } = this.#gauge.limits();
    const left = Math.max(0, Math.floor((effective * share) / this.#gauge.ratio) - this.#fixed);
    const free = Math.max(0, left - tokensOf(pinnedOf(units, view)));
    const next = newestThatFit(units, view, { tail: Math.floor(free * 0.6), words: Math.floor(free * 0.2) });
    const before = this.#used;
    const summaries = units.filter(({ kind }) => kind === "summary");
    const old = summaries.map(({ parts: [first] }) => first?.message.content ?? "").join("\n\n");
    const kept = old.slice(0, Math.floor(left * 0.6)).toWellFormed();
    const put = next.covered.length === 0 ? undefined : droppedText(next.covered, kept);
    const tokens = shownTokens(units, next) + (put === undefined ? 0 : messageTokens({ content: put }));
    const whole = tokensOf(units);
    if (tokens >= whole) return false;
    const after = Math.ceil((this.#fixed + tokens) * this.#gauge.ratio);
    const boundary = { layer: "drop", trigger, before, after } as const;
    const { keep, clears, tailFrom } = next;
    const same = { from: view.head, keep, clears, tailFrom, boundary };
    return this.#move(put === undefined ? same : { ...same, put, folds: [] });
  }

  async #move(move: ContextMove): Promise<boolean> {
    const { sys, start } = this.#turn;
    const { layer } = move.boundary;
    try {
      await sys.ctxMove(start.ctxId, move);
    } catch (error) {
      // another thread of this process was faster
      if (codeOf(error) !== "CONFLICT") throw error;
      return false;
    }
    // of what another text stands for now they may say nothing
    if (move.put !== undefined && layer !== "notes") this.#turn.notes?.reset();
    this.#gauge.moved();
    this.#prompt = await this.#turn.renew(layer !== "micro");
    this.#made = null;
    sys.log("info", viewWords(move.boundary));
    return true;
  }
}

export function isTooLong(error: unknown): boolean {
  return findLlmError(error)?.kind === "prompt_too_long";
}
