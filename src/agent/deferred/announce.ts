/** The texts that announce deferred tools to the model. Pure. */
import type { Delta } from "./deferred-tools.ts";

/** Beyond this, only the number of tools per server is announced, to save tokens. */
const MAX_NAMES = 80;

/** The announcement of all tools in the system prompt; "" if there are none. */
export function announcement(names: readonly string[]): string {
  if (names.length === 0) return "";
  return `<available-deferred-tools>\n${shown(names).join("\n")}\n</available-deferred-tools>`;
}

/** The note about added and removed tools; "" if nothing changed. */
export function deltaNote({ added, removed }: Delta): string {
  const parts = [
    ...(added.length === 0 ? [] : [`added: ${shown(added).join(", ")}`]),
    ...(removed.length === 0 ? [] : [`removed: ${shown(removed).join(", ")}`]),
  ];
  if (parts.length === 0) return "";
  return `<available-deferred-tools>\n${parts.join("\n")}\n</available-deferred-tools>`;
}

function shown(names: readonly string[]): readonly string[] {
  if (names.length <= MAX_NAMES) return names;
  const counts = new Map<string, number>();
  for (const name of names) {
    const server = /^mcp__.+?(?=__)/.exec(name)?.[0] ?? name;
    counts.set(server, (counts.get(server) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${name} (${count} tools)`));
}
