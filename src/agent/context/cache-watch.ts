/**
 * Watches the provider's prompt cache: where a request reads much less of it than the one before has put there, it says which
 * part of the request has changed. A move of the view or another model begins anew. Changes no request.
 */
import type { LlmRequest, ToolSpec, Usage } from "../../abi/llm.ts";

/** A smaller loss may be the granularity of the cache. */
const LEAST_LOST = 2_000;
const LEAST_SHARE = 0.05;

type Prefix = Pick<LlmRequest, "system" | "tools" | "messages">;

export class CacheWatch {
  /** The last request, where so much of it was cached that its loss would be told. */
  #last: { readonly request: Prefix; readonly cached: number } | null = null;

  forget(): void {
    this.#last = null;
  }

  /** What was lost, and by which change; undefined: nothing, or no change of ours explains it. */
  answered(request: Prefix, { cache_read_input_tokens: read, cache_creation_input_tokens }: Usage) {
    const last = this.#last;
    const cached = read + cache_creation_input_tokens;
    this.#last = cached < LEAST_LOST ? null : { request, cached };
    if (last === null) return undefined;
    const lost = last.cached - read;
    if (lost < Math.max(LEAST_LOST, last.cached * LEAST_SHARE)) return undefined;
    const changed = changedPart(last.request, request);
    return changed === undefined
      ? undefined
      : `llm.cache_break: ${lost} tokens were not read from the prompt cache, because ${changed} changed`;
  }
}

/** The first part that is not as it was; messages may have been added. */
function changedPart(before: Prefix, now: Prefix): string | undefined {
  const tools = changedTools(before.tools, now.tools);
  if (tools !== undefined) return tools;
  if (!isSame(before.system, now.system)) return "the system prompt";
  const at = before.messages.findIndex((message, i) => !isSame(message, now.messages[i]));
  return at < 0 ? undefined : `message ${at + 1} of ${before.messages.length}`;
}

function changedTools(before: readonly ToolSpec[], now: readonly ToolSpec[]): string | undefined {
  const later = new Map(now.map((tool) => [tool.name, tool]));
  const names = [
    ...before.filter((tool) => !isSame(tool, later.get(tool.name))),
    ...now.filter(({ name }) => !before.some((tool) => tool.name === name)),
  ].map(({ name }) => name);
  if (names.length > 0) return `the schema of ${names.join(", ")}`;
  return isSame(before, now) ? undefined : "the order of the tools";
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
