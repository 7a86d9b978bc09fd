/**
 * Checks whether a URL occurs word for word in what the user said, or in a fetched page. A request to it then leaks
 * nothing that the process has read. Checked only if the process has labels.
 */
import type { Effect } from "../../abi/effects.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import type { Process } from "../process/process.ts";
import { agentsIntents, type Family, isUsers } from "../process/users-words.ts";

/** Tools whose results are pages or lists of pages: a program cannot write its own text into them. */
const PAGES: ReadonlySet<string> = new Set(["fetch", "web_search"]);
/** What may follow a URL without being part of it. */
const END = /^(?:$|[\s"'<>()[\]{}|\\^`,;]|[.!?:](?:$|[\s"'<>()]))/;

/** What the quotes of a conversation are read from. */
export interface Quoting extends Family {
  readonly contexts: Pick<ContextSpaces, "has" | "prompt">;
}

export function withQuoted(core: Quoting, self: Process, effect: Effect): Effect {
  if (effect.kind !== "network" || self.labels.length === 0) return effect;
  const { url, isQuoted: _, ...asked } = effect;
  if (url === undefined) return asked;
  return { ...asked, url, ...(isQuoted(core, self, url) ? { isQuoted: true } : {}) };
}

function isQuoted(core: Quoting, self: Process, url: string): boolean {
  const { ctxId } = self;
  if (!core.contexts.has(ctxId)) return false;
  const intents = agentsIntents(core, self);
  const fetched = new Set<string>();
  for (const message of core.contexts.prompt(ctxId).messages) {
    for (const block of message.blocks ?? [])
      if (block.type === "tool_use" && showsPage(block)) fetched.add(block.id);
    // a failure repeats what was asked
    const isAnswer = message.role === "tool" && message.is_error !== true;
    const isPage = isAnswer && fetched.has(message.tool_call_id ?? "");
    if ((isPage || isUsers(message, intents)) && stands(message.content, url)) return true;
  }
  return false;
}

/**
 * Whether the result of a call is a page as it stands. With a `prompt` it is what a model was told to say about the page. A
 * deferred tool is called through `tool_call`, with its name among the arguments.
 */
function showsPage({ name, input }: { readonly name: string; readonly input: unknown }): boolean {
  const given = (input ?? {}) as { tool?: unknown; params?: unknown; prompt?: unknown };
  const isProxy = name === "tool_call" && typeof given.tool === "string";
  const { prompt } = isProxy ? ((given.params ?? {}) as typeof given) : given;
  return PAGES.has(isProxy ? String(given.tool) : name) && prompt === undefined;
}

/** Not as the prefix of a longer URL: the rest of that would be invented. */
function stands(text: string, url: string): boolean {
  for (let at = text.indexOf(url); at >= 0; at = text.indexOf(url, at + 1))
    if (END.test(text.slice(at + url.length, at + url.length + 2))) return true;
  return false;
}
