/**
 * The prompt cache of the Messages API: which prefix of a request is read from it, which is written. Computed from the
 * request alone: blocks in the order tools, system, messages; an entry is written where a marker is, and found from a
 * marker up to 20 blocks back. https://docs.claude.com/en/docs/build-with-claude/prompt-caching
 */
import { createHash } from "node:crypto";
import { isObject, type JsonObject, objectsOf } from "../json.ts";

/** Tokens of one request. `input`: what is neither read nor written. */
export interface CacheUse {
  readonly read: number;
  readonly write: number;
  /** The part of `write` that is kept for an hour. */
  readonly write1h: number;
  readonly input: number;
}

interface Step {
  /** Of this block and all before it. */
  readonly hash: string;
  readonly tokens: number;
  readonly ttlMs: number | undefined;
}

const LOOK_BACK = 20;
const FIVE_MINUTES = 5 * 60_000;
const ONE_HOUR = 60 * 60_000;

export interface PromptCacheOptions {
  /** A shorter prefix is not cached. */
  readonly minTokens?: number;
  readonly now?: () => number;
}

export class PromptCache {
  readonly #minTokens: number;
  readonly #now: () => number;
  /** When each prefix expires, and for how long it is kept. */
  readonly #entries = new Map<string, { readonly until: number; readonly ttlMs: number }>();

  constructor({ minTokens = 1_024, now = Date.now }: PromptCacheOptions) {
    this.#minTokens = minTokens;
    this.#now = now;
  }

  use(body: JsonObject): CacheUse {
    const steps = stepsOf(body);
    const total = steps.at(-1)?.tokens ?? 0;
    const markers = steps.flatMap(({ ttlMs }, at) => (ttlMs === undefined ? [] : [at]));
    const hit = Math.max(-1, ...markers.map((at) => this.#lastHit(steps, at)));
    const read = steps[hit]?.tokens ?? 0;
    if (hit >= 0) this.#keep(steps[hit]!, this.#entries.get(steps[hit]!.hash)!.ttlMs);
    let [write, write1h] = [0, 0];
    for (const at of markers) {
      const { tokens, ttlMs } = steps[at]!;
      if (at <= hit || tokens < this.#minTokens || ttlMs === undefined) continue;
      this.#keep(steps[at]!, ttlMs);
      write = tokens - read;
      if (ttlMs === ONE_HOUR) write1h = write;
    }
    return { read, write, write1h, input: total - read - write };
  }

  #lastHit(steps: readonly Step[], marker: number): number {
    for (let at = marker; at >= 0 && at > marker - LOOK_BACK; at -= 1) {
      const entry = this.#entries.get(steps[at]!.hash);
      if (entry !== undefined && entry.until > this.#now()) return at;
    }
    return -1;
  }

  #keep({ hash }: Step, ttlMs: number): void {
    this.#entries.set(hash, { until: this.#now() + ttlMs, ttlMs });
  }
}

function stepsOf(body: JsonObject): Step[] {
  const { system, tools, messages, model } = body;
  const before: unknown[] = [...objectsOf(tools), ...blocksOf(system)];
  const said = objectsOf(messages).flatMap((message, at) =>
    blocksOf(message.content).map((block) => ({ at, role: message.role, block })),
  );
  const steps: Step[] = [];
  let [hash, bytes] = [digest(JSON.stringify(model)), 0];
  const add = (block: unknown, whole: unknown): void => {
    const text = JSON.stringify(whole, (key, value: unknown) =>
      key === "cache_control" ? undefined : value,
    );
    hash = digest(hash + text);
    bytes += Buffer.byteLength(text);
    steps.push({ hash, tokens: Math.ceil(bytes / 4), ttlMs: ttlOf(block) });
  };
  for (const block of before) add(block, block);
  // another way of thinking keeps what is cached of tools and system, but nothing of the messages
  hash = digest(hash + JSON.stringify([body.thinking ?? null, body.tool_choice ?? null]));
  for (const each of said) add(each.block, each);
  return steps;
}

function ttlOf(block: unknown): number | undefined {
  const marker = isObject(block) ? block.cache_control : undefined;
  if (!isObject(marker)) return undefined;
  return marker.ttl === "1h" ? ONE_HOUR : FIVE_MINUTES;
}

function blocksOf(content: unknown): readonly unknown[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

/** What the API refuses about markers. */
export function* markerProblems(body: JsonObject): Generator<string> {
  let hasShort = false;
  for (const { ttlMs } of stepsOf(body)) {
    if (ttlMs === undefined) continue;
    if (ttlMs === ONE_HOUR && hasShort) {
      yield "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.";
      return;
    }
    hasShort ||= ttlMs === FIVE_MINUTES;
  }
}
