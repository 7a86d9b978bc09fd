/**
 * Keeps the conversation within the window of the model: before each request it moves the view if the request would be
 * too long, and after a refusal it shortens the view until the model takes it. It proposes; the kernel checks and
 * records each move, so nothing is lost.
 */
import type { ViewChange, ViewPart, WindowFacts } from "../../abi/context.ts";
import { codeOf, Fault, messageOf } from "../../abi/errors.ts";
import { type Reply, totalTokens } from "../../abi/llm.ts";
import { LlmError } from "../../abi/llm-error.ts";
import type { ProgramStart } from "../../abi/program.ts";
import type { Prompt } from "../../abi/sys.ts";
import { callsOf, textOf } from "../model/blocks.ts";
import type { TurnRequest } from "../model/request.ts";
import { besideOf } from "../prompt/parts.ts";
import { shownTarget } from "../token-target.ts";
import { Breaker, type BreakerState } from "./breaker.ts";
import { Collapse, type CollapseState, foldRequest } from "./collapse.ts";
import { Gauge, isBySize, type Learned, Report } from "./gauge.ts";
import { OwnPins, segmentsText } from "./own-view.ts";
import { isTooLong, Passage } from "./passage.ts";
import { NOTES_TOKENS, type NotesState, SessionNotes } from "./session-notes.ts";
import {
  ASK_FOR_NOTES,
  filePinText,
  ownPinText,
  pinnedText,
  TOO_LONG_HINT,
  TURNED_OFF_HINT,
  UNDO_HINT,
} from "./texts.ts";
import type { Turn } from "./turn.ts";
import { unitsOf } from "./units.ts";

/** How often the oldest steps leave the view after one refusal. */
const MOST_DROPS = 3;

export interface Answered {
  readonly turn: TurnRequest;
  readonly reply: Reply;
}

/** What the next daemon has to know; recorded with the position of the loop. */
export interface KeeperState extends Partial<Learned> {
  readonly breaker?: BreakerState;
  /** The user has undone a move: the view is not shortened before it has to be. */
  readonly held?: true;
  /** The messages that the model itself has pinned. */
  readonly pins?: readonly number[];
  /** When the last reply came: wall clock, ms. */
  readonly answeredAt?: number;
  readonly folding?: CollapseState;
  readonly notes?: NotesState;
}

/** What holds for another model, too. */
export function unlearned({ window: _, ratio: __, ...state }: KeeperState = {}): KeeperState {
  return state;
}

/** Of a model whose window is not known. */
const UNKNOWN: WindowFacts = { window: 200_000, maxOutput: 8_000, auto: false, compact: true };

type Windows = Pick<ProgramStart, "fork" | "window" | "fallbackWindows" | "viewRequests">;

export class WindowKeeper {
  /** Of each model that was asked, by its place among the fallbacks; 0: the model of the process. null: not known. */
  readonly #gauges = new Map<number, { readonly gauge: Gauge; readonly facts: WindowFacts } | null>();
  readonly #windows: Windows;
  #index = 0;
  readonly #isAllowed: boolean;
  readonly #breaker: Breaker;
  /** Older histories have no state of the breaker. */
  readonly #isKept: boolean;
  #isHeld: boolean;
  readonly #pins: OwnPins;
  #answeredAt: number | undefined;
  /** undefined: nothing is folded. */
  readonly #collapse: Collapse | undefined;

  /** undefined: none are kept. */
  readonly #notes: SessionNotes | undefined;

  readonly #report = new Report();

  /** The last request was for a summary: what came of it is not for the user. */
  isAside = false;

  constructor(start: Windows, state: KeeperState = {}) {
    const { window, viewRequests, fork } = start;
    this.#windows = start;
    this.#gauges.set(0, gaugeOf(window, state));
    // a fork is not worth a summary of its parent's conversation
    this.#isAllowed = fork === undefined && (window?.compact ?? false);
    this.#isKept = viewRequests === true;
    this.#breaker = new Breaker(state.breaker);
    this.#isHeld = state.held ?? false;
    this.#pins = new OwnPins(state.pins);
    this.#answeredAt = state.answeredAt;
    if (window?.collapse === true) this.#collapse = new Collapse(state.folding);
    if (window?.notes === true) this.#notes = new SessionNotes(state.notes);
  }

  /** For the position of the loop; undefined: nothing to record. */
  get state(): KeeperState | undefined {
    const breaker = this.#isKept ? this.#breaker.state : undefined;
    const folding = this.#collapse?.state;
    const notes = this.#notes?.state;
    const state = {
      ...this.#gauges.get(0)?.gauge.learned,
      ...(breaker === undefined ? {} : { breaker }),
      ...(this.#isHeld ? { held: true as const } : {}),
      ...(this.#answeredAt === undefined ? {} : { answeredAt: this.#answeredAt }),
      ...(folding === undefined ? {} : { folding }),
      ...(notes === undefined ? {} : { notes }),
      ...(this.#pins.numbers.length === 0 ? {} : { pins: this.#pins.numbers }),
    };
    return Object.keys(state).length === 0 ? undefined : state;
  }

  get #gauge(): Gauge | null {
    return this.#gauges.get(this.#index)?.gauge ?? null;
  }

  /** Another model is asked: its window counts from the first request on. */
  #use(index: number): void {
    if (index === this.#index) return;
    this.#index = index;
    const facts =
      index === 0 ? undefined : (this.#windows.fallbackWindows?.[index - 1] ?? this.#windows.window);
    if (!this.#gauges.has(index)) this.#gauges.set(index, gaugeOf(facts));
    this.#gauge?.moved();
  }

  /** A summary at the user's wish, of a part or of all. CONFLICT: nothing would be freed; UNAVAILABLE: compaction is turned off. */
  async compact(turn: Turn, wish: string, part?: ViewPart): Promise<ViewChange> {
    if (!this.#isAllowed) throw unavailable(this.#gauge === null);
    const passage = this.#passage(turn);
    const done = part === undefined ? passage.summarise("manual", wish) : passage.summarisePart(part, wish);
    return this.#changed(turn, await done);
  }

  /** Before a model with this window answers in place of the present one, which summarises what would be too long for it. */
  async makeRoom(turn: Turn, facts: WindowFacts): Promise<void> {
    if (this.#isAllowed) await this.#passage(turn).fitInto(new Gauge(facts));
  }

  /** An empty view. */
  async clear(turn: Turn): Promise<ViewChange> {
    return this.#changed(turn, await this.#passage(turn).clear());
  }

  /** These messages leave the view. INVALID: one of them has to stay. */
  async snip(turn: Turn, messages: readonly number[]): Promise<ViewChange> {
    return this.#changed(turn, await this.#passage(turn).snip(messages, "manual"));
  }

  /** The same at the wish of the model, which says nothing of whether compaction helps. */
  async snipOwn(turn: Turn, messages: readonly number[]): Promise<ViewChange> {
    return done(await this.#passage(turn).snip(messages, "auto"));
  }

  /**
   * The model pins messages in view, or a new one with this text; returns their numbers. BUDGET: beyond what all of its pins
   * may have.
   */
  async pinOwn(turn: Turn, messages: readonly number[], text: string | undefined): Promise<number[]> {
    const state = await turn.sys.ctxView(turn.start.ctxId);
    const content = text === undefined ? undefined : ownPinText(text);
    const wanted = this.#pins.wanted({ state, messages: turn.prompt.messages }, messages, content);
    const passage = this.#passage(turn);
    const numbers: number[] = [];
    for (const each of wanted) {
      const { message = 0 } = await passage.pin(each);
      this.#pins.add(message);
      numbers.push(message);
    }
    return numbers;
  }

  /** PERMISSION: someone else has pinned one of them, and none is unpinned. NOT_FOUND: nobody has. */
  async unpinOwn({ sys, start }: Turn, messages: readonly number[]): Promise<void> {
    this.#pins.checkOff(await sys.ctxView(start.ctxId), messages);
    for (const n of messages) {
      await sys.ctxUnpin(start.ctxId, n);
      this.#pins.delete(n);
    }
  }

  /** How full the window is, and the largest messages in view, for the model. */
  async list(turn: Turn): Promise<string> {
    const state = await turn.sys.ctxView(turn.start.ctxId);
    const { before: used } = this.#passage(turn).bounds;
    const limits = (this.#gauge ?? new Gauge(UNKNOWN)).limits();
    return segmentsText({ state, messages: turn.prompt.messages }, { used, ...limits });
  }

  /** The view before the present one. NOT_FOUND: there is none; CONFLICT: the next request would be refused. */
  async undo(turn: Turn): Promise<ViewChange> {
    const { sys, start } = turn;
    const { head, undoable } = await sys.ctxView(start.ctxId);
    if (undoable === 0)
      throw new Fault({ code: "NOT_FOUND", message: "nothing to undo: the view was not shortened" });
    const { bounds } = this.#passage(turn);
    try {
      const { most } = bounds;
      await sys.ctxUndo(start.ctxId, head, {
        ...bounds,
        most: this.#gauge === null ? Number.MAX_SAFE_INTEGER : most,
      });
    } catch (error) {
      if (codeOf(error) !== "CONFLICT") throw error;
      throw new Fault({ code: "CONFLICT", message: messageOf(error), hint: UNDO_HINT });
    }
    this.#gauge?.moved();
    this.#isHeld = true;
    const prompt = await turn.renew(true);
    const after = this.#passage({ ...turn, prompt }).bounds.before;
    return this.#changed(turn, { before: bounds.before, after });
  }

  /** The requests begin otherwise from now on, at the user's wish. */
  prefixChanged(): void {
    this.#gauge?.moved();
  }

  pin(turn: Turn, message: number | string): Promise<ViewChange> {
    if (typeof message === "string") return this.#passage(turn).pin(pinnedText(message));
    // it is the user's from now on
    this.#pins.delete(message);
    return this.#passage(turn).pin(message);
  }

  /** A text of the agent file, unless it is in view. BUDGET: it is too large. */
  async pinOfFile(turn: Turn, text: string): Promise<void> {
    const content = filePinText(text);
    if (turn.prompt.messages.some((message) => message.content === content)) return;
    await this.#passage(turn).pin(content);
  }

  async unpin(turn: Turn, message: number): Promise<ViewChange> {
    await turn.sys.ctxUnpin(turn.start.ctxId, message);
    this.#pins.delete(message);
    const { before } = this.#passage(turn).bounds;
    return { before, after: before, message };
  }

  #passage(turn: Turn): Passage {
    return new Passage(this.#asidesOf(turn), this.#gauge ?? new Gauge(UNKNOWN), this.#breaker);
  }

  /** What the user has changed closes the breaker. */
  #changed({ sys }: Turn, change: ViewChange | string): ViewChange {
    const changed = done(change);
    this.#breaker.close();
    this.#notes?.reset();
    this.#report.tell(sys, { breaker: null });
    return changed;
  }

  /** Notes which requests are for a summary. */
  #asidesOf(turn: Turn): Turn {
    return {
      ...turn,
      ...(this.#notes === undefined ? {} : { notes: this.#notes }),
      send: (request) => {
        this.isAside = request.purpose !== "main";
        return turn.send(request);
      },
    };
  }

  async ask(asked: Turn): Promise<Answered> {
    const turn = this.#asidesOf(asked);
    this.#use(asked.index);
    const gauge = this.#gauge;
    if (gauge === null) {
      const made = turn.make(turn.prompt, Infinity);
      return { turn: made, reply: await turn.send(made.request) };
    }
    let passage = new Passage(turn, gauge, this.#breaker);
    if (this.#isHeld && passage.isFull) this.#isHeld = false;
    const mayShorten = this.#isAllowed && !this.#isHeld;
    const collapse = mayShorten ? this.#collapse : undefined;
    if (mayShorten) await passage.prepare({ isIdle: this.#isIdle(turn), collapse });
    let hasDrained = collapse === undefined;
    for (let refusals = 0; ; ) {
      const made = passage.request();
      const staging = hasDrained || collapse === undefined ? null : this.#stage(turn, passage, collapse);
      const noting = mayShorten && refusals === 0 ? this.#takeNotes(turn, passage.prompt) : null;
      const refused = (words: string): void =>
        gauge.refused(made.estimate, made.request.maxOutputTokens, words);
      let cause: unknown;
      try {
        const reply = await turn.send(made.request);
        if (!isCutByWindow(reply)) {
          gauge.answered(made.estimate, reply.usage);
          if (this.#minutes !== undefined) this.#answeredAt = turn.sys.now();
          const broken = gauge.cache.answered(made.request, reply.usage);
          if (broken !== undefined) turn.sys.log("warn", broken);
          this.#tell(turn, made, reply);
          return { turn: made, reply };
        }
        refused("");
      } catch (error) {
        if (!isTooLong(error)) throw error;
        cause = error;
        // bytes say nothing of tokens
        if (this.#isAllowed && isBySize(error) && (await passage.shed())) continue;
        refused(messageOf(error));
      } finally {
        await staging;
        await noting;
      }
      passage = new Passage({ ...turn, prompt: passage.prompt }, gauge, this.#breaker);
      if (!hasDrained) {
        hasDrained = true;
        // what is written already costs nothing more
        if (collapse !== undefined && (await passage.fold(collapse)) > 0) continue;
      }
      if (!this.#isAllowed || refusals > MOST_DROPS || !(await passage.heal(refusals++)))
        throw this.#hopeless(turn, cause);
    }
  }

  /** After how many minutes results are cleared; undefined: in histories from before that, and where it is off. */
  get #minutes(): number | undefined {
    return this.#gauges.get(this.#index)?.facts.idleMinutes;
  }

  #isIdle({ sys }: Turn): boolean {
    const minutes = this.#minutes;
    if (minutes === undefined || this.#answeredAt === undefined) return false;
    return sys.now() - this.#answeredAt >= minutes * 60_000;
  }

  /** Writes the summary of the next steps to fold while the model answers. Never rejects. */
  async #stage({ sys, start, ...turn }: Turn, passage: Passage, collapse: Collapse): Promise<void> {
    try {
      const units = await passage.foldable(collapse);
      if (units === undefined) return;
      const model = collapse.isSmall ? "small" : turn.model.model;
      const id = `r${start.pid}-${turn.number}-fold`;
      const { blocks } = await turn.aside(foldRequest(units, { id, model }));
      const wrong = collapse.stage(units, textOf(blocks));
      if (wrong !== undefined) sys.log("info", `context: the summary of a fold is not used: ${wrong}`);
    } catch (error) {
      if (sys.ending.aborted) return;
      sys.log("info", `context: no steps were folded: ${messageOf(error)}`);
      // the next one is asked of the model of the process
      if (collapse.isSmall) collapse.isSmall = false;
      else collapse.failed();
    }
  }

  /** Writes the notes anew while the model answers, once enough has come. Never rejects. */
  async #takeNotes({ sys, start, notes, make, aside }: Turn, prompt: Prompt): Promise<void> {
    if (notes === undefined) return;
    try {
      const view = await sys.ctxView(start.ctxId);
      if (!notes.isDue(unitsOf(prompt.messages, view))) return;
      const messages = [...prompt.messages, { role: "user", content: ASK_FOR_NOTES } as const];
      const { request } = make({ ...prompt, messages }, NOTES_TOKENS);
      const requestId = `${request.requestId}-notes`;
      const { blocks } = await aside({ ...request, requestId, purpose: "helper", stream: false });
      const wrong = notes.take(textOf(blocks), view.numbers.at(-1) ?? 0);
      if (wrong !== undefined) sys.log("info", `context: the notes of the session are not used: ${wrong}`);
    } catch (error) {
      if (sys.ending.aborted) return;
      notes.failed();
      sys.log("info", `context: no notes of the session were written: ${messageOf(error)}`);
    }
  }

  #tell({ sys, model, sections, target = null }: Turn, { request }: TurnRequest, { usage }: Reply): void {
    const measured = this.#gauges.get(this.#index) ?? null;
    if (measured === null) return;
    const { facts, gauge } = measured;
    const { idleMinutes: _, collapse: __, notes: ___, targets, ...known } = facts;
    const folding = this.#collapse?.stats;
    const { window, ratio } = gauge;
    this.#report.tell(sys, {
      ...{ ...known, ...model, window, ratio: Math.round(ratio * 100) / 100 },
      ...{ beside: besideOf({ ...request, sections }), breaker: this.#breaker.reason },
      ...(folding === undefined ? {} : { folding }),
      ...(targets === true ? { target: target && shownTarget(target, { usage }) } : {}),
      reported: totalTokens(usage),
    });
  }

  #hopeless({ start }: Turn, cause: unknown): LlmError {
    const why = this.#isAllowed ? "even shortened" : "and compaction is turned off";
    const said = cause === undefined ? "" : ` (${messageOf(cause)})`;
    return new LlmError({
      kind: "prompt_too_long",
      message: `the conversation does not fit into the context window of the model, ${why}${said}`,
      device: start.modelDevice,
      hint: this.#isAllowed ? TOO_LONG_HINT : TURNED_OFF_HINT,
      cause,
    });
  }
}

/** CONFLICT: it was not done, for this reason. */
function done(change: ViewChange | string): ViewChange {
  if (typeof change === "string") throw new Fault({ code: "CONFLICT", message: change });
  return change;
}

function gaugeOf(facts: WindowFacts | undefined, learned?: Partial<Learned>) {
  return facts === undefined ? null : { facts, gauge: new Gauge(facts, learned) };
}

function unavailable(isUnknown: boolean): Fault {
  const message = isUnknown ? "the window of the model is not known" : "compaction is turned off";
  const hint = isUnknown ? "set CRUX_MAX_CONTEXT_TOKENS" : "unset CRUX_DISABLE_COMPACT and start it again";
  return new Fault({ code: "UNAVAILABLE", message, hint });
}

/** The window was full before the model had said all. */
function isCutByWindow({ stopReason, blocks }: Reply): boolean {
  return stopReason === "model_context_window_exceeded" && callsOf(blocks).length === 0;
}
