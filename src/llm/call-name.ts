/**
 * The name of a call in a history, as vendors take it. A model may have written one that is none; sent back as it stands, it would
 * have every later request refused.
 */
export function sentName(name: string): string {
  if (/^[\w-]{1,128}$/.test(name)) return name;
  return name.slice(0, 64).replaceAll(/[^\w-]/g, "_") || "unnamed";
}
