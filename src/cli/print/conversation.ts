/**
 * Follows the session of a print run: says the messages, prints what happens, and ends when stdin has ended, every
 * message is answered, and no agent works for the session in the background any more.
 */
import { codeOf, messageOf } from "../../abi/errors.ts";
import type { Usage } from "../../abi/llm.ts";
import type { Result } from "../../abi/methods/methods.ts";
import { SIGNALS } from "../../abi/process.ts";
import type { AskEvent, CompleteEvent, IdleEvent, WireEvent } from "../../abi/wire-events.ts";
import type { ChatClient } from "../chat/client.ts";
import { daemonVanished } from "../daemon/vanished.ts";
import { type Approver, argumentsOf } from "./approver.ts";
import { lateEnding } from "./ending.ts";
import { type AnswerSchema, correction, type Fit, MAX_CORRECTIONS } from "./json-schema.ts";
import type { Ended, Printer, RunFacts } from "./printer.ts";
import type { PrintSession } from "./session.ts";
import { leftBy, type Stops } from "./stops.ts";
import { type ModelSpent, minus, NONE, plus, tokensOf } from "./tally.ts";
import type { Said } from "./user-line.ts";

type CostLine = Omit<Result<"cost.get">["lines"][number], "key">;

/** Messages that were said and are not read; more wait on stdin. */
const MAX_UNREAD = 16;

/** Where the lines go. None of them waits for stdout. */
export interface View {
  show(event: WireEvent): void;
  replay(said: Said): void;
  notice(message: string, about: { line?: number; code?: string; level?: "info" }): void;
  result(ended: Ended, event?: CompleteEvent | IdleEvent): void;
}

export interface Around {
  readonly client: ChatClient;
  readonly printer: Printer;
  readonly view: View;
  readonly stops: Stops;
  readonly schema: AnswerSchema | undefined;
  /** Messages are printed once they are read. */
  readonly replays: boolean;
  /** Passes questions on; undefined: none come. */
  readonly approver: Approver | undefined;
}

export class Conversation {
  /** A line of stdin was no message, or could not be said. */
  hasFailed = false;
  readonly #around: Around;
  readonly #session: PrintSession;
  /** Messages of ours that the session has not read, the oldest first; undefined: a correction. */
  readonly #unread: Array<Said | undefined> = [];
  /** The run in progress is about messages of ours, or about what an agent has found for them. */
  #isRunning = false;
  /** The end of an agent in the background is to begin another run. */
  #isAwaited = false;
  /** The run that would be the last one, but for what it waits for: its result is that of what follows. */
  #held: Held | undefined;
  #hasInput = true;
  #isDone = false;
  /** Its process has ended. */
  #hasEnded = false;
  #hasResult = false;
  #exitCode = 0;
  #corrections = 0;
  /** Its calls from then on count: wall clock, as records have it. A session of ours may have begun before. */
  readonly #since: number;
  /** Commands that the session had in the background at the end of its last run. */
  #jobs = 0;
  /** As it was told last. */
  readonly #told = new Map<string, ModelSpent>();
  readonly #usd: { atStart: number; before: number } = { atStart: 0, before: 0 };
  #tokensBefore = 0;
  #moved = Promise.withResolvers<void>();

  constructor(around: Around, session: PrintSession) {
    this.#around = around;
    this.#session = session;
    this.#since = session.isNew ? 0 : Date.now();
    if (session.first !== undefined) this.#unread.push(session.first);
    around.stops.onStop = () => this.#endIfDone();
  }

  /** The exit code. Rejects when the events break off. `messages`: those that the session was not begun with. */
  async follow(messages: AsyncIterable<Said>): Promise<number> {
    const { stops } = this.#around;
    if (!this.#session.isNew) {
      const { usd, tokens } = (await this.#account()) ?? { usd: 0, tokens: 0 };
      this.#usd.before = this.#usd.atStart = usd;
      this.#tokensBefore = tokens;
    }
    const saying = this.#sayAll(messages);
    for await (const event of this.#session.events) if (await this.#take(event)) break;
    const isWhole = this.#isDone || this.#hasEnded || stops.code !== undefined;
    this.#isDone = true;
    this.#move();
    // it waits for stdin, or for its turn
    saying.catch(() => undefined);
    if (!isWhole) throw daemonVanished(this.#session.pid, true);
    if (stops.code !== undefined) {
      if (!this.#hasResult || this.#held !== undefined) await this.#stopped();
      return stops.code;
    }
    if (!this.#hasEnded) await this.#endLeft();
    return this.#exitCode === 0 && this.hasFailed ? 1 : this.#exitCode;
  }

  /** What works on for nobody ends: commands of a session that began here, and, where a run has failed, agents. */
  async #endLeft(): Promise<void> {
    const { pid, isNew } = this.#session;
    const left = leftBy(isNew).filter((what) => (what === "jobs" ? this.#jobs > 0 : this.#exitCode !== 0));
    if (left.length === 0) return;
    const wish = { pid, signal: SIGNALS.SIGINT, background: left };
    await this.#around.client.request("kill", wish).catch(() => undefined);
  }

  async #sayAll(messages: AsyncIterable<Said>): Promise<void> {
    for await (const said of messages) {
      await this.#say(said);
      while (this.#unread.length >= MAX_UNREAD && !this.#isDone) await this.#moved.promise;
      if (this.#isDone) break;
    }
    this.#hasInput = false;
    this.#endIfDone();
  }

  async #say(said: Said, isCorrection = false): Promise<void> {
    const { client, view, schema } = this.#around;
    const { media } = said;
    const text = isCorrection ? said.text : (schema?.asking(said.text) ?? said.text);
    const unread = isCorrection ? undefined : said;
    this.#unread.push(unread);
    try {
      await client.say(this.#session.pid, text, media);
    } catch (error) {
      this.#unread.splice(this.#unread.lastIndexOf(unread), 1);
      this.hasFailed = true;
      if (!this.#isDone) view.notice(messageOf(error), { code: codeOf(error) });
    }
  }

  /** True: this was the last event. */
  async #take(event: WireEvent): Promise<boolean> {
    const { client, view } = this.#around;
    if (event.event === "complete") {
      this.#hasEnded = true;
      await this.#over(event);
      return true;
    }
    if (event.event === "ask") this.#ask(event);
    if (event.event === "ask_closed") this.#around.approver?.closed(event);
    if (event.event === "input" && event.client === client.name) {
      const said = this.#unread.shift();
      if (said !== undefined && this.#around.replays) view.replay(said);
      this.#isRunning = true;
      this.#move();
    } else if (event.event === "input" && event.from !== 0 && this.#isAwaited) this.#isRunning = true;
    if (event.event === "idle") return await this.#rested(event);
    // what the session does for others is not ours to print; but a failure is
    if (this.#isRunning || ["spawn", "log", "error"].includes(event.event)) view.show(event);
    return false;
  }

  /** A run has ended, of ours or of others. True: there is nothing more to wait for. */
  async #rested(event: IdleEvent): Promise<boolean> {
    const wasOurs = this.#isRunning;
    const held = this.#held;
    if (!wasOurs && !this.#isAwaited) return false;
    const ended = wasOurs ? after(held, event) : held?.event;
    const { exit_code: code, background = 0, jobs = 0 } = event;
    this.#jobs = jobs;
    this.#isRunning = false;
    this.#held = undefined;
    this.#isAwaited = code === 0 && background > 0;
    if (ended === undefined) return this.#endIfDone();
    const isLast = !this.#hasInput && this.#unread.length === 0 && this.#around.stops.code === undefined;
    if (this.#isAwaited && isLast) this.#held = { event: ended, atMs: performance.now() };
    else if (!(await this.#isCorrected(ended))) await this.#over(ended);
    return this.#endIfDone();
  }

  #ask(event: AskEvent): void {
    const { approver, printer } = this.#around;
    approver?.asked(event, printer.findCall(event.tool ?? "", argumentsOf(event)));
  }

  /** Sends an answer back that does not match the schema, up to three times. */
  async #isCorrected(event: IdleEvent): Promise<boolean> {
    const { schema, stops } = this.#around;
    if (schema === undefined || event.exit_code !== 0 || stops.code !== undefined) return false;
    const fit = schema.fit(event.result);
    if (fit.kind === "fits" || this.#corrections === MAX_CORRECTIONS) return false;
    this.#corrections++;
    await this.#say({ text: correction(fit.why) }, true);
    return true;
  }

  /** A run has ended: prints its result. */
  async #over(event: CompleteEvent | IdleEvent): Promise<void> {
    const { printer, view, schema } = this.#around;
    const facts = await this.#facts(event);
    const fit = event.exit_code === 0 ? schema?.fit(event.result) : undefined;
    const lateMs = event.exit_code === 0 ? undefined : this.#around.stops.timedOutMs;
    const ended =
      lateMs !== undefined
        ? printer.stopped(lateEnding(lateMs), facts)
        : fit?.kind === "misfit"
          ? this.#misfit(fit, facts)
          : printer.end(event, withValue(facts, fit));
    this.#corrections = 0;
    this.#hasResult = true;
    this.#exitCode = ended.exitCode;
    view.result(ended, event);
  }

  #misfit({ why }: Extract<Fit, { kind: "misfit" }>, facts: RunFacts): Ended {
    const subtype = "error_max_structured_output_retries" as const;
    const ending = { subtype, terminalReason: "structured_output_failed", errors: [why], exitCode: 1 };
    return this.#around.printer.stopped(ending, facts);
  }

  /** The command was stopped before any run had its end, or while it waited for agents of one. */
  async #stopped(): Promise<void> {
    const { printer, view, stops } = this.#around;
    const held = this.#held;
    const why = held === undefined ? "stopped before the run began" : "stopped while its agents worked";
    const facts = held === undefined ? { durationMs: 0, usd: 0, totalUsd: 0 } : await this.#facts(held.event);
    const ending = {
      subtype: "error_during_execution" as const,
      terminalReason: held === undefined ? "aborted_streaming" : "aborted_tools",
      errors: [why],
      exitCode: stops.code ?? 1,
    };
    const { timedOutMs: lateMs } = stops;
    this.#hasResult = true;
    view.result(printer.stopped(lateMs === undefined ? ending : lateEnding(lateMs), facts));
  }

  async #facts({ elapsed_ms: durationMs = 0, ...event }: CompleteEvent | IdleEvent): Promise<RunFacts> {
    const account = event.event === "complete" ? undefined : await this.#account();
    const told = event.event === "complete" ? event.subtree_cost_usd : account?.usd;
    const now = Math.max(told ?? 0, this.#usd.before);
    const facts = { durationMs, usd: now - this.#usd.before, totalUsd: now - this.#usd.atStart };
    this.#usd.before = now;
    const tokens = account === undefined ? undefined : account.tokens - this.#tokensBefore;
    this.#tokensBefore = account?.tokens ?? this.#tokensBefore;
    const byModel = await this.#spentByModel(tokens, facts.usd);
    const window = await this.#window();
    const known = window === undefined ? {} : { window };
    const more = byModel === undefined ? {} : { byModel };
    return { ...facts, usd: rounded(facts.usd), totalUsd: rounded(facts.totalUsd), ...more, ...known };
  }

  /** undefined: not known, as after the end of the session. */
  async #window(): Promise<number | undefined> {
    if (this.#hasEnded || this.#around.printer.only?.[0] === "") return undefined;
    const { pid } = this.#session;
    const found = await this.#around.client
      .request("context.stat", { pid, brief: true })
      .catch(() => undefined);
    return found?.window;
  }

  /** What each model has used since the last result; undefined: what its only model has told, which is all of `tokens`. */
  async #spentByModel(
    tokens: number | undefined,
    usd: number,
  ): Promise<ReadonlyMap<string, ModelSpent> | undefined> {
    const { only } = this.#around.printer;
    if (only !== undefined && tokens === tokensOf(only[1])) {
      const [model, usage] = only;
      const before = this.#told.get(model);
      const sum = { usage: plus(before?.usage ?? NONE, usage), usd: (before?.usd ?? 0) + usd };
      if (tokens > 0) this.#told.set(model, sum);
      return undefined;
    }
    const { pid } = this.#session;
    const wish = { by: "model", pid, since: this.#since } as const;
    const found = await this.#around.client.request("cost.get", wish).catch(() => undefined);
    if (found === undefined) return undefined;
    const spent = new Map<string, ModelSpent>();
    for (const { key, ...line } of found.lines) {
      const { usage: told = NONE, usd: paid = 0 } = this.#told.get(key) ?? {};
      const sum = usageOf(line);
      this.#told.set(key, { usage: sum, usd: line.usd });
      const usage = minus(sum, told);
      const cost = line.unpriced === 0 ? { usd: rounded(line.usd - paid) } : {};
      if (tokensOf(usage) > 0) spent.set(key, { usage, ...cost });
    }
    return spent;
  }

  /** What the session and all below it have used; undefined: not known. */
  async #account(): Promise<{ readonly usd: number; readonly tokens: number } | undefined> {
    const { pid } = this.#session;
    const found = await this.#around.client.request("budget.get", { pid }).catch(() => undefined);
    return found?.accounts.find((account) => account.pid === pid)?.spent;
  }

  #endIfDone(): boolean {
    const hasMore = this.#hasInput || this.#unread.length > 0;
    const isWanted = hasMore || this.#isAwaited;
    if (this.#isRunning || (isWanted && this.#around.stops.code === undefined)) return false;
    this.#isDone = true;
    this.#session.close();
    return true;
  }

  #move(): void {
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }
}

/** A run whose result is not printed yet, because agents still work for it; `atMs`: when it ended. */
interface Held {
  readonly event: IdleEvent;
  readonly atMs: number;
}

/** The run, as the end of the one before it that was held. */
function after(held: Held | undefined, event: IdleEvent): IdleEvent {
  if (held === undefined) return event;
  const denied = [...(held.event.denied ?? []), ...(event.denied ?? [])];
  const elapsed_ms = held.event.elapsed_ms + performance.now() - held.atMs;
  return { ...event, elapsed_ms, ...(denied.length === 0 ? {} : { denied }) };
}

function withValue(facts: RunFacts, fit: Fit | undefined): RunFacts {
  return fit?.kind === "fits" ? { ...facts, structured: fit.value } : facts;
}

function usageOf({ input, written, cached, output }: CostLine): Usage {
  return {
    input_tokens: input - written,
    output_tokens: output,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
  };
}

/** Millionths of a dollar are the unit of accounts. */
function rounded(usd: number): number {
  return Math.round(usd * 1_000_000) / 1_000_000;
}
