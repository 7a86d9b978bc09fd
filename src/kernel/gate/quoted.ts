/**
 * Checks whether a URL occurs word for word in what the user said, or in a fetched page. A request to it then leaks
 * nothing that the process has read. Checked only if the process has labels.
 */
import type { Effect } from "../../abi/effects.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import type { Process } from "../process/process.ts";

/** Tools whose results are pages or lists of pages: a program cannot write its own text into them. */
const PAGES: ReadonlySet<string> = new Set(["fetch", "web_search"]);
/** Messages from another process or from Crux itself: not the user's words. */
const FOREIGN = /^<(?:agent-message|crux-note|available-deferred-tools|tool_discovery)/;
/** What may follow a URL without being part of it. */
const END = /^(?:$|[\s"'<>()[\]{}|\\^`,;]|[.!?:](?:$|[\s"'<>()]))/;

/** What the quotes of a conversation are read from. */
export interface Quoting {
  readonly contexts: Pick<ContextSpaces, "has" | "prompt">;
}

export function withQuoted(core: Quoting, self: Process, effect: Effect): Effect {
  if (effect.kind !== "network" || self.labels.length === 0) return effect;
  const { url, isQuoted: _, ...asked } = effect;
  if (url === undefined) return asked;
  return { ...asked, url, ...(isQuoted(core, self, url) ? { isQuoted: true } : {}) };
}

function isQuoted(core: Quoting, { ctxId }: Process, url: string): boolean {
  if (!core.contexts.has(ctxId)) return false;
  const fetched = new Set<string>();
  for (const message of core.contexts.prompt(ctxId).messages) {
    for (const block of message.blocks ?? [])
      if (block.type === "tool_use" && PAGES.has(nameOf(block))) fetched.add(block.id);
    const isPerson = message.role === "user" && !FOREIGN.test(message.content.trimStart());
    const isPage = message.role === "tool" && fetched.has(message.tool_call_id ?? "");
    if ((isPerson || isPage) && stands(message.content, url)) return true;
  }
  return false;
}

/** A deferred tool is called through `tool_call`, with its name among the arguments. */
function nameOf({ name, input }: { readonly name: string; readonly input: unknown }): string {
  const { tool } = (input ?? {}) as { tool?: unknown };
  return name === "tool_call" && typeof tool === "string" ? tool : name;
}

/** Not as the prefix of a longer URL: the rest of that would be invented. */
function stands(text: string, url: string): boolean {
  for (let at = text.indexOf(url); at >= 0; at = text.indexOf(url, at + 1))
    if (END.test(text.slice(at + url.length, at + url.length + 2))) return true;
  return false;
}
