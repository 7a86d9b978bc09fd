/**
 * FNV-1a, 32 bits, as 8 hex digits: a short, not unique name for a path. Loading node:crypto would slow down commands.
 */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
