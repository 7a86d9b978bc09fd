/**
 * An open /dev/llm/<driver>: one write is one attempt, whose reply is read as NDJSON. With `stream: true` the events
 * can be read while the write is in progress, and must be: with 1 MiB unread the attempt waits. Otherwise the reply is
 * complete when the write resolves, and `ahead` reports when a part of it that ends with a call is worth a read before.
 */
import type { Act, Caller, FileStat, OpenFile, WritePlan } from "../abi/device.ts";
import type { Charge } from "../abi/effects.ts";
import { codeOf, DriverError } from "../abi/errors.ts";
import type { LaneReadings, LaneReport, LaneRequest } from "../abi/lanes.ts";
import type { ModelCard, ShortReply, StreamEvent } from "../abi/llm.ts";
import { totalTokens } from "../abi/llm.ts";
import { findLlmError, LlmError } from "../abi/llm-error.ts";
import type { Clock } from "../abi/program.ts";
import { abortable, linkSignals } from "../lib/abort.ts";
import { LateMap } from "../lib/maps/late.ts";
import { cacheTtlOf, wantedTtl } from "./cache-ttl.ts";
import { Corrections } from "./corrections.ts";
import type { AttemptRequest, CacheTtl, Driver } from "./driver.ts";
import { estimateInput, worstInput } from "./estimate.ts";
import { fold, withOwnIds, withoutDeltas } from "./fold.ts";
import type { KnownMessages } from "./known-messages.ts";
import { counted, Meter } from "./meter.ts";
import { findOwn, type ModelSettings, ownPrice, withOwn } from "./own-models.ts";
import { worstCost } from "./prices.ts";
import { ReplyBuffer } from "./reply-buffer.ts";
import { type ParsedWrite, parseWrite } from "./request.ts";
import { startTimer } from "./timer.ts";
import { type Patience, watched } from "./watchdog.ts";

/** Most bytes of unread events of a streaming attempt. */
const STREAM_BYTES = 1024 * 1024;
/** The largest reply without streaming, in bytes; every model's longest reply is far smaller. */
const WHOLE_BYTES = 32 * 1024 * 1024;
/** The shortest useful answer: a call is refused if the budget cannot pay for that many tokens. */
const LEAST_OUTPUT_TOKENS = 1_024;
/**
 * What sums in dollars may be off, in tokens. A token less in some requests would change their budget for thinking, and
 * with it what their server has cached.
 */
const ROUNDING = 1e-3;
/**
 * How long a whole call waits for the end of its reply before it is offered. Most replies end right after their last
 * call, and are then read at once, in one piece.
 */
const OFFER_AFTER_MS = 10;
/** The longest duration of an attempt that asks for one complete answer: nothing is heard of it before. */
const WHOLE_MS = 5 * 60_000;
/** The longest duration of an attempt. */
const ATTEMPT_MS = 30 * 60_000;

interface ModelFileOptions {
  readonly driver: Driver;
  /** `/dev/llm/<driver>` */
  readonly device: string;
  /** The model named in the path; a model in the request takes precedence. */
  readonly model: string;
  readonly patience: Patience;
  /** The environment of the process that opened the file. */
  readonly env: Readonly<Record<string, string>>;
  /** What the user's settings say of models; called each time. */
  readonly settings: () => ModelSettings;
  readonly clock: Clock;
  /** Where clients follow the pieces of a reply, asked for each attempt; absent: nowhere. */
  readonly preview?: Caller["preview"];
  /** Called after each long silence within a reply; absent: nobody is told. */
  readonly stalled?: Caller["stalled"];
  /** The known messages of all files. */
  readonly known: KnownMessages;
  /** Called once, when the file is closed and its attempt has ended. */
  readonly onClose: () => Promise<void>;
  /** The lane of a model; undefined: nothing limits it. Absent: the same. */
  readonly laneOf?: (model: string) => Pick<LaneRequest, "lane" | "limits"> | undefined;
  /** The uuid of the process that has the file open. */
  readonly process?: string;
  /** The name of its agent; absent: it has none. */
  readonly agent?: string;
  /** Adds a line to the log of that process; absent: nobody reads it. */
  readonly warn?: (message: string) => void;
}

export class ModelFile implements OpenFile {
  readonly #options: ModelFileOptions;
  /** The request that `plan` parsed, so that `write` of the same bytes need not parse it again. */
  #planned: { readonly data: Uint8Array; readonly parsed: ParsedWrite } | undefined;
  #attempt: { readonly controller: AbortController; readonly over: Promise<unknown> } | undefined;
  #reply: ReplyBuffer | undefined;
  /** Resolved when the next attempt begins. */
  #begun = Promise.withResolvers<void>();
  #charge: Charge | undefined;
  #closing: Promise<void> | undefined;
  readonly #closed = new AbortController();
  #hasWarned = false;
  /** By purpose and model, fixed by the first request: another lifetime would break the cached prefix. */
  readonly #cacheTtls = new LateMap<string, CacheTtl>();

  readonly #corrections: Corrections;
  /** Those of the last plan: a request asks for them many times. */
  #settings: ModelSettings | undefined;

  constructor(options: ModelFileOptions) {
    this.#options = options;
    this.#corrections = new Corrections(options.driver);
  }

  plan(data: Uint8Array): WritePlan {
    const { driver, device, settings } = this.#options;
    this.#settings = settings();
    const parsed = this.#parse(data);
    const { request } = parsed;
    this.#planned = { data, parsed };
    const effects = (maxTokens: number) => [{ kind: "llm", device, maxTokens }] as const;
    if (driver.countsNothing === true)
      return { effects: effects(0), effectClass: "once", reserve: { tokens: 0, usd: 0 } };
    const { maxOutputTokens } = this.#card(request.model);
    const price = this.#rates(request);
    const input = worstInput(request);
    const output = Math.min(request.maxOutputTokens, maxOutputTokens);
    const least = Math.min(output, LEAST_OUTPUT_TOKENS);
    const lane = this.#options.laneOf?.(this.#card(request.model).id);
    return {
      ...(lane === undefined ? {} : { lane: { ...lane, input: estimateInput(request), output } }),
      effects: effects(output),
      effectClass: "once",
      reserve: { tokens: input + output, usd: worstCost(price, input, output) },
      reserveLeast: input + least,
      reserveLeastUsd: worstCost(price, input, least),
    };
  }

  async write(data: Uint8Array, act: Act): Promise<void> {
    const { device } = this.#options;
    if (this.#closing !== undefined)
      throw new DriverError({ code: "CANCELLED", op: "Write", device, message: "the file is closed" });
    if (this.#attempt !== undefined || this.#reply?.isUnread === true)
      throw new DriverError({
        code: "CONFLICT",
        op: "Write",
        device,
        message: "the reply to the last request has not been read",
      });
    const asked = this.#planned?.data === data ? this.#planned.parsed : this.#parse(data);
    const parsed = { ...asked, request: this.#affordable(this.#complete(asked.request), act.granted) };
    this.#planned = undefined;
    const controller = new AbortController();
    const over = this.#run(parsed, controller, act);
    this.#attempt = { controller, over: over.catch(() => {}) };
    this.#begun.resolve();
    this.#begun = Promise.withResolvers();
    try {
      await over;
    } finally {
      this.#attempt = undefined;
    }
  }

  async read(length: number, signal: AbortSignal): Promise<Uint8Array> {
    const { device } = this.#options;
    if (this.#reply === undefined)
      throw new DriverError({ code: "INVALID", op: "Read", device, message: "write a request first" });
    using link = linkSignals(signal, this.#closed.signal);
    try {
      return await this.#reply.read(length, link.signal);
    } catch (error) {
      if (link.signal.aborted && codeOf(error) === "CANCELLED")
        throw new DriverError({ code: "CANCELLED", op: "Read", device, message: "the read was cancelled" });
      throw error;
    }
  }

  async ahead(signal: AbortSignal): Promise<boolean> {
    while (this.#attempt === undefined) await abortable(this.#begun.promise, signal);
    return this.#reply?.ahead(signal) ?? false;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async stat(): Promise<FileStat> {
    const { driver, device } = this.#options;
    return { name: driver.name, size: 0, isDevice: true, devicePath: device };
  }

  charge(): Charge | undefined {
    const charge = this.#charge;
    this.#charge = undefined;
    return charge;
  }

  async #close(): Promise<void> {
    const attempt = this.#attempt;
    const gone = new DriverError({
      code: "CANCELLED",
      op: "Read",
      device: this.#options.device,
      message: "the file was closed",
    });
    attempt?.controller.abort(gone);
    this.#closed.abort(gone);
    await attempt?.over;
    this.#options.known.forget(this);
    await this.#options.onClose();
  }

  #parse(data: Uint8Array): ParsedWrite {
    const { device, model, known } = this.#options;
    return parseWrite(data, device, model, { file: this, known });
  }

  get #now(): ModelSettings {
    this.#settings ??= this.#options.settings();
    return this.#settings;
  }

  /** The card of a model, as the user's settings and the server have it. */
  #card(model: string): ModelCard {
    const card = this.#options.driver.card(model);
    const all = this.#now;
    return this.#corrections.card(withOwn(card, findOwn(all, card), ownPrice(all, card.id)));
  }

  /** The highest rates that may apply. */
  #rates(request: AttemptRequest): ModelCard["price"] {
    const { price } = this.#card(request.model);
    const { cacheWrite1h = 0, input = 0 } = price ?? {};
    const isLong = request.sharesPrefix === true || this.#cacheTtl(request) === "1h";
    return price === undefined || !isLong ? price : { ...price, input: Math.max(input, cacheWrite1h) };
  }

  #cacheTtl(request: AttemptRequest): CacheTtl {
    const { env, agent = "" } = this.#options;
    const { model } = request;
    const key = `${request.purpose}:${model}`;
    const wanted = () => wantedTtl(this.#now, request, agent);
    const ttl = this.#cacheTtls.get(key) ?? cacheTtlOf(this.#card(model), env, wanted());
    this.#cacheTtls.set(key, ttl);
    return ttl;
  }

  /** What the driver needs beside the request. */
  #complete(request: AttemptRequest): AttemptRequest {
    const card = this.#options.driver.card(request.model);
    const own = this.#corrections.own(card, findOwn(this.#now, card));
    return {
      ...request,
      messages: this.#corrections.messages(request.messages),
      warn: (message) => this.#warn(message),
      cacheTtl: this.#cacheTtl(request),
      ...(own === undefined ? {} : { own }),
    };
  }

  /** Once a file, since the next request most likely has the same to say. */
  #warn(message: string): void {
    if (!this.#hasWarned) this.#options.warn?.(message);
    this.#hasWarned = true;
  }

  /** The request, with its output limited to the granted reserve, which may be less than what was planned. */
  #affordable(request: AttemptRequest, granted: Charge | undefined): AttemptRequest {
    if (granted === undefined) return request;
    const price = this.#rates(request);
    const input = worstInput(request);
    const byTokens = granted.tokens - input;
    const outputUsd = (price?.output ?? 0) / 1_000_000;
    const isFree = granted.usd === null || price === undefined || outputUsd === 0;
    const byMoney = isFree
      ? Infinity
      : Math.floor((granted.usd - (input * price.input) / 1_000_000) / outputUsd + ROUNDING);
    const most = Math.max(1, Math.min(byTokens, byMoney));
    return most >= request.maxOutputTokens ? request : { ...request, maxOutputTokens: most };
  }

  async #run(
    parsed: ParsedWrite,
    controller: AbortController,
    { signal: actSignal, lane }: Act,
  ): Promise<void> {
    const { driver, clock, device } = this.#options;
    const { request: asked, timeoutMs } = parsed;
    const limited = lane === undefined ? {} : { limited: (found: LaneReadings) => lane.readings(found) };
    const request = { ...asked, ...limited };
    const reply = new ReplyBuffer(device, request.stream ? STREAM_BYTES : WHOLE_BYTES, request.stream);
    this.#reply = reply;
    const meter = new Meter((id) => ownPrice(this.#now, id));
    using link = linkSignals(actSignal, controller.signal);
    const most = request.whole === true ? WHOLE_MS : ATTEMPT_MS;
    const limitMs = timeoutMs > 0 ? Math.min(timeoutMs, most) : most;
    const stopTimer = startTimer(clock, limitMs, () => controller.abort(late(device, limitMs)));
    try {
      const events = this.#events(request, meter, controller, link.signal);
      await this.#answer(parsed, reply, events, link.signal);
      this.#charge = meter.charge(driver, request, undefined);
      reply.end();
    } catch (error) {
      const learnt = this.#corrections.learn(error, request, this.#card(request.model));
      const failure = inLane(toFailure(learnt, link.signal, device), lane);
      this.#charge = meter.charge(driver, request, findLlmError(failure)?.kind);
      reply.fail(failure);
      throw failure;
    } finally {
      stopTimer();
    }
  }

  async *#events(
    request: AttemptRequest,
    meter: Meter,
    controller: AbortController,
    signal: AbortSignal,
  ): AsyncGenerator<StreamEvent> {
    const { driver, device, process } = this.#options;
    signal.throwIfAborted();
    const abort = (reason: LlmError): void => controller.abort(reason);
    const take = request.purpose === "main" ? this.#options.preview?.() : undefined;
    const asked = process === undefined ? request : { ...request, process };
    const { patience, clock, stalled } = this.#options;
    const isSilent = request.whole === true;
    const limits = isSilent ? { firstMs: WHOLE_MS, gapMs: WHOLE_MS } : patience;
    const watch = { device, clock, patience: limits, stalled: isSilent ? undefined : stalled };
    const heard = watched(driver.stream(asked, signal), watch, abort);
    for await (const told of withOwnIds(heard, request.messages)) {
      const event = counted(told);
      meter.see(event);
      take?.(event);
      yield event;
    }
    if (!meter.isComplete)
      throw new LlmError({
        kind: "stream_malformed",
        device,
        message: "the reply ended early (no message_stop)",
      });
    if (!meter.hasStopReason)
      throw new LlmError({
        kind: "stream_malformed",
        device,
        message: "the reply ended without a stop reason",
      });
  }

  async #answer(
    { request, isShort }: ParsedWrite,
    reply: ReplyBuffer,
    events: AsyncIterable<StreamEvent>,
    signal: AbortSignal,
  ): Promise<void> {
    if (isShort) {
      const { blocks, usage } = await fold(events);
      const content = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
      const answer: ShortReply = { content, tokens_used: totalTokens(usage) };
      return reply.push(JSON.stringify(answer), signal);
    }
    let stopTimer = (): void => {};
    try {
      for await (const event of request.stream ? events : withoutDeltas(events)) {
        await reply.push(`${JSON.stringify(event)}\n`, signal);
        if (event.type !== "content_block_start" || event.content_block.type !== "tool_use") continue;
        stopTimer();
        stopTimer = startTimer(this.#options.clock, OFFER_AFTER_MS, () => setImmediate(() => reply.offer()));
      }
    } finally {
      stopTimer();
    }
  }
}

/**
 * The failure to report: the reason of our own abort (a timer) takes precedence over the driver's error; any other
 * abort is `cancelled`.
 */
function toFailure(error: unknown, signal: AbortSignal, device: string): unknown {
  if (!signal.aborted) return error;
  if (signal.reason instanceof LlmError) return signal.reason;
  const own = findLlmError(error);
  if (own !== undefined && own.kind !== "cancelled") return own;
  return new LlmError({
    kind: "cancelled",
    device,
    message: "the model call was cancelled",
    cause: signal.reason,
  });
}

/** A refusal closes the lane for all, that of a credential ends their waits; where the server named no time, the error says when the lane tries again. */
function inLane(failure: unknown, lane: LaneReport | undefined): unknown {
  if (lane === undefined || !(failure instanceof LlmError)) return failure;
  const { kind, retryAfterMs, shouldRetry, message, device, status, hint, cause } = failure;
  if ((kind === "auth" && shouldRetry !== true) || kind === "quota") lane.barred(failure);
  if ((kind !== "rate_limit" && kind !== "overloaded") || shouldRetry === false) return failure;
  const againMs = lane.refused({ retryAfterMs, error: failure });
  if (retryAfterMs !== undefined) return failure;
  return new LlmError({ kind, message, device, status, hint, cause, shouldRetry, retryAfterMs: againMs });
}

function late(device: string, ms: number): LlmError {
  return new LlmError({ kind: "timeout", device, message: `no complete reply within ${ms} ms` });
}
