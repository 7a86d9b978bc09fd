/**
 * Does an address stand word for word in what a person said, or in a page that was fetched? Asking it then carries nothing out
 * that the process has read. Looked for only where the process has labels.
 */
import type { Effect } from "../../abi/effects.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import type { Process } from "../process/process.ts";

/** Their results are pages, and lists of pages: a program cannot write into them what it likes. */
const PAGES: ReadonlySet<string> = new Set(["fetch", "web_search"]);
/** Of another process, or of Crux itself: no words of a person. */
const FOREIGN = /^<(?:agent-message|crux-note|available-deferred-tools|tool_discovery)/;
/** What may follow an address without being part of it. */
const END = /^(?:$|[\s"'<>()[\]{}|\\^`,;]|[.!?:](?:$|[\s"'<>()]))/;

interface Contexts {
  readonly contexts: Pick<ContextSpaces, "has" | "prompt">;
}

export function withQuoted(core: Contexts, self: Process, effect: Effect): Effect {
  if (effect.kind !== "network" || self.labels.length === 0) return effect;
  const { url, isQuoted: _, ...asked } = effect;
  if (url === undefined) return asked;
  return { ...asked, url, ...(isQuoted(core, self, url) ? { isQuoted: true } : {}) };
}

function isQuoted(core: Contexts, { ctxId }: Process, url: string): boolean {
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

/** A deferred tool is called through another, with its name among the arguments. */
function nameOf({ name, input }: { readonly name: string; readonly input: unknown }): string {
  const { tool } = (input ?? {}) as { tool?: unknown };
  return name === "tool_call" && typeof tool === "string" ? tool : name;
}

/** Not as the beginning of a longer one: what follows would be made up. */
function stands(text: string, url: string): boolean {
  for (let at = text.indexOf(url); at >= 0; at = text.indexOf(url, at + 1))
    if (END.test(text.slice(at + url.length, at + url.length + 2))) return true;
  return false;
}
