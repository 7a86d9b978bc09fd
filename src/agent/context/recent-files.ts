/** Files that leave the view, as the model saw them last: the newest few, if it has not changed them since. Pure. */
import type { ContextMessage } from "../../abi/sys.ts";
import { sizeOf, tokensOf } from "../../lib/tokens.ts";
import { targetOf } from "../deferred/target.ts";
import { callsOf } from "../model/blocks.ts";
import { pathOf } from "./texts.ts";
import type { Unit } from "./units.ts";

const MOST_FILES = 5;
const FILE_TOKENS = 5_000;

const CHANGES: ReadonlySet<string> = new Set(["edit", "multi_edit", "write", "notebook_edit"]);

/** `room`: estimated tokens for all of them. `isCleared`: whether a result is no longer whole. */
export function recentFiles(
  covered: readonly Unit[],
  room: number,
  isCleared: (n: number) => boolean,
): string {
  const found = new Map<string, string>();
  for (const { parts } of covered) {
    const [head, ...results] = parts;
    for (const call of callsOf(head?.message.blocks ?? [])) {
      const { name, input } = targetOf(call);
      const path = pathOf(input);
      if (path === undefined) continue;
      if (CHANGES.has(name)) found.delete(path);
      const result = results.find(({ message }) => message.tool_call_id === call.id);
      if (name !== "view" || result === undefined || isCleared(result.n) || !isGood(result.message)) continue;
      found.delete(path);
      found.set(path, result.message.content);
    }
  }
  return shown([...found].slice(-MOST_FILES), room);
}

function isGood({ is_error, content, media }: ContextMessage): boolean {
  return is_error !== true && media === undefined && content !== "";
}

function shown(files: readonly (readonly [path: string, content: string])[], room: number): string {
  const share = Math.min(FILE_TOKENS, Math.floor(room / Math.max(1, files.length)));
  if (share < 200) return "";
  return files.map(([path, content]) => `As you last saw ${path}:\n${head(content, share)}`).join("\n\n");
}

function head(content: string, most: number): string {
  const tokens = tokensOf(sizeOf(content));
  if (tokens <= most) return content;
  const chars = Math.floor((content.length * most) / tokens);
  return `${content.slice(0, chars).toWellFormed()}\n[the rest is left out]`;
}
