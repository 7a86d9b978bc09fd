/** How the conversation of a fork is shown. Only for the eye: what is stored and what the model reads stay as they are. */

interface Shown {
  readonly role: "user" | "assistant";
  readonly blocks: readonly { readonly type: string; readonly text?: string }[];
}

const BOILERPLATE = /^\s*<fork-boilerplate>[\s\S]*?<\/fork-boilerplate>\s*/;

/**
 * Hides the boilerplate, keeps the results of the calls beside it, and shows the directive once, as a message of its own
 * right after them; where that message is not loaded, after the last inherited call.
 */
export function forkView<M extends Shown>(messages: readonly M[], directive: string): readonly (M | Shown)[] {
  const own: Shown = { role: "user", blocks: [{ type: "text", text: directive }] };
  const at = messages.findIndex(({ role, blocks }) => role === "user" && blocks.some(isBoilerplate));
  if (at < 0) {
    const last = messages.findLastIndex(({ blocks }) => blocks.some(({ type }) => type === "tool_use"));
    return messages.toSpliced(last + 1, 0, own as M);
  }
  return messages.flatMap((message, n) => {
    if (n !== at) return [message];
    const kept = message.blocks.filter((block) => !isBoilerplate(block) && block.text !== directive);
    return kept.length === 0 ? [own] : [{ ...message, blocks: kept }, own];
  });
}

function isBoilerplate({ type, text = "" }: Shown["blocks"][number]): boolean {
  return type === "text" && BOILERPLATE.test(text);
}
