/** MCP servers that an agent file requires: whoever mounted them, they must offer tools before the agent begins. */
import { abortable } from "../../lib/abort.ts";
import type { Mount } from "./mount-table.ts";

/** The patterns that no server of `seen` meets until the signal: none of that name, none that connects, none with tools. */
export async function unmetServers(
  seen: readonly Mount[],
  patterns: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const isMet = await Promise.all(
    patterns.map((pattern) => {
      const fitting = seen.filter(({ server }) => fits(pattern, server));
      return Promise.any(fitting.map((mount) => untilOffering(mount, signal))).then(
        () => true,
        () => false,
      );
    }),
  );
  return patterns.filter((_, n) => isMet[n] === false);
}

/** One that connects on its first use does so now. */
async function untilOffering({ connecting, transport }: Mount, signal: AbortSignal): Promise<void> {
  await abortable(connecting, signal);
  if (transport.tools === 0) await abortable(transport.ping(signal), signal);
  if (transport.tools === 0) throw new Error("it has no tools");
}

/** `*` stands for any characters. */
function fits(pattern: string, name: string): boolean {
  const [first = "", ...more] = pattern.split("*");
  const last = more.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of more) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
