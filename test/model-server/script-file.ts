/**
 * Scripts as JSON, for walks by hand. A file is a list of entries, or `{helperDefault?, replies: [...]}`:
 *
 *   [{"toolUse": [{"name": "ls", "input": {"path": "."}}], "text": "Looking."},
 *    {"when": {"lastUserText": "slow"}, "text": "There.", "delayMs": 500, "times": 1},
 *    {"error": {"status": 529}}, {"default": true, "text": "Done."}]
 *
 * An entry without `when` or `default` answers one request, in order.
 */
import { isObject, type JsonObject, objectsOf } from "./json.ts";
import {
  blocks,
  customBlock,
  error,
  malformedToolJson,
  type Point,
  type Reply,
  rateLimit,
  redactedThinking,
  text,
  thinking,
  toolUse,
} from "./reply.ts";
import type { Match, Script } from "./script.ts";

export interface ScriptFile {
  readonly script: Script;
  readonly helperDefault: string | boolean;
}

const matchKeys = new Set(["lastUserText", "lastToolResult", "system", "model", "tool", "assistantTurns"]);
const entryKeys = new Set([
  ...["when", "times", "default", "blocks", "thinking", "redactedThinking", "text", "toolUse"],
  ...[
    "malformedToolJson",
    "custom",
    "error",
    "rateLimit",
    "usage",
    "stopReason",
    "model",
    "headers",
    "delayMs",
  ],
  ...["splitEvery", "fragment", "noise", "repeatStart", "cut", "truncate", "stall", "fail", "inject"],
]);

/** @throws Error naming the entry that is wrong. */
export function parseScriptFile(source: string): ScriptFile {
  const value: unknown = JSON.parse(source);
  const file: JsonObject = Array.isArray(value) ? { replies: value } : isObject(value) ? value : {};
  if (!Array.isArray(file.replies))
    throw new Error("a script is a list of entries, or an object with `replies`");
  const { helperDefault } = file;
  const script = file.replies.map((entry, at) => {
    try {
      return parseEntry(entry);
    } catch (cause) {
      throw new Error(`entry ${at}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  });
  const isSet = typeof helperDefault === "string" || typeof helperDefault === "boolean";
  return { script, helperDefault: isSet ? helperDefault : false };
}

function parseEntry(entry: unknown) {
  if (!isObject(entry)) throw new Error("not an object");
  const unknown = Object.keys(entry).filter((key) => !entryKeys.has(key));
  if (unknown.length > 0) throw new Error(`unknown keys: ${unknown.join(", ")}`);
  const reply = parseReply(entry);
  if (entry.default === true) return { default: reply };
  if (entry.when === undefined) return reply;
  const times = typeof entry.times === "number" ? { times: entry.times } : {};
  return { when: parseMatch(entry.when), reply, ...times };
}

function parseMatch(value: unknown): Match {
  if (!isObject(value)) throw new Error("`when` is not an object");
  const unknown = Object.keys(value).filter((key) => !matchKeys.has(key));
  if (unknown.length > 0) throw new Error(`unknown keys in \`when\`: ${unknown.join(", ")}`);
  for (const [key, want] of Object.entries(value)) {
    const type = key === "assistantTurns" ? "number" : "string";
    if (typeof want !== type) throw new Error(`\`when.${key}\` is not a ${type}`);
  }
  return value;
}

function parseReply(entry: JsonObject): Reply {
  const failure = parseFailure(entry);
  const content =
    entry.blocks === undefined ? parseBlocks(entry) : objectsOf(entry.blocks).flatMap(parseBlocks);
  if (failure === undefined && content.length === 0) throw new Error("neither content nor an error");
  return shape(failure ?? blocks(...content), entry);
}

function parseFailure(entry: JsonObject): Reply | undefined {
  if (isObject(entry.rateLimit)) {
    const { retryAfter } = entry.rateLimit;
    return rateLimit(typeof retryAfter === "number" ? { retryAfter } : {});
  }
  return isObject(entry.error) ? parseError(entry.error) : undefined;
}

function parseError(value: JsonObject): Reply {
  if (typeof value.status !== "number") throw new Error("an error needs a numeric `status`");
  const code = typeof value.code === "string" ? { code: value.code } : {};
  return error(value.status, findText(value.type), findText(value.message), textsOf(value.headers), code);
}

function parseBlocks(entry: JsonObject): Reply[] {
  const found: Reply[] = [];
  if (typeof entry.thinking === "string") found.push(thinking(entry.thinking));
  if (typeof entry.redactedThinking === "string") found.push(redactedThinking(entry.redactedThinking));
  if (typeof entry.text === "string") found.push(text(entry.text));
  for (const call of objectsOf(isObject(entry.toolUse) ? [entry.toolUse] : entry.toolUse)) {
    if (typeof call.name !== "string") throw new Error("a tool use needs a `name`");
    const id = typeof call.id === "string" ? { id: call.id } : {};
    found.push(toolUse({ name: call.name, input: call.input, ...id }));
  }
  const bad = entry.malformedToolJson;
  if (isObject(bad)) found.push(malformedToolJson(String(bad.name), String(bad.raw)));
  if (isObject(entry.custom) && isObject(entry.custom.start)) {
    found.push(customBlock(entry.custom.start, objectsOf(entry.custom.deltas)));
  }
  return found;
}

/** Everything about a reply but its content. */
function shape(content: Reply, entry: JsonObject): Reply {
  let reply = content;
  if (isObject(entry.usage)) reply = reply.usage(numbersOf(entry.usage));
  if (typeof entry.stopReason === "string") reply = reply.stop(entry.stopReason);
  if (typeof entry.model === "string") reply = reply.from(entry.model);
  if (isObject(entry.headers)) reply = reply.headers(textsOf(entry.headers));
  if (typeof entry.delayMs === "number") reply = reply.delay(entry.delayMs);
  if (typeof entry.splitEvery === "number") reply = reply.splitEvery(entry.splitEvery);
  if (typeof entry.fragment === "number") reply = reply.fragment(entry.fragment);
  if (entry.noise === true) reply = reply.noise();
  if (entry.repeatStart === true) reply = reply.repeatStart();
  if (isObject(entry.inject)) reply = reply.inject(String(entry.inject.raw), pointOf(entry.inject));
  if (isObject(entry.stall)) reply = reply.stall({ ...pointOf(entry.stall), ...millisOf(entry.stall) });
  if (isObject(entry.fail)) reply = reply.fail(parseError(entry.fail), pointOf(entry.fail));
  if (isObject(entry.truncate)) reply = reply.truncate(pointOf(entry.truncate));
  if (isObject(entry.cut)) reply = reply.cut({ ...pointOf(entry.cut), reset: entry.cut.reset === true });
  return reply;
}

function pointOf(value: JsonObject): Point {
  const { afterEvents, afterBlocks } = value;
  return {
    ...(typeof afterEvents === "number" ? { afterEvents } : {}),
    ...(typeof afterBlocks === "number" ? { afterBlocks } : {}),
    ...(value.beforeHeaders === true ? { beforeHeaders: true } : {}),
  };
}

function millisOf(value: JsonObject): { ms?: number } {
  return typeof value.ms === "number" ? { ms: value.ms } : {};
}

function findText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function textsOf(value: unknown): Record<string, string> {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, String(item)]))
    : {};
}

function numbersOf(value: JsonObject): Record<string, number> {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, Number(item)]));
}
