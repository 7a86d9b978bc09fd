import { invalid } from "../../screen/errors.ts";

/** Returns a path unchanged and turns a name into a path below /mnt/mcp. INVALID: neither. */
export function mountPath(text: string): string {
  if (text.startsWith("/")) return text;
  if (/^[A-Za-z0-9_-]{1,64}$/.test(text)) return `/mnt/mcp/${text}`;
  throw invalid(`not a name of a mount: ${JSON.stringify(text)}`, "letters, digits, _ and -, at most 64");
}
