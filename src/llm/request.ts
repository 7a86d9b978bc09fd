/** Parses what is written to /dev/llm/<driver>: a request, or its short form. Errors name the path of the field. */
import { randomUUID } from "node:crypto";
import * as z from "zod";
import { DriverError } from "../abi/errors.ts";
import { EFFORTS, type WireMessage } from "../abi/llm.ts";
import { RecentMap } from "../lib/maps/recent-map.ts";
import type { AttemptRequest } from "./driver.ts";
import {
  type Frame,
  hasStandIn,
  type KnownMessages,
  type RequestParts,
  requestParts,
} from "./known-messages.ts";

const media = { media_type: z.string().min(1), data: z.string() };
const Media = z.object({ type: z.enum(["image", "document"]), ...media });

const Block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("image"), ...media }),
  z.object({ type: z.literal("document"), ...media }),
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.object({
    type: z.literal("tool_use"),
    id: z.string().min(1),
    // a model may have left it out: a driver sends another one (call-name.ts)
    name: z.string(),
    input: z.unknown(),
  }),
  z.object({
    type: z.literal("tool_result"),
    tool_use_id: z.string().min(1),
    content: z.string(),
    is_error: z.boolean().exactOptional(),
    media: z.array(Media).exactOptional(),
  }),
]);

const Message = z.object({ role: z.enum(["user", "assistant"]), content: z.array(Block).min(1) });
const Messages = z.array(Message).min(1);

const Full = z.object({
  requestId: z.string(),
  purpose: z.enum(["main", "compact", "helper"]),
  model: z.string(),
  system: z.array(z.object({ text: z.string(), zone: z.enum(["static", "dynamic"]) })),
  tools: z.array(
    z.object({
      name: z.string().min(1),
      description: z.string(),
      inputSchema: z.record(z.string(), z.unknown()),
    }),
  ),
  messages: Messages,
  maxOutputTokens: z.int().min(1),
  thinking: z
    .discriminatedUnion("mode", [
      z.object({ mode: z.literal("adaptive") }),
      z.object({ mode: z.literal("budget"), tokens: z.int().min(1) }),
    ])
    .exactOptional(),
  temperature: z.number().exactOptional(),
  effort: z.enum(EFFORTS).exactOptional(),
  sharesPrefix: z.boolean().exactOptional(),
  stopSequences: z.array(z.string().min(1).max(100)).max(4).exactOptional(),
  whole: z.literal(true).exactOptional(),
  stream: z.boolean(),
  metadata: z.object({ agent: z.string().exactOptional() }).exactOptional(),
});

const Short = z.strictObject({
  intent: z.string().optional(),
  system_prompt: z.string().optional(),
  model: z.string().optional(),
  max_turns: z.int().min(0).optional(),
  timeout_ms: z.number().min(0).optional(),
  messages: z.array(z.object({ role: z.string(), content: z.string() })).optional(),
});

export interface ParsedWrite {
  readonly request: AttemptRequest;
  /** True for the short form, which is answered by one object. */
  readonly isShort: boolean;
  /** The timeout in ms; 0: no timeout. */
  readonly timeoutMs: number;
}

/** The output limit of the short form: enough for nearly every reply, and little to reserve. */
const SHORT_OUTPUT_TOKENS = 8_000;

/** An open file, and the cache of messages written to it. */
interface Reader {
  readonly file: object;
  readonly known: KnownMessages;
}

/**
 * Parses a write. `model`: from the path; the request's own takes precedence. `data` must not be changed afterwards.
 * Errors: INVALID.
 */
export function parseWrite(data: Uint8Array, device: string, model: string, by?: Reader): ParsedWrite {
  const grown = by && grownRequest(data, by, device);
  if (grown !== undefined) return parsed(grown, model);
  const value = parseJson(data, device);
  if (isObject(value) && !("requestId" in value))
    return fromShort(check(Short, value, device), device, model);
  const request: AttemptRequest = check(Full, value, device);
  checkPairing(request.messages, device);
  return parsed(request, model);
}

function parsed(request: AttemptRequest, model: string): ParsedWrite {
  return { request: request.model === "" ? { ...request, model } : request, isShort: false, timeoutMs: 0 };
}

/**
 * Parses a request that continues an earlier one. undefined: it is written in another form, or is invalid, which a full
 * parse must report.
 */
function grownRequest(data: Uint8Array, { file, known }: Reader, device: string): AttemptRequest | undefined {
  const parts = requestParts(data);
  if (parts === undefined) return undefined;
  const before = known.before(file, parts.messages);
  try {
    const list = parseJson(Buffer.concat([Buffer.from("["), before.more, Buffer.from("]")]), device);
    const request = withNew(known.frame(file, parts), parts, list, device);
    if (request === undefined) return undefined;
    if (before.messages.length === 0) checkPairing(request.messages, device);
    else checkCalls(request.messages, device);
    const more = before.messages.length === 0 ? request.messages.map(sharingTexts) : request.messages;
    const whole = { ...request, messages: [...before.messages, ...more] };
    known.keep(file, parts, whole);
    return whole;
  } catch (error) {
    if (error instanceof DriverError) return undefined;
    throw error;
  }
}

/**
 * The request with its new messages alone: in the known frame, otherwise parsed around a stand-in for them. undefined:
 * the brackets belonged to something else.
 */
function withNew(
  frame: Frame | undefined,
  parts: RequestParts,
  more: unknown,
  device: string,
): AttemptRequest | undefined {
  if (frame !== undefined && parts.id !== undefined)
    return { ...frame, requestId: parts.id, messages: check(Messages, more, device) };
  const rest = parseJson(parts.rest(), device);
  return hasStandIn(rest) ? sharing(check(Full, { ...rest, messages: more }, device)) : undefined;
}

/** Different lists of tools, and texts of the system prompt, that are remembered. */
const MAX_SHARED = 32;
const sharedTools = new RecentMap<string, AttemptRequest["tools"]>(MAX_SHARED);
const sharedTexts = new RecentMap<string, AttemptRequest["system"][number]>(MAX_SHARED);

/** Most agents have the same tools and rules: one copy serves all, with what is made of it and kept beside it. */
function sharing(request: AttemptRequest): AttemptRequest {
  const tools = one(sharedTools, JSON.stringify(request.tools), request.tools);
  const system = request.system.map((part) =>
    part.zone === "static" ? one(sharedTexts, part.text, part) : part,
  );
  return { ...request, tools, system };
}

/** Texts at the beginning of a conversation that are shared: shorter ones are the user's own, or not worth it. */
const SHARED_CHARS = { least: 512, most: 16_384 };
const sharedBlocks = new RecentMap<string, WireMessage["content"][number]>(MAX_SHARED);

/** Most agents are told the same before their intent. */
function sharingTexts(message: WireMessage): WireMessage {
  const { least, most } = SHARED_CHARS;
  const content = message.content.map((block) =>
    block.type === "text" && block.text.length >= least && block.text.length <= most
      ? one(sharedBlocks, block.text, block)
      : block,
  );
  return { ...message, content };
}

function one<T>(shared: RecentMap<string, T>, key: string, made: T): T {
  const known = shared.use(key) ?? made;
  shared.set(key, known);
  return known;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function fromShort(short: z.infer<typeof Short>, device: string, model: string): ParsedWrite {
  const given = short.messages ?? [];
  const spoken = given.filter(({ role }) => role !== "system");
  const odd = spoken.findIndex(({ role }) => role !== "user" && role !== "assistant");
  if (odd >= 0)
    throw invalid(
      device,
      `messages.${given.indexOf(spoken[odd] as (typeof given)[0])}.role: user, assistant or system`,
    );
  const messages = spoken.map(
    ({ role, content }): WireMessage => ({
      role: role === "assistant" ? "assistant" : "user",
      content: [{ type: "text", text: content }],
    }),
  );
  if (short.intent && !spoken.some(({ role }) => role === "user"))
    messages.push({ role: "user", content: [{ type: "text", text: short.intent }] });
  if (messages.length === 0) throw invalid(device, "intent: neither an intent nor a message is given");
  const system = [
    short.system_prompt ?? "",
    ...given.filter((m) => m.role === "system").map((m) => m.content),
  ];
  checkPairing(messages, device);
  return {
    isShort: true,
    timeoutMs: short.timeout_ms ?? 0,
    request: {
      requestId: randomUUID(),
      purpose: "main",
      model: short.model || model,
      system: system.filter((text) => text !== "").map((text) => ({ text, zone: "dynamic" })),
      tools: [],
      messages,
      maxOutputTokens: SHORT_OUTPUT_TOKENS,
      stream: false,
    },
  };
}

/**
 * Checks that the user comes first, every tool_use is answered in the next user message, and every result has its call.
 */
function checkPairing(messages: readonly WireMessage[], device: string): void {
  if (messages[0]?.role !== "user")
    throw invalid(device, "messages.0.role: the first message must be the user's");
  checkCalls(messages, device);
}

/** Checks messages that follow a message without open calls. */
function checkCalls(messages: readonly WireMessage[], device: string): void {
  let open = new Set<string>();
  for (const [at, { role, content }] of messages.entries()) {
    const answered = new Set(
      role === "user" ? content.flatMap((b) => (b.type === "tool_result" ? [b.tool_use_id] : [])) : [],
    );
    const missing = [...open].filter((id) => !answered.has(id));
    if (missing.length > 0) throw invalid(device, `messages.${at}: no tool_result for ${missing.join(", ")}`);
    const calls = open;
    const stray = [...answered].filter((id) => !calls.has(id));
    if (stray.length > 0)
      throw invalid(device, `messages.${at}: tool_result without its call: ${stray.join(", ")}`);
    open = new Set(role === "assistant" ? content.flatMap((b) => (b.type === "tool_use" ? [b.id] : [])) : []);
  }
  if (messages.at(-1)?.role !== "user")
    throw invalid(device, `messages.${messages.length - 1}.role: the last message must be the user's`);
}

function parseJson(data: Uint8Array, device: string): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch (error) {
    throw invalid(device, `not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown, device: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(device, `${issue?.path.join(".") || "request"}: ${issue?.message ?? "invalid"}`);
}

function invalid(device: string, message: string): DriverError {
  return new DriverError({ code: "INVALID", op: "Write", device, message });
}
