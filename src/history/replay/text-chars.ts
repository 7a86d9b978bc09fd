/** Characters of all texts in plain data: what it takes in memory, nearly. */
export function textChars(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 1;
  let chars = 0;
  for (const each of Array.isArray(value) ? value : Object.values(value)) chars += textChars(each);
  return chars;
}
