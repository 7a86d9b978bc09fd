/** The number of characters of all texts in plain data: roughly its size in memory. */
export function textChars(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let chars = 0;
  for (const each of Array.isArray(value) ? value : Object.values(value)) chars += textChars(each);
  return chars;
}
