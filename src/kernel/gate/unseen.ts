/**
 * After a summary, the model knows much only from hearsay. What a call removes for good must have been seen again since, in a
 * message to it or in a result, before the call is judged at all; this holds in every mode and widens no right. A call whose
 * targets cannot be read is refused once. Held in memory: after a restart such a call is refused once more.
 */
import type { ContextMessage } from "../../abi/sys.ts";
import type { ContextSpaces } from "../context/spaces.ts";
import type { Permit } from "../ports/permit.ts";
import type { Process } from "../process/process.ts";
import type { Passage } from "./passage.ts";

/** Texts of Crux itself, summaries included. */
const NOTE = /^<(?:crux-note|system-reminder|available-deferred-tools|tool_discovery)/;

/** The refused calls without a known target, of each process; the oldest are forgotten. */
const REFUSED = new WeakMap<Process, string[]>();
const MOST = 64;

export interface Cutting {
  readonly contexts: Pick<ContextSpaces, "sinceCut">;
}

/** Why the call has to wait for a look; null: it need not. */
export function unseenTarget({ core, self, scope }: Passage, policy: Permit): string | null {
  const since = core.contexts.sinceCut(self.ctxId);
  if (since === null) return null;
  const destroyed = policy.destroys?.(scope.effects) ?? null;
  if (destroyed === null) return null;
  const texts = textsOf(since);
  const unseen = destroyed.targets.filter((name) => !texts.some((text) => names(text, name)));
  if (unseen.length > 0) {
    const what = unseen.slice(0, 5).join(", ");
    return `target not seen since compaction: ${what}. Look at it with a call that changes nothing (such as ls -ld), then repeat this one.`;
  }
  return destroyed.isOpen && isFirst(self, JSON.stringify(scope.effects))
    ? "target not seen since compaction: what it removes is known only when it runs. Check what that is, then repeat the same call."
    : null;
}

function isFirst(self: Process, call: string): boolean {
  const refused = REFUSED.get(self) ?? [];
  if (refused.includes(call)) return false;
  REFUSED.set(self, [...refused, call].slice(-MOST));
  return true;
}

/** What was said to the model, and successful results with the arguments of their calls. */
function textsOf(messages: readonly ContextMessage[]): readonly string[] {
  const inputs = new Map<string, string>();
  return messages.flatMap(({ role, content, blocks = [], tool_call_id = "", is_error }) => {
    for (const block of blocks)
      if (block.type === "tool_use") inputs.set(block.id, JSON.stringify(block.input));
    if (role === "user") return NOTE.test(content.trimStart()) ? [] : [content];
    return role === "tool" && is_error !== true ? [content, inputs.get(tool_call_id) ?? ""] : [];
  });
}

/** Not as a part of a longer name. */
function names(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const after = text.slice(at + name.length, at + name.length + 2);
    if (!/[\w-]/.test(text.charAt(at - 1)) && !/^(?:[\w-]|\.\w)/.test(after)) return true;
  }
  return false;
}
