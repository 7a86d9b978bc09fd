/**
 * What leaves the view and stands behind its summary, because work goes on from it: the todo list, the texts of skills, and
 * the newest few files as the model saw them last, if it has not changed them since. Pure.
 */
import type { ContextMessage } from "../../abi/sys.ts";
import { sizeOf, tokensOf } from "../../lib/tokens.ts";
import { targetOf } from "../deferred/target.ts";
import { callsOf } from "../model/blocks.ts";
import type { Fit } from "./fit.ts";
import { pathOf } from "./texts.ts";
import type { Numbered, Unit } from "./units.ts";

const MOST_FILES = 5;
const FILE_TOKENS = 5_000;
const SKILL_TOKENS = 5_000;
const SKILLS_TOKENS = 25_000;
const TODO_TOKENS = 2_000;
/** Less than this of a text is not worth it. */
const LEAST_TOKENS = 200;

const UNCHANGED = /^\[unchanged since it was last viewed/;
const CHANGES: ReadonlySet<string> = new Set(["edit", "multi_edit", "write", "notebook_edit"]);

/** `room`: estimated tokens for all of it. `isCleared`: whether a result is no longer whole. */
export function takenAlong(
  { covered, tail }: Pick<Fit, "covered" | "tail">,
  room: number,
  isCleared: (n: number) => boolean,
): string {
  const todo = todoList(covered, tail);
  const skills = skillTexts(covered, { room: Math.min(SKILLS_TOKENS, room / 2), tail, isCleared });
  const files = recentFiles(covered, { room: room - tokensOf(sizeOf(todo + skills)), tail, isCleared });
  return [todo, skills, files].filter((text) => text !== "").join("\n\n");
}

/** The list as it was written last; "": it is in view, or nothing is left to do. */
function todoList(covered: readonly Unit[], tail: readonly Unit[]): string {
  const named = ({ name }: { readonly name: string }): boolean => name === "todo";
  if (callsIn(tail).some(named)) return "";
  const { todos } = (callsIn(covered).findLast(named)?.input ?? {}) as { readonly todos?: unknown };
  const items = (Array.isArray(todos) ? todos : []) as readonly { content?: unknown; status?: unknown }[];
  if (items.every(({ status }) => status === "completed")) return "";
  const lines = items.map(({ content, status }) => `- ${String(status)}: ${String(content)}`);
  return head(`Your todo list:\n${lines.join("\n")}`, TODO_TOKENS);
}

interface Kept {
  readonly room: number;
  readonly tail: readonly Unit[];
  isCleared(n: number): boolean;
}

/** The skills that were loaded last, each once. */
function skillTexts(covered: readonly Unit[], { room, tail, isCleared }: Kept): string {
  const inView = new Set(callsIn(tail).flatMap((call) => skillOf(call) ?? []));
  const found = new Map<string, string>();
  for (const unit of covered) {
    for (const call of callsIn([unit])) {
      const [name, result] = [skillOf(call), resultIn(unit, call.id)];
      if (name === undefined || inView.has(name) || result === undefined) continue;
      if (isCleared(result.n) || !isGood(result.message)) continue;
      found.delete(name);
      found.set(name, result.message.content);
    }
  }
  let left = room;
  const texts: string[] = [];
  for (const [name, content] of [...found].reverse()) {
    const share = Math.min(SKILL_TOKENS, left);
    if (share < LEAST_TOKENS) break;
    const text = `The skill ${name}, which you use:\n${head(content, share)}`;
    left -= tokensOf(sizeOf(text));
    texts.unshift(text);
  }
  return texts.join("\n\n");
}

function skillOf({ name, input }: { readonly name: string; readonly input: unknown }): string | undefined {
  const { skill } = (input ?? {}) as { readonly skill?: unknown };
  return name === "skill" && typeof skill === "string" ? skill.slice(0, 200) : undefined;
}

/** The calls of these steps, with the tools that they name in the end. */
function callsIn(units: readonly Unit[]) {
  const calls = units.flatMap(({ parts: [first] }) => callsOf(first?.message.blocks ?? []));
  return calls.map((call) => ({ id: call.id, ...targetOf(call) }));
}

function resultIn({ parts }: Unit, id: string): Numbered | undefined {
  return parts.find(({ message }) => message.tool_call_id === id);
}

function recentFiles(covered: readonly Unit[], { room, tail, isCleared }: Kept): string {
  const found = new Map<string, string>();
  const inTail = new Set(tail);
  for (const unit of [...covered, ...tail]) {
    for (const { id, name, input } of callsIn([unit])) {
      const path = pathOf(input);
      if (path === undefined) continue;
      if (CHANGES.has(name)) found.delete(path);
      const result = resultIn(unit, id);
      if (name !== "view" || result === undefined || isCleared(result.n) || !isGood(result.message)) continue;
      const { content } = result.message;
      const known = found.get(path);
      // it says only that an earlier result holds
      const isNote = UNCHANGED.test(content);
      if (isNote && (known === undefined || inTail.has(unit))) continue;
      found.delete(path);
      // what stays in view is not repeated
      if (!inTail.has(unit)) found.set(path, isNote ? (known ?? "") : content);
    }
  }
  return shown([...found].slice(-MOST_FILES), room);
}

function isGood({ is_error, content, media }: ContextMessage): boolean {
  return is_error !== true && media === undefined && content !== "";
}

function shown(files: readonly (readonly [path: string, content: string])[], room: number): string {
  const share = Math.min(FILE_TOKENS, Math.floor(room / Math.max(1, files.length)));
  if (share < LEAST_TOKENS) return "";
  return files.map(([path, content]) => `As you last saw ${path}:\n${head(content, share)}`).join("\n\n");
}

function head(content: string, most: number): string {
  const tokens = tokensOf(sizeOf(content));
  if (tokens <= most) return content;
  const chars = Math.floor((content.length * most) / tokens);
  return `${content.slice(0, chars).toWellFormed()}\n[the rest is left out]`;
}
