/** Roles, the pairing of calls and results, and what a content block may hold. */

import { sign } from "../identity.ts";
import { isObject, type JsonObject, objectsOf } from "../json.ts";
import type { Limits } from "../limits.ts";

/** One message with its content as a list, and where it stood in the request. */
interface Turn {
  readonly at: number;
  readonly role: string;
  readonly content: JsonObject[];
}

const idPattern = /^[a-zA-Z0-9_-]+$/;
const imageTypes = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);

export function* messageProblems(body: JsonObject, limits: Limits): Generator<string> {
  const { messages } = body;
  if (messages === undefined) yield "messages: Field required";
  if (!Array.isArray(messages)) {
    yield "messages: Input should be a valid list";
    return;
  }
  if (messages.length === 0) yield "messages: at least one message is required";
  yield* shapeProblems(messages);
  const turns = readTurns(messages, limits);
  yield* roleProblems(turns);
  for (const turn of turns) yield* contentProblems(turn, String(body.model), limits);
  yield* pairingProblems(turns);
  if (turns.at(-1)?.role === "assistant") {
    yield "This model does not support assistant message prefill. The conversation must end with a user message.";
  }
}

function* shapeProblems(messages: readonly unknown[]): Generator<string> {
  for (const [at, message] of messages.entries()) {
    if (!isObject(message)) {
      yield `messages.${at}: Input should be a valid dictionary or object to extract fields from`;
      continue;
    }
    if (message.role === undefined) yield `messages.${at}.role: Field required`;
    if (!["user", "assistant", "system"].includes(String(message.role))) {
      yield `messages: Unexpected role "${String(message.role)}". Allowed roles are "user" or "assistant"`;
    }
    if (message.content === undefined) yield `messages.${at}.content: Field required`;
    if (typeof message.content !== "string" && !Array.isArray(message.content)) {
      yield `messages.${at}.content: Input should be a valid string or list`;
    }
    if (message.content === "" || (Array.isArray(message.content) && message.content.length === 0)) {
      yield `messages.${at}: all messages must have non-empty content except for the optional final assistant message`;
    }
  }
}

/** Messages of role `system` are a beta that stands outside the alternation, so they are left out here. */
function readTurns(messages: readonly unknown[], limits: Limits): Turn[] {
  const turns: Turn[] = [];
  for (const [at, message] of messages.entries()) {
    if (!isObject(message) || message.role === "system") continue;
    const content =
      typeof message.content === "string"
        ? [{ type: "text", text: message.content }]
        : objectsOf(message.content);
    const last = turns.at(-1);
    if (limits.alternation === "merge" && last?.role === message.role) last?.content.push(...content);
    else turns.push({ at, role: String(message.role), content: [...content] });
  }
  return turns;
}

function* roleProblems(turns: readonly Turn[]): Generator<string> {
  if (turns[0] !== undefined && turns[0].role !== "user") {
    yield 'messages: first message must use the "user" role';
  }
  for (const [index, turn] of turns.entries()) {
    if (index > 0 && turns[index - 1]?.role === turn.role) {
      yield `messages: roles must alternate between "user" and "assistant", but found multiple "${turn.role}" roles in a row`;
    }
  }
}

function* pairingProblems(turns: readonly Turn[]): Generator<string> {
  const seen = new Set<string>();
  for (const [index, turn] of turns.entries()) {
    const calls = callIds(turn);
    for (const id of calls) {
      if (seen.has(id)) yield `messages.${turn.at}.content: \`tool_use\` ids must be unique`;
      seen.add(id);
    }
    yield* resultProblems(turn, new Set(callIds(turns[index - 1])));
    const answered = new Set(leadingResultIds(turns[index + 1]));
    const open = calls.filter((id) => !answered.has(id));
    if (open.length > 0) {
      yield `messages.${turn.at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    }
  }
}

function* resultProblems(turn: Turn, calls: ReadonlySet<string>): Generator<string> {
  const answered = new Set<string>();
  for (const [position, block] of turn.content.entries()) {
    if (block.type !== "tool_result") continue;
    const id = String(block.tool_use_id);
    const where = `messages.${turn.at}.content.${position}`;
    if (turn.role !== "user")
      yield `messages.${turn.at}: \`tool_result\` blocks can only be in \`user\` messages`;
    if (!calls.has(id)) {
      yield `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    }
    if (answered.has(id)) {
      yield `${where}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`;
    }
    answered.add(id);
  }
}

function callIds(turn: Turn | undefined): string[] {
  return (turn?.content ?? []).filter((block) => block.type === "tool_use").map((block) => String(block.id));
}

/** Results count only where they come first: text before them breaks the pairing. */
function leadingResultIds(turn: Turn | undefined): string[] {
  const ids: string[] = [];
  for (const block of turn?.content ?? []) {
    if (block.type !== "tool_result") break;
    ids.push(String(block.tool_use_id));
  }
  return ids;
}

function* contentProblems(turn: Turn, model: string, limits: Limits): Generator<string> {
  for (const [position, block] of turn.content.entries()) {
    const where = `messages.${turn.at}.content.${position}`;
    if (typeof block.type !== "string") yield `${where}.type: Field required`;
    if (block.type === "text") yield* textProblems(block, where);
    if (block.type === "image") yield* imageProblems(block, where);
    if (block.type === "tool_use") yield* callProblems(block, where, turn.role);
    if (block.type === "tool_result") yield* resultContentProblems(block, where);
    if (block.type === "thinking") yield* thinkingProblems(block, where, model, limits);
  }
}

function* textProblems(block: JsonObject, where: string): Generator<string> {
  if (typeof block.text !== "string") {
    yield `${where}.text.text: Field required`;
    return;
  }
  if (block.text === "") {
    if (block.cache_control) yield `${where}.text: cache_control cannot be set for empty text blocks`;
    yield "messages: text content blocks must be non-empty";
  }
  if (block.text.trim() === "") yield "messages: text content blocks must contain non-whitespace text";
}

function* imageProblems(block: JsonObject, where: string): Generator<string> {
  const { source } = block;
  if (!isObject(source)) yield `${where}.image.source: Field required`;
  if (!isObject(source) || source.type !== "base64") return;
  if (!imageTypes.has(String(source.media_type))) {
    yield `${where}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`;
  }
  if (typeof source.data !== "string" || source.data === "") {
    yield `${where}.image.source.base64.data: image cannot be empty`;
  }
}

function* callProblems(block: JsonObject, where: string, role: string): Generator<string> {
  if (role !== "assistant") yield `${where}: \`tool_use\` blocks can only be in \`assistant\` messages`;
  if (typeof block.id !== "string") yield `${where}.tool_use.id: Field required`;
  else if (!idPattern.test(block.id))
    yield `${where}.tool_use.id: String should match pattern '${idPattern.source}'`;
  if (typeof block.name !== "string" || block.name === "") yield `${where}.tool_use.name: Field required`;
  if (block.input === undefined) yield `${where}.tool_use.input: Field required`;
  else if (!isObject(block.input)) yield `${where}.tool_use.input: Input should be a valid dictionary`;
}

function* resultContentProblems(block: JsonObject, where: string): Generator<string> {
  if (typeof block.tool_use_id !== "string") yield `${where}.tool_result.tool_use_id: Field required`;
  const { content } = block;
  if (content === undefined || typeof content === "string") return;
  if (!Array.isArray(content)) {
    yield `${where}.tool_result.content: Input should be a valid string or list`;
    return;
  }
  for (const [at, part] of objectsOf(content).entries()) {
    const inner = `${where}.tool_result.content.${at}`;
    if (part.type === "text") yield* textProblems(part, inner);
    if (part.type === "image") yield* imageProblems(part, inner);
    if (block.is_error === true && part.type !== "text") {
      yield `${where}.tool_result: all content must be type \`text\` if \`is_error\` is true`;
    }
  }
}

function* thinkingProblems(
  block: JsonObject,
  where: string,
  model: string,
  limits: Limits,
): Generator<string> {
  if (typeof block.thinking !== "string") {
    yield `${where}.thinking.thinking: Field required`;
    return;
  }
  if (typeof block.signature !== "string") yield `${where}.thinking.signature: Field required`;
  if (block.cache_control !== undefined)
    yield `${where}.thinking.cache_control: Extra inputs are not permitted`;
  if (limits.verifySignatures && block.signature !== sign(model, block.thinking)) {
    yield `${where}: Invalid \`signature\` in \`thinking\` block`;
  }
}
