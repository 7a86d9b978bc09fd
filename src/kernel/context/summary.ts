/** GetContextSummary: what /proc/<pid>/context shows. */
import type { CtxId } from "../../abi/ids.ts";
import type { ContextMessage } from "../../abi/sys.ts";
import { estimateTokens } from "../../lib/tokens.ts";

const SHOWN = 50;

interface Summarised {
  readonly cid: CtxId;
  readonly systemPrompt: string;
  readonly messages: readonly ContextMessage[];
  readonly capacity: number;
}

export function summarise({ cid, systemPrompt, messages, capacity }: Summarised): string {
  const tokens = messages.reduce((sum, m) => sum + estimateTokens(m.content), estimateTokens(systemPrompt));
  const first = Math.max(0, messages.length - SHOWN);
  const lines = messages.slice(first).map((m, i) => `${first + i + 1} ${m.role}: ${head(m.content)}`);
  return [
    `ctx ${cid}: ${messages.length}/${capacity} messages, ${tokens} tokens`,
    `system: ${systemPrompt.length} chars`,
    ...lines,
  ].join("\n");
}

function head(text: string): string {
  return Array.from(text.slice(0, 200))
    .slice(0, 80)
    .join("")
    .replace(/\r\n|[\r\n]/g, " ");
}
