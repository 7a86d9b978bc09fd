/**
 * The name of a past call in a form that vendors accept. A model may have written an invalid name; sent back unchanged,
 * it would cause every later request to be refused.
 */
export function sentName(name: string): string {
  if (/^[\w-]{1,128}$/.test(name)) return name;
  return name.slice(0, 64).replaceAll(/[^\w-]/g, "_") || "unnamed";
}
